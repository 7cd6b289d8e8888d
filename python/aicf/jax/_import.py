# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A jaxpr as ops of a trace.

The equations are run once on traced tensors: the row of the table says what each is made
of. What follows from constants alone, JAX computes. A jaxpr inside of an equation is
inlined; a short scan is unrolled, and a long one becomes a loop of the plan. Shapes and
element types are compared with JAX's after every equation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from .. import ops
from .._base.dtypes import NUMPY_TYPES
from .._tracing import views as _views
from .._tracing.constants import constant
from .._tracing.pointwise import FLOATS, broadcast, where
from .._tracing.trace import TraceAgain, current_trace, trace_error
from ..errors import CompileError, ModuleImportError, TraceError
from ..jax import _loops, _narrow
from ._attention import AttentionRaiser
from ._clipping import ClippingRaiser
from ._gelu import GeluRaiser
from ._optimizers import OptimizerRaiser
from ._raising import Raiser
from ._shapes import part
from ._softmax_bwd import SoftmaxGradRaiser
from ._table import (Call, Found, Notes, Unsupported, is_constant, once, repeated_dims,
                     whole_table)

_TABLE = whole_table()

#: Types that a tensor has here, by the name of JAX's.
DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
          "int32": "i32", "int64": "i64", "bool": "i1"}

#: By primitive, the parameter that has the jaxpr which the equation stands for.
_INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr",
            "core_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr",
            "custom_vjp_call": "call_jaxpr", "custom_vjp_call_jaxpr": "fun_jaxpr",
            "remat2": "jaxpr", "remat": "jaxpr", "checkpoint": "jaxpr"}

_REASONS = {
    "conv_general_dilated": "there are no convolutions yet",
}


def dtype_of(dtype: Any) -> str | None:
    """The type of the tensor that holds a type of JAX's, or None."""
    return _narrow.stored_type(dtype) or (
        None if hasattr(dtype, "_impl") else DTYPES.get(np.dtype(dtype).name))


def reason_for(name: str) -> str:
    """Why a primitive without a row is refused; "" where nobody knows it."""
    return _REASONS.get(name, "")


def line_of(equation: Any) -> tuple[str, int] | None:
    """The user's file and line, or None if JAX does not say."""
    try:  # it is not of JAX's public interface
        from jax._src.source_info_util import user_frame
        frame = user_frame(equation.source_info.traceback)
    except Exception:
        return None
    return (frame.file_name, int(frame.start_line)) if frame else None


