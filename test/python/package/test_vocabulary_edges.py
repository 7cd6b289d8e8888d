# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers, types and arguments at the edge of what a function takes: what NumPy and
PyTorch give there, gradients where a term has no derivative, and what is refused."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from conftest import evaluate, traced_fails

import aicf
from aicf import functional as F, losses, nn, optim, ops

BIG = 2 ** 53 + 1  # no f64 holds it
I64 = np.array([BIG - 1, BIG, -BIG])
I32 = np.array([-2 ** 31, -7, 0, 2 ** 31 - 1], "i4")
XS = np.float32([-1.5, -0.25, 0.5, 2.0])


def gradients(function, **values):
    """The loss and its gradients, of a step whose parameters are `values`."""
    class Model(nn.Module):
        def __init__(self):
            for name, value in values.items():
                setattr(self, name, nn.Parameter(value.shape, value.dtype, init=value))

    step = aicf.compile_step(
        Model(), lambda m: function(*(getattr(m, name) for name in values)).sum(),
        optim.SGD(0.0), {}, outputs=tuple("grad:" + name for name in values))
    loss, outputs = step()
    return (float(loss), *(outputs["grad:" + name].numpy() for name in values))


# By name: what the tracer makes, what NumPy makes, and of which array.
NUMBERS = {
    "x + 2^53+1": (lambda x: x + BIG, lambda x: x + BIG, I64),
    "x - 2^53+1": (lambda x: x - BIG, lambda x: x - BIG, I64),
    "x * 2^53+1": (lambda x: x * BIG, lambda x: x * BIG, np.array([0, 1, -1])),
    "x == 2^53+1": (lambda x: x == BIG, lambda x: x == BIG, I64),
    "x > 2^53": (lambda x: x > BIG - 1, lambda x: x > BIG - 1, I64),
    "x >= 2^53+1": (lambda x: x >= BIG, lambda x: x >= BIG, I64),
    "x < 2^53+1": (lambda x: x < BIG, lambda x: x < BIG, I64),
    "x within 10^400": (lambda x: (x < 10 ** 400) & (x > -Fraction(10 ** 400)),
                        lambda x: x == x, XS),
    "x > 2^70": (lambda x: x > 2 ** 70, lambda x: x > 2 ** 70,
                 np.float32([2 ** 70, 2 ** 71, 0])),
    "x * inf": (lambda x: x * float("inf"), lambda x: x * np.float32("inf"), XS),
    "x / 0": (lambda x: x / 0, lambda x: x / np.float32(0), XS),
    "filled with NaN": (lambda x: x.masked_fill(x > 0, float("nan")),
                        lambda x: np.where(x > 0, np.float32("nan"), x), XS),
    "x < NaN": (lambda x: x < float("nan"), lambda x: x < np.float32("nan"), XS),
    "clamp by 10^400": (lambda x: x.clamp(-10 ** 400, 10 ** 400), lambda x: x, I64),
    "clamp from 0 to inf": (lambda x: x.clamp(0, math.inf), lambda x: x.clip(0), I32),
    "clamp to 0.5": (lambda x: x.clamp(max=0.5), lambda x: np.float32([-7, 0, 0.5]),
                     np.int32([-7, 0, 3])),
    "clamp by scalars": (lambda x: x.clamp(np.float32(-1), np.int32(1)),
                         lambda x: x.clip(-1, 1), XS),
    "clamp from an array": (lambda x: x.clamp(I32[::-1]),
                            lambda x: np.maximum(x, I32[::-1]), I32),
    "clamp to an array": (lambda x: x.clamp(max=I32[::-1]),
                          lambda x: np.minimum(x, I32[::-1]), I32),
    "clamp by 2^53+1": (lambda x: x.clamp(-BIG, BIG), lambda x: x, I64),
    "masked_fill with 2^53+1": (lambda x: x.masked_fill(x < 0, BIG),
                                lambda x: np.where(x < 0, BIG, x), I64),
    "where with 2^53+1": (lambda x: aicf.where(x < 0, x, BIG),
                          lambda x: np.where(x < 0, x, BIG), I64),
    "x ** 5": (lambda x: x ** 5, lambda x: x ** 5, np.array([101, -3, 0])),
    "x ** 6": (lambda x: x ** 6, lambda x: x ** 6, np.array([101, -3, 0])),
    "x ** int64": (lambda x: x ** np.int64(5), lambda x: x ** 5, np.array([101, -3])),
    "x ** 1.5": (lambda x: x ** 1.5, lambda x: np.float32([8, 0, 1]), np.array([4, 0, 1])),
    "x ** -1": (lambda x: x ** -1, lambda x: np.float32([0.25, -0.5]),
                np.array([4, -2])),
    "x < inf": (lambda x: x < math.inf, lambda x: x < math.inf, I32),
    "x >= inf": (lambda x: x >= math.inf, lambda x: x >= math.inf, I32),
    "x <= -inf": (lambda x: x <= -math.inf, lambda x: x <= -math.inf, I32),
    "x != -inf": (lambda x: x != -math.inf, lambda x: x != -math.inf, I32),
    "x > 2^40": (lambda x: x > 2 ** 40, lambda x: x > 2 ** 40, I32),
    "x == 2^40": (lambda x: x == 2 ** 40, lambda x: x == 2 ** 40, I32),
    "x - uint8": (lambda x: x - np.uint8(1), lambda x: x - 1, np.int32([-5, 0, 5])),
    "x - int8": (lambda x: x - np.int8(-128), lambda x: x + 128, np.int32([1, 0])),
    "1 / float16": (lambda x: x / np.float16(3), lambda x: x / 3, np.float64([1, 2])),
    "x / 41": (lambda x: (x / 41).floor(), lambda x: np.floor(x / np.float32(41)),
               np.float32([41, 82, 123])),
    "x / 49": (lambda x: (x / 49).floor(), lambda x: np.floor(x / 49),
               np.float64([49, 98, 147])),
    "small / x": (lambda x: 1e-10 / x, lambda x: np.float32(1e-10) / x,
                  np.float32([1e-39, 2e-39])),
    "x / 1e-39": (lambda x: x / 1e-39, lambda x: x / np.float32(1e-39),
                  np.float32([1e-39, 0])),
    "x / -4": (lambda x: x / -4, lambda x: x / -4, XS),
    "x / 2^-1030": (lambda x: x / 2.0 ** -1030, lambda x: x / 2.0 ** -1030,
                    np.float64([2.0 ** -1040])),
    "f64 == 0.1": (lambda x: x == 0.1, lambda x: x == 0.1, np.array([0.1, 0.2])),
    "f32 == 0.1": (lambda x: x == 0.1, lambda x: x == np.float32(0.1),
                   np.float32([0.1, 0.2])),
    "f16 == 0.1": (lambda x: x == 0.1, lambda x: x == np.float16(0.1),
                   np.float16([0.1, 0.2])),
    "f16 <= 0.3": (lambda x: x <= 0.3, lambda x: x <= np.float16(0.3),
                   np.float16([0.3, 0.4])),
    "bf16 clamped == 0.1": (
        lambda x: x.astype("bf16").clamp(max=0.1) == 0.1, lambda x: x > 0,
        np.float32([1, -1])),
    "sum of bits": (lambda x: (x > 0).sum(), lambda x: np.int64((x > 0).sum()), XS),
    "sum of bits by row": (lambda x: (x > 0).sum(1, keepdim=True),
                           lambda x: (x > 0).sum(1, keepdims=True), XS.reshape(2, 2)),
    "mean of bits": (lambda x: (x > 0).mean(), lambda x: np.float32((x > 0).mean()), XS),
    "max of integers": (lambda x: x.max(), lambda x: x.max(), I32),
    "min of integers": (lambda x: x.min(0), lambda x: x.min(), I32),
    "argmax of integers": (lambda x: x.argmax(), lambda x: np.int32(x.argmax()), I32),
    "i32 == i64": (lambda x: x.argmax(-1) == np.array([1, 0]),
                   lambda x: x.argmax(-1) == np.array([1, 0]), XS.reshape(2, 2)),
    "i32 + an array of i64": (lambda x: x + np.array([1, -1]),
                              lambda x: x + np.int32([1, -1]), np.int32([5, 6])),
    "i32 * an array of f64": (lambda x: x * np.array([0.5, 1.5]),
                              lambda x: x * np.array([0.5, 1.5]), np.int32([5, 6])),
    "a mask + i32": (lambda x: (x > 0) + np.int32([1, 2, 3, 4]),
                     lambda x: (x > 0) + np.int32([1, 2, 3, 4]), XS),
    "i32 + i64": (lambda x: x + x.astype("i64"), lambda x: x + x.astype("i8"),
                  np.int32([2 ** 31 - 1])),
    "i64 + i32": (lambda x: x.astype("i64") + x, lambda x: x.astype("i8") + x,
                  np.int32([2 ** 31 - 1])),
    "an array of f64 - f32": (lambda x: np.array([0.5, 1, 2, 3]) - x,
                              lambda x: np.float32([0.5, 1, 2, 3]) - x, XS),
    "a map of a number and an array": (
        lambda x: ops.map(lambda a, b, c: a * b + c, 2, np.array([0.5, 1, 2, 3]), x),
        lambda x: np.float32([1, 2, 4, 6]) + x, XS),
    "a mask == False": (lambda x: (x > 0) == False, lambda x: x <= 0, XS),  # noqa: E712
    "a mask != False": (lambda x: (x > 0) != False, lambda x: x > 0, XS),  # noqa: E712
    "a mask != True": (lambda x: (x > 0) != True, lambda x: x <= 0, XS),  # noqa: E712
    "a mask filled": (lambda x: (x > 0).masked_fill(x > 1, False),
                      lambda x: (x > 0) & ~(x > 1), XS),
    "a mask chosen": (lambda x: aicf.where(x > 0, x > 1, x < -1),
                      lambda x: np.where(x > 0, x > 1, x < -1), XS),
    "where of two integers": (lambda x: aicf.where(x > 0, 1, -1),
                              lambda x: np.where(x > 0, 1, -1), XS),
    "where of 1 and inf": (lambda x: aicf.where(x > 0, 1, math.inf),
                           lambda x: np.float32(np.where(x > 0, 1, np.inf)), XS),
    "prelu by a number": (lambda x: F.prelu(x, 0.25),
                          lambda x: np.where(x > 0, x, np.float32(0.25) * x), XS),
    "prelu of a 0-d tensor": (lambda x: F.prelu(x, np.array([0.25])),
                              lambda x: np.where(x > 0, x, 0.25 * x),
                              np.float32(-2.0)),
    "top_k": (lambda x: F.top_k(x, 2)[1], lambda x: np.argsort(-x)[:2].astype("i4"), XS),
    "top_k along 0": (lambda x: x.topk(1, axis=0)[1],
                      lambda x: x.argmax(0)[None].astype("i4"), XS.reshape(2, 2)),
    "normalize": (lambda x: F.normalize(x, axis=-1) * 2, lambda x: np.float32([1.2, 1.6]),
                  np.float32([3, 4])),
    # The default of eps is as large as the mean of the squares, or a third of it.
    "rms_norm of f32": (lambda x: F.rms_norm(x, 2), lambda x: x * 2 ** 11,
                        np.float32([2 ** -11, 0])),
    "rms_norm of f64": (lambda x: F.rms_norm(x, 4), lambda x: x * 2 ** 25,
                        2.0 ** -25 * np.array([1, 1, 1, 0])),
    "softsign": (lambda x: F.softsign(x), lambda x: x / (1 + np.abs(x)), XS),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_exact(name):
    ours, theirs, array = NUMBERS[name]
    got = evaluate(ours, x=array)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        want = np.asarray(theirs(array))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype, function, names", [
    ("f32", lambda x: x / 4, "scale"), ("f32", lambda x: x / 3, "div_scalar"),
    ("f32", lambda x: 1 / x, "reciprocal"), ("f32", lambda x: x ** 1, ""),
    ("f32", lambda x: x ** 2, "square"), ("f32", lambda x: x ** 3, "square mul"),
    ("f32", lambda x: x ** 4, "square square"), ("f32", lambda x: x ** 7, "pow_scalar"),
    ("f32", lambda x: x ** -1, "reciprocal"), ("f32", lambda x: x ** 0.5, "sqrt"),
    ("f32", lambda x: x ** -0.5, "rsqrt"), ("f32", lambda x: x + BIG, "add_scalar"),
    ("i64", lambda x: x + 3, "add_scalar"), ("i64", lambda x: x > 3, "greater_scalar"),
])
def test_a_number_makes_no_more_ops_than_it_needs(dtype, function, names):
    text = aicf.trace(function, {"x": aicf.spec((3,), dtype)}).dump()
    assert " ".join(re.findall(r"^(\w+)\(", text, re.M)) == names


