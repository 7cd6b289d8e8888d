# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views of traced tensors: values of NumPy, gradients as adjoints, storage, errors."""

import re
import subprocess
import tracemalloc

import numpy as np
import pytest
from conftest import BINARY, PROGRAM_ENV, evaluate, here, said, traced_fails

import aicf
from aicf import nn, ops

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 5))
T = RANDOM.standard_normal((2, 3, 4, 6))
ONE = RANDOM.standard_normal((2, 1, 3, 1))


def flattened(x, start=0, end=-1):
    """What NumPy has no function for."""
    end %= x.ndim
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1:])


# By name: what the tracer makes, what NumPy makes, and of which array.
LINEAR = {
    "reshape": (lambda x: x.reshape(6, 4, 6), lambda x: x.reshape(6, 4, 6), T),
    "reshape of a tuple": (lambda x: x.reshape((4, -1)), lambda x: x.reshape(4, -1), T),
    "view": (lambda x: x.view(-1), lambda x: x.reshape(-1), T),
    "flatten": (lambda x: x.flatten(), flattened, T),
    "flatten from 1": (lambda x: x.flatten(1), lambda x: flattened(x, 1), T),
    "flatten 1 to 2": (lambda x: x.flatten(1, 2), lambda x: flattened(x, 1, 2), T),
    "flatten of a number": (lambda x: x[1, 2].flatten(), lambda x: x[1, 2:3], X),
    "flatten up to -2": (lambda x: x.flatten(0, -2), lambda x: flattened(x, 0, -2), T),
    "nn.Flatten": (lambda x: nn.Flatten()(x), lambda x: flattened(x, 1), T),
    "T": (lambda x: x.T, lambda x: x.T, X),
    "T of rank 4": (lambda x: x.T, lambda x: x.T, T),
    "transpose": (lambda x: x.transpose(), lambda x: x.T, T),
    "transpose of all": (lambda x: x.transpose(2, 0, 3, 1),
                         lambda x: x.transpose(2, 0, 3, 1), T),
    "transpose of two": (lambda x: x.transpose(1, 3), lambda x: x.swapaxes(1, 3), T),
    "transpose of a matrix": (lambda x: x.transpose(0, 1), lambda x: x.T, X),
    "transpose of nothing": (lambda x: x.transpose(-2, 0), lambda x: x, X),
    "permute": (lambda x: x.permute(2, 0, 3, 1), lambda x: x.transpose(2, 0, 3, 1), T),
    "permute from the end": (lambda x: x.permute(-1, 0, -2, 1),
                             lambda x: x.transpose(3, 0, 2, 1), T),
    "swapaxes": (lambda x: x.swapaxes(0, -1), lambda x: x.swapaxes(0, -1), T),
    "reshape of a transpose": (lambda x: x.transpose(1, 2).reshape(2, 4, 18),
                               lambda x: x.swapaxes(1, 2).reshape(2, 4, 18), T),
    "a chain": (lambda x: x.permute(1, 0, 2, 3)[1:].reshape(-1, 24).T[::5],
                lambda x: x.transpose(1, 0, 2, 3)[1:].reshape(-1, 24).T[::5], T),
    "x[1]": (lambda x: x[1], lambda x: x[1], T),
    "x[-1, 2]": (lambda x: x[-1, 2], lambda x: x[-1, 2], T),
    "x[1, 2, 3, 4]": (lambda x: x[1, 2, 3, 4], lambda x: x[1, 2, 3, 4], T),
    "x[..., 0]": (lambda x: x[..., 0], lambda x: x[..., 0], T),
    "x[:, 1:, None]": (lambda x: x[:, 1:, None], lambda x: x[:, 1:, None], T),
    "x[None, ..., None]": (lambda x: x[None, ..., None],
                           lambda x: x[None, ..., None], T),
    "x[0, ..., ::2]": (lambda x: x[0, ..., ::2], lambda x: x[0, ..., ::2], T),
    "x[:, -2:, 1:-1:2]": (lambda x: x[:, -2:, 1:-1:2], lambda x: x[:, -2:, 1:-1:2], T),
    "x[:100]": (lambda x: x[:100], lambda x: x[:100], X),
    "x[1] by NumPy": (lambda x: x[np.int64(1)], lambda x: x[1], X),
    "x[()]": (lambda x: x[()], lambda x: x, X),
    "squeeze": (lambda x: x.squeeze(), lambda x: x.squeeze(), ONE),
    "squeeze(1)": (lambda x: x.squeeze(1), lambda x: x.squeeze(1), ONE),
    "squeeze((1, -1))": (lambda x: x.squeeze((1, -1)), lambda x: x.squeeze((1, -1)), ONE),
    "unsqueeze(1)": (lambda x: x.unsqueeze(1), lambda x: x[:, None], X),
    "unsqueeze(-1)": (lambda x: x.unsqueeze(-1), lambda x: x[..., None], X),
    "broadcast_to": (lambda x: x.broadcast_to(2, 4, 3, 5),
                     lambda x: np.broadcast_to(x, (2, 4, 3, 5)), X),
    "broadcast in the middle": (lambda x: x.broadcast_to((2, 7, 3, 2)),
                                lambda x: np.broadcast_to(x, (2, 7, 3, 2)), ONE),
    "split": (lambda x: aicf.concat(x.split(2, 1)[::-1], 1),
              lambda x: np.concatenate(np.split(x, [2, 4], 1)[::-1], 1), X),
    "split by sizes": (lambda x: x.split((1, 4), -1)[1], lambda x: x[:, 1:], X),
    "chunk": (lambda x: x.chunk(2, 1)[0], lambda x: x[:, :3], X),
    "rows": (lambda x: aicf.concat(list(x)), lambda x: x.reshape(-1), X),
    "concat": (lambda x: aicf.concat([x, x[:1], x * 2]),
               lambda x: np.concatenate([x, x[:1], x * 2]), X),
    "concat of axis -1": (lambda x: aicf.concat([x, x[:, ::2]], -1),
                          lambda x: np.concatenate([x, x[:, ::2]], -1), X),
    "stack": (lambda x: aicf.stack([x, -x], 1), lambda x: np.stack([x, -x], 1), X),
    "stack at the end": (lambda x: aicf.stack([x, -x], -1),
                         lambda x: np.stack([x, -x], -1), X),
    "pad": (lambda x: ops.pad(x, axis=1, begin=1, step=2, size=11),
            lambda x: np.insert(x, range(6), 0, axis=1), X),
    "sum": (lambda x: x.sum((0, 2)), lambda x: x.sum((0, 2)), T),
    "sum, kept": (lambda x: x.sum((1, -1), keepdim=True),
                  lambda x: x.sum((1, -1), keepdims=True), T),
    "sum of nothing": (lambda x: x.sum(()), lambda x: x.sum(()), X),
    "mean": (lambda x: x.mean((0, 3)), lambda x: x.mean((0, 3)), T),
    "mean, kept": (lambda x: x.mean(1, keepdim=True),
                   lambda x: x.mean(1, keepdims=True), T),
    "mean of all": (lambda x: x.mean(), lambda x: x.mean(), T),
}


