#!/usr/bin/env python3
"""Runs the built program like a user: app_test.py PROGRAM VERSION"""

import subprocess
import sys
import unittest
from pathlib import Path

PROGRAM = ""
VERSION = ""


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)


class ProgramTest(unittest.TestCase):
    def test_version(self):
        result = run("--version")
        self.assertEqual((result.returncode, result.stdout), (0, f"reprise {VERSION}\n"))

    def test_help_shows_examples(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("a Couchbase client", result.stdout)
        for example in ("get airline_10", "upsert airline_10", "sandbox start", "sandbox run",
                        "lab run outage"):
            self.assertIn(f"  reprise {example}", result.stdout)

    def test_help_of_document_commands_shows_examples_and_every_exit_code(self):
        for command in ("get", "exists", "upsert", "insert", "replace", "remove"):
            result = run(command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"  reprise {command} k", result.stdout)
            for code in range(9):
                self.assertRegex(result.stdout, rf"(?m)^ +{code}  \w")

    def test_help_of_the_sandbox_shows_examples(self):
        for command in ([], ["start"], ["run"]):
            result = run("sandbox", *command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("  reprise sandbox ", result.stdout)
        self.assertIn("REPRISE_CONNECT", run("sandbox", "run", "--help").stdout)

    def test_wrong_usage_exits_with_2_and_prints_no_result(self):
        for arguments in ([], ["fly"], ["lab"], ["lab", "run"], ["--no-such-option"],
                          ["lab", "run", "outage", "--no-such-option"],
                          ["lab", "run", "outage", "metastable"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "", arguments)
            self.assertTrue(result.stderr.startswith("reprise: "), result.stderr)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    VERSION = sys.argv[2]
    unittest.main(argv=sys.argv[:1])
