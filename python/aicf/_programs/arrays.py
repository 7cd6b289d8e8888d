# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays on a device that users make themselves."""

from __future__ import annotations

from typing import Any

from .. import _runtime
from .._base.dtypes import DType, check_shape, dtype_name
from .._runtime import Array, Device
from ..program import open_device

__all__ = ["Array", "Device", "array", "device", "zeros"]

device = open_device


def array(values: Any, device: str | Device = "cpu", dtype: DType | None = None) -> Array:
    """Copies a host array to a device.

    Args:
        values: an array of the host, such as NumPy's. It keeps its shape.
        device: "cpu", "cuda", "cuda:N", or a Device.
        dtype: a float type to convert floats to, such as "bf16", which NumPy does not
            have. The default is the array's own.
    """
    return _runtime.array(values, _device(device), None if dtype is None else dtype_name(dtype))


def zeros(shape: Any, dtype: DType = "f32", device: str | Device = "cpu") -> Array:
    """Returns an array of zeros on a device ("cpu", "cuda", "cuda:N", or a Device)."""
    return _runtime.zeros(list(check_shape(shape)), dtype_name(dtype),
                          _device(device))


def _device(device: str | Device) -> Device:
    return device if isinstance(device, Device) else open_device(device)
