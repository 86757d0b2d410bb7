"""A `default:` in a switch over an enumeration hides the enumerators that somebody adds later. List
them all, or use a table that a static_assert ties to the enumeration (base/enum_table.hpp). Where
"all others" is what is meant, give the reason in a comment on the same line: `default:  // why`.
Switches over numbers and characters need none."""

import re

from rules.tree import Violation

DEFAULT = re.compile(r"^(\s*)default:(.*)$")
LABEL = re.compile(r"^\s*case\s+([^:]|::)+")
REASON = re.compile(r"//\s*\S+(?:\s+\S+)+")


def labels_before(lines, index, indent):
    """The case labels of the switch that the `default:` at this line belongs to."""
    for line in reversed(lines[:index]):
        text = line.lstrip()
        depth = len(line) - len(text)
        if text.startswith("switch") and depth < indent:
            return
        if depth == indent and LABEL.match(line):
            yield LABEL.match(line)[0]


def check(tree):
    for path in tree.cpp_files:
        if not path.startswith(("libs/", "testbed/", "apps/")) or "/tests/" in path:
            continue
        lines = tree.text(path).splitlines()
        for index, line in enumerate(lines):
            match = DEFAULT.match(line)
            if not match or REASON.search(match[2]):
                continue
            if any("::" in label for label in labels_before(lines, index, len(match[1]))):
                yield Violation(path, index + 1,
                                "`default:` over an enumeration: list the others, or give the reason"
                                " in a comment on this line")
