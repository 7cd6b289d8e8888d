# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 (Radford et al. 2019), trained on English text, of which it prints a sample.

Data: the texts of Debian's package fortunes, or --data. The last tenth is held out. The tokens are bytes, or with --tokens those of a byte-pair encoding (the package tokenizers).
"""

from __future__ import annotations

import argparse
import math
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import aicf
from aicf import nn
from aicf.examples import _common

FOLDER = pathlib.Path("/usr/share/games/fortunes")
#: layers, width, heads, tokens of a text, texts of a batch, steps, the highest rate
SIZES = {"small": (4, 256, 8, 128, 16, 1500, 2e-3),
         "124M": (12, 768, 12, 1024, 16, 5000, 6e-4)}


# The model


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x: aicf.Tensor) -> Any:
        batch, length, width = x.shape
        packed = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads)
        q, k, v = packed.permute(2, 0, 3, 1, 4)  # each [batch, heads, length, size]
        y = aicf.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: aicf.Tensor) -> Any:
        x = x + self.attention(self.ln1(x))
        return x + self.out(aicf.functional.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocabulary: int, layers: int, width: int, heads: int,
                 length: int) -> None:
        self.tokens = nn.Parameter((vocabulary, width), init="normal:0.02")
        self.places = nn.Parameter((length, width), init="normal:0.02")
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.ln = nn.LayerNorm(width)

    def forward(self, tokens: aicf.Tensor) -> Any:
        """Logits, [batch, length, vocabulary]."""
        x = aicf.functional.embedding(tokens, self.tokens) + self.places
        for block in self.blocks:
            x = block(x)
        table: Any = self.tokens
        return aicf.ops.linear(self.ln(x), table)


def loss(model: nn.Module, x: aicf.Tensor, labels: aicf.Tensor) -> Any:
    logits = model(x)
    return aicf.losses.cross_entropy(logits.reshape(-1, logits.shape[-1]),
                                     labels.reshape(-1))


# The text


def read_text(path: pathlib.Path) -> str:
    """A file, or all texts of a folder."""
    files = [path] if path.is_file() else sorted(
        p for p in path.glob("*") if p.is_file() and not p.suffix)
    if not files:
        sys.exit("gpt2: there is no text in %s: install Debian's package fortunes, or name "
                 "a file with --data" % path)
    return "\n".join(p.read_bytes().decode("utf-8", "replace") for p in files)


class Bytes:
    size = 256

    def encode(self, text: str) -> Any:
        return np.frombuffer(text.encode(), np.uint8).astype(np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(tokens).decode("utf-8", "replace")


class Pairs:
    """A byte-pair encoding that is made from the text."""

    def __init__(self, text: str, size: int) -> None:
        from tokenizers import ByteLevelBPETokenizer  # type: ignore[import-not-found]
        self.made = ByteLevelBPETokenizer()
        self.made.train_from_iterator([text], vocab_size=size, show_progress=False)
        self.size = int(self.made.get_vocab_size())

    def encode(self, text: str) -> Any:
        return np.array(self.made.encode(text).ids, np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self.made.decode(list(tokens)))


def batches(tokens: Any, batch: int, length: int, random: np.random.Generator) -> Any:
    """Texts that start anywhere, and what follows each token."""
    starts = random.integers(0, len(tokens) - length, batch)
    rows = tokens[starts[:, None] + np.arange(length + 1)]
    return np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, 1:])


# Training, and a sample


def rates(steps: int, highest: float) -> Any:
    """100 steps up, and a half cosine down to a tenth."""
    at = np.arange(steps)
    down = 0.55 + 0.45 * np.cos(np.pi * at / steps)
    return (highest * np.minimum((at + 1) / 100, down)).astype(np.float32)


def sample(logits_of: Any, prompt: Any, length: int, count: int,
           random: np.random.Generator, temperature: float = 0.8) -> list[int]:
    """`count` tokens behind the prompt, each from all that came before it. Behind a causal
    mask nothing reads what fills up the rest of the row."""
    tokens = [int(token) for token in prompt]
    row = np.zeros((1, length), np.int32)
    for _ in range(count):
        seen = tokens[-length:]
        row[0, :len(seen)] = seen
        scores = np.asarray(logits_of(row))[0, len(seen) - 1] / temperature
        weights = np.exp(scores - scores.max())
        tokens.append(int(random.choice(len(weights), p=weights / weights.sum())))
    return tokens


def parse_flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--size", default="small", choices=list(SIZES))
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--precision", default="bf16",
                        choices=["f32", "tf32", "bf16", "f16"])
    parser.add_argument("--data", type=pathlib.Path, default=FOLDER,
                        help="a text file, or a folder of them; default: %(default)s")
    parser.add_argument("--tokens", type=int, default=256,
                        help="more than 256: a byte-pair encoding of so many")
    parser.add_argument("--steps", type=int, default=0, help="default: of the size")
    parser.add_argument("--prompt", default="The ")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    if flags.steps < 0:
        parser.error("--steps is %d, expected 1 or more" % flags.steps)
    if flags.tokens < 256:
        parser.error("--tokens is %d, expected 256 or more" % flags.tokens)
    return flags


def main() -> None:
    flags = parse_flags()
    layers, width, heads, length, batch, steps, highest = SIZES[flags.size]
    steps = flags.steps or steps
    text = read_text(flags.data)
    split = len(text) * 9 // 10
    coder = Pairs(text[:split], flags.tokens) if flags.tokens > 256 else Bytes()
    train, held_out = coder.encode(text[:split]), coder.encode(text[split:])
    if min(len(train), len(held_out)) <= length:
        sys.exit("gpt2: the text has %d tokens, and each part needs more than %d"
                 % (len(train) + len(held_out), length))
    bytes_of_token = len(text[split:].encode()) / len(held_out)

    model = GPT(coder.size, layers, width, heads, length)
    specs = {n: aicf.spec((batch, length), "i32") for n in ("x", "labels")}
    step = aicf.compile_step(
        model, loss, aicf.optim.AdamW(aicf.optim.Table(rates(steps, highest)),
                                      betas=(0.9, 0.95), weight_decay=0.1, clip_norm=1.0),
        specs, device=flags.device, precision=flags.precision,
        seed=flags.seed, threads=flags.threads)
    loss_of = aicf.compile(lambda x, labels: loss(model, x, labels), specs, model=model,
                           program=step, name="validate")
    logits_of = aicf.compile(lambda x: model(x).astype("f32"),
                             {"x": aicf.spec((1, length), "i32")}, model=model,
                             program=step, name="predict")

    def validate() -> float:
        random = np.random.default_rng(0)  # the same texts each time
        return sum(float(loss_of(*batches(held_out, batch, length, random)))
                   for _ in range(20)) / 20
    random, start, seen = np.random.default_rng(flags.seed), time.perf_counter(), 0.0
    for i in _common.progress(steps, 1, 1):
        value = step(*batches(train, batch, length, random))
        if i % 100 == 99 or i == steps - 1:
            seen = validate()
            print("step %d/%d  loss %.3f  held out %.3f  %d tokens/s" % (
                i + 1, steps, float(value), seen,
                (i + 1) * batch * length / (time.perf_counter() - start)), flush=True)
    print("held out: %.3f nats a token, %.3f bits a byte" % (
        seen, seen / bytes_of_token / math.log(2)))
    print("training time: %.1f s" % (time.perf_counter() - start))
    print(coder.decode(sample(logits_of, coder.encode(flags.prompt), length, 300,
                              np.random.default_rng(flags.seed))))


if __name__ == "__main__":
    main()
