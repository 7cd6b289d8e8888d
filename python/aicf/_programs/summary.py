# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.summary shows what a step consists of, layer by layer, from its trace and plan."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import FailedStateError
from ..nn import Module
from ..program import Entry
from .locations import split_location


@dataclass(frozen=True)
class LayerSummary:
    """Describes one module.

    Attributes:
        name: the module's path in the model.
        kind: the name of its class.
        shape: the shape of what forward() returned, "64x10".
        parameters: the number of elements of the parameters that it owns. Tied ones count
            where they come first.
        flops: the floating point operations of one run of the entry that come from its
            forward(), with derivatives. A call that layers share counts for the first.
    """

    name: str
    kind: str
    shape: str
    parameters: int
    flops: float


@dataclass(frozen=True)
class Summary:
    """The result of aicf.summary. print() shows it as a table.

    Attributes:
        entry: the name of the entry.
        layers: a LayerSummary for each module that was called, in order.
        parameters, trainable: the number of elements of all parameters, and of those that
            are trained.
        flops: the floating point operations of one run of the entry.
        bytes: a dict of bytes on the device: "persistent" (parameters, states), "io"
            (inputs, outputs) and "temporary". "traffic" is what the calls of one run read
            and write.
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

    def _repr_html_(self) -> str:
        return "<pre>%s</pre>" % html.escape(str(self))


def engineering(value: float) -> str:
    """Returns a number as text: 1234567 is "1.23 M"."""
    power = min(int(math.log10(max(value, 1))) // 3, 5)
    return "%.3g%s" % (value / 1000 ** power, ("", " k", " M", " G", " T", " P")[power])


def size(count: int) -> str:
    power = min((max(count, 1).bit_length() - 1) // 10, 4)
    return "%.3g %s" % (count / 1024 ** power, ("B", "KiB", "MiB", "GiB", "TiB")[power])


def summary(entry: Entry) -> Summary:
    """Returns the layers, shapes, parameters, FLOPs and bytes of an entry.
    `print(aicf.summary(step))` shows them as a table.

    Raises: FailedStateError: an entry of a loaded plan, which knows no layers. It has
        cost_analysis() and memory_analysis().
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
        layer = split_location(call["location"])[0]
        flops[layer] = flops.get(layer, 0.0) + call["flops"]
    owned, trainable, total = _parameters(
        signature.model, [path for path, _, _ in signature.layers])
    layers = [LayerSummary(path, kind, shape, owned.pop(path, 0), flops.pop(path, 0.0))
              for path, kind, shape in signature.layers]
    layers += [LayerSummary(path, "", "", count, 0.0) for path, count in owned.items()
               if path and count]  # that no module with a forward() has
    memory = program.memory_analysis()
    own = memory["entries"][entry.name]
    return Summary(entry.name, tuple(layers), total, trainable, costs["flops"], {
        "persistent": memory["persistent_bytes"], "io": own["io_bytes"],
        "temporary": own["temp_bytes"], "traffic": costs["bytes"]})


def _parameters(model: Module | None, layers: Sequence[str]
                ) -> tuple[dict[str, int], int, int]:
    """Returns the number of elements by the path of the module that owns them, of all
    that are trained, and of all."""
    owned: dict[str, int] = {}
    trainable = total = 0
    for name, parameter in _trained(model):
        count = math.prod(parameter.shape)
        path = _owner(model, layers, name)
        owned[path] = owned.get(path, 0) + count
        total += count
        trainable += count if getattr(parameter, "requires_grad", True) else 0
    return owned, trainable, total


def _trained(model: Module | None) -> list[tuple[str, Any]]:
    """Parameters with their names. In a step of JAX they are buffers of a donated tree:
    those below "params", or else all of floats in the first one."""
    if model is None:
        return []
    found = list(model.named_parameters())
    buffers = [] if found else [(name, b) for name, b in model.named_buffers()
                                if b.dtype.startswith(("f", "b"))]
    below = [(n, b) for n, b in buffers if "params" in n.split(".")[:-1]
             and "opt_state" not in n]
    first = buffers[0][0].partition(".")[0] if buffers else ""
    return found or below or [(n, b) for n, b in buffers if n.startswith(first + ".")]


def _owner(model: Any, layers: Sequence[str], name: str) -> str:
    """Returns the path of the innermost module above a parameter, which an imported model
    knows by the layers that ran. A list of modules does not count."""
    paths = [path for path in (*(path for path, _ in model.named_modules()), *layers)
             if not path or name.startswith(path + ".")]
    return str(max(paths, key=len)) if layers or any(paths) else name.rpartition(".")[0]
