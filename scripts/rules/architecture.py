"""ARCHITECTURE.md shows the folders as they are. Its tables have a row for each folder of the root
and for each library; the row of a library names exactly the own libraries that
tests/rules/includes.tsv lets it include. `everything` stands for `*`."""

import re
from pathlib import PurePosixPath

from rules.includes import TABLE
from rules.tree import LIBRARY, Violation

PAGE = "ARCHITECTURE.md"
FOLDERS = re.compile(r"^\|((?: `[\w/]+`,?)+) \|")


def rows_of(text):
    """Yields (line, folder, last cell) for each folder that a row of a table starts with."""
    for number, line in enumerate(text.split("\n"), start=1):
        if match := FOLDERS.match(line):
            for folder in re.findall(r"[\w/]+", match[1]):
                yield number, folder.rstrip("/"), line.rstrip(" |").rsplit("|", 1)[-1]


def check(tree):
    if PAGE not in tree.files:
        return
    rows = list(rows_of(tree.text(PAGE)))
    shown = {folder for _, folder, _ in rows}
    found = {PurePosixPath(path).parts[0] for path in tree.files if "/" in path}
    libraries = {match[0] for path in tree.files if (match := re.match(rf"{LIBRARY}(?=/)", path))}
    for folder in sorted({name for name in found if not name.startswith(".")} | libraries):
        if folder not in shown:
            yield Violation(PAGE, 1, f"no row for {folder}")
    allowed = {row[0]: {name.removesuffix("/src") for name in row[1].split()} - {"-"}
               for row in tree.table(TABLE, 4)}
    names = {library.split("/")[1] for library in libraries}
    for number, folder, uses in rows:
        if not (tree.root / folder).is_dir():
            yield Violation(PAGE, number, f"there is no folder {folder}")
        elif folder in libraries and folder in allowed:
            stated = {word for word in re.findall(r"\w+", uses) if word in names}
            for name in sorted(stated ^ allowed[folder]):
                verb = "may not use" if name in stated else "may also use"
                yield Violation(PAGE, number, f"by {TABLE}, {folder} {verb} {name}")
