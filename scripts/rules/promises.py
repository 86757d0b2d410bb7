"""Every row of promises in SECURITY.md names at least one test, and every test that it names
exists."""

import re

from rules.tree import Violation

PAGE = "SECURITY.md"
NAME = re.compile(r"`(\w+)`")


def tests_of(tree):
    """The words of everything that tests: sources and programs of tests, and their registration."""
    words = set()
    for path in tree.files:
        is_test = "/tests/" in f"/{path}" or path.startswith("testing/sim/")
        if is_test and path.endswith((".cpp", ".hpp", ".py", ".txt")):
            words.update(re.findall(r"\w+", tree.text(path)))
    # CMake makes these names of a folder's or a script's name.
    for path in tree.files:
        library = re.match(r"(?:libs|testing)/(\w+)/CMakeLists\.txt$", path)
        hostile = re.match(r"tests/hostile/(\w+)_test\.py$", path)
        if library:
            words.add(f"{library[1]}_tests")
        if hostile:
            words.add(f"hostile_{hostile[1]}")
        if path == "apps/reprise/CMakeLists.txt":
            words.update(f"app_{name}" for name in re.findall(r"app_test\((\w+)", tree.text(path)))
    return words


def check(tree):
    if PAGE not in tree.files:
        return []
    known = tests_of(tree)
    violations = []
    for number, line in enumerate(tree.text(PAGE).splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 2 or cells[1] in ("held by", "---"):
            continue
        named = NAME.findall(cells[1])
        if not named:
            violations.append(Violation(PAGE, number, "names no test"))
        violations += [Violation(PAGE, number, f"{name} is no test")
                       for name in named if name not in known]
    return violations
