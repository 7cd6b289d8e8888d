# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradient of softmax, found in the primitives that JAX derives.

As in _raising.py, whose notes of the power and the total of a softmax it reads, each result
that is a part of it is noted with x and dy, of [.., C]:

    inverse   total^-2                 product   dy softmax(x)
    lowered   dy inverse               mean      sum(product)
    weighted  lowered power            less      -mean, sum(-product)
    drop      sum(weighted)            share     less softmax(x)
    lost      -drop, sum(-weighted)
    quotient  dy / total
    inner     quotient + lost

inner power is the gradient of exp(x) / total, and product + share that of jax.nn.softmax
with the rule that it has of its own. Both are aicf.softmax_bwd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops
from ._table import Call, Found, Notes, Rules, is_along_rows, is_constant

#: Notes that a value keeps when it is reshaped or repeated along its rows.
ALONG_ROWS = ("inverse", "drop", "lost", "mean", "less")


class SoftmaxGradRaiser(Rules):
    """Looks at each equation behind its row and the Raiser, and tells `found` what it
    raised. `softmax_of` gives the one softmax of a tensor."""

    def __init__(self, notes: Notes, found: Found, softmax_of: Callable[[Any], Any]) -> None:
        self._softmax_of = softmax_of
        super().__init__(notes, found, {
            "integer_pow": self._power, "mul": self._mul, "reduce_sum": self._reduce_sum,
            "neg": self._neg, "div": self._div, "add_any": self._add_any,
            "convert_element_type": self._converted})

    def _is_like(self, made: Any, x: Any, dy: Any) -> bool:
        return not is_constant(dy) and (tuple(made.shape), made.dtype) \
            == (tuple(x.shape), x.dtype) == (tuple(dy.shape), dy.dtype)

    # Rules

    def _power(self, call: Call, made: Any, value: Any) -> None:
        x = self.notes.of("total", value)
        if x is not None and call.params["y"] == -2:
            self.notes.add("inverse", made, x)

    def _mul(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        for value, other in ((a, b), (b, a)):
            for kind, noted in (("inverse", "lowered"), ("softmax", "product")):
                x = self.notes.of(kind, other)
                if x is not None and self._is_like(made, x, value):
                    self.notes.add(noted, made, (x, value))
            lowered, less = self.notes.of("lowered", value), self.notes.of("less", value)
            if lowered is not None and self.notes.of("power", other) is lowered[0]:
                self.notes.add("weighted", made, lowered)
            if less is not None and self.notes.of("softmax", other) is less[0]:
                self.notes.add("share", made, less)
            inner = self.notes.of("inner", value)
            if inner is not None and self.notes.of("power", other) is inner[0]:
                return self._gradient(*inner)
        return None

    def _reduce_sum(self, call: Call, made: Any, value: Any) -> None:
        for kind, noted in (("weighted", "drop"), ("product", "mean"),
                            ("-weighted", "lost"), ("-product", "less")):
            note = self.notes.of(kind, value)
            note = self.notes.of("wide " + kind, value) if note is None else note
            if note is not None and is_along_rows(call, value):
                self.notes.add(noted, made, note)

    def _converted(self, call: Call, made: Any, value: Any) -> None:
        self.notes.pass_on(made, value, ("drop", "mean", "lost", "less"),
                           ("weighted", "product", "-weighted", "-product"))

    def _neg(self, call: Call, made: Any, value: Any) -> None:
        for kind, noted in (("drop", "lost"), ("mean", "less"),
                            ("weighted", "-weighted"), ("product", "-product")):
            if self.notes.of(kind, value) is not None:
                self.notes.add(noted, made, self.notes.of(kind, value))

    def _div(self, call: Call, made: Any, a: Any, b: Any) -> None:
        x = self.notes.of("total", b)
        if x is not None and self._is_like(made, x, a):
            self.notes.add("quotient", made, (x, a))

    def _add_any(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        for value, other in ((a, b), (b, a)):
            if self._is_same("quotient", value, "lost", other):
                self.notes.add("inner", made, self.notes.of("quotient", value))
            if self._is_same("product", value, "share", other):
                return self._gradient(*self.notes.of("product", value))
        return None

    def _is_same(self, kind: str, value: Any, other_kind: str, other: Any) -> bool:
        """Whether both are of one x and dy."""
        own, its = self.notes.of(kind, value), self.notes.of(other_kind, other)
        return own is not None and its is not None and own[0] is its[0] and own[1] is its[1]

    def _gradient(self, x: Any, dy: Any) -> Any:
        self.found("softmax_bwd")
        return ops.softmax_bwd(dy, self._softmax_of(x))
