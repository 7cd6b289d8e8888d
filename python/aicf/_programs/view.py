# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan as a page for a browser, as aicf-plan view does."""

from __future__ import annotations

import html
import os
import webbrowser
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _runtime
from ..errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..program import Entry, Program
    from .lowered import Lowered

    #: What has a plan.
    HasPlan: TypeAlias = Program | Entry | Lowered | _runtime.Plan | str | os.PathLike[str]


def _plan_of(value: HasPlan) -> tuple[_runtime.Plan, str]:
    """Returns the plan, and what the page calls it."""
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        return _runtime.Plan.load(path), os.path.basename(path)
    found: Any = getattr(value, "program", value)  # of an entry
    plan = getattr(found, "plan", found)
    if not isinstance(plan, _runtime.Plan):
        raise InvalidArgumentError("%.80r has no plan to view" % (value,))
    return plan, ", ".join(plan.entries)


def _text_of(path: str | os.PathLike[str]) -> str:
    if not path:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


class Page(str):
    """The path of a page, which Jupyter shows as a frame."""

    def _repr_html_(self) -> str:
        with open(self, encoding="utf-8") as file:
            return ("<iframe srcdoc=\"%s\" width=\"100%%\" height=\"640\"></iframe>"
                    % html.escape(file.read()))


def view(self: HasPlan, path: str | os.PathLike[str], *, other: HasPlan | None = None,
         profile: str | os.PathLike[str] = "", other_profile: str | os.PathLike[str] = "",
         gigabytes_per_second: float = 0.0, gigaflops: float = 0.0,
         open_browser: bool = False) -> Page:
    """Writes an HTML page that shows the plan's memory, its calls and their costs.

    Args:
        path: the page to write. It is one file, which needs no network.
        other: a program, a lowered step, or a plan file. The page shows it beside this
            plan, with what differs.
        profile, other_profile: files that aicf-run --profile wrote. The page shows the
            time of each call.
        gigabytes_per_second, gigaflops: what the device copies and computes in a
            second. The page shows the least time that each call can take.
        open_browser: whether to open the page.
    Returns: the path, which Jupyter shows as a frame.
    Raises: InvalidArgumentError (no plan, a profile that is not one), OSError.
    """
    plans = [(*_plan_of(self), _text_of(profile))]
    if other is not None:
        plans.append((*_plan_of(other), _text_of(other_profile)))
    page = _runtime.view_plans(plans, gigabytes_per_second * 1e9, gigaflops * 1e9)
    target = os.fspath(path)
    _runtime.write_file(target, page)
    if open_browser:
        webbrowser.open("file://" + os.path.abspath(target))
    return Page(target)
