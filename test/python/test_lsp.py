# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""aicf-lsp-server as an editor uses it: what it offers behind a dialect's name."""

import json
import subprocess

import pytest

from conftest import BIN

TEXT = "func.func @f(%x: tensor<4xf32>) {\n  %y = DIALECT.\n  return\n}\n"


class Editor:
    """Language Server Protocol 3.17, as far as this needs it."""

    def __enter__(self):
        self.server = subprocess.Popen(
            [BIN / "aicf-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.ask("initialize", {"processId": None, "capabilities": {}, "rootUri": None})
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params,
                           **more}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def ask(self, method, params):
        self.send(method, params, id=1)
        while True:
            length = 0
            while line := self.server.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answer = json.loads(self.server.stdout.read(length))
            if answer.get("id") == 1:
                return answer["result"]


@pytest.mark.parametrize("dialect,some", [("aicf", {"linear", "relu", "adam_step"}),
                                          ("aicf_rt", {"call", "plan", "alloc"})])
def test_ops_are_offered_behind_the_dialect(dialect, some):
    text = TEXT.replace("DIALECT", dialect)
    with Editor() as editor:
        editor.send("textDocument/didOpen", {"textDocument": {
            "uri": "file:///f.mlir", "languageId": "mlir", "version": 1, "text": text}})
        answer = editor.ask("textDocument/completion", {
            "textDocument": {"uri": "file:///f.mlir"},
            "position": {"line": 1, "character": len("  %y = ." + dialect)}})
    assert some <= {item["label"] for item in answer["items"]}
