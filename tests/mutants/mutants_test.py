"""The catalogue of mutants is read strictly, written into sources as described in the README, and only a
clean red counts as noticed."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from mutation import anchors, catalogue, instrument, judge  # noqa: E402

SOURCE = "libs/a/src/a.cpp"
HEAD = f"source: {SOURCE}\nmutant: one\nsays: It is wrong.\n"
CODE = """int f(int x) {
    if (x > 1 &&
        x < 5) {
        return x;
    }
    return x + 1;
}
"""


class tree(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.write("docs/requirements.tsv",
                   "id\tdelivered\tsource\ttext\n# AA - things\nAA-01\tyes\tx\tOne.\n"
                   "AA-02\tyes\tx\tTwo and three.\n")
        self.write("docs/clauses.tsv", "AA-02.1\tTwo.\nAA-02.2\tThree.\n")
        self.write(SOURCE, CODE)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def problems(self, text):
        self.write("tests/mutants/a.mutants", text)
        mutants, problems = catalogue.read_all(self.root)
        return problems + instrument.check_places(self.root, mutants)

    def assert_refused(self, text, part):
        found = self.problems(text)
        self.assertTrue(any(part in problem for problem in found), f"{part!r} not in {found}")

    def instrumented(self, *entries, code=CODE):
        text = "".join(f"source: {SOURCE}\nmutant: m{n}\nsays: x.\nbreaks: AA-01\n{entry}\n"
                       for n, entry in enumerate(entries))
        mutants = catalogue.parse("a.mutants", text)
        places, problems = instrument.find_places(
            code, [(m, edit) for m in mutants for edit in m.edits])
        self.assertEqual(problems, [])
        return instrument.rewrite(code, 0, len(code), places)


class reading(tree):
    def test_a_whole_entry_is_read(self):
        text = HEAD + ("breaks: AA-01 AA-02.2\ntests: a_tests\nhunt: swarm ledger\n"
                       "# why\nold: x > 1 &&\n    x < 5\nnew: true\nold: x + 1\nnew: x\n")
        self.assertEqual(self.problems(text), [])
        one = catalogue.read_all(self.root)[0][0]
        self.assertEqual((one.name, one.ids, one.tests), ("one", ["AA-01", "AA-02"], ["a_tests"]))
        self.assertEqual(one.hunt, ["swarm", "ledger"])
        self.assertEqual([edit.old for edit in one.edits], ["x > 1 &&\nx < 5", "x + 1"])

    def test_a_source_holds_until_the_next_one(self):
        self.write("libs/b/src/b.cpp", "int b = 1;\n")
        text = HEAD + ("breaks: AA-01\nold: x + 1\nnew: x\n\nmutant: two\nsays: x.\nbreaks: AA-01\n"
                       "old: x > 1\nnew: true\n\nsource: libs/b/src/b.cpp\nmutant: three\nsays: x.\n"
                       "breaks: AA-01\nold: 1\nnew: 2\n")
        self.assertEqual(self.problems(text), [])
        self.assertEqual([m.edits[0].source for m in catalogue.read_all(self.root)[0]],
                         [SOURCE, SOURCE, "libs/b/src/b.cpp"])

    def test_what_is_wrong_is_named_with_its_place(self):
        entry = "breaks: AA-01\nold: x + 1\nnew: x\n"
        self.assert_refused(HEAD + entry + "novel: x\n", "a.mutants:7")
        self.assert_refused("old: x\n", "before the first mutant")
        self.assert_refused("mutant: one\nsays: x.\n" + entry, "no `source`")
        self.assert_refused(f"source: {SOURCE}\nmutant: one\n" + entry, "does not say")
        self.assert_refused(HEAD + "breaks: AA-01\nold: x + 1\n", "`new`")
        self.assert_refused(HEAD + "breaks: AA-01\nnew: x + 1\n", "without `old`")
        self.assert_refused(HEAD + entry + entry, "twice")
        self.assert_refused(HEAD.replace("one", "One") + entry, "snake_case")
        self.assert_refused(HEAD + entry + HEAD + entry, "also in")
        self.assert_refused(HEAD + "old: x + 1\nnew: x\n", "no test must notice")
        self.assert_refused(HEAD + "tests: a_tests\nold: x + 1\nnew: x\n", "names suites")
        self.assertEqual(self.problems(HEAD + "tests: a_tests:b\nold: x + 1\nnew: x\n"), [])
        self.assert_refused(HEAD + "breaks: AA-03\nold: x + 1\nnew: x\n", "AA-03")
        self.assert_refused(HEAD + "breaks: AA-02.3\nold: x + 1\nnew: x\n", "AA-02.3")
        self.assert_refused(HEAD + "breaks: AA-01\nold: x > 1 &&\nnew: x &&\n", "neither a whole")
        self.assert_refused(HEAD + "breaks: AA-01\nold: (x\nnew: x\n", "neither a whole")
        self.assert_refused(HEAD + "breaks: AA-01\nold: x; x + 1\nnew: x\n", "neither a whole")
        self.assert_refused(HEAD + "form: separate\n" + entry, "separate")
        self.assert_refused(HEAD + "command: true\n" + entry, "separate")

    def test_clauses_are_numbered_in_order_and_belong_to_a_requirement(self):
        self.assertEqual(list(catalogue.read_clauses(self.root)), ["AA-01", "AA-02.1", "AA-02.2"])
        for row in ("AA-02.3\tx\n", "AA-09.1\tx\n", "AA-02\tx\n", "AA-02.1\n"):
            self.write("docs/clauses.tsv", row)
            with self.subTest(row), self.assertRaises(catalogue.Problem):
                catalogue.read_clauses(self.root)


class places(tree):
    def test_old_text_must_be_there_once(self):
        head = HEAD + "breaks: AA-01\n"
        self.assert_refused(head + "old: x - 1\nnew: x\n", "not in")
        self.assert_refused(head + "old: return\nnew: x\n", "2 times in")
        self.assert_refused(head + "after: nowhere\nold: x\nnew: x\n", "not in")
        self.assert_refused(head + "after: x + 1\nold: x\nnew: x\n", "does not appear after")
        self.assertEqual(self.problems(head + "after: x < 5\nold: return x;\nnew:\n"), [])
        (self.root / SOURCE).unlink()
        self.assert_refused(head + "old: x + 1\nnew: x\n", "there is no")

    def test_a_function_limits_the_search(self):
        head = HEAD + "breaks: AA-01\n"
        self.write(SOURCE, CODE + CODE.replace("int f", "int g"))
        self.assert_refused(head + "old: x + 1\nnew: x\n", "2 times in")
        self.assertEqual(self.problems(head + "in: g\nold: x + 1\nnew: x\n"), [])
        self.assert_refused(head + "in: g\nold: x + 2\nnew: x\n", "not in")
        self.assert_refused(head + "in: h\nold: x + 1\nnew: x\n", "no function h")

    def test_a_name_that_changed_everywhere_is_followed(self):
        entry = "in: f\nold: x > 1 && x < 5\nnew: x > 2 && limit < 5"
        renamed = CODE.replace("x", "value").replace("int f", "int limit(); int f")
        self.assertIn('? (value > 2 && limit < 5) : (value > 1', self.instrumented(
            entry, code=renamed))

    def test_other_code_of_the_same_shape_is_not_taken(self):
        head = HEAD + "breaks: AA-01\n"
        for code in (CODE.replace("x > 1", "y > 1"),  # `x` is still there
                     CODE.replace("x", "value").replace("value < 5", "other < 5"),
                     CODE.replace("x", "value").replace("> 1", "> 2")):
            self.write(SOURCE, code)
            self.assert_refused(head + "old: x > 1 && x < 5\nnew: true\n", "not in")

    def test_spaces_and_line_breaks_do_not_matter_but_words_do(self):
        self.assertTrue(anchors.pattern_of("f( a,b )").search("f(\n    a, b)"))
        self.assertFalse(anchors.pattern_of("int x").search("intx"))
        self.assertFalse(anchors.pattern_of("level < cost").search("level < cost_max"))
        self.assertFalse(anchors.pattern_of("level").search("old_level"))

    def test_overlapping_places_are_refused(self):
        text = HEAD + ("breaks: AA-01\nold: x > 1 && x\nnew: x\n\nmutant: two\nsays: x.\n"
                       "breaks: AA-01\nold: x < 5\nnew: x\n")
        self.assert_refused(text, "overlaps one")


class writing(tree):
    def test_an_expression_becomes_a_choice(self):
        out = self.instrumented("old: x + 1\nnew: x")
        self.assertIn('return (reprise_mutant("m0") ? (x) : (x + 1));', out)

    def test_an_initialiser_in_braces_is_an_expression(self):
        code = "int x = seconds{20};\n"
        self.assertIn('int x = (reprise_mutant("m0") ? (seconds{10}) : (seconds{20}));',
                      self.instrumented("old: seconds{20}\nnew: seconds{10}", code=code))

    def test_a_statement_becomes_a_branch(self):
        out = self.instrumented("old: return x + 1;\nnew:")
        self.assertIn('if (reprise_mutant("m0")) {  } else { return x + 1; }', out)

    def test_mutants_of_one_place_and_of_a_part_of_it_stand_in_each_other(self):
        out = self.instrumented("old: x > 1 && x < 5\nnew: true", "old: x > 1 && x < 5\nnew: false",
                                "old: x < 5\nnew: x < 6")
        self.assertIn('if ((reprise_mutant("m0") ? (true) : ((reprise_mutant("m1") ? (false) : '
                      '(x > 1 &&\n        (reprise_mutant("m2") ? (x < 6) : (x < 5))))))) {', out)

    def test_the_copy_has_all_files_and_only_changed_ones_are_written_again(self):
        self.write("tests/mutants/a.mutants", HEAD + "breaks: AA-01\nold: x + 1\nnew: x\n")
        self.addCleanup(setattr, instrument, "tracked_files", instrument.tracked_files)
        instrument.tracked_files = lambda root: [SOURCE, "docs/clauses.tsv"]
        target = self.root / "build/copy"
        mutants = catalogue.read_all(self.root)[0]
        (target / "libs").mkdir(parents=True)
        (target / "libs/gone.cpp").write_text("")
        instrument.make_copy(self.root, target, mutants)
        self.assertFalse((target / "libs/gone.cpp").exists())
        self.assertTrue((target / instrument.HEADER_NAME).exists())
        self.assertIn("reprise_mutant", (target / SOURCE).read_text())
        before = (target / SOURCE).stat().st_mtime_ns
        instrument.make_copy(self.root, target, mutants)
        self.assertEqual((target / SOURCE).stat().st_mtime_ns, before)
        instrument.make_separate_copy(self.root, self.root / "build/alone", mutants[0])
        self.assertIn("return x;\n}", (self.root / "build/alone" / SOURCE).read_text())


# A stand-in handles --gtest_output and then ends as its last lines prescribe.
STAND_IN = """#!{python}
import json, os, signal, sys, time
assert os.environ["REPRISE_MUTANT"] == "m"
report = [a for a in sys.argv if a.startswith("--gtest_output=json:")][0].split(":", 1)[1]
def write(*tests):
    rows = [dict(name=n, status="RUN", result="COMPLETED", failures=[dict(failure=f) for f in fs])
            for n, fs in tests]
    open(report, "w").write(json.dumps(dict(testsuites=[dict(name="topic", testsuite=rows)])))
{ending}
"""
RED = "write(('AA_01_a', ['file.cpp:3\\nExpected 1']), ('AA_01_b', []))\n"


class noticing(tree):
    def judged(self, ending, id="AA-01"):
        program = self.root / "program"
        program.write_text(STAND_IN.format(python=sys.executable, ending=ending))
        program.chmod(0o755)
        return judge.judge(*judge.run_tests(program, "*AA_01*", 3, "m"), id)

    def assert_not_noticed(self, ending, part):
        red, wrong = self.judged(ending)
        self.assertEqual(red, [])
        self.assertIn(part, wrong)

    def test_a_failed_assertion_counts(self):
        self.assertEqual(self.judged(RED + "sys.exit(1)"), (["topic.AA_01_a"], ""))

    def test_without_an_id_any_failed_assertion_counts(self):
        other = "write(('other', ['Expected 1']))\nsys.exit(1)"
        self.assertEqual(self.judged(other, id=None), (["topic.other"], ""))
        red, wrong = self.judged("write(('other', []))", id=None)
        self.assertEqual((red, wrong), ([], "1 tests ran, none failed by an assertion"))

    def test_anything_else_does_not(self):
        crash = "sys.stdout.flush(); os.kill(os.getpid(), signal.SIGSEGV)"
        self.assert_not_noticed("write(('AA_01_a', []))", "none failed by an assertion")
        self.assert_not_noticed("write(('AA_010_a', ['Expected 1']))\nsys.exit(1)", "no test")
        self.assert_not_noticed(crash, "signal 11")
        self.assert_not_noticed(RED + crash, "signal 11")
        self.assert_not_noticed(RED + "time.sleep(60)", "timed out")
        self.assert_not_noticed(RED + "sys.exit(3)", "exit status is 3")
        self.assert_not_noticed("write(('AA_01_a', ['C++ exception with text']))\nsys.exit(1)",
                                "none failed by an assertion")
        self.assert_not_noticed("sys.exit(1)", "no report")

    def test_an_audit_must_count_and_fail(self):
        self.assertEqual(judge.judge_audit(1, '{"audit": {"lost": 2}}', ["lost"]),
                         ("audit: lost 2", ""))
        self.assertIn("no lost", judge.judge_audit(1, '{"audit": {"lost": 0}}', ["lost"])[1])
        self.assertIn("status", judge.judge_audit(0, '{"audit": {"lost": 2}}', ["lost"])[1])
        self.assertIn("no audit", judge.judge_audit(1, "", ["lost"])[1])


if __name__ == "__main__":
    unittest.main()
