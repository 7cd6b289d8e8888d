# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random texts for everything that reads `.mlir`: none may crash a tool or make it hang.

    python3 -m fuzz --texts --bin build/bin --count 2000 [--seed 0] [--jobs 2]

text_corpus.py has the texts to start from, text_mutations.py changes them, text_ops.py
writes texts of one op, text_tools.py runs the tools, text_reduce.py makes a text small,
and mlir_crashes.py lists what is MLIR's own. A text goes through the parser and through
the language server. If the parser takes it, it also goes through each pass alone, through
the pipelines, through some passes in a random order, through aicf-compile, and through a
stock mlir-opt with the plug-in. A text that crashes is made small and written down.
"""

import collections
import concurrent.futures
import functools
import pathlib
import random
import re

from . import mlir_crashes
from .text_corpus import Corpus
from .text_mutations import mutated
from .text_ops import Ops
from .text_reduce import reduced
from .text_tools import Editor, Runner, Single, Split

BATCH = 200            # texts in one process
OF_OPS = 3             # one text in so many is written from an op
CRASHES = 20           # of a batch on one way
OF_PASSES = 5          # one text in so many is what passes made, mutated
OURS = re.compile(r"aicf-|convert-(\w+-)*aicf|lower-to-")
NUMBERS = ["0", "1", "-1", "2", "3", "64", "1000000", "2147483648",
           "9223372036854775807"]
# A legal text is rare if the mutations are too wild: then the passes see nothing.
LEGAL = 6              # one in so many at least


class Pass:
    """A pass or a pipeline as --help shows it."""

    def __init__(self, name):
        self.name, self.options = name, []  # (name, type, its values)

    def flag(self, rng):
        """With up to three options."""
        chosen = rng.sample(self.options,
                            min(len(self.options), rng.choice([0, 1, 1, 3])))
        given = " ".join("%s=%s" % (n, option_value(t, v, rng)) for n, t, v in chosen)
        return "--%s=%s" % (self.name, given) if given else "--" + self.name


def option_value(type_, values, rng):
    if values:
        return rng.choice(values)
    if not type_:
        return rng.choice(["true", "false"])
    if type_ == "<string>":
        return rng.choice(["lowered", "fused", "/", "x"])
    more = ["0.5", "1e308", "nan"] if type_ == "<number>" else []
    return rng.choice([*NUMBERS, *more])


def passes_of(help_):
    """The passes and pipelines in a tool's --help."""
    found = []
    for line in help_.partition("    Passes:\n")[2].splitlines():
        entry = re.match(r"( *)(--|=)([\w-]+)(?:=(<\w+>))?(?: |$)", line)
        if not entry:
            continue
        indent, mark, name, type_ = entry.groups()
        if mark == "--" and len(indent) == 6:
            found.append(Pass(name))
        elif mark == "--" and len(indent) == 8 and found:
            found[-1].options.append((name, type_, []))
        elif mark == "--":
            break
        elif found and found[-1].options:
            found[-1].options[-1][2].append(name)
    return found


