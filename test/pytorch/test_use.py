# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a step of a torch module is used for, beside being called."""

import copy
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cases import CASES, NanoGPT, Of
from torch import nn

import aicf
import aicf.torch


def classifier(dropout=0.0):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 3))


def batch(rows=8):
    torch.manual_seed(1)
    return torch.randn(rows, 6), torch.randint(0, 3, (rows,))


def step_of(net, rows=8, loss=F.cross_entropy, **options):
    x, labels = batch(rows)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.125)
    return aicf.torch.compile_step(net, loss, optimizer, [x], [labels], **options)


def test_another_batch_size():
    net = classifier()
    reference = copy.deepcopy(net)
    step = step_of(net)
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.125)
    for rows in (8, 5, 8, 3):
        x, labels = batch(rows)
        optimizer.zero_grad()
        loss = F.cross_entropy(reference(x), labels)
        loss.backward()
        optimizer.step()
        assert float(step(x, labels)) == pytest.approx(float(loss.detach()), rel=1e-5)
    assert sorted(step.program.entries) == ["train_step", "train_step@3", "train_step@5"]


def test_another_batch_size_is_in_the_mode_of_the_first():
    net = classifier(dropout=0.5)
    step = step_of(net)
    net.eval()
    x, labels = batch(5)
    step.torch_optimizer.optimizer.param_groups[0]["lr"] = 0.0
    assert len({float(step(x, labels)) for _ in range(4)}) == 4  # dropout drops
    assert not net.training


def test_prediction_is_in_eval_mode():
    net = classifier(dropout=0.5)
    step = step_of(net)
    for _ in range(3):
        step(*batch())
    assert net.training
    x, _ = batch(11)
    net.eval()
    expected = net(x).detach().numpy()
    net.train()
    np.testing.assert_allclose(step.predict(x), expected, rtol=1e-5, atol=1e-6)
    predict = aicf.torch.predict(net, [x], program=step)
    np.testing.assert_allclose(predict(x).numpy(), expected, rtol=1e-5, atol=1e-6)
    assert all(part.training for part in net.modules())
    step(*batch())
    assert not np.allclose(predict(x).numpy(), expected)  # one set of parameters


def test_prediction_reads_buffers_that_a_step_has_changed():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    step = step_of(net)
    x, _ = batch(16)
    predict = aicf.torch.predict(net, [x], program=step)  # before the first change
    for _ in range(5):
        step(*batch())
    found = predict(x).numpy()
    np.testing.assert_array_equal(step.predict(x), found)
    step.sync_to_module()
    expected = net.eval()(x).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_constant_buffer_is_not_another():
    net = Of(lambda s, x: s.a(x * s.scale), a=nn.Linear(6, 3))
    net.register_buffer("scale", torch.full((6,), 2.0))
    step = step_of(net)
    state = {n: v.numpy() for n, v in net.state_dict().items()}
    step.load_state_dict(state)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="'scale' never changes"):
        step.load_state_dict({**state, "scale": np.ones(6, "f4")})


def test_another_batch_size_trains_what_the_first_one_does():
    net = classifier()
    net[0].bias.requires_grad = False
    step = step_of(net)
    before = {n: v.clone() for n, v in net.state_dict().items()}
    step(*batch(5))
    moved = {n for n, v in net.state_dict().items() if not torch.equal(v, before[n])}
    assert moved == {"0.weight", "3.weight", "3.bias"}
    net[0].bias.requires_grad, net[0].weight.requires_grad = True, False
    with pytest.raises(aicf.errors.InvalidArgumentError, match="requires_grad of"):
        step(*batch(3))
    assert net[0].bias.requires_grad and not net[0].weight.requires_grad


def test_prediction_alone():
    torch.manual_seed(0)
    net = Of(lambda s, x: {"a": s.a(x), "b": (s.a(x) * 2)}, a=nn.Linear(6, 2))
    x, _ = batch()
    predict = aicf.torch.predict(net, [x])
    found = predict(x)
    assert set(found) == {"a", "b"}
    np.testing.assert_allclose(found["b"].numpy(), net(x)["b"].detach().numpy(), rtol=1e-5)


