# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formulas, and the primitives that compute them.

    x, dy = variable("x"), variable("dy")
    Matcher(definition_of).find(dy * (1.0 - function("tanh", x) ** 2), value)

A formula stands for all that it equals by the laws of commutation and association, by which
numbers are multiplied and by quotients of numbers: 0.5 * x * y, (x / 2) * y and
-x * y * -0.5 are one. It does not know the law of distribution. Variables stand for tensors
of the value's own shape and type. Numbers may differ by a few roundings of that type, which
is f32 or f64: constants of 16 bits have too few digits to know a number by. Numbers in more
than MOST_NUMBERS places of one product are not looked through, so that a long chain costs
no more than a short one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._table import is_constant, uniform

#: What made a tensor: the primitive, its operands and its parameters; or None.
DefinitionOf = Callable[[Any], "tuple[str, Sequence[Any], Mapping[str, Any]] | None"]
Bound = dict[str, Any]

#: By type, how much numbers may differ from those of a formula, relative to them: the
#: roundings of a product of some.
TOLERANCES = {"f32": 5e-7, "f64": 2e-15}
MOST_NUMBERS = 8


@dataclass(frozen=True)
class Formula:
    """A sum of terms, each a number and factors; a term without factors is a number."""

    terms: tuple[tuple[float, tuple[Any, ...]], ...]

    def __add__(self, other: Formula | float) -> Formula:
        return Formula(self.terms + _formula(other).terms)

    def __mul__(self, other: Formula | float) -> Formula:
        number, factors = _term(self)
        more, others = _term(_formula(other))
        return Formula(((number * more, factors + others),))

    def __sub__(self, other: Formula | float) -> Formula:
        other = _formula(other)
        return self + (other * -1.0 if len(other.terms) == 1 else
                       Formula(tuple((-n, f) for n, f in other.terms)))

    def __pow__(self, exponent: int) -> Formula:
        return Formula(((1.0, (_Power(self, exponent),)),))

    def __rsub__(self, other: float) -> Formula:
        return _formula(other) - self

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class _Variable:
    name: str


@dataclass(frozen=True)
class _Power:
    base: Formula
    exponent: int


@dataclass(frozen=True)
class _Function:
    name: str
    operand: Formula


def _formula(value: Formula | float) -> Formula:
    return value if isinstance(value, Formula) else Formula(((float(value), ()),))


def _term(formula: Formula) -> tuple[float, tuple[Any, ...]]:
    """As one term: a sum is a factor."""
    return formula.terms[0] if len(formula.terms) == 1 else (1.0, (formula,))


def variable(name: str) -> Formula:
    """Any tensor; everywhere in a formula the same one."""
    return Formula(((1.0, (_Variable(name),)),))


def function(name: str, operand: Formula) -> Formula:
    """A primitive of one operand."""
    return Formula(((1.0, (_Function(name, operand),)),))


class Matcher:
    """Compares values with formulas."""

    def __init__(self, definition_of: DefinitionOf) -> None:
        self._definition_of = definition_of
        self._shape: Any = ()
        self._dtype = ""
        self._multiples: dict[int, tuple[Any, list[tuple[Any, float]]]] = {}

    def find(self, formula: Formula, value: Any) -> Bound | None:
        """The variables' tensors if the value is the formula's, or None."""
        if is_constant(value) or value.dtype not in TOLERANCES:
            return None
        self._shape, self._dtype = tuple(value.shape), value.dtype
        return next(self._sum(formula.terms, value, {}), None)

    def _sum(self, terms: Sequence[Any], value: Any, bound: Bound) -> Iterator[Bound]:
        if len(terms) == 1:
            number, factors = terms[0]
            for found, own in self._product(factors, value, bound):
                if abs(own - number) <= TOLERANCES[self._dtype] * abs(number):
                    yield found
            return
        name, operands, _ = self._definition(value)
        if name not in ("add", "add_any", "sub"):
            return
        for left, right in _splits(terms):
            if name == "sub":
                right = [(-number, factors) for number, factors in right]
            for found in self._sum(left, operands[0], bound):
                yield from self._sum(right, operands[1], found)

    def _product(self, factors: Sequence[Any], value: Any, bound: Bound
                 ) -> Iterator[tuple[Bound, float]]:
        """With the number by which the value is the product of the factors."""
        if not factors:
            number = uniform(value)
            if isinstance(number, (int, float)):
                yield bound, float(number)
            return
        multiples = self._without_numbers(value)
        if len(factors) == 1:
            for inner, by in multiples:
                yield from ((found, by) for found in self._factor(factors[0], inner, bound))
            return
        inner, by = multiples[-1] if multiples else (value, 1.0)
        name, operands, _ = self._definition(inner)
        if name != "mul" or any(map(is_constant, operands)):
            return
        for left, right in _splits(factors):
            for found, first in self._product(left, operands[0], bound):
                for both, second in self._product(right, operands[1], found):
                    yield both, by * first * second

    def _without_numbers(self, value: Any) -> list[tuple[Any, float]]:
        """The value, and what it is a multiple of, with the factor."""
        key = id(value)
        if key not in self._multiples:  # which keeps the value, and so its id()
            self._multiples[key] = value, list(self._multiples_of(value))
        return self._multiples[key][1]

    def _multiples_of(self, value: Any) -> Iterator[tuple[Any, float]]:
        by = 1.0
        for _ in range(MOST_NUMBERS + 1):
            if is_constant(value):
                return
            yield value, by
            name, operands, _ = self._definition(value)
            if name == "neg":
                value, by = operands[0], -by
                continue
            numbers = [uniform(v) for v in operands]
            if name == "div" and numbers[1]:
                value, by = operands[0], by / numbers[1]
            elif name == "mul" and numbers[1] is not None:
                value, by = operands[0], by * numbers[1]
            elif name == "mul" and numbers[0] is not None:
                value, by = operands[1], by * numbers[0]
            else:
                return

    def _factor(self, factor: Any, value: Any, bound: Bound) -> Iterator[Bound]:
        if isinstance(factor, Formula):
            yield from self._sum(factor.terms, value, bound)
        elif isinstance(factor, _Variable):
            if bound.get(factor.name, value) is value and value.dtype == self._dtype \
                    and tuple(value.shape) == self._shape:
                yield {**bound, factor.name: value}
        elif isinstance(factor, _Function):
            name, operands, _ = self._definition(value)
            if name == factor.name:
                yield from self._sum(factor.operand.terms, operands[0], bound)
        else:
            name, operands, params = self._definition(value)
            exponent = {"square": 2, "integer_pow": params.get("y")}.get(name)
            if name == "mul" and operands[0] is operands[1]:
                exponent = 2
            if exponent == factor.exponent:
                yield from self._sum(factor.base.terms, operands[0], bound)

    def _definition(self, value: Any) -> tuple[str, Sequence[Any], Mapping[str, Any]]:
        own = None if is_constant(value) else self._definition_of(value)
        return own or ("", (), {})


def _splits(items: Sequence[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
    """All ways to give the items to two operands, of which each gets one at least."""
    for chosen in itertools.product((True, False), repeat=len(items)):
        left = [item for item, own in zip(items, chosen) if own]
        right = [item for item, own in zip(items, chosen) if not own]
        if left and right:
            yield left, right
