# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays to bytes and back, bf16 too, which NumPy does not have."""

import json
import pathlib
import struct

import numpy as np

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16,
          "i32": np.int32, "i64": np.int64, "i1": np.bool_}


# What safetensors calls them.
NAMES = {d: d.upper() for d in (*DTYPES, "bf16")} | {"i1": "BOOL"}


def encode(dtype, array):
    if dtype != "bf16":
        return np.ascontiguousarray(array, DTYPES[dtype]).tobytes()
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
    # Round to nearest, ties to even.
    return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()


def decode(dtype, data, shape):
    """Floats as f64, integers as they are."""
    if dtype == "bf16":
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64).reshape(shape)
    array = np.frombuffer(data, DTYPES[dtype]).reshape(shape)
    return array.astype(np.float64) if dtype[0] == "f" else array.copy()


def argument(name, dtype, array, path):
    """An argument of --input; what is long goes by way of the file `path`."""
    array = np.asarray(array)
    if dtype in ("f16", "bf16"):  # rounded once: the tool goes by way of f32
        array = decode(dtype, encode(dtype, array), array.shape)
    if array.size > 1000 and dtype != "bf16":  # which .npy has no name for
        np.save(path, array.astype(DTYPES[dtype]))
        return "%s=@%s" % (name, path)
    numbers = ",".join(repr(v) for v in (np.ravel(array) * 1).tolist())
    return "%s=%s=%s" % (name, "x".join([*map(str, array.shape), dtype]), numbers)


def write_safetensors(path, values):
    """`values`: {name: (dtype, array)}."""
    header, body = {}, b""
    for name, (dtype, array) in values.items():
        raw = encode(dtype, array)
        header[name] = {"dtype": NAMES[dtype], "shape": list(np.shape(array)),
                        "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    body = data[8 + size:]
    dtypes = {name: dtype for dtype, name in NAMES.items()}
    return {name: decode(dtypes[info["dtype"]], body[slice(*info["data_offsets"])],
                         info["shape"])
            for name, info in json.loads(data[8:8 + size]).items()
            if name != "__metadata__"}
