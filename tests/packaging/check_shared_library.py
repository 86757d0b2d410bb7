#!/usr/bin/env python3
"""Builds the retry library as a shared one, installs it and uses it.

check_shared_library.py CMAKE COMPILER: the library carries a SONAME with the minor version, exports
nothing of its own that is not declared for users, and a program that hides its own symbols links
and runs with it.
"""

import re
import sys

from steps import CONSUMER, ROOT, StepFailed, main, run

sys.path.insert(0, str(ROOT / "scripts"))
from single_header import read_version  # noqa: E402


def check_symbols(library):
    soname = re.search(r"SONAME.*\[(.*)\]", run("read the SONAME", ["readelf", "-d", library]))
    minor = ".".join(read_version(ROOT).split(".")[:2])
    if not soname or soname[1] != f"libreprise_retry.so.{minor}":
        raise StepFailed(f"unexpected SONAME: {soname and soname[1]}")
    symbols = run("list the symbols", ["nm", "-DC", "--defined-only", library])
    if "reprise::retry_clock::real()" not in symbols:
        raise StepFailed(f"a declared function is not exported:\n{symbols}")
    # Inline functions without the mark: other libraries would take them from this one.
    leaked = re.findall(r".* reprise::settings_error::.*|.* reprise::detail::checked<.*", symbols)
    if leaked:
        raise StepFailed("exported without being marked:\n" + "\n".join(leaked))


def check(folder):
    cmake, compiler = sys.argv[1:]
    prefix = folder / "prefix"
    run("configure", [cmake, "-S", ROOT, "-B", folder / "build", "-G", "Ninja",
                      "-DREPRISE_BUILD_CLIENT=OFF", "-DBUILD_SHARED_LIBS=ON",
                      f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
                      "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_INSTALL_PREFIX={prefix}"])
    run("build and install", [cmake, "--build", folder / "build", "--target", "install"])
    check_symbols(prefix / "lib/libreprise_retry.so")
    program = folder / "program"
    run("build a program with hidden symbols",
        [compiler, "-std=c++20", "-fvisibility=hidden", CONSUMER / "main.cpp", "-o", program,
         f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lreprise_retry",
         "-pthread"])
    run("run it", [program])


if __name__ == "__main__":
    sys.exit(main(check))
