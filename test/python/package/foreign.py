# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An array of a foreign framework, whose DLPack may say anything."""

import ctypes


class Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16)]


def tensor_of(capsule):
    """What a capsule of __dlpack__ says of the array: to be read, or changed."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Tensor.from_address(get(capsule, b"dltensor"))


class Foreign:
    """An array of a foreign framework. `fields` of its DLTensor are other ones."""

    def __init__(self, array, **fields):
        self.array, self.fields, self.requests = array, fields, []
        tensor = tensor_of(self.__dlpack__())
        self.device = tensor.device_type, tensor.device_id
        self.requests.clear()

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **kwargs):
        self.requests.append(kwargs)
        capsule = self.array.__dlpack__()
        for name, value in self.fields.items():
            setattr(tensor_of(capsule), name, value)
        return capsule
