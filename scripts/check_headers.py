#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the runtime and compiles each installed header alone, then builds and
links a small program against the installed tree with find_package(AICF).

    check_headers.py --build BUILD --compiler c++
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """
#include <aicf/Runtime/Executor.h>
int main() {
  auto plan = aicf::Plan::load("/nonexistent");
  return plan.ok() ? 1 : aicf::createCPUDevice()->numThreads() < 1;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.20)
project(consumer CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(AICF REQUIRED CONFIG)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE AICF::aicfRuntime)
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(map(str, command)), done.stdout, done.stderr))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--compiler", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        run("cmake", "--install", args.build, "--prefix", prefix,
            "--component", "runtime")
        headers = sorted((prefix / "include").rglob("*.h"))
        if not headers:
            sys.exit("no header was installed")
        for header in headers:
            run(args.compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Werror",
                "-I", prefix / "include", "-x", "c++", header)
        source = pathlib.Path(folder) / "consumer"
        source.mkdir()
        (source / "main.cpp").write_text(PROGRAM)
        (source / "CMakeLists.txt").write_text(PROJECT)
        run("cmake", "-S", source, "-B", source / "build",
            "-DCMAKE_PREFIX_PATH=%s" % prefix,
            "-DCMAKE_CXX_COMPILER=%s" % args.compiler)
        run("cmake", "--build", source / "build")
        run(source / "build" / "consumer")
        print("%d headers compile alone, and a consumer links" % len(headers))


if __name__ == "__main__":
    main()
