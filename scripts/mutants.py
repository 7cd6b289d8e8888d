#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guard mutants: is every check tested? (mutant schemata: Untch, Offutt & Harrold
1993.)

    mutants.py instrument --out DIR             the sources with numbered switches
    mutants.py run --build build-mutants        each mutant against the fast tests

Every guard of the files below gets a switch: with AICF_MUTANT=n in the environment
guard n is as if it were not there. So everything is compiled once. A test that
fails, crashes or hangs kills the mutant; survivors are printed, and more than the
ALLOWED ones are exit code 1. `make mutants` builds and runs.

What counts as a guard: a condition in front of a `return`, `continue` or `break`, each
part of its `||` apart (a condition that returns success is forced to hold, each
part of its `&&` apart); AICF_RETURN_IF_ERROR; a check that is returned; the legal
range in a call of value(); parts of a boolean that is declared or returned.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]

# file: tests that must notice, the fastest first. A guard decides what is legal;
# conditions that only decide how fast or how tight a result is are none: of the
# planner the functions that say what may share bytes are looked at.
LIT = "lit:"
ONLY = {"lib/Schedule/MemoryPlanner.cpp": ["makeProblem", "occupied"],
        "lib/Runtime/Executor.cpp": ["checkElements", "Impl::write"],
        "lib/Runtime/BoundPlan.cpp": ["BoundPlan::initialize", "checkIsCallers"],
        "lib/Dialect/AICF/AICF.cpp": ["checkData"]}
