# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the package does with a GPU, over a fake card (fake_card.py): where arrays are,
which CUDA calls are made, what waits for what, and that each failing call is one error.
Values are test_cuda.py's, which needs a card."""

import gc
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import INPUTS, Mlp, cross_entropy, make_batch, make_step
from fake_card import card  # noqa: F401
from foreign import Foreign, tensor_of

import aicf

X, LABELS = make_batch()
SYNC, COPY, ALLOCATE = "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaMalloc"
FREE, EVENT = "cudaFree", ["cudaSetDevice", "cudaEventRecord", "cudaStreamWaitEvent"]


@pytest.fixture
def step(card):  # noqa: F811
    step = make_step(device="cuda")
    step(X, LABELS)  # the first call captures
    return step


def waits(calls):
    """Returns how often the host waited, but for allocations, each of which does."""
    return calls.count(SYNC) - calls.count(ALLOCATE)


def run_script(text, **environment):
    subprocess.run([sys.executable, "-c", textwrap.dedent(text)], check=True,
                   env={**os.environ, **environment,
                        "PYTHONPATH": os.pathsep.join(sys.path)})


def on_card(array):
    return aicf.array(array, "cuda")


def test_the_array_says_where_it_is(card):  # noqa: F811
    a = on_card(X)
    assert (a.device, a.__dlpack_device__()) == ("cuda:0", (2, 0))
    assert repr(aicf.zeros(3, device="cuda")) == "aicf.Array([0., 0., 0.], 3xf32, cuda:0)"
    tensor = tensor_of(a.__dlpack__(stream=2))
    assert (tensor.device_type, tensor.device_id) == (2, 0)
    np.testing.assert_array_equal(a.numpy(), X)
    device = aicf.device("cuda")
    assert (device.name, device.kind, device.num_threads) == ("cuda:0", "cuda", 1)
    with pytest.raises(aicf.AICFError, match="device 99"):
        aicf.device("cuda:99")


def test_only_small_arrays_are_copied_silently(card):  # noqa: F811
    small = aicf.zeros((1 << 14,), device="cuda")  # 64 KiB
    assert not small[0] and "..." in repr(small)
    large = aicf.zeros(((1 << 14) + 1,), device="cuda")
    assert repr(large) == "aicf.Array(16385xf32, cuda:0)"
    for use in (lambda: large[0], lambda: large + 1, lambda: list(large)):
        with pytest.raises(TypeError, match="16385 elements on a GPU is not copied"):
            use()
    assert not large.numpy().any()


@pytest.mark.parametrize("fields, place", [
    ({"device_id": 1}, "cuda:1"), ({"device_type": 10}, "DLPack device 10")])
def test_places_that_a_card_does_not_take(step, fields, place):
    with pytest.raises(aicf.AICFError, match='input "x" is on %s, expected the host or '
                       "cuda:0" % place):
        step(Foreign(on_card(X), **fields), LABELS)


def test_places_that_the_host_does_not_take(card):  # noqa: F811
    host = make_step()
    for wrong in (on_card(X), Foreign(X, device_type=2)):
        with pytest.raises(aicf.AICFError, match="is on cuda:0, expected"):
            host(wrong, LABELS)
    host(Foreign(X, device_type=3), LABELS)  # pinned memory of the host


def test_places_that_are_read(step):
    for x in (X, on_card(X), Foreign(on_card(X)), Foreign(X, device_type=3),
              aicf.array(X)):
        step(x, LABELS)


def test_the_producers_stream_is_waited_for(step):
    """A foreign array on the card is asked to be ready on the step's stream."""
    foreign, host = Foreign(on_card(X)), Foreign(X)
    step(foreign, LABELS)
    step(host, LABELS)
    assert [list(r) for r in foreign.requests] == [["stream"]]
    assert foreign.requests[0]["stream"] not in (None, -1, 0)
    assert all(r.get("stream") is None for r in host.requests)


def test_a_call_waits_for_what_it_reads_on_the_card_alone(step, card):  # noqa: F811
    x, labels = on_card(X), on_card(LABELS)
    assert SYNC not in card.calls_of(lambda: step(X, LABELS))
    assert SYNC in card.calls_of(lambda: step(x, LABELS))
    assert SYNC in card.calls_of(lambda: step(x, labels))
    assert SYNC not in card.calls_of(lambda: step.write(x=X))
    assert SYNC in card.calls_of(lambda: step.write(x=x))


