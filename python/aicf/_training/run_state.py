# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a checkpoint of aicf.fit says about its run: JSON in the file's metadata. A file is
not trusted, so all of it is checked before any of it is used."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import Any

from ..errors import InvalidFileError

#: The key of a checkpoint's metadata.
KEY = "aicf.fit"
VERSION = 1

_Check = Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2 ** 63


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (
        isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2 ** 63)


def _is_finite(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_logged(value: Any) -> bool:
    return _is_number(value) or _is_text(value)


def _is_epoch(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_logged, value.values())) \
        and _is_count(value.get("epoch")) and _is_number(value.get("loss")) \
        and _is_number(value.get("seconds"))


def _is_sum(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_finite(value[0]) \
        and _is_count(value[1]) and value[1] > 0


def _is_best(value: Any) -> bool:
    return value is None or (isinstance(value, dict) and set(value) == {"epoch", "value"}
                             and _is_count(value["epoch"]) and value["epoch"] > 0
                             and _is_finite(value["value"]))


def _is_callback(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _is_text(value[0])


def _is_hyper(value: Any) -> bool:
    return _is_number(value) or (isinstance(value, list) and all(map(_is_number, value)))


def _dict_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _list_of(check: _Check) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


#: For each field what it must be; a field with a default may be missing.
_FIELDS: dict[str, _Check] = {
    "epoch": _is_count, "position": _is_count, "sums": _dict_of(_is_sum),
    "seconds": lambda value: _is_finite(value) and value >= 0,
    "history": _list_of(_is_epoch), "best": _is_best, "stopped": _is_text,
    "callbacks": _list_of(_is_callback), "hypers": _dict_of(_is_hyper),
    "rates": _list_of(_is_finite), "data": lambda value: True, "log": _list_of(lambda value: value is None
                                                or _is_count(value)),
}
_DEFAULTS: dict[str, Any] = {"data": None, "best": None, "log": [], "rates": []}


def read(path: str) -> dict[str, Any]:
    """Returns the state of the run that wrote the checkpoint in the folder `path`. Raises
    InvalidFileError if it is not one, or if its state is damaged."""
    from safetensors import SafetensorError, safe_open
    file = os.path.join(path, "state.safetensors")
    try:
        with safe_open(file, framework="numpy") as opened:
            metadata = opened.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise InvalidFileError("%r is not a checkpoint: %s" % (file, error)) from None
    if KEY not in metadata:
        raise InvalidFileError(
            "%r is a checkpoint, but not one of aicf.fit: it does not say where the run "
            "was. step.load_checkpoint(%r) reads its values" % (path, path))
    try:
        state = json.loads(metadata[KEY])
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from None
    if not isinstance(state, dict):
        raise damaged(path, "it is not an object")
    if state.get("version") != VERSION:
        raise InvalidFileError("%r has a state of version %r, but this AICF reads %d"
                               % (path, state.get("version"), VERSION))
    state = {**_DEFAULTS, **state}
    if not isinstance(state["log"], list):  # of a run with one log, as it was written once
        state["log"] = [state["log"]]
    return _checked(path, state)


def _checked(path: str, state: dict[str, Any]) -> dict[str, Any]:
    for name, check in _FIELDS.items():
        if name not in state:
            raise damaged(path, "it has no %r" % name)
        if not check(state[name]):
            raise damaged(path, "its %r is %.60r" % (name, state[name]))
    if len(state["history"]) != state["epoch"]:
        raise damaged(path, "it is in epoch %d and has %d epochs behind it"
                      % (state["epoch"], len(state["history"])))
    if state["position"] and "loss" not in state["sums"]:
        raise damaged(path, "it is behind %d batches and has no sum of their losses"
                      % state["position"])
    return state


def damaged(path: str, why: object) -> InvalidFileError:
    return InvalidFileError("%r: the state of the run is damaged (%s)" % (path, why))
