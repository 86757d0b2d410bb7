"""`reprise query|analytics|search|view|ping`: run as a user runs them, against one sandbox with HTTP
services.

Usage: service_test.py PROGRAM
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


def run(*arguments):
    environment = dict(os.environ, REPRISE_PASSWORD="secret")
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=False, env=environment)


class ServiceCommands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        ready_file = os.path.join(cls.folder.name, "ready.json")
        cls.process = subprocess.Popen(
            [PROGRAM, "sandbox", "start", "--nodes", "2", "--bucket", "travel", "--services",
             "--collection", "inventory.airline", "--ready-file", ready_file],
            stdout=subprocess.PIPE, text=True)
        for line in cls.process.stdout:
            if "ready file" in line:
                break
        with open(ready_file, encoding="utf-8") as file:
            cls.ready = json.load(file)

    @classmethod
    def tearDownClass(cls):
        cls.process.send_signal(signal.SIGTERM)
        cls.process.wait(timeout=PATIENCE_SECONDS)
        cls.process.stdout.close()
        cls.folder.cleanup()

    def command(self, *arguments):
        return run(*arguments, "-c", self.ready["connection_string"])

    def test_rows_are_printed_one_on_a_line(self):
        result = self.command("query", "SELECT RAW n FROM ARRAY_RANGE(0, 1000) AS n", "--readonly")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split(), [str(n) for n in range(1000)])

    def test_parameters_and_metrics(self):
        result = self.command("query", "SELECT RAW $1 + $x", "--arg", "40", "--param", "x=2",
                              "--metrics")
        self.assertEqual((result.returncode, result.stdout), (0, "42\n"), result.stderr)
        self.assertIn("1 rows", result.stderr)

    def test_a_wrong_statement_fails_with_the_services_words(self):
        result = self.command("query", "SELEKT 1")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("code 3000", result.stderr)

    def test_a_wrong_parameter_is_wrong_usage(self):
        self.assertEqual(self.command("query", "SELECT 1", "--param", "x").returncode, 2)

    def test_analytics(self):
        result = self.command("analytics", "SELECT RAW 7", "--readonly")
        self.assertEqual((result.returncode, result.stdout), (0, "7\n"), result.stderr)

    def test_a_missing_index_and_a_missing_view_are_errors(self):
        self.assertEqual(self.command("search", "nowhere", "word").returncode, 1)
        self.assertEqual(self.command("view", "nothing", "here", "--timeout", "2s").returncode, 1)

    def test_ping_names_every_service(self):
        result = self.command("ping")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        names = [line.split()[0] for line in result.stdout.splitlines()]
        self.assertEqual(names, ["key-value", "management", "query", "analytics", "search",
                                 "views"])

    def test_without_a_cluster_one_is_started(self):
        result = run("query", "SELECT RAW 1")
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)


if __name__ == "__main__":
    unittest.main()
