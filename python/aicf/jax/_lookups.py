# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the table: gather and scatter, in the forms that training steps have.

    slice    constant indices of one box             x[3], its gradient
    rows     one index for each row of the result    an embedding, jnp.take
    picked   one element of each row                 take_along_axis, labels
    pairs    an index for each of some dimensions    p[arange(B), y]

An index outside of a dimension gives NaN or the number that the mode "fill" names, and adds
nothing, as in JAX's mode "drop". The mode "clip" and a promise to be in bounds move it inside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ops
from .._tracing import views as _views
from .._tracing.exact import flat_index
from .._tracing.pointwise import FLOATS, broadcast, where
from .._tracing.tensor import Tensor
from ._boxes import box_at, put, starts_inside
from ._shapes import part
from ._table import Call, Unsupported, is_constant, primitive, uniform

#: Modes in which a gather moves an index inside: XLA does it without a promise, too.
_MOVES = ("CLIP", "PROMISE_IN_BOUNDS")
#: One pick or its gradient for each.
_MOST_PICKS = 64


@dataclass
class Form:
    """Dimensions of a gather, or of a scatter, which is the other way round.

    Attributes:
        indexed: dimensions of the table that the indices are of.
        batch: dimensions of the table that go along with some of the indices.
        of_indices: the dimensions of the indices that go along with those.
        window: dimensions of the result that are the table's, and not the indices'.
        of_window: the table's dimensions that those are.
    """

    indexed: list[int]
    batch: list[int]
    of_indices: list[int]
    window: list[int]
    of_window: list[int]

    def drop_points(self) -> list[int]:
        """Leaves dimensions of one indexed element out of the window. Returns where in
        the result they were."""
        dropped = [at for at, d in zip(self.window, self.of_window) if d in self.indexed]
        kept = [(at - sum(other < at for other in dropped), d)
                for at, d in zip(self.window, self.of_window) if d not in self.indexed]
        self.window, self.of_window = [at for at, _ in kept], [d for _, d in kept]
        return dropped


def _mode(call: Call) -> str:
    return str(call.params["mode"]).rpartition(".")[2]


def _columns(call: Call, indices: Any, count: int) -> list[Any]:
    """The last dimension of the indices apart: one tensor or constant for each."""
    if is_constant(indices):
        return [indices[..., i] for i in range(count)]
    rank = len(indices.shape)
    made = call.notes.of("concatenate", indices) or []
    if len(made) == count and all(p.shape[-1] == 1 for p in made) \
            and len(made[0].shape) == rank:
        return [p[..., 0] if is_constant(p) else p.reshape(p.shape[:-1]) for p in made]
    return [part(indices, rank - 1, i, i + 1).reshape(indices.shape[:-1])
            for i in range(count)]


def _clipped(call: Call, index: Any, limit: int, modes: Sequence[str] = ("CLIP",)) -> Any:
    """Of these modes: inside of [0, limit]."""
    if _mode(call) not in modes:
        return index
    if is_constant(index):
        return np.clip(index, 0, limit)
    return index.clamp(0, limit)


def _is_counting(value: Any) -> bool:
    """Whether the value is 0, 1, 2, ... in any shape of one long dimension."""
    return is_constant(value) and bool((value.reshape(-1) == np.arange(value.size)).all())


# Gather

@primitive("gather", limits="one box at constant indices, whole rows, one element of each "
                            "row, or pairs; integers are exact up to 2^53", of_bits=True)
