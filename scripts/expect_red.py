#!/usr/bin/env python3
"""Passes only if a mutant is caught: expect_red.py ID PROGRAM [--timeout SECONDS]

PROGRAM is a GoogleTest program built with one behaviour broken. The tests that carry ID (SM-03 is
written SM_03 in a test's name) are run; at least one must exist and at least one must fail by an
assertion. A crash, a hang, an escaped exception or an all-green run means that the tests do not
guard the behaviour cleanly, and this check fails and says which.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXIT_TESTS_FAILED = 1  # what GoogleTest returns after a failed assertion


def run_tests(program, id, timeout):
    """Runs the tests carrying the id: (exit status, JSON report or None). None status = hang."""
    symbol = id.replace("-", "_")
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        command = [str(program), f"--gtest_filter=*{symbol}*", f"--gtest_output=json:{report}"]
        try:
            status = subprocess.run(command, timeout=timeout, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL).returncode
        except subprocess.TimeoutExpired:
            return None, None
        return status, json.loads(report.read_text()) if report.exists() else None


def tests_carrying(report, id):
    """The tests of a report that ran and carry exactly this id (SM_03, not SM_030)."""
    carries = re.compile(rf"(?<![A-Za-z0-9]){id.replace('-', '_')}(?![0-9])")
    return [test for suite in report["testsuites"] for test in suite["testsuite"]
            if carries.search(suite["name"] + "." + test["name"])
            and test.get("status", "RUN") == "RUN" and test.get("result") == "COMPLETED"]


def failed_by_assertion(test):
    """True if an assertion failed; an exception that left the test body does not count."""
    return any("C++ exception" not in failure["failure"] for failure in test.get("failures", []))


def judge(status, report, id):
    """None if the mutant was caught cleanly, otherwise what is wrong."""
    if status is None:
        return "the program did not end in time"
    if status < 0:
        return f"the program was ended by signal {-status}"
    if report is None:
        return f"the program wrote no report (exit status {status})"
    tests = tests_carrying(report, id)
    if not tests:
        return f"no test carrying {id} ran"
    if not any(failed_by_assertion(test) for test in tests):
        return f"{len(tests)} tests carrying {id} ran, none failed by an assertion"
    if status != EXIT_TESTS_FAILED:
        return f"tests failed, but the exit status is {status}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Passes only if a mutant is caught.")
    parser.add_argument("id", help="requirement id, for example SM-03")
    parser.add_argument("program", type=Path, help="GoogleTest program with the behaviour broken")
    parser.add_argument("--timeout", type=float, default=60, help="seconds (default 60)")
    options = parser.parse_args()

    status, report = run_tests(options.program, options.id, options.timeout)
    problem = judge(status, report, options.id)
    if problem:
        print(f"expect_red: {options.id}: {problem}")
        return 1
    red = [test["name"] for test in tests_carrying(report, options.id)
           if failed_by_assertion(test)]
    print(f"expect_red: {options.id} turned red as it should: {', '.join(red)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
