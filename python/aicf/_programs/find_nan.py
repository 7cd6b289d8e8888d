# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf.find_nan: where the first value that is not finite comes from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import _runtime
from ..errors import AICFError, FailedStateError, InvalidArgumentError
from ..program import Entry, Program
from .convert import Converter, host_of
from .locations import split_location
from .lowered import Lowered

@dataclass(frozen=True)
class Found:
    """What aicf.find_nan found. It is true if there is something, and prints as text.

    Attributes:
        kind: "input", "index", "parameter", "value", or "" if everything is finite.
        name: of the input or parameter, or the op that computed the value.
        layer: the path of the module, or "".
        location: "file:line" of your code, or "".
        text: all of it, as a sentence.
    """

    kind: str
    name: str = ""
    layer: str = ""
    location: str = ""
    text: str = "every value of the step is finite for this batch"

    def __bool__(self) -> bool:
        return bool(self.kind)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def _host(value: Any) -> Any:
    import numpy
    if isinstance(value, numpy.ndarray) or not hasattr(value, "numpy"):
        return numpy.asarray(value)
    if hasattr(value, "detach"):  # of torch
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return numpy.asarray(value.numpy())
    return host_of(value)


def not_finite(arrays: Mapping[str, Any]) -> str:
    """Returns which of the arrays have NaN or infinities and where, as a sentence, or ""."""
    import numpy
    found = []
    for name, value in arrays.items():
        host = _host(value)
        if host.dtype.kind != "f" or numpy.isfinite(host).all():
            continue
        wrong = numpy.argwhere(~numpy.isfinite(host))
        found.append("%r has %d of %d values that are not finite, the first at %s" % (
            name, len(wrong), host.size, wrong[0].tolist()))
    return "; ".join(found[:1] + ["and so have %d others" % (len(found) - 1)]
                     * (len(found) > 1))


def wrong_index(step: Entry, batch: Mapping[str, Any]) -> str:
    """Returns what a run of the batch that checks labels and indices says, or "". It has
    parameters of its own, as a program starts with them."""
    program = step.program
    try:
        executor = _runtime.Executor.create(program.plan, program.device,
                                            seed=program.seed, check_indices=True)
        for tensor in program.plan.persistent():
            if tensor["role"] == "hyper":
                executor.write(tensor["name"], program.executor.read(tensor["name"]))
        _runtime.Runner(executor, step.name, None)(**batch)
    except InvalidArgumentError as error:
        return str(error)
    except AICFError:  # another kind of step, or no memory: nothing is known
        pass
    return ""


def find_nan(step: Entry, *batch: Any, **named: Any) -> Found:
    """Finds where the first NaN of a step comes from. It checks the inputs, labels and
    indices, then parameters and states, and then runs the step once more, without any
    fusion, and looks at its values in order. It names the op, its module and your line,
    and says what the op read. If there is no NaN, it looks for infinities.

    The step and its values stay as they are; for the time of the call a second program
    with all values is on the device.

    Args:
        step: what compile_step or compile gave.
        batch, named: the inputs, as a call takes them; NumPy's arrays may have other types.
    Returns: a Found, which is false if everything is finite.
    Raises: FailedStateError: an entry of a loaded plan, which cannot be compiled anew;
        and what a call raises.
    """
    if not isinstance(step, Entry):
        raise TypeError("find_nan takes what compile_step or compile gives, got a %s"
                        % type(step).__name__)
    signature = step.signature
    if step.program.lowered is None:
        raise FailedStateError("%r is from a plan file: find_nan compiles the step once more"
                               % step.name)
    leaves = step._leaves_of(batch if len(batch) != 1 else batch[0]) if batch else {}
    given = dict(leaves) if isinstance(leaves, Mapping) else dict(
        zip(signature.inputs, leaves if isinstance(leaves, (tuple, list)) else [leaves]))
    inputs = Converter(signature.specs).all({**given, **named})
    if set(inputs) != set(signature.inputs):
        raise InvalidArgumentError("find_nan got the inputs %s, the step takes %s" % (
            ", ".join(inputs) or "none", ", ".join(signature.inputs)))
    for entry in step.family.root.family.by_rows.values():  # of this many rows
        if all(tuple(getattr(inputs[name], "shape", ())) == spec.shape
               for name, spec in entry.signature.specs.items()):
            step = entry
    wrong = not_finite(inputs)
    if wrong:
        return Found("input", wrong.split("'")[1], text="the input " + wrong)
    wrong = wrong_index(step, inputs)
    if wrong:
        return Found("index", text=wrong)
    kept = {name: step.program.executor.read(name)
            for name in step.program._tensors("param", "state", "hyper")}
    wrong = not_finite(kept)
    if wrong:
        return Found("parameter", wrong.split("'")[1], text="before the step, " + wrong +
                     ": program.reset() begins anew, load_checkpoint() goes back")
    return _of_values(step, inputs, kept)


