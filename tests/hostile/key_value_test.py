"""A hostile key-value server against the program. The program trusts nothing that the server sends
before it proves that it knows the password, and always ends in time with a named error.

Usage: key_value_test.py PROGRAM
"""

import contextlib
import json
import struct
import threading
import time

import frames
import hostile_case
import servers
from frames import (AUTH_CONTINUE, GET, GET_CONFIG, GET_ERROR_MAP, HELLO, NOT_MY_VBUCKET, SASL_AUTH,
                    SASL_LIST, SASL_STEP, SELECT_BUCKET, response)
from servers import KeyValue

STAGES = {"hello": HELLO, "error map": GET_ERROR_MAP, "mechanisms": SASL_LIST, "login": SASL_AUTH,
          "proof": SASL_STEP, "bucket": SELECT_BUCKET, "configuration": GET_CONFIG,
          "operation": GET}


def place(*ports):
    return "couchbase://" + ",".join(f"127.0.0.1:{port}" for port in ports)


class BeforeLogin(hostile_case.HostileCase):
    """A server that does not know the password."""

    def push_then(self, opcode, revision=2 ** 62, services=None):
        """A script that sends a configuration naming only itself before it answers `opcode`."""
        def pushing(server, session, request):
            text = frames.configuration(
                "travel", [server.port], revision=revision, services=services)
            cluster = dict(frames.cluster_configuration(
                [server.port], revision=revision, services=services))
            return (frames.pushed_configuration(text, revision) +
                    frames.pushed_configuration(cluster, revision) +
                    server.honest(session, request))
        return {opcode: pushing}

    def test_a_configuration_pushed_before_login_does_not_lock_out_a_healthy_cluster(self):
        for stage in ("hello", "error map", "mechanisms", "login"):
            with self.subTest(stage), KeyValue() as healthy, \
                    KeyValue(self.push_then(STAGES[stage]), password="guess") as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port, healthy.port),
                                    timeout="5s")
                self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)
                self.assert_no_secret(hostile, healthy)

    def test_a_pushed_configuration_does_not_obtain_the_password_over_http(self):
        rows = servers.http_answer(b'{"results":[],"status":"success"}')
        with servers.Http(lambda *_: rows) as trap:
            ports = {"n1ql": trap.port, "mgmt": trap.port}
            for stage in ("hello", "login"):
                script = self.push_then(STAGES[stage], services=ports)
                with self.subTest(stage), KeyValue(script, password="guess") as hostile:
                    ended = self.attack("query", "SELECT 1", "-c", place(hostile.port))
                    self.assert_failed(ended)
                    self.assertEqual(trap.accepted, 0, ended.text)
                    self.assert_no_secret(trap, hostile)

    def test_a_wrong_signature_is_terminal_and_proofs_are_not_sent_in_a_loop(self):
        with KeyValue(password="guess") as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port), timeout="4s")
            self.assert_failed(
                ended, "server signature is wrong: this server does not know the password")
            self.assertEqual(ended.code, 6, ended.text)
            # The connections of the bucket and of the cluster may each log in once.
            self.assertLessEqual(hostile.counts[SASL_STEP], 2)

    def test_a_missing_signature_and_refusals_of_scram_are_terminal(self):
        for value in (b"", b"e=invalid-proof", b"e=unknown-user", b"e=other-error", b"v=", b"x"):
            def ending(_, __, request, value=value):
                return response(request, value=value)
            with self.subTest(value), KeyValue({SASL_STEP: ending}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), timeout="4s")
                self.assert_failed(ended, "server")
                self.assertEqual(ended.code, 6, ended.text)
                self.assertLessEqual(hostile.counts[SASL_STEP], 2)

    def test_a_nonce_that_is_not_ours_is_named_and_gets_no_proof(self):
        def stale(_, session, request):
            return response(request, AUTH_CONTINUE,
                            session["login"].challenge(request.value, keeps_nonce=False))
        with KeyValue({SASL_AUTH: stale}) as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port))
            self.assert_failed(ended, "nonce")
            self.assertNotIn(SASL_STEP, hostile.counts)

    def test_iterations_out_of_bounds_are_named_and_cost_nothing(self):
        for rounds in (0, 1, 4095, 100_001, 2 ** 31 - 1, 2 ** 63):
            def counting(_, session, request, rounds=rounds):
                session["login"].rounds = rounds
                return response(request, AUTH_CONTINUE, session["login"].challenge(request.value))
            with self.subTest(rounds), KeyValue({SASL_AUTH: counting}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), timeout="1s")
                self.assert_failed(ended, "iterations" if rounds else "")
                self.assertNotIn(SASL_STEP, hostile.counts)

    def test_challenges_without_end_are_cut_off(self):
        def again(_, session, request):
            return response(request, AUTH_CONTINUE, session["login"].server_first.encode())
        with KeyValue({SASL_STEP: again}) as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port))
            self.assert_failed(ended)
            self.assertLess(hostile.counts[SASL_STEP], 50)

    def test_every_proof_counts_whatever_the_server_does_next(self):
        reactions = {"closes": None, "sends garbage": b"\x81" + b"\xff" * 50,
                     "is silent": KeyValue.SILENCE}
        for name, reaction in reactions.items():
            def reacting(_, __, ___, reaction=reaction):
                return reaction
            with self.subTest(name), KeyValue({SASL_STEP: reacting}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), timeout="4s")
                self.assert_failed(ended)
                # The connections of the bucket and of the cluster may each log in once, and one
                # lost connection is forgiven.
                self.assertLessEqual(hostile.counts[SASL_STEP], 3)

    def test_seeds_that_ask_for_many_rounds_do_not_delay_the_healthy_one(self):
        def costly(_, session, request):
            session["login"].rounds = 100_000
            return response(request, AUTH_CONTINUE, session["login"].challenge(
                request.value, salt=id(session).to_bytes(16, "big")))
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(KeyValue({SASL_AUTH: costly}, password="guess"))
                     for _ in range(48)]
            healthy = stack.enter_context(KeyValue())
            ports = [each.port for each in crowd] + [healthy.port]
            ended = self.attack("get", "k", "-c", place(*ports), timeout="5s")
            self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)

    def test_a_seed_that_refuses_at_once_does_not_beat_a_slow_healthy_one(self):
        def refusing(_, __, request):
            return response(request, frames.AUTH_ERROR)
        def slow(server, session, request):
            threading.Event().wait(0.7)
            return server.honest(session, request)
        with KeyValue({SASL_AUTH: refusing}) as hostile, KeyValue({HELLO: slow}) as healthy:
            ended = self.attack("get", "k", "-c", place(hostile.port, healthy.port), timeout="10s")
            self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)

    def test_a_refusal_counts_once_the_other_seeds_have_been_silent(self):
        def refusing(_, __, request):
            return response(request, frames.AUTH_ERROR)
        with KeyValue({SASL_AUTH: refusing}) as refuses, servers.Silent() as silent:
            ended = self.attack("get", "k", "-c", place(refuses.port, silent.port), timeout="20s")
            self.assertEqual(ended.code, 6, ended.text)

    def test_a_plain_only_offer_never_sees_the_password(self):
        for offer in (b"PLAIN", b"PLAIN CRAM-MD5", b"plain"):
            with self.subTest(offer), KeyValue(mechanisms=offer) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port))
                self.assert_failed(ended, "PLAIN")
                self.assert_no_secret(hostile)

    def test_plain_that_is_allowed_is_not_preferred(self):
        with KeyValue(mechanisms=b"PLAIN SCRAM-SHA512") as server:
            ended = self.attack(
                "get", "k", "-c", place(server.port) + "?allow_plain_without_tls=true")
            self.assertEqual(ended.code, 0, ended.text)
            self.assert_no_secret(server)

    def test_an_error_map_of_a_server_without_password_changes_nothing(self):
        flood = json.dumps({"version": 1, "revision": 2 ** 31 - 1, "errors": {
            "1": {"name": "LIE", "desc": "lie", "attrs": ["retry-now"]}}}).encode()
        def lying(_, __, request):
            return response(request, value=flood)
        with KeyValue() as healthy, \
                KeyValue({GET_ERROR_MAP: lying}, password="guess") as hostile:
            ended = self.attack("get", "absent", "-c", place(hostile.port, healthy.port),
                                timeout="5s")
            self.assertEqual(ended.code, 3, ended.text)