@pytest.mark.parametrize("name", LINEAR)
def test_values_are_numpys(name):
    ours, theirs, array = LINEAR[name]
    got, want = evaluate(ours, x=array), theirs(array)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("name", LINEAR)
def test_gradients_are_adjoints(name):
    """All of these are linear: <A v, r> = <v, A'r>, where A'r is the gradient of
    <A p, r>."""
    ours, theirs, array = LINEAR[name]
    v, r = RANDOM.standard_normal(array.shape), RANDOM.standard_normal(
        np.shape(theirs(array)))

    class Model(nn.Module):
        def __init__(self):
            self.p = nn.Parameter(array.shape, "f64", init=array)

        def forward(self):
            return (ours(self.p) * r).sum() if r.shape else ours(self.p) * float(r)
    step = aicf.compile_step(Model(), lambda m: m(), aicf.optim.SGD(0.0), {},
                             outputs=("grad:p",))
    _, outputs = step()
    gradient = outputs["grad:p"].numpy()
    assert gradient.shape == array.shape
    np.testing.assert_allclose(np.sum(v * gradient), np.sum(theirs(v) * r), rtol=1e-10)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, 3), (0, 1, 2, 3)])
@pytest.mark.parametrize("keep", [False, True])
def test_extrema(axis, keep):
    np.testing.assert_array_equal(
        evaluate(lambda x: (x.max(axis, keep), x.min(axis, keep)), x=T),
        (T.max(axis, keepdims=keep), T.min(axis, keepdims=keep)))


