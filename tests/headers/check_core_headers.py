#!/usr/bin/env python3
"""SM-21: the core's headers compile as C++20 with no Boost, HTTP or Couchbase on the include path.

Boost usually stands in the compiler's own include path and cannot be taken off it. So the
compiler's list of the files that a header reads must hold nothing but the core's own headers, the
standard library and the system's C library. Second, the core's target links nothing foreign while
the Asio target links Boost. The results are written in GoogleTest's JSON form, so that
scripts/conformance.py counts them.

With --compile each header is also compiled alone, which takes ten times as long. `./dev libcxx`
does it, because libc++ tolerates fewer missing includes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Folders of the C library and the kernel below an include directory of the system. Plain `name.h`
# files are the C library's as well: the core itself includes no .h file (rule `includes`).
SYSTEM = re.compile(r"(bits|sys|gnu|asm|asm-generic|linux)/.*|[\w-]+\.h")
SYSTEM_ROOTS = re.compile(r"/usr/include/(?:\w+-linux-\w+/)?(.*)")
# Folders that a compiler brings along: its standard library and its own headers.
TOOLCHAIN = re.compile(r"/c\+\+/|/lib/gcc/|/lib/clang/|/llvm-\d+/")
CORE_MAY_LINK = {"", "Threads::Threads"}
COMPILE = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-MD"]
PREPROCESS = ["-M"]


def files_read(compiler, modes, include, header):
    """Gives a header alone to the compiler: (files read, compiler's errors)."""
    with tempfile.TemporaryDirectory() as folder:
        source, rule = Path(folder) / "alone.cpp", Path(folder) / "alone.d"
        source.write_text(f"#include <{header}>\n#include <{header}> // again: it guards itself\n")
        run = subprocess.run(
            [*compiler, "-std=c++20", *modes, f"-I{include}", "-MT", "alone", "-MF", str(rule),
             str(source)],
            capture_output=True, text=True)
        if run.returncode != 0:
            return [], run.stderr.strip()
        files = rule.read_text().replace("\\\n", " ").split(":", 1)[1].split()
        return [os.path.normpath(file) for file in files if Path(file) != source], ""


def is_foreign(file, include):
    """True for a file that is neither the core's nor the toolchain's."""
    if Path(include) in Path(file).parents or TOOLCHAIN.search(file):
        return False
    system = SYSTEM_ROOTS.fullmatch(file)
    return not (system and SYSTEM.fullmatch(system[1]))


def check_headers(compiler, modes, include):
    """Problems of the core's headers, one text each."""
    headers = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.hpp"))
    problems = [] if headers else [f"no headers in {include.name}/"]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = pool.map(lambda header: files_read(compiler, modes, include, header), headers)
    for header, (files, errors) in zip(headers, results):
        if errors:
            problems.append(f"<{header}> does not compile alone: {errors}")
        foreign = [file for file in files if is_foreign(file, include)]
        if foreign:
            problems.append(f"<{header}> reads {len(foreign)} foreign files, first {foreign[0]}")
    return problems


def check_links(core, asio):
    """Problems of the link lines; `asio` is None if that target is not meant to be built."""
    problems = [f"the core links {name}" for name in core.split(";") if name not in CORE_MAY_LINK]
    if asio is not None and not ("Boost" in asio and re.search(r"reprise(::|_)retry\b", asio)):
        problems.append(f"the Asio target must link Boost and the core; it links '{asio}'")
    return problems


def report(results):
    """{test name: problems} as GoogleTest's JSON."""
    tests = [{"name": name, "status": "RUN", "result": "COMPLETED",
              **({"failures": [{"failure": text} for text in problems]} if problems else {})}
             for name, problems in results.items()]
    return json.dumps({"testsuites": [{"name": "core_headers", "testsuite": tests}]}, indent=1)


def main():
    parser = argparse.ArgumentParser(description="Checks SM-21.")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", default="", help="the compiler's, by spaces or ;")
    parser.add_argument("--compile", action="store_true", help="compile each header alone")
    parser.add_argument("--include", type=Path, required=True, help="the core's include directory")
    parser.add_argument("--core-links", default="", help="what the core's target links, by ;")
    parser.add_argument("--asio-links", help="what the Asio target links, by ;")
    parser.add_argument("--result", type=Path, required=True, help="JSON file to write")
    options = parser.parse_args()

    results = {
        "SM_21_core_headers_read_nothing_but_the_standard_library":
            check_headers([options.compiler, *options.flags.replace(";", " ").split()],
                          COMPILE if options.compile else PREPROCESS, options.include.resolve()),
        "SM_21_core_target_links_nothing_and_asio_forms_are_another_target":
            check_links(options.core_links, options.asio_links)}
    options.result.parent.mkdir(parents=True, exist_ok=True)
    options.result.write_text(report(results), encoding="utf-8")
    problems = [problem for found in results.values() for problem in found]
    for problem in problems:
        print(f"core headers: {problem}")
    print(f"core headers: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
