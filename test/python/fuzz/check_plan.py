# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges a plan from `aicf-plan dump --json` alone, by brute force: order by
transitive closure, overlap by comparing all pairs. Yields one line a fault."""

import math

from .records import PATTERNS, RECORDS

ALIGNMENT = 256
SEGMENTS = {"input": "io", "output": "io", "param": "persistent",
            "state": "persistent", "hyper": "persistent",
            "constant": "persistent", "temp": "temp",
            "saved": "temp", "workspace": "temp"}


def nodes_of(pattern, kinds):
    """For each primitive of a body its (group, node) in a pattern, or None."""
    at, where = 0, []
    while at < len(kinds):
        group = where[-1][0] + 1 if where else 0
        if group and not pattern.is_batch:
            return None
        for node, (kind, may_be_absent) in enumerate(pattern.nodes):
            if at < len(kinds) and kinds[at] == kind:
                where.append((group, node))
                at += 1
            elif not may_be_absent:
                return None
    return where


def tied_slots(kinds, maker, result):
    """The (primitive, slot) of a body that may read what this result overwrites:
    element i of the result needs only element i of them."""
    if len(kinds) == 1:
        return {(0, slot) for r, slot in RECORDS[kinds[0]].ties if r == result}
    for pattern in PATTERNS.values():
        where = nodes_of(pattern, kinds)
        if where:
            group, node = where[maker]
            tied = {slot for made, slot in pattern.ties if made == (node, result)}
            tied |= {slot for slot, other in pattern.same.items() if other in tied}
            return {(where.index((group, e)), slot) for e, slot in tied
                    if (group, e) in where}
    raise AssertionError("no pattern has the primitives %s" % (kinds,))


# What a graph may have besides elementwise primitives and sums.
REPEAT = "expand"
PRODUCT = "gemm"
BY_ROWS = {"softmax", "softmax_bwd", "log_softmax", "log_softmax_bwd"}


def is_graph(body):
    kinds = [step["kind"] for step in body["primitives"]]
    products = {body["num_operands"] + at for at, kind in enumerate(kinds)
                if kind == PRODUCT}
    read = {operand for step in body["primitives"] for operand in step["operands"]}
    # No other pattern keeps a product that it goes on with.
    is_other = any(nodes_of(p, kinds) for p in PATTERNS.values()) and \
        not products & read & set(body["results"])
    return len(kinds) > 1 and not is_other and all(
        RECORDS[k].is_elementwise or RECORDS[k].is_sum or k in (REPEAT, PRODUCT)
        or k in BY_ROWS for k in kinds)


def factors(body):
    """What a product of a graph multiplies: other threads read it on."""
    return {operand for step in body["primitives"] if step["kind"] == PRODUCT
            for operand in step["operands"]}


def left_of_reductions(body):
    """The values of a graph that have the shape of what a reduction leaves."""
    left, before = set(), None
    while left != before:
        before = set(left)
        for at, step in enumerate(body["primitives"]):
            record, made = RECORDS[step["kind"]], body["num_operands"] + at
            if record.is_sum:
                left.add(made)
            elif step["kind"] == REPEAT:
                left.add(step["operands"][0])
            elif record.is_elementwise and left & {made, *step["operands"]}:
                left |= {made, *step["operands"]}
    return left


def may_overwrite(body, result, operand):
    """Whatever reads the operand has read it by then: only slots that are tied to
    this very result."""
    primitives = body["primitives"]
    kinds = tuple(step["kind"] for step in primitives)
    value, first, maker = body["results"][result], body["num_operands"], 0
    if is_graph(body):
        # It has read all at an index before it writes there, but reads what is left of
        # a reduction, or what a product multiplies, at any time.
        return not {value, operand} & (left_of_reductions(body) | factors(body))
    while value >= first + len(RECORDS[kinds[maker]].results):
        first += len(RECORDS[kinds[maker]].results)
        maker += 1
    readers = {(s, slot) for s, step in enumerate(primitives)
               for slot, number in enumerate(step["operands"]) if number == operand}
    return readers <= tied_slots(kinds, maker, value - first)


def is_shared(body):
    """Some operand stands at slots of different meaning of a call of several
    primitives. Not meant: the scalars of updates, and what loss and gradient read."""
    kinds = [step["kind"] for step in body["primitives"]]
    if len(kinds) < 2:
        return False
    pairs = kinds[1].endswith("_grad") or all(
        RECORDS[k].phase == "Update" for k in kinds)
    places = {}
    for s, step in enumerate(body["primitives"]):
        for slot, number in enumerate(step["operands"]):
            if 0 <= number < body["num_operands"]:
                places.setdefault(number, set()).add(slot if pairs else (s, slot))
    return any(len(p) > 1 for p in places.values())


def features_of(dump):
    """What of a plan random programs are to reach."""
    found = set()
    if len(dump["entries"]) > 1:
        found.add("several entries")
    for entry in dump["entries"]:
        if any(v["layout"] == "padded" for v in entry["values"]):
            found.add("padded tensors")
        if any(v["layout"] == "strided" for v in entry["values"]):
            found.add("views with strides")
        written = {n for call in entry["calls"] for n in call["outs"]}
        if any(v["layout"] == "strided" and v["number"] in written
               for v in entry["values"]):
            found.add("parts in place")
        if any(is_shared(call["body"]) for call in entry["calls"]):
            found.add("shared operands in one call")
        if any(v["dtype"] == "i1" for v in entry["values"]):
            found.add("bits")
    if any(b["role"] == "constant" for b in dump["buffers"]):
        found.add("constants")
    return found


def happens_before(calls):
    """before[b] = set of calls that end before call b starts."""
    before, last, signalled = [], {}, {}
    for i, call in enumerate(calls):
        earlier = set()
        parents = [signalled[e] for e in call["waits"] if e in signalled]
        if call["stream"] in last:
            parents.append(last[call["stream"]])
        for p in parents:
            earlier |= before[p] | {p}
        before.append(earlier)
        last[call["stream"]] = i
        for e in call["signals"]:
            signalled[e] = i
    return before


BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8,
         "i1": 1}


def span_of(value):
    """(buffer, first byte, end, bytes). Values are dense, dense with their pads, or
    views; those alone have a set of their bytes, others have all up to the end."""
    size, start = BYTES[value["dtype"]], value["byte_offset"]
    if value["layout"] == "strided":
        places = {start}
        for d, s in zip(value["shape"], value["strides"]):
            places = {p + i * s * size for p in places for i in range(d)}
        places = frozenset(p + b for p in places for b in range(size))
        return value["buffer"], start, max(places) + 1, places
    n, padded = size, value["layout"] == "padded"
    for d in value["shape"]:
        n *= -(-d // 8) * 8 if padded else d
    return value["buffer"], start, start + n, None


def bytes_of(span):
    return span[3] if span[3] is not None else range(span[1], span[2])


def meet(a, b):
    if a[0] != b[0] or a[1] >= b[2] or b[1] >= a[2]:
        return False
    if a[3] is None and b[3] is None:
        return True
    few, other = (a, b) if a[3] is not None else (b, a)
    return any(p in bytes_of(other) for p in few[3])


def covers(spans, span):
    """Whether every byte of `span` lies in one of `spans`."""
    left = set(bytes_of(span))
    for other in spans:
        if left and meet(other, span):
            left -= other[3] if other[3] is not None else set(range(
                max(other[1], span[1]), min(other[2], span[2])))
    return not left


def check_places(buffers, segment_bytes, where):
    for b in buffers:
        end = b["offset"] + b["bytes"]
        if b["offset"] % ALIGNMENT:
            yield "%s: buffer %d at offset %d" % (where, b["number"], b["offset"])
        if SEGMENTS[b["role"]] != b["segment"] or end > segment_bytes[b["segment"]]:
            yield "%s: buffer %d outside its segment" % (where, b["number"])


def check_values(values, buffers, where):
    for v in values:
        buffer, _, end, _ = span_of(v)
        if end > buffers[buffer]["bytes"] or buffers[buffer]["role"] == "workspace":
            yield "%s: value %d is not in its buffer" % (where, v["number"])
        named = buffers[buffer]["segment"] != "temp"
        if named and v["number"] == buffer and \
                (v["byte_offset"], end) != (0, buffers[buffer]["bytes"]):
            yield "%s: value %d is not all of its buffer" % (where, v["number"])


def overlap(a, b):
    return a["segment"] == b["segment"] and a["offset"] < b["offset"] + b["bytes"] \
        and b["offset"] < a["offset"] + a["bytes"]


def check_joined(calls, before, where):
    """Waits are signalled, and everything ends before the last call of stream 0."""
    for i, call in enumerate(calls):
        for e in call["waits"]:
            if not any(e in c["signals"] for c in calls[:i]):
                yield "%s: call %d waits for %d" % (where, i, e)
    if not calls:
        return
    main = [i for i, c in enumerate(calls) if c["stream"] == 0]
    at_end = main[-1] if main else -1
    if at_end < 0 or before[at_end] | {at_end} != set(range(at_end + 1)) or \
            any(c["stream"] for c in calls[at_end + 1:]):
        yield "%s: not everything ends before the last call of stream 0" % where


def check_call(i, call, spans, buffers, values, where):
    """What one call does to bytes that it has twice."""
    views = {v["number"] for v in values if v["layout"] == "strided"}
    sizes = {v["number"]: math.prod(v["shape"]) * BYTES[v["dtype"]] for v in values}
    for number in call["outs"]:
        if number in views and len(spans[number][3]) != sizes[number]:
            yield "%s: call %d writes value %d, whose elements share bytes" % (
                where, i, number)
    outs = [spans[o] for o in call["outs"]]
    for r, out in enumerate(outs):
        role = buffers[out[0]]["role"]
        if role in ("input", "hyper", "constant", "workspace"):
            yield "%s: call %d writes %s %d" % (where, i, role, out[0])
        if any(meet(out, other) for other in outs[:r]):
            yield "%s: call %d writes buffer %d twice" % (where, i, out[0])
        for o, operand in enumerate(call["ins"]):
            in_order = operand not in views or operand == call["outs"][r]
            if meet(out, spans[operand]) and (
                    out != spans[operand] or not in_order or
                    not may_overwrite(call["body"], r, o)):
                yield "%s: call %d (%s) overwrites operand %d with result %d" % (
                    where, i, ", ".join(s["kind"] for s in call["body"]["primitives"]),
                    o, r)


def check_entry(entry, dump):
    where = entry["name"]
    buffers = {b["number"]: b for b in dump["buffers"] + entry["buffers"]}
    values = dump["values"] + entry["values"]
    spans = {v["number"]: span_of(v) for v in values}
    calls = entry["calls"]
    before = happens_before(calls)
    yield from check_places(entry["buffers"],
                            {"io": entry["io_bytes"], "temp": entry["temp_bytes"]},
                            where)
    yield from check_values(values, buffers, where)
    yield from check_joined(calls, before, where)
    accesses = [] # (call, span, whether it writes)
    for i, call in enumerate(calls):
        for number in call["ins"]:
            span = spans[number]
            made = buffers[span[0]]["segment"] == "temp" or \
                buffers[span[0]]["role"] == "output"
            written = [s for c, s, writes in accesses if writes and c in before[i]]
            if made and not covers(written, span):
                yield "%s: call %d reads value %d before it is written" % (
                    where, i, number)
        yield from check_call(i, call, spans, buffers, values, where)
        accesses += [(i, spans[n], False) for n in call["ins"]]
        accesses += [(i, spans[n], True) for n in call["outs"]]
        if call["workspace"] >= 0:
            whole = (call["workspace"], 0, buffers[call["workspace"]]["bytes"], None)
            accesses.append((i, whole, True))
    yield from check_races(accesses, before, where)
    yield from check_sharing(entry, accesses, before)
    yield from check_derived(entry, dump, accesses)


def check_races(accesses, before, where):
    of_buffer = {}
    for access in accesses:
        of_buffer.setdefault(access[1][0], []).append(access)
    for buffer, own in of_buffer.items():
        for a, span, writes in own:
            for b, other, _ in own if writes else ():
                if a != b and meet(span, other) and a not in before[b] \
                        and b not in before[a]:
                    yield "%s: calls %d and %d race on buffer %d" % (
                        where, a, b, buffer)


def check_sharing(entry, accesses, before):
    """Buffers that share bytes are never alive at the same time."""
    calls_of = {}
    for call, span, _ in accesses:
        calls_of.setdefault(span[0], set()).add(call)
    used = [b for b in entry["buffers"] if b["number"] in calls_of]
    for i, a in enumerate(used):
        for b in used[i + 1:]:
            if not overlap(a, b):
                continue
            if a["segment"] != "temp":
                yield "%s: buffers %d and %d share io bytes" % (
                    entry["name"], a["number"], b["number"])
                continue
            x, y = calls_of[a["number"]], calls_of[b["number"]]
            if not all(p in before[q] for p in x for q in y) and \
                    not all(q in before[p] for p in x for q in y):
                yield "%s: buffers %d and %d share bytes while both live" % (
                    entry["name"], a["number"], b["number"])


def check_derived(entry, dump, accesses):
    written = [span for _, span, writes in accesses if writes]
    for b in dump["buffers"]:
        source, whole = b["derived_from"], (b["number"], 0, b["bytes"], None)
        if source >= 0 and any(s[0] == source for s in written) and \
                not covers(written, whole):
            yield "%s: derived state %s is stale" % (entry["name"], b["name"])


def check_constants(dump):
    data = [(b["name"], b["data"]) for b in dump["buffers"] if b["role"] == "constant"]
    for b in dump["buffers"]:
        size = b["bytes"] if b["role"] == "constant" else 0
        if len(b["data"]) != 2 * size:
            yield "%s has %d digits of data for %d bytes" % (
                b["name"], len(b["data"]), size)
    types = {b["name"]: (v["dtype"], tuple(v["shape"]))
             for b, v in zip(dump["buffers"], dump["values"])}
    if len({(types[name], digits) for name, digits in data}) < len(data):
        yield "a constant stands twice"


def check_plan(dump):
    persistent = dump["buffers"]
    yield from check_constants(dump)
    yield from check_places(persistent, {"persistent": dump["persistent_bytes"]},
                            "persistent")
    for i, a in enumerate(persistent):
        for b in persistent[i + 1:]:
            if overlap(a, b):
                yield "persistent: %s and %s share bytes" % (a["name"], b["name"])
    for entry in dump["entries"]:
        yield from check_entry(entry, dump)
