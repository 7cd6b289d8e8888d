# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled steps: values against NumPy, stages, sharing, state, files."""

import json
import subprocess

import numpy as np
import pytest
from conftest import (BINARY, INPUTS, PROGRAM_ENV, Mlp, cross_entropy, make_batch,
                      make_step)

import aicf
from aicf import nn
from aicf._programs.signature import Signature, own_outputs

F64 = {"x": aicf.spec((16, 64), "f64"), "labels": aicf.spec((16,), "i32")}


class Reference:
    """Mlp with AdamW, in NumPy and f64."""

    def __init__(self, state, lr, decay):
        self.p = {n: v.astype(np.float64) for n, v in state.items()}
        self.m = {n: np.zeros_like(v) for n, v in self.p.items()}
        self.v = {n: np.zeros_like(v) for n, v in self.p.items()}
        self.t, self.lr, self.decay = 0, lr, decay

    def gradients(self, x, labels):
        p = self.p
        z = x @ p["fc0.weight"].T + p["fc0.bias"]
        h = np.maximum(z, 0)
        s = h @ p["fc1.weight"].T + p["fc1.bias"]
        e = np.exp(s - s.max(1, keepdims=True))
        q = e / e.sum(1, keepdims=True)
        rows = np.arange(len(x))
        loss = -np.log(q[rows, labels]).mean()
        q[rows, labels] -= 1
        ds = q / len(x)
        dz = ds @ p["fc1.weight"] * (z > 0)
        return loss, {"fc0.weight": dz.T @ x, "fc0.bias": dz.sum(0),
                      "fc1.weight": ds.T @ h, "fc1.bias": ds.sum(0)}

    def step(self, batches):
        losses, sums = [], {n: 0 for n in self.p}
        for x, labels in batches:
            loss, g = self.gradients(x.astype(np.float64), labels)
            losses.append(loss)
            sums = {n: sums[n] + g[n] / len(batches) for n in g}
        self.t += 1
        for n, g in sums.items():
            self.m[n] = 0.9 * self.m[n] + 0.1 * g
            self.v[n] = 0.999 * self.v[n] + 0.001 * g * g
            m, v = self.m[n] / (1 - 0.9 ** self.t), self.v[n] / (1 - 0.999 ** self.t)
            self.p[n] -= self.lr * (self.decay * self.p[n] + m / (np.sqrt(v) + 1e-8))
        return losses


@pytest.mark.parametrize("accumulate", [1, 3])
def test_training_is_numpys(accumulate):
    step = aicf.compile_step(
        Mlp(dtype="f64"), cross_entropy,
        aicf.optim.AdamW(1e-2, weight_decay=0.1, accumulate=accumulate), F64)
    reference = Reference(step.state_dict(), 1e-2, 0.1)
    for update in range(4):
        batches = [make_batch(update * 3 + i) for i in range(accumulate)]
        losses = [step(x.astype(np.float64), labels) for x, labels in batches]
        np.testing.assert_allclose([float(v) for v in losses],
                                   reference.step(batches), rtol=1e-9)
    for name, value in step.state_dict().items():
        np.testing.assert_allclose(value, reference.p[name], rtol=1e-7, atol=1e-10)


def test_a_plain_learning_rate_can_be_changed(batch):
    step = make_step(aicf.optim.SGD(0.5))
    assert step.get("lr").item() == 0.5
    before = step.state_dict()
    step.set("lr", 0.0)
    step(*batch)
    after = step.state_dict()
    assert all((after[n] == before[n]).all() for n in before)
    step.set("lr", 0.1)
    step(*batch)
    assert (step.state_dict()["fc1.bias"] != before["fc1.bias"]).any()


@pytest.mark.parametrize("optimizer", [
    aicf.optim.AdamW(aicf.optim.WarmupCosine(1e-2, 3, 50), clip_norm=1.0),
    aicf.optim.SGD(aicf.optim.Linear(0.2, 0.01, 50), momentum=0.9, nesterov=True),
    aicf.optim.Lion(aicf.optim.Constant(1e-3), betas=(0.9, 0.99)),
    aicf.optim.AdamW(1e-3, betas=(0.8, 0.9), eps=1e-12),
])
def test_optimizers_lower_the_loss(optimizer, batch):
    step = make_step(optimizer)
    first = float(step(*batch))
    for _ in range(40):
        last = step(*batch)
    assert float(last) < 0.9 * first


