"""Which folder may include what. tests/rules/includes.tsv lists what each folder may use; the row
with the longest matching folder applies, and for a library's tests also the row `*/*/tests`. Our
own libraries are named by folder, others by include prefix (`boost/asio`, `openssl`; `posix` is any
other C header; `x/src` is a private header of library x included with <>); `*` allows everything,
and `name@1` lets one file of that folder use the name. Our own public headers are included as
<reprise/...>, private ones in quotes and only from the same library."""

import re
from collections import defaultdict
from pathlib import PurePosixPath

from rules.tree import LIBRARY, Violation, line_of, without_comments

TABLE = "tests/rules/includes.tsv"
TESTS_ROW = "*/*/tests"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
# Headers directly in /usr/include, and the compiler's own for vectors.
C_LIBRARIES = {"snappy": "snappy", "ares": "ares", "immintrin": "immintrin"}


def unit_of(path):
    """Returns the folder whose private headers a file may include: libs/x, testbed/x, apps/x, or a
    top folder."""
    parts = PurePosixPath(path).parts
    depth = 2 if parts[0] in ("libs", "testbed", "apps") else 1
    return "/".join(parts[:depth])


def includes_of(text):
    """Returns (line, quote or <, name) of each include line that is not commented out."""
    text = without_comments(text)
    return [(line_of(text, m.start(2)), m[1], m[2]) for m in INCLUDE.finditer(text)]


def third_party(name):
    """Returns the third-party library of an <include>, or None for the standard library."""
    if "/" not in name and "." not in name:
        return None
    parts = name.split("/")
    first = re.sub(r"\.\w+$", "", parts[0])
    if first == "boost" and len(parts) > 1:
        return "boost/" + re.sub(r"\.\w+$", "", parts[1])
    for prefix, library in C_LIBRARIES.items():
        if first.startswith(prefix):
            return library
    if len(parts) == 1 or first in ("sys", "arpa", "net", "netinet", "linux"):
        return "posix"
    return first


def resolve_private(tree, path, name):
    """Finds the file of a quoted include as the build does: in its folder, in src, in tests."""
    unit, known = unit_of(path), set(tree.files)
    for folder in (str(PurePosixPath(path).parent), f"{unit}/src", f"{unit}/tests", unit):
        parts = []
        for part in PurePosixPath(folder, name).parts:
            if part == "..":
                parts = parts[:-1]
            else:
                parts.append(part)
        if "/".join(parts) in known:
            return "/".join(parts)
    return None


def public_owners(tree):
    """Returns {include name: library} of all headers that other libraries may include."""
    return {re.split("/include/|/private/", path, maxsplit=1)[1]: path.split("/")[1]
            for path in tree.library_headers}


def private_owners(tree):
    """Returns {header name: `library/src`} of all private headers of libraries. Including one with
    <> does not make it public; the row of a folder that may do so states it."""
    found = (re.fullmatch(rf"{LIBRARY}/src/([\w/]+\.hpp)", path) for path in tree.files)
    return {m[1]: f"{m[0].split('/')[1]}/src" for m in found if m}


def allowed_for(path, rows):
    """Returns (folder of the row that applies, names that may be used) for one file."""
    fitting = [row for row in rows if (path + "/").startswith(row[0] + "/")]
    if not fitting:
        return None, set()
    folder, own, foreign, _ = max(fitting, key=lambda row: len(row[0]))
    names = set(own.split()) | set(foreign.split())
    if re.match(rf"{LIBRARY}/tests/", path):
        for row in rows:
            if row[0] == TESTS_ROW:
                names |= set(row[1].split()) | set(row[2].split())
    return folder, names


def check_file(tree, path, owners, private, rows, sole_users):
    folder, allowed = allowed_for(path, rows)
    if folder is None:
        yield Violation(path, 1, f"folder has no row in {TABLE}")
        return
    for line, quote, name in includes_of(tree.text(path)):
        if quote == '"':
            target = resolve_private(tree, path, name)
            if target is None or target in tree.library_headers:
                yield Violation(path, line, f'"{name}" is not a private header of {unit_of(path)}')
            elif unit_of(target) != unit_of(path):
                yield Violation(path, line, f'"{name}" reaches into {unit_of(target)}')
            continue
        if name.startswith("reprise/"):
            used = owners.get(name)
            if used is None:
                yield Violation(path, line, f"<{name}> is not a public header of any library")
                continue
            if re.match(LIBRARY, path) and path.split("/")[1] == used:
                continue
        else:
            used = private.get(name) or third_party(name)
        if used is None or "*" in allowed or used in allowed:
            continue
        if f"{used}@1" in allowed:
            sole_users[folder, used].add(path)
            continue
        yield Violation(path, line, f"{folder} may not use {used} (<{name}>)")


def check(tree):
    rows = tree.table(TABLE, 4)
    owners, private = public_owners(tree), private_owners(tree)
    sole_users = defaultdict(set)
    for path in tree.cpp_files:
        yield from check_file(tree, path, owners, private, rows, sole_users)
    for (folder, used), paths in sole_users.items():
        for path in sorted(paths)[1:]:
            yield Violation(path, 1, f"only one file of {folder} may use {used}: "
                                     f"{min(paths)} already does")
