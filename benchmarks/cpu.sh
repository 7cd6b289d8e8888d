#!/usr/bin/env bash
# What is measured on the CPU: training steps beside PyTorch and JAX, quiet and busy;
# compile times over size; the training time of the Fashion-MNIST example; copies of
# views and reductions beside memcpy.
# Usage: benchmarks/cpu.sh BUILD [PART...]; parts: steps, lowering, train, copies,
# reductions.
# The peers are installed into .deps/peers, for this benchmark alone.
set -euo pipefail
build=${1:-build}
shift || true
here=$(cd "$(dirname "$0")" && pwd)
peers="$here/../.deps/peers"

steps() {
  # Once all is there, no network is asked for.
  if ! "$peers/bin/python3" -c 'import torch, jax' 2>/dev/null; then
    /usr/bin/python3 -m venv "$peers"
    "$peers/bin/pip" install -q --disable-pip-version-check \
      --index-url https://download.pytorch.org/whl/cpu torch==2.13.0 2>/dev/null ||
      "$peers/bin/pip" install -q --disable-pip-version-check torch==2.13.0
    "$peers/bin/pip" install -q --disable-pip-version-check jax numpy
  fi
  "$here/train_step/make_plans.py" --compiler "$build/bin/aicf-compile" \
    --out "$build/benchmarks/plans" --target cpu
  "$peers/bin/python3" -W ignore "$here/train_step/train_step.py" --device cpu \
    --program "$build/bin/aicf-step" --plans "$build/benchmarks/plans" \
    --out "$build/benchmarks/cpu.json" ${AICF_BENCH_FLAGS:-}
}

lowering() {
  echo "== compile times of generated train steps"
  python3 "$here/lowering.py" "$build"
}

train() {
  echo "== Fashion-MNIST, 10 epochs of 60,000 images"
  for run in 1 2 3; do
    "$build/bin/train-fashion-mnist" "$build/examples/fashion_mnist.plan"
  done
}

copies() { "$build/bin/aicf-memory-times" copies cpu; }

reductions() { "$build/bin/aicf-memory-times" reductions cpu; }

echo "== $(date -I), $(nproc) cores, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2)"
if [ $# -eq 0 ]; then
  set -- steps lowering train copies reductions
fi
for part in "$@"; do
  case "$part" in
  steps | lowering | train | copies | reductions) "$part" ;;
  *) echo "cpu.sh: unknown part '$part'" >&2 && exit 2 ;;
  esac
done
