#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws or checks the figures of the docs: docs/figures/*.svg.

    draw_figures.py [--check] ROOT

steps.svg is the table of a results file; pipeline.svg is drawn by hand, below. Both are
plain SVG with a title that says what they show.
"""

import argparse
import pathlib
import re
import sys
from xml.sax.saxutils import escape

RESULTS = "benchmarks/results/2026-11-22-h200.md"
SECTION = "## Every case beside the better peers"
#: What a case of that table is, and in which order they are shown.
CASES = {"seed": "64 × 64-128-64, f32", "odd": "1000 × 777-1031-513-10, bf16",
         "deep": "512 × 32 layers of 1024, bf16", "mid": "1024 × 784-1024³-16, tf32",
         "large": "8192 × 4 layers of 4096, bf16", "xl": "16384 × 4 layers of 8192, bf16"}
FONT = 'font-family="system-ui, sans-serif"'


def ratios(root):
    """How many times as fast as the best peer AICF is, by case: the medians' quotient."""
    text = (root / RESULTS).read_text()
    table = re.search(r"^\| case .*?(?=\n\n)", text[text.index(SECTION):], re.M | re.S).group()
    found = {}
    for line in table.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        name = cells[0].split(",")[0]
        if name in CASES and name not in found:
            numbers = [float(re.match(r"[\d.]+", c).group()) if c else None
                       for c in cells[1:8]]
            own = min(n for n in numbers[:2] if n)
            found[name] = min(n for n in numbers[2:] if n) / own
    missing = set(CASES) - set(found)
    if missing:
        sys.exit("%s has no row for %s" % (RESULTS, ", ".join(sorted(missing))))
    return found


def steps(root):
    found = ratios(root)
    height, left, scale, top = 30, 250, 210, 46
    rows = []
    for i, (name, what) in enumerate(CASES.items()):
        y, value = top + i * height, found[name]
        rows.append(
            '<text x="%d" y="%d" text-anchor="end" font-size="13">%s</text>'
            '<rect x="%d" y="%d" width="%.1f" height="18" rx="2" fill="#4c8bf5"/>'
            '<text x="%.1f" y="%d" font-size="13" font-weight="600">%.2f ×</text>' % (
                left - 8, y + 14, escape(what), left, y, value * scale,
                left + value * scale + 6, y + 14, value))
    bottom = top + len(CASES) * height
    return '''<svg xmlns="http://www.w3.org/2000/svg" width="760" height="%d" viewBox="0 0 760 %d" role="img" %s>
<title>How many times as fast as the best of PyTorch and JAX a training step of AICF is</title>
<rect width="760" height="%d" fill="#fff"/>
<g fill="#1c2330">
<text x="12" y="22" font-size="14" font-weight="600">Training steps of linear layers on one H200: speed beside the best of PyTorch and JAX</text>
%s
</g>
<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#d9480f" stroke-dasharray="4 3"/>
<text x="%d" y="%d" font-size="12" fill="#d9480f" text-anchor="middle">best peer</text>
</svg>
''' % (bottom + 28, bottom + 28, FONT, bottom + 28, "\n".join(rows), left + scale,
       top - 10, left + scale, bottom, left + scale, bottom + 16)


STAGES = [
    ("your model", "Python, PyTorch or .mlir", "traced, nothing runs"),
    ("aicf", "a function on tensors", "gradients, optimizer, 16 bits"),
    ("aicf_rt", "calls: one is one launch", "fuse, kernels, streams"),
    ("plan", "calls on memory", "offsets; checked when loaded"),
    ("run", "CPU, or one CUDA graph", "allocates nothing"),
]


def pipeline(_):
    width, gap = 196, 30
    boxes = []
    for i, (name, what, how) in enumerate(STAGES):
        x = 12 + i * (width + gap)
        boxes.append(
            '<rect x="%d" y="20" width="%d" height="84" rx="6" fill="#e7effd" '
            'stroke="#4c8bf5"/>'
            '<text x="%d" y="44" font-size="15" font-weight="600">%s</text>'
            '<text x="%d" y="66" font-size="12">%s</text>'
            '<text x="%d" y="88" font-size="12" fill="#667085">%s</text>' % (
                x, width, x + 10, escape(name), x + 10, escape(what), x + 10, escape(how)))
        if i:
            boxes.append('<path d="M%d 62 h%d m-7 -5 l7 5 l-7 5" fill="none" '
                         'stroke="#1c2330"/>' % (x - gap + 3, gap - 7))
    total = 24 + len(STAGES) * (width + gap) - gap
    return '''<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="124" viewBox="0 0 %d 124" role="img" %s>
<title>From a model to a replayed graph: model, aicf, aicf_rt, plan, run</title>
<rect width="%d" height="124" fill="#fff"/>
<g fill="#1c2330">
%s
</g>
</svg>
''' % (total, total, FONT, total, "\n".join(boxes))


FIGURES = {"steps.svg": steps, "pipeline.svg": pipeline}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--check", action="store_true",
                        help="compare with the files that are there")
    args = parser.parse_args()
    folder = args.root / "docs/figures"
    stale = []
    for name, draw in FIGURES.items():
        text = draw(args.root)
        if not args.check:
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        elif not (folder / name).exists() or (folder / name).read_text() != text:
            stale.append(name)
    if stale:
        sys.exit("docs/figures: %s differ from what scripts/draw_figures.py draws"
                 % ", ".join(stale))


if __name__ == "__main__":
    main()
