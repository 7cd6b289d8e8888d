# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry.profile: how long each call of a step takes, and each layer."""

from __future__ import annotations

import contextlib
import html
import os
import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _runtime
from ..errors import InvalidArgumentError, NotInitializedError
from .locations import split_location
from .view import Page, view

if TYPE_CHECKING:
    from ..program import Entry


@dataclass(frozen=True)
class CallTime:
    """One call of a step.

    Attributes:
        op, kernel: the ops that it computes, and the kernel that does.
        layer: the path of the module that the call belongs to, or "".
        location: "file:line" of the code, or "".
        micros: the median of its times, in microseconds.
        flops, bytes: what it computes, and what it reads and writes.
    """

    op: str
    kernel: str
    layer: str
    location: str
    micros: float
    flops: float
    bytes: int


class Profile:
    """The result of Entry.profile. print() shows a table of the layers and one of the
    calls that take longest.

    Attributes:
        calls: a CallTime for each call, in order.
        step_micros: what a run of the whole step takes, in microseconds: the median of runs
            as a program makes them, on a GPU of the captured graph.
    """

    def __init__(self, entry: Entry, calls: list[CallTime], step_micros: float,
                 profile: str, trace: str) -> None:
        self.calls, self.step_micros = calls, step_micros
        self._entry, self._profile, self._trace = entry, profile, trace

    @property
    def call_micros(self) -> float:
        """The sum over all calls, each alone, in microseconds."""
        return sum(call.micros for call in self.calls)

    def layers(self) -> dict[str, float]:
        """Returns microseconds by layer, the longest first; "" is what lies in none."""
        found: dict[str, float] = {}
        for call in self.calls:
            found[call.layer] = found.get(call.layer, 0.0) + call.micros
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the trace of all runs in Chrome's format, for ui.perfetto.dev."""
        _runtime.write_file(os.fspath(path), self._trace)

    def view(self, path: str | os.PathLike[str], **options: Any) -> Page:
        """Entry.view, with the times."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(self._profile)
            file.flush()
            return view(self._entry, path, profile=file.name, **options)

    def _rows(self, most: int) -> list[tuple[str, ...]]:
        total = self.call_micros or 1.0
        rows: list[tuple[str, ...]] = [("layer", "us", "part")]
        rows += [(name or "(no layer)", "%.1f" % us, "%.1f %%" % (100 * us / total))
                 for name, us in list(self.layers().items())[:most]]
        rows += [("", "", ""), ("call", "us", "part")]
        rows += [("%s%s (%s)" % (call.op, " of " + call.layer if call.layer else "",
                                 call.kernel), "%.1f" % call.micros,
                  "%.1f %%" % (100 * call.micros / total))
                 for call in sorted(self.calls, key=lambda c: -c.micros)[:most]]
        return rows

    def __str__(self) -> str:
        rows = self._rows(15)
        width = max(len(row[0]) for row in rows)
        lines = ["%s  %9s  %7s" % (name.ljust(width), us, part) if name else ""
                 for name, us, part in rows]
        return "\n".join(["%s: %.1f us a step, and %.1f us in %d calls one by one" % (
            self._entry.name, self.step_micros, self.call_micros, len(self.calls)),
            "", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "<pre>%s</pre>" % html.escape(str(self))


def profile(entry: Entry, inputs: Mapping[str, Any], runs: int) -> Profile:
    """Does what Entry.profile says."""
    import time
    program, name = entry.program, entry.name
    executor = program.executor
    values = {n: executor.read(n) for n in program._tensors("param", "state")}
    bound = [n for n in inputs if "%s/%s" % (name, n) in program.bound_arrays]
    if bound:
        raise InvalidArgumentError("the input %r is bound to an array: call profile() without "
                                   "inputs, which uses it" % bound[0])
    for n in ("%s/%s" % (name, i) for i in inputs):
        with contextlib.suppress(NotInitializedError):  # there is nothing to give back
            values[n] = executor.read(n)
    try:
        if inputs:
            entry.write(**inputs)
        times = []
        for _ in range(runs + 2):  # the first ones prepare and capture
            start = time.perf_counter()
            executor.run_graph(name)
            executor.sync()
            times.append(time.perf_counter() - start)
        executor.run(name)
        executor.trace_enable(True)
        for _ in range(runs):
            executor.run(name)
        executor.sync()
        records = [r for r in executor.trace_get() if not r["is_whole_launch"]]
        texts = executor.profile_json(), executor.trace_json()
    finally:
        executor.trace_enable(False)
        for n, value in values.items():
            executor.write(n, value)
    costs = program.cost_analysis(name)["by_call"]
    each = [[r["us"] for r in records[i::len(costs)]] for i in range(len(costs))]
    calls = []
    for cost, micros in zip(costs, each):
        calls.append(CallTime(cost["op"], cost["kid"], *split_location(cost["location"]),
                              statistics.median(micros), cost["flops"], cost["bytes"]))
    return Profile(entry, calls, statistics.median(times[2:]) * 1e6, *texts)
