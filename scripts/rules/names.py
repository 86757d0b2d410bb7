"""A small public face: <reprise/retry.hpp> presents at most PRESENTED_COUNT_MAX names, in a list with
what comes with each, and a program that includes it sees just these names directly in namespace
reprise, at most NAME_COUNT_MAX. What authors of strategies and clients need is in namespace
reprise::driver, and what nobody names is in reprise::detail."""

import re

from rules.sizes import closing_brace, without_directives
from rules.tree import Violation, code_only

INCLUDE = "libs/retry/include/"
UMBRELLA = "reprise/retry.hpp"
PRESENTED_COUNT_MAX = 20
NAME_COUNT_MAX = 45

# `///     name    what it is for    companion, companion`, or more companions alone.
ROW = re.compile(r"^///     (\w+)?  +(\S.*)$", re.MULTILINE)
COMPANIONS = re.compile(r"(?:^|  )(\w+(?:, \w+)*),?$")

USED = re.compile(r"^#include <(reprise/[^>]+)>", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace reprise \{", re.MULTILINE)
TYPE = re.compile(r"(?:enum class|class|struct|enum) (\w+)(<?)")
ALIAS = re.compile(r"(?:using|concept) (\w+) =")
FUNCTION = re.compile(r"(\w+) ?\(")
VARIABLE = re.compile(r"(\w+)(?: =.*)?$")


def headers_of(tree, header, found=None):
    """Returns the header and all that it includes, each once."""
    found = found if found is not None else []
    if header not in found and (tree.root / INCLUDE / header).exists():
        found.append(header)
        for used in USED.findall(tree.text(INCLUDE + header)):
            headers_of(tree, used, found)
    return found


def without_template(declaration):
    """Returns a declaration without its template heads and their constraints."""
    while declaration.startswith("template"):
        depth = 0
        for end, char in enumerate(declaration):
            depth += (char == "<") - (char == ">")
            if char == ">" and depth == 0:
                break
        declaration = re.sub(r"^requires .*?(?=\b(?:class|struct|inline|concept)\b|\[\[)", "",
                             declaration[end + 1:].strip())
    return declaration


def name_in(declaration):
    """Returns the name that a declaration introduces, or None."""
    text = without_template(re.sub(r"\s+", " ", declaration).strip())
    text = re.sub(r"\[\[[^\]]*\]\]|\bREPRISE_EXPORT\b|\{\}", "", text).strip()
    text = re.sub(r"\s+", " ", text)
    if not text or re.match(r"static_assert|friend|#", text):
        return None
    if match := TYPE.match(text):
        return match[1] if not match[2] else None  # not a specialisation
    if match := ALIAS.match(text):
        return match[1]
    match = FUNCTION.search(text.replace("decltype(auto)", "auto"))
    if match and "=" not in text[:match.start()]:
        return None if "operator" in text[:match.end()] else match[1]
    match = VARIABLE.search(text)
    return match[1] if match else None


def is_function(head):
    text = without_template(re.sub(r"\s+", " ", head).strip())
    return not re.search(r"\b(class|struct|enum)\b[^()]*$", text) and "=" not in text


def names_in(scope):
    """Returns the names declared in the text of a namespace, without those of inner namespaces."""
    names, declaration, index = set(), "", 0
    while index < len(scope):
        char = scope[index]
        if char == "{":
            end = closing_brace(scope, index)
            head = declaration.strip()
            if head.startswith("inline namespace "):
                names |= names_in(scope[index + 1:end])
                declaration = ""
            elif head.startswith("namespace "):
                declaration = ""
            elif is_function(head):
                names.add(name_in(head))
                declaration = ""
            else:
                declaration += "{}"
            index = end
        elif char == ";":
            names.add(name_in(declaration))
            declaration = ""
        else:
            declaration += char
        index += 1
    return names - {None}


def visible_names(tree):
    """Returns the names that a user of the umbrella header sees in namespace reprise."""
    names = set()
    for header in headers_of(tree, UMBRELLA):
        text = without_directives(code_only(tree.text(INCLUDE + header)))
        for match in NAMESPACE.finditer(text):
            names |= names_in(text[match.end():closing_brace(text, match.end() - 1)])
    return names


def listed_names(text):
    """Returns the names that the umbrella header presents, and those that come with them."""
    presented, companions = [], []
    for name, rest in ROW.findall(text):
        presented += [name] if name else []
        if match := COMPANIONS.search(rest):
            companions += match[1].split(", ")
    return presented, companions


def check(tree):
    names = visible_names(tree)
    presented, companions = listed_names(tree.text(INCLUDE + UMBRELLA))
    if len(presented) > PRESENTED_COUNT_MAX:
        yield Violation(INCLUDE + UMBRELLA, 1,
                        f"presents {len(presented)} names, limit {PRESENTED_COUNT_MAX}")
    for name in sorted(names - {*presented, *companions}):
        yield Violation(INCLUDE + UMBRELLA, 1, f"does not list {name}, which programs see")
    for name in sorted({*presented, *companions} - names):
        yield Violation(INCLUDE + UMBRELLA, 1, f"lists {name}, which programs do not see")
    if len(names) > NAME_COUNT_MAX:
        yield Violation(INCLUDE + UMBRELLA, 1,
                        f"shows {len(names)} names, limit {NAME_COUNT_MAX}: move what users do not "
                        "need to reprise::driver or reprise::detail")
