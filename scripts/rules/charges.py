"""Only one place pays for a retry: libs/retry/src/admission.cpp charges budgets and takes
allowances. The classes that are charged may call their own parts."""

import re

from rules.tree import Violation, line_of

CHARGE = re.compile(r"(?:\.|->)\s*(try_pay|try_take|give_back)\s*\(")
ADMISSION = "libs/retry/src/admission.cpp"
# The parts of a budget or an allowance: a parent, a bucket, a budget that passes charges on.
OWN_PARTS = ("libs/lab/src/layer.hpp", "libs/retry/include/reprise/retry/driver/admission.hpp",
             "libs/retry/include/reprise/retry/token_bucket.hpp", "libs/retry/src/budget.cpp",
             "libs/retry_json/include/reprise/retry_json/strategy_from_json.hpp")


def check(tree):
    for path in tree.cpp_files:
        if not path.startswith(("libs/", "testbed/", "apps/")) or "/tests/" in path:
            continue
        if path == ADMISSION or path in OWN_PARTS:
            continue
        text = tree.text(path)
        for match in CHARGE.finditer(text):
            yield Violation(path, line_of(text, match.start()),
                            f"`{match[1]}`: only {ADMISSION} charges; propose, and have it admitted")