@pytest.mark.parametrize("precision", ["tf32", "bf16", "f16"])
def test_precisions(precision, batch):
    step, full = make_step(precision=precision), make_step()
    for _ in range(5):
        loss, expected = float(step(*batch)), float(full(*batch))
    assert loss == pytest.approx(expected, rel=0.02)
    assert step.state_dict()["fc0.weight"].dtype == np.float32
    assert "f32" in step.as_text("aicf")
    short = {"tf32": "tf32", "bf16": "bf16", "f16": "f16"}[precision]
    assert short in step.as_text("aicf")


def test_every_value_stays_what_it_was(batch):
    step = make_step()
    losses = [step(*batch) for _ in range(5)]
    values = [float(v) for v in losses]
    assert values == sorted(values, reverse=True) and len(set(values)) == 5


def test_further_outputs(batch):
    def loss(model, x, labels):
        scores = model(x)
        return (aicf.losses.cross_entropy(scores, labels),
                {"correct": aicf.losses.accuracy_count(scores, labels),
                 "scores": scores})
    step = aicf.compile_step(Mlp(), loss, aicf.optim.AdamW(1e-2), INPUTS)
    for _ in range(60):
        value, more = step(*batch)
    assert set(more) == {"correct", "scores"}
    assert int(more["correct"]) == (more["scores"].numpy().argmax(1) == batch[1]).sum()
    assert float(value) < 0.5


class Gan(nn.Module):
    def __init__(self):
        self.g = nn.Linear(4, 4)
        self.d = nn.Linear(4, 1)


def gan_steps(first, second):
    """A discriminator's and a generator's step, which train nothing in common."""
    model = Gan()

    def freeze(frozen, trained):
        frozen.requires_grad_(False)
        trained.requires_grad_(True)

    def d_loss(m, x):
        freeze(m.g, m.d)
        return aicf.losses.mse_loss(m.d(m.g(x)), m.d(x))

    def g_loss(m, z):
        freeze(m.d, m.g)
        return aicf.ops.mean(m.d(m.g(z)))
    traced = aicf.trace_step(model, d_loss, first, {"x": aicf.spec((8, 4))},
                             name="d_step")
    traced.add_step(model, g_loss, second, {"z": aicf.spec((8, 4))}, name="g_step")
    return traced.lower().compile()


def names_of(program, *roles):
    return {t["name"] for t in program.plan.persistent() if t["role"] in roles}


def test_two_equal_optimizers_are_two(tmp_path):
    program = gan_steps(aicf.optim.AdamW(1e-3), aicf.optim.AdamW(1e-3))
    assert names_of(program, "hyper") == {"lr", "g_step/lr"}
    assert {"step", "g_step/step"} <= names_of(program, "state")
    d_step, g_step = program["d_step"], program["g_step"]
    x = np.ones((8, 4), "f4")
    for _ in range(3):
        d_step(x)
    g_step(x)
    assert int(d_step.get("step")) == int(program.get("step")) == 3
    assert int(g_step.get("step")) == int(program.get("g_step/step")) == 1
    g_step.set("lr", 0.5)
    assert float(program.get("lr")) == np.float32(1e-3)
    assert float(program.get("g_step/lr")) == float(g_step.get("lr")) == 0.5
    program.save(tmp_path / "gan.plan")
    loaded = aicf.load(tmp_path / "gan.plan")
    loaded["d_step"].set("lr", 0.25)
    loaded["g_step"].set("lr", 0.75)
    assert float(loaded.get("lr")) == 0.25 and float(loaded.get("g_step/lr")) == 0.75


