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

# Beside PyTorch and JAX; AICF_GPT2_FLAGS are more words for the script.
gpt2() {
  python3 benchmarks/gpt2.py run --program $build/bin/aicf-step --plans carry/plans/gpt2 \
    --out "$out/gpt2.json" ${AICF_GPT2_FLAGS:-} | tee "$out/gpt2.md"
}

gpt2_check() {
  python3 benchmarks/gpt2_check.py --program $build/bin/aicf-step \
    --dump $build/bin/aicf-plan --plans carry/plans/gpt2 ${AICF_GPT2_FLAGS:-} |
    tee "$out/gpt2_check.txt"
}

# What CUDA charges for steps unrolled in a graph and for a while node.
while_node() {
  nvcc -O3 -std=c++17 -arch=sm_90a benchmarks/while_node.cu -o $build/bin/while-node
  for kernels in 9 21; do $build/bin/while-node $kernels; done |
    tee "$out/while-node.txt"
}

# All of KernelTest (one allocation per tensor), three shards a tool side by side.
sanitize() {
  export AICF_TEST_DEVICE=cuda
  local shards=3 tool shard log
  for tool in memcheck racecheck initcheck synccheck; do
    for shard in $(seq 0 $((shards - 1))); do
      GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard compute-sanitizer \
        --tool $tool --error-exitcode 9 $build/bin/KernelTest \
        >"$out/$tool.$shard.log" 2>&1 &
    done
  done
  wait
  for log in "$out"/*check.?.log; do
    echo "$(basename "$log"): $(grep -E 'PASSED|FAILED|SUMMARY' "$log" | tr '\n' ' ')"
  done
}
