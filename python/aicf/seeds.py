# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface with which AICF began, on top of the objects of today.

    ir = trace_ir(function, inputs)          ops with labelled values: ir.dump()
    ex = PlannedExecutor(ir)                 the binding plan, and its runs
    ex.run(inputs={...}, params={...}, reuse_static=True)
    op_call("gemm", [a, b], [c], {"transB": True})

Kernels run in the same way as elsewhere: an executor runs a plan, and op_call calls
resolve and launch of the runtime.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _runtime, ops
from ._base.dtypes import DType
from ._programs.signature import Signature, Spec, spec
from ._runtime import Graph, Stream, graph_begin, graph_end, graph_launch, graph_reset
from ._tracing.tensor import Tensor
from ._tracing.trace import EntryTrace, as_tensor, attribute_text
from .compiled import Lowered, Program, Traced, trace
from .compiled import trace_step as _trace_step
from .errors import InvalidArgumentError, TraceError
from .nn import Buffer, Module, Parameter
from .optim import Optimizer
from .program import open_device

__all__ = ["Graph", "ModelBuilder", "PlannedExecutor", "Stream", "graph_begin",
           "graph_end", "graph_launch", "graph_reset", "graph_stream", "op_call",
           "trace_ir"]


def trace_ir(function: Any, inputs: Mapping[str, Any], *, model: Module | None = None,
             optimizer: Optimizer | None = None, name: str | None = None) -> Traced:
    """Traces the ops of a function. Nothing runs.

    Args:
        function: a function that is called with the inputs by name. With an optimizer it
            is called as function(model, **inputs), and it returns the loss.
        inputs: a dict of name: aicf.spec(shape, dtype).
        model: the module whose parameters the function uses.
        optimizer: one of aicf.optim, if the function is a training step.
        name: the name of the entry; the default is the function's, or "train_step".
    Returns: the IR, which has dump(), dump_lowered() and as_text().
    Raises: TraceError, CompileError, TypeError.
    """
    if optimizer is not None:
        if model is None:
            raise TypeError("an optimizer is given without a model: model=... says whose "
                            "parameters it trains")
        return _trace_step(model, function, optimizer, inputs,
                           name=name or "train_step")
    return trace(function, inputs, model=model, name=name)


