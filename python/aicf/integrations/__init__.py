# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops of other packages that train by AICF: aicf.integrations.lightning and
aicf.integrations.transformers. Each needs its package, and PyTorch."""