class Frames(hostile_case.HostileCase):
    """Bytes that violate the protocol, at every stage."""

    def at_every_stage(self, make, timeout="700ms"):
        for name, opcode in STAGES.items():
            with self.subTest(name), KeyValue({opcode: make}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), timeout=timeout)
                self.assert_failed(ended)
                self.assert_no_secret(hostile)

    def test_a_body_of_four_gigabytes_is_not_waited_for(self):
        self.at_every_stage(lambda _, __, request: response(request, total=2 ** 32 - 1))

    def test_lengths_that_do_not_add_up_close_the_connection(self):
        self.at_every_stage(
            lambda _, __, request: response(request, value=b"x", key_size=500, extras_size=255))

    def test_random_bytes_close_the_connection(self):
        noise = bytes((index * 167 + 13) % 256 for index in range(4096))
        self.at_every_stage(lambda *_: noise)

    def test_an_answer_to_another_command_closes_the_connection(self):
        self.at_every_stage(lambda _, __, request: response(request, opcode=0x5E))

    def test_an_opaque_that_was_never_issued_closes_the_connection_and_is_named(self):
        self.at_every_stage(lambda _, __, request: response(request, opaque=0xDEADBEEF))
        with KeyValue({GET: lambda _, __, asked: response(asked, opaque=0xDEADBEEF)}) as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port), "--verbose")
            self.assertIn("0xdeadbeef", ended.text.lower())

    def test_a_server_that_closes_at_any_stage_is_reported(self):
        self.at_every_stage(lambda *_: None)

    def test_a_server_that_falls_silent_at_any_stage_costs_no_more_than_the_timeout(self):
        self.at_every_stage(lambda *_: KeyValue.SILENCE)

    def test_pushes_without_end_do_not_grow_the_program(self):
        def flooding(server, session, request):
            push = frames.pushed_configuration(server.configuration(revision=5), 5)
            return push * 20_000 + server.honest(session, request)
        with KeyValue({GET: flooding}) as hostile:
            self.attack("get", "k", "-c", place(hostile.port), timeout="10s")

    def test_a_push_without_meaning_is_survived(self):
        junk = struct.pack(">BBHBBHIIQ", 0x82, 0x77, 0, 0, 0, 0, 3, 0, 0) + b"abc"
        def pushing(server, session, request):
            return junk + server.honest(session, request)
        with KeyValue({opcode: pushing for opcode in STAGES.values()}) as server:
            self.attack("get", "k", "-c", place(server.port))


