"""Every row of promises in SECURITY.md names at least one test, and every test that it names
exists: a program, a suite or a test in it, or a checker or a profile of the simulation."""

import re

from rules.tree import Violation

PAGE = "SECURITY.md"
NAME = re.compile(r"`(\w+)`")
DECLARED = {
    ".cpp": re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)"),
    ".py": re.compile(r"^\s*(?:def|class)\s+(\w+)()", re.MULTILINE),
    ".txt": re.compile(r"\b(\w+_tests)\b()"),
}
OF_SIMULATION = re.compile(r'"(\w+)"')  # checkers and profiles are found by their names


def tests_of(tree):
    """The names of everything that tests."""
    words = set()
    for path in tree.files:
        declared = DECLARED.get(path[path.rfind("."):])
        if "/tests/" in f"/{path}" and declared:
            words.update(name for names in declared.findall(tree.text(path)) for name in names)
        if re.match(r"testbed/sim/src/(checks|scenario)/\w+\.cpp$", path):
            words.update(OF_SIMULATION.findall(tree.text(path)))
    # CMake makes these names of a folder's or a script's name.
    for path in tree.files:
        library = re.match(r"(?:libs|testbed)/(\w+)/CMakeLists\.txt$", path)
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
