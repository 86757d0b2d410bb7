"""`reprise verify` and `reprise explain`, run like a user runs them, each on its own sandbox.

Usage: verify_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import time
import unittest

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM, SandboxCase, run


class VerifyTest(SandboxCase):
    OPTIONS = ("--nodes", "3", "--bucket", "travel")

    def documents_left(self):
        """Keys that verify stored and did not remove, according to the sandbox's audit."""
        answer = self.control("audit", "--key", "reprise-*", "--json", "--limit", "5000")
        alive = set()
        for entry in json.loads(answer)["entries"]:
            if entry["applied"]:
                if entry["op"] == "remove":
                    alive.discard(entry["key"])
                else:
                    alive.add(entry["key"])
        return {key for key in alive if not key.endswith("expiry")}  # expires on its own

    def test_every_check_passes_on_the_sandbox_and_nothing_is_left(self):
        result = self.command("verify", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        told = json.loads(result.stdout)
        self.assertGreaterEqual(len(told["checks"]), 18)
        self.assertEqual({check["state"] for check in told["checks"]}, {"ok"}, result.stdout)
        self.assertEqual(told["documents_left"], 0)
        self.assertEqual(self.documents_left(), set())

    def test_a_server_that_misbehaves_fails_its_check_and_is_cleaned_up(self):
        self.control("fault", "add", "--opcode", "increment", "--status", "0x84")
        result = self.command("verify")
        self.control("fault", "clear")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^counters +FAILED")
        self.assertEqual(self.documents_left(), set())

    def test_checks_pass_on_a_slow_machine(self):
        # Answers are late, as on a busy machine: after the expiry of the document that was
        # just stored, and after the timeout of the first write under a lock, so that the longer one
        # ends with a write in flight.
        self.control("fault", "add", "--opcode", "set", "--key", "*-expiry", "--delay", "1500ms")
        self.control("fault", "add", "--opcode", "set", "--key", "*-timeout", "--delay", "400ms")
        result = self.command("verify", "--json")
        self.control("fault", "clear")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_wrong_password_is_reported_once(self):
        result = self.command("verify", password="wrong")
        self.assertEqual(result.returncode, 1)
        self.assertIn("credentials", result.stdout)
        self.assertNotIn("counters", result.stdout)

    def test_an_interrupted_run_cleans_up(self):
        process = subprocess.Popen(
            [PROGRAM, "verify", "-c", self.ready["connection_string"], "--json"], stdout=subprocess.PIPE, text=True,
            env=dict(os.environ, REPRISE_PASSWORD="secret"))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.documents_left() and process.poll() is None:
            self.assertLess(time.monotonic(), deadline)
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(json.loads(printed)["interrupted"])
        self.assertEqual(self.documents_left(), set())


class ExplainTest(unittest.TestCase):
    def test_strategies_are_explained_with_delays_and_advice(self):
        result = run("explain", "best-effort-strategy")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("a retry strategy", "delays: 1, 2, 4", "what to do:"):
            self.assertIn(words, result.stdout)

    def test_the_list_contains_every_kind(self):
        text = run("explain", "--list").stdout
        for words in ("KV_LOCKED", "0x86  Etmpfail", "14  unambiguous_timeout",
                      "fail_fast_on_terminal_error_strategy"):
            self.assertIn(words, text)

    def test_every_line_of_the_list_can_be_explained(self):
        names = [line.split()[0] for line in run("explain", "--list").stdout.splitlines()
                 if line.startswith("  ")]
        self.assertGreater(len(names), 150)
        for name in names[::9] + names[-4:]:
            result = run("explain", name)
            self.assertEqual(result.returncode, 0, name)
            self.assertIn("what to do:", result.stdout, name)

    def test_a_misspelt_strategy_gets_a_suggestion(self):
        result = run("explain", "best_efort_strategy")
        self.assertEqual(result.returncode, 2)
        self.assertIn("did you mean best_effort_strategy?", result.stderr)

    def test_nothing_or_both_is_wrong_usage(self):
        self.assertEqual(run("explain").returncode, 2)
        self.assertEqual(run("explain", "KV_LOCKED", "--list").returncode, 2)


if __name__ == "__main__":
    unittest.main()
