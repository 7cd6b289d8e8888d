# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What people use beside PyTorch: pandas, scikit-learn, torchmetrics, TensorBoard."""

import glob

import numpy as np
import pytest
import torch
from torch import nn

import aicf

pandas = pytest.importorskip("pandas")
ROWS = 96
GENERATOR = np.random.default_rng(0)
FEATURES = GENERATOR.standard_normal((ROWS, 6))
LABELS = (FEATURES[:, 0] > 0).astype("i8") + (FEATURES[:, 1] > 0)


def make():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.AdamW(net.parameters(), 1e-2)
    return aicf.torch.compile_step(net, nn.functional.cross_entropy, optimizer,
                                   {"x": torch.zeros(16, 6)},
                                   {"y": torch.zeros(16, dtype=torch.int64)})


def test_frames_and_series():
    frame = pandas.DataFrame(FEATURES, columns=list("abcdef"))
    series = pandas.Series(LABELS)
    step, other = make(), make()
    history = aicf.fit(step, (frame, series), epochs=3, validation=0.25)
    expected = aicf.fit(other, (FEATURES.astype("f4"), LABELS.astype("i4")), epochs=3,
                        validation=0.25)
    assert history["val_loss"] == expected["val_loss"]
    np.testing.assert_array_equal(step.predict(frame), step.predict(FEATURES))
    mixed = frame.assign(a=(FEATURES[:, 0] * 10).astype("i4"))
    aicf.fit(make(), (mixed, series))
    with pytest.raises(aicf.errors.InvalidArgumentError, match="in the columns b: encode"):
        aicf.fit(make(), (frame.assign(b="word"), series))


def test_metrics_of_scikit_learn_and_torchmetrics():
    sklearn = pytest.importorskip("sklearn.metrics")
    torchmetrics = pytest.importorskip("torchmetrics")
    step = make()

    def macro_f1(predictions, targets):
        return sklearn.f1_score(targets, predictions.argmax(-1), average="macro")
    data = (FEATURES, LABELS)
    aicf.fit(step, data, epochs=2, verbose=0)
    logits = step.predict(FEATURES)
    found = aicf.evaluate(step, data, metrics={
        "accuracy": sklearn.accuracy_score, "f1": macro_f1,
        "object": torchmetrics.classification.MulticlassAccuracy(3, average="micro"),
        "function": lambda p, y: torchmetrics.functional.classification.multiclass_accuracy(
            torch.as_tensor(p), torch.as_tensor(y), 3, average="micro")})
    expected = (logits.argmax(-1) == LABELS).mean()
    for name in ("accuracy", "object", "function"):
        assert found[name] == pytest.approx(expected), name
    assert found["f1"] == pytest.approx(macro_f1(logits, LABELS))
    by_name = aicf.evaluate(step, data, metrics=[sklearn.accuracy_score])
    assert by_name["accuracy_score"] == pytest.approx(expected)


def test_tensorboard_reads_what_is_logged(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    folder = tmp_path / "runs" / "first"
    history = aicf.fit(make(), (FEATURES, LABELS), epochs=3, validation=0.25,
                       log=str(folder) + "/")
    events = EventAccumulator(str(folder)).Reload()
    assert [e.step for e in events.Scalars("val_loss")] == [1, 2, 3]
    assert [e.value for e in events.Scalars("val_loss")] == pytest.approx(history["val_loss"])
    assert {"loss", "lr", "seconds", "val_loss"} == set(events.Tags()["scalars"])
    aicf.fit(make(), (FEATURES, LABELS), epochs=1, log=aicf.callbacks.TensorBoard(
        tmp_path / "more", histograms=True))
    assert glob.glob(str(tmp_path / "more" / "events*"))
    events = EventAccumulator(str(tmp_path / "more")).Reload()
    assert set(events.Tags()["histograms"]) == {"0.weight", "0.bias", "2.weight", "2.bias"}


@pytest.mark.parametrize("wrap", [lambda loader: loader, aicf.data.Prefetch])
def test_workers_that_persist(wrap):
    data = torch.utils.data.TensorDataset(torch.randn(48, 6), torch.randint(3, (48,)))
    loader = torch.utils.data.DataLoader(data, 16, num_workers=1, persistent_workers=True)
    assert len(aicf.fit(make(), wrap(loader), epochs=3, verbose=0)) == 3


@pytest.mark.parametrize("validation", [None, 0.25])
def test_tensors_of_other_types_are_converted(validation):
    """Of the host; what lies on a GPU is converted there."""
    step, other = (aicf.compile_step(
        aicf.nn.Linear(4, 3), lambda m, x, labels: aicf.losses.cross_entropy(m(x), labels),
        aicf.optim.SGD(0.1), {"x": aicf.spec((8, 4)), "labels": aicf.spec((8,), "i32")})
        for _ in range(2))
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(3, (32,), generator=generator)
    for x in (torch.randn(32, 4, generator=generator, dtype=torch.float64),
              torch.randint(256, (32, 4), generator=generator, dtype=torch.uint8)):
        aicf.fit(step, (x, labels), validation=validation, verbose=0)
        aicf.fit(other, (x.numpy().astype("f4"), labels.numpy().astype("i4")),
                 validation=validation, verbose=0)
        for name, value in other.state_dict().items():
            np.testing.assert_array_equal(step.state_dict()[name], value)
        np.testing.assert_array_equal(step.predict(x), other.predict(x.float()))
    with pytest.raises(aicf.errors.DTypeMismatchError, match="class numbers"):
        aicf.fit(step, (x, labels.double()))
