# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lints find what they are for: each case breaks one rule on purpose."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import lint_layers  # noqa: E402
import lint_tests  # noqa: E402

RUN = "// RUN: aicf-opt %s | FileCheck %s\n"


def messages(text):
    return [m for _, m in lint_tests.lint_lit_file(pathlib.Path("x.mlir"), text)]


def test_clean_file_has_no_findings():
    assert messages(RUN + "// CHECK: a\n// CHECK-NEXT: b\n") == []


def test_check_without_colon_is_found():
    assert any("without its colon" in m
               for m in messages(RUN + "// CHECK: a\n// CHECK-NEXT b\n"))


def test_unnamed_prefix_is_found():
    assert any("no RUN line names the prefix FOO" in m
               for m in messages(RUN + "// CHECK: a\n// FOO-NEXT: b\n"))


def test_prefix_without_checks_is_found():
    text = "// RUN: aicf-opt %s | FileCheck %s --check-prefixes=A,B\n// A: x\n"
    assert any("nothing is checked with it" in m for m in messages(text))


def test_missing_run_line_is_found():
    assert "no RUN line" in messages("func.func @f() {}\n")


def test_long_file_is_found():
    assert any("the limit is 150" in m
               for m in messages(RUN + "// CHECK: a\n" * 150))


def test_untested_diagnostic_is_found(tmp_path):
    (tmp_path / "lib/Dialect").mkdir(parents=True)
    source = tmp_path / "lib/Dialect/A.cpp"
    source.write_text('void f() { op.emitOpError() << "never seen anywhere"; }\n')
    found = list(lint_tests.lint_diagnostics(tmp_path, corpus="other text"))
    assert len(found) == 1
    assert list(lint_tests.lint_diagnostics(
        tmp_path, corpus="{{never seen anywhere}}")) == []


def test_forbidden_includes_are_found(tmp_path):
    plan = tmp_path / "lib/Plan"
    plan.mkdir(parents=True)
    (plan / "Plan.cpp").write_text('#include "mlir/IR/Value.h"\n')
    transforms = tmp_path / "lib/Transforms"
    transforms.mkdir(parents=True)
    (transforms / "P.cpp").write_text("#include <cuda_runtime.h>\n")
    found = lint_layers.lint_includes(tmp_path)
    assert len(found) == 2
    assert "Plan may not include mlir/IR/Value.h" in found[0]
