#!/usr/bin/env python3
"""The long checks, before a piece of work is called done: release_check.py [PART...]

Runs `.ci/run` and what is too long for it, one part after the other, and writes what was seen to
docs/release_checks/DATE.md: the commit, each part with its command, result, seconds and last line.
Exits with 1 if a part failed. With parts named, only those are run.
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
    "fuzz": "./dev fuzz 60",
    "interop": "./dev interop",
    "kv_engine": "./dev interop kv_engine --kv-engine-seconds 120",
    "sim": "./dev sim 10000",
    "sim_services": "./dev sim 3000 --profile services",
    "sim_hostile": "./dev sim 5000 --profile hostile",
    "soak": "./dev soak 10",
    "bench_retry": "./dev bench retry",
    "bench_kv": "./dev bench kv",
}
# Parts of a line that change from run to run or name this machine.
NOISE = re.compile(r"\x1b\[[0-9;]*m|" + re.escape(str(ROOT)) + "/?")


def run_part(name, command):
    """(passed, seconds, the last line of its output)."""
    print(f"=== {name}: {command} ===", flush=True)
    begin = time.monotonic()
    last = ""
    with subprocess.Popen(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode == 0, time.monotonic() - begin, NOISE.sub("", last)


def page(commit, results):
    """The committed result."""
    today = datetime.date.today().isoformat()
    lines = [f"# Release check of {today}", "",
             f"Commit `{commit}`, by `./dev release-check`. Seconds on a machine with two cores.", "",
             "| part | command | result | seconds | last line |", "|---|---|---|---|---|"]
    for name, (passed, seconds, last) in results.items():
        text = last.replace("|", "\\|")[:120]
        lines.append(f"| {name} | `{PARTS[name]}` | {'passed' if passed else 'FAILED'} | "
                     f"{seconds:.0f} | {text} |")
    return "\n".join(lines) + "\n"


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
    results = {name: run_part(name, PARTS[name]) for name in chosen}
    folder = ROOT / "docs" / "release_checks"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{datetime.date.today().isoformat()}.md"
    file.write_text(page(commit, results), encoding="utf-8")
    failed = [name for name, (passed, _, _) in results.items() if not passed]
    print(f"release check: {len(results) - len(failed)} passed, {len(failed)} failed; "
          f"{file.relative_to(ROOT)} says what was seen")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
