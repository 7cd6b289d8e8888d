# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What those who come from PyTorch, JAX and NumPy are told. A hint for a name that
exists by now fails its test: delete the hint."""

import importlib
import re
import sys
import types

import numpy as np
import pytest
from conftest import INPUTS, Mlp, cross_entropy, make_step, said

import aicf
from aicf import nn
from aicf._base import hints as _hints

X = aicf.spec((4, 8))


def instance(place):
    """What a user has in hand."""
    kind = place.rpartition(".")[2]
    if kind == "Module":
        return Mlp()
    if kind == "Array":
        return aicf.zeros((2, 3))
    if kind == "Entry":
        return make_step()
    raise AssertionError(place)


CASES = [(place, name) for place, names in _hints.HINTS.items() for name in names]


@pytest.mark.parametrize("place, name", CASES, ids=["%s.%s" % c for c in CASES])
def test_a_hint_is_for_what_does_not_exist(place, name):
    hint = _hints.HINTS[place][name]

    def look(target):
        with pytest.raises(AttributeError) as error:
            getattr(target, name)
        assert str(error.value) == "%s.%s does not exist here: %s" % (place, name, hint)
    if place == "aicf.Tensor":
        aicf.trace(lambda x: [look(x), x][1], {"x": X})
    elif place.rpartition(".")[2][0].isupper():
        look(instance(place))
    else:
        look(importlib.import_module(place))


def test_what_a_hint_recommends_exists():
    for place, name in CASES:
        for path in re.findall(r"\baicf\.(\w+(?:\.\w+)*)", _hints.HINTS[place][name]):
            value = aicf
            for part in path.split("."):
                value = getattr(value, part)
    assert len(CASES) >= 60


def test_other_names_are_ordinary_errors():
    for target, name, text in (
            (aicf, "compile_stp", 'has no attribute \'compile_stp\' .did you mean "comp'),
            (nn, "Linaer", 'aicf.nn has no attribute \'Linaer\' .did you mean "Linear"'),
            (aicf.ops, "gellu", 'did you mean "gelu"'),
            (nn, "Activation", "^aicf.nn has no attribute 'Activation'$"),
            (aicf, "_compiled", "^module 'aicf' has no attribute '_compiled'$"),
            (Mlp(), "fc9", "Mlp has no attribute 'fc9'")):
        with pytest.raises(AttributeError, match=text):
            getattr(target, name)
        assert not hasattr(target, name)
    assert not hasattr(aicf.zeros(3), "__array_interface__")
    import copy
    import pickle
    copy.deepcopy(Mlp())
    pickle.loads(pickle.dumps(nn.Linear(2, 3)))


@pytest.mark.parametrize("call, text", [
    (lambda x: x.sum(dim=1), "sum.. has no argument 'dim': it is called 'axis' here"),
    (lambda x: x.mean(0, keepdims=True), "it is called 'keepdim' here"),
    (lambda x: x.sum(out=1), "has no argument 'out'$"),
    (lambda x: x[np.zeros(1, np.int32)], "takes rows by their numbers"),
    (lambda x: aicf.ops.gather_rows(x, aicf.zeros(1, "i32")), "make it an input"),
])
def test_in_a_trace(call, text):
    with pytest.raises(TypeError) as caught:
        aicf.compile(call, {"x": X})
    assert re.search(text, said(caught.value))


def test_scalars_of_numpy_are_numbers():
    entry = aicf.compile(lambda x: np.float32(2) * x * np.float64(3) + np.int32(1),
                         {"x": X})
    assert entry(np.ones((4, 8), np.float32))[0, 0] == 7


class Foreign:
    """As a module of PyTorch looks."""

    def forward(self, x):
        return x

    __call__ = forward


Foreign.__module__ = "torch.nn.modules.linear"


@pytest.mark.parametrize("call", [
    lambda: aicf.compile(Foreign(), {"x": X}),
    lambda: nn.Sequential(Foreign()),
    lambda: aicf.compile_step(Foreign(), cross_entropy, aicf.optim.SGD(0.1), INPUTS),
])
def test_modules_of_others(call):
    with pytest.raises(TypeError, match="Foreign is a module of torch.*with aicf.nn"):
        call()


@pytest.mark.parametrize("home, text", [
    ("flax.linen.linear", "Dense is a module of flax, which AICF cannot import yet: "),
    ("equinox.nn", "Dense is a module of equinox, which AICF cannot import yet: "),
    ("haiku._src.basic", "Dense is a module of haiku, which AICF cannot import yet: "),
    ("torchless", "expected an aicf.nn.Module, got a Dense$"),
])
def test_modules_that_nobody_imports(home, text):
    kind = type("Dense", (), {"__module__": home, "forward": lambda self, x: x})
    with pytest.raises(TypeError, match="^" + text):
        aicf.compile(kind(), {"x": X})


@pytest.mark.parametrize("call, error, text", [
    (lambda: aicf.optim.AdamW(Mlp().parameters(), lr=0.1), TypeError,
     "takes no parameters"),
    (lambda: aicf.optim.SGD(Mlp()), TypeError, "takes no parameters"),
    (lambda: make_step(opt_lvel=2), TypeError, 'did you mean "opt_level"'),
    (lambda: make_step().get("fc0.wieght"), ValueError, 'did you mean "fc0.weight"'),
    (lambda: make_step().set("lrr", 1.0), ValueError, 'did you mean "lr"'),
    (lambda: make_step().program["train_stp"], KeyError, 'did you mean "train_step"'),
    (lambda: make_step()(np.zeros((16, 64), np.float32), np.zeros(16, np.int64)),
     TypeError, r'expected i32: labels.astype\("int32"\).*torch.int32'),
])
def test_in_the_users_words(call, error, text):
    with pytest.raises(error, match=text):
        call()


def frozen():
    model = Mlp()
    model.requires_grad_(False)
    return make_step(model=model)


class Table(nn.Module):
    def __init__(self):
        self.table, self.fc = nn.Parameter((10, 8), init="normal"), nn.Linear(8, 2)

    def loss(self, i, wrap=lambda x: x):
        return self.fc(aicf.ops.gather_rows(wrap(self.table), i)).mean()


def table_step(wrap=lambda x: x, is_frozen=False):
    model = Table()
    model.table.requires_grad = not is_frozen
    return aicf.compile_step(model, lambda m, i: m.loss(i, wrap), aicf.optim.SGD(0.1),
                             {"i": aicf.spec(3, "i32")})


def two_optimizers():
    model = Mlp()
    traced = aicf.trace_step(model, cross_entropy, aicf.optim.AdamW(1e-3), INPUTS)
    traced.add_step(model, cross_entropy, aicf.optim.AdamW(1e-2), INPUTS, name="two")
    traced.lower()


REFUSED = {
    "frozen": frozen,
    "not-used": lambda: aicf.compile_step(
        Mlp(), lambda m, x, labels: x.mean(), aicf.optim.SGD(0.1), INPUTS),
    "table": table_step,
    "stopped": lambda: table_step(aicf.ops.stop_gradient),
    "counted": lambda: aicf.compile_step(
        Mlp(), lambda m, x, labels: aicf.losses.accuracy_count(m(x), labels),
        aicf.optim.SGD(0.1), INPUTS),
    "calls": lambda: aicf.trace_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1),
                                     INPUTS).dump_lowered(),
    "large": lambda: make_step(aicf.optim.SGD(0.1, clip_norm=1e300)),
    "scaled": lambda: aicf.compile_step(
        nn.Sequential(nn.Linear(64, 10)), lambda m, x: m(x).mean() * m(x).mean(),
        aicf.optim.SGD(0.1, weight_decay=1e300), {"x": INPUTS["x"]}),
    "outputs": lambda: make_step(outputs=["grad:w"]),
    "two": two_optimizers,
}


@pytest.mark.parametrize("case", REFUSED)
def test_no_message_speaks_of_marks_or_flags(case):
    with pytest.raises(aicf.CompileError) as error:
        REFUSED[case]()
    message = str(error.value).split("\n  File")[0]
    assert not re.search(r"--[a-z]|'aicf\.|aicf\.(frozen|minimize|optimizer|role)",
                         message), message


def test_the_circle_of_gather_rows_is_gone():
    """Either error's advice leads out."""
    with pytest.raises(aicf.CompileError, match=r"freeze it by requires_grad_\(False\)"):
        table_step()
    with pytest.raises(aicf.CompileError, match=r"freeze it by requires_grad_\(False\)"):
        table_step(aicf.ops.stop_gradient)
    assert table_step(is_frozen=True)(np.zeros(3, np.int32)).shape == ()


