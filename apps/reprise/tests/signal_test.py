"""SIGINT and SIGTERM: long commands end promptly with their results, and `sandbox run` forwards
signals and leaves nothing behind. Usage: signal_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import time
import unittest

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def exists(pid):
    """Also returns False for a process that has ended but was not waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


class SignalCase(unittest.TestCase):
    def start(self, *arguments):
        """Starts the program in its own session, where no terminal sends signals."""
        process = subprocess.Popen(
            [PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class LongCommands(SignalCase):
    def interrupt(self, process, number):
        process.send_signal(number)
        printed, said = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, CODES[number], printed + said)
        return printed

    def test_demo_ends_with_the_audit_so_far(self):
        for number in CODES:
            with self.subTest(number=number):
                process = self.start("demo", "--seconds", "3600", "--plain")
                first = process.stdout.readline() + process.stdout.readline()
                self.assertIn("steady", first)
                printed = self.interrupt(process, number)
                self.assertIn("\nInterrupted: ", printed)
                self.assertRegex(printed, r"\nlost 0, duplicated 0\n$")

    def test_soak_ends_with_the_audit_so_far(self):
        process = self.start("soak", "--minutes", "600", "--plain")
        process.stdout.readline()
        process.stdout.readline()
        printed = self.interrupt(process, signal.SIGTERM)
        self.assertRegex(printed, r"\nlost 0, duplicated 0\n$")
        self.assertIn("\nMemory: ", printed)

    def test_demo_as_json_reports_the_interruption(self):
        process = self.start("demo", "--seconds", "3600", "--json")
        self.wait_for_signal_handler(process)
        printed = json.loads(self.interrupt(process, signal.SIGINT))
        self.assertTrue(printed["interrupted"])
        self.assertTrue(printed["audit"]["clean"])

    def wait_for_signal_handler(self, process):
        """Waits until the program handles SIGINT: without output there is no other sign."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up and process.poll() is None:
            with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
                caught = next(line for line in file if line.startswith("SigCgt"))
            if int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1):
                return
            time.sleep(0.01)
        self.fail("the program does not watch for SIGINT")

    def test_sim_ends_with_the_totals_so_far(self):
        process = self.start("sim", "--seeds", "1..1000000000", "--profile", "quick", "--json")
        self.wait_for_signal_handler(process)
        printed = json.loads(self.interrupt(process, signal.SIGTERM))
        self.assertTrue(printed["interrupted"])
        self.assertGreater(printed["seeds"], 0)
        self.assertEqual(printed["failed"], 0)

    def test_lab_ends_with_the_results_so_far(self):
        for options, number in (([], signal.SIGINT), (["--json"], signal.SIGTERM)):
            with self.subTest(options=options):
                process = self.start("lab", "run", "outage", "--set", "length=24h", "--html",
                                     "/dev/null", *options)
                self.wait_for_signal_handler(process)
                printed = self.interrupt(process, number)
                if options:
                    self.assertFalse(json.loads(printed)["is_complete"])
                else:
                    self.assertIn("stopped", printed)


class SandboxRun(SignalCase):
    # Prints its process id and that of its child, and waits.
    FAMILY = 'sleep 1000 & echo $$ $!; wait'

    def start_family(self):
        process = self.start("sandbox", "run", "--nodes", "1", "--replicas", "0", "--", "sh", "-c",
                                  self.FAMILY)
        return process, [int(word) for word in process.stdout.readline().split()]

    def wait_until_gone(self, pids):
        give_up = time.monotonic() + PATIENCE_SECONDS
        while any(exists(pid) for pid in pids):
            self.assertLess(time.monotonic(), give_up, pids)
            time.sleep(0.01)

    def test_signals_reach_the_command_and_everything_it_started(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number=number):
                process, pids = self.start_family()
                self.assertTrue(all(map(exists, pids)))
                process.send_signal(number)
                process.communicate(timeout=PATIENCE_SECONDS)
                # A shell without a terminal ignores SIGINT and SIGQUIT in background processes.
                self.assertEqual([pid for pid in pids if exists(pid)], [])
                self.assertEqual(process.returncode, 128 + number)

    def test_the_command_chooses_its_exit_code(self):
        process = self.start("sandbox", "run", "--nodes", "1", "--replicas", "0", "--", "sh", "-c",
                             'trap "exit 9" INT; echo ready; while :; do sleep 0.01; done')
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 9)

    def test_processes_left_behind_end_with_the_command(self):
        process = self.start("sandbox", "run", "--nodes", "1", "--replicas", "0", "--", "sh", "-c",
                             "sleep 1000 >/dev/null 2>&1 & echo $!; exit 4")
        child = int(process.stdout.readline())
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 4)
        self.assertFalse(exists(child))

    def test_the_command_does_not_outlive_a_killed_sandbox(self):
        process = self.start("sandbox", "run", "--nodes", "1", "--replicas", "0", "--",
                             "sh", "-c", "echo $$; exec sleep 1000")
        child = int(process.stdout.readline())
        process.kill()
        process.wait(timeout=PATIENCE_SECONDS)
        self.wait_until_gone([child])
        process.communicate()

    def test_the_command_has_default_signal_handlers(self):
        ended = subprocess.run(
            [PROGRAM, "sandbox", "run", "--nodes", "1", "--replicas", "0", "--", "sh", "-c",
             "kill -PIPE $$"], check=False, timeout=PATIENCE_SECONDS, start_new_session=True)
        self.assertEqual(ended.returncode, 128 + signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
