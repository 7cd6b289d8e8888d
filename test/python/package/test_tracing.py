# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tracing: ops, operators, names, locations, and what a trace refuses."""

import inspect
import itertools
import pickle
import re

import numpy as np
import pytest
from conftest import (INPUTS, Mlp, cross_entropy, evaluate, here, said,
                      traced_fails)

import aicf
from aicf import nn, ops

X = np.random.default_rng(0).standard_normal((3, 5))
Y = np.random.default_rng(1).standard_normal((3, 5)) + 3


# Operators

@pytest.mark.parametrize("function", [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: x + 2, lambda x, y: 2 + x, lambda x, y: x - 2.5,
    lambda x, y: 2.5 - x, lambda x, y: x * 3, lambda x, y: 3 * x,
    lambda x, y: x / 4, lambda x, y: 1 / y, lambda x, y: 6 / y, lambda x, y: -x,
    lambda x, y: +x, lambda x, y: x ** 2, lambda x, y: x ** 3, lambda x, y: x ** 7,
    lambda x, y: y ** -1, lambda x, y: (x + y) * (x - y) / 2,
    lambda x, y: x @ y.T, lambda x, y: x.T @ y, lambda x, y: (x @ y.T) @ x,
    lambda x, y: x.T @ (x @ y.T).T,
])
def test_operators_are_numpys(function):
    np.testing.assert_allclose(evaluate(function, x=X, y=Y), function(X, Y),
                               rtol=1e-12)


SHAPES = [(), (1,), (5,), (1, 5), (3, 1), (3, 5), (2, 1, 1), (2, 3, 5), (1, 1, 1, 5)]


@pytest.mark.parametrize("a, b", itertools.combinations_with_replacement(SHAPES, 2))
def test_broadcasting_is_numpys(a, b):
    random = np.random.default_rng(len(a) * 10 + len(b))
    x, y = random.standard_normal(a), random.standard_normal(b)
    result = evaluate(lambda x, y: x - y, x=x, y=y)
    assert result.shape == (x - y).shape
    np.testing.assert_array_equal(result, x - y)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, -2])
def test_sums_and_means(axis):
    for keepdim in (False, True) if axis is not None else (False,):
        np.testing.assert_allclose(
            evaluate(lambda x: (x.sum(axis, keepdim), x.mean(axis, keepdim)), x=X),
            (X.sum(axis, keepdims=keepdim), X.mean(axis, keepdims=keepdim)),
            rtol=1e-12)


def test_matrix_product_by_a_transpose():
    W = np.random.default_rng(2).standard_normal((4, 5))
    np.testing.assert_allclose(evaluate(lambda x, W: x @ W.T, x=X, W=W), X @ W.T,
                               rtol=1e-12)


def test_casts():
    x = np.array([1.0, 2.00001, 1e30])
    y = evaluate(lambda x: x.astype("f32").astype(np.float64), x=x)
    np.testing.assert_array_equal(y, x.astype(np.float32).astype(np.float64))
    assert evaluate(lambda x: x.astype("float64"), x=x).dtype == np.float64


# Every op of the dialect

def test_every_op_has_a_function_with_a_docstring():
    page = (__import__("conftest").SOURCE / "docs/AICFDialect.md").read_text()
    names = re.findall(r"^### `aicf\.(\w+)`", page, re.M)
    names.remove("yield")  # what a map's function returns
    assert len(names) > 50 and sorted(names) == sorted(ops.__all__)
    for name in names:
        doc = getattr(ops, name).__doc__
        operands = [p for p in inspect.signature(getattr(ops, name)).parameters.values()
                    if p.kind is not p.KEYWORD_ONLY]
        assert ("Args:" in doc) == bool(operands), name
        assert "Returns:" in doc and "Raises:" in doc, name


def test_an_op_with_several_results_gives_a_tuple():
    y, mean, rstd = evaluate(
        lambda x, w, b: ops.layer_norm(x, w, b), x=X, w=np.ones(5), b=np.zeros(5))
    np.testing.assert_allclose(mean, X.mean(1), rtol=1e-12)
    np.testing.assert_allclose(rstd, (X.var(1) + 1e-5) ** -0.5, rtol=1e-12)
    np.testing.assert_allclose(y, (X - mean[:, None]) * rstd[:, None], rtol=1e-9)


