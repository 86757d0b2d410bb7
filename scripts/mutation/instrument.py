"""Writes the mutants into a copy of the sources: OLD becomes `mutant ? NEW : OLD`.

All mutants are in one copy and one build; the environment variable REPRISE_MUTANT selects the
active one. Several may change one place, and one may change a part of what another changes; they
must not overlap in any other way.
"""

import subprocess
from typing import NamedTuple

from mutation import anchors

HEADER_NAME = "reprise_mutant.hpp"
# Every source of the copy includes it first. The name of a mutant becomes a number at compile time,
# so that a new mutant changes only its own file. No mutant is active in code that the compiler
# evaluates.
HEADER = """#pragma once

#if __cplusplus >= 202002L  // CMake tries its compiler without our standard

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace reprise_mutants {

using number = unsigned long long;

constexpr number number_of(const char* name) noexcept {
    number result = 14695981039346656037ULL;
    for (; *name != 0; ++name) {
        result = (result ^ static_cast<unsigned char>(*name)) * 1099511628211ULL;
    }
    return result;
}

inline const number selected = [] {
    const char* name = std::getenv("REPRISE_MUTANT");
    return name == nullptr || *name == 0 ? number{0} : number_of(name);
}();

// If REPRISE_MUTANTS_REACHED names a file, the number of each place that is executed is appended to
// it, once for each process.
inline const char* const reached_file = std::getenv("REPRISE_MUTANTS_REACHED");

inline void note_reached(number value) noexcept {
    constexpr number size = 1 << 16;
    static std::atomic<number> seen[size];
    for (number at = value % size;; at = (at + 1) % size) {
        number known = seen[at].load(std::memory_order_relaxed);
        if (known == 0 && seen[at].compare_exchange_strong(known, value)) {
            if (std::FILE* file = std::fopen(reached_file, "a")) {
                std::fprintf(file, "%llu\\n", value);
                std::fclose(file);
            }
            return;
        }
        if (known == value) {
            return;
        }
    }
}

struct choice {
    consteval choice(const char* name) noexcept : value(number_of(name)) {}
    number value;
};

}  // namespace reprise_mutants

constexpr bool reprise_mutant(reprise_mutants::choice which) noexcept {
    if (__builtin_is_constant_evaluated()) {
        return false;
    }
    if (reprise_mutants::reached_file != nullptr) {
        reprise_mutants::note_reached(which.value);
    }
    return reprise_mutants::selected == which.value;
}

#endif
"""

class Place(NamedTuple):
    begin: int
    end: int
    edit: object
    mutant: object


def find_places(text, edits):
    """Returns (places, problems) of [(mutant, edit)] in the text of one source."""
    places, problems = [], []
    for mutant, edit in edits:
        found, wrong = anchors.locate(text, edit)
        if wrong:
            problems.append(f"{mutant.place}: {mutant.name}: {wrong} {edit.source}")
            continue
        edit = edit._replace(new=anchors.with_names(edit.new, found.renamed))
        places.append(Place(found.begin, found.end, edit, mutant))
    # Larger places first; places of the same size form one chain.
    places.sort(key=lambda place: (place.begin, -place.end))
    open_places = []
    for place in places:
        while open_places and open_places[-1].end <= place.begin:
            open_places.pop()
        if open_places and place.end > open_places[-1].end:
            problems.append(f"{place.mutant.place}: {place.mutant.name} overlaps "
                            f"{open_places[-1].mutant.name} in {place.edit.source}")
        open_places.append(place)
    return places, problems


def wrap(place, old):
    name, new = place.mutant.name, place.edit.new
    if place.edit.is_statement:
        return f'if (reprise_mutant("{name}")) {{ {new} }} else {{ {old} }}'
    return f'(reprise_mutant("{name}") ? ({new}) : ({old}))'


def rewrite(text, begin, end, places, wrap=wrap):
    """Returns the text from begin to end with all its places instrumented."""
    out, at = [], begin
    while places:
        first = places[0]
        inside = [p for p in places[1:] if p.begin < first.end]
        out.append(text[at:first.begin])
        out.append(wrap(first, rewrite(text, first.begin, first.end, inside, wrap)))
        at, places = first.end, places[1 + len(inside):]
    return "".join(out) + text[at:end]


def replaced(text, places):
    """Returns the text with the new text in all places, for a separate mutant."""
    for place in sorted(places, key=lambda place: -place.begin):
        text = text[:place.begin] + place.edit.new + text[place.end:]
    return text


def edits_by_source(mutants):
    result = {}
    for mutant in mutants:
        for edit in mutant.edits:
            result.setdefault(edit.source, []).append((mutant, edit))
    return result


def check_places(root, mutants):
    """Returns which mutants of the catalogue do not apply to the current sources."""
    problems = []
    for is_separate in (False, True):
        chosen = [mutant for mutant in mutants if mutant.is_separate == is_separate]
        for source, edits in edits_by_source(chosen).items():
            if not (root / source).is_file():
                problems += [f"{mutant.place}: {mutant.name}: there is no {source}"
                             for mutant, _ in edits]
                continue
            text = (root / source).read_text(encoding="utf-8")
            groups = [edits]
            if is_separate:  # each is applied alone, and may overlap others
                names = dict.fromkeys(mutant.name for mutant, _ in edits)
                groups = [[e for e in edits if e[0].name == name] for name in names]
            for group in groups:
                problems += find_places(text, group)[1]
    return problems


def tracked_files(root):
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
        check=True, capture_output=True, text=True).stdout.split("\0")
    return [path for path in listing if path and (root / path).is_file()]


def write_if_changed(path, content):
    """Does not touch an unchanged file, so that the build does not compile it again."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def make_copy(root, target, mutants):
    """Updates the copy in `target`: all files of the tree, with the mutants in them."""
    changed = {}
    for source, edits in edits_by_source(m for m in mutants if not m.is_separate).items():
        text = (root / source).read_text(encoding="utf-8")
        places, problems = find_places(text, edits)
        if problems:
            raise SystemExit("\n".join(problems))
        changed[source] = rewrite(text, 0, len(text), places)
    write_copy(root, target, changed)


def write_copy(root, target, changed):
    """Updates the copy in `target`: all files of the tree, or their {path: text} in `changed`."""
    wanted = set()
    for path in tracked_files(root):
        is_changed = path in changed
        content = changed[path].encode("utf-8") if is_changed else (root / path).read_bytes()
        wanted.add(path)
        write_if_changed(target / path, content)
        (target / path).chmod((root / path).stat().st_mode & 0o777)
    write_if_changed(target / HEADER_NAME, HEADER.encode("utf-8"))
    for path in target.rglob("*"):
        name = path.relative_to(target).as_posix()
        if path.is_file() and name not in wanted and name != HEADER_NAME:
            path.unlink()


def make_separate_copy(root, target, mutant):
    """Creates a copy with one mutant applied permanently."""
    places = {}
    for source, edits in edits_by_source([mutant]).items():
        text = (root / source).read_text(encoding="utf-8")
        found, problems = find_places(text, edits)
        if problems:
            raise SystemExit("\n".join(problems))
        places[source] = replaced(text, found)
    for path in tracked_files(root):
        content = places[path].encode("utf-8") if path in places else (root / path).read_bytes()
        write_if_changed(target / path, content)
        (target / path).chmod((root / path).stat().st_mode & 0o777)