class ModelBuilder:
    """Builds a function by calls of m.input, m.param, m.add and m.output.

    The calls raise TraceError and CompileError. `update` raises InvalidArgumentError for
    a name that is not known.

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
        """Adds an input to the function, and returns it."""
        described = spec(shape, dtype)
        with self._open():
            return self._trace.input(name, described.shape, described.dtype)

    def param(self, name: str, shape: Any, dtype: DType = "f32",
              **options: Any) -> Tensor:
        """Adds a parameter, and returns it. The options are those of nn.Parameter."""
        return self._own(Parameter(shape, dtype, name=name, **options))

    def state(self, name: str, shape: Any, dtype: DType = "f32",
              init: Any = "zeros") -> Tensor:
        """Adds a state, and returns it. `update` gives it a new value."""
        return self._own(Buffer(shape, dtype, init=init, name=name))

    def hyper(self, name: str, value: float) -> Tensor:
        """Adds a number on the device (0-d, f32), which the host may change between runs.
        Returns it."""
        with self._open():
            return self._trace.hyper(name, float(value))

    def _own(self, owner: Any) -> Tensor:
        with self._open():
            tensor = self._trace.of(owner)
        self._owners[owner.name] = owner
        return tensor

    def add(self, op: str | Module, *operands: Any, name: str = "",
            **attributes: Any) -> Any:
        """Adds an op of the dialect by its name, or a module.

        Args:
            op: the op's name in aicf.ops, or an aicf.nn.Module.
            operands: traced tensors.
            name: what stands before the names of a module's parameters: `name`.weight.
            attributes: the attributes of the op.
        Returns: the result, or a tuple of the results.
        """
        with self._open():
            if isinstance(op, Module):
                prefix = name or "%s%d" % (type(op).__name__.lower(),
                                           len(self._trace.nodes))
                for kind in (op.named_parameters(), op.named_buffers()):
                    for inner, owner in kind:
                        self._names.setdefault(id(owner), prefix + "." + inner)
                self._owners[prefix] = op  # kept alive, so that no other takes its id()
                return op(*operands)
            if op not in ops.__all__:
                raise TraceError("there is no op %r; aicf.ops has all ops" % (op,))
            return getattr(ops, op)(*operands, **attributes)

    def output(self, name: str, value: Any, minimize: bool = False) -> None:
        """Makes a tensor a result of the function. `minimize` marks the loss."""
        with self._open():
            self._outputs.append((name, as_tensor(value), bool(minimize)))

    def update(self, name: str, value: Any) -> None:
        """Gives the parameter or state of that name `value` at the end of a run."""
        if name not in self._owners:
            raise InvalidArgumentError("there is no param or state %r" % (name,))
        with self._open():
            self._trace.update(self._owners[name], value)

    def build(self, optimizer: Optimizer | None = None) -> Traced:
        """Ends the function and returns its IR. With an optimizer, the compiler adds the
        gradients and the updates."""
        attributes: dict[str, Any] = {}
        values: dict[str, Any] = {}
        if optimizer is not None:
            attributes["aicf.optimizer"] = attribute_text(optimizer.attribute())
            values = optimizer.values("")
        with self._open():
            self._trace.finish(self._outputs, attributes)
        self._is_built = True
        signature = Signature(self._trace.name, {
            name: Spec(*type) for name, type in self._trace.input_types().items()},
            values=values)
        self._traced._add_signature(signature, self._trace)
        return self._traced

    def _open(self) -> Any:
        if self._is_built:
            raise TraceError("the model is built: nothing can be added")
        return self._trace.resumed()


class PlannedExecutor:
    """Runs the entries of a plan, eagerly or as graphs.

    Args:
        plan: the result of trace_ir or ModelBuilder.build, a Lowered, a Program, a Plan,
            or the path of a plan file.
        device: "cpu", "cuda" or "cuda:N"; the default is the plan's, or the CPU.
        warmup: whether a run leaves each parameter and state as it was, bit for bit, so
            that you can compare gradients. The default is True if the environment has
            AICF_WARMUP=1.
        seed: the seed of initial values.
        threads: the number of threads of the CPU; 0 takes all cores.
        options: options of the compiler for IR, such as keep="grad" (Traced.lower).
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
            raise TypeError("compiler options (%s) are for IR, but the plan is compiled "
                            "already" % ", ".join(options))
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
        """Writes values, runs an entry, and returns its outputs by name.

        Args:
            inputs: arrays by name, or numbers for 0-d tensors.
            params: the same for parameters, states and hypers.
            reuse_static: whether parameters and states keep their values. If not, they
                start from their initial values, as in a new executor, before `params`
                are written.
            entry: the name of the entry; the default is the first.
            graph_key: an entry, or (entry, steps), which then runs as one graph launch.
                The graph is captured if there is none yet.
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
        """Returns a copy of a tensor's value."""
        return self.executor.read(name)

    def capture(self, entry: str | None = None) -> None:
        """Records an entry as a graph. No value changes."""
        self.executor.capture(entry or self.plan.entries[0])

    def replay(self, entry: str | None = None, n: int = 1) -> None:
        """Launches the graph of an entry n times."""
        self.executor.replay(entry or self.plan.entries[0], n)

    def reset_graphs(self) -> None:
        """Drops every graph."""
        self.executor.reset_graphs()

    def reset_state(self) -> None:
        """Sets parameters and states back to their initial values."""
        self.executor.reset_state()
        self._start()

    def trace_enable(self, enabled: bool = True) -> None:
        """Starts or stops recording what runs. A start clears the record."""
        self.executor.trace_enable(enabled)

    def trace_get(self) -> list[dict[str, Any]]:
        """Returns what ran, the oldest first: op, kid, in_vids, out_vids, is_replay, us
        (microseconds) and more."""
        return self.executor.trace_get()

    def slots(self) -> list[dict[str, Any]]:
        """Returns where each buffer lies: entry, buffer, vid, name, segment, offset (in
        bytes, from the start of the segment), bytes, pointer."""
        return self.executor.slots()

    def dump_slots(self) -> str:
        """Returns slots() as a table of text."""
        return "".join("%-12s %4d %s %-10s %8d +%-8d %#014x %s\n" % (
            s["entry"] or "-", s["buffer"],
            "v%03d" % s["vid"] if s["vid"] >= 0 else "v?  ", s["segment"],
            s["bytes"], s["offset"], s["pointer"], s["name"])
            for s in self.slots())

    def dump(self) -> str:
        """Returns the plan's tables, as aicf-plan dump shows them."""
        return self.plan.dump()


def graph_stream(device: str | _runtime.Device = "cpu") -> Stream:
    """Returns a stream that can capture op_calls."""
    return _runtime.graph_stream(
        device if isinstance(device, _runtime.Device) else open_device(device))


def op_call(kind: str, ins: Sequence[Any], outs: Sequence[Any],
            attrs: Mapping[str, Any] | None = None, *, kid: str = "auto",
            stream: Stream | None = None, workspace: Any = None,
            device: str | _runtime.Device | None = None) -> None:
    """Runs one primitive on arrays, and writes the results into `outs`.

    Args:
        kind: a primitive such as "gemm". The page "Primitives and bodies" lists
            them.
        ins, outs: arrays on the device in the order of the primitive's record, None for
            an optional one that is absent. The CPU takes host arrays.
        attrs: fields by name. A field that has a default may be absent.
        kid: a kernel's id, or "auto".
        stream: a stream that captures, to record the call. Otherwise the call runs, and
            returns when it is done.
        workspace: scratch memory, an array of i32.
        device: the default is the stream's, that of the first aicf.Array that is not on
            the CPU, or the CPU.
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


