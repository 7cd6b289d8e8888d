#!/usr/bin/env bash
# libFuzzer on the plan loader for the given seconds, from the samples and the
# negative corpus; then the exhaustive sweep (every truncation and every one-byte
# change of three small plans). Everything under ASan and UBSan. Needs clang with
# its runtime library; installs Debian's clang-22 if there is none.
set -euo pipefail
seconds=${1:-60}
cd "$(dirname "$0")/.."

if ! command -v clang++-22 >/dev/null || ! dpkg-query -W libclang-rt-22-dev >/dev/null 2>&1; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq clang-22 libclang-rt-22-dev >/dev/null
fi

cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=None \
  -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_CXX_FLAGS="-O1 -g1" -DAICF_BUILD_COMPILER=OFF -DAICF_BLAS=none \
  -DAICF_FUZZ=ON -DAICF_ASAN=ON >/dev/null
cmake --build build-fuzz --target PlanFuzzer
cmake -S . -B build-sweep -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DAICF_BUILD_COMPILER=OFF >/dev/null
cmake --build build-sweep --target HardeningTest

mkdir -p build-fuzz/corpus build-fuzz/findings
build-sweep/bin/HardeningTest seeds build-fuzz/corpus
build-fuzz/bin/PlanFuzzer build-fuzz/corpus -max_total_time="$seconds" \
  -max_len=8192 -artifact_prefix=build-fuzz/findings/
build-sweep/bin/HardeningTest sweep
