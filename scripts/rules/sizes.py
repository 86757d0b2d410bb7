"""Sizes of C++ files: at most 600 lines per file, 100 columns per line, 70 lines per function from
its signature to its closing brace, 100 for a function that is one switch, and 40 methods per class,
constructors and inline methods included. Exceptions are in tests/rules/exceptions.tsv: kind (file,
function, line, class), path, limit, reason."""

import re
from typing import NamedTuple

from rules.tree import Violation, code_only

TABLE = "tests/rules/exceptions.tsv"
LIMITS = {"file": 600, "line": 100, "function": 70, "class": 40}
SWITCH_FUNCTION_LIMIT = 100
LINES_BESIDE_SWITCH = 12  # signature, return and braces of a function that is one switch

DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)")
SCOPE = re.compile(r"\s*(template\s*)?(requires\b.*?)?((inline|export)\s+)?"
                   r"(namespace|class|struct|union|enum|extern)\b", re.DOTALL)
HEAD_END = re.compile(r"[{};]|\b(?:public|private|protected)\s*:(?!:)")

CLASS = re.compile(r"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)(?:\s+final)?"
                   r"(?:\s*:[^;{()]*)?\s*\{")
METHOD = re.compile(r"(~?\w+|operator\s*\S{1,3})\s*\(")
NOT_METHODS = {"if", "for", "while", "switch", "return", "sizeof", "decltype", "noexcept",
               "requires", "alignas", "static_assert", "explicit", "catch", "assert",
               "bool", "void"}


class Function(NamedTuple):
    line: int
    length: int
    is_switch: bool


class Class(NamedTuple):
    line: int
    methods: int
    name: str


def without_directives(text):
    """Blanks preprocessor lines and all but the first branch of each #if, so that braces match."""
    result, branches, continued = [], [], False
    for line in text.split("\n"):
        directive = DIRECTIVE.match(line)
        was_continued, continued = continued, False
        if was_continued or directive:
            continued = line.rstrip().endswith("\\")
        if directive and not was_continued:
            word = directive[1]
            if word in ("if", "ifdef", "ifndef"):
                branches.append(True)
            elif word in ("else", "elif", "elifdef", "elifndef") and branches:
                branches[-1] = False
            elif word == "endif" and branches:
                branches.pop()
        keep = not was_continued and not directive and all(branches)
        result.append(line if keep else "")
    return "\n".join(result)


def closing_brace(text, opening):
    """Returns the offset of the brace that closes the one at `opening`, or the end of the text."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def outside(text, opening, closing):
    """Returns a text without its parenthesised or bracketed parts, including nested ones."""
    result, depth = [], 0
    for char in text:
        if char == opening:
            depth += 1
        if depth == 0:
            result.append(char)
        if char == closing and depth:
            depth -= 1
    return "".join(result)


def classify(head):
    """Returns what a brace opens, by the text before it: scope, function, member initialiser or
    value."""
    plain = re.sub(r"\boperator\s*\S+?\s*(?=\()", "operator_", head)
    plain = re.sub(r"->|<=>|<=|>=|==|!=", " ", outside(plain, "(", ")"))
    plain = re.sub(r"\[\[.*?\]\]", " ", outside(plain, "<", ">"))
    if SCOPE.match(plain):
        return "scope"
    if "(" not in head or "=" in plain and "[" not in plain:
        return "value"
    if re.search(r"(?<!:):(?!:)", plain) and re.search(r"[\w>]$", head.rstrip()):
        return "member"  # `a_` of `thing(int a) : a_{a}`: the body follows later
    return "function"


def is_one_switch(body, length):
    """True if nearly all lines of a function body belong to one switch."""
    match = re.search(r"\bswitch\s*\(", body)
    opening = body.find("{", match.end()) if match else -1
    if opening < 0:
        return False
    lines = body.count("\n", match.start(), closing_brace(body, opening)) + 1
    return length - lines <= LINES_BESIDE_SWITCH


def functions_in(text):
    """Returns all functions that are not inside others; lambdas count with what contains them."""
    text = without_directives(code_only(text))
    head_start, position = 0, 0
    while match := HEAD_END.search(text, position):
        position = match.end()
        if match[0] != "{":
            head_start = position
            continue
        head = text[head_start:match.start()]
        kind = classify(head)
        if kind == "scope":
            head_start = position
            continue
        end = closing_brace(text, match.start())
        position = end + 1
        if kind == "function":
            signature = head_start + len(head) - len(head.lstrip())
            line = text.count("\n", 0, signature) + 1
            length = text.count("\n", signature, end) + 1
            yield Function(line, length, is_one_switch(text[match.start():end + 1], length))
        if kind != "member":
            head_start = position


def members_only(body):
    """Returns a class body without the content of nested braces and parentheses."""
    result, depth = [], 0
    for char in body:
        if char in ")}":
            depth -= 1
        if depth == 0:
            result.append(char)
        if char in "({":
            depth += 1
    return "".join(result)


def classes_in(text):
    """Returns all classes with the approximate number of their methods, constructors included."""
    text = without_directives(code_only(text))
    for match in CLASS.finditer(text):
        opening = match.end() - 1
        body = members_only(text[opening + 1:closing_brace(text, opening)])
        count = 0
        for declaration in re.split(r"[;}]", body):
            name = METHOD.search(re.sub(r"\boperator\s*\(", "operator_(", declaration))
            if name and name[1] not in NOT_METHODS and "=" not in declaration[:name.start()]:
                count += 1
        yield Class(text.count("\n", 0, match.start()) + 1, count, match[1])


def check(tree):
    exceptions = {(kind, path): int(limit) for kind, path, limit, _ in tree.table(TABLE, 4)
                  if kind in LIMITS}
    for kind, path in exceptions:
        if path not in tree.cpp_files:
            yield Violation(TABLE, 1, f"{kind} limit for {path}, which does not exist")
    for path in tree.cpp_files:
        text = tree.text(path)
        lines = text.splitlines()
        limit = {kind: exceptions.get((kind, path), LIMITS[kind]) for kind in LIMITS}
        if len(lines) > limit["file"]:
            yield Violation(path, 1, f"file has {len(lines)} lines, limit {limit['file']}")
        for number, line in enumerate(lines, start=1):
            if len(line) > limit["line"]:
                yield Violation(path, number,
                                f"line has {len(line)} columns, limit {limit['line']}")
        for function in functions_in(text):
            allowed = max(limit["function"], SWITCH_FUNCTION_LIMIT if function.is_switch else 0)
            if function.length > allowed:
                yield Violation(path, function.line,
                                f"function has {function.length} lines, limit {allowed}")
        for item in classes_in(text):
            if item.methods > limit["class"]:
                yield Violation(path, item.line, f"class {item.name} has {item.methods} methods, "
                                                 f"limit {limit['class']}")
