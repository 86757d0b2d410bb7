"""Shared by the tests of the command line: the program under test, and a sandbox to run it on.

Tests are started as `some_test.py PROGRAM`; importing this module takes the program away from the
arguments, so that unittest does not see it.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "reprise"
PATIENCE_SECONDS = 60


def run(*arguments, stdin="", password="secret", **variables):
    """Runs the program until it ends, with the password and `variables` in its environment."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("REPRISE_")}
    environment.update(variables, REPRISE_PASSWORD=password)
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=False, env=environment)


class Running:
    """A sandbox that runs inside a `with` block."""

    def __init__(self, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.ready_file = os.path.join(self.folder.name, "ready.json")
        self.process = subprocess.Popen(
            [PROGRAM, "sandbox", "start", "--ready-file", self.ready_file, *arguments],
            stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        # The last line is printed after the file is written.
        self.printed = ""
        for line in self.process.stdout:
            self.printed += line
            if "ready file" in line:
                break
        with open(self.ready_file, encoding="utf-8") as file:
            self.ready = json.load(file)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        self.folder.cleanup()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def run(self, *arguments):
        """Runs `reprise sandbox ARGUMENTS` for this sandbox."""
        return run("sandbox", *arguments, "--ready-file", self.ready_file)


class SandboxCase(unittest.TestCase):
    """Tests that share one sandbox, started with `OPTIONS`."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.sandbox = Running(*cls.OPTIONS).__enter__()
        cls.ready = cls.sandbox.ready
        cls.ready_file = cls.sandbox.ready_file

    @classmethod
    def tearDownClass(cls):
        cls.sandbox.__exit__()

    def command(self, *arguments, **options):
        """Runs a command of the client on this sandbox."""
        return run(*arguments, "-c", self.ready["connection_string"], **options)

    def control(self, *arguments, code=0):
        """Runs `reprise sandbox ...` and returns its output, or its error output if it fails."""
        ended = self.sandbox.run(*arguments)
        self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)
        return ended.stdout if code == 0 else ended.stderr