def test_top_k_has_the_gradient_of_its_elements():
    x = np.array([[3.0, 1, 2], [0, 5, 4]])
    _, dx = gradients(lambda x: (F.top_k(x, 2)[0] * np.array([1.0, 10])).sum(), x=x)
    np.testing.assert_array_equal(dx, [[1, 0, 10], [0, 1, 10]])


# Inside of a map as outside: the values, and the gradients, too.
BODIES = {
    "a / b": lambda a, b: a / b,
    "2 * a * b": lambda a, b: 2 * a * b,
    "a * (b + 1)": lambda a, b: a * (b + 1),
    "a * (1 - b * b)": lambda a, b: a * (1 - b * b),
    "a / (b + 1)": lambda a, b: a / (b + 1),
    "a * cos(b)": lambda a, b: a * b.cos(),
    "a + where(a > 0, b, 0)": lambda a, b: a + aicf.where(a > 0, b, 0.0),
    "a + where(a > 0, b, b / 10)": lambda a, b: a + aicf.where(a > 0, b, b / 10),
    "x / 3 and 3 / x": lambda a, b: a / 3 + 3 / b,
    "floor of a cast": lambda a, b: a * b + (3 * b).astype("i64").astype("f64"),
    "tanh": lambda a, b: (a * b).tanh() + a.exp(),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_map_trains(name):
    values = {"a": np.array([-1.5, -0.25, 0.5, 2.0]), "b": np.array([0.7, 1.3, 2.5, 0.4])}
    inside = gradients(lambda a, b: ops.map(BODIES[name], a, b), **values)
    outside = gradients(BODIES[name], **values)
    for ours, theirs in zip(inside, outside):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


@pytest.mark.parametrize("dtype, function", [
    ("f4", lambda x: x / 1e-39), ("f8", lambda x: x / 1e-310),
    ("i4", lambda x: x - (2 ** 31 - 1)),
    ("f2", lambda x: x * 1e5), ("f2", lambda x: x * 1e-8), ("f2", lambda x: x * 0.1),
    ("f4", lambda x: np.array(2.5, "f4") - x),
    ("f4", lambda x: x.astype("f64")), ("f4", lambda x: x.astype("bool")),
    ("i8", lambda x: x.astype("i32")),
])
def test_numbers_in_a_map_are_those_outside(dtype, function):
    x = np.array([1, 2, 1000]).astype(dtype)
    np.testing.assert_array_equal(evaluate(lambda x: ops.map(function, x), x=x),
                                  evaluate(function, x=x))


def test_a_name_is_for_its_very_constants():
    text = aicf.trace(lambda x: ops.map(lambda a: 1.000000005 / a, x),
                      {"x": aicf.spec((3,), "f64")}).lower().dump()
    assert "reciprocal" not in text


def test_binary_cross_entropy_of_probabilities_that_are_0_and_1():
    target = np.float32([1, 0, 1, 0])
    loss, dx = gradients(lambda x: losses.binary_cross_entropy(x.sigmoid(), target),
                         x=np.float32([200, -200, -3, 2]))
    assert np.isfinite(loss) and np.isfinite(dx).all()
    np.testing.assert_allclose(dx[2:], (1 / (1 + np.exp([3.0, -2.0])) - [1, 0]) / 4,
                               rtol=1e-5)


def test_losses_of_infinite_distances_have_finite_gradients():
    _, dx = gradients(lambda x: losses.smooth_l1_loss(x, np.float32([0, 0])),
                      x=np.float32([np.inf, 0.5]))
    np.testing.assert_array_equal(dx, np.float32([0.5, 0.25]))


@pytest.mark.parametrize("loss", [
    losses.mse_loss, losses.l1_loss, losses.smooth_l1_loss,
    losses.binary_cross_entropy_with_logits])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses_take_targets_of_other_types(loss, reduction):
    x, t = np.float16([0.5, -1, 2]), np.array([1, 0, 1])
    want = evaluate(lambda x: loss(x, t.astype("f4"), reduction=reduction),
                    x=x.astype("f4"))
    for target in (t, t.astype("i4"), t != 0, t.astype("f4"), t.astype("f2")):
        got = evaluate(lambda x, t: loss(x, t, reduction=reduction), x=x, t=target)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, want)


