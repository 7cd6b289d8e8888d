# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.fit, predict, evaluate, summary and the tools for debugging, on steps of JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import aicf
from aicf.errors import FailedStateError, InvalidArgumentError

flax = pytest.importorskip("flax.linen")
from flax.training.train_state import TrainState  # noqa: E402

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((64, 6)).astype("f4")
Y = GENERATOR.integers(0, 3, 64).astype("i4")
BATCH = {"x": X[:16], "y": Y[:16]}
TX = optax.adamw(1e-2)


class Net(flax.Module):
    @flax.compact
    def __call__(self, x):
        return flax.Dense(3)(flax.relu(flax.Dense(8)(x)))


def losses(logits, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), {
        "accuracy": (logits.argmax(-1) == y).mean()}


def of_flax():
    net = Net()
    state = TrainState.create(apply_fn=net.apply, tx=TX,
                              params=net.init(jax.random.PRNGKey(0), X[:1])["params"])

    def step(state, batch):
        (loss, more), grads = jax.value_and_grad(lambda p: losses(
            state.apply_fn({"params": p}, batch["x"]), batch["y"]), has_aux=True)(state.params)
        return state.apply_gradients(grads=grads), (loss, more)
    return aicf.jax.compile_step(step, (state, BATCH), (0,)), step, state


def of_arrays():
    params = {"w": jnp.zeros((6, 3)), "b": jnp.zeros(3)}

    def step(params, opt, x, y):
        loss, grads = jax.value_and_grad(
            lambda p: losses(x @ p["w"] + p["b"], y)[0])(params)
        updates, opt = TX.update(grads, opt, params)
        return optax.apply_updates(params, updates), opt, loss
    return aicf.jax.compile_step(step, (params, TX.init(params), X[:16], Y[:16]), (0, 1))


def test_fit_is_the_loop_that_a_user_would_write():
    step, plain, state = of_flax()
    history = aicf.fit(step, {"x": X.astype("f8"), "y": Y.astype("i8")}, epochs=2,
                       shuffle=False, metrics=["accuracy"])
    run = jax.jit(plain)
    for epoch in range(2):
        sums = np.zeros(2)
        for i in range(0, 64, 16):
            state, (loss, more) = run(state, {"x": X[i:i + 16], "y": Y[i:i + 16]})
            sums += [float(loss) / 4, float(more["accuracy"]) / 4]
        assert [history[epoch]["loss"], history[epoch]["accuracy"]] \
            == pytest.approx(sums.tolist(), rel=1e-4)


@pytest.mark.parametrize("data", [
    lambda: (X, Y), lambda: {"x": X, "y": Y}, lambda: [X, Y],
    lambda: [(X[i:i + 16], Y[i:i + 16]) for i in range(0, 64, 16)],
    lambda: [{"y": Y[i:i + 16], "x": X[i:i + 16]} for i in range(0, 64, 16)]])
def test_arguments_in_order_or_by_name(data):
    found = aicf.fit(of_arrays(), data(), epochs=2, shuffle=False)
    assert found["loss"] == aicf.fit(of_arrays(), (X, Y), epochs=2, shuffle=False)["loss"]


def test_batches_of_trees():
    step = of_flax()[0]
    batches = [{"x": X[i:i + 16], "y": Y[i:i + 16]} for i in range(0, 64, 16)]
    expected = aicf.fit(of_flax()[0], {"x": X, "y": Y}, shuffle=False)
    for data in (batches, [(b,) for b in batches]):
        assert aicf.fit(step, data)["loss"] == expected["loss"] or data is not batches


