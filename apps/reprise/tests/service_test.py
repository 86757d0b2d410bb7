"""Runs `reprise query|analytics|search|view|ping|diagnostics` like a user, against a sandbox with
HTTP services.

Usage: service_test.py PROGRAM
"""

import json
import socket
import time
import unittest

from sandbox_fixture import PROGRAM, SandboxCase, run


class ServiceCommands(SandboxCase):
    OPTIONS = ("--nodes", "2", "--bucket", "travel", "--collection",
               "inventory.airline")

    def test_rows_are_printed_one_per_line(self):
        result = self.command("query", "SELECT RAW n FROM ARRAY_RANGE(0, 1000) AS n", "--readonly")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split(), [str(n) for n in range(1000)])

    def test_parameters_are_passed_and_metrics_shown(self):
        result = self.command("query", "SELECT RAW $1 + $x", "--arg", "40", "--param", "x=2",
                              "--metrics")
        self.assertEqual((result.returncode, result.stdout), (0, "42\n"), result.stderr)
        self.assertIn("1 rows", result.stderr)

    def test_a_wrong_statement_fails_with_the_message_of_the_service(self):
        result = self.command("query", "SELEKT 1")
        self.assertEqual((result.returncode, result.stdout), (7, ""))
        self.assertIn("code 3000", result.stderr)

    def test_rows_metadata_and_errors_are_one_json_object(self):
        printed = json.loads(self.command("query", "SELECT n, {} AS o FROM ARRAY_RANGE(0, 3) AS n",
                                       "--json", "--metrics").stdout)
        self.assertEqual(printed["rows"], [{"n": n, "o": {}} for n in range(3)])
        self.assertEqual((printed["metadata"]["status"], printed["metadata"]["metrics"]["rows"]),
                         ("success", 3))
        empty = json.loads(self.command("query", "SELECT RAW n FROM [] AS n", "--json").stdout)
        self.assertEqual(empty["rows"], [])
        wrong = self.command("query", "SELEKT 1", "--json")
        printed = json.loads(wrong.stdout)
        self.assertEqual((wrong.returncode, printed["rows"]), (7, []))
        self.assertEqual((printed["error"]["name"], printed["error"]["service_code"]),
                         ("parsing_failure", 3000))
        for command in (["analytics", "SELECT RAW 7"], ["search", "nowhere", "word"],
                        ["view", "nothing", "here", "--timeout", "2s"]):
            with self.subTest(command=command):
                printed = json.loads(self.command(*command, "--json").stdout)
                self.assertIn("metadata" if command[0] == "analytics" else "error", printed)

    def test_ping_as_json(self):
        result = self.command("ping", "--json")
        printed = json.loads(result.stdout)
        self.assertEqual((result.returncode, printed["ok"]), (0, True), result.stderr)
        self.assertEqual({each["service"]: each["state"] for each in printed["services"]},
                         dict.fromkeys(["key-value", "management", "query", "analytics", "search",
                                        "views"], "ok"))
        remotes = [(each["service"], each["remote"]) for each in printed["services"]]
        self.assertEqual((len(remotes), len(set(remotes))), (12, 12), "two nodes")
        failed = run("ping", "--json", "-c", "couchbase://127.0.0.1:1", "--timeout", "100ms")
        printed = json.loads(failed.stdout)
        self.assertEqual((failed.returncode, printed["ok"]), (1, False))
        self.assertEqual(printed["services"][0]["error"]["name"], "unambiguous_timeout")

    def test_a_query_with_a_bucket_opens_it(self):
        """Some clusters name their services only in the configuration of a bucket."""
        self.control("fault", "add", "--opcode", "get_cluster_config", "--status", "0x08")
        try:
            self.control("audit", "--clear")
            for arguments, is_opened in (([], False), (["-b", "travel"], True)):
                result = self.command("query", "SELECT 1", "--timeout", "1s", *arguments)
                self.assertNotEqual(result.returncode, 0, result.stdout)
                audit = json.loads(self.control("audit", "--json", "--opcode",
                                                "select_bucket"))
                self.assertEqual(bool(audit["entries"]), is_opened, arguments)
        finally:
            self.control("fault", "clear")

    def test_a_wrong_parameter_is_wrong_usage(self):
        self.assertEqual(self.command("query", "SELECT 1", "--param", "x").returncode, 2)

    def test_analytics_runs_a_statement(self):
        result = self.command("analytics", "SELECT RAW 7", "--readonly")
        self.assertEqual((result.returncode, result.stdout), (0, "7\n"), result.stderr)

    def test_a_missing_index_and_a_missing_view_are_errors(self):
        self.assertEqual(self.command("search", "nowhere", "word").returncode, 3)
        self.assertEqual(self.command("view", "nothing", "here", "--timeout", "2s").returncode, 3)

    def test_ping_lists_every_service(self):
        result = self.command("ping")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        names = [line.split()[0] for line in result.stdout.splitlines()]
        self.assertEqual(names[::2], ["key-value", "management", "views", "query", "search",
                                      "analytics"])
        self.assertEqual(names[1::2], names[::2], "two nodes")

    def test_ping_ends_with_its_timeout_whatever_is_silent(self):
        listener = socket.create_server(("127.0.0.1", 0))
        begun = time.monotonic()
        ended = run("ping", "-c", f"couchbase://127.0.0.1:{listener.getsockname()[1]}",
                    "--timeout", "1s")
        taken = time.monotonic() - begun
        listener.close()
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertGreaterEqual(taken, 1)
        self.assertLess(taken, 3, "six services share one second")

    def test_ping_succeeds_if_a_service_is_not_offered(self):
        result = run("sandbox", "run", "--nodes", "1", "--replicas", "0", "--services", "none",
                     "--", "sh", "-c",
                     f'"{PROGRAM}" ping -c "$REPRISE_CONNECT"')
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
        self.assertTrue(lines["management"].endswith("ok"), lines)
        self.assertTrue(lines["query"].endswith("not offered"), lines)

    def test_diagnostics_shows_every_connection_with_both_ends(self):
        result = self.command("diagnostics")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        first, *rows = result.stdout.splitlines()
        self.assertTrue(first.endswith(": online"), first)
        self.assertGreaterEqual(len(rows), 7)
        for row in rows:
            service, state, remote, local = row.split()[:4]
            self.assertIn(service, ["kv", "mgmt", "query", "analytics", "search", "views"])
            self.assertEqual(state, "connected", row)
            self.assertTrue(remote.startswith("127.0.0.1:") and local.startswith("127.0.0.1:"), row)

    def test_diagnostics_as_json_is_grouped_by_service(self):
        result = self.command("diagnostics", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["version"], report["state"]), (2, "online"))
        self.assertEqual(set(report["services"]),
                         {"kv", "mgmt", "query", "analytics", "search", "views"})
        documents = [each for each in report["services"]["kv"] if each.get("namespace")]
        self.assertEqual({each["namespace"] for each in documents}, {"travel"})
        for each in documents:
            self.assertTrue(each["id"].startswith(report["id"] + "/"), each)
            self.assertGreaterEqual(each["last_activity_us"], 0)

    def test_diagnostics_of_an_unreachable_cluster_is_offline(self):
        result = run("diagnostics", "-c", "couchbase://127.0.0.1:1", "--timeout", "300ms", "--json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(json.loads(result.stdout)["state"], "offline")

    def test_without_a_cluster_one_is_started(self):
        result = run("query", "SELECT RAW 1")
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)


if __name__ == "__main__":
    unittest.main()
