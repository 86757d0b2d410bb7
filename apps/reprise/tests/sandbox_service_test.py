"""`reprise sandbox fault service`, `fault forget-prepared` and `audit --services`: other processes
disturb and observe the HTTP services of a running cluster.

Usage: sandbox_service_test.py PROGRAM
"""

import http.client
import json
import socket
import ssl
import unittest

from sandbox_fixture import PATIENCE_SECONDS, Running, SandboxCase

BUSY = '{"errors":[{"code":1201,"msg":"queue full","retry":true}],"status":"errors"}'


class SandboxServiceTest(SandboxCase):
    OPTIONS = ("--nodes", "1", "--replicas", "0", "--bucket", "travel")

    def setUp(self):
        self.control("fault", "clear")
        self.control("audit", "--clear")

    def fault(self, *arguments, code=0):
        return self.control("fault", *arguments, code=code)

    def query(self, statement, *arguments):
        return self.command("query", statement, *arguments)

    def audit(self, *arguments):
        return json.loads(self.control("audit", "--services", "--json", *arguments))["entries"]

    def raw(self, statement, context):
        """The status, or the name of the error, and the body of a request without the client."""
        peer = http.client.HTTPConnection("127.0.0.1", self.ready["nodes"][0]["query"],
                                          timeout=PATIENCE_SECONDS)
        try:
            peer.request("POST", "/query/service",
                         json.dumps({"statement": statement, "client_context_id": context}),
                         {"Content-Type": "application/json",
                          "Authorization": "Basic YXBwOnNlY3JldA=="})
            answer = peer.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, ConnectionError) as error:
            return type(error).__name__, b""
        finally:
            peer.close()

    def test_every_effect_can_be_typed_and_is_listed(self):
        for arguments, effect, text in (
                (["--status", "503", "--body", "b", "--header", "X-A: 1", "--retry-after", "2"],
                 {"status": 503, "headers": {"X-A": "1", "Retry-After": "2"}, "body": "b"},
                 "status 503"),
                (["--delay", "200ms"], {"delay_ms": 200}, "delay 200ms"),
                (["--never-answer"], "no_answer", "no_answer"),
                (["--close-before"], "close_before", "close_before"),
                (["--close-after"], "close_after", "close_after"),
                (["--close-after-headers"], "close_after_headers", "close_after_headers"),
                (["--close-mid-body", "7"], {"close_mid_body": 7}, "close_mid_body 7"),
                (["--wrong-length", "-3"], {"wrong_length": -3}, "wrong_length -3"),
                (["--bad-chunk"], "bad_chunk", "bad_chunk"),
                (["--encoding", "gzip"], {"encoding": "gzip"}, "encoding gzip"),
                (["--redirect", "/x"], {"redirect": "/x", "status": 302}, "redirect /x"),
                (["--redirect", "/x", "--status", "307"], {"redirect": "/x", "status": 307},
                 "redirect /x"),
                (["--continue", "2"], {"continue_first": 2}, "continue_first 2")):
            with self.subTest(arguments=arguments):
                self.fault("service", *arguments)
                listed = json.loads(self.fault("list", "--json"))["service_faults"]
                self.assertEqual([each["effect"] for each in listed], [effect])
                self.assertIn(text, self.fault("list"))
                self.fault("remove", "--service", str(listed[0]["id"]))
        self.assertEqual(self.fault("list"), "no fault rules\n")

    def test_a_plain_client_sees_the_effects(self):
        for arguments, expected in (
                (["--status", "418", "--body", "tea"], (418, b"tea")),
                (["--redirect", "/x"], (302, b"")),
                (["--close-before"], ("RemoteDisconnected", b"")),
                (["--close-after"], ("RemoteDisconnected", b"")),
                (["--close-mid-body", "5"], ("IncompleteRead", b"")),
                (["--wrong-length", "9"], ("IncompleteRead", b""))):
            with self.subTest(arguments=arguments):
                self.fault("service", "--service", "query", "--count", "1", *arguments)
                self.assertEqual(self.raw("SELECT RAW 1", "c"), expected)
                self.assertEqual(self.raw("SELECT RAW 1", "c")[0], 200)
                self.fault("clear")

    def test_a_rule_affects_matching_requests_and_the_client_retries(self):
        self.fault("service", "--service", "query", "--method", "POST", "--path", "/query/*",
                   "--statement", "UPSERT*", "--context", "*", "--node", "0", "--count", "2",
                   "--status", "503", "--retry-after", "0", "--body", BUSY)
        self.assertEqual(self.query("SELECT RAW 1", "--readonly").stdout, "1\n")
        stored = self.query('UPSERT INTO travel (KEY, VALUE) VALUES ("k", {"n": 1})')
        self.assertEqual(stored.returncode, 0, stored.stderr)
        rule = json.loads(self.fault("list", "--json"))["service_faults"][0]
        self.assertEqual((rule["matched"], rule["taken"]), (2, 2))
        tries = self.audit("--statement", "UPSERT*")
        self.assertEqual([each["status"] for each in tries], [503, 503, 200])
        self.assertEqual([each["applied"] for each in tries], [False, False, True])
        self.assertEqual(len({each["context"] for each in tries}), 1)
        self.assertIn("UPSERT", self.control("audit", "--services"))
        (seen,) = json.loads(
            self.control("audit", "--services", "--twice", "--json"))["contexts"]
        self.assertEqual(seen, {"context": tries[0]["context"], "requests": 3, "applied": 1})

    def test_a_statement_whose_answer_is_cut_is_ambiguous_and_not_run_twice(self):
        self.fault("service", "--statement", "UPSERT*", "--nth", "1", "--close-mid-body", "3")
        cut = self.query('UPSERT INTO travel (KEY, VALUE) VALUES ("cut", 1)')
        self.assertNotEqual(cut.returncode, 0)
        self.assertIn("the server may have acted", cut.stderr)
        (entry,) = self.audit("--statement", "UPSERT*", "--applied", "true")
        self.assertEqual((entry["answer"], entry["mutations"]), ("closed", 1))
        self.assertEqual(self.control("audit", "--services", "--twice"),
                         "no context id was seen twice\n")

    def test_prepared_statements_are_forgotten(self):
        self.raw("PREPARE p FROM SELECT RAW 1", "p")
        self.assertIn("1 prepared statements", self.fault("forget-prepared"))
        status, body = self.raw("EXECUTE p", "e")
        self.assertEqual(json.loads(body)["errors"][0]["code"], 4040, status)
        self.assertEqual(self.audit("--context", "e")[0]["code"], 4040)

    def test_the_audit_can_be_filtered(self):
        self.raw("SELECT RAW 1", "one")
        self.raw("SELEKT", "two")
        self.command("analytics", "SELECT RAW 7", "--readonly")
        self.assertEqual([each["context"] for each in self.audit("--service", "query")],
                         ["one", "two"])
        self.assertEqual([each["context"] for each in self.audit("--status", "400")], ["two"])
        self.assertEqual(len(self.audit("--service", "analytics", "--path", "/*service",
                                        "--node", "0", "--applied", "false")), 1)
        self.assertEqual(len(self.audit("--limit", "1")), 1)

    def test_wrong_usage_names_the_option(self):
        for arguments, option in (
                (["fault", "service"], "--status"),
                (["fault", "service", "--status", "99"], "--status"),
                (["fault", "service", "--status", "503", "--close-before"], "--close-before"),
                (["fault", "service", "--close-before", "--body", "x"], "--body"),
                (["fault", "service", "--status", "503", "--header", "none"], "--header"),
                (["fault", "service", "--service", "kv", "--bad-chunk"], "--service"),
                (["fault", "service", "--wrong-length", "0"], "--wrong-length"),
                (["fault", "service", "--continue", "100000"], "--continue"),
                (["fault", "service", "--nth", "0", "--bad-chunk"], "--nth"),
                (["audit", "--twice"], "--services"),
                (["audit", "--services", "--key", "k"], "--key"),
                (["audit", "--services", "--status", "0x86"], "--status"),
                (["audit", "--services", "--service", "kv"], "--service"),
                (["audit", "--services", "--twice", "--node", "1"], "--twice")):
            with self.subTest(arguments=arguments):
                self.assertIn(option, self.control(*arguments, code=2))
        self.assertIn("no such fault rule", self.fault("remove", "--service", "999", code=1))


class SandboxServicePortsTest(unittest.TestCase):
    def test_all_ports_are_reported_and_open(self):
        with Running("--nodes", "1", "--replicas", "0", "--tls") as sandbox:
            ports = sandbox.ready["nodes"][0]
            status = json.loads(sandbox.run("status", "--json").stdout)["nodes"][0]
            shown = sandbox.run("status").stdout
            trust = ssl.create_default_context(cafile=sandbox.ready["ca_path"])
            for service in ("management", "query", "analytics", "search", "views"):
                with self.subTest(service=service):
                    tls = ports[f"{service}_tls"]
                    self.assertEqual((status[service], status[f"{service}_tls"]),
                                     (ports[service], tls))
                    self.assertRegex(sandbox.printed,
                                     rf"{service} +http://127.0.0.1:{ports[service]}, "
                                     rf"https://127.0.0.1:{tls}")
                    self.assertIn(str(tls), shown)
                    with socket.create_connection(("127.0.0.1", tls), PATIENCE_SECONDS) as peer:
                        trust.wrap_socket(peer, server_hostname="127.0.0.1").close()


if __name__ == "__main__":
    unittest.main()
