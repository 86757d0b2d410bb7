#!/usr/bin/env python3
"""The retry library on other compilers and systems: platforms.py [NAME...]

Builds the retry library, its Asio forms on the standalone Asio, the adapters that need no client
library, their tests and the first programs of newcomers, without CMake and in few compiler calls. For other processors also the
parts of the client that do no I/O. Runs the tests, in an emulator where the platform is another one,
and writes what each ran, and when, into the table of README.md. Other rows keep their
text. Exits with 1 if a platform fails.
"""

import argparse
import contextlib
import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "platforms"
BEGIN, END = "<!-- platforms: written by ./dev platforms -->", "<!-- /platforms -->"
GOOGLETEST = Path("/usr/src/googletest/googletest")
# Headers without compiled parts, which are the same on every platform.
SHARED_HEADERS = ("gtest", "asio", "asio.hpp")
LIBRARIES = ("retry", "retry_asio", "retry_adapters", "retry_testing")
# Of the adapters' tests, those that include a client library.
NEED_CLIENT_LIBRARY = {"curl_test.cpp"}
# What a newcomer writes first, without the programs that need a client library.
FIRST_PROGRAMS = ROOT / "examples" / "0_first_programs"
NEED_CURL = {"curl_with_429.cpp", "http_get.cpp"}
# Tests of Boost's error codes, on the standalone Asio.
NEED_BOOST = {"error_facts_test.cpp"}
# One compiler call takes so many sources: more need too much memory.
SOURCES_MAX = 12
# The client without its I/O, in the order of its parts; and of those whose tests are run, how many
# sources one compiler call takes: as many as with CMake, where the names of one call do not clash.
CLIENT = ("base", "json", "wire", "couchbase_types", "services", "http", "engine")
CLIENT_TESTS = {"base": 24, "wire": 24, "engine": 26}
CLIENT_PACKAGES = ["libssl-dev", "libsnappy-dev"]  # with static libraries; the rest is headers
# The tests of the engine take minutes in an emulator on a busy machine.
TEST_SECONDS_MAX = 3600
NONE = "–"
WINE_START_SECONDS_MAX = 120
WINE_STARTS_MAX = 3
DEBIAN_13 = ["g++", "python3", "libgtest-dev", "googletest", "libasio-dev"]


@dataclass
class Platform:
    """How to build and run on one platform."""
    system: str
    compiler: list
    title: str                      # of the compiler, with the major version that it must have
    flags: list = field(default_factory=list)
    link: list = field(default_factory=list)
    runner: list = None             # None: it is only compiled
    root: str = ""                  # a Debian release in which to do all of it
    architecture: str = ""          # Debian's name of it, if the client is built, too
    asio_size: int = 4              # tests of the Asio forms that one compiler call takes


def cross(machine, emulator, architecture):
    return Platform(system=f"Linux {emulator.removeprefix('qemu-')}",
                    compiler=[f"{machine}-linux-gnu-g++"], title="GCC 12",
                    runner=[emulator, "-L", f"/usr/{machine}-linux-gnu"], architecture=architecture)


LIBCXX = ["-stdlib=libc++", "-fexperimental-library"]
WINDOWS = ["-D_WIN32_WINNT=0x0A00", "-DWIN32_LEAN_AND_MEAN", "-Wa,-mbig-obj"]
PLATFORMS = {
    "gcc12": Platform("Linux x86-64", ["g++-12"], "GCC 12", runner=[]),
    "gcc14": Platform("Linux x86-64", ["g++-14"], "GCC 14", runner=[], root="trixie"),
    "clang19": Platform("Linux x86-64", ["clang++-19"], "Clang 19", ["-DASIO_HAS_CO_AWAIT=1"],
                        runner=[]),
    "libcxx19": Platform("Linux x86-64", ["clang++-19"], "Clang 19, libc++",
                         [*LIBCXX, "-DASIO_HAS_CO_AWAIT=1"], [*LIBCXX, "-lc++abi"], runner=[]),
    # On the processor itself: in QEMU, a thread that waits is not woken.
    "i386": replace(cross("i686", "qemu-i386", "i386"),
                    runner=["/usr/i686-linux-gnu/lib/ld-linux.so.2", "--library-path",
                            "/usr/i686-linux-gnu/lib"]),
    "aarch64": cross("aarch64", "qemu-aarch64", "arm64"),
    "s390x": cross("s390x", "qemu-s390x", "s390x"),
    "windows": Platform("Windows x86-64 (Wine)", ["x86_64-w64-mingw32-g++-posix"], "MinGW GCC 12",
                        WINDOWS, ["-static", "-lws2_32", "-lmswsock"], runner=["wine"],
                        # The names in an object file have 10 MB at most.
                        asio_size=1),
    "macos": Platform("macOS arm64", [str(BUILD / "zig/bin/python"), "-m", "ziglang", "c++"], "Clang (zig)",
                      ["-target", "aarch64-macos", "-fexperimental-library",
                       "-DASIO_HAS_CO_AWAIT=1"]),
    "msvc": None,
}
MSVC = "| Windows x86-64 | MSVC |"


