# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit configuration: see test/lit.site.cfg.py.in for the paths."""

import os

import lit.formats

config.name = "AICF"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".td", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.aicf_binary_dir, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.aicf_tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
# A variable captured in one CHECK-LABEL block may not leak into the next.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
# As a test sees them, not as the caller's shell does.
config.environment["AICF_WARMUP"] = "0"

config.substitutions.append(("%examples", config.aicf_source_dir + "/examples"))
config.substitutions.append(("%generate_step", "%s %s/benchmarks/generate_step.py"
                             % (config.python, config.aicf_source_dir)))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%tblgen", "aicf-tblgen -I %s -I %s/include -I %s" % (
    config.aicf_source_dir, config.aicf_source_dir, config.mlir_include_dir)))