def test_uniform_is_below_high_and_categorical_follows_it():
    got = evaluate(lambda x: F.uniform((1 << 16,), 1.0, 2.0, "bf16").astype("f32"),
                   x=np.float32(0))
    assert got.min() >= 1 and got.max() < 2
    logits = np.full(2048, -np.inf, "f4")
    logits[0] = 0
    program = aicf.compile(lambda x: F.categorical(x.broadcast_to(2048, 2048)),
                           {"x": logits})
    for _ in range(4):
        assert not program(logits).numpy().any()


# Modules

def test_a_padding_row_is_zeros_and_tables_differ():
    class Model(nn.Module):
        def __init__(self):
            self.a = nn.Embedding(5, 4, padding_idx=1, dtype="f64")
            self.b = nn.Embedding(5, 4, padding_idx=-1)

        def forward(self, i):
            return self.a(i).astype("f32").sum() + self.b(i).sum()

    def start(seed):
        step = aicf.compile_step(Model(), lambda m, i: m(i), optim.SGD(1.0),
                                 {"i": aicf.spec((3,), "i64")}, seed=seed)
        return step, step.state_dict()

    step, first = start(0)
    assert not first["a.weight"][1].any() and not first["b.weight"][4].any()
    assert np.abs(first["a.weight"][[0, 2]] - first["b.weight"][[0, 2]]).min() > 0
    assert not np.array_equal(first["a.weight"], start(1)[1]["a.weight"])
    step(np.array([1, 4, 0]))
    after = step.state_dict()
    assert not after["a.weight"][1].any() and (after["a.weight"][4] != first["a.weight"][4]).all()