def test_each_optimizer_trains_at_its_own_rate():
    """As in programs of their own."""
    together = gan_steps(aicf.optim.AdamW(1e-3), aicf.optim.AdamW(5e-2))
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("f4")
    before = together.state_dict()
    together["d_step"](x)
    after = together.state_dict()
    # Adam's first step is lr in every element whose gradient is not tiny.
    moved = np.abs(after["d.weight"] - before["d.weight"]).max()
    assert 0.5e-3 < moved < 2e-3
    together["g_step"](x)
    moved = np.abs(together.state_dict()["g.weight"] - before["g.weight"]).max()
    assert 2.5e-2 < moved < 1e-1


def test_one_optimizer_object_is_one():
    optimizer = aicf.optim.AdamW(1e-3)
    program = gan_steps(optimizer, optimizer)
    assert names_of(program, "hyper") == {"lr"}
    x = np.ones((8, 4), "f4")
    program["d_step"](x)
    program["g_step"](x)
    assert int(program.get("step")) == int(program["g_step"].get("step")) == 2


def test_a_remainder_shares_its_optimizer(batch):
    """The last batch of an epoch is smaller: another entry, one optimizer."""
    model, optimizer = Mlp(), aicf.optim.AdamW(1e-3)
    traced = aicf.trace_step(model, cross_entropy, optimizer, INPUTS)
    traced.add_step(model, cross_entropy, optimizer,
                    {"x": aicf.spec((5, 64)), "labels": aicf.spec((5,), "i32")},
                    name="remainder")
    program = traced.lower().compile()
    assert names_of(program, "hyper") == {"lr"}
    program["train_step"](*batch)
    program["remainder"](batch[0][:5], batch[1][:5])
    assert int(program.get("step")) == 2


def test_adamw_beside_sgd(batch):
    """On the same parameters: moments are AdamW's alone, and so is the count."""
    model = Mlp()
    traced = aicf.trace_step(model, cross_entropy, aicf.optim.AdamW(1e-3), INPUTS)
    traced.add_step(model, cross_entropy, aicf.optim.SGD(0.1), INPUTS, name="sgd")
    program = traced.lower().compile()
    assert names_of(program, "hyper") == {"lr", "sgd/lr"}
    program["train_step"](*batch)
    program["sgd"](*batch)
    assert int(program.get("step")) == 1
    assert float(program.get("sgd/lr")) == np.float32(0.1)


def test_two_optimizers_with_one_moment_are_refused():
    model = Mlp()
    traced = aicf.trace_step(model, cross_entropy, aicf.optim.AdamW(1e-3), INPUTS)
    traced.add_step(model, cross_entropy, aicf.optim.AdamW(5e-2), INPUTS, name="more")
    with pytest.raises(aicf.CompileError, match="the optimizers of @train_step and "
                                                "@more would share .*exp_avg"):
        traced.lower()


def test_prediction_shares_parameters(batch):
    model = Mlp(dropout=0.5)
    step = make_step(model=model)
    predict = aicf.compile(model, {"x": aicf.spec((7, 64))}, program=step)
    assert predict.name == "predict" and predict.program is step.program
    x = batch[0][:7]
    before = predict(x).numpy()
    for _ in range(3):
        step(*batch)
    p = {n: v.astype(np.float64) for n, v in step.state_dict().items()}
    h = np.maximum(x @ p["fc0.weight"].T + p["fc0.bias"], 0)
    np.testing.assert_allclose(predict(x).numpy(),
                               h @ p["fc1.weight"].T + p["fc1.bias"], rtol=1e-4,
                               atol=1e-5)
    assert (predict(x).numpy() != before).any()


def test_an_entry_added_later_keeps_all_values(batch):
    model, other = Mlp(), Mlp()
    one, two = make_step(model=model), make_step(model=other)
    for step in (one, two):
        for _ in range(3):
            step(*batch)
    one.set("lr", 0.25)
    aicf.compile(model, {"x": aicf.spec((7, 64))}, program=one)
    assert one.get("lr").item() == 0.25
    one.set("lr", 1e-2)
    for name, value in two.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(one.state_dict(optimizer=True)[name], value)
    assert float(one(*batch)) == float(two(*batch))


