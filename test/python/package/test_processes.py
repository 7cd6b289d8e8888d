# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads, the GIL, fork, Ctrl-C, pickling, imports."""

import importlib
import multiprocessing
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import (BINARY, INPUTS, PROGRAM_ENV, SOURCE, Mlp, cross_entropy,
                      make_batch, make_step)

import aicf
from aicf import nn

X, LABELS = make_batch()


def in_threads(*functions):
    """Runs them side by side; their results, or the first exception."""
    results, errors = [None] * len(functions), []

    def call(i, function):
        try:
            results[i] = function()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=call, args=pair)
               for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def big_step():
    layers = [nn.Linear(512, 512) for _ in range(4)]
    return aicf.compile_step(nn.Sequential(*layers), lambda m, x: (m(x) ** 2).mean(),
                             aicf.optim.SGD(1e-3), {"x": aicf.spec((512, 512))},
                             threads=1)


def ticks_while(function):
    """How often another Python thread got on while `function` ran."""
    count, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.0005)
    thread = threading.Thread(target=tick)
    thread.start()
    try:
        function()
    finally:
        stop.set()
        thread.join()
    return count[0]


def test_the_gil_is_released_in_runs_and_compiles():
    step = big_step()
    step.write(x=np.ones((512, 512), np.float32))
    assert ticks_while(lambda: step.run(20)) > 20
    x = np.ones((512, 512), np.float32)
    assert ticks_while(lambda: [step(x) for _ in range(20)]) > 20
    deep = aicf.trace_step(nn.Sequential(*[nn.Linear(8, 8) for _ in range(1500)]),
                           lambda m, x: m(x).mean(), aicf.optim.SGD(0.1),
                           {"x": aicf.spec((8, 8))})
    assert ticks_while(lambda: deep.lower("cpu")) > 20


def test_two_steps_in_two_threads():
    def train():
        step = make_step()
        return [float(step(*make_batch(i))) for i in range(50)]
    expected = train()
    assert in_threads(train, train) == [expected, expected]


def test_traces_and_compiles_in_two_threads():
    def work():
        for _ in range(5):
            text = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1),
                                   INPUTS).lower("cpu").as_text()
        return text
    one, two = in_threads(work, work)
    assert one == two
    shared = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    lowered = in_threads(*[lambda: shared.lower("cpu").as_text("aicf_rt")] * 3)
    assert len(set(lowered)) == 1


def test_one_step_in_two_threads_is_an_error_and_no_crash():
    step = big_step()
    x = np.ones((512, 512), np.float32)
    step(x)
    refused = [0]

    def work():
        done = 0
        while done < 15:
            try:
                step(x)
                done += 1
            except aicf.errors.FailedStateError as error:
                assert "another thread" in str(error)
                refused[0] += 1
    in_threads(work, work)
    assert refused[0] > 0
    step(x)


def test_a_call_that_raises_did_not_run():
    """Two entries of a program in two threads: every call that is refused is refused
    before anything ran."""
    model = Mlp()
    step = make_step(model=model)
    predict = aicf.compile(model, {"x": INPUTS["x"]}, program=step)
    refused, rounds = [0, 0], 0

    def until_done(call, who, *batch):
        """A thread that waits for the interpreter inside of its call has every call of
        the other refused: the sleep lets it go on."""
        def work():
            done = 0
            while done < 300:
                try:
                    call(*batch)
                    done += 1
                except aicf.errors.FailedStateError:
                    refused[who] += 1
                    time.sleep(0)
        return work
    while not sum(refused):
        in_threads(until_done(step, 0, X, LABELS), until_done(predict, 1, X))
        rounds += 1
    assert step.get("step").item() == 300 * rounds


def test_what_may_not_be_asked_while_another_thread_runs():
    """An error, no crash: traces, slots, new entries; and nothing is lost."""
    step = big_step()
    step.write(x=np.ones((512, 512), np.float32))
    step.run(1)
    executor = step.program.executor
    executor.trace_enable(True)
    refused = [0]
    running = threading.Event()

    def run():
        running.set()
        step.run(60)

    def ask():
        running.wait()
        for _ in range(200):
            for question in (executor.trace_get, executor.slots, executor.statistics,
                             executor.trace_json, lambda: aicf.compile(
                                 lambda x: x, {"x": X}, program=step, name="more")):
                try:
                    question()
                except (aicf.errors.FailedStateError, aicf.CompileError):
                    refused[0] += 1
    before = step.get("0.weight").numpy()
    in_threads(run, ask)
    assert refused[0] > 0
    assert (step.get("0.weight").numpy() != before).any()