def test_weights_of_flax():
    step = make_step()
    state = step.state_dict()
    turned = {n: v.T if v.ndim == 2 else v for n, v in state.items()}
    with pytest.raises(aicf.errors.ShapeMismatchError, match="pass array.T"):
        step.load_state_dict(turned)
    step.load_state_dict({n: v.T if v.ndim == 2 else v for n, v in turned.items()})
    for name, value in step.state_dict().items():
        np.testing.assert_array_equal(value, state[name])
    kernels = {n.replace("weight", "kernel"): v for n, v in turned.items()}
    with pytest.raises(KeyError, match="kernel.* is .*weight.* here, transposed"):
        step.load_state_dict(kernels)


def test_every_option_of_the_compiler_is_known():
    """One that the compiler has and Python does not would be refused here."""
    import subprocess

    from aicf._programs.lowered import _OPTION_VALUES
    from conftest import BINARY, PROGRAM_ENV
    text = subprocess.run([BINARY / "bin/aicf-opt", "--help"], env=PROGRAM_ENV,
                          capture_output=True, text=True, check=True).stdout
    lines = text[text.index("--lower-to-backend "):].split("\n")[1:]
    names = set()
    for line in lines:
        option = re.match(r" {8}--([\w-]+)", line)
        if option:
            names.add(option.group(1).replace("-", "_"))
        elif not re.match(r" {4}=", line):
            break  # the next pipeline
    assert names == set(_OPTION_VALUES) | {"target", "mixed_precision", "math"}


