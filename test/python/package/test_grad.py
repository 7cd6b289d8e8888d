# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.grad: derivatives inside of a step, against differences in f64."""

import numpy as np
import pytest

import aicf
import aicf.functional as F
from aicf import nn
from aicf.errors import CompileError, TraceError

X = np.random.default_rng(0).standard_normal((5, 3))
#: Values far outside and at kinks, which a second derivative must survive.
EXTREMES = np.array([[-200.0, -30.0, -8.0], [-1.0, -1e-3, 0.0], [1e-3, 1.0, 8.0],
                     [30.0, 80.0, 200.0], [-3.0, 3.0, 0.5]])


def values(function, array):
    """function(array) in f64, compiled alone."""
    return aicf.compile(lambda x: function(x), {"x": aicf.spec(array.shape, "f64")})(
        array).numpy()


def slopes(function, x, step=1e-5):
    """The derivative of an elementwise function, by central differences of f64."""
    return (values(function, x + step) - values(function, x - step)) / (2 * step)


SMOOTH = {
    "tanh": lambda x: x.tanh(), "sigmoid": F.sigmoid, "silu": F.silu, "gelu": F.gelu,
    "gelu(tanh)": lambda x: F.gelu(x, approximate="tanh"), "softplus": F.softplus,
    "softplus(2)": lambda x: F.softplus(x, beta=2.0), "log_sigmoid": F.log_sigmoid,
    "mish": F.mish, "elu": F.elu, "elu(0.5)": lambda x: F.elu(x, 0.5), "selu": F.selu,
    "softsign": F.softsign, "exp": lambda x: x.exp(), "square": lambda x: x.square(),
    "sin": lambda x: x.sin(), "cos": lambda x: x.cos(), "cube": lambda x: x ** 3,
    "product": lambda x: x * x.sin(), "erf": lambda x: x.erf(),
    "hardswish": F.hardswish}
POSITIVE = {
    "log": lambda x: x.log(), "log1p": lambda x: x.log1p(), "sqrt": lambda x: x.sqrt(),
    "rsqrt": lambda x: x.rsqrt(), "reciprocal": lambda x: 1 / x, "log2": aicf.ops.log2,
    "log10": aicf.ops.log10, "exp2": aicf.ops.exp2, "expm1": lambda x: x.expm1(),
    "power": lambda x: x ** -1.5, "powers": lambda x: x ** x}
FLAT = {"relu": F.relu, "leaky_relu": F.leaky_relu, "abs": abs, "hardtanh": F.hardtanh,
        "clamp": lambda x: x.clamp(-1, 1), "maximum": lambda x: aicf.maximum(x, x * 0 + 0.3)}


def once(function):
    return lambda x: aicf.grad(function(x).sum(), x)


def twice(function):
    return once(once(function))


@pytest.mark.parametrize("name", [*SMOOTH, *POSITIVE, *FLAT])
def test_first_and_second_derivatives(name):
    function = {**SMOOTH, **POSITIVE, **FLAT}[name]
    x = np.abs(X) + 0.2 if name in POSITIVE else X
    for derivative, expected in ((once(function), slopes(function, x)),
                                 (twice(function), slopes(once(function), x))):
        found = values(derivative, x)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    if name in FLAT:
        assert not values(twice(function), x).any()


@pytest.mark.parametrize("name", [n for n in SMOOTH if n not in ("exp", "square", "cube")])
def test_second_derivatives_far_outside_are_finite(name):
    found = values(twice(SMOOTH[name]), EXTREMES)
    assert np.isfinite(found).all()
    if name not in ("sin", "cos", "product", "softsign"):
        np.testing.assert_allclose(found[[0, 3], [0, 2]], 0, atol=1e-80)


def test_third_derivatives():
    found = values(once(twice(lambda x: x.sin())), X)
    np.testing.assert_allclose(found, -np.cos(X), rtol=1e-12)


class Net(nn.Module):
    def __init__(self, act):
        self.first, self.last = nn.Linear(3, 8, dtype="f64"), nn.Linear(8, 2, dtype="f64")
        self.act = act

    def forward(self, x):
        return self.last(self.act(self.first(x)))


NAMES = ["first.weight", "first.bias", "last.weight", "last.bias"]


