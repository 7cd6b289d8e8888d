# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transformers of Hugging Face, unmodified, two layers each: every gradient beside PyTorch's
with f64 as the judge, in f32 and bf16; and with dropout, where draws are other numbers, their
means. `pytest -s test_transformers.py` prints the table."""

import collections
import pathlib
import sys

import pytest
import torch
import transformers
from programs import Called

import aicf.torch

sys.path.append(str(pathlib.Path(__file__).parent.parent / "pytorch"))
from judge import gradients_of, in_type, of_type  # noqa: E402

ROWS, TIME, WORDS, CLASSES, WIDTH = 4, 48, 97, 10, 64
#: How much larger an error than PyTorch's own may be: of all gradients, and of one parameter's.
FACTOR = 1.5
BATCHES = 4
DRAWS = 150


def _sizes(**more):
    return dict(hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=2,
                num_attention_heads=4, **more)


def _words():
    return torch.randint(0, WORDS, (ROWS, TIME))


def _causal(kind, config):
    def batch():
        words = _words()
        return [words, words]
    return Called(kind(config), ["input_ids", "labels"], lambda out: out.loss), batch


def gpt2(dropout):
    return _causal(transformers.GPT2LMHeadModel, transformers.GPT2Config(
        vocab_size=WORDS, n_embd=WIDTH, n_layer=2, n_head=4, n_positions=TIME, bos_token_id=0,
        eos_token_id=0, resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout))


def llama(dropout):
    return _causal(transformers.LlamaForCausalLM, transformers.LlamaConfig(
        **_sizes(vocab_size=WORDS), num_key_value_heads=2, max_position_embeddings=TIME,
        attention_dropout=dropout))


def bert(dropout):
    def batch():
        mask = torch.ones(ROWS, TIME, dtype=torch.int64)
        mask[0, -5:] = mask[2, -20:] = 0
        return [_words(), mask, _words()]
    return Called(transformers.BertForMaskedLM(transformers.BertConfig(
        **_sizes(vocab_size=WORDS), max_position_embeddings=TIME, hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout)), ["input_ids", "attention_mask", "labels"],
        lambda out: out.loss), batch


def vit(dropout):
    def batch():
        return [torch.randn(ROWS, 3, 32, 32), torch.randint(0, CLASSES, (ROWS,))]
    return Called(transformers.ViTForImageClassification(transformers.ViTConfig(
        **_sizes(), image_size=32, patch_size=8, num_labels=CLASSES,
        hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)),
        ["pixel_values", "labels"], lambda out: out.loss), batch


MODELS = (gpt2, llama, bert, vit)


def _itself(loss):
    return loss


def _of_pytorch(module, inputs, dtype):
    module, _ = in_type(module, None, dtype)
    module(*of_type(inputs, dtype)).backward()
    return {n: p.grad for n, p in module.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_gradients(make, dtype):
    torch.manual_seed(0)
    module, batch = make(0.0)
    module = in_type(module.train(), None, dtype)[0]  # f64 judges weights that are rounded
    ours, theirs, size = (collections.Counter() for _ in range(3))
    for _ in range(BATCHES):
        inputs = batch()
        own = gradients_of(module, _itself, inputs, [], dtype)
        single, exact = (_of_pytorch(module, inputs, t) for t in (dtype, torch.float64))
        assert set(own) == set(exact)
        for name, value in exact.items():
            for sums, other in ((ours, own[name]), (theirs, single[name]), (size, 0 * value)):
                sums[name] += float((other.double() - value).square().sum())
    total = (sum(ours.values()) / sum(theirs.values())) ** 0.5
    # The bias of keys has no gradient but for roundings: softmax does not see it.
    known = [n for n in size if theirs[n] < 1e-2 * size[n]]
    assert len(size) - len(known) <= 2
    worst, name = max(((ours[n] / theirs[n]) ** 0.5, n) for n in known)
    print("\n%-5s %-14s error / PyTorch's: all %.2f, worst %.2f (%s, whose own is %.1e)" % (
        make.__name__, dtype, total, worst, name, (theirs[name] / size[name]) ** 0.5))
    assert total <= FACTOR and worst <= FACTOR


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_dropout(make):
    """Means over many draws: of the loss, and of the gradient of what lies deepest."""
    torch.manual_seed(0)
    module, batch = make(0.2)
    module.train()
    inputs = batch()
    name = [n for n, p in module.named_parameters() if p.dim() == 2][1]
    parameter = dict(module.named_parameters())[name]
    theirs = []
    for _ in range(DRAWS):
        loss = module(*inputs)
        theirs.append((loss.detach(), *torch.autograd.grad(loss, parameter)))
    step = aicf.torch.compile_step(module, _itself, torch.optim.SGD(
        module.parameters(), lr=0.0), inputs, [], outputs=["grad:" + name])
    ours = []
    for _ in range(DRAWS):
        loss, found = step(*inputs)
        ours.append((torch.tensor(float(loss)), torch.from_dlpack(found["grad:" + name]).clone()))
    for a, b in zip(zip(*ours), zip(*theirs)):
        own, other = torch.stack(a).double(), torch.stack(b).double()
        assert own.flatten(1).std(0).max() > 0 if own.dim() > 1 else own.std() > 0
        spread = ((own.var(0) + other.var(0)) / DRAWS).sum().sqrt()
        distance = (own.mean(0) - other.mean(0)).norm()
        assert distance <= (4.5 if own.dim() == 1 else FACTOR) * spread, (distance, spread)
        assert 0.5 <= own.var(0).sum() / other.var(0).sum() <= 2
