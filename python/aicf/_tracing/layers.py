# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations, tables and normalisation as modules of aicf.nn. The names, the arguments
and the entries of a state_dict are PyTorch's. `axis` is its `dim`."""

from __future__ import annotations

from typing import Any

from .. import functional as F, ops
from .._base.dtypes import DType, check_shape, dtype_name
from .._base.hints import says_axis
from ..nn import Buffer, Module, Parameter, _Activation, _Pointwise
from .tensor import Tensor
from .trace import as_tensor, current_trace, trace_error

__all__ = ["ELU", "BatchNorm1d", "Embedding", "GLU", "GroupNorm", "Hardsigmoid",
           "Hardswish", "Hardtanh", "LayerNorm", "LeakyReLU", "LogSigmoid", "LogSoftmax",
           "Mish", "PReLU", "RMSNorm", "ReLU6", "SELU", "Softmax", "Softplus"]


# Activations

class ELU(Module):
    """x where x > 0, else alpha · (exp(x) - 1) (Clevert et al. 2015)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = float(alpha)

    def forward(self, x: Any) -> Tensor:
        return F.elu(x, self.alpha)

    def extra_repr(self) -> str:
        return "alpha=%g" % self.alpha


class SELU(_Activation):
    """A scaled ELU that keeps mean and variance (Klambauer et al. 2017)."""
    function = staticmethod(ops.selu)


class LeakyReLU(Module):
    """x where x > 0, else negative_slope · x (Maas et al. 2013)."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = float(negative_slope)

    def forward(self, x: Any) -> Tensor:
        return F.leaky_relu(x, self.negative_slope)

    def extra_repr(self) -> str:
        return "negative_slope=%g" % self.negative_slope