def test_an_entry_that_does_not_compile_leaves_the_program(batch):
    step = make_step()
    step(*batch)
    with pytest.raises(aicf.CompileError, match="already"):
        aicf.compile(lambda x: x, {"x": INPUTS["x"]}, program=step, name="train_step")
    clash = nn.Parameter((3,), name="fc0.bias")
    with pytest.raises(aicf.TraceError, match="two different tensors"):
        aicf.compile(lambda: clash + 1, {}, program=step, name="clash")
    with pytest.raises(aicf.CompileError, match="fc0.weight"):  # of another shape
        class Other(nn.Module):
            def __init__(self):
                self.fc0 = nn.Linear(2, 3)

            def forward(self, x):
                return self.fc0(x)
        aicf.compile(Other(), {"x": aicf.spec((1, 2))}, program=step, name="clash")
    with pytest.raises(ValueError, match="may not be called"):
        aicf.compile(lambda x: x, {"x": INPUTS["x"]}, program=step, name="a.accumulate")
    assert list(step.program.entries) == ["train_step"]
    step(*batch)
    aicf.compile(lambda x: x + 1, {"x": INPUTS["x"]}, program=step, name="clash")


def test_only_what_was_traced_into_a_program_becomes_an_entry_of_it(tmp_path):
    step, other = make_step(), make_step()
    step.save(tmp_path / "a.plan")
    for program, signature in ((step.program, "predict"), (step.program, ["a"]),
                               (step.program, other.signature),
                               (aicf.load(tmp_path / "a.plan"), step.signature)):
        with pytest.raises(aicf.errors.InvalidArgumentError, match="is not traced"):
            program.add_entry(signature)
    assert list(step.program.entries) == ["train_step"]
    assert step.program.add_entry(step.signature) is step.program["train_step"]


def test_every_entry_that_was_traced_starts():
    """Two are traced, one is asked for: the other's values are written, too."""
    def weighted(name):
        table = nn.Buffer((4,), init=np.full(4, 7, "f4"), name=name)
        return lambda x: (x * table).sum()
    spec = {"x": aicf.spec((4,))}
    program = aicf.compile(weighted("t"), spec, name="a").program
    traced = program.lowered.traced
    traced.add(weighted("u"), spec, name="b")
    program.add_entry(traced.add(weighted("v"), spec, name="c"))
    assert [float(program[n](np.ones(4, "f4"))) for n in "abc"] == [28, 28, 28]


def test_a_wrong_option_leaves_no_trace(batch):
    step = make_step()
    with pytest.raises(ValueError, match="shapes is"):
        aicf.compile(Mlp(), {"x": INPUTS["x"]}, program=step, name="q", shapes="Batch")
    aicf.compile(lambda x: x, {"x": INPUTS["x"]}, program=step, name="q")
    assert list(step.program.entries) == ["train_step", "q"]


def test_an_entry_that_cannot_start_leaves_the_program(batch, monkeypatch):
    """Whatever fails on the way to the new executor: the old one goes on."""
    from aicf import compiled
    model = Mlp()
    step, other = make_step(model=model), make_step()
    step.bind(x=batch[0])
    step.write(labels=batch[1])
    assert float(step()) == float(other(*batch))
    before = step.state_dict(optimizer=True)

    def fail(self, *args):
        raise MemoryError("no room")
    with monkeypatch.context() as patched:
        patched.setattr(compiled.Program, "_start", fail)
        with pytest.raises(MemoryError):
            aicf.compile(model, {"x": INPUTS["x"]}, program=step)
    for name, value in step.state_dict(optimizer=True).items():
        np.testing.assert_array_equal(value, before[name])
    aicf.compile(model, {"x": INPUTS["x"]}, program=step)
    assert float(step()) == float(other(*batch))  # with what was bound and written


# Running without arguments

def test_run_uses_what_was_written(batch):
    one, many = make_step(), make_step()
    for _ in range(7):
        expected = one(*batch)
    many.write(x=batch[0], labels=batch[1])
    last = many.run(7, steps_per_launch=3)
    assert float(last) == float(expected)
    assert many.program.executor.statistics()["launches"] == 3  # 3 + 3 + 1
    assert float(many()) == float(one(*batch))


