"""`reprise verify` and `reprise explain`, run like a user runs them, each on its own sandbox.

Usage: verify_test.py PROGRAM
"""

import base64
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM, Running, SandboxCase, run


class VerifyTest(SandboxCase):
    OPTIONS = ("--nodes", "3", "--bucket", "travel", "--server-group", "east,west")

    def documents_left(self):
        """Keys that verify stored and did not remove, according to the sandbox's audit."""
        answer = self.control("audit", "--key", "reprise-*", "--json", "--limit", "50000")
        alive = set()
        for entry in json.loads(answer)["entries"]:
            if entry["applied"]:
                if entry["op"] == "remove":
                    alive.discard(entry["key"])
                else:
                    alive.add(entry["key"])
        return {key for key in alive if not key.endswith("expiry")}  # expires on its own

    def scopes(self):
        where = f"http://127.0.0.1:{self.ready['nodes'][0]['management']}"
        request = urllib.request.Request(f"{where}/pools/default/buckets/travel/scopes", headers={
            "Authorization": "Basic " + base64.b64encode(b"app:secret").decode()})
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return sorted(scope["name"] for scope in json.load(answer)["scopes"])

    def check_nothing_is_left(self):
        self.assertEqual(self.documents_left(), set())
        indexes = self.command("query", "SELECT RAW i.name FROM system:indexes AS i")
        self.assertEqual((indexes.returncode, indexes.stdout.strip()), (0, ""))
        self.assertEqual(self.scopes(), ["_default"])

    def verify(self, *arguments, **options):
        """Runs verify and returns its exit code and its report."""
        result = self.command("verify", "--json", *arguments, **options)
        return result.returncode, json.loads(result.stdout)

    def states(self, report):
        return {check["name"]: check["state"] for check in report["checks"]}

    def test_every_check_passes_on_the_sandbox_and_nothing_is_left(self):
        code, report = self.verify()
        self.assertEqual(code, 0, report)
        self.assertEqual(set(self.states(report).values()), {"ok"}, report)
        count = len(report["checks"])
        self.assertGreaterEqual(count, 35)
        self.assertEqual(report["summary"], f"{count} of {count} held, 0 skipped")
        self.assertEqual(report["left"], [])
        self.check_nothing_is_left()

    def test_a_server_that_misbehaves_fails_its_check_and_is_cleaned_up(self):
        self.control("fault", "add", "--opcode", "increment", "--status", "0x84")
        result = self.command("verify")
        self.control("fault", "clear")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^counters +FAILED")
        *_, checks, summary = result.stdout.splitlines()
        self.assertRegex(summary, r"^(\d+) of (?!\1)\d+ held, 0 skipped$", checks)
        self.check_nothing_is_left()

    def test_checks_that_fail_in_the_middle_remove_what_they_created(self):
        # The new scopes exist by then, and the index in one of them.
        self.control("fault", "service", "--statement", "BUILD*", "--status", "400", "--body",
                     '{"errors":[{"code":3000,"msg":"no"}]}')
        self.control("fault", "service", "--service", "management", "--method", "DELETE",
                     "--path", "*/collections/verify", "--status", "400")
        code, report = self.verify()
        self.control("fault", "clear")
        self.assertEqual(code, 1)
        self.assertEqual(self.states(report)["scopes and collections"], "FAILED")
        self.assertEqual(self.states(report)["query indexes of a collection"], "FAILED")
        self.check_nothing_is_left()

    def test_the_report_has_versions_options_and_attempts_but_no_secrets(self):
        self.control("fault", "add", "--opcode", "increment", "--status", "0x86")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            result = self.command("verify", "--report", path, "--timeout", "400ms",
                                  "-u", "app", "--scope", "_default")
            with open(path, encoding="utf-8") as file:
                text = file.read()
        self.control("fault", "clear")
        self.assertEqual(result.returncode, 1)
        self.assertIn(" held, ", result.stdout)
        report = json.loads(text)
        self.assertEqual(set(report["versions"]), {"reprise", "compiler", "system", "server"})
        self.assertTrue(all(report["versions"].values()), report["versions"])
        self.assertEqual(report["options"]["bucket"], "travel")
        self.assertEqual(report["options"]["scope"], "_default")
        [counters] = [check for check in report["checks"] if check["name"] == "counters"]
        self.assertGreater(counters["ms"], 0)
        self.assertEqual(counters["error"]["name"], "unambiguous_timeout")
        self.assertIn("KV_TEMPORARY_FAILURE",
                      [each["reason"] for each in counters["error"]["attempts"]])
        self.assertNotIn("secret", text)
        self.assertNotIn("-counter", text, "logs do not show keys either")

    def test_a_cluster_without_services_and_groups_skips_their_checks_with_the_reason(self):
        with Running("--nodes", "2", "--services", "none") as sandbox:
            result = run("verify", "--json", "-c", sandbox.ready["connection_string"])
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout)
        skipped = {check["name"]: check["detail"] for check in report["checks"]
                   if check["state"] == "skipped"}
        self.assertEqual(skipped["query by key"], "no node offers query")
        self.assertEqual(skipped["missing view is reported at once"], "no node offers views")
        self.assertEqual(skipped["reads in a preferred server group"],
                         "the nodes have no server groups")
        self.assertIn(f", {len(skipped)} skipped", report["summary"])

    def test_checks_pass_on_a_slow_machine(self):
        # Answers are late, as on a busy machine: after the expiry of the document that was
        # just stored, and after the timeout of the first write under a lock, so that the longer one
        # ends with a write in flight.
        self.control("fault", "add", "--opcode", "set", "--key", "*-expiry", "--delay", "1500ms")
        self.control("fault", "add", "--opcode", "set", "--key", "*-timeout", "--delay", "400ms")
        code, report = self.verify()
        self.control("fault", "clear")
        self.assertEqual(code, 0, report)

    def test_a_wrong_password_is_reported_once(self):
        result = self.command("verify", password="wrong")
        self.assertEqual(result.returncode, 1)
        self.assertIn("credentials", result.stdout)
        self.assertNotIn("counters", result.stdout)
        self.assertIn("0 of 1 held, 0 skipped", result.stdout)

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


