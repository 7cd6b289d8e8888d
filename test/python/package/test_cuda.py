# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on a GPU, beside PyTorch, CuPy and JAX. Skipped without one; a machine
without the compiler takes the plans that `test_cuda.py FOLDER` wrote where there is
one (benchmarks/gpu.sh, part python)."""

import gc
import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

import aicf

MODELS = ["mixer", "vit", "unet", "bilinear"]  # of test_models.py
PLANS = pathlib.Path(os.environ.get("AICF_CUDA_PLANS", "carry/plans/python"))


def write_plans(folder, device):
    """mlp: 64 -> 32 -> 10 with AdamW and predict; half: the same in bf16; resident:
    on batches made on the device; the models of test_models.py, in f32 and bf16; masks:
    views and states of i1, and constants."""
    import test_models
    import test_views
    from conftest import INPUTS, Mlp, cross_entropy
    folder.mkdir(parents=True, exist_ok=True)
    for name, precision in (("mlp", "f32"), ("half", "bf16")):
        model = Mlp()
        traced = aicf.trace_step(model, cross_entropy, aicf.optim.AdamW(1e-2), INPUTS)
        traced.add(model, {"x": INPUTS["x"]}, name="predict")
        for target in (device, "cpu"):
            plan = traced.lower(target, precision).plan
            (folder / ("%s.%s.plan" % (name, target))).write_bytes(plan.serialize())
    for name in MODELS:
        for target in (device, "cpu"):
            for precision in ("f32", "bf16"):
                plan = test_models.traced(name).lower(target, precision).plan
                (folder / ("%s-%s.%s.plan" % (name, precision, target))).write_bytes(
                    plan.serialize())
    for target in (device, "cpu"):
        plan = aicf.trace(test_views.Masks(), {"m": aicf.spec((3, 5), "i1")}).lower(
            target).plan
        (folder / ("masks.%s.plan" % target)).write_bytes(plan.serialize())
    batches = aicf.data.Batches(16, seed=5)

    def loss(model, images, labels):
        x, y = batches(images, labels)
        return aicf.losses.cross_entropy(model(x), y)
    traced = aicf.trace_step(Mlp(), loss, aicf.optim.AdamW(1e-2), {
        "images": aicf.spec((960, 64)), "labels": aicf.spec((960,), "i32")})
    for target in (device, "cpu"):
        plan = traced.lower(target).plan
        (folder / ("resident.%s.plan" % target)).write_bytes(plan.serialize())


if __name__ == "__main__":
    write_plans(pathlib.Path(sys.argv[1]), "cuda")
    sys.exit()


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    try:
        aicf.device("cuda")
    except aicf.AICFError as error:
        pytest.skip("no GPU: %s" % str(error)[:80])
    if importlib.util.find_spec("aicf._compiler") is None:
        return PLANS
    folder = tmp_path_factory.mktemp("plans")
    write_plans(folder, "cuda")
    return folder


def load(plans, name, device="cuda", **options):
    program = aicf.load(plans / ("%s.%s.plan" % (name, device)), **options)
    program.set("lr", 1e-2)
    return program


def make_batch(seed=0):
    random = np.random.default_rng(seed)
    return (random.standard_normal((16, 64)).astype(np.float32),
            random.integers(0, 10, 16).astype(np.int32))


def test_training_is_the_cpus(plans):
    gpu, cpu = (load(plans, "mlp", device)["train_step"] for device in ("cuda", "cpu"))
    for i in range(20):
        a, b = gpu(*make_batch(i)), cpu(*make_batch(i))
        assert a.device == "cuda:0" and b.device == "cpu"
        assert float(a) == pytest.approx(float(b), rel=1e-4)
    for name, value in gpu.state_dict().items():
        np.testing.assert_allclose(value, cpu.state_dict()[name], rtol=2e-3, atol=2e-4)


def test_bf16(plans):
    half, full = (load(plans, name)["train_step"] for name in ("half", "mlp"))
    for i in range(5):
        assert float(half(*make_batch(i))) == pytest.approx(
            float(full(*make_batch(i))), rel=0.03)


@pytest.mark.parametrize("precision, tolerance", [("f32", 1e-3), ("bf16", 5e-2)])
@pytest.mark.parametrize("name", MODELS)
def test_models_of_views(plans, name, precision, tolerance):
    """Products with strides and in batches, copies of every kind: the CPU's losses, and
    the same bits in a second program that launches five steps at once."""
    programs = [load(plans, "%s-%s" % (name, precision), device)
                for device in ("cuda", "cpu", "cuda")]
    gpu, cpu, again = (program["train_step"] for program in programs)
    random = np.random.default_rng(2)
    x = random.standard_normal((50, 8, 8)).astype(np.float32)
    second = random.standard_normal(x.shape).astype(np.float32) if name == "unet" \
        else random.integers(0, 10, 50).astype(np.int32)
    for _ in range(10):
        a, b = float(gpu(x, second)), float(cpu(x, second))
        assert a == pytest.approx(b, rel=tolerance)
    again.write(x=x, **{"target" if name == "unet" else "labels": second})
    assert float(again.run(10, steps_per_launch=5)) == a
    for key, value in gpu.state_dict().items():
        np.testing.assert_array_equal(value, again.state_dict()[key])


def test_bits_and_constants(plans):
    gpu, cpu = (next(iter(aicf.load(plans / ("masks.%s.plan" % device)).entries.values()))
                for device in ("cuda", "cpu"))
    kept = np.random.default_rng(3).integers(0, 2, (3, 5)).astype(bool)
    for entry in (gpu, cpu):
        entry.program.set("kept", kept)
    for seed in range(3):
        m = np.random.default_rng(seed).integers(0, 2, (3, 5)).astype(bool)
        for a, b in zip(gpu(m), cpu(m)):
            assert a.dtype == "i1" and a.device == "cuda:0"
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        np.testing.assert_array_equal(gpu.get("kept").numpy(), m)


def test_every_loss_stays_what_it_was(plans):
    one, two = (load(plans, "mlp")["train_step"] for _ in range(2))
    x, labels = make_batch()
    kept = [one(x, labels) for _ in range(50)]  # nobody waits in between
    read = [float(two(x, labels)) for _ in range(50)]
    assert [float(v) for v in kept] == read


def test_an_output_outlives_its_program(plans):
    program = load(plans, "mlp")
    x, labels = make_batch()
    value = program["train_step"](x, labels)
    expected = float(load(plans, "mlp")["train_step"](x, labels))
    del program
    gc.collect()
    assert float(value) == expected


def test_launches_of_several_steps(plans):
    gpu, cpu = (load(plans, "resident", d)["train_step"] for d in ("cuda", "cpu"))
    random = np.random.default_rng(1)
    images = random.standard_normal((960, 64)).astype(np.float32)
    labels = random.integers(0, 10, 960).astype(np.int32)
    for step in (gpu, cpu):
        step.write(images=images, labels=labels)
    a, b = gpu.run(125, steps_per_launch=20), cpu.run(125)
    assert float(a) == pytest.approx(float(b), rel=2e-2)
    assert gpu.program.get("batch").item() == 125


def test_checkpoints_go_between_devices(plans, tmp_path):
    gpu, cpu = (load(plans, "mlp", device) for device in ("cuda", "cpu"))
    gpu["train_step"](*make_batch())
    gpu.save_checkpoint(tmp_path)
    cpu.load_checkpoint(tmp_path)
    for name, value in gpu.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(value, cpu.state_dict(optimizer=True)[name])


# Others' arrays on the card

def torch_array(a):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(a).cuda()


def cupy_array(a):
    return pytest.importorskip("cupy").asarray(a)


def jax_array(a):
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax without a GPU")
    return jax.numpy.asarray(a)


def our_array(a):
    return aicf.array(a, "cuda")


EVERYONE = [torch_array, cupy_array, jax_array, our_array]


@pytest.mark.parametrize("make", EVERYONE)
def test_arrays_on_the_card(plans, make):
    host, card = (load(plans, "mlp")["train_step"] for _ in range(2))
    for i in range(5):
        x, labels = make_batch(i)
        assert float(card(make(x), make(labels))) == float(host(x, labels))


@pytest.mark.parametrize("make", EVERYONE)
def test_bound_arrays_on_the_card(plans, make):
    host, card = (load(plans, "mlp")["train_step"] for _ in range(2))
    x, labels = make_batch()
    card.bind(x=make(x), labels=make(labels))
    gc.collect()
    for _ in range(5):
        assert float(card()) == float(host(x, labels))


def test_writes_of_torchs_stream_come_first(plans):
    """A tensor that PyTorch still computes is read when it is there."""
    torch = pytest.importorskip("torch")
    host, card = (load(plans, "mlp")["train_step"] for _ in range(2))
    labels = make_batch()[1]
    for seed in range(10):
        x = make_batch(seed)[0]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            big = torch.ones(4096, 4096, device="cuda")
            for _ in range(10):
                big = big @ big * 1e-4  # keeps the stream busy
            late = torch.from_numpy(x).cuda() + 0 * big[0, 0]
            value = card(late, torch.from_numpy(labels).cuda())
            late.fill_(float("nan"))  # the copy is over
        assert float(value) == float(host(x, labels))


@pytest.mark.parametrize("peer", ["torch", "cupy"])
def test_outputs_on_the_card(plans, peer):
    module = pytest.importorskip(peer)
    predict = load(plans, "mlp")["predict"]
    x = make_batch()[0]
    out = predict(x)
    theirs = module.from_dlpack(out)
    predict(x * 0)
    back = theirs.cpu().numpy() if peer == "torch" else theirs.get()
    np.testing.assert_array_equal(back, out.numpy())
    assert back.any()


def test_an_upload_is_there_before_it_is_used(plans):
    """Half a GiB, which takes longer than a launch."""
    x = np.random.default_rng(0).standard_normal((64, 1 << 21)).astype(np.float32)
    for _ in range(3):
        a, y = aicf.array(x, "cuda"), aicf.zeros(x.shape, device="cuda")
        stream = aicf.graph_stream("cuda")
        aicf.op_call("relu", [a], [y], stream=stream)
        np.testing.assert_array_equal(y.numpy()[:, ::997], np.maximum(x, 0)[:, ::997])


def test_memory_that_others_read_is_not_used_again(plans):
    """What torch still computes with is not overwritten by later outputs."""
    torch = pytest.importorskip("torch")
    predict = load(plans, "mlp")["predict"]
    x = make_batch()[0]
    expected = predict(x).numpy()
    results = []
    for i in range(50):
        out = torch.from_dlpack(predict(x))
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            big = torch.ones(2048, 2048, device="cuda")
            for _ in range(5):
                big = big @ big * 1e-4
            results.append(out + 0 * big[0, 0])  # late
        del out
        for _ in range(3):
            predict(x * (i + 2))
    torch.cuda.synchronize()
    for result in results:
        np.testing.assert_array_equal(result.cpu().numpy(), expected)


def test_wrong_places(plans):
    torch = pytest.importorskip("torch")
    x, labels = make_batch()
    on_card = torch.from_numpy(x).cuda()
    with pytest.raises(aicf.AICFError, match="cuda"):
        load(plans, "mlp", "cpu")["train_step"](on_card, labels)
    step = load(plans, "mlp")["train_step"]
    with pytest.raises(aicf.AICFError, match="contiguous"):
        step(torch.from_numpy(x.T.copy()).cuda().t(), labels)
    with pytest.raises(aicf.AICFError, match="f64, expected f32"):
        step(on_card.double(), labels)
    with pytest.raises(aicf.AICFError, match="only an array on cuda:0"):
        step.bind(x=x)
    with pytest.raises(aicf.AICFError, match="device 99"):
        aicf.device("cuda:99")


def test_op_calls_and_graphs(plans):
    a, b = (aicf.array(make_batch(i)[0], "cuda") for i in range(2))
    c = aicf.zeros((16, 16), device="cuda")
    aicf.op_call("gemm", [a, b], [c], {"transB": True})
    np.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy().T, rtol=1e-4, atol=1e-4)
    stream = aicf.graph_stream(aicf.device("cuda"))
    y = aicf.zeros((16, 16), device="cuda")
    aicf.graph_begin(stream)
    aicf.op_call("relu", [c], [y], stream=stream)
    graph = aicf.graph_end(stream)
    aicf.graph_launch(graph, stream)
    np.testing.assert_array_equal(y.numpy(), np.maximum(c.numpy(), 0))
    with pytest.raises(aicf.AICFError, match="on the host"):
        aicf.op_call("relu", [c], [np.zeros((16, 16), np.float32)], device="cuda")


def test_a_forked_child_is_told(plans):
    step = load(plans, "mlp")["train_step"]
    step(*make_batch())
    pid = os.fork()
    if pid == 0:
        try:
            step(*make_batch())
        except aicf.AICFError as error:
            os._exit(0 if "fork" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_fit_and_predict(plans, tmp_path):
    """The loop over a loaded plan: near the CPU's, and resumed with the same bits."""
    x, y = (np.concatenate(parts) for parts in zip(*map(make_batch, range(6))))

    def run(device, **more):
        program = load(plans, "mlp", device)
        history = aicf.fit(program["train_step"], (x, y), epochs=4, **more)
        return program, [logs["loss"] for logs in history]
    (gpu, losses), (cpu, expected) = run("cuda"), run("cpu")
    assert losses == pytest.approx(expected, rel=1e-3)

    class Stop(aicf.Callback):
        def __init__(self, at=None):
            self.at = at

        def on_batch_end(self, run):
            if (run.epoch, run.position) == self.at:
                raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        run("cuda", checkpoint=tmp_path, save_every=1, callbacks=[Stop((2, 3))])
    again, _ = run("cuda", checkpoint=tmp_path, resume=True, callbacks=[Stop()])
    for name, value in gpu.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(again.state_dict(optimizer=True)[name], value)
    assert gpu["train_step"].predict(x[:37]).shape == (37, 10)


def test_large_arrays_are_not_copied_silently(plans):
    """Numbers and small arrays are; of others somebody has to ask for numpy()."""
    small = aicf.array(np.arange(6, dtype=np.float32), "cuda")
    assert small[2] == 2 and list(small)[-1] == 5 and sum(small) == 15
    assert "[0., 1." in repr(small)
    large = aicf.zeros((300, 300), device="cuda")
    assert repr(large) == "aicf.Array(300x300xf32, cuda:0)"
    for wrong in (lambda: large[0], lambda: large + 1, lambda: list(large)):
        with pytest.raises(TypeError, match="90000 elements on a GPU is not copied"):
            wrong()
    assert large.numpy().sum() == 0
