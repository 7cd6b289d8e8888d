# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of others that say odd things of themselves, numbers that do not fit, and how
our own arrays leave the package."""

import ctypes
import gc
import sys
import types

import numpy as np
import pytest
from foreign import Foreign, tensor_of

import aicf
from aicf import _runtime

X = np.arange(6, dtype=np.float32).reshape(2, 3)
LABELS = np.arange(3, dtype=np.int32)
CPU = aicf.device()


@pytest.fixture(scope="module")
def double():
    return aicf.compile(lambda x: x * 2, {"x": aicf.spec((2, 3))})


@pytest.mark.parametrize("fields, name", [
    ({"lanes": 2}, "float32"), ({"bits": 128}, "float128"), ({"bits": 64}, "f64"),
    ({"code": 0}, "i32"), ({"code": 0, "bits": 64}, "i64"),
    ({"code": 0, "bits": 16}, "int16"), ({"code": 1}, "uint32"), ({"code": 3}, "opaque32"),
    ({"code": 4}, "bfloat32"), ({"code": 4, "bits": 16}, "bf16"),
    ({"code": 5, "bits": 64}, "complex64"), ({"code": 6, "bits": 8}, "i1"),
    ({"code": 6}, "bool"), ({"code": 9}, "unknown32"), ({"bits": 16}, "f16")])
def test_element_types_have_names(double, fields, name):
    with pytest.raises(TypeError, match='"x" is %s, expected f32: x.astype' % name):
        double(Foreign(X, **fields))


def test_an_array_of_any_type_is_none_of_ours():
    with pytest.raises(TypeError, match="is uint32, expected f16, bf16, f32, f64, i32"):
        aicf.array(Foreign(X, code=1))
    with pytest.raises(aicf.AICFError, match="has 9 dimensions, expected at most 8"):
        aicf.array(np.zeros((1,) * 9, np.float32))
    with pytest.raises(aicf.AICFError, match="a shape of 9 dimensions, expected at most 8"):
        _runtime.zeros([1] * 9, "f32", CPU)
    assert aicf.array(np.zeros((1,) * 8, np.float32)).ndim == 8


@pytest.mark.parametrize("place, name", [
    ((2, 0), "cuda:0"), ((2, 3), "cuda:3"), ((7, 0), "DLPack device 7")])
def test_the_host_takes_arrays_of_the_host(double, place, name):
    with pytest.raises(aicf.AICFError, match='"x" is on %s, expected the host$' % name):
        double(Foreign(X, device_type=place[0], device_id=place[1]))
    assert double(Foreign(X, device_type=3)).tolist() == (2 * X).tolist()  # pinned


def test_nobody_is_asked_for_a_stream_on_the_host(double):
    foreign = Foreign(X)
    double(foreign)
    elsewhere = Foreign(X, device_type=2)
    with pytest.raises(aicf.AICFError, match="cuda:0"):
        double(elsewhere)
    for request in foreign.requests + elsewhere.requests:
        assert request.get("stream") is None


@pytest.mark.parametrize("x", [np.zeros(2, np.float32), np.zeros((2, 3, 1), np.float32),
                               np.float32(0), np.zeros((2, 4), np.float32)])
def test_all_dimensions_count(double, x):
    with pytest.raises(ValueError, match=r'"x" has shape \(.*\), expected 2x3xf32'):
        double(x)


def test_an_array_without_an_export_is_named(double):
    for wrong in ([1.0], None, "x"):
        with pytest.raises(TypeError, match=r"or anything with __dlpack__\)$"):
            double(wrong)
    with pytest.raises(TypeError, match="result 0 is a list, expected an array"):
        aicf.op_call("relu", [X], [[0.0]])


def test_a_dimension_of_one_has_any_stride():
    one_row = aicf.compile(lambda x: x * 2, {"x": aicf.spec((1, 3))})
    row = np.zeros((4, 5), np.float32)[1:2, :3]
    assert row.strides == (20, 4)
    one_row(row)
    column = aicf.compile(lambda x: x * 2, {"x": aicf.spec((3, 1))})
    column(np.ascontiguousarray(np.arange(3, dtype=np.float32))[:, None])
    with pytest.raises(aicf.AICFError, match="not contiguous"):
        column(np.zeros((3, 2), np.float32)[:, :1])


class Half:
    """bf16 as ml_dtypes has it: NumPy's array, which it does not export."""

    def __init__(self, bits, name="bfloat16"):
        self.bits, self.shape = bits, bits.shape
        self.dtype = types.SimpleNamespace(name=name)

    def view(self, dtype):
        assert dtype == "uint16"
        return self.bits


