#!/usr/bin/env python3
"""Prints figures about the tree: measure.py [--root DIR] [--build DIR] [--top N] [--since COMMIT]

The Markdown tables show files and lines per library, headers that `cmake --install` installs, names
that a user of <reprise/retry.hpp> sees, how many tests are named after a source, the largest files,
functions and classes, and how many existing files change when an operation, a service, a reason, a
fault, an option or an adapter is added, with the target for each. The script counts everything from
the files; only the installed headers need a configured build directory. With --since, it prints
what has changed since a commit: lines of each part of the tree and its share of all, public
headers and names, and the largest classes.
"""

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from rules.names import visible_names
from rules.sizes import classes_in, functions_in
from rules.tree import Tree, code_only

LIBRARY = re.compile(r"((?:libs|testbed)/\w+|apps/\w+)/")
# Scenes and checks that use one opcode, service or reason and need no change for another one.
USES = ("apps/reprise/demo/", "apps/reprise/src/verify/")
TYPES = "libs/couchbase_types/include/reprise/couchbase_types/"
SCENARIO = "testbed/sim/private/reprise/sim/scenario.hpp"


class Kind(NamedTuple):
    """Things of which another one may be added: where they are declared, how code names one, and
    how many existing files should have to change."""
    what: str
    target: int
    path: str
    declaration: str
    before: str
    # Files that only read the thing: they change when it is used, not when it is added.
    readers: str = ""
    # Members that are something else.
    not_counted: tuple = ()


KINDS = [
    Kind("operation", 10, TYPES + "document_request.hpp", "enum class operation_kind",
         r"\b(?:operation_kind|opcode)::"),
    # key_value has opcodes instead of HTTP requests.
    Kind("service", 11, TYPES + "services.hpp", "enum class service_kind",
         r"\b(?:service|service_kind|service_budgets)::", not_counted=("key_value",)),
    Kind("retry reason", 5, TYPES + "retry_reason.hpp", "enum class retry_reason",
         r"\bretry_reason::"),
    Kind("fault of the simulation", 4, SCENARIO, "enum class fault_kind", r"\bfault_kind::"),
    Kind("option of the client", 2, TYPES + "cluster_options.hpp", "struct cluster_options",
         r"(?:\boptions::|options_?\.)", readers=r"(?!libs/couchbase_types/)"),
]
ADAPTERS = "examples/4_adapters/"  # one program for each
ADAPTER_TARGET = 6
INSTALLED = ("retry", "retry_adapters", "retry_asio", "retry_testing", "retry_json",
             "couchbase_types", "couchbase", "couchbase_codecs")
# Of an adapter's files, those that only it has, its tests and pages, and generated copies.
NOT_SHARED_BY_ADAPTERS = re.compile(
    r"single_header/|docs/|.*\.md$|.*/tests/|tests/(?!adapters/CMake|rules/)|examples/.*\.cpp$")


class Sized(NamedTuple):
    size: int
    name: str


def library_of(path):
    match = LIBRARY.match(path)
    return match[1] if match else None


def part_of(path):
    """Returns the kind of a library's file: a test, a public header or a source."""
    inside = path[len(library_of(path)) + 1:]
    if inside.startswith("tests/"):
        return "tests"
    return "headers" if inside.startswith("include/") else "sources"


def library_table(tree):
    """Returns one row per library with files and lines of its sources, public headers and tests."""
    files, lines = Counter(), Counter()
    for path in tree.cpp_files:
        library = library_of(path)
        if library:
            key = (library, part_of(path))
            files[key] += 1
            lines[key] += len(tree.text(path).splitlines())
    parts = ("sources", "headers", "tests")
    for library in sorted({library for library, _ in files}):
        yield [library] + [f"{files[library, part]} / {lines[library, part]}" for part in parts]
    yield ["all"] + [f"{sum(n for key, n in files.items() if key[1] == part)} / "
                     f"{sum(n for key, n in lines.items() if key[1] == part)}" for part in parts]


def git(root, *arguments):
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return done.stdout


