# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/mutants: what gets a switch, and what the switches do."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/mutants"))

import cpp  # noqa: E402
import python  # noqa: E402
import suite  # noqa: E402
import switches  # noqa: E402

CPP = """#include <cstdio>
#include <optional>
constexpr bool isFixed(int a) { return a == 1 && a < 2; }
static_assert(isFixed(1) || true);
struct Status { bool ok = true; };
Status checkSize(int a) { return {a < 9}; }
Status checkAll(int a) { return checkSize(a); }
bool both(int a, int b) { return a > 0 && (b > 0 || a == 2); }
std::optional<int> half(int a) {
  if (a % 2)
    return {};
  return a / 2;
}
int main(int argc, char **) {
  int n = argc - 1;
  const char *text = n > 1 ? "many" : "few"; // ? : in a comment
  bool isThree = n == 3;
  if (auto h = half(n))
    std::printf("half %d ", *h);
  if (int m = n; m != 0 && !isThree)
    std::printf("m ");
  std::printf("%s %d %d %d\\n", text, both(n, 1), isThree, checkAll(n).ok);
}
"""


def the_command():
    spec = importlib.util.spec_from_file_location("mutants",
                                                  ROOT / "scripts/mutants/__main__.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_source_has_switches_or_a_reason():
    command = the_command()
    names = set(command.sources())
    for name in ("lib/Ops/Rules.cpp", "lib/Conversion/Register.cpp",
                 "kernels/graph/CudaElements.cpp", "kernels/gemm/Family.h",
                 "tools/aicf-run/aicf-run.cpp", "python/aicf/_tracing/tensor.py"):
        assert name in names
    assert not [n for n in names if "/test/" in n or n.endswith((".cu", "aicf/ops.py"))]
    reasons = {why for _, why in command.all_sources() if why}
    assert reasons == {why for _, why in command.BESIDES}  # each is of some source
    text = command.coverage()
    assert "%d of " % len(names) in text and all(why in text for why in reasons)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mutants")
    worker = cpp.Instrumenter("a.cpp", CPP, 100)
    (folder / "a.cpp").write_text(worker.run())
    subprocess.run(["c++", "-std=c++17", "-o", folder / "a", folder / "a.cpp"], check=True)
    return folder / "a", worker.mutants


def output(program, count, **environment):
    return subprocess.run([program, *"x" * count], env={**os.environ, **environment},
                          text=True, capture_output=True, check=True).stdout.strip()


def test_what_gets_a_switch_in_cpp(program):
    found = {(m.line, m.text) for m in program[1]}
    assert found == {
        (7, "checkSize(a)"), (8, "a > 0"), (8, "b > 0"), (8, "a == 2"), (10, "a % 2"),
        (16, "n > 1"), (17, "n == 3"), (18, "auto h = half(n)"), (20, "m != 0"),
        (20, "!isThree")}
    assert {m.change for m in program[1] if m.text == "checkSize(a)"} == {"not checked"}
    assert {m.change for m in program[1] if m.text == "a == 2"} == {"never", "always"}
    assert len({m.number for m in program[1]}) == len(program[1])


def test_what_checks_answer(tmp_path):
    """An answer that is a bool never holds; another one is success; a reference, and what
    a fold repeats, are left as they are."""
    worker = cpp.Instrumenter("b.cpp", """#include <cstdio>
struct Answer { int code = 0; };
struct Result { int code; static Result success() { return {0}; } };
int kept = 7;
bool isOdd(int a) { return a % 2; }
Answer checkOne() { return {3}; }
Result checkTwo() { return {4}; }
int &checkKept() { return kept; }
bool odd(int a) { return isOdd(a); }
Answer one() { return checkOne(); }
Result two() { return checkTwo(); }
int &same() { return checkKept(); }
template <typename... T> bool any(T... each) {
  if (((each > 5) || ...))
    return true;
  return false;
}
int main() {
  std::printf("%d %d %d %d %d", odd(3), one().code, two().code, same(), any(1, 9));
}
""", 100)
    (tmp_path / "b.cpp").write_text(worker.run())
    subprocess.run(["c++", "-std=c++17", "-o", tmp_path / "b", tmp_path / "b.cpp"], check=True)
    assert output(tmp_path / "b", 0) == "1 3 4 7 1"
    found = {(m.text, m.change): m.number for m in worker.mutants}
    for text, change, expected in (
            ("isOdd(a)", "not checked", "0 3 4 7 1"), ("checkOne()", "not checked", "1 0 4 7 1"),
            ("checkTwo()", "not checked", "1 3 0 7 1"),
            ("checkKept()", "not checked", "1 3 4 7 1"), ("each > 5", "never", "1 3 4 7 0")):
        assert output(tmp_path / "b", 0, AICF_MUTANT=str(found[text, change])) == expected


def test_copies_of_sources_that_are_gone_go_too(tmp_path):
    gone = tmp_path / "lib/Gone.cpp"
    gone.parent.mkdir()
    gone.write_text("int a;")
    the_command().write_sources(tmp_path)
    assert not gone.exists() and (tmp_path / "lib/Ops/Rules.cpp").exists()


@pytest.mark.parametrize("text, change, count, expected", [
    ("a > 0", "never", 2, "half 1 m many 0 0 1"),
    ("a > 0", "always", 0, "half 0 few 1 0 1"),
    ("b > 0", "never", 1, "m few 0 0 1"),
    ("a % 2", "never", 1, "half 0 m few 1 0 1"),
    ("n > 1", "always", 1, "m many 1 0 1"),
    ("n == 3", "always", 2, "half 1 many 1 1 1"),
    ("auto h = half(n)", "never", 2, "m many 1 0 1"),
    ("m != 0", "always", 0, "half 0 m few 0 0 1"),
    ("!isThree", "always", 3, "m many 1 1 1"),
    ("checkSize(a)", "not checked", 9, "m many 1 0 1")])
def test_what_a_switch_does_in_cpp(program, text, change, count, expected):
    assert output(program[0], count) != expected
    (number,) = (m.number for m in program[1] if (m.text, m.change) == (text, change))
    assert output(program[0], count, AICF_MUTANT=str(number)) == expected


def test_a_test_notes_what_it_reaches(program):
    with switches.new_record() as (path, record):
        output(program[0], 2, AICF_MUTANT_RECORD=path)
        reached = switches.reached_by(record)
    for mutant in program[1]:
        if mutant.text in ("a > 0", "n > 1", "m != 0", "!isThree"):  # all of them hold
            assert (mutant.number in reached) == (mutant.change == "never")
        if mutant.text in ("n == 3", "a % 2"):
            assert (mutant.number in reached) == (mutant.change == "always")


PYTHON = '''
def f(a, b=None):
    """Text."""
    found = [x for x in a if x > 1]
    name = b or "none"
    if not a:
        name = "empty"
    try:
        first = found[0] if found else a[0]
    except IndexError:
        first = 0
    return name, first, is_long(a)

def is_long(a) -> bool:
    return len(a) > 2
'''


def run_python(mutant, *arguments):
    tree, _, _ = python.instrument("f.py", PYTHON, 10)
    names = {"__aicf_condition__": python.condition, "__aicf_value__": python.value_of,
             "__aicf_is_off__": python.is_off}
    exec(compile(tree, "f.py", "exec"), names)
    python.on = mutant
    try:
        return names["f"](*arguments)
    finally:
        python.on = -1


@pytest.mark.parametrize("text, change, arguments, expected", [
    ("x > 1", "always", ([1, 2],), ("none", 1, False)),
    ("x > 1", "never", ([1, 2],), ("none", 1, False)),
    ("b", "None", ([2], "b"), ("none", 2, False)),
    ("a", "never", ([2],), ("empty", 2, False)),
    ("a", "always", ([],), ("none", 0, False)),
    ("found", "never", ([1, 3],), ("none", 1, False)),
    ("len(a) > 2", "never", ([1, 2, 3],), ("none", 2, False)),
    ("except IndexError:", "raises again", ([],), IndexError)])
def test_what_a_switch_does_in_python(text, change, arguments, expected):
    _, mutants, _ = python.instrument("f.py", PYTHON, 10)
    assert len(mutants) == 10
    (number,) = (m.number for m in mutants if (m.text, m.change) == (text, change))
    if expected is IndexError:
        with pytest.raises(IndexError):
            run_python(number, *arguments)
        return
    assert run_python(-1, *arguments) != expected
    assert run_python(number, *arguments) == expected


def test_tests_of_one_binary_start_it_once():
    google, bash = ("RulesTest", "--gtest_brief=1"), ("bash",)
    tests = [suite.Test("a", google, "a", 0.25), suite.Test("b", google, "b", 0.75),
             suite.Test("c", bash, "c", 0.5)]
    suite.leave_out_the_start(tests)
    assert [t.seconds for t in tests] == [0, 0.5, 0.5]
