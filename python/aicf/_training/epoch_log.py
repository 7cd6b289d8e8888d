# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of aicf.fit: a line with a JSON object for each epoch.

A run that was killed leaves a log that lacks the last epoch of its checkpoint, has epochs
after it, or ends in the middle of a line. A run that goes on makes it that of its history
again. Bytes are only cut off at the end and added there, so that what stands in front is
safe whatever happens, and a full disk loses nothing.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence


def line_of(logs: Mapping[str, float]) -> bytes:
    """Returns a line of JSON, which has no NaN: null stands for what is not finite."""
    return json.dumps({name: value if isinstance(value, str) or math.isfinite(value)
                       else None for name, value in logs.items()}).encode() + b"\n"


class EpochLog:
    """Attributes:
        start: where the lines of this run begin, in bytes; None before begin().
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.start: int | None = None

    def begin(self, history: Sequence[Mapping[str, float]], start: int | None) -> None:
        """Makes the file end with the lines of `history`, which begin at `start` if the
        run knows it. Raises OSError if the file cannot be written."""
        text = self._read()
        lines = [line_of(logs) for logs in history]
        found = _find(text, lines, start)
        if found is None:
            self._append(b"\n" if text and not text.endswith(b"\n") else b"")
            self.start = len(self._read())
            return
        self.start, end, missing = found
        if end < len(text):
            os.truncate(self.path, end)
        self._append(b"".join(missing))

    def add(self, logs: Mapping[str, float]) -> None:
        self._append(line_of(logs))

    def _read(self) -> bytes:
        if not os.path.isfile(self.path):
            return b""
        with open(self.path, "rb") as file:
            return file.read()

    def _append(self, text: bytes) -> None:
        """Adds all of it or, if the disk is full, nothing."""
        with open(self.path, "ab", buffering=0) as file:
            is_file = os.path.isfile(self.path)
            before = os.fstat(file.fileno()).st_size
            try:
                while text:
                    text = text[file.write(text):]
            except OSError:
                if is_file:
                    os.truncate(self.path, before)
                raise


def _find(text: bytes, lines: Sequence[bytes],
          start: int | None) -> tuple[int, int, Sequence[bytes]] | None:
    """Returns where a run's lines begin and end in the log, and those that are not there;
    None if the log has none of them and is not known to be the run's."""
    if not lines:
        return None
    if start is not None and start <= len(text):
        end, count = start, 0
        while count < len(lines) and text.startswith(lines[count], end):
            end, count = end + len(lines[count]), count + 1
        if count or end == len(text) or lines[0].startswith(text[end:]):
            return start, end, lines[count:]
    last = (b"\n" + text).rfind(b"\n" + lines[-1])  # of a run that did not say
    first = (b"\n" + text).rfind(b"\n" + lines[0], 0, last + len(lines[0]) + 1)
    if last < 0:
        return None
    return max(first, 0), last + len(lines[-1]), ()
