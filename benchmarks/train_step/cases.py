# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The training steps that are measured: MLPs with ReLU, mean squared error and
Adam with f32 state. name: (batch, widths, precision)."""

CUDA_CASES = {
    "seed": (64, [64, 128, 64], "f32"),
    "digits": (128, [64, 256, 256, 10], "f32"),
    "mid": (1024, [784, 1024, 1024, 1024, 16], "tf32"),
    "deep": (512, [1024] * 33, "bf16"),
    "large": (8192, [4096] * 5, "bf16"),
    "xl": (16384, [8192] * 5, "bf16"),
    "odd": (1000, [777, 1031, 513, 10], "bf16"),
}
CPU_CASES = {
    "digits": CUDA_CASES["digits"],
    "fashion": (256, [784, 256, 10], "f32"),
    "narrow": (64, [256] * 17, "f32"),
    "mid": (*CUDA_CASES["mid"][:2], "f32"),
    "seed": CUDA_CASES["seed"],
}
CASES = {"cuda": CUDA_CASES, "cpu": CPU_CASES}
LEARNING_RATE = 1e-3


def precision_flags(precision):
    """What aicf-compile is given for a precision of a case."""
    option = {"f32": "", "tf32": "--math="}.get(precision, "--mixed-precision=")
    return [option + precision] if option else []


def flops(batch, widths):
    """Of the products of one step; the first layer has no input gradient."""
    forward = [2 * batch * k * n for k, n in zip(widths, widths[1:])]
    return 3 * sum(forward) - forward[0]


def update_bytes(widths):
    """Read and written by Adam: p, m, v in f32, the gradient, the copy."""
    params = sum(k * n + n for k, n in zip(widths, widths[1:]))
    return params * (24 + 4)
