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
from aicf._tracing.trace import active_trace
from aicf.errors import Diagnostic

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


@pytest.mark.parametrize("function, names", [
    (lambda x: x.astype("f64"), ""),
    (lambda x: x.sum(()), ""),
    (lambda x: x.max(()), ""),
    (lambda x: x.mean(), "mean"),
    (lambda x: x.mean(keepdim=True), "reduce_mean"),
    (lambda x: (lambda t: t + t)(x.T), "transpose add"),
    (lambda x: x @ x.T, "linear"),
    (lambda x: x.T @ x, "matmul"),
    (lambda x: X @ x.T, "constant linear"),
])
def test_what_is_there_already_needs_no_op(function, names):
    text = aicf.trace(function, {"x": X}).dump()
    assert " ".join(re.findall(r"^(\w+)\(", text, re.M)) == names


def test_a_mean_of_all_keeps_its_dimensions_if_asked():
    assert evaluate(lambda x: x.mean(keepdim=True), x=X).shape == (1, 1)


def test_a_product_with_an_array_has_the_tensors_type():
    x = X.astype("f4")
    for result in evaluate(lambda x: (X.T @ x, x @ X.T), x=x):
        assert result.dtype == np.float32
    cube = np.arange(8.0).reshape(2, 2, 2)
    np.testing.assert_array_equal(evaluate(lambda x: x.T @ x, x=cube), cube.T @ cube)


@pytest.mark.parametrize("sizes", [
    (np.int64(2), np.int64(5)), (2, 5), ((2, 5),), ([2, 5],)])
def test_shapes_to_broadcast_to(sizes):
    result = evaluate(lambda x: x[0].broadcast_to(*sizes), x=X)
    np.testing.assert_array_equal(result, np.broadcast_to(X[0], (2, 5)))


def test_one_size_is_a_shape():
    for size in (3, np.int64(3)):
        assert evaluate(lambda x: x[0, 0].broadcast_to(size), x=X).shape == (3,)
    for sizes in (((3,), 4), ("3",), (2.5,)):
        traced_fails(lambda x, y: x[0, 0].broadcast_to(*sizes), "is not a list of ints")


# Every op of the dialect

def test_every_op_has_a_function_with_a_docstring():
    page = (__import__("conftest").BINARY / "docs-parts/AICFDialect.md").read_text()
    names = re.findall(r"^### `aicf\.(\w+)`", page, re.M)
    # What a map's function returns; a loop, which has no derivative: imports make it by
    # EntryTrace.repeat().
    names = [n for n in names if n not in ("yield", "repeat", "next")]
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
    traced_fails(lambda x, y: ops.scale(x, factor=True), "True: expected a number")
    traced_fails(lambda x, y: ops.scale(x, factor=y), "read on the host")
    traced_fails(lambda x, y: ops.concat([x], axis=1.0), "1.0: expected an int")
    traced_fails(lambda x, y: ops.concat([x], axis=2**70), "64 bits")
    traced_fails(lambda x, y: ops.gelu(x, approximate=1), "True or False")
    traced_fails(lambda x, y: ops.cast(x, dtype="f8"), "not an element type")
    traced_fails(lambda x, y: ops.broadcast(x, shape=3), "sequence of ints")
    traced_fails(lambda x, y: ops.broadcast(x, shape=(3, 1.5)), "^1.5: expected an int")
    aicf.trace(lambda x: ops.gelu(x, approximate=np.bool_(True)), {"x": X})


def test_compile_errors_have_the_users_line():
    with pytest.raises(aicf.CompileError, match="C2") as caught:
        aicf.trace(lambda x, y: ops.linear(x, y.sum(0, True).sum(1, True)),
                   {"x": X, "y": Y})
    assert (caught.value.filename, caught.value.lineno) == (__file__, here(-2))
    assert "ops.linear(x, y.sum" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_an_error_shows_the_line_if_it_can_be_read():
    shown = str(aicf.TraceError("wrong", __file__, 1))
    assert shown == 'wrong\n  File "%s", line 1\n    # %s' % (
        __file__, "Part of AICF, under the Apache License v2.0 with LLVM Exceptions.")
    assert str(aicf.TraceError("wrong", "x.py", 3)) == 'wrong\n  File "x.py", line 3'


