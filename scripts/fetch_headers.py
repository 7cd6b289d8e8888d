#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fetches the headers of NVIDIA's libraries that the CUDA device is built with, and that
nvcc does not bring: `fetch_headers.py FOLDER`. They are in wheels of hundreds of
megabytes, of which only the headers are read (HTTP ranges). Which ones FOLDER has stands
in FOLDER/wheels.txt; nothing is fetched twice. cuDNN's frontend wants a folder that is
called include."""

import json
import pathlib
import subprocess
import sys
import zipfile

from remotezip import RemoteZip, RemoteZipError

WHEELS = ["nvidia-cublas==13.0.2.14", "nvidia-cudnn-cu13==9.28.1.4",
          "nvidia-cuda-nvrtc==13.0.88", "nvidia-cudnn-frontend==1.32.0"]


def addresses() -> list[str]:
    """Returns where pip would take the wheels from, without taking them."""
    report = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps",
         "--ignore-installed", "--only-binary=:all:", "--use-feature=fast-deps",
         "--report", "-", *WHEELS],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout
    return [item["download_info"]["url"] for item in json.loads(report)["install"]]


def certificates() -> str | bool:
    """Returns the file of certificates that pip is told to trust; True: the usual ones."""
    settings = subprocess.run([sys.executable, "-m", "pip", "config", "list"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    for line in settings.splitlines():
        name, _, value = line.partition("=")
        if name.endswith(".cert"):
            return value.strip("'")
    return True


def opened(address: str) -> zipfile.ZipFile:
    if address.startswith("file://"):
        return zipfile.ZipFile(address.removeprefix("file://"))
    return RemoteZip(address, verify=certificates())


def headers(wheel: zipfile.ZipFile) -> dict[str, bytes]:
    """Returns those of its include folders, by their names inside of them."""
    found = {}
    for name in wheel.namelist():
        before, folder, inside = f"/{name}".partition("/include/")
        if folder and inside.endswith(".h"):
            found[inside] = wheel.read(name)
    return found


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    made, wanted = folder / "wheels.txt", "\n".join(WHEELS) + "\n"
    if made.exists() and made.read_text() == wanted:
        return
    for address in addresses():
        with opened(address) as wheel:
            for name, text in headers(wheel).items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text)
    made.write_text(wanted)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # what pip says last
        sys.exit("fetch_headers: %s" % (error.stderr or "pip failed").strip().splitlines()[-1])
    except (OSError, RemoteZipError, zipfile.BadZipFile) as error:
        sys.exit("fetch_headers: %s" % error)