def _gather(call: Call, x: Any, indices: Any) -> Tensor:
    d = call.params["dimension_numbers"]
    table = call.tensor(x)
    batch = [int(i) for i in d.operand_batching_dims]
    form = Form([int(i) for i in d.start_index_map], batch,
                [int(i) for i in d.start_indices_batching_dims],
                [int(i) for i in d.offset_dims],
                [i for i in range(len(table.shape))
                 if i not in batch and i not in d.collapsed_slice_dims])
    sizes = [int(n) for n in call.params["slice_sizes"]]
    if is_constant(indices) and indices.size == len(form.indexed) and not form.batch:
        return _box(call, table, indices.reshape(-1), form, sizes)
    kind = table.dtype
    if kind not in FLOATS:  # NaN stands for nothing there, and is replaced
        table = table.astype("f32" if kind == "i1" else "f64")
    for dim, size in enumerate(sizes):
        is_point = dim in form.indexed or dim in form.batch
        if size != (1 if is_point else table.shape[dim]):
            raise Unsupported("takes boxes of %s from %s" % (
                "x".join(map(str, sizes)), "x".join(map(str, table.shape))))
    window = list(form.window)
    form.drop_points()
    given = _columns(call, indices, len(form.indexed))
    limits = [table.shape[dim] - 1 for dim in form.indexed]
    # A loss with labels that it is to be in bounds of has a kernel of its own.
    labels = [_clipped(call, c, limit) for c, limit in zip(given, limits)]
    columns = [_clipped(call, c, limit, _MOVES) for c, limit in zip(given, limits)]
    if form.batch:
        made = _picked(call, table, columns[0], form).reshape(call.shape)
        _note_labels(call, form, indices, labels[0], made, table)
    elif len(columns) == 2 and _is_pairs(table, columns, form):
        made = ops.pick(table, call.tensor(columns[1]))
        _note_classes(call, indices, labels[1], made, made.shape)
    else:
        made = _rows(call, table, columns, form).reshape(call.shape)
    made = _filled(call, made, columns, limits, window)
    if kind == "i1":
        return made > 0
    return made if kind in FLOATS else made.astype("i64").astype(kind)


def _filled(call: Call, made: Tensor, columns: list[Any], limits: list[int],
            window: list[int]) -> Tensor:
    """Of mode "fill": with the number that is given for what is outside; else it is NaN.
    `window` are the dimensions of the result that are not the indices'."""
    number = call.params.get("fill_value")
    if _mode(call) != "FILL_OR_DROP" or number is None or math.isnan(number):
        return made
    outside = None
    for index, limit in zip(columns, limits):
        if is_constant(index) and ((index >= 0) & (index <= limit)).all():
            continue
        tensor = call.tensor(index)
        wrong = (tensor < 0) | (tensor > limit)
        outside = wrong if outside is None else outside | wrong
    if outside is None:
        return made
    sizes = iter(outside.shape)
    whole = [1 if d in window else next(sizes) for d in range(len(call.shape))]
    return made.masked_fill(broadcast(outside.reshape(whole), call.shape), float(number))


def _box(call: Call, x: Tensor, starts: Any, form: Form, sizes: list[int]) -> Tensor:
    first = [0] * len(x.shape)
    for dim, at in zip(form.indexed, starts):
        most = x.shape[dim] - sizes[dim]
        if _mode(call) in _MOVES:
            at = min(max(int(at), 0), most)
        if not 0 <= int(at) <= most:
            raise Unsupported("reads outside of the tensor")
        first[dim] = int(at)
    box = tuple(slice(at, at + size) for at, size in zip(first, sizes))
    return x[box].reshape(call.shape)


def _is_pairs(x: Tensor, columns: list[Any], form: Form) -> bool:
    return form.indexed == [0, 1] and len(x.shape) == 2 and not form.window \
        and _is_counting(columns[0]) and columns[0].size == x.shape[0] \
        and len(columns[1].shape) == 1


def _rows(call: Call, x: Tensor, columns: list[Any], form: Form) -> Tensor:
    rest = [d for d in range(len(x.shape)) if d not in form.indexed]
    sizes = [x.shape[d] for d in form.indexed]
    kept = [x.shape[d] for d in rest]
    table = x.permute(form.indexed + rest).reshape([math.prod(sizes), math.prod(kept)])
    number = flat_index(columns, sizes)
    taken = ops.embedding(table, number).reshape([*number.shape, *kept])
    return _arranged(taken, len(number.shape), form.window)


def _arranged(taken: Tensor, rank: int, window: list[int]) -> Tensor:
    """From [indices.., window..] to where the result has its window."""
    places = [d for d in range(len(taken.shape)) if d not in window] + window
    order = [0] * len(places)
    for source, place in enumerate(places):
        order[place] = source
    return taken.permute(order)


def _check_rows(form: Form) -> None:
    if len(form.indexed) != 1:
        raise Unsupported("takes several indices for each row")


def _in_result(form: Form, rank: int) -> list[int]:
    """Where the dimensions of indices are in the result, of `rank` dimensions."""
    return [d for d in range(rank) if d not in form.window]


def _by_rows(call: Call, index: Any, form: Form) -> list[Tensor]:
    """Indices, one for each row of the table, and as often as there are some."""
    rank = len(index.shape)
    more = [d for d in range(rank) if d not in form.of_indices]
    count = math.prod(index.shape[d] for d in more)
    if count > _MOST_PICKS:
        raise Unsupported("takes %d elements of each row" % count)
    rows = call.tensor(index).permute(form.of_indices + more)
    rows = rows.reshape([*rows.shape[:len(form.of_indices)], count])
    last = len(rows.shape) - 1
    return [part(rows, last, i, i + 1).reshape(rows.shape[:-1]) for i in range(count)]


