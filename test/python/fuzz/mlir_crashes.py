# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Crashes and hangs that are MLIR's own. texts.py passes over a crash that an entry
matches, and counts it. An entry comes here after a stock tool, without our plug-in, has
done the same with a text that has no op of ours. Its pattern begins at the innermost
frame; a parser or a pass of ours may stand further out."""

import re
from typing import NamedTuple


class Known(NamedTuple):
    reason: str     # what MLIR does wrong
    trace: str      # a pattern for the signal with the message, and for the innermost
                    # frames, a line each
    text: str = ""  # a pattern for the text


CRASHES = [
    Known("mlir-lsp-server finds no place for a diagnostic behind a '\\r'",
          r"SIGSEGV\nllvm::SourceMgr::SrcBuffer::getLineNumber\n"
          r"llvm::SourceMgr::getLineAndColumn\n", r"\r"),
    Known("linalg.transpose and linalg.broadcast go on without the list that they miss",
          r"SIGSEGV\nmlir::Attribute::getContext\nmlir::NamedAttrList::set\n(.*\n)*"
          r"parseDstStyleOp\n", r"linalg\.(transpose|broadcast)"),
    Known("linalg.generic takes what is not a string in iterator_types for one",
          r".*\n(.*\n){0,8}mlir::linalg::GenericOp::parse\n",
          r'iterator_types\s*=\s*\[(?!\s*("\w*"\s*,?\s*)*\])'),
    Known("completion asks the first value of a name for its type, and has only a later one",
          r".*\n(.*\n)?OperationParser::parseSSAUse\n", r"%[\w.$-]+#[1-9]"),
    Known("array<index: 1> asks an index for its width",
          r"SIGSEGV\n(mlir::FloatType::getWidth\n)?mlir::Type::getIntOrFloatBitWidth\n"
          r"mlir::detail::Parser::parseDenseArrayAttr\n", r"array\s*<\s*index"),
    # In the body of a module; mlir-opt --canonicalize does not end with
    # `%c = arith.constant 0 : i32 %a = arith.addi %a, %c : i32`.
    Known("an op that reads its own result and folds to it is folded for ever",
          r"hang\n(.*\n){0,20}(GreedyPatternRewriteDriver::processWorklist|"
          r"mlir::OpBuilder::tryFold)\n", r"(?m)^\s*(%\w+) = .*\1\b"),
]


def known(crash, text):
    """The entry that a crash matches, or None."""
    what = " ".join(filter(None, [crash.signal, crash.message]))
    trace = "\n".join([what, *crash.frames]) + "\n"
    return next((k for k in CRASHES if re.match(k.trace, trace)
                 and re.search(k.text, text)), None)
