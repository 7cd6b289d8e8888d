# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: products, reductions, softmax, norms, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import ops
from .._tracing import views as _views
from .. import functional as F
from .._tracing.exact import root, shared_extremum
from .._tracing.pointwise import as_reducible, broadcast, wide
from .._tracing.tensor import Tensor, Transposed, matmul
from .._tracing.trace import as_tensor
from ._table import Call, Unsupported, aten


# Products

@aten("linear.default")
def _linear(call: Call, x: Any, weight: Any, bias: Any = None) -> Tensor:
    tensor = as_tensor(x)
    if len(weight.shape) != 2:
        raise Unsupported("has a weight of rank %d" % len(weight.shape))
    rows = tensor if len(tensor.shape) > 1 else tensor.unsqueeze(0)
    if isinstance(weight, Transposed):
        y = ops.linear(rows, weight.matrix, bias, transW=False)
    else:
        y = ops.linear(rows, weight, bias)
    return y if rows is tensor else y.squeeze(0)


@aten("mm.default", "bmm.default", "matmul.default", "mv.default", "dot.default")
def _matmul(call: Call, a: Any, b: Any) -> Tensor:
    if call.dtype in ("i32", "i64"):  # exact up to 2^53
        a, b = (as_tensor(v).astype("f64") for v in (a, b))
    product = (as_tensor(a) * as_tensor(b)).sum() if len(a.shape) == len(b.shape) == 1 \
        else matmul(a, b)
    return product.astype(call.dtype)


@aten("_euclidean_dist.default", "_cdist_forward.default",
      limits="of order 1, 2 or infinity")
def _cdist(call: Call, x: Any, y: Any, order: float = 2.0, mode: int | None = None) -> Tensor:
    """Distances of rows; the gradient at 0 is 0."""
    if order not in (1, 2, math.inf):
        raise Unsupported("is of order %g" % order)
    a, b = as_tensor(x).unsqueeze(-2), as_tensor(y).unsqueeze(-3)
    shape = (*call.shape, a.shape[-1])
    return F.norm(broadcast(a, shape) - broadcast(b, shape), float(order), -1)