def test_bound_arrays_are_used_in_place(batch):
    x, labels = batch[0].copy(), batch[1].copy()
    step, other = make_step(), make_step()
    step.bind(x=x, labels=labels)
    for seed in range(3):
        x[:], labels[:] = make_batch(seed)
        assert float(step()) == float(other(x, labels))
    with pytest.raises(aicf.AICFError, match='"x" is bound to an array'):
        step(x, labels)


def test_a_bound_input_is_left_out_of_a_call(batch):
    step, other = make_step(), make_step()
    step.program.bind("train_step/x", batch[0])
    assert float(step(labels=batch[1])) == float(other(*batch))
    assert float(step(labels=batch[1])) == float(other(*batch))


def test_what_is_no_tensor_of_a_program_is_not_bound(batch):
    step = make_step()
    for name in ("x", "nothing", "train_step/nothing", "nothing/x"):
        with pytest.raises(aicf.AICFError, match="is not a param, state or hyper"):
            step.program.bind(name, batch[0])


def test_parameters_can_be_bound(batch):
    step = make_step(aicf.optim.SGD(0.1))
    weight = np.zeros((10, 32), np.float32)
    step.program.bind("fc1.weight", weight)
    step(*batch)
    assert weight.any()
    np.testing.assert_array_equal(step.state_dict()["fc1.weight"], weight)


def test_bindings_outlive_a_new_entry(batch):
    x, weight = batch[0].copy(), np.zeros((10, 32), np.float32)
    model = Mlp()
    step = make_step(aicf.optim.SGD(0.1), model=model)
    step.bind(x=x)
    step.program.bind("fc1.weight", weight)
    aicf.compile(model, {"x": INPUTS["x"]}, program=step)
    step(labels=batch[1])
    assert weight.any()


def test_accumulation_with_resident_data(batch):
    optimizer = aicf.optim.AdamW(1e-2, accumulate=2)
    one, two = make_step(optimizer), make_step(optimizer)
    for _ in range(4):
        expected = one(*batch)
    two.bind(x=batch[0])
    two.write(labels=batch[1])
    assert float(two.run(4)) == float(expected)
    with pytest.raises(aicf.AICFError, match="one step a launch"):
        two.run(4, steps_per_launch=2)


def test_checkpoints_lie_between_updates(tmp_path, batch):
    optimizer = aicf.optim.AdamW(1e-2, accumulate=2)
    step, other = make_step(optimizer), make_step(optimizer)
    step(*batch)
    for save in (lambda: step.save_checkpoint(tmp_path),
                 lambda: step.state_dict(optimizer=True)):
        with pytest.raises(aicf.AICFError, match="1 of 2 batches are in"):
            save()
    step(*batch)
    step.save_checkpoint(tmp_path)
    other(*batch)
    other.load_checkpoint(tmp_path)  # in the middle: it starts an update anew
    for _ in range(4):
        assert float(step(*batch)) == float(other(*batch))


def test_batches_of_resident_data():
    images, labels = make_batch(rows=96)
    batches = aicf.data.Batches(16, seed=5)

    def loss(model, images, labels):
        x, y = batches(images, labels)
        return aicf.losses.cross_entropy(model(x), y), {"taken": y}
    step = aicf.compile_step(Mlp(), loss, aicf.optim.AdamW(1e-2),
                             {"images": images, "labels": labels})
    step.write(images=images, labels=labels)
    seen = np.concatenate([step()[1]["taken"].numpy() for _ in range(6)])
    np.testing.assert_array_equal(np.sort(seen), np.sort(labels))
    first = float(step()[0])
    assert float(step.run(120, steps_per_launch=10)[0]) < first