class VerifyLoadTest(SandboxCase):
    OPTIONS = ("--nodes", "2", "--bucket", "travel")

    def load(self, *arguments):
        """Runs verify with a load of a second; returns the exit code and the load's row."""
        result = self.command("verify", "--json", "--load", "1", *arguments)
        self.control("fault", "clear")
        report = json.loads(result.stdout)
        self.assertEqual(report["left"], [])
        [row] = [check for check in report["checks"] if check["name"] == "load"]
        return result.returncode, row

    def writes_applied(self):
        answer = self.control("audit", "--key", "reprise-*-load-*", "--json", "--limit", "50000")
        return [entry for entry in json.loads(answer)["entries"] if entry["applied"]]

    def test_a_load_that_loses_nothing_passes_and_removes_its_documents(self):
        code, row = self.load()
        self.assertEqual((code, row["state"]), (0, "ok"), row)
        self.assertRegex(row["detail"], r"^[1-9]\d+ writes: [1-9].* lost 0, duplicated 0")
        alive = {}
        for entry in self.writes_applied():
            alive[entry["key"]] = entry["op"] != "remove"
        self.assertTrue(alive)
        self.assertFalse(any(alive.values()))

    def test_the_load_is_bounded(self):
        for seconds in ("0", "601", "-1", "soon"):
            result = self.command("verify", f"--load={seconds}")
            self.assertEqual(result.returncode, 2, seconds)
            self.assertIn("--load", result.stderr)
        begin = len(self.writes_applied())
        _, row = self.load()
        counted = int(row["detail"].split()[0])
        self.assertLessEqual(counted, 1100, "at most 1000 a second")
        self.assertGreater(len(self.writes_applied()), begin)

    def test_broken_connections_leave_writes_in_doubt_but_lose_none(self):
        self.control("fault", "add", "--opcode", "increment", "--key", "*-load-*", "--nth", "20",
                     "--every", "40", "--count", "5", "--close-after")
        self.control("fault", "add", "--opcode", "add", "--key", "*-load-*", "--nth", "3",
                     "--count", "2", "--close-before")
        code, row = self.load()
        self.assertEqual((code, row["state"]), (0, "ok"), row)
        self.assertRegex(row["detail"], r"[1-9]\d* unknown \([1-9]\d* applied\)")

    def test_a_server_that_confirms_a_write_without_applying_it_is_detected(self):
        self.control("fault", "add", "--opcode", "add", "--key", "*-load-*", "--nth", "2",
                     "--count", "1", "--status", "0x00")
        code, row = self.load()
        self.assertEqual((code, row["state"]), (1, "FAILED"), row)
        self.assertIn("lost 1, duplicated 0", row["detail"])


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

    def test_a_refusal_is_explained_by_its_name_and_as_histories_print_it(self):
        for spelling in ("may_have_acted", "may have been executed", "MAY_HAVE_ACTED"):
            result = run("explain", spelling)
            self.assertEqual(result.returncode, 0, result.stderr)
            for words in ("may_have_acted: why a failure was not retried", "what to do:"):
                self.assertIn(words, result.stdout)
        self.assertIn("did you mean budget_exhausted?",
                      run("explain", "budget_exausted").stderr)
        listed = json.loads(run("explain", "--list", "--json").stdout)["explanations"]
        self.assertEqual(sum(each["kind"] == "refusal" for each in listed), 21)

    def test_nothing_or_both_is_wrong_usage(self):
        self.assertEqual(run("explain").returncode, 2)
        self.assertEqual(run("explain", "KV_LOCKED", "--list").returncode, 2)


if __name__ == "__main__":
    unittest.main()
