# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways of a text through the tools, each many texts at a time, and what a crash
looks like. A tool gets texts on its standard input, split by `// -----`, because most of
the time is the tool's start."""

import bisect
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
from typing import NamedTuple

from .text_corpus import SOURCE, tokens_of

SPLIT = "// -----\n"
SECONDS = 8            # of one processor; what takes longer hangs
MEMORY = 6 << 20       # KiB of address space
LIMITED = 'ulimit -c 0; ulimit -S -t %d; %s exec "$@"'
CRASHED = re.compile(r"^(?:LLVM ERROR: .*|terminate called.*|.*: Assertion .*|"
                     r"==\d+==ERROR: \w+Sanitizer: [\w-]+|.*: runtime error: .*)", re.M)
FRAME = re.compile(r"^ *#?\d+ +(?:[\w.+-]+ +)?(?:0x[0-9a-f]+ )?(?:in )?(\S.*)$", re.M)
# Frames of the handler, of the C library and of the tools' drivers say nothing.
SILENT = re.compile(r"^(llvm::sys::|SignalHandler|gsignal|raise|abort|__|_start|main$|"
                    r"llvm::report_fatal|llvm::install|std::|\(|/|0x|\?\?|clone|"
                    r"start_thread|aicfCompileMain|llvm::function_ref|"
                    r"mlir::MlirOptMain|printFinal)")


class Crash(NamedTuple):
    signal: str      # SIGSEGV, or what a tool says where it ends by itself
    message: str     # LLVM's last words, or ""
    frames: tuple    # the functions, innermost first

    def key(self):
        """Crashes with one key are one bug: its message, where it happened, and the
        first of our functions on the way there."""
        ours = [f for f in self.frames if "aicf" in f]
        return (self.signal, re.sub(r"\d+", "N", self.message),
                *dict.fromkeys([*self.frames[:1], *ours[:1]]))

    def __str__(self):
        return "%s%s in %s" % (self.signal, self.message and ", " + self.message,
                               " < ".join(self.frames[:6]) or "an unknown function")


class Outcome(NamedTuple):
    crash: object    # Crash, or None
    reached: int     # the crash is not in a text before this one
    refused: frozenset  # the texts with an error


def function_of(frame):
    """A frame's function without arguments, long templates and places."""
    frame = re.sub(r"operator(<<|>>|->|[<>]=?)", "operator", frame)
    frame = frame.replace("(anonymous namespace)::", "")
    parts = [""]
    for c in frame:
        if c == "<":
            parts.append("")
        elif c == ">" and len(parts) > 1:
            inner = parts.pop()
            parts[-1] += "<%s>" % inner if "aicf" in inner and len(inner) < 60 else ""
        else:
            parts[-1] += c
    depth, frame = 0, "".join(parts)
    for i, c in enumerate(frame):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth <= 0 and i:
            return frame[:i].strip()
    return re.sub(r" \+ \d+$| at \S+$", "", frame).strip()


@functools.cache
def own_names():
    """What our sources keep to themselves: names without a namespace, in a stack."""
    texts = [p.read_text("utf-8") for folder in ("lib", "kernels", "tools")
             for p in (SOURCE / folder).rglob("*.cpp")]
    return {name for text in texts for name in re.findall(
        r"^(?:struct|class|static\b[^;={(]*?)\s\*?(\w+)(?= [:{]|\()", text, re.M)}


def frames_of(output):
    found = [function_of(f) for f in FRAME.findall(output)]
    return tuple("aicf::" + f if f.partition("::")[0] in own_names() else f
                 for f in found if f and not SILENT.match(f))[:40]


def crash_of(code, output):
    """What ended a tool before its time, or None."""
    message = CRASHED.search(output)
    if not message and 0 <= code < 128 and "PLEASE submit a bug" not in output:
        return None
    number = -code if code < 0 else code - 128
    name = signal.Signals(number).name if number in list(signal.Signals) else \
        "exit code %d" % code
    name = "hang" if name in ("SIGXCPU", "SIGKILL") else name
    message = re.sub(r"==\d+==", "", message.group(0)).strip() if message else ""
    return Crash(name, message, frames_of(output))


class Runner:
    """Runs the tools of one build under limits."""

    def __init__(self, bin_dir):
        self.bin = pathlib.Path(bin_dir).absolute()
        cache = self.bin.parent / "CMakeCache.txt"
        self.is_sanitized = cache.exists() and \
            "AICF_ASAN:BOOL=ON" in cache.read_text("utf-8")
        self.symbolizer = shutil.which("llvm-symbolizer-22") or \
            shutil.which("llvm-symbolizer")
        self.stock = pathlib.Path("/usr/lib/llvm-22/bin")
        self.mlir_opt = self.stock / "mlir-opt"
        self.plugin = self.bin.parent / "lib/libAICFPlugin.so"
        self.runs = 0

    def run(self, command, data, names=False):
        """(exit code, standard error, standard output); `names`: of the functions in
        the stack, which takes a while."""
        self.runs += 1
        environment = {**os.environ, "AICF_WARMUP": "0", "ASAN_OPTIONS": "detect_leaks=0"}
        if names and self.symbolizer:
            environment["LLVM_SYMBOLIZER_PATH"] = self.symbolizer
        else:
            environment["LLVM_DISABLE_SYMBOLIZATION"] = "1"
        limits = LIMITED % ((SECONDS * 8, "") if self.is_sanitized else
                            (SECONDS, "ulimit -v %d;" % MEMORY))
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", limits, "sh", *map(str, command)], input=data,
                capture_output=True, env=environment, timeout=60 * SECONDS)
        except subprocess.TimeoutExpired as late:
            return -signal.SIGKILL, (late.stderr or b"").decode("utf-8", "replace"), b""
        return done.returncode, done.stderr.decode("utf-8", "replace"), done.stdout


