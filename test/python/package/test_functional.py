# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pointwise functions, rows, lookups and losses: values of NumPy, gradients as
differences in f64, and what is refused. test_torch.py has the same beside PyTorch."""

import math
import re

import numpy as np
import pytest
from conftest import evaluate, said, traced_fails

import aicf
from aicf import functional as F, losses, nn, ops

RANDOM = np.random.default_rng(1)
X = RANDOM.standard_normal((3, 5))
Y = RANDOM.standard_normal((3, 5))
P = np.abs(RANDOM.standard_normal((3, 5))) + 0.3
T = RANDOM.standard_normal((2, 3, 4))
TABLE = RANDOM.standard_normal((7, 4))
INDEX = np.array([[0, 6, 2], [2, 2, 5]])
LABELS = np.array([1, 4, 0])
MASK = RANDOM.random((3, 5)) < 0.5
ERF = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def normalised(x, axes, eps=1e-5):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


# By name: what the tracer makes, what NumPy makes, and of which array; smooth there.
SMOOTH = {
    "exp": (lambda x: x.exp(), np.exp, X),
    "expm1": (lambda x: x.expm1(), np.expm1, X),
    "erf": (lambda x: x.erf(), ERF, X),
    "erfc": (lambda x: ops.erfc(x), lambda x: 1 - ERF(x), X),
    "log": (lambda x: x.log(), np.log, P),
    "log1p": (lambda x: x.log1p(), np.log1p, P),
    "sqrt": (lambda x: x.sqrt(), np.sqrt, P),
    "rsqrt": (lambda x: x.rsqrt(), lambda x: 1 / np.sqrt(x), P),
    "square": (lambda x: x.square(), np.square, X),
    "reciprocal": (lambda x: x.reciprocal(), lambda x: 1 / x, P),
    "sin": (lambda x: x.sin(), np.sin, X),
    "cos": (lambda x: x.cos(), np.cos, X),
    "tanh": (lambda x: x.tanh(), np.tanh, X),
    "sigmoid": (lambda x: x.sigmoid(), sigmoid, X),
    "relu": (lambda x: x.relu(), lambda x: np.maximum(x, 0), X),
    "abs": (lambda x: abs(x), np.abs, X),
    "neg": (lambda x: -x, np.negative, X),
    "x ** 0.5": (lambda x: x ** 0.5, np.sqrt, P),
    "x ** -0.5": (lambda x: x ** -0.5, lambda x: x ** -0.5, P),
    "x ** -1": (lambda x: x ** -1, lambda x: 1 / x, P),
    "x ** 1.7": (lambda x: x ** 1.7, lambda x: x ** 1.7, P),
    "x ** 0": (lambda x: x ** 0 + x, lambda x: 1 + x, P),
    "x ** 3": (lambda x: x ** 3, lambda x: x ** 3, X),
    "x ** 4": (lambda x: x ** 4, lambda x: x ** 4, X),
    "x ** 7": (lambda x: x ** 7, lambda x: x ** 7, P),
    "x ** x": (lambda x: x ** x, lambda x: x ** x, P),
    "2 ** x": (lambda x: 2 ** x, lambda x: 2 ** x, X),
    "x / y": (lambda x: x / P, lambda x: x / P, X),
    "y / x": (lambda x: Y / x, lambda x: Y / x, P),
    "1.5 / x": (lambda x: 1.5 / x, lambda x: 1.5 / x, P),
    "x - 2, 2 - x": (lambda x: (x - 2) * (2 - x), lambda x: (x - 2) * (2 - x), X),
    "a column times a row": (lambda x: x[:, :1] * x[0] + x[1],
                             lambda x: x[:, :1] * x[0] + x[1], X),
    "maximum": (lambda x: aicf.maximum(x, Y), lambda x: np.maximum(x, Y), X),
    "minimum": (lambda x: aicf.minimum(x, Y), lambda x: np.minimum(x, Y), X),
    "maximum of 0.2": (lambda x: aicf.maximum(0.2, x), lambda x: np.maximum(x, 0.2), X),
    "minimum of 0.2": (lambda x: aicf.minimum(x, 0.2), lambda x: np.minimum(x, 0.2), X),
    "clamp": (lambda x: x.clamp(-0.5, 0.7), lambda x: np.clip(x, -0.5, 0.7), X),
    "clip by tensors": (lambda x: x.clip(Y - 1, max=Y + 1),
                        lambda x: np.clip(x, Y - 1, Y + 1), X),
    "where": (lambda x: aicf.where(MASK, x, x * x), lambda x: np.where(MASK, x, x * x),
              X),
    "where x > 0": (lambda x: aicf.where(x > 0, x, 0.5 * x),
                    lambda x: np.where(x > 0, x, 0.5 * x), X),
    "where of a number": (lambda x: aicf.where(x > 0.1, 2.0, x),
                          lambda x: np.where(x > 0.1, 2.0, x), X),
    "masked_fill": (lambda x: x.masked_fill(MASK, -3.0),
                    lambda x: np.where(MASK, -3.0, x), X),
    "x times a mask": (lambda x: x * (x > 0), lambda x: x * (x > 0), X),
    "elu": (lambda x: F.elu(x, 0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x)), X),
    "leaky_relu": (lambda x: nn.LeakyReLU(0.2)(x), lambda x: np.where(x > 0, x, 0.2 * x),
                   X),
    "hardtanh": (lambda x: nn.Hardtanh(-0.4, 0.6)(x), lambda x: np.clip(x, -0.4, 0.6), X),
    "relu6": (lambda x: nn.ReLU6()(5 * x), lambda x: np.clip(5 * x, 0, 6), X),
    "hardswish": (lambda x: nn.Hardswish()(2 * x),
                  lambda x: 2 * x * np.clip(2 * x + 3, 0, 6) / 6, X),
    "hardsigmoid": (lambda x: nn.Hardsigmoid()(x), lambda x: np.clip(x + 3, 0, 6) / 6, X),
    "softplus": (lambda x: nn.Softplus(2.0)(x), lambda x: np.logaddexp(0, 2 * x) / 2, X),
    "mish": (lambda x: nn.Mish()(x), lambda x: x * np.tanh(np.logaddexp(0, x)), X),
    "log_sigmoid": (lambda x: nn.LogSigmoid()(x), lambda x: -np.logaddexp(0, -x), X),
    "gelu": (lambda x: F.gelu(x), lambda x: x / 2 * (1 + ERF(x / 2 ** 0.5)), X),
    "gelu by tanh": (lambda x: F.gelu(x, "tanh"), lambda x: x * sigmoid(
        (8 / math.pi) ** 0.5 * (x + 0.044715 * x ** 3)), X),
    "prelu of channels": (lambda x: F.prelu(x, P[0, :3]),
                          lambda x: np.where(x > 0, x, P[0, :3, None] * x), T),
    "glu": (lambda x: nn.GLU()(x[:, :4]), lambda x: x[:, :2] * sigmoid(x[:, 2:4]), X),
    "softmax": (lambda x: x.softmax(1), lambda x: softmax(x, 1), T),
    "log_softmax": (lambda x: x.log_softmax(), lambda x: np.log(softmax(x)), X),
    "log_softmax of axis 0": (lambda x: nn.LogSoftmax(0)(x),
                              lambda x: np.log(softmax(x, 0)), T),
    "logsumexp": (lambda x: x.logsumexp((0, 2)),
                  lambda x: np.log(np.exp(x).sum((0, 2))), T),
    "logsumexp, kept": (lambda x: x.logsumexp(1, keepdim=True),
                        lambda x: np.log(np.exp(x).sum(1, keepdims=True)), T),
    "var": (lambda x: x.var(1), lambda x: x.var(1, ddof=1), T),
    "var of all": (lambda x: x.var(correction=0), lambda x: x.var(), T),
    "std": (lambda x: x.std((0, 2), keepdim=True),
            lambda x: x.std((0, 2), ddof=1, keepdims=True), T),
    "norm": (lambda x: x.norm(), lambda x: np.sqrt((x * x).sum()), X),
    "norm of rows": (lambda x: x.norm(axis=1), lambda x: np.sqrt((x * x).sum(1)), X),
    "norm 1": (lambda x: x.norm(1, 0), lambda x: np.abs(x).sum(0), X),
    "norm inf": (lambda x: x.norm(math.inf, 1), lambda x: np.abs(x).max(1), X),
    "cosine_similarity": (
        lambda x: F.cosine_similarity(x, Y),
        lambda x: (x * Y).sum(1) / np.sqrt((x * x).sum(1) * (Y * Y).sum(1)), X),
    "cumsum": (lambda x: x.cumsum(1), lambda x: x.cumsum(1), T),
    "cumsum of axis -1": (lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), T),
    "take_along_axis": (
        lambda x: F.take_along_axis(x, LABELS[:, None], 1),
        lambda x: np.take_along_axis(x, LABELS[:, None], 1), X),
    "take_along_axis 1": (
        lambda x: F.take_along_axis(x, np.ones((2, 1, 4), "i4"), 1),
        lambda x: x[:, 1:2], T),
    "embedding": (lambda x: F.embedding(INDEX, x), lambda x: x[INDEX], TABLE),
    "layer_norm": (lambda x: F.layer_norm(x, (3, 4)), lambda x: normalised(x, (1, 2)), T),
    "rms_norm": (lambda x: F.rms_norm(x, 4, eps=0.1),
                 lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.1), T),
    "group_norm": (lambda x: F.group_norm(x[:, :2], 2),
                   lambda x: normalised(x[:, :2], 2), T),
    "batch_norm": (lambda x: F.batch_norm(x, Y[0, :3], P[0, :3], P[1, :3], Y[1, :3]),
                   lambda x: (x - Y[0, :3, None]) / np.sqrt(P[0, :3, None] + 1e-5)
                   * P[1, :3, None] + Y[1, :3, None], T),
    "map": (lambda x: ops.map(lambda a, b: a.sin() * b + aicf.where(a > b, 1.5, a), x, Y),
            lambda x: np.sin(x) * Y + np.where(x > Y, 1.5, x), X),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_values_are_numpys(name):
    ours, theirs, array = SMOOTH[name]
    got, want = evaluate(ours, x=array), theirs(array)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_differences(name):
    ours, theirs, array = SMOOTH[name]
    v = RANDOM.standard_normal(array.shape)
    r = RANDOM.standard_normal(np.shape(theirs(array)))

    class Model(nn.Module):
        def __init__(self):
            self.p = nn.Parameter(array.shape, "f64", init=array)

        def forward(self):
            return (ours(self.p) * r).sum() if r.shape else ours(self.p) * float(r)
    step = aicf.compile_step(Model(), lambda m: m(), aicf.optim.SGD(0.0), {},
                             outputs=("grad:p",))
    _, outputs = step()
    along = np.sum(v * outputs["grad:p"].numpy())
    ends = [np.sum(theirs(array + s * v) * r) for s in (1e-6, -1e-6)]
    np.testing.assert_allclose(along, (ends[0] - ends[1]) / 2e-6, rtol=2e-7, atol=2e-8)


I = np.array([[3, -2, 7], [0, 5, -9]])
J = np.array([[1, -2, 4]])
# What has no gradient.
FLAT = {
    "x < y": (lambda x: x < Y, lambda x: x < Y, X),
    "x <= 0.2": (lambda x: x <= 0.2, lambda x: x <= 0.2, X),
    "0.2 > x": (lambda x: 0.2 > x, lambda x: x < 0.2, X),
    "x >= x": (lambda x: x >= x[:1], lambda x: x >= x[:1], X),
    "==": (lambda x: (x == J) | (x != 3), lambda x: (x == J) | (x != 3), I),
    "~": (lambda x: ~(x > 1) ^ (x < 4), lambda x: ~(x > 1) ^ (x < 4), I),
    "bool == bool": (lambda x: (x > 0) == (x < 5), lambda x: (x > 0) == (x < 5), I),
    "bool == True": (lambda x: (x > 0) == True, lambda x: x > 0, I),  # noqa: E712
    "integers": (lambda x: (x + J) * x - 4, lambda x: (x + J) * x - 4, I),
    "integers and a fraction": (lambda x: x * 0.5, lambda x: (x * 0.5).astype("f4"), I),
    "integers divided": (lambda x: x / 4, lambda x: (x / 4).astype("f4"), I),
    "abs of integers": (lambda x: abs(x), np.abs, I),
    "clamp of integers": (lambda x: x.clamp(-1, 4), lambda x: np.clip(x, -1, 4), I),
    "maximum of integers": (lambda x: aicf.maximum(x, J), lambda x: np.maximum(x, J), I),
    "where of integers": (lambda x: aicf.where(x > 0, x, J),
                          lambda x: np.where(x > 0, x, J), I),
    "where of two numbers": (lambda x: aicf.where(x > 0, 1, -1),
                             lambda x: np.where(x > 0, 1, -1), I),
    "bool + 1": (lambda x: (x > 0) + 1, lambda x: (x > 0) + 1, I),
    "sign": (lambda x: x.sign(), np.sign, X),
    "floor": (lambda x: x.floor(), np.floor, 3 * X),
    "ceil": (lambda x: x.ceil(), np.ceil, 3 * X),
    "round": (lambda x: x.round(), np.round, np.array([0.5, 1.5, 2.5, -0.5, 3.7])),
    "to integers": (lambda x: x.astype("i32"), lambda x: x.astype("i4"), 3 * X),
    "to bool": (lambda x: x.astype("bool"), lambda x: x != 0, I),
    "argmax": (lambda x: x.argmax(1), lambda x: x.argmax(1), T),
    "argmax of all": (lambda x: x.argmax(), lambda x: x.argmax(), T),
    "argmax, kept": (lambda x: x.argmax(0, keepdim=True), lambda x: x.argmax(0)[None], T),
    "argmax of all, kept": (lambda x: x.argmax(keepdim=True),
                            lambda x: x.argmax(keepdims=True), T),
    "one_hot": (lambda x: F.one_hot(x, 7), lambda x: np.eye(7, dtype=int)[x], INDEX),
    "cumsum of integers": (lambda x: x.cumsum(0), lambda x: x.cumsum(0), I),
    "cumsum of a mask": (lambda x: (x > 0).cumsum(1), lambda x: (x > 0).cumsum(1), I),
    "embedding out of range": (
        lambda x: F.embedding(x, TABLE.astype("f4")),
        lambda x: np.full((2, 4), np.nan, "f4"), np.array([-1, 7])),
    "logsumexp of nothing": (lambda x: x.logsumexp(), lambda x: -np.inf,
                             np.full(3, -np.inf)),
}


@pytest.mark.parametrize("name", FLAT)
def test_values_without_gradients(name):
    ours, theirs, array = FLAT[name]
    got, want = evaluate(ours, x=array), np.asarray(theirs(array))
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)


def test_a_parameter_is_hashable_and_compares_by_element():
    class Model(nn.Module):
        def __init__(self):
            self.p = nn.Parameter((3,), init=np.float32([1, 2, 3]))

        def forward(self, x):
            assert {self.p: 1}[self.p] == 1
            return (self.p == x).astype("i32")

    got = aicf.compile(Model(), {"x": aicf.spec((3,))})(np.float32([2, 2, 2]))
    np.testing.assert_array_equal(got.numpy(), [0, 1, 0])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    logp = np.log(softmax(X))
    weight = P[0]
    labels = np.array([1, -100, 4])

    def reduced(loss, divisor=None):
        if reduction == "mean":
            return loss.sum() / (divisor or loss.size)
        return loss.sum() if reduction == "sum" else loss

    kept = np.array([1, 0, 1])
    nll = -logp[[0, 1, 2], [1, 0, 4]] * weight[[1, 0, 4]] * kept
    by_weight = (weight[[1, 0, 4]] * kept).sum()
    smoothed = 0.8 * nll - 0.2 * (logp * weight).mean(1) * kept
    cases = {
        "nll": (lambda x: losses.nll_loss(x.log_softmax(), labels, weight=weight,
                                          reduction=reduction), reduced(nll, by_weight)),
        "cross_entropy": (lambda x: losses.cross_entropy(
            x, labels, weight=weight, reduction=reduction), reduced(nll, by_weight)),
        "smoothed": (lambda x: losses.cross_entropy(
            x, LABELS, label_smoothing=0.2, reduction=reduction), reduced(
                -(0.8 * logp[[0, 1, 2], LABELS] + 0.2 * logp.mean(1)))),
        "smoothed, weighted": (lambda x: losses.cross_entropy(
            x, labels, weight=weight, label_smoothing=0.2, reduction=reduction),
            reduced(smoothed, by_weight)),
        "smoothed by 1": (lambda x: losses.cross_entropy(
            x, LABELS, label_smoothing=1.0, reduction=reduction), reduced(-logp.mean(1))),
        "soft, smoothed": (lambda x: losses.cross_entropy(
            x, softmax(Y), label_smoothing=0.2, reduction=reduction),
            reduced(-((0.8 * softmax(Y) + 0.2 / 5) * logp).sum(1))),
        "soft": (lambda x: losses.cross_entropy(x, softmax(Y), reduction=reduction),
                 reduced(-(softmax(Y) * logp).sum(1))),
        "soft, weighted": (lambda x: losses.cross_entropy(
            x, softmax(Y), weight=weight, reduction=reduction),
            reduced(-(softmax(Y) * logp * weight).sum(1))),
        "mse": (lambda x: losses.mse_loss(x, Y, reduction=reduction),
                reduced((X - Y) ** 2)),
        "l1": (lambda x: losses.l1_loss(x, Y, reduction=reduction),
               reduced(np.abs(X - Y))),
        "smooth_l1": (lambda x: losses.smooth_l1_loss(x, Y, beta=0.5,
                                                      reduction=reduction),
                      reduced(np.where(np.abs(X - Y) < 0.5, (X - Y) ** 2,
                                       np.abs(X - Y) - 0.25))),
        "smooth_l1 by 0": (lambda x: losses.smooth_l1_loss(
            x, Y, beta=0, reduction=reduction), reduced(np.abs(X - Y))),
        "huber": (lambda x: losses.huber_loss(x, Y, delta=0.5, reduction=reduction),
                  reduced(np.where(np.abs(X - Y) < 0.5, (X - Y) ** 2 / 2,
                                   0.5 * (np.abs(X - Y) - 0.25)))),
        "bce": (lambda x: losses.binary_cross_entropy(
            x.sigmoid(), sigmoid(Y), weight=weight, reduction=reduction),
            reduced(weight * -(sigmoid(Y) * np.log(sigmoid(X))
                               + sigmoid(-Y) * np.log(sigmoid(-X))))),
        "bce_with_logits": (lambda x: losses.binary_cross_entropy_with_logits(
            x, sigmoid(Y), pos_weight=weight, reduction=reduction),
            reduced(-(weight * sigmoid(Y) * np.log(sigmoid(X))
                      + sigmoid(-Y) * np.log(sigmoid(-X))))),
        "bce_with_logits, plain": (
            lambda x: losses.binary_cross_entropy_with_logits(
                x, sigmoid(Y), reduction=reduction),
            reduced(-(sigmoid(Y) * np.log(sigmoid(X))
                      + sigmoid(-Y) * np.log(sigmoid(-X))))),
        "bce_with_logits, weighted": (
            lambda x: losses.binary_cross_entropy_with_logits(
                x, sigmoid(Y), weight=weight, reduction=reduction),
            reduced(-weight * (sigmoid(Y) * np.log(sigmoid(X))
                               + sigmoid(-Y) * np.log(sigmoid(-X))))),
        "kl_div": (lambda x: losses.kl_div(x.log_softmax(), softmax(Y),
                                           reduction=reduction),
                   reduced(softmax(Y) * (np.log(softmax(Y)) - logp))),
        "kl_div of logarithms": (lambda x: losses.kl_div(
            x.log_softmax(), np.log(softmax(Y)), log_target=True, reduction=reduction),
            reduced(softmax(Y) * (np.log(softmax(Y)) - logp))),
    }
    for name, (ours, want) in cases.items():
        np.testing.assert_allclose(evaluate(ours, x=X), want, rtol=1e-12, err_msg=name)


def test_kl_div_counts_nothing_where_the_target_is_zero():
    target = np.array([[0.0, 1.0]])
    got = evaluate(lambda x: losses.kl_div(x, target, reduction="batchmean"),
                   x=np.log([[0.25, 0.75]]))
    np.testing.assert_allclose(got, -math.log(0.75))


def test_the_mean_by_batch_divides_by_the_first_dimension():
    p, q = softmax(X), softmax(Y)
    for part, rows in ((np.s_[:], 3), (np.s_[0, 0], 1)):
        want = (q[part] * np.log(q[part] / p[part])).sum() / rows
        got = evaluate(lambda x: losses.kl_div(x[part], q[part], reduction="batchmean"),
                       x=np.log(p))
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("loss, names", [
    (lambda x, y: losses.mse_loss(x, y), "mse_loss"),
    (lambda x, y: losses.l1_loss(x, y), "l1_loss"),
    (lambda x, y: losses.binary_cross_entropy_with_logits(x, y), "bce_with_logits"),
    (lambda x, y: losses.cross_entropy(x, LABELS), "constant softmax_cross_entropy"),
    (lambda x, y: losses.cross_entropy(x, y),
     "log_softmax mul reduce_sum neg mean"),
    (lambda x, y: losses.nll_loss(x, LABELS, reduction="none"),
     "constant equal_scalar masked_fill pick neg logical_not cast masked_fill"),
])
def test_a_loss_makes_no_more_ops_than_it_needs(loss, names):
    text = aicf.trace(loss, {"x": (3, 5), "y": (3, 5)}).dump()
    assert " ".join(re.findall(r"^(\w+)\(", text, re.M)) == names


@pytest.mark.parametrize("entry_trains, options, drops", [
    (True, {}, True), (False, {}, False), (False, {"training": True}, True),
    (True, {"training": False}, False), (True, {"p": 0}, False),
])
def test_dropout_is_for_training_unless_it_is_told(entry_trains, options, drops):
    traced = aicf.trace(lambda x: F.dropout(x, **options), {"x": (3, 5)},
                        training=entry_trains)
    assert ("dropout(" in traced.dump()) == drops


@pytest.mark.parametrize("function, message", [
    (lambda x, y: x == None, "is never None"),  # noqa: E711
    (lambda x, y: x < "a", "expected a traced tensor"),
    (lambda x, y: (x > 0) < (y > 0), "i1 has no order"),
    (lambda x, y: x & y, "logic is of i1"),
    (lambda x, y: aicf.where(x, x, y), "as a mask: expected i1"),
    (lambda x, y: x.clamp(), "expected min, max or both"),
    (lambda x, y: x ** math.inf, "expected a finite number"),
    (lambda x, y: bool(x > 0), "aicf.where chooses"),
    (lambda x, y: F.glu(y), "odd size"),
    (lambda x, y: F.embedding(x, y), "the index is"),
    (lambda x, y: F.embedding(LABELS, y, padding_idx=9), "expected a row of"),
    (lambda x, y: F.take_along_axis(x, LABELS, 1), "expected the shape"),
    (lambda x, y: F.layer_norm(x, (9,)), "expected its last dimensions"),
    (lambda x, y: F.layer_norm(x.sum(), ()), "expected its last dimensions"),
    (lambda x, y: F.group_norm(x, 7), "do not divide"),
    (lambda x, y: F.batch_norm(x[0], X[0], P[0]), "batch_norm of .* rank 2 or more"),
    (lambda x, y: F.gelu(x, "erf"), "approximate is 'erf', expected none or tanh"),
    (lambda x, y: F.logsumexp(x > 0), "logsumexp of .*: expected a float type"),
    (lambda x, y: x.var(()), "the correction is 1"),
    (lambda x, y: x.norm(3), "expected 1, 2 or inf"),
    (lambda x, y: nn.BatchNorm1d(9)(x), "expected 9 channels"),
    (lambda x, y: nn.BatchNorm1d(5)(x[0]), "expected 5 channels in dimension 1"),
    (lambda x, y: nn.GroupNorm(2, 8)(x), "expected 8 channels"),
    (lambda x, y: nn.GroupNorm(1, 5)(x[0]), "expected 5 channels in dimension 1"),
    (lambda x, y: losses.mse_loss(x, x, reduction="max"), "reduction is 'max'"),
    (lambda x, y: losses.cross_entropy(x, LABELS, weight=np.ones(2, "f4")),
     "one for each of the"),
    (lambda x, y: losses.nll_loss(x, INDEX), "labels are"),
    (lambda x, y: losses.nll_loss(x, y[:, 0]), "labels are .*, expected i32 or i64"),
    (lambda x, y: losses.mse_loss(x, y[0]), "mse_loss of .*: expected the same shape"),
    (lambda x, y: ops.map(lambda a: 3, x), "expected a traced tensor"),
    (lambda x, y: ops.map(lambda: 1), "no tensor among its operands"),
])
def test_refused(function, message):
    traced_fails(function, message)


def test_a_map_has_elements_only():
    kept = []
    for function, message in [
            (lambda x: ops.map(lambda a: a.sum(()) + ops.mean(a), x),
             "is not computed element by element, as every op in a map must be"),
            (lambda x: ops.map(lambda a: kept.append(a) or a, x) + kept[0],
             "known in the map's function only"),
            (lambda x: ops.map(lambda a: a + x, x[0]), "pass it this tensor"),
            (lambda x: ops.map(lambda a: ops.map(lambda b: b, a), x),
             "a map inside a map")]:
        with pytest.raises(aicf.CompileError) as caught:
            evaluate(function, x=X)
        assert message in said(caught.value)
        assert len(caught.value.diagnostics) == 1


def test_a_trace_goes_on_after_a_map_that_fails():
    def function(x):
        with pytest.raises(ZeroDivisionError):
            ops.map(lambda a: a * (1 // 0), x)
        return ops.map(lambda a: a + a, x) - x
    np.testing.assert_array_equal(evaluate(function, x=X), X)


def test_a_map_is_one_op():
    traced = aicf.trace(lambda x, y: ops.map(lambda a, b: (a * b).tanh(), x, y),
                        {"x": aicf.spec((3, 5)), "y": aicf.spec((5,))})
    text = traced.as_text()
    assert text.count("aicf.map") == 1 and "arith.mulf" in text


@pytest.mark.parametrize("make, message", [
    (lambda: nn.Embedding(5, 3, padding_idx=5), "padding_idx is 5"),
    (lambda: nn.GroupNorm(3, 8), "does not divide"),
    (lambda: nn.GroupNorm(0, 8), "num_groups is 0, which does not divide"),
    (lambda: nn.GroupNorm(-2, 8), "num_groups is -2, which does not divide"),
    (lambda: nn.BatchNorm1d(3, momentum=None), "momentum is None"),
    (lambda: nn.BatchNorm1d(3, momentum=0.0), "momentum is 0.0, expected a number in"),
    (lambda: nn.BatchNorm1d(3, momentum=1.5), "momentum is 1.5, expected a number in"),
    (lambda: nn.Hardtanh(1, 1), "expected less"),
])
def test_modules_refuse(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_dtype_is_not_taken_for_a_flag():
    with pytest.raises(TypeError, match="dtype is a keyword"):
        nn.LayerNorm(4, 1e-5, "f64")


def test_random_numbers_change_with_the_step():
    def drawn(x):
        return F.uniform((4000,)), F.normal((4000,), 1.0, 2.0), x

    program = aicf.compile(drawn, {"x": aicf.spec(())}, seed=3)
    u, z, _ = (a.numpy() for a in program(np.float32(0)))
    assert 0 <= u.min() and u.max() < 1 and abs(u.mean() - 0.5) < 0.03
    assert abs(z.mean() - 1) < 0.15 and abs(z.std() - 2) < 0.1
    assert not np.array_equal(program(np.float32(0))[0].numpy(), u)


def test_categorical_draws_with_the_probabilities():
    logits = np.log(np.float32([0.1, 0.6, 0.3]))
    program = aicf.compile(lambda x: F.categorical(x.broadcast_to(6000, 3)),
                           {"x": aicf.spec((3,))}, seed=1)
    counts = np.bincount(program(logits).numpy(), minlength=3) / 6000
    np.testing.assert_allclose(counts, [0.1, 0.6, 0.3], atol=0.03)