def test_a_compile_error_shows_the_errors():
    odd = Diagnostic("warning", "odd", "x.py", 1)
    bad = Diagnostic("error", "bad")
    worse = Diagnostic("error", "worse", "x.py", 3, (Diagnostic("note", "here"),))
    for diagnostics, line, text in (
            ([], ("", 0), "compilation failed"),
            ([odd], ("", 0), 'warning: odd\n  File "x.py", line 1'),
            ([odd, bad], ("", 0), "error: bad"),
            ([odd, bad, worse], ("x.py", 3),
             'error: bad\nerror: worse\n  File "x.py", line 3\nnote: here')):
        error = aicf.CompileError(diagnostics)
        assert (error.filename, error.lineno) == line and str(error) == text


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
    assert "aicf/_tracing/trace.py" not in text and "nn.py" not in text


def test_ops_have_the_line_that_the_trace_is_told():
    """As those of an imported module have."""
    def function(x):
        trace = active_trace()
        with trace.at("model.py", 7):
            y = x + x
        with trace.at("model.py", 8), trace.at("", 0):
            y = y + x
        return y * x
    text = aicf.trace(function, {"x": X}).as_text(locations=True)
    assert '"model.py":7:0' in text and '"model.py":8:0' in text
    assert '"%s":%d:0' % (__file__, here(-3)) in text
    assert '"%s":%d:0' % (__file__, here(-5)) not in text


def test_a_batch_of_one_array_is_a_tensor():
    traced = aicf.trace(lambda x: aicf.data.Batches(2)(x), {"x": X}, name="one")
    traced.add(lambda x: aicf.data.Batches(2, name="n")(x, x), {"x": X}, name="two")
    assert [s.form for s in traced.signatures.values()] == ["tensor", "tuple"]


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
    (lambda x, y: x.sum(2), "axis 2"),
    (lambda x, y: x.sum("0"), "axis is '0'"),
    (lambda x, y: x + y.sum(1), "do not broadcast"),
    (lambda x, y: x + y.astype("f64"), "different element types"),
    (lambda x, y: None, "traced function returned None"),
    (lambda x, y: 3, "traced function returned 3"),
    (lambda x, y: {}, "traced function returned {}"),
    (lambda x, y: (), r"traced function returned \(\)"),
    (lambda x, y: {1: x}, "keys are not names"),
    (lambda x, y: (x, 1), "output 1 of a traced function is 1"),
    (lambda x, y: (1, {"x": x}), "output 0 of a traced function is 1"),
    (lambda x, y: (x, {"output": y}), "'output' is the name of the first result"),
    (lambda x, y: (x.sum(), {"loss": y}), "'loss' is the name of the first result"),
    (lambda x, y: len(x.sum()), "no length"),
    (lambda x, y: aicf.data.Batches(2)(), "the same number of rows, got $"),
    (lambda x, y: aicf.data.Batches(2)(x.sum(), y), "the same number of rows, got Ten"),
    (lambda x, y: aicf.data.Batches(2)(x, y.T), "the same number of rows, got Tensor"),
])
def test_refused(function, message):
    traced_fails(function, message)


@pytest.mark.parametrize("loss, message", [
    (lambda model, x: 3, "a loss function returned 3, expected a 0-d tensor"),
    (lambda model, x: (x.mean(),), "a loss function returned .*, expected a 0-d"),
    (lambda model, x: model(x), "the loss is .*4x2.*, expected a 0-d tensor"),
    (lambda model, x: (model(x), {}), "the loss is .*4x2.*, expected a 0-d tensor"),
])
def test_what_is_not_a_loss(loss, message):
    with pytest.raises(aicf.TraceError) as caught:
        aicf.trace_step(nn.Linear(3, 2), loss, aicf.optim.SGD(0.1), {"x": (4, 3)})
    assert re.search(message, said(caught.value))
    assert caught.value.filename == __file__