def test_a_kept_output_is_waited_for(step, card):  # noqa: F811
    """Its copy has only begun when the next call takes its place."""
    kept = step(X, LABELS)
    step(X, LABELS)
    assert SYNC in card.calls_of(lambda: kept.__dlpack__())
    assert SYNC not in card.calls_of(lambda: kept.__dlpack__())


def test_a_consumers_stream_waits_for_an_output(step, card):  # noqa: F811
    """Then the host does not."""
    foreign = Foreign(on_card(X))
    make_step(device="cuda")(foreign, LABELS)
    stream = foreign.requests.pop()["stream"]
    for _ in range(2):
        out = step(X, LABELS)
        calls = card.calls_of(lambda: out.__dlpack__(stream=stream))
        assert calls[-3:] == EVENT and not waits(calls)
    assert card.calls_of(lambda: out.__dlpack__(stream=stream)) == EVENT
    for nothing in ({"stream": None}, {"stream": 0}, {"stream": -1}, {}):
        out = step(X, LABELS)
        assert SYNC in card.calls_of(lambda: out.__dlpack__(**nothing))
    assert not card.calls_of(lambda: out.__dlpack__(stream=stream))  # it is over


class Unchanging(Foreign):
    """An array whose values nobody changes."""


def test_inputs_that_nobody_writes_are_held(step, card):  # noqa: F811
    """Until one wait in so many calls is over, or the program goes."""
    runner = aicf._runtime.Runner(step.program.executor, step.name, Unchanging)
    before = card.objects_alive()
    for i in range(1, 33):
        array = Unchanging(on_card(X))
        calls = card.calls_of(lambda: runner(array, LABELS))
        del array
        assert bool(waits(calls)) == (i % 16 == 0)
        assert card.objects_alive() == before + i % 16
    assert not waits(card.calls_of(lambda: runner(X, LABELS)))


def test_others_inputs_are_waited_for_and_end_what_is_held(step, card):  # noqa: F811
    runner = aicf._runtime.Runner(step.program.executor, step.name, Unchanging)
    before = card.objects_alive()
    runner(Unchanging(on_card(X)), LABELS)
    assert card.objects_alive() == before + 1
    array = Foreign(on_card(X))
    assert waits(card.calls_of(lambda: runner(array, LABELS)))
    del array
    assert card.objects_alive() == before
    array = Unchanging(on_card(X))
    assert waits(card.calls_of(lambda: step(array, LABELS)))  # which has not been told


def test_a_wait_that_fails_keeps_what_is_held(step, card):  # noqa: F811
    runner = aicf._runtime.Runner(step.program.executor, step.name, Unchanging)

    def sixteen():
        for _ in range(15):
            runner(Unchanging(on_card(X)), LABELS)
        array = Unchanging(on_card(X))
        return lambda: runner(array, LABELS)
    calls = card.calls_of(sixteen())
    before = card.objects_alive()
    last = sixteen()
    card.fail_call(len(calls) - 1 - calls[::-1].index(SYNC))
    with pytest.raises(aicf.errors.DeviceError, match=SYNC):
        last()
    card.fail_call(None)
    del last
    assert card.objects_alive() == before + 16


def test_what_is_held_goes_with_its_program(card):  # noqa: F811
    before = card.objects_alive()
    step = make_step(device="cuda")
    runner = aicf._runtime.Runner(step.program.executor, step.name, Unchanging)
    runner(Unchanging(on_card(X)), LABELS)
    del runner, step
    gc.collect()
    aicf.program._devices.clear()
    assert card.objects_alive() == before


def test_much_that_is_held_is_waited_for(card):  # noqa: F811
    entry = aicf.compile(lambda x: x * 2, {"x": aicf.spec((1 << 23,))}, device="cuda")
    runner = aicf._runtime.Runner(entry.program.executor, entry.name, Unchanging)
    x = on_card(np.zeros(1 << 23, np.float32))  # 32 MiB
    runner(x)  # the first call prepares, and waits
    assert [bool(waits(card.calls_of(lambda: runner(Unchanging(x))))) for _ in range(4)] == [
        False, False, True, False]


def test_what_is_read_is_waited_for(step, card):  # noqa: F811
    """Whoever reads a tensor has a copy that has only begun."""
    name = step.program.plan.persistent()[0]["name"]
    read = step.program.executor.read(name)
    assert SYNC in card.calls_of(lambda: read.__dlpack__())
    assert SYNC not in card.calls_of(lambda: read.__dlpack__())


