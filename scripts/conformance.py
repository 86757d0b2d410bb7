#!/usr/bin/env python3
"""Generates docs/conformance.md, the state of every requirement, and in the build directory a page of
the same name that also lists the tests and the mutants of each.

Reads the requirement table (docs/requirements.tsv), its clauses (docs/clauses.tsv), the mutants
(tests/mutants) and the GoogleTest JSON results of one test run (<build>/test-results/*.json). A
test proves the ids in its name, written with underscores: `SM_03_refuses_a_foreign_token` proves
SM-03. A mutant guards the clauses that it breaks: `./dev mutants` shows that a test with the id
notices it.

Fails (exit 1) if a delivered id has no passing test or a failing one, if one of its clauses has no
mutant, or if a test has an unknown id. With --check it leaves docs/conformance.md alone, and also
fails if that page differs from what this run generates.
"""

import argparse
import json
import re
import sys
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from mutation import catalogue

ROOT = Path(__file__).resolve().parent.parent
ID_IN_NAME = re.compile(r"(?<![A-Za-z0-9])([A-Z]{2})_(\d+)(?![0-9])")
PASSED, FAILED, SKIPPED = "passed", "FAILED", "skipped"


class Requirement(NamedTuple):
    id: str
    delivered: bool
    source: str
    text: str


class Section(NamedTuple):
    title: str
    rows: list


def read_requirements(path):
    """Returns the table as sections in file order. A line `# XX - title` starts a section."""
    sections, seen = [], set()
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith("# "):
            sections.append(Section(line[2:], []))
            continue
        fields = line.split("\t")
        if len(fields) != 4 or fields[1] not in ("yes", "no") or not sections:
            raise SystemExit(f"{path}:{number}: expected id, yes|no, source, text in a section")
        if fields[0] in seen:
            raise SystemExit(f"{path}:{number}: {fields[0]} occurs twice")
        seen.add(fields[0])
        sections[-1].rows.append(Requirement(fields[0], fields[1] == "yes", fields[2], fields[3]))
    return sections


def ids_in(name):
    """Returns the requirement ids in a test name, in order of appearance."""
    return [f"{section}-{number}" for section, number in ID_IN_NAME.findall(name)]


def display_name(suite, test):
    """`suite.test`; the instances of a parametrised or typed test share one name."""
    return re.sub(r"/\d+$", "", suite) + "." + re.sub(r"/\w+$", "", test)


def outcome(test):
    """Returns the outcome in one JSON entry, or None if the test was filtered out of the run."""
    if test.get("failures"):
        return FAILED
    if test.get("result") == "SKIPPED":
        return SKIPPED
    if test.get("status", "RUN") != "RUN" or test.get("result") != "COMPLETED":
        return None
    return PASSED


def read_results(build, programs):
    """Returns {test name: outcome} of the run, and a list of problems with the result files."""
    directory = build / "test-results"
    results, problems = {}, []
    for name in programs:
        path, program = directory / f"{name}.json", build / "bin" / name
        if not path.exists():
            problems.append(f"{name} left no results: run its test first")
            continue
        if program.exists() and program.stat().st_mtime > path.stat().st_mtime:
            problems.append(f"{name} is newer than its results: run its test again")
        try:
            suites = json.loads(path.read_text(encoding="utf-8"))["testsuites"]
        except (ValueError, KeyError) as error:
            problems.append(f"{path.name} is not a GoogleTest result: {error}")
            continue
        for suite in suites:
            for test in suite["testsuite"]:
                key, now = display_name(suite["name"], test["name"]), outcome(test)
                before = results.get(key)
                # The worst of several instances counts for the test.
                if now and (before is None or before == PASSED or now == FAILED):
                    results[key] = now
    if not results:
        problems.append(f"no test results in {directory.name}/")
    return results, problems


def state_of(requirement, outcomes):
    if not requirement.delivered:
        return "in progress" if outcomes else "not delivered"
    return "pass" if outcomes and all(o == PASSED for o in outcomes) else "FAIL"


def judge(sections, results):
    """Returns ({id: sorted test names}, problems) for a run."""
    known = {row.id: row for section in sections for row in section.rows}
    tests, problems = defaultdict(list), []
    for name in sorted(results):
        for id in dict.fromkeys(ids_in(name)):
            if id in known:
                tests[id].append(name)
            else:
                problems.append(f"test {name} names the unknown id {id}")
    for id, row in known.items():
        bad = [f"{name} {results[name]}" for name in tests[id] if results[name] != PASSED]
        if row.delivered and not tests[id]:
            problems.append(f"{id} is delivered but no test of this run carries it")
        elif row.delivered and bad:
            problems.append(f"{id} is delivered but: {', '.join(bad)}")
    return tests, problems


