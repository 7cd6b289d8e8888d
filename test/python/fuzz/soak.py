# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For hours: random programs, texts, damaged plans, checkpoints under SIGKILL, long
replays and mutants in turn, each round with a seed of its own. A failure does not end it:
it is written down with the command that repeats it. `make soak HOURS=n`."""

import argparse
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from .generate import generate
from .judge import Failure, Judge, same_bits

PYTHON = pathlib.Path(__file__).resolve().parents[1]
SOURCE = PYTHON.parents[1]


class Round:
    """One turn of a duty: its seed, the tools, a folder of its own, how much."""

    def __init__(self, seed, bin_dir, folder, size):
        self.seed, self.bin, self.folder = seed, pathlib.Path(bin_dir), folder
        self.size = size  # 1 for about half a minute on two cores
        self.random = random.Random(seed)

    def cases(self, number):
        return max(1, int(number * self.size))

    def command(self, *args):
        """Runs one; a code that is not 0 is a failure with its output."""
        done = subprocess.run([*map(str, args)], text=True, cwd=PYTHON,
                              capture_output=True)
        if done.returncode != 0:
            raise Failure("exit code %d" % done.returncode,
                          (done.stdout + done.stderr)[-4000:])
        return done.stdout


def fuzz(r, count, *flags):
    r.command(sys.executable, "-W", "ignore", "-m", "fuzz", "--bin", r.bin, "--count",
              count, "--seed", r.seed * 1000, *flags)
    return count


def programs(r):
    """Steps against NumPy, options against each other, plans against a checker."""
    return fuzz(r, r.cases(25))


def gradients(r):
    """Derived gradients against differences."""
    return fuzz(r, r.cases(200), "--forward")


def linalg(r):
    """Steps by way of linalg, in MLIR's JIT."""
    return fuzz(r, r.cases(50), "--linalg")


def texts(r):
    """Texts for everything that reads .mlir: refused, or compiled, without a crash."""
    return fuzz(r, r.cases(1000), "--texts")


def plans(r):
    """Damaged plans: refused, or they run without leaving their memory."""
    count = r.cases(100000)
    r.command(r.bin / "HardeningTest", "mutants", count, r.seed * 1000000)
    return count


def replays(r):
    """Many replays are as many eager steps, bit for bit, on any number of streams."""
    count, runs = r.cases(6), 0
    for i in range(count):
        program = generate(r.seed * 1000 + i)
        judge = Judge(r.bin, r.folder)
        model = judge.path(".mlir")
        model.write_text(program.text())
        steps = r.random.randrange(10, 400)
        eager = judge.run(program, judge.compile(model), steps=steps)
        plan = judge.compile(model, "--streams=%d" % r.random.randrange(1, 4))
        for threads in ("1", "2"):
            same_bits("%d replays, program %d" % (steps, program.seed), eager,
                      judge.run(program, plan, "--executor", "graph", "--threads",
                                threads, steps=steps))
            runs += 1
    return runs


def state_of(checkpoint):
    path = checkpoint / "state.safetensors"
    return path.read_bytes() if path.exists() else None