def _picked(call: Call, x: Tensor, index: Any, form: Form) -> Tensor:
    """One element of each row, or some. The window's dimensions have the same indices."""
    _check_rows(form)
    rows = x.permute(form.of_window + form.batch + form.indexed)
    apart = rows.shape[:len(form.window)]
    picked = [ops.pick(rows, broadcast(labels, (*apart, *labels.shape))).unsqueeze(-1)
              for labels in _by_rows(call, index, form)]
    more = [d for d in range(len(index.shape)) if d not in form.of_indices]
    places = _in_result(form, len(apart) + len(index.shape))
    whole = _views.concat(picked, -1).reshape(
        [*rows.shape[:-1], *(index.shape[d] for d in more)])
    return _back(whole, form.window + [places[d] for d in form.of_indices + more])


def _note_labels(call: Call, form: Form, indices: Any, column: Any, made: Tensor, x: Any
                 ) -> None:
    """One class of the last dimension for each row, in order: a note for _raising.py."""
    rank = len(x.shape)
    is_in_order = form.batch == list(range(rank - 1)) == form.of_indices
    if not is_constant(indices) and form.indexed == [rank - 1] and is_in_order \
            and indices.size == x.size // x.shape[-1]:
        _note_classes(call, indices, column, made, x.shape[:-1])


def _note_classes(call: Call, indices: Any, column: Any, made: Tensor, rows: Sequence[int]
                  ) -> None:
    """The labels are one tensor for each indices, and mode, which may have moved them."""
    kind = "labels of " + _mode(call).replace("PROMISE_IN_BOUNDS", "FILL_OR_DROP")
    labels = call.notes.of(kind, indices)
    if labels is None:
        labels = call.tensor(column).reshape(tuple(rows))
        call.notes.add(kind, indices, labels)
    call.notes.add("labels", made, labels)


# Scatter

def _scatter_form(call: Call, x: Any) -> Form:
    d = call.params["dimension_numbers"]
    batch = [int(i) for i in d.operand_batching_dims]
    return Form([int(i) for i in d.scatter_dims_to_operand_dims], batch,
                [int(i) for i in d.scatter_indices_batching_dims],
                [int(i) for i in d.update_window_dims],
                [i for i in range(len(x.shape))
                 if i not in batch and i not in d.inserted_window_dims])


@primitive("scatter-add", limits="the gradients of what gather takes; integers are exact "
                                   "up to 2^53")
def _scatter_add(call: Call, x: Any, indices: Any, updates: Any) -> Tensor:
    zeros = uniform(x) == 0
    given = call.tensor(updates)
    if given.dtype not in FLOATS:
        whole = _added(call, x, indices, given.astype("f64")).astype("i64")
        return call.tensor(x) + whole.astype(given.dtype)
    added = _added(call, x, indices, given)
    return added if zeros else call.tensor(x) + added


def _added(call: Call, x: Any, indices: Any, updates: Tensor) -> Tensor:
    form = _scatter_form(call, x)
    if is_constant(indices) and indices.size == len(form.indexed) and not form.batch:
        return _in_zeros(call, indices, updates, form)
    if any(updates.shape[at] != (1 if d in form.indexed else x.shape[d])
           for at, d in zip(form.window, form.of_window)):
        raise Unsupported("adds boxes to places that values say")
    dropped = form.drop_points()
    updates = updates.reshape([n for d, n in enumerate(updates.shape) if d not in dropped])
    columns = [_clipped(call, c, x.shape[dim] - 1) for c, dim in zip(
        _columns(call, indices, len(form.indexed)), form.indexed)]
    if form.batch:
        made = _unpicked(call, x, columns[0], updates, form)
        _note_labels(call, form, indices, columns[0], made, x)
        return made
    if len(columns) == 2 and _is_pairs(x, columns, form):
        made = ops.pick_bwd(updates, call.tensor(columns[1]), size=x.shape[1])
        _note_classes(call, indices, columns[1], made, updates.shape)
        return made
    rest = [d for d in range(len(x.shape)) if d not in form.indexed]
    sizes, kept = [x.shape[d] for d in form.indexed], [x.shape[d] for d in rest]
    number = flat_index(columns, sizes)
    rank = len(updates.shape)
    front = [d for d in range(rank) if d not in form.window]
    rows = updates.permute(front + form.window).reshape([*number.shape, math.prod(kept)])
    table = ops.embedding_bwd(rows, number, rows=math.prod(sizes))
    return _back(table.reshape([*sizes, *kept]), form.indexed + rest)


