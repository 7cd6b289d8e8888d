# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README's "What it cannot do": each limit has a check here that fails once the thing
exists, so that nobody reads of a limit that is gone. And README itself."""

import importlib
import math
import re

import numpy as np
import pytest
from conftest import SOURCE

import aicf
from aicf import nn

README = (SOURCE / "README.md").read_text()


def bullets():
    section = README.partition("## What it cannot do")[2].partition("\n## ")[0]
    return [" ".join(b.split()) for b in re.split(r"^- ", section, flags=re.M)[1:]]


def records():
    """The names of all primitives, as the Python package has them."""
    return set(dir(aicf.ops))


def no_convolution():
    assert not [n for n in dir(nn) if re.search(r"conv|pool|rnn|lstm|gru", n, re.I)]
    assert not [n for n in records() if re.search(r"conv|pool|rnn|lstm|gru", n, re.I)]


def attention_by_hand_with_constants_alone():
    def plan_of(function):
        return aicf.compile(function, {"x": aicf.spec((1, 2, 8, 4))}).program.plan.dump()

    def by_hand(x, hidden):
        scores = (x @ x.swapaxes(-1, -2)).masked_fill(hidden, -math.inf)
        return aicf.functional.softmax(scores) @ x
    triangle = ~np.tri(8, dtype=bool)
    assert " attention(" in plan_of(
        lambda x: aicf.functional.scaled_dot_product_attention(x, x, x))
    assert " attention(" in plan_of(
        lambda x: by_hand(x, np.broadcast_to(triangle, (1, 2, 8, 8))))
    assert " attention(" not in plan_of(lambda x: by_hand(x, x @ x.swapaxes(-1, -2) > 1))


def no_general_fusion():
    def calls(function):
        entry = aicf.compile(function, {"x": aicf.spec((64, 64))})
        return entry.cost_analysis()["calls"]
    assert calls(lambda x: x.exp() * x.sin() + x.tanh()) == 1
    assert calls(lambda x: aicf.functional.softmax(x.exp()).tanh()) == 1
    assert calls(lambda x: x.exp().sum(1)) == 1
    assert calls(lambda x: x.exp().sum(0)) == 1
    assert calls(lambda x: (x - x.mean(0, keepdim=True)).exp()) == 2
    assert calls(lambda x: (x @ x).tanh()) == 2
    # Two calls more make gamma and beta.
    assert calls(lambda x: aicf.functional.layer_norm(x.exp(), 64).tanh()) == 5


def known_primitives_alone():
    table = importlib.import_module("aicf.jax._table").whole_table()
    assert "dot_general" in table
    assert not [name for name in table if name.startswith(("conv_", "fft", "igamma"))]


def fixed_shapes():
    step = aicf.compile_step(
        nn.Linear(6, 3), lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
        aicf.optim.SGD(0.1), {"x": aicf.spec((8, 6)), "y": aicf.spec((8,), "i32")})
    step(np.zeros((5, 6), "f4"), np.zeros(5, "i4"))  # another batch size works
    with pytest.raises(aicf.errors.ShapeMismatchError):
        step(np.zeros((8, 7), "f4"), np.zeros(8, "i4"))


def one_device():
    for device in ("cuda:0,1", "cuda:0,cuda:1", "rocm", "tpu"):
        with pytest.raises((ValueError, aicf.AICFError)):
            aicf.compile(lambda x: x.exp(), {"x": aicf.spec((4,))}, device=device)


LIMITS = {"There is no convolution": no_convolution,
          "Attention is one kernel where": attention_by_hand_with_constants_alone,
          "Elementwise operations are fused": no_general_fusion,
          "A PyTorch module is imported if": known_primitives_alone,
          "Shapes are fixed": fixed_shapes, "A program uses one device": one_device}


def test_every_limit_has_a_check():
    found = bullets()
    assert len(found) == len(LIMITS)
    for text, start in zip(found, LIMITS):
        assert text.startswith(start)


@pytest.mark.parametrize("limit", LIMITS)
def test_the_limit_still_holds(limit):
    LIMITS[limit]()


def test_readme_is_short():
    assert len(README.splitlines()) <= 120


def test_links_of_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert (SOURCE / target).exists(), target


def test_the_three_figures_of_readme_are_measured():
    """They stand in docs/Benchmarks.md, whose tables are those of the results."""
    page = (SOURCE / "docs/Benchmarks.md").read_text()
    for figure in ("18.2 | 34.7 | 1.91 ×", "17 to 310 ms", "take 1 to 4.3 s",
                   "2.06 × / 1.42 ×", "0.97 × / 0.99 ×", "1.03 ×", "1.09 ×"):
        assert figure in page, figure
    for figure in ("18.2 against 34.7", "17 to 310 ms", "1 to 4.3 s", "1.03 to 1.09",
                   "0.97 times"):
        assert figure in README, figure
