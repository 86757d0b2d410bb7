"""The changes that `./dev mutate` draws from: small bugs that a developer could introduce.

Each change replaces one expression or statement of a function's body. It can be switched at run
time, so hundreds of them fit into one build. What the compiler evaluates cannot be switched and is
counted as skipped.
"""

import re
from typing import NamedTuple

COMPARISONS = {"==": ("!=",), "!=": ("==",), "<": ("<=", ">="), "<=": ("<", ">"),
               ">": (">=", "<="), ">=": (">", "<")}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="}
# Where an operand ends, for operators of each level. What binds more loosely is a part of the next.
ENDS = {";", ",", "?", ":", "return", "co_return", "co_yield", "throw", "case", "else",
        *ASSIGNMENTS}
AND_ENDS = ENDS | {"&&", "||"}
OR_ENDS = ENDS | {"||"}
COMPARED_ENDS = AND_ENDS | {"&", "|", "^", "==", "!="}
KEYWORDS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "break",
            "continue", "goto", "using", "static_assert", "throw", "try", "catch", "const", "auto",
            "static", "constexpr", "typename", "template", "delete", "new", "co_return",
            "co_yield", "struct", "class", "enum", "operator"}
CONSTANT_CALLS = {"static_assert", "noexcept", "decltype", "sizeof", "alignof", "alignas",
                  "requires"}
ASSERTION = "REPRISE_ASSERT"
NUMBER = re.compile(r"(\d[\d']*)((?:[uUlLzZ]{1,3}|ns|us|ms|s|min|h)?)")


class Change(NamedTuple):
    source: str
    function: str
    kind: str
    old: str  # on one line
    new: str
    nth: int  # among equal changes of the function, from 1
    begin: int
    end: int
    lines: range
    text: str  # replaces the text from begin to end. ACTIVE and OLD stand for themselves.

    @property
    def anchor(self):
        """Identifies the change by function and shape, wherever it is in the file."""
        return self.source, self.function, f"{self.old} => {self.new}", str(self.nth)


# Placeholders in `Change.text`: whether the change is active, and the original text.
ACTIVE, OLD = "@ACTIVE@", "@OLD@"


def one_line(text):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text)).strip()


