#!/usr/bin/env python3
"""Mistakes that must not compile, with the message that the compiler must show.

Each file given holds one program per section:

    // refused: name_of_the_case
    // flags: -fno-exceptions
    // message: text of the static_assert, on as many lines as it needs
    // only: gcc12
    // compiler: clang++-19
    // errors: 1
    code

A section that starts with `accepted:` must compile: it shows that only the mistake is refused. One
with `only: gcc12` is refused by GCC before 13 and must compile with every other compiler; one with
`compiler:` is given to that one. With `errors:` the compiler must report exactly so many. The
results are written in GoogleTest's JSON form, so that scripts/conformance.py counts them.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECTION = re.compile(r"^// (refused|accepted): (\w+)\n", re.MULTILINE)
INCLUDES = ("retry", "retry_testing", "retry_asio", "retry_adapters", "couchbase_types",
            "couchbase")


def is_gcc12(compiler):
    """True for the compilers with the bug: GCC before 13."""
    run = subprocess.run([compiler, "-dM", "-E", "-x", "c++", "/dev/null"],
                         capture_output=True, text=True, check=True)
    version = re.search(r"^#define __GNUC__ (\d+)$", run.stdout, re.MULTILINE)
    return "__clang__" not in run.stdout and version is not None and int(version[1]) < 13


def cases(text, has_gcc12):
    """(name, is refused, flags, message, error count or None, compiler or None, code) of each
    section. The text before them is common: see `precompile`."""
    parts = SECTION.split(text)
    for kind, name, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        flags = re.search(r"^// flags: (.*)$", body, re.MULTILINE)
        message = " ".join(re.findall(r"^// message: (.*)$", body, re.MULTILINE))
        is_gcc12_only = re.search(r"^// only: gcc12$", body, re.MULTILINE)
        is_refused = kind == "refused" and (has_gcc12 or not is_gcc12_only)
        errors = re.search(r"^// errors: (\d+)$", body, re.MULTILINE)
        compiler = re.search(r"^// compiler: (\S+)$", body, re.MULTILINE)
        yield (name, is_refused, flags[1].split() if flags else [], message,
               int(errors[1]) if errors else None, compiler[1] if compiler else None, body)


def precompile(command, folder, text):
    """Writes what all cases include as common.hpp, and compiles it once. A compiler that cannot use
    the result, for example for a case with flags of its own, reads the text again."""
    common = Path(folder) / "common.hpp"
    common.write_text(SECTION.split(text)[0])
    subprocess.run([*command, "-x", "c++-header", str(common), "-o", f"{common}.gch"],
                   capture_output=True)


def check(command, folder, case):
    """The problem with one case, or an empty text."""
    name, is_refused, flags, message, error_count, compiler, code = case
    source = Path(folder) / f"{name}.cpp"
    source.write_text('#include "common.hpp"\n' + code)
    chosen = [compiler, *command[1:]] if compiler else command
    run = subprocess.run([*chosen, "-fsyntax-only", *flags, str(source)],
                         capture_output=True, text=True)
    if not is_refused:
        return "" if run.returncode == 0 else f"does not compile: {run.stderr.strip()}"
    if run.returncode == 0:
        return "compiles"
    errors = re.findall(r": (?:fatal )?error: ", run.stderr)
    if error_count is not None and len(errors) != error_count:
        return f"is refused with {len(errors)} errors: {run.stderr.strip()}"
    # The compiler may break the line; compare words.
    said = " ".join(run.stderr.split())
    return "" if message in said else f"is refused with other words: {run.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser(description="Checks that mistakes do not compile.")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--libraries", type=Path, required=True, help="the folder libs/")
    parser.add_argument("--result", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--include", action="append", default=[], help="a folder of other headers")
    parser.add_argument("programs", nargs="+", help="files in this script's folder")
    options = parser.parse_args()

    tests = []
    problems = 0
    for file in (HERE / name for name in options.programs):
        text = file.read_text(encoding="utf-8")
        found = list(cases(text, is_gcc12(options.compiler)))
        command = [options.compiler, "-std=c++23" if "couchbase" in text else "-std=c++20",
                   *(f"-I{options.libraries / name / 'include'}" for name in INCLUDES),
                   *(f"-isystem{folder}" for folder in options.include)]
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=2) as pool:
            precompile(command, folder, text)
            results = list(pool.map(lambda case: check(command, folder, case), found))
        for case, problem in zip(found, results):
            test = {"name": case[0], "status": "RUN", "result": "COMPLETED"}
            if problem:
                problems += 1
                test["failures"] = [{"failure": problem}]
                print(f"{file.name}: {case[0]} {problem}")
            tests.append(test)
    if not tests:
        problems += 1
        print("no programs found")
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(
        json.dumps({"testsuites": [{"name": "refused", "testsuite": tests}]}, indent=1),
        encoding="utf-8")
    print(f"refused programs: {len(tests)} checked, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
