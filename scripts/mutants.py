#!/usr/bin/env python3
"""Mutants: deliberate bugs that the tests must notice.

  mutants.py check               checks that every mutant of tests/mutants applies and names the
                                 tests that must notice it
  mutants.py run [NAME...]       builds one copy of the sources with all mutants, runs each mutant
                                 (or the named ones), and fails if one is not noticed
  mutants.py run --changed       the same for the mutants that the change since --base touches: by
                                 default since the branch left origin's, or since the last run of
                                 all (tests/mutants/last_full_run)
  mutants.py program TARGET      builds one program of the copy and prints its path; run it with
                                 REPRISE_MUTANT=NAME

NAME may be a mutant, a requirement (RH-16) or a clause (RH-16.2). tests/mutants/README.md describes
the format.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation import catalogue, drawing, instrument, judge, selection, separate
from mutation.build import Copy

ROOT = catalogue.default_root()
HUNT = "sim_hunt"
SEEDS = "1..200"
TIMEOUT = 120  # seconds for one program with one mutant
DEMO = ["demo", "--seconds", "6", "--json"]


def library_of(source):
    """Returns the library of a source, or None."""
    found = re.match(r"(?:libs|testbed)/(\w+)/", source)
    return found[1] if found else None


def programs_of(mutant):
    """Returns the test programs that must notice: the named ones, or those of the changed
    libraries."""
    if mutant.tests:
        return list(suites_of(mutant))
    libraries = dict.fromkeys(library_of(edit.source) for edit in mutant.edits)
    return [f"{library}_tests" for library in libraries if library]


def suites_of(mutant):
    """Returns {program: suite, or * for all} that the mutant names: `engine_tests:orchestrator`."""
    named = (name.partition(":") for name in mutant.tests)
    return {program: suite or "*" for program, _, suite in named}


def targets_of(mutants):
    """Returns the targets of the copy that these mutants need."""
    targets = []
    for mutant in mutants:
        is_tested = mutant.breaks or mutant.tests
        targets += programs_of(mutant) if is_tested and not mutant.command else []
        targets += [HUNT] if mutant.hunt else []
        targets += ["reprise_app"] if mutant.audit else []
    return sorted(set(targets))


def run_audit(copy, mutant):
    """Returns (what the demonstration's audit counted, what is wrong)."""
    try:
        done = subprocess.run([str(copy.program("reprise_app")), *DEMO], capture_output=True,
                              text=True, timeout=TIMEOUT, env=judge.environment(mutant.name))
    except subprocess.TimeoutExpired:
        return "", "the demonstration timed out"
    return judge.judge_audit(done.returncode, done.stdout, mutant.audit)


def run_one(copy, mutant, tests_of):
    """Returns [(who noticed, problem)] for each program that must notice a mutant."""
    if mutant.is_separate:
        return separate.run(copy, mutant, TIMEOUT)
    results = []
    suites = suites_of(mutant)
    if mutant.breaks:
        programs = [(copy.program(name), suites.get(name, "*"), tests_of[name])
                    for name in programs_of(mutant)]
        for id, program, red, wrong in judge.notice_by_tests(mutant, programs, TIMEOUT):
            results.append((f"{id} by {program} {', '.join(red)}", wrong and f"{id}: {wrong}"))
    elif suites:
        programs = [(copy.program(name), suite, tests_of[name]) for name, suite in suites.items()]
        for suite, red, wrong in judge.notice_by_suites(mutant, programs, TIMEOUT):
            results.append((f"{suite} {', '.join(red)}", wrong and f"{suite}: {wrong}"))
    if mutant.hunt:
        profile, *checkers = mutant.hunt
        seed, text = judge.hunt(copy.program(HUNT), mutant.name, profile, SEEDS, 4 * TIMEOUT)
        wrong = "" if seed is not None else text
        if seed is not None and checkers and text.split(":")[0] not in checkers:
            wrong = f"found by {text}, which is not one of {', '.join(checkers)}"
        results.append((f"seed {seed} of {profile}: {text}", wrong))
    if mutant.audit:
        results.append(run_audit(copy, mutant))
    return results


def found_seeds(results):
    """Returns the {profile: seeds} that found something."""
    seeds = {}
    for noticed in results:
        for text, wrong in noticed:
            found = re.match(r"seed (\d+) of (\w+)", text)
            if found and not wrong:
                seeds.setdefault(found[2], set()).add(int(found[1]))
    return seeds


def run_sound(copy, programs, tests_of, seeds):
    """Returns problems without any mutant: a test that fails, or a seed that finds something."""
    problems = []
    for name in programs:
        done = subprocess.run([str(copy.program(name)), "--gtest_brief=1"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=judge.environment(""), timeout=10 * TIMEOUT)
        if done.returncode != 0:
            problems.append(f"{name} fails without any mutant:\n{done.stdout[-2000:]}")
        else:
            print(f"without mutants: {name}, {len(tests_of[name])} tests pass", flush=True)
    for profile, chosen in sorted(seeds.items()):
        listed = ",".join(map(str, sorted(chosen)))
        seed, text = judge.hunt(copy.program(HUNT), "", profile, listed, 4 * TIMEOUT)
        if seed is not None or "nothing was found" not in text:
            problems.append(f"profile {profile} without any mutant: seed {seed}: {text}")
        else:
            print(f"without mutants: {len(chosen)} seeds of {profile} pass", flush=True)
    return problems


def chosen_mutants(mutants, names):
    if not names:
        return mutants
    chosen = [m for m in mutants
              if m.name in names or set(names) & set(m.breaks) or set(names) & set(m.ids)]
    for name in names:
        if not any(name == m.name or name in m.breaks or name in m.ids for m in mutants):
            raise SystemExit(f"mutants: there is no mutant with this name, id or clause: {name}")
    return chosen


def touched_mutants(mutants, base):
    """Returns the mutants that the change since `base` touches; all if the base is not known."""
    base = base or selection.default_base(ROOT)
    files = selection.changed_files(ROOT, base) if base else None
    if files is None:
        print("mutants: it is not known what has changed, so all are run", flush=True)
        return mutants
    change = selection.Change(ROOT, base, files)
    chosen = [m for m in mutants if change.touches(m, programs_of(m), suites_of(m))]
    print(f"mutants: {len(files)} files have changed since {base[:12]}; they touch {len(chosen)} of "
          f"{len(mutants)} mutants", flush=True)
    return chosen


def run(options, mutants):
    chosen = chosen_mutants(mutants, options.names)
    if options.changed:
        chosen = touched_mutants(chosen, options.base)
        if not chosen:
            return 0
    begin = time.monotonic()
    copy = Copy(ROOT, options.build)
    copy.update(mutants)
    targets = targets_of(chosen)
    if targets:
        copy.make(targets, options.jobs)
    built = time.monotonic()
    programs = [name for name in targets if name not in (HUNT, "reprise_app")]
    tests_of = {name: judge.list_tests(copy.program(name)) for name in programs}
    failed = []

    def attend(mutant):
        noticed = run_one(copy, mutant, tests_of)
        for text, wrong in noticed:
            print(f"{'NOT NOTICED' if wrong else 'noticed'}: {mutant.name}: {wrong or text}",
                  flush=True)
            if wrong:
                failed.append(f"{mutant.place}: {mutant.name}: {wrong}")
        return noticed

    with ThreadPoolExecutor(options.jobs) as pool:
        # Starts the slowest first. The demonstration needs the machine for itself.
        order = sorted((m for m in chosen if not m.audit), key=lambda m: not m.hunt)
        results = list(pool.map(attend, order))
    for mutant in (m for m in chosen if m.audit):
        results.append(attend(mutant))
    if len(chosen) == len(mutants):
        failed += run_sound(copy, programs, tests_of, found_seeds(results))
        if not failed:
            selection.record_full_run(ROOT)
    for problem in failed:
        print(f"mutants: {problem}")
    print(f"mutants: {len(chosen)} run, {len(failed)} problems; {built - begin:.0f} s to build, "
          f"{time.monotonic() - built:.0f} s to run")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("check", "run", "program"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--base", default="", metavar="COMMIT")
    parser.add_argument("--build", type=Path, default=ROOT / "build/mutants")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.build = options.build.resolve()

    mutants, problems = catalogue.read_all(ROOT)
    problems += instrument.check_places(ROOT, mutants)
    if options.what == "check":
        problems += drawing.check_equivalents(ROOT)
    for problem in problems:
        print(f"mutants: {problem}")
    if options.what == "check" or problems:
        print(f"mutants: {len(mutants)} in {catalogue.FOLDER}, {len(problems)} problems")
        return 1 if problems else 0
    if options.what == "run":
        return run(options, mutants)
    copy = Copy(ROOT, options.build)
    copy.update(mutants)
    copy.make(options.names, options.jobs)
    for name in options.names:
        print(copy.program(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
