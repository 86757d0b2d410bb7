#!/usr/bin/env python3
"""Opens pages of the lab in a browser: lab_page_test.py PROGRAM CHROMIUM"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = CHROMIUM = ""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


class LabPageTest(unittest.TestCase):
    def open_page(self, path, *options):
        """Returns the document after its scripts have run, and the console's errors."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            result = run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
                         f"--user-data-dir={profile}", "--enable-logging=stderr", "--dump-dom",
                         *options, path.as_uri())
        self.assertEqual(result.returncode, 0, result.stderr)
        console = re.findall(r"(?m)^.*(?:CONSOLE|Uncaught).*$", result.stderr)
        return result.stdout, console

    def test_every_page_of_a_run_draws_its_charts_without_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            for scenario, strategies, charts in (("hedging", 4, 5), ("layers", 4, 6)):
                result = run(PROGRAM, "lab", "run", scenario, "--quiet", "--html", str(page))
                self.assertEqual(result.returncode, 0, result.stderr)
                document, console = self.open_page(page, "--window-size=1200,900")
                self.assertEqual(console, [])
                cards = document[document.index('id="cards"'):document.index("</ul>")]
                self.assertEqual(cards.count('<span class="name">'), strategies)
                # Chart.js sets the size of a canvas that it has drawn.
                self.assertEqual(len(re.findall(r"<canvas[^>]*style=\"[^\"]*width", document)), charts)
                self.assertEqual(document.count('class="legend"'), charts)

    def test_a_region_is_drawn_without_scripts(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "region.html")
            result = run(PROGRAM, "lab", "region", "metastable", "--strategy", "backoff", "--values",
                         "1,2", "--quiet", "--html", str(page))
            self.assertEqual(result.returncode, 0, result.stderr)
            document, console = self.open_page(page)
            self.assertEqual(console, [])
            self.assertEqual(document.count('class="recovers"'), 2)


if __name__ == "__main__":
    PROGRAM, CHROMIUM = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
