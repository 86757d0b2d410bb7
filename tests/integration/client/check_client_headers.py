#!/usr/bin/env python3
"""Checks that users of the client need neither Boost nor OpenSSL in their include path.

Each header of libs/couchbase but asio.hpp is preprocessed alone, and the list of files it read,
which the compiler gives, must be ours, the standard library's or the C library's. asio.hpp must
read Boost: if it does not, the list is no evidence.

Also measures what a file that includes the whole API costs against one with the same standard
headers: the memory that the compiler's front end takes for what it reads and instantiates, which is
the same on every machine and follows its time. The goal is 1.5 times. Only GCC reports it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOREIGN = re.compile(r"/(boost|openssl|ares\w*|snappy\w*|fmt|gtest|CLI)(/|\.h)")
# What the client's public headers may show.
VISIBLE_LIBRARIES = ("couchbase", "couchbase_types", "retry")
TOKEN_HEADER = "reprise/couchbase/asio.hpp"
API_HEADER = "reprise/couchbase.hpp"
COST_GOAL = 1.5
COST_MAX = 2.0


def files_read(compiler, includes, header):
    """Files that a header reads; empty with the compiler's words if it cannot be preprocessed."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "alone.cpp"
        source.write_text(f"#include <{header}>\n")
        result = subprocess.run(
            [compiler, "-std=c++23", "-M", "-MT", "alone", *(f"-I{each}" for each in includes),
             str(source)], capture_output=True, text=True)
        if result.returncode != 0:
            return [], result.stderr.strip()
        files = result.stdout.replace("\\\n", " ").split(":", 1)[1].split()
        return [os.path.normpath(file) for file in files if Path(file) != source], ""


def front_end_megabytes(compiler, includes, text):
    """What the compiler takes to check a file with this text; None if it does not report it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cost.cpp"
        source.write_text(text)
        result = subprocess.run(
            [compiler, "-std=c++23", "-fsyntax-only", "-ftime-report",
             *(f"-I{each}" for each in includes), str(source)],
            capture_output=True, text=True, check=True)
        total = re.search(r"^ *TOTAL *:.* (\d+)M$", result.stderr, re.MULTILINE)
        return int(total.group(1)) if total else None


def api_cost(compiler, includes, libs):
    """What a file with the API costs, and one with the standard headers that it names."""
    files, _ = files_read(compiler, includes, API_HEADER)
    named = {line.strip() for file in files if Path(file).is_relative_to(libs)
             for line in Path(file).read_text().splitlines()
             if re.match(r"\s*#include <[a-z_]+>", line)}
    return (front_end_megabytes(compiler, includes, f"#include <{API_HEADER}>\n"),
            front_end_megabytes(compiler, includes, "\n".join(sorted(named)) + "\n"))


def main():
    parser = argparse.ArgumentParser(description="Checks what the client's headers read.")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--libs", type=Path, required=True, help="folder of all libraries")
    options = parser.parse_args()

    includes = [options.libs.resolve() / name / "include" for name in VISIBLE_LIBRARIES]
    headers = sorted(path.relative_to(includes[0]).as_posix() for path in includes[0].rglob("*.hpp"))
    problems = [] if TOKEN_HEADER in headers else [f"{TOKEN_HEADER} is missing"]
    for header in headers:
        files, errors = files_read(options.compiler, includes, header)
        foreign = [file for file in files if FOREIGN.search(file)]
        if errors:
            problems.append(f"<{header}> cannot be preprocessed: {errors}")
        elif header == TOKEN_HEADER:
            if not any("/boost/asio" in file for file in foreign):
                problems.append(f"<{header}> does not seem to read Boost: the check sees nothing")
        elif foreign:
            problems.append(f"<{header}> reads {len(foreign)} foreign files, first {foreign[0]}")
    whole, standard = api_cost(options.compiler, includes, options.libs.resolve())
    if whole and standard:
        print(f"client headers: the API takes {whole} MB of the compiler's memory, its standard "
              f"headers {standard} MB: {whole / standard:.2f} times (goal {COST_GOAL})")
        if whole > COST_MAX * standard:
            problems.append(f"<{API_HEADER}> costs {whole / standard:.2f} times its standard headers")
    for problem in problems:
        print(f"client headers: {problem}")
    print(f"client headers: {len(headers)} headers, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
