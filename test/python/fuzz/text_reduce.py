# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a text small that crashes a tool: statements, lines and tokens go, as long as it
crashes in the same way."""

import re

from .text_corpus import tokens_of

TRIES = 600  # of one text; hangs take seconds each, and get fewer
# A statement with its regions, which are further to the right, or begin with ^ or }.
STATEMENT = re.compile(
    r"^( *)(%\w+(?:, %\w+|:\d+)*) = .*\n(?:\1(?: |\^|\}).*\n)*", re.M)


def without_pieces(pieces, fails):
    """The fewest of `pieces` that still fail. Long runs go first, and the last ones,
    because they use what is before them."""
    size = len(pieces) // 2
    while size:
        at = len(pieces) - size
        while at >= 0:
            fewer = pieces[:at] + pieces[at + size:]
            is_fewer = bool(fewer) and fails("".join(fewer))
            pieces = fewer if is_fewer else pieces
            at -= size if is_fewer or size > 8 else 1
        size = size * 2 // 3
    return pieces


def bypassed(text):
    """Texts without one statement, the last ones first: whoever read what it made reads
    another value."""
    for statement in reversed(list(STATEMENT.finditer(text))):
        before, behind = text[:statement.start()], text[statement.end():]
        made = re.findall(r"%\w+", statement.group(2))
        read = re.findall(r"%\w+", statement.group(0).partition(" = ")[2])
        known = re.findall(r"%\w+(?=: )", before)
        for other in list(dict.fromkeys([*read, *known]))[:5] or ["%x"]:
            yield before + re.sub("(?:%s)\\b(?:#\\d+)?" % "|".join(made), other, behind)


def without_statements(text, fails):
    progress = True
    while progress:
        smaller = next((t for t in bypassed(text) if fails(t)), None)
        progress = smaller is not None
        text = smaller if progress else text
    return text


def words_of(text):
    """The tokens, each with the spaces behind it."""
    words = []
    for token in tokens_of(text):
        if token.isspace() and words:
            words[-1] += token
        else:
            words.append(token)
    return words


def reduced(text, way, crash):
    """`text` without what the crash does not need."""
    left = [TRIES if crash.signal != "hang" else TRIES // 20]

    def fails(candidate):
        left[0] -= 1
        if left[0] < 0 or not way.run([candidate]).crash:
            return False
        found = way.run([candidate], names=True).crash
        return bool(found) and found.key() == crash.key()
    text = "".join(without_pieces(re.findall(r".*\n|.+", text), fails))
    text = without_statements(text, fails)
    text = "".join(without_pieces(re.findall(r".*\n|.+", text), fails))
    return "".join(without_pieces(words_of(text), fails))