def test_an_extremums_gradient_goes_to_the_first():
    class Model(nn.Module):
        def __init__(self):
            self.p = nn.Parameter((2, 4), init=np.float32([[1, 3, 3, 0], [2, 2, 2, 2]]))

        def forward(self):
            return self.p.max(1).sum() - self.p.min((0, 1)) * 10
    step = aicf.compile_step(Model(), lambda m: m(), aicf.optim.SGD(0.0), {},
                             outputs=("grad:p",))
    np.testing.assert_array_equal(step()[1]["grad:p"],
                                  [[0, 1, 0, -10], [1, 0, 0, 0]])


PRODUCTS = [((4,), (4,)), ((4,), (4, 5)), ((3, 4), (4,)), ((3, 4), (4, 5)),
            ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)),
            ((2, 1, 3, 4), (6, 4, 5)), ((4,), (2, 4, 5)), ((2, 3, 4), (4,)),
            ((1, 1, 4), (3, 4, 1)), ((2, 3, 1, 4), (2, 1, 4, 5))]


@pytest.mark.parametrize("a, b", PRODUCTS)
def test_products_of_any_rank(a, b):
    left, right = RANDOM.standard_normal(a), RANDOM.standard_normal(b)
    got = evaluate(lambda x, y: x @ y, x=left, y=right)
    assert got.shape == (left @ right).shape
    np.testing.assert_allclose(got, left @ right, rtol=1e-12)
    if len(b) == 2:
        turned = evaluate(lambda x, y: x @ y.T, x=left, y=right.T.copy())
        np.testing.assert_allclose(turned, left @ right, rtol=1e-12, strict=True)


def calls(function, device="cpu", **arrays):
    """The primitives of the plan's calls."""
    text = aicf.trace(function, arrays).lower(device).dump()
    return [line.partition("(")[0] for line in text.splitlines()[1:]]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_views_in_front_of_products_are_no_calls(device):
    heads = RANDOM.standard_normal((2, 7, 4, 8)).astype(np.float32)  # batch, time, ...

    def scores(x):
        q = x.transpose(1, 2)
        return q @ q.swapaxes(-1, -2)
    assert calls(scores, device, x=heads) == ["batched_gemm"]
    W = RANDOM.standard_normal((8, 5)).astype(np.float32)
    assert calls(lambda x, W: x @ W, device, x=heads[0], W=W) == ["gemm"]
    assert calls(lambda x, W: ops.linear(x, W.T, W[0]), device, x=heads[0],
                 W=np.ones((8, 8), np.float32)) == ["gemm", "bias_add"]
    np.testing.assert_allclose(
        evaluate(scores, x=heads),
        heads.swapaxes(1, 2) @ heads.swapaxes(1, 2).swapaxes(-1, -2), rtol=1e-4)


# Storage: what a view may not share.

def test_a_view_as_output_is_dense():
    a, b, c, x = evaluate(lambda x: (x.T, x[:, 1::2], x.broadcast_to(2, 3, 5), x), x=X)
    for got, want in ((a, X.T), (b, X[:, 1::2]), (c, np.broadcast_to(X, (2, 3, 5)))):
        np.testing.assert_array_equal(got, want)
        assert got.flags.c_contiguous
    np.testing.assert_array_equal(x, X)


