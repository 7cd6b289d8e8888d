# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For mkdocstrings: an item `low, high: ...` of a docstring is one of each name."""

import re

import griffe

#: The item, with the lines that go on with it, which stand further to the right.
ITEM = re.compile(r"^( +)(\w+(?:, \w+)+): (.*(?:\n\1 +.*)*)", re.MULTILINE)


def one_each(docstring: str) -> str:
    def split(item: re.Match[str]) -> str:
        indent, names, text = item.groups()
        return "\n".join("%s%s: %s" % (indent, name, text) for name in names.split(", "))
    return ITEM.sub(split, docstring)


class Names(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **unused: object) -> None:
        if obj.docstring:
            obj.docstring.value = one_each(obj.docstring.value)