class Answers(hostile_case.HostileCase):
    """A server that knows the password, and then misbehaves."""

    def test_not_my_vbucket_with_ever_newer_configurations_is_paced(self):
        revision = iter(range(10, 10 ** 9))
        def elsewhere(server, _, request):
            text = json.dumps(server.configuration(revision=next(revision))).encode()
            return response(request, NOT_MY_VBUCKET, value=text)
        with KeyValue({GET: elsewhere}) as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port), timeout="2s")
            self.assert_failed(ended)
            self.assertLess(hostile.counts[GET], 100, "redirected without pacing")

    def test_pushes_of_large_configurations_do_not_delay_a_deadline(self):
        def crowd(server, revision):
            hosts = ["127.0.0.1"] + [f"127.{revision % 200}.{1 + index // 250}.{1 + index % 250}"
                                     for index in range(4095)]
            return frames.configuration("travel", [server.port] + [1] * 4095, revision=revision,
                                        hosts=hosts, vbucket_count=64)
        def flooding(server, session, _):
            pushes = [frames.pushed_configuration(crowd(server, revision), revision)
                      for revision in range(2, 12)]
            def push():
                try:
                    for round_number in range(200):
                        for push in pushes:
                            rising = 100 + 10 * round_number + pushes.index(push)
                            session["connection"].sendall(
                                push[:32] + rising.to_bytes(8, "big") + push[40:])
                except OSError:
                    pass
            threading.Thread(target=push, daemon=True).start()
            return KeyValue.SILENCE
        with KeyValue({GET: flooding}) as hostile:
            begun = time.monotonic()
            ended = self.attack("get", "k", "-c", place(hostile.port), timeout="2500ms")
            taken = time.monotonic() - begun
            self.assertEqual(ended.code, 5, ended.text)
            self.assertLess(taken, 4, "the deadline was 2.5 s")

    def test_control_characters_of_a_server_do_not_reach_the_terminal(self):
        context = json.dumps({"error": {"context": "\x1b[31mred\x07\x9b\r\nforged: line"}})
        def colourful(_, __, request):
            return response(request, 0x04, value=context.encode(), datatype=1)
        for stage in ("bucket", "operation"):
            with self.subTest(stage), KeyValue({STAGES[stage]: colourful}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), "--verbose")
                self.assert_failed(ended)
                for raw in ("\x1b", "\x07", "\x9b", "\r"):
                    self.assertNotIn(raw, ended.text)
                self.assertFalse(any(line.startswith("forged") for line in ended.text.split("\n")))

    def test_hundreds_of_nodes_are_connected_to_a_few_at_a_time(self):
        counter = servers.Counter()
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(servers.Silent(counter=counter)) for _ in range(200)]
            def many(server):
                ports = [server.port] + [each.port for each in crowd]
                return frames.configuration("travel", ports, vbucket_count=64)
            with KeyValue(configure=many) as server:
                ended = self.attack("get", "k", "-c", place(server.port), timeout="3s")
                self.assertIn(ended.code, (0, 5), ended.text)
                self.assertGreater(counter.most, 0)
                self.assertLessEqual(counter.most, 64)

    def test_a_get_of_a_healthy_node_succeeds_among_thousands_of_dead_ones(self):
        def many(server):
            hosts = ["127.0.0.1"] + [
                f"127.0.{1 + index // 250}.{1 + index % 250}" for index in range(4095)]
            text = frames.configuration(
                "travel", [server.port] + [1] * 4095, hosts=hosts, vbucket_count=64)
            text["vBucketServerMap"]["vBucketMap"] = [[0]] * 64
            return text
        with KeyValue(configure=many) as server:
            ended = self.attack("get", "k", "-c", place(server.port), timeout="5s",
                                descriptors=160)
            self.assertEqual((ended.code, ended.out), (0, '{"n":1}\n'), ended.text)

    def test_a_configuration_that_is_refused_is_named(self):
        for value, said in ((b"{", "configuration"), (b"[1]", "configuration"),
                            (b"{" * 100_000, "configuration")):
            def broken(_, __, request, value=value):
                return response(request, value=value, datatype=1)
            with self.subTest(value[:4]), KeyValue({GET_CONFIG: broken}) as hostile:
                ended = self.attack("get", "k", "-c", place(hostile.port), timeout="1s")
                self.assert_failed(ended, said)

    def test_a_server_without_a_configuration_is_named(self):
        def absent(_, __, request):
            return response(request, frames.NOT_FOUND)
        with KeyValue({GET_CONFIG: absent}) as hostile:
            ended = self.attack("get", "k", "-c", place(hostile.port), timeout="1s")
            self.assert_failed(ended, "the server gave no configuration (0x01)")


