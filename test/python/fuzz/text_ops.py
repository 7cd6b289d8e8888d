# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of one op each: every op of both dialects, with none to one too many of its
operands, in its own form and in the generic one, with types that it takes and with
others. The ops, their attributes and their forms come from the generated pages of the
dialects, and the primitives from records.py."""

import re
from typing import NamedTuple

from .records import RECORDS
from .text_corpus import PAGES, blocks_of, without_comments
from .text_mutations import NUMBERS, STRINGS, random_type, usual_type

FLOATS = [n for n in NUMBERS if "." in n or len(n) == 18]


class Op(NamedTuple):
    name: str
    form: str            # behind `operation ::=`, or ""
    operands: tuple
    attributes: tuple    # (name, type)
    results: tuple
    example: str         # its statement in the page, or ""


def ops_of(page):
    for section in re.split(r"^### `", page, flags=re.M)[1:]:
        name = section.split("`")[0]
        if not re.match(r"[a-z_]+\.\w+$", name):
            continue
        form = re.search(r"operation ::= `%s`(.*?)\n```" % re.escape(name), section, re.S)
        rows = re.findall(r"^\| (\w+) \| `(\w+)` \| (.*) \|$", section, re.M)
        named = {kind: tuple(n for k, n, _ in rows if k == kind)
                 for kind in ("operand", "result")}
        yield Op(name, " ".join(form.group(1).split()) if form else "",
                 named["operand"],
                 tuple((n, t) for k, n, t in rows if k == "attribute"),
                 named["result"], "".join(blocks_of(section)[-1:]))


def all_ops():
    return [op for page in ("AICFDialect.md", "AICFRTDialect.md")
            for op in ops_of((PAGES / page).read_text("utf-8"))]


def list_of(rng):
    return ", ".join(rng.choice(["0", "1", "2", "-1", *NUMBERS[:20]])
                     for _ in range(rng.choice([0, 1, 2, 2, 3, 4])))


def value_of(type_, rng, corpus, is_generic=False):
    """A value for an attribute of that type, or seldom of another."""
    if rng.random() < 0.08:
        return corpus.pair(rng)[1]
    if type_ == "f64":
        number = rng.choice(NUMBERS if rng.random() < 0.2 else FLOATS)
        return number + (" : f64" if is_generic else "")
    if type_ == "i64":
        return rng.choice(NUMBERS[:20]) + (" : i64" if is_generic else "")
    if type_ == "bool":
        return rng.choice(["true", "false"])
    if type_ == "type":
        return rng.choice([lambda: rng.choice(["f16", "f32", "f64", "i32", "i64", "i1"]),
                           lambda: random_type(rng)])()
    if type_ == "list of i64":
        return ("array<i64: %s>" if is_generic else "[%s]") % list_of(rng)
    if type_ == "StringAttr":
        return rng.choice(STRINGS)
    if type_ == "FlatSymbolRefAttr":
        return corpus.like("@x", rng)
    if type_ == "ElementsAttr":
        return "dense<%s> : %s" % (rng.choice(NUMBERS), usual_type(rng))
    if type_ == "aicf::rt::BodyAttr":
        return body_of(rng)
    if type_ == "aicf::rt::LaunchAttr":
        return '#aicf_rt.launch<kernel = "%s_f32_v0", stream = %s>' % (
            rng.choice(list(RECORDS)), rng.choice(NUMBERS[:20]))
    if "Attr" in type_ and is_generic:
        return rng.choice(["unit", "#aicf_rt<role param>", "#aicf_rt.role<param>",
                           "#aicf_rt.device_kind<cpu>", "#aicf_rt.padded"])
    return rng.choice(["input", "param", "state", "temp", "cpu", "cuda", "zeros",
                       "normal", "unit"])


def fields_of(record, rng):
    """Fields of a primitive, each there or not; an unknown one seldom."""
    names = [n for n in record.fields if rng.random() < 0.7]
    if rng.random() < 0.05:
        names.append("unknown")
    found = ", ".join("%s = %s" % (n, rng.choice(["true", "false", "[1, 0]", *NUMBERS]))
                      for n in names)
    return " {%s}" % found if found or rng.random() < 0.1 else ""


def body_of(rng):
    """One or two primitives that read operands, or each other."""
    lines, made = [], 0
    for number in range(rng.choice([1, 1, 1, 2])):
        name, record = rng.choice(list(RECORDS.items()))
        count = rng.choice([len(record.operands)] * 3 + [0, 1, 2, 4])
        args = ", ".join(rng.choice(["i%d" % i, "i%d" % i, "t0", "i9"])
                         for i in range(count))
        results = rng.choice([len(record.results)] * 4 + [0, 1, 3])
        lines.append("%s = %s(%s)%s" % (", ".join(
            "t%d" % (made + i) for i in range(results)) or "t0", name, args,
            fields_of(record, rng)))
        made += results
    return "#aicf_rt.body<%s { %s yield t%d }>" % (rng.choice(
        ["0", "1", "2", "3", "4", "9"]), " ".join(lines), rng.choice([0, made]))


class Statement:
    """An op that is written down: its operands' names and types, and its text."""

    def __init__(self, types, text):
        self.types, self.text = types, text

    def module(self, rng):
        """In a function that has the operands, or alone, where it may read itself."""
        if rng.random() < 0.06:
            return rng.choice(["", "%x0 = ", "%x0 = "]) + self.text + "\n"
        role = ' {aicf.role = "input", aicf.name = "x%d"}' if rng.random() < 0.3 else ""
        return "func.func @f(%s) {\n  %s\n  return\n}\n" % (", ".join(
            "%%x%d: %s%s" % (i, t, role % i if role else "")
            for i, t in enumerate(self.types)), self.text)


