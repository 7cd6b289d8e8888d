# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas and values, without JAX: what is the same, what is not, and at what cost."""

import numpy as np
import pytest

from aicf.jax._formulas import MOST_NUMBERS, Matcher, function, variable

X, Y = variable("x"), variable("y")


class Value:
    """A tensor, with what made it."""

    def __init__(self, name="", *operands, dtype="f32", shape=(3,), **params):
        self.definition = (name, operands, params) if name else None
        self.dtype, self.shape = dtype, shape


class Counting:
    """Definitions, and how often somebody asked for one."""

    def __init__(self):
        self.asked = 0

    def __call__(self, value):
        self.asked += 1
        return value.definition


def number(value, dtype="f4"):
    return np.full((3,), value, dtype)


def mul(a, b):
    return Value("mul", a, b)


x, y = Value(), Value()


@pytest.mark.parametrize("formula, value", [
    (X * Y, mul(y, x)), (0.5 * X * Y, mul(number(0.5), mul(x, y))),
    (0.5 * X * Y, mul(Value("div", x, number(2)), y)),
    (0.5 * X * Y, mul(mul(Value("neg", x), y), number(-0.5))),
    (0.5 * X * Y, Value("neg", mul(mul(number(0.25), x), mul(y, number(-2))))),
    (X - Y, Value("sub", x, y)), (X - Y, Value("add", Value("neg", y), x)),
    (1.0 - X, Value("sub", number(1), x)), (2.0 + X * Y, Value("add_any", mul(x, y), number(2))),
    (X ** 2, Value("square", x)), (X ** 2, mul(x, x)), (X ** 3, Value("integer_pow", x, y=3)),
    (function("tanh", X) * Y, mul(y, Value("tanh", x))),
    (1 / 3 * X, mul(x, number(np.float32(1) / np.float32(3))))])
def test_what_is_the_same(formula, value):
    found = Matcher(Counting()).find(formula, value)
    assert found is not None and all(found[n] in (x, y) for n in found)


@pytest.mark.parametrize("formula, value", [
    (X * Y, Value("add", x, y)), (0.5 * X * Y, mul(number(0.5000005), mul(x, y))),
    (0.5 * X, mul(number(0.5), Value(dtype="f64"))), (X * Y, mul(x, Value(shape=(1,)))),
    (X * Y, mul(x, number(2))), (X - Y, Value("sub", number(1), x)),
    (X ** 2, mul(x, y)), (X ** 2, Value("integer_pow", x, y=3)), (X * X, mul(x, y)),
    (function("tanh", X), Value("sin", x)), (X + Y, Value("sub", x, y)), (X, number(1)),
    (0.5 * X, mul(number([0.5, 0.5, 0.25]), x)), (0.5 * X, Value("div", number(2), x))])
def test_what_is_not(formula, value):
    assert Matcher(Counting()).find(formula, value) is None


@pytest.mark.parametrize("dtype, off, is_same", [
    ("f32", 3e-7, True), ("f32", 1e-6, False), ("f64", 1e-15, True), ("f64", 1e-11, False),
    ("bf16", 0, False), ("f16", 0, False), ("i32", 0, False)])
def test_numbers_are_known_by_the_digits_of_their_type(dtype, off, is_same):
    own = Value(dtype=dtype)
    value = Value("mul", own, number(0.75 * (1 + off), "f8"), dtype=dtype)
    assert (Matcher(Counting()).find(0.75 * X, value) is not None) == is_same


@pytest.mark.parametrize("step", [
    lambda v: mul(v, number(1.5)), lambda v: Value("neg", v), lambda v: mul(v, y),
    lambda v: mul(v, v), lambda v: Value("add_any", v, v),
    lambda v: mul(v, mul(number(1.5), mul(v, number(3)))), lambda v: mul(Value("neg", v), v)])
def test_the_cost_does_not_grow_with_a_chain(step):
    asked = []
    for length in (2 * MOST_NUMBERS, 2000):
        value = Value("tanh", x)
        for _ in range(length):
            value = step(value)
        counting = Counting()
        Matcher(counting).find(0.5 * X * Y * (1.0 + function("tanh", X)), value)
        asked.append(counting.asked)
    assert asked[0] == asked[1]