def test_parameters_are_the_modules():
    net = classifier()
    weight = net[0].weight
    before = weight.detach().clone()
    step = step_of(net)
    assert step.shared == {"0.weight", "0.bias", "3.weight", "3.bias"}
    step(*batch())
    assert net[0].weight is weight and not torch.equal(weight, before)
    with torch.no_grad():
        weight.zero_()  # and the other way
    assert float(np.abs(step.state_dict()["0.weight"]).max()) == 0
    memory = step.memory_analysis()
    assert memory["shared_bytes"] == memory["module_bytes"] == 4 * (6 * 16 + 16 + 16 * 3 + 3)


def test_what_is_not_contiguous_is_copied():
    net = classifier()
    net[0].weight = nn.Parameter(torch.randn(6, 16).t())
    step = step_of(net)
    assert "0.weight" not in step.shared
    before = net[0].weight.detach().clone()
    step(*batch())
    assert torch.equal(net[0].weight, before)
    step.sync_to_module()
    assert not torch.equal(net[0].weight, before)
    assert step.memory_analysis()["shared_bytes"] < step.memory_analysis()["module_bytes"]


def test_tied_weights_keep_both_names():
    torch.manual_seed(0)
    net = NanoGPT()
    tokens = torch.randint(0, 11, (2, 6))
    optimizer = torch.optim.AdamW(net.parameters())
    step = aicf.torch.compile_step(net, lambda y, t: F.cross_entropy(
        y.flatten(0, 1), t.flatten()), optimizer, tokens, tokens)
    step(tokens, tokens)
    step.load_state_dict({n: v.numpy() for n, v in net.state_dict().items()})
    assert net.lm_head.weight is net.transformer.wte.weight


def test_weights_load_strictly_in_pytorch(tmp_path):
    from safetensors.torch import load_file
    net = Of(lambda s, x: s.b(s.bn(s.a(x)) * s.scale), a=nn.Linear(6, 6), bn=nn.BatchNorm1d(6),
             b=nn.Linear(6, 6))
    net.b.weight = net.a.weight
    net.register_buffer("scale", torch.full((6,), 2.0))
    x, target = torch.randn(5, 6), torch.randn(5, 6)
    step = aicf.torch.compile_step(net, F.mse_loss, torch.optim.Adam(net.parameters()), [x],
                                   [target])
    step(x, target)
    step.save_weights(tmp_path / "w.safetensors")
    other = copy.deepcopy(net)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    other.load_state_dict(load_file(tmp_path / "w.safetensors"), strict=True)
    for own, theirs in zip(net.state_dict().values(), other.state_dict().values()):
        torch.testing.assert_close(own, theirs)
    step.load_weights(tmp_path / "w.safetensors")
    state = step.state_dict()
    state["b.weight"] = state["b.weight"] + 1
    with pytest.raises(aicf.errors.InvalidArgumentError, match="are one tensor"):
        step.load_state_dict(state)


def test_saved_and_loaded(tmp_path):
    net = classifier()
    step = step_of(net)
    path, weights = tmp_path / "step.plan", tmp_path / "step.safetensors"
    step.save(path)
    step.save_weights(weights)
    program = aicf.load(path)
    program.load_weights(weights)
    program.set("group0", np.asarray([0.125, 0.0, 0.0], "f4"))
    assert float(program["train_step"](*batch())) == float(step(*batch()))


def test_fit_with_a_loader(tmp_path):
    x, labels = batch(64)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, labels),
                                         batch_size=16)
    net = classifier()
    step = step_of(net, rows=16)
    history = aicf.fit(step, loader, epochs=8, checkpoint=str(tmp_path / "run"))
    assert history.epochs[-1]["loss"] < history.epochs[0]["loss"]
    again = aicf.fit(step_of(classifier(), rows=16), loader, epochs=9,
                     checkpoint=str(tmp_path / "run"), resume=True)
    assert len(again.epochs) == 9


def test_a_module_in_f64():
    net = nn.Linear(6, 3).double()
    x, target = torch.randn(8, 6).double(), torch.randn(8, 3).double()
    step = aicf.torch.compile_step(net, F.mse_loss, torch.optim.SGD(net.parameters(), 0.1),
                                   [x], [target])
    expected = F.mse_loss(net(x), target)
    assert float(step(x, target)) == pytest.approx(float(expected.detach()), rel=1e-12)