class Turning(nn.Module):
    """A square state that is transposed, and one that moves on by a row: each step
    reads what the other views show of the old values."""

    def __init__(self):
        self.square = nn.Buffer((3, 3), init=np.arange(9, dtype=np.float32).reshape(3, 3))
        self.rows = nn.Buffer((4, 3), init=np.zeros((4, 3), np.float32))

    def forward(self, x):
        first = self.square[0]
        self.rows.update(aicf.concat([self.rows[1:], (first + x)[None]]))
        self.square.update(self.square.T)
        return self.square.T[1], self.rows[0]


@pytest.mark.parametrize("options", [{}, {"opt_level": 0}, {"streams": 2}])
def test_a_view_as_update(options):
    entry = aicf.compile(Turning(), {"x": (3,)}, **options)
    square = np.arange(9, dtype=np.float32).reshape(3, 3)
    rows = np.zeros((4, 3), np.float32)
    for i in range(5):
        x = np.full(3, i, np.float32)
        a, b = entry(x)
        np.testing.assert_array_equal(a, square.T[1])
        np.testing.assert_array_equal(b, rows[0])
        rows = np.concatenate([rows[1:], (square[0] + x)[None]])
        square = square.T.copy()
        np.testing.assert_array_equal(entry.get("square"), square)
        np.testing.assert_array_equal(entry.get("rows"), rows)


def test_a_kept_view(tmp_path):
    """What keep= returns is dense, and so is what a checkpoint holds."""
    class Model(nn.Module):
        def __init__(self):
            self.W = nn.Parameter((5, 3), "f64", init=X.T.copy())

        def forward(self, x):
            return (x @ self.W.T.reshape(5, 3)).sum()
    step = aicf.compile_step(Model(), lambda m, x: m(x), aicf.optim.SGD(0.1),
                             {"x": aicf.spec((2, 5), "f64")}, keep="all")
    _, kept = step(np.ones((2, 5)))
    turned = X.reshape(5, 3)
    values = [v.numpy() for v in kept.values() if v.shape == (5, 3)]
    assert values and any((v == turned).all() for v in values)
    step.save_weights(str(tmp_path / "w.safetensors"))
    fresh = aicf.compile_step(Model(), lambda m, x: m(x), aicf.optim.SGD(0.1),
                              {"x": aicf.spec((2, 5), "f64")})
    fresh.load_weights(str(tmp_path / "w.safetensors"))
    np.testing.assert_array_equal(fresh.state_dict()["W"], step.state_dict()["W"])


def test_nothing_runs_for_a_view():
    """The launches of a step with views in front of a product are the product's."""
    entry = aicf.compile(lambda x: x.reshape(6, 4, 6)[1:3].transpose(0, 1)[2] @
                         x.reshape(-1, 6)[3:9], {"x": T})
    text = entry.as_text("plan-ir")
    assert text.count(" gemm") >= 1 and "copy" not in text
    np.testing.assert_allclose(
        entry(T), T.reshape(6, 4, 6)[1:3].swapaxes(0, 1)[2] @ T.reshape(-1, 6)[3:9],
        rtol=1e-12)


@pytest.mark.parametrize("function", [
    lambda x: x.reshape(3, 5), lambda x: x.permute(0, 1), lambda x: x.transpose(0, 0),
    lambda x: x[:, :], lambda x: x.squeeze(), lambda x: aicf.concat([x]),
    lambda x: x.broadcast_to(3, 5),
])
def test_a_view_that_changes_nothing_is_the_tensor(function):
    same = []
    aicf.trace(lambda x: [same.append(function(x) is x), x][1], {"x": X})
    assert same == [True]


def test_only_a_slice_with_a_step_says_so():
    assert " step [" not in aicf.trace(lambda x: x[1:], {"x": X}).as_text()
    assert " step [1, 2]" in aicf.trace(lambda x: x[1:, ::2], {"x": X}).as_text()


