#!/usr/bin/env bash
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds, tests and measures on a machine with a GPU but without LLVM and
# without network, in two halves:
#   benchmarks/gpu.sh prepare [BUILD]   where the compiler is: compiles the plans
#                                       and copies headers into carry/
#   benchmarks/gpu.sh PART...           on the GPU machine, with carry/ beside
# Parts: build, tests, goldens, update_goldens, train, python, sanitize, accuracy,
# steps, bench, gpt2, gpt2_check, ops, words, attention, transformer_ops, copies, reductions,
# while_node. Logs go to $OUT, or to build-gpu/.
set -euo pipefail
cd "$(dirname "$0")/.."

prepare() {
  local build="${1:-build}"
  rm -rf carry
  mkdir -p carry/include carry/plans
  cp -r /usr/include/flatbuffers /usr/include/nlohmann /usr/include/CLI carry/include/
  cp /usr/include/xxhash.h /usr/include/xxh3.h carry/include/ 2>/dev/null || true
  cp -r /usr/src/googletest carry/
  rm -rf carry/googletest/google*/{test,samples,docs,scripts}
  cp -r .deps/nvidia/include/. carry/include/ 2>/dev/null || true
  cp "$build"/examples/*.plan carry/plans/
  cp -r /usr/share/datasets/fashion-mnist carry/
  benchmarks/train_step/make_plans.py --compiler "$build/bin/aicf-compile" \
    --out carry/plans
  benchmarks/op_times.py plan --compiler "$build/bin/aicf-compile" --out carry/plans/ops
  benchmarks/word_times.py plan --compiler "$build/bin/aicf-compile" --out carry/plans/words
  benchmarks/transformer_ops.py plan --compiler "$build/bin/aicf-compile" \
    --out carry/plans/transformer_ops
  benchmarks/attention_times.py plan --compiler "$build/bin/aicf-compile" \
    --out carry/plans/attention
  if [ -x .deps/torch/bin/python ]; then
    PYTHONPATH="$build/python" .deps/torch/bin/python benchmarks/gpt2.py plan \
      --out carry/plans/gpt2
  fi
  scripts/goldens.py plans --build "$build" --out carry/goldens
  PYTHONPATH="$build/python:test/python/package" AICF_SOURCE_DIR=. \
    AICF_BINARY_DIR="$build" .deps/python/bin/python3 \
    test/python/package/test_cuda.py carry/plans/python
  mkdir -p carry/python
  cp -r .deps/python/lib/python3*/site-packages/nanobind carry/python/
  du -sh carry
}

out="${OUT:-build-gpu}"
build=build-gpu

build() {
  mkdir -p "$out"
  # Whatever cuBLASLt the machine's Python packages bring.
  cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DAICF_BUILD_COMPILER=OFF -DAICF_ENABLE_CUDA=ON \
    -DCMAKE_PREFIX_PATH="$PWD/carry" \
    -DCMAKE_CXX_FLAGS="-isystem $PWD/carry/include" \
    -DAICF_GTEST_SOURCE="$PWD/carry/googletest" >"$out/configure.log" 2>&1 ||
    { tail -30 "$out/configure.log"; return 1; }
  cmake --build $build --target all tests >"$out/build.log" 2>&1 ||
    { grep -E "error|FAILED" "$out/build.log" | head -30; return 1; }
  echo "built"
}

library_named() {
  { find /usr /opt -name "$1" 2>/dev/null || true; } | sort | head -1
}

find_libraries() {
  AICF_CUBLASLT_LIBRARY="$(library_named libcublasLt.so.13)"
  AICF_CUDNN_LIBRARY="$(library_named libcudnn.so.9)"
  export AICF_CUBLASLT_LIBRARY AICF_CUDNN_LIBRARY
  export LD_LIBRARY_PATH="$(dirname "$AICF_CUBLASLT_LIBRARY"):${LD_LIBRARY_PATH:-}"
}

tests() {
  ctest --test-dir $build --output-on-failure -j 8 >"$out/ctest.log" 2>&1 ||
    tail -40 "$out/ctest.log"
  tail -4 "$out/ctest.log"
  AICF_TEST_DEVICE=cuda $build/bin/CUDADeviceTest >"$out/device.log" 2>&1 ||
    grep -vE "^\[ +(RUN|OK)|SKIPPED" "$out/device.log" | head -40
  tail -1 "$out/device.log"
  AICF_TEST_DEVICE=cuda $build/bin/DeviceSuiteTest >"$out/suite.log" 2>&1 ||
    grep -vE "^\[ +(RUN|OK)|SKIPPED" "$out/suite.log" | head -40
  tail -1 "$out/suite.log"
  kernel_tests
}