def bytes_of(text):
    return text.encode("utf-8", "surrogateescape")


class Split:
    """A tool that takes many texts: aicf-opt, aicf-translate, or mlir-opt with the
    plug-in."""

    def __init__(self, runner, flags=(), tool="aicf-opt", path=None):
        self.runner, self.flags, self.tool = runner, tuple(flags), tool
        self.path = path or runner.bin / tool
        self.command = [self.path, "--split-input-file", *self.flags]
        self.name = " ".join([tool, *self.flags])

    def run(self, texts, names=False):
        starts, line = [], 1
        for text in texts:
            starts.append(line)
            line += bytes_of(text).count(b"\n") + 1
        code, output, _ = self.runner.run(
            self.command, bytes_of(SPLIT.join(texts)), names)
        seen = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: ", output, re.M)}
        refused = {int(n) for n in re.findall(
            r"^<stdin>:(\d+):\d+: error: ", output, re.M)}
        part = lambda n: bisect.bisect_right(starts, n) - 1
        return Outcome(crash_of(code, output), max(map(part, seen), default=0),
                       frozenset(map(part, refused)))

    def outputs(self, texts):
        """What the tool makes of each text; of a text that it refuses, the text."""
        _, _, out = self.runner.run(self.command, bytes_of(SPLIT.join(texts)))
        found = out.decode("utf-8", "surrogateescape").split(SPLIT)
        return [new if new.strip() else old for old, new in zip(texts, found)] + \
            texts[len(found):]

    def stock(self):
        """MLIR's own tool, to see whether it does the same."""
        return Split(self.runner, self.flags, "mlir-opt", self.runner.mlir_opt)

    def save(self, text, file):
        """Writes `text` down; what repeats the crash is the answer."""
        file.write_bytes(bytes_of(text))
        return " ".join([str(self.command[0]), str(file),
                         *('"%s"' % f if "(" in f or " " in f else f
                           for f in self.flags)])


class Single:
    """A tool that takes one text: aicf-compile."""

    def __init__(self, runner, flags):
        self.runner, self.flags = runner, tuple(flags)
        self.command = [runner.bin / "aicf-compile", "-", "-o", "-", *flags]
        self.name = " ".join(["aicf-compile", *flags])

    def stock(self):
        return Split(self.runner, (), "mlir-opt", self.runner.mlir_opt)

    def run(self, texts, names=False):
        for number, text in enumerate(texts):
            code, output, _ = self.runner.run(self.command, bytes_of(text), names)
            crash = crash_of(code, output)
            if crash:
                return Outcome(crash, number, frozenset())
        return Outcome(None, len(texts), frozenset())

    def save(self, text, file):
        file.write_bytes(bytes_of(text))
        return " ".join([str(self.command[0]), str(file), "-o - > /dev/null",
                         *self.flags])


class Editor:
    """aicf-lsp-server: each text is opened, asked about and closed. With `typing`,
    it comes letter by letter, or rather in some tokens at a time."""

    def __init__(self, runner, typing, path=None):
        self.runner, self.typing = runner, typing
        self.command = [path or runner.bin / "aicf-lsp-server"]
        self.name = "aicf-lsp-server" + (", typing" if typing else "")

    def stock(self):
        return Editor(self.runner, self.typing, self.runner.stock / "mlir-lsp-server")

    def run(self, texts, names=False):
        data = session(texts, self.typing)
        code, output, answers = self.runner.run(self.command, data, names)
        crash = crash_of(code, output)
        seen = [int(n) for n in re.findall(rb'file:///(\d+)\.mlir', answers)]
        return Outcome(crash, max(seen, default=0), frozenset())

    def save(self, text, file):
        file.write_bytes(bytes_of(text))
        inputs = file.with_suffix(".lsp")
        inputs.write_bytes(session([text], self.typing))
        return "%s < %s" % (self.command[0], inputs)


PIECES, QUESTIONS = 40, 6  # of a text at most


def session(texts, typing):
    """What an editor sends."""
    messages = [("initialize", {"processId": None, "capabilities": {}, "rootUri": None})]
    for number, text in enumerate(texts):
        messages += document("file:///%d.mlir" % number, bytes_of(text).decode(
            "utf-8", "replace"), typing)
    messages += [("shutdown", None), ("exit", None)]
    data = b""
    for number, (method, params) in enumerate(messages):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith(("textDocument/did", "exit")):
            message["id"] = number
        body = json.dumps(message).encode()
        data += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return data


def document(uri, text, typing):
    """The messages about one text."""
    where = {"textDocument": {"uri": uri}}
    ends, end = [], 0
    for token in tokens_of(text):
        end += len(token)
        if not token.isspace():
            ends.append(end)
    versions = [text]
    if typing:
        step = max(1, len(ends) // PIECES)
        versions = [text[:e] for e in ends[::step]] + [text]
    yield "textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "mlir", "version": 1, "text": versions[0]}}
    for number, version in enumerate(versions[1:], 2):
        yield "textDocument/didChange", {
            "textDocument": {"uri": uri, "version": number},
            "contentChanges": [{"text": version}]}
        yield "textDocument/completion", {**where, "position": position(version)}
    yield "textDocument/documentSymbol", where
    for end in ends[::max(1, len(ends) // QUESTIONS)]:
        for method in ("hover", "definition", "references", "completion"):
            yield "textDocument/" + method, {
                **where, "position": position(text[:end]),
                "context": {"includeDeclaration": True, "triggerKind": 1}}
    yield "textDocument/didClose", where


def position(before):
    """Behind the text `before`."""
    return {"line": before.count("\n"),
            "character": len(before) - before.rfind("\n") - 1}
