#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The polynomials of kernels/pointwise/BranchFree.h: coefficients, lowest power first, and
the largest relative error that they add to their function.

    python3 scripts/fit_functions.py    (needs NumPy)

Lawson's algorithm: least squares, whose weights grow where the error is large, end at the
polynomial with the least maximal error. Does not check the functions: KernelTest does.
"""

import math

import numpy as np
from numpy.polynomial import Polynomial, chebyshev

POINTS, ROUNDS = 4001, 200


def fit(function, weight, low, high, degree):
    """Returns the polynomial p for which max |weight·(function - p)| is least, and that."""
    nodes = np.cos(np.linspace(0, np.pi, POINTS))
    points = (low + high) / 2 + (high - low) / 2 * nodes
    values = np.array([function(x) for x in points])
    weights = np.array([weight(x) for x in points])
    powers = chebyshev.chebvander(nodes, degree)
    shares, best = np.ones(POINTS), (math.inf, None)
    for _ in range(ROUNDS):
        scale = np.sqrt(shares) * weights
        found = np.linalg.lstsq(powers * scale[:, None], values * scale, rcond=None)[0]
        errors = np.abs(weights * (values - powers @ found))
        best = min(best, (errors.max(), found), key=lambda pair: pair[0])
        shares *= errors
        shares /= shares.sum()
    to_node = Polynomial([-(high + low) / (high - low), 2 / (high - low)])
    return Polynomial(chebyshev.cheb2poly(best[1]))(to_node), best[0]


def exp_tail(r):
    return sum(r**k / math.factorial(k + 2) for k in range(25))


def log_tail(f):
    if abs(f) < 0.01:
        return sum((-f)**k / (k + 3) for k in range(12))
    return (math.log1p(f) - f + f * f / 2) / f**3


def tanh_tail(z):
    if z < 1e-3:
        return -1 / 3 + 2 * z / 15 - 17 * z**2 / 315 + 62 * z**3 / 2835
    return (math.tanh(math.sqrt(z)) / math.sqrt(z) - 1) / z


def erf_ratio(z):
    x = math.sqrt(z)
    return math.erf(x) / x if z > 1e-8 else 2 / math.sqrt(math.pi) * (1 - z / 3)


def erfc_scaled(q):
    x = 2 * (1 + q) / (1 - q)
    # Beyond 26 erfc is no double.
    return math.erfc(x) * math.exp(x * x) * (1 + 2 * x)


def ratio(top, bottom):
    return abs(top / bottom) if bottom else 0


def main():
    half = math.log(2) / 2 * 1.01
    for name, *problem in (
            ("splitExp: (e^r - 1 - r)/r^2", exp_tail,
             lambda r: ratio(r * r, math.expm1(r)), -half, half, 5),
            ("logOfNormal: (log(1 + f) - f + f^2/2)/f^3", log_tail,
             lambda f: ratio(f**3, math.log1p(f)), math.sqrt(0.5) - 1.001,
             math.sqrt(2) - 0.999, 7),
            ("tanh: (tanh(x)/x - 1)/x^2 in x^2", tanh_tail,
             lambda z: ratio(z * math.sqrt(z), math.tanh(math.sqrt(z))), 0, 0.36, 4),
            ("erf: erf(x)/x - 1 in x^2", lambda z: erf_ratio(z) - 1,
             lambda z: 1 / erf_ratio(z), 0, 1.02, 6),
            ("erfc: erf(x)/x in x^2", erf_ratio,
             lambda z: ratio(math.sqrt(z), math.erfc(math.sqrt(z))), 0, 0.3025, 4),
            ("erf, erfc: (1 + 2x) e^(x^2) erfc(x) in (x - 2)/(x + 2)", erfc_scaled,
             lambda q: 1 / erfc_scaled(q), (0.45 - 2) / (0.45 + 2),
             (10.1 - 2) / (10.1 + 2), 9)):
        polynomial, error = fit(*problem)
        print("%s\n  %s\n  error 2^%.1f" % (
            name, ", ".join("%.9g" % np.float32(c) for c in polynomial.coef),
            math.log2(error)))


if __name__ == "__main__":
    main()