def lines_by_part(root, commit):
    """Returns a commit's lines by part: a library, or a folder. Generated headers do not count."""
    lines = Counter()
    empty = git(root, "hash-object", "-t", "tree", "/dev/null").decode().strip()
    for row in git(root, "diff", "--numstat", "--no-renames", empty, commit).decode().splitlines():
        added, _, path = row.split("\t")
        if added != "-" and not path.startswith("single_header/"):
            path = re.sub("^testing/", "testbed/", path)  # its name before
            lines[library_of(path) or (path.split("/")[0] if "/" in path else "root files")] += int(
                added)
    return lines


@contextmanager
def tree_at(root, commit):
    """The tree of a commit, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=git(root, "archive", commit), check=True)
        yield Tree(folder)


def largest_classes(tree, count):
    return largest([Sized(item.methods, f"{item.name} ({path})")
                    for path in tree.cpp_files
                    if re.match(r"(?:libs|testing|testbed|apps)/\w+/(?!tests/)", path)
                    for item in classes_in(tree.text(path))], count)


def headers_of_installed_libraries(tree):
    """Returns the headers in `include/` of the libraries whose headers are installed today."""
    return [path for path in tree.public_headers
            if re.match(rf"libs/(?:{'|'.join(INSTALLED)})/|testbed/sandbox_net/", path)]


def print_changes(root, since, top):
    table(f"Lines and share since {since}", ["part", "before", "now"], share_rows(root, since))
    with tree_at(root, since) as before, tree_at(root, "HEAD") as now:
        table("Counts", ["what", "before", "now"], [
            ["headers in `include/` of the installed libraries",
             *(len(headers_of_installed_libraries(tree)) for tree in (before, now))],
            ["names of <reprise/retry.hpp> in namespace reprise",
             *(len(visible_names(tree)) for tree in (before, now))],
        ])
        for title, tree in (("before", before), ("now", now)):
            table(f"Largest classes, {title}", ["methods", "class"], largest_classes(tree, top))


def share_rows(root, since):
    """Returns one row per part: its lines and its share of all lines, at `since` and at HEAD."""
    before, after = lines_by_part(root, since), lines_by_part(root, "HEAD")
    for part in sorted(before.keys() | after.keys(), key=lambda part: -after[part]):
        yield [part, *(f"{lines[part]} ({100 * lines[part] / lines.total():.1f} %)"
                       for lines in (before, after))]
    yield ["all", before.total(), after.total()]


def mirrored_tests(tree):
    """Returns all tests of the libraries, and those not named after a file they could test."""
    stems = {(library_of(path), Path(path).stem) for path in tree.cpp_files
             if library_of(path) and part_of(path) != "tests"}
    tests = [path for path in tree.cpp_files
             if re.match(r"(libs|testbed)/\w+/tests/.*_test\.cpp$", path)]
    stray = [path for path in tests
             if (library_of(path), Path(path).stem.removesuffix("_test")) not in stems]
    return tests, stray


def installed_headers(tree, build):
    """Returns the headers that a build directory's install scripts copy, or None without one."""
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        return None
    home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache.read_text(), re.MULTILINE)[1]
    copied = set()
    for script in build.rglob("cmake_install.cmake"):
        for call in re.findall(r"file\(INSTALL(.*?)\)\n", script.read_text(), re.DOTALL):
            for source in re.findall(r'"([^"]*)"', call):
                if source.startswith(home + "/"):
                    copied.add(source[len(home) + 1:])
    return [path for path in tree.cpp_files if path.endswith(".hpp")
            and any(path == source or source.endswith("/") and path.startswith(source)
                    for source in copied)]


def product_files(tree):
    return [path for path in tree.cpp_files if library_of(path) and part_of(path) != "tests"]


def members_of(text, declaration):
    """Returns the names of an enumeration's enumerators or of a structure's members."""
    is_enum = declaration.startswith("enum")
    body = re.search(declaration + (r"[^{;]*\{(.*?)\}" if is_enum else r" \{\n(.*?)\n\};"),
                     code_only(text), re.DOTALL)[1]
    name = r"(\w+)\s*(?:=[^,]*)?(?:,|\s*$)" if is_enum else r"(\w+)(?: = [^;]*|\{[^;]*\})?;"
    return re.findall(name, body)


