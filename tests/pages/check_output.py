#!/usr/bin/env python3
"""Compares the output that pages show with what the programs print: check_output.py BINARIES

If a ```text block of a page follows a line `<!-- output: NAME -->`, it must equal what the program
NAME prints, apart from numbers, because delays are random, and from line breaks, because pages are
100 columns wide. `<!-- output: NAME path/to/runner.py -->` is for a program that needs a server:
the runner gets the program as its argument and prints what the program printed.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = re.compile(r"<!-- output: (\w+)(?: (\S+\.py))? -->\n```text\n(.*?)```", re.DOTALL)
MARK = "<!-- output:"
NUMBER = re.compile(r"\d+(\.\d+)?")


def normal(text):
    return " ".join(NUMBER.sub("#", text).split())


def shown_outputs():
    """Returns (page, program, runner or "", text) of each such block."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        blocks = OUTPUT.findall(text)
        if len(blocks) != text.count(MARK):
            raise SystemExit(f"{page}: an output line without a text block after it")
        yield from ((page.relative_to(ROOT), *block) for block in blocks)


def main():
    failed, count = 0, 0
    for page, name, runner, shown in shown_outputs():
        count += 1
        before = [sys.executable, "-B", ROOT / runner] if runner else []
        printed = subprocess.run([*before, Path(sys.argv[1]) / name], check=True,
                                 capture_output=True, text=True, timeout=50).stdout
        if normal(printed) != normal(shown):
            failed += 1
            print(f"{page}: {name} prints something else:\n{printed}")
    print(f"{count} outputs in pages, {failed} differ")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