def test_attributes_are_checked():
    e = traced_fails(lambda x, y: ops.scale(x, factor="2"), "'2': expected a number")
    assert e.lineno == here(-1)
    traced_fails(lambda x, y: ops.concat([x], axis=1.0), "1.0: expected an int")
    traced_fails(lambda x, y: ops.concat([x], axis=2**70), "64 bits")
    traced_fails(lambda x, y: ops.gelu(x, approximate=1), "True or False")
    traced_fails(lambda x, y: ops.cast(x, dtype="f8"), "not an element type")
    traced_fails(lambda x, y: ops.broadcast(x, shape=3), "sequence of ints")


def test_compile_errors_have_the_users_line():
    with pytest.raises(aicf.CompileError, match="C2") as caught:
        aicf.trace(lambda x, y: ops.linear(x, y.sum(0, True).sum(1, True)),
                   {"x": X, "y": Y})
    assert (caught.value.filename, caught.value.lineno) == (__file__, here(-2))
    assert "ops.linear(x, y.sum" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_an_error_of_a_later_pass_has_the_users_line():
    class Model(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(64, 10)

        def forward(self, x):
            scores = self.fc(x)
            return ops.gather_rows(scores, ops.argmax(scores))

    with pytest.raises(aicf.CompileError) as caught:
        aicf.compile_step(Model(), lambda m, x: m(x).mean(), aicf.optim.SGD(0.1),
                          {"x": aicf.spec((16, 64))})
    assert caught.value.filename == __file__
    assert caught.value.lineno == here(-6)
    assert "gradient" in str(caught.value) or "derivative" in str(caught.value)


def test_locations_are_the_users():
    def function(x):
        y = nn.ReLU()(x)
        return y + 1
    text = aicf.trace(function, {"x": X}).as_text(locations=True)
    for line in (here(-3), here(-3)):
        assert '"%s":%d:0' % (__file__, line) in text
    assert "aicf/_tracing.py" not in text and "nn.py" not in text


# What a trace refuses

class Foreign:
    """As an array of PyTorch or JAX looks."""

    def __dlpack__(self):
        raise AssertionError("nobody reads values")


def test_branching_on_a_value():
    def function(x, y):
        if x.sum():
            return x
        return y
    assert traced_fails(function, "no value to branch on").lineno == here(-3)
    assert "if x.sum():" in str(traced_fails(function, "branch"))


@pytest.mark.parametrize("function, message", [
    (lambda x, y: x if x > 0 else y, "no value to branch on"),
    (lambda x, y: x if x == y else y, "no value to branch on"),
    (lambda x, y: x * float(x), "read on the host"),
    (lambda x, y: x * x.item(), "read on the host"),
    (lambda x, y: x + np.asarray(y), "read on the host"),
    (lambda x, y: x + aicf.zeros((3, 5)), "make it an input"),
    (lambda x, y: x + Foreign(), "make it an input.*or a NumPy array"),
    (lambda x, y: [r for r in x.sum()][0], "iterated"),
    (lambda x, y: x.__setitem__(0, y), "cannot be written"),
    (lambda x, y: x @ 2, "expected a traced tensor"),
    (lambda x, y: x.T @ 2, "expected a traced tensor"),
    (lambda x, y: x + "a", "expected a traced tensor"),
    (lambda x, y: x + np.exp, "expected a traced tensor, got <ufunc 'exp'>"),
    (lambda x, y: x * float("inf"), "finite"),
    (lambda x, y: x / 0, "division by zero"),
    (lambda x, y: x.sum(2), "axis 2"),
    (lambda x, y: x.sum("0"), "axis is '0'"),
    (lambda x, y: x + y.sum(1), "do not broadcast"),
    (lambda x, y: x + y.astype("f64"), "different element types"),
    (lambda x, y: None, "returned None"),
    (lambda x, y: {1: x}, "keys are not names"),
    (lambda x, y: (x, 1), "output 1 of a traced function is 1"),
    (lambda x, y: len(x.sum()), "no length"),
])
def test_refused(function, message):
    traced_fails(function, message)


def test_products_that_do_not_fit():
    with pytest.raises(aicf.CompileError, match="K is 5 in a, "):
        aicf.trace(lambda x, y: x @ y, {"x": X, "y": Y})


def test_control_flow_over_shapes_works():
    def function(x, layers):
        for _ in range(layers.shape[0]):
            x = x * 2 if x.ndim == 2 and len(x) == 3 else x
        return x
    np.testing.assert_array_equal(
        evaluate(function, x=X, layers=np.zeros(4)), X * 16)


def test_a_tensor_of_another_trace():
    kept = []
    aicf.trace(lambda x: kept.append(x) or x, {"x": (3, 5)})
    traced_fails(lambda x, y: x + kept[0], "another trace")
    with pytest.raises(aicf.TraceError, match="outside a trace"):
        kept[0] + 1
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(kept[0])


def test_a_trace_inside_a_trace():
    traced_fails(lambda x, y: aicf.trace(lambda z: z, {"z": X}) and x,
                 "a trace inside a trace")


def test_a_module_may_not_change_inside_a_step():
    class Model(Mlp):
        def forward(self, x):
            y = super().forward(x)
            self.last = y
            return y
    with pytest.raises(aicf.TraceError, match="Model.last is set inside") as caught:
        aicf.compile_step(Model(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    assert caught.value.lineno == here(-4)


def test_an_exception_inside_a_trace_is_the_users():
    class Mine(Exception):
        pass

    def function(x):
        raise Mine("here")
    with pytest.raises(Mine, match="here"):
        aicf.trace(function, {"x": X})
    # The thread's trace is over, and so is the program's.
    step = aicf.compile_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    with pytest.raises(Mine):
        aicf.compile(function, {"x": X}, program=step)
    aicf.compile(lambda x: x + 1, {"x": X}, program=step, name="function")


def test_a_parameter_that_is_nobodys():
    loose = nn.Parameter((5,), "f64")
    traced_fails(lambda x, y: x + loose, "not the model's")
    named = nn.Parameter((5,), "f64", init=2.0, name="shift")
    np.testing.assert_array_equal(evaluate(lambda x: x + named, x=X), X + 2)


# Modules

class Block(nn.Module):
    def __init__(self, size):
        self.norm = nn.LayerNorm(size)
        self.inner = nn.Sequential(nn.Linear(size, 2 * size), nn.GELU("tanh"),
                                   nn.Linear(2 * size, size, bias=False))

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Tied(nn.Module):
    def __init__(self):
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.extra = [nn.Linear(8, 8)]
        self.head = nn.Linear(8, 8)
        self.head.weight = self.extra[0].weight
        self.count = nn.Buffer((), "i64")

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        self.count.update(ops.step_inc(self.count))
        return self.head(self.extra[0](x))


def test_names_are_pytorchs():
    names = [n for n, _ in Tied().named_parameters()]
    block = ["norm.weight", "norm.bias", "inner.0.weight", "inner.0.bias",
             "inner.2.weight"]
    assert names == ["blocks.%d.%s" % (i, n) for i in range(2) for n in block] \
        + ["extra.0.weight", "extra.0.bias", "head.bias"]
    assert [n for n, _ in Tied().named_buffers()] == ["count"]
    assert [n for n, _ in nn.Sequential(Mlp(), Mlp()).named_children()] == ["0", "1"]


def test_tied_parameters_are_one():
    step = aicf.compile_step(Tied(), lambda m, x: m(x).mean(), aicf.optim.SGD(0.1),
                             {"x": aicf.spec((4, 8))})
    for i in range(3):
        step(np.ones((4, 8), np.float32))
    state = step.state_dict()
    assert "head.weight" not in state and state["extra.0.weight"].shape == (8, 8)
    assert state["count"] == 3


def test_buffers_are_parallel_assignments():
    class Swap(nn.Module):
        def __init__(self):
            self.a = nn.Buffer((2,), init=np.array([1, 2], np.float32))
            self.b = nn.Buffer((2,), init=5.0)

        def forward(self):
            self.a.update(self.b + 0.0)
            self.b.update(self.a * 1.0)
            return self.a + self.b
    entry = aicf.compile(Swap(), {})
    np.testing.assert_array_equal(entry().numpy(), [6, 7])
    np.testing.assert_array_equal(entry.get("a").numpy(), [5, 5])
    np.testing.assert_array_equal(entry.get("b").numpy(), [1, 2])


@pytest.mark.parametrize("update, message", [
    (lambda b: (b.update(b + 1), b.update(b)), "updated twice"),
    (lambda b: b.update(b.sum()), "its update is"),
    (lambda b: b.update(1.0), "expected a traced tensor"),
])
def test_bad_updates(update, message):
    class Model(nn.Module):
        def __init__(self):
            self.b = nn.Buffer((2,))

        def forward(self):
            update(self.b)
            return self.b + 0.0
    with pytest.raises(aicf.TraceError) as caught:
        aicf.compile(Model(), {})
    assert message in said(caught.value)


def test_initial_values():
    class Model(nn.Module):
        def __init__(self):
            self.a = nn.Parameter((1000, 400), init="uniform_fan_in")
            self.b = nn.Parameter((1000, 400), init="normal:0.1")
            self.c = nn.Parameter((3,), init=np.array([1, 2, 3], np.float32))
            self.d = nn.Parameter((3,), init=7)

        def forward(self):
            return self.a.sum() + self.b.sum() + self.c.sum() + self.d.sum()
    state = aicf.compile(Model(), {}, seed=3).state_dict()
    assert abs(state["a"]).max() <= 400 ** -0.5
    assert state["a"].std() == pytest.approx(400 ** -0.5 / 3 ** 0.5, rel=0.01)
    assert state["b"].std() == pytest.approx(0.1, rel=0.01)
    np.testing.assert_array_equal(state["c"], [1, 2, 3])
    np.testing.assert_array_equal(state["d"], [7, 7, 7])
    other = aicf.compile(Model(), {}, seed=4).state_dict()
    assert (other["a"] != state["a"]).any()


@pytest.mark.parametrize("make, error", [
    (lambda: nn.Parameter((0,)), ValueError), (lambda: nn.Parameter((2, -1)), ValueError),
    (lambda: nn.Parameter((1.5,)), TypeError), (lambda: nn.Parameter("3"), TypeError),
    (lambda: nn.Parameter((1,) * 9), ValueError),
    (lambda: nn.Parameter((3,), "u8"), TypeError),
    (lambda: nn.Parameter((3,), init="zeroes"), ValueError),
    (lambda: nn.Parameter((3,), init="normal:-1"), ValueError),
    (lambda: nn.Parameter((3,), init="normal:x"), ValueError),
    (lambda: nn.Parameter((3,), init=np.zeros(4)), ValueError),
    (lambda: nn.Parameter((3,), init=[1, 2, 3]), TypeError),
    (lambda: nn.Linear(0, 3), ValueError), (lambda: nn.Dropout(1.0), ValueError),
    (lambda: nn.GELU("exact"), ValueError), (lambda: nn.Sequential(3), TypeError),
    (lambda: aicf.optim.AdamW(-1), ValueError),
    (lambda: aicf.optim.AdamW(betas=(0.9, 1.0)), ValueError),
    (lambda: aicf.optim.AdamW(betas=0.9), ValueError),
    (lambda: aicf.optim.SGD(momentum=float("nan")), ValueError),
    (lambda: aicf.optim.SGD(nesterov=1), ValueError),
    (lambda: aicf.optim.Lion(accumulate=0), ValueError),
    (lambda: aicf.optim.WarmupCosine(0.1, 0, 10), ValueError),
    (lambda: aicf.optim.WarmupCosine(0.1, 10, 10), ValueError),
    (lambda: aicf.optim.SGD(0.1, nesterov=True), ValueError),
    (lambda: aicf.optim.SGD(0.1, 0.9), TypeError),  # PyTorch's is the momentum
    (lambda: nn.Parameter((3,), init=np.zeros(3)), TypeError),  # f64 for f32
    (lambda: aicf.trace(lambda x: x, {"\ud800": (2,)}), TypeError),
    (lambda: aicf.data.Batches(0), ValueError),
    (lambda: aicf.spec((2, "a")), TypeError),
])
def test_bad_descriptions(make, error):
    with pytest.raises(error, match="."):
        make()


@pytest.mark.parametrize("shape, dtype, message", [
    (True, "f32", "True is not a shape: expected a sequence of ints"),
    ((2, True), "f32", "(2, True) is not a shape: expected a sequence of ints"),
    (2, "torch.f32", "'torch.f32' is not an element type of AICF: expected one of f32, "),
])
def test_what_describes_an_input(shape, dtype, message):
    with pytest.raises(TypeError) as caught:
        aicf.spec(shape, dtype)
    assert str(caught.value).startswith(message)


def test_dropout():
    class Model(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Dropout(0.25), nn.Dropout(0.25)

        def forward(self, x):
            return self.a(x), self.b(x)
    x = np.ones((100, 100), np.float32)
    train = aicf.compile(Model(), {"x": x}, training=True)
    a, b = (r.numpy() for r in train(x))
    again, _ = (r.numpy() for r in train(x))
    for kept in (a, b):
        assert set(np.unique(kept)) == {0, np.float32(1 / 0.75)}
        assert abs((kept == 0).mean() - 0.25) < 0.02
    assert (a != b).any() and (a != again).any()  # a seed a use, a mask a step
    same, _ = aicf.compile(Model(), {"x": x})(x)
    np.testing.assert_array_equal(same.numpy(), x)
    frozen, _ = aicf.compile(Model().eval(), {"x": x}, training=True)(x)
    np.testing.assert_array_equal(frozen.numpy(), x)


def test_training_is_what_is_traced_for():
    """PyTorch's idiom, `if self.training`, in a user's module."""
    class Model(nn.Module):
        def __init__(self):
            self.seen = nn.Buffer((), "i64")

        def forward(self, x):
            if self.training:
                self.seen.update(ops.step_inc(self.seen))
            return x + 1
    model = Model()
    assert model.training and not Model().eval().training
    predict = aicf.compile(model, {"x": X})
    train = aicf.compile(model, {"x": X}, training=True, program=predict, name="train")
    for entry in (train, predict, predict):
        entry(X)
    assert train.get("seen").item() == 1


def test_a_seed_of_any_size():
    aicf.compile(nn.Dropout(0.5), {"x": X}, training=True, seed=2**64 - 1)(X)


def test_means_of_16_bits_are_f32():
    x = np.full((1000, 2), 100, np.float16)
    mean = evaluate(lambda x: x.mean(0), x=x)
    assert mean.dtype == np.float32 and abs(mean - 100).max() < 1e-3


def test_a_sequential_has_parameters_of_its_own():
    class Scaled(nn.Sequential):
        def __init__(self, *modules):
            super().__init__(*modules)
            self.scale = nn.Parameter((2,), init=3.0)

        def forward(self, x):
            return super().forward(x) * self.scale
    model = Scaled(nn.ReLU(), nn.Linear(5, 2))
    assert [n for n, _ in model.named_parameters()] == ["scale", "1.weight", "1.bias"]
    aicf.compile(model, {"x": aicf.spec((3, 5))})


def test_repr():
    assert repr(Mlp()) == """Mlp(
  (fc0): Linear(64, 32, bias=True)
  (drop): Dropout(p=0)
  (fc1): Linear(32, 10, bias=True)
)"""
    assert repr(nn.Embedding(5, 3)) == "Embedding(5, 3)"
    assert repr(nn.Embedding(5, 3, padding_idx=-1)) == "Embedding(5, 3, padding_idx=4)"


def test_an_error_names_the_innermost_layer():
    model = nn.Sequential(nn.Linear(8, 6), nn.Sequential(nn.ReLU(), nn.Linear(5, 3)))
    with pytest.raises(aicf.CompileError) as caught:
        aicf.compile_step(model, lambda model, x: (model(x) * model(x)).mean(),
                          aicf.optim.SGD(0.1), {"x": (4, 8)})
    assert caught.value.layer == "layer 1.1, Linear(5, 3, bias=True), called with (4x6)"
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert str(again).endswith("\n  in " + again.layer)
    error = traced_fails(lambda x, y: nn.Flatten(3)(x), "dimension")  # in no model
    assert error.layer == "" and "\n  in " not in str(error)


def test_an_error_names_a_layer_that_has_layers():
    class Net(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(8, 6)

        def forward(self, x):
            return self.fc(x).reshape(5)

    with pytest.raises(aicf.TraceError) as caught:
        aicf.compile_step(Net(), lambda model, x: model(x).mean(), aicf.optim.SGD(0.1),
                          {"x": (4, 8)})
    assert caught.value.layer == "layer (the whole model), Net, called with (4x8)"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
