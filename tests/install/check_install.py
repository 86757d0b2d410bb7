#!/usr/bin/env python3
"""Installs the libraries and uses them like a program outside the tree.

Installs the retry library into a temporary prefix, copies the consumer out of the tree and builds
it twice as C++20: with CMake's find_package, which must not look for Boost, and with pkg-config and
the bare compiler. Both programs must run. The prefix is moved in between, since packages move. A
request for a missing component must fail with a message that names it and the available ones.

With --client-consumer the client and the sandbox go into another prefix, each by its component's
name. A program that links the client alone prints its usage, is refused by an installation without
the client, and one with a sandbox of its own stores and reads a document.

With --whole-tree everything is installed. Public means installed: the tree may hold the headers of
the public libraries and no others, no more of them than a stated limit, and one archive for each
library that users link. The headers of the core must be the files that headers_core reads. The
program must run, with its man pages and completions. With --compile-headers each of the
other headers must compile alone and twice, with nothing but the installed tree; that takes as long
as several other tests, so the release check does it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Raise it only with a header that users need; what they do not need is kept out of public headers.
# Adapters and codecs are not counted: each is for the users of one other library.
HEADER_COUNT_MAX = 70
# Headers that need the library they adapt to. tests/adapters and tests/headers compile each alone.
ADAPTERS = ("retry/adapters/", "couchbase/codecs/")
# Libraries that users link. The private ones are inside of them.
ARCHIVES = {"libreprise_retry.a", "libreprise_retry_asio.a", "libreprise_retry_asio_standalone.a",
            "libreprise_couchbase.a", "libreprise_retry_json.a", "libreprise_sandbox.a"}
# One for each component.
PKG_CONFIG_FILES = {"reprise-retry.pc", "reprise-retry-asio.pc",
                    "reprise-retry-asio-standalone.pc", "reprise-retry-testing.pc",
                    "reprise-retry-adapters.pc", "reprise-retry-json.pc", "reprise-couchbase.pc",
                    "reprise-couchbase-codecs.pc", "reprise-sandbox.pc"}
# What the installed program brings, below its prefix.
PROGRAM_FILES = ["bin/reprise", "share/man/man1/reprise.1", "share/man/man1/reprise-get.1",
                 "share/bash-completion/completions/reprise", "share/zsh/site-functions/_reprise"]
# Folders that C++20 programs use; the others need C++23.
CXX20_TOPS = {"retry", "asio", "testing", "retry.hpp"}


class failed(Exception):
    """A step failed. The text names the step and contains its output."""


def run(step, command, environment=None, expect_failure=False):
    """Runs a command and returns its output."""
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)
    if (result.returncode != 0) != expect_failure:
        raise failed(f"{step}: exit status {result.returncode}\n{result.stdout}")
    print(f"install: {step}: ok")
    return result.stdout


def configure_command(options, source, prefix):
    return [options.cmake, "-S", source, "-G", options.generator,
            f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.compiler}",
            f"-DCMAKE_CXX_FLAGS={options.flags}", "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"]


def install(options, prefix, component):
    run(f"install {component}", [options.cmake, "--install", options.build, "--prefix", prefix,
                                 "--component", component])


def check_headers(prefix):
    """Component retry installs its headers and no others."""
    tops = sorted(path.name for path in (prefix / "include/reprise").iterdir())
    if "retry.hpp" not in tops or {"testing", "couchbase", "retry_asio"} & set(tops):
        raise failed(f"unexpected headers in include/reprise: {tops}")


def check_find_package(options, work, prefix):
    """Builds and runs the consumer with find_package, then requests a missing component."""
    configure = configure_command(options, work / "consumer", prefix)
    run("configure with find_package", configure + ["-B", work / "build"])
    run("build with CMake", [options.cmake, "--build", work / "build"])
    run("run the CMake consumer", [work / "build/consumer"])
    output = run("missing component is refused",
                 configure + ["-B", work / "missing", "-DREPRISE_COMPONENTS=retry;no_such_part"],
                 expect_failure=True)
    text = " ".join(output.split())
    if "component 'no_such_part' is not installed here" not in text or "has: retry" not in text:
        raise failed(f"the message does not name the missing component:\n{output}")


def check_client_pkg_config(options, work, prefix):
    """Builds and runs the client's consumers with the flags pkg-config prints for two components."""
    folder = next(prefix.rglob("reprise-couchbase.pc")).parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(folder))
    for module, source in (("reprise-couchbase", "with_sandbox"),
                           ("reprise-couchbase-codecs", "with_codec")):
        flags = run(f"ask pkg-config for {module} and the sandbox",
                    ["pkg-config", "--cflags", "--libs", module, "reprise-sandbox"],
                    environment).split()
        run(f"build {source} with the bare compiler",
            [options.compiler, "-std=c++23", *options.flags.split(),
             work / f"client_consumer/{source}.cpp", "-o", work / f"plain_{source}", *flags])
        run(f"run the plain {source}", [work / f"plain_{source}"])
    flags = run("ask pkg-config for reprise-retry-json",
                ["pkg-config", "--cflags", "--libs", "reprise-retry-json"], environment).split()
    run("build with_settings with the bare compiler",
        [options.compiler, "-std=c++23", *options.flags.split(),
         work / "client_consumer/with_settings.cpp", "-o", work / "plain_with_settings", *flags])
    run("run the plain with_settings", [work / "plain_with_settings"])


