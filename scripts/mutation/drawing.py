"""Draws mutants at random from the decision code, and writes them into a copy of the sources.

tests/mutants/equivalent.tsv records the changes that no test can notice, with the reason.
"""

import hashlib
import re
from typing import NamedTuple

from mutation import cpp, instrument, operators

# The decision code, and the programs with its tests: its library's, then those that drive it.
OF_RETRY = ("retry_tests", "retry_asio_tests", "engine_tests")
FOLDERS = {
    "libs/retry/include": OF_RETRY,
    "libs/retry/src": OF_RETRY,
    "libs/engine/src/operations": ("engine_tests",),
    "libs/engine/src/topology": ("engine_tests",),
    "libs/wire/src/errors": ("wire_tests", "engine_tests"),
}
# Where enumerations are declared.
VOCABULARY = ("libs/retry", "libs/couchbase_types", "libs/base", "libs/wire", "libs/services",
              "libs/engine")
EQUIVALENT = "tests/mutants/equivalent.tsv"


class Drawn(NamedTuple):
    change: operators.Change
    programs: tuple

    @property
    def name(self):
        """A short name that depends only on function and shape."""
        return hashlib.sha1("\t".join(self.change.anchor).encode()).hexdigest()[:12]

    @property
    def number(self):
        """What the instrumented program calls it; see `number_of` in instrument.HEADER."""
        result = 14695981039346656037
        for byte in self.name.encode():
            result = (result ^ byte) * 1099511628211 % 2**64
        return result

    @property
    def begin(self):
        return self.change.begin

    @property
    def end(self):
        return self.change.end

    @property
    def shape(self):
        at = self.change
        return f"{at.source} ({at.function}): {at.old} => {at.new}"

    def __str__(self):
        return self.shape.replace(" (", f":{self.change.lines[0]} (", 1)


def sources_below(root, folder):
    paths = sorted(path for path in (root / folder).rglob("*.[ch]pp")
                   if "tests" not in path.relative_to(root).parts)
    return [cpp.Source(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
            for path in paths]


def read_candidates(root):
    """Returns (all mutants of the decision code, how many cannot be switched at run time)."""
    enumerations = cpp.read_enumerations(
        [source for folder in VOCABULARY for source in sources_below(root, folder)])
    candidates, skipped = [], 0
    for folder, programs in FOLDERS.items():
        for source in sources_below(root, folder):
            changes, constant = operators.find_changes(source, enumerations)
            candidates += [Drawn(change, programs) for change in changes]
            skipped += constant
    return candidates, skipped


def read_equivalents(root):
    """Returns {anchor: reason} of the changes that behave like the original."""
    known = {}
    for number, line in enumerate((root / EQUIVALENT).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 5 or not all(field.strip() for field in fields):
            raise SystemExit(f"{EQUIVALENT}:{number}: expected source, function, OLD => NEW, nth "
                             "and reason, separated by tabs")
        known[tuple(fields[:4])] = fields[4]
    return known


def check_equivalents(root):
    """Returns which recorded changes no longer exist."""
    anchors = {drawn.change.anchor for drawn in read_candidates(root)[0]}
    return [f"{EQUIVALENT}: the sources have no such change (any more): {' | '.join(anchor)}"
            for anchor in read_equivalents(root) if anchor not in anchors]


def without_overlaps(mutants):
    """Returns those that are apart from, inside or around each other."""
    chosen = []
    for mutant in mutants:
        if all(other.change.source != mutant.change.source or mutant.end <= other.begin
               or other.end <= mutant.begin
               or (mutant.begin <= other.begin and other.end <= mutant.end)
               or (other.begin <= mutant.begin and mutant.end <= other.end) for other in chosen):
            chosen.append(mutant)
    return chosen


def wrap(mutant, old):
    active = f'reprise_mutant("{mutant.name}")'
    return mutant.change.text.replace(operators.ACTIVE, active).replace(operators.OLD, old)


def instrumented(root, mutants):
    """Returns {path: text} of the sources with these mutants."""
    by_source = {}
    for mutant in mutants:
        by_source.setdefault(mutant.change.source, []).append(mutant)
    result = {}
    for source, places in by_source.items():
        text = (root / source).read_text(encoding="utf-8")
        # The largest first; a statement contains the expression of the same size.
        places.sort(key=lambda place: (place.begin, -place.end, place.change.kind != "statement"))
        result[source] = instrument.rewrite(text, 0, len(text), places, wrap)
    return result


def that_do_not_compile(output, folder, mutants):
    """Returns the mutants on the lines that the compiler complains about. ccache makes the paths
    relative to the build folder, which is next to the sources."""
    above = f"(?:{re.escape(str(folder))}|{re.escape('../' + folder.name)})"
    found = re.findall(above + r"/([^\s:]+):(\d+)(?::\d+: (error))?", output)
    for is_error in (True, False):  # the place of use, if the place of the error has none
        lines = {(path, int(line)) for path, line, error in found if error or not is_error}
        guilty = [mutant for mutant in mutants
                  if any((mutant.change.source, line) in lines for line in mutant.change.lines)]
        if guilty:
            return guilty
    return []
