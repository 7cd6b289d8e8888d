# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random training steps against NumPy, and against themselves.

    python3 -m fuzz --bin build/bin --count 200 [--seed 0]

program.py is what a step is and how it is written down, generate.py makes random
ones, semantics.py says in NumPy what each op means, check_plan.py judges plans from
their JSON, judge.py runs everything and compares, reduce.py makes a failing program
small. Nothing here is shared with the compiler.
"""
