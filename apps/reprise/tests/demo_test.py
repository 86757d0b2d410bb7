"""The demonstration and the soak run for a few seconds: the client loses and duplicates nothing.
The mutant lost_write_is_repeated shows that the audit would notice.
Usage: demo_test.py REPRISE"""

import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv[1]
PHASES = ["steady", "rebalance", "node lost", "locks", "collection recreated",
          "corrupt error map", "pressure", "services", "quiet end"]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class DemoTest(unittest.TestCase):
    def test_the_client_loses_and_duplicates_nothing(self):
        result = run(PROGRAM, "demo", "--seconds", "6", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        printed = json.loads(result.stdout)
        audit = printed["audit"]
        self.assertTrue(printed["good"] and audit["clean"])
        self.assertEqual((audit["lost"], audit["duplicated"]), (0, 0))
        self.assertEqual([phase["name"] for phase in printed["phases"]], PHASES)
        phases = {phase["name"]: phase for phase in printed["phases"]}
        for phase in printed["phases"]:
            self.assertGreater(phase["operations"], 0, phase["name"])
        # The faults were real: each phase had an effect.
        moved = [phases[name]["retries"].get("KV_NOT_MY_VBUCKET", 0)
                 for name in ("rebalance", "node lost")]
        self.assertGreater(sum(moved), 0)
        self.assertGreater(
            phases["corrupt error map"]["retries"]["KV_ERROR_MAP_RETRY_INDICATED"], 0)
        self.assertGreater(phases["locks"]["retries"]["KV_LOCKED"], 0)
        self.assertGreater(phases["pressure"]["retries"]["KV_TEMPORARY_FAILURE"], 0)
        self.assertGreater(phases["node lost"]["ambiguous"], 0)
        self.assertGreater(phases["pressure"]["ambiguous"], 0)
        self.assertGreater(phases["collection recreated"]["retries"]["KV_COLLECTION_OUTDATED"], 0)
        self.assertGreater(audit["writes_unknown"], 0)

        # Statements ran in all phases; the unknown ones were applied once or not at all.
        self.assertEqual((audit["statements_twice"], audit["statements_lost"],
                          audit["statements_against_the_answer"], audit["wrong_selects"]),
                         (0, 0, 0, 0))
        self.assertGreater(audit["statements"], 100)
        self.assertGreater(audit["statements_unknown"], audit["statements_unknown_applied"])
        self.assertGreater(audit["statements_unknown_applied"], 0)
        for phase in printed["phases"]:
            self.assertGreater(phase["http"]["operations"], 0, phase["name"])
        services = phases["services"]["http"]
        self.assertGreater(services["retries"]["QUERY_PREPARED_STATEMENT_FAILURE"], 0)
        self.assertGreater(services["retries"]["SOCKET_CLOSED_WHILE_IN_FLIGHT"], 0)
        self.assertGreater(services["ambiguous"], 0)

    def test_plain_lines_end_in_the_audit(self):
        result = run(PROGRAM, "demo", "--seconds", "3", "--plain", "--seed", "2")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"\nstatements: \d+ run, \d+ unknown, twice 0, lost 0\n"
                                        r"lost 0, duplicated 0\n$")
        for phase in PHASES:
            self.assertIn(f" {phase} (end): ", result.stdout)
        self.assertNotIn("\x1b", result.stdout)


class SoakTest(unittest.TestCase):
    def test_soak_reports_memory_and_ends_clean(self):
        result = run(PROGRAM, "soak", "--minutes", "0.25", "--json", "--seed", "3")
        printed = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual((printed["audit"]["lost"], printed["audit"]["duplicated"]), (0, 0))
        self.assertGreater(printed["audit"]["statements"], 100)
        self.assertEqual(printed["audit"]["statements_twice"], 0)
        self.assertGreater(printed["memory"]["end_mib"], 0)

    def test_wrong_lengths_are_refused(self):
        self.assertEqual(run(PROGRAM, "demo", "--seconds", "0").returncode, 2)
        self.assertEqual(run(PROGRAM, "soak", "--minutes", "-1").returncode, 2)


class ShortOfDescriptorsTest(unittest.TestCase):
    def test_it_ends_on_its_own_when_file_descriptors_are_scarce(self):
        # 60 are enough to start but too few for all connections; 43 are too few to be ready.
        for limit in (60, 43):
            result = run("bash", "-c", f'ulimit -n {limit} && exec "$0" demo --seconds 3 --plain',
                         PROGRAM)
            self.assertIn(result.returncode, (0, 1), result.stdout + result.stderr)
            ended = "duplicated 0" in result.stdout or "open files" in result.stderr
            self.assertTrue(ended, result.stdout + result.stderr)


if __name__ == "__main__":
    # Further arguments name test classes; none: all.
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