class Peers(hostile_case.HostileCase):
    """Something other than a Couchbase server listens, or nothing does."""

    def test_a_refused_connection_is_named(self):
        ended = self.attack("get", "k", "-c", "couchbase://127.0.0.1:1", timeout="500ms")
        self.assert_failed(ended, "127.0.0.1:1: connection refused")

    def test_an_unknown_host_is_named(self):
        ended = self.attack("get", "k", "-c", "couchbase://nosuch.invalid", timeout="3s")
        self.assert_failed(ended, "cannot resolve nosuch.invalid")

    def test_a_server_of_another_protocol_is_named(self):
        for greeting in (b"SSH-2.0-OpenSSH_9.2p1\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n",
                         b"220 mail.example ESMTP ready to receive\r\n"):
            with self.subTest(greeting), servers.Talker(greeting) as other:
                ended = self.attack("get", "k", "-c", place(other.port), timeout="1s")
                self.assert_failed(ended, "not a Couchbase server")
                self.assert_no_secret(other)

    def test_a_tls_port_contacted_in_plain_text_is_named(self):
        alert = bytes((21, 3, 1, 0, 2, 2, 70))  # the answer of TLS servers to our HELLO
        with servers.Talker(alert) as other:
            ended = self.attack("get", "k", "-c", place(other.port), timeout="1s")
            self.assert_failed(ended, "this is a TLS port")


class ShortOfDescriptors(hostile_case.HostileCase):
    def test_running_out_of_file_descriptors_is_named_and_ends_in_time(self):
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(servers.Silent()) for _ in range(60)]
            def many(server):
                return frames.configuration(
                    "travel", [server.port] + [each.port for each in crowd])
            with KeyValue(configure=many) as server:
                ended = self.attack("get", "k", "-c", place(server.port), "--verbose",
                                    timeout="2s", descriptors=24)
                self.assertIn("too many open files", ended.text.lower())


if __name__ == "__main__":
    hostile_case.main()
