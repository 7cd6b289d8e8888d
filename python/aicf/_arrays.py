# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on a device, for those who make their own."""

from __future__ import annotations

from typing import Any

from . import _runtime
from ._runtime import Array, Device
from ._dtypes import DType, check_shape, dtype_name
from .program import open_device

__all__ = ["Array", "Device", "array", "device", "zeros"]

device = open_device


def array(values: Any, device: str | Device = "cpu") -> Array:
    """A copy of a host array on a device."""
    return _runtime.array(values, _device(device))


def zeros(shape: Any, dtype: DType = "f32", device: str | Device = "cpu") -> Array:
    """An array of zeros on a device."""
    return _runtime.zeros(list(check_shape(shape)), dtype_name(dtype),
                          _device(device))


def _device(device: str | Device) -> Device:
    return device if isinstance(device, Device) else open_device(device)