# In one process a core: their references are computed on the CPU, which takes longest.
kernel_tests() {
  local shards shard
  shards=$(nproc)
  for shard in $(seq 0 $((shards - 1))); do
    AICF_TEST_DEVICE=cuda GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
      $build/bin/KernelTest >"$out/kernels.$shard.log" 2>&1 &
  done
  wait
  cat "$out"/kernels.*.log >"$out/kernels.log"
  rm "$out"/kernels.*.log
  grep -vE '^\[ +(RUN|OK)|SKIPPED|PASSED|^\[-+\]|Skipped|^$' "$out/kernels.log" |
    grep -A20 -E 'Failure|FAILED' | head -60 || true
  echo "KernelTest: $(grep -c ' OK \]' "$out/kernels.log") passed," \
    "$(grep -c 'FAILED  \].*(' "$out/kernels.log") failed"
}

# Bits of the CUDA goldens against test/goldens/cuda-<card>.json; update_goldens
# writes that file to $OUT, to be looked at and committed.
goldens() {
  local card file
  card="$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 |
    tr '[:upper:] ' '[:lower:]-')"
  file="test/goldens/cuda-$card.json"
  cp "$file" "$out/" 2>/dev/null || true
  scripts/goldens.py bits --bin $build/bin --plans carry/goldens \
    --file "$out/cuda-$card.json" "$@" | tee "$out/goldens.txt"
}

update_goldens() { goldens --update; }

train() {
  for precision in f32 bf16; do
    $build/bin/train-fashion-mnist carry/plans/fashion_mnist_cuda_$precision.plan \
      --device cuda --data carry/fashion-mnist | tee "$out/train-$precision.txt"
  done
  $build/bin/train-fashion-mnist carry/plans/residual_cuda_bf16.plan \
    --epochs 5 --device cuda --data carry/fashion-mnist | tee "$out/train-residual.txt"
}

ops() {
  benchmarks/op_times.py run --runner $build/bin/aicf-run --plans carry/plans/ops |
    tee "$out/ops.md"
}

words() {
  benchmarks/word_times.py run --runner $build/bin/aicf-run --plans carry/plans/words |
    tee "$out/words.md"
}

attention() {
  benchmarks/attention_times.py run --runner $build/bin/aicf-run \
    --plans carry/plans/attention | tee "$out/attention.md"
}

transformer_ops() {
  benchmarks/transformer_ops.py run --library $build/lib/libaicf.so.0 \
    --plans carry/plans/transformer_ops | tee "$out/transformer_ops.md"
}

copies() { $build/bin/aicf-memory-times copies cuda | tee "$out/copies.md"; }

reductions() { $build/bin/aicf-memory-times reductions cuda | tee "$out/reductions.md"; }

# The package, without its compiler, for the machine's own python3.
python() {
  export PYTHONPATH="$PWD/carry/python:$PWD/$build/python"
  cmake -S . -B $build -DAICF_BUILD_PYTHON=ON \
    -DPython_EXECUTABLE="$(command -v python3)" >"$out/configure.log" 2>&1 ||
    { tail -30 "$out/configure.log"; return 1; }
  cmake --build $build --target python-package >"$out/build.log" 2>&1 ||
    { grep -E "error|FAILED" "$out/build.log" | head -30; return 1; }
  export AICF_CUDA_LIBRARY="$PWD/$build/bin/libaicf_cuda.so"
  AICF_SOURCE_DIR="$PWD" AICF_BINARY_DIR="$PWD/$build" python3 -m pytest -q -p no:cacheprovider \
    test/python/package/test_cuda.py 2>&1 | tee "$out/python.txt" | tail -40
  python3 benchmarks/python_cuda_calls.py carry/plans/python/mlp.cuda.plan |
    tee "$out/python_calls.txt"
}

case "${1:-}" in
prepare)
  shift
  prepare "$@"
  exit
  ;;
esac
find_libraries
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
for part in "$@"; do
  echo "== $part"
  case "$part" in
  build | tests | goldens | update_goldens | train | python | ops | words | attention | transformer_ops | copies | reductions) "$part" ;;
  sanitize | accuracy | steps | bench | gpt2 | gpt2_check | while_node) source benchmarks/gpu_parts.sh && "$part" ;;
  *) echo "gpu.sh: unknown part '$part'" >&2 && exit 2 ;;
  esac
done