class Importer:
    """Runs jaxprs in the current trace.

    Args:
        becomes: by the place of an input that is a state, the result that is its new value.
        plain: places of states that no op of an optimizer updates. run() adds to them.
        max_unroll: the longest scan that is unrolled; others are loops of the plan.
        max_while: the most runs of a loop whose end depends on values; 0 refuses it.
        place: file and line of the function, for equations of which JAX says none.
    """

    def __init__(self, max_unroll: int, max_while: int, place: tuple[str, int],
                 becomes: Mapping[int, int], plain: set[int]) -> None:
        self._becomes, self._plain = becomes, plain
        self.max_unroll, self.max_while = max_unroll, max_while
        self.places = [place]
        self._is_in_loop = False
        self.refused: dict[str, list[Any]] = {}  # text: how often, the first line
        self.notes, self.found = Notes(), Found(self.places)
        self.optimizers = OptimizerRaiser(
            self.notes, self.found, set(becomes).difference(plain))
        rows = Raiser(self.notes, self.found)
        self.raisers = (rows, SoftmaxGradRaiser(self.notes, self.found, rows.softmax_of),
                        GeluRaiser(self.notes, self.found),
                        ClippingRaiser(self.notes, self.found),
                        AttentionRaiser(self.notes, self.found), self.optimizers)

    def run(self, closed: Any, inputs: Sequence[Any]) -> list[Any]:
        """Returns the results: tensors, or arrays of NumPy for constants. Raises
        ModuleImportError with all that cannot be translated, and TraceAgain where ops of
        optimizers were raised that would update states which become others."""
        for place, value in enumerate(inputs):
            self.notes.add("argument", value, place)
        results = self._jaxpr(closed.jaxpr, closed.consts, inputs)
        self.check()
        misplaced = self.optimizers.misplaced({place: results[number] for place, number
                                               in self._becomes.items()})
        if misplaced:
            self._plain |= misplaced
            raise TraceAgain
        return [self.optimizers.result(value) for value in results]

    def check(self) -> None:
        if self.refused:
            texts = ["%s (%d times, first at %s:%d)" % (text, count, *line)
                     for text, (count, line) in self.refused.items()]
            first = next(iter(self.refused.values()))[1]
            raise ModuleImportError(
                "the step has %d kinds of operations that cannot be imported: %s"
                % (len(texts), "; ".join(texts)), *first)

    # Equations

    def _jaxpr(self, jaxpr: Any, constants: Sequence[Any], inputs: Sequence[Any]
               ) -> list[Any]:
        env: dict[Any, Any] = {}

        def read(atom: Any) -> Any:
            if isinstance(atom, jax.extend.core.Literal):
                return np.asarray(atom.val, atom.aval.dtype)
            return env[atom]
        for var, value in zip(jaxpr.constvars, constants):
            env[var] = Opaque(value) if _narrow.is_key(value.dtype) else np.asarray(value)
        env.update(zip(jaxpr.invars, inputs))
        trace = current_trace("an imported step")
        for equation in jaxpr.eqns:
            operands = [read(atom) for atom in equation.invars]
            self.places.append(line_of(equation) or self.places[-1])
            with trace.at(*self.places[-1]):
                results = self._equation(equation, operands)
            self.places.pop()
            env.update(zip(equation.outvars, results))
        return [read(atom) for atom in jaxpr.outvars]

    def _closed(self, jaxpr: Any, inputs: Sequence[Any]) -> list[Any]:
        """One with its constants, or none."""
        return self._jaxpr(getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ()),
                           inputs)

    def _equation(self, equation: Any, operands: list[Any]) -> list[Any]:
        name = equation.primitive.name
        if name in _INLINED and _INLINED[name] in equation.params:
            return self._closed(equation.params[_INLINED[name]], operands)
        try:
            if any(value is _NOTHING for value in operands):
                return [_stand_in(var.aval) for var in equation.outvars]
            if name in ("scan", "cond", "while"):
                run = {"scan": self._scan, "cond": self._cond, "while": self._while}[name]
                return run(equation.params, operands)
            if all(is_constant(v) or isinstance(v, Opaque) for v in operands) \
                    and (operands or not _narrow.concerns(equation)):
                return _computed(equation, operands)
            if _narrow.concerns(equation):
                made = _narrow.run(equation, [v.value if isinstance(v, Opaque) else v
                                              for v in operands],
                                   self._run_row, self._closed, dtype_of)
                return [self._checked(m, var, equation)
                        for m, var in zip(made, equation.outvars)]
            if name not in _TABLE:
                raise Unsupported(reason_for(name) or "nobody has told AICF what it is")
            return self._row(equation, operands)
        except (Unsupported, TraceError, CompileError) as error:
            text = "%s: %s" % (name, getattr(error, "message", str(error)).splitlines()[0])
            if text not in self.refused:
                self.refused[text] = [0, self.places[-1]]
            self.refused[text][0] += 1
            return [_stand_in(var.aval) for var in equation.outvars]

    def _row(self, equation: Any, operands: list[Any]) -> list[Any]:
        types = [(tuple(v.aval.shape), dtype_of(v.aval.dtype)) for v in equation.outvars]
        if types[0][1] is None:
            raise Unsupported("gives %s" % equation.outvars[0].aval.dtype)
        if any(is_constant(v) and dtype_of(v.dtype) is None for v in operands):
            raise Unsupported("of a type that no tensor has")
        results = self._run_row(equation.primitive.name, equation.params, operands, types)
        return [self._checked(result, var, equation)
                for result, var in zip(results, equation.outvars)]

    def _run_row(self, name: str, params: Any, operands: list[Any],
                 types: Sequence[tuple[tuple[int, ...], Any]],
                 finish: Callable[[Any], Any] = lambda made: made) -> list[Any]:
        """What a row makes, for results of these shapes and types."""
        call = Call(params, *types[0], self.notes)
        made = _TABLE[name].function(call, *operands)
        made = [finish(m) for m in made] if isinstance(made, list) else finish(made)
        if not isinstance(made, list) and all(made is not value for value in operands):
            self.notes.add("definition", made, (name, operands, params))
        for raiser in self.raisers:
            made = raiser.see(name, call, operands, made)
        results: list[Any] = made if isinstance(made, list) else [made]
        return results

    @staticmethod
    def _checked(result: Any, var: Any, equation: Any) -> Any:
        """Of the type that JAX's has. Raises TraceError for another shape."""
        shape = _narrow.stored_shape(var.aval.shape, var.aval.dtype)
        dtype = dtype_of(var.aval.dtype)
        if tuple(result.shape) != shape:
            trace_error("%s gives %s here, and the shape %s in JAX: please report it"
                        % (equation.primitive.name, result, shape))
        if is_constant(result) or dtype is None or result.dtype == dtype:
            return result
        return result.astype(dtype)

    def _cond(self, params: Any, operands: list[Any]) -> list[Any]:
        """The branch, if it is known. Else all are computed, and one is chosen."""
        branches, which = params["branches"], operands[0]
        if is_constant(which):
            return self._closed(branches[min(max(int(which), 0), len(branches) - 1)],
                                operands[1:])
        made = [self._closed(branch, operands[1:]) for branch in branches]
        return [_chosen(which, list(values)) for values in zip(*made)]

    def _while(self, params: Any, operands: list[Any]) -> list[Any]:
        """As often as its condition says, if that follows from constants alone."""
        first, second = int(params["cond_nconsts"]), int(params["body_nconsts"])
        of_cond, of_body = operands[:first], operands[first:first + second]
        carry = operands[first + second:]
        times = _loops.runs_of(params, of_cond, of_body, carry)
        if times is None:
            return self._bounded_while(params, of_cond, of_body, carry)

        def run(_: Any, *old: Any) -> list[Any]:
            return self._closed(params["body_jaxpr"], [*of_body, *old])
        if times > self.max_unroll:
            return self._repeat(times, carry, run)
        for i in range(times):
            carry = run(i, *carry)
        return carry

    def _bounded_while(self, params: Any, of_cond: list[Any], of_body: list[Any],
                       carry: list[Any]) -> list[Any]:
        """As often as max_while says; what a run behind the end makes is not taken. Where it
        would go on, floats are NaN."""
        if self.max_while < 1:
            raise Unsupported("how often it runs depends on values: max_while is the most "
                              "that it may")
        def run(_: Any, going: Any, *old: Any) -> list[Any]:
            now = tensor_of(self._closed(params["cond_jaxpr"], [*of_cond, *old])[0])
            going = now if is_constant(going) else ops.logical_and(going, now)
            made = self._closed(params["body_jaxpr"], [*of_body, *old])
            which = going.astype("i32")
            return [going, *(_chosen(which, [o, n]) for o, n in zip(old, made))]
        going: Any = np.asarray(True)
        if self.max_while > self.max_unroll:
            going, *carry = self._repeat(self.max_while, [tensor_of(going), *carry], run)
        else:
            for i in range(self.max_while):
                going, *carry = run(i, going, *carry)
        if not any(getattr(v, "dtype", "") in FLOATS for v in carry):
            raise Unsupported("its end depends on values, and it has no float that could say "
                              "that it would go on")
        now = self._closed(params["cond_jaxpr"], [*of_cond, *carry])[0]
        goes_on = ops.logical_and(going, constant(now) if is_constant(now) else now)
        return [v.masked_fill(broadcast(goes_on, v.shape), math.nan)
                if getattr(v, "dtype", "") in FLOATS else v for v in carry]

    def _repeat(self, times: int, inits: Sequence[Any],
                run: Callable[..., list[Any]]) -> list[Any]:
        """What run(i, *values) gives in the last of `times` runs: a loop of the plan, of
        which the body is imported once."""
        if self._is_in_loop:
            raise Unsupported("a loop of %d runs inside of another loop: both can only be "
                              "unrolled, and max_unroll is %d" % (times, self.max_unroll))

        def once(i: Any, *values: Any) -> list[Any]:
            made = run(i, *values)
            if any(value is _NOTHING for value in made):
                raise _Refused
            return [tensor_of(value) for value in made]
        if any(value is _NOTHING for value in inits):
            return [_NOTHING] * len(inits)
        self._is_in_loop = True
        known = [(of, _remembered(of)) for of in (self.notes, *self.raisers)]
        try:
            return list(current_trace("a loop").repeat(times, list(map(tensor_of, inits)), once))
        except _Refused:  # it is in self.refused
            return [_NOTHING] * len(inits)
        finally:
            self._is_in_loop = False
            for of, own in known:  # what was noted names values from inside of the loop
                for name, before in own.items():
                    now = getattr(of, name)
                    now.clear()
                    now.update(before)

    def _scan(self, params: Any, operands: list[Any]) -> list[Any]:
        length, is_reversed = int(params["length"]), bool(params["reverse"])
        if not length:
            raise Unsupported("a scan of no steps")
        body = params["jaxpr"]
        if "ft_in" in params:  # from JAX 0.11 on
            constants, carry, columns = map(list, params["ft_in"].update(operands).unpack())
        else:
            first = int(params["num_consts"])
            end = first + int(params["num_carry"])
            constants, carry = operands[:first], operands[first:end]
            columns = operands[end:]
        if length > self.max_unroll:
            return self._long_scan(body, constants, carry, columns, length, is_reversed)
        made: list[list[Any]] = []
        for i in range(length - 1, -1, -1) if is_reversed else range(length):
            rows = [_row_of(column, i) for column in columns]
            results = self._closed(body, [*constants, *carry, *rows])
            carry = results[:len(carry)]
            made.append(results[len(carry):])
        if is_reversed:
            made.reverse()
        return [*carry, *(_stacked(list(values)) for values in zip(*made))]

    def _long_scan(self, body: Any, constants: list[Any], carry: list[Any],
                   columns: list[Any], length: int, is_reversed: bool) -> list[Any]:
        """Each run reads a row of the columns, and writes one of what is stacked; once,
        where JAX stacks a value twice."""
        count = len(carry)
        stacked = body.jaxpr.outvars[count:]
        first = [next(j for j, other in enumerate(stacked) if other is var)
                 for var in stacked]
        own = sorted(set(first))
        inputs = [var for var in body.jaxpr.invars if any(var is other for other in stacked)]
        stacks = []
        for aval in (stacked[i].aval for i in own):
            dtype = dtype_of(aval.dtype)
            if dtype is None or 0 in aval.shape:
                raise Unsupported("a loop of %d runs that stacks %s" % (length, aval))
            zeros = np.broadcast_to(np.zeros((), NUMPY_TYPES[dtype]), (
                length, *_narrow.stored_shape(aval.shape, aval.dtype)))
            stacks.append(constant(zeros).astype(dtype))
        columns = list(map(tensor_of, columns))
        places: list[Any] = [np.asarray(length - 1, "i8")] if is_reversed else []

        def run(i: Any, *values: Any) -> list[Any]:
            at = values[-1] if is_reversed else i
            rows = [_loops.row_at(column, at) for column in columns]
            own_stacks, given = values[count:], [*constants, *values[:count], *rows]
            # What the run was given is stacked first: then it need not outlive the run.
            early = {n: ops.record(own_stacks[n], tensor_of(given[body.jaxpr.invars.index(
                stacked[i])]), at) for n, i in enumerate(own) if stacked[i] in inputs}
            made = self._closed(body, given)
            return [*made[:count],
                    *(early[n] if n in early else made[count + i] if made[count + i] is _NOTHING
                      else ops.record(own_stacks[n], tensor_of(made[count + i]), at)
                      for n, i in enumerate(own)), *([at - 1] if is_reversed else [])]
        after = self._repeat(length, [*carry, *stacks, *places], run)
        return [*after[:count], *(after[count + own.index(i)] for i in first)]