class Norm(nn.Module):
    def __init__(self, **options):
        self.bn = nn.BatchNorm1d(4, **options)

    def forward(self, x):
        return self.bn(x)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_batch_norm_of_each_type_predicts(dtype):
    entry = aicf.compile(Norm(dtype=dtype), {"x": aicf.spec((3, 4), dtype)})
    assert entry.program.state_dict()["bn.running_mean"].dtype == \
        (np.float64 if dtype == "f64" else np.float32)


@pytest.mark.parametrize("norm, names", [
    (nn.LayerNorm(4), ["weight", "bias"]), (nn.LayerNorm(4, bias=False), ["weight"]),
    (nn.LayerNorm(4, elementwise_affine=False), []),
    (nn.RMSNorm(4, elementwise_affine=False), []),
    (nn.GroupNorm(2, 4), ["weight", "bias"]), (nn.GroupNorm(2, 4, affine=False), []),
    (nn.BatchNorm1d(4), ["weight", "bias"]), (nn.BatchNorm1d(4, affine=False), []),
])
def test_norms_have_the_parameters_that_are_asked_for(norm, names):
    assert [name for name, _ in norm.named_parameters()] == names


@pytest.mark.parametrize("training", [False, True])
def test_batch_norm_without_running_statistics(training):
    model, x = Norm(track_running_stats=False), np.float32([[1, 2, 3, 4], [2, 4, 6, 9]])
    assert not list(model.named_buffers())
    got = aicf.compile(model, {"x": x}, training=training)(x)
    np.testing.assert_allclose(got, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), rtol=1e-5)


