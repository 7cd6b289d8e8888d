# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user does with a compiled step: calls, states, batch sizes, files."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from cases import CASES, Make, cross_entropy, mlp, with_optimizer

import aicf
import aicf.jax
from aicf.errors import (AICFError, DTypeMismatchError, InvalidArgumentError,
                         ShapeMismatchError)


@pytest.fixture(scope="module")
def built():
    return CASES["adamw"](Make())


@pytest.fixture
def step(built):
    return aicf.jax.compile_step(*built, verify=False)


def test_nothing_imports_jax():
    code = "import sys, aicf, aicf.jax; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_call_returns_arrays_of_jax(step, built):
    loss = step(*built[1][2:])
    assert isinstance(loss, jax.Array) and loss.shape == () and loss.dtype == jnp.float32
    before = float(loss)
    step(*built[1][2:])
    assert float(loss) == before  # a later call writes elsewhere


def test_state_is_a_copy_in_the_structure_of_the_argument(step, built):
    params, state = step.state()
    assert jax.tree.structure(params) == jax.tree.structure(built[1][0])
    assert jax.tree.structure(state) == jax.tree.structure(built[1][1])
    first = np.array(params[0][0])
    assert np.array_equal(first, built[1][0][0][0])
    step(*built[1][2:])
    assert np.array_equal(params[0][0], first)
    assert not np.array_equal(step.state()[0][0][0], first)
    assert int(step.state()[1][0].count) == 1


def test_the_users_arrays_stay(step, built):
    before = jax.tree.map(np.array, built[1][:2])
    for _ in range(3):
        step(*built[1][2:])
    jax.tree.map(np.testing.assert_array_equal, before, built[1][:2])


def test_set_state_goes_back(step, built):
    losses = [float(step(*built[1][2:])) for _ in range(4)]
    step.set_state(*built[1][:2])
    assert [float(step(*built[1][2:])) for _ in range(4)] == losses
    params, state = step.state()
    with pytest.raises(InvalidArgumentError, match="2 donated trees, got 1"):
        step.set_state(params)
    with pytest.raises(InvalidArgumentError, match="params has the structure"):
        step.set_state(state, params)
    wide = jax.tree.map(lambda p: np.asarray(p, "i4"), params)
    with pytest.raises(DTypeMismatchError):
        step.set_state(wide, state)
    turned = jax.tree.map(lambda p: p.T, params)
    with pytest.raises(ShapeMismatchError, match=r"params.0.0 has the shape \(16, 8\)"):
        step.set_state(turned, state)
    jax.tree.map(np.testing.assert_array_equal, params, step.state()[0])


@pytest.mark.parametrize("arguments, error", [
    ((), "the step takes 2 arguments"), ((1, 2, 3), "the step takes 2 arguments"),
    (((np.zeros(3), 1), 2), "batch has the structure|arg2 has the structure"),
    ((np.zeros((32, 8), "i4"), np.zeros(32, "i4")), "is i32, expected f32"),
    ((np.zeros((32, 9), "f4"), np.zeros(32, "i4")), "shape"),
    (("x", "y"), "")])
def test_wrong_calls(step, built, arguments, error):
    with pytest.raises((AICFError, TypeError), match=error):
        step(*arguments)
    float(step(*built[1][2:]))


def test_keywords(step):
    with pytest.raises(InvalidArgumentError, match="by position"):
        step(x=1)


def test_another_batch_size(step, built):
    function, (params, state, x, y), _ = built
    for rows in (32, 20, 32, 7, 20):
        params, state, expected = jax.jit(function)(params, state, x[:rows], y[:rows])
        assert np.isclose(float(step(x[:rows], y[:rows])), float(expected), atol=1e-6)
    fixed = aicf.jax.compile_step(*built, verify=False, shapes="fixed")
    with pytest.raises(AICFError):
        fixed(x[:20], y[:20])


