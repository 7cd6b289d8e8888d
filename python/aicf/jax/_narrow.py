# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types that no tensor has, in tensors of integers; and keys of jax.random.

    uint32, uint64          the same bits in i32, i64
    int8, int16, uint8,
    uint16                  the same number in i32, which wraps behind each sum
    a key                   its words, two or four, as a last dimension

A row that reads bits alone takes the words as they are. For another one uint32 becomes i64.
What draws, JAX takes apart: the same bits come out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from .. import ops
from .._tracing.constants import constant
from .._tracing.exact import low_bits
from .._tracing.views import stack
from ..jax import _philox
from ._table import TABLE, Unsupported, is_constant

#: By JAX's type, ours and the bits of it.
_STORED = {"uint64": ("i64", 64), "uint32": ("i32", 32), "uint16": ("i32", 16),
           "uint8": ("i32", 8), "int16": ("i32", 16), "int8": ("i32", 8)}
_NUMPY = {"i32": np.int32, "i64": np.int64}

#: What takes keys apart: by primitive, the function of their implementation and the
#: parameters that it has.
_OF_KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "random_bits": ("random_bits", ("bit_width", "shape")), "random_split": ("split", ("shape",)),
    "random_fold_in": ("fold_in", ()), "random_seed": ("seed", ())}
#: Of keys: of what they are made, u32, JAX's own functions make all but the bits.
_IMPLEMENTATIONS = ("threefry2x32", "rbg", "unsafe_rbg")
_SAME_KEY = ("random_wrap", "random_unwrap", "random_clone")


def is_key(dtype: Any) -> bool:
    """Whether JAX's type is that of keys; None and names of ours are not."""
    return dtype is not None and not isinstance(dtype, str) and bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def stored_type(dtype: Any) -> str | None:
    """Our type of a type of JAX's that no tensor has, or None."""
    if is_key(dtype):
        return "i32" if dtype._impl.name in _IMPLEMENTATIONS else None
    if jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        return None
    return _STORED.get(np.dtype(dtype).name, (None, 0))[0]


def stored_shape(shape: Sequence[int], dtype: Any) -> tuple[int, ...]:
    """The shape of the tensor that holds an array."""
    return (*shape, *(dtype._impl.key_shape if is_key(dtype) else ()))


def stored(value: Any) -> Any:
    """An array of JAX's or NumPy's as the tensor that holds it has it. Others stay."""
    dtype = getattr(value, "dtype", None)
    if is_key(dtype):
        value = jax.random.key_data(value)
    elif not isinstance(dtype, np.dtype) or dtype.name not in _STORED:
        return value
    own, bits = _STORED[np.dtype(value.dtype).name]
    if isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
        return jax.lax.bitcast_convert_type(value, _NUMPY[own]) if bits >= 32 \
            else value.astype(_NUMPY[own])
    array = np.asarray(value)
    return array.view(_NUMPY[own]) if bits >= 32 else array.astype(_NUMPY[own])


def given_back(value: Any, dtype: Any) -> Any:
    """The other way round: an array of JAX's of integers as one of `dtype`."""
    if is_key(dtype):
        words = jax.lax.bitcast_convert_type(value, np.uint32)
        return jax.random.wrap_key_data(words, impl=dtype._impl.name)
    name = np.dtype(dtype).name
    if _STORED[name][1] >= 32:
        return jax.lax.bitcast_convert_type(value, np.dtype(dtype))
    return value.astype(dtype)


# Equations

def _name(aval: Any) -> str:
    dtype = getattr(aval, "dtype", None)
    return "" if dtype is None or is_key(dtype) else np.dtype(dtype).name


def concerns(equation: Any) -> bool:
    """Whether an operand or a result is of such a type."""
    return any(_name(v.aval) in _STORED or is_key(getattr(v.aval, "dtype", None))
               for v in (*equation.invars, *equation.outvars))


#: Runs a row: name, parameters, operands, shape and type of each result, and what becomes
#: of each of them, in order.
RunRow = Callable[..., list[Any]]


def run(equation: Any, operands: list[Any], run_row: RunRow, run_jaxpr: Callable[..., Any],
        type_of: Callable[[Any], Any]) -> list[Any]:
    """What an equation that concerns() makes. Raises Unsupported."""
    name = equation.primitive.name
    if name in _SAME_KEY:
        return [stored(operands[0])]
    if name in _OF_KEYS:
        return _of_keys(equation, operands, run_jaxpr)
    if name == "rng_bit_generator":
        return _generated(equation, operands, run_jaxpr)
    if any(is_key(getattr(v.aval, "dtype", None)) for v in equation.outvars):
        return [_of_words(equation, operands, run_row)]
    row = TABLE.get(name)
    if row is None:
        raise Unsupported("of %s" % next(n for v in equation.invars if (n := _name(v.aval))))
    names = [_name(v.aval) for v in equation.invars]
    results = [_name(v.aval) for v in equation.outvars]
    is_wide = not row.of_bits and "uint32" in (*names, *results)
    if "uint64" in (*names, *results) and not row.of_bits and name != "convert_element_type":
        raise Unsupported("of uint64")
    own = [_operand(value, n, is_wide or i >= _STARTS.get(name, len(names)))
           for i, (value, n) in enumerate(zip(operands, names))]
    if name in _SIGNS and not is_constant(own[0]) \
            and _SIGNS[name] == names[0].startswith("u"):
        own[0] = _wrapped(own[0], names[0], _SIGNS[name])
    types = [(tuple(v.aval.shape), "i64" if is_wide and n == "uint32" else
              _STORED[n][0] if n in _STORED else type_of(v.aval.dtype))
             for v, n in zip(equation.outvars, results)]
    params = dict(equation.params)
    if names and names[0] in _STORED:
        params["bits"] = _STORED[names[0]][1]
    is_of_float = bool(names) and names[0].startswith(("float", "bfloat"))
    number = iter(results)
    return run_row(name, params, own, types,
                   lambda made: _narrowed(made, next(number), is_of_float))


