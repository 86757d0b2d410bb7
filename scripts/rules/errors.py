"""Each error of the client's `errc` is raised by a product source and named in a test, so that an
error that nothing can cause, or that nothing checks, does not stay. Its comment names the key-value
statuses that the client maps to it, all of them and no others."""

import re

from rules.tree import Violation, without_comments

ENUM = "libs/couchbase_types/include/reprise/couchbase_types/errc.hpp"
TABLE = "libs/couchbase_types/src/errc.cpp"
STATUSES = "libs/wire/private/reprise/wire/status.hpp"
MAPPING = "libs/engine/src/operations/status_mapping.cpp"
CODES = re.compile(r"0x([0-9a-f]{2})(?:\.\.0x([0-9a-f]{2}))?")


def enumerators(text):
    """Yields (line, name, comment) of each enumerator of `errc`."""
    body = re.search(r"enum class errc[^{]*\{(.*?)\n\};", text, re.DOTALL)
    first = text.count("\n", 0, body.start(1)) + 1
    for number, line in enumerate(body[1].split("\n"), start=first):
        named = re.match(r"\s*(\w+) = \d+,(.*)", line)
        if named:
            yield number, named[1], named[2]


def words(tree, paths):
    texts = (without_comments(tree.text(path)) for path in paths)
    return {word for text in texts for word in re.findall(r"\w+", text)}


def named_codes(comment):
    """The statuses in a comment: single ones, and ranges such as 0x30..0x33."""
    codes = set()
    for first, last in CODES.findall(comment):
        codes |= set(range(int(first, 16), int(last or first, 16) + 1))
    return codes


def mapped_codes(mapping, statuses):
    """Returns {error: statuses} of the switches that map statuses to errors."""
    numbers = {name: int(code, 16)
               for name, code in re.findall(r"^\s*(\w+) = 0x([0-9a-f]+),", statuses, re.MULTILINE)}
    mapping = without_comments(mapping)
    helpers = dict(re.findall(r"^\S+ (classify_\w+)\(const response_facts& facts\)(.*?)^\}",
                              mapping, re.DOTALL | re.MULTILINE))
    found = {}
    for labels, block in re.findall(r"((?:case status::\w+:\s*)+)(.*?;)", mapping, re.DOTALL):
        for helper, body in helpers.items():
            if helper + "(" in block:
                block += body
        for error in re.findall(r"errc::(\w+)", block):
            found.setdefault(error, set()).update(
                numbers[name] for name in re.findall(r"status::(\w+)", labels))
    return found


def check_codes(tree):
    mapped = mapped_codes(tree.text(MAPPING), tree.text(STATUSES))
    for line, name, comment in enumerators(tree.text(ENUM)):
        named, meant = named_codes(comment), mapped.get(name, set())
        for code in sorted(named - meant):
            yield Violation(ENUM, line, f"0x{code:02x} does not mean errc::{name}")
        for code in sorted(meant - named):
            yield Violation(ENUM, line, f"0x{code:02x} means errc::{name}, too: name it")


def check(tree):
    if ENUM not in tree.files:
        return
    sources = [path for path in tree.files if path.endswith((".cpp", ".hpp"))]
    tests = [path for path in sources if "tests" in path.split("/")]
    # The program's tables name every error; naming one there raises nothing.
    products = [path for path in sources
                if path.startswith("libs/") and path not in (ENUM, TABLE) and path not in tests]
    raised, tested = words(tree, products), words(tree, tests)
    for line, name, _ in enumerators(tree.text(ENUM)):
        if name not in raised:
            yield Violation(ENUM, line, f"errc::{name} is never raised")
        if name not in tested:
            yield Violation(ENUM, line, f"errc::{name} is named in no test")
    if MAPPING in tree.files:
        yield from check_codes(tree)
