"""Shipped code has no deliberate bugs: nothing below libs/, testbed/ and apps/ mentions a mutant's
macro or a planted bug. They are text files in tests/mutants, and `./dev mutants` writes them into a
copy."""

import re

from rules.tree import Violation, line_of

SWITCH = re.compile(r"REPRISE_(?:MUTANT|PLANTED)\w*|\breprise_mutant\b|\bplanted(?:_bug)?\s*[(.]")


def check(tree):
    for path in tree.files:
        if not path.startswith(("libs/", "testbed/", "apps/")) or not path.endswith(
                (".hpp", ".cpp", ".cmake", "CMakeLists.txt")):
            continue
        text = tree.text(path)
        for match in SWITCH.finditer(text):
            yield Violation(path, line_of(text, match.start()),
                            f"`{match[0]}`: bugs on purpose belong in tests/mutants")
