#!/usr/bin/env python3
"""Uses the retry library as a part of another CMake project.

check_subproject.py CMAKE COMPILER: once by add_subdirectory and once by FetchContent, which unpacks
an archive of the sources. Configuring and building must stay within a number of lines, only the
retry library may be built, and the project's own installation must not contain it. The CPU seconds
are printed with their goal, and not checked, because they depend on the machine.
"""

import shutil
import sys
import tarfile

from steps import (CONSUMER, ROOT, StepFailed, child_seconds, main, run, without_compiler_cache)

LINES_MAX = 15
SECONDS_GOAL = 10
NEEDED = ["CMakeLists.txt", "cmake", "libs"]  # of our tree; a subproject uses nothing else
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(shop LANGUAGES CXX)
{get}
add_executable(shop main.cpp)
target_link_libraries(shop PRIVATE reprise::retry)
install(TARGETS shop)
"""
WAYS = {
    "add_subdirectory": "add_subdirectory(reprise)",
    "FetchContent": ("include(FetchContent)\n"
                     "FetchContent_Declare(reprise URL ${CMAKE_SOURCE_DIR}/reprise.tar.gz)\n"
                     "FetchContent_MakeAvailable(reprise)"),
}


def provide_sources(way, folder):
    if way == "FetchContent":
        with tarfile.open(folder / "reprise.tar.gz", "w:gz") as archive:
            for name in NEEDED:
                archive.add(ROOT / name, f"reprise/{name}")
        return
    (folder / "reprise").mkdir()
    shutil.copy(ROOT / "CMakeLists.txt", folder / "reprise")
    for name in NEEDED[1:]:
        shutil.copytree(ROOT / name, folder / "reprise" / name)


def check_way(way, get, folder):
    """Returns what it costs, in words."""
    cmake, compiler = sys.argv[1:]
    folder.mkdir()
    provide_sources(way, folder)
    shutil.copy(CONSUMER / "main.cpp", folder)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(get=get), encoding="utf-8")
    build, environment, before = folder / "build", without_compiler_cache(), child_seconds()
    output = run(f"{way}: configure", [cmake, "-S", folder, "-B", build, "-G", "Ninja",
                                       f"-DCMAKE_CXX_COMPILER={compiler}",
                                       "-DCMAKE_BUILD_TYPE=Release"], environment)
    output += run(f"{way}: build", [cmake, "--build", build], environment)
    seconds, line_count = child_seconds() - before, len(output.splitlines())
    if line_count > LINES_MAX:
        raise StepFailed(f"{way} prints too much, {line_count} lines:\n{output}")
    run(f"{way}: run", [build / "shop"])
    libraries = sorted(path.name for path in build.rglob("*.a"))
    if libraries != ["libreprise_retry.a"]:
        raise StepFailed(f"{way} built {libraries}")
    run(f"{way}: install", [cmake, "--install", build, "--prefix", folder / "prefix"])
    installed = [path for path in (folder / "prefix").rglob("*") if path.is_file()]
    if installed != [folder / "prefix/bin/shop"]:
        raise StepFailed(f"{way}: the project installs {installed}")
    return f"{way} {line_count} lines, {seconds:.1f} CPU seconds"


def check(folder):
    costs = [check_way(way, get, folder / way) for way, get in WAYS.items()]
    print(f"{'; '.join(costs)} (limit {LINES_MAX} lines, goal {SECONDS_GOAL} seconds)")


if __name__ == "__main__":
    sys.exit(main(check))