@pytest.mark.parametrize("dtype, kind", [
    (torch.bfloat16, torch.optim.SGD), (torch.bfloat16, torch.optim.AdamW),
    (torch.float16, torch.optim.SGD)])
def test_modules_of_16_bits(dtype, kind):
    """Parameters and moments are f32 in the plan, and 16 bits in the module. (In f16
    PyTorch's own AdamW divides by moments that are 0 there.)"""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
    net = net.to(dtype)
    reference = copy.deepcopy(net)
    optimizer, other = (kind(n.parameters(), lr=0.125 if kind is torch.optim.SGD else 1e-2)
                        for n in (net, reference))
    x, target = torch.randn(8, 6).to(dtype), torch.randn(8, 3).to(dtype)
    step = aicf.torch.compile_step(net, F.mse_loss, optimizer, [x], [target])
    assert step.shared == frozenset()
    for _ in range(5):
        other.zero_grad()
        loss = F.mse_loss(reference(x), target)
        loss.backward()
        other.step()
        assert float(step(x, target)) == pytest.approx(float(loss.detach()), rel=2 ** -6)
    step.sync_to_module()
    step.sync_to_optimizer()
    for own, theirs in zip(net.parameters(), reference.parameters()):
        assert own.dtype == dtype
        torch.testing.assert_close(own, theirs, rtol=0, atol=2 ** -5)
    predict = aicf.torch.predict(net, [x], program=step)
    torch.testing.assert_close(torch.from_dlpack(predict(x)), net(x), rtol=2e-2, atol=2e-2)
    step.load_optimizer_state()
    step.load_from_module()
    assert float(step(x, target)) < float(loss)


def test_small_updates_of_16_bits_are_not_lost():
    net = nn.Linear(1, 1, bias=False).bfloat16()
    with torch.no_grad():
        net.weight.fill_(1.0)
    x, target = torch.ones(1, 1).bfloat16(), torch.zeros(1, 1).bfloat16()
    step = aicf.torch.compile_step(net, F.l1_loss, torch.optim.SGD(
        net.parameters(), lr=2.0 ** -10), [x], [target])
    for _ in range(16):  # each is a quarter of the distance to the next bf16
        step(x, target)
    step.sync_to_module()
    assert float(net.weight.detach()) == 1.0 - 16 * 2.0 ** -10


