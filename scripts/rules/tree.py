"""The files to check, and C++ text reduced to code."""

import re
import subprocess
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

# Numbers come first, because the quotes in 1'000'000 do not start a literal.
TOKEN = re.compile(
    r"""(?P<number>\b\d(?:'?[\w.])*)
      | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
      | (?P<literal>R"(?P<tag>[^()\s\\]{0,16})\(.*?\)(?P=tag)"
          | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE)

# Folders of libraries: those that ship in a program, and those for testing programs.
LIBRARY = r"(?:libs|testbed)/\w+"


class Violation(NamedTuple):
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


class Tree:
    """A checkout: tracked files and new ones that are not ignored."""

    def __init__(self, root):
        self.root = Path(root)

    @cached_property
    def files(self):
        """Returns sorted paths relative to the root. Without git (in a release archive) it walks
        the tree."""
        try:
            listing = subprocess.run(
                ["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"],
                check=True, capture_output=True, text=True).stdout.split("\0")
        except (OSError, subprocess.CalledProcessError):
            listing = [path.relative_to(self.root).as_posix() for path in self.root.rglob("*")]
            listing = [p for p in listing if not p.startswith(("build/", ".git/"))]
        return sorted({p for p in listing if p and (self.root / p).is_file()})

    @cached_property
    def cpp_files(self):
        """Returns the C++ files that people write; those in single_header/ are generated."""
        return [path for path in self.files
                if path.endswith((".hpp", ".cpp")) and not path.startswith("single_header/")]

    @cached_property
    def public_headers(self):
        """Returns the headers that are installed."""
        return [path for path in self.cpp_files if re.match(rf"{LIBRARY}/include/.*\.hpp$", path)]

    @cached_property
    def library_headers(self):
        """Returns the headers that other libraries may include: public ones, and private ones that
        only libraries of this repository see."""
        return [path for path in self.cpp_files
                if re.match(rf"{LIBRARY}/(?:include|private)/.*\.hpp$", path)]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8", errors="replace")

    def table(self, path, columns):
        """Returns the rows of a tab-separated file. Skips empty lines and lines starting with #."""
        if not (self.root / path).exists():
            return []
        rows = []
        for number, line in enumerate(self.text(path).splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split("\t")]
            if len(fields) != columns or not all(fields):
                raise SystemExit(f"{path}:{number}: expected {columns} filled columns")
            rows.append(fields)
        return rows


def lines_only(text):
    """Returns only the line breaks of a text, so that blanking it keeps line numbers."""
    return "\n" * text.count("\n")


def without_comments(text):
    def blank(match):
        return " " + lines_only(match[0]) if match["comment"] else match[0]
    return TOKEN.sub(blank, text)


def code_only(text):
    """Returns C++ text with comments and literals blanked; line numbers stay the same."""
    def blank(match):
        if match["number"]:
            return match[0]
        return ('""' if match["literal"] else " ") + lines_only(match[0])
    return TOKEN.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