# Errors, at the user's line.

@pytest.mark.parametrize("function, message", [
    (lambda x, y: x.reshape(4, 4), "15 elements has no shape .4, 4."),
    (lambda x, y: x.reshape(4, -1), "15 elements has no shape .4, -1."),
    (lambda x, y: x.reshape(-1, -1), "no shape"),
    (lambda x, y: x.reshape(0, -1), "no shape"),
    (lambda x, y: x.reshape(-3, -5), "no shape .-3, -5."),
    (lambda x, y: x.reshape("a"), "not a list of ints"),
    (lambda x, y: x.reshape((3, 5), 1), "not a list of ints"),
    (lambda x, y: x.permute(0, 0), "each dimension"),
    (lambda x, y: x.permute(0), "each dimension"),
    (lambda x, y: x.permute(0, 2), "axis 2 of"),
    (lambda x, y: x.transpose(0, 5), "axis 5 of"),
    (lambda x, y: x.swapaxes(0, 1.5), "axis is 1.5"),
    (lambda x, y: x.squeeze(0), "dimension 0 of .* is not 1"),
    (lambda x, y: x.unsqueeze(4), "axis 4 of"),
    (lambda x, y: x.flatten(1, 0), "from dimension 1 to 0"),
    (lambda x, y: x[3], "index 3 of dimension 0"),
    (lambda x, y: x[-4], "index -4 of dimension 0"),
    (lambda x, y: x[0, 0, 0], "3 indices for"),
    (lambda x, y: x[..., ...], "one ... at most"),
    (lambda x, y: x[2:2], "is empty"),
    (lambda x, y: x[::-1], "steps go forward"),
    (lambda x, y: x["a"], "'a' of type str is not an index"),
    (lambda x, y: x[1.0], "not an index"),
    (lambda x, y: x[True], "depends on values"),
    (lambda x, y: x[[0, 1]], "list as an index depends on values.*gather_rows"),
    (lambda x, y: x[ops.argmax(x)], "Tensor as an index depends on values.*gather_rows"),
    (lambda x, y: x[np.array([0])], "ndarray as an index depends on values"),
    (lambda x, y: x.split(0), "split into 0"),
    (lambda x, y: x.split("a"), "split into 'a'"),
    (lambda x, y: x.split(True), "split into True"),
    (lambda x, y: x.split((1, 1)), "dimension 0 of .* is 3"),
    (lambda x, y: x.split((4, -1)), "dimension 0 of .* is 3"),
    (lambda x, y: x.chunk(-1), "-1 chunks"),
    (lambda x, y: x.chunk(1.5), "1.5 chunks"),
    (lambda x, y: aicf.concat([]), "concat of no tensors"),
    (lambda x, y: aicf.stack([]), "stack of no tensors"),
    (lambda x, y: aicf.concat([x, 3]), "expected a traced tensor"),
    (lambda x, y: x.broadcast_to(4, 5), "does not broadcast"),
    (lambda x, y: x.sum((0, 0)), "twice"),
    (lambda x, y: x.sum(0).sum(0).max(0), "axis 0 of"),
    (lambda x, y: x @ y.sum(), "of rank 1 or more"),
])
def test_refused(function, message):
    traced_fails(function, message)


@pytest.mark.parametrize("function, message", [
    (lambda x, y: aicf.concat([x, y.T], 0), "concat C3: operand 1"),
    (lambda x, y: aicf.concat([x, y.astype("f32")]), "element type"),
    (lambda x, y: x[None] @ y, "K is 5 in a"),
    (lambda x, y: ops.slice(x, begin=[0, 0], end=[4, 5]), "slice C2: dimension 0"),
    (lambda x, y: ops.reshape(x, shape=[2, 7]), "reshape C1: .* 14 elements"),
    (lambda x, y: ops.transpose(x, permutation=[0]), "transpose C1: "),
    (lambda x, y: ops.broadcast(x, shape=[3, 4]), "broadcast C2: "),
])
def test_the_dialects_rules_have_the_users_line(function, message):
    with pytest.raises(aicf.CompileError) as caught:
        aicf.trace(function, {"x": X, "y": X})
    assert re.search(message, said(caught.value))
    assert caught.value.filename == __file__


