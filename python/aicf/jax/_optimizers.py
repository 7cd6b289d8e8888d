# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of Adam and Lion, found in the primitives that optax makes of them.

As in _raising.py, each result that is a part of it is noted with what it means, with
moments m and v, a gradient g, a count t and numbers b1, b2, eps, decay, rate:

    times       x c, of a number c          squared      x x
    argument    of the function: moments are
    moment      b1 m + (1 - b1) g, or b2 v + (1 - b2) g g
    power       b^t                         correction   1 - b^t
    corrected   moment / correction         root         sqrt(corrected)
    bottom      root + eps                  direction    corrected / bottom, + decay p
    update      -rate direction             or sign(moment), + decay p

p + update gets aicf.adam_step or aicf.lion_step, whose other results replace the moments
where they are results of the function. Whether a moment or a count becomes its own state is
known at the end alone: if not, the function is looked at again, without ops for that state.
Gradients that _clipping.py has found are given as
they were before, with the factor. Numbers of f32 are read as what was written: 0.9, and
not 0.89999998. Adam's count is one that optax increments, and that stays at the largest
number: aicf.step_inc. (1 - b^t is computed in f64: JAX's f32 loses four digits of it at
first.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ops
from .._base.dtypes import NUMPY_TYPES
from .._tracing.constants import constant
from .._tracing.pointwise import INTEGERS
from ._table import Call, Found, Notes, Rules, is_constant, uniform


@dataclass(frozen=True)
class Moment:
    """One of both, as a traced tensor."""

    made: Any
    before: Any
    of: Any
    is_second: bool
    beta: float


@dataclass(frozen=True)
class Direction:
    """Where a parameter goes to, but for the rate. Lion's has no second moment."""

    first: Moment
    second: Moment | None = None
    count: Any = None
    eps: float = 0.0
    parameter: Any = None
    decay: float = 0.0


def written(number: float, dtype: str) -> float:
    """A number as somebody wrote it, who got the nearest one of the type."""
    return float(str(np.float32(number))) if dtype == "f32" else float(number)


def _is_like(made: Any, operand: Any) -> bool:
    """Whether an operand was not repeated."""
    return not is_constant(operand) and tuple(made.shape) == tuple(operand.shape)


def _rounding(dtype: str) -> float:
    """Of 1 - beta, which is small, relative to it."""
    return 1e-13 if dtype == "f64" else 1e-6


def _largest(count: Any) -> int:
    return int(np.iinfo(NUMPY_TYPES[count.dtype]).max)


class OptimizerRaiser(Rules):
    """Looks at each equation behind its row, and tells `found` what it raised.

    Args:
        states: arguments, by their places, that an op may update.
    """

    def __init__(self, notes: Notes, found: Found, states: set[int]) -> None:
        self._states = states
        #: Arguments, by their places, and what those that are raised let them become.
        self._updated: list[tuple[int, Any]] = []
        self._corrections: dict[Any, Any] = {}
        self._counts: dict[int, Any] = {}
        self._rates: dict[Any, Any] = {}
        self._moments: dict[int, tuple[Any, Any]] = {}  # what replaces a result
        self._made: dict[Any, Any] = {}  # steps
        #: By what a first moment was and is of: all, of which one is Lion's new one.
        self._firsts: dict[tuple[int, int], list[Moment]] = {}
        super().__init__(notes, found, {
            "mul": self._mul, "square": self._square, "integer_pow": self._square,
            "add": self._add, "add_any": self._add, "pow": self._pow, "sub": self._sub,
            "div": self._div, "sqrt": self._sqrt, "broadcast_in_dim": self._broadcast,
            "convert_element_type": self._convert, "lt": self._lt, "sign": self._sign,
            "select_n": self._select_n})

    def result(self, value: Any) -> Any:
        """A result of the function, or what replaces it."""
        return self._moments.get(id(value), (None, value))[1]

    def misplaced(self, becomes: Mapping[int, Any]) -> set[int]:
        """The places of arguments that ops update, and whose new values are others.
        `becomes` has the new value of each state, by its place."""
        return {place for place, made in self._updated if becomes.get(place) is not made}

    # Rules

    def _mul(self, call: Call, made: Any, a: Any, b: Any) -> None:
        for number, x in ((uniform(a), b), (uniform(b), a)):
            if number is not None and _is_like(made, x):
                self.notes.add("times", made, (x, written(number, call.dtype)))
        if a is b:
            self.notes.add("squared", made, a)
        for direction, rate in ((self.notes.of("direction", a), b),
                                (self.notes.of("direction", b), a)):
            if direction is not None and (uniform(rate) is not None or rate.shape == ()) \
                    and _is_like(made, direction.first.before):
                self.notes.add("update", made, (direction, rate))

    def _square(self, call: Call, made: Any, x: Any) -> None:
        if call.params.get("y", 2) == 2:
            self.notes.add("squared", made, x)

    def _add(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        for x, y in ((a, b), (b, a)):
            self._note_moment(call, made, x, y)
            self._note_sum(call, made, x, y)
            if uniform(y) == 1 and self._is_count(x) and _is_like(made, x):
                self.notes.add("next", made, x)
            update = self.notes.of("update", y)
            if update is not None and self._is_parameter(update[0], x, made):
                return self._step(call, x, update[0], update[1], -1.0)
        return None

    def _is_count(self, x: Any) -> bool:
        return self.notes.of("argument", x) is not None and x.dtype in INTEGERS \
            and x.shape == ()

    def _lt(self, call: Call, made: Any, a: Any, b: Any) -> None:
        if not is_constant(a) and self._is_count(a) and uniform(b) == _largest(a):
            self.notes.add("may go on", made, a)

    def _select_n(self, call: Call, made: Any, which: Any, *cases: Any) -> Any:
        count = self.notes.of("may go on", which)
        if count is None or len(cases) != 2 or uniform(cases[0]) != _largest(count) \
                or self.notes.of("next", cases[1]) is not count:
            return None
        if id(count) not in self._counts:
            if not self._may_update(count):
                return None
            self._counts[id(count)] = ops.step_inc(count)
            self.notes.add("stepped", self._counts[id(count)], count)
            self._becomes(count, self._counts[id(count)])
        return self._counts[id(count)]

    def _note_moment(self, call: Call, made: Any, new: Any, old: Any) -> None:
        new, old = self.notes.of("times", new), self.notes.of("times", old)
        if new is None or old is None \
                or not math.isclose(new[1], 1 - old[1], rel_tol=_rounding(call.dtype)) \
                or not 0 <= old[1] < 1 or self.notes.of("moment", made) is not None \
                or self.notes.of("argument", old[0]) not in self._states:
            return
        squared = self.notes.of("squared", new[0])
        moment = Moment(made, old[0], new[0] if squared is None else squared,
                        squared is not None, old[1])
        self.notes.add("moment", made, moment)
        if squared is None:
            self._firsts.setdefault((id(moment.before), id(moment.of)), []).append(moment)

    def _note_sum(self, call: Call, made: Any, x: Any, y: Any) -> None:
        number = uniform(y)
        corrected, root = self.notes.of("corrected", x), self.notes.of("root", x)
        if corrected is not None and number == 0:
            self.notes.add("corrected", made, corrected)
        if root is not None and number is not None and number >= 0:
            self.notes.add("bottom", made, (*root, written(number, call.dtype)))
        direction, decayed = self.notes.of("direction", x), self.notes.of("times", y)
        if direction is not None and decayed is not None and decayed[1] >= 0 \
                and direction.parameter is None and _is_like(made, decayed[0]):
            self.notes.add("direction", made, replace(
                direction, parameter=decayed[0], decay=decayed[1]))

    def _pow(self, call: Call, made: Any, base: Any, exponent: Any) -> None:
        count = self.notes.of("count", exponent)
        count = exponent if count is None else count
        if uniform(base) is not None and not is_constant(count) \
                and count.dtype in INTEGERS and count.shape == ():
            self.notes.add("power", made, (written(uniform(base), call.dtype), count))

    def _convert(self, call: Call, made: Any, x: Any) -> None:
        if not is_constant(x) and x.dtype in INTEGERS:
            self.notes.add("count", made, x)

    def _sub(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        power, update = self.notes.of("power", b), self.notes.of("update", b)
        if uniform(a) == 1 and power is not None:
            self.notes.add("correction", made, power)
        if update is not None and self._is_parameter(update[0], a, made):
            return self._step(call, a, update[0], update[1], 1.0)
        return None

    def _broadcast(self, call: Call, made: Any, x: Any) -> None:
        correction = self.notes.of("correction", x)
        if correction is not None:
            self.notes.add("correction", made, correction)

    def _div(self, call: Call, made: Any, a: Any, b: Any) -> None:
        moment, correction = self.notes.of("moment", a), self.notes.of("correction", b)
        if moment is not None and correction is not None \
                and correction[0] == moment.beta and _is_like(made, a):
            self.notes.add("corrected", made, (moment, correction[1]))
        first, bottom = self.notes.of("corrected", a), self.notes.of("bottom", b)
        if first is not None and bottom is not None and not first[0].is_second \
                and first[0].of is bottom[0].of and first[1] is bottom[1] \
                and _is_like(made, a) and _is_like(made, b) \
                and self.notes.of("stepped", first[1]) is not None:
            self.notes.add("direction", made, Direction(first[0], bottom[0], first[1],
                                                        bottom[2]))

    def _sqrt(self, call: Call, made: Any, x: Any) -> None:
        corrected = self.notes.of("corrected", x)
        if corrected is not None and corrected[0].is_second:
            self.notes.add("root", made, corrected)

    def _sign(self, call: Call, made: Any, x: Any) -> None:
        moment = self.notes.of("moment", x)
        if moment is not None and not moment.is_second:
            self.notes.add("direction", made, Direction(moment))

    # What has a kernel

    @staticmethod
    def _is_parameter(direction: Direction, x: Any, made: Any) -> bool:
        if not _is_like(made, x) or x.dtype not in ("f32", "f64") \
                or direction.parameter is not None and direction.parameter is not x:
            return False
        moments = [m for m in (direction.first, direction.second) if m is not None]
        return all(not is_constant(t) and (t.shape, t.dtype) == (x.shape, x.dtype)
                   for t in (*(m.before for m in moments), direction.first.of))

    def _may_update(self, *states: Any) -> bool:
        """Whether all may be, and none is updated already."""
        taken = {place for place, _ in self._updated}
        return all(self.notes.of("argument", s) in self._states - taken for s in states)

    def _becomes(self, state: Any, made: Any) -> None:
        self._updated.append((self.notes.of("argument", state), made))

    def _step(self, call: Call, parameter: Any, direction: Direction, rate: Any,
              sign: float) -> Any:
        """parameter - sign rate direction. Moments are updated once: what takes them for
        another step stays as it is."""
        key = (id(parameter), id(direction),
               id(rate) if uniform(rate) is None else uniform(rate), sign)
        if key not in self._made:
            rate_of_step = self._rate(call, rate, sign)
            step = self._adam_step if direction.second is not None else self._lion_step
            self._made[key] = (step(call, parameter, direction, rate_of_step),
                               parameter, direction, rate)  # which keep their id()
        return self._made[key][0]

    def _adam_step(self, call: Call, parameter: Any, direction: Direction, rate: Any) -> Any:
        first, second = direction.first, direction.second
        assert second is not None
        gradient, factor = self.notes.of("clipped", first.of) or (first.of, None)
        if not self._may_update(first.before, second.before):
            return None
        self._becomes(first.before, first.made)
        self._becomes(second.before, second.made)
        made, m, v = ops.adam_step(
            parameter, gradient, first.before, second.before,
            self._correction(call, first.beta, second.beta, direction.count),
            rate, factor,
            beta1=first.beta, beta2=second.beta, eps=direction.eps,
            weight_decay=direction.decay)
        self._moments[id(first.made)] = first.made, m
        self._moments[id(second.made)] = second.made, v
        self.found("adam_step")
        return made

    def _lion_step(self, call: Call, parameter: Any, direction: Direction, rate: Any) -> Any:
        first = direction.first
        gradient, factor = self.notes.of("clipped", first.of) or (first.of, None)
        others = [m for m in self._firsts[id(first.before), id(first.of)] if m is not first]
        if not others or not self._may_update(first.before):
            return None  # the moment does not move, or only later
        new = others[-1]
        self._becomes(first.before, new.made)
        made, m = ops.lion_step(
            parameter, gradient, first.before, rate, factor,
            beta1=first.beta, beta2=new.beta, weight_decay=direction.decay)
        self._moments[id(new.made)] = new.made, m
        self.found("lion_step")
        return made

    def _rate(self, call: Call, rate: Any, sign: float) -> Any:
        """sign rate as one tensor for all parameters, which are updated together then."""
        number = uniform(rate)
        if number is None and sign == 1.0:
            return rate
        key = id(rate) if number is None else (sign * number, call.dtype)
        if key not in self._rates:
            self._rates[key] = rate, -rate if number is None else constant(np.asarray(
                sign * written(number, call.dtype), NUMPY_TYPES[call.dtype]))
        return self._rates[key][1]

    def _correction(self, call: Call, beta1: float, beta2: float, count: Any) -> Any:
        """1 / (1 - b^t) for both, once for all parameters."""
        key = beta1, beta2, id(count), call.dtype
        if key not in self._corrections:
            self._corrections[key] = ops.bias_corr(count, beta1=beta1, beta2=beta2,
                                                   dtype=call.dtype)
        return self._corrections[key]