def test_a_file_runs_without_jax(step, built, tmp_path):
    x, y = (np.asarray(a) for a in built[1][2:])
    losses = [float(step(x, y)) for _ in range(3)]
    aicf.jax.compile_step(*built, verify=False).save(tmp_path / "step.plan")
    aicf.jax.compile_step(*built, verify=False).save_checkpoint(tmp_path / "checkpoint")
    code = """
import sys, numpy as np, aicf
program = aicf.load(sys.argv[1] + "/step.plan")
program.load_checkpoint(sys.argv[1] + "/checkpoint")
x, y = np.load(sys.argv[1] + "/x.npy"), np.load(sys.argv[1] + "/y.npy")
print([float(list(program["train_step"](x, y).values())[0]) for _ in range(3)])
sys.exit("jax" in sys.modules)
"""
    np.save(tmp_path / "x.npy", x), np.save(tmp_path / "y.npy", y)
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == losses


def test_arguments_are_trees():
    def function(batch, scale):
        return {"sum": (batch["x"] * scale).sum(), "parts": [batch["n"] + 1, scale]}
    batch = {"x": np.ones((3, 2), "f4"), "n": np.arange(3, dtype="i4")}
    step = aicf.jax.compile_step(function, (batch, 2.0))
    made = step(batch, np.float32(3))
    assert float(made["sum"]) == 18 and made["parts"][0].tolist() == [1, 2, 3]
    assert float(made["parts"][1]) == 3


def test_a_result_that_is_an_argument_or_a_constant():
    step = aicf.jax.compile_step(lambda x: (x, jnp.arange(3), x), (np.ones(2, "f4"),))
    a, b, c = step(np.full(2, 5, "f4"))
    assert a.tolist() == [5, 5] and b.tolist() == [0, 1, 2] and c.tolist() == [5, 5]


def test_a_donated_argument_that_does_not_change():
    def function(table, count, x):
        return (table, count + 1), x @ table
    table, x = np.eye(3, dtype="f4"), np.ones((2, 3), "f4")
    step = aicf.jax.compile_step(lambda s, x: function(*s, x), ((table, np.int32(0)), x), 0)
    step(x), step(x)
    state = step.state()
    assert int(state[1]) == 2 and np.array_equal(state[0], table)


def test_threads_change_no_bits():
    make = Make(seed=3)
    built = with_optimizer(lambda p, x, y: cross_entropy(mlp(p, x), y), optax.adamw(1e-2),
                           make.layers(64, 512, 512, 5), make.floats(512, 64),
                           make.ints(5, 512))
    one, two = (aicf.jax.compile_step(*built, verify=False, threads=n) for n in (1, 2))
    for _ in range(5):
        assert float(one(*built[1][2:])) == float(two(*built[1][2:]))


def test_calls_of_a_classifier_beside_aicf_nn():
    """The import has at most 20 % more calls than the same step by aicf.nn."""
    from aicf import nn

    class Model(nn.Module):
        def __init__(self):
            self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 5)

        def forward(self, x):
            return self.down(self.up(x).relu())
    own = aicf.compile_step(Model(), lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
                            aicf.optim.AdamW(lr=1e-2),
                            {"x": ((32, 8), "f32"), "y": ((32,), "i32")})
    make = Make()
    params = make.layers(8, 16, 5)

    def loss(params, x, y):
        return cross_entropy(mlp(params, x), y)
    imported = aicf.jax.compile_step(
        *with_optimizer(loss, optax.adamw(1e-2), params, make.floats(32, 8),
                        make.ints(5, 32)), verify=False)
    counts = [s.cost_analysis()["calls"] for s in (own, imported)]
    assert 0 < counts[1] <= 1.2 * counts[0], counts


