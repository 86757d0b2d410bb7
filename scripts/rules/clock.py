"""Time and randomness are arguments: there are no clock reads, sleeps, random devices or random
engines outside the drivers, which tests/rules/clock.tsv lists with a reason (a folder or a file; `*` matches one
folder). tests/rules/random_engines.tsv lists code whose engines get their seed as an argument. Tests
may read a clock but must not sleep."""

import re

from rules.tree import LIBRARY, Violation, code_only, line_of

TABLE = "tests/rules/clock.tsv"
SEEDED = "tests/rules/random_engines.tsv"
READS = re.compile(
    r"\b\w+::now\s*\("
    r"|\bhigh_resolution_clock\b"
    r"|\bgettimeofday\b|\bclock_gettime\b|\brandom_device\b"
    r"|(?<![\w.>])(?:std::|::)?s?rand\s*\("
    r"|(?<!\w)(?:std)?::time\s*\(|(?<![\w.>:])time\s*\(\s*(?:nullptr|NULL|0|&)")
ENGINES = re.compile(
    r"\b(?:mt19937(?:_64)?|minstd_rand0?|default_random_engine|ranlux\w+|knuth_b)\b")
SLEEPS = re.compile(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b|(?<![\w.>:])::sleep\s*\(")
TEST_FILE = re.compile(rf"({LIBRARY}/)?tests/")


def is_driver(path, patterns):
    """True if the table lists the path or a folder that contains it."""
    for pattern in patterns:
        regex = re.escape(pattern).replace(r"\*", r"[^/]+")
        if re.match(regex + r"(/|$)", path):
            return True
    return False


def check(tree):
    patterns = [pattern for pattern, _ in tree.table(TABLE, 2)]
    seeded = [pattern for pattern, _ in tree.table(SEEDED, 2)]
    for path in tree.cpp_files:
        code = code_only(tree.text(path))
        in_tests, driver = bool(TEST_FILE.match(path)), is_driver(path, patterns)
        for regex, what in ((READS, "reads a clock or random device"),
                            (ENGINES, "is a random engine"), (SLEEPS, "sleeps")):
            if driver and not (in_tests and regex is SLEEPS):
                continue
            if regex is ENGINES and is_driver(path, seeded):
                continue
            for match in regex.finditer(code):
                yield Violation(path, line_of(code, match.start()),
                                f"`{match[0].strip()}` {what} outside the drivers of {TABLE}"
                                if not in_tests else
                                f"`{match[0].strip()}`: tests must not {what[:-1]}")