def test_predictions_and_validation():
    step = of_flax()[0]
    aicf.fit(step, {"x": X, "y": Y}, epochs=2, verbose=0)
    state = step.state()
    expected = np.asarray(state.apply_fn({"params": state.params}, X))
    for size in (None, 24):
        np.testing.assert_allclose(step.predict(X.astype("f8"), batch_size=size), expected,
                                   rtol=1e-5, atol=1e-6)

    other = aicf.jax.compile(lambda state, x: 0 * x.sum(), (X,), program=step)
    assert float(other(X)) == 0  # it is called "predict", and is another function
    np.testing.assert_allclose(step.predict(X), expected, rtol=1e-5, atol=1e-6)

    def evaluation(state, batch):
        return losses(state.apply_fn({"params": state.params}, batch["x"]), batch["y"])
    check = aicf.jax.compile(evaluation, (BATCH,), program=step, name="evaluation")
    loss, more = check(BATCH)
    expected = evaluation(step.state(), BATCH)
    assert float(loss) == pytest.approx(float(expected[0]), rel=1e-5)
    assert float(more["accuracy"]) == float(expected[1]["accuracy"])
    history = aicf.fit(step, {"x": X, "y": Y}, epochs=2, validation={"x": X, "y": Y},
                       evaluate=check)
    assert history[1]["val_loss"] == pytest.approx(
        float(evaluation(step.state(), {"x": X, "y": Y})[0]), rel=1e-4)


def test_a_function_of_arrays():
    step = of_arrays()
    predict = aicf.jax.compile(lambda params, opt, x: x @ params["w"] + params["b"], (X,),
                               program=step)
    for _ in range(2):  # it reads the values as they are
        step(X[:16], Y[:16])
        params, _ = step.state()
        np.testing.assert_allclose(predict(X), X @ params["w"] + params["b"], rtol=1e-4,
                                   atol=1e-6)
    np.testing.assert_allclose(predict(X[:5]), X[:5] @ params["w"] + params["b"], rtol=1e-4,
                               atol=1e-6)
    with pytest.raises(FailedStateError, match="aicf.jax.compile"):
        step.predict(X)
    for wrong, error in ((dict(program=step.program), TypeError), ):
        with pytest.raises(error, match="expected a Step of aicf.jax"):
            aicf.jax.compile(lambda p, o, x: x, (X,), **wrong)


def test_what_is_refused():
    step = of_arrays()
    for data, text in (((X,), "takes the arguments x, y"), ({"x": X}, "arguments x, y"),
                       ({"x": X, "z": Y}, "arguments x, y")):
        with pytest.raises(InvalidArgumentError, match=text):
            aicf.fit(step, data)
    with pytest.raises(InvalidArgumentError, match="by position, or all of their leaves"):
        step(X[:16], y=Y[:16])
    with pytest.raises(InvalidArgumentError, match="structure"):
        aicf.fit(of_flax()[0], {"x": X})


def test_a_summary_by_tree():
    summary = aicf.summary(of_flax()[0])
    assert {(l.name, l.parameters) for l in summary.layers} \
        == {("state.params.Dense_0", 27), ("state.params.Dense_1", 56)}
    assert summary.parameters == summary.trainable == 83
    assert aicf.summary(of_arrays()).parameters == 21


def test_tools_for_debugging():
    step = of_arrays()
    assert not aicf.find_nan(step, X[:16], Y[:16])
    found = aicf.find_nan(step, X[:16] * np.nan, Y[:16])
    assert (found.kind, found.name) == ("input", "x")
    before = step.state()
    assert step.profile(X[:16], Y[:16], runs=2).calls
    for a, b in zip(jax.tree_util.tree_leaves(before), jax.tree_util.tree_leaves(step.state())):
        np.testing.assert_array_equal(a, b)

    def bad(w, x):
        loss, grad = jax.value_and_grad(lambda w: (jnp.log(w) * x).sum())(w)
        return w - grad, loss
    bad_step = aicf.jax.compile_step(bad, (jnp.float32([1, 2, -1]), jnp.ones(3)), (0,),
                                     verify=False)
    found = aicf.find_nan(bad_step, np.ones(3, "f4"))
    assert found.name == "log" and found.location.endswith(".py:%d" % (
        bad.__code__.co_firstlineno + 1))
