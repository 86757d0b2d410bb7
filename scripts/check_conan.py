#!/usr/bin/env python3
"""Creates the Conan package of the retry library, static and shared, and runs a program with it.

check_conan.py: Conan comes from PyPI into a folder of its own, and its cache is a temporary one, so
that nothing outside of the build tree changes.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    tools = ROOT / "build/conan-tools"
    conan = tools / "bin/conan"
    if not conan.exists():
        venv.create(tools, with_pip=True)
        subprocess.run([tools / "bin/pip", "install", "--quiet", "conan>=2,<3"], check=True)
    with tempfile.TemporaryDirectory() as home:
        environment = dict(os.environ, CONAN_HOME=home)
        subprocess.run([conan, "profile", "detect"], env=environment, check=True)
        for shared in ("False", "True"):
            subprocess.run(
                [conan, "create", ROOT, "--test-folder", ROOT / "tests/packaging/conan_consumer",
                 "-s", "compiler.cppstd=20", "-o", f"reprise/*:shared={shared}", "--no-remote",
                 "-c", "tools.cmake.cmake_layout:test_folder=$TMP"],
                env=environment, check=True)
    print("Conan packages: static and shared, each used by a program")
    return 0


if __name__ == "__main__":
    sys.exit(main())
