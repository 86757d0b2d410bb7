"""Each error of the client's `errc` is raised by a product source and named in a test, so that an
error that nothing can cause, or that nothing checks, does not stay."""

import re

from rules.tree import Violation, without_comments

ENUM = "libs/couchbase_types/include/reprise/couchbase_types/errc.hpp"
TABLE = "libs/couchbase_types/src/errc.cpp"


def enumerators(text):
    """Yields (line, name) of each enumerator of `errc`."""
    body = re.search(r"enum class errc[^{]*\{(.*?)\n\};", text, re.DOTALL)
    first = text.count("\n", 0, body.start(1)) + 1
    for number, line in enumerate(without_comments(body[1]).split("\n"), start=first):
        named = re.match(r"\s*(\w+) = \d+,", line)
        if named:
            yield number, named[1]


def words(tree, paths):
    return {word for path in paths for word in re.findall(r"\w+", without_comments(tree.text(path)))}


def check(tree):
    if ENUM not in tree.files:
        return
    sources = [path for path in tree.files if path.endswith((".cpp", ".hpp"))]
    tests = [path for path in sources if "tests" in path.split("/")]
    # The program's tables name every error; naming one there raises nothing.
    products = [path for path in sources
                if path.startswith("libs/") and path not in (ENUM, TABLE) and path not in tests]
    raised, tested = words(tree, products), words(tree, tests)
    for line, name in enumerators(tree.text(ENUM)):
        if name not in raised:
            yield Violation(ENUM, line, f"errc::{name} is never raised")
        if name not in tested:
            yield Violation(ENUM, line, f"errc::{name} is named in no test")
