# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of a text of MLIR, of a token, an attribute or a line each. Each mutation takes
a text, a random generator and the corpus, and returns a text. Where it finds nothing to
change, that is the same text."""

import re

from .text_corpus import PAIR, kind_of, tokens_of

ELEMENTS = ["f16", "bf16", "f32", "f64", "i1", "i32", "i64", "i8", "i16", "ui8", "si32",
            "i128", "index", "none", "f8E4M3FN", "tf32", "f128", "complex<f32>",
            "tensor<2xf32>", "vector<4xf32>", "memref<2xf32>", "tuple<>",
            "!aicf_rt.value<4xf32>", "tensor<2xtensor<2xf32>>", "(f32) -> f32",
            "!aicf_rt.buffer", "!llvm.ptr", "i16777215"]
USUAL = 7  # of them are types that ops take
DIMS = ["1", "2", "4", "8", "3", "0", "?", "65536", "2147483647", "2147483648",
        "4294967296", "9223372036854775807", "9223372036854775808", "-1",
        "99999999999999999999"]
ENCODINGS = ["#aicf_rt.padded", "#aicf_rt.strided<[1, 8]>", "#aicf_rt.strided<[]>",
             "#aicf_rt.strided<[-1]>", "#aicf_rt.strided<[9223372036854775807, 1]>",
             "#aicf_rt.strided<[0, 0, 0]>", "#aicf_rt.strided<[4]>", '"dense"', "3 : i64",
             "unit", "{}", "affine_map<(d0) -> (d0)>", "#aicf.sgd<lr = \"lr\">"]
NUMBERS = ["0", "1", "-1", "2", "3", "7", "127", "128", "255", "256", "65536",
           "2147483647", "2147483648", "-2147483648", "4294967295", "4294967296",
           "9223372036854775807", "-9223372036854775808", "9223372036854775808",
           "18446744073709551616", "1.0e308", "-1.0e308", "1.0e309", "1.0e-320", "0.0",
           "-0.0", "1.0", "0.5", "-1.0", "1.0e-8", "65504.0", "65520.0", "0x7FC00000",
           "0x7F800000", "0xFF800000", "0x7E00", "0x7C00", "0x7FF8000000000000",
           "0x7FF0000000000000", "0xFFF0000000000000", "0xFFFFFFFFFFFFFFFFFF", "0x0"]
STRINGS = ['""', '"x"', '"W"', '"lr"', '"step"', '"a.b/c"', '"\\00"', '"\\FF\\FE"',
           '"\\0A"', '"' + "n" * 300 + '"', '"param"', '"input"', '"state"', '"hyper"',
           '"constant"', '"nan"', '"normal:-1"', '"normal:1e400"', '"zeros"', '"grad:W"']


def random_shape(rng):
    return [rng.choice(DIMS[:5] if rng.random() < 0.7 else DIMS)
            for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 9, 33]))]


def random_element(rng):
    return rng.choice(ELEMENTS[:USUAL] if rng.random() < 0.6 else ELEMENTS)


def random_type(rng):
    form = rng.random()
    element, shape = random_element(rng), random_shape(rng)
    if form < 0.06:
        return "tensor<*x%s>" % element
    if form < 0.14:
        return element
    if form < 0.2:
        return "%s<%s>" % (rng.choice(["vector", "memref", "!aicf_rt.value"]),
                           "x".join([*shape, element]))
    encoding = ", " + rng.choice(ENCODINGS) if rng.random() < 0.15 else ""
    return "tensor<%s%s>" % ("x".join([*shape, element]), encoding)


def usual_type(rng):
    """A type that most ops take."""
    shape = [rng.choice(DIMS[:5]) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 4]))]
    return "tensor<%s>" % "x".join([*shape, rng.choice(ELEMENTS[:USUAL])])


def changed_type(old, rng):
    """`old` with another dimension, element or encoding."""
    parts = re.fullmatch(r"tensor<((?:[\d?*]+x)*)([^,]*?)(, .*)?>", old)
    if not parts or rng.random() < 0.1:
        return random_type(rng)
    shape, element = parts.group(1).split("x")[:-1], parts.group(2)
    encoding = parts.group(3) or ""
    what = rng.randrange(6)
    if what == 0 and shape:
        shape[rng.randrange(len(shape))] = rng.choice(DIMS)
    elif what == 1 and shape:
        del shape[rng.randrange(len(shape))]
    elif what == 2:
        shape.insert(rng.randrange(len(shape) + 1), rng.choice(DIMS))
    elif what == 3:
        encoding = rng.choice(["", ", " + rng.choice(ENCODINGS)])
    elif what == 4:
        rng.shuffle(shape)
    else:
        element = random_element(rng)
    return "tensor<%s%s>" % ("x".join([*shape, element]), encoding)


def number_for(old, rng):
    """An extreme, or a number beside the old one."""
    if re.fullmatch(r"-?\d+", old) and rng.random() < 0.4:
        return str(int(old) + rng.choice([-2, -1, 1, 2]))
    return rng.choice(NUMBERS)


def replacement(token, rng, corpus):
    """Another token of the kind, an extreme one often."""
    kind = kind_of(token)
    if kind == "type" and rng.random() < 0.8:
        return changed_type(token, rng)
    if kind == "number" and rng.random() < 0.8:
        return number_for(token, rng)
    if kind == '"' and rng.random() < 0.3:
        return rng.choice(STRINGS)
    if token in ELEMENTS:
        return random_element(rng)
    return corpus.like(token, rng)


def places(tokens, kinds=None):
    """The indices of the tokens that are not spaces, of `kinds`."""
    return [i for i, t in enumerate(tokens) if not t.isspace()
            and (kinds is None or kind_of(t) in kinds)]


def on_tokens(change, kinds=None):
    """A mutation that changes the list of tokens at a random one of `kinds`."""
    def mutation(text, rng, corpus):
        tokens = tokens_of(text)
        at = places(tokens, kinds)
        if at:
            change(tokens, rng.choice(at), at, rng, corpus)
        return "".join(tokens)
    mutation.__name__ = change.__name__
    return mutation


def delete(tokens, at, all_, rng, corpus):
    tokens[at] = ""


def duplicate(tokens, at, all_, rng, corpus):
    tokens[at] += " " + tokens[at]


def swap(tokens, at, all_, rng, corpus):
    other = rng.choice(all_)
    tokens[at], tokens[other] = tokens[other], tokens[at]


def replace(tokens, at, all_, rng, corpus):
    tokens[at] = replacement(tokens[at], rng, corpus)


def replace_by_any(tokens, at, all_, rng, corpus):
    tokens[at] = rng.choice(corpus.tokens[rng.choice(list(corpus.tokens))])


def replace_everywhere(tokens, at, all_, rng, corpus):
    """A text stays legal more often if what is the same stays the same."""
    old, new = tokens[at], replacement(tokens[at], rng, corpus)
    tokens[:] = [new if t == old else t for t in tokens]


def use_other_value(tokens, at, all_, rng, corpus):
    tokens[at] = tokens[rng.choice(all_)]


def drop_operand(tokens, at, all_, rng, corpus):
    """Goes with its comma, if it has one."""
    tokens[at] = ""
    for step in (1, -1):
        i = at + step
        while 0 <= i < len(tokens) and tokens[i].isspace():
            i += step
        if 0 <= i < len(tokens) and tokens[i] == ",":
            tokens[i] = ""
            return


def change_element_everywhere(text, rng, corpus):
    """All f32 become bf16, say; all of a text or of its types."""
    found = sorted(set(re.findall(r"(?<![a-z])(?:b?f16|f32|f64|i1|i32|i64)\b", text)))
    if not found:
        return text
    old, new = rng.choice(found), random_element(rng)
    return re.sub(r"(?<![a-z])%s\b" % old, lambda _: new, text)


def change_dimension_everywhere(text, rng, corpus):
    found = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)))
    if not found:
        return text
    old, new = rng.choice(found), rng.choice(DIMS)
    return re.sub(r"(?<=[<x])%s(?=x)" % old, new, text)


def add_dimension_everywhere(text, rng, corpus):
    return text.replace("tensor<", "tensor<%sx" % rng.choice(DIMS))


def pairs(text, prefix=""):
    return [m for m in PAIR.finditer(text) if m.group(1).startswith(prefix)]


def put(text, match, new, group=0):
    return text[:match.start(group)] + new + text[match.end(group):]


def delete_attribute(text, rng, corpus):
    found = pairs(text)
    if not found:
        return text
    gone = put(text, rng.choice(found), "")
    return re.sub(r"([{<]) ?, ", r"\1", gone.replace(", , ", ", "))


def swap_attributes(text, rng, corpus):
    """Values or whole pairs change places; an op has what another one had."""
    found = pairs(text)
    if len(found) < 2:
        return text
    one, two = sorted(rng.sample(found, 2), key=lambda m: m.start())
    group = rng.choice([0, 2])
    return put(put(text, two, one.group(group), group), one, two.group(group), group)


def change_attribute(text, rng, corpus):
    """To a value that the attribute has elsewhere, or to one of another."""
    found = pairs(text, rng.choice(["", "aicf.", "aicf."])) or pairs(text)
    if not found:
        return text
    old = rng.choice(found)
    values = corpus.pairs.get(old.group(1)) or ["unit"]
    new = rng.choice([lambda: rng.choice(values), lambda: corpus.pair(rng)[1],
                      lambda: rng.choice(STRINGS), lambda: rng.choice(NUMBERS),
                      lambda: "unit"])()
    return put(text, old, new, 2)


def add_attribute(text, rng, corpus):
    """In a dictionary, or as a new one of an op, an argument or a function."""
    pair = "%s = %s" % corpus.pair(rng, rng.choice(["", "aicf.", "aicf."]))
    found = list(re.finditer(
        r"\{(?=[\w.]+ = )|(?<=[\w\])]) (?=: tensor)|(?<=[>%s])(?=[,)] ?(%%|->))|"
        r"(?<=\))(?= \{$)" % "0-9", text, re.M))
    if not found:
        return text
    at = rng.choice(found)
    if at.group(0) == "{":
        return put(text, at, "{%s, " % pair)
    is_function = text[:at.start()].endswith(")")
    return put(text, at, " %s{%s} " % ("attributes " if is_function else "", pair))


def on_lines(change):
    def mutation(text, rng, corpus):
        lines = text.splitlines()
        if lines:
            change(lines, rng.randrange(len(lines)), rng, corpus)
        return "\n".join(lines) + "\n"
    mutation.__name__ = change.__name__
    return mutation


def delete_line(lines, at, rng, corpus):
    del lines[at]


def move_line(lines, at, rng, corpus):
    line = lines.pop(at)
    lines.insert(rng.randrange(len(lines) + 1), line)


def duplicate_line(lines, at, rng, corpus):
    lines.insert(at, lines[at])


def splice(lines, at, rng, corpus):
    """Some lines of another text come in, in place of some or of none."""
    other = rng.choice(corpus.texts).splitlines()
    start = rng.randrange(len(other))
    lines[at:at + rng.randrange(3)] = other[start:start + rng.randrange(1, 6)]


def truncate(text, rng, corpus):
    return text[:rng.randrange(len(text) + 1)]


def join(text, rng, corpus):
    """Two texts in one module: names and symbols of both."""
    return text + rng.choice(corpus.texts)


def break_bytes(text, rng, corpus):
    """A character becomes one that no text should have."""
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(["\x00", "\x7f", "\udcff", "é", "\\", '"', "\r"]) \
        + text[at + 1:]


def wrap(text, rng, corpus):
    """A module in the module, or a function in a function."""
    return "%s {\n%s}\n" % (rng.choice(
        ["module", "module @m", "module attributes {aicf.name = \"m\"}",
         "func.func @outer()", "func.func private @outer(%x: tensor<4xf32>)"]), text)


def drop_body(text, rng, corpus):
    """A function is declared only."""
    found = list(re.finditer(r"^func\.func(?: private)? @((?:.|\n)*?) \{\n(?:.*\n)*?\}$",
                             text, re.M))
    if not found:
        return text
    at = rng.choice(found)
    return put(text, at, "func.func private @" + re.sub(r"%\w+: ", "", at.group(1)))


def change_visibility(text, rng, corpus):
    return re.sub(r"func\.func(?= @)", lambda _: "func.func " + rng.choice(
        ["private", "nested", "public"]), text, count=rng.choice([0, 1]))


LOCATIONS = ["unknown", '"f.mlir":1:2', '"a b"("f.mlir":9:9)', 'fused["x", "y":0:0]',
             'callsite("f" at "g":4294967295:1)', 'fused<"m">["x"]', '""']


def add_location(text, rng, corpus):
    return on_lines(lambda lines, at, *_: lines.insert(
        at, lines.pop(at) + " loc(%s)" % rng.choice(LOCATIONS)))(text, rng, corpus)


def add_block(lines, at, rng, corpus):
    """Another block begins here."""
    lines.insert(at, "^bb%s:" % rng.choice(["1", "1(%b: tensor<4xf32>)"]))


def call_function(lines, at, rng, corpus):
    """A call of some function, maybe of the one that it is in."""
    found = re.findall(r"func @(\w+)\((.*?)\) (?:->|\{)", "\n".join(lines))
    if found:
        name, arguments = rng.choice(found)
        types = re.findall(r"%\w+: (tensor<[^<>]*>)", arguments)
        values = re.findall(r"%\w+(?=: )", arguments)[:len(types)]
        lines.insert(at, "  func.call @%s(%s) : (%s) -> ()" % (
            name, ", ".join(values), ", ".join(types)))


# Each with how often it is drawn. Those that keep texts legal are drawn more often,
# because only legal texts reach the passes.
MUTATIONS = [
    (on_tokens(delete), 2), (on_tokens(duplicate), 1), (on_tokens(swap), 1),
    (on_tokens(replace), 4), (on_tokens(replace_by_any), 1),
    (on_tokens(replace, {"type"}), 6), (on_tokens(replace, {"number"}), 16),
    (on_tokens(replace, {"op"}), 6), (on_tokens(replace, {'"'}), 10),
    (on_tokens(replace_everywhere), 3),
    (on_tokens(replace_everywhere, {"type", "number"}), 14),
    (on_tokens(replace_everywhere, {'"', "@"}), 8),
    (on_tokens(use_other_value, {"%"}), 8), (on_tokens(drop_operand, {"%"}), 3),
    (change_element_everywhere, 8), (change_dimension_everywhere, 12),
    (add_dimension_everywhere, 2), (delete_attribute, 10), (swap_attributes, 8),
    (change_attribute, 16), (add_attribute, 10), (on_lines(delete_line), 4),
    (on_lines(move_line), 2), (on_lines(duplicate_line), 1), (on_lines(splice), 2),
    (truncate, 1), (join, 5), (break_bytes, 1), (wrap, 2), (drop_body, 2),
    (change_visibility, 3), (add_location, 3), (on_lines(add_block), 1),
    (on_lines(call_function), 1)]
FUNCTIONS, WEIGHTS = [m for m, _ in MUTATIONS], [w for _, w in MUTATIONS]


def mutated(text, rng, corpus):
    """`text` with one to three changes, of which it may survive some."""
    for change in rng.choices(FUNCTIONS, WEIGHTS, k=rng.choice([1, 1, 1, 1, 2, 2, 3])):
        text = change(text, rng, corpus)
    return one_part(text)


def one_part(text):
    """The tools would split a text that has the mark in it."""
    return re.sub("//+ ?-----", "/", text).rstrip("\n") + "\n"