def arguments(count):
    return ["%%x%d" % i for i in range(count)]


def chosen_types(op, count, rng):
    """Those of the page's example, all the same, or any."""
    seen = re.findall(r"tensor<[^<>]*>", op.example.rpartition(" : ")[2])
    usual, chance = usual_type(rng), rng.choice([0, 0, 0.5])
    return [rng.choice([lambda: usual, lambda: usual, lambda: random_type(rng)])()
            if not seen or rng.random() < chance else seen[min(i, len(seen) - 1)]
            for i in range(count)]


def attributes(op, rng, corpus, is_generic, besides=()):
    """`{a = 1}`, or the attributes of the page's example, or none."""
    given = re.search(r"\{([^{}]*)\}", op.example)
    if given and rng.random() < 0.5:
        return given.group(1)
    return ", ".join("%s = %s" % (n, value_of(t, rng, corpus, is_generic))
                     for n, t in op.attributes if n not in besides and rng.random() < 0.8)


def generic(op, count, rng, corpus):
    types = chosen_types(op, count, rng)
    results = [rng.choice([*types, usual_type(rng), random_type(rng)])
               for _ in range(rng.choice([len(op.results)] * 6 + [0, 1, 2, 3]))]
    given = attributes(op, rng, corpus, True)
    text = '"%s"(%s)' % (op.name, ", ".join(arguments(count)))
    text += rng.choice([" <{%s}>", " <{%s}>", " {%s}"]) % given if given else ""
    if rng.random() < 0.05:
        text += " ({\n^bb0(%a: f32):\n})"
    text += " : (%s) -> (%s)" % (", ".join(types), ", ".join(results))
    return Statement(types, text)


FORM = re.compile(r"`([^`]*)`|custom<\w+>\(\$(\w+)\)|type\(\$(\w+)\)|type\((operands)\)|"
                  r"\$(\w+)|([\w-]+)|(.)")


def put(out, item):
    """What is not there goes with the literal before it."""
    if item:
        out.append(item)
    elif out:
        out.pop()