class Ways:
    """The ways of a batch through the tools that are built."""

    def __init__(self, runner):
        self.runner = runner
        code, error, out = runner.run([runner.bin / "aicf-opt", "--help"], b"")
        self.passes = passes_of(out.decode("utf-8", "replace"))
        self.ours = [p for p in self.passes if OURS.match(p.name)]
        # MLIR's, without those that write files.
        self.others = [p.name for p in self.passes if p not in self.ours and
                       "filename" not in [n for n, _, _ in p.options]]
        if not self.ours:
            raise SystemExit("aicf-opt --help shows no pass: " + error[:500])
        self.flags = []
        if self.has("aicf-compile"):
            _, _, out = runner.run([runner.bin / "aicf-compile", "--help"], b"")
            self.flags = flags_of(out.decode("utf-8", "replace"))

    def has(self, tool):
        return (self.runner.bin / tool).exists()

    def parser(self):
        return Split(self.runner)

    def of_text(self, rng):
        """For any text, legal or not, with how many of a batch take it."""
        if self.has("aicf-lsp-server"):
            yield Editor(self.runner, False), BATCH
            yield Editor(self.runner, True), BATCH // 50
        if self.has("aicf-compile"):
            yield Single(self.runner, self.compile_flags(rng)), BATCH // 50
        yield from ((plugin, BATCH) for plugin in self.plugin(rng, []))

    def of_legal_text(self, rng):
        """For a text that the parser takes."""
        for p in self.ours:
            yield Split(self.runner, ["--" + p.name]), BATCH
        for p in rng.sample(self.ours, min(6, len(self.ours))):
            yield Split(self.runner, [p.flag(rng)]), BATCH
        whole = max(self.ours, key=lambda p: len(p.options))
        for _ in range(3):
            yield Split(self.runner, [whole.flag(rng)]), BATCH
        for _ in range(8):
            yield Split(self.runner, self.order(rng)), BATCH
        yield Split(self.runner, [rng.choice([
            "--mlir-print-op-generic", "--emit-bytecode", "--mlir-print-debuginfo",
            "--mlir-print-local-scope", "--mlir-use-nameloc-as-prefix"])]), BATCH
        if self.has("aicf-translate"):
            yield Split(self.runner, ["--aicf-to-plan"], "aicf-translate"), BATCH
        if self.has("aicf-compile"):
            yield Single(self.runner, self.compile_flags(rng)), BATCH // 20
        yield from ((p, BATCH) for p in self.plugin(rng, [rng.choice(self.ours).name]))

    def order(self, rng):
        """Two to five passes, of which some are MLIR's. Half of the orders lower first,
        because most passes work on calls."""
        calls = [p for p in self.ours if "-rt-" in p.name]
        lowered = ["--aicf-lower-to-rt"] if calls and rng.random() < 0.5 else []
        ours = calls if lowered else self.ours
        return lowered + [
            rng.choice(ours).flag(rng) if rng.random() < 0.85 else
            "--" + rng.choice(self.others) for _ in range(rng.randrange(2, 6))]

    def makers(self, rng):
        """What makes the texts of passes; one or two passes, or an order."""
        yield Split(self.runner, [rng.choice(self.ours).flag(rng)])
        yield Split(self.runner, self.order(rng))

    def compile_flags(self, rng):
        return rng.sample([rng.choice(f) for f in self.flags], min(2, len(self.flags)))

    def plugin(self, rng, passes):
        if self.runner.plugin.exists() and self.runner.mlir_opt.exists() and \
                not self.runner.is_sanitized:
            flags = ["--load-%s-plugin=%s" % (kind, self.runner.plugin)
                     for kind in ("dialect", "pass")]
            flags += ["--pass-pipeline=any(%s)" % ",".join(passes)] if passes else []
            yield Split(self.runner, flags, "mlir-opt", self.runner.mlir_opt)


def flags_of(help_):
    """aicf-compile's flags that say what to do; each a list of its forms."""
    found = []
    for line in help_.splitlines():
        flag = re.match(r"  (--?[\w-]+)(?:=(<\w+>))?(?: |$)", line)
        value = re.match(r" +=([\w-]+)(?: |$)", line)
        if flag and not re.match(r"--?(help|version|o|profile|print)", flag.group(1)):
            found.append((flag.group(1), flag.group(2), []))
        elif value and found:
            found[-1][2].append("%s=%s" % (found[-1][0], value.group(1)))
    return [forms or ([name] if not type_ else ["%s=%s" % (name, n) for n in NUMBERS])
            for name, type_, forms in found]


