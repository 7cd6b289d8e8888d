# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/goldens.py finds what it must find, and its files say what was put in."""

import copy
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import goldens  # noqa: E402

RECORD = {
    "cpu-O2-s1": {"temp": {"f": 512}, "calls": {"f": ["relu_f32_v0@0"]},
                  "bits": {"f/y": "00aa11bb"}},
    "cuda-O2-s2": {"temp": {"f": 512},
                   "calls": {"f": ["relu_f32_v0@0", "copy_f32_v0@1"]}},
}


def test_files_round_trip():
    assert goldens.decode(goldens.encode(RECORD)) == RECORD
    committed = sorted(goldens.GOLDENS.glob("*.json"))
    assert len(committed) > 10
    for path in committed:
        if not path.stem.startswith("cuda-"):
            assert goldens.encode(goldens.decode(path.read_text())) == \
                path.read_text(), path


@pytest.mark.parametrize("change,message", [
    (lambda r: r["cpu-O2-s1"]["temp"].update(f=256), "temp of f: 256, golden 512"),
    (lambda r: r["cpu-O2-s1"]["bits"].update({"f/y": "0"}), "bits of f/y: 0, golden"),
    (lambda r: r["cuda-O2-s2"]["calls"]["f"].pop(), "1 calls, golden 2; call 1 is "
     "nothing, golden copy_f32_v0@1"),
    (lambda r: r["cuda-O2-s2"]["calls"].update(f=["relu_f32_v0@0", "copy_f32_v0@0"]),
     "call 1 is copy_f32_v0@0, golden copy_f32_v0@1"),
    (lambda r: r.pop("cpu-O2-s1"), "c cpu-O2-s1: gone"),
    (lambda r: r.update(x=RECORD["cpu-O2-s1"]), "c x: new"),
    (lambda r: r["cpu-O2-s1"].pop("bits"), "bits of f/y: None, golden 00aa11bb"),
])
def test_every_difference_is_a_line(change, message):
    changed = copy.deepcopy(RECORD)
    change(changed)
    lines = list(goldens.compare("c", RECORD, changed))
    assert len(lines) == 1 and message in lines[0], lines
    assert list(goldens.compare("c", RECORD, RECORD)) == []