def test_pytorch_is_left_as_it_was():
    """What the import watches while it runs: functions, hooks, attributes."""
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, gradient):
            return 3 * gradient
    watched = (torch.nn.Module.__setattr__, torch.Tensor.register_hook,
               torch.autograd.Function.__dict__["apply"])
    step_of(classifier())
    grad, of_function = torch.autograd.grad, torch.func.grad
    step_of(Of(lambda s, x: Double.apply(s.a(x)), a=nn.Linear(6, 3)))
    assert (grad, of_function) == (torch.autograd.grad, torch.func.grad)
    assert watched == (torch.nn.Module.__setattr__, torch.Tensor.register_hook,
                       torch.autograd.Function.__dict__["apply"])
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda g: g + 1)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_dropout_drops_and_draws_are_new():
    net = classifier(dropout=0.5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    x, labels = batch()
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    assert len({float(step(x, labels)) for _ in range(4)}) == 4
    noisy = Of(lambda s, x: s.a(x + torch.randn_like(x)), a=nn.Linear(6, 3))
    step = aicf.torch.compile_step(noisy, F.cross_entropy, torch.optim.SGD(
        noisy.parameters(), lr=0.0), [x], [labels])
    assert len({float(step(x, labels)) for _ in range(4)}) == 4


def calls_of(step):
    return step.cost_analysis()["calls"]


def test_calls_beside_aicf_nn():
    """At most 5 % more than of the same model said in aicf.nn."""
    x, labels = np.zeros((8, 6), "f4"), np.zeros(8, "i8")
    own = aicf.compile_step(
        aicf.nn.Sequential(aicf.nn.Linear(6, 16), aicf.nn.ReLU(), aicf.nn.Linear(16, 3)),
        lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
        aicf.optim.SGD(0.1), {"x": x, "y": labels})
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    assert calls_of(step_of(net)) <= 1.05 * calls_of(own)

    class Attention(aicf.nn.Module):
        def __init__(self):
            self.qkv, self.out = aicf.nn.Linear(8, 24), aicf.nn.Linear(8, 8)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (p.reshape(b, t, 2, c // 2).swapaxes(1, 2)
                       for p in self.qkv(x).split(c, axis=2))
            scores = (q @ k.swapaxes(-2, -1)) / (c // 2) ** 0.5
            hidden = np.triu(np.ones((t, t), bool), 1)
            weights = aicf.functional.softmax(scores.masked_fill(hidden, -np.inf))
            return self.out((weights @ v).swapaxes(1, 2).reshape(b, t, c))
    own = aicf.compile_step(
        Attention(), lambda m, x, y: aicf.losses.mse_loss(m(x), y),
        aicf.optim.SGD(0.1), {n: np.zeros((2, 5, 8), "f4") for n in "xy"})
    net, loss, inputs, targets = CASES["attention_by_hand"]()
    theirs = aicf.torch.compile_step(net, loss, torch.optim.SGD(net.parameters(), 0.1),
                                     inputs, targets)
    assert calls_of(theirs) <= 1.05 * calls_of(own)


class OwnMixer(aicf.nn.Module):
    """CASES["mixer"], said in aicf.nn."""

    def __init__(self):
        def mlp(width):
            return aicf.nn.Sequential(aicf.nn.Linear(width, 2 * width), aicf.nn.GELU(),
                                      aicf.nn.Linear(2 * width, width))
        self.tokens, self.channels = mlp(5), mlp(8)
        self.norm1, self.norm2 = aicf.nn.LayerNorm(8), aicf.nn.LayerNorm(8)
        self.head = aicf.nn.Linear(8, 3)

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).swapaxes(1, 2)).swapaxes(1, 2)
        x = x + self.channels(self.norm2(x))
        return self.head(x.mean(1))


def test_calls_of_a_mixer_beside_aicf_nn():
    net, loss, inputs, targets = CASES["mixer"]()
    x, y = inputs[0].numpy(), targets[0].numpy()
    own = aicf.compile_step(OwnMixer(), lambda m, x, y: aicf.losses.cross_entropy(m(x), y),
                            aicf.optim.SGD(0.1), {"x": x, "y": y})
    theirs = aicf.torch.compile_step(net, loss, torch.optim.SGD(net.parameters(), 0.1),
                                     inputs, targets)
    assert calls_of(theirs) <= 1.05 * calls_of(own)


def test_no_ops_make_no_call():
    def forward(s, x):
        y = s.a(x).clone().contiguous().to(torch.float32).view(8, 3).float()
        return y
    net = nn.Linear(6, 3)
    plain = calls_of(step_of(net))
    assert calls_of(step_of(Of(forward, a=nn.Linear(6, 3)))) == plain


def test_a_summary():
    text = str(aicf.summary(step_of(classifier())))
    assert "Linear" in text and "8x16" in text


# What a stranger tried

def test_rows_may_depend_on_each_other_in_a_prediction():
    torch.manual_seed(0)
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)  # [time, batch, width]
    x, y = torch.randn(5, 3, 8), torch.randint(0, 8, (15,))
    step = aicf.torch.compile_step(
        net, lambda out, y: F.cross_entropy(out.flatten(0, 1), y),
        torch.optim.SGD(net.parameters(), lr=0.0), [x], [y])
    net.eval()
    for given in (x, x[:2], x):
        np.testing.assert_allclose(step.predict(given), net(given).detach().numpy(),
                                   rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_prediction_of_16_bits(dtype):
    net = nn.Linear(6, 3).to(dtype)
    x = torch.randn(8, 6).to(dtype)
    step = aicf.torch.compile_step(net, F.mse_loss, torch.optim.SGD(
        net.parameters(), lr=0.0), [x], [torch.zeros(8, 3).to(dtype)])
    np.testing.assert_allclose(step.predict(x).astype("f4"),
                               net(x).detach().float().numpy(), rtol=2e-2, atol=2e-2)


def test_memory_that_was_replaced_is_noticed_and_taken():
    net = classifier()
    step = step_of(net)
    net.half()
    net.float()
    with pytest.raises(aicf.errors.InvalidArgumentError, match="has other memory"):
        step(*batch())
    step.load_from_module()
    before = {n: p.detach().clone() for n, p in net.named_parameters()}
    for _ in range(8):
        step(*batch())
    assert not [n for n, p in net.named_parameters() if torch.equal(p, before[n])]


def test_a_replaced_layer_is_noticed():
    net = classifier()
    step = step_of(net)
    net[3] = nn.Linear(16, 3)
    with pytest.raises(aicf.errors.InvalidArgumentError, match="compile the step again"):
        for _ in range(4):  # one parameter is looked at with each call
            step(*batch())
    with pytest.raises(aicf.errors.InvalidArgumentError, match="compile the step again"):
        step.load_from_module()
    with pytest.raises(aicf.errors.InvalidArgumentError, match="compile the step again"):
        step.predict(batch()[0])


def test_a_constant_that_was_written_is_noticed():
    net = Of(lambda s, x: s.a(x * s.scale), a=nn.Linear(6, 3))
    net.register_buffer("scale", torch.full((6,), 2.0))
    step = step_of(net)
    net.scale.fill_(3.0)
    for use in (step.load_from_module, lambda: step(*batch(5)),
                lambda: step.predict(batch()[0])):
        with pytest.raises(aicf.errors.InvalidArgumentError, match="'scale' has been"):
            use()


def test_a_resumed_run_drops_other_elements():
    net = classifier(dropout=0.5)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.0)
    x, labels = batch()
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    losses = [float(step(x, labels)) for _ in range(6)]
    step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.Adam(
        net.parameters(), lr=0.0), [x], [labels])
    for _ in range(3):
        step(x, labels)
    step.sync_to_optimizer()
    again = aicf.torch.compile_step(net, F.cross_entropy, step.optimizer, [x], [labels])
    assert [float(again(x, labels)) for _ in range(3)] == losses[3:]


