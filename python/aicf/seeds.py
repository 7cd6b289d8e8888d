# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface that AICF grew from, on the objects of today.

    ir = trace_ir(function, inputs)          ops with labelled values: ir.dump()
    ex = PlannedExecutor(ir)                 the binding plan, and its runs
    ex.run(inputs={...}, params={...}, reuse_static=True)
    op_call("gemm", [a, b], [c], {"transB": True})

Nothing here is a second way to a kernel: an executor runs a plan, op_call is
resolve + launch of the runtime.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _runtime, ops
from ._runtime import (Graph, Stream, graph_begin, graph_end, graph_launch,
                       graph_reset)
from ._dtypes import DType
from ._signature import Signature, Spec, spec
from ._tensor import Tensor
from ._tracing import EntryTrace, as_tensor, attribute_text
from .compiled import Lowered, Program, Traced, trace
from .compiled import trace_step as _trace_step
from .program import open_device
from .errors import InvalidArgumentError, TraceError
from .nn import Buffer, Module, Parameter
from .optim import Optimizer

__all__ = ["Graph", "ModelBuilder", "PlannedExecutor", "Stream", "graph_begin",
           "graph_end", "graph_launch", "graph_reset", "graph_stream", "op_call",
           "trace_ir"]


def trace_ir(function: Any, inputs: Mapping[str, Any], *, model: Module | None = None,
             optimizer: Optimizer | None = None, name: str | None = None) -> Traced:
    """The ops of a function, as they are traced; nothing runs.

    Args:
        function: called with the inputs by name; with an optimizer as
            function(model, **inputs), and what it returns is the loss.
        inputs: name: aicf.spec(shape, dtype), ...
        model: whose parameters it uses.
    Returns: the IR: dump(), dump_lowered(), as_text().
    """
    if optimizer is not None:
        if model is None:
            raise TypeError("an optimizer without a model: whose parameters?")
        return _trace_step(model, function, optimizer, inputs,
                           name=name or "train_step")
    return trace(function, inputs, model=model, name=name)


class ModelBuilder:
    """A function built by calls: m.input, m.param, m.add, m.output.

    Example::

        m = aicf.ModelBuilder("train_step")
        x, t = m.input("x", (64, 64)), m.input("target", (64, 8))
        y = m.add("linear", x, m.param("W", (8, 64), init="uniform_fan_in"))
        m.output("loss", m.add("mse_loss", y, t), minimize=True)
        ir = m.build(aicf.optim.SGD(0.1))
    """

    def __init__(self, name: str = "main", *, training: bool = True,
                 seed: int = 0) -> None:
        self._traced = Traced()
        self._names: dict[int, str] = {}
        self._trace = EntryTrace(self._traced.module, name, self._names, training,
                                 seed, Tensor)
        self._owners: dict[str, Any] = {}
        self._outputs: list[tuple[str, Tensor, bool]] = []
        self._is_built = False
        self._trace.begin()

    def input(self, name: str, shape: Any, dtype: DType = "f32") -> Tensor:
        """An input of the function."""
        described = spec(shape, dtype)
        with self._open():
            return self._trace.input(name, described.shape, described.dtype)

    def param(self, name: str, shape: Any, dtype: DType = "f32",
              **options: Any) -> Tensor:
        """A parameter; options are nn.Parameter's."""
        return self._own(Parameter(shape, dtype, name=name, **options))

    def state(self, name: str, shape: Any, dtype: DType = "f32",
              init: Any = "zeros") -> Tensor:
        """A state; `update` gives it a new value."""
        return self._own(Buffer(shape, dtype, init=init, name=name))

    def hyper(self, name: str, value: float) -> Tensor:
        """A number on the device that the host may write between runs."""
        with self._open():
            return self._trace.hyper(name, float(value))

    def _own(self, owner: Any) -> Tensor:
        with self._open():
            tensor = self._trace.of(owner)
        self._owners[owner.name] = owner
        return tensor

    def add(self, op: str | Module, *operands: Any, name: str = "",
            **attributes: Any) -> Any:
        """An op of the dialect by its name, or a module, whose parameters are called
        `name`.weight, ...; returns its result, or a tuple of them."""
        with self._open():
            if isinstance(op, Module):
                prefix = name or "%s%d" % (type(op).__name__.lower(),
                                           len(self._trace.nodes))
                for kind in (op.named_parameters(), op.named_buffers()):
                    for inner, owner in kind:
                        self._names.setdefault(id(owner), prefix + "." + inner)
                self._owners[prefix] = op  # id() stays theirs
                return op(*operands)
            if op not in ops.__all__:
                raise TraceError("there is no op %r; aicf.ops has them all" % (op,))
            return getattr(ops, op)(*operands, **attributes)

    def output(self, name: str, value: Any, minimize: bool = False) -> None:
        """A result of the function; `minimize`: the loss."""
        with self._open():
            self._outputs.append((name, as_tensor(value), bool(minimize)))

    def update(self, name: str, value: Any) -> None:
        """A parameter or state of that name has `value` after a run."""
        if name not in self._owners:
            raise InvalidArgumentError("there is no param or state %r" % (name,))
        with self._open():
            self._trace.update(self._owners[name], value)

    def build(self, optimizer: Optimizer | None = None) -> Traced:
        """The IR. With an optimizer the compiler makes gradients and updates."""
        attributes: dict[str, Any] = {}
        if optimizer is not None:
            attributes["aicf.optimizer"] = attribute_text(optimizer.attribute())
        with self._open():
            self._trace.finish(self._outputs, attributes)
        self._is_built = True
        signature = Signature(self._trace.name, {
            name: Spec(*type) for name, type in self._trace.input_types().items()})
        if optimizer is not None and isinstance(optimizer.lr, (int, float)):
            signature.values["lr"] = float(optimizer.lr)
        self._traced._add_signature(signature, self._trace)
        return self._traced

    def _open(self) -> Any:
        if self._is_built:
            raise TraceError("the model is built: nothing can be added")
        return self._trace.resumed()


