# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and targets by name, further results of a loss, and loaders of batches."""

import time

import numpy as np
import pytest
import torch
from torch import nn

import aicf
from aicf._training import loop
from aicf._training.loaders import iterator_of
from aicf.errors import InvalidArgumentError, ModuleImportError

X = torch.randn(64, 6, generator=torch.Generator().manual_seed(0))
Y = torch.randint(0, 3, (64,), generator=torch.Generator().manual_seed(1))
SCALE = torch.rand(64, 1, generator=torch.Generator().manual_seed(2)) + 0.5


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 8), nn.ReLU())
        self.head = nn.Linear(8, 3)

    def forward(self, x, extra=None, *, scale=None):
        y = self.head(self.body(x))
        y = y if extra is None else y + extra
        return y if scale is None else y * scale


def loss_and_accuracy(output, y):
    right = (output.argmax(-1) == y).sum()
    return nn.functional.cross_entropy(output, y), {"accuracy": right, "logits": output}


def make(inputs, targets, loss=nn.functional.cross_entropy, **options):
    torch.manual_seed(0)
    net = Net()
    return aicf.torch.compile_step(net, loss, torch.optim.SGD(net.parameters(), 0.1),
                                   inputs, targets, **options)


def test_inputs_by_keyword():
    """The module gets them by name, over an argument that is left out."""
    step = make({"scale": SCALE[:16], "x": X[:16]}, {"y": Y[:16]})
    assert step.signature.inputs == ("scale", "x", "y")
    with torch.no_grad():
        expected = nn.functional.cross_entropy(step.module(X[:16], scale=SCALE[:16]), Y[:16])
    assert float(step(SCALE[:16], X[:16], Y[:16])) == pytest.approx(float(expected), rel=1e-5)
    found = step.predict({"x": X, "scale": SCALE})
    step.sync_to_module()
    np.testing.assert_allclose(found, step.module(X, scale=SCALE).detach(), rtol=1e-4,
                               atol=1e-6)
    with pytest.raises(InvalidArgumentError, match="predict got the inputs x, the module"):
        step.predict({"x": X})


def test_names_of_ones_own():
    step = make({"features": X[:16]}, {"label": Y[:16]}, name="own")
    assert step.name == "own" and step.signature.inputs == ("features", "label")
    other = make(X[:16], Y[:16])
    rows = [{"label": y, "features": x} for x, y in zip(X, Y)]
    loader = torch.utils.data.DataLoader(rows, batch_size=16)
    assert aicf.fit(step, loader, epochs=2)["loss"] == aicf.fit(
        other, (X, Y), epochs=2, shuffle=False)["loss"]


@pytest.mark.parametrize("inputs, targets, text", [
    ({"x": X[:16], "scales": SCALE[:16]}, {"y": Y[:16]}, "give all of them its names, or none"),
    ({"features": X[:16]}, {"features": Y[:16]}, "have a name twice: features, features"),
])
def test_names_that_do_not_fit(inputs, targets, text):
    with pytest.raises(InvalidArgumentError, match=text):
        make(inputs, targets)


def test_a_loss_with_further_results():
    step = make(X[:16], Y[:16], loss_and_accuracy)
    logits = step.predict(X[:16])
    loss, more = step(X[:16], Y[:16])
    assert int(more["accuracy"]) == int((logits.argmax(-1) == Y[:16].numpy()).sum())
    np.testing.assert_allclose(more["logits"].numpy(), logits, rtol=1e-5, atol=1e-6)
    plain = make(X[:16], Y[:16])
    assert float(loss) == float(plain(X[:16], Y[:16]))
    for name, value in plain.state_dict().items():
        np.testing.assert_array_equal(step.state_dict()[name], value)
    history = aicf.fit(step, (X, Y), epochs=3, validation=(X, Y))
    assert history[2]["val_accuracy"] == pytest.approx(
        (step.predict(X).argmax(-1) == Y.numpy()).mean())
    bf16 = make(X[:16], Y[:16], loss_and_accuracy, precision="bf16", outputs=("grad_norm",))
    assert {"accuracy", "logits", "grad_norm"} == set(bf16(X[:16], Y[:16])[1])


@pytest.mark.parametrize("loss", [
    lambda out, y: (nn.functional.cross_entropy(out, y), out),
    lambda out, y: (out, {"a": out}),
    lambda out, y: {"loss": nn.functional.cross_entropy(out, y)},
    lambda out, y: (nn.functional.cross_entropy(out, y), {1: out}),
])
def test_what_is_not_a_loss(loss):
    with pytest.raises(ModuleImportError, match="expected a 0-d tensor of floats, or one and"):
        make(X[:16], Y[:16], loss)


def test_what_trains_can_be_looked_at():
    step = make(X[:16], Y[:16])
    assert float(step.get("lr")) == pytest.approx(0.1)
    summary = aicf.summary(step)
    owned = {layer.name: layer.parameters for layer in summary.layers}
    assert owned["body.0"] == 56 and owned["head"] == 27 and summary.parameters == 83
    before = {k: v.copy() for k, v in step.state_dict().items()}
    assert not aicf.find_nan(step, X[:16], Y[:16])
    assert {"body.0", "head"} < set(step.profile(X[:16], Y[:16], runs=2).layers())
    assert aicf.lr_find(step, (X, Y), steps=5).rates
    for name, value in before.items():
        np.testing.assert_array_equal(step.state_dict()[name], value)
    assert step.optimizer.param_groups[0]["lr"] == 0.1
    history = aicf.fit(step, (X, Y), epochs=4, callbacks=[aicf.callbacks.EMA(0.5)],
                       restore_best=True)
    assert history["lr"] == pytest.approx([0.1] * 4)
    found = aicf.find_nan(step, X[:16] * float("nan"), Y[:16])
    assert (found.kind, found.name) == ("input", "x")


