# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's functions of elements on traced tensors."""

import re

import numpy as np
import pytest
from conftest import evaluate, said

import aicf

X = np.float32([[0.25, 0.5, 0.75], [1.5, 2.5, 0.125]])
Y = np.float32([[1, -2, 0.75], [0.5, 2.5, -3]])


@pytest.mark.parametrize("name", [
    "exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "floor", "ceil", "sign",
    "reciprocal", "square", "absolute", "negative", "positive"])
def test_functions_of_one(name):
    ufunc = getattr(np, name)
    np.testing.assert_allclose(evaluate(lambda x: ufunc(x), x=X), ufunc(X), rtol=1e-5,
                               atol=1e-6)


@pytest.mark.parametrize("name", [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "less_equal",
    "greater", "greater_equal", "equal", "not_equal"])
@pytest.mark.parametrize("order", ["tensors", "array first", "array last"])
def test_functions_of_two(name, order):
    ufunc = getattr(np, name)
    function = {"tensors": lambda x, y: ufunc(x, y),
                "array first": lambda x, y: ufunc(X.astype("f8"), y),
                "array last": lambda x, y: ufunc(x, Y.astype("f8"))}[order]
    found = evaluate(function, x=X, y=Y)
    np.testing.assert_array_equal(found, ufunc(X, Y))
    assert found.dtype in (np.float32, np.bool_)


def test_a_layer_with_numpys_words():
    class Scaled(aicf.nn.Module):
        def __init__(self):
            self.w = aicf.nn.Parameter((3,), init=2.0)

        def forward(self, x):
            return np.maximum(np.exp(self.w) * x + np.ones(3), 0) @ X.T
    np.testing.assert_allclose(aicf.compile(Scaled(), {"x": (2, 3)})(X).numpy(),
                               np.maximum(np.exp(np.float32(2)) * X + 1, 0) @ X.T, rtol=1e-5)


@pytest.mark.parametrize("function, message", [
    (lambda x: np.exp(x, where=X > 0), "numpy.exp does not work on a traced.* with where"),
    (lambda x: np.hypot(x, x), "numpy.hypot does not exist for traced tensors"),
])
def test_what_numpy_has_and_a_trace_has_not(function, message):
    with pytest.raises(aicf.TraceError) as caught:
        aicf.compile(function, {"x": (2, 3)})
    assert re.search(message, said(caught.value))
