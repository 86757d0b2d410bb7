#!/usr/bin/env python3
"""Functions with one name have one body, with and without exceptions.

check_variants.py COMPILER SOURCE COUNT FLAG...: compiles the source both ways. If a function of ours
is in both objects under the same name, a linker keeps either of the two; so they must call the same
functions of ours and catch nothing. What depends on the variant is in an inline namespace
(reprise/retry/detail/compiler.hpp) or compiled into the library. COUNT is how many functions both
objects must have at least, so that the check cannot pass because it finds none.
"""

import re
import subprocess
import sys
import tempfile

FUNCTION = re.compile(r"[0-9a-f]+ <(.+)>:$")
USE = re.compile(r"\bR_\w+\s+([^\s+-]+)")
OURS = re.compile(r"7reprise")
DESTRUCTOR = re.compile(r"D[012]Ev$")  # Unwinding calls more of them.
CAUGHT = "__cxa_begin_catch"
# The functions of the source itself are not shared; those of a namespace `mixed` are its own.
OF_THE_SOURCE = re.compile(r"_ZZ?NK?5mixed")


def functions(source, flags, target):
    """{function: what it uses} of the compiled source."""
    subprocess.run([sys.argv[1], "-std=c++20", "-O0", "-ffunction-sections", *flags, "-c", source,
                    "-o", target], check=True)
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", target], check=True, text=True,
                          capture_output=True).stdout
    found, current = {}, set()
    for line in text.splitlines():
        if match := FUNCTION.match(line):
            current = found.setdefault(match[1], set())
        elif match := USE.search(line):
            current.add(match[1])
    return found


def ours(names):
    return {name for name in names
            if OURS.search(name) and not name.startswith(".") and not DESTRUCTOR.search(name)}


def main():
    source, common_min, flags = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        plain = functions(source, flags, f"{folder}/with.o")
        bare = functions(source, [*flags, "-fno-exceptions"], f"{folder}/without.o")
    common = [name for name in ours(plain) if name in bare and not OF_THE_SOURCE.match(name)]
    failures = 0
    for name in common:
        different = ours(plain[name]) ^ ours(bare[name])
        if different or CAUGHT in plain[name]:
            failures += 1
            names = "\n".join([name, *sorted(different)])
            print("FAILED: one name, two bodies:\n" + subprocess.run(
                ["c++filt"], input=names, text=True, capture_output=True, check=True).stdout)
    print(f"{len(common)} functions are the same with and without exceptions, {failures} are not")
    return 1 if failures or len(common) < common_min else 0


if __name__ == "__main__":
    sys.exit(main())
