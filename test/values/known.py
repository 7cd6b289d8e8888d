# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of single ops: how they are called at points, and differences that have a
reason."""

import torch

#: Arguments of an op that its sample inputs would give.
_ARGUMENTS = {"clamp": (-1.0, 2.0), "logit": (1e-3,), "nn.functional.threshold": (0.5, 7.0)}

_LANES = "PyTorch's vectors give NaN for the gradient of NaN, and its scalars a number"
#: By op: why its numbers are not PyTorch's at some points.
EXPLAINED = {
    "nn.functional.relu": "the gradient of NaN is 0, and PyTorch's is dy",
    "nn.functional.elu": _LANES, "nn.functional.celu": _LANES, "nn.functional.selu": _LANES,
    "nn.functional.softshrink": _LANES, "nn.functional.hardtanh": _LANES,
    "nn.functional.relu6": _LANES,
    "int": "C++ does not say what infinity and NaN become", "long": "as int",
    "char": "as int", "short": "as int", "byte": "as int",
    "special.entr": "the gradient at 0 is NaN, and PyTorch's is infinite",
    "tanh": "1 - y^2 cancels, in PyTorch in another order",
    "xlogy": "the gradients of 0 log(inf) and log(0) 0 are NaN and 0, PyTorch's inf and NaN",
    "acosh": "the gradient at 1 is NaN, and PyTorch's is infinite",
    "special.xlog1py": "as xlogy",
    "nn.functional.hardsigmoid": "1/6 is rounded to f32 in PyTorch, also for f64",
}


def at_points(info):
    """The op as a function of its tensors."""
    extra = _ARGUMENTS.get(info.name, ())
    if info.name == "polygamma":
        return lambda x: torch.polygamma(1, x)
    return lambda *operands: info.op(*operands, *extra)

#: By op: why its sample inputs give other numbers.
OF_SAMPLES = {
    **dict.fromkeys((
        "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal",
        "rand_like", "randint_like", "randn_like", "uniform", "nn.functional.alpha_dropout",
        "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
        "nn.functional.feature_alpha_dropout", "nn.functional.multi_head_attention_forward",
        "nn.functional.rrelu", "nn.functional.scaled_dot_product_attention"),
        "draws are other numbers"),
    "as_strided_scatter": "PyTorch gives the elements that are overwritten a gradient, and the "
                          "others none",
    "empty_like": "nothing is in it", "erfinv": "exp(y^2) multiplies the rounding of y",
    "nn.functional.interpolate": "weights of both signs are added in another order",
}
