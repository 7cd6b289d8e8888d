#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What computing values again in the backward pass spares and costs: bytes of temps and
microseconds of a step, for a residual MLP of 24 layers and an MLP-Mixer.

    PYTHONPATH=build/python python3 benchmarks/recompute.py [--device cuda]
        [--precision tf32] [--rounds 15] [--repeat 20]

Variants: everything is kept; --recompute-rate 4 (one op, masks) and 12 (chains of ops);
nn.Recompute around each block. All get the same weights and data, and have to end with
the bits of the first one. Then come rounds, in each a window of every variant; medians
with quartiles.
"""

import argparse
import statistics
import time

import numpy as np

import aicf
from aicf import nn, ops

WINDOW_SECONDS = 0.1


class Residual(nn.Module):
    def __init__(self, width):
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(ops.gelu(self.up(self.norm(x))))


class Blocks(nn.Module):
    def __init__(self, blocks, width, classes=10):
        self.blocks, self.head = nn.ModuleList(blocks), nn.Linear(width, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1) if x.ndim == 3 else x)


class MixerBlock(nn.Module):
    """Tolstikhin et al. 2021."""

    def __init__(self, patches, width, hidden):
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = nn.Sequential(nn.Linear(patches, hidden), nn.GELU(),
                                    nn.Linear(hidden, patches))
        self.channels = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                      nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).swapaxes(1, 2)).swapaxes(1, 2)
        return x + self.channels(self.norm2(x))


def residual_mlp(wrap, scale):
    width = 256 * scale
    model = Blocks([wrap(Residual(width)) for _ in range(24)], width)
    return model, (512 * scale, width)


def mixer(wrap, scale):
    patches, width = 64, 128 * scale
    model = Blocks([wrap(MixerBlock(patches, width, width)) for _ in range(8)], width)
    return model, (32 * scale, patches, width)


MODELS = {"residual MLP, 24 layers": residual_mlp, "mixer, 8 blocks": mixer}
VARIANTS = {"kept": (0, False), "rate 4": (4, False), "rate 12": (12, False),
            "blocks": (0, True)}


def loss(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


def make(build, variant, args):
    rate, in_blocks = VARIANTS[variant]
    model, shape = build(nn.Recompute if in_blocks else lambda block: block, args.scale)
    specs = {"x": aicf.spec(shape), "labels": aicf.spec(shape[:1], "i32")}
    lowered = aicf.trace_step(model, loss, aicf.optim.AdamW(1e-3), specs).lower(
        args.device, args.precision, recompute_rate=rate)
    entry = lowered.plan.memory()["entries"]["train_step"]
    step = lowered.compile(seed=1)["train_step"]
    random = np.random.default_rng(0)
    given = (random.standard_normal(shape).astype(np.float32),
             random.integers(0, 10, shape[:1]).astype(np.int32))
    result = {"loss %d" % i: np.array(step(*given)).tobytes() for i in range(3)}
    result.update((n, v.tobytes()) for n, v in step.state_dict().items())
    return step, entry["temp_bytes"], len(lowered.plan.costs()), result


def compare(result, expected):
    """Says whether two programs trained alike, or what differs first."""
    differing = [name for name in expected if result[name] != expected[name]]
    if not differing:
        return "same bits"
    return "OTHER BITS: %d of %d, %s" % (len(differing), len(expected),
                                         ", ".join(differing[:4]))


def repeat(name, args):
    """Makes and trains each variant again and again: the bits must not change."""
    expected = make(MODELS[name], "kept", args)[3]
    for i in range(args.repeat):
        for variant in VARIANTS:
            print(name, variant, i, compare(make(MODELS[name], variant, args)[3],
                                            expected), flush=True)


def window(step, n):
    start = time.perf_counter()
    step.run(n)
    step.sync()
    return (time.perf_counter() - start) * 1e6 / n


def measure(name, args):
    made = {v: make(MODELS[name], v, args) for v in VARIANTS}
    times = {v: [] for v in made}
    counts = {v: max(2, int(WINDOW_SECONDS * 1e6 / window(m[0], 2)))
              for v, m in made.items()}
    for _ in range(args.rounds):
        for variant, (step, *_) in made.items():
            times[variant].append(window(step, counts[variant]))
    base = statistics.median(times["kept"])
    for variant, (_, temps, calls, result) in made.items():
        low, middle, high = statistics.quantiles(times[variant], n=4)
        same = compare(result, made["kept"][3])
        print("| %s | %s | %.1f | %.2f | %d | %.1f (%.1f .. %.1f) | %.3f | %s |" % (
            name, variant, temps / 2**20, temps / made["kept"][1], calls, middle, low,
            high, middle / base, same), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--scale", type=int, default=1, help="of width and batch")
    parser.add_argument("--repeat", type=int, default=0,
                        help="compare bits so often, and time nothing")
    args = parser.parse_args()
    if args.repeat:
        for name in MODELS:
            repeat(name, args)
        return
    print("| model | variant | temps MiB | ratio | calls | us a step | ratio | |\n"
          "|---|---|---|---|---|---|---|---|", flush=True)
    for name in MODELS:
        measure(name, args)


if __name__ == "__main__":
    main()
