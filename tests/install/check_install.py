#!/usr/bin/env python3
"""Installs the retry library and uses it as a stranger would.

The library goes into a temporary prefix, the consumer is copied out of the tree and built as C++20
twice: by CMake's find_package, where Boost must not even be looked for, and by pkg-config with the
bare compiler. Both programs must run. The prefix is moved in between, since packages move. Asking
for a component that is not there must fail with a message that names it and those that are there.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


class failed(Exception):
    """A step went wrong; the text says which and what it printed."""


def run(step, command, environment=None, expect_failure=False):
    """Runs a command and returns what it printed."""
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)
    if (result.returncode != 0) != expect_failure:
        raise failed(f"{step}: exit status {result.returncode}\n{result.stdout}")
    print(f"install: {step}: ok")
    return result.stdout


def check_headers(prefix):
    """Component retry brings its headers and no others."""
    tops = sorted(path.name for path in (prefix / "include/reprise").iterdir())
    if "retry.hpp" not in tops or {"testing", "couchbase", "retry_asio"} & set(tops):
        raise failed(f"unexpected headers in include/reprise: {tops}")


def check_find_package(options, work, prefix):
    """Builds and runs the consumer by find_package; then asks for a component that is missing."""
    configure = [options.cmake, "-S", work / "consumer", "-G", options.generator,
                 f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
                 f"-DCMAKE_CXX_FLAGS={options.flags}", "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"]
    run("configure with find_package", configure + ["-B", work / "build"])
    run("build with CMake", [options.cmake, "--build", work / "build"])
    run("run the CMake consumer", [work / "build/consumer"])
    output = run("missing component is refused",
                 configure + ["-B", work / "missing", "-DREPRISE_COMPONENTS=retry;no_such_part"],
                 expect_failure=True)
    text = " ".join(output.split())
    if "component 'no_such_part' is not installed here" not in text or "has: retry" not in text:
        raise failed(f"the message does not name the missing component:\n{output}")


def check_pkg_config(options, work, prefix):
    """Builds and runs the consumer with the flags pkg-config prints."""
    files = list(prefix.rglob("reprise-retry.pc"))
    if len(files) != 1:
        raise failed(f"expected one reprise-retry.pc, found {len(files)}")
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(files[0].parent))
    flags = run("ask pkg-config", ["pkg-config", "--cflags", "--libs", "reprise-retry"],
                environment).split()
    run("build with the bare compiler",
        [options.compiler, "-std=c++20", *options.flags.split(), work / "consumer/main.cpp",
         "-o", work / "plain", *flags])
    run("run the plain consumer", [work / "plain"])


def main():
    parser = argparse.ArgumentParser(description="Installs and uses the retry library.")
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", type=Path, required=True, help="build directory to install")
    parser.add_argument("--consumer", type=Path, required=True, help="folder of the consumer")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="", help="flags the library was built with")
    parser.add_argument("--generator", required=True)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(options.consumer, work / "consumer")
        try:
            run("install", [options.cmake, "--install", options.build, "--prefix", work / "first",
                            "--component", "retry"])
            prefix = (work / "first").rename(work / "moved")
            check_headers(prefix)
            check_find_package(options, work, prefix)
            check_pkg_config(options, work, prefix)
        except failed as problem:
            print(f"install: {problem}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