def pretty(op, count, rng, corpus):
    """Goes through the op's form. The first `count` operands are there; others are
    left out with their types. An optional group is there or not."""
    types = chosen_types(op, count, rng)
    names, known = arguments(count), dict(op.attributes)
    spelled = [m for m in re.findall(r"\$(\w+)", op.form) if m in known]
    place = {n: i for i, n in enumerate(op.operands)}
    out, skipping = [], False
    chance = rng.random()
    for literal, custom, of_type, of_all, variable, word, sign in FORM.findall(op.form):
        if sign == "(":
            skipping = rng.random() < chance
        elif sign:
            skipping = skipping and sign != ")"
        elif skipping:
            continue
        elif literal:
            out.append(literal)
        elif of_all:
            out.append(", ".join(types))
        elif of_type:
            at = place.get(of_type, count)
            put(out, types[at] if at < count else usual_type(rng)
                if of_type in op.results else "")
        elif variable in place:
            put(out, "".join(names[place[variable]:place[variable] + 1]))
        elif variable == "body":
            out.append("{\n^bb0(%a: f32):\n  aicf.yield %a : f32\n  }")
        elif variable or custom:
            name = variable or custom
            out.append("@s" if name == "sym_name" else
                       value_of(known.get(name, ""), rng, corpus))
        elif word == "operands":
            out.append(", ".join(names))
        elif word == "attr-dict":
            given = attributes(op, rng, corpus, False, spelled)
            out.append("{%s}" % given if given else "")
    return Statement(types, "%s %s" % (op.name, " ".join(filter(None, out))))


def call(name, count, rng):
    """An aicf_rt.call of one primitive, in its own form."""
    record = RECORDS[name]
    usual = usual_type(rng)
    types = [usual if rng.random() < 0.8 else random_type(rng) for _ in range(count)]
    args = ["%s = %s" % (record.operands[i], a) if i < len(record.operands) and
            record.operands[i] in record.optional else a
            for i, a in enumerate(arguments(count))]
    results = [usual if rng.random() < 0.8 else random_type(rng)
               for _ in range(rng.choice([len(record.results)] * 5 + [0, 1, 2]))]
    more = rng.choice(["", "", "", " inplace [%s]", " vids [%s]"])
    return Statement(types, "aicf_rt.call %s(%s)%s%s : (%s) -> (%s)" % (
        name, ", ".join(args), fields_of(record, rng),
        more % list_of(rng) if more else "", ", ".join(types), ", ".join(results)))


class Ops:
    """All ops, as many texts as one asks for."""

    def __init__(self):
        self.ops = all_ops()
        rows = [(op, op.operands) for op in self.ops]
        rows += [(name, record.operands) for name, record in RECORDS.items()]
        self.turns = [(op, count) for op, operands in rows
                      for count in range(len(operands) + 2)]

    def text(self, number, rng, corpus):
        """The text of turn `number`; a round of turns has each op with each number of
        operands."""
        op, count = self.turns[number * 7919 % len(self.turns)]
        if isinstance(op, str):
            return call(op, count, rng).module(rng)
        if op.form and rng.random() < 0.6:
            return pretty(op, count, rng, corpus).module(rng)
        return generic(op, count, rng, corpus).module(rng)

    def examples(self):
        """The statements of the pages, each with what it reads as arguments."""
        for op in self.ops:
            text = without_comments(op.example)
            names = re.findall(r"%\w+", text.partition(" : ")[0].partition(" = ")[2])
            types = re.findall(r"tensor<[^<>]*(?:<[^<>]*>)?>", text.rpartition(" : ")[2])
            if names and len(set(names)) == len(names) == len(types) \
                    and "{\n" not in text:
                yield "func.func @f(%s) {\n  %s\n  return\n}\n" % (", ".join(
                    map("%s: %s".__mod__, zip(names, types))), text.strip())
