# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.custom_gradient: functions with a derivative of their own."""

import numpy as np
import pytest

import aicf
from aicf import nn

W = np.float32([-2, -0.5, 0.25, 3])
X = np.float32([1, 2, 3, 4])


class One(nn.Module):
    def __init__(self):
        self.w = nn.Parameter((4,), init=W)


def gradient_of(function, precision="f32"):
    """The value of sum(function(w) * x), and its gradient for w and x."""
    step = aicf.compile_step(One(), lambda m, x: (function(m.w + 0, x)).sum(),
                             aicf.optim.SGD(1.0), {"x": (4,)}, outputs=("grad:w", "grad:x"))
    loss, more = step(X)
    return float(loss), more["grad:w"].numpy(), more["grad:x"].numpy()


def test_a_straight_through_estimator():
    @aicf.custom_gradient(lambda x: abs(x) <= 1)
    def binarize(x):
        return x.sign()
    loss, dw, dx = gradient_of(lambda w, x: binarize(w) * x)
    assert loss == (np.sign(W) * X).sum()
    np.testing.assert_array_equal(dw, X * (abs(W) <= 1))
    np.testing.assert_array_equal(dx, np.sign(W))
    assert binarize.__name__ == "binarize"


def test_slopes_of_two_tensors():
    @aicf.custom_gradient(lambda a, b: (b * 2, 5.0))
    def product(a, b):
        return a * b
    loss, dw, dx = gradient_of(product)
    assert loss == (W * X).sum()
    np.testing.assert_array_equal(dw, 2 * X)
    np.testing.assert_array_equal(dx, np.full(4, 5))


@pytest.mark.parametrize("slope, function, message", [
    (lambda a, b: a, lambda a, b: a, "slope gives 1 tensors, and the function takes 2"),
    (lambda a, b: (a, b), lambda a, b: a.sum(), "expected the same shape"),
])
def test_what_is_refused(slope, function, message):
    with pytest.raises(aicf.TraceError, match=message):
        gradient_of(aicf.custom_gradient(slope)(function))
    with pytest.raises(aicf.TraceError):
        aicf.compile(lambda x: aicf.custom_gradient(lambda: ())(lambda: x)(), {"x": (4,)})
