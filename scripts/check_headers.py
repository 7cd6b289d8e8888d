#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the runtime, moves the tree and compiles each installed header alone, then
builds small C++ and C programs against it with find_package(AICF). With MLIR_DIR the
same of the compiler's component, and examples/embed; the runtime's program must build
beside it without MLIR. Neither names a path of this machine.

    check_headers.py --build BUILD --compiler c++
        [--mlir-dir MLIR_DIR --mlir-include MLIR_INCLUDE_DIR]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = """
#include <aicf/Executor.h>
int main() {
  auto plan = aicf::Plan::load("/nonexistent");
  return plan.ok() ? 1 : aicf::createCPUDevice()->numThreads() < 1;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(consumer CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(AICF CONFIG COMPONENTS strange)
if(AICF_FOUND)
  message(FATAL_ERROR "AICF has a component that is called strange")
endif()
find_package(AICF REQUIRED CONFIG COMPONENTS runtime OPTIONAL_COMPONENTS compiler)
if(AICF_compiler_FOUND)
  message(FATAL_ERROR "AICF's compiler was found without MLIR")
endif()
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE AICF::aicfRuntime)
"""

# Without components: all that is installed, with the MLIR that the machine has.
ALL_PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(consumer C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(AICF REQUIRED CONFIG)
if(NOT TARGET AICF::AICFTransforms)
  message(FATAL_ERROR "find_package(AICF) without components left the compiler out")
endif()
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE AICF::aicfRuntime)
"""

# Both namespaces opened: no name of one hides or doubles a name of the other.
NAMES = """
#include <aicf/Compiler.h>
#include <aicf/Executor.h>
using namespace mlir;
using namespace aicf;
LogicalResult use(ModuleOp, Plan *, Executor *, StatusOr<DType>, step::LinearOp, Keep);
"""

C_PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(consumer C)
find_package(AICF REQUIRED CONFIG COMPONENTS runtime)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE AICF::aicf)
"""
C_PROGRAM = """
#include <aicf-c/aicf.h>
int main(void) {
  AICFPlan *plan = 0;
  return aicf_plan_load("/nonexistent", &plan) != AICF_FILE_NOT_FOUND;
}
"""

# A TableGen file of an embedder, with patterns on our ops.
PATTERNS = """
include "mlir/IR/PatternBase.td"
include "lib/Dialect/AICF/AICFOps.td"
def : Pat<(AICF_ReluOp (AICF_ReluOp $x)), (AICF_ReluOp $x)>;
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr))
    return done.stdout


def build_consumer(folder, name, sources, compiler, prefix, *flags):
    source = pathlib.Path(folder) / name
    source.mkdir()
    for file, text in sources.items():
        (source / file).write_text(text)
    said = build_project(source, source / "build", compiler, prefix, *flags)
    run(source / "build" / "consumer")
    return said


def build_project(source, build, compiler, prefix, *flags):
    said = run("cmake", "-S", source, "-B", build, "-DCMAKE_PREFIX_PATH=%s" % prefix,
               "-DCMAKE_CXX_COMPILER=%s" % compiler, *flags)
    run("cmake", "--build", build)
    return said


def check_relocatable(prefix):
    """The package names no path of this machine: it may be moved."""
    for path in (prefix / "lib").rglob("*.cmake"):
        for line in path.read_text().split("\n"):
            if re.search(r'["; ](/usr|/home|/work|/tmp|/opt)/', line):
                sys.exit("%s names a path of this machine: %s" % (path, line))


def check_headers(prefix, compiler, known, *flags):
    """Compiles each header that is not known alone; returns all."""
    headers = set((prefix / "include").rglob("*.h"))
    if not headers - known:
        sys.exit("no header was installed")
    for header in sorted(headers - known):
        run(compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-I",
            prefix / "include", *flags, "-x", "c++", header)
    return headers


def check_compiler(folder, prefix, args, known):
    """Headers, the patterns of an embedder, and examples/embed."""
    flags = ["-fno-exceptions", "-Wno-unused-parameter", "-isystem",
             args.mlir_include]
    headers = check_headers(prefix, args.compiler, known, *flags)
    names = pathlib.Path(folder) / "names.cpp"
    names.write_text(NAMES)
    run(args.compiler, "-std=c++17", "-fsyntax-only", "-I", prefix / "include",
        *flags, names)
    patterns = pathlib.Path(folder) / "patterns.td"
    patterns.write_text(PATTERNS)
    run(pathlib.Path(args.mlir_dir) / "../../../bin/mlir-tblgen", "-gen-rewriters",
        "-I", args.mlir_include, "-I", prefix / "include",
        "-I", prefix / "include/aicf/td", patterns, "-o", "/dev/null")
    embed = SOURCE / "examples/embed"
    build = pathlib.Path(folder) / "embed"
    build_project(embed, build, args.compiler, prefix, "-DMLIR_DIR=" + args.mlir_dir)
    run(build / "mlpc", embed / "model.mlir")
    return headers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--mlir-dir")
    parser.add_argument("--mlir-include")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first = pathlib.Path(folder) / "first"
        prefix = pathlib.Path(folder) / "prefix"
        run("cmake", "--install", args.build, "--prefix", first,
            "--component", "runtime")
        first.rename(prefix)  # the tree may be moved
        headers = check_headers(prefix, args.compiler, set())
        build_consumer(folder, "runtime", {"main.cpp": PROGRAM,
                                           "CMakeLists.txt": PROJECT},
                       args.compiler, prefix)
        build_consumer(folder, "c", {"main.c": C_PROGRAM,
                                     "CMakeLists.txt": C_PROJECT},
                       args.compiler, prefix)
        if args.mlir_dir:
            run("cmake", "--install", args.build, "--prefix", prefix,
                "--component", "compiler")
            build_consumer(folder, "beside", {"main.cpp": PROGRAM,
                                              "CMakeLists.txt": PROJECT},
                           args.compiler, prefix,
                           "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
            build_consumer(folder, "all", {"main.cpp": PROGRAM,
                                           "CMakeLists.txt": ALL_PROJECT},
                           args.compiler, prefix, "-DMLIR_DIR=" + args.mlir_dir)
            said = build_consumer(folder, "alone",
                                  {"main.cpp": PROGRAM, "CMakeLists.txt":
                                   (SOURCE / "examples/runtime/CMakeLists.txt")
                                   .read_text().replace("run-plan", "consumer")},
                                  args.compiler, prefix,
                                  "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
            if "AICF was built with MLIR" not in said:
                sys.exit("find_package(AICF) without MLIR does not say what it left out:\n"
                         + said)
            headers = check_compiler(folder, prefix, args, headers)
        check_relocatable(prefix)
        print("%d headers compile alone, and consumers link" % len(headers))


if __name__ == "__main__":
    main()