def test_a_graph_is_reset_while_another_thread_launches_it():
    a, y, stream = aicf.zeros((512, 512)), aicf.zeros((512, 512)), aicf.graph_stream()

    def launch(graph):
        try:
            for _ in range(200):
                aicf.graph_launch(graph, stream)
        except aicf.errors.FailedStateError as error:
            assert "was reset" in str(error)
    for _ in range(20):
        aicf.graph_begin(stream)
        aicf.op_call("relu", [a], [y], stream=stream)
        graph = aicf.graph_end(stream)
        in_threads(lambda: launch(graph), lambda: (time.sleep(0.001),
                                                   aicf.graph_reset(graph)))


def test_an_exception_in_another_threads_trace():
    """A trace belongs to its thread: one that fails leaves the other alone."""
    barrier = threading.Barrier(2)

    def good():
        def function(x):
            barrier.wait()
            y = x + 1
            barrier.wait()
            return y
        return aicf.compile(function, {"x": X})(X).numpy()

    def bad():
        def function(x):
            barrier.wait()
            try:
                raise ValueError("mine")
            finally:
                barrier.wait()
        with pytest.raises(ValueError, match="mine"):
            aicf.trace(function, {"x": X})
    result, _ = in_threads(good, bad)
    np.testing.assert_array_equal(result, X + 1)


def _in_child(step, queue):
    queue.put([float(step(X, LABELS)) for _ in range(3)])
    fresh = make_step()
    queue.put([float(fresh(X, LABELS)) for _ in range(4)])


def test_fork():
    """A child goes on with a CPU step that its parent made, apart from it."""
    step = make_step()
    values = [float(step(X, LABELS))]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(step, queue))
    child.start()
    went_on, fresh = queue.get(timeout=60), queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    values += [float(step(X, LABELS)) for _ in range(3)]
    assert went_on == values[1:] and fresh == values


def test_fork_with_helper_threads():
    """Helpers of the parent's thread pool are not there in the child."""
    step = aicf.compile_step(
        nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 512)),
        lambda m, x: (m(x) ** 2).mean(), aicf.optim.SGD(1e-3),
        {"x": aicf.spec((256, 512))}, threads=2)
    x = np.ones((256, 512), np.float32)
    step(x)
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            for _ in range(3):
                step(x)
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def test_pickling_is_refused():
    step = make_step()
    step(X, LABELS)
    for thing in (step, step.program):
        with pytest.raises(TypeError, match="cannot be pickled: save()"):
            pickle.dumps(thing)
    for thing in (step.program.executor, step.program.plan, step(X, LABELS)):
        with pytest.raises((TypeError, AttributeError)):
            pickle.dumps(thing)
    error = pickle.loads(pickle.dumps(aicf.TraceError("m", "f.py", 3)))
    assert (error.filename, error.lineno) == ("f.py", 3)


def test_models_can_be_pickled():
    model = pickle.loads(pickle.dumps(Mlp()))
    assert [n for n, _ in model.named_parameters()] == [
        "fc0.weight", "fc0.bias", "fc1.weight", "fc1.bias"]
    assert float(make_step(model=model)(X, LABELS)) == float(make_step()(X, LABELS))


def test_ctrl_c():
    """Ctrl-C in the middle of a long run: KeyboardInterrupt after a step, and the
    step can go on."""
    code = """
import os, signal, sys, threading, time
sys.path.insert(0, %r)
from test_processes import *
step = make_step()
step.write(x=X, labels=LABELS)
step.run(1)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.time()
try:
    step.run(10**12)
except KeyboardInterrupt:
    print("interrupted", time.time() - start < 20)
count = step.get("step").item()
step.run(5)
print(step.get("step").item() - count)
""" % os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout == "interrupted True\n5\n", done.stderr