def _remembered(of: Any) -> dict[str, Any]:
    """What an object has noted of values, by attribute."""
    return {name: {key: list(v) if isinstance(v, list) else v for key, v in value.items()}
            if isinstance(value, dict) else set(value)
            for name, value in vars(of).items() if isinstance(value, (dict, set))}


class _Refused(Exception):
    """The body of a loop has what cannot be translated."""


def tensor_of(value: Any) -> Any:
    """A constant as a tensor, too."""
    value = _narrow.stored(_value_of(value))
    return constant(np.asarray(value, order="C")) if is_constant(value) else value


def _chosen(which: Any, values: list[Any]) -> Any:
    """values[which], where one index chooses for all elements. The last is for all others."""
    if any(value is _NOTHING for value in values):
        return _NOTHING
    if all(value is values[0] for value in values):
        return values[0]
    tensors = list(map(tensor_of, values))
    made = tensors[-1]
    for number in range(len(tensors) - 2, -1, -1):
        is_it = which <= number if number == 0 else which == number
        made = where(broadcast(is_it, made.shape), tensors[number], made)
    return made


def _value_of(value: Any) -> Any:
    return value.value if isinstance(value, Opaque) else value


def _row_of(column: Any, i: int) -> Any:
    if column is _NOTHING:
        return column
    if is_constant(column):
        return column[i]
    if isinstance(column, Opaque):
        return Opaque(column.value[i])
    return part(column, 0, i, i + 1).reshape(column.shape[1:])


