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
    "cpu-O2-s1": {"temp": {"f": 512, "g": 0},
                  "calls": {"f": ["relu_f32_v0@0"], "g": ["copy_f32_v0@0"] * 3},
                  "bits": "00aa11bb"},
    "cuda-O2-s2": {"temp": {"f": 512},
                   "calls": {"f": ["relu_f32_v0@0", "copy_f32_v0@1", "copy_f32_v0@1"]}},
}


def test_files_round_trip():
    assert goldens.decode(goldens.encode(RECORD)) == RECORD
    committed = sorted((goldens.GOLDENS / "cases").iterdir())
    assert len(committed) > 10
    for path in committed:
        assert goldens.encode(goldens.decode(path.read_text())) == path.read_text(), path


def test_a_new_variant_adds_a_line():
    """And changes none: a reviewer sees what moved."""
    before = goldens.encode(RECORD).splitlines()
    assert before[0] == "cpu-O2-s1 | f (512): relu_f32_v0 | g (0): copy_f32_v0*3 | 00aa11bb"
    more = goldens.encode({**RECORD, "cpu-O1": RECORD["cuda-O2-s2"]}).splitlines()
    assert set(before) < set(more) and len(more) == 3 and more == sorted(more)


@pytest.mark.parametrize("change,message", [
    (lambda r: r["cpu-O2-s1"]["temp"].update(f=256), "f: 256 temp bytes, golden 512"),
    (lambda r: r["cpu-O2-s1"].update(bits="0"), "bits 0, golden 00aa11bb"),
    (lambda r: r["cuda-O2-s2"]["calls"]["f"].pop(), "2 calls, golden 3; call 2 is "
     "nothing, golden copy_f32_v0@1"),
    (lambda r: r["cuda-O2-s2"]["calls"].update(f=["relu_f32_v0@0", "copy_f32_v0@0",
                                                  "copy_f32_v0@1"]),
     "call 1 is copy_f32_v0@0, golden copy_f32_v0@1"),
    (lambda r: r.pop("cpu-O2-s1"), "c cpu-O2-s1: gone"),
    (lambda r: r.update(x=RECORD["cpu-O2-s1"]), "c x: new"),
    (lambda r: r["cpu-O2-s1"].pop("bits"), "bits None, golden 00aa11bb"),
])
def test_every_difference_is_a_line(change, message):
    changed = copy.deepcopy(RECORD)
    change(changed)
    lines = list(goldens.compare("c", RECORD, changed))
    assert len(lines) == 1 and message in lines[0], lines
    assert list(goldens.compare("c", RECORD, RECORD)) == []
