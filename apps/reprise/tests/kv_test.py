"""Runs `reprise get|upsert|...`, `config`, `error-map` and `explain` like a user, against their own
sandbox and against files.

Usage: kv_test.py PROGRAM
"""

import json
import os
import socket
import unittest

from sandbox_fixture import SandboxCase, run


class WithSandbox(SandboxCase):
    OPTIONS = ("--nodes", "2", "--bucket", "travel", "--tls", "--collection", "inventory.airline")

    def test_a_document_is_stored_read_replaced_and_removed(self):
        stored = self.command("upsert", "doc", '{"a": 1}', "--json")
        self.assertEqual(stored.returncode, 0, stored.stderr)
        cas = json.loads(stored.stdout)["cas"]
        read = self.command("get", "doc")
        self.assertEqual((read.returncode, read.stdout), (0, '{"a": 1}\n'))
        shown = json.loads(self.command("get", "doc", "--json").stdout)
        self.assertEqual((shown["format"], shown["value"], shown["cas"]),
                         ("json", {"a": 1}, cas))
        self.assertEqual(self.command("exists", "doc").stdout, "true\n")
        stale = self.command("replace", "doc", "x", "--cas", str(int(cas) + 1))
        self.assertEqual(stale.returncode, 4)
        self.assertEqual(self.command("replace", "doc", "-", "--cas", cas, stdin="in").returncode, 0)
        self.assertEqual(self.command("get", "doc").stdout, "in\n")
        self.assertEqual(self.command("remove", "doc").returncode, 0)
        self.assertEqual(self.command("exists", "doc").returncode, 3)

    def test_get_reads_paths_and_the_expiry(self):
        stored = self.command("upsert", "part", '{"a": 1, "b": {"c": [1, 2]}, "d": 3}',
                              "--expiry", "1h")
        self.assertEqual(stored.returncode, 0, stored.stderr)
        read = self.command("get", "part", "--project", "b.c[1]", "--project", "a")
        self.assertEqual((read.returncode, read.stdout), (0, '{"b":{"c":[2]},"a":1}\n'))
        shown = json.loads(self.command("get", "part", "--with-expiry", "--json").stdout)
        self.assertGreater(shown["expiry"], 1_700_000_000)
        self.assertEqual((shown["value"]["d"], shown["format"]), (3, "json"))
        self.command("upsert", "part", "1")
        shown = json.loads(self.command("get", "part", "--with-expiry", "--json").stdout)
        self.assertIsNone(shown["expiry"])
        self.assertEqual(self.command("get", "part", "--with-expiry").returncode, 2)

    def test_scan_lists_documents_line_by_line(self):
        for number in range(5):
            self.command("upsert", f"scan_{number}", str(number))
        found = self.command("scan", "--prefix", "scan_", "--json")
        self.assertEqual(found.returncode, 0, found.stderr)
        rows = {row["key"]: row for row in map(json.loads, found.stdout.splitlines())}
        self.assertEqual(sorted(rows), [f"scan_{number}" for number in range(5)])
        self.assertEqual(rows["scan_3"]["value"], 3)
        self.assertIsNone(rows["scan_3"]["expiry"])
        ids = self.command("scan", "--from", "scan_1", "--to", "scan_3", "--ids-only")
        self.assertEqual(sorted(ids.stdout.splitlines()),
                         [f"scan_{number}" for number in (1, 2, 3)])
        ids = self.command("scan", "--prefix", "scan_3", "--ids-only", "--json")
        self.assertEqual(ids.stdout, '{"key":"scan_3"}\n')
        self.assertEqual(self.command("scan", "--prefix", "scan_3").stdout, "scan_3\t3\n")
        sample = self.command("scan", "--sample", "2", "--ids-only")
        self.assertEqual(len(sample.stdout.splitlines()), 2, sample.stderr)
        self.assertEqual(self.command("scan", "--sample", "2", "--prefix", "a").returncode, 2)
        self.assertEqual(self.command("scan", "--collection", "nowhere").returncode, 3)

    def test_exit_codes_show_the_class_of_an_error(self):
        self.assertEqual(self.command("get", "nowhere").returncode, 3)
        self.assertEqual(self.command("insert", "there", "1").returncode, 0)
        self.assertEqual(self.command("insert", "there", "1").returncode, 4)
        self.assertEqual(run("get", "k", "-c", "couchbase://127.0.0.1:1",
                             "--timeout", "200ms").returncode, 5)
        self.assertEqual(self.command("get", "k", password="wrong").returncode, 6)
        self.assertEqual(self.command("get", "k", "--bucket", "nowhere").returncode, 6)
        self.assertEqual(self.command("get", "k", "--collection", "nowhere").returncode, 3)
        self.assertEqual(run("get", "k", "-c", "http://host").returncode, 2)
        self.assertEqual(self.command("get", "k", "--timeout", "soon").returncode, 2)
        self.assertEqual(self.command("upsert", "k", "{", "--as", "json").returncode, 2)
        untrusted = run("get", "k", "-c", self.ready["connection_string_tls"])
        self.assertEqual(untrusted.returncode, 6, untrusted.stderr)

    def test_tls_collections_and_the_password_file_work(self):
        password = os.path.join(self.sandbox.folder.name, "password")
        with open(password, "w", encoding="utf-8") as file:
            file.write("secret\n")
        where = ["-c", self.ready["connection_string_tls"], "--ca-file", self.ready["ca_path"],
                 "--scope", "inventory", "--collection", "airline", "--password-file", password]
        stored = run("upsert", "k", "v", *where, password="")
        self.assertEqual(stored.returncode, 0, stored.stderr)
        self.assertEqual(run("get", "k", *where, password="").stdout, "v\n")
        self.assertEqual(self.command("get", "k").returncode, 3)

    def test_the_help_warns_of_passwords_on_the_command_line(self):
        help_text = " ".join(run("get", "--help").stdout.split())
        self.assertIn("visible to other users of this machine", help_text)
        self.assertIn("REPRISE_PASSWORD", help_text)

    def test_an_error_lists_every_attempt(self):
        failed = run("get", "k", "-c", "couchbase://127.0.0.1:1", "--timeout", "100ms", "--json")
        attempts = json.loads(failed.stdout)["error"]["attempts"]
        self.assertGreater(len(attempts), 2)
        line = "NODE_NOT_AVAILABLE at 127.0.0.1:1 (connection refused), dispatch"
        self.assertEqual(failed.stderr.count(line), len(attempts))
        self.assertEqual({each["problem"] for each in attempts}, {"connection refused"})

    def test_the_configuration_and_error_map_of_a_cluster_are_shown(self):
        shown = json.loads(self.command("config", "--json").stdout)
        self.assertEqual((shown["bucket"], len(shown["nodes"])), ("travel", 2))
        place = self.command("config", "--key", "airline_10").stdout
        self.assertIn("vbucket 361 of 1024", place)
        self.assertIn("active now: node", place)
        entry = self.command("error-map", "0x86")
        self.assertIn("Etmpfail", entry.stdout)
        by_tls = run("error-map", "-c", self.ready["connection_string_tls"],
                     "--ca-file", self.ready["ca_path"])
        self.assertEqual(by_tls.returncode, 0, by_tls.stderr)
        self.assertEqual(self.command("error-map", "0x7ffe").returncode, 3)

    def test_documents_are_embedded_in_json_in_their_own_format(self):
        for format, value, member, shown in (
                ("json", '{"b": [1.50, null], "b2": 12345678901234567890}', "value",
                 {"b": [1.5, None], "b2": 12345678901234567890}),
                ("json", '"text"', "value", "text"),
                ("string", '{"not": "embedded"}', "value", '{"not": "embedded"}'),
                ("string", "plain\n", "value", "plain\n"),
                ("binary", "a\x01b", "value_base64", "YQFi")):
            with self.subTest(format=format, value=value):
                self.assertEqual(self.command("upsert", "e", value, "--as", format).returncode, 0)
                printed = json.loads(self.command("get", "e", "--json").stdout)
                self.assertEqual((printed["format"], printed[member]), (format, shown))

    def test_errors_in_json_have_symbolic_names(self):
        missing = json.loads(self.command("get", "nowhere", "--json").stdout)["error"]
        self.assertEqual((missing["name"], missing["code"], missing["exit_name"]),
                         ("document_not_found", 101, "not_found"))
        self.assertEqual(json.loads(self.command("exists", "nowhere", "--json").stdout),
                         {"key": "nowhere", "exists": False, "cas": "0"})

    def test_the_environment_names_the_cluster(self):
        named = {"REPRISE_CONNECT": self.ready["connection_string"]}
        stored = run("upsert", "by_variable", '"v"', **named)
        self.assertEqual((stored.returncode, stored.stderr), (0, ""))
        self.assertEqual(self.command("get", "by_variable").stdout, '"v"\n')
        # Options take precedence over the variable, and so does --sandbox.
        wrong = {"REPRISE_CONNECT": "couchbase://127.0.0.1:1"}
        self.assertEqual(self.command("get", "by_variable", **wrong).returncode, 0)
        own = run("get", "by_variable", "--sandbox", **named)
        self.assertEqual(own.returncode, 3, own.stderr)
        self.assertIn("embedded", own.stderr)
        refused = run("get", "k", REPRISE_CONNECT="http://host")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("REPRISE_CONNECT: ", refused.stderr)
        stranger = run("get", "k", REPRISE_USERNAME="nobody", **named)
        self.assertEqual(stranger.returncode, 6, stranger.stderr)
        trusted = run("get", "by_variable", REPRISE_CONNECT=self.ready["connection_string_tls"],
                      REPRISE_CA_FILE=self.ready["ca_path"])
        self.assertEqual(trusted.returncode, 0, trusted.stderr)
        self.assertEqual(run("config", "--json", **named).returncode, 0)
        self.assertEqual(run("error-map", **named).returncode, 0)

    def test_the_log_of_the_client_is_shown_on_standard_error(self):
        quiet = self.command("exists", "nowhere")
        self.assertEqual(quiet.stderr, "")
        for command in (["exists", "nowhere", "--json"], ["config", "--json"]):
            with self.subTest(command=command):
                shown = self.command(*command, "--verbose")
                json.loads(shown.stdout)
                self.assertRegex(shown.stderr, r"(?m)^(note: (debug|info)|reprise: warn): ")
                self.assertNotIn("secret", shown.stderr)

    def test_password_files_are_bounded_and_not_empty(self):
        folder = os.path.dirname(self.ready_file)
        path = os.path.join(folder, "pw")

        def get_with(content):
            with open(path, "wb") as file:
                file.write(content)
            return self.command("exists", "nowhere", "--password-file", path, password="")

        # One line break belongs to the editor; everything else is the password.
        for content, code in ((b"secret", 3), (b"secret\n", 3), (b"secret\r\n", 3),
                              (b"secret\n\n", 6), (b"secret ", 6), (b"", 2), (b"\n", 2),
                              (b"\r\n", 2), (b"x" * 4096, 6), (b"x" * 4097, 1)):
            with self.subTest(content=content[:20]):
                self.assertEqual(get_with(content).returncode, code)
        endless = self.command("exists", "k", "--password-file", "/dev/zero")
        self.assertEqual(endless.returncode, 1)
        self.assertIn("/dev/zero is larger than 4096 bytes", endless.stderr)
        empty = get_with(b"")
        self.assertIn(f"--password-file: {path} is empty", empty.stderr)
        folder_given = self.command("exists", "k", "--password-file", folder)
        self.assertEqual(folder_given.returncode, 1)
        self.assertIn(folder, folder_given.stderr)
        both = self.command("exists", "k", "--password-file", path, "--password", "x")
        self.assertEqual(both.returncode, 2)

    def test_the_error_map_is_fetched_over_verified_tls(self):
        where = self.ready["connection_string_tls"]
        untrusted = run("error-map", "-c", where)
        self.assertEqual(untrusted.returncode, 6, untrusted.stderr)
        self.assertIn("certificate", untrusted.stderr)
        self.assertEqual(run("error-map", "-c", where + "?tls_verify=none").returncode, 0)
        unreadable = run("error-map", "-c", where, "--ca-file", "/nonexistent/ca.pem")
        self.assertEqual(unreadable.returncode, 2, unreadable.stderr)

    def test_one_code_of_the_error_map_as_json(self):
        whole = json.loads(self.command("error-map", "--json").stdout)
        one = json.loads(self.command("error-map", "0x86", "--json").stdout)
        self.assertGreater(len(whole["errors"]), 10)
        self.assertEqual(one["errors"], {"86": whole["errors"]["86"]})
        self.assertEqual(one["version"], whole["version"])
        missing = self.command("error-map", "0x7ffe", "--json")
        self.assertEqual(missing.returncode, 3)
        self.assertEqual(json.loads(missing.stdout)["error"]["name"], "not_found")
        self.assertEqual(self.command("error-map", "86x", "--json").returncode, 2)

    def test_the_location_of_a_key_as_json(self):
        place = json.loads(self.command("config", "--key", "airline_10", "--json").stdout)
        self.assertEqual((place["key"], place["vbucket"], place["vbuckets"], place["forward"]),
                         ("airline_10", 361, 1024, None))
        self.assertEqual({place["active"], *place["replicas"]}, {0, 1})

    def test_a_saved_error_map_can_be_read(self):
        saved = self.command("error-map", "--json").stdout
        again = run("error-map", "0x01", "--file", "-", stdin=saved)
        self.assertIn("KeyEnoent", again.stdout)