def checkpoints(r):
    """A writer that is killed leaves the checkpoint before it or the one behind it."""
    pieces, plan, kept = 6, r.folder / "s.plan", r.folder / "kept"
    width = r.random.choice([64, 512, 1024])
    model = r.command(sys.executable, SOURCE / "benchmarks/generate_step.py", "--batch",
                      8, "--widths", "32,%d,%d,10" % (width, width))
    (r.folder / "s.mlir").write_text(model)
    r.command(r.bin / "aicf-compile", r.folder / "s.mlir", "-o", plan)

    def piece(folder, count):
        resume = ["--resume", folder] if state_of(folder) else ["--seed", r.seed]
        return [str(a) for a in (r.bin / "aicf-run", plan, "--steps", count,
                                 *inputs_of(model), *resume, "--save-checkpoint",
                                 folder)]
    steps = [r.random.randrange(1, 4) for _ in range(pieces)]
    states, durations = [None], []
    for count in steps:
        start = time.monotonic()
        r.command(*piece(r.folder / "right", count))
        durations.append(time.monotonic() - start)
        states.append(state_of(r.folder / "right"))
    kills = at = 0
    while at < pieces:
        process = subprocess.Popen(piece(kept, steps[at]), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        if kills < r.cases(60):
            time.sleep(r.random.uniform(0, 1.2 * max(durations)))
            process.send_signal(signal.SIGKILL)
            kills += 1
        _, error = process.communicate()
        state = state_of(kept)
        if process.returncode not in (0, -signal.SIGKILL):
            raise Failure("resume", "piece %d after %d kills: %s" % (
                at, kills, error.decode()))
        if state == states[at + 1] and state != states[at]:
            at += 1
        elif state != states[at]:
            raise Failure("checkpoint", "piece %d after %d kills left a checkpoint that "
                          "is neither the old one nor the new one" % (at, kills))
        elif process.returncode == 0:
            raise Failure("checkpoint", "piece %d ended and left the old one" % at)
    return kills


def inputs_of(model):
    """Flags for the inputs of a generated step: ones."""
    flags = []
    for type_, name in re.findall(
            r'tensor<(\w+)> \{aicf\.role = "input", aicf\.name = "(\w+)"\}', model):
        flags += ["--input", "%s=%s=1" % (name, type_)]
    for name in re.findall(r'aicf\.role = "hyper", aicf\.name = "(\w+)"', model):
        flags += ["--set", name + "=0.001"]
    return flags


def mutants_build(bin_dir):
    """The build with mutants, which `make mutants` puts beside the build."""
    build = pathlib.Path(bin_dir).parent
    return build.with_name(build.name + "-mutants")


def mutants(r):
    """Mutants of the sources, drawn at random: the tests notice each of them. A round
    takes some minutes, because the tests run once without a mutant."""
    count = r.cases(100)
    r.command(sys.executable, "-B", SOURCE / "scripts/mutants", "run", "--build",
              mutants_build(r.bin), "--sample", count, "--seed", r.seed)
    return count


DUTIES = {f.__name__: f for f in (programs, plans, texts, checkpoints, replays,
                                  gradients, linalg, mutants)}


def possible_duties(bin_dir):
    """All duties whose programs are built."""
    missing = set()
    if not os.path.exists(os.path.join(bin_dir, "linalg-jit")):
        missing.add("linalg")
    if not (mutants_build(bin_dir) / "bin/aicf-opt").exists():
        missing.add("mutants")
    return [d for d in DUTIES if d not in missing]


def report_text(report):
    lines = ["%d rounds, %.2f hours, %d failures; seed %d; largest process %d MiB" % (
        len(report["rounds"]), report["hours"],
        sum("failure" in r for r in report["rounds"]), report["seed"],
        report["largest_process_mib"])]
    for duty in DUTIES:
        of = [r for r in report["rounds"] if r["duty"] == duty]
        lines.append("%-12s %5d rounds %9d cases %8.0f s" % (
            duty, len(of), sum(r["cases"] for r in of), sum(r["seconds"] for r in of)))
    for r in report["rounds"]:
        if "failure" in r:
            lines += ["", "%s, seed %d: %s" % (r["duty"], r["seed"], r["failure"]),
                      "again: " + r["again"]]
    return "\n".join(lines) + "\n"


def write(report, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("report.json", json.dumps(report, indent=1)),
                       ("report.txt", report_text(report))):
        (folder / (name + ".new")).write_text(text)
        (folder / (name + ".new")).replace(folder / name)


def one_round(duty, seed, args):
    again = "cd test/python && python3 -m fuzz.soak --bin %s --duty %s --seed %d " \
        "--rounds 1 --size %g" % (args.bin, duty, seed, args.size)
    found = {"duty": duty, "seed": seed, "cases": 0, "again": again}
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            found["cases"] = DUTIES[duty](
                Round(seed, args.bin, pathlib.Path(folder), args.size))
        except (Failure, OSError, subprocess.SubprocessError) as failure:
            found["failure"] = str(failure)
    found["seconds"] = round(time.monotonic() - start, 1)
    return found


def main():
    parser = argparse.ArgumentParser(prog="fuzz.soak", description=__doc__)
    parser.add_argument("--bin", required=True, type=os.path.abspath,
                        help="folder with the tools")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, help="instead of hours")
    parser.add_argument("--seed", type=int, help="of the first round; default: the time")
    parser.add_argument("--duty", action="append", choices=DUTIES,
                        help="these alone; default: all in turn")
    parser.add_argument("--size", type=float, default=1.0,
                        help="cases a round; 1 takes about half a minute")
    parser.add_argument("--report", type=pathlib.Path, default=None,
                        help="folder for report.txt and report.json")
    args = parser.parse_args()
    if args.hours <= 0 or args.size <= 0 or (args.rounds is not None and args.rounds < 1):
        parser.error("--hours, --rounds and --size are above 0")
    duties = args.duty or possible_duties(args.bin)
    first = int(time.time()) if args.seed is None else args.seed
    report = {"seed": first, "rounds": [], "hours": 0.0, "largest_process_mib": 0}
    start = time.monotonic()
    try:
        while len(report["rounds"]) < args.rounds if args.rounds else \
                time.monotonic() - start < args.hours * 3600:
            number = len(report["rounds"])
            found = one_round(duties[number % len(duties)], first + number, args)
            report["rounds"].append(found)
            report["hours"] = (time.monotonic() - start) / 3600
            report["largest_process_mib"] = \
                resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            print("%s seed %d: %d cases, %.0f s%s" % (
                found["duty"], found["seed"], found["cases"], found["seconds"],
                ", FAILED" if "failure" in found else ""), flush=True)
            if args.report:
                write(report, args.report)
    except KeyboardInterrupt:
        print("interrupted: the round that was running does not count")
    print(report_text(report), end="")
    return 1 if any("failure" in r for r in report["rounds"]) else 0


if __name__ == "__main__":
    sys.exit(main())
