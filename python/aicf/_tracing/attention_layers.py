# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as a module of aicf.nn, with PyTorch's names and arguments."""

from __future__ import annotations

import math
from typing import Any

from .. import functional as F, ops
from .._base.dtypes import DType
from ..nn import Linear, Module, Parameter
from .attention import scaled_dot_product_attention
from .pointwise import broadcast
from .tensor import Tensor
from .trace import as_tensor

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads between linear layers (Vaswani et al. 2017). The entries
    of its state_dict are those of torch.nn.MultiheadAttention. Weights start as those of
    Linear do.

    Args:
        embed_dim: the size of the model; num_heads divides it.
        dropout: the probability that a weight is dropped, in training steps.
        bias: whether the linear layers have one.
        kdim, vdim: the sizes of keys and values; embed_dim by default.
        batch_first: whether sequences are [batch, length, size]; else [length, batch,
            size].
        dtype: a float type.
    Shape: query [batch, length, embed_dim], key [batch, keys, kdim], value [batch, keys,
        vdim] to [batch, length, embed_dim]; or without a batch.
    """

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0,
                 bias: bool = True, kdim: int | None = None, vdim: int | None = None,
                 batch_first: bool = False, dtype: DType = "f32") -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError("embed_dim is %r and num_heads %r, expected a multiple"
                             % (embed_dim, num_heads))
        if not 0 <= dropout < 1:
            raise ValueError("dropout is %r, expected [0, 1)" % (dropout,))
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.dropout, self.batch_first = float(dropout), batch_first
        sizes = (embed_dim, kdim or embed_dim, vdim or embed_dim)
        if sizes == (embed_dim,) * 3:
            self.in_proj_weight = Parameter((3 * embed_dim, embed_dim), dtype,
                                            init="uniform_fan_in")
        else:
            for name, size in zip("qkv", sizes):
                setattr(self, name + "_proj_weight",
                        Parameter((embed_dim, size), dtype, init="uniform_fan_in"))
        self.in_proj_bias = Parameter((3 * embed_dim,), dtype) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)

    def _projected(self, query: Any, key: Any, value: Any) -> list[Tensor]:
        size = self.embed_dim
        bias: Any = self.in_proj_bias
        if hasattr(self, "in_proj_weight") and query is key and key is value:
            packed = ops.linear(query, self.in_proj_weight, bias)  # type: ignore[arg-type]
            return [packed[..., i * size:(i + 1) * size] for i in range(3)]
        weights = [as_tensor(self.in_proj_weight)[i * size:(i + 1) * size] for i in range(3)] \
            if hasattr(self, "in_proj_weight") else \
            [getattr(self, name + "_proj_weight") for name in "qkv"]
        return [ops.linear(x, w, None if bias is None else
                           as_tensor(bias)[i * size:(i + 1) * size])
                for i, (x, w) in enumerate(zip((query, key, value), weights))]

    def forward(self, query: Any, key: Any, value: Any, key_padding_mask: Any = None,
                need_weights: bool = True, attn_mask: Any = None,
                average_attn_weights: bool = True, is_causal: bool = False) -> Any:
        """Returns the output and the weights, or None for these without `need_weights`.
        Weights that nothing reads are not computed; dropout does not count in them.

        Args:
            key_padding_mask: [batch, keys]: i1, true where a key is hidden, or floats.
            attn_mask: [length, keys] or [batch · heads, length, keys]: i1, true where a
                key is hidden, or floats.
            is_causal: query i sees keys 0 to i, beside what the masks say.
        """
        if query is key and key is value:
            query = key = value = as_tensor(query)
        query, key, value = (as_tensor(x) for x in (query, key, value))
        is_batched = len(query.shape) == 3
        turns = is_batched and not self.batch_first
        x = self._projected(query, key, value)
        if turns:
            x = [each.swapaxes(0, 1) for each in x]
        if not is_batched:
            x = [each.unsqueeze(0) for each in x]
        heads = [each.reshape([*each.shape[:2], self.num_heads, -1]).swapaxes(1, 2)
                 for each in x]
        mask = self._mask(heads[0], heads[1], key_padding_mask, attn_mask, is_batched)
        p = self.dropout if self.training else 0.0
        q, k, v = heads
        made = scaled_dot_product_attention(q, k, v, mask, p, is_causal)
        made = self.out_proj(made.swapaxes(1, 2).reshape([*x[0].shape[:2], self.embed_dim]))
        weights = self._weights(heads, mask, is_causal) if need_weights else None
        if weights is not None and average_attn_weights:
            weights = weights.mean(1)
        if not is_batched:
            made, weights = made.squeeze(0), weights if weights is None else weights.squeeze(0)
        return made.swapaxes(0, 1) if turns else made, weights

    @staticmethod
    def _added(mask: Any, dtype: str) -> Tensor:
        """A mask as what is added to scores."""
        given = as_tensor(mask)
        if given.dtype != "i1":
            return given.astype(dtype)
        return given.astype(dtype).masked_fill(given, -math.inf)

    def _mask(self, q: Tensor, k: Tensor, padding: Any, mask: Any,
              is_batched: bool) -> Tensor | None:
        """Both masks as one of [batch, heads, queries, keys], or what broadcasts to it."""
        parts = []
        for given, is_of_keys in ((padding, True), (mask, False)):
            if given is None:
                continue
            given = as_tensor(given)
            if is_of_keys:
                given = given.reshape([q.shape[0], 1, 1, k.shape[-2]])
            elif len(given.shape) == 3:
                given = given.reshape([q.shape[0], -1, *given.shape[1:]])
            else:
                given = given.reshape([1, 1, *given.shape])
            parts.append(given)
        if len(parts) == 1 and parts[0].dtype == "i1":
            return as_tensor(~parts[0])
        added = [self._added(part, q.dtype) for part in parts]
        return None if not added else added[0] if len(added) == 1 else added[0] + added[1]

    @staticmethod
    def _weights(heads: list[Tensor], mask: Tensor | None, is_causal: bool) -> Tensor:
        q, k, _ = heads
        scores = ops.matmul(q, k, transB=True) * (1 / math.sqrt(q.shape[-1]))
        hidden = -math.inf
        if mask is not None and mask.dtype == "i1":
            scores = scores.masked_fill(broadcast(as_tensor(~mask), scores.shape), hidden)
        elif mask is not None:
            scores = scores + mask
        if is_causal:
            rows, columns = scores.shape[-2:]
            ahead = ops.iota(shape=[rows, columns], axis=1, dtype="i32") \
                > ops.iota(shape=[rows, columns], axis=0, dtype="i32")
            scores = scores.masked_fill(broadcast(ahead, scores.shape), hidden)
        return F.softmax(scores)

    def extra_repr(self) -> str:
        return "%d, %d, dropout=%g" % (self.embed_dim, self.num_heads, self.dropout)
