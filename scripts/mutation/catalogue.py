"""The mutants of tests/mutants/**/*.mutants: what each breaks, where, and who must notice.

tests/mutants/README.md describes the format.
"""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = "tests/mutants"
REQUIREMENTS = "docs/requirements.tsv"
CLAUSES = "docs/clauses.tsv"
KEYS = ("source", "mutant", "says", "breaks", "tests", "hunt", "audit", "form", "compile",
        "command", "output", "in", "after", "old", "new")
CLAUSE = re.compile(r"([A-Z]{2}-\d{2})(?:\.(\d+))?")
NAME = re.compile(r"[a-z][a-z0-9_]*")
SEPARATE = "separate"


class Edit(NamedTuple):
    source: str
    function: str  # the function that has the old text; empty: the whole source is searched
    after: str  # the old text is the first match after this; empty: it must be the only match
    old: str
    new: str

    @property
    def is_statement(self):
        """A statement ends with `;`, or with `}` and contains a `;`; all else is an expression."""
        text = self.old.rstrip()
        return text.endswith(";") or (text.endswith("}") and ";" in text)


class Mutant(NamedTuple):
    name: str
    says: str
    place: str  # file:line of its first line
    edits: list
    breaks: list  # clauses, such as RH-16.2
    tests: list  # programs that must notice; empty: any with a test of the id. Without an id:
    # program:suite, of which any test must notice
    hunt: list  # [profile, checker...] of the simulation
    audit: list  # counts of the demonstration's audit that must not be zero
    is_separate: bool
    compile: str  # a separate mutant: the test file that must notice
    command: str  # a separate mutant: or the command that must fail ...
    output: str  # ... with this text

    @property
    def ids(self):
        return list(dict.fromkeys(id_of(clause) for clause in self.breaks))


def id_of(clause):
    return CLAUSE.fullmatch(clause)[1]


class Problem(Exception):
    """Reports which file and line of a catalogue is wrong, and why."""


def read_fields(path, text):
    """Returns [(line number, key, value)]. A value continues in the indented lines below it."""
    fields = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    ") and fields:
            at, key, value = fields[-1]
            fields[-1] = (at, key, f"{value}\n{line[4:]}" if value else line[4:])
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in KEYS:
            raise Problem(f"{path}:{number}: expected one of {', '.join(KEYS)}, or four spaces")
        fields.append((number, key, value.strip()))
    return fields


def make_mutant(place, name, fields):
    """Creates one mutant from its fields [(line, key, value)], which include `source`."""
    one, edits, source, function, after = {}, [], "", "", ""
    for number, key, value in fields:
        if key == "source":
            source = value
        elif key == "in":
            function = value
        elif key == "after":
            after = value
        elif key == "old":
            edits.append([source, function, after, value, None])
            function, after = "", ""
        elif key == "new":
            if not edits or edits[-1][-1] is not None:
                raise Problem(f"{place}: {name}: `new` without `old`")
            edits[-1][-1] = value
        elif key in one:
            raise Problem(f"{place}: {name}: `{key}` appears twice")
        else:
            one[key] = value
    if not NAME.fullmatch(name):
        raise Problem(f"{place}: a name must be snake_case: {name}")
    if not one.get("says"):
        raise Problem(f"{place}: {name} does not say what goes wrong")
    if not edits or any(not old or new is None for *_, old, new in edits):
        raise Problem(f"{place}: {name}: every change has an `old` and a `new`")
    if any(not source for source, *_ in edits):
        raise Problem(f"{place}: {name}: there is no `source` above it")
    if one.get("form", SEPARATE) != SEPARATE:
        raise Problem(f"{place}: {name}: the only valid form is `{SEPARATE}`")
    return Mutant(name, one["says"], place, [Edit(*edit) for edit in edits],
                  one.get("breaks", "").split(), one.get("tests", "").split(),
                  one.get("hunt", "").split(), one.get("audit", "").split(), "form" in one,
                  one.get("compile", ""), one.get("command", ""), one.get("output", ""))


