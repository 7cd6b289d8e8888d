# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that the backward pass computes again: bits, bytes, names and blocks."""

import models
import numpy as np
import pytest

import aicf
from aicf import nn, ops

ROWS, WIDTH = 512, 64


class Residual(nn.Module):
    """A pre-norm block, as in transformers, with dropout."""

    def __init__(self, p=0.0):
        self.norm, self.drop = nn.LayerNorm(WIDTH), nn.Dropout(p)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.drop(self.down(ops.gelu(self.up(self.norm(x)))))


def plain(block):
    return block


class Deep(nn.Module):
    def __init__(self, wrap=plain, depth=8, p=0.0):
        self.blocks = nn.ModuleList([wrap(Residual(p)) for _ in range(depth)])
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss(model, x, labels):
    return aicf.losses.cross_entropy(model(x), labels)


def traced(model, rows=ROWS):
    return aicf.trace_step(model, loss, aicf.optim.AdamW(1e-2), {
        "x": aicf.spec((rows, WIDTH)), "labels": aicf.spec((rows,), "i32")})


def batch(seed):
    random = np.random.default_rng(seed)
    return (random.standard_normal((ROWS, WIDTH)).astype(np.float32),
            random.integers(0, 10, ROWS).astype(np.int32))


def train(model, steps=3, device="cpu", precision="f32", **options):
    """Losses and parameters after some steps."""
    step = traced(model).lower(device, precision, **options).compile(seed=3)["train_step"]
    losses = [np.array(step(*batch(seed))) for seed in range(steps)]
    return losses, step.state_dict()


def assert_same(found, expected):
    for a, b in zip(found[0], expected[0]):
        assert a.tobytes() == b.tobytes()
    assert found[1].keys() == expected[1].keys()
    for name in expected[1]:
        assert found[1][name].tobytes() == expected[1][name].tobytes(), name


def saved_bytes(lowered):
    entry = lowered.plan.memory()["entries"]["train_step"]
    return sum(s["bytes"] for s in entry["saves"])


@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("p", [0.0, 0.25])
def test_blocks_have_the_same_bits(precision, p):
    assert_same(train(Deep(nn.Recompute, p=p), precision=precision),
                train(Deep(p=p), precision=precision))


@pytest.mark.parametrize("rate", [0, 1, 3, 8, 100])
def test_rates_have_the_same_bits(rate):
    assert_same(train(Deep(), recompute_rate=rate), train(Deep()))


@pytest.mark.parametrize("device, streams, rows", [
    ("cpu", 1, ROWS), ("cuda", 1, ROWS), ("cuda", 2, 128 * ROWS)])
def test_blocks_keep_what_they_read_and_return(device, streams, rows):
    """One block's values are alive at a time; of the others, x alone is kept. On two
    streams that holds where memory is worth a wait."""
    few, all_kept = (traced(Deep(wrap), rows).lower(device, streams=streams)
                     for wrap in (nn.Recompute, plain))
    x = 4 * rows * WIDTH
    assert saved_bytes(all_kept) > 8 * 9 * x
    assert 8 * x <= saved_bytes(few) < 9 * x
    peaks = [low.plan.memory()["entries"]["train_step"]["temp_bytes"]
             for low in (few, all_kept)]
    assert peaks[0] < 0.32 * peaks[1]
    # All products inside of 8 blocks once more, but for the last one of each.
    products = [sum(c["op"].startswith("gemm") for c in low.plan.costs())
                for low in (few, all_kept)]
    assert products[0] == products[1] + 8


def test_casts_of_a_block_are_not_kept_either():
    kept = [saved_bytes(traced(Deep(wrap)).lower("cpu", "bf16"))
            for wrap in (nn.Recompute, plain)]
    assert kept[0] < 0.2 * kept[1]


def test_rates_trade_bytes_for_time():
    lowered = [traced(Deep()).lower("cpu", recompute_rate=rate)
               for rate in (0, 9, 30)]
    bytes_kept = [saved_bytes(low) for low in lowered]
    calls = [len(low.plan.costs()) for low in lowered]
    assert bytes_kept[0] > bytes_kept[1] >= bytes_kept[2]
    assert calls[0] < calls[1] <= calls[2]


