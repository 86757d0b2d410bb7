"""`reprise sandbox`: started as a user starts it, driven from other processes, stopped by a signal.

Usage: sandbox_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import sandbox_fixture
from sandbox_fixture import PATIENCE_SECONDS, PROGRAM, Running


def run(*arguments):
    return sandbox_fixture.run("sandbox", *arguments)


class SandboxTest(unittest.TestCase):
    def test_start_prints_all_addresses_and_cleans_up(self):
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

    def test_other_processes_control_status_audit_and_faults(self):
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
            self.assertIn("0 requests in total", sandbox.run("audit").stdout)

            control = sandbox.ready["control"]
            direct = run("status", "--control", control["url"], "--token", control["token"])
            self.assertEqual(direct.returncode, 0)
            wrong = run("status", "--control", control["url"], "--token", "guess")
            self.assertEqual(wrong.returncode, 1)
            self.assertIn("token", wrong.stderr)

    def wait_rebalance(self, sandbox):
        """Waits until no rebalance is running and returns the topology."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up:
            topology = json.loads(sandbox.run("topology", "status", "--json").stdout)
            if not topology["rebalance"]["running"]:
                return topology
        self.fail("the rebalance does not end")

    def test_other_processes_control_the_topology(self):
        with Running("--nodes", "2") as sandbox:
            def topology(*arguments):
                result = sandbox.run("topology", *arguments)
                self.assertEqual(result.returncode, 0, result.stderr)
                return result.stdout

            self.assertIn("no rebalance yet", topology("status"))
            self.assertIn("node 2 added", topology("add"))
            self.assertIn("rebalance running", topology("rebalance", "--interval", "0ms"))
            ended = self.wait_rebalance(sandbox)
            self.assertEqual(ended["rebalance"]["end"], "finished")
            self.assertEqual(sum(node["active"] for node in ended["nodes"]), 1024)
            self.assertGreater(min(node["active"] for node in ended["nodes"]), 340)

            topology("rebalance", "--eject", "0", "--step")
            self.assertIn("3 of", topology("step", "--count", "3"))
            self.assertIn("stopped, 3 of", topology("stop"))
            topology("failover", "1", "--graceful", "--interval", "0ms")
            states = {node["node"]: node["state"] for node in self.wait_rebalance(sandbox)["nodes"]}
            self.assertEqual(states, {0: "up", 1: "failed_over", 2: "up"})
            topology("add-back", "1")
            topology("remove", "0", "--interval", "0ms")
            nodes = self.wait_rebalance(sandbox)["nodes"]
            self.assertEqual([node["node"] for node in nodes], [1, 2])

            topology("kill", "1")
            self.assertIn("down", topology("status"))
            topology("up", "1")
            topology("restart", "1", "--lose-data")
            topology("failover", "2")
            refused = sandbox.run("topology", "failover", "1")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("the last node cannot leave", refused.stderr)

    def test_run_gives_a_command_a_cluster_and_ends_with_its_code(self):
        script = ("import json, os, subprocess, sys; "
                  "print(json.dumps({name: value for name, value in os.environ.items()"
                  " if name.startswith('REPRISE_')})); "
                  "print(json.dumps(sys.argv[1:])); sys.exit(7)")
        ended = run("run", "--nodes", "1", "--replicas", "0", "--user", "u", "--password", "p",
                    "--bucket", "b", "--", sys.executable, "-c", script, "--bucket", "x", "--", "-y")
        self.assertEqual((ended.returncode, ended.stderr), (7, ""))
        found, given = map(json.loads, ended.stdout.splitlines())
        self.assertEqual(given, ["--bucket", "x", "--", "-y"])
        self.assertRegex(found.pop("REPRISE_CONNECT"), r"^couchbase://127\.0\.0\.1:\d+$")
        self.assertEqual(found, {"REPRISE_USERNAME": "u", "REPRISE_PASSWORD": "p"})

    def test_run_gives_the_command_access(self):
        use = ('"$0" upsert k v -c "$REPRISE_CONNECT" -u "$REPRISE_USERNAME" --bucket b >/dev/null'
               ' && "$0" get k -c "$REPRISE_CONNECT" -u "$REPRISE_USERNAME" --bucket b')
        for options in ([], ["--tls"]):
            with self.subTest(options=options):
                ended = run("run", *options, "--user", "someone", "--password", "p w", "--bucket",
                            "b", "--", "sh", "-c", use, PROGRAM)
                self.assertEqual((ended.returncode, ended.stdout), (0, "v\n"), ended.stderr)

    def test_run_with_tls_names_the_authority_and_removes_it_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder:
            ca_file = os.path.join(folder, "our ca.pem")
            ended = run("run", "--nodes", "1", "--replicas", "0", "--tls", "--ca-file", ca_file,
                        "--ready-file", os.path.join(folder, "ready"), "--", "sh", "-c",
                        'echo "$REPRISE_CONNECT"; cat "$REPRISE_CA_FILE"; ls "$0"', folder)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertRegex(ended.stdout.splitlines()[0],
                             r"^couchbases://.*\?trust_certificate=/.*/our%20ca\.pem$")
            self.assertIn("BEGIN CERTIFICATE", ended.stdout)
            self.assertIn("ready\n", ended.stdout)
            self.assertNotIn("ready", os.listdir(folder))

    def test_an_existing_file_is_neither_replaced_nor_removed_by_the_authority(self):
        with tempfile.TemporaryDirectory() as folder:
            mine = os.path.join(folder, "mine.pem")
            with open(mine, "w", encoding="utf-8") as file:
                file.write("precious")
            ended = run("run", "--tls", "--ca-file", mine, "--", "true")
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("mine.pem", ended.stderr)
            self.assertIn("exists", ended.stderr)
            with open(mine, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
            self.assertEqual(os.listdir(folder), ["mine.pem"])

    def test_a_hangup_removes_the_files_of_a_sandbox(self):
        with Running("--nodes", "1", "--replicas", "0", "--tls") as sandbox:
            authority = sandbox.ready["ca_path"]
            self.assertTrue(os.path.exists(authority))
            self.assertEqual(sandbox.stop(signal.SIGHUP), 0)
            self.assertFalse(os.path.exists(authority))
            self.assertFalse(os.path.exists(sandbox.ready_file))

    def test_run_has_exit_codes_for_signals_and_failed_starts(self):
        killed = run("run", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(killed.returncode, 128 + 9)
        missing = run("run", "--", "no-such-program-anywhere")
        self.assertEqual(missing.returncode, 127)
        self.assertIn("no-such-program-anywhere", missing.stderr)
        self.assertEqual(run("run").returncode, 2)
        refused = run("run", "--nodes", "0", "--", "true")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--nodes", refused.stderr)

    def test_run_forwards_sigterm_and_does_not_share_its_sockets(self):
        # The command prints how many sockets it has, then waits for the signal.
        script = ('ls -l /proc/self/fd | grep -c socket; trap "echo bye; exit 3" TERM; '
                  'echo waiting; while :; do read -r line || sleep 1; done')
        process = subprocess.Popen(
            [PROGRAM, "sandbox", "run", "--nodes", "1", "--replicas", "0", "--", "sh", "-c",
             script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "0\n")
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual((printed, process.returncode), ("bye\n", 3))

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
                (["fault", "add", "--delay", "25h"], "--delay"),
                (["fault", "add", "--delay", "5"], "'5' is not a time with its unit"),
                (["fault", "add", "--nth", "0", "--close-after"], "--nth"),
                (["fault", "add", "--delay", "1s", "--close-after"], "--close-after"),
                (["topology", "status"], "--ready-file"),
                (["topology", "rebalance", "--interval", "5x"], "--interval"),
                (["topology", "rebalance", "--interval", "5ms", "--step"], "--step"),
                (["topology", "failover", "1", "--step"], "--step"),
                (["topology", "kill", "-1"], "node"),
        ):
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(option, result.stderr)

    def test_a_refusal_by_the_sandbox_names_the_option_too(self):
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
