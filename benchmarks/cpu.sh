#!/usr/bin/env bash
# What is measured on the CPU: compile times over size, and the training time of
# the Fashion-MNIST example. Usage: benchmarks/cpu.sh BUILD
set -euo pipefail
build=${1:-build}
here=$(dirname "$0")
echo "== $(date -I), $(nproc) cores, $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2)"
echo "== compile times of generated train steps"
python3 "$here/lowering.py" "$build"
echo "== Fashion-MNIST, 10 epochs of 60,000 images"
for run in 1 2 3; do
  "$build/bin/train-fashion-mnist" "$build/examples/fashion_mnist.plan"
done
# Threads that wait for others that are not scheduled: quiet, and beside as many
# busy processes as there are cores. At most 1.3 times one thread's time.
echo "== Fashion-MNIST, 2 epochs, seconds with 1 and 2 threads, interleaved"
seconds() {
  local start
  start=$(date +%s.%N)
  "$build/bin/train-fashion-mnist" "$build/examples/fashion_mnist.plan" \
    --epochs 2 --threads "$1" >/dev/null
  echo "$(date +%s.%N) - $start" | bc
}
hogs=()
trap 'kill "${hogs[@]}" 2>/dev/null || true' EXIT
for where in quiet busy; do
  if [ $where = busy ]; then
    for _ in $(seq "$(nproc)"); do
      while :; do :; done &
      hogs+=($!)
    done
  fi
  for run in 1 2 3 4 5; do
    echo "$where $(seconds 1) $(seconds 2)"
  done
done
