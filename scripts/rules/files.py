"""Every file has a purpose and a good name. Libraries have a CMakeLists.txt and a README.md; each
source is built and each private header included; another file mentions each script and CMake
module; no comment leaves work for later; no text contains a path of a particular machine; C++ files
are snake_case .hpp/.cpp with `#pragma once`, and no name contains `utils` or a similar word
(exceptions: tests/rules/exceptions.tsv, kind `name`, path, word, reason)."""

import re
from fnmatch import fnmatch
from pathlib import PurePosixPath

from rules.includes import includes_of, resolve_private
from rules.tree import LIBRARY, Violation, line_of

EXCEPTIONS = "tests/rules/exceptions.tsv"
LATER = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.:/*$}])/(?:wo" r"rk|ro" r"ot|ho" r"me)/")
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "impl", "v2"}
BINARY = (".png", ".svg", ".ico", ".bin", ".gz", ".pem", ".der")
# Sources that reprise_library, reprise_tests and reprise_fuzz find on their own.
TAKEN = re.compile(rf"{LIBRARY}/(src/.*\.cpp|tests/\w+_test\.cpp|tests/fuzz/\w+_fuzz\.cpp)")
# Built if the library's src/ has the same subfolder.
TAKEN_IN_SUBFOLDER = re.compile(rf"({LIBRARY})/tests/(.+)/\w+_test\.cpp")


def is_built(tree, path):
    """True if a source is built by convention, or its nearest CMakeLists.txt names it."""
    mirrored = TAKEN_IN_SUBFOLDER.fullmatch(path)
    if TAKEN.fullmatch(path) or mirrored and any(
            other.startswith(f"{mirrored[1]}/src/{mirrored[2]}/") for other in tree.files):
        return True
    for folder in PurePosixPath(path).parents:
        lists = (folder / "CMakeLists.txt").as_posix()
        if lists in tree.files:
            text, relative = tree.text(lists), PurePosixPath(path).relative_to(folder).as_posix()
            globs = re.findall(r"[\w/*.-]*\*[\w/*.-]*\.[ch]pp", text)
            return bool(re.search(rf"\b{re.escape(PurePosixPath(path).stem)}\b", text)
                        or any(fnmatch(relative, pattern.lstrip("/")) for pattern in globs))
    return False


def is_added(tree, path):
    """True if the nearest CMakeLists.txt above the folder names it."""
    folder = PurePosixPath(path).parent
    for above in folder.parents:
        lists = (above / "CMakeLists.txt").as_posix()
        if folder.name and lists in tree.files:
            return bool(re.search(rf"\b{re.escape(folder.name)}\b", tree.text(lists)))
    return True


def check_used(tree):
    included = set()
    for path in tree.cpp_files:
        for _, quote, name in includes_of(tree.text(path)):
            if quote == '"':
                included.add(resolve_private(tree, path, name))
    for path in tree.cpp_files:
        if path.endswith(".cpp"):
            if not is_built(tree, path):
                yield Violation(path, 1, "source is not built by any CMakeLists.txt")
        elif path not in included and path not in tree.library_headers \
                and not is_built(tree, path):
            yield Violation(path, 1, "private header is included nowhere")
    for path in tree.files:
        if PurePosixPath(path).name == "CMakeLists.txt" and not is_added(tree, path):
            yield Violation(path, 1, "the CMakeLists.txt above does not name this folder")
    texts = {path: tree.text(path) for path in tree.files if not path.endswith(BINARY)}
    for path in tree.files:
        if re.match(r"(scripts|cmake)/", path) and not path.endswith(("__init__.py", ".md")):
            stem = re.compile(rf"\b{re.escape(PurePosixPath(path).stem.split('.')[0])}\b")
            if not any(stem.search(text) for other, text in texts.items() if other != path):
                yield Violation(path, 1, "no other file mentions this one")


def check_libraries(tree):
    found = (re.match(rf"({LIBRARY})/", path) for path in tree.files)
    for library in sorted({match[1] for match in found if match}):
        for needed in ("CMakeLists.txt", "README.md"):
            if f"{library}/{needed}" not in tree.files:
                yield Violation(f"{library}/{needed}", 1, "every library must have one")


def check_names(tree):
    excepted = {(path, word) for kind, path, word, _ in tree.table(EXCEPTIONS, 4) if kind == "name"}
    for path in tree.files:
        words = {word for part in PurePosixPath(path).parts
                 for word in re.split(r"[_\-.]", part.lower())}
        for word in sorted(words & EMPTY_WORDS):
            if (path, word) in excepted:
                continue
            yield Violation(path, 1, f"the name is not specific: {word}")
        if path.endswith((".h", ".hh", ".hxx", ".cc", ".cxx", ".ipp")):
            yield Violation(path, 1, "C++ files end in .hpp and .cpp")
    for path in tree.cpp_files:
        if not re.fullmatch(r"[a-z0-9_]+\.[hc]pp", PurePosixPath(path).name):
            yield Violation(path, 1, "C++ file names are snake_case")
        if path.endswith(".hpp") and "#pragma once" not in tree.text(path):
            yield Violation(path, 1, "header without #pragma once")


def check_text(tree):
    for path in tree.files:
        if path.endswith(BINARY):
            continue
        text = tree.text(path)
        for regex, what in ((LATER, "left for later"), (MACHINE_PATH, "path of a machine")):
            for match in regex.finditer(text):
                yield Violation(path, line_of(text, match.start()), f"{what}: {match[0]}")


def check(tree):
    yield from check_libraries(tree)
    yield from check_used(tree)
    yield from check_names(tree)
    yield from check_text(tree)
