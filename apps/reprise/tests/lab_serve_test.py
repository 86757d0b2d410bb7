#!/usr/bin/env python3
"""Talks to `reprise lab serve`: lab_serve_test.py PROGRAM [CHROMIUM]"""

import base64
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

PROGRAM = CHROMIUM = ""
SCENARIO = """{"length": "30s", // short
"clients": {"count": 5, "requests_per_second": 75, "attempt_timeout": "500ms"},
"services": [{"name": "shop <b>", "capacity_per_second": 100, "queue_limit": 200}],
"troubles": [{"kind": "stall", "start": "5s", "length": "5s"}]}
"""


class LabServeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        Path(folder.name, "own.json").write_text(SCENARIO, encoding="utf-8")
        self.server = subprocess.Popen([PROGRAM, "lab", "serve", "own.json", "--json"],
                                       stdout=subprocess.PIPE, text=True, cwd=folder.name)
        self.addCleanup(self.stop)
        self.link = json.loads(self.server.stdout.readline())["link"]
        parts = urlsplit(self.link)
        self.port, self.token = parts.port, parts.query.removeprefix("token=")

    def stop(self):
        if self.server.poll() is None:
            self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def ask(self, method, target, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        fields = {"X-Reprise-Token": self.token, **{k.replace("_", "-"): v
                                                    for k, v in headers.items()}}
        connection.request(method, target, body=body, headers=fields)
        response = connection.getresponse()
        text = response.read().decode("utf-8")
        connection.close()
        return response.status, text

    def run_scenario(self, *changes, text=SCENARIO):
        body = json.dumps({"scenario": text, "set": [{"path": path, "value": value}
                                                     for path, value in changes]})
        status, answer = self.ask("POST", "/run", body)
        return status, json.loads(answer)

    def test_a_run_returns_the_report_the_code_and_the_scenario(self):
        strategies = json.dumps([{"name": "mine", "retries": {"attempts_max": 4}}, "standard"])
        status, answer = self.run_scenario(("strategies", strategies))
        self.assertEqual(status, 200)
        self.assertEqual([each["name"] for each in answer["report"]["strategies"]],
                         ["mine", "standard"])
        self.assertIn("options.attempts_max = 4;", answer["code"])
        self.assertEqual(json.loads(answer["file"])["strategies"][1], "standard")
        status, answer = self.run_scenario(("clients.count", "0"))
        self.assertEqual((status, answer["error"]),
                         (400, "clients.count: must be between 1 and 1,000,000"))
        status, answer = self.run_scenario(("clients.requests_per_second", "1000000"))
        self.assertEqual(status, 400)
        self.assertIn("reprise lab run", answer["error"])
        self.assertEqual(self.ask("POST", "/run", "not JSON")[0], 400)

    def test_only_the_link_opens_the_page_and_other_sites_are_refused(self):
        self.assertEqual(self.ask("GET", f"/?token={self.token}")[0], 200)
        self.assertEqual(self.ask("GET", "/?token=0123")[0], 403)
        self.assertEqual(self.ask("GET", "/", X_Reprise_Token="")[0], 403)
        self.assertEqual(self.ask("POST", "/run", "{}", X_Reprise_Token="wrong")[0], 403)
        self.assertEqual(self.ask("POST", "/run", "{}", Host=f"evil.example:{self.port}")[0], 403)
        self.assertEqual(self.ask("POST", "/run", "{}", Origin="http://evil.example")[0], 403)
        own = f"http://127.0.0.1:{self.port}"
        self.assertEqual(self.ask("POST", "/run", "{}", Origin=own)[0], 400)
        self.assertEqual(self.ask("GET", "/other")[0], 404)

    def test_a_signal_ends_the_server(self):
        self.server.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.wait(timeout=20), 143)

    def open_page(self, values=None):
        """Returns the document after a run. `values` are settings in the link."""
        link = self.link
        if values:
            state = {"values": values, "text": SCENARIO, "isLoadChosen": True,
                     "isTimeoutChosen": True}
            link += "#" + base64.b64encode(json.dumps(state).encode()).decode()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            result = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                 f"--user-data-dir={profile}", "--enable-logging=stderr",
                 "--virtual-time-budget=20000", link],
                capture_output=True, text=True, check=False, timeout=240)
        self.assertEqual(re.findall(r"(?m)^.*(?:CONSOLE|Uncaught).*$", result.stderr), [])
        return result.stdout

    def test_the_page_runs_in_a_browser_and_a_setting_changes_the_result(self):
        if not CHROMIUM:
            return
        values = {"scenario": "your file", "preset": "none", "load": "75", "attempts": "5",
                  "base": "10", "jitter": "full", "timeout": "500", "budget": "none",
                  "bucket": "500"}
        storm = self.open_page(values)
        self.assertIn("does not recover", storm[:storm.index('id="reading"')])
        self.assertIn("Load on shop &lt;b&gt;", storm)
        calm = self.open_page({**values, "budget": "bucket", "bucket": "50"})
        self.assertNotIn("does not recover", calm[calm.index('id="cards"'):calm.index('id="reading"')])
        first = self.open_page()
        self.assertIn("your settings", first)
        # Every control has a label, so that it can be used from the keyboard and read aloud.
        controls = first[first.index("<form"):first.index("</form>")]
        self.assertEqual(controls.count("<label"), controls.count("<input") + controls.count("<select"))


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    CHROMIUM = sys.argv[2] if len(sys.argv) > 2 else ""
    unittest.main(argv=sys.argv[:1])
