#!/usr/bin/env python3
"""Installs the packages of `./dev packages` in a clean Debian 12 and uses them.

check_packages.py [--packages FOLDER]: each package must have a copyright file. A program is built
with pkg-config, and another with find_package; the same for the client, with a sandbox of its own.
Then the command line stores and reads a document, and its man page and completions are there. Last,
the packages are removed again, and nothing of them may stay.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from debian_root import DebianRoot

ROOT = Path(__file__).resolve().parent.parent
USE_LIBRARY = """
apt-get install -qq --no-install-recommends /packages/libreprise*.deb >/dev/null
g++ -std=c++20 /consumer/main.cpp -o /tmp/plain $(pkg-config --cflags --libs reprise-retry)
/tmp/plain
ldd /tmp/plain | grep libreprise_retry
cmake -S /consumer -B /tmp/build >/dev/null && cmake --build /tmp/build >/dev/null
/tmp/build/consumer
"""
USE_CLIENT = """
apt-get install -qq --no-install-recommends libboost1.81-dev libboost-json1.81-dev libssl-dev \\
  libsnappy-dev libc-ares-dev >/dev/null
g++ -std=c++23 /client_consumer/with_sandbox.cpp -o /tmp/plain_client \\
  $(pkg-config --cflags --libs reprise-couchbase reprise-sandbox)
/tmp/plain_client
cmake -S /client_consumer -B /tmp/client >/dev/null && cmake --build /tmp/client >/dev/null
/tmp/client/with_sandbox
"""
USE_PROGRAM = """
apt-get install -qq --no-install-recommends /packages/reprise_*.deb >/dev/null
reprise --version
reprise lab list >/dev/null
reprise sandbox run --bucket travel -- sh -ec 'reprise upsert k 1 >/dev/null; reprise get k'
test -s /usr/share/bash-completion/completions/reprise
ls /usr/share/man/man1/reprise-get.1*
apt-get remove -qq reprise >/dev/null
"""
REMOVE = """
apt-get remove -qq '^libreprise.*' >/dev/null
test -z "$(find /usr -name '*reprise*')"
"""


def check_copyright(package):
    """The package has the copyright file that Debian requires."""
    name = package.name.partition("_")[0]
    content = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True,
                             capture_output=True).stdout
    text = subprocess.run(["tar", "-xO", f"./usr/share/doc/{name}/copyright"], input=content,
                          capture_output=True).stdout.decode()
    if "License: Apache-2.0\n" not in text:
        raise SystemExit(f"{package.name}: no copyright file that names the licence")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, default=ROOT / "build/packages/packages")
    options = parser.parse_args()
    packages = sorted(options.packages.glob("*.deb"))
    for package in packages:
        check_copyright(package)
    tools = ["g++", "cmake", "make", "pkg-config"]
    with tempfile.TemporaryDirectory() as folder, \
            DebianRoot(f"{folder}/root", "bookworm", tools) as debian:
        for package in packages:
            debian.copy(package, f"/packages/{package.name}")
        debian.copy(ROOT / "tests/install/consumer", "/consumer")
        debian.copy(ROOT / "tests/install/client_consumer", "/client_consumer")
        debian.run("apt-get update -qq" + USE_LIBRARY)
        debian.run(USE_CLIENT)
        debian.run(USE_PROGRAM)
        debian.run(REMOVE)
    print("Debian 12: packages of libraries and program installed, used and removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
