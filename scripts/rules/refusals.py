"""docs/guide/why_not_retried.md explains every refusal: its table has one row for each enumerator of
`refusal_reason`, with the text that `to_string` returns for it, what it means and what to do."""

import re

from rules.tree import Violation, without_comments

ENUM = "libs/retry/include/reprise/retry/retry_errc.hpp"
TEXTS = "libs/retry/src/refusal_reason.cpp"
PAGE = "docs/guide/why_not_retried.md"
ROW = re.compile(r"^\| `(\w+)` \|")


def enumerators(text):
    body = re.search(r"enum class refusal_reason[^{]*\{(.*?)\};", without_comments(text), re.DOTALL)
    return re.findall(r"\w+", body[1])


def printed_texts(text):
    """Returns {enumerator: text} of `to_string(refusal_reason)`."""
    function = re.search(r"to_string\(refusal_reason .*?\n\}", text, re.DOTALL)
    return dict(re.findall(r'case refusal_reason::(\w+):\s*return "([^"]*)";', function[0]))


def check(tree):
    if ENUM not in tree.files:
        return
    texts = printed_texts(tree.text(TEXTS))
    missing = set(enumerators(tree.text(ENUM)))
    lines = tree.text(PAGE).split("\n") if PAGE in tree.files else []
    for number, line in enumerate(lines, start=1):
        row = ROW.match(line)
        if not row:
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if row[1] not in missing:
            yield Violation(PAGE, number, f"no refusal_reason is called {row[1]}, or it has two rows")
            continue
        missing.remove(row[1])
        if len(cells) != 4 or not all(cells):
            yield Violation(PAGE, number, f"{row[1]}: expected 4 filled columns")
        elif cells[1] != texts.get(row[1]):
            yield Violation(PAGE, number, f"{row[1]} is printed as '{texts.get(row[1])}'")
    for name in sorted(missing):
        yield Violation(PAGE, 1, f"refusal_reason::{name} is not explained")