def test_two_counts_of_batches_need_two_names():
    images = make_batch()[0]
    one, two = aicf.data.Batches(4), aicf.data.Batches(2)
    entry = aicf.compile(lambda x: one(x), {"x": images}, name="one")
    with pytest.raises(aicf.TraceError, match="two different tensors of the name"):
        aicf.compile(lambda x: two(x), {"x": images}, program=entry, name="two")
    three = aicf.data.Batches(2, name="eval_batch")
    aicf.compile(lambda x: three(x), {"x": images}, program=entry, name="two")
    with pytest.raises(aicf.TraceError,
                       match="a batch has 17 rows, but the arrays have 16"):
        aicf.compile(lambda x: aicf.data.Batches(17)(x), {"x": images}, name="f")


def test_values_that_the_compiler_keeps(batch):
    step = make_step(keep="grad")
    loss, more = step(*batch)
    assert float(loss) > 0 and more["grad:fc0.weight"].shape == (32, 64)

    def further(model, x, labels):
        scores = model(x)
        return aicf.losses.cross_entropy(scores, labels), {"scores": scores}
    step = aicf.compile_step(Mlp(), further, aicf.optim.SGD(0.1), INPUTS, keep="grad")
    _, more = step(*batch)
    assert {"scores", "grad:fc1.bias"} <= set(more)
    with pytest.raises(ValueError, match="split_step makes two entries"):
        make_step(split_step=True)
    traced = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.SGD(0.1), INPUTS)
    program = traced.lower(split_step=True).compile()
    assert len(program.entries) == 2


@pytest.mark.parametrize("form, names, result", [
    ("unknown", ["a"], 0), ("unknown", ["output0", "a"], (0, 1)),  # of an old plan
    ("tensor", ["output"], 0), ("tensor", ["output", "grad:p"], (0, {"grad:p": 1})),
    ("tuple", ["output0"], (0,)), ("tuple", ["output0", "output1"], (0, 1)),
    ("tuple", ["output0", "output1", "grad:p"], ((0, 1), {"grad:p": 2})),
    ("dict", ["a", "grad:p"], {"a": 0, "grad:p": 1}),
    ("tensor_and_dict", ["loss", "a", "grad:p"], (0, {"a": 1, "grad:p": 2})),
])
def test_what_a_plan_says_is_what_a_call_returns(form, names, result):
    """Values that the compiler keeps come after what the function returned."""
    signature = Signature("f", form=form, outputs=own_outputs(form, names))
    assert signature.pack(range(len(names)), names) == result


# Stages

def test_stages():
    traced = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.AdamW(1e-2), INPUTS)
    assert "aicf.linear" in traced.as_text() and "linear_bwd" not in traced.as_text()
    lowered = traced.lower("cpu")
    assert "aicf.linear_bwd" in lowered.as_text("aicf")
    assert "aicf_rt.call gemm" in lowered.as_text("aicf_rt")
    assert "aicf_rt.plan" in lowered.as_text() and "kernel =" in lowered.as_text()
    with pytest.raises(ValueError, match="stage is 'hlo'"):
        lowered.as_text("hlo")
    assert any("gemm" in d.message or "fused" in d.message for d in lowered.report())
    program = lowered.compile(seed=1)
    assert program["train_step"].name == "train_step"
    assert "adam_step" in traced.lower("cuda").dump()
    for device, options, is_parallel in (("cpu", {}, False), ("cuda", {}, True),
                                         ("cuda", {"streams": 1}, False)):
        assert ("stream = 1" in traced.lower(device, **options).as_text()) == is_parallel


def test_a_traced_step_is_the_one_that_is_written_by_hand(tmp_path):
    """Python's fashion_mnist and examples/fashion_mnist/model.mlir: the same plan."""
    from aicf.examples import fashion_mnist
    rate = aicf.optim.WarmupCosine(0.003, warmup=200, steps=4680)
    step = aicf.compile_step(
        fashion_mnist.Net(), fashion_mnist.loss,
        aicf.optim.AdamW(rate, weight_decay=0.05),
        {"x": aicf.spec((128, 784)), "labels": aicf.spec(128, "i32")})
    step.save(tmp_path / "step.plan")
    ours, theirs = (json.loads(subprocess.run(
        [BINARY / "bin/aicf-plan", "dump", "--json", path], check=True,
        capture_output=True, text=True, env=PROGRAM_ENV).stdout)["entries"][0]["calls"]
        for path in (tmp_path / "step.plan", BINARY / "examples/fashion_mnist.plan"))
    assert [c["kid"] for c in ours] == [c["kid"] for c in theirs]