def tests_in(folder, left_out=()):
    return [file for file in sorted((ROOT / folder).glob("*_test.cpp")) if file.name not in left_out]


def programs(asio_size):
    """{column: groups of sources}; sources of one group are compiled together."""
    asio = tests_in("libs/retry_asio/tests", NEED_BOOST)
    pairs = ROOT / "tests" / "pairs"
    loops = [[file] for file in sorted(pairs.glob("run_*.cpp"))]
    return {
        "retry": split(tests_in("libs/retry/tests") + tests_in("libs/retry_testing/tests")),
        "Asio": split(asio + tests_in("libs/retry_asio/tests/standalone"), asio_size),
        "adapters": split(tests_in("libs/retry_adapters/tests", NEED_CLIENT_LIBRARY)),
        "pairs": [[file for file in sorted(pairs.glob("*.cpp")) if [file] not in loops],
                  *loops],
    }


def client_programs():
    """As `programs`, of the client. Like CMake, it leaves out folders without a counterpart in src."""
    found = {}
    for library, size in CLIENT_TESTS.items():
        folder = ROOT / "libs" / library
        files = [file for file in sorted((folder / "tests").rglob("*_test.cpp"))
                 if (folder / "src" / file.parent.relative_to(folder / "tests")).is_dir()]
        found[library] = split(files, size)
    return found


def unpack_packages(folder, architecture):
    """Unpacks Debian's packages of another architecture into a folder, and installs nothing."""
    (folder / "lists/partial").mkdir(parents=True)
    (folder / "cache/archives/partial").mkdir(parents=True)
    apt = ["apt-get", "-qq", "-o", f"APT::Architecture={architecture}",
           "-o", f"APT::Architectures={architecture}", "-o", "APT::Sandbox::User=root",
           "-o", f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
    # A mirror that is being updated fails for one of its lists; the packages may be in another.
    subprocess.run([*apt, "update"], check=False)
    subprocess.run([*apt, "download", *CLIENT_PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(folder / "root")], check=True)
    return folder / "root/usr"


def split(files, size=SOURCES_MAX):
    return [files[i:i + size] for i in range(0, len(files), size)]


@contextlib.contextmanager
def running_wine(folder):
    """Yields the environment of a Wine whose server stays up.

    Debian's server ends with its last program, and a program that starts just then can wait for it
    forever. So the server is started first, with a try-out program that has a time limit.
    """
    environment = os.environ | {"WINEPREFIX": str(folder), "WINEDEBUG": "-all"}
    folder.mkdir()

    def call(*command):
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=WINE_START_SECONDS_MAX).returncode

    try:
        for _ in range(WINE_STARTS_MAX):
            with contextlib.suppress(subprocess.TimeoutExpired):
                if call("wineserver", "-p") == 0 and call("wine", "cmd", "/c", "exit") == 0:
                    break
            call("wineserver", "-k")
        else:
            raise RuntimeError(f"Wine did not start in {WINE_STARTS_MAX} tries")
        yield environment
    finally:
        call("wineserver", "-k")


