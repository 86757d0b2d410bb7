"""`reprise bench`, run like a user runs it, on its own sandbox.

Usage: bench_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import unittest

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM, SandboxCase


class BenchTest(SandboxCase):
    OPTIONS = ("--nodes", "2", "--bucket", "travel")

    def bench(self, *arguments, **options):
        return self.command("bench", "--keys", "20", "--duration", "300ms", *arguments, **options)

    def documents_left(self):
        """Keys that were stored and not removed, according to the sandbox's audit."""
        answer = self.control("audit", "--key", "reprise-*", "--json", "--limit", "100000")
        alive = set()
        for entry in json.loads(answer)["entries"]:
            if entry["applied"]:
                (alive.discard if entry["op"] == "remove" else alive.add)(entry["key"])
        return alive

    def test_reads_and_writes_are_counted_and_nothing_is_left(self):
        result = self.bench("--reads", "75", "--in-flight", "8", "--threads", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = json.loads(result.stdout)
        gets, upserts = report["get"], report["upsert"]
        self.assertGreater(upserts["operations"], 0)
        self.assertEqual((gets["failed"], upserts["failed"]), (0, 0), result.stdout)
        share = gets["operations"] / (gets["operations"] + upserts["operations"])
        self.assertAlmostEqual(share, 0.75, delta=0.05)  # up to 16 are cut off at the end
        self.assertEqual(gets["bytes"], 1024 * gets["operations"])
        self.assertLessEqual(gets["latency_ms"]["p50"], gets["latency_ms"]["p99.9"])
        self.assertEqual(report["documents_left"], 0)
        self.assertEqual(self.documents_left(), set())

    def test_one_client_may_have_several_loops(self):
        result = self.bench("--reads", "75", "--in-flight", "8", "--loops", "2", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["threads"], report["clients"]), (2, 1))
        self.assertEqual((report["get"]["failed"], report["upsert"]["failed"]), (0, 0))
        share = report["get"]["operations"] / (report["get"]["operations"] +
                                               report["upsert"]["operations"])
        self.assertAlmostEqual(share, 0.75, delta=0.05)
        self.assertEqual(self.documents_left(), set())

    def test_sizes_are_mixed(self):
        result = self.bench("--reads", "0", "--size", "32", "--size", "16KiB", "--json")
        upserts = json.loads(result.stdout)["upsert"]
        mean = upserts["bytes"] / upserts["operations"]
        self.assertAlmostEqual(mean, (32 + 16384) / 2, delta=500)

    def test_failures_are_counted_and_the_first_one_is_shown(self):
        self.control("fault", "add", "--opcode", "get", "--status", "0x84")
        result = self.bench("--in-flight", "4")
        self.control("fault", "clear")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("The first error: ", result.stdout)
        failed = int(next(line.split()[2] for line in result.stdout.splitlines()
                          if line.startswith("get ")))
        self.assertGreater(failed, 0)
        self.assertEqual(self.documents_left(), set())

    def test_a_wrong_password_ends_before_the_measurement(self):
        result = self.bench(password="wrong")
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot store the documents to work on", result.stderr)

    def test_an_interrupted_run_reports_and_cleans_up(self):
        process = subprocess.Popen(
            [PROGRAM, "bench", "-c", self.ready["connection_string"], "--keys", "20",
             "--duration", "5m", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, REPRISE_PASSWORD="secret"))
        self.assertIn("operations/s", process.stderr.readline())  # the measurement is running
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(json.loads(printed)["interrupted"])
        self.assertEqual(self.documents_left(), set())

    def test_wrong_values_are_refused_by_name(self):
        for option, value in (("--size", "1KB"), ("--size", "21MiB"), ("--size", "1"),
                              ("--reads", "101"), ("--threads", "0"), ("--loops", "65"),
                              ("--duration", "2h"), ("--duration", "10")):
            result = self.command("bench", option, value)
            self.assertEqual(result.returncode, 2, f"{option} {value}: {result.stderr}")
            self.assertIn(option, result.stderr)


if __name__ == "__main__":
    unittest.main()
