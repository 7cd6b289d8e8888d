# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.summary: what a step consists of, layer by layer, from its trace and plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .errors import FailedStateError
from .nn import Module
from .program import Entry


@dataclass(frozen=True)
class LayerSummary:
    """One module.

    Attributes:
        name: its path in the model.
        kind: its class.
        shape: of what forward() returned, "64x10".
        parameters: elements of the parameters that it owns; tied ones count where
            they come first.
        flops: of all calls of the entry that come from its forward(), their
            derivatives among them. A call that layers share counts for the first.
    """

    name: str
    kind: str
    shape: str
    parameters: int
    flops: float


@dataclass(frozen=True)
class Summary:
    """What aicf.summary gives; print() shows it as a table.

    Attributes:
        entry: the name.
        layers: of the modules that were called, in order.
        parameters, trainable: elements, in all and of those that are trained.
        flops: of one run of the entry.
        bytes: on the device: "persistent" (parameters, states), "io" (inputs,
            outputs), "temporary"; and "traffic", read and written by the calls of
            one run.
    """

    entry: str
    layers: tuple[LayerSummary, ...]
    parameters: int
    trainable: int
    flops: float
    bytes: dict[str, int]

    def __str__(self) -> str:
        rows = [("layer", "kind", "result", "parameters", "FLOPs")]
        rows += [(layer.name or "(model)", layer.kind, layer.shape,
                  "{:,}".format(layer.parameters), engineering(layer.flops))
                 for layer in self.layers]
        other = self.flops - sum(layer.flops for layer in self.layers)
        rows.append(("(others)", "", "", "", engineering(other)))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join(text.ljust(w) if i < 3 else text.rjust(w)
                           for i, (text, w) in enumerate(zip(row, widths))).rstrip()
                 for row in rows]
        lines.insert(1, "-" * (sum(widths) + 8))
        lines.append(lines[1])
        lines.append("%s: {:,} parameters, {:,} of them trained; %s FLOPs per run".format(
            self.parameters, self.trainable) % (self.entry, engineering(self.flops)))
        lines.append("on the device: " + ", ".join(
            "%s %s" % (size(self.bytes[n]), n) for n in ("persistent", "io", "temporary"))
            + "; a run reads and writes " + size(self.bytes["traffic"]))
        return "\n".join(lines)

    __repr__ = __str__


def engineering(value: float) -> str:
    """1234567 is 1.23 M."""
    power = min(max(int(math.log10(value)) // 3, 0), 5) if value >= 1 else 0
    return "%.3g%s" % (value / 1000 ** power, ("", " k", " M", " G", " T", " P")[power])


def size(count: int) -> str:
    power = min((count.bit_length() - 1) // 10, 4) if count else 0
    return "%.3g %s" % (count / 1024 ** power, ("B", "KiB", "MiB", "GiB", "TiB")[power])


def summary(entry: Entry) -> Summary:
    """Layers, shapes, parameters, FLOPs and bytes of an entry. `print(aicf.summary(
    step))` shows a table.

    Raises: FailedStateError for an entry of a loaded plan, which knows no layers
        (cost_analysis() and memory_analysis() do without).
    """
    if not isinstance(entry, Entry):
        raise TypeError("summary takes what compile_step or compile gives, got a %s"
                        % type(entry).__name__)
    signature, program = entry.signature, entry.program
    if signature.source is None:
        raise FailedStateError("%r is from a plan file, which knows no layers; it has "
                               "cost_analysis() and memory_analysis()" % entry.name)
    costs = program.cost_analysis(entry.name)
    flops: dict[str, float] = {}
    for call in costs["by_call"]:
        layer, at, _ = call["location"].partition(" at ")
        if at:
            flops[layer] = flops.get(layer, 0.0) + call["flops"]
    owned, trainable, total = _parameters(signature.model)
    layers = [LayerSummary(path, kind, shape, owned.get(path, 0), flops.pop(path, 0.0))
              for path, kind, shape in signature.layers]
    memory = program.memory_analysis()
    own = memory["entries"][entry.name]
    return Summary(entry.name, tuple(layers), total, trainable, costs["flops"], {
        "persistent": memory["persistent_bytes"], "io": own["io_bytes"],
        "temporary": own["temp_bytes"], "traffic": costs["bytes"]})


def _parameters(model: Module | None) -> tuple[dict[str, int], int, int]:
    """Elements by the path of the module that owns them, those trained, and all."""
    owned: dict[str, int] = {}
    trainable = total = 0
    for name, parameter in model.named_parameters() if model is not None else ():
        count = math.prod(parameter.shape)
        path = _owner(model, name)
        owned[path] = owned.get(path, 0) + count
        total += count
        trainable += count if parameter.requires_grad else 0
    return owned, trainable, total


def _owner(model: Any, name: str) -> str:
    """The innermost module above a parameter; lists of them are not modules."""
    paths = [path for path, _ in model.named_modules()
             if not path or name.startswith(path + ".")]
    return str(max(paths, key=len))