def losses_of(kind):
    """Losses that are made of gradients."""
    def penalty(m, x):  # of Gulrajani et al. 2017
        u = m(x)
        slope = aicf.grad(u[:, 0].sum(), x)
        return ((slope.square().sum(1).sqrt() - 1) ** 2).mean() + u.square().mean()

    def equation(m, x):  # u_t + u u_x = u_xx
        u = m(x)
        first = aicf.grad(u[:, 0].sum(), x)
        second = aicf.grad(first[:, 1].sum(), x)
        return (first[:, 0] + u[:, 0] * first[:, 1] - second[:, 1]).square().mean() \
            + u.square().mean()

    def inner_step(m, x):  # one step of gradient descent, as in MAML
        def outcome(w, b):
            return aicf.losses.mse_loss(m.act(aicf.ops.linear(x, w, b)), x[:, :1] * m.first.bias)
        w, b = m.first.weight, m.first.bias
        dw, db = aicf.grad(outcome(w, b), (w, b))
        return outcome(w - 0.5 * dw, b - 0.5 * db) + m(x).square().mean()

    def classes(m, x):
        p = F.softmax(m(x))
        q = F.log_softmax(m(x) * 0.5)
        return aicf.grad((p * q).square().sum(), x).square().mean() + m(x).square().mean()

    def weighted(m, x):  # the factor of a loss is trained, too
        u = m(x)
        loss = aicf.losses.mse_loss(u, x[:, :2] * u) * m.last.bias.sum().exp()
        return aicf.grad(loss, u).square().mean() + u.square().mean()
    return {"penalty": penalty, "equation": equation, "inner_step": inner_step,
            "classes": classes, "weighted": weighted}[kind]


KINDS = ["penalty", "equation", "inner_step", "classes", "weighted"]


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_trained_through_a_gradient(kind):
    """The gradient of each parameter, against differences of the loss in f64."""
    net = Net(lambda x: x.tanh())
    if kind == "inner_step":
        net.first = nn.Linear(3, 3, dtype="f64")
        net.last = nn.Linear(3, 2, dtype="f64")
        net.act = lambda x: x.tanh()
    step = aicf.compile_step(net, losses_of(kind), aicf.optim.SGD(0.0),
                             {"x": aicf.spec(X.shape, "f64")},
                             outputs=["grad:" + n for n in NAMES])
    weights = {n: v.copy() for n, v in step.state_dict().items()}
    _, more = step(X)
    more = {name: value.numpy().copy() for name, value in more.items()}
    for name in NAMES:
        for place in list(np.ndindex(weights[name].shape))[::5]:
            found = []
            for sign in (1, -1):
                moved = {n: v.copy() for n, v in weights.items()}
                moved[name][place] += sign * 1e-6
                step.load_state_dict(moved)
                found.append(float(step(X)[0]))
            expected = (found[0] - found[1]) / 2e-6
            assert more["grad:" + name][place] == pytest.approx(expected, rel=2e-5, abs=2e-8)


def test_it_trains_with_other_batch_sizes_and_optimizers():
    """sin solves u'' + u = 0 with u(0) = 0 and u'(0) = 1."""
    class Wave(nn.Module):
        def __init__(self):
            self.a, self.b, self.c = nn.Linear(1, 24), nn.Linear(24, 24), nn.Linear(24, 1)

        def forward(self, t):
            h = self.b(self.a(t).tanh()).tanh()
            return t + t * t * self.c(h)

    def residual(model, t):
        u = model(t)
        first = aicf.grad(u.sum(), t)
        return (aicf.grad(first.sum(), t) + u).square().mean()
    step = aicf.compile_step(Wave(), residual, aicf.optim.AdamW(3e-3),
                             {"t": aicf.spec((32, 1))})
    t = np.linspace(0, 2, 100, dtype="f4").reshape(100, 1)
    aicf.fit(step, (t,), epochs=300, verbose=0)
    assert abs(step.predict(t) - np.sin(t)).max() < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_precisions(kind):
    """The first losses of each precision are those of f32, and they fall."""
    found = {}
    for precision in ("f32", "bf16", "f16"):
        net = Net(lambda x: x.tanh())
        width = 3 if kind == "inner_step" else 8
        net.first, net.last = nn.Linear(3, width), nn.Linear(width, 2)
        step = aicf.compile_step(net, losses_of(kind), aicf.optim.SGD(0.02),
                                 {"x": aicf.spec(X.shape)}, precision=precision)
        losses = found[precision] = [float(step(X.astype("f4"))) for _ in range(20)]
        assert np.isfinite(losses).all() and losses[-1] < losses[0]
    for precision in ("bf16", "f16"):
        assert found[precision][:5] == pytest.approx(found["f32"][:5], rel=3e-2)


# What is refused

def compiled(function, **more):
    return aicf.compile(function, {"x": aicf.spec((4, 3))}, **more)


@pytest.mark.parametrize("function, error, words", [
    (lambda x: aicf.grad(x, x), TraceError, r"takes a 0-d y.*aicf.grad\(y.sum\(\), x\)"),
    (lambda x: aicf.grad(x.sum(), x[:, :1]), CompileError, "y does not depend on x"),
    (lambda x: aicf.grad(x.sum(), (x, x * 2)), CompileError, "y does not depend on x"),
    (lambda x: aicf.grad(x.sum(), x.argmax(1)), CompileError, "operand #1 must be"),
    (lambda x: aicf.grad(x.sum(), "x"), TraceError, "expected a traced tensor")])
