# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Debian packages: what is in them, and that it runs from where it lies."""

import os
import shutil
import subprocess

import pytest

from conftest import BIN, EXAMPLES

CACHE = (BIN.parent / "CMakeCache.txt").read_text()
pytestmark = pytest.mark.skipif(
    not shutil.which("dpkg-deb") or not shutil.which("cpack") or
    "AICF_ASAN:BOOL=ON" in CACHE, reason="no dpkg-deb or cpack, or a sanitizer's build")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The runtime's package, unpacked; the compiler's takes its time to strip."""
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run(["cpack", "-G", "DEB", "-B", folder,
                    "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
                    "-D", "CPACK_COMPONENTS_ALL=runtime",
                    "--config", BIN.parent / "CPackConfig.cmake"],
                   cwd=BIN.parent, check=True, capture_output=True)
    packages = sorted(folder.glob("*.deb"))
    assert [p.name.split("_")[0] for p in packages] == ["aicf-runtime"]
    for package in packages:
        fields = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True,
                                capture_output=True, text=True).stdout
        if shutil.which("dpkg-shlibdeps"):
            assert "libc6" in fields, fields
        # oneDNN is loaded if it is there.
        for library in ("libmlir", "libdnnl", "opencl", "libgomp"):
            assert library not in fields.lower(), fields
        subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)
    return folder / "root/usr"


def test_what_is_in_them(root):
    for path in ("bin/aicf-run", "lib/libaicf.so.0", "lib/pkgconfig/aicf.pc",
                 "include/aicf-c/aicf.h", "include/aicf/Executor.h",
                 "share/doc/AICF/LICENSE", "share/doc/AICF/THIRD-PARTY-NOTICES"):
        assert (root / path).exists(), path
    assert (BIN / "libaicf_cuda.so").exists() == (root / "lib/libaicf_cuda.so").exists()


def test_it_runs(root):
    done = subprocess.run([root / "bin/aicf-plan", "verify", EXAMPLES / "digits.plan"])
    assert done.returncode == 0
    if not (root / "lib/libaicf_cuda.so").exists():
        return
    # The CUDA library is found: what is missing is a driver, or nothing at all.
    done = subprocess.run(
        [root / "bin/aicf-run", EXAMPLES / "fashion_mnist_cuda_f32.plan", "--device=cuda"],
        capture_output=True, text=True, cwd="/",
        env={k: v for k, v in os.environ.items() if k != "AICF_CUDA_LIBRARY"})
    assert "this build has no CUDA device" not in done.stderr


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config(root, tmp_path):
    env = {**os.environ, "PKG_CONFIG_PATH": str(root / "lib/pkgconfig")}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "aicf"], env=env,
                           check=True, capture_output=True, text=True).stdout.split()
    (tmp_path / "main.c").write_text(
        '#include <aicf-c/aicf.h>\n#include <stdio.h>\n'
        'int main(void) { puts(aicf_version()); return 0; }\n')
    subprocess.run(["cc", tmp_path / "main.c", "-o", tmp_path / "main", *flags], check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True,
                          env={**env, "LD_LIBRARY_PATH": str(root / "lib")})
    assert done.stdout == "0.1.0\n"
