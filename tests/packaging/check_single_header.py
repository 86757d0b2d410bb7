#!/usr/bin/env python3
"""Builds and runs a program of two sources with the committed single header.

check_single_header.py COMPILER...: as C++20, with warnings as errors, by each of them. One source
only includes the header; the other holds the implementation, and includes the header once before
it asks for that. The first compiler also compiles the guides' programs. Another test checks that
the header is up to date.
"""

import re
import shutil
import sys

from steps import CONSUMER, ROOT, StepFailed, main, run

IMPLEMENTATION = """\
#include "reprise.hpp"
#define REPRISE_IMPLEMENTATION
#include "reprise.hpp"
#include "reprise.hpp"
"""
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def compile_examples(folder, compiler):
    """The guides' programs that need no other library, or only libcurl, compile as they stand with
    the folder single_header/, and include no header of libs/retry that it lacks."""
    header = folder / "include/reprise/retry.hpp"
    shutil.copytree(ROOT / "single_header", folder / "include")
    command = [compiler, "-std=c++20", *WARNINGS, f"-I{folder / 'include'}"]
    run("precompile it", [*command, "-x", "c++-header", header, "-o", f"{header}.gch"])
    for program in sorted((ROOT / "examples").glob("[012]_*/*.cpp")):
        names = re.findall(r"#include <(reprise/[^>]+)>", program.read_text(encoding="utf-8"))
        parts = [name for name in names if re.match(r"reprise/retry/(?!adapters/)", name)
                 and not (folder / "include" / name).exists()]
        if parts:
            raise StepFailed(f"{program} includes {parts[0]}; reprise/retry.hpp has all of it")
        if all((folder / "include" / name).exists() for name in names):
            run(f"compile {program.name}", [*command, "-fsyntax-only", program])


def check(folder):
    shutil.copy(ROOT / "single_header/reprise/retry.hpp", folder / "reprise.hpp")
    text = (CONSUMER / "main.cpp").read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith("#include <reprise/")]
    (folder / "main.cpp").write_text('#include "reprise.hpp"\n' + "\n".join(lines),
                                     encoding="utf-8")
    (folder / "implementation.cpp").write_text(IMPLEMENTATION, encoding="utf-8")
    for compiler in sys.argv[1:]:
        program = folder / f"program_{compiler.split('/')[-1]}"
        run(f"build with {compiler}", [compiler, "-std=c++20", *WARNINGS, "-pthread",
                                       folder / "main.cpp", folder / "implementation.cpp",
                                       "-o", program])
        run(f"run what {compiler} built", [program])
    compile_examples(folder, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main(check))