class PReLU(Module):
    """x where x > 0, else weight · x. The weight is trained (He et al. 2015).

    Args:
        num_parameters: the size of the weight: 1, or the number of channels, which are
            dimension 1.
        init: the number that the weight starts with.
        dtype: a float type.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25,
                 dtype: DType = "f32") -> None:
        self.weight = Parameter((num_parameters,), dtype, init=float(init))

    def forward(self, x: Any) -> Tensor:
        return F.prelu(x, self.weight)

    def extra_repr(self) -> str:
        return "%d" % self.weight.shape[0]


class Hardtanh(Module):
    """x, but not below min_val and not above max_val."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0,
                 inplace: bool = False) -> None:
        if not min_val < max_val:
            raise ValueError("min_val is %r, expected less than max_val, %r"
                             % (min_val, max_val))
        self.min_val, self.max_val = float(min_val), float(max_val)

    def forward(self, x: Any) -> Tensor:
        return F.hardtanh(x, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        return "%g, %g" % (self.min_val, self.max_val)


class ReLU6(_Activation):
    """min(max(x, 0), 6)."""
    function = staticmethod(F.relu6)


class Hardswish(_Activation):
    """x · min(max(x + 3, 0), 6) / 6 (Howard et al. 2019)."""
    function = staticmethod(ops.hardswish)


class Hardsigmoid(_Activation):
    """min(max(x + 3, 0), 6) / 6."""
    function = staticmethod(F.hardsigmoid)


class Softplus(Module):
    """log(1 + exp(beta · x)) / beta, but x where beta · x > threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta, self.threshold = float(beta), float(threshold)

    def forward(self, x: Any) -> Tensor:
        return F.softplus(x, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return "beta=%g, threshold=%g" % (self.beta, self.threshold)


class Mish(_Activation):
    """x · tanh(softplus(x)) (Misra 2019)."""
    function = staticmethod(ops.mish)


class LogSigmoid(_Pointwise):
    """log(sigmoid(x))."""
    function = staticmethod(ops.log_sigmoid)


class _AlongAxis(Module):
    @says_axis
    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def extra_repr(self) -> str:
        return "axis=%d" % self.axis


class Softmax(_AlongAxis):
    """exp(x) / sum(exp(x)) along dimension `axis`."""

    def forward(self, x: Any) -> Tensor:
        return F.softmax(x, self.axis)


class LogSoftmax(_AlongAxis):
    """x - log(sum(exp(x))) along dimension `axis`."""

    def forward(self, x: Any) -> Tensor:
        return F.log_softmax(x, self.axis)


class GLU(_AlongAxis):
    """a · sigmoid(b), where a and b are the halves of x along dimension `axis` (Dauphin
    et al. 2016)."""

    def forward(self, x: Any) -> Tensor:
        return F.glu(x, self.axis)


# Tables

class Embedding(Module):
    """Looks up a row of a trained table for each index.

    Args:
        num_embeddings, embedding_dim: the shape of the weight. It starts with the normal
            distribution.
        padding_idx: a row that starts with zeros and is not trained. A negative one
            counts from the end.
        dtype: a float type.
    Shape: indices of i32 or i64 in any shape, to that shape with embedding_dim as a new
        last dimension. An index that is out of range gives NaN.
    """

    def __init__(self, num_embeddings: int, embedding_dim: int,
                 padding_idx: int | None = None, dtype: DType = "f32") -> None:
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError("padding_idx is %r, expected a row of %d"
                                 % (padding_idx, num_embeddings))
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.weight = Parameter((num_embeddings, embedding_dim), dtype, init="normal")
        self.weight.zero_row = padding_idx

    def forward(self, index: Any) -> Tensor:
        return F.embedding(index, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else \
            ", padding_idx=%d" % self.padding_idx
        rows, width = self.weight.shape
        return "%d, %d%s" % (rows, width, padding)


# Normalisation. Weights and biases are not decayed.

def _scale(shape: Any, dtype: DType, exists: bool) -> Parameter | None:
    return Parameter(shape, dtype, init="ones", weight_decay=0.0) if exists else None


def _shift(shape: Any, dtype: DType, exists: bool) -> Parameter | None:
    return Parameter(shape, dtype, weight_decay=0.0) if exists else None


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) · weight + bias over the last dimensions (Ba,
    Kiros, Hinton 2016). The weight and the bias are not decayed: their weight_decay is 0.

    Args:
        normalized_shape: the size of the last dimension, or the sizes of several.
        eps: a number that is added to the variance.
        elementwise_affine: whether there are a weight and a bias of that shape.
        bias: whether there is a bias beside the weight.
        dtype: a float type.
    Shape: [..., *normalized_shape] to the same shape.
    """

    def __init__(self, normalized_shape: Any, eps: float = 1e-5,
                 elementwise_affine: bool = True, bias: bool = True,
                 dtype: DType = "f32") -> None:
        if not isinstance(elementwise_affine, bool):
            raise TypeError("elementwise_affine is %r, expected True or False; dtype is a "
                            "keyword" % (elementwise_affine,))
        self.normalized_shape = check_shape(normalized_shape)
        self.eps = float(eps)
        self.weight = _scale(self.normalized_shape, dtype, elementwise_affine)
        self.bias = _shift(self.normalized_shape, dtype, elementwise_affine and bias)

    def forward(self, x: Any) -> Tensor:
        return F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return "%s, eps=%g" % ("x".join(map(str, self.normalized_shape)), self.eps)


class RMSNorm(Module):
    """x / sqrt(mean(x²) + eps) · weight over the last dimensions (Zhang, Sennrich
    2019). The weight is not decayed.

    Args:
        normalized_shape: the size of the last dimension, or the sizes of several.
        eps: a number that is added to the mean. The default is 2^-23, and 2^-52 for f64.
        elementwise_affine: whether there is a weight of that shape.
        dtype: a float type.
    Shape: [..., *normalized_shape] to the same shape.
    """

    def __init__(self, normalized_shape: Any, eps: float | None = None,
                 elementwise_affine: bool = True, dtype: DType = "f32") -> None:
        self.normalized_shape = check_shape(normalized_shape)
        self.eps = eps
        self.weight = _scale(self.normalized_shape, dtype, elementwise_affine)

    def forward(self, x: Any) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return "%s, eps=%s" % ("x".join(map(str, self.normalized_shape)), self.eps)


class GroupNorm(Module):
    """Divides the channels of each row into groups, and normalises each group (Wu, He
    2018). The weight and the bias are not decayed.

    Args:
        num_groups: the number of groups, which divides num_channels.
        num_channels: the size of dimension 1.
        eps: a number that is added to the variance.
        affine: whether there are a weight and a bias, [num_channels].
        dtype: a float type.
    Shape: [rows, channels, ...] to the same shape.
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5,
                 affine: bool = True, dtype: DType = "f32") -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError("num_groups is %r, which does not divide the %r channels"
                             % (num_groups, num_channels))
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps = float(eps)
        self.weight = _scale((num_channels,), dtype, affine)
        self.bias = _shift((num_channels,), dtype, affine)

    def forward(self, x: Any) -> Tensor:
        tensor = as_tensor(x)
        if len(tensor.shape) < 2 or tensor.shape[1] != self.num_channels:
            trace_error("GroupNorm of %s: expected %d channels in dimension 1"
                        % (tensor, self.num_channels))
        return F.group_norm(tensor, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return "%d, %d, eps=%g" % (self.num_groups, self.num_channels, self.eps)


class BatchNorm1d(Module):
    """Normalises each channel over the batch (Ioffe, Szegedy 2015).

    A training step uses the mean and the variance of the batch. It also moves the
    running statistics: running = (1 - momentum) · running + momentum · batch. The
    running variance is the unbiased one. Predictions use the running statistics. The
    weight and the bias are not decayed.

    Args:
        num_features: the number of channels, which are dimension 1.
        eps: a number that is added to the variance.
        momentum: the weight of the batch in the running statistics, in (0, 1].
        affine: whether there are a weight and a bias, [num_features].
        track_running_stats: whether there are running statistics. If not, predictions use
            those of the batch, too.
        dtype: the type of the weight and the bias, a float type. The running statistics
            are f64 for f64, and f32 for all others.
    Shape: [rows, channels] or [rows, channels, ...] to the same shape. Statistics of a
        batch need two numbers or more in each channel.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
                 affine: bool = True, track_running_stats: bool = True,
                 dtype: DType = "f32") -> None:
        if not isinstance(momentum, (int, float)) or not 0 < momentum <= 1:
            raise ValueError("momentum is %r, expected a number in (0, 1]"
                             % (momentum,))
        self.num_features = num_features
        self.eps, self.momentum = float(eps), float(momentum)
        self.weight = _scale((num_features,), dtype, affine)
        self.bias = _shift((num_features,), dtype, affine)
        self.running_mean: Buffer | None = None
        if track_running_stats:
            kept = "f64" if dtype_name(dtype) == "f64" else "f32"
            self.running_mean = Buffer((num_features,), kept)
            self.running_var = Buffer((num_features,), kept, init="ones")
            self.num_batches_tracked = Buffer((), "i64")

    def forward(self, x: Any) -> Tensor:
        tensor = as_tensor(x)
        if len(tensor.shape) < 2 or tensor.shape[1] != self.num_features:
            trace_error("BatchNorm1d of %s: expected %d channels in dimension 1"
                        % (tensor, self.num_features))
        if self.running_mean is not None and not self.training:
            return F.batch_norm(tensor, self.running_mean, self.running_var,
                                self.weight, self.bias, self.eps)
        count = tensor.size // self.num_features
        if count < 2:
            trace_error("BatchNorm1d of %s: each channel has one number, and the "
                        "statistics of a batch need two or more" % tensor)
        y, mean, variance = F.norm_of_batch(tensor, self.weight, self.bias, self.eps)
        if self.running_mean is not None:
            self._track(self.running_mean, mean)
            self._track(self.running_var, variance * (count / (count - 1)))
            trace = current_trace("BatchNorm1d")
            trace.update_again(self.num_batches_tracked, lambda count: count + 1)
        return y

    def _track(self, running: Buffer, batch: Tensor) -> None:
        new = ops.stop_gradient(batch).astype(running.dtype)
        # If a step uses a module twice, it moves the statistics twice.
        current_trace("BatchNorm1d").update_again(
            running, lambda old: old * (1 - self.momentum) + new * self.momentum)

    def extra_repr(self) -> str:
        return "%d, eps=%g, momentum=%g" % (self.num_features, self.eps, self.momentum)
