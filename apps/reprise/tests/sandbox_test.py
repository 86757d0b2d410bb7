"""`reprise sandbox`: started as a user starts it, driven from other processes, stopped by a signal.

Usage: sandbox_test.py PROGRAM
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
    return subprocess.run([PROGRAM, "sandbox", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=False)


class Running:
    """A sandbox that runs inside a `with` block."""

    def __init__(self, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.ready_file = os.path.join(self.folder.name, "ready.json")
        self.process = subprocess.Popen(
            [PROGRAM, "sandbox", "start", "--ready-file", self.ready_file, *arguments],
            stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        # The last line is printed after the file is in place.
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
        return run(*arguments, "--ready-file", self.ready_file)


class SandboxTest(unittest.TestCase):
    def test_start_says_everything_and_cleans_up(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with Running("--nodes", "2", "--tls", "--bucket", "b") as sandbox:
                ready = sandbox.ready
                self.assertEqual(len(ready["nodes"]), 2)
                self.assertEqual(ready["pid"], sandbox.process.pid)
                self.assertIn(ready["connection_string"], sandbox.printed)
                self.assertIn(ready["connection_string_tls"], sandbox.printed)
                self.assertTrue(os.path.exists(ready["ca_path"]))
                self.assertEqual(os.stat(sandbox.ready_file).st_mode & 0o077, 0)
                self.assertEqual(sandbox.stop(number), 0)
                self.assertFalse(os.path.exists(sandbox.ready_file))
                self.assertFalse(os.path.exists(ready["ca_path"]))

    def test_status_audit_and_faults_are_driven_from_outside(self):
        with Running("--nodes", "3") as sandbox:
            status = json.loads(sandbox.run("status", "--json").stdout)
            self.assertEqual([node["state"] for node in status["nodes"]], ["up"] * 3)
            self.assertIn("travel", sandbox.run("status").stdout)

            added = sandbox.run("fault", "add", "--opcode", "get,set", "--key", "u:*", "--node",
                                "1", "--nth", "3", "--status", "0x86")
            self.assertEqual((added.returncode, added.stdout), (0, "fault 1 added\n"))
            sandbox.run("fault", "add", "--delay", "200ms", "--probability", "0.5", "--count",
                        "10")
            faults = json.loads(sandbox.run("fault", "list", "--json").stdout)["faults"]
            self.assertEqual(faults[0]["ops"], ["get", "set"])
            self.assertEqual((faults[0]["skip"], faults[0]["limit"]), (2, 1))
            self.assertEqual(faults[1]["effect"], {"delay_ms": 200})
            self.assertIn("delay 200ms", sandbox.run("fault", "list").stdout)

            self.assertEqual(sandbox.run("fault", "remove", "1").returncode, 0)
            gone = sandbox.run("fault", "remove", "1")
            self.assertEqual(gone.returncode, 1)
            self.assertIn("no such fault rule", gone.stderr)
            sandbox.run("fault", "clear")
            self.assertEqual(sandbox.run("fault", "list").stdout, "no fault rules\n")

            self.assertEqual(json.loads(sandbox.run("audit", "--json").stdout)["requests"], 0)
            self.assertIn("0 requests in all", sandbox.run("audit").stdout)

            control = sandbox.ready["control"]
            direct = run("status", "--control", control["url"], "--token", control["token"])
            self.assertEqual(direct.returncode, 0)
            wrong = run("status", "--control", control["url"], "--token", "guess")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("token", wrong.stderr)

    def test_wrong_usage_names_the_option(self):
        for arguments, option in (
                (["start", "--nodes", "0"], "--nodes"),
                (["start", "--replicas", "4"], "--replicas"),
                (["start", "--collection", "x"], "--collection"),
                (["start", "--collection", "bad scope.x"], "--collection"),
                (["start", "--bucket", "a/b"], "--bucket"),
                (["start", "--user", ""], "--user"),
                (["start", "--port", "70000"], "--port"),
                (["start", "--certificate", "expired"], "--certificate"),
                (["start", "--certificate", "odd", "--tls"], "--certificate"),
                (["status"], "--ready-file"),
                (["status", "--control", "http://127.0.0.1:1/c"], "--token"),
                (["fault", "add"], "--status"),
                (["fault", "add", "--delay", "5h"], "--delay"),
                (["fault", "add", "--nth", "0", "--close-after"], "--nth"),
                (["fault", "add", "--delay", "1s", "--close-after"], "--close-after"),
        ):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(option, result.stderr)

    def test_what_the_sandbox_refuses_names_the_option_too(self):
        with Running("--nodes", "1", "--replicas", "0") as sandbox:
            for arguments, option in (
                    (["--opcode", "gett", "--close-after"], "--opcode"),
                    (["--status", "no such"], "--status"),
                    (["--probability", "2", "--close-after"], "--probability"),
            ):
                with self.subTest(arguments=arguments):
                    result = sandbox.run("fault", "add", *arguments)
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertIn(option, result.stderr)

    def test_a_failure_names_its_cause(self):
        missing = run("status", "--ready-file", "no-such-file.json")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no-such-file.json", missing.stderr)
        unwritable = run("start", "--ready-file", "no/such/folder/r.json")
        self.assertEqual(unwritable.returncode, 1)
        self.assertIn("--ready-file", unwritable.stderr)
        with Running("--nodes", "1", "--replicas", "0") as sandbox:
            port = sandbox.ready["nodes"][0]["kv"]
            taken = run("start", "--port", str(port), "--nodes", "1", "--replicas", "0")
            self.assertEqual(taken.returncode, 1)
            self.assertIn(str(port), taken.stderr)


if __name__ == "__main__":
    unittest.main()
