"""A hostile HTTP server against the program, reached through an honest key-value server.

Usage: http_test.py PROGRAM
"""

import os
import shutil
import subprocess
import sys

import frames
import hostile_case
import servers
from servers import Http, KeyValue, http_answer

GOOD = b'{"results":[{"n":1}],"status":"success"}'
OUTSIDE = "192.0.2.1"  # a documentation address; it exists only in the test's namespace


def place(server):
    return f"couchbase://{server.address}:{server.port}"


class Answers(hostile_case.HostileCase):
    def query(self, answer, *arguments, **options):
        """The end of a query to a service with this answer, and the service."""
        with Http(answer) as service, KeyValue(services={"n1ql": service.port}) as cluster:
            return self.attack("query", "SELECT 1", "-c", place(cluster), *arguments,
                               **options), service

    def test_the_honest_server_is_trusted(self):
        ended, _ = self.query(lambda *_: http_answer(GOOD), timeout="5s")
        self.assertEqual(ended.code, 0, ended.text)
        self.assertIn('"n":1', ended.out)

    def test_a_redirect_is_not_followed_and_gets_no_secret(self):
        with Http(lambda *_: http_answer(GOOD)) as trap:
            for status in ("301 Moved", "302 Found", "307 Temporary", "308 Permanent"):
                with self.subTest(status):
                    ended, _ = self.query(lambda *_, status=status: http_answer(
                        b"", status, Location=f"http://127.0.0.1:{trap.port}/"))
                    self.assert_failed(ended)
            self.assertEqual(trap.accepted, 0)

    def test_bytes_that_are_not_http_are_named(self):
        for noise in (b"\x00" * 64, b"HTTP/9.9 200 OK\r\n\r\n", b"SSH-2.0-x\r\n",
                      b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
                      b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                      b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
                      b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n"):
            with self.subTest(noise):
                ended, _ = self.query(lambda *_, noise=noise: noise)
                self.assert_failed(ended)

    def test_a_head_without_end_is_cut_off(self):
        head = b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"a" * (8 << 20)
        ended, _ = self.query(lambda *_: head)
        self.assert_failed(ended)

    def test_a_body_that_ends_early_is_an_error(self):
        ended, _ = self.query(lambda *_: http_answer(GOOD)[:-10])
        self.assert_failed(ended)

    def test_deeply_nested_json_is_an_error(self):
        for body in (b'{"results":[' + b"[" * 200_000, b"[" * 200_000,
                     b'{"a":' * 100_000, b'{"results":[{"a":"' + b"x" * (1 << 20)):
            with self.subTest(body[:14]):
                ended, _ = self.query(lambda *_, body=body: http_answer(body), timeout="4s")
                self.assert_failed(ended)

    def test_a_second_answer_after_the_first_is_not_used_for_the_next_call(self):
        ended, _ = self.query(lambda *_: http_answer(GOOD) + http_answer(b'{"results":[9]}'),
                              timeout="5s")
        self.assertEqual(ended.code, 0, ended.text)
        self.assertNotIn("9", ended.out)

    def test_control_characters_of_a_service_do_not_reach_the_terminal(self):
        body = (b'{"errors":[{"code":3000,"msg":"\\u001b[31mred\\u0007\\r\\nforged: line"}],'
                b'"status":"fatal"}')
        ended, _ = self.query(lambda *_: http_answer(body, "400 Bad Request"))
        self.assert_failed(ended, "red")
        for raw in ("\x1b", "\x07", "\r"):
            self.assertNotIn(raw, ended.text)

    def test_a_service_that_falls_silent_costs_no_more_than_the_timeout(self):
        ended, _ = self.query(lambda *_: b"")
        self.assert_failed(ended)

    def test_a_service_that_closes_is_asked_a_bounded_number_of_times(self):
        ended, service = self.query(lambda *_: None)
        self.assert_failed(ended)
        self.assertLess(service.requests, 100)


class Outside(hostile_case.HostileCase):
    """Looks like another machine to the program: an address that is not loopback, in a network
    namespace of the test."""

    def query(self, *arguments, **options):
        with Http(lambda *_: http_answer(GOOD), address=OUTSIDE) as service:
            def configure(server):
                return frames.configuration("travel", [server.port], hosts=[OUTSIDE],
                                            services={"n1ql": service.port})
            with KeyValue(address=OUTSIDE, configure=configure,
                          services={"n1ql": service.port}) as cluster:
                def whole(_, session, request):
                    import json
                    text = configure(cluster) if session["bucket"] else {
                        "rev": 1, "nodesExt": [{"hostname": OUTSIDE, "services": {
                            "kv": cluster.port, "n1ql": service.port}}]}
                    return frames.response(request, value=json.dumps(text).encode(), datatype=1)
                cluster.script[frames.GET_CONFIG] = whole
                where = place(cluster) + options.pop("parameters", "")
                return self.attack(*arguments, "-c", where, **options), service, cluster

    def test_the_password_is_not_sent_over_http_unless_allowed(self):
        ended, service, cluster = self.query("query", "SELECT 1")
        self.assert_failed(ended, "allow_plain_http", "--allow-plain-http", "couchbases://")
        self.assert_no_secret(service, cluster)

    def test_key_value_works_without_it(self):
        ended, service, cluster = self.query("get", "k", timeout="5s")
        self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)
        self.assert_no_secret(service, cluster)

    def test_an_option_of_key_value_does_not_allow_it(self):
        ended, service, cluster = self.query(
            "query", "SELECT 1", parameters="?allow_plain_without_tls=true")
        self.assert_failed(ended, "allow_plain_http")
        self.assert_no_secret(service, cluster)

    def test_it_is_sent_if_the_user_allows_it(self):
        for how in ({"parameters": "?allow_plain_http=true"}, {}):
            flag = () if how else ("--allow-plain-http",)
            ended, service, _ = self.query("query", "SELECT 1", *flag, timeout="5s", **how)
            self.assertEqual(ended.code, 0, ended.text)
            self.assertTrue(service.saw(hostile_case.SECRETS[1]))

    def test_ping_reports_such_services_as_not_checked(self):
        ended, service, cluster = self.query("ping", timeout="5s")
        self.assertIn("not checked", ended.text)
        self.assert_no_secret(service, cluster)


def in_own_namespace():
    """Starts this program again where OUTSIDE exists. Needs permission to create namespaces."""
    setup = (f"ip link set lo up && ip address add {OUTSIDE}/32 dev lo && "
             "REPRISE_HOSTILE_OUTSIDE=1 exec \"$@\"")
    again = [sys.executable, os.path.abspath(__file__), hostile_case.PROGRAM, *sys.argv[1:]]
    return subprocess.run(["unshare", "--net", "sh", "-c", setup, "sh", *again],
                          check=False).returncode


if __name__ == "__main__":
    if "REPRISE_HOSTILE_OUTSIDE" in os.environ:
        hostile_case.main()
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        sys.exit("unshare and ip are needed: ./dev setup installs them")
    sys.exit(in_own_namespace())
