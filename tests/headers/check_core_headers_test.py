"""Checks that check_core_headers.py refuses headers that do not compile alone. Argument: the C++
compiler."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().with_name("check_core_headers.py")
COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else "c++"


class core_headers(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        self.plant("core/reprise/good.hpp",
                   "#pragma once\n#include <vector>\n#include <thread>\n#include <chrono>\n")

    def plant(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def run_script(self, *arguments):
        """Exit status, output, and how many of the two results carry failures."""
        result = self.root / "result.json"
        run = subprocess.run(
            [sys.executable, "-B", str(SCRIPT), "--compiler", COMPILER, "--include",
             str(self.root / "core"), "--result", str(result), *arguments],
            capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        tests = json.loads(result.read_text())["testsuites"][0]["testsuite"]
        self.assertEqual([test["name"][:5] for test in tests], ["SM_21", "SM_21"])
        return run.returncode, run.stdout, sum("failures" in test for test in tests)

    def assert_refused(self, text, *arguments):
        status, output, failed = self.run_script(*arguments)
        self.assertEqual((status, failed), (1, 1), output)
        self.assertIn(text, output)

    def test_headers_of_the_standard_library_pass(self):
        status, output, failed = self.run_script(
            "--core-links=Threads::Threads", "--asio-links=reprise::retry;Boost::headers")
        self.assertEqual((status, failed), (0, 0), output)
        status, output, failed = self.run_script("--compile")
        self.assertEqual((status, failed), (0, 0), output)

    def test_header_that_needs_another_one_first_is_refused(self):
        self.plant("core/reprise/needy.hpp", "#pragma once\ninline std::vector<int> x;\n")
        self.assert_refused("<reprise/needy.hpp> does not compile alone", "--compile")

    def test_header_that_reads_a_foreign_file_is_refused_even_if_it_is_optional(self):
        self.plant("boost/version.hpp", "#pragma once\n")
        self.plant("core/reprise/sly.hpp",
                   f'#pragma once\n#if __has_include("{self.root}/boost/version.hpp")\n'
                   f'#include "{self.root}/boost/version.hpp"\n#endif\n')
        self.assert_refused("<reprise/sly.hpp> reads 1 foreign files")

    def test_no_headers_at_all_is_refused(self):
        shutil.rmtree(self.root / "core")
        (self.root / "core").mkdir()
        self.assert_refused("no headers")

    def test_core_that_links_boost_is_refused(self):
        self.assert_refused("the core links Boost::headers", "--core-links=Boost::headers")

    def test_asio_target_without_boost_is_refused(self):
        self.assert_refused("must link Boost and the core", "--asio-links=reprise::retry")
        self.assert_refused("must link Boost and the core", "--asio-links=")


if __name__ == "__main__":
    unittest.main()
