#!/usr/bin/env python3
"""Runs clang-format and clang-tidy on the whole tree.

The build compiles several sources as one unity file, and so does clang-tidy here: it reads a common
header a few times instead of hundreds of times, which makes it fast enough for the whole tree.
`--changed` checks only the unity files whose sources differ from the last commit.
"""

import argparse
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("libs", "testing", "apps", "examples", "bench", "tests")
# Tests only need to be formatted and free of warnings; headers are checked through their users.
LEFT_OUT = re.compile(r"_tests\.dir/|/headers_\w+\.dir/|^tests/|/tests/")
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    return result.stdout.splitlines()


def our_files():
    names = git("ls-files", "-co", "--exclude-standard")
    return [name for name in names if name.startswith(FOLDERS) and
            name.endswith((".cpp", ".hpp")) and (ROOT / name).is_file()]


def changed_files():
    return {str(ROOT / name) for name in
            git("diff", "--name-only", "HEAD") + git("ls-files", "-o", "--exclude-standard")}


def check_format(names):
    """Returns the names of files that clang-format would change."""
    wrong = []
    for start in range(0, len(names), 50):
        result = subprocess.run(
            ["clang-format-19", "--dry-run", "-Werror", *names[start:start + 50]], cwd=ROOT,
            capture_output=True, text=True, check=False)
        if result.returncode != 0:
            wrong += sorted({line.split(":")[0] for line in result.stderr.splitlines()
                             if ": error:" in line})
    return wrong


def sources_of(file):
    """Returns the sources that a unity file includes, or the file itself."""
    if "/Unity/" not in file:
        return {file}
    return set(INCLUDED.findall(Path(file).read_text(encoding="utf-8")))


def pieces(build, wanted):
    """Returns what the build compiles, once each and without tests; only `wanted` if given."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in database:
        file = str(Path(entry["directory"], entry["file"]).resolve())
        below = str(Path(file).relative_to(ROOT)) if Path(file).is_relative_to(ROOT) else file
        sources = sources_of(file)
        ours = any(Path(source).is_relative_to(ROOT) and
                   not Path(source).is_relative_to(ROOT / "build") for source in sources)
        if ours and not LEFT_OUT.search(below) and (wanted is None or sources & wanted):
            found[file] = sources
    return sorted(found, key=lambda file: -len(found[file]))  # the longest first


def tidy(name, build):
    result = subprocess.run(
        ["clang-tidy-19", "-p", str(build), "--quiet", "--warnings-as-errors=*",
         "--extra-arg=-Wno-unknown-warning-option", name],
        cwd=ROOT, capture_output=True, text=True, check=False)
    return name, result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    wrong = check_format(our_files())
    for name in wrong:
        print(f"not formatted: {name} (clang-format-19 -i {name})")
    build = (ROOT / arguments.build).resolve()
    chosen = pieces(build, changed_files() if arguments.changed else None)
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, code, text in pool.map(lambda file: tidy(file, build), chosen):
            if code != 0:
                failed += 1
                print(f"{Path(name).relative_to(build) if '/Unity/' in name else name}:\n{text}")
    print(f"lint: {len(chosen)} pieces tidied, {failed} with findings, {len(wrong)} not formatted")
    if not chosen and not arguments.changed:
        print("lint: nothing to check: has the tree been configured?")
        failed = 1
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