def _back(x: Tensor, places: list[int]) -> Tensor:
    """Dimension i of x becomes dimension places[i]."""
    order = [0] * len(places)
    for source, place in enumerate(places):
        order[place] = source
    return x.permute(order)


def _box_of(call: Call, indices: Any, updates: Tensor, form: Form) -> tuple[Tensor, list[int]]:
    """A constant box: its elements with all dimensions of the tensor, and its place."""
    shape = [1] * len(call.shape)
    for at, dim in zip(form.window, form.of_window):
        shape[dim] = updates.shape[at]
    starts = [0] * len(shape)
    for dim, at in zip(form.indexed, indices.reshape(-1)):
        starts[dim] = int(at)
        if not 0 <= int(at) <= call.shape[dim] - shape[dim]:
            raise Unsupported("writes outside of the tensor")
    return updates.reshape(shape), starts


def _in_zeros(call: Call, indices: Any, updates: Tensor, form: Form) -> Tensor:
    box, starts = _box_of(call, indices, updates, form)
    for dim, (at, size) in enumerate(zip(starts, call.shape)):
        if box.shape[dim] != size:
            box = ops.pad(box, axis=dim, begin=at, size=size)
    return box


def _unpicked(call: Call, x: Any, index: Any, updates: Tensor, form: Form) -> Tensor:
    _check_rows(form)
    more = [d for d in range(len(index.shape)) if d not in form.of_indices]
    places = _in_result(form, len(updates.shape))
    rows = updates.permute(form.window + [places[d] for d in form.of_indices + more])
    front = rows.shape[:len(form.window) + len(form.of_indices)]
    rows = rows.reshape([*front, -1])
    last = len(rows.shape) - 1
    total = None
    for i, labels in enumerate(_by_rows(call, index, form)):
        own = part(rows, last, i, i + 1).reshape(front)
        added = ops.pick_bwd(own, broadcast(labels, front), size=x.shape[form.indexed[0]])
        total = added if total is None else total + added
    assert total is not None
    kept = form.of_window + form.batch + form.indexed
    return _back(total, [sorted(kept).index(d) for d in kept]).reshape(call.shape)


@primitive("scatter", limits="up to 64 boxes")
def _scatter(call: Call, x: Any, indices: Any, updates: Any) -> Tensor:
    """One box after the other, so that the last one stays."""
    made = call.tensor(x)
    form = _scatter_form(call, made)
    if form.batch:
        raise Unsupported("writes one box for each of a batch")
    columns = [c.reshape(-1) for c in _columns(call, indices, len(form.indexed))]
    count = columns[0].size if columns else 1
    if count > _MOST_PICKS:
        raise Unsupported("writes %d boxes" % count)
    given = call.tensor(updates)
    front = [d for d in range(len(given.shape)) if d not in form.window]
    sizes = [1] * len(call.shape)
    for at, dim in zip(form.window, form.of_window):
        sizes[dim] = given.shape[at]
    boxes = given.permute(front + form.window).reshape([count, *sizes])
    for i in range(count):
        starts: list[Any] = [np.zeros((), "i4")] * len(sizes)
        for dim, column in zip(form.indexed, columns):
            starts[dim] = column[i]
        made = _with_box(call, made, boxes[i], starts)
    return made


def _with_box(call: Call, x: Tensor, box: Tensor, starts: list[Any]) -> Tensor:
    inside = starts_inside(call, starts, x.shape, box.shape)
    if _mode(call) != "CLIP":  # nothing is written outside
        for at, whole, size in zip(starts, x.shape, box.shape):
            if is_constant(at) and not 0 <= int(at) <= whole - size:
                return x
            if not is_constant(at):
                start = call.tensor(at)
                is_out = (start < 0) | (start > whole - size)
                box = where(broadcast(is_out, box.shape), box_at(x, inside, box.shape), box)
    return put(x, box, inside)


@primitive("iota")
def _iota(call: Call) -> Tensor:
    sizes = [1] * len(call.shape)
    sizes[int(call.params["dimension"])] = -1
    counted = np.arange(call.shape[int(call.params["dimension"])], dtype="i8")
    return broadcast(call.tensor(counted.reshape(sizes)).astype(call.dtype), call.shape)
