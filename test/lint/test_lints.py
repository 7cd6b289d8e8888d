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


def test_untested_messages_of_the_runtime_are_found(tmp_path):
    (tmp_path / "lib/Support").mkdir(parents=True)
    (tmp_path / "lib/Support/A.cpp").write_text(
        'Status f() { return makeError(StatusCode::A, "never seen anywhere"); }\n')
    assert len(list(lint_tests.lint_diagnostics(tmp_path, corpus="other"))) == 1


def test_constraints_and_fields_without_a_test_are_found(tmp_path):
    for page, text in (
            ("AICFDialect.md", "### `aicf.a` (A)\n- C1: x\n- C2: y\n"
                               "### `aicf.b` (B)\n- C1: shared\n"),
            ("AICFRTDialect.md", "### `aicf_rt.b` (B)\n- C1: shared\n- C2: z\n"
                                 "- `eps` is a number\n- `axis` is any number\n"
                                 "- `beta` is 0 or 1\n")):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / page).write_text(text)
    (tmp_path / "test/Dialect/AICF").mkdir(parents=True)
    (tmp_path / "test/Dialect/AICF/invalid-a.mlir").write_text("func.func @a_c1()")
    (tmp_path / "unittests/Support").mkdir(parents=True)
    (tmp_path / "unittests/Support/OpRulesTest.cpp").write_text(
        'R k[] = {\n    {"b NT", "C1", x},\n    {"b", "", attr(&B::eps, 1)},\n};')
    assert [m for _, _, m in lint_tests.lint_constraints(tmp_path)] == [
        "no test breaks C2 of b", "no test breaks the range of beta of b",
        "no test breaks C2 of a"]


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
