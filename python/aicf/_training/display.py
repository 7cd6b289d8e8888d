# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a person sees of a run: a bar while an epoch goes on, and a line behind it.

Lines go to stdout, so that a log file has them; the bar goes to stderr, and is there only
in a terminal or a notebook.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .totals import Totals

if TYPE_CHECKING:
    from ..training import Run

#: How often the bar shows the loss, which waits for the device.
SHOW_SECONDS = 0.2

#: What `verbose` may be.
QUIET, BAR, LINES = 0, 1, 2


def in_notebook() -> bool:
    """Whether this is a kernel of Jupyter, whose stderr is not a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def bar_class() -> Any:
    """Returns tqdm's class for the place where this runs; None if a bar would be noise: in
    a file, and in a notebook without ipywidgets, where tqdm only warns."""
    if in_notebook():
        try:
            import ipywidgets  # type: ignore[import-not-found,unused-ignore] # noqa: F401
        except ImportError:
            return None
        from tqdm.notebook import tqdm as notebook  # type: ignore[import-untyped,unused-ignore]
        return notebook
    if not sys.stderr.isatty():
        return None
    from tqdm import tqdm  # type: ignore[import-untyped]
    return tqdm


def line_of(logs: Mapping[str, Any], epochs: int, is_best: bool) -> str:
    """Returns an epoch's values as a line: `epoch  3/10  loss 0.2113  ...  best`."""
    width = len(str(epochs))
    parts = ["epoch %*d/%d" % (width, logs["epoch"], epochs)]
    parts += ["%s %s" % (name, value if isinstance(value, str) else "%-9.4g" % value)
              for name, value in logs.items() if name not in ("epoch", "seconds")]
    parts.append("%.3g s" % logs["seconds"])
    return "  ".join(parts + ["best"] * is_best)


class Display:
    """Shows a run. `verbose` is 0 for nothing, 1 for a bar and lines, 2 for lines only."""

    def __init__(self, run: Run, verbose: int) -> None:
        self.run, self.verbose = run, verbose

    @contextlib.contextmanager
    def bar(self, num_batches: int | None) -> Iterator[Callable[[Totals], None]]:
        """Yields a function that counts a batch, and shows the loss from time to time."""
        make = bar_class() if self.verbose == BAR else None
        if make is None:
            yield lambda totals: None
            return
        run, shown = self.run, time.monotonic()
        with make(total=num_batches, initial=run.position, leave=False, unit="batch",
                  desc="epoch %d/%d" % (run.epoch + 1, run.epochs)) as bar:
            def count(totals: Totals) -> None:
                nonlocal shown
                bar.update()
                if time.monotonic() - shown > SHOW_SECONDS:
                    shown = time.monotonic()
                    bar.set_postfix(loss="%.4g" % totals.last_loss(), refresh=False)
            yield count

    def epoch(self, logs: Mapping[str, Any], is_best: bool) -> None:
        self.say(line_of(logs, self.run.epochs, is_best))

    def say(self, text: str) -> None:
        if self.verbose != QUIET:
            print(text, flush=True)
