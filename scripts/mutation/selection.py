"""Chooses the mutants that a change touches: those in a changed source, those whose tests changed,
and those that are new or different themselves."""

import re
import subprocess

from mutation import catalogue, judge

# What builds and judges mutants. If it changes, all of them are run.
MACHINERY = ("scripts/mutants.py", "scripts/mutation/", "CMakeLists.txt", "cmake/")
# Names the commit at which all mutants were last run and noticed.
FULL_RUN = "tests/mutants/last_full_run"
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.M)


def git(root, *words):
    """Returns the output of a git command, or None if it fails."""
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def last_full_run(root):
    """Returns the commit at which all mutants were last run and noticed, or None."""
    record = root / FULL_RUN
    named = record.read_text(encoding="utf-8").split() if record.is_file() else []
    if not named or git(root, "merge-base", "--is-ancestor", named[0], "HEAD") is None:
        return None
    return git(root, "rev-parse", "--verify", "--quiet", named[0])


def record_full_run(root):
    """Notes that all mutants were run and noticed, if what was run is a commit."""
    if git(root, "status", "--porcelain") == "":
        (root / FULL_RUN).write_text(git(root, "rev-parse", "HEAD") + "\n", encoding="utf-8")


def default_base(root):
    """Returns the commit to compare with, or None if it is not known: where the branch left origin's
    main branch, or else the last commit at which all mutants were run."""
    head = git(root, "rev-parse", "HEAD")
    for branch in ("origin/HEAD", "origin/main", "origin/master"):
        base = git(root, "merge-base", "HEAD", branch)
        if base and base != head:
            return base
    return last_full_run(root)


def changed_files(root, base):
    """Returns the files that differ from `base`, uncommitted and new ones included, or None if the
    base is unknown to git."""
    listing = git(root, "diff", "--name-only", "--no-renames", base, "--")
    if listing is None:
        return None
    new = git(root, "ls-files", "--others", "--exclude-standard") or ""
    return set(listing.splitlines()) | set(new.splitlines())


def old_mutants(root, base, path):
    """Returns the mutants that a file of the catalogue had, without their places."""
    try:
        found = catalogue.parse(path, git(root, "show", f"{base}:{path}") or "")
    except catalogue.Problem:
        return []
    return [mutant._replace(place="") for mutant in found]


def tests_in(root, base, path):
    """Returns the tests (suite, name) that a file has or had."""
    texts = [git(root, "show", f"{base}:{path}") or ""]
    if (root / path).is_file():
        texts.append((root / path).read_text(encoding="utf-8", errors="replace"))
    return {found for text in texts for found in TEST.findall(text)}


def is_noticed_by(mutant, tests, suites):
    """True if one of these tests is one of those that must notice the mutant."""
    for suite, name in tests:
        if mutant.breaks and any(judge.carries(id).search(name) for id in mutant.ids):
            return True
        if not mutant.breaks and suite in suites:
            return True
    return False


class Change:
    """A set of changed files, and what they mean for mutants."""

    def __init__(self, root, base, files):
        self.files = files
        self.is_machinery = any(
            path.startswith(MACHINERY) and not path.endswith(".md") for path in files)
        self.catalogues = {path: old_mutants(root, base, path)
                           for path in files if path.endswith(".mutants")}
        self.tests, self.shared = {}, set()  # {library: tests}, libraries whose test helpers changed
        for path in files:
            found = re.match(r"(?:libs|testbed)/(\w+)/tests/", path)
            if found and path.endswith(".cpp"):
                self.tests.setdefault(found[1], set()).update(tests_in(root, base, path))
            elif found and path.endswith(".hpp"):
                self.shared.add(found[1])

    def touches(self, mutant, programs, suites):
        """programs: the test programs that must notice it; suites: {program: suite or *}."""
        if self.is_machinery or any(edit.source in self.files for edit in mutant.edits):
            return True
        file = mutant.place.rpartition(":")[0]
        if file in self.catalogues and mutant._replace(place="") not in self.catalogues[file]:
            return True
        if mutant.hunt and any(path.startswith("testbed/sim/") for path in self.files):
            return True
        if mutant.audit and any(path.startswith("apps/") for path in self.files):
            return True
        if mutant.compile in self.files:
            return True
        for program in programs:
            library = program.removesuffix("_tests")
            if library in self.shared or is_noticed_by(
                    mutant, self.tests.get(library, ()), (suites.get(program),)):
                return True
        return False
