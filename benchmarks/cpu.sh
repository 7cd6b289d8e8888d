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