def test_bf16_of_numpy_is_read_by_its_bits():
    bits = np.array([0x3f80, 0x4000], np.uint16)
    assert aicf.array(Half(bits)).dtype == "bf16"
    assert (aicf.array(Half(bits)) + 0).tolist() == [1, 2]
    for other in (Half(bits, "float9"), Half(bits, 7), types.SimpleNamespace(
            dtype=types.SimpleNamespace(name="bfloat16"))):
        with pytest.raises(TypeError, match="expected an array"):
            aicf.array(other)


def test_bf16_becomes_numpys_with_ml_dtypes(monkeypatch):
    half = aicf.array(Half(np.array([0x3f80, 0x4000], np.uint16)))
    monkeypatch.setitem(sys.modules, "ml_dtypes", types.SimpleNamespace(
        bfloat16=np.dtype(np.uint16)))
    assert half.numpy().tolist() == [0x3f80, 0x4000]
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match="NumPy has no bf16: install ml_dtypes"):
        half.numpy()


def scale(x, by, count, wide):
    return x * by, count + 1, wide + 1


@pytest.fixture(scope="module")
def numbers():
    return aicf.compile(scale, {"x": aicf.spec((2, 3)), "by": aicf.spec(()),
                                "count": aicf.spec((), "i32"), "wide": aicf.spec((), "i64")})


@pytest.mark.parametrize("by, count, wide, error, message", [
    (10**400, 1, 1, OverflowError, "too large to convert to float"),
    (1, 2**31, 1, ValueError, '"count" is too large for i32'),
    (1, -2**31 - 1, 1, ValueError, '"count" is too large for i32'),
    (1, 1, 2**63, ValueError, '"wide" is too large for i64'),
    (1, 1, -2**70, ValueError, '"wide" is too large for i64'),
    (1, 2**70, 1, ValueError, '"count" is too large for i32'),
    (1, 1.0, 1, TypeError, '"count" is a float, expected i32'),
    (1, 1, 1.0, TypeError, '"wide" is a float, expected i64'),
    ("1", 1, 1, TypeError, '"by" is a str'), (1, [1], 1, TypeError, '"count" is a list')])
def test_numbers_that_do_not_fit(numbers, by, count, wide, error, message):
    with pytest.raises(error, match=message):
        numbers(X, by, count, wide)


def test_numbers_at_their_limits(numbers):
    x, count, wide = numbers(X, 3, -2**31, 2**62)
    assert x.tolist() == (3 * X).tolist()
    assert (count.item(), wide.item()) == (-2**31 + 1, 2**62 + 1)
    with pytest.raises(TypeError, match='"x" is a int, expected an array'):
        numbers(1, 1, 1, 1)


@pytest.mark.parametrize("name, shown", [
    ("x_1", "x_1"), ("1x", "x"), ("a.b", "x"), ("é", "x")])
def test_what_an_error_suggests_is_pythons(name, shown):
    """The tensor's own name where that may be one of Python's variables."""
    builder = aicf.ModelBuilder(training=False)
    builder.output("y", builder.add("relu", builder.input(name, (3,))))
    entry = builder.build().lower("cpu").compile()["main"]
    with pytest.raises(TypeError, match=r": %s\.astype\(" % shown):
        entry(np.zeros(3))


