# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What mutants of C++ and of Python have in common: numbers, and who reached them.

AICF_MUTANT names the mutant that is switched on. AICF_MUTANT_RECORD names a file
with a byte per mutant, which a process maps: a condition that held sets the byte of
the mutant in which it never holds, and the other way round. A test in which a byte
stays 0 cannot tell that mutant from the original.
"""

import contextlib
import dataclasses
import mmap
import os
import tempfile

NEVER, ALWAYS = "never", "always"
#: More than there are mutants.
MOST = 1 << 20


@dataclasses.dataclass(frozen=True)
class Mutant:
    number: int
    file: str
    line: int
    text: str  # what it changes
    change: str  # "never", "always" or what else happens

    def __str__(self):
        return "%s:%d: mutant %d: %s: %s" % (self.file, self.line, self.number,
                                             self.change, self.text)


def open_record(path):
    """The bytes of a record's file, shared with all who map it."""
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), MOST)


def reached_by(record):
    """The numbers of the mutants that are noted, as a frozenset."""
    found, at = [], record.find(b"\1", 0)
    while at >= 0:
        found.append(at)
        at = record.find(b"\1", at + 1)
    return frozenset(found)


def clear(record):
    record.seek(0)
    record.write(bytes(MOST))


@contextlib.contextmanager
def new_record():
    """A path for AICF_MUTANT_RECORD, and the bytes of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record")
        with open(path, "wb") as file:
            file.truncate(MOST)
        record = open_record(path)
        yield path, record
        record.close()