def check_pkg_config(options, work, prefix):
    """Builds and runs the consumer with the flags of pkg-config."""
    files = list(prefix.rglob("reprise-retry.pc"))
    if len(files) != 1:
        raise failed(f"expected one reprise-retry.pc, found {len(files)}")
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(files[0].parent))
    flags = run("ask pkg-config", ["pkg-config", "--cflags", "--libs", "reprise-retry"],
                environment).split()
    run("build with the bare compiler",
        [options.compiler, "-std=c++20", *options.flags.split(), work / "consumer/main.cpp",
         "-o", work / "plain", *flags])
    run("run the plain consumer", [work / "plain"])


def check_client(options, work):
    """Builds and runs the client's consumer with separately installed components."""
    prefix = work / "client"
    configure = configure_command(options, work / "client_consumer", prefix)
    install(options, prefix, "retry")
    output = run("an installation without the client is refused",
                 configure + ["-B", work / "without_client"], expect_failure=True)
    if "component 'couchbase' is not installed here" not in " ".join(output.split()):
        raise failed(f"the message does not name the missing component:\n{output}")
    for component in ("couchbase", "couchbase_codecs", "retry_json", "sandbox"):
        install(options, prefix, component)
    run("configure the client's consumer", configure + ["-B", work / "client_build"])
    run("build the client's consumer", [options.cmake, "--build", work / "client_build"])
    usage = run("run the client without a cluster", [work / "client_build/store_and_read"])
    if "usage: store_and_read" not in usage:
        raise failed(f"no usage:\n{usage}")
    stored = run("run the client on its own sandbox", [work / "client_build/with_sandbox"])
    if stored != '{"name":"Reprise Air"}\n':
        raise failed(f"another document was read:\n{stored}")
    read = run("run the client with a codec", [work / "client_build/with_codec"])
    if read != "Reprise Air\n":
        raise failed(f"another document was read:\n{read}")
    made = run("run a strategy from text", [work / "client_build/with_settings"])
    if made != "3 attempts\n":
        raise failed(f"the strategy was not the one of the text:\n{made}")
    check_client_pkg_config(options, work, prefix)


def find_stray_files(prefix):
    """One line for each way in which an installed tree shows more than it should."""
    root = prefix / "include/reprise"
    headers = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    public = {path.relative_to(folder) for folder in ROOT.glob("*/*/include/reprise")
              for path in folder.rglob("*.hpp")}
    problems = [f"include/reprise/{path} is in no library's include/"
                for path in headers if path not in public]
    problems += [f"include/reprise/{path} is in a library's include/, but not installed"
                 for path in sorted(public - set(headers))]
    problems += [f"{path.relative_to(prefix)} is outside of include/reprise"
                 for path in (prefix / "include").iterdir() if path != root]
    counted = [path for path in headers if not path.as_posix().startswith(ADAPTERS)]
    if len(counted) > HEADER_COUNT_MAX:
        problems.append(f"{len(counted)} headers, limit {HEADER_COUNT_MAX}")
    problems += [f"{path.name} is a private library" for path in sorted(prefix.rglob("*.a"))
                 if path.name not in ARCHIVES]
    return problems


