#!/usr/bin/env python3
"""Builds and tests libraries and program in a clean Debian 13, with its newer GCC and Boost.

check_debian13.py [--retry-only]: the tracked files are copied into the system and built there. The
tests of the retry library, its Asio forms and the client are run, those of the client against the
sandbox among them. With --retry-only there is no client.
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
RETRY_TESTS = ["retry_tests", "retry_testing_tests", "retry_asio_tests"]
CLIENT_TESTS = ["couchbase_tests", "client_tests"]
BUILD = """
cd /reprise
g++ --version | head -n 1
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 \\
  -DCMAKE_UNITY_BUILD=ON -DREPRISE_BUILD_TESTS=ON -DREPRISE_BUILD_ASIO=ON {options} >/dev/null
cmake --build build -j 2 --target {targets}
ctest --test-dir build --output-on-failure -j 2 -R '^({tests})$'
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--retry-only", action="store_true", help="without the client")
    is_retry_only = parser.parse_args().retry_only
    packages, tests, targets = RETRY_PACKAGES, RETRY_TESTS, []
    options = "-DREPRISE_BUILD_CLIENT=OFF"
    if not is_retry_only:
        packages, tests = packages + CLIENT_PACKAGES, tests + CLIENT_TESTS
        targets, options = ["reprise_app"], ""
    with tempfile.TemporaryDirectory() as folder, \
            DebianRoot(f"{folder}/root", "trixie", packages) as debian:
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\0")
        for name in filter(None, files):
            debian.copy(ROOT / name, f"/reprise/{name}")
        debian.run(BUILD.format(options=options, targets=" ".join(targets + tests),
                                tests="|".join(tests)))
    print(f"Debian 13: {' '.join(targets + tests)} built; the tests passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
