# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays in and out: DLPack, buffers, numbers; wrong ones are refused, and nothing
ran then."""

import gc
import json
import math
import weakref

import numpy as np
import pytest
from conftest import INPUTS, Mlp, make_batch, make_step

import aicf

X, LABELS = make_batch()


class Exporter:
    """An array of a foreign framework: DLPack and nothing else."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.requests = array, device, []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **kwargs):
        self.requests.append(kwargs)
        return self.array.__dlpack__()


@pytest.mark.parametrize("convert", [
    lambda a: a, memoryview, Exporter, lambda a: aicf.array(a),
    lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),  # read-only
    lambda a: np.pad(a, [(0, 3)] + [(0, 0)] * (a.ndim - 1))[:16],  # a view
])
def test_whatever_exports_an_array(convert):
    expected = float(make_step()(X, LABELS))
    step = make_step()
    assert float(step(convert(X), labels=convert(LABELS))) == expected


@pytest.mark.parametrize("x, labels, error, message", [
    (X[:15], LABELS, ValueError, r'"x" has shape \(15, 64\), expected 16x64xf32'),
    (X.ravel(), LABELS, ValueError, r'"x" has shape \(1024,\), expected 16x64xf32'),
    (X[None], LABELS, ValueError, r"\(1, 16, 64\)"),
    (X, LABELS[:, None], ValueError, r'"labels" has shape \(16, 1\)'),
    (X.astype("f8"), LABELS, TypeError, '"x" is f64, expected f32: x.astype'),
    (X, LABELS.astype("i8"), TypeError, '"labels" is i64, expected i32'),
    (X, LABELS.astype("u1"), TypeError, "uint8, expected i32"),
    (X > 0, LABELS, TypeError, '"x" is i1, expected f32'),
    (X.astype("c8"), LABELS, TypeError, "complex64, expected f32"),
    (np.asfortranarray(X), LABELS, ValueError, "not contiguous"),
    (np.repeat(X, 2, 1)[:, ::2], LABELS, ValueError, "not contiguous"),
    (X.tolist(), LABELS, TypeError, '"x" is a list, expected an array'),
    (None, LABELS, TypeError, '"x" is a NoneType'),
    ("x", LABELS, TypeError, '"x" is a str'),
    (3.0, LABELS, TypeError, '"x" is a float'),
    (object(), LABELS, TypeError, '"x" is a object'),
    (np.array(["a"]), LABELS, TypeError, '"x" is a ndarray'),
    (aicf.array(X[:3].copy()), LABELS, ValueError, "is 3x64xf32, expected 16x64xf32"),
    (aicf.array(LABELS), LABELS, TypeError, "is i32, expected f32"),
])
def test_wrong_arrays(x, labels, error, message):
    step = make_step()
    before = step.state_dict()
    with pytest.raises(error, match=message) as caught:
        step(x, labels)
    assert isinstance(caught.value, aicf.AICFError)
    with pytest.raises(error, match=message):
        step(x=x, labels=labels)
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, before[name])
    assert step.get("step").item() == 0
    step(X, LABELS)


def test_missing_and_extra_inputs():
    step = make_step()
    for call, message in (
            (lambda: step(X), 'input "labels" is missing'),
            (lambda: step(labels=LABELS), 'input "x" is missing'),
            (lambda: step(X, LABELS, X), "takes 2 inputs, got 3"),
            (lambda: step(X, LABELS, z=X), 'no input "z"; the inputs are x, labels'),
            (lambda: step(X, x=X), "given twice"),
            (lambda: step(), '"x" was never written|"labels" was never written'),
            (lambda: step.run(2), "never written"),
            (lambda: step.write(z=X), 'no input "z"'),
            (lambda: step.bind(z=X), 'no input "z"'),
            (lambda: step.run(0), "n is 0"), (lambda: step.run(2.0), "n is 2.0"),
            (lambda: step.run(True), "n is True"),
            (lambda: step.run(2, steps_per_launch=-1), "steps_per_launch is -1")):
        with pytest.raises(aicf.AICFError, match=message):
            call()