class WithoutCluster(unittest.TestCase):
    def test_without_a_cluster_writes_are_refused_and_reads_start_one(self):
        for command in (["upsert", "k", "v"], ["insert", "k", "v"], ["replace", "k", "v"],
                        ["remove", "k"], ["query", "  insert into travel values ('k', 1)"],
                        ["query", "DELETE FROM travel"], ["analytics", "LOAD x"]):
            with self.subTest(command=command):
                refused = run(*command)
                self.assertEqual((refused.returncode, refused.stdout), (2, ""))
                for way_out in ("-c", "REPRISE_CONNECT", "--sandbox"):
                    self.assertIn(way_out, refused.stderr)
        stored = run("upsert", "k", "v", "--sandbox")
        self.assertEqual(stored.returncode, 0, stored.stderr)
        self.assertIn("embedded", stored.stderr)
        read = run("get", "k")
        self.assertEqual(read.returncode, 3, read.stderr)
        self.assertIn("embedded", read.stderr)
        both = run("upsert", "k", "v", "--sandbox", "-c", "couchbase://127.0.0.1:1")
        self.assertEqual(both.returncode, 2)

    def test_an_invalid_configuration_is_reported_with_its_position(self):
        text = json.dumps({
            "rev": 1, "name": "b", "nodeLocator": "vbucket", "uuid": "0" * 32,
            "nodesExt": [{"services": {"kv": 11210, "mgmt": 8091}, "hostname": "a"}],
            "vBucketServerMap": {"numReplicas": 0, "hashAlgorithm": "CRC",
                                 "serverList": ["a:11210"], "vBucketMap": [[0], [7]]}})
        shown = run("config", "--file", "-", stdin=text)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("vBucketServerMap.vBucketMap[1][0]", shown.stderr)
        good = run("config", "--file", "-", "--key", "k", stdin=text.replace("[7]", "[0]"))
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertIn("a:11210", good.stdout)

    def test_an_invalid_error_map_is_reported_with_its_position(self):
        text = '{"version": 1, "revision": 1, "errors": {"1": {"name": "X", "desc": "d"}}}'
        shown = run("error-map", "--file", "-", stdin=text)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("errors.1.attrs", shown.stderr)
        self.assertEqual(run("config", "--file", "/nonexistent/file").returncode, 1)

    def test_error_map_gives_up_at_its_timeout(self):
        # Each accepts the connection and never answers: one in plain, one in the TLS handshake.
        for scheme in ("couchbase", "couchbases"):
            with self.subTest(scheme=scheme), socket.create_server(("127.0.0.1", 0)) as silent:
                port = silent.getsockname()[1]
                shown = run("error-map", "-c", f"{scheme}://127.0.0.1:{port}", "--timeout", "200ms")
                self.assertEqual(shown.returncode, 5, shown.stderr)
                self.assertIn(f"127.0.0.1:{port}: timeout: no error map within 200 ms",
                              shown.stderr)
        refused = run("error-map", "-c", "couchbase://127.0.0.1:1", "--timeout", "5s")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("127.0.0.1:1: ", refused.stderr)
        self.assertNotIn("timeout", refused.stderr)

    def test_every_command_refuses_unsupported_options(self):
        for command in (["get", "k"], ["config"], ["error-map"]):
            with self.subTest(command=command):
                refused = run(*command, "-c", "couchbase://127.0.0.1:1?config_idle_redial_timeout=1s")
                self.assertEqual(refused.returncode, 2, refused.stderr)
                self.assertRegex(
                    refused.stderr, "config_idle_redial_timeout at .* not supported by this client")

    def test_explanations_as_json(self):
        both = json.loads(run("explain", "14", "--json").stdout)["explanations"]
        self.assertEqual([(each["kind"], each["name"]) for each in both][0],
                         ("error", "unambiguous_timeout"))
        self.assertEqual(len(both), 2)
        reason = json.loads(run("explain", "KV_NOT_MY_VBUCKET", "--json").stdout)["explanations"][0]
        self.assertEqual((reason["kind"], reason["always_retried"]), ("retry_reason", True))
        listed = json.loads(run("explain", "--list", "--json").stdout)["explanations"]
        self.assertEqual({each["kind"] for each in listed},
                         {"retry_reason", "status", "error", "refusal", "strategy"})
        self.assertGreater(len(listed), 150)
        self.assertTrue(all(each["advice"] and each["meaning"] for each in listed))

    def test_everything_can_be_explained(self):
        self.assertIn("KV_TEMPORARY_FAILURE", run("explain", "0x86").stdout)
        for spelling in ("KV_NOT_MY_VBUCKET", "kv-not-my-vbucket"):
            self.assertIn("whatever the strategy decides: yes", run("explain", spelling).stdout)
        self.assertIn("unambiguous_timeout", run("explain", "14").stdout)
        self.assertIn("twice", run("explain", "ambiguous_timeout").stdout)
        wrong = run("explain", "document_not_foun")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("document_not_found", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
