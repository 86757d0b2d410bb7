"""Pages can be read and followed. No line of a page is wider than 100 columns, except rows of tables
outside the root README; generated pages are exempt. Every link to a file or folder of this tree
leads to one, and every anchor to a heading of its page; links to other sites are well-formed. The
marks around fenced code are not indented: one that is indented by four columns ends nothing, and
the text after it is shown as code. All rows of a table have as many cells as its first."""

import re
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

from rules.tree import Violation

COLUMNS_MAX = 100
GENERATED = re.compile(r"docs/(conformance|sandbox|sandbox_control)\.md$|docs/release_checks/")
FENCE = re.compile(r"^\s*(```|~~~)")
INDENTED_FENCE = re.compile(r"^\s{4,}(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
CODE_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^()\s<>]*)>?\s*\)")


class Heading(NamedTuple):
    line: int
    level: int
    text: str
    anchor: str


class Link(NamedTuple):
    line: int
    is_image: bool
    target: str


def prose_lines(text):
    """Returns (number, line) of a page, with fenced and indented code blanked."""
    fence = None
    previous = ""
    in_code = False
    for number, line in enumerate(text.split("\n"), start=1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1] == fence:
                fence = None
            yield number, ""
        elif mark:
            fence = mark[1]
            yield number, ""
        else:
            # Four spaces start code after an empty line, and continue it.
            in_code = line.startswith("    ") and (in_code or not previous.strip())
            yield number, "" if in_code else line
        previous = line


def ragged_rows(text):
    """Yields (number, cells, cells of the first row) of rows that differ from the first of their table."""
    expected = 0
    for number, line in prose_lines(text):
        if not line.startswith("|"):
            expected = 0
            continue
        row = re.sub(r"<!--.*?-->", "", CODE_SPAN.sub("code", line)).replace("\\|", "")
        cells = row.count("|") - 1
        expected = expected or cells
        if cells != expected:
            yield number, cells, expected


def slug(title, used):
    """Returns the anchor that forges give to a heading; `used` counts those before it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).strip().lower()
    text = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
    count = used.get(text, 0)
    used[text] = count + 1
    return f"{text}-{count}" if count else text


def headings_of(text):
    used = {}
    for number, line in prose_lines(text):
        if match := HEADING.match(line):
            yield Heading(number, len(match[1]), match[2], slug(match[2], used))


def links_of(text):
    prose = "\n".join(line for _, line in prose_lines(text))
    # A link's text may contain code, but a link inside code is none.
    masked = CODE_SPAN.sub(lambda span: span[0].replace("](", "] "), prose)
    for match in LINK.finditer(masked):
        yield Link(prose.count("\n", 0, match.start()) + 1, bool(match[1]), match[3])


def resolve(page, path):
    """Returns the path of a link's target from the root, or None if it leaves the tree."""
    parts = list(PurePosixPath(page).parent.parts)
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def check_link(tree, page, link, folders, anchors_of):
    split = urlsplit(link.target)
    if split.scheme or split.netloc:
        if split.scheme == "mailto":
            return None
        if split.scheme not in ("http", "https") or "." not in (split.hostname or ""):
            return f"malformed link: {link.target}"
        return None
    target = resolve(page, split.path) if split.path else page
    if target is None or target not in tree.files and target not in folders:
        return f"link to nothing: {link.target}"
    if split.fragment:
        if not target.endswith(".md") or split.fragment not in anchors_of(target):
            return f"no such heading: {link.target}"
    return None


def check(tree):
    folders = {parent.as_posix() for path in tree.files for parent in PurePosixPath(path).parents}
    known = {}

    def anchors_of(page):
        if page not in known:
            known[page] = {heading.anchor for heading in headings_of(tree.text(page))}
        return known[page]

    for page in tree.files:
        if not page.endswith(".md"):
            continue
        text = tree.text(page)
        if not GENERATED.match(page):
            for number, line in enumerate(text.split("\n"), start=1):
                is_row = line.startswith("|") and page != "README.md"
                if len(line) > COLUMNS_MAX and not is_row:
                    yield Violation(page, number,
                                    f"line has {len(line)} columns, limit {COLUMNS_MAX}")
                if INDENTED_FENCE.match(line):
                    yield Violation(page, number, "indented fence: it neither starts nor ends code")
        for number, cells, expected in ragged_rows(text):
            yield Violation(page, number, f"row of {cells} cells in a table of {expected}")
        for link in links_of(text):
            if problem := check_link(tree, page, link, folders, anchors_of):
                yield Violation(page, link.line, problem)