def test_statistics_of_a_batch_need_two_numbers():
    for shape in ((2, 4), (1, 4, 2)):
        aicf.compile(Norm(), {"x": shape}, training=True)
    with pytest.raises(aicf.TraceError, match="each channel has one number, and the "
                                              "statistics of a batch need two or more"):
        aicf.compile(Norm(), {"x": (1, 4)}, training=True)


def test_running_statistics_do_not_stall_in_mixed_precision():
    step = aicf.compile_step(Norm(momentum=1e-3), lambda m, x: (m(x) ** 2).mean(),
                             optim.SGD(0.0), {"x": aicf.spec((4, 4))}, precision="bf16")
    x = np.float32([[1, 2, 3, 4], [2, 4, 6, 8], [0, 0, 1, 1], [1, 2, 2, 3]])
    for _ in range(400):
        step(x)
    kept = 0.999 ** 400
    state = step.state_dict()
    np.testing.assert_allclose(state["bn.running_mean"],
                               x.mean(0) * (1 - kept), rtol=5e-3)
    np.testing.assert_allclose(state["bn.running_var"],
                               x.var(0, ddof=1) * (1 - kept) + kept, rtol=5e-3)


def test_a_batch_norm_that_is_used_twice_moves_twice():
    step = aicf.compile_step(Norm(), lambda m, x: (m(x) - m(2 * x)).mean(),
                             optim.SGD(0.0), {"x": aicf.spec((4, 4))})
    x = np.arange(16, dtype="f4").reshape(4, 4)
    step(x)
    state = step.state_dict()
    mean = 0.9 * (0.1 * x.mean(0)) + 0.1 * 2 * x.mean(0)
    np.testing.assert_allclose(state["bn.running_mean"], mean, rtol=1e-6)
    assert state["bn.num_batches_tracked"] == 2