def test_import_is_light():
    """No NumPy, no compiler, no torch: until something is used."""
    code = """
import sys, aicf
heavy = {"numpy", "torch", "jax", "aicf._compiler", "aicf._runtime"} & set(sys.modules)
print(sorted(heavy))
aicf.compile_step, aicf.nn.Linear(2, 3), aicf.optim.AdamW(1e-3)
print("numpy" in sys.modules, "aicf._compiler" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\nFalse False\n", done.stderr


def test_the_package_shows_what_it_has():
    assert {"compile_step", "nn", "ops", "load", "PlannedExecutor"} <= set(dir(aicf))
    for name in aicf.__all__:
        getattr(aicf, name)
    assert sorted([*aicf._HOME_OF, *aicf._MODULES, "__version__"]) == aicf.__all__
    folder = pathlib.Path(aicf.__file__).parent
    assert {*aicf._MODULES, "examples", "integrations"} == {  # which `aicf.` does not import
        path.stem for path in folder.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and path.stem[0] != "_"}
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        aicf.nonsense


@pytest.mark.parametrize("peers", [["torch"], ["jax"], ["torch", "jax"]])
@pytest.mark.parametrize("first", [True, False])
def test_beside_torch_and_jax(peers, first):
    """Their LLVMs, OpenMPs and BLASes and ours in one process, in both orders of
    import; arrays go both ways. Only where they are installed."""
    for peer in peers:
        pytest.importorskip(peer)
    code = """
import sys
sys.path.insert(0, %r)
%s
from test_processes import *
step = make_step()
expected = [float(make_step()(X, LABELS))]
if "torch" in sys.modules:
    import torch
    step_t = make_step()
    assert float(step_t(torch.from_numpy(X), torch.from_numpy(LABELS))) == expected[0]
    net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(),
                              torch.nn.Linear(32, 10))
    ours = aicf.compile(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)),
                        {"x": INPUTS["x"]})
    ours.load_state_dict(net.state_dict())
    theirs = net(torch.from_numpy(X)).detach()
    assert torch.allclose(torch.from_dlpack(ours(X)), theirs, atol=1e-5)
    ours.bind(x=theirs.new_tensor(X))
    assert torch.allclose(torch.from_dlpack(ours()), theirs, atol=1e-5)
    net.load_state_dict({n: torch.from_numpy(v) for n, v in ours.state_dict().items()})
if "jax" in sys.modules:
    import jax, jax.numpy as jnp
    step_j = make_step()
    f = jax.jit(lambda x: jnp.tanh(x) @ x.T)
    f(X)
    assert float(step_j(jnp.asarray(X), jnp.asarray(LABELS))) == expected[0]
    back = jnp.from_dlpack(aicf.array(X))
    assert (back == X).all()
assert float(step(X, LABELS)) == expected[0]
print("ok")
""" % (os.path.dirname(__file__),
       "\n".join("import " + p for p in (["aicf", "aicf._compiler"] if first else [])
                 + peers))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=300)
    assert done.stdout == "ok\n", done.stderr


def test_every_status_code_has_its_exception():
    from aicf import _runtime
    for code in _runtime.status_codes()[1:]:
        name = code if code.endswith("Error") else code + "Error"
        assert issubclass(getattr(aicf.errors, name), aicf.AICFError)


@pytest.mark.parametrize("name, variable", [
    ("libcublasLt.so.13", "AICF_CUBLASLT_LIBRARY"), ("libcudnn.so.9", "AICF_CUDNN_LIBRARY")])
def test_libraries_are_found_in_nvidias_wheels(tmp_path, monkeypatch, name, variable):
    """In a wheel on sys.path, unless the variable says another."""
    from aicf._programs import cuda_libraries as _cuda
    folder = tmp_path / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    source = tmp_path / "lib.c"
    source.write_text("int aicf_test_library;")
    library = folder / name
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    library.write_text("no library")  # passed over
    assert _cuda.find_libraries() == {}
    subprocess.run(["cc", "-shared", "-o", library, source], check=True)
    assert _cuda.find_libraries() == {name: str(library)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [""])  # the current directory
    assert (tmp_path / _cuda.find_libraries()[name]).samefile(library)
    monkeypatch.setenv(variable, "/elsewhere.so")
    assert _cuda.find_libraries() == {}


# The console commands

def script(command):
    """The module and the function that pip's script calls."""
    scripts = (SOURCE / "pyproject.toml").read_text().split("[project.scripts]")[1]
    return re.search(r'^%s = "([\w.]+):(\w+)"$' % command, scripts, re.M).groups()