def test_an_output_outlives_its_program(card):  # noqa: F811
    """The last owner drops the program while it waits, without the GIL. Python's debug
    allocator ends a process that frees an object so."""
    run_script("""
        import gc, aicf
        from conftest import make_batch, make_step
        x, labels = make_batch()
        step = make_step(device="cuda")
        step.bind(x=aicf.array(x, "cuda"))
        loss = step(labels=labels)
        read = step.program.executor.read(step.program.plan.persistent()[0]["name"])
        del step
        gc.collect()
        assert float(loss) is not None and read.numpy() is not None
        """, PYTHONMALLOC="debug")


def test_a_host_array_needs_no_device(step):
    step(memoryview(X), labels=memoryview(LABELS))  # there is no __dlpack_device__


def test_a_peers_stream_orders_calls(step, card):  # noqa: F811
    """Then nothing waits on the host: one event each before and after a call."""
    foreign = Foreign(on_card(X))
    make_step(device="cuda")(foreign, LABELS)
    peer = foreign.requests.pop()["stream"]
    runner = step._runners[0]
    assert runner.peer_stream is None
    alone = card.calls_of(lambda: runner.run(1, 1))
    runner.peer_stream = peer
    assert runner.peer_stream == peer
    assert card.calls_of(lambda: runner.run(1, 1)) == EVENT + alone + EVENT
    calls = card.calls_of(lambda: runner(foreign, LABELS))
    assert calls[:3] == calls[-3:] == EVENT and SYNC not in calls
    assert foreign.requests == [{"stream": -1}]
    runner.peer_stream = None
    assert SYNC in card.calls_of(lambda: runner(foreign, LABELS))


def test_binding_wants_memory_of_the_card(step, card):  # noqa: F811
    for wrong in (X, aicf.array(X)):
        with pytest.raises(aicf.AICFError,
                           match='x" is on the host: only an array on cuda:0'):
            step.bind(x=wrong)
    labels = on_card(LABELS)
    assert card.calls_of(lambda: step(on_card(X), labels)).count(COPY) == 4
    step.bind(x=on_card(X))
    assert card.calls_of(lambda: step(labels=labels)).count(COPY) == 1
    with pytest.raises(aicf.AICFError, match='"x" is bound to an array'):
        step(X, LABELS)


def test_an_output_is_read_when_it_is_asked_for(step, card):  # noqa: F811
    loss = step(X, LABELS)
    assert card.calls_of(lambda: float(loss)).count(COPY) == 2  # aside, and to the host
    assert card.calls_of(lambda: float(loss)).count(COPY) == 1
    kept = step(X, LABELS)
    assert card.calls_of(lambda: step(X, LABELS)).count(COPY) == 5  # it is kept
    assert card.calls_of(lambda: step(X, LABELS)).count(COPY) == 4
    del kept


@pytest.fixture
def kept(card):  # noqa: F811
    """Makes an output that a later call has moved aside."""
    entry = aicf.compile(Mlp(), {"x": INPUTS["x"]}, device="cuda")

    def make():
        out = entry(X)
        entry(X)
        return out
    make()
    return make


def test_memory_of_outputs_is_used_again(card, kept):  # noqa: F811
    assert ALLOCATE not in card.calls_of(kept)
    both = [kept(), kept()]
    before = card.objects_alive()
    del both
    assert card.objects_alive() == before  # blocks wait for their next use
    assert ALLOCATE not in card.calls_of(lambda: [kept(), kept()])


def test_our_own_arrays_are_not_shown_to_others(card, kept):  # noqa: F811
    y = aicf.zeros((16, 10), device="cuda")
    for _ in range(2):
        out = kept()
        aicf.op_call("relu", [out], [y])
        before = card.objects_alive()
        del out
        assert card.objects_alive() == before


def test_memory_that_others_have_seen_waits_for_the_device(card, kept):  # noqa: F811
    """Their work may still read it: a block of many is freed, which waits for all."""
    blocks = 64
    gc.collect()  # what other tests made
    for _ in range(blocks):
        calls = card.calls_of(lambda: kept().__dlpack__())
        assert FREE not in calls
    assert ALLOCATE in calls
    assert FREE in card.calls_of(lambda: kept().__dlpack__())
    before = card.objects_alive()
    outs = [kept() for _ in range(blocks)]
    assert card.objects_alive() == before  # the others are used again
    del outs


