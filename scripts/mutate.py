#!/usr/bin/env python3
"""Mutants at random: how many small bugs in the decision code do the tests notice?

Draws changes (swap a comparison, negate a condition, drop a statement, off by one, min and max, a
wrong enumerator) from the sources that decide, builds one copy with all of them, runs the tests that
execute each one, and lists the survivors. The same seed draws the same changes as long as the sources
stay as they are. Fails if more than --limit percent survive.

tests/mutants/equivalent.tsv records the changes that behave like the original; they do not count.
"""

import argparse
import os
import random
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation import catalogue, drawing, instrument
from mutation.build import Copy
from mutation.survivors import Reach, judge_by

ROOT = catalogue.default_root()
ROUNDS_MAX = 8  # builds until everything that is left compiles
TEST_TIMEOUT = 120  # seconds for one test without any mutant


def build(copy, mutants, programs, jobs):
    """Builds the copy. Returns (the mutants in it, those that do not compile)."""
    left, dropped = list(mutants), []
    for _ in range(ROUNDS_MAX):
        instrument.write_copy(ROOT, copy.source, drawing.instrumented(ROOT, left))
        output = copy.try_make(programs, jobs)
        if not output:
            return left, dropped
        guilty = drawing.that_do_not_compile(output, copy.source, left)
        if not guilty:
            break
        dropped += guilty
        left = [mutant for mutant in left if mutant not in guilty]
        print(f"mutate: {len(guilty)} changes do not compile", file=sys.stderr, flush=True)
    raise SystemExit(f"mutate: the copy cannot be built:\n{output[-4000:]}")


def judge_all(copy, mutants, programs, jobs):
    """Returns [(mutant, verdict)], and prints each survivor."""
    reach = {name: Reach(copy.program(name), jobs, TEST_TIMEOUT) for name in programs}
    for name, known in reach.items():
        for test in known.broken:
            print(f"mutate: {name}: {test} fails without any mutant and is not asked", flush=True)

    def attend(mutant):
        verdict = judge_by(reach, mutant)
        if not verdict.is_noticed:
            print(f"SURVIVES: {mutant}: {verdict.text}", flush=True)
        return mutant, verdict

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(attend, mutants))


def listed(candidates, log):
    """Returns the candidates that an earlier run's output lists as survivors."""
    lines = [line for line in log.read_text(encoding="utf-8").splitlines()
             if line.startswith("SURVIVES: ")]
    shapes = {re.sub(r":\d+ \(", " (", line.removeprefix("SURVIVES: "), count=1) for line in lines}
    found = {shape: [each for each in candidates if shape.startswith(each.shape + ": ")]
             for shape in shapes}
    for shape in sorted(shape for shape, those in found.items() if not those):
        print(f"mutate: the sources have no such change any more: {shape}")
    return drawing.without_overlaps(list(dict.fromkeys(
        each for those in found.values() for each in those)))


def draw(candidates, options):
    """Returns the drawn candidates: their order does not depend on where they are in a file."""
    if options.again:
        return listed(candidates, options.again)
    chosen = [each for each in candidates if options.source in each.change.source]
    chosen.sort(key=lambda each: each.change.anchor)
    random.Random(options.seed).shuffle(chosen)
    return drawing.without_overlaps(chosen[:options.count])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="changes to draw (default: 100)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--source", default="", help="draws only from paths with this text")
    parser.add_argument("--again", type=Path, metavar="LOG",
                        help="judges the survivors in the output of an earlier run")
    parser.add_argument("--limit", type=float, default=10, help="percent (default: 10)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/mutate")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()

    begin = time.monotonic()
    candidates, skipped = drawing.read_candidates(ROOT)
    equivalent = drawing.read_equivalents(ROOT)
    drawn = draw(candidates, options)
    asked = [mutant for mutant in drawn if mutant.change.anchor not in equivalent]
    programs = sorted({program for mutant in asked for program in mutant.programs})
    copy = Copy(ROOT, options.build.resolve())
    asked, dropped = build(copy, asked, programs, options.jobs)
    built = time.monotonic()
    verdicts = judge_all(copy, asked, programs, options.jobs)
    survivors = [mutant for mutant, verdict in verdicts if not verdict.is_noticed]
    crashes = sum("by a crash" in verdict.text for _, verdict in verdicts)
    share = 100 * len(survivors) / max(1, len(asked))
    print(f"mutate: {len(candidates)} changes can be drawn; {skipped} cannot be switched at run "
          f"time. {built - begin:.0f} s to build, {time.monotonic() - built:.0f} s to run")
    print(f"mutate: seed {options.seed}: {len(drawn)} drawn, {len(drawn) - len(asked) - len(dropped)} "
          f"known as equivalent, {len(dropped)} do not compile, {len(asked) - len(survivors)} "
          f"noticed ({crashes} by a crash), {len(survivors)} survive ({share:.1f} %)")
    return 1 if share > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
