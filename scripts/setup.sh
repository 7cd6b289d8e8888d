#!/usr/bin/env bash
# Installs what is missing on Debian 12: compiler, libraries, MLIR 22, data.
# With MLIR_DIR set, MLIR and LLVM are not touched. Does nothing when all is
# there; other systems install the packages below by their own names, which
# `scripts/setup.sh --packages` prints.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"

packages=(
  cmake ninja-build g++ ccache dpkg-dev file
  flatbuffers-compiler libflatbuffers-dev libxxhash-dev nlohmann-json3-dev
  libcli11-dev zlib1g-dev libzstd-dev libopenblas-pthread-dev libdnnl-dev
  libjemalloc-dev
  libgtest-dev python3 python3-dev python3-venv python3-numpy python3-pytest
  dataset-fashion-mnist fortunes
)
if [ -z "${MLIR_DIR:-}" ]; then
  packages+=(libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22)
fi
if [ "${1:-}" = --packages ]; then
  printf '%s\n' "${packages[@]}"
  exit
fi

# Headers of NVIDIA's libraries, which nvcc comes without.
fetch_headers() {
  command -v nvcc >/dev/null || return 0
  cd "$root"
  .deps/python/bin/python3 scripts/fetch_headers.py .deps/nvidia/include ||
    echo "setup: no headers of cuBLASLt and cuDNN: large matrix products will not" \
      "run on a GPU" >&2
}

# nanobind and what the package's tests need, beside Debian's NumPy and pytest.
make_python() {
  cd "$root"
  local wanted=python/requirements-dev.txt made=.deps/python
  cmp -s "$wanted" "$made/requirements.txt" && return 0
  echo "setup: making $made, a virtual environment for the Python package (200 MB, 1 minute)"
  rm -rf "$made"
  if /usr/bin/python3 -m venv --system-site-packages "$made" &&
      "$made/bin/python3" -m pip install -q --disable-pip-version-check \
        -r "$wanted" 2>/dev/null; then
    cp "$wanted" "$made/requirements.txt"
  else
    rm -rf "$made"
    echo "setup: no nanobind (pip failed): the Python package is not built" >&2
  fi
}

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  make_python
  fetch_headers
  exit 0
fi

sudo=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: not root and no sudo; please install: ${missing[*]}" >&2
    exit 1
  }
  sudo=sudo
fi
echo "setup: installing ${#missing[@]} packages. All of them take 3.1 GB of disk, with LLVM" \
  "and MLIR 22 as the largest, and 2 to 4 minutes: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
$sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
make_python
fetch_headers