def test_numpy_takes_our_arrays():
    a = aicf.array(X)
    shared, copied = a.__array__(), a.__array__(copy=True)
    assert np.shares_memory(shared, a.numpy()) and not np.shares_memory(copied, shared)
    assert np.shares_memory(a.__array__(copy=False), shared)
    assert np.shares_memory(a.__array__(np.float32), shared)
    assert a.__array__(np.float64).dtype == np.float64
    assert np.from_dlpack(a).tolist() == X.tolist()
    assert aicf.array(np.array(2**40)).item() == 2**40
    for values, code, bits in ((X, 2, 32), (LABELS, 0, 32), (X > 1, 6, 8)):
        tensor = tensor_of(aicf.array(values).__dlpack__(stream=None))
        assert (tensor.code, tensor.bits, tensor.lanes) == (code, bits, 1)
    tensor = tensor_of(aicf.array(Half(np.zeros(2, np.uint16))).__dlpack__())
    assert (tensor.code, tensor.bits) == (4, 16)


def test_large_arrays_of_the_host_are_numpys():
    large = aicf.array(np.ones((300, 300), np.float32))
    assert (large + 1).sum() == 180000 and large[0, 0] == 1 and "..." in repr(large)


def test_one_element_of_any_rank_is_compared_as_a_number():
    one = aicf.array(np.ones((1, 1), np.float32))
    assert type(one == 1) is type(1 == one) is type(one == one) is bool and one == 1
    assert (aicf.array(X) == X).shape == X.shape


def test_numbers_are_no_sequences():
    number = aicf.array(np.array(1.5, np.float32))
    with pytest.raises(TypeError, match="a 0-d array is not iterated over: it is a number"):
        iter(number)
    for wrong in (number, aicf.array(LABELS)):
        with pytest.raises(TypeError, match="is not an index: only a 0-d one of integers"):
            range(wrong)


def test_what_outputs_cost_on_the_host():
    """A loss lives in its array object. Of large outputs that are dropped, 128 MiB are
    kept for the next ones."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("not glibc")

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
            "uordblks", "fordblks", "keepcost")]
    libc.mallinfo2.restype = Info

    def used():
        gc.collect()
        info = libc.mallinfo2()
        return info.uordblks + info.hblkhd

    def cost(rows):
        entry = aicf.compile(lambda x: x * 2, {"x": aicf.spec((rows,))})
        x = np.zeros(rows, np.float32)
        kept = [entry(x) for _ in range(100)]
        before = used()
        kept += [entry(x) for _ in range(1000)]
        return (used() - before) / 1000
    assert cost(4) < cost(5) - 80  # 16 bytes need no block of their own
    large = aicf.compile(lambda x: x * 2, {"x": aicf.spec((1 << 20,))})
    x = np.zeros(1 << 20, np.float32)
    large(x)
    before = used()
    kept = [large(x) for _ in range(64)]
    assert used() - before >= 63 << 22  # one had been given back
    del kept
    assert 1 << 26 < used() - before <= 1 << 27  # for the next ones
    kept = [large(x) for _ in range(16)]
    assert used() - before <= 1 << 27


@pytest.mark.parametrize("use, error", [
    (lambda a: -a, TypeError), (lambda a: a + "x", TypeError),
    (lambda a: a - a, TypeError), (lambda a: a < object(), TypeError),
    (lambda a: a.__no_such__, AttributeError), (lambda a: a.no_such, AttributeError)])
def test_what_numpy_refuses_is_refused(use, error):
    with pytest.raises(error) as caught:
        use(aicf.array(np.array([True, False])))
    if error is AttributeError:
        assert ("aicf.Array has no attribute" in str(caught.value)) == (
            "__" not in str(caught.value))


def test_devices_of_the_bindings():
    with pytest.raises(aicf.AICFError, match="threads is -1, expected 0"):
        _runtime.Device.cpu(-1)
    with pytest.raises(aicf.AICFError, match='tuning is "some", expected off, fast or'):
        _runtime.Device.cuda(0, "some")
    with pytest.raises(aicf.AICFError, match='"f31" is not an element type, expected f16'):
        _runtime.zeros([1], "f31", CPU)
    for dtype in ("f16", "bf16", "f32", "f64", "i32", "i64", "i1"):
        assert _runtime.zeros([1], dtype, CPU).dtype == dtype
