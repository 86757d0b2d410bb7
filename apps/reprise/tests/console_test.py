#!/usr/bin/env python3
"""Uses the sandbox's console in a browser: console_test.py PROGRAM CHROMIUM"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser

PROGRAM = CHROMIUM = ""


class ConsoleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ready = str(Path(folder.name, "ready.json"))
        self.sandbox = subprocess.Popen(
            [PROGRAM, "sandbox", "start", "--console", "--nodes", "3", "--json", "--ready-file",
             self.ready, "--services", "none"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        text = ""
        for line in self.sandbox.stdout:
            text += line
            if line == "}\n":
                break
        self.addresses = json.loads(text)
        self.link = self.addresses["control"]["console"]

    def stop(self):
        self.sandbox.kill()
        self.sandbox.wait()
        self.sandbox.stdout.close()

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                              timeout=60)

    def control(self, *arguments):
        result = self.run_program("sandbox", *arguments, "--ready-file", self.ready, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def store(self, key):
        return self.run_program("upsert", key, "1", "--connect",
                                self.addresses["connection_string"], "--bucket", "travel",
                                "--user", "app", "--password", "secret")

    def open_console(self, browser):
        browser.open(self.link)
        browser.wait_for("document.body.dataset.looks > 1")

    def click(self, browser, label):
        browser.run(f"document.querySelector('[aria-label=\"{label}\"]').click()")

    def test_it_shows_nodes_the_map_and_operations_by_status(self):
        with Browser(CHROMIUM) as browser:
            self.open_console(browser)
            self.assertEqual(browser.run("document.querySelectorAll('#nodes li').length"), 3)
            self.assertIn("node 0: ", browser.run("document.getElementById('map').ariaLabel"))
            stored = self.store("k1")
            self.assertEqual(stored.returncode, 0, stored.stderr)
            browser.wait_for("document.querySelector('.legend').textContent.includes('Success (0x0000)')")
            self.assertEqual(browser.errors, [])

    def test_buttons_cause_faults_and_the_timeline_lists_them(self):
        with Browser(CHROMIUM) as browser:
            self.open_console(browser)
            self.click(browser, "Stop: node 1")
            browser.wait_for("document.querySelector('#nodes .down')")
            self.assertEqual([node["state"] for node in self.control("topology", "status")["nodes"]],
                             ["up", "down", "up"])
            self.assertIn("node 1 stopped", browser.run("document.getElementById('timeline').textContent"))
            self.click(browser, "Start: node 1")
            browser.wait_for("!document.querySelector('#nodes .down')")
            # From the keyboard: the focus stays on the button although its card is drawn again.
            browser.run("document.querySelector('[aria-label=\"Temporary failures: node 0\"]').focus()")
            browser.press("Enter", "\r")
            browser.wait_for("document.querySelector('[aria-label=\"Temporary failures: node 0\"]')"
                             ".ariaPressed === 'true'")
            self.assertEqual(browser.run("document.activeElement.ariaLabel"),
                             "Temporary failures: node 0")
            rules = self.control("fault", "list")["faults"]
            self.assertEqual((rules[0]["node"], rules[0]["effect"]["status"]), (0, "0x0086"))
            browser.run("document.getElementById('clear').click()")
            browser.wait_for("document.querySelector('[aria-label=\"Temporary failures: node 0\"]')"
                             ".ariaPressed === 'false'")
            self.assertEqual(self.control("fault", "list")["faults"], [])
            self.click(browser, "Fail over: node 2")
            browser.wait_for("document.querySelector('#nodes .failed_over')")
            browser.run("document.getElementById('rebalance').click()")
            browser.wait_for("document.querySelectorAll('#nodes li').length === 2")
            self.assertEqual(browser.errors, [])

    def test_a_command_that_is_refused_is_shown_as_text(self):
        with Browser(CHROMIUM) as browser:
            self.open_console(browser)
            browser.run("act('<img src=x onerror=alert(1)>', {command: '<b>bold</b>'})")
            browser.wait_for("document.getElementById('problem').textContent !== ''")
            self.assertIn("<b>bold</b>", browser.run("document.getElementById('problem').textContent"))
            self.assertEqual(browser.run("document.querySelectorAll('#problem *, img').length"), 0)
            self.assertEqual(browser.errors, [])

    def test_every_control_can_be_reached_and_has_a_name(self):
        with Browser(CHROMIUM, width=390) as browser:
            self.open_console(browser)
            unnamed = browser.run("[...document.querySelectorAll('button, select, [tabindex]')].filter("
                                  "each => !(each.ariaLabel || each.textContent.trim() || "
                                  "each.labels && each.labels.length)).length")
            self.assertEqual(unnamed, 0)
            browser.press("Tab")
            self.assertEqual(browser.run("document.activeElement.id"), "add")
            # Nothing sticks out of a narrow window.
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 390)


if __name__ == "__main__":
    PROGRAM, CHROMIUM = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