class PlannedExecutor:
    """Runs the entries of a plan, eagerly or as graphs.

    Args:
        plan: what trace_ir or ModelBuilder.build gave, a Lowered, a Program, a Plan,
            or the path of a plan file.
        device: "cpu", "cuda" or "cuda:N"; default: the plan's, or the CPU.
        warmup: after a run every parameter and state is what it was, bit for bit
            (for comparing gradients); default: AICF_WARMUP=1 of the environment.
        seed: of the initialisers.
        options: of the compiler, for IR: keep="grad", ... (Traced.lower).
    """

    def __init__(self, plan: Any, device: str | None = None, *,
                 warmup: bool | None = None, seed: int = 0, threads: int = 0,
                 **options: Any) -> None:
        signatures: Mapping[str, Signature] = {}
        if isinstance(plan, Program):
            plan = plan.lowered or plan.plan
        if isinstance(plan, Traced):
            plan = plan.lower(device or "cpu", **options)
        elif options:
            raise TypeError("compiler options (%s) are for IR, this is compiled"
                            % ", ".join(options))
        if isinstance(plan, Lowered):
            signatures = plan.traced.signatures
            device = device or plan.device
            plan = plan.plan
        elif isinstance(plan, (str, os.PathLike)):
            plan = _runtime.Plan.load(os.fspath(plan))
        if not isinstance(plan, _runtime.Plan):
            raise TypeError("plan is a %s, expected IR, a Lowered, a Program, a Plan "
                            "or a path" % type(plan).__name__)
        self.plan: _runtime.Plan = plan
        self.device = open_device(device or plan.device, threads=threads)
        self.executor = _runtime.Executor.create(plan, self.device, seed=seed,
                                                 warmup=warmup)
        self._signatures = signatures
        self._start()

    def _start(self) -> None:
        known = {t["name"] for t in self.plan.persistent()}
        for signature in self._signatures.values():
            values = dict(signature.values)
            values.update({n: o.value for n, o in signature.persistent.items()
                           if o.value is not None})
            for name, value in values.items():
                if name in known:
                    self.executor.write(name, value)

    def run(self, inputs: Mapping[str, Any] | None = None,
            params: Mapping[str, Any] | None = None, *, reuse_static: bool = True,
            entry: str | None = None,
            graph_key: str | tuple[str, int] | None = None) -> dict[str, Any]:
        """Writes inputs, params and states by name, runs, and returns the outputs.

        Args:
            inputs, params: arrays, or numbers for 0-d tensors.
            reuse_static: False: parameters and states start from their initial
                values, as in a new executor; then `params` are written.
            entry: which; default: the first.
            graph_key: an entry, or (entry, steps): as one graph launch, which is
                captured if it is not yet.
        """
        steps = 0
        if graph_key is not None:
            entry, steps = (graph_key, 1) if isinstance(graph_key, str) else graph_key
        entry = entry or self.plan.entries[0]
        outputs = [t["name"] for t in self.plan.io(entry) if t["role"] == "output"]
        if not reuse_static:
            self.executor.reset_state()
            self._start()
        for name, value in (params or {}).items():
            self.executor.write(name, value)
        for name, value in (inputs or {}).items():
            self.executor.write("%s/%s" % (entry, name), value)
        if graph_key is None:
            self.executor.run(entry)
        else:
            self.executor.run_graph(entry, steps)
        return {name: self.executor.read("%s/%s" % (entry, name)) for name in outputs}

    def read(self, name: str) -> _runtime.Array:
        """A copy of a tensor's value."""
        return self.executor.read(name)

    def capture(self, entry: str | None = None) -> None:
        """Records an entry as a graph; changes nothing."""
        self.executor.capture(entry or self.plan.entries[0])

    def replay(self, entry: str | None = None, n: int = 1) -> None:
        """Launches the graph of an entry n times."""
        self.executor.replay(entry or self.plan.entries[0], n)

    def reset_graphs(self) -> None:
        """Drops every graph."""
        self.executor.reset_graphs()

    def reset_state(self) -> None:
        """Parameters and states back to their initial values."""
        self.executor.reset_state()
        self._start()

    def trace_enable(self, enabled: bool = True) -> None:
        """Starts (and clears) or stops recording what runs."""
        self.executor.trace_enable(enabled)

    def trace_get(self) -> list[dict[str, Any]]:
        """What ran, oldest first: op, kid, in_vids, out_vids, is_replay, us, ..."""
        return self.executor.trace_get()

    def slots(self) -> list[dict[str, Any]]:
        """Where every buffer lies: entry, buffer, vid, name, segment, offset, bytes,
        pointer."""
        return self.executor.slots()

    def dump_slots(self) -> str:
        """The same as a table, pointers included."""
        return "".join("%-12s %4d %s %-10s %8d +%-8d %#014x %s\n" % (
            s["entry"] or "-", s["buffer"],
            "v%03d" % s["vid"] if s["vid"] >= 0 else "v?  ", s["segment"],
            s["bytes"], s["offset"], s["pointer"], s["name"])
            for s in self.slots())

    def dump(self) -> str:
        """The plan's tables, as aicf-plan dump."""
        return self.plan.dump()