def test_a_line_of_an_error():
    error = traced_fails(lambda x, y: (x +
                                       x.reshape(7)), "no shape")
    assert error.lineno == here(-1)


# Constants

TABLE = RANDOM.standard_normal((3, 5))


def constants(entry):
    return [t for t in entry.program.plan.persistent() if t["role"] == "constant"]


@pytest.mark.parametrize("function, theirs", [
    (lambda x: x + TABLE, lambda x: x + TABLE),
    (lambda x: TABLE - x, lambda x: TABLE - x),
    (lambda x: x * TABLE[:, :1], lambda x: x * TABLE[:, :1]),
    (lambda x: x / (TABLE + 9), lambda x: x / (TABLE + 9)),
    (lambda x: x @ TABLE.T, lambda x: x @ TABLE.T),
    (lambda x: TABLE.T @ x, lambda x: TABLE.T @ x),
    (lambda x: x + np.arange(5), lambda x: x + np.arange(5)),
    (lambda x: x * np.array([True, False, True, True, False]),
     lambda x: x * np.array([True, False, True, True, False])),
    (lambda x: x * np.float32(0.5) + np.ones((3, 1), np.float32), lambda x: x * .5 + 1),
    (lambda x: aicf.concat([x, TABLE[:1]]), lambda x: np.concatenate([x, TABLE[:1]])),
    (lambda x: ops.constant(value=TABLE) * x, lambda x: TABLE * x),
    (lambda x: x * ops.iota(shape=(3, 5), axis=0, dtype="f64"),
     lambda x: x * np.arange(3)[:, None]),
])
def test_arrays_are_constants(function, theirs):
    np.testing.assert_allclose(evaluate(function, x=X), theirs(X), rtol=1e-6)


def test_equal_constants_are_held_once():
    entry = aicf.compile(lambda x: (x + TABLE, x * TABLE.copy(), x + np.ones((3, 5)),
                                    x[:2] * np.ones(5)), {"x": X})
    assert sorted(tuple(t["shape"]) for t in constants(entry)) == [(), (3, 5)]
    other = aicf.compile(lambda x: x - TABLE, {"x": X}, program=entry, name="other")
    assert len(constants(other)) == 2
    np.testing.assert_allclose(other(X), X - TABLE, rtol=1e-13)


def test_a_constant_is_the_plans(tmp_path):
    entry = aicf.compile(lambda x: x + TABLE, {"x": X})
    name, = (t["name"] for t in constants(entry))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="is a constant of the plan"):
        entry.set(name, np.zeros((3, 5)))
    assert name not in entry.state_dict()
    path = str(tmp_path / "f.plan")
    entry.save(path)
    loaded = aicf.load(path)[entry.name]
    np.testing.assert_array_equal(loaded(X), X + TABLE)


@pytest.mark.parametrize("value, message", [
    (np.zeros((2, 0)), "of shape .2, 0."),
    (np.zeros((1,) * 9), "of shape"),
    (np.zeros(3, np.uint8), "uint8"),
    (np.array(["a"]), "a constant"),
    (np.zeros(3, np.complex64), "complex64"),
])
def test_bad_constants(value, message):
    traced_fails(lambda x, y: ops.constant(value=value), message)


class Shifted(nn.Module):
    """A linear layer behind a table that no plan holds: 1.2 MB."""

    def __init__(self):
        self.fc = nn.Linear(400, 3)
        self.table = RANDOM.standard_normal((750, 400)).astype(np.float32)

    def forward(self, x):
        return self.fc(x + self.table)


