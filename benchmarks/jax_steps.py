#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX training steps with optax: aicf.jax.compile_step beside jax.jit of the same function.

    PYTHONPATH=build/python python3 benchmarks/jax_steps.py --device cuda
        [--models mlp transformer] [--precision tf32] [--tune full] [--rounds 15]

Both get the same function, weights and data. Each first compares one step with JAX's f64,
then come rounds, in each a window of both, which starts after a rest: a thread that has
just worked may still look for more. Medians with quartiles, microseconds a step. A call
hands the data over and waits at the end of a window. "replay" is AICF's Step.run, whose
inputs stay where they are. Set-up: seconds until the first step may run, with an empty
compiler cache of JAX's.
"""

import argparse
import json
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

import aicf.jax

WINDOW_SECONDS = 0.2
REST_SECONDS = 0.02


def floats(random, *shape, scale=None):
    scale = (2 / shape[0]) ** 0.5 if scale is None else scale
    return jnp.asarray(random.normal(size=shape) * scale, jnp.float32)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def trained(loss, optimizer, params, *batch):
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value
    return step, (params, optimizer.init(params), *batch)


def layers(random, *sizes):
    return [{"w": floats(random, a, b), "b": jnp.zeros(b)} for a, b in zip(sizes, sizes[1:])]


def forward(params, x, activation=jax.nn.relu):
    for layer in params[:-1]:
        x = activation(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def _mlp(batch, *sizes, activation=jax.nn.relu):
    random = np.random.default_rng(0)
    return trained(lambda p, x, y: cross_entropy(forward(p, x, activation), y),
                   optax.adamw(1e-3), layers(random, *sizes),
                   floats(random, batch, sizes[0], scale=1),
                   jnp.asarray(random.integers(0, sizes[-1], batch), jnp.int32))


def small_mlp():
    return _mlp(64, 64, 128, 128, 10)


def mlp():
    return _mlp(256, 784, 512, 512, 10)


def deep_mlp():
    return _mlp(128, 256, *([256] * 12), 10, activation=jax.nn.gelu)


def large_mlp():
    return _mlp(1024, 1024, 4096, 4096, 10)


def norm(x, p):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["gamma"] + p["beta"]


def _language_loss(params, tokens, heads):
    x = params["table"][tokens] + params["places"]
    batch, length, width = x.shape
    mask = jnp.tril(jnp.ones((length, length), bool))
    for block in params["blocks"]:
        h = norm(x, block["n1"]) @ block["qkv"]
        q, k, v = jnp.split(h.reshape(batch, length, 3 * heads, width // heads), 3, 2)
        scores = jnp.einsum("bthd,bshd->bhts", q, k) / (width // heads) ** 0.5
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), -1)
        x = x + jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape) @ block["out"]
        x = x + jax.nn.gelu(norm(x, block["n2"]) @ block["up"]) @ block["down"]
    logits = norm(x, params["norm"]) @ params["head"]
    return cross_entropy(logits[:, :-1], tokens[:, 1:])


def _transformer(batch, length, width, depth, heads, words):
    random = np.random.default_rng(0)

    def scales():
        return {"gamma": jnp.ones(width), "beta": jnp.zeros(width)}
    blocks = [{"n1": scales(), "n2": scales(), "qkv": floats(random, width, 3 * width),
               "out": floats(random, width, width), "up": floats(random, width, 4 * width),
               "down": floats(random, 4 * width, width)} for _ in range(depth)]
    params = {"table": floats(random, words, width, scale=0.02), "blocks": blocks,
              "places": floats(random, length, width, scale=0.02), "norm": scales(),
              "head": floats(random, width, words)}
    tokens = jnp.asarray(random.integers(0, words, (batch, length)), jnp.int32)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    return trained(lambda p, t: _language_loss(p, t, heads), optimizer, params, tokens)


def tiny_transformer():
    return _transformer(16, 64, 128, 2, 4, 512)


def transformer():
    return _transformer(16, 128, 256, 6, 8, 2048)


MODELS = {f.__name__: f for f in (small_mlp, mlp, deep_mlp, large_mlp, tiny_transformer,
                                  transformer)}


def same(function, arguments, step):
    """The worst distance of the donated trees after one step from f64, of both."""
    def distances(trees, exact):
        return max(float(np.abs(np.asarray(a, "f8") - np.asarray(b, "f8")).max())
                   for a, b in zip(jax.tree.leaves(trees), jax.tree.leaves(exact)))
    single = jax.jit(function)(*arguments)[:2]
    with jax.enable_x64(True):
        wide = [np.asarray(a, "f8") if a.dtype == jnp.float32 else np.asarray(a)
                for a in jax.tree.leaves(arguments)]
        exact = jax.jit(function)(*jax.tree.unflatten(jax.tree.structure(arguments), wide))[:2]
        exact = jax.tree.map(np.asarray, exact)
    step(*arguments[2:])
    return distances(step.state(), exact), distances(single, exact)


def measure(name, args):
    device = jax.devices()[0]
    function, arguments = MODELS[name]()
    arguments = jax.device_put(arguments, device)
    batch = arguments[2:]
    started = time.perf_counter()
    step = aicf.jax.compile_step(function, arguments, (0, 1), device=args.device,
                                 precision=args.precision, verify=False, tune=args.tune)
    own_setup = time.perf_counter() - started
    if args.precision == "f32":
        print("%s: one step from f64: AICF %.2g, JAX %.2g" % (
            name, *same(function, arguments, step)), flush=True)
    started = time.perf_counter()
    jitted = jax.jit(function, donate_argnums=(0, 1)).lower(*arguments).compile()
    peer_setup = time.perf_counter() - started
    state = list(jax.tree.map(jnp.copy, arguments[:2]))

    def call(n):
        for _ in range(n):
            loss = step(*batch)
        jax.block_until_ready(loss)

    def replay(n):
        step.run(n)
        step.program.sync()

    def peer(n):
        for _ in range(n):
            *state[:], loss = jitted(*state, *batch)
        jax.block_until_ready(loss)
    variants = {"aicf call": call, "aicf replay": replay, "jax.jit": peer}
    counts = {}
    for kind, run in variants.items():
        run(3)
        started = time.perf_counter()
        run(3)
        counts[kind] = max(3, int(3 * WINDOW_SECONDS / (time.perf_counter() - started)))
    times = {kind: [] for kind in variants}
    for _ in range(args.rounds):
        for kind, run in variants.items():
            time.sleep(REST_SECONDS)
            run(1)
            started = time.perf_counter()
            run(counts[kind])
            times[kind].append((time.perf_counter() - started) / counts[kind] * 1e6)
    result = {"calls": step.cost_analysis()["calls"], "setup": [own_setup, peer_setup]}
    for kind, own in times.items():
        low, middle, high = statistics.quantiles(own, n=4)
        result[kind] = middle
        print("| %s | %s | %.1f (%.1f .. %.1f) | %s |" % (
            name, kind, middle, low, high,
            {"aicf call": "%.2f s, %d calls" % (own_setup, result["calls"]),
             "jax.jit": "%.2f s" % peer_setup}.get(kind, "")), flush=True)
    print("%s: jax.jit takes %.2f times as long as a call, %.2f as a replay" % (
        name, result["jax.jit"] / result["aicf call"],
        result["jax.jit"] / result["aicf replay"]), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--precision", choices=("f32", "tf32"), default="f32")
    parser.add_argument("--tune", choices=("off", "fast", "full"), default="off",
                        help="as JAX times algorithms of products, which is in its set-up")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", help="a JSON file for the medians")
    args = parser.parse_args()
    jax.config.update("jax_default_matmul_precision", {
        "tf32": "tensorfloat32", "f32": "float32"}[args.precision])
    results = {name: measure(name, args) for name in args.models}
    if args.out:
        with open(args.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