@aten("addmm.default", "baddbmm.default")
def _addmm(call: Call, c: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
    bias = as_tensor(c)
    if alpha == beta == 1 and len(a.shape) == 2 and bias.shape == (b.shape[1],):
        if isinstance(b, Transposed):
            return ops.linear(a, b.matrix, bias)
        return ops.linear(a, b, bias, transW=False)
    product = matmul(a, b)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (bias if beta == 1 else bias * beta)


@aten("convolution.default", "conv1d.default", "conv2d.default", "conv3d.default",
      limits="where the stride is the kernel's size, without padding, dilation and groups")
def _convolution(call: Call, x: Any, weight: Any, bias: Any = None, stride: Any = 1,
                 padding: Any = 0, dilation: Any = 1, *more: Any) -> Tensor:
    tensor, kernel = as_tensor(x), as_tensor(weight)
    # convolution(.., transposed, output_padding, groups); conv2d(.., groups)
    transposed, groups = (more[0], more[2]) if len(more) == 3 else (False, *(more or (1,)))
    sizes, dims = kernel.shape[2:], len(kernel.shape) - 2

    def is_all(given: Any, number: int) -> bool:
        return all(n == number for n in (given if isinstance(given, (list, tuple))
                                         else [given]))
    strides = tuple(stride if len(stride) == dims else list(stride) * dims) \
        if isinstance(stride, (list, tuple)) else (stride,) * dims
    if transposed or groups != 1 or strides != sizes or not is_all(padding, 0) \
            or not (is_all(dilation, 1) or all(n == 1 for n in sizes)):
        raise Unsupported("of %s by %s is a convolution whose stride is not its kernel's "
                          "size" % ("x".join(map(str, tensor.shape)),
                                    "x".join(map(str, kernel.shape))))
    return _patches(tensor, kernel, bias)


def _patches(x: Tensor, kernel: Tensor, bias: Any) -> Tensor:
    """A product of each patch with the kernel: [B, C, ...] to [B, N, ...]."""
    sizes, dims = kernel.shape[2:], len(kernel.shape) - 2
    counts = [n // k for n, k in zip(x.shape[2:], sizes)]
    for d, (n, k) in enumerate(zip(counts, sizes)):  # what does not fill a patch
        if n * k != x.shape[2 + d]:
            x = x[(slice(None),) * (2 + d) + (slice(n * k),)]
    apart = x.reshape([*x.shape[:2], *(s for pair in zip(counts, sizes) for s in pair)])
    # [B, counts.., C, sizes..]
    order = [0, *(2 + 2 * d for d in range(dims)), 1, *(3 + 2 * d for d in range(dims))]
    rows = apart.permute(order).reshape([x.shape[0], *counts, -1])
    y = ops.linear(rows, kernel.reshape([kernel.shape[0], -1]),
                   None if bias is None else as_tensor(bias))
    rank = len(y.shape)
    return y.permute([0, rank - 1, *range(1, rank - 1)])


# Reductions

def _axes(x: Tensor, dim: Any) -> tuple[int, ...] | None:
    if dim is None or isinstance(dim, (list, tuple)) and not dim:
        return None
    dims = dim if isinstance(dim, (list, tuple)) else [dim]
    return tuple(_views.normal_axis(x, d) for d in dims) if x.shape else ()


def _reducible(call: Call, x: Any) -> Tensor:
    """In the type of the sum; 16 bits are summed in f32 and cast after it."""
    tensor = as_tensor(x)
    if tensor.dtype in ("f16", "bf16"):
        return tensor.astype(call.dtype if call.dtype in ("f32", "f64") else "f32")
    return tensor.astype(call.dtype)


@aten("sum.default", "sum.dim_IntList", is_linear=True)
def _sum(call: Call, x: Any, dim: Any = None, keepdim: bool = False,
         dtype: Any = None) -> Tensor:
    tensor = as_tensor(x)
    if call.dtype in ("i32", "i64"):
        return _whole_sum(tensor, _axes(tensor, dim), keepdim).astype(call.dtype)
    tensor = _reducible(call, x)
    return tensor.sum(_axes(tensor, dim), keepdim)


def _whole_sum(x: Tensor, axes: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """The sum of integers, which wraps around as PyTorch's does. In f64 where that is exact:
    2^22 numbers of 31 bits."""
    if x.dtype == "i1" or x.dtype == "i32" and x.size <= 2 ** 22:
        return x.astype("f64").sum(axes, keepdim)
    gone = range(len(x.shape)) if axes is None else axes
    kept = [i for i in range(len(x.shape)) if i not in gone]
    rows = x.astype("i64").permute([*kept, *gone]).reshape(
        [*(x.shape[i] for i in kept), -1])
    last = F.cumsum(rows, -1)[..., -1]
    return last if not keepdim else last.reshape(
        [1 if i in gone else d for i, d in enumerate(x.shape)])


@aten("mean.default", "mean.dim", is_linear=True)
def _mean(call: Call, x: Any, dim: Any = None, keepdim: bool = False,
          dtype: Any = None) -> Tensor:
    tensor = _reducible(call, x)
    if not tensor.shape:
        return tensor
    return tensor.mean(_axes(tensor, dim), keepdim)


@aten("var.correction", "var.dim", "var.default")
def _var(call: Call, x: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False,
         *, correction: Any = 1) -> Tensor:
    if isinstance(dim, bool):  # var.default(x, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    tensor = as_tensor(x)
    return F.var(tensor, _axes(tensor, dim), 1 if correction is None else correction,
                 keepdim)


@aten("std.correction", "std.dim", "std.default")
def _std(call: Call, x: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False,
         *, correction: Any = 1) -> Any:
    return root(_var(call, x, dim, unbiased, keepdim, correction=correction))


@aten("var_mean.correction")
def _var_mean(call: Call, x: Any, dim: Any = None, *, correction: Any = 1,
              keepdim: bool = False) -> Any:
    tensor = as_tensor(x)
    return (_var(call, x, dim, None, keepdim, correction=correction),
            wide(tensor).mean(_axes(tensor, dim), keepdim))


@aten("linalg_vector_norm.default", limits="of order 1, 2 or infinity")
def _vector_norm(call: Call, x: Any, order: float = 2, dim: Any = None,
                 keepdim: bool = False, dtype: Any = None) -> Tensor:
    tensor = call.tensor(x)
    if order not in (1, 2, math.inf):
        raise Unsupported("is of order %g" % order)
    return F.norm(tensor, float(order), _axes(tensor, dim), keepdim)


@aten("logsumexp.default")
def _logsumexp(call: Call, x: Any, dim: Any, keepdim: bool = False) -> Tensor:
    tensor = call.tensor(x)
    return F.logsumexp(tensor, _axes(tensor, dim), keepdim)


def _extrema() -> None:
    def even(is_max: bool, are_all_nan: bool) -> Any:
        def row(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
            tensor = as_tensor(x)
            axes = _axes(tensor, dim)
            if call.needs_gradient and call.is_float and tensor.shape:
                return shared_extremum(tensor, axes, keepdim, is_max, are_all_nan)
            return (Tensor.max if is_max else Tensor.min)(tensor, axes, keepdim)
        return row

    def first(is_max: bool) -> Any:
        def row(call: Call, x: Any, dim: int, keepdim: bool = False) -> Any:
            tensor = as_tensor(x)
            if tensor.dtype not in ("f16", "bf16", "f32", "f64"):
                raise Unsupported("of %s" % tensor.dtype)
            at = _views.normal_axis(tensor, dim)
            index = F.argmax(ops.stop_gradient(tensor if is_max else -tensor), at, True)
            value = F.take_along_axis(tensor, index, at)
            return (value, index) if keepdim else (value.squeeze(at), index.squeeze(at))
        return row

    for name, is_max in (("max", True), ("min", False)):
        aten(name + ".default")(even(is_max, False))
        aten("a%s.default" % name)(even(is_max, True))
        aten(name + ".dim", limits="floats")(first(is_max))


_extrema()


@aten("argmax.default", limits="floats")
def _argmax(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return F.argmax(ops.stop_gradient(as_tensor(x)), dim, keepdim)


@aten("argmin.default", limits="floats")
def _argmin(call: Call, x: Any, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return F.argmax(-ops.stop_gradient(as_tensor(x)), dim, keepdim)


@aten("any.default", "any.dim", "any.dims")
def _any(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    tensor = as_reducible(as_tensor(x) != 0 if as_tensor(x).dtype != "i1"
                          else as_tensor(x), "any")
    return tensor.max(_axes(tensor, dim), keepdim) != 0


@aten("all.default", "all.dim", "all.dims")
def _all(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Tensor:
    tensor = as_reducible(as_tensor(x) != 0 if as_tensor(x).dtype != "i1"
                          else as_tensor(x), "all")
    return tensor.min(_axes(tensor, dim), keepdim) != 0


@aten("cumsum.default", is_linear=True)
def _cumsum(call: Call, x: Any, dim: int, dtype: Any = None) -> Tensor:
    tensor = call.tensor(x)
    return F.cumsum(tensor, dim) if tensor.shape else tensor


# Softmax and norms

@aten("softmax.int", "_softmax.default")
def _softmax(call: Call, x: Any, dim: int, *more: Any, **kwargs: Any) -> Tensor:
    tensor = call.tensor(x)
    return F.softmax(tensor, dim) if tensor.shape else tensor * 0.0 + 1.0


@aten("_safe_softmax.default")
def _safe_softmax(call: Call, x: Any, dim: int, dtype: Any = None) -> Tensor:
    """Of a row that is -inf everywhere: zeros, without a gradient."""
    tensor = call.tensor(x)
    sees_nothing = broadcast(tensor.max(_axes(tensor, dim), True) == -math.inf, tensor.shape)
    return F.softmax(tensor.masked_fill(sees_nothing, 0.0), dim).masked_fill(sees_nothing, 0.0)


@aten("log_softmax.int", "_log_softmax.default")
def _log_softmax(call: Call, x: Any, dim: int, *more: Any, **kwargs: Any) -> Tensor:
    tensor = call.tensor(x)
    return F.log_softmax(tensor, dim) if tensor.shape else tensor * 0.0


@aten("layer_norm.default")
def _layer_norm(call: Call, x: Any, shape: Sequence[int], weight: Any = None,
                bias: Any = None, eps: float = 1e-5, cudnn: bool = True) -> Tensor:
    return F.layer_norm(x, tuple(shape), weight, bias, eps)


@aten("native_layer_norm.default")
def _native_layer_norm(call: Call, x: Any, shape: Sequence[int], weight: Any, bias: Any,
                       eps: float) -> Any:
    """With mean and 1 / standard deviation, as derivatives of a layer norm need it."""
    tensor = as_tensor(x)
    axes = tuple(range(len(tensor.shape) - len(shape), len(tensor.shape)))
    own = wide(tensor)
    mean = own.mean(axes, True)
    return (F.layer_norm(x, tuple(shape), weight, bias, eps), mean,
            (F.var(own, axes, 0, True) + eps).rsqrt())


@aten("rms_norm.default")
def _rms_norm(call: Call, x: Any, shape: Sequence[int], weight: Any = None,
              eps: float | None = None) -> Tensor:
    return F.rms_norm(x, tuple(shape), weight, eps)


@aten("group_norm.default")
def _group_norm(call: Call, x: Any, groups: int, weight: Any = None, bias: Any = None,
                eps: float = 1e-5, cudnn: bool = True) -> Tensor:
    return F.group_norm(x, groups, weight, bias, eps)


@aten("_native_batch_norm_legit_functional.default")
def _batch_norm(call: Call, x: Any, weight: Any, bias: Any, running_mean: Any,
                running_var: Any, training: bool, momentum: float, eps: float) -> Any:
    tensor = as_tensor(x)
    if not training:
        y = F.batch_norm(tensor, running_mean, running_var, weight, bias, eps)
        return (y, None, None, running_mean, running_var)
    y, mean, variance = F.norm_of_batch(tensor, weight, bias, eps)
    count = tensor.size // tensor.shape[1]

    def moved(running: Any, batch: Tensor) -> Tensor:
        old = as_tensor(running)
        new = ops.stop_gradient(batch).astype(old.dtype)
        return old * (1 - momentum) + new * momentum
    unbiased = variance * (count / (count - 1))
    return (y, mean, (variance + eps).rsqrt(), moved(running_mean, mean),
            moved(running_var, unbiased))


@aten("_native_batch_norm_legit_no_training.default")
def _batch_norm_of_running(call: Call, x: Any, weight: Any, bias: Any, running_mean: Any,
                           running_var: Any, momentum: float, eps: float) -> Any:
    return (F.batch_norm(x, running_mean, running_var, weight, bias, eps), None, None)


@aten("_native_batch_norm_legit.no_stats")
def _batch_norm_of_batch(call: Call, x: Any, weight: Any, bias: Any, training: bool,
                         momentum: float, eps: float) -> Any:
    y, mean, variance = F.norm_of_batch(as_tensor(x), weight, bias, eps)
    return (y, mean, (variance + eps).rsqrt())


@aten("native_group_norm.default")
def _native_group_norm(call: Call, x: Any, weight: Any, bias: Any, rows: int, channels: int,
                       size: int, groups: int, eps: float) -> Any:
    """With mean and 1 / standard deviation of each group, for derivatives."""
    own = wide(as_tensor(x)).reshape([rows, groups, -1])
    return (F.group_norm(x, groups, weight, bias, eps), own.mean(2),
            (F.var(own, 2, 0) + eps).rsqrt())


# Attention

@aten("scaled_dot_product_attention.default")
def _attention(call: Call, query: Any, key: Any, value: Any, mask: Any = None,
               dropout_p: float = 0.0, is_causal: bool = False, *,
               scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    return F.scaled_dot_product_attention(
        query, key, value, mask, 0.0 if call.keeps_all else dropout_p, is_causal, scale,
        enable_gqa)