def test_calls_of_a_transformer_beside_aicf_nn():
    """The import has at most 30 % more calls than the same step by aicf.nn."""
    from aicf import nn
    width, words, length = 16, 30, 8

    class Attention(nn.Module):
        def __init__(self):
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)

        def forward(self, x):
            batch, time = x.shape[:2]
            q, k, v = (a.reshape(batch, time, 2, width // 2).permute(0, 2, 1, 3)
                       for a in self.qkv(x).split(width, -1))
            scores = q @ k.permute(0, 1, 3, 2) * (width // 2) ** -0.5
            below = np.tril(np.ones((time, time), bool))
            heads = aicf.where(below, scores, -1e9).softmax() @ v
            return self.out(heads.permute(0, 2, 1, 3).reshape(batch, time, width))

    class Block(nn.Module):
        def __init__(self):
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention()
            self.up = nn.Linear(width, 4 * width, bias=False)
            self.down = nn.Linear(4 * width, width, bias=False)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(aicf.functional.gelu(self.up(self.norm2(x)), "tanh"))

    class Model(nn.Module):
        def __init__(self):
            self.table = nn.Embedding(words, width)
            self.places = nn.Parameter((length, width), init="normal")
            self.blocks = nn.ModuleList([Block(), Block()])
            self.head = nn.Linear(width, words, bias=False)

        def forward(self, tokens):
            x = self.table(tokens) + self.places
            for block in self.blocks:
                x = block(x)
            return self.head(x)[:, :-1]
    own = aicf.compile_step(
        Model(), lambda m, x: aicf.losses.cross_entropy(m(x), x[:, 1:]),
        aicf.optim.AdamW(lr=1e-3), {"x": ((4, length), "i32")})
    imported = aicf.jax.compile_step(*CASES["transformer"](Make()), verify=False)
    counts = [s.cost_analysis()["calls"] for s in (own, imported)]
    assert 0 < counts[1] <= 1.3 * counts[0], counts


def test_a_checkpointed_block_is_computed_again():
    """Then its values need no memory between both passes."""
    def build(wrap):
        @wrap
        def block(w, x):
            return x + jnp.tanh(jnp.tanh(x @ w) * 2)

        def loss(params, x):
            for w in params:
                x = block(w, x)
            return (x ** 2).mean()
        make = Make()
        return with_optimizer(loss, optax.sgd(1e-2), [make.floats(8, 8) for _ in range(6)],
                              make.floats(256, 8))
    plain, again = (aicf.jax.compile_step(*build(wrap)) for wrap in (
        lambda block: block, jax.checkpoint))
    temps = [s.memory_analysis()["entries"]["train_step"]["temp_bytes"]
             for s in (plain, again)]
    assert temps[1] < 0.7 * temps[0], temps
    x = build(jax.checkpoint)[1][2]
    assert [float(plain(x)) for _ in range(5)] == [float(again(x)) for _ in range(5)]


def test_verification_on_special_values(monkeypatch):
    """A row that is wrong for equal elements alone; and one that makes NaN of zeros in a
    donated tree."""
    from aicf.errors import VerificationError
    from aicf.jax import _table

    def wrong(name, replacement):
        row = _table.TABLE[name]
        monkeypatch.setitem(_table.TABLE, name, _table.Row(
            lambda call, *operands: replacement(row.function(call, *operands)), ""))
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("f4")

    def loss(x):
        return jnp.abs(x).sum()
    aicf.jax.compile_step(loss, (x,))
    wrong("abs", lambda made: made + (made == 0.0).astype("f32"))
    with pytest.raises(VerificationError, match="on special values: zeros, equal elements"):
        aicf.jax.compile_step(loss, (x,))
    assert np.allclose(aicf.jax.compile_step(loss, (x,), verify="example")(x), loss(x))

    def step(w, x):
        return w - 0.1 * jnp.tanh(x).sum(0), (w * x).sum()
    wrong("tanh", lambda made: made + 0.0 * made.abs().log())
    with pytest.raises(VerificationError, match="result.0 is finite in JAX, or not"):
        aicf.jax.compile_step(step, (np.ones(4, "f4"), x), 0, new_state=lambda made: made[:1])
    with pytest.raises(ValueError, match='or "example"'):
        aicf.jax.compile_step(loss, (x,), verify="examples")
