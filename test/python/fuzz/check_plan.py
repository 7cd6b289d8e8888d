# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Judges a plan from `aicf-plan dump --json` alone, by brute force: order by
transitive closure, overlap by comparing all pairs. Yields one line a fault."""

ALIGNMENT = 256
SEGMENTS = {"input": "io", "output": "io", "param": "persistent",
            "state": "persistent", "hyper": "persistent", "temp": "temp",
            "saved": "temp", "workspace": "temp"}
# A result may be written over these operands: element i needs only element i.
IN_PLACE = {
    "bias_add": {(0, 0)}, "relu": {(0, 0)}, "relu_bwd": {(0, 0), (0, 1)},
    "add": {(0, 0), (0, 1)}, "mse_grad": {(0, 0), (0, 1)},
    "layer_norm": {(0, 0)}, "loss_scale_update": {(0, 0), (1, 1)},
    "step_inc": {(0, 0)}, "adam_step": {(0, 0), (1, 2), (2, 3)},
    "sgd_step": {(0, 0), (1, 3)}, "reciprocal": {(0, 0)}, "record": {(0, 0)},
    "gelu": {(0, 0)}, "gelu_bwd": {(0, 0), (0, 1)},
    "mul": {(0, 0), (0, 1)}, "sub": {(0, 0), (0, 1)}, "scale": {(0, 0)},
    "fill_like": {(0, 0)}, "tanh": {(0, 0)}, "tanh_bwd": {(0, 0), (0, 1)},
    "sigmoid": {(0, 0)}, "sigmoid_bwd": {(0, 0), (0, 1)}, "silu": {(0, 0)},
    "silu_bwd": {(0, 0), (0, 1)},
    "softmax_cross_entropy_grad": {(0, 0)},
    "bce_with_logits_grad": {(0, 0), (0, 1)}, "l1_grad": {(0, 0), (0, 1)},
    "softmax": {(0, 0)}, "softmax_bwd": {(0, 0), (0, 1)}, "dropout": {(0, 0)},
    "lion_step": {(0, 0), (1, 2)}, "clip_factor": {(0, 0)},
}
# Of calls of several primitives, by (step, result): the (step, slot) that may read
# what it overwrites.
IN_PLACE_TOGETHER = {
    ("gemm", "relu_bwd"): {(1, 0): {(1, 1)}},
    ("relu_bwd", "reduce_sum"): {(0, 0): {(0, 0), (0, 1)}},
    ("mse_loss", "mse_grad"): {(1, 0): {(0, 0), (0, 1), (1, 0), (1, 1)}},
    ("bce_with_logits", "bce_with_logits_grad"):
        {(1, 0): {(0, 0), (0, 1), (1, 0), (1, 1)}},
    ("l1_loss", "l1_grad"): {(1, 0): {(0, 0), (0, 1), (1, 0), (1, 1)}},
    ("add", "layer_norm"): {(0, 0): {(0, 0), (0, 1)}, (1, 0): {(0, 0), (0, 1)}},
}
RESULTS = {"adam_step": 3, "sgd_step": 2, "lion_step": 2, "layer_norm": 3}


def may_overwrite(body, result, operand):
    """Whatever reads the operand has read it by then: only slots that are tied to
    this very result."""
    steps = body["steps"]
    kinds = tuple(step["kind"] for step in steps)
    value, first, maker = body["results"][result], body["num_operands"], 0
    while len(steps) > 1 and value >= first + RESULTS.get(kinds[maker], 1):
        first += RESULTS.get(kinds[maker], 1)
        maker += 1
    readers = {(s, slot) for s, step in enumerate(steps)
               for slot, number in enumerate(step["operands"]) if number == operand}
    if kinds in IN_PLACE_TOGETHER:
        tied = IN_PLACE_TOGETHER[kinds].get((maker, value - first), set())
    else: # one primitive, or updates of many: each in its own operands
        tied = {(maker, slot) for r, slot in IN_PLACE.get(kinds[maker], ())
                if r == value - first}
    return readers <= tied


def is_shared(body):
    """Some operand stands at slots of different meaning of a call of several
    primitives. Not meant: the scalars of updates, and what loss and gradient read."""
    kinds = [step["kind"] for step in body["steps"]]
    if len(kinds) < 2:
        return False
    pairs = all(k in RESULTS for k in kinds) or kinds[1].endswith("_grad")
    places = {}
    for s, step in enumerate(body["steps"]):
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
        if any(t["layout"] == "padded" for t in entry["tensors"]):
            found.add("padded tensors")
        if any(is_shared(call["body"]) for call in entry["calls"]):
            found.add("shared operands in one call")
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


def check_places(tensors, segment_bytes, where):
    for t in tensors:
        end = t["offset"] + t["bytes"]
        if t["offset"] % ALIGNMENT:
            yield "%s: tensor %d at offset %d" % (where, t["tid"], t["offset"])
        if SEGMENTS[t["role"]] != t["segment"] or end > segment_bytes[t["segment"]]:
            yield "%s: tensor %d outside its segment" % (where, t["tid"])


def overlap(a, b):
    return a["segment"] == b["segment"] and a["offset"] < b["offset"] + b["bytes"] \
        and b["offset"] < a["offset"] + a["bytes"]


def check_entry(entry, persistent):
    where = entry["name"]
    tensors = {t["tid"]: t for t in persistent + entry["tensors"]}
    calls = entry["calls"]
    before = happens_before(calls)
    yield from check_places(entry["tensors"],
                            {"io": entry["io_bytes"], "temp": entry["temp_bytes"]},
                            where)
    for i, call in enumerate(calls):
        for e in call["waits"]:
            if not any(e in c["signals"] for c in calls[:i]):
                yield "%s: call %d waits for %d" % (where, i, e)
    if calls:
        at_end = max(i for i, c in enumerate(calls)
                     if c["stream"] == 0) if any(
                         c["stream"] == 0 for c in calls) else -1
        if at_end < 0 or before[at_end] | {at_end} != set(range(at_end + 1)) or \
                at_end != len(calls) - 1 and any(
                    c["stream"] for c in calls[at_end + 1:]):
            yield "%s: not everything ends before the last call of stream 0" % where
    accesses, writes = {}, {}
    for i, call in enumerate(calls):
        ins, outs = list(call["ins"]), list(call["outs"])
        if call["workspace"] >= 0:
            outs.append(call["workspace"])
        for tid in ins:
            if tensors[tid]["segment"] == "temp" or tensors[tid]["role"] == "output":
                if not any(w in before[i] for w in writes.get(tid, ())):
                    yield "%s: call %d reads tensor %d before it is written" % (
                        where, i, tid)
        for r, tid in enumerate(call["outs"]):
            if tensors[tid]["role"] in ("input", "hyper", "workspace"):
                yield "%s: call %d writes %s %d" % (where, i,
                                                   tensors[tid]["role"], tid)
            for o, other in enumerate(call["ins"]):
                if other == tid and not may_overwrite(call["body"], r, o):
                    yield "%s: call %d (%s) overwrites operand %d with result %d" % (
                        where, i, ", ".join(s["kind"] for s in call["body"]["steps"]),
                        o, r)
        for tid in ins + outs:
            accesses.setdefault(tid, set()).add(i)
        for tid in outs:
            writes.setdefault(tid, []).append(i)
    for tid, written in writes.items():
        for w in written:
            for a in accesses[tid]:
                if a != w and a not in before[w] and w not in before[a]:
                    yield "%s: calls %d and %d race on tensor %d" % (where, w, a, tid)
    yield from check_sharing(entry, tensors, accesses, before)
    yield from check_derived(entry, persistent, writes)


def check_sharing(entry, tensors, accesses, before):
    """Tensors that share bytes are never alive at the same time."""
    used = [t for t in entry["tensors"] if t["tid"] in accesses]
    for i, a in enumerate(used):
        for b in used[i + 1:]:
            if not overlap(a, b):
                continue
            if a["segment"] != "temp":
                yield "%s: tensors %d and %d share io bytes" % (
                    entry["name"], a["tid"], b["tid"])
                continue
            x, y = accesses[a["tid"]], accesses[b["tid"]]
            if not all(p in before[q] for p in x for q in y) and \
                    not all(q in before[p] for p in x for q in y):
                yield "%s: tensors %d and %d share bytes while both live" % (
                    entry["name"], a["tid"], b["tid"])


def check_derived(entry, persistent, writes):
    for t in persistent:
        source = t["derived_from"]
        if source >= 0 and source in writes and t["tid"] not in writes:
            yield "%s: derived state %s is stale" % (entry["name"], t["name"])


def check_plan(dump):
    persistent = dump["persistent"]
    yield from check_places(persistent, {"persistent": dump["persistent_bytes"]},
                            "persistent")
    for i, a in enumerate(persistent):
        for b in persistent[i + 1:]:
            if overlap(a, b):
                yield "persistent: %s and %s share bytes" % (a["name"], b["name"])
    for entry in dump["entries"]:
        yield from check_entry(entry, persistent)