# Loaders

@pytest.mark.parametrize("options", [
    {}, {"shuffle": True}, {"shuffle": True, "drop_last": True}, {"batch_size": 1},
    {"sampler": torch.utils.data.SubsetRandomSampler(range(40))},
    {"shuffle": True, "generator": torch.Generator()}])
def test_a_loader_of_whole_tensors_is_indexed(options):
    """The same batches, and the same numbers drawn behind them."""
    def run(how):
        torch.manual_seed(5)
        if "generator" in options:
            options["generator"].manual_seed(6)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y),
                                             **{"batch_size": 24, **options})
        return [list(how(loader)) for _ in range(2)] + [torch.rand(())]
    for one, other in zip(run(iter), run(iterator_of)):
        assert len(one) == len(other) if isinstance(one, list) else one == other
        for a, b in zip(one, other) if isinstance(one, list) else ():
            assert all(torch.equal(x, y) for x, y in zip(a, b))


@pytest.mark.parametrize("loader", [
    torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=None),
    torch.utils.data.DataLoader([(x, y) for x, y in zip(X, Y)], batch_size=8),
    torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=8,
                                collate_fn=lambda rows: rows)])
def test_other_loaders_do_it_themselves(loader):
    assert "_rows_of" not in repr(iterator_of(loader))


def test_a_slow_loader_is_named(monkeypatch, caplog):
    monkeypatch.setattr(loop, "NOTED_SECONDS", 0.0)
    caplog.set_level("INFO", "aicf")
    class Slow(torch.utils.data.Dataset):
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            time.sleep(1e-3)
            return X[i], Y[i]

    rows = torch.utils.data.DataLoader(Slow(), batch_size=16)
    aicf.fit(make(X[:16], Y[:16]), rows, epochs=3)
    notes = [r.message for r in caplog.records if "of the time of an epoch" in r.message]
    assert len(notes) == 1 and "(a DataLoader)" in notes[0]


def test_a_dict_of_a_batch_and_of_inputs_in_another_order():
    class Difference(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out = torch.nn.Linear(4, 3)

        def forward(self, x, mask):
            return self.out(x - 2 * mask)
    module = Difference()
    x, mask = torch.randn(10, 4), torch.randint(0, 2, (10, 4), dtype=torch.uint8)
    y = torch.arange(10) % 3
    step = aicf.torch.compile_step(module, torch.nn.functional.cross_entropy, torch.optim.SGD(
        module.parameters(), 0.1), {"x": x, "mask": mask}, [y])
    expected = module(x, mask).detach().numpy()
    for names in (("x", "mask"), ("mask", "x")):
        inputs = {name: {"x": x, "mask": mask}[name] for name in names}
        for size in (None, 5):
            np.testing.assert_allclose(step.predict(inputs, batch_size=size), expected,
                                       atol=1e-6)
    assert float(step({"target": y, "mask": mask, "x": x})) == pytest.approx(
        float(torch.nn.functional.cross_entropy(torch.from_numpy(expected), y)), rel=1e-5)


def test_batches_of_a_sampler_that_gives_no_lists():
    x = torch.arange(16.0).reshape(4, 4)

    class Pairs:
        def __iter__(self):
            yield 1, 2
            yield iter((3, 0))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x),
                                         batch_sampler=Pairs())
    got = [batch for batch, in iterator_of(loader)]
    assert torch.equal(torch.cat(got), x[[1, 2, 3, 0]])


def test_a_run_that_goes_on_has_the_rates_of_the_groups(tmp_path):
    x, y = torch.randn(16, 4), torch.arange(16) % 3

    def run(epochs, folder, **options):
        torch.manual_seed(0)
        net = nn.Linear(4, 3)
        step = aicf.torch.compile_step(net, nn.functional.cross_entropy, torch.optim.SGD(
            net.parameters(), 0.1), [x], [y])
        return step, aicf.fit(step, (x, y), epochs=epochs, batch_size=16, verbose=0,
                              checkpoint=tmp_path / folder, callbacks=[
                                  aicf.callbacks.ReduceLROnPlateau(0.1, 1, min_delta=100.0)],
                              **options)
    whole, history = run(4, "whole")
    run(3, "parts")
    resumed, other = run(4, "parts", resume=True)
    assert [e["lr"] for e in other.epochs] == [e["lr"] for e in history.epochs]
    np.testing.assert_array_equal(whole.get("weight"), resumed.get("weight"))


def test_a_nan_of_bf16_is_named():
    net = nn.Linear(4, 3, dtype=torch.bfloat16)
    x, y = torch.full((8, 4), float("nan"), dtype=torch.bfloat16), torch.arange(8) % 3
    step = aicf.torch.compile_step(net, nn.functional.cross_entropy, torch.optim.SGD(
        net.parameters(), 0.1), [x * 0 + 1], [y], verify=False)
    with pytest.warns(UserWarning, match="the loss of epoch 1 is nan"):
        aicf.fit(step, (x, y), verbose=0)
    step.load_optimizer_state()
    history = aicf.fit(step, (torch.ones_like(x), y), verbose=0, validation=0.25)
    assert "val_loss" in history.epochs[0]
