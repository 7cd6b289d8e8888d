# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of the kinds that JAX's users write. Nothing of AICF is in here."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

CASES = {}


def case(build):
    """Adds a case: build(make) returns a function, its arguments and donate_argnums."""
    CASES[build.__name__] = build
    return build


class Make:
    """Arrays of random numbers, in f32 or f64."""

    def __init__(self, dtype="float32", seed=0):
        self.random, self.dtype = np.random.default_rng(seed), dtype

    def floats(self, *shape, scale=0.3):
        return jnp.asarray(self.random.normal(size=shape) * scale, self.dtype)

    def ints(self, below, *shape):
        return jnp.asarray(self.random.integers(0, below, shape), "int32")

    def layers(self, *sizes):
        return [(self.floats(a, b), self.floats(b)) for a, b in zip(sizes, sizes[1:])]


def mlp(layers, x, activation=jax.nn.relu):
    for i, (w, b) in enumerate(layers):
        x = x @ w + b
        x = activation(x) if i < len(layers) - 1 else x
    return x


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def mse(y, wanted):
    return ((y - wanted) ** 2).mean()


def with_optimizer(loss, optimizer, params, *batch):
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value
    return step, (params, optimizer.init(params), *batch), (0, 1)


def classifier(make, optimizer, activation=jax.nn.relu):
    return with_optimizer(lambda p, x, y: cross_entropy(mlp(p, x, activation), y), optimizer,
                          make.layers(8, 16, 5), make.floats(32, 8), make.ints(5, 32))


def regression(make, optimizer, loss=mse, activation=jax.nn.relu):
    return with_optimizer(lambda p, x, y: loss(mlp(p, x, activation), y), optimizer,
                          make.layers(8, 16, 3), make.floats(32, 8), make.floats(32, 3))


@case
def sgd_by_hand(make):
    def step(params, x, y):
        loss, grads = jax.value_and_grad(lambda p: mse(mlp(p, x, jnp.tanh), y))(params)
        return jax.tree.map(lambda a, b: a - 0.1 * b, params, grads), loss
    return step, (make.layers(8, 16, 3), make.floats(32, 8), make.floats(32, 3)), 0


@case
def adamw(make):
    return classifier(make, optax.adamw(1e-2))


@case
def chain_with_clip_and_schedule(make):
    rate = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 5, 50)
    chain = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(rate))
    return classifier(make, chain, jax.nn.gelu)


@case
def lion(make):
    return classifier(make, optax.lion(1e-3), jax.nn.silu)


@case
def nesterov(make):
    return regression(make, optax.sgd(1e-2, momentum=0.9, nesterov=True))


@case
def rmsprop_huber(make):
    return regression(make, optax.rmsprop(1e-3),
                      lambda a, b: optax.huber_loss(a, b, delta=0.5).mean())


@case
def adagrad_l1(make):
    return regression(make, optax.adagrad(1e-2), lambda a, b: jnp.abs(a - b).mean(),
                      jax.nn.elu)


@case
def lamb(make):
    return classifier(make, optax.lamb(1e-2), jnp.tanh)


@case
def injected_rate(make):
    rate = optax.exponential_decay(1e-2, 10, 0.9)
    return regression(make, optax.inject_hyperparams(optax.adam)(learning_rate=rate))


@case
def moving_average(make):
    optimizer = optax.adam(1e-2)

    def step(params, average, state, x, y):
        loss, grads = jax.value_and_grad(lambda p: cross_entropy(mlp(p, x), y))(params)
        updates, state = optimizer.update(grads, state)
        params = optax.apply_updates(params, updates)
        average = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b, average, params)
        return params, average, state, loss
    params = make.layers(8, 16, 5)
    return step, (params, jax.tree.map(lambda p: p * 0.5, params), optimizer.init(params),
                  make.floats(32, 8), make.ints(5, 32)), (0, 1, 2)


