# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random losses with their gradients, beside JAX, in f64. Any number of them:
AICF_RANDOM_STEPS=1000 AICF_RANDOM_SEED=7."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aicf.jax

COUNT = int(os.environ.get("AICF_RANDOM_STEPS", 30))
FIRST = int(os.environ.get("AICF_RANDOM_SEED", 1))

UNARY = (jnp.tanh, jax.nn.sigmoid, jnp.sin, jnp.cos, jnp.exp, jnp.abs, jnp.square, jax.nn.relu,
         jax.nn.gelu, jax.nn.silu, jax.nn.elu, jax.nn.softplus, jnp.expm1, jnp.negative,
         lambda x: jnp.log(1 + x * x), lambda x: jnp.sqrt(1 + x * x), lambda x: x ** 3,
         lambda x: jax.lax.rsqrt(2 + x * x), lambda x: 1 / (1.5 + x * x),
         lambda x: jnp.clip(x, -0.7, 0.9), jax.lax.stop_gradient,
         lambda x: jnp.log1p(jnp.abs(x)),
         lambda x: jnp.power(1 + jnp.abs(x), 0.7), lambda x: jnp.round(x) + x,
         lambda x: jax.nn.leaky_relu(x, 0.1), jax.nn.log_sigmoid)
BINARY = (jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, jnp.logaddexp,
          lambda a, b: a / (2 + b * b), lambda a, b: jnp.where(a > b, a, 2 * b),
          lambda a, b: jnp.where((a < b) & (b > 0), a * b, a),
          lambda a, b: jnp.hypot(a, b + 3))


class Builder:
    """Makes values out of values; every one has elements of moderate size."""

    def __init__(self, random):
        self.random, self.steps = random, []

    def integer(self, low, high):
        return int(self.random.integers(low, high))

    def axis(self, x):
        return self.integer(0, x.ndim)

    def apply(self, values):
        """Adds one value to the list."""
        x = values[self.integer(0, len(values))]
        kinds = [self.unary, self.binary, self.binary, self.reduction, self.shape, self.rows]
        values.append(jnp.tanh(kinds[self.integer(0, len(kinds))](values, x)))

    def unary(self, values, x):
        return UNARY[self.integer(0, len(UNARY))](x)

    def binary(self, values, x):
        for other in self.random.permutation(len(values)):
            try:
                shape = np.broadcast_shapes(x.shape, values[other].shape)
            except ValueError:
                continue
            if len(shape) <= 4 and np.prod(shape) <= 2000:
                return BINARY[self.integer(0, len(BINARY))](x, values[other])
        return x

    def reduction(self, values, x):
        if not x.ndim:
            return x
        functions = (jnp.sum, jnp.mean, jnp.max, jnp.min, jax.nn.logsumexp, jnp.var,
                     jax.nn.softmax, jax.nn.log_softmax, jnp.cumsum)
        function, axis = functions[self.integer(0, len(functions))], self.axis(x)
        if function in (jax.nn.softmax, jax.nn.log_softmax, jnp.cumsum):
            return function(x, axis)
        return function(x, axis, keepdims=bool(self.integer(0, 2)))

    def shape(self, values, x):
        choice = self.integer(0, 7)
        if not x.ndim or choice == 0:
            return x[None]
        axis = self.axis(x)
        if choice == 1:
            return x.transpose(self.random.permutation(x.ndim))
        if choice == 2:
            return x.reshape(-1)
        if choice == 3:
            return jnp.concatenate([x, 2 * x], axis)
        if choice == 4:
            return jnp.flip(x, axis)
        if choice == 5:
            return jnp.pad(x, [(1, 2) if d == axis else (0, 0) for d in range(x.ndim)])
        size = x.shape[axis]
        first = self.integer(0, size)
        return jax.lax.slice_in_dim(x, first, size, self.integer(1, 3), axis)

    def rows(self, values, x):
        """Products and lookups."""
        if x.ndim < 2:
            return x
        if self.integer(0, 3) == 0:
            index = self.random.integers(0, x.shape[0], self.integer(1, 6))
            return x[jnp.asarray(index, "int32")]
        if self.integer(0, 2) == 0:
            index = self.random.integers(0, x.shape[-1], x.shape[:-1])
            return jnp.take_along_axis(x, jnp.asarray(index, "int32")[..., None], -1)
        for other in self.random.permutation(len(values)):
            y = values[other]
            if y.ndim >= 2 and y.shape[:-2] == x.shape[:-2] and y.shape[-1] == x.shape[-1]:
                return x @ jnp.swapaxes(y, -1, -2)
        return jnp.einsum("...ij,...kj->...ik", x, x)


def random_step(seed):
    shapes = np.random.default_rng(seed)
    params = [jnp.asarray(shapes.normal(size=s)) for s in
              ((3, 4), (4,), tuple(int(n) for n in shapes.integers(1, 5, 3)))]
    length = int(shapes.integers(3, 14))

    def loss(params, x):
        builder = Builder(np.random.default_rng([seed, 1]))
        values = [*params, x]
        for _ in range(length):
            builder.apply(values)
        return sum((v * v).mean() for v in values[-3:])

    def step(params, x):
        value, grads = jax.value_and_grad(loss)(params, x)
        return [p - 0.1 * g for p, g in zip(params, grads)], value
    return step, (params, jnp.asarray(shapes.normal(size=(5, 4)))), 0


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_a_random_step(seed):
    with jax.enable_x64(True):
        function, (params, x), donated = random_step(seed)
        step = aicf.jax.compile_step(function, (params, x), donated, verify=False)
        for _ in range(3):
            params, expected = jax.jit(function)(params, x)
            assert abs(float(step(x)) - float(expected)) < 1e-9 * (1 + abs(float(expected)))
        for ours, theirs in zip(step.state(), params):
            assert np.allclose(ours, theirs, rtol=1e-9, atol=1e-9)