def test_a_tensor_before_a_dict_is_called_loss_if_it_is_a_number():
    traced = aicf.trace(lambda x: (x, {"y": x}), {"x": X}, name="f")
    traced.add(lambda x: (x.sum(), {"y": x}), {"x": X}, name="g")
    assert traced.signatures["f"].outputs == ("output", "y")
    assert traced.signatures["g"].outputs == ("loss", "y")


def test_entries_are_dumped_one_after_the_other():
    traced = aicf.trace(lambda x: x + x, {"x": X}, name="f")
    alone = traced.dump()
    assert "@" not in alone
    traced.add(lambda x: x - x, {"x": X}, name="g")
    assert traced.dump().startswith("// @f\n%s\n// @g\n" % alone)


@pytest.mark.parametrize("function, given, message", [
    (3, {}, "a int is not a function"),
    (abs, {"name": 3}, "the name of an entry is 3, expected a str"),
    (abs, {"name": ""}, "the name of an entry is '', expected a str"),
    (abs, {"inputs": [("x", X)]}, "inputs is a list, expected a dict"),
    (abs, {"inputs": None, "model": Mlp()}, "inputs is a NoneType, expected a dict"),
    (abs, {"inputs": {1: X}, "model": Mlp()}, "the name of an input is 1, expected a"),
    (lambda model, x: x, {}, "cannot be called with the inputs x: missing"),
    (lambda x, y: x, {}, "cannot be called with the inputs x: missing"),
    (lambda x, y: x, {"inputs": {}}, r"cannot be called with the inputs \(none\): "),
    (nn.Linear(5, 2), {"inputs": {"y": X}},
     r"^Linear\(x: .*\).* cannot be called with the inputs y: missing"),
])
def test_what_cannot_be_traced(function, given, message):
    with pytest.raises(TypeError) as caught:
        aicf.trace(function, **{"inputs": {"x": X}, **given})
    assert re.search(message, str(caught.value))


def test_a_loss_that_does_not_take_the_inputs():
    with pytest.raises(TypeError) as caught:
        aicf.trace_step(Mlp(), cross_entropy, None, {"x": X})
    assert "cannot be called with the model and the inputs x: " in str(caught.value)


def test_what_is_not_an_optimizer():
    with pytest.raises(TypeError) as caught:
        aicf.trace_step(Mlp(), cross_entropy, 0.1, INPUTS)
    assert str(caught.value) == "optimizer is a float, expected one of aicf.optim"


@pytest.mark.parametrize("eps", [1e-8, 2.5e-8, 0.25, 0, 3])
def test_the_numbers_of_an_optimizer_are_in_the_ir(eps):
    text = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.AdamW(eps=eps),
                           INPUTS).as_text()
    assert float(re.search("eps = ([^,>]+)", text)[1]) == eps


def test_a_step_without_an_optimizer_updates_nothing():
    text = aicf.trace_step(Mlp(), cross_entropy, None, INPUTS).as_text()
    assert "aicf.minimize" in text and "aicf.optimizer" not in text


def test_a_function_whose_arguments_nobody_knows():
    """As those of a class that is written in C."""
    for model in (None, Mlp()):
        traced = aicf.trace(dict, {"x": X}, model=model)
        assert traced.signatures["dict"].outputs == ("x",)


def test_a_part_of_a_model_has_the_models_names():
    model = Mlp()
    entry = aicf.compile(model.fc0, {"x": (4, 64)}, model=model)
    assert sorted(entry.state_dict()) == ["fc0.bias", "fc0.weight"]


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


def test_two_tensors_of_one_name():
    shift = nn.Parameter((5,), name="x")
    traced_fails(lambda x, y: x + shift, "two tensors of the name 'x'")


def test_what_a_module_returns_is_checked():
    class Model(nn.Module):
        def forward(self, x):
            pass
    with pytest.raises(aicf.TraceError) as caught:
        aicf.trace(Model(), {"x": X})
    assert str(caught.value) == said(caught.value)
    assert said(caught.value).startswith("a traced function returned None, expected")


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