def parse(path, text):
    """Returns the mutants of one file. A `source` applies to all mutants below it."""
    mutants, source, begin = [], None, None
    fields = read_fields(path, text)
    for index, (number, key, value) in enumerate(fields + [(0, "mutant", "")]):
        if key == "mutant":
            if begin is not None:
                own = fields[begin + 1:index]
                # A `source` directly before the next mutant belongs to that mutant.
                while own and own[-1][1] == "source":
                    own.pop()
                place = f"{path}:{fields[begin][0]}"
                head = [source_at_begin] if source_at_begin else []
                mutants.append(make_mutant(place, fields[begin][2], head + own))
            begin, source_at_begin = index, source
        elif key == "source":
            source = (number, key, value)
        elif begin is None:
            raise Problem(f"{path}:{number}: `{key}` before the first mutant")
    return mutants


def read_clauses(root):
    """Returns {clause: text} of all requirements: RH-16 alone, or RH-16.1, RH-16.2 ..."""
    ids = {}
    for line in (root / REQUIREMENTS).read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith("#"):
            fields = line.split("\t")
            ids[fields[0]] = fields[-1]
    split = {}
    table = root / CLAUSES
    lines = table.read_text(encoding="utf-8").splitlines() if table.exists() else []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        clause, tab, text = line.partition("\t")
        found = CLAUSE.fullmatch(clause)
        if not found or not found[2] or not tab or not text.strip():
            raise Problem(f"{CLAUSES}:{number}: expected a clause such as RH-16.1 and its text")
        if found[1] not in ids:
            raise Problem(f"{CLAUSES}:{number}: {found[1]} is not a requirement")
        own = split.setdefault(found[1], {})
        if int(found[2]) != len(own) + 1:
            raise Problem(f"{CLAUSES}:{number}: {clause} is out of order")
        own[clause] = text.strip()
    clauses = {}
    for id, text in ids.items():
        clauses.update(split.get(id, {id: text}))
    return clauses


def is_whole(text, is_statement):
    """False if a bracket is open, or an expression has a `;` or an operator at either end."""
    code = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    for opening, closing in ("()", "[]", "{}"):
        if code.count(opening) != code.count(closing):
            return False
    if is_statement:
        return True
    if ";" in re.sub(r"\{.*\}", "", code, flags=re.S):
        return False
    return not re.search(r"(&&|\|\||[-+*/=,?:.])\s*$|^\s*(&&\s|\|\||[=,?:.])", code)


def check(mutant, clauses):
    """Returns what is wrong with a mutant, or None."""
    for edit in () if mutant.is_separate else mutant.edits:
        for text in (edit.old, edit.new):
            if not is_whole(text, edit.is_statement):
                return f"this is neither a whole expression nor a statement: {text}"
    ids = {id_of(clause) for clause in clauses}
    for clause in mutant.breaks:
        if clause not in clauses and clause not in ids:
            return f"{clause} is neither a requirement nor a clause of one"
    if mutant.is_separate:
        if not (mutant.compile and mutant.breaks or mutant.command and mutant.output):
            return "a separate mutant has `compile` and `breaks`, or `command` and `output`"
        return None
    if mutant.compile or mutant.command or mutant.output:
        return "`compile`, `command` and `output` are for separate mutants"
    if not mutant.breaks and any(":" not in name for name in mutant.tests):
        return "without a requirement (`breaks`), `tests` names suites: `retry_tests:fallback`"
    if not (mutant.breaks or mutant.hunt or mutant.audit or mutant.tests):
        return "no test must notice it: name requirements (`breaks`), suites (`tests`) or a `hunt`"
    return None


def read_all(root):
    """Returns (mutants, problems) of the whole tree, in the order of the files."""
    clauses = read_clauses(root)
    mutants, problems, seen = [], [], {}
    for path in sorted((root / FOLDER).rglob("*.mutants")):
        shown = path.relative_to(root).as_posix()
        try:
            found = parse(shown, path.read_text(encoding="utf-8"))
        except Problem as problem:
            problems.append(str(problem))
            continue
        for mutant in found:
            wrong = check(mutant, clauses)
            if wrong:
                problems.append(f"{mutant.place}: {mutant.name}: {wrong}")
            if mutant.name in seen:
                problems.append(f"{mutant.place}: {mutant.name} is also in {seen[mutant.name]}")
            seen[mutant.name] = mutant.place
            mutants.append(mutant)
    return mutants, problems


def default_root():
    return Path(__file__).resolve().parents[2]