def _of_values(step: Entry, inputs: Mapping[str, Any], kept: Mapping[str, Any]) -> Found:
    lowered = step.program.lowered
    assert lowered is not None
    plain = Lowered(lowered.traced, lowered.device, lowered.precision,
                    {**lowered._options, "keep": "all", "opt_level": 0})
    program = Program(plain.plan, step.program.device, seed=step.program.seed)
    for name, value in kept.items():
        program.executor.write(name, value)
    runner = _runtime.Runner(program.executor, step.name, None)
    results = runner(**inputs)
    outputs = dict(zip(runner.outputs, results if isinstance(results, tuple)
                       else (results,)))
    ends = [not_finite({n: v}) for n, v in (
        *((n, v) for n, v in outputs.items() if not n.startswith("v")),
        *((n, program.executor.read(n)) for n in program._tensors("param", "state")))]
    calls = next(e for e in json.loads(plain.plan.json())["entries"]
                 if e["name"] == step.name)["calls"]
    start = {**{t["vid"]: inputs.get(t["name"]) for t in plain.plan.io(step.name)},
             **{t["vid"]: kept.get(t["name"]) for t in plain.plan.persistent()}}
    for test in (_has_nan, _has_infinity):
        for call in calls:
            for vid in call["vids"]:
                value = outputs.get("v%03d" % vid)
                # An infinity that is gone at the end is meant, such as that of a mask.
                if value is not None and test(_host(value)) and (
                        test is _has_nan or any(ends)):
                    return _at(call, vid, outputs, start)
    return Found("")


def _has_nan(host: Any) -> bool:
    import numpy
    return host.dtype.kind == "f" and bool(numpy.isnan(host).any())


def _has_infinity(host: Any) -> bool:
    import numpy
    return host.dtype.kind == "f" and bool(numpy.isinf(host).any())


def _at(call: Mapping[str, Any], vid: int, outputs: Mapping[str, Any],
        start: Mapping[int, Any]) -> Found:
    """Says what a call computed, and from what."""
    ops = ", ".join(p["kind"] for p in call["body"]["primitives"])
    layer, location = split_location(call["location"])
    value = _host(outputs["v%03d" % vid])
    read = []
    for number, own in enumerate(call["in_vids"]):
        operand = outputs.get("v%03d" % own, start.get(own))
        if operand is not None and own != vid:
            read.append("operand %d %s" % (number, _range_of(_host(operand))))
    text = "%s%s gives %s%s%s" % (
        ops, " in the layer %r" % layer if layer else "", _range_of(value),
        " at " + location if location else "", ": " + "; ".join(read) if read else "")
    return Found("value", ops, layer, location, text)


def _range_of(host: Any) -> str:
    """Describes an array: its shape, its range, and how much of it is not finite."""
    import numpy
    shape = "x".join(map(str, host.shape)) or "a number"
    if host.dtype.kind != "f":
        return "%s of %s" % (shape, host.dtype)
    finite = host[numpy.isfinite(host)]
    parts = ["%s in [%.4g, %.4g]" % (shape, finite.min(), finite.max())
             if finite.size else shape]
    for what, count in (("NaN", numpy.isnan(host).sum()), ("inf", numpy.isinf(host).sum())):
        if count:
            parts.append("%d %s" % (count, what))
    wrong = numpy.argwhere(~numpy.isfinite(host))
    if len(wrong):
        parts.append("first at %s" % wrong[0].tolist())
    return " with ".join([parts[0], ", ".join(parts[1:])]) if len(parts) > 1 else parts[0]