@case
def vmapped_loss(make):
    def one(params, x, y):
        return -jax.nn.log_softmax(mlp(params, x))[y]
    return with_optimizer(
        lambda p, x, y: jax.vmap(one, (None, 0, 0))(p, x, y).mean(), optax.adam(1e-2),
        make.layers(8, 16, 5), make.floats(32, 8), make.ints(5, 32))


@case
def clip_per_example(make):
    def one(params, x, y):
        return mse(mlp(params, x), y)

    def step(params, x, y):
        losses, grads = jax.vmap(jax.value_and_grad(one), (None, 0, 0))(params, x, y)
        squares = [(g.reshape(g.shape[0], -1) ** 2).sum(1) for g in jax.tree.leaves(grads)]
        factor = jnp.minimum(1.0, 1.0 / jnp.sqrt(sum(squares)))
        grads = jax.tree.map(
            lambda g: (g * factor.reshape((-1,) + (1,) * (g.ndim - 1))).mean(0), grads)
        return jax.tree.map(lambda a, b: a - 0.1 * b, params, grads), losses.mean()
    return step, (make.layers(8, 16, 3), make.floats(16, 8), make.floats(16, 3)), (0,)


@case
def straight_through(make):
    @jax.custom_vjp
    def sign(x):
        return jnp.sign(x)
    sign.defvjp(lambda x: (jnp.sign(x), x), lambda x, g: (g * (jnp.abs(x) < 1),))
    return with_optimizer(lambda p, x, y: mse(sign(mlp(p, x) - 0.1), y), optax.adam(1e-2),
                          make.layers(8, 16, 5), make.floats(32, 8), make.floats(32, 5))


@case
def embedding(make):
    params = {"table": make.floats(50, 8), "mlp": make.layers(24, 16, 5)}
    return with_optimizer(
        lambda p, t, y: cross_entropy(mlp(p["mlp"], p["table"][t].reshape(32, 24)), y),
        optax.adam(1e-2), params, make.ints(50, 32, 3), make.ints(5, 32))


@case
def pairs(make):
    def loss(params, x, y):
        return -jax.nn.log_softmax(mlp(params, x))[jnp.arange(32), y].mean()
    return with_optimizer(loss, optax.adam(1e-2), make.layers(8, 16, 5), make.floats(32, 8),
                          make.ints(5, 32))


@case
def constant_indices(make):
    def loss(params, x, y):
        made = mlp(params, x)
        return mse(made[3], y[0]) + mse(made[jnp.array([1, 5, 2])], y[1:4]) + mse(
            made[4:20:2, ::-1], y[:8]) + mse(made.at[2, 1].set(0.5)[2], y[9])
    return with_optimizer(loss, optax.adam(1e-2), make.layers(8, 16, 3), make.floats(32, 8),
                          make.floats(32, 3))


@case
def one_hot(make):
    def loss(params, x, y):
        return optax.softmax_cross_entropy(mlp(params, x), jax.nn.one_hot(y, 5)).mean()
    return with_optimizer(loss, optax.adam(1e-2), make.layers(8, 16, 5), make.floats(32, 8),
                          make.ints(5, 32))


def norm(x, gamma, beta):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gamma + beta


def attention(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    size = q.shape[1]
    scores = jnp.where(jnp.tril(jnp.ones((size, size), bool)), scores, -1e9)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores, -1), v)