def _operand(value: Any, name: str, is_wide: bool) -> Any:
    if is_constant(value):
        if is_wide and name == "uint32":
            return value.astype(np.int64)
        return stored(value)
    if is_wide and name == "uint32":
        wide = value.astype("i64")
        return ops.bitwise_and(wide, ops.fill_like(wide, value=float(2 ** 32 - 1)))
    return value


def _narrowed(made: Any, name: str, is_of_float: bool) -> Any:
    """A result in the tensor that holds it: what does not fit wraps, or is the nearest
    number where it comes from a float."""
    if name not in _STORED or is_constant(made):
        return stored(made) if is_constant(made) else made
    kind, bits = _STORED[name]
    low, high = (0, 2 ** bits - 1) if name[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)
    if bits < 64 and is_of_float and made.dtype == ("i64" if bits == 32 else "i32"):
        return made.clamp(low, high).astype(kind)
    return made.astype(kind) if bits >= 32 else _wrapped(made, name, low < 0)


#: Rows of bits of which the operands from this one on are numbers: where a box starts.
_STARTS = {"dynamic_slice": 1, "dynamic_update_slice": 2}
#: Shifts to the right that read a number with or without a sign, whatever its type is.
_SIGNS = {"shift_right_arithmetic": True, "shift_right_logical": False}


def _wrapped(made: Any, name: str, has_sign: bool) -> Any:
    """The low bits of a number, as the type has them with or without a sign."""
    bits = _STORED[name][1] if name in _STORED else 64
    return made if bits >= 32 else low_bits(made, bits, has_sign)


# Keys

def _of_keys(equation: Any, operands: list[Any], run_jaxpr: Callable[..., Any]) -> list[Any]:
    """What the implementation of a key computes, as JAX traces it."""
    function, names = _OF_KEYS[equation.primitive.name]
    keyed = (equation.outvars if function == "seed" else equation.invars)[0].aval
    impl = keyed.dtype._impl
    if impl.name not in _IMPLEMENTATIONS:
        raise Unsupported("draws with the generator %s: make what is drawn an argument"
                          % impl.name)
    given = {n: equation.params[n] for n in names}

    def once(*words: Any) -> Any:
        return getattr(impl, function)(*words, *given.values())
    if function == "fold_in":
        return _folded(equation, operands, impl, run_jaxpr)
    for _ in keyed.shape if function != "seed" else equation.invars[0].aval.shape:
        once = jax.vmap(once)
    shapes = [jax.ShapeDtypeStruct(stored_shape(v.aval.shape, v.aval.dtype),
                                   np.uint32 if is_key(v.aval.dtype) else v.aval.dtype)
              for v in equation.invars]
    made: list[Any] = run_jaxpr(jax.make_jaxpr(once)(*shapes),
                                [_words(value) for value in operands])
    return made


def _folded(equation: Any, operands: list[Any], impl: Any, run_jaxpr: Callable[..., Any]
            ) -> list[Any]:
    """A number for each key, one for all, or one key for all numbers."""
    keys, numbers = (v.aval for v in equation.invars)
    shape = np.broadcast_shapes(keys.shape, numbers.shape)

    def whole(words: Any, data: Any) -> Any:
        once = impl.fold_in
        for _ in shape:
            once = jax.vmap(once)
        return once(jax.numpy.broadcast_to(words, (*shape, *impl.key_shape)),
                    jax.numpy.broadcast_to(data, shape))
    made: list[Any] = run_jaxpr(jax.make_jaxpr(whole)(
        jax.ShapeDtypeStruct((*keys.shape, *impl.key_shape), np.uint32),
        jax.ShapeDtypeStruct(numbers.shape, numbers.dtype)),
        [_words(value) for value in operands])
    return made


def _generated(equation: Any, operands: list[Any], run_jaxpr: Callable[..., Any]
               ) -> list[Any]:
    """Bits of Philox, which is what XLA takes where nobody says."""
    if "DEFAULT" not in str(equation.params["algorithm"]) \
            and "PHILOX" not in str(equation.params["algorithm"]):
        raise Unsupported("of the algorithm %s" % equation.params["algorithm"])
    if 0 in equation.params["shape"]:
        raise Unsupported("draws nothing")
    if _name(equation.invars[0].aval) != "uint32":
        raise Unsupported("with a key of %s" % equation.invars[0].aval)
    made: list[Any] = run_jaxpr(_philox.as_jaxpr(equation.params), operands)
    return made


def _words(value: Any) -> Any:
    return np.asarray(jax.random.key_data(value)) \
        if is_key(getattr(value, "dtype", None)) else value


def _of_words(equation: Any, operands: list[Any], run_row: RunRow) -> Any:
    """A row that moves elements, for each word of a key."""
    name, aval = equation.primitive.name, equation.outvars[0].aval
    if name not in TABLE or not TABLE[name].of_bits or len(equation.outvars) != 1:
        raise Unsupported("of keys")
    made = []
    for i in range(aval.dtype._impl.key_shape[0]):
        own = [stored(_words(value))[..., i] if is_key(v.aval.dtype) else value
               for value, v in zip(operands, equation.invars)]
        made += run_row(name, equation.params, own, [(tuple(aval.shape), "i32")])
    return stack([constant(m) if is_constant(m) else m for m in made], -1)
