# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weight files: safetensors of a state_dict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .. import _runtime
from ..errors import InvalidFileError


def write_weights(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Writes arrays by name as a safetensors file."""
    from safetensors.numpy import save
    _runtime.write_file(os.fspath(path), save(dict(state)))


def read_weights(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The arrays of a safetensors file, by name. Raises InvalidFileError."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file
    try:
        found: dict[str, Any] = load_file(os.fspath(path))
    except SafetensorError as error:
        raise InvalidFileError(
            "%r is not a safetensors file (%s); PyTorch writes one by "
            "safetensors.torch.save_file(model.state_dict(), path)"
            % (os.fspath(path), error)) from None
    return found