def console(command, *arguments):
    module, function = script(command)
    code = "import sys; sys.argv[0] = %r; from %s import %s; sys.exit(%s())" % (
        command, module, function, function)
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def test_console_commands(tmp_path):
    """The same tools as those that CMake builds: same bytes, same exit codes."""
    model = SOURCE / "examples/digits/model.mlir"
    assert console("aicf-compile", model, "-o", tmp_path / "a.plan").returncode == 0
    subprocess.run([BINARY / "bin/aicf-compile", model, "-o", tmp_path / "b.plan"],
                   check=True, env=PROGRAM_ENV)
    assert (tmp_path / "a.plan").read_bytes() == (tmp_path / "b.plan").read_bytes()
    assert console("aicf-plan", "verify", tmp_path / "a.plan").stdout.endswith(": ok\n")
    np.save(tmp_path / "x.npy", np.zeros((32, 64), np.float32))
    ran = console("aicf-run", tmp_path / "a.plan", "--entry", "train_step", "--set",
                  "lr=0.1", "--input", "x=@%s" % (tmp_path / "x.npy"), "--input",
                  "labels=32xi32=1", "--output", "loss=@%s" % (tmp_path / "l.npy"))
    assert ran.returncode == 0, ran.stderr
    assert np.isfinite(np.load(tmp_path / "l.npy"))
    for command in ("aicf-run", "aicf-plan"):
        wrong = console(command, "verify" if command == "aicf-plan" else "x", "--nothing")
        assert wrong.returncode == 2 and "Run with --help" in wrong.stderr
        assert "plan files of version" in console(command, "--version").stdout
    assert console("aicf-compile", tmp_path / "no.mlir", "-o", "x").returncode == 2


def test_aicf_compile_of_a_package_without_the_compiler(monkeypatch, capsys):
    module, function = script("aicf-compile")
    monkeypatch.setitem(sys.modules, "aicf._compiler", None)
    monkeypatch.delattr(aicf, "_compiler", raising=False)
    assert getattr(importlib.import_module(module), function)() == 2
    assert capsys.readouterr().err == \
        "aicf-compile: this build of the package has no compiler\n"


def cpu_description(**more):
    """That of a process with these variables."""
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    return subprocess.run(
        [sys.executable, "-c", "import aicf; print(aicf.device('cpu').description)"],
        env=dict(env, **more), capture_output=True, text=True, check=True).stdout


def has_avx2():
    with open("/proc/cpuinfo") as file:
        return re.search(r"\bavx2\b", file.read()) is not None


@pytest.mark.skipif(not has_avx2(), reason="the processor has no AVX2")
def test_products_have_kernels_for_the_processor():
    """OpenBLAS may be older than the processor. Then it takes kernels of 2004."""
    if "openblas" not in cpu_description():
        pytest.skip("the build has no OpenBLAS")
    assert "Prescott" not in cpu_description()
    # The variable has the last word.
    assert "openblas for Prescott" in cpu_description(OPENBLAS_CORETYPE="Prescott")
    assert "openblas for Haswell" in cpu_description(OPENBLAS_CORETYPE="Haswell")


NO_MEMORY = """
import resource, sys
import numpy as np
import aicf
from aicf import nn
from aicf import _compiler
width, room = int(sys.argv[1]), int(sys.argv[2]) << 20
model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
try:
    step = aicf.compile_step(model, lambda m, x: (m(x) ** 2).mean(), aicf.optim.SGD(1e-3),
                             {"x": (64, width)}, threads=1)
    step(np.ones((64, width), "f4"))
    step(np.ones((7, width), "f4"))
    print("ok")
except (MemoryError, aicf.errors.DeviceError) as error:
    print("refused: %s" % error)
"""


@pytest.mark.parametrize("width", [40, 1024])
def test_libraries_say_that_there_is_no_memory(width):
    """OpenBLAS would wait for it for ever, and oneDNN end the process."""
    seen, reasons = [], ("the plan needs", "OpenBLAS needs", "oneDNN needs up to",
                         "cannot allocate")
    for room in (24, 48, 72, 96, 128, 160, 208, 400, 1000):
        done = subprocess.run([sys.executable, "-c", NO_MEMORY, str(width), str(room)],
                              text=True, capture_output=True, env=PROGRAM_ENV, timeout=60)
        assert done.returncode == 0, (room, done.returncode, done.stderr)
        seen.append(done.stdout.split(":")[0].strip())
        assert seen[-1] == "ok" or done.stdout == "refused: \n" or any(
            reason in done.stdout for reason in reasons), done.stdout
    assert seen[0] == "refused" and seen[-1] == "ok", seen
