# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lints find what they are for: each case breaks one rule on purpose."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import lint_layers  # noqa: E402
import lint_source  # noqa: E402
import lint_tests  # noqa: E402
import python_rooms  # noqa: E402

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
    (tmp_path / "lib/Base").mkdir(parents=True)
    (tmp_path / "lib/Base/A.cpp").write_text(
        'Status f() { return makeError(StatusCode::A, "never seen anywhere"); }\n')
    assert len(list(lint_tests.lint_diagnostics(tmp_path, corpus="other"))) == 1


def test_constraints_and_fields_without_a_test_are_found(tmp_path):
    for page, text in (
            ("AICFDialect.md", "### `aicf.a` (A)\n- C1: x\n- C2: y\n"
                               "### `aicf.b` (B)\n- C1: shared\n"),
            ("Primitives.md", "### `b`\n- C1: shared\n- C2: z\n"
                                 "- `eps` is a number\n- `axis` is any number\n"
                                 "- `beta` is 0 or 1\n")):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / page).write_text(text)
    (tmp_path / "test/Dialect/AICF").mkdir(parents=True)
    (tmp_path / "test/Dialect/AICF/invalid-a.mlir").write_text("func.func @a_c1()")
    (tmp_path / "kernels/k/test").mkdir(parents=True)
    (tmp_path / "kernels/k/test/Rules.cpp").write_text(
        'R k[] = {\n    {"b NT", "C1", x},\n    {"b", "", attr(&B::eps, 1)},\n};')
    assert [m for _, _, m in lint_tests.lint_constraints(tmp_path, tmp_path / "docs")] == [
        "no test breaks C2 of b", "no test breaks the range of beta of b",
        "no test breaks C2 of a"]


def test_examples_that_no_test_holds_are_found(tmp_path):
    (tmp_path / "README.md").write_text(
        "```mlir\n%y = a.b %x\n    : t\n// becomes\n%y = a.c %x : t\n```\n"
        "```mlir\n%z = a.d ...\n```\n```\nnot IR\n```\n")
    found = list(lint_tests.lint_examples(
        tmp_path, "// RUN: x\n  %y = a.b %x : t\n  %z = a.d %y : t\n"))
    assert [(line, message.split(": ", 1)[1]) for _, line, message in found] == [
        (1, repr("%y = a.c %x : t")), (7, repr("%z = a.d ..."))]


def test_titles_that_name_another_file_are_found(tmp_path):
    (tmp_path / "lib").mkdir()
    title = "//===- %s - a thing ---===//\n//\n// " + lint_tests.LICENSE
    (tmp_path / "lib/A.h").write_text(title % "A.h")
    (tmp_path / "lib/B.h").write_text(title % "A.h")
    (tmp_path / "lib/C.h").write_text("//===- C.h - a thing ---===//\n")
    assert [(p.name, m) for p, _, m in lint_tests.lint_titles(tmp_path)] == [
        ("B.h", "the title does not name the file"), ("C.h", "no license")]


ROOMS = """
## Rooms
| room | what lives there | may include |
|---|---|---|
| `lib/Base` | nothing | |
| `lib/Plan` | plans | `lib/Base` |
| `lib/Plan/IO` | files | `lib/Plan` `FlatBuffers` |

## Another table

| `lib/Base` | is | `lib/Plan` |
"""


def write_rooms(root, **files):
    (root / "CONTRIBUTING.md").write_text(ROOMS)
    for folder in ("lib/Base", "lib/Plan/IO", "lib/Other"):
        (root / folder).mkdir(parents=True)
    for name, text in files.items():
        (root / name.replace("__", "/")).with_suffix(".cpp").write_text(text)
    return lint_layers.lint_includes(root, lint_layers.read_rooms(root))


def test_includes_that_the_table_allows_are_none(tmp_path):
    assert write_rooms(
        tmp_path, lib__Plan__A='#include <vector>\n#include "lib/Base/B.h"\n'
        '#include "lib/Plan/C.h"\n',
        lib__Plan__IO__A='#include "flatbuffers/x.h"\n#include "lib/Plan/C.h"\n') == []


