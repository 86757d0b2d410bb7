"""Public code uses no compiler extension: what the libraries for users consist of has none outside of
the header with the macros for them. A pragma of one compiler stands inside a condition that names
the compiler."""

import re

from rules.tree import Violation, code_only

MACROS = "libs/retry/include/reprise/retry/detail/compiler.hpp"
PUBLIC = re.compile(
    r"libs/(?:retry|retry_\w+|couchbase|couchbase_types|couchbase_codecs)/(?:include|src)/")
EXTENSION = re.compile(
    r"\b__int128\b|\b__attribute__\b|\b__extension__\b|\b__declspec\b|\b__builtin_\w+"
    r"|\b__typeof__\b|\b__restrict\b|\[\[\s*(?:gnu|clang|msvc)::")
PRAGMA = re.compile(r"\s*#\s*pragma\s+(?:GCC|clang)\b")
COMPILER = re.compile(r"__GNUC__|__clang__")


def check(tree):
    for path in tree.cpp_files:
        if not PUBLIC.match(path) or path == MACROS:
            continue
        conditions = []
        for number, line in enumerate(code_only(tree.text(path)).splitlines(), start=1):
            directive = line.strip()
            if directive.startswith("#if"):
                conditions.append(directive)
            elif directive.startswith("#endif") and conditions:
                conditions.pop()
            found = EXTENSION.search(line)
            if found:
                yield Violation(path, number, f"`{found[0]}` is a compiler's extension")
            elif PRAGMA.match(line) and not any(COMPILER.search(each) for each in conditions):
                yield Violation(path, number, "a pragma of one compiler, for all of them")