class Generator:
    """Text number n depends on n; one of passes also on the tools and on its batch."""

    def __init__(self):
        self.ops = Ops()
        self.corpus = Corpus(more=list(self.ops.examples()))

    def text(self, number):
        rng = random.Random(number)
        if number % OF_OPS == 0:
            text = self.ops.text(number // OF_OPS, rng, self.corpus)
            return mutated(text, rng, self.corpus) if rng.random() < 0.2 else text
        texts = self.corpus.sound if rng.random() < 0.8 else self.corpus.texts
        return mutated(rng.choice(texts), rng, self.corpus)

    def batch(self, numbers, makers=()):
        """The texts of some numbers."""
        texts = [self.text(n) for n in numbers]
        rng = random.Random("passes of %d" % numbers[0])
        for turn, maker in enumerate(makers, 1):
            at = [i for i, n in enumerate(numbers) if n % OF_PASSES == turn]
            made = maker.outputs([rng.choice(self.corpus.sound) for _ in at])
            for i, text in zip(at, made):
                texts[i] = mutated(text, rng, self.corpus)
        return texts


def crashes_of(way, texts, most):
    """Yields (index, Crash) for each text that crashes by itself, and (None, Crash) for
    what happens to no text alone. At most so many: each takes some runs."""
    first = found = 0
    while first < len(texts) and found < most:
        outcome = way.run(texts[first:])
        if outcome.crash is None:
            return
        low, high = first + outcome.reached, len(texts)
        if way.run(texts[low:low + 1]).crash:
            high = low + 1
        while high - low > 1:
            middle = (low + high) // 2
            if way.run(texts[low:middle]).crash:
                high = middle
            else:
                low = middle
        crash = way.run(texts[low:low + 1], names=True).crash if low < high else None
        if crash is None and outcome.crash.signal != "hang":
            yield None, way.run(texts[first:], names=True).crash or outcome.crash
        elif crash:
            yield low, crash
        first, found = low + 1, found + 1


class Kind:
    """A kind of crash: where it was seen first, and how often."""

    def __init__(self, crash, way, text, number):
        self.crash, self.way, self.text, self.number = crash, way, text, number
        self.count = 0


def judge_batch(numbers, generator, ways):
    """(failures as (crash, way, text, number), how many texts are legal)."""
    rng = random.Random("ways of %d" % numbers[0])
    texts = generator.batch(numbers, ways.makers(rng))
    failures, parser = [], ways.parser()
    refused = set()

    def judge(way, indices, most=CRASHES):
        chosen = [texts[i] for i in indices]
        for at, crash in crashes_of(way, chosen, most):
            text = chosen[at] if at is not None else "// -----\n".join(chosen)
            number = numbers[indices[at or 0]]
            failures.append((crash, way, text, number))
            if at is not None:
                refused.add(indices[at])
    judge(parser, range(len(texts)), BATCH)
    sound = [i for i in range(len(texts)) if i not in refused]
    refused |= {sound[i] for i in parser.run([texts[i] for i in sound]).refused}
    legal = [i for i in sound if i not in refused]
    for way, most in ways.of_text(rng):
        judge(way, rng.sample(sound, min(most, len(sound))))
    for way, most in ways.of_legal_text(rng):
        judge(way, sorted(rng.sample(legal, min(most, len(legal)))))
    return failures, len(legal)


def say(kind, number, report):
    """Prints a kind of crash, and writes its text down."""
    name = re.sub(r"\W+", "-", "-".join(kind.crash.key()))[:80].strip("-")
    file = report / ("%02d-%s.mlir" % (number, name))
    again = kind.way.save(kind.text, file)
    lines = ["text %d: %s" % (kind.number, kind.crash),
             "  %d times; smallest text, in %s:" % (kind.count, file),
             *("    " + line for line in kind.text.splitlines()[:40]),
             "  again: " + again]
    if not any("aicf" in f for f in kind.crash.frames):
        stock = kind.way.stock()
        if stock.command[0].exists():
            lines.append("  no frame is AICF's; %s %s with this text" % (
                stock.command[0], "crashes, too," if stock.run([kind.text]).crash else
                "does not crash"))
    print("\n".join(lines), flush=True)
    return "\n".join(lines) + "\n\n"


def fuzz(bin_dir, count, seed=0, jobs=2, report=None, reduce=True):
    """Judges the texts from `seed` on; the answer is an exit code."""
    runner, generator = Runner(bin_dir), Generator()
    kinds, own, legal = {}, collections.Counter(), 0
    report = pathlib.Path(report or runner.bin.parent / "fuzz-texts").absolute()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        ways = Ways(runner)
        batches = [range(n, min(n + BATCH, seed + count))
                   for n in range(seed, seed + count, BATCH)]
        judge = functools.partial(judge_batch, generator=generator, ways=ways)
        for failures, taken in pool.map(judge, batches):
            legal += taken
            for failure in failures:
                entry = mlir_crashes.known(failure[0], failure[2])
                own[entry] += bool(entry)
                if not entry:
                    kind = kinds.setdefault(failure[0].key(), Kind(*failure))
                    kind.count += 1
                    if kind.count == 1:
                        print("seen: text %d: %s" % (kind.number, kind.crash), flush=True)
        failed = sorted(kinds.values(), key=lambda k: -k.count)
        if reduce:
            for kind, text in zip(failed, pool.map(
                    lambda k: reduced(k.text, k.way, k.crash), failed)):
                kind.text = text
        report.mkdir(parents=True, exist_ok=True)
        (report / "report.txt").write_text("".join(
            say(k, i, report) for i, k in enumerate(failed)), "utf-8")
    for entry in filter(None, own):
        print("%d crashes of MLIR's own: %s" % (own[entry], entry.reason))
    is_tame = legal * LEGAL >= count or count < 100
    if not is_tame:
        print("too few texts are legal: %d of %d, expected %d"
              % (legal, count, count // LEGAL))
    print("%d texts, %d legal, %d runs of tools, %d kinds of crashes"
          % (count, legal, runner.runs, len(failed)))
    return 0 if is_tame and not failed else 1