def test_a_mask_is_kept_instead_of_what_it_masks():
    class Masked(nn.Module):
        def __init__(self):
            self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(6)])
            self.head = nn.Linear(WIDTH, 10)

        def forward(self, x):
            for layer in self.layers:
                x = x + ops.relu(layer(x))
            return self.head(x)

    trace = traced(Masked())
    for rate in (0, 20):
        text = trace.lower("cpu", recompute_rate=rate).as_text("aicf")
        assert text.count("aicf.relu_bwd") == (0 if rate else 6)
        assert text.count("aicf.greater_scalar") == (6 if rate else 0)
    assert_same(train(Masked(), recompute_rate=20), train(Masked()))


def test_remarks_say_what_is_spared():
    report = [d.message for d in traced(Deep()).lower("cpu", recompute_rate=9).report()]
    assert any("computes it again" in m and "spared bytes" in m for m in report)


def test_names_stay_and_weights_move_between_both():
    few, all_kept = Deep(nn.Recompute), Deep()
    assert [n for n, _ in few.named_parameters()] == [
        n for n, _ in all_kept.named_parameters()]
    assert [n for n, _ in few.named_modules()][:4] == [
        "", "blocks", "blocks.0", "blocks.0"]
    assert "Recompute(" in repr(few)
    for block in few.eval().blocks:
        assert not block.training and not block.block.training
    assert len(list(few.modules())) == len(list(all_kept.modules())) + 8


def test_the_marks_of_a_trace():
    class Twice(nn.Module):
        def __init__(self):
            inner = nn.Recompute(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()))
            self.outer = nn.Recompute(nn.Sequential(inner, nn.GELU()))
            self.head = nn.Linear(WIDTH, 10)

        def forward(self, x):
            x = self.outer(self.outer(x))
            x = ops.map(lambda e: aicf.functional.relu(e) * 2.0, x)
            return self.head(x)

    text = traced(Twice()).as_text()
    assert text.count('aicf.recompute = "outer"') == 3
    assert text.count('aicf.recompute = "outer#2"') == 3
    assert not [line for line in text.splitlines()
                if "aicf.map" in line and "recompute" in line]
    assert_same(train(Twice()), train(Twice(), recompute_rate=30))
    with pytest.raises(TypeError, match="nn.Module"):
        nn.Recompute(ops.relu)
    with pytest.raises(aicf.TraceError, match="nn.Recompute outside a trace"):
        nn.Recompute(nn.Identity())(1)
    with pytest.raises(ValueError, match="boom"):
        traced(nn.Recompute(Failing()))
    assert "recompute" not in traced(Deep(depth=1)).as_text()


class Failing(nn.Module):
    def forward(self, x):
        raise ValueError("boom")


def test_a_map_in_a_block():
    class Mapped(nn.Module):
        def __init__(self):
            self.first, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 10)

        def forward(self, x):
            y = ops.map(lambda e: ops.tanh(e) * e, self.first(x))
            return self.head(y * y)

    wrapped = nn.Recompute(Mapped())
    assert traced(wrapped).as_text().count('aicf.recompute = "model"') == 4
    assert_same(train(wrapped), train(Mapped()))


def test_blocks_of_views():
    """Attention by hand and a mixer, block by block."""
    def model(wrap):
        made = models.ViT()
        made.blocks = nn.Sequential(*[wrap(block) for block in made.blocks])
        return made

    specs = {"x": aicf.spec((32, 8, 8)), "labels": aicf.spec((32,), "i32")}
    results = []
    for wrap in (plain, nn.Recompute):
        step = aicf.trace_step(model(wrap), loss, aicf.optim.SGD(0.1), specs).lower(
            "cpu").compile(seed=5)["train_step"]
        random = np.random.default_rng(0)
        x = random.standard_normal((32, 8, 8)).astype(np.float32)
        labels = random.integers(0, 10, 32).astype(np.int32)
        results.append([np.array(step(x, labels)) for _ in range(3)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_prediction_of_a_block():
    model = Deep(nn.Recompute)
    predict = aicf.compile(model, {"x": aicf.spec((ROWS, WIDTH))})
    assert predict(batch(0)[0]).shape == (ROWS, 10)