def test_a_large_constant_is_a_state(tmp_path):
    model, x = Shifted(), np.ones((750, 400), np.float32)
    step = aicf.compile_step(model, lambda m, x: m(x).mean(), aicf.optim.SGD(0.1),
                             {"x": x})
    assert not constants(step)
    name, = (t["name"] for t in step.program.plan.persistent()
             if t["name"].startswith("constant."))
    weight = step.state_dict()["fc.weight"].astype(np.float64)
    expected = ((x + model.table) @ weight.T).mean()
    assert float(step(x)) == pytest.approx(expected, rel=1e-4)
    np.testing.assert_array_equal(step.state_dict()[name], model.table)
    # Another entry has the same one; a plan without its checkpoint lacks it.
    other = aicf.compile(lambda x: x - model.table, {"x": x}, program=step,
                         name="other")
    np.testing.assert_array_equal(other(x), x - model.table)
    step.save(str(tmp_path / "p.plan"))
    step.save_checkpoint(str(tmp_path / "ck"))
    loaded = aicf.load(str(tmp_path / "p.plan"))["other"]
    with pytest.raises(aicf.errors.NotInitializedError, match=name):
        loaded(x)
    done = subprocess.run(
        [BINARY / "bin/aicf-run", tmp_path / "p.plan", "--entry", "other",
         "--input", "x=750x400xf32=1"], capture_output=True, text=True, env=PROGRAM_ENV)
    assert done.returncode == 2 and '"%s" was never written' % name in done.stderr
    loaded.load_checkpoint(str(tmp_path / "ck"))
    np.testing.assert_array_equal(loaded(x), x - model.table)


BIG = RANDOM.standard_normal((600, 700)).astype(np.float32)


@pytest.mark.parametrize("table", [BIG.T, BIG.astype(">f4"), BIG[:, ::-1], BIG[::2],
                                   np.asfortranarray(BIG), BIG[:3, ::5], BIG[:3].T],
                         ids=lambda t: "%s%s" % (t.shape, t.strides))
def test_arrays_may_lie_in_any_order(table):
    entry = aicf.compile(lambda x: x * table, {"x": table.shape})
    np.testing.assert_array_equal(entry(np.ones(table.shape, np.float32)), table)
    alone = aicf.compile(lambda x: (aicf.concat([x, table]), ops.concat([table], axis=0)),
                         {"x": table.shape})
    np.testing.assert_array_equal(alone(np.zeros(table.shape, np.float32))[1], table)


def test_numbers_that_the_type_does_not_have():
    traced_fails(lambda x: x + np.array([1e300, 1.0]), "too large for f32", x=(2,))
    traced_fails(lambda x: x * np.array([1e5, 1.0]), "too large for f16",
                 x=aicf.spec((2,), "f16"))
    for number in (2**31, -2**31 - 1):
        traced_fails(lambda n: n + np.array([number, 1]), "out of the range of i32",
                     n=aicf.spec((2,), "i32"))
    traced_fails(lambda n: n + np.zeros(0, "i8"), r"a constant of shape \(0,\)",
                 n=aicf.spec((2,), "i32"))
    traced_fails(lambda x: x + np.ones(2, "c8"), "cannot be a constant: .*complex64",
                 x=(2,))
    infinite = evaluate(lambda x: x + np.array([np.inf, 1]), x=np.ones(2, np.float32))
    assert np.isinf(infinite[0]) and infinite[1] == 2


def test_one_number_takes_no_megabyte():
    many = np.full((1000, 1000), 0.5, np.float32)
    entry = aicf.compile(lambda x: x + many, {"x": many.shape})
    assert [t["shape"] for t in constants(entry)] == [()]
    tracemalloc.start()
    aicf.trace(lambda x: x + ops.constant(value=many), {"x": many.shape})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 ** 20


# i1

MASK = RANDOM.integers(0, 2, (3, 5)).astype(bool)