class Finder:
    """Finds the changes of one source."""

    def __init__(self, source, enumerations):
        self.source, self.enumerations = source, enumerations
        self.tokens, self.match, self.outer = source.tokens, source.match, source.outer
        self.found, self.skipped = [], 0
        self._seen = set()
        self._constants = self._constant_ranges()
        # Correct code cannot notice that an assertion is gone or weaker.
        self._assertions = [(index, self.match.get(index + 1, index))
                            for index, token in enumerate(self.tokens)
                            if token.text == ASSERTION]

    def find(self):
        """Returns the changes in the order of the file."""
        for index, token in enumerate(self.tokens):
            function = self.source.function_at(index)
            if function is None:
                continue
            before = len(self.found)
            self._look_at(index, token, function)
            if any(a <= index <= b for a, b in self._assertions):
                del self.found[before:]
            if len(self.found) > before and (
                    function.is_constant or any(a <= index <= b for a, b in self._constants)):
                self.skipped += len(self.found) - before
                del self.found[before:]
        return self._numbered()

    def _look_at(self, index, token, function):
        text = token.text
        if text in COMPARISONS and self.source.is_spaced(index):
            self._comparison(index)
        elif text in ("&&", "||") and self.source.is_spaced(index):
            ends = AND_ENDS if text == "&&" else OR_ENDS
            self._flip(self._left(index, ends), index - 1)
            self._flip(index + 1, self._right(index, ends))
        elif text == "?" and self.source.is_spaced(index):
            self._flip(self._left(index, ENDS), index - 1)
        elif text == "if" and self.tokens[index + 1].text == "(":
            self._condition(index + 1)
        elif token.kind == "number":
            self._off_by_one(index)
        elif text in ("min", "max"):
            self._min_max(index)
        elif text == "::":
            self._enumerator(index)
        if self._is_statement_begin(index):
            self._statement(index, function)

    # --- operators ---

    def _comparison(self, index):
        first = self._left(index, COMPARED_ENDS)
        last = self._right(index, COMPARED_ENDS)
        if first is None or last is None:
            return
        left, right = self.source.text_of(first, index - 1), self.source.text_of(index + 1, last)
        for other in COMPARISONS[self.tokens[index].text]:
            new = f"{left} {other} {right}"
            self._add("comparison", first, last, new, f"({ACTIVE} ? ({new}) : ({OLD}))")

    def _condition(self, opening):
        """The condition of an `if`, without what is declared in it."""
        if self.tokens[opening - 2].text == "constexpr" or opening not in self.match:
            return
        first, last = opening + 1, self.match[opening] - 1
        for index in range(first, last):
            if self.outer[index] == opening and self.tokens[index].text == ";":
                first = index + 1
        if not any(self.outer[i] == opening and self.tokens[i].text == "="
                   for i in range(first, last)):
            self._flip(first, last)

    def _flip(self, first, last):
        if first is None or last is None or first > last or self._is_comparison(first, last):
            return  # another comparison does the same
        old = self.source.text_of(first, last)
        if old == "...":
            return  # of a fold over a parameter pack
        is_negated = old.startswith("!") and self._is_unary(first, last)
        new = old[1:].lstrip() if is_negated else f"!({old})"
        self._add("condition", first, last, new, f"({ACTIVE} != static_cast<bool>({OLD}))")

    def _is_comparison(self, first, last):
        """True if the expression is one comparison and nothing else."""
        signs = [self.tokens[i].text for i in range(first, last + 1)
                 if self.outer[i] == self.outer[first] and self.source.is_spaced(i)]
        return any(sign in COMPARISONS for sign in signs) and not AND_ENDS & set(signs)

    def _is_unary(self, first, last):
        """True if the whole expression is one negated operand."""
        return not any(self.outer[i] == self.outer[first] and self.source.is_spaced(i)
                       for i in range(first + 1, last))

    def _off_by_one(self, index):
        parts = NUMBER.fullmatch(self.tokens[index].text)
        bracket = self.outer[index]
        if not parts or (bracket >= 0 and self.tokens[bracket].text == "["):
            return
        value, suffix = int(parts[1].replace("'", "")), parts[2]
        for other in (value + 1, value - 1) if value > 0 else (value + 1,):
            new = f"{other}{suffix}"
            self._add("off by one", index, index, new, f"({ACTIVE} ? {new} : {OLD})")

    def _min_max(self, index):
        text = self.tokens[index].text
        if self.tokens[index - 1].text != "::":
            return
        first, opening = self._chain_begin(index), index + 1
        if self.tokens[opening].text == "<":
            opening = self.match.get(opening, opening) + 1
        if self.tokens[opening].text != "(" or opening not in self.match:
            return
        last = self.match[opening]
        if last == opening + 1 or self.tokens[first].text not in ("std", "ranges"):
            return  # numeric_limits<T>::max()
        old = self.source.text_of(first, last)
        at = self.tokens[index].begin - self.tokens[first].begin
        new = old[:at] + ("max" if text == "min" else "min") + old[at + 3:]
        self._add("min and max", first, last, new, f"({ACTIVE} ? {new} : {OLD})")

    def _enumerator(self, index):
        owner, name = self.tokens[index - 1].text, self.tokens[index + 1].text
        after = self.tokens[index + 2].text
        if after in ("(", "::", "{", "<") or self.tokens[index - 1].kind != "word":
            return
        lists = [names for names in self.enumerations.get(owner, []) if name in names]
        if len(lists) != 1 or len(lists[0]) < 2:
            return
        names, first = lists[0], self._chain_begin(index + 1)
        at = names.index(name)
        prefix = self.source.text_of(first, index)
        for other in dict.fromkeys((names[(at + 1) % len(names)], names[at - 1])):
            new = prefix + other
            self._add("enumerator", first, index + 1, new, f"({ACTIVE} ? {new} : {OLD})")

    def _statement(self, index, function):
        first = self.tokens[index].text
        is_left = first == "return" and function.is_void and not self._is_in_lambda(index, function)
        if first in ("break", "continue") or is_left:
            last = self._statement_end(index)
        elif first in KEYWORDS or not self._is_expression_statement(index):
            return
        else:
            last = self._statement_end(index)
        if last is not None:
            self._add("statement", index, last, "(nothing)", f"if ({ACTIVE}) {{}} else {{ {OLD} }}")

    # --- shapes ---

    def _left(self, operator, ends):
        """Returns the first token of the operator's left operand."""
        index = operator - 1
        while index >= 0:
            text = self.tokens[index].text
            if text in (")", "]", "}") or (text == ">" and index in self.match):
                if index not in self.match or (text == "}" and self._is_block(index)):
                    return index + 1 if text == "}" and index + 1 < operator else None
                index = self.match[index] - 1
                continue
            if text in ("(", "[", "{") or text in ends or (text == "<" and index in self.match):
                return index + 1 if index + 1 < operator else None
            index -= 1
        return None

    def _right(self, operator, ends):
        """Returns the last token of the operator's right operand."""
        index = operator + 1
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text in ("(", "[", "{") or (text == "<" and index in self.match):
                if index not in self.match:
                    return None
                index = self.match[index] + 1
                continue
            if text in (")", "]", "}") or text in ends or (text == ">" and index in self.match):
                return index - 1 if index - 1 > operator else None
            index += 1
        return None

    def _is_block(self, closing):
        opening = self.match[closing]
        return any(self.tokens[i].text == ";" and self.outer[i] == opening
                   for i in range(opening, closing))

    def _chain_begin(self, last):
        """Returns the first token of a qualified name."""
        first = last
        while first >= 2 and self.tokens[first - 1].text == "::" and self.tokens[
                first - 2].kind == "word":
            first -= 2
        return first

    def _is_statement_begin(self, index):
        outer = self.outer[index]
        if outer < 0 or self.tokens[outer].text != "{":
            return False
        before = self.tokens[index - 1].text
        if before in ("{", ";", "}"):
            return True
        return before == ":" and any(
            self.tokens[i].text in ("case", "default") for i in range(max(0, index - 8), index))

    def _is_in_lambda(self, index, function):
        """True if the innermost function around a token is a lambda."""
        brace = self.outer[index]
        while brace > function.body:
            before = brace - 1
            while before > function.body and self.tokens[before].text not in ("{", "}", ";"):
                if self.tokens[before].text == "]" and self.tokens[before + 1].text in "({":
                    return True
                text = self.tokens[before].text
                before = self.match[before] - 1 if text in (")", "]") else before - 1
            brace = self.outer[brace]
        return False

    def _statement_end(self, index):
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == ";":
                return index
            if text in ("(", "[", "{") or (text == "<" and index in self.match):
                index = self.match.get(index, len(self.tokens)) + 1
                continue
            if text in (")", "]", "}"):
                return None
            index += 1
        return None

    def _is_expression_statement(self, index):
        """True for a call, an assignment or an increment; false for a declaration."""
        text = self.tokens[index].text
        if text in ("++", "--"):
            return True
        if text in ("*", "("):
            return self._statement_end(index) is not None
        while self.tokens[index].kind == "word":
            index += 1
            while self.tokens[index].text in ("(", "[") or (
                    self.tokens[index].text == "<" and index in self.match):
                index = self.match.get(index, index) + 1
            if self.tokens[index].text not in ("::", ".", "->"):
                break
            index += 1
        text = self.tokens[index].text
        if text == ";":
            return self.tokens[index - 1].text == ")"
        return text in ASSIGNMENTS or text in ("++", "--")

    # --- what the compiler evaluates ---

    def _constant_ranges(self):
        """Returns [(first, last)] of tokens that cannot be switched at run time."""
        ranges = self.source.alternative_ranges()
        for index, token in enumerate(self.tokens):
            text = token.text
            if text == "<" and index in self.match:
                ranges.append((index, self.match[index]))
            elif text in CONSTANT_CALLS and self.tokens[index + 1].text == "(":
                ranges.append((index, self.match.get(index + 1, index)))
            elif text == "constexpr" and self.source.function_at(index) is not None:
                end = self._constant_end(index)
                ranges.append((index, end))
            elif text == "case":
                end = next(i for i in range(index, len(self.tokens))
                           if self.tokens[i].text == ":" and self.outer[i] == self.outer[index])
                ranges.append((index, end))
        return ranges

    def _constant_end(self, index):
        if self.tokens[index - 1].text == "if":
            return self.match.get(index + 1, index)
        end = self._statement_end(index)
        return index if end is None else end

    def _add(self, kind, first, last, new, text):
        begin, end = self.tokens[first].begin, self.tokens[last].end
        old = one_line(self.source.text[begin:end])
        key = (begin, end, one_line(new))
        function = self.source.function_at(first)
        if key in self._seen or function is None or "#" in old or "reprise_mutant" in old:
            return
        self._seen.add(key)
        lines = range(self.source.line_of(begin), self.source.line_of(end) + 1)
        self.found.append(Change(self.source.path, function.name, kind, old, one_line(new), 0,
                                 begin, end, lines, text))

    def _numbered(self):
        counts, result = {}, []
        for change in sorted(self.found, key=lambda change: (change.begin, -change.end)):
            key = (change.function, change.old, change.new)
            counts[key] = counts.get(key, 0) + 1
            result.append(change._replace(nth=counts[key]))
        return result


def find_changes(source, enumerations):
    """Returns (changes, how many cannot be switched at run time)."""
    finder = Finder(source, enumerations)
    return finder.find(), finder.skipped
