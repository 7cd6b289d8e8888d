# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every primitive of the table at special points beside JAX: compiled on one batch, called
with another. A derivative needs no test of its own: JAX makes it of primitives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import aicf.jax
from aicf.errors import AICFError
from aicf.jax._table import whole_table

lax = jax.lax
INF, NAN = np.inf, np.nan
#: ±0, ties, infinities, NaN, ends, boundaries of rounding. XLA takes subnormal numbers for 0
#: on the CPU, and we do not.
FLOATS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, 1 / 3, 6.0, 20.0, -20.0,
                   88.0, -90.0, 1e6, -1e6, 2.0 ** 24 + 1, 1e-9, -1e-9, 1.2e-38, 3e38, -3e38,
                   0.9999999, -0.9999999, INF, -INF, NAN])
SIGNED = np.array([0, 1, -1, 2, -3, 7, 100, -100, 2 ** 15, 2 ** 30, 2 ** 31 - 1, -2 ** 31])
UNSIGNED = np.array([0, 1, 2, 7, 100, 255, 65535, 2 ** 30, 2 ** 31, 2 ** 32 - 1])
TYPES = {"f32": FLOATS, "bf16": FLOATS, "f16": FLOATS, "i32": SIGNED, "u32": UNSIGNED,
         "u8": UNSIGNED % 256, "i8": SIGNED % 256 - 128, "bool": np.array([False, True])}
NAMES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "i32": "int32", "u32": "uint32",
         "u8": "uint8", "i8": "int8", "bool": "bool"}

UNARY = ("abs acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc erf_inv exp exp2 expm1 "
         "floor is_finite log log1p logistic neg round rsqrt sign sin sinh sqrt square tan tanh"
         ).split()
BINARY = "add atan2 div max min mul pow rem sub eq ge gt le lt ne".split()
BITS = "bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic " \
       "shift_right_logical".split()
#: By function: why its numbers are others at some points. Roundings are not in here.
EXPLAINED = {
    "exp2-bf16": "XLA multiplies by ln 2 in 16 bits first",
}
#: Units of the last place that XLA's or our functions may be off, beside 2.
LOOSE = {"pow": 64, "tan": 16, "asinh": 16, "acosh": 32, "atanh": 16, "sinh": 16, "cosh": 16,
         "erf_inv": 16, "acos": 8, "cbrt": 8, "erfc": 64, "rsqrt": 4, "log1p": 8, "exp": 4,
         "sin": 8, "cos": 8, "tanh": 8, "logistic": 8, "exp2": 8, "erf": 8, "expm1": 8, "log": 4}


def wrong(name, function, *operands):
    """Differences in words, or None. Skips what JAX or the import refuses."""
    try:
        expected = jax.jit(function)(*operands)
    except (TypeError, ValueError) as error:
        pytest.skip("JAX: %s" % str(error).splitlines()[0][:80])
    benign = [np.full_like(v, 1) for v in operands]
    try:
        step = aicf.jax.compile_step(function, benign, verify=False, shapes="fixed")
    except AICFError as error:
        pytest.skip(str(error)[:100])
    found = []
    for ours, theirs in zip(jax.tree.leaves(step(*operands)), jax.tree.leaves(expected)):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        a, b = np.asarray(ours).reshape(-1), np.asarray(theirs).reshape(-1)
        if a.dtype.kind in "iub":
            bad = a != b
        else:
            bad = _far(name, a, b)
        at = np.flatnonzero(bad)[:4]
        found += ["%r is %r, in JAX %r" % (tuple(
            np.asarray(v).reshape(-1)[i].item() if np.size(v) == a.size else "..."
            for v in operands), a[i].item(), b[i].item()) for i in at]
    return "; ".join(found) or None


def _far(name, a, b):
    """Where floats differ by more than their roundings. XLA's CPU flushes subnormal numbers."""
    digits = {"float32": 23, "bfloat16": 7, "float16": 10}[str(a.dtype)]
    tiny = 2.0 ** -126 if digits != 10 else 2.0 ** -24
    a, b = a.astype("f8"), b.astype("f8")
    near = (2 + LOOSE.get(name, 0)) * 2.0 ** -digits * np.abs(b) + 2 * tiny
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isfinite(b) & (np.abs(a - b) <= near))
    return ~same


def of_type(kind):
    return jnp.asarray(TYPES[kind]).astype(NAMES[kind])


@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name, kind):
    function = getattr(lax, name)
    if name == "round":
        def function(x):
            return lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), jnp.round(x)
    found = wrong(name, function, of_type(kind))
    assert found is None or "%s-%s" % (name, kind) in EXPLAINED, found


