"""Runs expect_red.py on stand-ins for GoogleTest programs: only a clean red passes."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/expect_red.py"
# A stand-in obeys --gtest_output and then ends as its last line says.
STAND_IN = """#!{python}
import json, os, signal, sys, time
report = [a for a in sys.argv if a.startswith("--gtest_output=json:")][0].split(":", 1)[1]
assert any(a == "--gtest_filter=*AA_01*" for a in sys.argv)
def write(*tests):
    rows = [dict(name=n, status="RUN", result="COMPLETED", failures=[dict(failure=f) for f in fs])
            for n, fs in tests]
    open(report, "w").write(json.dumps(dict(testsuites=[dict(name="topic", testsuite=rows)])))
{ending}
"""
RED = "write(('AA_01_a', ['file.cpp:3\\nExpected 1']), ('AA_01_b', []))\n"


class expect_red(unittest.TestCase):
    def run_on(self, ending):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        program = folder / "mutant"
        program.write_text(STAND_IN.format(python=sys.executable, ending=ending))
        program.chmod(0o755)
        run = subprocess.run([sys.executable, str(SCRIPT), "AA-01", str(program), "--timeout", "3"],
                             capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        return run.returncode, run.stdout

    def assert_refused(self, ending, text):
        status, output = self.run_on(ending)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)

    def test_failed_assertion_passes(self):
        status, output = self.run_on(RED + "sys.exit(1)")
        self.assertEqual(status, 0, output)
        self.assertIn("AA_01_a", output)

    def test_green_run_is_refused(self):
        self.assert_refused("write(('AA_01_a', []))", "none failed by an assertion")

    def test_run_without_the_id_is_refused(self):
        self.assert_refused("write(('AA_010_a', ['Expected 1']))\nsys.exit(1)", "no test carrying")

    def test_crash_is_refused_also_after_a_failed_assertion(self):
        crash = "sys.stdout.flush(); os.kill(os.getpid(), signal.SIGSEGV)"
        self.assert_refused(crash, "signal 11")
        self.assert_refused(RED + crash, "signal 11")

    def test_hang_is_refused(self):
        self.assert_refused(RED + "time.sleep(60)", "did not end in time")

    def test_exception_out_of_the_test_is_refused(self):
        thrown = "unknown file\\nC++ exception with description \\'x\\' thrown in the test body."
        self.assert_refused(f"write(('AA_01_a', ['{thrown}']))\nsys.exit(1)", "none failed by")

    def test_odd_exit_status_is_refused(self):
        self.assert_refused(RED + "sys.exit(7)", "exit status is 7")
        self.assert_refused("sys.exit(7)", "no report")


if __name__ == "__main__":
    unittest.main()
