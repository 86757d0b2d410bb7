#!/usr/bin/env python3
"""Opens the page of a demonstration in a browser: demo_page_test.py PROGRAM CHROMIUM"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser

PROGRAM = CHROMIUM = ""


class DemoPageTest(unittest.TestCase):
    def test_the_page_shows_curves_phases_and_the_audit(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "demo.html")
            result = subprocess.run(
                [PROGRAM, "demo", "--seconds", "6", "--plain", "--html", str(page)],
                capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            text = page.read_text(encoding="utf-8")
            self.assertNotIn("{{", text.split("<script>")[0])
            self.assertNotRegex(text, r"(?:src|href)=\"?https?:")
            with Browser(CHROMIUM, width=390) as browser:
                browser.open(page.as_uri())
                self.assertEqual(browser.errors, [])
                self.assertEqual(browser.run("drawn.length"), 4)
                self.assertEqual(browser.run("document.querySelectorAll('#phases tr').length"), 9)
                self.assertIn("lost 0, duplicated 0", browser.run("document.getElementById('cards').textContent"))
                # The audit is the one that the program printed.
                printed = re.search(r"(?s)Audit: .*", result.stdout).group(0).strip()
                self.assertIn(printed, browser.run("document.querySelector('pre').textContent"))
                # Phases cover the run, and every operation is in a sample or in the last interval.
                sections = browser.run("data.sections")
                self.assertEqual([each["start_s"] for each in sections[1:]],
                                 [each["end_s"] for each in sections[:-1]])
                sampled = browser.run("sum(samples.operations)")
                counted = browser.run("sum(result.phases.map(phase => phase.operations))")
                self.assertGreater(sampled, 0.7 * counted)
                self.assertLessEqual(sampled, counted)
                self.assertIn("KV_TEMPORARY_FAILURE", browser.run("Object.keys(samples.retries)"))
                self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 390)


if __name__ == "__main__":
    PROGRAM, CHROMIUM = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
