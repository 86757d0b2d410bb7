"""Finds out which tests execute a mutant, runs them, and decides whether one notices it.

A failed assertion or a crash detects a mutant. A test that hangs does not, because it shows
nothing to the developer.
"""

import os
import re
import resource
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mutation import judge

REACHED = "REPRISE_MUTANTS_REACHED"
MEMORY_MAX = 4 << 30  # bytes; a loop that collects must not take the machine's
TIME_MIN, TIME_MAX = 5, 60  # seconds for the tests of one mutant
HANGS_MAX = 3  # tests that hang before the others are no longer asked
RUN = re.compile(r"^\[ RUN      \] (\S+)", re.M)
FAILED = re.compile(r"^\[  FAILED  \] (\S+?),? ", re.M)


class Verdict(NamedTuple):
    is_noticed: bool
    text: str  # the test that noticed it, or why none did


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, tests, timeout, variables):
    """Returns (exit status or None, output)."""
    command = [str(program), "--gtest_fail_fast", "--gtest_color=no",
               "--gtest_filter=" + ":".join(tests)]
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            status = subprocess.run(command, timeout=timeout, stdout=output,
                                    stderr=subprocess.STDOUT, preexec_fn=limit_memory,
                                    env={**os.environ, judge.VARIABLE: "", **variables}).returncode
        except subprocess.TimeoutExpired:
            status = None
        output.seek(0)
        return status, output.read()


def judge_by(reach, mutant, time_min=TIME_MIN):
    """Returns the first verdict of the mutant's programs that notices it, otherwise the last one
    of a program that executes it."""
    verdict = Verdict(False, "no test executes it")
    for program in mutant.programs:
        found = reach[program].judge(mutant, time_min)
        if found is not None:
            verdict = found
        if verdict.is_noticed:
            break
    return verdict


class Reach:
    """Which tests of a program execute which mutants, and how long each takes."""

    def __init__(self, program, jobs, timeout):
        self.program = program
        self.tests_of = {}  # number: [test]
        self.seconds = {}
        self.broken = []  # tests that fail without any mutant

        def record(test):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "reached"
                begin = time.monotonic()
                status, _ = run(program, [test], timeout, {REACHED: str(file)})
                took = time.monotonic() - begin
                numbers = set(file.read_text().split()) if file.exists() else set()
            return test, status, took, numbers

        with ThreadPoolExecutor(jobs) as pool:
            for test, status, took, numbers in pool.map(record, judge.list_tests(program)):
                self.seconds[test] = took
                if status != 0:
                    self.broken.append(test)
                    continue
                for number in numbers:
                    self.tests_of.setdefault(int(number), []).append(test)

    def judge(self, mutant, time_min=TIME_MIN):
        """Returns the verdict about one mutant, or None if no test executes it."""
        tests = sorted(self.tests_of.get(mutant.number, ()), key=self.seconds.get)
        if not tests:
            return None
        hung = []
        while tests and len(hung) <= HANGS_MAX:
            limit = min(TIME_MAX, time_min + 10 * sum(self.seconds[test] for test in tests))
            status, output = run(self.program, tests, limit, {judge.VARIABLE: mutant.name})
            started = RUN.findall(output)
            if status is None:
                hung.append(started[-1] if started else tests[0])
                tests = [test for test in tests if test not in started]
            elif status == 0:
                break
            elif status == judge.EXIT_TESTS_FAILED:
                return Verdict(True, "by " + (FAILED.findall(output) or started or ["?"])[0])
            else:
                return Verdict(True, f"by a crash in {started[-1] if started else '?'}")
        if hung:
            return Verdict(False, f"hangs in {', '.join(hung)}")
        return Verdict(False, f"{len(tests)} tests execute it, none fails")
