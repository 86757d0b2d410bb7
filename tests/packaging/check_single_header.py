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


def refuse_mixtures(folder, compiler):
    """A program that includes the single header and, from libs/, an adapter or the library itself
    is refused in one sentence, in either order. Once, it redefined `public_url`."""
    command = [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", f"-I{folder}",
               *(f"-I{ROOT / 'libs' / name / 'include'}" for name in ("retry", "retry_adapters"))]
    single = '#include "reprise.hpp"\n'
    for header in ("retry/adapters/public_url.hpp", "retry/adapters/curl_codes.hpp", "retry.hpp"):
        other = f"#include <reprise/{header}>\n"
        for text in (single + other, other + single):
            source = folder / "mixture.cpp"
            source.write_text(text, encoding="utf-8")
            output = run(f"refuse {header} too", [*command, source], expect_failure=True)
            first = re.search(r" error: .*", output)
            if first is None or "either Reprise's single header or its headers" not in first[0]:
                raise StepFailed(f"a mixture with {header} is refused with other words:\n{output}")


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
        refuse_mixtures(folder, compiler)
    compile_examples(folder, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main(check))
