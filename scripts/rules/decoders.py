"""Every decoder of bytes from a network in the adapters has a fuzz target: each function at the top
level of their headers that takes a text is called in a tests/fuzz/*_fuzz.cpp of the library, or
tests/rules/decoders.tsv has the reason why its text is not from a network. For a function in
`detail` it is enough that one of these calls it, itself or through others."""

import re

from rules.tree import Violation, code_only, line_of

TABLE = "tests/rules/decoders.tsv"
HEADER = re.compile(r"libs/retry_adapters/include/.*\.hpp$")
TARGET = re.compile(r"libs/retry_adapters/tests/fuzz/\w+_fuzz\.cpp$")
# Declarations start in the first column; members and locals are indented.
FUNCTION = re.compile(
    r"^(?!using|struct|class|enum|public|private|protected|#|/|\s)[\w\[\]:<>,&* \n]*?"
    r"\b(\w+)\(([^()]*)\)", re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (\w+)\b(?!::)[^;{]*\{", re.MULTILINE)
PRIVATE = re.compile(r"^namespace detail \{$.*?^\}  // namespace detail$",
                     re.MULTILINE | re.DOTALL)
A_TEXT = re.compile(r"\bstring_view\b|\bspan<|\bconst std::string&|\bconst char\*")


class Declaration:
    """A function or a class at the top level of a header, with its code up to its end."""

    def __init__(self, code, match, path, private):
        self.name, self.path = match[1], path
        self.line = line_of(code, match.start(1))
        self.is_private = any(first <= self.line < last for first, last in private)
        self.takes_text = match.re is FUNCTION and A_TEXT.search(match[2]) is not None
        rest = code[match.end():]
        has_body = match.re is CLASS or re.match(r"[^;{]*\{", rest)
        end = re.search(r"^\}" if has_body else ";", rest, re.MULTILINE)
        self.code = rest[:end.start()] if end else rest

    def is_used_in(self, code):
        return re.search(rf"\b{self.name}\b", code) is not None


def declarations(text, path):
    private = [(line_of(text, match.start()), line_of(text, match.end()))
               for match in PRIVATE.finditer(text)]
    code = code_only(text)
    for pattern in (FUNCTION, CLASS):
        for match in pattern.finditer(code):
            yield Declaration(code, match, path, private)


def reached(found, targets, exempt):
    """The declarations that the code of the fuzz targets uses, or an exempt function, themselves or
    through others."""
    used = [one for one in found if one.name in exempt or one.is_used_in(targets)]
    for one in used:  # grows
        used += [other for other in found if other not in used and other.is_used_in(one.code)]
    return used


def check(tree):
    exempt = {name for name, _ in tree.table(TABLE, 2)}
    targets = "\n".join(code_only(tree.text(path)) for path in tree.files if TARGET.match(path))
    found = [one for path in tree.files if HEADER.match(path)
             for one in declarations(tree.text(path), path)]
    used = reached(found, targets, exempt)
    for one in found:
        is_called = re.search(rf"\b{one.name}\(", targets) or one.name in exempt
        if one.takes_text and not is_called and not (one.is_private and one in used):
            yield Violation(one.path, one.line,
                            f"`{one.name}` takes a text, but no fuzz target calls it")
    for name in sorted(exempt - {one.name for one in found if one.takes_text}):
        yield Violation(TABLE, 1, f"`{name}` is no function of the adapters")
