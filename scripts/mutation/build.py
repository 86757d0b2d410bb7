"""The instrumented copy of the sources and its build."""

import os
import shutil
import subprocess
import sys

from mutation import instrument


class Copy:
    """A folder with the copy (`source`) and its build (`build`)."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.source, self.build = folder / "source", folder / "build"

    def update(self, mutants):
        instrument.make_copy(self.root, self.source, mutants)

    def make(self, targets, jobs):
        """Configures and builds. Disables warnings, because the real build reports them."""
        environment = self._configure()
        subprocess.run(self._build_command(targets, jobs), check=True, env=environment,
                       stdout=sys.stderr)

    def try_make(self, targets, jobs):
        """Like `make`. Returns the compiler's output if it fails, otherwise an empty text."""
        environment = self._configure()
        done = subprocess.run(self._build_command(targets, jobs), env=environment, text=True,
                              errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout if done.returncode != 0 else ""

    def program(self, target):
        return self.build / "bin" / ("reprise" if target == "reprise_app" else target)

    def _configure(self):
        header = self.source / instrument.HEADER_NAME
        command = ["cmake", "-S", str(self.source), "-B", str(self.build), "-G", "Ninja",
                   "--log-level=WARNING", "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_UNITY_BUILD=ON",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
                   f"-DCMAKE_CXX_FLAGS=-w -include {header}", "-DREPRISE_BUILD_TESTS=ON",
                   "-DREPRISE_TEST_OPTIONS=-O0", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24"]
        environment = dict(os.environ)
        if shutil.which("ccache"):
            command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
            environment |= {"CCACHE_BASEDIR": str(self.source), "CCACHE_NOHASHDIR": "1"}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        return environment

    def _build_command(self, targets, jobs):
        return ["cmake", "--build", str(self.build), "-j", str(jobs), "--target", *targets, "--",
                "-k", "0"]