class Build:
    """One platform's objects, in a folder of its own."""

    def __init__(self, name, platform):
        self.platform = platform
        self.folder = BUILD / name
        self.environment = None     # that of this process
        shutil.rmtree(self.folder, ignore_errors=True)
        headers = self.folder / "include"
        headers.mkdir(parents=True)
        for header in SHARED_HEADERS:
            (headers / header).symlink_to(Path("/usr/include") / header)
        folders = [f"-I{ROOT}/libs/{name}/include" for name in LIBRARIES]
        folders += [f"-I{ROOT}/libs/retry/src", f"-I{ROOT}/libs/retry_asio/tests",
                    f"-I{self.imitate_client_libraries()}"]
        self.flags = ["-std=c++20", "-O0", "-w", "-DASIO_STANDALONE", "-DREPRISE_STANDALONE_ASIO",
                      *platform.flags, *folders, "-isystem", str(headers), "-pthread"]

    def imitate_client_libraries(self):
        """The headers that the adapters' tests use instead, as their CMakeLists.txt makes them."""
        tests = ROOT / "libs/retry_adapters"
        folder = self.folder / "imitated"
        listed = re.search(r"header IN ITEMS ([^)]*)\)", (tests / "CMakeLists.txt").read_text("utf-8"))
        for header in listed[1].split():
            file = folder / f"{header}.h"
            file.parent.mkdir(parents=True, exist_ok=True)
            library = re.match(r"(\w+?)(pp)?/", header)[1]
            file.write_text(f'#include "{tests}/tests/imitated_{library}.hpp"\n', encoding="utf-8")
        return folder

    def compile(self, name, sources, extra=()):
        """Compiles sources in one call; returns the object."""
        unit = self.folder / f"{name}.cpp"
        unit.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
        target = unit.with_suffix(".o")
        cache = ["ccache"] if shutil.which("ccache") and len(self.platform.compiler) == 1 else []
        subprocess.run([*cache, *self.platform.compiler, *self.flags, *extra, "-c", str(unit), "-o",
                        str(target)], check=True)
        return target

    def compile_all(self, calls):
        """The objects of (name, sources, flags)."""
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            return list(pool.map(lambda call: self.compile(*call), calls))

    def run(self):
        """{column: what was run}."""
        if self.platform.runner != ["wine"]:
            return self.build_and_run()
        with running_wine(self.folder / "wine") as self.environment:
            return self.build_and_run()

    def build_and_run(self):
        sources = sorted((ROOT / "libs/retry/src").glob("*.cpp"))
        sources += sorted((ROOT / "libs/retry_asio/src").glob("*.cpp"))
        calls = [("library", sources, [])]
        if self.platform.runner is not None:
            calls.append(("gtest", [GOOGLETEST / "src/gtest-all.cc",
                                    GOOGLETEST / "src/gtest_main.cc"], [f"-I{GOOGLETEST}"]))
        library = self.compile_all(calls)
        results = {}
        for column, groups in programs(self.platform.asio_size).items():
            results[column] = self.run_program(column, groups, library)
        self.run_first_programs(library[0])
        if self.platform.architecture:
            return results | self.run_client(library)
        return results | {column: NONE for column in CLIENT_TESTS}

    def run_first_programs(self, library):
        """Their Boost.Asio is the standalone one under the same names."""
        shim = self.folder / "first" / "boost" / "asio.hpp"
        shim.parent.mkdir(parents=True)
        shim.write_text("#include <asio.hpp>\nnamespace boost {\nnamespace asio = ::asio;\n}\n",
                        encoding="utf-8")
        sources = [file for file in sorted(FIRST_PROGRAMS.glob("*.cpp"))
                   if file.name not in NEED_CURL]
        flags = [f"-I{shim.parent.parent}", f"-I{FIRST_PROGRAMS}"]
        objects = self.compile_all((f"first_{file.stem}", [file], flags) for file in sources)
        if self.platform.runner is None:
            return
        for file, main in zip(sources, objects):
            ended = self.run_linked(f"first_{file.stem}", [main, library])
            if ended.returncode != 0:
                raise RuntimeError(f"{file.name} failed")

    def run_client(self, library):
        packages = unpack_packages(self.folder / "packages", self.platform.architecture)
        (self.folder / "boost").mkdir()
        (self.folder / "boost/boost").symlink_to("/usr/include/boost")
        system = [self.folder / "boost", packages / "include",
                  *(packages / "include").glob("*-linux-gnu*")]
        flags = ["-std=c++23", *(f"-I{ROOT}/libs/{name}/{kind}" for name in CLIENT
                                for kind in ("include", "private")),
                 *(part for folder in system for part in ("-isystem", str(folder))),
                 f'-DREPRISE_CLIENT_GUIDE="{ROOT}/docs/guide/couchbase.md"',
                 f'-DREPRISE_COLLECTION_HEADER="{ROOT}/libs/couchbase/include/reprise/couchbase/'
                 'collection.hpp"']
        calls = [("boost_json", ["boost/json/src.hpp"], flags)]
        for name in CLIENT:
            sources = sorted((ROOT / "libs" / name / "src").rglob("*.cpp"))
            calls += [(f"client_{name}_{number}", group, [*flags, f"-I{ROOT}/libs/{name}/src"])
                      for number, group in enumerate(split(sources, CLIENT_TESTS.get(name, 24)))]
        client = self.compile_all(calls)
        archives = [file for name in ("libcrypto.a", "libsnappy.a")
                    for file in packages.glob(f"lib/*/{name}")]
        return {name: self.run_program(name, groups, [*library, *client, *archives],
                                       [*flags, f"-I{ROOT}/libs/{name}/src",
                                        f"-I{ROOT}/libs/{name}/tests"])
                for name, groups in client_programs().items()}

    def run_program(self, column, groups, library, flags=()):
        calls = []
        for number, group in enumerate(groups):
            is_plain = any("without_exceptions" in source.name for source in group)
            calls.append((f"{column}_{number}", group,
                          [*flags, *(["-fno-exceptions"] if is_plain else [])]))
        objects = self.compile_all(calls)
        if self.platform.runner is None:
            return "built"
        ended = self.run_linked(f"{column}_tests", [*objects, *library], "--gtest_brief=1")
        passed = re.search(r"\[  PASSED  \] (\d+) test", ended.stdout)
        if ended.returncode != 0 or not passed:
            sys.stdout.write(ended.stdout[-20000:] + ended.stderr[-5000:])
            raise RuntimeError(f"{column} tests failed")
        return passed[1]

    def run_linked(self, name, objects, *arguments):
        program = self.folder / f"{name}.exe"
        subprocess.run([*self.platform.compiler, *map(str, objects), "-o", str(program), "-pthread",
                        *self.platform.link], check=True)
        return subprocess.run([*self.platform.runner, str(program), *arguments],
                              capture_output=True, text=True, errors="replace",
                              env=self.environment, timeout=TEST_SECONDS_MAX)