@pytest.mark.parametrize("kind", sorted(TYPES))
@pytest.mark.parametrize("name", BINARY + BITS)
def test_of_two(name, kind):
    points = TYPES[kind]
    a, b = (jnp.asarray(v.reshape(-1)).astype(NAMES[kind])
            for v in np.meshgrid(points, points))
    if name in ("div", "rem") and kind[0] in "iu":
        b = jnp.where(b == 0, jnp.ones_like(b), b)  # XLA's own numbers differ by device
    found = wrong(name, getattr(lax, name), a, b)
    assert found is None or "%s-%s" % (name, kind) in EXPLAINED, found


@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.5, 2.0, 3.0, -1.0, -2.0, 0.0, 0.3])
@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_powers_by_a_number(exponent, kind):
    found = wrong("pow", lambda x: lax.pow(x, jnp.full_like(x, exponent)), of_type(kind))
    assert found is None, found


ROWS = jnp.asarray([[1.0, INF, 2.0, 0.0], [-INF, -INF, -INF, -INF], [3e38, 1.0, 1.0, -3e38],
                    [2.0, 2.0, 1.0, 2.0], [NAN, 1.0, NAN, 0.0], [0.0, -0.0, -1.0, 1e-30]])
OVER_ROWS = {
    "max": lambda x: x.max(1), "min": lambda x: x.min(1), "sum": lambda x: x.sum(1),
    "argmax": lambda x: x.argmax(1), "argmin": lambda x: x.argmin(1), "prod": lambda x: x.prod(1),
    "sort": lambda x: jnp.sort(x, 1), "argsort": lambda x: jnp.argsort(x, 1),
    "cummax": lambda x: lax.cummax(x, 1), "cummin": lambda x: lax.cummin(x, 1),
    "cumsum": lambda x: lax.cumsum(x, 1), "cumprod": lambda x: lax.cumprod(x, 1),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 1), "top_k": lambda x: lax.top_k(x, 2),
    "softmax": lambda x: jax.nn.softmax(x, 1), "logsumexp": lambda x: jax.nn.logsumexp(x, 1),
    "clamp": lambda x: lax.clamp(-1.0, x, 1.0), "clamp backwards": lambda x: lax.clamp(1.0, x, -1.0),
    "where": lambda x: jnp.where(x > 0, x, jnp.nan), "times infinity": lambda x: x * INF,
    "any and all": lambda x: ((x > 0).any(1), (x > 0).all(1)), "max of all": jnp.max,
    "integers": lambda x: x.astype("int32"), "median": lambda x: jnp.median(x, 1),
    "logaddexp": lambda x: jnp.logaddexp(x, x[::-1]), "std": lambda x: x.std(1),
    "norm": lambda x: jnp.linalg.norm(x, axis=1), "max's gradient": jax.grad(
        lambda x: jnp.where(jnp.isnan(x), 0.0, x).max(1).sum()), "sort's gradient": jax.grad(
            lambda x: (jnp.sort(x, 1) * jnp.arange(4.0)).sum()),
}


@pytest.mark.parametrize("name", sorted(OVER_ROWS))
def test_over_rows(name):
    found = wrong("erfc", OVER_ROWS[name], ROWS)
    assert found is None, found


INDICES = jnp.asarray([0, 5, 6, 7, -1, -6, -7, 2 ** 31 - 1, -2 ** 31], "int32")


@pytest.mark.parametrize("mode", ["fill", "clip", "wrap", "promise_in_bounds"])
@pytest.mark.parametrize("of", ["floats", "numbers", "flags"])
def test_indices_outside(mode, of):
    table = {"floats": ROWS[:, :3], "numbers": ROWS[:, 3:].astype("int32") + jnp.arange(3),
             "flags": ROWS[:, :3] > 0}[of]
    found = wrong("take", lambda x, i: jnp.take(x, i, axis=0, mode=mode)
                  if mode != "promise_in_bounds" else x.at[i].get(mode=mode), table, INDICES)
    assert found is None, found


def test_the_table_is_in_here():
    """A new primitive of elements needs its points."""
    names = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor"}
    known = {names.get(n, n) for n in UNARY + BINARY + BITS}
    others = {"add_any", "not", "integer_pow", "stop_gradient", "one_minus_square", "copy", "copy_p",
              "optimization_barrier", "reduce_precision", "pvary", "convert_element_type", "tie",
              "clamp", "select_n", "lt_to", "le_to", "log2"}
    rows = {name for name, row in whole_table().items() if row.is_elementwise}
    assert rows <= known | others, rows - known - others
