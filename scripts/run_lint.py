#!/usr/bin/env python3
"""clang-format and clang-tidy on C++ files: those changed since the last landing, or all.

"Changed" means: in the work tree and in the newest commits that are not older than a day, at most
40 files, so that the check stays within its minutes. `--all` takes every file.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("libs", "apps", "examples", "bench", "tests")
TIDY_MAX = 24


def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    return result.stdout.splitlines()


def is_ours(name):
    return name.startswith(FOLDERS) and name.endswith((".cpp", ".hpp")) and (ROOT / name).is_file()


def all_files():
    return [name for name in git("ls-files", "-co", "--exclude-standard") if is_ours(name)]


def changed_files():
    """Files of the last commit and of the work tree."""
    names = git("diff", "--name-only", "HEAD") + git("ls-files", "-o", "--exclude-standard")
    if len(git("rev-list", "--max-count=2", "HEAD")) == 2:
        names += git("diff", "--name-only", "HEAD~1", "HEAD")
    return sorted({name for name in names if is_ours(name)})


def check_format(names):
    """Names that clang-format would change."""
    wrong = []
    for start in range(0, len(names), 50):
        part = names[start:start + 50]
        result = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *part], cwd=ROOT,
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            wrong += sorted({line.split(":")[0] for line in result.stderr.splitlines()
                             if ": error:" in line})
    return wrong


def tidy(name, build):
    result = subprocess.run(["clang-tidy-19", "-p", str(build), "--quiet", "--warnings-as-errors=*",
                             "--extra-arg=-Wno-unknown-warning-option", name],
                            cwd=ROOT, capture_output=True, text=True, check=False)
    return name, result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    # Formatting is cheap: always everywhere. Tidy takes seconds a file: what changed.
    wrong = check_format(all_files())
    for name in wrong:
        print(f"not formatted: {name} (clang-format-19 -i {name})")
    database = json.loads((ROOT / arguments.build / "compile_commands.json").read_text())
    compiled = {str(Path(entry["file"]).resolve()) for entry in database}
    chosen = all_files() if arguments.all else changed_files()
    sources = [name for name in chosen
               if str((ROOT / name).resolve()) in compiled and "/tests/" not in name]
    if not arguments.all and len(sources) > TIDY_MAX:
        print(f"{len(sources)} files changed; clang-tidy takes {TIDY_MAX} of them (--all for all)")
        step = len(sources) / TIDY_MAX
        sources = [sources[int(index * step)] for index in range(TIDY_MAX)]
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for name, code, text in pool.map(lambda n: tidy(n, arguments.build), sources):
            if code != 0:
                failed += 1
                print(f"{name}:\n{text}")
    print(f"lint: {len(sources)} files tidied, {failed} with findings, {len(wrong)} not formatted")
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