def guarded(root):
    """Returns ({id: [(clause, its text, names of its mutants)]}, problems of the catalogue)."""
    mutants, problems = catalogue.read_all(root)
    clauses, by_id = catalogue.read_clauses(root), defaultdict(list)
    for clause, text in clauses.items():
        names = sorted(mutant.name for mutant in mutants if clause in mutant.breaks)
        by_id[catalogue.id_of(clause)].append((clause, text, names))
    return by_id, problems


def judge_mutants(sections, guards):
    """Returns the clauses of delivered requirements that have no mutant."""
    return [f"{clause} has no mutant" for section in sections for row in section.rows
            for clause, _, names in guards[row.id] if row.delivered and not names]


def wrapped(text, indent=""):
    return textwrap.wrap(text, 100, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def render_requirement(row, state, names, results, guards):
    """Renders one requirement: its text, the mutants of its clauses, its tests."""
    lines = ["", f"### {row.id}: {state}", "", *wrapped(f"{row.text} ({row.source})"), ""]
    lines += ["| clause | mutants |", "|---|---|"]
    for clause, text, mutants in guards:
        shown = "the whole of it" if clause == row.id else f"{clause} {text}".replace("|", "\\|")
        lines.append(f"| {shown} | {', '.join(f'`{name}`' for name in mutants)} |")
    lines += [""] if names else []
    for name in names:
        lines.append(f"- `{name}`" + ("" if results[name] == PASSED else f" ({results[name]})"))
    return lines


def states_of(sections, tests, results, guards):
    """Returns {id: state}."""
    states = {}
    for row in (row for section in sections for row in section.rows):
        states[row.id] = state_of(row, [results[name] for name in tests[row.id]])
        if row.delivered and not all(names for _, _, names in guards[row.id]):
            states[row.id] = "FAIL"
    return states


def render_head(sections, states, guards):
    """Renders what both pages begin with."""
    lines = ["# Conformance", "",
             *wrapped("Generated by `scripts/conformance.py` from a test run; do not edit. A test "
                      "proves the ids in its name. A mutant is a deliberate bug "
                      "(`tests/mutants`); `./dev mutants` shows that a test with the id "
                      "fails with it. `./dev test` writes the tests and mutants of every "
                      "requirement into `build/dev/conformance.md`."), "",
             *wrapped("States: `pass`; `FAIL` (delivered, but a test or a mutant is missing or a "
                      "test does not pass); `in progress` (tests exist, not delivered yet); "
                      "`not delivered`."), "",
             "| section | requirements | clauses | pass | FAIL | in progress | not delivered |",
             "|---|---|---|---|---|---|---|"]
    for section in sections:
        count = [states[row.id] for row in section.rows]
        cells = [section.title, len(count), sum(len(guards[row.id]) for row in section.rows)]
        cells += [count.count(s) for s in ("pass", "FAIL", "in progress", "not delivered")]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def render_summary(sections, states, guards):
    """Renders the committed page: one line for each requirement."""
    lines = render_head(sections, states, guards)
    for section in sections:
        lines += ["", f"## {section.title}", "", "| id | state | clauses | source |",
                  "|---|---|---|---|"]
        lines += [f"| {row.id} | {states[row.id]} | {len(guards[row.id])} | {row.source} |"
                  for row in section.rows]
    return "\n".join(lines) + "\n"


def render(sections, states, tests, results, guards):
    """Renders the whole page: a summary, then every requirement."""
    lines = render_head(sections, states, guards)
    for section in sections:
        lines += ["", f"## {section.title}"]
        for row in section.rows:
            lines += render_requirement(row, states[row.id], tests[row.id], results,
                                        guards[row.id])
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="build directory with test-results/")
    parser.add_argument("--check", action="store_true",
                        help="compare with the page instead of writing it")
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree with docs/ and tests/")
    # A build directory can hold results of programs that the tree no longer has.
    parser.add_argument("--programs", nargs="+", required=True, metavar="NAME",
                        help="result files that must exist; others are ignored")
    options = parser.parse_args()

    page_file = options.root / "docs/conformance.md"
    sections = read_requirements(options.root / catalogue.REQUIREMENTS)
    results, problems = read_results(options.build, options.programs)
    tests, verdicts = judge(sections, results)
    guards, wrong = guarded(options.root)
    problems += verdicts + wrong + judge_mutants(sections, guards)
    states = states_of(sections, tests, results, guards)
    page = render_summary(sections, states, guards)
    (options.build / "conformance.md").write_text(
        render(sections, states, tests, results, guards), encoding="utf-8")
    if not options.check:
        page_file.write_text(page, encoding="utf-8")
    elif not page_file.exists() or page_file.read_text(encoding="utf-8") != page:
        problems.append(f"{page_file.name} is not what this run generates: "
                        "run ./dev conformance and commit the page")
    for problem in problems:
        print(f"conformance: {problem}")
    proven = sum(bool(tests[row.id]) for section in sections for row in section.rows)
    print(f"conformance: {len(results)} tests read, {proven} ids carried, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
