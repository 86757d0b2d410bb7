#!/usr/bin/env python3
"""Builds and tests everything in a clean Debian 13, with its newer GCC and Boost.

check_debian13.py [--retry-only]: the tracked files are copied into the system; the unit tests, the
tests of the sandbox and the simulation are built and run there. With --retry-only the retry library
and its Asio forms.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from debian_root import DebianRoot

ROOT = Path(__file__).resolve().parent.parent
RETRY_PACKAGES = ["g++", "cmake", "ninja-build", "pkg-config", "python3", "libgtest-dev",
                  "libboost-dev"]
CLIENT_PACKAGES = ["libboost-json-dev", "libssl-dev", "libsnappy-dev", "libc-ares-dev",
                   "libcli11-dev", "libfmt-dev", "libjs-chart.js", "openssl", "iproute2"]
BUILD = """
cd /reprise
g++ --version | head -n 1
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 \\
  -DCMAKE_UNITY_BUILD=ON -DREPRISE_BUILD_TESTS=ON -DREPRISE_BUILD_ASIO=ON %s >/dev/null
cmake --build build %s
ctest --test-dir build --output-on-failure -j 2 %s
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--retry-only", action="store_true", help="without the client")
    is_retry_only = parser.parse_args().retry_only
    packages = RETRY_PACKAGES + ([] if is_retry_only else CLIENT_PACKAGES)
    with tempfile.TemporaryDirectory() as folder, \
            DebianRoot(f"{folder}/root", "trixie", packages) as debian:
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\\0")
        for name in filter(None, files):
            debian.copy(ROOT / name, f"/reprise/{name}")
        if is_retry_only:
            debian.run(BUILD % ("-DREPRISE_BUILD_CLIENT=OFF",
                                "--target retry_tests retry_testing_tests retry_asio_tests",
                                "-R '^retry_(testing_|asio_)?tests$'"))
        else:
            debian.run(BUILD % ("", "", "-L 'unit|integration|sim'"))
    print("Debian 13: built and tested")
    return 0


if __name__ == "__main__":
    sys.exit(main())
