#!/usr/bin/env python3
"""Runs every libFuzzer target for a while, from its corpus in the tree. Fails if one crashes.

A corpus is next to the target's source: tests/fuzz/corpus/<target>/. New inputs that a run finds
stay in the build directory, never in the tree.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def corpus_of(target):
    """Returns the committed corpus directories of a target (usually one)."""
    return [str(path) for path in ROOT.glob(f"*/*/tests/fuzz/corpus/{target}") if path.is_dir()]


def run(program, seconds, work):
    """Runs one target and returns (name, exit code, last lines)."""
    findings = work / program.name
    findings.mkdir(parents=True, exist_ok=True)
    command = [str(program), str(findings), *corpus_of(program.name), f"-max_total_time={seconds}",
               "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={findings}/"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", timeout=seconds + 120, check=False)
    return program.name, result.returncode, result.stdout.splitlines()[-25:]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seconds", type=int, required=True, help="for each target")
    parser.add_argument("--only", help="name of one target")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    programs = sorted((arguments.build / "bin" / "fuzz").glob("*_fuzz"))
    if arguments.only:
        programs = [program for program in programs if program.name == arguments.only]
    if not programs:
        sys.exit("no fuzz targets found")
    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(run, program, arguments.seconds, arguments.build / "fuzz-corpus")
                for program in programs]
        for job in jobs:
            name, code, tail = job.result()
            executed = next((line.split(":")[-1].strip() for line in tail
                             if "number_of_executed_units" in line), "?")
            print(f"{'ok  ' if code == 0 else 'FAIL'} {name}: {executed} inputs")
            if code != 0:
                failed += 1
                print("\n".join("    " + line for line in tail))
    print(f"{len(programs) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
