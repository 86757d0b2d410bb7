#!/usr/bin/env python3
"""Runs clang-format and clang-tidy on the whole tree.

The build compiles several sources as one unity file. clang-tidy gets larger pieces still, up to
SOURCES_MAX sources of one target: it reads a common header a few times instead of hundreds of
times, which makes it fast enough for the whole tree. Programs of one source, such as examples, are
put together as well, each in a namespace. `--changed` checks only the sources that differ from the
last commit.
"""

import argparse
import json
import math
import re
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("libs", "testbed", "apps", "examples", "bench", "tests")
SOURCES_MAX = 32
# Tests only need to be formatted and free of warnings; headers are checked through their users.
LEFT_OUT = re.compile(r"_tests\.dir/|/headers_\w+\.dir/|^tests/|/tests/")
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# Declarations at global scope, which cannot be wrapped in a namespace.
OUTERMOST = re.compile(r"^template <>|^namespace (reprise|std|boost)\b|^#include \"", re.MULTILINE)


def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    return result.stdout.splitlines()


def our_files():
    names = git("ls-files", "-co", "--exclude-standard")
    return [name for name in names if name.startswith(FOLDERS) and
            name.endswith((".cpp", ".hpp")) and (ROOT / name).is_file()]


def changed_files():
    return {str(ROOT / name) for name in
            git("diff", "--name-only", "HEAD") + git("ls-files", "-o", "--exclude-standard")}


def check_format(names):
    """Returns the names of files that clang-format would change."""
    result = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *names], cwd=ROOT,
                            capture_output=True, text=True, check=False)
    return sorted({line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line})


def sources_of(file):
    """Returns the sources that a unity file includes, or the file itself."""
    if "/Unity/" not in file:
        return [file]
    return INCLUDED.findall(Path(file).read_text(encoding="utf-8"))


def name_of_program(entry, file, below):
    """Programs of one source that are compiled with the same options have the same name, except for
    those that cannot stand in a namespace."""
    if OUTERMOST.search(Path(file).read_text(encoding="utf-8")):
        return below
    options = re.sub(r" -o \S+ -c \S+$| -I\S+", "", entry["command"])
    return f"programs {zlib.crc32(options.encode()):08x}"


def text_of_piece(name, sources):
    """Programs first include everything, so that includes in their namespaces have no effect."""
    if not name.startswith("programs "):
        return "".join(f'#include "{source}"\n' for source in sources)
    includes = sorted({line for source in sources for line in re.findall(
        r"^#include <.*", Path(source).read_text(encoding="utf-8"), re.MULTILINE)})
    return "\n".join(includes) + "\n" + "".join(
        f'namespace program_{number} {{\n#include "{source}"\n}}\n'
        for number, source in enumerate(sources))


def sources_by_target(build, wanted):
    """Maps each target to a compiler command and its sources, once each and without tests; only
    `wanted` sources if given."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    targets = {}
    seen = set()
    for entry in database:
        file = str(Path(entry["directory"], entry["file"]).resolve())
        below = str(Path(file).relative_to(ROOT)) if Path(file).is_relative_to(ROOT) else file
        if LEFT_OUT.search(below):
            continue
        ours = [source for source in sources_of(file)
                if Path(source).is_relative_to(ROOT) and source not in seen and
                not Path(source).is_relative_to(ROOT / "build") and
                (wanted is None or source in wanted)]
        seen.update(ours)
        target = re.search(r"/CMakeFiles/(\w+)\.dir/Unity/", below)
        name = target[1] if target else name_of_program(entry, file, below)
        if ours:
            first, _, sources = targets.setdefault(name, (dict(entry), file, []))
            sources.extend(ours)
            add_includes(first, entry)
    return targets


def add_includes(entry, other):
    """Adds the include directories of another command that this one lacks."""
    missing = [option for option in re.findall(r" -I\S+", other["command"])
               if f"{option} " not in entry["command"]]
    entry["command"] = entry["command"].replace(" -o ", "".join(missing) + " -o ", 1)


def write_pieces(targets, folder):
    """Writes the pieces and their compile database; returns the pieces, the longest first."""
    folder.mkdir(exist_ok=True)
    database = []
    lengths = {}
    for name, (entry, file, sources) in targets.items():
        count = math.ceil(len(sources) / SOURCES_MAX)
        for number in range(count):
            chosen = sources[number::count]
            piece = str(folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}_{number}.cpp")
            Path(piece).write_text(text_of_piece(name, chosen), encoding="utf-8")
            command = entry["command"].replace(f"-c {file}", f"-c {piece}")
            database.append({"directory": entry["directory"], "command": command, "file": piece})
            lengths[piece] = len(chosen)
    (folder / "compile_commands.json").write_text(json.dumps(database), encoding="utf-8")
    return sorted(lengths, key=lambda piece: -lengths[piece])


def tidy(name, folder):
    result = subprocess.run(
        ["clang-tidy-19", "-p", str(folder), "--config-file", str(ROOT / ".clang-tidy"), "--quiet",
         "--warnings-as-errors=*", "--extra-arg=-Wno-unknown-warning-option",
         *(["--extra-arg=-Wno-return-type"] if "/programs_" in name else []), name],
        cwd=ROOT, capture_output=True, text=True, check=False)
    return name, result.returncode, result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    build = (ROOT / arguments.build).resolve()
    folder = build / "lint"
    targets = sources_by_target(build, changed_files() if arguments.changed else None)
    chosen = write_pieces(targets, folder)
    failed = 0
    names = our_files()
    with ThreadPoolExecutor(2) as pool:
        formatted = [pool.submit(check_format, names[start:start + 50])
                     for start in range(0, len(names), 50)]
        for name, code, text in pool.map(lambda file: tidy(file, folder), chosen):
            if code != 0:
                failed += 1
                print(f"{Path(name).name}:\n{text}")
    wrong = [name for part in formatted for name in part.result()]
    for name in wrong:
        print(f"not formatted: {name} (clang-format-19 -i {name})")
    print(f"lint: {len(chosen)} pieces tidied, {failed} with findings, {len(wrong)} not formatted")
    if not chosen and not arguments.changed:
        print("lint: nothing to check: has the tree been configured?")
        failed = 1
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
