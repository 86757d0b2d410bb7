"""Every decoder of bytes from a network in the adapters has a fuzz target: each function at the top
level of their headers that takes a text is called in a tests/fuzz/*_fuzz.cpp of the library, or
tests/rules/decoders.tsv has the reason why its text is not from a network."""

import re

from rules.tree import Violation, code_only, line_of

TABLE = "tests/rules/decoders.tsv"
HEADER = re.compile(r"libs/retry_adapters/include/.*\.hpp$")
TARGET = re.compile(r"libs/retry_adapters/tests/fuzz/\w+_fuzz\.cpp$")
# Declarations start in the first column; members and locals are indented.
FUNCTION = re.compile(
    r"^(?!using|struct|class|enum|public|private|protected|#|/|\s)[\w\[\]:<>,&* \n]*?"
    r"\b(\w+)\(([^()]*)\)", re.MULTILINE)
PRIVATE = re.compile(r"^namespace detail \{$.*?^\}  // namespace detail$",
                     re.MULTILINE | re.DOTALL)


def decoders(text):
    """(name, line) of each function for users that takes a text."""
    code = code_only(PRIVATE.sub(lambda match: "\n" * match[0].count("\n"), text))
    for match in FUNCTION.finditer(code):
        if re.search(r"\bstring_view\b|\bspan<", match[2]):
            yield match[1], line_of(code, match.start(1))


def check(tree):
    exempt = {name for name, _ in tree.table(TABLE, 2)}
    called = "\n".join(code_only(tree.text(path)) for path in tree.files if TARGET.match(path))
    found = set()
    for path in tree.files:
        if not HEADER.match(path):
            continue
        for name, line in decoders(tree.text(path)):
            found.add(name)
            if name not in exempt and not re.search(rf"\b{name}\(", called):
                yield Violation(path, line, f"`{name}` takes a text, but no fuzz target calls it")
    for name in sorted(exempt - found):
        yield Violation(TABLE, 1, f"`{name}` is no function of the adapters")
