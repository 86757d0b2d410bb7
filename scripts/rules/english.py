"""English that readers do not stumble over. Comments of C++ sources, pages, docs/*.tsv, comments
and `says:` texts of mutants, and comments and docstrings of Python contain none of WORDINGS: words
of a dialect such as `anew`, `mended` and `whoever`, and things that say, know or want something,
where a plain verb exists. Text in backticks and fenced code are exempt. Exceptions are in
tests/rules/english.tsv: a file or folder, a wording of it or `*`, reason. An exception that nothing
needs is reported."""

import ast
import io
import re
import tokenize
from typing import NamedTuple

from rules.pages import prose_lines
from rules.tree import TOKEN, Violation, line_of

TABLE = "tests/rules/english.tsv"
BREAK = "\0"  # stands for code between two comments: a wording does not reach over it
CODE_SPAN = re.compile(rf"(`+)(?!`)[^{BREAK}]{{1,200}}?\1")
COMMENT_MARK = re.compile(r"^[ \t]*(?://[/!]?<?|/\*+|\*+/|\*)|\*+/$", re.MULTILINE)

# Things do not think. Users, developers, callers and other people may know and want something.
THINGS = (r"strateg(?:y|ies)|polic(?:y|ies)|class(?:es)?|quer(?:y|ies)|process(?:es)?|"
          r"(?:adapter|answer|attempt|body|breaker|bucket|budget|call|case|checker|client|"
          r"clock|cluster|code|comment|connection|counter|document|driver|engine|error|exchange|"
          r"field|file|frame|function|handler|header|history|hook|interface|library|line|loop|"
          r"machine|map|mutant|node|observer|operation|option|page|parser|path|plan|program|queue|"
          r"reason|request|response|result|retry|row|rule|sandbox|scenario|server|service|session|"
          r"simulation|socket|status|table|test|text|throttle|timer|token|tracer|type|value)s?")
NOT = (r"(?: (?:may|can|could|should|must|will|would|do|does|did)(?: still)? not"
       r"| cannot| never| no longer)")
# That a server knows the password is idiomatic, and so is that a client cannot tell two things
# apart.
MENTAL = (rf"(?:{THINGS})"
          rf"(?:{NOT}? (?:says?|knows?(?! the password)|wants?|thinks?|believes?)| tells?)")


class Wording(NamedTuple):
    pattern: re.Pattern
    instead: str


def wording(pattern, instead):
    spaced = pattern.replace(" ", r"\s+")
    return Wording(re.compile(rf"\b(?:{spaced})\b", re.IGNORECASE), instead)


WORDINGS = (
    wording(r"told as", "reported as"),
    wording(r"(?:is|are|was|were|be|been) told", "is passed, is reported, is notified"),
    wording(r"hears?", "is notified, receives"),
    wording(r"anew", "again"),
    wording(r"mended", "fixed"),
    wording(r"spoils", "breaks"),
    wording(r"heals?|healed|healing", "recovers, transient"),
    wording(r"kinder", "the advantage, such as: spreads the load better"),
    wording(r"whoever", "if you, anyone who, the operations that"),
    wording(r"who (?:waits?|wants?)", "the operations that wait, if you want"),
    wording(r"by the guide|the guide's|the guide (?:says|asks|wants|requires|allows)",
            "Smithy's guide"),
    wording(r"(?:the two|both) documents", "the names of the documents"),
    wording(r"beside (?:its|their|itself)", "in addition to, next to"),
    wording(MENTAL, "states, has, needs, assumes, reports"),
)


class Piece(NamedTuple):
    line: int
    text: str
    follows: bool  # only space is between this piece and the one before


def joined(pieces):
    """Returns the pieces as one text in which each has the line number that it has in the file."""
    text, line = [], 1
    for piece in pieces:
        text.append(("" if piece.follows else BREAK) + "\n" * (piece.line - line) + piece.text)
        line = piece.line + piece.text.count("\n")
    return "".join(text)


def cpp_prose(text):
    pieces, end = [], 0
    for match in TOKEN.finditer(text):
        if match["comment"]:
            pieces.append(Piece(line_of(text, match.start()), COMMENT_MARK.sub(" ", match[0]),
                                not text[end:match.start()].strip()))
            end = match.end()
    return joined(pieces)


def python_prose(text):
    pieces, follows, starts_statement = [], False, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            pieces.append(Piece(token.start[0], " " + token.string.lstrip("#!"), follows))
        elif token.type == tokenize.STRING and starts_statement:
            pieces.append(Piece(token.start[0], ast.literal_eval(token.string), False))
        follows = token.type == tokenize.COMMENT or follows and not token.string.strip()
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            starts_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return joined(pieces)


def mutants_prose(text):
    lines, in_says = [], False
    for line in text.split("\n"):
        in_says = line.startswith("says:") or in_says and line.startswith("    ")
        lines.append(line.lstrip("#") if in_says or line.startswith("#") else BREAK)
    return "\n".join(lines)


def prose(tree, path):
    """Returns the text of a file that people read, at its lines, with code as BREAK; or None."""
    if path.endswith(".md"):
        text = "\n".join(line for _, line in prose_lines(tree.text(path)))
    elif path.endswith(".py"):
        text = python_prose(tree.text(path))
    elif path.endswith(".mutants"):
        text = mutants_prose(tree.text(path))
    elif path in tree.cpp_files:
        text = cpp_prose(tree.text(path))
    elif re.fullmatch(r"docs/\w+\.tsv", path):
        text = tree.text(path)
    else:
        return None
    return CODE_SPAN.sub(lambda span: re.sub(r"[^\n]", BREAK, span[0]), text)


def findings(text):
    """Yields (line, words as they stand there, wording) of each wording in a text."""
    for each in WORDINGS:
        for match in each.pattern.finditer(text):
            yield line_of(text, match.start()), " ".join(match[0].split()), each


def check(tree):
    exceptions = {(place, words.lower()) for place, words, _ in tree.table(TABLE, 3)}
    needed = set()
    for path in tree.files:
        for line, words, each in findings(prose(tree, path) or ""):
            excepted = {(place, which) for place, which in exceptions
                        if f"{path}/".startswith(f"{place}/") and which in ("*", words.lower())}
            needed |= excepted
            if not excepted:
                yield Violation(path, line, f"`{words}`; rather: {each.instead}")
    for place, words in sorted(exceptions - needed):
        yield Violation(TABLE, 1, f"{place} does not need the exception for `{words}`")