def compile_alone(options, prefix, header):
    """Returns the compiler's messages about one installed header, included alone."""
    name = header.relative_to(prefix / "include")
    standard = "c++20" if name.parts[1] in CXX20_TOPS else "c++23"
    result = subprocess.run(
        [options.compiler, f"-std={standard}", *options.flags.split(), "-Wall", "-Wextra",
         "-Werror", "-fsyntax-only", "-x", "c++", "-I", prefix / "include", "-"],
        input=f"#include <{name}>\n#include <{name}>\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return f"{name}:\n{result.stdout}" if result.returncode != 0 else ""


def find_other_core_headers(installed, sources):
    """The core's headers of which source and installed file differ."""
    def contents(root):
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.hpp")
                if is_core(path.relative_to(root))}

    here, there = contents(installed), contents(sources)
    return sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))


def is_core(header):
    """True for a header of the core, given below include/reprise."""
    return header.parts[0] in ("retry", "retry.hpp") and not header.as_posix().startswith(ADAPTERS)


def check_program(prefix):
    """The installed program runs, and everything that belongs to it is there."""
    missing = [path for path in PROGRAM_FILES if not (prefix / path).is_file()]
    if missing:
        raise failed(f"missing in the installed tree: {missing}")
    run("run the installed program", [prefix / "bin/reprise", "--version"])


def check_whole_tree(options, work):
    """Installs everything: only what is public is there."""
    prefix = work / "whole"
    run("install everything", [options.cmake, "--install", options.build, "--prefix", prefix])
    problems = find_stray_files(prefix)
    modules = {path.name for path in prefix.rglob("*.pc")}
    if modules != PKG_CONFIG_FILES:
        problems.append(f"unexpected pkg-config files: {sorted(modules ^ PKG_CONFIG_FILES)}")
    if problems:
        raise failed("the installed tree shows too much:\n" + "\n".join(problems))
    check_program(prefix)
    root = prefix / "include/reprise"
    others = find_other_core_headers(root, options.core / "reprise")
    if others:
        raise failed(f"installed headers of the core that differ from its sources: {others}")
    if options.compile_headers:
        check_alone(options, prefix, root)


def check_alone(options, prefix, root):
    """Each installed header compiles alone, except for the core's and for adapters."""
    headers = sorted(path for path in root.rglob("*.hpp")
                     if not path.relative_to(root).as_posix().startswith(ADAPTERS) and
                     not is_core(path.relative_to(root)))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [text for text in pool.map(
            lambda header: compile_alone(options, prefix, header), headers) if text]
    if wrong:
        raise failed("headers that do not compile alone:\n" + "\n".join(wrong))
    print(f"install: {len(headers)} headers in addition to the core's, each compiles alone: ok")


def main():
    parser = argparse.ArgumentParser(description="Installs and uses the libraries.")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--build", type=Path, required=True, help="build directory to install")
    parser.add_argument("--consumer", type=Path, help="folder of the retry library's consumer")
    parser.add_argument("--client-consumer", type=Path, help="folder of the client's consumer")
    parser.add_argument("--whole-tree", action="store_true", help="check all that is installed")
    parser.add_argument("--compile-headers", action="store_true", help="... each header alone")
    parser.add_argument("--core", type=Path, help="the core's include directory in the sources")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="", help="flags the library was built with")
    parser.add_argument("--generator", default="Ninja")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        try:
            if options.consumer:
                shutil.copytree(options.consumer, work / "consumer")
                install(options, work / "first", "retry")
                prefix = (work / "first").rename(work / "moved")
                check_headers(prefix)
                check_find_package(options, work, prefix)
                check_pkg_config(options, work, prefix)
            if options.client_consumer:
                shutil.copytree(options.client_consumer, work / "client_consumer")
                check_client(options, work)
            if options.whole_tree:
                check_whole_tree(options, work)
        except failed as problem:
            print(f"install: {problem}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
