#!/usr/bin/env python3
"""The long checks before a release: release_check.py [PART...]

Runs `.ci/run` and the checks that take too long for it, one at a time, and writes the results to
docs/release_checks/DATE.md: the commit, and each part with its command, result, seconds and last
line. Exits with 1 if a part fails. If you name parts, it runs only those. It needs nothing from
outside this repository but Debian's packages and public registries.
"""

import argparse
import datetime
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = {
    "ci": "bash .ci/run",
    "mutants": "./dev mutants",
    "mutate": "./dev mutate --count 100 --limit 10",
    "headers": "./dev build dev private_headers",
    "docs": "./dev docs",
    "fuzz": "./dev fuzz 60",
    "interop": "./dev interop",
    "adapters": "./dev interop adapters",
    "sim": "./dev sim 10000",
    "sim_services": "./dev sim 3000 --profile services",
    "sim_hostile": "./dev sim 5000 --profile hostile",
    "soak": "./dev soak 10",
    "install": "./dev run --seconds 20 --plain && "
               "python3 tests/install/check_install.py --build build/release --whole-tree "
               "--compile-headers --core libs/retry/include",
    "subproject": "python3 tests/packaging/check_subproject.py cmake g++",
    "packages": "./dev packages check",
    "debian13": "./dev packages debian13",
    "conan": "./dev packages conan",
    "platforms": "./dev platforms",
    "bench_retry": "./dev bench retry",
    "bench_kv": "./dev bench kv",
    "bench_lab": "./dev bench lab",
}
# Parts of a line that differ between runs or identify this machine.
NOISE = re.compile(r"\x1b\[[0-9;]*m|" + re.escape(str(ROOT)) + "/?")


def run_part(name, command):
    """Returns (passed, seconds, the last line of its output)."""
    print(f"=== {name}: {command} ===", flush=True)
    begin = time.monotonic()
    last = ""
    with subprocess.Popen(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode == 0, time.monotonic() - begin, NOISE.sub("", last)


def page(rows):
    """The committed result: {part: its row}."""
    today = datetime.date.today().isoformat()
    lines = [f"# Release check of {today}", "",
             "By `./dev release-check`, part by part. Each row names the commit that it was run on; the",
             "seconds are those of a machine with two cores.", "",
             "| part | command | commit | result | seconds | last line |", "|---|---|---|---|---|---|"]
    lines += [rows[name] for name in PARTS if name in rows]
    return "\n".join(lines) + "\n"


def row(name, commit, passed, seconds, last):
    text = last.replace("|", "\\|")[:200]
    result = "passed" if passed else "FAILED"
    return f"| {name} | `{PARTS[name]}` | `{commit}` | {result} | {seconds:.0f} | {text} |"


def earlier_rows(file):
    """The rows of parts that were run earlier on this day."""
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (re.match(r"\| (\w+) \| `", line) for line in lines)
    return {match[1]: match.string for match in found if match and match[1] in PARTS}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    chosen = parser.parse_args().parts or list(PARTS)
    for name in chosen:
        if name not in PARTS:
            parser.error(f"no part '{name}': {' '.join(PARTS)}")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout.strip()
    folder = ROOT / "docs" / "release_checks"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{datetime.date.today().isoformat()}.md"
    rows, failed = earlier_rows(file), []
    for name in chosen:
        passed, seconds, last = run_part(name, PARTS[name])
        rows[name] = row(name, commit, passed, seconds, last)
        file.write_text(page(rows), encoding="utf-8")
        failed += [] if passed else [name]
    print(f"release check: {len(chosen) - len(failed)} passed, {len(failed)} failed; "
          f"{file.relative_to(ROOT)} says what was seen")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
