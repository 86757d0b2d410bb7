"""Reads C++ sources as far as mutation needs it: tokens, brackets, functions and enumerations.

It relies on the formatter: binary operators have spaces around them, template brackets have none.
"""

import bisect
import re
from typing import NamedTuple

TOKEN = re.compile(r"""
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/ | ^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>(?:u8|u|U|L)?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])+')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eE])[+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><=>|->\*|\.\.\.|<<=|::|->|\+\+|--|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|<<|[^\w\s])
""", re.X | re.S | re.M)
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
TYPE_WORDS = {"class", "struct", "union", "enum"}


class Token(NamedTuple):
    text: str
    begin: int
    end: int
    kind: str  # text, number, word or sign


class Function(NamedTuple):
    name: str  # topology::retire
    head: int  # index of the first token of its declaration
    body: int  # index of its opening brace
    end: int  # index of its closing brace
    is_void: bool
    is_constant: bool  # consteval


def lex(text):
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        at = found.end()
        if found.lastgroup != "skip" and not found["skip"]:
            kind = next(kind for kind in ("text", "number", "word", "sign") if found[kind])
            tokens.append(Token(found[0], found.start(), found.end(), kind))
    return tokens


class Source:
    """The tokens of one file, with their brackets and functions."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = lex(text)
        self.match = {}  # index of a bracket: index of its partner
        self.outer = []  # for each token: index of the innermost open bracket, or -1
        self._match_brackets()
        self.functions = []
        self._find_functions()
        self._bodies = [function.body for function in self.functions]
        self._lines = [found.start() for found in re.finditer("\n", text)]

    def line_of(self, offset):
        return bisect.bisect_left(self._lines, offset) + 1

    def is_spaced(self, index):
        """True if there are spaces on both sides of a token, as around a binary operator."""
        token = self.tokens[index]
        return self.text[token.begin - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def is_angle(self, index):
        """True for a `<` that opens template arguments."""
        token = self.tokens[index]
        if index > 0 and self.tokens[index - 1].text == "template":
            return True  # a long list of parameters starts on its own line
        return not self.text[token.end:token.end + 1].isspace() and index > 0 and (
            self.tokens[index - 1].kind == "word" or self.tokens[index - 1].text == "]")

    def text_of(self, first, last):
        """Returns the text from token `first` to token `last`."""
        return self.text[self.tokens[first].begin:self.tokens[last].end]

    def alternative_ranges(self):
        """Returns [(first, last)] of the tokens between #else or #elif and #endif."""
        ranges, begins = [], []
        for found in re.finditer(r"^[ \t]*#[ \t]*(if|el|endif)", self.text, re.M):
            if found[1] == "if":
                begins.append(None)
            elif begins and found[1] == "el":
                begins[-1] = begins[-1] or found.start()
            elif begins and (begin := begins.pop()) is not None:
                inside = [i for i, token in enumerate(self.tokens)
                          if begin < token.begin < found.start()]
                ranges += [(inside[0], inside[-1])] if inside else []
        return ranges

    def function_at(self, index):
        """Returns the function whose body has this token, or None."""
        at = bisect.bisect_right(self._bodies, index) - 1
        if at >= 0 and self.functions[at].body < index < self.functions[at].end:
            return self.functions[at]
        return None

    def _match_brackets(self):
        stack = []
        for index, token in enumerate(self.tokens):
            self.outer.append(stack[-1] if stack else -1)
            if token.kind != "sign":
                continue
            if token.text in "([{" or (token.text == "<" and self.is_angle(index)):
                stack.append(index)
            elif token.text == ">" and stack and self.tokens[stack[-1]].text == "<":
                if not self.text[token.begin - 1].isspace():
                    self._close(stack.pop(), index)
            elif token.text in ")]}":
                while stack and CLOSING[self.tokens[stack[-1]].text] != token.text:
                    stack.pop()  # a `<` that was no bracket
                if stack:
                    self._close(stack.pop(), index)

    def _close(self, first, last):
        self.match[first], self.match[last] = last, first
        self.outer[last] = self.outer[first]

    def _find_functions(self):
        scopes = []  # [(index of its closing brace, name of the class or "")]
        index, begin = 0, 0  # begin: first token of the declaration
        while index < len(self.tokens):
            token = self.tokens[index]
            while scopes and index > scopes[-1][0]:
                scopes.pop()
            if token.text in (";", "}") or (token.text == ":" and index > 0 and self.tokens[
                    index - 1].text in ("public", "private", "protected")):
                begin = index + 1
            elif token.text in ("(", "[", "<") and index in self.match:
                index = self.match[index]
            elif token.text == "{" and index in self.match:
                index, begin = self._open(begin, index, scopes)
            index += 1

    def _open(self, begin, brace, scopes):
        """Classifies what a brace at the level of declarations opens. Returns where to go on."""
        texts = [token.text for token in self.tokens[begin:brace]]
        end = self.match[brace]
        if "namespace" in texts or texts[:2] == ["extern", '"C"']:
            scopes.append((end, ""))
            return brace, brace + 1
        call = self._first_call(begin, brace)
        plain = self._outside_brackets(begin, brace)
        kind = next((text for text in plain if text in TYPE_WORDS), None)
        if kind is not None and call is None:
            scopes.append((end, self._type_name(plain, kind)))
            return (end, end + 1) if kind == "enum" else (brace, brace + 1)
        if call is None or "=" in self._outside_brackets(begin, call):
            return end, begin  # an initialiser
        colon = self._initialisers(call, brace)
        if colon and self.tokens[brace - 1].kind == "word" and self.tokens[
                brace - 1].text not in ("noexcept", "const", "override", "final"):
            return end, begin  # `: member_{...}`
        name = self._function_name(call)
        owner = scopes[-1][1] if scopes else ""
        if owner and "::" not in name:
            name = f"{owner}::{name}"
        head = texts[:call - begin]
        is_void = "void" in self._outside_brackets(begin, call) or (
            "->" in texts and texts[-1] == "void")
        self.functions.append(Function(name, begin, brace, end, is_void, "consteval" in head))
        return end, end + 1

    def _outside_brackets(self, first, last):
        index, texts = first, []
        while index < last:
            texts.append(self.tokens[index].text)
            index = self.match.get(index, index) + 1 if texts[-1] in CLOSING else index + 1
        return texts

    def _first_call(self, begin, brace):
        """Returns the index of the parameter list's bracket, or None."""
        index = begin
        while index < brace:
            text = self.tokens[index].text
            if text in ("alignas", "noexcept", "requires", "decltype", "explicit", "REPRISE_EXPORT"):
                index += 1
                if self.tokens[index].text == "(":
                    index = self.match.get(index, index) + 1
                continue
            if text == "(" and index > begin:
                return index
            index = self.match.get(index, index) + 1 if text in ("[", "<") else index + 1
        return None

    def _initialisers(self, call, brace):
        return any(self.tokens[index].text == ":" and self.outer[index] == self.outer[call]
                   for index in range(self.match.get(call, call), brace))

    def _function_name(self, call):
        first = call - 1
        if self.tokens[first].text == ">":  # a specialisation
            first = self.match.get(first, first) - 1
        if self.tokens[first].text == ")" and self.tokens[first - 1].text == "(":
            return "operator()"
        if self.tokens[first].kind == "sign" and self.tokens[first - 1].text == "operator":
            return self.text_of(first - 1, first)
        while first >= 2 and self.tokens[first - 1].text == "::":
            first -= 2
            if self.tokens[first].text == ">":
                first = self.match.get(first, first) - 1
        return re.sub(r"\s+|<.*?>", "", self.text_of(first, call - 1))

    @staticmethod
    def _type_name(texts, kind):
        rest = texts[texts.index(kind) + 1:]
        names = [text for text in rest if re.fullmatch(r"[A-Za-z_]\w*", text)
                 and text not in ("class", "struct", "final", "REPRISE_EXPORT", "alignas")]
        return names[0] if names else ""


def read_enumerations(sources):
    """Returns {name: [enumerators]} of all enumerations. Those with equal names are merged only if
    they share no enumerator."""
    found = {}
    for source in sources:
        for index, token in enumerate(source.tokens):
            if token.text != "enum":
                continue
            words = [index + 1]
            if source.tokens[words[0]].text in ("class", "struct"):
                words[0] += 1
            brace = next((i for i in range(words[0], min(words[0] + 8, len(source.tokens)))
                          if source.tokens[i].text in "{;"), None)
            if brace is None or source.tokens[brace].text == ";" or brace not in source.match:
                continue
            names = [source.tokens[i].text for i in range(brace + 1, source.match[brace])
                     if source.tokens[i].kind == "word" and source.outer[i] == brace
                     and source.tokens[i - 1].text in ("{", ",")]
            found.setdefault(source.tokens[words[0]].text, []).append(names)
    return found
