# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of traced tensors, with the names of torch.nn.functional.

They consist of ops of the dialect (aicf.ops), and so do their gradients. `axis` is
PyTorch's `dim`, and `keepdim` keeps reduced dimensions with size 1. An operand of a wrong
type or shape raises aicf.TraceError or, if the compiler finds it, aicf.CompileError.
Losses are in aicf.losses.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from . import ops
from ._base.dtypes import DType, check_shape, dtype_name
from ._base.hints import missing, says_axis
from ._tracing import views as _views
from ._tracing.attention import scaled_dot_product_attention
from ._tracing.exact import root, shared_extremum
from ._tracing.pointwise import (FLOATS, INTEGERS, as_reducible, broadcast_all, clamp,
                                 operand_beside, pair, where, wide)
from ._tracing.tensor import Tensor
from ._tracing.trace import as_tensor, current_trace, to_int, trace_error

__all__ = ["argmax", "batch_norm", "categorical", "cosine_similarity", "cumsum",
           "dropout", "elu", "embedding", "gelu", "glu", "group_norm", "hardsigmoid",
           "hardswish", "hardtanh", "layer_norm", "leaky_relu", "log_sigmoid",
           "log_softmax", "logsigmoid", "logsumexp", "mish", "norm", "normal",
           "normalize", "one_hot", "prelu", "relu", "relu6", "rms_norm",
           "scaled_dot_product_attention", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign", "std",
           "take_along_axis", "tanh", "top_k", "uniform", "var", "where"]

#: The largest finite number of each float type.
_LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38,
            "f64": 1.7976931348623157e308}


def _float(x: Any, what: str) -> Tensor:
    tensor = as_tensor(x)
    if tensor.dtype not in FLOATS:
        trace_error("%s of %s: expected a float type" % (what, tensor))
    return tensor


def _along(tensor: Tensor, axis: int, function: Any) -> Tensor:
    """Applies a function of the last dimension along dimension `axis`."""
    turned: Tensor = function(tensor.swapaxes(axis, -1))
    return turned.swapaxes(axis, -1)


# Activations

relu, tanh, sigmoid, silu = ops.relu, ops.tanh, ops.sigmoid, ops.silu
selu, hardswish, mish, softsign = ops.selu, ops.hardswish, ops.mish, ops.softsign
log_sigmoid = logsigmoid = ops.log_sigmoid


def gelu(x: Any, approximate: str = "none") -> Tensor:
    """x · Phi(x), where Phi is the normal distribution function. `approximate` is "none"
    (exact) or PyTorch's "tanh"."""
    if approximate not in ("none", "tanh"):
        trace_error("approximate is %r, expected none or tanh" % (approximate,))
    return ops.gelu(x, approximate=approximate == "tanh")


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """x where x > 0, else alpha · (exp(x) - 1)."""
    return ops.elu(x, alpha=alpha)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Tensor:
    """x where x > 0, else negative_slope · x."""
    return ops.leaky_relu(x, slope=negative_slope)


def prelu(x: Any, weight: Any) -> Tensor:
    """x where x > 0, else weight · x. `weight` has one number, or one number for each
    channel. Channels are dimension 1 of x."""
    tensor = as_tensor(x)
    slope = operand_beside(weight, tensor)
    if slope.size == 1:
        slope = slope.reshape(())
    else:
        slope = slope.reshape(slope.size, *[1] * (len(tensor.shape) - 2))
    return ops.prelu(*broadcast_all([tensor, slope]))


def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x, but not below min_val and not above max_val."""
    return ops.hardtanh(x, min=min_val, max=max_val)


def relu6(x: Any) -> Tensor:
    """min(max(x, 0), 6)."""
    return hardtanh(x, 0.0, 6.0)


def hardsigmoid(x: Any) -> Tensor:
    """min(max(x + 3, 0), 6) / 6."""
    return relu6(as_tensor(x) + 3.0) / 6.0


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta · x)) / beta, but x where beta · x > threshold."""
    return ops.softplus(x, beta=beta, threshold=threshold)