def _stacked(values: list[Any]) -> Any:
    if any(value is _NOTHING for value in values):
        return _NOTHING
    if all(map(is_constant, values)):
        return np.stack(values)
    return _views.stack(list(map(tensor_of, values)))


@dataclass(frozen=True)
class Opaque:
    """A constant that only JAX can compute with: a key of jax.random."""

    value: Any


#: Stands for a result of a type that no tensor has here.
_NOTHING = object()


def _stand_in(aval: Any) -> Any:
    """Zeros in the place of a result, so that later equations are looked at."""
    dtype = dtype_of(aval.dtype) if hasattr(aval, "dtype") else None
    if dtype is None or 0 in aval.shape:
        return _NOTHING
    zero = np.zeros((), NUMPY_TYPES[dtype])
    return constant(np.broadcast_to(zero, tuple(aval.shape))).astype(dtype)


def _computed(equation: Any, operands: list[Any]) -> list[Any]:
    """What JAX makes of constants."""
    if equation.primitive.name == "broadcast_in_dim" and is_constant(operands[0]):
        # without writing it out
        sizes = [1] * len(equation.params["shape"])
        for dim, size in zip(equation.params["broadcast_dimensions"], operands[0].shape):
            sizes[int(dim)] = size
        return [np.broadcast_to(operands[0].reshape(sizes), equation.params["shape"])]
    if _is_repeated(equation, operands):
        dims = set.intersection(*(set(repeated_dims(v)) for v in operands if v.ndim))
        made = _bound(equation, [once(v, list(dims)) for v in operands])[0]
        return [np.broadcast_to(_compressed(np.asarray(made)),
                                equation.outvars[0].aval.shape)]
    return [Opaque(r) if jax.dtypes.issubdtype(r.dtype, jax.dtypes.extended)
            else _compressed(np.asarray(r)) for r in _bound(equation, operands)]


def _is_repeated(equation: Any, operands: list[Any]) -> bool:
    """Whether the result repeats itself where all operands do: computing it once is
    quicker, and JAX compiles less."""
    row = _TABLE.get(equation.primitive.name)
    return row is not None and row.is_elementwise \
        and not equation.primitive.multiple_results \
        and all(is_constant(v) for v in operands) \
        and {v.shape for v in operands if v.ndim} == {equation.outvars[0].aval.shape}


def _bound(equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    with jax.ensure_compile_time_eval():
        made = equation.primitive.bind(
            *(v.value if isinstance(v, Opaque) else v for v in operands), **equation.params)
    results: Sequence[Any] = made if equation.primitive.multiple_results else [made]
    return results


def _compressed(array: Any) -> Any:
    """An array that is one number everywhere, to the bit, without writing it out."""
    if array.size < 2 or array.itemsize not in (1, 2, 4, 8):
        return array
    bits = np.ascontiguousarray(array).reshape(-1).view("u%d" % array.itemsize)
    return array if (bits != bits[0]).any() \
        else np.broadcast_to(array.reshape(-1)[0], array.shape)
