# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions that AICF raises. Each class is an AICFError.

The classes of the runtime have the names of its status codes (include/aicf/Status.h).
They say that a plan, an array or a call was refused, and that nothing was changed.
TraceError and CompileError are about your program, and show the line.
"""

from __future__ import annotations

import difflib
import linecache
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._base.hints import in_python_words

__all__ = [
    "AICFError", "BadAttrSizeError", "BadSchemaError", "BranchError", "CompileError",
    "DTypeMismatchError", "DeviceError", "Diagnostic", "FailedStateError",
    "FileError", "FileNotFoundError_",
    "InvalidArgumentError", "InvalidFileError", "InvalidPlanError",
    "MisalignedError", "ModuleImportError", "NotImplementedError_", "NotInitializedError",
    "ShapeMismatchError", "TraceError", "VerificationError",
]


class AICFError(Exception):
    """The base class of all exceptions of AICF.

    Attributes:
        layer: the innermost module of aicf.nn whose forward() raised it, its operands
            and their shapes, or "".
    """

    layer = ""

    def __str__(self) -> str:
        text = super().__str__()
        return "%s\n  in %s" % (text, self.layer) if self.layer else text


class InvalidArgumentError(AICFError, ValueError):
    """A name is unknown, a count is wrong, or a value is out of range."""


class ShapeMismatchError(AICFError, ValueError):
    """An array, or an operand of op_call, does not have the expected shape."""


class DTypeMismatchError(AICFError, TypeError):
    """An array does not have the expected element type, or is not an array."""


class BadSchemaError(AICFError, ValueError):
    """The attrs of an op_call are those of another op."""


class BadAttrSizeError(AICFError, ValueError):
    """The attrs of an op_call have another size."""


class MisalignedError(AICFError, ValueError):
    """Memory is not aligned as its element type or the kernel needs."""


class InvalidPlanError(AICFError, ValueError):
    """A plan file failed verification. The message names the record and the field."""


class InvalidFileError(AICFError, ValueError):
    """A weight, array or checkpoint file is malformed."""


class NotInitializedError(AICFError, RuntimeError):
    """An input, hyper or param was never written."""


class FailedStateError(AICFError, RuntimeError):
    """The call is not legal now: another thread uses the program, or a graph is
    missing."""


class DeviceError(AICFError, RuntimeError):
    """The device or the system failed: no memory, no GPU."""


class FileError(AICFError, OSError):
    """A file cannot be read or written: no right to do it, a full disk, a folder."""


class FileNotFoundError_(FileError, FileNotFoundError):
    """There is no file or folder of that name."""


class NotImplementedError_(AICFError, NotImplementedError):
    """There is no kernel for this op, element type and device."""


# The runtime looks classes up by the status code's name with "Error" after it.
NotImplementedError = NotImplementedError_  # noqa: A001
FileNotFoundError = FileNotFoundError_  # noqa: A001


def near_names(name: object, known: Iterable[str]) -> str:
    """Returns ` (did you mean "x"?)`, or nothing if no known name is near."""
    near = difflib.get_close_matches(str(name), list(known), n=2, cutoff=0.6)
    return " (did you mean %s?)" % " or ".join('"%s"' % n for n in near) if near else ""


def source_line(filename: str, lineno: int) -> str:
    """Returns `  File "x.py", line 3`, and the line itself if it can be read."""
    text = '  File "%s", line %d' % (filename, lineno)
    code = linecache.getline(filename, lineno).strip()
    return text + ("\n    " + code if code else "")


class TraceError(AICFError, TypeError):
    """The function does what a trace cannot do: it branches on a value or reads one,
    changes a module, mixes traces, or gives an op a wrong operand.

    Attributes:
        filename, lineno: the line of your program.
    """

    def __init__(self, message: str, filename: str = "", lineno: int = 0) -> None:
        self.message, self.filename, self.lineno = message, filename, lineno
        shown = "\n" + source_line(filename, lineno) if filename else ""
        super().__init__(message + shown)

    def __reduce__(self) -> Any:
        return (type(self), (self.message, self.filename, self.lineno),
                {"layer": self.layer})


class ModuleImportError(TraceError):
    """A torch module cannot be imported. The message has all reasons."""


class BranchError(InvalidArgumentError):
    """The values of a batch decide a branch of a torch module otherwise than the example
    did, with which the step was compiled. Nothing was changed."""


class VerificationError(AICFError):
    """A compiled step of a torch module does not do what PyTorch does."""


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler about a line. `severity` is "error", "warning", "remark"
    or "note"."""

    severity: str
    message: str
    filename: str = ""
    lineno: int = 0
    notes: tuple[Diagnostic, ...] = field(default=())

    def __str__(self) -> str:
        text = "%s: %s" % (self.severity, self.message)
        if self.filename:
            text += "\n" + source_line(self.filename, self.lineno)
        return "\n".join([text, *map(str, self.notes)])


def read_diagnostics(raw: Sequence[Any]) -> list[Diagnostic]:
    """Returns diagnostics for the compiler's tuples."""
    return [d if isinstance(d, Diagnostic) else
            Diagnostic(d[0], in_python_words(d[1]), d[2], d[3],
                       tuple(read_diagnostics(d[4])))
            for d in raw]


class CompileError(AICFError, ValueError):
    """The compiler refuses the program.

    Attributes:
        diagnostics: all its messages, a list of Diagnostic.
        filename, lineno: the line of your program that the first error with a line is
            about, or "" and 0.
    """

    def __init__(self, diagnostics: Sequence[Any]) -> None:
        self.diagnostics = read_diagnostics(diagnostics)
        errors = [d for d in self.diagnostics if d.severity == "error"]
        first = next((d for d in errors if d.filename), None)
        self.filename = first.filename if first else ""
        self.lineno = first.lineno if first else 0
        shown = errors or self.diagnostics
        super().__init__("\n".join(map(str, shown)) or "compilation failed")

    def __reduce__(self) -> Any:
        return CompileError, (self.diagnostics,), {"layer": self.layer}
