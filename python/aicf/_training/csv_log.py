# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A log of aicf.fit as a table: a row for each epoch, a column for each value.

A run that logs other values than the rows that are there adds columns: the file is
written again, beside itself, and takes its place when it is whole.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence

from ..errors import InvalidFileError

_Row = dict[str, str]


def _texts(logs: Mapping[str, float]) -> _Row:
    return {name: str(value) for name, value in logs.items()}


class CsvLog:
    """Attributes:
        start: how many rows stand in front of this run's; None before begin().
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.start: int | None = None
        self._is_cut = False  # in its last line

    def begin(self, history: Sequence[Mapping[str, float]], start: int | None) -> None:
        """Makes the file end with the rows of `history`, which begin behind `start` rows
        if the run knows it. Raises InvalidFileError if the file is not a table, OSError if
        it cannot be written."""
        names, rows = self._read()
        own = [_texts(logs) for logs in history]
        self.start = len(rows) if start is None or start > len(rows) else start
        if own or self._is_cut or not os.path.exists(self.path):
            self._write(names, rows[:self.start] + own)

    def add(self, logs: Mapping[str, float]) -> None:
        names, rows = self._read()
        row = _texts(logs)
        if names and set(row) <= set(names):
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                file.write(_table(names, [row], has_header=False))
            return
        self._write(names, [*rows, row])

    def _read(self) -> tuple[list[str], list[_Row]]:
        """Returns the columns and the rows; a last row that is cut off counts not."""
        try:
            with open(self.path, encoding="utf-8", newline="") as file:
                text = file.read()
        except FileNotFoundError:
            self._is_cut = False
            return [], []
        except UnicodeDecodeError as error:
            raise InvalidFileError("%r is not a table: %s" % (self.path, error)) from None
        whole = text[:text.rfind("\n") + 1]
        rest = next(csv.reader([text[len(whole):]]), [])
        header = next(csv.reader(io.StringIO(whole)), [])
        if rest and len(rest) == len(header):  # somebody's editor took the last line's end
            whole = text + "\n"
        self._is_cut = not text.endswith("\n") and bool(text)
        rows = list(csv.DictReader(io.StringIO(whole, newline="")))
        names = list(rows[0]) if rows else next(csv.reader(io.StringIO(whole)), [])
        if any(None in row or None in row.values() for row in rows) or (
                names and "epoch" not in names):
            raise InvalidFileError("%r is not a log of aicf.fit: its first line is %.60r"
                                   % (self.path, text.partition("\n")[0]))
        return names, rows

    def _write(self, names: Sequence[str], rows: Sequence[_Row]) -> None:
        every = list(dict.fromkeys([*names, *(n for row in rows for n in row)]))
        beside = self.path + ".new"
        with open(beside, "w", encoding="utf-8", newline="") as file:
            file.write(_table(every, rows, has_header=bool(every)))
        os.replace(beside, self.path)


def _table(names: Sequence[str], rows: Sequence[_Row], has_header: bool) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    if has_header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