@says_axis
def glu(x: Any, axis: int = -1) -> Tensor:
    """a · sigmoid(b), where a and b are the halves of x along dimension `axis` (Dauphin
    et al. 2016). Raises TraceError if its size is odd."""
    tensor = as_tensor(x)
    size = tensor.shape[_views.normal_axis(tensor, axis)]
    if size % 2:
        trace_error("glu of %s: dimension %d has the odd size %d" % (tensor, axis, size))
    a, b = tensor.split(size // 2, axis)
    return a * ops.sigmoid(b)


# Rows

@says_axis
def softmax(x: Any, axis: int = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along dimension `axis`."""
    return _along(as_tensor(x), axis, ops.softmax)


@says_axis
def log_softmax(x: Any, axis: int = -1) -> Tensor:
    """x - log(sum(exp(x))) along dimension `axis`."""
    return _along(as_tensor(x), axis, ops.log_softmax)


@says_axis
def logsumexp(x: Any, axis: int | tuple[int, ...] | None = None,
              keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))) over the dimensions `axis`, or over all, without overflow. It is
    -inf where all elements are -inf. The result is f32 for 16-bit x."""
    tensor = wide(_float(x, "logsumexp"))
    largest = _LARGEST[tensor.dtype]
    most = ops.stop_gradient(clamp(tensor.max(axis, keepdim=True), -largest, largest))
    total = (tensor - most).exp().sum(axis, keepdim=True).log() + most
    if keepdim:
        return total
    axes = _views.normal_axes(tensor, axis)
    return total.reshape([d for i, d in enumerate(tensor.shape) if i not in axes])


@says_axis
def var(x: Any, axis: int | tuple[int, ...] | None = None, correction: float = 1,
        keepdim: bool = False) -> Tensor:
    """Returns the variance over the dimensions `axis`, or over all.

    It is the sum of the squared distances from the mean, divided by the number of
    elements less `correction`. The result is f32 for 16-bit x. Raises TraceError if the
    number of elements is not above `correction`.
    """
    tensor = wide(_float(x, "var"))
    count = math.prod(tensor.shape[i] for i in _views.normal_axes(tensor, axis))
    if count - correction <= 0:
        trace_error("var of %s: there are %d elements, and the correction is %g"
                    % (tensor, count, correction))
    distance = tensor - tensor.mean(axis, keepdim=True)
    return distance.square().sum(axis, keepdim=keepdim) * (1.0 / (count - correction))


@says_axis
def std(x: Any, axis: int | tuple[int, ...] | None = None, correction: float = 1,
        keepdim: bool = False) -> Tensor:
    """Returns the square root of var()."""
    return root(var(x, axis, correction, keepdim))


@says_axis
def norm(x: Any, p: float = 2.0, axis: int | tuple[int, ...] | None = None,
         keepdim: bool = False) -> Tensor:
    """(sum |x|^p)^(1/p) over the dimensions `axis`, or over all. p is 1, 2 or inf; any
    other raises TraceError. The gradient at 0 is 0, and elements that are the largest share
    it. The result is f32 for 16-bit x."""
    tensor = wide(_float(x, "norm"))
    if p == 1:
        return tensor.abs().sum(axis, keepdim=keepdim)
    if p == 2:
        return root(tensor.square().sum(axis, keepdim=keepdim))
    if p == math.inf:
        axes = None if axis is None else tuple(_views.normal_axes(tensor, axis))
        return shared_extremum(tensor.abs(), axes, keepdim, True, are_all_nan=False)
    trace_error("norm: p is %r, expected 1, 2 or inf" % (p,))


@says_axis
def cosine_similarity(a: Any, b: Any, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """sum(a · b) / (max(norm(a), eps) · max(norm(b), eps)) along dimension `axis`. The
    operands broadcast. The result is f32 for 16-bit operands."""
    a, b = broadcast_all([_float(v, "cosine_similarity") for v in pair(a, b)])
    product = (wide(a) * wide(b)).sum(axis)
    return product / (clamp(norm(a, 2, axis), eps) * clamp(norm(b, 2, axis), eps))


@says_axis
def normalize(x: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """x / max(norm(x, p), eps), with the norm along dimension `axis`. The result has x's
    dtype."""
    tensor = _float(x, "normalize")
    return (tensor / clamp(norm(tensor, p, axis, keepdim=True), eps)).astype(tensor.dtype)


@says_axis
def cumsum(x: Any, axis: int) -> Tensor:
    """Returns, for each element, the sum of all elements up to it along dimension `axis`.
    The result has x's dtype, and i64 for i1."""
    tensor = as_tensor(x)
    if tensor.dtype == "i1":
        tensor = tensor.astype("i64")
    return ops.cumsum(tensor, axis=_views.normal_axis(tensor, axis))


@says_axis
def argmax(x: Any, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """Returns the index (i32) of the largest element along dimension `axis`, or among all
    elements in row-major order. Of equal elements the first counts, and NaN counts as the
    largest. x is of a float type, i32 or i1; i64 raises TraceError."""
    tensor = as_reducible(as_tensor(x), "argmax")
    if axis is None:
        index = ops.argmax(tensor.reshape(-1))
        return index.reshape([1] * len(tensor.shape)) if keepdim else index
    at = _views.normal_axis(tensor, axis)
    index = ops.argmax(tensor.permute(
        [i for i in range(len(tensor.shape)) if i != at] + [at]))
    return index.unsqueeze(at) if keepdim else index


@says_axis
def top_k(x: Any, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """Returns the k largest elements along dimension `axis`, the largest first, and their
    indices (i32). Of equal elements the one with the lower index comes first. NaN counts
    as the largest. The gradient goes to the elements that were chosen.

    Args:
        x: a float type.
        k: from 1 to the size of the dimension. Any other raises TraceError.
    """
    tensor = _float(x, "top_k")
    at = _views.normal_axis(tensor, axis)
    if not 1 <= to_int(k) <= tensor.shape[at]:
        trace_error("k is %d, expected 1 to %d, dimension %d of %s"
                    % (k, tensor.shape[at], at, tensor))
    rows = tensor.swapaxes(at, -1)
    index = ops.top_k(ops.stop_gradient(rows), k=k)
    values = _views.stack([ops.pick(rows, index[..., i]) for i in range(k)], -1)
    return values.swapaxes(at, -1), index.swapaxes(at, -1)


# Lookups

def _index(value: Any, what: str) -> Tensor:
    tensor = as_tensor(value)
    if tensor.dtype not in INTEGERS:
        trace_error("%s is %s, expected i32 or i64" % (what, tensor))
    return tensor


@says_axis
def take_along_axis(x: Any, index: Any, axis: int = -1) -> Tensor:
    """Picks one element of x along dimension `axis` at each place of the other
    dimensions. This is torch.gather with an index whose size along `axis` is 1.

    Args:
        x: a float type.
        index: i32 or i64, of x's shape but with size 1 along `axis`. An index that is out
            of range gives NaN, and a negative one is out of range.
    Returns: a tensor of index's shape and x's dtype.
    """
    tensor, at = _float(x, "take_along_axis"), _index(index, "the index")
    place = _views.normal_axis(tensor, axis)
    expected = tuple(1 if i == place else d for i, d in enumerate(tensor.shape))
    if at.shape != expected:
        trace_error("the index is %s, expected the shape %s" % (at, expected))
    order = [i for i in range(len(tensor.shape)) if i != place] + [place]
    picked = ops.pick(tensor.permute(order), at.squeeze(place))
    return picked.unsqueeze(place)


def embedding(index: Any, weight: Any, padding_idx: int | None = None) -> Tensor:
    """Looks up a row of `weight` for each index, as PyTorch's embedding does. If a row is
    looked up several times, its gradients are added in the order of the indices.

    Args:
        index: i32 or i64, any shape. An index that is out of range gives NaN, and a
            negative one is out of range. With `check_indices` it is an error.
        weight: [rows, width], a float type.
        padding_idx: a row that gets no gradient. A negative one counts from the end.
    Returns: a tensor of index's shape with the width as a new last dimension.
    """
    table, at = as_tensor(weight), _index(index, "the index")
    if padding_idx is not None and not -table.shape[0] <= padding_idx < table.shape[0]:
        trace_error("padding_idx is %d, expected a row of %s" % (padding_idx, table))
    padding = -1 if padding_idx is None else padding_idx % table.shape[0]
    return ops.embedding(table, at, padding=padding)


def one_hot(index: Any, num_classes: int, dtype: DType = "i64") -> Tensor:
    """Returns 1 at each index and 0 elsewhere, along a new last dimension.

    Args:
        index: i32 or i64, any shape. An index that is out of range gives zeros only.
        num_classes: the size of the new dimension.
        dtype: the element type of the result.
    """
    at = _index(index, "the index")
    numbers = ops.iota(shape=[num_classes], axis=0, dtype=at.dtype)
    return (at.unsqueeze(-1) == numbers).astype(dtype)


# Normalisation

def _sizes(normalized_shape: Any) -> tuple[int, ...]:
    return check_shape(normalized_shape)


def _rows(x: Tensor, shape: tuple[int, ...], what: str) -> Tensor:
    """Joins the last dimensions of x, which are `shape`, into one."""
    if not shape or x.shape[-len(shape):] != shape:
        trace_error("%s of %s: normalized_shape is %s, expected its last dimensions"
                    % (what, x, shape))
    return x.reshape([*x.shape[:-len(shape)], math.prod(shape)])


def layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None,
               eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(var + eps) · weight + bias over the last dimensions (Ba, Kiros,
    Hinton 2016).

    Args:
        x: [..., *normalized_shape], a float type.
        normalized_shape: the size of the last dimension, or the sizes of several.
        weight, bias: of that shape; the defaults are 1 and 0.
    """
    import numpy as np
    tensor, shape = _float(x, "layer_norm"), _sizes(normalized_shape)
    rows, size = _rows(tensor, shape, "layer_norm"), math.prod(shape)

    def flat(value: Any, otherwise: float) -> Tensor:
        if value is None:
            return as_tensor(np.full(size, otherwise, "f4")).astype(tensor.dtype)
        given = operand_beside(value, tensor)
        if given.shape != shape:
            trace_error("layer_norm: weight or bias is %s, expected the shape %s"
                        % (given, shape))
        return given.reshape(size)

    return ops.layer_norm(rows, flat(weight, 1.0), flat(bias, 0.0),
                          eps=eps)[0].reshape(tensor.shape)


def rms_norm(x: Any, normalized_shape: Any, weight: Any = None,
             eps: float | None = None) -> Tensor:
    """x / sqrt(mean(x²) + eps) · weight over the last dimensions (Zhang, Sennrich 2019).

    Args:
        x: [..., *normalized_shape], a float type.
        normalized_shape: the size of the last dimension, or the sizes of several.
        weight: of that shape; the default is 1.
        eps: the default is 2^-23, and 2^-52 for f64, as in PyTorch.
    """
    tensor, shape = _float(x, "rms_norm"), _sizes(normalized_shape)
    rows = _rows(wide(tensor), shape, "rms_norm")
    if eps is None:
        eps = 2.0 ** -52 if tensor.dtype == "f64" else 2.0 ** -23
    scale = (rows.square().mean(-1, keepdim=True) + eps).rsqrt()
    y = (rows * scale).reshape(tensor.shape).astype(tensor.dtype)
    if weight is None:
        return y
    given = operand_beside(weight, y)
    if given.shape != shape:
        trace_error("rms_norm: weight is %s, expected the shape %s" % (given, shape))
    return y * given


def _column(value: Any, y: Tensor) -> Tensor:
    """One number for each channel, which is dimension 1 of y, as it goes with y."""
    given = operand_beside(value, y)
    if given.shape != (y.shape[1],):
        trace_error("%s beside %s: expected one number for each of the %d channels"
                    % (given, y, y.shape[1]))
    return given.reshape([-1] + [1] * (len(y.shape) - 2))


def _affine(y: Tensor, weight: Any, bias: Any) -> Tensor:
    """y · weight + bias, with one number for each channel."""
    y = y if weight is None else y * _column(weight, y)
    return y if bias is None else y + _column(bias, y)


def group_norm(x: Any, num_groups: int, weight: Any = None, bias: Any = None,
               eps: float = 1e-5) -> Tensor:
    """Divides the channels of each row into groups, and normalises each group (Wu, He
    2018).

    Args:
        x: [rows, channels, ...], a float type.
        num_groups: the number of groups, which divides the number of channels.
        weight, bias: [channels], or None.
    """
    tensor, groups_of = _float(x, "group_norm"), to_int(num_groups)
    if len(tensor.shape) < 2:
        trace_error("group_norm of %s: expected rank 2 or more" % tensor)
    if groups_of < 1 or tensor.shape[1] % groups_of:
        trace_error("group_norm of %s: %d groups do not divide its channels"
                    % (tensor, groups_of))
    groups = tensor.reshape(tensor.shape[0], groups_of, -1)
    y = layer_norm(groups, groups.shape[2], eps=eps).reshape(tensor.shape)
    return _affine(y, weight, bias)


def batch_norm(x: Any, mean: Any, variance: Any, weight: Any = None, bias: Any = None,
               eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(variance + eps) · weight + bias for each channel (Ioffe, Szegedy
    2015). nn.BatchNorm1d computes and keeps the statistics.

    Args:
        x: [rows, channels, ...], a float type.
        mean, variance: [channels].
        weight, bias: [channels], or None.
    """
    tensor = _float(x, "batch_norm")
    y = wide(tensor)
    if len(y.shape) < 2:
        trace_error("batch_norm of %s: expected rank 2 or more" % tensor)
    moments = [wide(operand_beside(v, y)) for v in (mean, variance)]
    return _scaled(y - _column(moments[0], y), moments[1], weight, bias, eps,
                   tensor.dtype)


def _scaled(centred: Tensor, variance: Tensor, weight: Any, bias: Any, eps: float,
            dtype: Any) -> Tensor:
    """centred / sqrt(variance + eps) as `dtype`, then · weight + bias."""
    y = _affine(centred, (variance + eps).rsqrt(), None)
    return _affine(y.astype(dtype), weight, bias)


def norm_of_batch(x: Tensor, weight: Any, bias: Any,
                  eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """batch_norm() with the moments of x itself. Returns it, and the mean and the biased
    variance as [channels]. The variance and the result share x - mean."""
    axes = tuple(i for i in range(len(x.shape)) if i != 1)
    rows = wide(x)
    mean = rows.mean(axes)
    centred = rows - _column(mean, rows)
    variance = centred.square().mean(axes)
    return _scaled(centred, variance, weight, bias, eps, x.dtype), mean, variance


# Random numbers

def dropout(x: Any, p: float = 0.5, training: bool | None = None) -> Tensor:
    """Zeroes elements with probability p and scales the others by 1/(1-p) (Srivastava et
    al. 2014). It does so in training steps, unless `training` says otherwise."""
    trace = current_trace("dropout")
    tensor = _float(x, "dropout")
    if not (trace.training if training is None else training) or p == 0:
        return tensor
    step, seed = trace.random_step()
    return ops.dropout(tensor, step, p=p, seed=seed)


def uniform(shape: Sequence[int], low: float = 0.0, high: float = 1.0,
            dtype: DType = "f32") -> Tensor:
    """Draws numbers uniformly from [low, high). Each step draws new ones: Philox4x32-10
    computes them from the seed, the step and the element. dtype is a float type."""
    step, seed = current_trace("uniform").random_step()
    return ops.uniform(step, low=low, high=high, seed=seed,
                       shape=list(check_shape(shape)), dtype=dtype_name(dtype))


def normal(shape: Sequence[int], mean: float = 0.0, std: float = 1.0,
           dtype: DType = "f32") -> Tensor:
    """Draws numbers from the normal distribution (Box, Muller 1958). Each step draws new
    ones, as uniform() does. dtype is a float type."""
    step, seed = current_trace("normal").random_step()
    return ops.normal(step, mean=mean, std=std, seed=seed,
                      shape=list(check_shape(shape)), dtype=dtype_name(dtype))


@says_axis
def categorical(logits: Any, axis: int = -1) -> Tensor:
    """Draws indices (i32) along dimension `axis` with the probabilities softmax(logits),
    by the Gumbel-max trick (Maddison et al. 2014)."""
    tensor = wide(_float(logits, "categorical"))
    noise = uniform(tensor.shape, 2.0 ** -25, 1.0, tensor.dtype)
    return argmax(tensor - (-noise.log()).log(), axis)


def __getattr__(name: str) -> Any:
    raise missing("aicf.functional", name, sys.modules[__name__])
