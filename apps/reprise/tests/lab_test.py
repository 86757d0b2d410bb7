"""Runs the lab commands of the program and checks what they print and write.

    python3 lab_test.py PROGRAM
"""

import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

PROGRAM = ""

# A small scenario: one second of real time at most.
SMALL = """{
  // A comment.
  "title": "Small", "length": "30s",
  "clients": { "count": 5, "requests_per_second": 50, "attempt_timeout": "250ms" },
  "services": [{ "name": "shop", "capacity_per_second": 100, "queue_limit": 200 }],
  "troubles": [{ "kind": "stall", "start": "5s", "length": "5s" }],
  "strategies": ["none", "naive", "standard"]
}
"""
GRPC = """{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.1s",
"maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}],
"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}
"""


def run(*arguments, cwd=None, text=None):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                          cwd=cwd, input=text, timeout=120)


class Page(HTMLParser):
    """Collects what a page would fetch, and its data."""

    def __init__(self, text):
        super().__init__()
        self.fetched, self.data, self.in_data = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "poster") or tag in ("link", "iframe"):
                self.fetched.append((tag, name, value))
        self.in_data = tag == "script" and ("id", "data") in attrs

    def handle_data(self, data):
        if self.in_data:
            self.data += data

    def handle_endtag(self, tag):
        self.in_data = False


class LabTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("small.json", SMALL)

    def write(self, name, text):
        Path(self.folder.name, name).write_text(text, encoding="utf-8")

    def files(self):
        return sorted(path.name for path in Path(self.folder.name).iterdir())

    def lab(self, *arguments, text=None):
        return run("lab", *arguments, cwd=self.folder.name, text=text)

    def assert_usage_error(self, result, *parts):
        self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_help_shows_examples(self):
        for command in ([], ["run"], ["region"], ["new"], ["list"], ["lint"], ["serve"]):
            result = self.lab(*command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("  reprise lab ", result.stdout)

    def test_the_gallery_and_the_presets_are_listed(self):
        text = self.lab("list").stdout
        listed = json.loads(self.lab("list", "--json").stdout)
        self.assertEqual([each["name"] for each in listed["scenarios"]],
                         ["outage", "metastable", "budgets", "slow_down", "layers", "cold_fleet",
                          "deploy", "bad_node", "hedging", "jitter_herd", "rebalance"])
        for each in listed["scenarios"]:
            self.assertRegex(text, rf"(?m)^{each['name']}$")
            self.assertTrue(each["title"] and each["summary"])
        self.assertIn("grpc_a6", [each["name"] for each in listed["presets"]])

    def test_run_prints_a_table_a_summary_and_the_path_of_the_page(self):
        result = self.lab("run", "small.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"none +naive +standard")
        self.assertRegex(result.stdout, r"recovery, 20 s observed +[\d.]+ s +never +[\d.]+ s")
        self.assertIn("does not recover with 'naive' in the 20 s observed",
                      " ".join(result.stdout.split()))
        self.assertIn("Charts: reprise-small.html", result.stdout)
        self.assertIn("3 runs of about 1500 requests", result.stderr)
        self.assertEqual(self.files(), ["reprise-small.html", "small.json"])
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)

    def test_the_page_fetches_nothing_and_contains_all_series(self):
        result = self.lab("run", "small.json", "--quiet", "--html", "page.html")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        text = Path(self.folder.name, "page.html").read_text(encoding="utf-8")
        page = Page(text)
        self.assertEqual(page.fetched, [])
        self.assertNotRegex(text, r"(?i)(src|href)\s*=\s*[\"']?\s*(https?:)?//")
        self.assertNotRegex(text, r"(?i)@import|url\(\s*[\"']?https?:")
        strategies = json.loads(page.data)["strategies"]
        self.assertEqual([each["name"] for each in strategies], ["none", "naive", "standard"])
        for each in strategies:
            for name in ("offered", "attempts", "useful", "waiting"):
                self.assertEqual(len(each["services"][0]["series"][name]), 30)

    def test_json_and_csv_go_to_standard_output_and_write_a_page_only_on_request(self):
        result = self.lab("run", "small.json", "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout)["model"]["requests_per_second"], 50)
        rows = list(csv.DictReader(io.StringIO(self.lab("run", "small.json", "--csv").stdout)))
        self.assertEqual(len(rows), 3 * 30)
        self.assertEqual(rows[0]["strategy"], "none")
        self.assertEqual(self.files(), ["small.json"])
        self.lab("run", "small.json", "--json", "--html", "asked.html")
        self.assertEqual(self.files(), ["asked.html", "small.json"])

    def test_threads_do_not_change_the_result_and_the_command_repeats_the_run(self):
        first = self.lab("run", "small.json", "--json", "--threads", "1", "--seed", "7",
                         "--set", "clients.count=3", "--strategy", "naive",
                         "--strategy", "grpc_a6").stdout
        data = json.loads(first)
        self.assertEqual((data["model"]["seed"], data["model"]["clients"]), (7, 3))
        words = data["command"].split()
        self.assertEqual(words[:3], ["reprise", "lab", "run"])
        self.assertEqual(self.lab(*words[2:], "--json", "--threads", "4").stdout, first)

    def test_strategies_are_presets_names_of_the_scenario_and_files(self):
        self.write("service_config.json", GRPC)
        data = json.loads(self.lab("run", "small.json", "--json", "--strategy", "none",
                                   "--strategy", "service_config.json").stdout)
        self.assertEqual([each["name"] for each in data["strategies"]], ["none", "service_config"])
        self.assertIn("3 attempts; 100 ms x 2", data["strategies"][1]["settings"])
        self.assert_usage_error(self.lab("run", "small.json", "--strategy", "standrad"),
                                "'standrad'", "did you mean standard?")

    def test_a_scenario_is_read_from_standard_input(self):
        self.assertEqual(self.lab("run", "-", "--json", text=SMALL).returncode, 0)

    def test_problems_name_file_line_and_path_and_write_nothing(self):
        self.write("bad.json", SMALL.replace('"queue_limit"', '"queue_limt"'))
        self.assert_usage_error(
            self.lab("run", "bad.json"),
            "bad.json: line 5: services[0].queue_limt: is unknown here; did you mean 'queue_limit'?")
        self.write("units.json", SMALL.replace('"250ms"', "250"))
        self.assert_usage_error(self.lab("run", "units.json"),
                                "line 4: clients.attempt_timeout: must be a time with its unit")
        self.assert_usage_error(self.lab("run", "metastabel"), "did you mean metastable?")
        self.assert_usage_error(self.lab("run", "calm"), "'calm'", "reprise lab list")
        self.assert_usage_error(self.lab("run", "outage", "--set", "length=5"), "--set: length:")
        self.assert_usage_error(self.lab("run", "outage", "--set", "length"), "--set:", "PATH=VALUE")
        self.assert_usage_error(self.lab("run", "outage", "--seed", "-1"), "--seed:")
        self.assert_usage_error(self.lab("run", "outage", "--threads", "0"), "--threads")
        self.assertEqual(self.lab("run", "missing.json").returncode, 1)
        result = self.lab("run", "small.json", "--html", "missing/page.html")
        self.assertEqual(result.returncode, 1)
        self.assertIn("missing/page.html", result.stderr)
        self.assertEqual([name for name in self.files() if name.endswith("html")], [])

    def test_new_writes_a_scenario_that_runs_and_overwrites_nothing(self):
        self.assertEqual(self.lab("new", "mine.json").returncode, 0)
        text = Path(self.folder.name, "mine.json").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), 20)
        self.assertIn("your settings", self.lab("run", "mine.json").stdout)
        self.assertEqual(self.lab("new", "mine.json").returncode, 1)
        again = self.lab("new", "mine.json", "--force", "--json")
        self.assertEqual((again.returncode, json.loads(again.stdout)), (0, {"file": "mine.json"}))
        self.assertIn('"layers": "all"', self.lab("new", "-", "--from", "layers").stdout)

    def test_region_prints_the_load_up_to_which_a_strategy_recovers(self):
        result = self.lab("region", "small.json", "--strategy", "backoff", "--values", "1,4",
                          "--json")
        points = json.loads(result.stdout)["points"]
        self.assertEqual([each["value"] for each in points], [1, 4])
        self.assertGreater(points[0]["recovers_up_to_per_second"],
                           points[1]["recovers_up_to_per_second"])
        text = self.lab("region", "small.json", "--over", "timeout", "--values", "250ms,1s").stdout
        self.assertIn("timeout of an attempt   recovers up to", text)
        self.assertIn("Map: reprise-small-region.html", text)
        self.assert_usage_error(self.lab("region", "small.json", "--over", "bucket"), "no bucket")
        self.assert_usage_error(self.lab("region", "small.json", "--over", "x"), "--over")
        self.assert_usage_error(self.lab("region", "small.json", "--over", "timeout", "--values",
                                         "1"), "--values")

    def test_lint_shows_warnings_with_the_curve_of_a_run(self):
        self.write("free.json", '{"attempts_max": 4, "budget": "none"}')
        result = self.lab("lint", "free.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("budget: retries are free", result.stdout)
        self.assertRegex(result.stdout, r"does not recover .*\n +load +\|.*\| to")
        warnings = json.loads(self.lab("lint", "free.json", "--json").stdout)["warnings"]
        self.assertEqual(warnings[0]["field"], "budget")
        self.write("grpc.json", GRPC)
        self.assertEqual(self.lab("lint", "grpc.json").stdout, "No warnings.\n")
        self.write("typo.json", '{"attempts_mx": 4}')
        self.assert_usage_error(self.lab("lint", "typo.json"), "did you mean 'attempts_max'?")


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1])
