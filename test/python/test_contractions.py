# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products of two tensors over any loops, by way of linalg: against np.einsum, and
as one product of matrices."""

import random
import subprocess

import numpy as np
import pytest

from conftest import BIN, run_tool

LETTERS = "abcdefgh"


def draw(rng):
    """Loops of each kind, as einsum's letters for both factors and the result."""
    left = list(LETTERS)
    rng.shuffle(left)
    batch, rows, columns, summed = (
        [left.pop() for _ in range(rng.randint(least, 2))] for least in (0, 1, 1, 1))
    a, b, out = batch + rows + summed, batch + columns + summed, batch + rows + columns
    for loops in (a, b, out):
        rng.shuffle(loops)
    return a, b, out, {letter: rng.choice((1, 2, 3, 5)) for letter in LETTERS}


def text_of(a, b, out, sizes):
    loops = sorted({*a, *b})
    maps = ", ".join("affine_map<(%s) -> (%s)>" % (", ".join(loops), ", ".join(each))
                     for each in (a, b, out))
    x, y, z = ("tensor<%sxf32>" % "x".join(str(sizes[letter]) for letter in each)
               for each in (a, b, out))
    return f"""
func.func @f(%x: {x} {{aicf.role = "input", aicf.name = "x"}},
             %y: {y} {{aicf.role = "input", aicf.name = "y"}}) -> ({z} {{aicf.name = "z"}}) {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {z}
  %f = linalg.fill ins(%zero : f32) outs(%e : {z}) -> {z}
  %z = linalg.contract indexing_maps = [{maps}] ins(%x, %y : {x}, {y}) outs(%f : {z}) -> {z}
  return %z : {z}
}}"""


@pytest.mark.parametrize("seed", range(40))
def test_a_contraction_is_einsum(seed, tmp_path):
    a, b, out, sizes = draw(random.Random(seed))
    done = subprocess.run([str(BIN / "aicf-opt"), "--convert-linalg-to-aicf", "-"],
                          input=text_of(a, b, out, sizes), text=True, capture_output=True,
                          timeout=60)
    assert done.returncode == 0 and "remark" not in done.stderr, done.stderr
    products = done.stdout.count("aicf.matmul") + done.stdout.count("aicf.linear")
    assert products == 1 and "reduce_sum" not in done.stdout, done.stdout
    (tmp_path / "f.mlir").write_text(done.stdout)
    rng, values = np.random.default_rng(seed), {}
    for name, letters in (("x", a), ("y", b)):
        values[name] = rng.normal(size=[sizes[letter] for letter in letters]).astype("f4")
        np.save(tmp_path / (name + ".npy"), values[name])
    assert run_tool("aicf-compile", tmp_path / "f.mlir", "-o", tmp_path / "f.plan",
                    ).returncode == 0
    ran = run_tool("aicf-run", tmp_path / "f.plan", "--input", "x=@%s/x.npy" % tmp_path,
                   "y=@%s/y.npy" % tmp_path, "--output", "z=@%s/z.npy" % tmp_path)
    assert ran.returncode == 0, ran.stderr
    want = np.einsum("%s,%s->%s" % ("".join(a), "".join(b), "".join(out)),
                     values["x"].astype("f8"), values["y"].astype("f8"))
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), want, rtol=1e-5, atol=1e-5)