def touched_files(kind, codes):
    """Returns for each member how many files name it, and how many others only read it. Files that
    are named after it, or after one of them (`view_request.cpp`), are its own."""
    for name in members_of(codes[kind.path], kind.declaration):
        if name in kind.not_counted:
            continue
        word = re.compile(rf"{kind.before}{name}\b")
        own = {name, name.removesuffix("s")}
        found = [path for path, code in codes.items() if path == kind.path or word.search(code)
                 and own.isdisjoint(Path(path).stem.split("_"))]
        readers = [path for path in found if kind.readers and re.match(kind.readers, path)]
        yield len(found) - len(readers), len(readers), name


def touched_rows(tree, product):
    codes = {path: code_only(tree.text(path)) for path in product if not path.startswith(USES)}
    for kind in KINDS:
        counts = sorted(touched_files(kind, codes))
        fewest, middle, most = counts[0], counts[len(counts) // 2], counts[-1]
        readers = sorted(count[1] for count in counts)[len(counts) // 2]
        yield [kind.what, len(counts), kind.target, f"{fewest[0]} (`{fewest[2]}`)", middle[0],
               f"{most[0]} (`{most[2]}`)", readers if kind.readers else ""]
    adapters = sorted({Path(path).stem for path in tree.cpp_files if path.startswith(ADAPTERS)})
    shared = [path for path in tree.files if not NOT_SHARED_BY_ADAPTERS.match(path)]
    texts = {path: tree.text(path) for path in shared}
    counts = sorted((sum(1 for text in texts.values() if re.search(rf"\b{name}\b", text)), name)
                    for name in adapters)
    yield ["adapter", len(counts), ADAPTER_TARGET, f"{counts[0][0]} (`{counts[0][1]}`)",
           counts[len(counts) // 2][0],
           f"{counts[-1][0]} (`{counts[-1][1]}`)", ""]


def largest(sized, count):
    return sorted(sized, key=lambda item: (-item.size, item.name))[:count]


def table(title, head, rows):
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(field) for field in row) + " |")


def main():
    parser = argparse.ArgumentParser(description="Prints figures about the tree.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--build", type=Path, help="configured build (default: ROOT/build/dev)")
    parser.add_argument("--top", type=int, default=10,
                        help="number of rows in the lists of the largest items")
    parser.add_argument("--stray", action="store_true",
                        help="also list tests that are not named after a file")
    parser.add_argument("--since", metavar="COMMIT",
                        help="only what has changed between this commit and HEAD")
    options = parser.parse_args()
    if options.since:
        print_changes(options.root, options.since, options.top)
        return
    tree = Tree(options.root)
    product = product_files(tree)
    texts = {path: tree.text(path) for path in product}

    table("Files / lines", ["library", "sources", "public headers", "tests"], library_table(tree))
    tests, stray = mirrored_tests(tree)
    headers = installed_headers(tree, options.build or options.root / "build/dev")
    table("Counts", ["what", "count"], [
        ["installed headers", "no build directory" if headers is None else len(headers)],
        ["names of <reprise/retry.hpp> in namespace reprise", len(visible_names(tree))],
        ["tests named after a file of their library",
         f"{len(tests) - len(stray)} of {len(tests)} "
         f"({100 * (len(tests) - len(stray)) / max(1, len(tests)):.0f} %)"],
    ])
    table("Largest product files", ["lines", "file"],
          largest([Sized(len(text.splitlines()), path) for path, text in texts.items()],
                  options.top))
    table("Longest product functions", ["lines", "place"],
          largest([Sized(function.length, f"{path}:{function.line}")
                   for path, text in texts.items() for function in functions_in(text)],
                  options.top))
    table("Largest classes", ["methods", "class"], largest_classes(tree, options.top))
    table("Existing files that change when one more is added",
          ["what", "there are", "target", "fewest", "median", "most", "and that read it (median)"],
          touched_rows(tree, product))
    if options.stray:
        table("Tests that are not named after a file", ["file"], [[path] for path in stray])


if __name__ == "__main__":
    main()
