#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Goldens: what every sample plan, example and benchmark case compiles to and
computes. A change that says it keeps behaviour shows it here.

    goldens.py check  --build build      compare; exit code 1 on a difference
    goldens.py update --build build      show the differences, then write them
    goldens.py plans  --build build --out DIR      the CUDA plans, for a GPU
    goldens.py bits   --bin BIN --plans DIR --file FILE [--update]   there

A plan that is not the same, to the byte, after --plan-to-aicf and --aicf-to-plan
is an error too: every plan goes there and back.

The plans of earlier versions (test/plans) are cases, too: their bits stay.

Kept for each case, target, opt level (0 to 2) and number of streams (1 to 3):
the KID and stream of every call, the temp bytes, and on the CPU a hash of all
outputs, params and states after 3 steps, in a line of test/goldens/cases. Nothing else of IR or plan is kept, so that
both may change. CUDA's bits are in a file a card (cuda-*.json), written on it.

Bits of matrix products belong to a library and a CPU model: OpenBLAS is told to
use its Haswell kernels, which every CPU with AVX2 has, and a product is cut into
the same tiles on any number of processors.
"""

import argparse
import concurrent.futures
import hashlib
import io
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOLDENS = ROOT / "test" / "goldens"
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "train_step")]
sys.path.append(str(ROOT / "test" / "python"))
import cases  # noqa: E402
import generate_step  # noqa: E402
from fuzz import tensors  # noqa: E402

STEPS = 3
VARIANTS = list(itertools.product(("cpu", "cuda"), (0, 1, 2), (1, 2, 3)))
# The CPU's 16-bit kernels are references and slow: its bits are those of smaller
# steps with the layers, the odd widths and the precision of the large ones.
CPU_CASES = {
    "deep-small": (4, [48] * 33, "bf16"),
    "large-small": (16, [64] * 5, "bf16"),
    "mid-small": (64, [98, 128, 128, 128, 16], "tf32"),
    "odd-small": (25, [97, 103, 51, 10], "bf16"),
    "odd-f16": (25, [97, 103, 51, 10], "f16"),
}
# A step of these is too much for this CPU, or for what travels to a GPU.
NO_CPU_BITS = ("mid", "deep", "large", "xl", "odd", "fashion_mnist_resident")
NO_CUDA_BITS = ("xl", "large", "deep", "fashion_mnist_resident")
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16,
          "i32": np.int32, "i64": np.int64, "i1": np.bool_}


def sources():
    """case: (IR, flags of aicf-compile)."""
    examples = ROOT / "examples"
    found = {
        "digits_example": ((examples / "digits/model.mlir").read_text(), []),
        "fashion_mnist":
            ((examples / "fashion_mnist/model.mlir").read_text(), []),
        "fashion_mnist_resident":
            ((examples / "fashion_mnist/resident.mlir").read_text(), []),
        "residual": ((examples / "residual/model.mlir").read_text(), []),
        "residual_bf16": ((examples / "residual/model.mlir").read_text(),
                          ["--mixed-precision=bf16"]),
    }
    for name, (batch, widths, precision) in {**cases.CUDA_CASES, **CPU_CASES}.items():
        out = io.StringIO()
        generate_step.train_step(out, batch, widths, "adam",
                                 loss_scale=precision == "f16")
        found[name] = (out.getvalue(), cases.precision_flags(precision))
    return found


def run(*command, env=None):
    done = subprocess.run([str(c) for c in command], text=True,
                          capture_output=True, env={**os.environ, **(env or {})})
    if done.returncode != 0:
        sys.exit("goldens: %s\n%s" % (" ".join(map(str, command)), done.stderr))
    return done.stdout


def describe(tools, plan):
    """What is kept of a plan: temp bytes and calls of each entry. The only
    function that knows what a plan looks like, with inputs_of()."""
    dump = json.loads(run(tools / "aicf-plan", "dump", "--json", plan))
    return {
        "temp": {e["name"]: e["temp_bytes"] for e in dump["entries"]},
        "calls": {e["name"]: ["%s@%d" % (c["kid"], c["stream"])
                              for c in e["calls"]] for e in dump["entries"]},
    }, dump


def there_and_back(tools, plan):
    """The plan as IR, and as a file again: the same bytes."""
    ir, again = plan.with_suffix(".mlir.ir"), plan.with_suffix(".again")
    run(tools / "aicf-translate", "--plan-to-aicf", plan, "-o", ir)
    run(tools / "aicf-translate", "--aicf-to-plan", ir, "-o", again)
    if plan.read_bytes() != again.read_bytes():
        sys.exit("goldens: %s is another plan after --plan-to-aicf" % plan.name)
    ir.unlink()
    again.unlink()


def values(shape, dtype, seed, below=8):
    """Numbers in [-1, 1), whole ones in [0, `below`), or bits, that depend on nothing but
    these."""
    n = int(np.prod(shape, dtype=np.int64))
    x = (np.arange(n, dtype=np.uint64) + np.uint64(seed * 7919)) \
        * np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(32)
    if dtype in ("i32", "i64"):
        return (x % np.uint64(below)).astype(DTYPES[dtype]).reshape(shape)
    if dtype == "i1":
        return (x % np.uint64(2)).astype(bool).reshape(shape)
    unit = (x >> np.uint64(40)).astype(np.float64) / 2 ** 23 - 1
    return unit.astype(DTYPES[dtype]).reshape(shape)


def inline(shape, dtype, seed):
    """For bf16, which .npy has no name for."""
    numbers = values(shape, "f32", seed).reshape(-1)
    return "x".join([*map(str, shape), dtype]) + "=" + ",".join(
        repr(float(v)) for v in numbers)


def io_of(entry):
    """Inputs and outputs: buffers come first whose values come first, too."""
    return [{**v, **b} for b, v in zip(entry["buffers"], entry["values"])
            if b["segment"] == "io"]


def inputs_of(dump, entry, folder, below):
    """Flags that give every input and hyper of an entry a value, indices below `below`."""
    flags = []
    for seed, t in enumerate(io_of(entry), 1):
        if t["role"] != "input":
            continue
        if t["dtype"] == "bf16":
            flags += ["--input", "%s=%s" % (t["name"],
                                            inline(t["shape"], "bf16", seed))]
            continue
        key = "-".join([t["dtype"], *map(str, t["shape"]), str(seed), str(below)])
        path = folder / (key + ".npy")
        if not path.exists():
            part = folder / ("%s.%s.npy" % (key, os.urandom(4).hex()))
            np.save(part, values(t["shape"], t["dtype"], seed, below))
            part.rename(path)
        flags += ["--input", "%s=@%s" % (t["name"], path)]
    for b in dump["buffers"]:
        if b["role"] == "hyper":
            flags += ["--set", "%s=0.01" % b["name"]]
    return flags


def init_of(dump, folder):
    """Flags that give states that the plan does not initialise a value."""
    found = {b["name"]: (v["dtype"], values(v["shape"], v["dtype"], seed))
             for seed, (b, v) in enumerate(zip(dump["buffers"], dump["values"]), 1)
             if b["role"] in ("param", "state") and b["init"] == "none"
             and b["derived_from"] < 0 and not b["scratch"]}
    if not found:
        return []
    tensors.write_safetensors(folder / "init.safetensors", found)
    return ["--init", "@%s" % (folder / "init.safetensors")]


def bits(tools, plan, dump, folder, device, below=8):
    """The hash of all results: 3 steps of the first entry, then each other entry
    once from the state that it left."""
    found = {}
    env = {"OPENBLAS_CORETYPE": "Haswell", "AICF_CPU_GEMM": "openblas",
           "AICF_CPU_TILES": "4", "AICF_WARMUP": "0"}
    with tempfile.TemporaryDirectory(dir=folder) as work:
        work = pathlib.Path(work)
        for number, entry in enumerate(dump["entries"]):
            flags = ["--entry", entry["name"], "--device", device,
                     "--last-batch",  # of an update: each entry runs by itself
                     *inputs_of(dump, entry, folder, below)]
            if device == "cpu":
                flags += ["--threads", 2]
            if number == 0:
                flags += ["--steps", STEPS, "--save-checkpoint", work / "ck",
                          *init_of(dump, work)]
            else:
                flags += ["--resume", work / "ck"]
            outputs = [t["name"] for t in io_of(entry)
                       if t["role"] == "output" and t["dtype"] != "bf16"]
            for i, name in enumerate(outputs):
                flags += ["--output", "%s=@%s" % (name, work / ("%d.npy" % i))]
            run(tools / "aicf-run", plan, *flags, env=env)
            for i, name in enumerate(outputs):
                array = np.load(work / ("%d.npy" % i))
                found[entry["name"] + "/" + name] = short_hash(array.tobytes())
        found.update(checkpoint_hashes(work / "ck" / "state.safetensors"))
    return short_hash(json.dumps(found, sort_keys=True).encode())


def short_hash(data):
    return hashlib.sha256(data).hexdigest()[:8]


def checkpoint_hashes(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    return {name: short_hash(data[8 + size:][slice(*info["data_offsets"])])
            for name, info in header.items() if name != "__metadata__"}


def compile_case(tools, folder, name, source, flags, target, level, streams):
    model, plan = folder / (name + ".mlir"), folder / (
        "%s.%s-O%d-s%d.plan" % (name, target, level, streams))
    if not model.exists():
        model.write_text(source)
    run(tools / "aicf-compile", model, "-o", plan, "--target=" + target,
        "--opt-level=%d" % level, "--streams=%d" % streams, *flags)
    return plan


def measure(tools, folder):
    """{file: {variant: {"temp", "calls", "bits"}}} of everything."""
    def one(job):
        name, (source, flags), (target, level, streams) = job
        plan = compile_case(tools, folder, name, source, flags, target, level,
                            streams)
        there_and_back(tools, plan)
        record, dump = describe(tools, plan)
        if target == "cpu" and name not in NO_CPU_BITS:
            record["bits"] = bits(tools, plan, dump, folder, "cpu")
        return name, "%s-O%d-s%d" % (target, level, streams), record

    def sample(plan):
        there_and_back(tools, plan)
        record, dump = describe(tools, plan)
        if dump["device"] == "cpu":
            record["bits"] = bits(tools, plan, dump, folder, "cpu")
        return "samples", plan.stem, record

    def kept(plan):
        record, dump = describe(tools, plan)
        if dump["device"] == "cpu":
            record["bits"] = bits(tools, plan, dump, folder, "cpu", below=3)
        return "kept", kept_name(plan), record

    samples = folder / "samples"
    samples.mkdir()
    run(tools / "aicf-sample-plans", samples)
    jobs = [(name, case, variant) for name, case in sources().items()
            for variant in VARIANTS]
    for name, (source, _) in sources().items():
        (folder / (name + ".mlir")).write_text(source)
    result = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, variant, record in itertools.chain(
                pool.map(sample, sorted(samples.glob("*.plan"))),
                pool.map(kept, kept_plans(tools)),
                pool.map(one, jobs)):
            result.setdefault(name, {})[variant] = record
    return result


def kept_plans(tools):
    """test/plans, but for versions that this one refuses."""
    return [plan for plan in sorted((ROOT / "test" / "plans").glob("*/*.plan"))
            if subprocess.run([tools / "aicf-plan", "verify", plan],
                              capture_output=True).returncode == 0]


def kept_name(plan):
    return "%s-%s" % (plan.parent.name, plan.stem)


def encode(variants):
    """A line a variant, sorted by name: `name | entry (temp bytes): calls | hash`, with
    an entry's part for each, `kid@stream` where that is not 0, and `kid*n` for n in a
    row. What one variant is changes no other line."""
    lines = []
    for variant, record in sorted(variants.items()):
        parts = [variant]
        for entry, calls in record["calls"].items():
            words = []
            for call, equal in itertools.groupby(calls):
                count = len(list(equal))
                words.append(call.removesuffix("@0") + ("*%d" % count if count > 1 else ""))
            parts.append("%s (%d): %s" % (entry, record["temp"][entry], " ".join(words)))
        parts.append(record.get("bits", "-"))
        lines.append(" | ".join(parts))
    return "\n".join(lines) + "\n"


def decode(text):
    result = {}
    for line in text.splitlines():
        variant, *entries, bits_of = line.split(" | ")
        record = result[variant] = {"temp": {}, "calls": {}}
        for part in entries:
            head, _, words = part.partition(": ")
            entry, temp = head.rstrip(")").split(" (")
            record["temp"][entry] = int(temp)
            record["calls"][entry] = calls = []
            for word in words.split():
                call, _, count = word.partition("*")
                calls += [call if "@" in call else call + "@0"] * int(count or 1)
        if bits_of != "-":
            record["bits"] = bits_of
    return result


def compare(name, old, new):
    """One line a difference."""
    for variant in sorted(set(old) | set(new)):
        where = "%s %s" % (name, variant)
        if variant not in old or variant not in new:
            yield "%s: %s" % (where, "new" if variant in new else "gone")
            continue
        a, b = old[variant], new[variant]
        for entry in sorted(set(a["calls"]) | set(b["calls"])):
            x, y = a["calls"].get(entry, []), b["calls"].get(entry, [])
            if x != y:
                at = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q),
                          min(len(x), len(y)))
                show = lambda c: c[at] if at < len(c) else "nothing"  # noqa: E731
                yield "%s: %s: %d calls, golden %d; call %d is %s, golden %s" % (
                    where, entry, len(y), len(x), at, show(y), show(x))
        for entry in sorted(set(a["temp"]) | set(b["temp"])):
            x, y = a["temp"].get(entry), b["temp"].get(entry)
            if x != y:
                yield "%s: %s: %s temp bytes, golden %s" % (where, entry, y, x)
        if a.get("bits") != b.get("bits"):
            yield "%s: bits %s, golden %s" % (where, b.get("bits"), a.get("bits"))


def check(args, update):
    with tempfile.TemporaryDirectory() as folder:
        now = measure(args.build / "bin", pathlib.Path(folder))
    differences = []
    for name in sorted(set(now) | {p.stem for p in (GOLDENS / "cases").iterdir()}):
        path = GOLDENS / "cases" / (name + ".txt")
        old = decode(path.read_text()) if path.exists() else {}
        differences += compare(name, old, now.get(name, {}))
        if update and name in now:
            path.write_text(encode(now[name]))
        elif update:
            path.unlink()
    report(differences, sum(map(len, now.values())), update)


def report(differences, count, update):
    for line in differences[:60]:
        print(line)
    if len(differences) > 60:
        print("... and %d more" % (len(differences) - 60))
    print("goldens: %d variants, %d differences%s" % (
        count, len(differences), ", written" if update else ""))
    sys.exit(1 if differences and not update else 0)


def write_plans(args):
    """CUDA plans that a GPU runs: cases whose data can travel."""
    args.out.mkdir(parents=True, exist_ok=True)
    for name, (source, flags) in sources().items():
        if name in NO_CUDA_BITS:
            continue
        for target, level, streams in VARIANTS:
            if target == "cuda":
                compile_case(args.build / "bin", args.out, name, source, flags,
                             target, level, streams)
        (args.out / (name + ".mlir")).unlink()
    samples = args.out / "samples"
    samples.mkdir(exist_ok=True)
    run(args.build / "bin" / "aicf-sample-plans", samples)
    for plan in samples.glob("*.plan"):
        if plan.name.startswith("cuda-"):
            plan.rename(args.out / plan.name)
        else:
            plan.unlink()
    samples.rmdir()
    for plan in kept_plans(args.build / "bin"):
        if plan.stem.endswith("-cuda"):
            shutil.copy(plan, args.out / ("kept-%s.plan" % kept_name(plan)))


def cuda_bits(args):
    now = {}
    with tempfile.TemporaryDirectory() as folder:
        def one(plan):
            _, dump = describe(args.bin, plan)
            below = 3 if plan.name.startswith("kept-") else 8  # rows of their tables
            return plan.stem, bits(args.bin, plan, dump, pathlib.Path(folder), "cuda",
                                   below)
        # A process costs a second or two before its first kernel: several at once.
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            now.update(pool.map(one, sorted(args.plans.glob("*.plan"))))
    old = json.loads(args.file.read_text()) if args.file.exists() else {}
    differences = ["%s: %s, golden %s" % (n, now.get(n), old.get(n))
                   for n in sorted(set(now) | set(old))
                   if now.get(n) != old.get(n)]
    if args.update:
        args.file.write_text(json.dumps(now, indent=0, sort_keys=True) + "\n")
    report(differences, len(now), args.update)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["check", "update", "plans", "bits"])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--plans", type=pathlib.Path)
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    if args.what == "plans":
        write_plans(args)
    elif args.what == "bits":
        cuda_bits(args)
    else:
        check(args, args.what == "update")


if __name__ == "__main__":
    main()