def graph_stream(device: str | _runtime.Device = "cpu") -> Stream:
    """A stream that can capture op_calls."""
    return _runtime.graph_stream(
        device if isinstance(device, _runtime.Device) else open_device(device))


def op_call(kind: str, ins: Sequence[Any], outs: Sequence[Any],
            attrs: Mapping[str, Any] | None = None, *, kid: str = "auto",
            stream: Stream | None = None, workspace: Any = None,
            device: str | _runtime.Device | None = None) -> None:
    """One primitive on arrays, in place: the results are written into `outs`.

    Args:
        kind: a primitive, "gemm"; docs/Primitives.md lists them.
        ins, outs: arrays on the device in the record's order; None where an
            optional one is absent. Host arrays for the CPU.
        attrs: fields by name; what has a default may be left out.
        kid: a kernel's id, or "auto".
        stream: one that captures records the call; default: runs, and waits.
        workspace: scratch memory, an array of i32.
        device: default: the stream's, that of the first aicf.Array, or the CPU.
    Raises: InvalidArgumentError, ShapeMismatchError, DTypeMismatchError,
        MisalignedError, NotImplementedError (no such kernel), DeviceError.
    """
    if device is None and stream is not None:
        device = stream.device
    if device is None:
        arrays = [a for a in [*ins, *outs] if isinstance(a, _runtime.Array)]
        device = next((a.device for a in arrays if a.device != "cpu"), "cpu")
    if not isinstance(device, _runtime.Device):
        device = open_device(device)
    _runtime.op_call(kind, list(ins), list(outs), dict(attrs or {}), kid, device,
                     stream, workspace)


