# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/lint_contraction.py finds in PTX."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import lint_contraction  # noqa: E402

FUNCTORS = "struct Plain {\n  x = scalar::mul(x, x)\n};\n" \
    "struct Curved {\n  x = scalar::exp(x)\n};\n"
KERNEL = ".visible .entry _Z3fooI%sE(\n)\n{\n\t%s \t%%f1, %%f2, %%f3, %%f4;\n}\n"


@pytest.mark.parametrize("line,number", [
    ("fma.rn.f32", 1), ("fma.rn.f64", 1), ("fma.rn.ftz.f32", 1), ("mul.f32", 0),
    ("mad.lo.s64", 0), ("div.rn.f32", 0), ("fma.rn.bf16x2", 1)])
def test_a_contraction_is_found(line, number):
    found, kernels = lint_contraction.contractions(
        KERNEL % ("5Plain", line), {"Curved"})
    assert (len(found), kernels) == (number, 1)


def test_functions_of_the_library_are_left_out():
    left_out = lint_contraction.library_functors(FUNCTORS)
    assert left_out == {"Curved"}
    ptx = KERNEL % ("6Curved", "fma.rn.f32") + KERNEL % ("5Plain", "fma.rn.f64")
    found, kernels = lint_contraction.contractions(ptx, left_out)
    assert kernels == 2 and [line for _, line in found] == [
        "fma.rn.f64 \t%f1, %f2, %f3, %f4;"]


def test_the_real_functors_have_some_of_both():
    text = (ROOT / "kernels/pointwise/Functors.h").read_text()
    left_out = lint_contraction.library_functors(text)
    assert "Gelu" in left_out and "Relu" not in left_out


def test_functions_of_generated_kernels_are_looked_at():
    text = ".visible .func  (.param .b32 func_retval0) aicf_%s_f32(\n)\n{\n" \
        "\tfma.rn.f32 \t%%f1, %%f2, %%f3, %%f4;\n}\n"
    found, functions = lint_contraction.contractions(
        text % "plain" + text % "very_curved", {"VeryCurved"})
    assert functions == 2 and [name for name, _ in found] == ["aicf_plain_f32"]
