# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests that mutants are run against.

Each test first runs once without a mutant and notes which mutants would have made a
difference on its way: the others cannot fail it. A mutant is then run against the
tests that reach it, the fastest first.
"""

import collections
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import queue
import re
import subprocess
import sys
import tempfile
import time

import switches

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
GOOGLE_TESTS = ["RulesTest", "PlanTest", "PlanTextTest", "OrderTest", "FileFormatsTest",
                "MemoryPlannerTest", "ExecutorTest", "BaseTest", "KernelTableTest",
                "ThreadPoolTest", "DeviceSuiteTest", "CUDADeviceTest", "AutodiffTest",
                "InterpreterTest", "KernelTest"]
#: Of these binaries only some tests: a test of every row would start it 1,300 times.
FILTERS = {"KernelTest": "*Graph*.*:*Graphs.*:PointwiseSums.*:Row*.*:Views.*:-Rows/*"}
#: Tests that have a Python of their own, by the folder of the sources that they are for.
FRONT_ENDS = {"python/aicf/torch/": ("test/pytorch", ".deps/torch"),
              "python/aicf/jax/": ("test/jax", ".deps/jax")}
#: What all of them share.
IMPORTING = "python/aicf/_importing/"
#: A test that takes longer is left out.
SLOW_SECONDS = 20
#: A mutant survives when tests of so many seconds, the fastest ones, do not notice it;
#: so many unless --seconds says another number.
MOST_SECONDS = 30


def python_in(folder):
    """The interpreter of a virtual environment, or this one where there is none."""
    path = ROOT / folder / "bin/python3"
    return str(path if path.exists() else sys.executable)


@dataclasses.dataclass
class Test:
    name: str
    program: tuple  # what runs several tests of one kind; their names follow
    argument: str
    seconds: float = 0.0
    reached: frozenset = frozenset()
    imported: frozenset = frozenset()  # reached before the test begins

    def command(self, others=()):
        """Runs this test and others of the same program."""
        arguments = [t.argument for t in (self, *others)]
        if "--gtest_brief=1" in self.program:
            arguments = ["--gtest_filter=" + ":".join(arguments)]
        return [*self.program, *arguments]


class Suite:
    """`first_numbers`: of each module of the package, by its file."""

    def __init__(self, build, first_numbers, most_seconds=MOST_SECONDS):
        self.build = build
        self.most_seconds = most_seconds
        tools = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True,
                               text=True).stdout.strip()
        self.path = "%s:%s:%s" % (build / "bin", tools, os.environ["PATH"])
        self.python = python_in(".deps/python")
        self.numbers = json.dumps(first_numbers)
        # Of each Python those that have nothing to do.
        self.servers = collections.defaultdict(queue.Queue)
        self.broken = []  # tests that fail without a mutant

    def lit(self):
        for path in sorted((ROOT / "test").rglob("*.mlir")):
            lines = re.findall(r"// RUN: (.*)", path.read_text())
            if not lines or "%tblgen" in "".join(lines):
                continue
            script = " && ".join("(%s)" % line for line in lines)
            for name, value in (
                    ("%generate_step", "%s %s/benchmarks/generate_step.py" % (
                        self.python, ROOT)),
                    ("%examples", str(ROOT / "examples")), ("%python", self.python),
                    ("%S", str(path.parent)), ("%s", str(path)),
                    ("%t", "$TEST_TMPDIR/t")):
                script = script.replace(name, value)
            yield Test(str(path.relative_to(ROOT)), ("bash", "-o", "pipefail", "-c"),
                       script)

    def google_tests(self):
        for binary in GOOGLE_TESTS:
            path = self.build / "bin" / binary
            if not path.exists():
                print("mutants: %s is not built here" % binary)
                continue
            suite = ""
            listed = subprocess.run(
                [path, "--gtest_list_tests",
                 "--gtest_filter=" + FILTERS.get(binary, "*")],
                capture_output=True, text=True, check=True).stdout
            for line in listed.splitlines():
                name = line.split("#")[0].strip()
                if not line.startswith(" "):
                    suite = name if name.endswith(".") else ""
                elif suite:
                    yield Test("%s:%s%s" % (binary, suite, name), (
                        str(path), "--gtest_brief=1", "--gtest_fail_fast"), suite + name)

    def programs(self):
        yield Test("random programs", (
            self.python, "-m", "fuzz", "--bin", str(self.build / "bin"), "--no-reduce",
            "--count"), "12")
        yield Test("capi_test", ("bash", "-c"), "%s/bin/capi_test %s/examples/digits.plan"
                   " $TEST_TMPDIR/capi %s/test/plans/4.2/views-cpu.plan" % (
                       self.build, self.build, ROOT))

    def environment(self, folder, **more):
        return {**os.environ, "TMPDIR": folder, "TEST_TMPDIR": folder,
                "PYTHONDONTWRITEBYTECODE": "1", "FILECHECK_OPTS": "-enable-var-scope",
                "AICF_WARMUP": "0", "OMP_NUM_THREADS": "1", "PATH": self.path,
                "AICF_SOURCE_DIR": str(ROOT), "AICF_BINARY_DIR": str(self.build),
                "AICF_MUTANTS": self.numbers,
                "PYTHONPATH": "%s:%s" % (self.build / "python", HERE), **more}

    def run(self, command, seconds, **more):
        """Whether a command succeeds in time, in a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                command, env=self.environment(folder, **more), cwd=ROOT / "test/python",
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                return process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                return False
            finally:
                try:  # what it started, too
                    os.killpg(process.pid, 9)
                except ProcessLookupError:
                    pass
                process.wait()

    def look(self, test):
        """Runs a test without a mutant: how long it takes, and what it reaches."""
        with switches.new_record() as (path, record):
            start = time.monotonic()
            passed = self.run(test.command(), 10 * SLOW_SECONDS,
                              AICF_MUTANT_RECORD=path)
            test.seconds = time.monotonic() - start
            test.reached = switches.reached_by(record)
        if passed:
            return [test]
        self.broken.append(test.name)
        return []

    def look_at_file(self, path, interpreter=None):
        """The tests of a file of pytest's, run in one process; those that are skipped
        are left out."""
        program = (interpreter or self.python, "-m", "pytest", "-q", "-W", "ignore", "-p",
                   "no:cacheprovider", "-p", "pytest_mutants")
        with switches.new_record() as (record, _):
            lines = pathlib.Path(record).with_name("lines")
            self.run([*program, str(path)], 600,
                     AICF_MUTANT_RECORD=record, AICF_MUTANT_LOOK=str(lines))
            found = [json.loads(l) for l in lines.read_text().splitlines()] \
                if lines.exists() else []
        tests = []
        for line in found:
            name = line["name"].split("::", 1)[1]
            if line["outcome"] == "failed":
                self.broken.append(line["name"])
            elif line["outcome"] == "passed":
                tests.append(Test("%s::%s" % (path.relative_to(ROOT), name),
                                  (*program, "-x"),
                                  "%s::%s" % (path, name), line["seconds"],
                                  frozenset(line["reached"] + line["imported"]),
                                  frozenset(line["imported"])))
        return tests

    def collect(self, files, wanted=""):
        """All tests that reach a mutant of one of the files, and whose name, or that of
        their file, has `wanted` in it, or one of several with commas between them."""
        jobs = []
        for source, (folder, deps) in FRONT_ENDS.items():
            if any(f.startswith((source, IMPORTING)) for f in files):
                jobs += [(functools.partial(self.look_at_file,
                                            interpreter=python_in(deps)), p)
                         for p in sorted((ROOT / folder).glob("test_*.py"))]
        files = [f for f in files if not f.startswith((*FRONT_ENDS, IMPORTING))]
        folders = [ROOT / "test/python/package"] if files else []
        if any(f.endswith((".cpp", ".h")) for f in files):
            jobs += [(self.look, t) for t in (*self.lit(), *self.google_tests(),
                                              *self.programs())]
            folders.append(ROOT / "test/python")
        jobs += [(self.look_at_file, p) for f in folders for p in f.glob("test_*.py")]
        jobs = [j for j in jobs if any(w in j[1].name for w in wanted.split(","))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            tests = [t for found in pool.map(lambda j: j[0](j[1]), jobs) for t in found]
        leave_out_the_start(tests)
        for name in self.broken:
            print("mutants: left out, fails without a mutant: " + name)
        slow = [t.name for t in tests if t.seconds > SLOW_SECONDS]
        if slow:
            print("mutants: too slow, left out: " + ", ".join(slow))
        return [t for t in tests if t.reached and t.seconds <= SLOW_SECONDS]

    def serve(self, tests, seconds, mutant):
        """Whether tests of the package pass with a mutant of it, in a child of a
        process that has imported everything."""
        interpreter = tests[0].program[0]
        try:
            server = self.servers[interpreter].get_nowait()
        except queue.Empty:
            server = subprocess.Popen(
                [interpreter, str(HERE / "server.py")], text=True, cwd=ROOT,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, env=self.environment(tempfile.gettempdir()))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            job = {"mutant": mutant, "seconds": seconds, "folder": folder,
                   "tests": [t.argument for t in tests]}
            print(json.dumps(job), file=server.stdin, flush=True)
            answer = server.stdout.readline().strip()
        if answer not in ("passed", "failed"):
            sys.exit("mutants: scripts/mutants/server.py died")
        self.servers[interpreter].put(server)
        return answer == "passed"

    def passes(self, group, mutant):
        """Whether tests of one program pass with a mutant."""
        seconds = 10 + 5 * sum(t.seconds for t in group)
        number = mutant.number
        if mutant.file.endswith(".py") and not any(number in t.imported for t in group):
            return self.serve(group, seconds, number)
        return self.run(group[0].command(group[1:]), seconds, AICF_MUTANT=str(number))

    def killer(self, tests, mutant, first=()):
        """The test that fails with a mutant, or None. Tests named in `first` come
        first, then programs by the time that a test takes."""
        reaching = [t for t in tests if mutant.number in t.reached]
        by_program = {}
        for test in reaching:
            key = test.program if test.program[0] != "bash" else test.name
            by_program.setdefault(key, []).append(test)
        groups = [[t] for t in reaching if t.name in first] + sorted(
            by_program.values(), key=lambda g: sum(t.seconds for t in g) / len(g))
        left = self.most_seconds
        for group in groups:
            group.sort(key=lambda t: t.seconds)
            total = [sum(t.seconds for t in group[:i + 1]) for i in range(len(group))]
            group = [t for t, seconds in zip(group, total) if seconds <= left]
            left -= sum(t.seconds for t in group)
            for part in in_parts(group):
                if not self.passes(part, mutant):
                    return part[0].name if len(part) == 1 else str(part[0].program[0])
        return None


def leave_out_the_start(tests):
    """Tests of one GoogleTest binary are run together, which starts it once: from the
    time of each, takes that of the fastest one."""
    start = {}
    for test in tests:
        if "--gtest_brief=1" in test.program:
            start[test.program] = min(test.seconds, start.get(test.program, 60))
    for test in tests:
        test.seconds -= start.get(test.program, 0)


def in_parts(tests):
    """Tests of pytest's are slow: few are asked first."""
    sizes = [10, 50] if tests and "pytest" in tests[0].program else []
    for size in [*sizes, len(tests)]:
        if tests:
            yield tests[:size]
        tests = tests[size:]
