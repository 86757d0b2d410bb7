"""Runs conformance.py on small made-up runs and checks that only a true page passes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/conformance.py"
REQUIREMENTS = ("id\tdelivered\tsource\ttext\n# AA - first\nAA-01\tyes\tours\tIt works.\n"
                "AA-02\tyes\tours\tIt works twice.\n# BB - second\nBB-01\tno\tours\tLater.\n")
MUTANT = "mutant: {}\nsays: It is wrong.\nbreaks: {}\nold: x\nnew: y\n"
MUTANTS = ("source: a.cpp\n" + MUTANT.format("broken", "AA-01") + MUTANT.format("once", "AA-02.1")
           + MUTANT.format("never", "AA-02.1 AA-02.2"))


def entry(name, failures=(), result="COMPLETED", status="RUN"):
    return {"name": name, "status": status, "result": result,
            "failures": [{"failure": text} for text in failures]}


GREEN = [entry("AA_01_works"), entry("AA_01_AA_02_works_twice"), entry("no_id")]


class conformance(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        (self.root / "build/test-results").mkdir(parents=True)
        self.write("docs/requirements.tsv", REQUIREMENTS)
        self.write("docs/clauses.tsv", "AA-02.1\tOnce.\nAA-02.2\tAgain.\n")
        self.write("tests/mutants/a.mutants", MUTANTS)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def results(self, tests, file="a_tests", suite="topic"):
        report = {"testsuites": [{"name": suite, "testsuite": tests}]}
        (self.root / f"build/test-results/{file}.json").write_text(json.dumps(report))

    def run_script(self, *arguments):
        if "--programs" not in arguments:
            there = sorted(path.stem for path in self.root.glob("build/test-results/*.json"))
            arguments = (*arguments, "--programs", *there)
        run = subprocess.run(
            [sys.executable, str(SCRIPT), str(self.root / "build"), "--root", str(self.root),
             *arguments],
            capture_output=True, text=True)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return run.returncode, run.stdout

    def page(self):
        return (self.root / "build/conformance.md").read_text()

    def summary(self):
        return (self.root / "docs/conformance.md").read_text()

    def assert_fails(self, text, *arguments):
        status, output = self.run_script(*arguments)
        self.assertEqual(status, 1, output)
        self.assertIn(text, output)

    def test_green_run_writes_the_page_and_the_check_agrees(self):
        self.results(GREEN)
        self.assertEqual(self.run_script()[0], 0)
        self.assertIn("### AA-01: pass\n\nIt works. (ours)\n\n| clause | mutants |\n|---|---|\n"
                      "| the whole of it | `broken` |\n\n- `topic.AA_01_AA_02_works_twice`\n"
                      "- `topic.AA_01_works`\n", self.page())
        self.assertIn("| AA-02.1 Once. | `never`, `once` |\n| AA-02.2 Again. | `never` |\n",
                      self.page())
        self.assertIn("### BB-01: not delivered\n", self.page())
        self.assertIn("| AA - first | 2 | 3 | 2 | 0 | 0 | 0 |", self.page())
        before = self.summary()
        self.assertIn("| AA-02 | pass | 2 | ours |\n", before)
        self.assertIn("| BB-01 | not delivered | ", before)
        self.assertEqual(self.run_script("--check")[0], 0)
        self.assertEqual(self.summary(), before)

    def test_edited_or_missing_page_fails_the_check_and_is_not_written(self):
        self.results(GREEN)
        self.assert_fails("not what this run generates", "--check")
        self.assertFalse((self.root / "docs/conformance.md").exists())
        (self.root / "docs/conformance.md").write_text("all pass\n")
        self.assert_fails("not what this run generates", "--check")
        self.assertEqual(self.summary(), "all pass\n")

    def test_delivered_id_without_a_test_fails(self):
        self.results([entry("AA_01_works")])
        self.assert_fails("AA-02 is delivered but no test")
        self.assertIn("### AA-02: FAIL\n", self.page())

    def test_delivered_clause_without_a_mutant_fails(self):
        self.results(GREEN)
        self.write("tests/mutants/a.mutants", MUTANTS.replace("AA-02.1 AA-02.2", "AA-02.1"))
        self.assert_fails("AA-02.2 has no mutant")
        self.assertIn("### AA-02: FAIL\n", self.page())
        self.assertIn("| AA-02.2 Again. |  |\n", self.page())

    def test_mutant_of_the_whole_requirement_guards_none_of_its_clauses(self):
        self.results(GREEN)
        self.write("tests/mutants/a.mutants", MUTANTS.replace("AA-02.1 AA-02.2", "AA-02"))
        self.assert_fails("AA-02.2 has no mutant")

    def test_delivered_id_with_a_failing_test_beside_a_passing_one_fails(self):
        self.results(GREEN + [entry("AA_02_also", ["expected 1"])])
        self.assert_fails("AA-02 is delivered but: topic.AA_02_also FAILED")
        self.assertIn("### AA-02: FAIL\n", self.page())
        self.assertIn("- `topic.AA_02_also` (FAILED)\n", self.page())

    def test_skipped_test_proves_nothing(self):
        self.results([entry("AA_01_works"), entry("AA_02_twice", result="SKIPPED")])
        self.assert_fails("AA-02 is delivered but: topic.AA_02_twice skipped")

    def test_test_filtered_out_of_the_run_proves_nothing(self):
        self.results([entry("AA_01_works"),
                      entry("AA_02_twice", status="NOTRUN", result="SUPPRESSED")])
        self.assert_fails("AA-02 is delivered but no test")

    def test_unknown_id_fails(self):
        for name in ("ZZ_01_what", "AA_99_what", "AA_010_what"):
            with self.subTest(name):
                self.results(GREEN + [entry(name)])
                self.assert_fails("names the unknown id " + name.replace("_", "-", 1)[:-5])

    def test_ids_not_delivered_are_in_progress_whatever_their_results(self):
        self.results(GREEN + [entry("BB_01_later", ["not yet"])])
        self.assertEqual(self.run_script()[0], 0)
        self.assertIn("### BB-01: in progress\n", self.page())
        self.assertIn("- `topic.BB_01_later` (FAILED)\n", self.page())

    def test_instances_of_one_test_are_one_and_the_worst_counts(self):
        self.results(GREEN + [entry("AA_02_each/0"), entry("AA_02_each/1", ["no"]),
                              entry("AA_02_each/2")])
        self.assert_fails("topic.AA_02_each FAILED")

    def test_page_does_not_depend_on_the_order_of_files_or_tests(self):
        self.results(GREEN, file="a_tests")
        self.run_script()
        first = self.page()
        self.results(GREEN[:0:-1], file="a_tests")
        self.results(GREEN[:1], file="0_tests")
        self.run_script()
        self.assertEqual(self.page(), first)

    def test_missing_stale_and_broken_results_fail(self):
        self.results(GREEN)
        self.assert_fails("b_tests left no results", "--programs", "a_tests", "b_tests")
        (self.root / "build/bin").mkdir()
        program = self.root / "build/bin/a_tests"
        program.write_text("")
        later = (self.root / "build/test-results/a_tests.json").stat().st_mtime + 10
        os.utime(program, (later, later))
        self.assert_fails("a_tests is newer than its results")
        (self.root / "build/test-results/a_tests.json").write_text("{")
        self.assert_fails("not a GoogleTest result")

    def test_results_of_programs_no_longer_built_are_ignored(self):
        self.results([entry("AA_01_works")], file="a_tests")
        self.results([entry("AA_02_twice")], file="old_tests")
        self.assert_fails("AA-02 is delivered but no test", "--programs", "a_tests")


if __name__ == "__main__":
    unittest.main()
