#!/usr/bin/env python3
"""Runs `reprise sim` like a user: sim_test.py PROGRAM"""

import json
import subprocess
import sys
import unittest

PROGRAM = ""


def run(*arguments):
    return subprocess.run([PROGRAM, "sim", *arguments], capture_output=True, text=True, timeout=120)


class SimTest(unittest.TestCase):
    def test_seeds_without_findings_end_with_0_and_totals(self):
        result = run("--seeds", "1..30", "--profile", "quick")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("30 seeds, ", result.stdout)
        self.assertIn("cells of the reasons-by-stage table: ", result.stdout)
        self.assertIn("\nall promises held\n", result.stdout)
        self.assertIn(" seeds/s, ", result.stdout)

    def test_json_is_the_same_every_time_and_differs_for_other_seeds(self):
        first = run("--seeds", "1..20", "--profile", "quick", "--json")
        second = run("--seeds", "1..20", "--profile", "quick", "--json")
        other = run("--seeds", "2..21", "--profile", "quick", "--json")
        self.assertEqual(first.returncode, 0)
        self.assertEqual(first.stderr, "")
        self.assertEqual(first.stdout, second.stdout)
        printed = json.loads(first.stdout)
        self.assertEqual((printed["seeds"], printed["failed"], printed["failures"]), (20, 0, []))
        self.assertEqual(printed["profile"], "quick")
        self.assertGreater(printed["operations"], 200)
        met = [cell for cell in printed["cells"]["counts"] if cell["count"] > 0]
        self.assertEqual(len(met), printed["cells"]["filled"])
        self.assertNotEqual(printed["fingerprint"], json.loads(other.stdout)["fingerprint"])

    def test_the_number_of_threads_changes_nothing(self):
        alone = run("--seeds", "1..40", "--profile", "quick", "--threads", "1", "--json")
        self.assertEqual(alone.returncode, 0, alone.stdout)
        for count in ("2", "7"):
            told = run("--seeds", "1..40", "--profile", "quick", "--threads", count, "--json")
            self.assertEqual(alone.stdout, told.stdout)
        self.assertEqual(run("--threads", "0").returncode, 2)

    def test_clients_may_have_several_loops(self):
        first = run("--seeds", "1..20", "--profile", "quick", "--loops", "3", "--json")
        self.assertEqual(first.returncode, 0, first.stdout)
        second = run("--seeds", "1..20", "--profile", "quick", "--loops", "3", "--json")
        self.assertEqual(first.stdout, second.stdout)
        replayed = run("--replay", "7", "--profile", "quick", "--loops", "3")
        self.assertRegex(replayed.stdout, r"\nclient 0: .*, loops 3")
        self.assertEqual(run("--loops", "0").returncode, 2)

    def test_replay_prints_every_event_and_is_the_same_every_time(self):
        first = run("--replay", "7", "--profile", "quick")
        self.assertEqual(first.returncode, 0)
        self.assertTrue(first.stdout.startswith("seed 7, profile quick, "))
        self.assertRegex(first.stdout, r"\n +\+\d+\.\d{3} ms connected: client 0 ")
        self.assertRegex(first.stdout, r"\nfingerprint [0-9a-f]{16}\n$")
        self.assertEqual(first.stdout, run("--replay", "7", "--profile", "quick").stdout)
        printed = json.loads(run("--replay", "7", "--profile", "quick", "--json").stdout)
        self.assertEqual((printed["seed"], printed["findings"]), (7, []))
        self.assertTrue(first.stdout.endswith(f"fingerprint {printed['fingerprint']}\n"))

    def test_calls_are_reported_like_other_operations(self):
        printed = json.loads(run("--seeds", "1..10", "--profile", "services", "--json").stdout)
        self.assertEqual((printed["failed"], printed["failures"]), (0, []))
        self.assertGreater(printed["calls"], 100)
        self.assertGreater(printed["rows"], 100)
        replayed = run("--replay", "3", "--profile", "services")
        self.assertEqual(replayed.returncode, 0)
        self.assertRegex(replayed.stdout, r"\n\d+ calls: .*select_range \d+")
        self.assertRegex(replayed.stdout, r": select_range, POST /query/service HTTP/1.1 sent to node ")
        self.assertRegex(replayed.stdout, r" operation \d+ takes \d+ rows, \d+ before\n")

    def test_minutes_end_a_run_with_unlimited_seeds(self):
        result = run("--seeds", "1..", "--minutes", "0.01", "--profile", "quick", "--json")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertGreater(json.loads(result.stdout)["seeds"], 0)

    def test_profiles_are_listed(self):
        listed = run("--list-profiles")
        self.assertEqual(listed.returncode, 0)
        for name in ("swarm", "quick", "long", "network", "servers", "services", "calm"):
            self.assertRegex(listed.stdout, rf"(?m)^{name} ")

    def test_profiles_are_listed_as_json(self):
        listed = json.loads(run("--list-profiles", "--json").stdout)["profiles"]
        self.assertIn("swarm", [each["name"] for each in listed])
        self.assertTrue(all(each["meaning"] and each["operations_max"] for each in listed))

    def test_wrong_usage_ends_with_2_and_names_the_option(self):
        for arguments, option in (
            (["--seeds", "5..1"], "--seeds"),
            (["--seeds", "one"], "--seeds"),
            (["--seeds", "1.."], "--seeds"),
            (["--seeds", "-1..4"], "--seeds"),
            (["--profile", "nonsense"], "--profile"),
            (["--replay", "x"], "--replay"),
            (["--minutes", "0"], "--minutes"),
            (["--shrink"], "--shrink"),
        ):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(option, result.stderr)
            self.assertEqual(result.stdout, "")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