def test_wrong_uses(function, error, words):
    with pytest.raises(error, match=words):
        compiled(function)


def test_a_slope_that_is_given_has_no_second_derivative():
    @aicf.custom_gradient(lambda x: (abs(x) <= 1).astype("f32"))
    def binarize(x):
        return x.sign()
    with pytest.raises(CompileError, match="a slope that is given"):
        compiled(lambda x: aicf.grad(binarize(x).sum(), x))


@pytest.mark.parametrize("slope", [
    lambda x: x.mean(1, keepdim=True) * 2, lambda x: x.mean(), lambda x: (x * x)[:, :1]])
def test_a_slope_of_another_shape_is_given_too(slope):
    cubed = aicf.custom_gradient(slope)(lambda x: x * x * x)
    with pytest.raises(CompileError, match="a slope that is given"):
        compiled(lambda x: aicf.grad(aicf.grad(cubed(x).sum(), x).square().sum(), x))


def test_what_stops_gradients_in_front_of_a_constant_slope_is_no_slope():
    rounded = aicf.custom_gradient(lambda x: 1.0)(lambda x: x.round())
    entry = compiled(lambda x: aicf.grad(rounded(x.logsumexp(1)).sum(), x))
    x = np.float32(X[:4])
    expected = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(entry(x).numpy(), expected, rtol=1e-5)


def test_the_error_names_the_op_and_the_gradient():
    def function(x):
        first = aicf.grad(F.layer_norm(x, 3).square().sum(), x)
        return aicf.grad(first.square().sum(), x)  # this line
    with pytest.raises(CompileError) as error:
        compiled(function)
    assert "layer_norm_bwd has no derivative" in str(error.value)
    assert "the gradient is taken here" in str(error.value)


def test_outside_of_a_trace():
    with pytest.raises(TraceError):
        aicf.grad(X, X)


# aicf.debug_print

def test_values_are_printed_and_not_returned(capsys, tmp_path):
    def loss(m, x):
        hidden = aicf.debug_print("hidden", m.first(x)[:1, :2])
        aicf.debug_print("scale", hidden.sum())
        return m(x).square().mean(), {"kept": hidden.mean()}
    step = aicf.compile_step(Net(lambda x: x.tanh()), loss, aicf.optim.SGD(0.1),
                             {"x": aicf.spec(X.shape, "f64")})
    weights = step.state_dict()
    expected = (X @ weights["first.weight"].T + weights["first.bias"])[:1, :2]
    result = step(X)
    assert isinstance(result, tuple) and list(result[1]) == ["kept"]
    assert capsys.readouterr().out == "hidden: %s\nscale: %s\n" % (
        expected, np.float64(step_sum(expected)))
    step(X[:2])
    assert capsys.readouterr().out.count("hidden: ") == 1
    history = aicf.fit(step, (X,), epochs=2, batch_size=5, verbose=0)
    assert capsys.readouterr().out.count("scale: ") == 2 and set(history[0]) >= {"kept"}
    step.run(3)
    assert capsys.readouterr().out.count("scale: ") == 1
    step.save(tmp_path / "a.plan")
    loaded = aicf.load(tmp_path / "a.plan")["train_step"]
    loaded.load_state_dict(step.state_dict(optimizer=True))
    loaded.set("lr", 0.1)
    assert list(loaded(X)[1]) == ["kept"]
    assert capsys.readouterr().out.count("hidden: ") == 1


def step_sum(values):
    return values[0, 0] + values[0, 1]


@pytest.mark.parametrize("result", ["tensor", "tuple"])
def test_a_result_stays_as_it_is(result, capsys):
    def function(x):
        y = aicf.debug_print("x", x) + 1
        return y if result == "tensor" else (y, y * 2)
    found = aicf.compile(function, {"x": aicf.spec((2,))})(np.float32([1, 2]))
    assert isinstance(found, tuple) == (result == "tuple")
    assert capsys.readouterr().out == "x: [1. 2.]\n"


def test_predictions_print_too(capsys):
    class Loud(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(3, 2)

        def forward(self, x):
            return aicf.debug_print("logits", self.fc(x))
    entry = aicf.compile(Loud(), {"x": aicf.spec((1, 3))}, precision="bf16")
    found = entry(np.ones((1, 3), "f4"))
    assert capsys.readouterr().out.startswith("logits: [[") and found.shape == (1, 2)


@pytest.mark.parametrize("function", [
    lambda x: (x.sum(), {"print:x": x}), lambda x: {"print:x": x},
    lambda x: aicf.keep("print:x", x)])
def test_a_result_has_no_name_of_what_is_printed(function):
    with pytest.raises(TraceError, match="begins with 'print:' is printed"):
        compiled(function)


@pytest.mark.parametrize("label", ["", 3, "a\nb"])
def test_wrong_labels(label):
    with pytest.raises(TraceError, match="the label of a value to print is"):
        compiled(lambda x: aicf.debug_print(label, x))
