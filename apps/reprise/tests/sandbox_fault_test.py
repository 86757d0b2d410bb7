"""`reprise sandbox fault`: disturbances of a running cluster.

Usage: sandbox_fault_test.py PROGRAM
"""

import json
import socket
import unittest

from sandbox_fixture import PATIENCE_SECONDS, SandboxCase


class SandboxFaultTest(SandboxCase):
    OPTIONS = ("--nodes", "2", "--bucket", "travel", "--collection", "inventory.airline")

    def fault(self, *arguments, code=0):
        return self.control("fault", *arguments, code=code)

    def nodes(self):
        return json.loads(self.fault("nodes", "--json"))["nodes"]

    def test_answers_are_corrupted_in_every_way(self):
        for arguments, effect, text in (
                (["--answer-twice"], "answer_twice", "answer_twice"),
                (["--wrong-opaque"], "wrong_opaque", "wrong_opaque"),
                (["--truncate", "10"], {"truncate": 10}, "truncate 10"),
                (["--garbage", "30"], {"garbage": 30}, "garbage 30"),
                (["--trickle", "2ms"], {"trickle_ms": 2}, "trickle 2ms")):
            self.fault("add", "--opcode", "get", *arguments)
            listed = json.loads(self.fault("list", "--json"))["faults"]
            self.assertEqual([each["effect"] for each in listed], [effect])
            self.assertIn(text, self.fault("list"))
            self.fault("clear")
        self.assertIn("exactly one", self.fault("add", "--answer-twice", "--garbage", "1", code=2))

    def test_nodes_are_disturbed_and_restored(self):
        self.fault("node", "1", "--frozen", "true", "--partition", "true", "--tls", "expired",
                   "--reject-credentials", "true", "--stale-logins", "all",
                   "--corrupt-error-map", "true", "--corrupt-configuration", "true")
        node = self.nodes()[1]
        for name in ("frozen", "partitioned", "reject_credentials", "corrupt_error_map",
                     "corrupt_configuration"):
            self.assertIs(node[name], True, name)
        self.assertEqual((node["tls"], node["stale_logins"]), ("expired", "all"))
        self.assertIs(self.nodes()[0]["frozen"], False)
        self.assertIn("expired", self.fault("nodes"))
        self.fault("node", "--clear")
        self.assertIs(self.nodes()[1]["frozen"], False)
        self.assertIn("neither a number", self.fault("node", "--stale-logins", "few", code=2))
        self.assertIn("unknown node", self.fault("node", "7", "--frozen", "true", code=1))

    def test_a_node_refuses_connections_and_is_killed(self):
        address = ("127.0.0.1", self.ready["nodes"][0]["kv"])
        self.fault("node", "0", "--refuse", "true")
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(address, PATIENCE_SECONDS).close()
        self.fault("node", "0", "--refuse", "false")
        with socket.create_connection(address, PATIENCE_SECONDS) as peer:
            self.fault("kill", "0")
            peer.settimeout(PATIENCE_SECONDS)
            with self.assertRaises(ConnectionResetError):
                peer.recv(1)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(address, PATIENCE_SECONDS).close()
        self.control("topology", "up", "0")
        socket.create_connection(address, PATIENCE_SECONDS).close()

    def test_codes_users_buckets_and_collections_are_disturbed(self):
        self.fault("code", "0x7ff0", "--name", "N", "--attribute", "temp,auto-retry", "--retry",
                   "exponential", "--interval", "2ms", "--after", "10ms", "--ceil", "500ms",
                   "--max-duration", "1s")
        self.fault("code", "0x7ff0", "--drop")
        self.assertIn("unknown error code", self.fault("code", "0x7ff0", "--drop", code=1))
        self.assertIn("not an attribute", self.fault("code", "0x7ff0", "--attribute", "x", code=1))
        self.fault("user", "guest", "--password", "p", "--bucket", "travel")
        self.fault("bucket", "travel", "--deny", "--user", "guest")
        self.fault("bucket", "travel", "--allow", "--user", "guest")
        self.fault("user", "guest", "--drop")
        self.fault("bucket", "travel", "--presence", "absent", "--node", "1")
        self.fault("bucket", "travel", "--presence", "full", "--node", "1")
        self.assertIn("exactly one", self.fault("bucket", "travel", code=2))
        self.fault("collection", "travel", "inventory", "airline", "--hide-on", "1")
        self.fault("collection", "travel", "inventory", "airline", "--show-on", "1")
        self.fault("collection", "travel", "inventory", "airline", "--recreate")
        self.fault("replay", "0")

    def test_durable_writes_are_held_and_slowed_down(self):
        for what in ("replication", "persistence", "recommit"):
            self.fault("hold", what)
            self.fault("hold", what, "--release")
        self.fault("hold", "configuration", "--node", "1")
        self.fault("hold", "configuration", "--node", "1", "--release")
        text = self.fault("durability", "--replication-delay", "5ms", "--recommit-delay", "1s")
        self.assertEqual(text, "0 durable writes are pending\n")
        self.fault("durability", "--replication-delay", "0", "--recommit-delay", "0")


if __name__ == "__main__":
    unittest.main()
