#!/usr/bin/env bash
# Builds dist/aicf-*.whl with PYTHON (default python3), which every Python from 3.10
# on takes: it uses the stable ABI alone, which abi3audit proves. Says what it holds
# and needs, and gives it the platform tag of the glibc that it was built with.
# Usage: scripts/wheel.sh [OPTION OF pip wheel...]
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check wheel abi3audit==0.0.26
"$work/venv/bin/pip" wheel --disable-pip-version-check --no-deps -w "$work/dist" "$@" .
# What it was linked with is what it needs: no newer tag would be true.
glibc=$(getconf GNU_LIBC_VERSION | grep -o '[0-9]*\.[0-9]*$')
tag=manylinux_${glibc/./_}_$(uname -m)
"$work/venv/bin/wheel" tags --remove --platform-tag "$tag" "$work"/dist/*.whl
mkdir -p dist
mv "$work"/dist/*.whl dist/
wheel=$(ls -t dist/*.whl | sed -n 1p)

echo "wheel: $wheel, $(du -h "$wheel" | cut -f1)"
if [ "$(stat -c %s "$wheel")" -gt $((25 << 20)) ]; then
  echo "wheel: $wheel has more than 25 MiB" >&2
  exit 1
fi
"$work/venv/bin/abi3audit" --strict "$wheel"
mkdir "$work/unpacked"
"$python" -m zipfile -e "$wheel" "$work/unpacked"
allowed='lib(stdc\+\+|m|gcc_s|c|pthread|dl|rt)\.so|ld-linux'
for library in "$work"/unpacked/aicf/*.so; do
  needs=$(readelf -d "$library" | grep -o 'NEEDED.*\[.*\]' | grep -o '\[.*\]' | tr -d '[]' | tr '\n' ' ')
  echo "  $(basename "$library") $(du -h "$library" | cut -f1), needs $needs"
  if echo "$needs" | tr ' ' '\n' | grep -v -E "$allowed" | grep -q .; then
    echo "wheel: $(basename "$library") needs a library that other machines lack" >&2
    exit 1
  fi
done