def test_options():
    traced = aicf.trace_step(Mlp(), cross_entropy, aicf.optim.AdamW(1e-2), INPUTS)
    few, many = (len(traced.lower("cpu", opt_level=n).plan.costs()) for n in (2, 0))
    assert few < many
    with pytest.raises(TypeError, match="no option 'no_such'"):
        traced.lower("cpu", no_such=1)
    for name, value, expected in (
            ("opt_level", 7, "option opt_level is 7, expected one of 0, 1, 2"),
            ("opt_level", True, "option opt_level is True"),
            ("keep", "some", "option keep is 'some', expected one of 'none', 'grad'"),
            ("streams", "two", "option streams is 'two', expected an int"),
            ("max_groups", True, "option max_groups is True, expected an int"),
            ("split_step", 1, "option split_step is 1, expected True or False"),
            ("recompute_rate", True, "option recompute_rate is True, expected a number"),
            ("recompute_rate", "2", "option recompute_rate is '2', expected a number"),
            ("recompute_rate", -1, "option recompute_rate is -1, expected a number >= 0"),
            ("recompute_rate", float("nan"), "option recompute_rate is nan"),
            ("recompute_rate", float("inf"), "option recompute_rate is inf"),
            ("profile", 3, "option profile is 3, expected a str")):
        with pytest.raises((ValueError, TypeError), match=expected):
            traced.lower("cpu", **{name: value})
    for name, value in (("opt_level", 0), ("opt_level", 1), ("opt_level", 2),
                        ("keep", "none"), ("keep", "grad"), ("keep", "all"),
                        ("streams", 2), ("max_groups", 1), ("split_step", True),
                        ("require_inplace", False), ("recompute_rate", 2),
                        ("recompute_rate", 0.5)):
        assert traced.lower("cpu", **{name: value}).plan.entries
    for device, precision in (("tpu", "f32"), (3, "f32"), ("cpu", "fp8")):
        with pytest.raises(ValueError, match="tpu|3|fp8"):
            traced.lower(device, precision)
    for path in ("", "a b", "a\tb", "a{b", "a'b"):
        with pytest.raises(ValueError, match="option profile is .*, expected a text "
                                             "without blanks, quotes and braces"):
            traced.lower("cpu", profile=path)
    for precision in ("f32", "tf32", "bf16"):
        lowered = traced.lower("cpu", precision)
        assert ('math = "tf32"' in lowered.as_text("aicf")) == (precision == "tf32")
    assert lowered.plan is lowered.plan
    split, whole, default = (traced.lower("cpu", **given).as_text() for given in (
        {"split_step": True}, {"split_step": False}, {}))
    assert whole == default != split


def test_analyses():
    step = make_step()
    memory = step.memory_analysis()
    parameters = 4 * (64 * 32 + 32 + 32 * 10 + 10)
    assert memory["persistent_bytes"] >= 3 * parameters
    entry = memory["entries"]["train_step"]
    assert entry["temp_bytes"] >= entry["temp_lower_bound_bytes"] > 0
    assert [s["value"] for s in entry["saves"]][0] == "16x32xf32"
    assert entry["saves"][0]["bytes"] == 4 * 16 * 32 and entry["saves"][0]["vid"] >= 0
    assert entry["views"] == entry["parts"] == []
    cost = step.cost_analysis()
    products = 2 * 16 * (64 * 32 * 2 + 32 * 10 * 3)
    assert products < cost["flops"] < 1.5 * products
    assert cost["calls"] == len(cost["by_call"]) > 5
    assert cost["bytes"] == sum(c["bytes"] for c in cost["by_call"])
    assert any("test_compile.py" in c["location"] or "conftest.py" in c["location"]
               for c in cost["by_call"])
