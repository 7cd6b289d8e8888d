# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The measuring parts of benchmarks/gpu.sh, which sources this file.

bench() {
  PYTHONUNBUFFERED=1 python3 benchmarks/train_step/train_step.py \
    --program $build/bin/aicf-step --plans carry/plans \
    --out "$out/train_step.json" ${AICF_BENCH_FLAGS:-} 2>&1 |
    tee "$out/train_step.txt"
}

accuracy() {
  PYTHONUNBUFFERED=1 python3 benchmarks/train_step/accuracy.py \
    --program $build/bin/aicf-step --plans carry/plans 2>&1 |
    tee "$out/accuracy.txt"
}

steps() {
  python3 benchmarks/train_step/steps.py --program $build/bin/aicf-step \
    --plans carry/plans 2>&1 | tee "$out/steps.txt"
}

# What CUDA charges for steps unrolled in a graph and for a while node.
while_node() {
  nvcc -O3 -std=c++17 -arch=sm_90a benchmarks/while_node.cu -o $build/bin/while-node
  for kernels in 9 21; do $build/bin/while-node $kernels; done |
    tee "$out/while-node.txt"
}

# One allocation per tensor, and the arena: KernelTest allocates every tensor by
# itself, CudaDeviceTest and the plans run in the arena.
sanitize() {
  export AICF_TEST_DEVICE=cuda
  local filter='*reduce*:*adam*:*gemm*:*mse*:*norm*:*finite*:*relu*'
  for tool in memcheck racecheck initcheck synccheck; do
    compute-sanitizer --tool $tool --error-exitcode 9 \
      $build/bin/KernelTest --gtest_filter="$filter" \
      >"$out/sanitizer-$tool.log" 2>&1 && echo "$tool: ok" || echo "$tool: FAILED"
    tail -2 "$out/sanitizer-$tool.log"
  done
}
