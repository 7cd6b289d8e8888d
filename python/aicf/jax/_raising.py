# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax and cross-entropy, found in the primitives that JAX takes them apart into.

Each result that is a part of them is noted with what it means. The equation that completes
one gets the op that has a kernel; what was emitted on the way is dead then, and the
compiler drops it. With x of [.., C], along the last dimension:

    most       max(x), also where it is 0 unless finite
    shifted    x - most               power    exp(shifted)
    total      sum(power)             log      log(total)
    lse        log + most             over     dy / total
    log_softmax                       shifted - log
    scaled     c softmax(x)           picked   x[label]
    unpicked   c at the label, else 0
    losses     lse - picked, or log_softmax[label], which is its negative
    summed     sum(losses)            negated  the value whose negative it is

The mean of the losses is softmax_cross_entropy, and scaled + unpicked, of c and -c, its
gradient. What is not recognised stays as it is.
"""

from __future__ import annotations

import math
from typing import Any

from .. import ops
from .._tracing.pointwise import FLOATS, broadcast
from ..jax import _softmax_bwd
from ._table import Call, Found, Notes, Rules, is_along_rows, is_constant, uniform

#: No label is this number: a negative one has been counted from the end.
NO_LABEL = -2 ** 31

#: Notes that a reduced value keeps when it is reshaped, and those that it also keeps when it
#: is repeated along its rows.
_OF_ROWS = ("picked", "losses")
_ALONG_ROWS = ("most", "total", "log", "over", *_softmax_bwd.ALONG_ROWS)


def _is_mean(factor: float, x: Any) -> bool:
    """Whether it is 1 / the number of rows, but for its rounding."""
    rows = x.size // x.shape[-1]
    return math.isclose(factor * rows, 1, rel_tol=1e-15 if x.dtype == "f64" else 5e-7)


class Raiser(Rules):
    """Looks at each equation behind its row, and tells `found` what it raised."""

    def __init__(self, notes: Notes, found: Found) -> None:
        self._softmax: dict[int, Any] = {}
        super().__init__(notes, found, {
            "reduce_max": self._reduce_max, "reduce_sum": self._reduce_sum,
            "max": self._same, "abs": self._abs, "stop_gradient": self._same,
            "reshape": self._reshaped, "broadcast_in_dim": self._reshaped,
            "squeeze": self._reshaped, "convert_element_type": self._converted, "is_finite": self._is_finite,
            "select_n": self._select_n, "sub": self._sub, "exp": self._exp,
            "log": self._log, "add": self._add, "add_any": self._add_any,
            "div": self._div, "mul": self._mul, "neg": self._neg, "ge": self._ge,
            "gather": self._gather, "scatter-add": self._scatter_add})

    # What is known

    def softmax_of(self, x: Any) -> Any:
        """The one softmax of a tensor."""
        if id(x) not in self._softmax:
            self._softmax[id(x)] = ops.softmax(x)
            self.found("softmax")
            self.notes.add("softmax", self._softmax[id(x)], x)
        return self._softmax[id(x)]

    @staticmethod
    def _is_of_rows(value: Any, x: Any) -> bool:
        rows = tuple(x.shape[:-1])
        return tuple(value.shape) in (rows, (*rows, 1))

    # Rules

    def _reduce_max(self, call: Call, made: Any, x: Any) -> None:
        if x.dtype in FLOATS and is_along_rows(call, x):
            self.notes.add("most", made, x)

    def _same(self, call: Call, made: Any, *operands: Any) -> None:
        """max(-inf, m), stop_gradient(m)."""
        for value in operands:
            note = self.notes.of("most", value)
            if note is not None and (len(operands) == 1 or made is value):
                self.notes.add("most", made, note)

    def _abs(self, call: Call, made: Any, value: Any) -> None:
        if self.notes.of("total", value) is not None:
            self.notes.add("total", made, self.notes.of("total", value))
            self.notes.add("has size", value, True)

    def _reshaped(self, call: Call, made: Any, value: Any) -> None:
        """[..] to [.., 1] or [.., C], in order, and back. Dimensions of 1 come and go."""
        dims = [int(d) for d in call.params.get("broadcast_dimensions",
                                                range(len(value.shape)))]
        dims = [to for to, size in zip(dims, value.shape) if size != 1]
        for kind in (*_OF_ROWS, *_ALONG_ROWS):
            note = self.notes.of(kind, value)
            if note is None:
                continue
            x = note[0] if isinstance(note, tuple) else note
            places = [i for i, size in enumerate(x.shape[:-1]) if size != 1]
            rows = [x.shape[i] for i in places]
            if [s for s in value.shape if s != 1] == rows \
                    and ([s for s in made.shape if s != 1] == rows or kind in _ALONG_ROWS
                         and tuple(made.shape) == tuple(x.shape) and dims == places):
                self.notes.add(kind, made, note)

    def _converted(self, call: Call, made: Any, value: Any) -> None:
        """Sums of 16 bits are made in 32."""
        if made.dtype in FLOATS:
            self.notes.pass_on(made, value, ("most", "total"), ("power",))

    def _is_finite(self, call: Call, made: Any, value: Any) -> None:
        if self.notes.of("most", value) is not None:
            self.notes.add("finite", made, value)

    def _select_n(self, call: Call, made: Any, which: Any, *cases: Any) -> Any:
        if len(cases) == 2 and self.notes.of("finite", which) is cases[1] \
                and not is_constant(cases[1]) and uniform(cases[0]) == 0:
            self.notes.add("most", made, self.notes.of("most", cases[1]))
        return None

    def _sub(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        if self.notes.of("most", b) is a and not is_constant(a):
            self.notes.add("shifted", made, a)
        x = self.notes.of("shifted", a)
        if x is not None and self.notes.of("log", b) is x:
            better = ops.log_softmax(x)
            self.found("log_softmax")
            self.notes.add("log_softmax", better, x)
            return better
        x, picked = self.notes.of("lse", a), self.notes.of("picked", b)
        if x is not None and picked is not None and picked[0] is x \
                and self._is_of_rows(made, x):
            self.notes.add("losses", made, (x, picked[2], 1))
        return None

    def _exp(self, call: Call, made: Any, value: Any) -> None:
        if self.notes.of("shifted", value) is not None:
            self.notes.add("power", made, self.notes.of("shifted", value))

    def _log(self, call: Call, made: Any, value: Any) -> None:
        if self.notes.of("total", value) is not None:
            self.notes.add("log", made, self.notes.of("total", value))

    def _add(self, call: Call, made: Any, a: Any, b: Any) -> None:
        for log, most in ((a, b), (b, a)):
            x = self.notes.of("log", log)
            if x is not None and self.notes.of("most", most) is x:
                self.notes.add("lse", made, x)

    def _reduce_sum(self, call: Call, made: Any, value: Any) -> Any:
        if is_constant(value):
            return None
        if all(value.shape[int(a)] == 1 for a in call.params["axes"]):
            return self._reshaped(call, made, value)
        if is_along_rows(call, value):
            x = self.notes.of("power", value)
            x = self.notes.of("wide power", value) if x is None else x
            if x is not None:
                self.notes.add("total", made, x)
            unpicked = self.notes.of("unpicked", value)
            if unpicked is not None:  # one element of each row
                return call.constant(unpicked[0])
        losses = self.notes.of("losses", value)
        if losses is not None and not call.shape:
            self.notes.add("summed", made, losses)
        return None

    def _ge(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        """Only the derivative of |total| asks for it: a sum of powers is not below 0. (Of
        NaN the derivative is NaN, by whichever way.)"""
        is_asked = self.notes.of("has size", a) is not None
        return call.constant(True) if is_asked and uniform(b) == 0 else None

    def _div(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        x = self.notes.of("total", b)
        if x is not None:
            if self.notes.of("power", a) is x and tuple(made.shape) == tuple(x.shape):
                return self.softmax_of(x)
            if self._is_of_rows(made, x):
                self.notes.add("over", made, (x, a))
        losses, count = self.notes.of("summed", a), uniform(b)
        if losses is not None and not call.shape and count == losses[0].size // losses[0].shape[-1]:
            return self._mean_loss(losses)
        return None

    def _mul(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        for over, power in ((a, b), (b, a)):
            x, note = self.notes.of("power", power), self.notes.of("over", over)
            if x is not None and note is not None and note[0] is x:
                return self._scaled(call, x, note[1])
            losses, factor = self.notes.of("summed", power), uniform(over)
            if losses is not None and factor is not None and not call.shape \
                    and _is_mean(factor, losses[0]):
                return self._mean_loss(losses)
        return None

    def _scaled(self, call: Call, x: Any, dy: Any) -> Any:
        softmax, number = self.softmax_of(x), uniform(dy)
        if number is not None and math.isfinite(number):
            better = softmax * number
            self.notes.add("scaled", better, (number, x))
            return better
        rows = call.tensor(dy)
        if rows.shape:
            rows = rows.reshape([*x.shape[:-1], 1])
        return softmax * broadcast(rows, x.shape)

    def _neg(self, call: Call, made: Any, value: Any) -> Any:
        for kind in ("losses", "summed"):
            losses = self.notes.of(kind, value)
            if losses is not None:
                self.notes.add(kind, made, (*losses[:2], -losses[2]))
        unpicked = self.notes.of("unpicked", value)
        if unpicked is not None:
            self.notes.add("unpicked", made, (-unpicked[0], unpicked[1]))
        return self.notes.of("negated", value)

    def _add_any(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        for scaled, unpicked in ((a, b), (b, a)):
            if uniform(scaled) == 0:
                return call.tensor(unpicked)
            own, other = self.notes.of("scaled", scaled), self.notes.of("unpicked", unpicked)
            if own is not None and other is not None and own[0] == -other[0]:
                return self._gradient(own[0], own[1], other[1])
        return None

    def _gather(self, call: Call, made: Any, x: Any, indices: Any) -> None:
        if is_constant(x) or is_constant(indices):
            self._reshaped_box(call, made, x, indices)
        elif tuple(made.shape) in (tuple(x.shape[:-1]), (*x.shape[:-1], 1)):
            labels = self.notes.of("labels", made)
            if labels is not None:
                self.notes.add("picked", made, (x, indices, labels))
                logits = self.notes.of("log_softmax", x)
                if logits is not None:
                    self.notes.add("losses", made, (logits, labels, -1))

    def _reshaped_box(self, call: Call, made: Any, x: Any, indices: Any) -> None:
        """x[..., 0] of the one element of each row."""
        for kind in ("picked", "losses"):
            note = self.notes.of(kind, x)
            if note is not None and tuple(made.shape) == tuple(note[0].shape[:-1]):
                self.notes.add(kind, made, note)

    def _scatter_add(self, call: Call, made: Any, x: Any, indices: Any, updates: Any) -> None:
        number = uniform(updates)
        labels = None if is_constant(made) else self.notes.of("labels", made)
        if number is not None and uniform(x) == 0 and labels is not None:
            self.notes.add("unpicked", made, (number, labels))

    # What has a kernel

    def _mean_loss(self, losses: tuple[Any, ...]) -> Any:
        x, labels, sign = losses
        self.found("softmax_cross_entropy")
        loss = ops.softmax_cross_entropy(x, labels, ignore_index=NO_LABEL)
        if sign > 0:
            return loss
        made = -loss
        self.notes.add("negated", made, loss)
        return made

    def _gradient(self, number: float, x: Any, labels: Any) -> Any:
        """number * (softmax(x) - one-hot)."""
        rows = x.size // x.shape[-1]
        self.found("softmax_cross_entropy_grad")
        made = ops.softmax_cross_entropy_grad(x, labels, ignore_index=NO_LABEL)
        return made if _is_mean(number, x) else made * (number * rows)
