"""A hostile TLS server against the program, which must send nothing to a bad certificate.

Usage: tls_test.py PROGRAM
"""

import json

import frames
import hostile_case
import servers
from certificates import Certificates
from servers import KeyValue


class Certified(hostile_case.HostileCase):
    @classmethod
    def setUpClass(cls):
        cls.certificates = Certificates()

    @classmethod
    def tearDownClass(cls):
        cls.certificates.close()

    def place(self, server, host="127.0.0.1", parameters=""):
        return f"couchbases://{host}:{server.port}{parameters}"

    def get(self, server, *arguments, trusts=True, **options):
        where = self.place(server, **options)
        trust = ("--ca-file", self.certificates.ca) if trusts else ()
        return self.attack("get", "k", "-c", where, *trust, *arguments)

    def secure(self, name, **options):
        return KeyValue(tls=self.certificates.server(name), configure=self.configuration, **options)

    @staticmethod
    def configuration(server):
        text = frames.configuration("travel", [server.port])
        text["nodesExt"] = [{"hostname": "127.0.0.1", "services": {"kvSSL": server.port}}]
        return text

    def test_a_good_certificate_is_trusted(self):
        with self.secure("good") as server:
            ended = self.get(server)
            self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)

    def test_each_bad_certificate_is_named_and_receives_no_bytes(self):
        expected = {"self signed": "certificate", "another host": "host",
                    "expired": "expired", "not yet valid": "not yet valid"}
        for name, text in expected.items():
            with self.subTest(name), self.secure(name) as server:
                ended = self.get(server)
                self.assert_failed(ended, text)
                self.assertEqual(ended.code, 6, ended.text)
                self.assertEqual(bytes(server.received), b"")

    def test_a_common_name_is_not_used_as_host_name(self):
        with self.secure("only a common name") as server:
            ended = self.get(server, host="localhost")
            self.assert_failed(ended, "host")
            self.assertEqual(bytes(server.received), b"")

    def test_an_unknown_authority_is_not_trusted(self):
        with self.secure("good") as server:
            ended = self.get(server, trusts=False)
            self.assert_failed(ended, "certificate")
            self.assertEqual(bytes(server.received), b"")

    def test_other_requests_of_the_program_check_certificates_too(self):
        for name in ("another host", "expired", "self signed"):
            for command in ("config", "error-map"):
                with self.subTest((name, command)), self.secure(name) as server:
                    ended = self.attack(command, "-c", self.place(server),
                                        "--ca-file", self.certificates.ca)
                    self.assert_failed(ended)
                    self.assertEqual(bytes(server.received), b"")

    def test_without_verification_plain_is_not_used(self):
        with self.secure("self signed", mechanisms=b"PLAIN") as server:
            ended = self.get(server, parameters="?tls_verify=none", trusts=False)
            self.assert_failed(ended, "PLAIN")
            self.assert_no_secret(server)

    def test_without_verification_the_signature_still_counts(self):
        with self.secure("self signed", password="guess") as server:
            ended = self.get(server, parameters="?tls_verify=none", trusts=False)
            self.assert_failed(ended, "server signature is wrong")
            self.assert_no_secret(server)

    def query_without_verification(self, parameters):
        good = servers.http_answer(b'{"results":[{"n":1}],"status":"success"}')
        with servers.Http(lambda *_: good, tls=self.certificates.server("self signed")) as relay:
            def configure(server):
                text = self.configuration(server)
                text["nodesExt"][0]["services"]["n1qlSSL"] = relay.port
                return text
            with KeyValue(tls=self.certificates.server("self signed"),
                          configure=configure) as cluster:
                def whole(_, session, request):
                    text = configure(cluster)
                    if not session["bucket"]:
                        text = {"rev": 1, "revEpoch": 1, "nodesExt": text["nodesExt"]}
                    return frames.response(request, value=json.dumps(text).encode(), datatype=1)
                cluster.script[frames.GET_CONFIG] = whole
                where = self.place(cluster, parameters="?tls_verify=none" + parameters)
                return self.attack("query", "SELECT 1", "-c", where, timeout="5s"), relay

    def test_without_verification_a_relay_does_not_get_the_password_over_http(self):
        ended, relay = self.query_without_verification("")
        self.assert_failed(ended, "without a verified certificate", "allow_plain_http=true")
        self.assert_no_secret(relay)

    def test_without_verification_http_works_if_the_user_allows_it(self):
        ended, relay = self.query_without_verification("&allow_plain_http=true")
        self.assertEqual(ended.code, 0, ended.text)
        self.assertTrue(relay.saw(hostile_case.SECRETS[1]))

    def test_plain_text_on_a_tls_port_is_named(self):
        for greeting in (b"SSH-2.0-x\r\n", b"\x00" * 100, b"HTTP/1.1 200 OK\r\n\r\n"):
            with self.subTest(greeting), servers.Talker(greeting) as server:
                ended = self.get(server)
                self.assert_failed(ended)
                self.assertNotIn("not done in time with an empty history", ended.text)

    def test_a_handshake_that_never_ends_costs_no_more_than_the_timeout(self):
        with servers.Silent() as server:
            self.assert_failed(self.get(server))


if __name__ == "__main__":
    hostile_case.main()