def test_masks_that_no_f16_holds_stay_finite():
    class Model(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            y = self.fc(x)
            return F.softmax(y.masked_fill(y == y, -1e9)).square().sum()

    step = aicf.compile_step(Model(), lambda m, x: m(x), optim.SGD(0.1),
                             {"x": aicf.spec((4, 4))}, precision="f16")
    assert float(step(np.ones((4, 4), "f4"))) == pytest.approx(1.0, rel=1e-3)


# What is checked

def test_indices_are_checked_where_one_asks():
    def function(i):
        return F.embedding(i, np.ones((5, 3), "f4")).sum()

    spec = {"i": aicf.spec((2, 2), "i32")}
    good, bad = np.int32([[0, 4], [1, 2]]), np.int32([[0, 4], [5, 2]])
    assert np.isnan(float(aicf.compile(function, spec)(bad)))
    checked = aicf.compile(function, spec, check_indices=True)
    assert float(checked(good)) == 12
    with pytest.raises(aicf.errors.InvalidArgumentError, match=r"embedding gets index 5 at "
                       r"element 2 of its operand index, expected a number in \[0, 5\)"):
        checked(bad)
    assert float(checked(good)) == 12


def test_labels_are_checked_but_for_the_ignored_one():
    step = aicf.compile_step(
        nn.Linear(3, 4), lambda m, x, y: losses.cross_entropy(m(x), y), optim.SGD(0.1),
        {"x": aicf.spec((2, 3)), "y": aicf.spec((2,), "i64")}, check_indices=True)
    x = np.ones((2, 3), "f4")
    assert np.isfinite(float(step(x, np.array([-100, 3]))))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="index 4 .* or -100"):
        step(x, np.array([0, 4]))