def test_memory_that_others_have_seen_is_freed_with_its_program(card):  # noqa: F811
    before = card.objects_alive()
    entry = aicf.compile(Mlp(), {"x": INPUTS["x"]}, device="cuda")
    entry(X).__dlpack__()
    del entry
    aicf.program._devices.clear()
    assert card.objects_alive() == before


def test_much_memory_that_others_have_seen_is_freed(card):  # noqa: F811
    entry = aicf.compile(lambda x: x * 2, {"x": aicf.spec((1 << 23,))}, device="cuda")
    x = np.zeros(1 << 23, np.float32)  # 32 MiB
    gc.collect()
    for is_freed in (False, False, True):
        calls = card.calls_of(lambda: entry(x).__dlpack__())
        assert (FREE in calls) == is_freed


def test_idle_memory_is_given_back_when_there_is_none_left(card):  # noqa: F811
    entry = aicf.compile(lambda x: {"a": x * 2, "b": x.sum()}, {"x": aicf.spec((64,))},
                         device="cuda")
    x = np.ones(64, np.float32)
    entry(x)["a"].numpy()  # leaves an idle block, of another size
    outs = entry(x)
    number = card.calls_of(lambda: outs["b"].__dlpack__()).index(ALLOCATE)
    entry(x)["a"].numpy()
    outs = entry(x)
    card.fail_call(number)
    outs["b"].__dlpack__()
    assert card.failed_call() == ALLOCATE
    calls = card.calls()
    assert number < calls.index("cudaFree") < len(calls) - calls[::-1].index(ALLOCATE)
    outs = entry(x)
    card.fail_call(number)  # with nothing idle there is nothing to try again with
    outs["b"].__dlpack__()


def test_graphs_of_calls(card):  # noqa: F811
    x, y = on_card(X), aicf.zeros(X.shape, device="cuda")
    before = card.kernels_run()
    assert SYNC in card.calls_of(lambda: aicf.op_call("relu", [x], [y]))
    assert card.kernels_run() == before + 1
    stream = aicf.graph_stream("cuda")
    aicf.graph_begin(stream)
    assert SYNC not in card.calls_of(lambda: aicf.op_call("relu", [x], [y], stream=stream))
    graph = aicf.graph_end(stream)
    assert (graph.num_calls, graph.num_nodes) == (1, 1)
    assert card.kernels_run() == before + 1
    aicf.graph_launch(graph, stream)
    assert card.kernels_run() == before + 2
    with pytest.raises(aicf.AICFError, match="operand 0 is on the host, expected cuda:0"):
        aicf.op_call("relu", [X], [y])
    with pytest.raises(aicf.AICFError, match="result 0 is on the host, expected cuda:0"):
        aicf.op_call("relu", [x], [np.zeros_like(X)], device="cuda")
    with pytest.raises(aicf.AICFError, match="result 0 is on the host, expected cuda:0"):
        aicf.op_call("relu", [x], [aicf.array(X)], device="cuda")
    with pytest.raises(aicf.AICFError, match="workspace is on the host, expected cuda:0"):
        aicf.op_call("relu", [x], [y], workspace=np.zeros(4, np.int32))
    aicf.graph_reset(graph)
    with pytest.raises(aicf.AICFError, match="the graph was reset"):
        aicf.graph_launch(graph, stream)


def test_everything_is_freed(card):  # noqa: F811
    before = card.objects_alive()

    def use():
        step = make_step(device="cuda")
        losses = [step(X, LABELS) for _ in range(3)]
        step.bind(x=on_card(X))
        float(losses[0])
        step.state_dict()
    use()
    aicf.program._devices.clear()
    assert card.objects_alive() == before


def test_each_failing_call_is_one_error(card):  # noqa: F811
    """Each CUDA call that arrays and calls make fails once. What is made afterwards works,
    and nothing is left. (Making a program: CUDADeviceTest.)"""
    lowered = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS).lower(
        "cuda")

    def use(failing):
        step = lowered.compile()["train_step"]
        card.fail_call(failing)
        x = on_card(X)
        kept = step(X, LABELS)
        step(x, LABELS)
        step.bind(x=x)
        float(step(labels=LABELS))
        return kept.numpy()
    use(None)
    calls = card.calls()
    before = card.objects_alive()
    gc.freeze()  # to collect is quick then
    for number, name in enumerate(calls):
        try:
            use(number)
        except aicf.errors.DeviceError as error:
            assert name in str(error)
            del error
        assert card.failed_call() == name  # what frees does not say so
        card.fail_call(None)
        assert card.objects_alive() == before, name
    gc.unfreeze()
    use(None)
