"""Runs test programs with a mutant and decides whether they noticed it.

A test with a requirement's id (SM-03 is written SM_03 in a test's name) must fail by an assertion.
A crash, a hang, an escaped exception or a run without failures means that the tests do not guard
the behaviour cleanly.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

EXIT_TESTS_FAILED = 1  # GoogleTest's exit status after a failed assertion
VARIABLE = "REPRISE_MUTANT"


def environment(mutant):
    return {**os.environ, VARIABLE: mutant}


def carries(id):
    """Returns a pattern that finds exactly this id in a test's name (SM_03, not SM_030)."""
    return re.compile(rf"(?<![A-Za-z0-9]){id.replace('-', '_')}(?![0-9])")


def list_tests(program):
    """Returns the names (suite.test) of all tests of a GoogleTest program."""
    listing = subprocess.run([str(program), "--gtest_list_tests"], capture_output=True, text=True,
                             check=True, timeout=60).stdout
    names, suite = [], ""
    for line in listing.splitlines():
        if line.startswith(" "):
            names.append(suite + line.split("#")[0].strip())
        elif re.match(r"[\w/]+\.", line):
            suite = line.split("#")[0].strip()
    return names


def run_tests(program, filter, timeout, mutant=""):
    """Runs tests. Returns (exit status, JSON report or None); the status is None on a timeout."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.json"
        command = [str(program), f"--gtest_filter={filter}", f"--gtest_output=json:{report}"]
        try:
            status = subprocess.run(command, timeout=timeout, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL,
                                    env=environment(mutant)).returncode
        except subprocess.TimeoutExpired:
            return None, None
        return status, json.loads(report.read_text()) if report.exists() else None


def tests_that_ran(report):
    """Returns the tests of a report that ran."""
    return [(suite["name"] + "." + test["name"], test)
            for suite in report["testsuites"] for test in suite["testsuite"]
            if test.get("status", "RUN") == "RUN" and test.get("result") == "COMPLETED"]


def failed_by_assertion(test):
    """True if an assertion failed; an exception that left the test body does not count."""
    return any("C++ exception" not in failure["failure"] for failure in test.get("failures", []))


def judge(status, report, id=None):
    """Returns (names of the tests that noticed, what is wrong), of which one is empty.

    Only tests that carry the id count; without an id, all that ran.
    """
    if status is None:
        return [], "the program timed out"
    if status < 0:
        return [], f"the program was terminated by signal {-status}"
    if report is None:
        return [], f"the program wrote no report (exit status {status})"
    tests = [(name, test) for name, test in tests_that_ran(report)
             if id is None or carries(id).search(name)]
    carrying = f" carrying {id}" if id else ""
    if not tests:
        return [], f"no test{carrying} ran"
    red = [name for name, test in tests if failed_by_assertion(test)]
    if not red:
        return [], f"{len(tests)} tests{carrying} ran, none failed by an assertion"
    if status != EXIT_TESTS_FAILED:
        return [], f"tests failed, but the exit status is {status}"
    return red, ""


def filter_of(ids, suite="*"):
    return ":".join(f"{suite}.*{id.replace('-', '_')}*" for id in ids)


def notice_by_tests(mutant, programs, timeout):
    """Returns [(id, program, failed tests, problem)]: for each id the first program that noticed.

    programs: [(path, suite, names of its tests)] in the order to try.
    """
    verdicts = {id: (id, "", [], f"no test carries {id}") for id in mutant.ids}
    for path, suite, names in programs:
        ids = [id for id in mutant.ids if not verdicts[id][2]
               and any(carries(id).search(name) for name in names)]
        if not ids:
            continue
        status, report = run_tests(path, filter_of(ids, suite), timeout, mutant.name)
        for id in ids:
            red, wrong = judge(status, report, id)
            verdicts[id] = (id, path.name, red, wrong)
    return list(verdicts.values())


def notice_by_suites(mutant, programs, timeout):
    """Returns [(program:suite, failed tests, problem)] for a mutant without an id."""
    verdicts = []
    for path, suite, _ in programs:
        status, report = run_tests(path, f"{suite}.*", timeout, mutant.name)
        verdicts.append((f"{path.name}:{suite}", *judge(status, report)))
    return verdicts


def hunt(program, mutant, profile, seeds, timeout):
    """Returns (seed or None, text): the first seed with a finding, and sim_hunt's report."""
    try:
        done = subprocess.run([str(program), profile, seeds], capture_output=True, text=True,
                              timeout=timeout, env=environment(mutant))
    except subprocess.TimeoutExpired:
        return None, "the hunt timed out"
    if done.returncode not in (0, 1):
        return None, f"the hunt ended with {done.returncode}: {done.stderr.strip()}"
    found = re.match(r"seed (\d+) (\w+) (.*)", done.stdout)
    if done.returncode == 0 or not found:
        return None, f"nothing was found in seeds {seeds} of {profile}"
    return int(found[1]), f"{found[2]}: {found[3]}"


def judge_audit(status, output, counts):
    """Returns (what the demonstration's audit counted, what is wrong), of which one is empty."""
    try:
        audit = json.loads(output)["audit"]
    except (ValueError, KeyError):
        return "", f"the demonstration printed no audit (exit status {status})"
    missed = [name for name in counts if not audit.get(name)]
    if missed:
        return "", f"the audit counted no {', '.join(missed)}"
    if status != 1:
        return "", f"the audit counted it, but the exit status is {status}"
    return "audit: " + ", ".join(f"{name} {audit[name]}" for name in counts), ""