class Heads(nn.Module):
    """Has modules in a dict, of which one is there twice."""

    def __init__(self):
        self.heads = {"a": nn.Linear(8, 3), "b": nn.Linear(8, 2, bias=False)}
        self.again = self.heads["a"]

    def forward(self, x):
        return {name: head(x) for name, head in self.heads.items()}


def test_modules_in_a_dict_have_its_keys_as_names():
    model = Heads()
    assert [n for n, _ in model.named_parameters()] == [
        "heads.a.weight", "heads.a.bias", "heads.b.weight"]
    assert [n for n, _ in model.named_modules()] == ["", "heads.a", "heads.b"]


def test_a_layer_that_returns_a_dict_shows_its_shapes():
    layers = aicf.trace(Heads(), {"x": (4, 8)}, name="f").signatures["f"].layers
    assert [shape for _, _, shape in layers] == ["4x3", "4x2", "{a: 4x3, b: 4x2}"]


def test_a_module_can_be_called_outside_of_a_trace():
    class Twice(nn.Module):
        def forward(self, x):
            return 2 * x
    assert Twice()(3) == 6


def test_a_parameter_has_its_own_decay_and_rate():
    class Model(nn.Module):
        def __init__(self):
            self.plain = nn.Parameter((2,), init=2.0)
            self.decayed = nn.Parameter((2,), init=2.0, weight_decay=1)
            self.slow = nn.Parameter((2,), init=2.0, lr_scale=0.5)

    step = aicf.compile_step(
        Model(), lambda m: m.plain.sum() + m.decayed.sum() + m.slow.sum(),
        aicf.optim.SGD(0.25), {})
    step()
    state = step.state_dict()
    assert [state[name].tolist() for name in ("plain", "decayed", "slow")] == [
        [1.75, 1.75], [1.25, 1.25], [1.875, 1.875]]


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
    (lambda: aicf.optim.Lion(accumulate=True), ValueError),
    (lambda: aicf.optim.Lion(accumulate=2.5), ValueError),
    (lambda: aicf.optim.AdamW(True), ValueError),
    (lambda: aicf.optim.AdamW(lr="0.1"), ValueError),
    (lambda: aicf.optim.AdamW(float("inf")), ValueError),
    (lambda: aicf.optim.AdamW(betas=(0.9,)), ValueError),
    (lambda: aicf.optim.AdamW(betas=[0.9, 0.99]), ValueError),
    (lambda: aicf.optim.SGD(momentum=0.9, nesterov=1), ValueError),
    (lambda: aicf.optim.WarmupCosine(0.1, 0, 10), ValueError),
    (lambda: aicf.optim.WarmupCosine(0.1, 10, 10), ValueError),
    (lambda: aicf.optim.SGD(0.1, nesterov=True), ValueError),
    (lambda: aicf.optim.SGD(0.1, 0.9), TypeError),  # PyTorch's is the momentum
    (lambda: nn.Parameter((3,), init=np.zeros(3)), TypeError),  # f64 for f32
    (lambda: aicf.trace(lambda x: x, {"\ud800": (2,)}), TypeError),
    (lambda: aicf.data.Batches(0), ValueError),
    (lambda: aicf.data.Batches(True), ValueError),
    (lambda: aicf.data.Batches(2.5), ValueError),
    (lambda: aicf.spec((2, "a")), TypeError),
])
def test_bad_descriptions(make, error):
    with pytest.raises(error, match="."):
        make()


@pytest.mark.parametrize("init, error, message", [
    ("normal:x", ValueError, "init is 'normal:x', expected zeros, "),
    (True, TypeError, "init is a bool, expected a string, a number or an array"),
    (None, TypeError, "init is a NoneType, expected a string, a number or an array"),
])
def test_what_does_not_describe_an_initial_value(init, error, message):
    with pytest.raises(error) as caught:
        nn.Parameter((3,), init=init)
    assert str(caught.value).startswith(message)


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