def language_model(params, tokens):
    x = params["table"][tokens] + params["places"][None]
    heads = x.shape[:2] + (2, x.shape[2] // 2)
    for block in params["blocks"]:
        h = norm(x, block["g1"], block["b1"])
        q, k, v = (a.reshape(heads) for a in jnp.split(h @ block["qkv"], 3, -1))
        x = x + attention(q, k, v).reshape(x.shape) @ block["out"]
        h = norm(x, block["g2"], block["b2"])
        x = x + jax.nn.gelu(h @ block["up"]) @ block["down"]
    return cross_entropy((x @ params["head"])[:, :-1], tokens[:, 1:])


@case
def transformer(make, width=16, words=30, length=8):
    ones, zeros = jnp.ones(width, make.dtype), jnp.zeros(width, make.dtype)
    blocks = [{"qkv": make.floats(width, 3 * width), "out": make.floats(width, width),
               "up": make.floats(width, 4 * width), "down": make.floats(4 * width, width),
               "g1": ones, "b1": zeros, "g2": ones, "b2": zeros} for _ in range(2)]
    params = {"table": make.floats(words, width), "places": make.floats(length, width),
              "blocks": blocks, "head": make.floats(width, words)}
    return with_optimizer(language_model, optax.adamw(1e-3), params,
                          make.ints(words, 4, length))


@case
def checkpointed(make):
    def loss(params, x, y):
        layer = jax.checkpoint(lambda w, x: jnp.tanh(x @ w[0] + w[1]))
        for w in params[:-1]:
            x = layer(w, x)
        return cross_entropy(mlp(params[-1:], x), y)
    return with_optimizer(loss, optax.adam(1e-2), make.layers(8, 16, 16, 5),
                          make.floats(32, 8), make.ints(5, 32))


@case
def scanned_layers(make):
    params = {"w": make.floats(4, 16, 16), "b": make.floats(4, 16), "out": make.floats(16, 5)}

    def loss(params, x, y):
        x, _ = jax.lax.scan(lambda h, layer: (jnp.tanh(h @ layer[0] + layer[1]), None), x,
                            (params["w"], params["b"]))
        return cross_entropy(x @ params["out"], y)
    return with_optimizer(loss, optax.adam(1e-2), params, make.floats(32, 16),
                          make.ints(5, 32))


@case
def recurrent(make):
    params = {"wx": make.floats(8, 16), "wh": make.floats(16, 16), "b": make.floats(16),
              "out": make.floats(16, 5)}

    def loss(params, x, y):
        def cell(h, x):
            h = jnp.tanh(x @ params["wx"] + h @ params["wh"] + params["b"])
            return h, h
        _, hidden = jax.lax.scan(cell, jnp.zeros((16, 16), x.dtype), x.transpose(1, 0, 2))
        return cross_entropy(hidden.mean(0) @ params["out"], y)
    return with_optimizer(loss, optax.adam(1e-2), params, make.floats(16, 6, 8),
                          make.ints(5, 16))


@case
def microbatches(make):
    def step(params, x, y):
        def one(carry, batch):
            loss, grads = jax.value_and_grad(
                lambda p: cross_entropy(mlp(p, batch[0]), batch[1]))(params)
            return (jax.tree.map(jnp.add, carry[0], grads), carry[1] + loss), None
        start = jax.tree.map(jnp.zeros_like, params), jnp.zeros((), x.dtype)
        (grads, loss), _ = jax.lax.scan(one, start, (x.reshape(4, 8, 8), y.reshape(4, 8)))
        return jax.tree.map(lambda a, b: a - 0.025 * b, params, grads), loss / 4
    return step, (make.layers(8, 16, 5), make.floats(32, 8), make.ints(5, 32)), (0,)


@case
def batch_norm_with_statistics(make):
    params = {"in": make.layers(8, 16), "out": make.layers(16, 5)}
    statistics = {"mean": make.floats(16), "variance": make.floats(16) ** 2}
    optimizer = optax.sgd(1e-1)

    def step(params, statistics, state, x, y):
        def loss(params):
            h = mlp(params["in"], x)
            mean, variance = h.mean(0), h.var(0)
            moved = {"mean": 0.9 * statistics["mean"] + 0.1 * mean,
                     "variance": 0.9 * statistics["variance"] + 0.1 * variance}
            logits = mlp(params["out"], jax.nn.relu((h - mean) / jnp.sqrt(variance + 1e-5)))
            hits = (logits.argmax(-1) == y).astype(x.dtype).mean()
            return cross_entropy(logits, y), (moved, hits)
        (value, (moved, hits)), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = optimizer.update(grads, state)
        return {"loss": value, "accuracy": hits}, (optax.apply_updates(params, updates),
                                                   moved, state)
    return step, (params, statistics, optimizer.init(params), make.floats(32, 8),
                  make.ints(5, 32)), (0, 1, 2)


@case
def counted_steps(make):
    def step(state, x, y):
        params, count = state
        loss, grads = jax.value_and_grad(lambda p: mse(mlp(p, x), y))(params)
        rate = 0.1 / (1 + count)
        return loss, (jax.tree.map(lambda a, b: (a - rate * b).astype(a.dtype), params,
                                   grads), count + 1)
    return step, ((make.layers(8, 16, 3), jnp.zeros((), "int32")), make.floats(32, 8),
                  make.floats(32, 3)), (0,)


@case
def autoencoder(make):
    params = {"encoder": make.layers(12, 16, 8), "decoder": make.layers(4, 16, 12)}

    def loss(params, x, noise):
        mean, log_variance = jnp.split(mlp(params["encoder"], x), 2, -1)
        made = mlp(params["decoder"], mean + jnp.exp(0.5 * log_variance) * noise)
        distance = 1 + log_variance - mean ** 2 - jnp.exp(log_variance)
        return optax.sigmoid_binary_cross_entropy(made, x).sum(-1).mean() \
            - 0.5 * distance.sum(-1).mean()
    return with_optimizer(loss, optax.adam(1e-2), params,
                          jax.nn.sigmoid(make.floats(16, 12)), make.floats(16, 4))


@case
def tied_weights(make):
    def loss(params, tokens):
        return cross_entropy(params["table"][tokens[:, :-1]] @ params["table"].T,
                             tokens[:, 1:])
    return with_optimizer(loss, optax.adam(1e-2), {"table": make.floats(20, 8)},
                          make.ints(20, 8, 6))


@case
def flax_nnx(make):
    from flax import nnx

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 5, rngs=rngs)
            self.norm = nnx.LayerNorm(16, rngs=rngs)

        def __call__(self, x):
            return self.down(nnx.relu(self.norm(self.up(x))))
    graph, params = nnx.split(Model(nnx.Rngs(0)))
    params = jax.tree.map(lambda p: p.astype(make.dtype), params)
    return with_optimizer(lambda p, x, y: cross_entropy(nnx.merge(graph, p)(x), y),
                          optax.adamw(1e-2), params, make.floats(32, 8), make.ints(5, 32))


@case
def flax_linen(make):
    import flax.linen as linen

    class Model(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = x + linen.MultiHeadDotProductAttention(
                num_heads=2, qkv_features=16, deterministic=True, use_bias=False,
                dtype=make.dtype)(linen.LayerNorm(dtype=make.dtype)(x))
            return linen.Dense(5, dtype=make.dtype)(x.mean(1))
    model, x = Model(), make.floats(8, 6, 16)
    params = jax.tree.map(lambda p: p.astype(make.dtype), model.init(jax.random.key(0), x))
    return with_optimizer(lambda p, x, y: cross_entropy(model.apply(p, x), y),
                          optax.adamw(1e-2), params, x, make.ints(5, 8))


@case
def equinox(make):
    import equinox as eqx
    model = eqx.nn.MLP(8, 5, 16, 2, key=jax.random.key(0))
    params, rest = eqx.partition(model, eqx.is_inexact_array)
    params = jax.tree.map(lambda p: p.astype(make.dtype), params)
    return with_optimizer(
        lambda p, x, y: cross_entropy(jax.vmap(eqx.combine(p, rest))(x), y),
        optax.adam(1e-2), params, make.floats(32, 8), make.ints(5, 32))
