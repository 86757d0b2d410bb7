"""A hostile TLS server against the program, which must send nothing to a bad certificate.

Usage: tls_test.py PROGRAM
"""

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
        import frames
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