FILES = {
    "lib/Ops/BodyRules.cpp": ["RulesTest", "PlanTest"],
    "lib/Ops/Patterns.cpp": ["RulesTest", "PlanTest"],
    "lib/Ops/Rules.cpp": ["RulesTest"],
    "kernels/activation/Rules.cpp": ["RulesTest"],
    "kernels/compare/Rules.cpp": ["RulesTest"],
    "kernels/counter/Rules.cpp": ["RulesTest"],
    "kernels/lookup/Rules.cpp": ["RulesTest"],
    "kernels/math/Rules.cpp": ["RulesTest"],
    "kernels/scan/Rules.cpp": ["RulesTest"],
    "kernels/gemm/Rules.cpp": ["RulesTest"],
    "kernels/layout/Rules.cpp": ["RulesTest"],
    "kernels/loss/Rules.cpp": ["RulesTest"],
    "kernels/norm/Rules.cpp": ["RulesTest"],
    "kernels/optimizer/Rules.cpp": ["RulesTest"],
    "kernels/pointwise/Rules.cpp": ["RulesTest"],
    "kernels/random/Rules.cpp": ["RulesTest"],
    "kernels/rows/Rules.cpp": ["RulesTest"],
    "kernels/softmax/Rules.cpp": ["RulesTest"],
    "lib/Base/Utf8.cpp": ["PlanTest"],
    "lib/Base/Views.cpp": ["BaseTest"],
    "lib/Dialect/AICF/AICF.cpp": [LIT + "Dialect/AICF/invalid-constants"],
    "lib/Dialect/AICF/MapOp.cpp": [LIT + "Dialect/AICF/invalid-map"],
    "lib/Transforms/Step/ExpandMaps.cpp": [LIT + "expand-maps"],
    "lib/Transforms/Step/HoistConstants.cpp": [
        LIT + "hoist-constants", LIT + "hoist-constants-limit",
        LIT + "passes-of-entries"],
    "lib/Transforms/RT/MaterializeViews.cpp": [
        LIT + "materialize-views", LIT + "materialize-views-every",
        LIT + "materialize-views-refused"],
    "lib/Transforms/RT/EliminateSaves.cpp": [
        LIT + "eliminate-saves", LIT + "passes-of-entries"],
    "lib/Transforms/StepToRT/LowerViews.cpp": [LIT + "lower-views", LIT + "lower-biases"],
    "lib/Runtime/Executor.cpp": ["ExecutorTest"],
    "lib/Runtime/BoundPlan.cpp": ["ExecutorTest"],
    "lib/Plan/PlanVerifier.cpp": ["PlanTest", "RulesTest"],
    "lib/Plan/Plan.cpp": ["PlanTest"],
    "lib/Plan/PlanReader.cpp": ["PlanTest"],
    "lib/Plan/PlanWriter.cpp": ["PlanTest"],
    "lib/Schedule/Region.cpp": ["OrderTest", "PlanTest"],
    "lib/Schedule/AccessTracker.cpp": ["OrderTest", "PlanTest"],
    "lib/Schedule/HappensBefore.cpp": ["OrderTest", "PlanTest"],
    "lib/Schedule/HappensBefore.h": ["OrderTest", "PlanTest"],
    "lib/Schedule/Overlap.cpp": ["OrderTest", "PlanTest"],
    "lib/Runtime/IO/Npy.cpp": ["FileFormatsTest"],
    "lib/Runtime/IO/Safetensors.cpp": ["FileFormatsTest"],
    "lib/Transforms/RT/AnnotateInplace.cpp": [
        LIT + "annotate-inplace", LIT + "annotate-inplace-views", LIT + "require-inplace",
        LIT + "annotate-inplace-refused", LIT + "annotate-inplace-streams",
        LIT + "passes-of-entries", "fuzz"],
    "lib/Transforms/Step/CheckCaptureSafety.cpp": [
        LIT + "check-capture-safety", LIT + "check-capture-safety-draws",
        LIT + "passes-of-entries"],
    "lib/Schedule/MemoryPlanner.cpp": ["MemoryPlannerTest", LIT + "plan-memory"],
    "lib/Runtime/CUDA/CUDAStream.cpp": ["CUDADeviceTest"],
    "lib/Plan/Extension.cpp": ["ExecutorTest"],
    "lib/Transforms/Step/ReturnGradients.cpp": [
        LIT + "return-gradients", LIT + "passes-of-entries"],
    "lib/Transforms/RT/BatchCalls.cpp": [
        LIT + "batch-calls", LIT + "remarks-batches", LIT + "passes-of-entries"],
    "lib/Transforms/RT/FuseCalls.cpp": [
        LIT + "fuse-calls", LIT + "fuse-calls-refused",
        LIT + "fuse-calls-apart", LIT + "fuse-calls-families",
        LIT + "passes-of-entries"],
    "lib/Transforms/RT/MergeCalls.cpp": [
        LIT + "batch-calls", LIT + "fuse-calls", LIT + "fuse-calls-refused",
        LIT + "fuse-calls-apart", LIT + "fuse-calls-families"],
    "lib/Transforms/Step/OptimizerStates.cpp": [
        LIT + "append-optimizer-several", LIT + "append-optimizer-refused"],
    "lib/Transforms/RT/Storage.cpp": [
        LIT + "verify-rt", LIT + "verify-rt-entry", LIT + "verify-rt-inplace",
        LIT + "verify-rt-inplace", LIT + "materialize-updates",
        LIT + "annotate-inplace-refused", LIT + "emit-plan-invalid", "fuzz"],
}
# Mutants that no test can kill: (file, text of the guard, why).
ALLOWED = [
    ("lib/Runtime/IO/Safetensors.cpp", "tensor.desc == wanted",
     "a cast to the type that a tensor has gives the same values"),
    ("lib/Runtime/IO/Safetensors.cpp", "it == known.end()",
     "what stands behind the last one only a sanitizer sees"),
    ("lib/Runtime/IO/Safetensors.cpp", "!pattern.empty()",
     "what stands before the first character only a sanitizer sees"),
    ("lib/Transforms/RT/AnnotateInplace.cpp", "!list.isValid()",
     "what a list without order answers only a sanitizer sees"),
    ("lib/Transforms/Step/OptimizerStates.cpp", "failed(gradients)",
     "what stands in a result that failed only a sanitizer sees"),
    ("lib/Schedule/Region.cpp", "carried != 1",
     "a region whose pieces overlap each other is a span, so that no run of it "
     "reaches into a digit of its own"),
    ("lib/Schedule/Region.cpp", "!a", "what an empty optional holds only a sanitizer "
     "sees"),
    ("lib/Transforms/RT/MergeCalls.cpp", "isPart.contains(maker)",
     "no pattern of today reads a part's result in a node before it"),
    ("lib/Transforms/RT/MergeCalls.cpp", "!isPart.contains(reader)",
     "no pattern of today gives away one value and passes another further down"),
    ("lib/Ops/Patterns.cpp", "pattern.nodes.size() > kMaxNodes",
     "aicf-tblgen refuses such a pattern"),
    ("lib/Ops/Patterns.cpp", "form.stride < numPrimitives",
     "what stands behind a vector only a sanitizer sees"),
    ("lib/Ops/Rules.cpp", "value < int64_t(values.size())",
     "callers have checked the body; what stands behind the values only a sanitizer "
     "sees"),
    ("lib/Transforms/RT/BatchCalls.cpp", "parts.size() < 2",
     "a call alone would be replaced by itself"),
    ("lib/Transforms/RT/BatchCalls.cpp",
     "pattern.nodes[tie.operand.node].kind == primitive.kind",
     "the second node of today's batches has no slot of a tied number"),
    ("lib/Transforms/RT/BatchCalls.cpp", "where.node == 0",
     "today's batches share operands of their first node alone"),
    ("lib/Transforms/RT/FuseCalls.cpp", "!typed.ok()",
     "calls that were verified have types, and so has the call of them"),
    ("lib/Transforms/RT/FuseCalls.cpp", "parts.size() > 1",
     "a call alone would be replaced by itself"),
    ("lib/Plan/PlanVerifier.cpp", "accesses[i].empty()",
     "a buffer that nobody accesses is in conflict with none"),
    ("lib/Plan/PlanReader.cpp", "body.size() >= FLATBUFFERS_MAX_BUFFER_SIZE",
     "needs a file of 2 GiB"),
    ("lib/Runtime/IO/Safetensors.cpp",
     "::access(directory.c_str(), W_OK | X_OK) != 0",
     "the tests may run as root, who may write everywhere"),
    ("lib/Transforms/RT/FuseCalls.cpp", "!row->isWorthFusing()",
     "only decides how fast, and no automatic row of today is refused by it"),
    ("lib/Transforms/RT/MergeCalls.cpp",
     "!isPart.contains(reader) && reader->isBeforeInBlock(at)",
     "no pattern of today gives away one value and passes another further down"),
    ("lib/Plan/PlanVerifier.cpp", "!isFresh",
     "a body that was looked at is looked at again"),
    ("lib/Transforms/Step/HoistConstants.cpp", "failed(value)",
     "what stands in a result that failed only a sanitizer sees"),
    ("lib/Transforms/RT/MaterializeViews.cpp", "func.getOps<ViewOp>().empty()",
     "without views there is nothing to do"),
    ("lib/Transforms/RT/MaterializeViews.cpp", "typed.ok()",
     "calls that were verified have types, with other layouts too"),
    ("lib/Schedule/MemoryPlanner.cpp", "order.streamCount() == 1",
     "a short way to the same number"),
    ("lib/Schedule/MemoryPlanner.cpp", "!pairwise",
     "above the limit the list is not read, only slow to make"),
]