class Masks(nn.Module):
    def __init__(self):
        self.kept = nn.Buffer((3, 5), "i1", init=MASK)

    def forward(self, m):
        self.kept.update(m)
        return (m.T, self.kept[1:], aicf.concat([m, self.kept], 1), ops.constant(
            value=MASK), m.broadcast_to(2, 3, 5).reshape(6, 5))


@pytest.mark.parametrize("device", ["cpu"])
def test_bits(device, tmp_path):
    entry = aicf.compile(Masks(), {"m": aicf.spec((3, 5), "bool")}, device=device)
    kept = MASK
    for seed in range(3):
        m = np.random.default_rng(seed).integers(0, 2, (3, 5)).astype(bool)
        results = [r.numpy() for r in entry(m)]
        for got, want in zip(results, (
                m.T, kept[1:], np.concatenate([m, kept], 1), MASK,
                np.broadcast_to(m, (2, 3, 5)).reshape(6, 5))):
            assert got.dtype == bool
            np.testing.assert_array_equal(got, want)
        kept = m
    assert entry.get("kept").dtype == "i1" and entry.state_dict()["kept"].dtype == bool
    # DLPack, both ways; npy and safetensors.
    np.testing.assert_array_equal(np.from_dlpack(entry.get("kept")), m)
    np.testing.assert_array_equal(entry(aicf.array(~m))[0], ~m.T)
    entry.save_checkpoint(str(tmp_path))
    fresh = aicf.compile(Masks(), {"m": aicf.spec((3, 5), "i1")}, device=device)
    fresh.load_checkpoint(str(tmp_path))
    np.testing.assert_array_equal(fresh.state_dict()["kept"], ~m)


def test_bits_of_other_bytes_are_refused():
    entry = aicf.compile(Masks(), {"m": aicf.spec((3, 5), "i1")})
    wrong = np.zeros((3, 5), np.uint8)
    wrong[1, 2] = 2
    with pytest.raises(aicf.errors.InvalidArgumentError,
                       match="element 7 of 3x5xi1 is the byte 2, expected 0 or 1"):
        entry(wrong.view(bool))
    with pytest.raises(TypeError, match="uint8, expected i1"):
        entry(wrong)
    np.testing.assert_array_equal(entry.state_dict()["kept"], MASK)


def test_files_of_bits(tmp_path):
    entry = aicf.compile(Masks(), {"m": aicf.spec((3, 5), "i1")})
    entry.save(str(tmp_path / "p.plan"))
    np.save(tmp_path / "m.npy", ~MASK)

    def run(*args):
        return subprocess.run([BINARY / "bin/aicf-run", tmp_path / "p.plan", *args],
                              capture_output=True, text=True, env=PROGRAM_ENV)
    output = ["--output", "%s=@%s" % (
        entry.program.plan.io(entry.name)[1]["name"], tmp_path / "y.npy")]
    done = run("--input", "m=@%s" % (tmp_path / "m.npy"), *output)
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ~MASK.T)
    done = run("--input", "m=3x5xi1=2")
    assert done.returncode != 0 and "2 is not an i1" in done.stderr


@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_labels_and_indices_of_either_width(dtype):
    logits, labels = RANDOM.standard_normal((6, 4)), RANDOM.integers(0, 4, 6)

    class Model(nn.Module):
        def __init__(self):
            self.p = nn.Parameter((6, 4), "f64", init=logits)

        def forward(self, labels):
            return self.p

    def loss(model, labels):
        scores = model(labels)
        return (aicf.losses.cross_entropy(scores, labels),
                {"right": aicf.losses.accuracy_count(scores, labels)})
    step = aicf.compile_step(Model(), loss, aicf.optim.SGD(1.0),
                             {"labels": aicf.spec(6, dtype)})
    value, more = step(labels.astype(dtype.replace("i", "int")))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert float(value) == pytest.approx(-np.log(p[range(6), labels]).mean())
    assert int(more["right"]) == (logits.argmax(1) == labels).sum()
    p[range(6), labels] -= 1
    np.testing.assert_allclose(step.state_dict()["p"], logits - p / 6, rtol=1e-9)