def test_numbers_are_0_d_arrays():
    entry = aicf.compile(lambda x, k: x * k.astype("f32"), {
        "x": aicf.spec((3,)), "k": aicf.spec((), "f64")})
    x = np.arange(3, dtype=np.float32)
    for k in (2, 2.0, np.array(2.0), np.float64(2)):
        np.testing.assert_array_equal(entry(x, k).numpy(), 2 * x)
    count = aicf.compile(lambda n: aicf.ops.step_inc(n), {"n": aicf.spec((), "i32")},
                         name="count")
    assert int(count(41)) == 42
    for bad, message in ((1.5, "a float, expected i32"), (2**31, "too large")):
        with pytest.raises(aicf.AICFError, match=message):
            count(bad)


def test_arrays_elsewhere():
    step = make_step()
    with pytest.raises(aicf.AICFError, match="is a Exporter.*: not on this device"):
        step(Exporter(FarAway(X)), LABELS)


class FarAway:
    """Whose export fails, as a GPU array's does on a machine without one."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        raise BufferError("not on this device")


def test_what_can_be_bound():
    step = make_step()
    frozen = X.copy()
    frozen.setflags(write=False)
    step.bind(x=frozen)  # inputs are only read
    with pytest.raises(aicf.AICFError, match="read-only"):
        weight = np.zeros((10, 32), np.float32)
        weight.setflags(write=False)
        step.program.bind("fc1.weight", weight)
    for name, array, message in (
            ("fc1.weight", np.zeros((10, 31), np.float32), r"\(10, 31\)"),
            ("fc1.weight", np.zeros((32, 10), np.float32).T, "contiguous"),
            ("lr", 0.1, '"lr" is a number: only an array on cpu can be bound'),
            ("nothing", X, "nothing")):
        with pytest.raises(aicf.AICFError, match=message):
            step.program.bind(name, array)


def test_bound_memory_is_not_shared():
    step = make_step()
    whole = np.zeros(400, np.float32)
    step.program.bind("fc1.weight", whole[:320].reshape(10, 32))
    with pytest.raises(aicf.AICFError, match="would share memory"):
        step.program.bind("fc1.bias", whole[319:329])
    step.program.bind("fc1.bias", whole[320:330])
    step.program.bind("fc1.weight", whole[:320].reshape(10, 32))  # in front of it
    step(X, LABELS)


def test_what_is_only_read_may_share_memory():
    entry = aicf.compile(lambda a, b: a + b, {"a": aicf.spec((3,)), "b": aicf.spec((3,))})
    both = np.ones(3, np.float32)
    both.setflags(write=False)
    entry.bind(a=both, b=both)
    assert entry().tolist() == [2, 2, 2]
    predict = aicf.compile(Mlp(), {"x": INPUTS["x"]})
    weight = np.zeros((10, 32), np.float32)
    weight.setflags(write=False)
    predict.program.bind("fc1.weight", weight)  # no entry writes it
    step = make_step()
    mine = np.zeros((16, 64), np.float32)
    step.bind(x=mine)
    with pytest.raises(aicf.AICFError, match="would share memory, and a step writes one"):
        step.program.bind("fc1.weight", mine.ravel()[:320].reshape(10, 32))
    own = np.zeros((10, 32), np.float32)
    step.program.bind("fc1.weight", own)
    step.program.bind("fc1.weight", own)  # again: it shares with none but itself
    with pytest.raises(aicf.AICFError, match="would share memory"):
        step.bind(x=np.lib.stride_tricks.as_strided(own, (16, 64), (256, 4)))
    loss = np.zeros((), np.float32)
    loss.setflags(write=False)
    with pytest.raises(aicf.AICFError, match="is written, but the array is read-only"):
        step.program.executor.bind("train_step/loss", loss)


def test_what_was_written_is_what_a_call_takes():
    step, other = make_step(), make_step()
    step.write(x=X, labels=LABELS)
    assert float(step()) == float(other(X, LABELS))
    assert float(step()) == float(other(X, LABELS))


def test_an_entry_without_inputs():
    entry = aicf.compile(lambda: aicf.functional.one_hot(np.array([1, 0]), 2) * 2, {})
    assert entry().tolist() == [[0, 2], [2, 0]]
    with pytest.raises(aicf.AICFError, match='no input "x"; the inputs are none'):
        entry(x=X)
    with pytest.raises(aicf.AICFError, match="takes 0 inputs, got 1"):
        entry(X)


def test_names_that_a_plan_does_not_have():
    plan = make_step().program.plan
    for ask in (plan.output_form, plan.io):
        with pytest.raises(aicf.AICFError, match='the plan has no entry "nothing"'):
            ask("nothing")
    executor = make_step().program.executor
    with pytest.raises(aicf.AICFError, match='the plan has no entry "nothing"'):
        aicf._runtime.Runner(executor, "nothing")
    with pytest.raises(aicf.AICFError, match='"fc0.bias" has no row 32: it has 32 rows'):
        executor.zero_row("fc0.bias", 32)
    with pytest.raises(aicf.AICFError, match='"lr" has no row 0: it has 0 rows'):
        executor.zero_row("lr", 0)
    executor.write("fc0.weight", np.ones((32, 64), np.float32))
    executor.zero_row("fc0.weight", 31)
    assert executor.read("fc0.weight").numpy().sum(1).tolist() == [64] * 31 + [0]


@pytest.mark.parametrize("kind, attrs, error, message", [
    ("scale", {"factor": "2"}, TypeError, "scale: factor is not a number"),
    ("scale", {"factor": 10**400}, OverflowError, "too large"),
    ("scale", {}, ValueError, "scale: factor is missing, and it has no default"),
    ("scale", {"factor": 2, "other": 1}, ValueError, 'scale has no attr "other"'),
    ("scale", {"other": 1}, ValueError, "scale: factor is missing"),
    ("reduce_sum", {"axis": 1.0}, TypeError, "reduce_sum: axis is not an int"),
    ("reduce_sum", {"axis": 2**70}, ValueError, "axis does not fit into 64 bits"),
    ("nothing", {}, ValueError, 'no primitive is called "nothing"'),
    ("", {}, ValueError, 'no primitive is called ""')])
def test_fields_of_primitives(kind, attrs, error, message):
    with pytest.raises(error, match=message):
        aicf.op_call(kind, [X], [np.zeros_like(X)], attrs)
    y = np.zeros_like(X)
    aicf.op_call("scale", [X], [y], {"factor": 2})  # an int is a number, too
    np.testing.assert_array_equal(y, 2 * X)


def test_streams_and_graphs_belong_to_a_device():
    one, other = aicf.device("cpu", threads=1), aicf.device("cpu", threads=2)
    stream, y = aicf.graph_stream(one), np.zeros_like(X)
    with pytest.raises(aicf.AICFError, match="the stream belongs to another device"):
        aicf.op_call("relu", [X], [y], stream=stream, device=other)
    x = X.copy()
    alive = weakref.ref(x)
    aicf.graph_begin(stream)
    aicf.op_call("relu", [x], [y], stream=stream)
    graph = aicf.graph_end(stream)
    assert not y.any() and (graph.num_calls, graph.num_nodes) == (1, 1)
    del x
    gc.collect()
    assert alive() is not None  # the graph reads it
    aicf.graph_launch(graph, stream)
    np.testing.assert_array_equal(y, np.maximum(X, 0))
    with pytest.raises(aicf.AICFError, match="belong to different device objects"):
        aicf.graph_launch(graph, aicf.graph_stream(other))
    aicf.graph_reset(graph)
    aicf.graph_reset(graph)
    assert (graph.num_calls, graph.num_nodes) == (0, 0) and alive() is None
    with pytest.raises(aicf.AICFError, match="the graph was reset"):
        aicf.graph_launch(graph, stream)
    a = X.copy()
    alone = weakref.ref(a)
    aicf.op_call("relu", [a], [y], stream=stream)  # it does not record, and runs
    del a
    gc.collect()
    assert alone() is None


def test_a_workspace_is_given_where_one_is_asked_for():
    aicf.op_call("relu", [X], [np.zeros_like(X)], workspace=aicf.zeros(64, "i32"))
    frozen = np.zeros(64, np.int32)
    frozen.setflags(write=False)
    with pytest.raises(aicf.AICFError, match="workspace is written, but the array is"):
        aicf.op_call("relu", [X], [np.zeros_like(X)], workspace=frozen)


def test_a_bound_array_lives_as_long_as_it_is_bound():
    step = make_step()
    x = X.copy()
    alive = weakref.ref(x)
    step.bind(x=x)
    del x
    gc.collect()
    assert alive() is not None
    junk = [np.full((16, 64), np.nan, np.float32) for _ in range(50)]
    assert float(step(labels=LABELS)) == float(make_step()(X, LABELS))
    step.bind(x=X)
    gc.collect()
    assert alive() is None and len(junk) == 50


def test_a_kept_output_keeps_no_program():
    step, x = make_step(), X.copy()
    alive = weakref.ref(x)
    step.bind(x=x)
    losses = [step(labels=LABELS) for _ in range(3)]
    del step, x
    gc.collect()
    assert alive() is None and all(float(v) > 0 for v in losses)


def test_a_result_that_is_read_keeps_its_memory():
    """What is given back goes to the next results of its size, nothing else."""
    x = np.ones((256, 1024), np.float32)
    entry = aicf.compile(lambda x: aicf.ops.relu(x), {"x": x})
    views = [entry(x=x * k).numpy() for k in range(1, 8)]
    kept = entry(x=x * 8)
    for k in range(9, 12):
        entry(x=x * k)  # nobody reads it
    del entry
    gc.collect()
    for k, view in enumerate([*views, kept.numpy()], 1):
        assert (view == k).all()


def test_one_element_is_a_number():
    one, two, many = (aicf.array(np.array(v, np.float32)) for v in (1, 2, [1, 2]))
    assert one == 1 and one == one and one != two and one < two <= 2.0 and two > 1
    assert two >= one and min(one, 0.5) == 0.5 and bool(one) and not bool(aicf.zeros(()))
    assert "%.2f" % one == format(one, ".2f") == f"{one:.2f}" == "1.00"
    assert f"{one}" == repr(one) == "aicf.Array(1.0, f32, cpu)"
    assert len({one, two, one}) == 2
    for wrong in (lambda: bool(many), lambda: f"{many:.2f}", lambda: int(many)):
        with pytest.raises((TypeError, aicf.AICFError), match="one element"):
            wrong()


def test_a_loss_is_a_number_in_every_expression():
    """What the loop of a beginner does with it."""
    loss = aicf.array(np.array(2.5, np.float32))
    total = 0.0
    total += loss
    total += loss
    assert total == 5.0 and type(total) is float
    assert sum([loss, loss]) == 5.0 and max(loss, 3) == 3 and round(loss) == 2
    assert round(aicf.array(np.array(1.23456, np.float32)), 2) == 1.23
    assert (loss - 1, 1 - loss, loss * 2, 2 * loss, loss / 2, 5 / loss, -loss, +loss,
            abs(-loss), loss ** 2, 2 ** loss, loss // 2, loss % 2, 7 % loss) == (
        1.5, -1.5, 5.0, 5.0, 1.25, 2.0, -2.5, 2.5, 2.5, 6.25, 2 ** 2.5, 1.0, 0.5, 2.0)
    assert np.mean([loss, loss]) == 2.5 and math.isfinite(loss)
    assert loss + np.float32(1) == 3.5 and (np.ones(2) * loss).tolist() == [2.5, 2.5]
    assert json.dumps({"loss": float(loss)}) == json.dumps({"loss": loss}, default=float)
    count = aicf.array(np.array(3, np.int32))
    assert list(range(count)) == [0, 1, 2] and [7, 8, 9, 10][count] == 10
    for wrong in (lambda: range(loss), lambda: [1][aicf.array(LABELS)],
                  lambda: iter(loss), lambda: loss + "a", lambda: loss < "a"):
        with pytest.raises(TypeError):
            wrong()


def test_small_arrays_are_indexed_and_iterated_over():
    a = aicf.array(X)
    assert a[0, 1] == X[0, 1] and list(aicf.array(LABELS)) == LABELS.tolist()
    np.testing.assert_array_equal(a[1:3], X[1:3])
    np.testing.assert_array_equal(next(iter(a)), X[0])
    np.testing.assert_array_equal(a + 1, X + 1)
    np.testing.assert_array_equal(1 - a, 1 - X)
    np.testing.assert_array_equal(a * X, X * X)
    np.testing.assert_array_equal(a == X, np.full(X.shape, True))
    np.testing.assert_array_equal(a > 0, X > 0)
    with pytest.raises(IndexError):
        a[99]
    assert (aicf.array(np.array(1, np.float32)) == None) is False  # noqa: E711
    assert a[None].shape == (1, 16, 64)
    a[0][0] = 99
    for row in a:
        row[0] = 99
    np.testing.assert_array_equal(a.numpy(), X)  # copies, on every device
    half = aicf.compile(lambda x: x.astype("bf16"), {"x": aicf.spec((3,))})(
        np.array([1, 2, 3], np.float32))
    assert (half + 1).tolist() == [2, 3, 4] and half[2] == 3


def test_a_repr_shows_values():
    for values in ([1, 2], [[1.5], [2.5]], [1.0]):
        array = np.array(values, np.float32)
        assert repr(aicf.array(array)).startswith(
            "aicf.Array(" + np.array2string(array, separator=", ", prefix=" " * 11))
    large = repr(aicf.array(np.zeros((100, 100), np.float32)))
    assert "..." in large and large.endswith(", 100x100xf32, cpu)") and len(large) < 600
    half = aicf.compile(lambda x: x.astype("bf16"), {"x": aicf.spec((3,))})
    assert repr(half(np.ones(3, np.float32))) == "aicf.Array([1., 1., 1.], 3xbf16, cpu)"


def test_outputs_own_their_values():
    entry = aicf.compile(Mlp(), {"x": INPUTS["x"]})
    out = entry(X)
    array = out.numpy()
    copy = array.copy()
    del out, entry
    gc.collect()
    np.testing.assert_array_equal(array, copy)


def test_our_arrays():
    a = aicf.array(X)
    assert (a.shape, a.dtype, a.device, a.ndim, a.size, a.nbytes, len(a)) == (
        (16, 64), "f32", "cpu", 2, 1024, 4096, 16)
    np.testing.assert_array_equal(np.asarray(a), X)
    np.testing.assert_array_equal(np.from_dlpack(a), X)
    assert np.asarray(a, np.float64).dtype == np.float64
    assert a.tolist() == X.tolist()
    assert a.__dlpack_device__() == (1, 0)
    assert repr(aicf.array(LABELS[:2].copy())) == "aicf.Array(%s, 2xi32, cpu)" % (
        LABELS[:2].tolist())
    assert repr(a).endswith("16x64xf32, cpu)")
    with pytest.raises(aicf.AICFError, match="one element"):
        a.item()
    scalar = aicf.array(np.array(3, np.int64))
    assert (int(scalar), float(scalar), scalar.item()) == (3, 3.0, 3)
    with pytest.raises(TypeError, match="no length"):
        len(scalar)
    assert not aicf.zeros((2, 3), "i64").numpy().any()
    for shape in ((0,), (2**31,), (1,) * 9, (2**30, 2**30)):
        with pytest.raises(ValueError, match="."):
            aicf.zeros(shape)


def test_bf16():
    entry = aicf.compile(lambda x: x.astype("bf16"), {"x": aicf.spec((3,))})
    out = entry(np.array([1, 1.005, 3e38], np.float32))
    assert out.dtype == "bf16" and out.nbytes == 6
    back = aicf.compile(lambda x: x.astype("f32"), {"x": aicf.spec((3,), "bf16")})
    values = back(out).numpy()
    np.testing.assert_allclose(values, [1, 1.005, 3e38], rtol=2**-8)
    try:
        import ml_dtypes
    except ImportError:
        with pytest.raises(aicf.AICFError, match="ml_dtypes"):
            out.numpy()
        return
    assert out.numpy().dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(back(out.numpy()).numpy(), values)


def test_devices():
    assert aicf.device("cpu", threads=1).num_threads == 1
    assert aicf.device() is aicf.device("cpu") and aicf.device().free_bytes > 0
    assert "cpu" in repr(aicf.device())
    alone = aicf.device("cpu", threads=1)
    assert aicf.array(X, alone).device == aicf.zeros(3, device=alone).device == "cpu"
    for name in ("cpu:1", "gpu", "cuda:x", "", 3):
        with pytest.raises(aicf.AICFError, match="device is"):
            aicf.device(name)
    with pytest.raises(aicf.AICFError, match="threads is -1"):
        aicf.device("cpu", threads=-1)


def test_no_gpu_is_an_error():
    try:
        aicf.device("cuda")
    except aicf.AICFError as error:
        assert "CUDA" in str(error) or "cuda" in str(error)
        with pytest.raises(aicf.AICFError):
            make_step(device="cuda")
    else:
        assert float(make_step(device="cuda")(X, LABELS)) > 0
