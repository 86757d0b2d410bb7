"""Finds the place of a mutant: in a function, by the shape of the quoted code.

The quoted code is an example of the shape. If a name in it was changed everywhere in the source, the
code is found all the same, and the new name is used in the mutant's text.
"""

import re
from typing import NamedTuple

from mutation import cpp

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]')
NAME = re.compile(r"[A-Za-z_]\w*")


class Found(NamedTuple):
    begin: int
    end: int
    renamed: dict  # {name in the catalogue: name in the source}


def pattern_of(old):
    """Returns a pattern that matches a text however the formatter breaks its lines."""
    parts, before = [], ""
    for token in TOKEN.findall(old):
        if parts:
            is_word = re.match(r"\w", token) and re.search(r"\w$", before)
            parts.append(r"\s+" if is_word else r"\s*")
        parts.append(re.escape(token))
        before = token
    head = r"(?<!\w)" if re.match(r"\w", old.lstrip()) else ""
    tail = r"(?!\w)" if re.search(r"\w$", old.rstrip()) else ""
    return re.compile(head + "".join(parts) + tail)


def renaming_of(old, new, known):
    """Returns {old name: new name} that turns one list of tokens into the other, or None. Only names
    that the source does not have any more count as renamed."""
    renamed = {}
    for before, after in zip(old, new):
        if before == after and before not in renamed:
            continue
        if not (NAME.fullmatch(before) and NAME.fullmatch(after)) or before in known:
            return None
        if renamed.setdefault(before, after) != after:
            return None
    return renamed if len(set(renamed.values())) == len(renamed) else None


def find_renamed(text, old, begin, end):
    """Returns the places where `old` occurs with other names. In a whole source, at least one name
    must be the same; otherwise it is another piece of code."""
    wanted = [token.text for token in cpp.lex(old)]
    tokens = cpp.lex(text)
    is_whole = (begin, end) == (0, len(text))
    known = {token.text for token in tokens if token.kind == "word"}
    found = []
    for first in range(len(tokens) - len(wanted) + 1):
        window = tokens[first:first + len(wanted)]
        if window[0].begin < begin or window[-1].end > end:
            continue
        renamed = renaming_of(wanted, [token.text for token in window], known)
        same = {word for word in wanted if NAME.fullmatch(word)} - set(renamed or ())
        if renamed and (same or not is_whole):
            found.append(Found(window[0].begin, window[-1].end, renamed))
    return found


def find_all(text, old, begin, end):
    """Returns the places between begin and end that have the shape of `old`."""
    found = [Found(match.start(), match.end(), {})
             for match in pattern_of(old).finditer(text, begin, end)]
    return found or find_renamed(text, old, begin, end)


def first_line(text):
    return text.strip().splitlines()[0]


def function_range(text, name):
    """Returns ((begin, end), what is wrong) of the function with this name; overloads that follow
    each other count as one."""
    source = cpp.Source("", text)
    functions = [each for each in source.functions if each.name == name]
    if not functions:
        return (0, 0), f"there is no function {name} in"
    return (source.tokens[functions[0].head].begin, source.tokens[functions[-1].end].end), ""


def locate(text, edit):
    """Returns (place of an edit, what is wrong), of which one is empty."""
    begin, end = 0, len(text)
    if edit.function:
        (begin, end), wrong = function_range(text, edit.function)
        if wrong:
            return None, wrong
    found = find_all(text, edit.after or edit.old, begin, end)
    if len(found) != 1:
        count = f"{len(found)} times in" if found else "not in"
        return None, f"{first_line(edit.after or edit.old)!r} is {count}"
    if not edit.after:
        return found[0], ""
    behind = find_all(text, edit.old, found[0].end, end)
    wrong = "" if behind else f"{first_line(edit.old)!r} does not appear after that in"
    return (behind[0] if behind else None), wrong


def with_names(text, renamed):
    """Returns a mutant's text with the names of the source."""
    return re.sub(NAME, lambda match: renamed.get(match[0], match[0]), text)
