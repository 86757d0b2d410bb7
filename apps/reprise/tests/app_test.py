#!/usr/bin/env python3
"""Runs the built program like a user: app_test.py PROGRAM VERSION"""

import html.parser
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = ""
VERSION = ""
QUICK = ["--rps", "50", "--capacity", "100"]


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)


class Page(html.parser.HTMLParser):
    """Collects what a browser would fetch, and the embedded data."""

    def __init__(self, text):
        super().__init__()
        self.fetched = []
        self.data = ""
        self.in_data = False
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


class ProgramTest(unittest.TestCase):
    def test_version(self):
        result = run("--version")
        self.assertEqual((result.returncode, result.stdout), (0, f"reprise {VERSION}\n"))

    def test_help_shows_examples(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("a Couchbase client", result.stdout)
        for example in ("get airline_10", "upsert airline_10", "sandbox start", "sandbox run",
                        "lab run outage"):
            self.assertIn(f"  reprise {example}", result.stdout)
        for options in (["lab", "--help"], ["lab", "run", "--help"], ["lab", "list", "--help"]):
            self.assertEqual(run(*options).returncode, 0)

    def test_help_of_document_commands_shows_examples_and_every_exit_code(self):
        for command in ("get", "exists", "upsert", "insert", "replace", "remove"):
            result = run(command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"  reprise {command} k", result.stdout)
            for code in range(9):
                self.assertRegex(result.stdout, rf"(?m)^ +{code}  \w")

    def test_help_of_the_sandbox_shows_examples(self):
        for command in ([], ["start"], ["run"]):
            result = run("sandbox", *command, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("  reprise sandbox ", result.stdout)
        self.assertIn("REPRISE_CONNECT", run("sandbox", "run", "--help").stdout)

    def test_help_of_run_names_every_option(self):
        text = run("lab", "run", "--help").stdout
        for option in ("seed", "clients", "rps", "capacity", "outage", "duration", "timeout",
                       "attempts", "bucket", "html", "json", "quiet"):
            self.assertIn(f"--{option}", text)

    def test_list_names_the_scenarios(self):
        result = run("lab", "list")
        self.assertEqual(result.returncode, 0)
        for name in ("outage", "metastable", "hedging"):
            self.assertRegex(result.stdout, rf"(?m)^{name}$")

    def test_the_scenarios_are_listed_as_json(self):
        listed = json.loads(run("lab", "list", "--json").stdout)["scenarios"]
        self.assertEqual([each["name"] for each in listed], ["outage", "metastable", "hedging"])
        self.assertTrue(all(each["title"] and each["summary"] for each in listed))

    def test_wrong_usage_exits_with_2_and_prints_no_result(self):
        for arguments in ([], ["fly"], ["lab"], ["lab", "run"], ["--no-such-option"],
                          ["lab", "run", "outage", "--no-such-option"],
                          ["lab", "run", "outage", "metastable"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertEqual(result.stdout, "", arguments)
            self.assertTrue(result.stderr.startswith("reprise: "), result.stderr)

    def test_unknown_scenario_is_wrong_usage_and_points_to_the_list(self):
        result = run("lab", "run", "calm")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'calm'", result.stderr)
        self.assertIn("reprise lab list", result.stderr)

    def test_bad_values_name_their_option_and_write_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for option, values in {
                "--seed": ["x", "-1", "18446744073709551616"],
                "--clients": ["0", "-5", "1000001", "4294967297", "many"],
                "--rps": ["0", "-1", "nan", "inf", "1e9", "x"],
                "--capacity": ["0", "-1", "nan", "1e300"],
                "--outage": ["-1", "nan", "1e300", "100000", "86380"],
                "--duration": ["0", "3", "-1", "60.05", "1e9"],
                "--timeout": ["0", "-1", "nan", "1e12"],
                "--attempts": ["0", "101", "2.5"],
                "--bucket": ["0", "1", "nan", "-3"],
            }.items():
                for value in values:
                    result = run("lab", "run", "outage", f"{option}={value}", cwd=folder)
                    self.assertEqual(result.returncode, 2, (option, value, result.stderr))
                    self.assertIn(option, result.stderr, (option, value))
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_a_file_that_cannot_be_written_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("lab", "run", "outage", *QUICK, "--html", "missing/page.html", cwd=folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("missing/page.html", result.stderr)

    def test_run_prints_a_table_a_summary_and_the_path_of_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("lab", "run", "metastable", cwd=folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, r"no retries +naive retries +standard strategy")
            self.assertRegex(result.stdout, r"recovery after the outage +[\d.]+ s +never .* [\d.]+ s")
            self.assertIn("Charts: reprise-metastable.html", result.stdout)
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["reprise-metastable.html"])
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 100)

    def test_the_page_fetches_nothing_and_contains_three_series(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("lab", "run", "outage", "--quiet", "--html", "page.html", cwd=folder)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            text = Path(folder, "page.html").read_text(encoding="utf-8")
        page = Page(text)
        self.assertEqual(page.fetched, [])
        self.assertNotRegex(text, r"(?i)(src|href)\s*=\s*[\"']?\s*(https?:)?//")
        self.assertNotRegex(text, r"(?i)@import|url\(\s*[\"']?https?:")
        policies = json.loads(page.data)["policies"]
        self.assertEqual([p["policy"] for p in policies],
                         ["no retries", "naive retries", "standard strategy"])
        for policy in policies:
            for name in ("offered", "attempts", "useful", "waiting", "bucket_share"):
                self.assertEqual(len(policy["series"][name]), 60)

    def test_json_goes_to_standard_output_and_writes_a_page_only_on_request(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("lab", "run", "outage", "--json", *QUICK, cwd=folder)
            self.assertEqual(result.returncode, 0)
            data = json.loads(result.stdout)
            self.assertEqual(data["options"]["requests_per_second"], 50)
            self.assertEqual(list(Path(folder).iterdir()), [])
            run("lab", "run", "outage", "--json", *QUICK, "--html", "asked.html", cwd=folder)
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["asked.html"])

    def test_options_reach_the_model_and_the_command_in_the_report_repeats_the_run(self):
        arguments = ["--seed", "7", "--clients", "5", "--rps", "40.5", "--capacity", "90",
                     "--outage", "4", "--duration", "30", "--timeout", "250", "--attempts", "3",
                     "--bucket", "50"]
        first = run("lab", "run", "metastable", "--json", *arguments).stdout
        data = json.loads(first)
        expected = {"seed": 7, "clients": 5, "requests_per_second": 40.5, "capacity_per_second": 90,
                    "outage_length_s": 4, "length_s": 30, "attempt_timeout_s": 0.25,
                    "attempts_max": 3, "bucket_capacity": 50, "queue_limit": 180}
        self.assertEqual({name: data["options"][name] for name in expected}, expected)
        words = data["command"].split()
        self.assertEqual(words[0], "reprise")
        self.assertEqual(run(*words[1:], "--json").stdout, first)

    def test_a_longer_outage_lengthens_the_run(self):
        data = json.loads(run("lab", "run", "outage", "--json", *QUICK, "--outage", "15").stdout)
        self.assertEqual(data["options"]["length_s"], 65)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    VERSION = sys.argv[2]
    unittest.main(argv=sys.argv[:1])