@pytest.mark.parametrize("function, message", [
    (lambda x, y: F.relu(None), "aicf.ops.relu is None.*lack its return"),
    (lambda x, y: ops.linear(x, None), "aicf.ops.linear is None"),
    (lambda x, y: losses.mse_loss(None, y), "expected a traced tensor, got None"),
    (lambda x, y: losses.cross_entropy(x, x.argmax(1), label_smoothing=2.0),
     r"label_smoothing is 2.0, expected a number in \[0, 1\]"),
    (lambda x, y: losses.cross_entropy(x, y, ignore_index=0), "ignore_index is 0"),
    (lambda x, y: losses.cross_entropy(x.reshape(1, 3, 5), x.argmax(0).reshape(1, 5)),
     "classes of .* are its last dimension"),
    (lambda x, y: losses.smooth_l1_loss(x, y, beta=-1), "beta is -1"),
    (lambda x, y: losses.huber_loss(x, y, delta=0), "delta is 0"),
    (lambda x, y: losses.huber_loss(x, y, delta=math.inf), "delta is inf"),
    (lambda x, y: losses.mse_loss(x > 0, y > 0), "expected a float type"),
    (lambda x, y: F.rms_norm(x, 5, np.ones((3, 5))), "expected the shape"),
    (lambda x, y: F.layer_norm(x, 5, np.ones(1)), "expected the shape"),
    (lambda x, y: F.group_norm(x, 0), "0 groups do not divide"),
    (lambda x, y: F.group_norm(x, 2.0), "expected an int"),
    (lambda x, y: F.group_norm(x[0], 1), "rank 2 or more"),
    (lambda x, y: F.group_norm(x, 5, np.ones(1)), "one number for each of the 5"),
    (lambda x, y: F.top_k(x, 6), "k is 6, expected 1 to 5"),
    (lambda x, y: F.top_k(x, 0), "k is 0"),
    (lambda x, y: x.astype("i64").sum(), "exact up to 2"),
    (lambda x, y: x.masked_fill(x > 0, True), "expected a number"),
    (lambda x, y: x.masked_fill(x > 0, y), r"aicf.where\(mask, value, x\)"),
    (lambda x, y: x / 10 ** 400, "expected a finite number"),
    (lambda x, y: x + True, "expected a traced tensor, got True"),
    (lambda x, y: x == True, "expected a traced tensor, got True"),  # noqa: E712
    (lambda x, y: (x > 0) < True, "expected a traced tensor, got True"),
    (lambda x, y: x[:, :3].broadcast_to(3), r"does not broadcast to \(3,\)"),
])
def test_refused_at_the_users_line(function, message):
    traced_fails(function, message)


@pytest.mark.parametrize("function", [
    lambda x: F.softmax(x, dim=1), lambda x: x.softmax(dim=1), lambda x: x.var(dim=1),
    lambda x: x.argmax(dim=1), lambda x: x.unsqueeze(dim=1), lambda x: nn.Softmax(dim=1)(x),
])
def test_dim_is_called_axis(function):
    with pytest.raises(TypeError, match="it is called 'axis' here"):
        aicf.trace(function, {"x": (3, 5)})


@pytest.mark.parametrize("make", [
    lambda: nn.SELU(3, 4), lambda: nn.Mish(nonsense=1), lambda: nn.Tanh("a"),
    lambda: nn.ReLU("yes"), lambda: nn.Module(1)])
def test_modules_refuse_arguments_that_they_do_not_have(make):
    with pytest.raises(TypeError):
        make()


def test_activations_take_pytorchs_inplace():
    for make in (nn.ReLU, nn.SELU, nn.ReLU6, nn.SiLU, nn.Mish, nn.Hardswish, nn.ELU,
                 nn.LeakyReLU, nn.Hardtanh):
        assert make(inplace=True)
