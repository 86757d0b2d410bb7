"""What the hostile tests share: the program under attack, watched for time, memory and secrets.

Tests are started as `some_test.py PROGRAM`; importing this module takes the program away from the
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
# An operation's timeout is seconds at most; a program that is still there after this hangs.
PATIENCE_SECONDS = 60
# Sanitizers keep what was freed: the build says how much more a program may take then.
MEMORY_MAX_KIB = int(os.environ.get("HOSTILE_MEMORY_MAX_KIB", 400 * 1024))
# What must never be readable on a wire: the password, and the form HTTP Basic gives it.
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
        """Runs the program. It must end by itself, without a signal, and stay small."""
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
        """It failed, and its output says all of these."""
        self.assertNotEqual(ended.code, 0, ended.text)
        for text in texts:
            self.assertIn(text, ended.text)


# Runs a program, passes its exit code on (a signal as 128 and its number), notes its largest size.
WATCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as report:
    report.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code if code >= 0 else 128 - code)
"""


def main():
    unittest.main(verbosity=1)