def test_forbidden_includes_are_found(tmp_path):
    found = write_rooms(
        tmp_path, lib__Plan__A='#include "mlir/IR/Value.h"\n',
        lib__Base__A='#include "lib/Plan/C.h"\n#include <cuda_runtime.h>\n',
        lib__Plan__B='#include "plan_generated.h"\n#include "lib/Plan/IO/A.h"\n')
    assert [f.split(": ", 1)[1] for f in found] == [
        "lib/Base may not include lib/Plan/C.h",
        "lib/Base may not include cuda_runtime.h",
        "lib/Plan may not include mlir/IR/Value.h",
        "lib/Plan may not include plan_generated.h",
        "lib/Plan may not include lib/Plan/IO/A.h"]


def test_includes_beside_a_file_and_of_tablegen_are_seen(tmp_path):
    (tmp_path / "lib/Plan/IO").mkdir(parents=True)
    (tmp_path / "lib/Plan/IO/A.h").write_text("")
    (tmp_path / "lib/Base").mkdir()
    (tmp_path / "lib/Base/Op.td").write_text('include "lib/Plan/C.td"\n')
    (tmp_path / "lib/Plan/A.cpp").write_text('#include "IO/A.h"\n')
    (tmp_path / "CONTRIBUTING.md").write_text(ROOMS)
    found = lint_layers.lint_includes(tmp_path, lint_layers.read_rooms(tmp_path))
    assert found == ["lib/Base/Op.td:1: lib/Base may not include lib/Plan/C.td",
                     "lib/Plan/A.cpp:1: lib/Plan may not include IO/A.h"]


def test_permissions_that_nobody_uses_are_found(tmp_path):
    write_rooms(tmp_path, lib__Plan__A='#include "lib/Base/B.h"\n',
                lib__Plan__IO__A='#include "flatbuffers/x.h"\n')
    found = lint_layers.lint_permissions(tmp_path, lint_layers.read_rooms(tmp_path))
    assert found == ["CONTRIBUTING.md: lib/Plan/IO may include lib/Plan, but "
                     "nothing there does"]


def test_a_file_outside_of_all_rooms_is_found(tmp_path):
    found = write_rooms(tmp_path, lib__Other__A="#include <vector>\n")
    assert found == ["lib/Other/A.cpp:1: lies in no room"]


PYTHON_ROOMS = """## Rooms of the Python package

| room | modules | what lives there | may import |
|---|---|---|---|
| low | `_low` `errors` | | |
| high | `high` | | low |
| commands | `_commands` | | high |
"""


def lint_python(root, **files):
    """Findings for modules; a file's text by its name with __ for /."""
    (root / "CONTRIBUTING.md").write_text(PYTHON_ROOMS)
    given = {"_low__a": "", "errors": "", "high": "from ._low import a\n",
             "_commands": "def run():\n    from . import high\n", **files}
    for name, text in given.items():
        path = root / "python/aicf" / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return python_rooms.lint(root)


@pytest.mark.parametrize("text", [
    "", "import os\nfrom . import _runtime\n", "from .. import errors\n", "from . import b\n",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..high import f\n",
    "def f():\n    from . import b\n", "def f():\n    from ..errors import E\n"])
def test_imports_that_the_python_table_allows_are_none(tmp_path, text):
    assert lint_python(tmp_path, _low__a=text, _low__b="") == []


@pytest.mark.parametrize("text,message", [
    ("from .. import high\n", "1: low may not import aicf.high"),
    ("from ..high import f\n", "1: low may not import aicf.high"),
    ("from aicf import high\n", "1: low may not import aicf.high"),
    ("import aicf.high\n", "1: low may not import aicf.high"),
    ("def f():\n    from .. import high\n", "2: low may not import aicf.high")])
def test_forbidden_imports_of_the_package_are_found(tmp_path, text, message):
    assert lint_python(tmp_path, _low__a=text) == ["python/aicf/_low/a.py:" + message]


def test_imports_inside_of_functions_need_a_reason(tmp_path):
    found = lint_python(tmp_path, high="from ._low import a\ndef f():\n"
                        "    from .errors import E\n")
    assert found == ["python/aicf/high.py:3: high imports aicf.errors inside of a function, "
                     "and nothing asks for that"]


