#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the runtime and compiles each installed header alone, then builds and
links a small program against the installed tree with find_package(AICF). With
MLIR_DIR the same of the compiler's component, whose program lowers a step; the
runtime's program must build beside it without MLIR.

    check_headers.py --build BUILD --compiler c++
        [--mlir-dir MLIR_DIR --mlir-include MLIR_INCLUDE_DIR]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

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

# Both namespaces opened: no name of one hides or doubles a name of the other.
COMPILER_PROGRAM = """
#include <aicf/Compiler.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Pass/PassManager.h>
using namespace mlir;
using namespace aicf;
int main() {
  DialectRegistry registry;
  registerDialects(registry);
  registerAICFPasses();
  registerAICFPipelines();
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
        -> (tensor<4xf32> {aicf.name = "y"}) {
      %y = aicf.gelu %x : tensor<4xf32>
      return %y : tensor<4xf32>
    })", &context);
  PassManager pm(&context);
  LowerToBackendOptions options;
  options.target = DeviceKind::CPU;
  buildLowerToBackendPipeline(pm, options);
  if (!module || failed(pm.run(*module)))
    return 1;
  FailureOr<Plan> plan = translateToPlan(*module);
  return failed(plan) || plan->entries[0].calls.size() != 1;
}
"""
COMPILER_PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(consumer C CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(AICF REQUIRED CONFIG COMPONENTS compiler)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE AICF::AICFTransforms AICF::AICFTarget
  MLIRParser)
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr))


def build_consumer(folder, name, program, project, compiler, prefix, *flags):
    source = pathlib.Path(folder) / name
    source.mkdir()
    (source / "main.cpp").write_text(program)
    (source / "CMakeLists.txt").write_text(project)
    run("cmake", "-S", source, "-B", source / "build",
        "-DCMAKE_PREFIX_PATH=%s" % prefix,
        "-DCMAKE_CXX_COMPILER=%s" % compiler, *flags)
    run("cmake", "--build", source / "build")
    run(source / "build" / "consumer")


def check_headers(prefix, compiler, known, *flags):
    """Compiles each header that is not known alone; returns all."""
    headers = set((prefix / "include").rglob("*.h"))
    if not headers - known:
        sys.exit("no header was installed")
    for header in sorted(headers - known):
        run(compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-I",
            prefix / "include", *flags, "-x", "c++", header)
    return headers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--mlir-dir")
    parser.add_argument("--mlir-include")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        run("cmake", "--install", args.build, "--prefix", prefix,
            "--component", "runtime")
        headers = check_headers(prefix, args.compiler, set())
        build_consumer(folder, "runtime", PROGRAM, PROJECT, args.compiler, prefix)
        if args.mlir_dir:
            run("cmake", "--install", args.build, "--prefix", prefix,
                "--component", "compiler")
            headers = check_headers(
                prefix, args.compiler, headers, "-fno-exceptions",
                "-Wno-unused-parameter", "-isystem", args.mlir_include)
            build_consumer(folder, "beside", PROGRAM, PROJECT, args.compiler, prefix,
                           "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON")
            build_consumer(folder, "compiler", COMPILER_PROGRAM, COMPILER_PROJECT,
                           args.compiler, prefix, "-DMLIR_DIR=" + args.mlir_dir)
        print("%d headers compile alone, and consumers link" % len(headers))


if __name__ == "__main__":
    main()