def check_version(platform):
    """The title names the version that the compiler has."""
    version = subprocess.run([*platform.compiler, "-dumpversion"], capture_output=True, text=True,
                             check=True).stdout.strip()
    wanted = re.search(r"(?:GCC|Clang) (\d+)", platform.title)
    if wanted and re.match(r"\d+", version)[0] != wanted[1]:
        raise RuntimeError(f"{platform.compiler[0]} has version {version}, not {wanted[1]}")


def run_in_root(name, platform):
    """Runs this script in a clean Debian; returns its row."""
    from debian_root import DebianRoot  # Needs root, as nothing else here does.
    with tempfile.TemporaryDirectory() as folder, \
            DebianRoot(f"{folder}/root", platform.root, DEBIAN_13) as debian:
        files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\0")
        for file in filter(None, files):
            debian.copy(ROOT / file, f"/reprise/{file}")
        debian.run(f"cd /reprise && python3 scripts/platforms.py --here {name} > row.txt")
        return (debian.folder / "reprise/row.txt").read_text(encoding="utf-8").splitlines()[-1]


def row_of(name, platform, is_here):
    if platform.root and not is_here:
        return run_in_root(name, platform)
    check_version(platform)
    results = Build(name, platform).run()
    client = [results.pop(name) for name in CLIENT_TESTS]
    results["client"] = client[0] if len(set(client)) == 1 else " + ".join(client)
    today = datetime.date.today().isoformat()
    return f"| {platform.system} | {platform.title} | {' | '.join(results.values())} | {today} |"


def write_table(rows):
    """Replaces these rows of the table; the others stay as they are."""
    page = ROOT / "README.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    known = {"<!--" + line.rpartition("<!--")[2]: line for line in old.splitlines()}
    columns = [*programs(1), "client"]
    lines = [f"| system | compiler | {' | '.join(columns)} | date |",
             "|---" * (len(columns) + 3) + "|"]
    for name, platform in PLATFORMS.items():
        title = f"| {platform.system} | {platform.title} |" if platform else MSVC
        mark = f"<!-- {name} -->"
        unknown = f"{title} not run{' |' * (len(columns) + 1)}{mark}"
        lines.append(f"{rows[name]}{mark}" if name in rows else known.get(mark, unknown))
    page.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}",
                    encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=" ".join(PLATFORMS))
    parser.add_argument("--here", action="store_true", help="print the row; write no table")
    arguments = parser.parse_args()
    rows, failed = {}, []
    for name in arguments.names or [name for name in PLATFORMS if PLATFORMS[name]]:
        if not PLATFORMS.get(name):
            parser.error(f"no platform '{name}' to run: {' '.join(PLATFORMS)}")
        begin = time.monotonic()
        try:
            rows[name] = row_of(name, PLATFORMS[name], arguments.here)
            result = "passed"
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            failed.append(name)
            result = f"FAILED: {error}"
        print(f"{name}: {result} ({time.monotonic() - begin:.0f} s)", file=sys.stderr, flush=True)
        if arguments.here:
            print(rows.get(name, ""))
        elif name in rows:
            write_table({name: rows[name]})
    print(f"platforms: {len(rows)} passed, {len(failed)} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