def test_the_seed_is_pytorchs():
    net, (x, labels) = classifier(dropout=0.5), batch()
    found = []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        step = aicf.torch.compile_step(net, F.cross_entropy, torch.optim.SGD(
            net.parameters(), lr=0.0), [x], [labels])
        found.append(float(step(x, labels)))
    assert found[0] == found[2] != found[1]


def test_sums_of_integers():
    net = Of(lambda s, x: s.a(x * (x > 0)) / ((x > 0).sum(1, keepdim=True) + 1),
             a=nn.Linear(6, 3))
    x, labels = batch()
    expected = float(F.cross_entropy(net(x), labels).detach())
    assert float(step_of(net)(x, labels)) == pytest.approx(expected, rel=1e-5)


def test_bernoulli_is_verified():
    net = Of(lambda s, x: s.a(x * torch.bernoulli(torch.full_like(x, 0.75))),
             a=nn.Linear(6, 3))
    step = step_of(net, verify=True)
    step.optimizer.param_groups[0]["lr"] = 0.0
    assert len({float(step(*batch())) for _ in range(4)}) == 4


def test_learning_rates_are_the_optimizers():
    with pytest.raises(aicf.errors.InvalidArgumentError, match="param_groups"):
        step_of(classifier()).set("lr", 0.1)


@pytest.mark.parametrize("key, value", [("maximize", True), ("nesterov", True)])
def test_a_flag_may_not_change(key, value):
    net, (x, labels) = classifier(), batch()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    step = aicf.torch.compile_step(net, F.cross_entropy, optimizer, [x], [labels])
    step(x, labels)
    optimizer.param_groups[0][key] = value
    with pytest.raises(aicf.errors.InvalidArgumentError, match=key):
        step(x, labels)


def test_a_layer_called_loss_is_looked_at_too():
    net = Of(lambda s, x: s.loss_head(x), loss_head=nn.Linear(6, 3))
    step = step_of(net)
    net.loss_head.weight.data = net.loss_head.weight.data.clone()
    with pytest.raises(aicf.errors.InvalidArgumentError, match="has other memory"):
        step(*batch())
        step(*batch())


def test_nobody_warns_before_the_first_loss():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        step_of(classifier())
    assert [str(w.message) for w in found if issubclass(w.category, FutureWarning)] == []
