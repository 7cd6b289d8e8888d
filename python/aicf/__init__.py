# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AICF compiles a whole training step to one verified plan.

    step = aicf.compile_step(model, loss, aicf.optim.AdamW(1e-3),
                             inputs={"x": aicf.spec((128, 784)),
                                     "labels": aicf.spec((128,), "i32")})
    loss = step(x, labels)

Tracing and compiling need aicf._compiler. Plans run without it (aicf.load).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Each name is imported when it is first used, so that `import aicf` costs little.
_HOMES = {
    "compiled": ("compile", "compile_step", "load", "trace", "trace_step"),
    "_programs.lowered": ("Lowered",),
    "_programs.traced": ("Traced",),
    "program": ("Entry", "Program"),
    "training": ("Run", "evaluate", "fit", "lr_find"),
    "callbacks": ("Callback", "EarlyStopping", "History"),
    "_programs.summary": ("Summary", "summary"),
    "_programs.find_nan": ("find_nan",),
    "_programs.signature": ("Spec", "spec"),
    "_tracing.tensor": ("Tensor",),
    "_tracing.custom_gradient": ("custom_gradient",),
    "_tracing.gradients": ("grad",),
    "_tracing.keep": ("debug_print", "keep"),
    "_tracing.pointwise": ("maximum", "minimum", "where"),
    "_tracing.views": ("concat", "stack"),
    "errors": ("AICFError", "CompileError", "TraceError"),
    "seeds": ("Graph", "ModelBuilder", "PlannedExecutor", "Stream", "graph_begin",
              "graph_end", "graph_launch", "graph_reset", "graph_stream", "op_call",
              "trace_ir"),
    "_programs.arrays": ("Array", "Device", "array", "device", "zeros"),
}
_MODULES = ("callbacks", "compiled", "data", "errors", "functional", "jax", "losses", "nn",
            "op_attrs", "ops", "optim", "program", "seeds", "torch", "training")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AICFError", "Array", "Callback", "CompileError", "Device", "EarlyStopping", "Entry",
    "Graph", "History", "Lowered", "ModelBuilder", "PlannedExecutor", "Program", "Run",
    "Spec", "Stream", "Summary", "Tensor", "TraceError", "Traced", "__version__",
    "array", "callbacks", "compile", "compile_step", "compiled", "concat", "custom_gradient", "data",
    "debug_print", "device",
    "errors", "evaluate", "find_nan", "fit", "functional", "grad", "graph_begin", "graph_end", "graph_launch", "graph_reset",
    "graph_stream", "jax", "keep", "load", "losses", "lr_find", "maximum", "minimum", "nn", "op_attrs", "op_call", "ops", "optim",
    "program", "seeds", "spec", "stack", "summary", "torch", "trace", "trace_ir", "trace_step",
    "training", "where", "zeros",
]

if TYPE_CHECKING:
    from . import (callbacks, compiled, data, errors, functional, jax, losses, nn,
                   op_attrs, ops, optim, program, seeds, torch, training)
    from ._programs.arrays import Array, Device, array, device, zeros
    from ._programs.find_nan import find_nan
    from ._programs.lowered import Lowered
    from ._programs.signature import Spec, spec
    from ._programs.summary import Summary, summary
    from ._programs.traced import Traced
    from ._tracing.custom_gradient import custom_gradient
    from ._tracing.gradients import grad
    from ._tracing.keep import debug_print, keep
    from ._tracing.pointwise import maximum, minimum, where
    from ._tracing.tensor import Tensor
    from ._tracing.views import concat, stack
    from .callbacks import Callback, EarlyStopping, History
    from .compiled import compile, compile_step, load, trace, trace_step
    from .errors import AICFError, CompileError, TraceError
    from .program import Entry, Program
    from .seeds import (Graph, ModelBuilder, PlannedExecutor, Stream, graph_begin,
                        graph_end, graph_launch, graph_reset, graph_stream, op_call,
                        trace_ir)
    from .training import Run, evaluate, fit, lr_find


def __getattr__(name: str) -> Any:
    import importlib
    import sys
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _HOME_OF:
        home = importlib.import_module("." + _HOME_OF[name], __name__)
        value = getattr(home, name)
        globals()[name] = value
        return value
    if name.startswith("_"):  # `from . import _x` calls this first
        raise AttributeError("module 'aicf' has no attribute %r" % name)
    hints = importlib.import_module("._base.hints", __name__)
    raise hints.missing("aicf", name, sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