def test_modules_and_rooms_of_the_package_are_those_of_the_table(tmp_path):
    assert lint_python(tmp_path, other="", high="") == [
        "python/aicf/other lies in no room",
        "CONTRIBUTING.md: high may import low, but nothing there does"]
    (tmp_path / "python/aicf/other.py").unlink()
    (tmp_path / "python/aicf/errors.py").unlink()
    assert "CONTRIBUTING.md: low has errors, which is not there" in python_rooms.lint(tmp_path)


def test_a_room_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "CONTRIBUTING.md").write_text(ROOMS.replace("`lib/Plan` `F", "`lib/X` `F"))
    with pytest.raises(SystemExit, match="lib/X, which is not a room"):
        lint_layers.read_rooms(tmp_path)


def test_unnamed_environment_variable_is_found(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "lib/a.cpp").write_text('std::getenv("AICF_SECRET")')
    (tmp_path / "docs/Installing.md").write_text(
        "| `AICF_OPTION` |\n## Environment variables\n| `AICF_GONE` | who |\n")
    found = [m for _, _, m in lint_tests.lint_environment(tmp_path)]
    assert found == ["AICF_SECRET is not in the table of docs/Installing.md",
                     "nothing reads AICF_GONE"]


def test_def_use_outside_of_its_place_is_found(tmp_path):
    folder = tmp_path / "lib/Transforms/RT"
    folder.mkdir(parents=True)
    for name in ("CallUses.cpp", "Pass.cpp"):
        (folder / name).write_text("x = value.getDefiningOp<CallOp>();\n")
    found = list(lint_source.lint(tmp_path))
    assert len(found) == 1 and "Pass.cpp:1: passes ask" in found[0]


@pytest.mark.parametrize("line,message", [
    ("// A sum is no mean.", "is not a"), ("/// Of a call.", "a doc comment"),
    ("// See the pass's description.", "the head of a pass")])
def test_words_are_found(tmp_path, line, message):
    folder = tmp_path / "lib"
    folder.mkdir()
    fine = ["// There is no sum.", "// It is no longer one.", "/// The sum."]
    (folder / "A.cpp").write_text("\n".join([*fine, line]))
    found = list(lint_source.lint(tmp_path))
    assert len(found) == 1 and found[0].startswith("lib/A.cpp:4: ")
    assert message in found[0]


@pytest.mark.parametrize("folder", ["lib/Ops", "kernels/cpu"])
def test_no_family_is_named(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "A.cpp").write_text(
        "OpKind::Copy, OpKind::Cast, OpKind::Expand, OpKind kind\nOpKind::CopyView\n")
    found = list(lint_source.lint(tmp_path))
    assert len(found) == 1 and "A.cpp:2: no family is named here" in found[0]


def test_no_pass_knows_a_device(tmp_path):
    folder = tmp_path / "lib/Transforms/RT"
    folder.mkdir(parents=True)
    (folder / "A.cpp").write_text("DeviceKind device;\nif (device == DeviceKind::CUDA)\n")
    found = list(lint_source.lint(tmp_path))
    assert len(found) == 1 and "A.cpp:2: no pass knows a device" in found[0]


def test_places_that_choose_by_device_are_on_the_page(tmp_path):
    for name, text in {
            "lib/a.cpp": "if (kind == DeviceKind::CUDA)", "lib/b.cpp": "DeviceKind::CPU",
            "lib/Runtime/CPU/c.cpp": "DeviceKind::CPU", "lib/d.cpp": "DeviceKind kind;",
            "kernels/k/test/e.cpp": "DeviceKind::CPU", "lib/f.cpp": "",
            "docs/NewDevice.md": "7. These places choose: `lib/a.cpp`, `lib/f.cpp`,\n"
                                 "   `lib/gone.cpp`.\n8. Others.\n"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    page = lint_source.PAGE
    assert list(lint_source.lint_devices(tmp_path)) == [
        "lib/b.cpp:1: chooses by the kind of device, and %s does not name it" % page,
        "%s:1: names lib/f.cpp, which does not choose by the kind of device" % page,
        "%s:1: names lib/gone.cpp, which does not choose by the kind of device" % page]