def test_the_types_of_ops_can_be_asked_for():
    import typing
    for name in aicf.ops.__all__:
        assert "return" in typing.get_type_hints(getattr(aicf.ops, name)), name


def test_aicf_torch_without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="aicf.torch needs PyTorch.*pip install torch"):
        aicf.torch.compile_step(None, None, None, [])
    with pytest.raises(ImportError, match="aicf.torch needs PyTorch"):
        aicf.torch.predict(None, [])


def test_aicf_torch_with_an_old_pytorch(monkeypatch):
    old = types.ModuleType("torch")
    old.__version__ = "2.1.0+cpu"
    monkeypatch.setitem(sys.modules, "torch", old)
    with pytest.raises(ImportError, match="needs PyTorch 2.6 or later, this is 2.1.0"):
        aicf.torch.predict(None, [])


def test_an_entry_named_like_a_parameter():
    class Average(nn.Module):
        def __init__(self):
            self.ema = nn.Buffer((3,))

        def forward(self, x):
            return x + self.ema

    def ema(model, x):
        return model(x)
    with pytest.raises(ValueError, match="may not be called 'ema': a parameter or buffer"):
        aicf.compile(ema, {"x": aicf.spec((3,))}, model=Average())
    aicf.compile(ema, {"x": aicf.spec((3,))}, model=Average(), name="average")


@pytest.mark.parametrize("given, shape, dtype", [
    (5, (5,), "f32"), ((), (), "f32"), ((2, 3), (2, 3), "f32"),
    (((2, 3), "i32"), (2, 3), "i32"), (([2], np.float64), (2,), "f64"),
    (np.ones((2, 3)), (2, 3), "f64"), (aicf.spec(3, "bf16"), (3,), "bf16"),
])
def test_inputs_are_shapes_or_arrays(given, shape, dtype):
    traced = aicf.trace(lambda x: x + 1, {"x": given}, name="f")
    assert traced.signatures["f"].specs == {"x": aicf.spec(shape, dtype)}


@pytest.mark.parametrize("inputs, message", [
    ({"x": ((2, 3),)}, r"input 'x': \(\(2, 3\),\) is not a shape"),
    ({"x": ((2, 3), "f32", 1)}, r"input 'x': .* is not a shape"),
    ({"x": ((2, 3), "f4")}, "input 'x': 'f4' is not an element type"),
    ({"x": types.SimpleNamespace(shape=(2,))}, "input 'x': namespace.* is not a shape"),
    ({"x": types.SimpleNamespace(dtype="f32")}, "input 'x': namespace.* is not a shape"),
    ({"": (2,)}, "the name of an input is '', expected a str"),
    ({"\ud800": (2,)}, r"the name of an input is '\\ud800', expected a str"),
])
def test_what_does_not_describe_inputs(inputs, message):
    with pytest.raises(TypeError) as caught:
        aicf.trace(lambda x: x + 1, inputs)
    assert re.match(message, str(caught.value))


def test_a_prediction_wants_what_the_step_takes():
    step = aicf.compile_step(
        nn.Linear(6, 3), lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
        aicf.optim.SGD(aicf.optim.Cosine(0.1, steps=4)),
        {"x": aicf.spec((8, 6)), "y": aicf.spec((8,), "i32")})
    with pytest.raises(aicf.errors.ShapeMismatchError,
                       match=r"rows of the shape \(7,\), expected \(6,\)"):
        step.predict(np.zeros((8, 7), "f4"))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="A schedule computes it"):
        step.set("lr", 0.1)


def test_fit_says_that_the_loss_is_nan():
    step = aicf.compile_step(
        nn.Linear(6, 3), lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
        aicf.optim.SGD(0.1), {"x": aicf.spec((8, 6)), "y": aicf.spec((8,), "i32")})
    with pytest.warns(UserWarning, match="the loss of epoch 1 is nan.*gets index 7 at "):
        history = aicf.fit(step, (np.zeros((16, 6), "f4"), np.full(16, 7, "i4")), epochs=3)
    assert len(history.epochs) == 1
