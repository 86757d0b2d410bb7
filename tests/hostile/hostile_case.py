"""Shared by the hostile tests: runs the program under attack and checks time, memory and secrets.

Tests are started as `some_test.py PROGRAM`. Importing this module removes the program from the
arguments, so that unittest does not see it.
"""

import base64
import os
import resource
import subprocess
import sys
import tempfile
import unittest

import servers

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else "reprise"
# Operations time out within seconds. A program that still runs after this time hangs.
PATIENCE_SECONDS = 60
# Sanitizers keep freed memory; the build sets how much more a program may use then.
MEMORY_MAX_KIB = int(os.environ.get("HOSTILE_MEMORY_MAX_KIB", 400 * 1024))
# Must never be readable on the wire: the password, and its form in HTTP Basic.
SECRETS = (servers.PASSWORD.encode(),
           base64.b64encode(f"{servers.USER}:{servers.PASSWORD}".encode()))


class Ended:
    """How a run of the program ended."""

    def __init__(self, completed, memory_kib):
        self.code, self.memory_kib = completed.returncode, memory_kib
        self.out, self.err = completed.stdout, completed.stderr

    @property
    def text(self):
        return self.out + self.err


class HostileCase(unittest.TestCase):
    def attack(self, *arguments, timeout="2s", descriptors=None, prefix=()):
        """Runs the program. It must end on its own, without a signal, and stay small."""
        environment = dict(os.environ, REPRISE_PASSWORD=servers.PASSWORD)
        limit = None
        if descriptors is not None:
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        with tempfile.NamedTemporaryFile("r") as report:
            watched = [sys.executable, "-c", WATCHER, report.name, PROGRAM, *arguments,
                       "--timeout", timeout]
            completed = subprocess.run(
                [*prefix, *watched], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                errors="replace", timeout=PATIENCE_SECONDS, check=False, env=environment,
                preexec_fn=limit)
            memory = int(report.read() or 0)
        ended = Ended(completed, memory)
        self.assertGreaterEqual(ended.code, 0, f"ended by a signal: {ended.text}")
        self.assertLess(ended.code, 64, f"crashed: {ended.text}")
        self.assertLess(ended.memory_kib, MEMORY_MAX_KIB, ended.text)
        return ended

    def assert_no_secret(self, *watched):
        for server in watched:
            self.assertFalse(server.saw(*SECRETS), "the password was readable on the wire")

    def assert_failed(self, ended, *texts):
        """Expects a failure whose output contains all of these texts."""
        self.assertNotEqual(ended.code, 0, ended.text)
        for text in texts:
            self.assertIn(text, ended.text)


# Runs a program, returns its exit code (128 plus the number of a signal), records its peak memory.
WATCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as report:
    report.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
"""


def main():
    unittest.main(verbosity=1)