SUCCESS = re.compile(r"\{\}|success\(\)|Status\(\)|true\b")
# Calls that answer with what is wrong.
RULE = (r"(?:c\.\w+|call\.check\w*|check\w*|has[A-Z]\w*|is[A-Z]\w*|ifThere|ranks|"
        r"elements|depth|resultShape|scalars|biasCorrection|group|oneElement|copies|"
        r"rules::(?!rowsOf)\w+)")
CHECKS = re.compile(r"return\s+(" + RULE + r"\s*\()")
CHECKED = re.compile(r"\s*(?:" + RULE + r"|refuse\w*|parse\w*|\w+\.verify)\s*\(|"
                     r"\s*EntryChecker\(")


def mask(text):
    """Comments, strings and characters as blanks: only structure is left."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text,
                  flags=re.S)


def closing(masked, at):
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(masked)):
        if masked[i] in "([{":
            depth += 1
        elif masked[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("unbalanced")


def split_at(masked, begin, end, operator):
    """The ranges between top-level operators; `<` of templates is not a bracket."""
    parts, depth, last, i = [], 0, begin, begin
    while i < end:
        if masked[i] in "([{":
            depth += 1
        elif masked[i] in ")]}":
            depth -= 1
        elif depth == 0 and masked.startswith(operator, i):
            parts.append((last, i))
            last = i = i + len(operator)
            continue
        i += 1
    return parts + [(last, end)]


class Instrumenter:
    def __init__(self, text, first, is_compiler):
        self.text, self.masked = text, mask(text)
        self.next, self.success = first, "success()" if is_compiler else "Status()"
        self.is_compiler = is_compiler
        self.edits, self.mutants = [], []  # (begin, end, text), (number, line, guard)
        self.starts = set()

    def number(self, begin, end):
        n = self.next
        self.next += 1
        guard = " ".join(self.text[begin:end].split())
        self.mutants.append((n, self.text.count("\n", 0, begin) + 1, guard))
        return n

    def edit(self, begin, end, make):
        """Replaces a part by make(number, its text), once."""
        if begin in self.starts:
            return
        self.starts.add(begin)
        n = self.number(begin, end)
        self.edits.append((begin, end, make(n, self.text[begin:end])))

    def weaken(self, begin, end, is_forced):
        """Each part of a condition apart: forced to hold, or never holding."""
        operator = "&&" if is_forced else "||"
        if self.masked.find("\n#", begin, end) >= 0:
            return
        for b, e in split_at(self.masked, begin, end, operator):
            if is_forced:
                self.edit(b, e, lambda n, t: " (aicfMutant(%d) || (%s)) " % (n, t))
            else:
                self.edit(b, e, lambda n, t: " (!aicfMutant(%d) && (%s)) " % (n, t))

    def conditions(self):
        for match in re.finditer(r"\bif\s*\(", self.masked):
            opening = match.end() - 1
            end = closing(self.masked, opening)
            after = self.masked[end + 1:end + 400].lstrip().lstrip("{").lstrip()
            inside = self.masked[opening + 1:end]
            if ";" in inside or re.match(
                    r"\s*(const\s+)?[\w:]+(<[^()]*>)?[\s*&]+\w+\s*=(?!=)", inside):
                continue  # declares something
            returned = re.match(r"(return|continue|break)\b\s*(.*)", after, re.S)
            if "allBefore" in inside and not returned:
                self.edit(opening + 1, end,
                          lambda n, t: "!aicfMutant(%d) && (%s)" % (n, t))
            if returned:
                is_forced = returned.group(1) == "return" and bool(
                    SUCCESS.match(returned.group(2)))
                self.weaken(opening + 1, end, is_forced)

    def checks(self):
        for match in re.finditer(r"AICF_RETURN_IF_ERROR\s*\(", self.masked):
            end = closing(self.masked, match.end() - 1)
            if not CHECKED.match(self.masked, match.end()):
                continue  # work that may fail, no check
            if self.masked.rfind("#define", 0, match.start()) > \
                    self.masked.rfind("\n", 0, match.start()):
                continue
            self.edit(match.start(), end + 1, lambda n, t:
                      "{ if (!aicfMutant(%d)) { %s; } }" % (n, t))
        for match in CHECKS.finditer(self.masked):
            begin = match.start(1)
            if self.is_compiler and match.group(1).startswith("is"):
                continue  # answers yes or no there, and not what is wrong
            end = closing(self.masked, match.end(1) - 1)
            if self.masked[end + 1:].lstrip().startswith(";"):
                self.edit(begin, end + 1, lambda n, t: "(aicfMutant(%d) ? %s : %s)" % (
                    n, self.success, t))

    def ranges(self):
        for match in re.finditer(r"\b(?:c\.value|checkValue)\s*\(", self.masked):
            opening = match.end() - 1
            end = closing(self.masked, opening)
            arguments = split_at(self.masked, opening + 1, end, ",")
            if len(arguments) == 5: # id, name, value, is it legal, what is expected
                self.weaken(*arguments[3], True)

    def booleans(self):
        for match in re.finditer(r"\b(?:bool\s+\w+\s*=|return)\s", self.masked):
            end = self.masked.find(";", match.end())
            body = self.masked[match.end():end]
            if "?" in body or "{" in body or ("&&" not in body and "||" not in body):
                continue
            if len(split_at(self.masked, match.end(), end, "&&")) > 1:
                self.weaken(match.end(), end, True)
            elif len(split_at(self.masked, match.end(), end, "||")) > 1:
                self.weaken(match.end(), end, False)

    def keep_only(self, functions):
        """Leaves the guards of these functions."""
        ranges = []
        for name in functions:
            match = re.search(r"\b%s\(" % re.escape(name), self.masked)
            begin = self.masked.index("{", closing(self.masked, match.end() - 1))
            ranges.append((begin, closing(self.masked, begin)))
        inside = [any(b <= e[0] < c for b, c in ranges) for e in self.edits]
        self.edits = [e for e, i in zip(self.edits, inside) if i]
        numbers = {int(n) for e in self.edits
                   for n in re.findall(r"aicfMutant\((\d+)\)", e[2])}
        self.mutants = [m for m in self.mutants if m[0] in numbers]

    def run(self, functions=None):
        self.ranges()
        self.conditions()
        self.booleans()
        self.checks()
        if functions:
            self.keep_only(functions)
        # Innermost first: an edit inside another one is made on its text.
        out, edits = self.text, sorted(self.edits, key=lambda e: (e[0], -e[1]))
        return self.apply(0, len(out), edits)

    def apply(self, begin, end, edits):
        """The text of a range with the edits inside it, nested ones too."""
        result, at, i = "", begin, 0
        while i < len(edits):
            b, e, new = edits[i]
            inner = [x for x in edits[i + 1:] if x[0] < e]
            i += 1 + len(inner)
            result += self.text[at:b]
            old = self.text[b:e]
            if inner:
                changed = self.apply(b, e, inner)
                new = new.replace(old, changed, 1)
            result += new
            at = e
        return result + self.text[at:end]


SWITCH = """#include <cstdlib>
[[maybe_unused]] static bool aicfMutant(int number) {
  static const int on = [] {
    const char *text = std::getenv("AICF_MUTANT");
    return text ? std::atoi(text) : -1;
  }();
  return on == number;
}
"""


def first_number(name):
    """Numbers of different files do not meet."""
    return 1000 * (list(FILES).index(name) + 1)


def instrument(name):
    text = (ROOT / name).read_text()
    is_compiler = "LogicalResult" in text
    # The interface of a header is not a place for a file-local function.
    worker = Instrumenter(text, first_number(name), is_compiler)
    body = worker.run(ONLY.get(name))
    switch = SWITCH.replace("static bool", "inline bool") if name.endswith(".h") \
        else SWITCH
    if name.endswith(".h"):
        switch = switch.replace("aicfMutant", "aicfMutantOrder")
        body = body.replace("aicfMutant(", "aicfMutantOrder(")
        body = body.replace("namespace aicf {", switch + "\nnamespace aicf {", 1)
        return body, worker.mutants
    return switch + '#line 1 "%s"\n' % (ROOT / name) + body, worker.mutants


class Runner:
    def __init__(self, build):
        self.build = build

    def command(self, test, folder):
        if test.startswith(LIT):
            path = ROOT / "test/Transforms" / (test[len(LIT):] + ".mlir")
            if "/" in test:
                path = ROOT / "test" / (test[len(LIT):] + ".mlir")
            runs = re.findall(r"// RUN: (.*)", path.read_text())
            script = " && ".join("(%s)" % r for r in runs)
            script = script.replace("%s", str(path)).replace("%t", folder + "/t")
            return ["bash", "-o", "pipefail", "-c", script]
        if test == "fuzz":
            return [sys.executable, "-m", "fuzz", "--bin", str(self.build / "bin"),
                    "--count", "12", "--no-reduce"]
        return [str(self.build / "bin" / test), "--gtest_brief=1",
                "--gtest_fail_fast"]

    def passes(self, test, mutant):
        """Each run has a folder of its own: several run at once."""
        llvm = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True,
                              text=True).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "AICF_MUTANT": str(mutant), "TMPDIR": folder,
                   "TEST_TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1",
                   "PATH": "%s:%s:%s" % (self.build / "bin", llvm,
                                         os.environ["PATH"])}
            try:
                return subprocess.run(
                    self.command(test, folder), env=env, timeout=60,
                    cwd=ROOT / "test/python", stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL).returncode == 0
            except subprocess.TimeoutExpired:
                return False

    def survives(self, name, number):
        return all(self.passes(test, number) for test in FILES[name])


def run(args):
    runner, jobs = Runner(args.build.resolve()), []
    for name in FILES:
        if args.only and args.only not in name:
            continue
        if name.startswith("lib/Runtime/CUDA") and not (
                args.build / "bin/CUDADeviceTest").exists():
            print("mutants: %s: not built here" % name)
            continue
        for test in FILES[name]:
            if not runner.passes(test, -1):
                sys.exit("mutants: %s fails without a mutant" % test)
        jobs += [(name, *m) for m in instrument(name)[1]]
    start = time.time()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        alive = list(pool.map(lambda j: runner.survives(j[0], j[1]), jobs))
    survivors = [j for j, a in zip(jobs, alive) if a]
    allowed = {(f, g): why for f, g, why in ALLOWED}
    unexpected = 0
    for name, number, line, guard in survivors:
        why = allowed.get((name, guard))
        unexpected += why is None
        print("%s:%d: %s %d survives: %s%s" % (
            name, line, "mutant", number, guard, " (%s)" % why if why else ""))
    print("%d mutants, %d survive, %d of them allowed, %.0f s" % (
        len(jobs), len(survivors), len(survivors) - unexpected,
        time.time() - start))
    return 1 if unexpected else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["instrument", "run", "list"])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-mutants")
    parser.add_argument("--only", help="files whose name contains this")
    args = parser.parse_args()
    if args.what == "run":
        return run(args)
    if args.what == "list":
        for name in FILES:
            for number, line, guard in instrument(name)[1]:
                print("%d %s:%d: %s" % (number, name, line, guard))
        return 0
    for name in FILES:
        path, text = args.out / name, instrument(name)[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
