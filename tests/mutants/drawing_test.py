"""`./dev mutate` finds changes of the kinds it names, anchors them by function and shape, and counts
neither a hang nor an untested change as noticed. `./dev mutants --changed` misses no mutant."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from mutation import catalogue, cpp, drawing, operators, selection, survivors  # noqa: E402

COLOURS = cpp.Source("colour.hpp", "enum class colour : int { red, green, blue };\n")


def changes_of(code, path="a.cpp"):
    source = cpp.Source(path, code)
    return operators.find_changes(source, cpp.read_enumerations([COLOURS]))


def shapes_of(body):
    """Returns {(old, new)} of a function with this body."""
    changes, _ = changes_of(f"void f(int x) {{\n{body}\n}}\n")
    return {(change.old, change.new) for change in changes}


class reading(unittest.TestCase):
    def test_functions_have_their_qualified_names(self):
        code = """namespace n {
template <class T> struct box final {
    box(int a) : a_{a}, b_(a) { set(a); }
    void set(int a) noexcept { a_ = a; }
    int a_ = 1;
};
enum class kind { one };
bool operator==(const box<int>& a, const box<int>& b) { return a.a_ == b.a_; }
}
auto a::b::c(int x) const -> int { return x; }
"""
        source = cpp.Source("a.cpp", code)
        self.assertEqual([function.name for function in source.functions],
                         ["box::box", "box::set", "operator==", "a::b::c"])
        self.assertEqual([function.is_void for function in source.functions],
                         [False, True, False, False])

    def test_a_long_template_head_does_not_hide_its_class(self):
        code = "template <\n    class A = int>\nclass box {\n    void set() { a(); }\n};\n"
        source = cpp.Source("a.hpp", code)
        self.assertEqual([function.name for function in source.functions], ["box::set"])

    def test_comments_texts_and_directives_are_no_code(self):
        body = '// x == 1\n/* x == 1 */\n#define A x == 1\nauto a = "x == 1";\nauto b = R"(x == 1)";'
        self.assertEqual(shapes_of(body), set())


class changing(unittest.TestCase):
    def test_comparisons_are_swapped(self):
        self.assertEqual(shapes_of("return x < a.b(c, d) && y;") & {
            ("x < a.b(c, d)", "x <= a.b(c, d)"), ("x < a.b(c, d)", "x >= a.b(c, d)")}, {
            ("x < a.b(c, d)", "x <= a.b(c, d)"), ("x < a.b(c, d)", "x >= a.b(c, d)")})
        self.assertIn(("g<a, b>(x) == h[1]", "g<a, b>(x) != h[1]"),
                      shapes_of("bool z = g<a, b>(x) == h[1];"))

    def test_conditions_are_negated_once(self):
        self.assertEqual(shapes_of("if (a && !b) { }"),
                         {("a", "!(a)"), ("!b", "b"), ("a && !b", "!(a && !b)")})
        self.assertEqual(shapes_of("if (int y = g(); y) { }"), {("y", "!(y)")})
        self.assertEqual(shapes_of("if (auto y = g()) { }"), set())
        self.assertIn(("a", "!(a)"), shapes_of("auto z = a ? b : c;"))
        self.assertNotIn("...", {old for old, _ in shapes_of("use((g(a).b() || ...));")})

    def test_assertions_are_left_alone(self):
        self.assertEqual(shapes_of("REPRISE_ASSERT(x < 3 && !b);"), set())

    def test_statements_are_dropped_but_declarations_are_kept(self):
        self.assertEqual(shapes_of("g(x);"), {("g(x);", "(nothing)")})
        self.assertEqual(shapes_of("a->b.c = g(x);"), {("a->b.c = g(x);", "(nothing)")})
        self.assertEqual(shapes_of("++x;"), {("++x;", "(nothing)")})
        self.assertEqual(shapes_of("return g();"), {("return g();", "(nothing)")})
        for declaration in ("int y = g();", "std::vector<int> y(x);", "const auto& y = g();",
                            "box y;", "using a::b;", "for (;;) { }"):
            self.assertEqual(shapes_of(declaration), set(), declaration)
        self.assertEqual(shapes_of("auto h = [&](int y) { return y; };"), set())

    def test_numbers_extremes_and_enumerators_are_exchanged(self):
        self.assertEqual(shapes_of("auto y = x + 10U;"), {("10U", "11U"), ("10U", "9U")})
        self.assertEqual(shapes_of("auto y = 20ms;"), {("20ms", "21ms"), ("20ms", "19ms")})
        self.assertEqual(shapes_of("auto y = z[1] + 0xff + 1.5;"), set())
        self.assertEqual(shapes_of("auto y = std::min(a, b);"), {("std::min(a, b)", "std::max(a, b)")})
        self.assertEqual(shapes_of("auto y = std::numeric_limits<int>::max();"), set())
        self.assertEqual(shapes_of("auto y = n::colour::red;"), {
            ("n::colour::red", "n::colour::green"), ("n::colour::red", "n::colour::blue")})

    def test_what_the_compiler_evaluates_is_counted_and_left_alone(self):
        for body in ("constexpr int y = 7;", "static_assert(x == 7);", "std::array<int, 7> y;",
                     "switch (y) { case colour::red: }", "if constexpr (x == y) { }"):
            changes, skipped = changes_of(f"void f(int x) {{\n{body}\n}}\n")
            self.assertEqual(changes, [], body)
            self.assertGreater(skipped, 0, body)
        changes, skipped = changes_of("void f() {\n#if A\n#else\n    g();\n#endif\n}\n")
        self.assertEqual((changes, skipped), ([], 1))

    def test_a_change_is_known_by_function_and_shape(self):
        code = "void f() { g(); h(); g(); }\n"
        moved = "int other;\nvoid before() { g(); }\nvoid f() {\n    h();\n    g();\n    g();\n}\n"
        anchors = {change.anchor for change in changes_of(code)[0]}
        self.assertEqual({anchor[1:] for anchor in anchors}, {
            ("f", "g(); => (nothing)", "1"), ("f", "g(); => (nothing)", "2"),
            ("f", "h(); => (nothing)", "1")})
        self.assertLess(anchors, {change.anchor for change in changes_of(moved)[0]})


class folder(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")


class writing(folder):
    def test_changes_stand_in_each_other_and_compile(self):
        code = ("enum class colour { red, green };\nbool g(int);\n"
                "bool f(int x, colour c) {\n    bool y = false;\n"
                "    if (x > 1 && c == colour::red) {\n        y = g(x + 1);\n    }\n"
                "    return y;\n}\n")
        self.write("a.cpp", code)
        changes, _ = operators.find_changes(
            cpp.Source("a.cpp", code), cpp.read_enumerations([cpp.Source("a.cpp", code)]))
        mutants = drawing.without_overlaps([drawing.Drawn(change, ()) for change in changes])
        self.assertEqual(len(mutants), len(changes))
        text = drawing.instrumented(self.root, mutants)["a.cpp"]
        for mutant in mutants:
            self.assertEqual(text.count(f'reprise_mutant("{mutant.name}")'), 1, mutant)
        self.write("b.cpp", "bool reprise_mutant(const char*);\n" + text)
        done = subprocess.run(["g++", "-std=c++20", "-fsyntax-only", str(self.root / "b.cpp")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_change_that_does_not_compile_is_found_by_its_line(self):
        self.write("a.cpp", "void f() {\n    g();\n    h();\n}\n")
        changes = changes_of((self.root / "a.cpp").read_text())[0]
        mutants = [drawing.Drawn(change, ()) for change in changes]
        for output in (f"{self.root}/a.cpp:3:5: error: no\n{self.root}/a.cpp:2:1: note: here",
                       f"../{self.root.name}/a.cpp:3:5: error: no",
                       f"x.cpp:1:1: error: no\n{self.root}/a.cpp:3:5: note: required from here"):
            guilty = drawing.that_do_not_compile(output, self.root, mutants)
            self.assertEqual([mutant.change.old for mutant in guilty], ["h();"])
        self.assertEqual(drawing.that_do_not_compile("killed", self.root, mutants), [])

    def test_known_equivalents_must_exist(self):
        for folder in (*drawing.FOLDERS, *drawing.VOCABULARY):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        self.write("libs/retry/src/a.cpp", "void f() {\n    g();\n}\n")
        row = "libs/retry/src/a.cpp\tf\t{} => (nothing)\t1\tIt only logs.\n"
        self.write(drawing.EQUIVALENT, "# why\n" + row.format("g();"))
        self.assertEqual(drawing.check_equivalents(self.root), [])
        self.assertEqual(len(drawing.read_equivalents(self.root)), 1)
        self.write(drawing.EQUIVALENT, row.format("h();"))
        self.assertIn("h();", drawing.check_equivalents(self.root)[0])
        self.write(drawing.EQUIVALENT, "a\tb\tc\t1\n")
        with self.assertRaises(SystemExit):
            drawing.read_equivalents(self.root)


# A stand-in for a test program with three tests, which behaves as the test prescribes under mutant `m`.
STAND_IN = """#!{python}
import os, signal, sys, time
if "--gtest_list_tests" in sys.argv:
    print("t.\\n  a\\n  b\\n  c")
    sys.exit()
chosen = [w for w in sys.argv if w.startswith("--gtest_filter=")][0].split("=")[1].split(":")
active = os.environ["REPRISE_MUTANT"]
file = os.environ.get("REPRISE_MUTANTS_REACHED")
for test in chosen:
    print(f"[ RUN      ] {{test}}", flush=True)
    if file and test != "t.c":
        open(file, "a").write("{number}\\n")
    if active == "{name}":
        what = {{"t.a": "{a}", "t.b": "{b}"}}.get(test, "")
        if what == "fail":
            print(f"[  FAILED  ] {{test}} (0 ms)", flush=True)
            sys.exit(1)
        if what == "hang":
            time.sleep(60)
        if what == "crash":
            os.kill(os.getpid(), signal.SIGABRT)
"""


class judging(folder):
    def verdict(self, a, b, is_reached=True):
        change = changes_of("void f() { g(); }\n")[0][0]
        mutant = drawing.Drawn(change, ("p",))
        program = self.root / "program"
        program.write_text(STAND_IN.format(
            python=sys.executable, a=a, b=b, name=mutant.name,
            number=mutant.number if is_reached else 1))
        program.chmod(0o755)
        reach = survivors.Reach(program, 2, 20)
        reach.seconds = {"t.a": 0.0, "t.b": 0.01, "t.c": 0.02}
        return survivors.judge_by({"p": reach}, mutant, time_min=1)

    def test_an_assertion_and_a_crash_notice(self):
        self.assertEqual(self.verdict("", "fail"), (True, "by t.b"))
        self.assertEqual(self.verdict("crash", ""), (True, "by a crash in t.a"))

    def test_a_hang_does_not_but_the_other_tests_are_asked(self):
        self.assertEqual(self.verdict("hang", "fail"), (True, "by t.b"))
        self.assertEqual(self.verdict("hang", ""), (False, "hangs in t.a"))

    def test_what_no_test_executes_survives(self):
        self.assertEqual(self.verdict("fail", "", False), (False, "no test executes it"))
        self.assertEqual(self.verdict("", ""), (False, "2 tests execute it, none fails"))


class choosing(folder):
    """`./dev mutants --changed` in a repository with two sources and a test of each."""

    def setUp(self):
        super().setUp()
        self.write("docs/requirements.tsv", "id\ttext\nAA-01\tOne.\nAA-02\tTwo.\n")
        for name, id in (("a", "AA-01"), ("b", "AA-02")):
            self.write(f"libs/{name}/src/{name}.cpp", "int x = 1;\n")
            self.write(f"libs/{name}/tests/{name}_test.cpp",
                       f"TEST(topic, {id.replace('-', '_')}_holds) {{}}\n")
            self.write(f"tests/mutants/{name}.mutants",
                       f"source: libs/{name}/src/{name}.cpp\nmutant: {name}\nsays: x.\n"
                       f"breaks: {id}\nold: 1\nnew: 2\n")
        self.git("init", "-q")
        self.commit("first")

    def git(self, *words):
        subprocess.run(["git", "-C", str(self.root), "-c", "user.name=n", "-c", "user.email=e",
                        *words], check=True, capture_output=True)

    def commit(self, title):
        self.git("add", "-A")
        self.git("commit", "-qm", title)

    def touched(self, base="HEAD"):
        change = selection.Change(self.root, base, selection.changed_files(self.root, base))
        mutants = catalogue.read_all(self.root)[0]
        return [m.name for m in mutants if change.touches(m, [f"{m.name}_tests"], {})]

    def test_a_changed_source_test_or_entry_selects_its_mutants(self):
        self.assertEqual(self.touched(), [])
        self.write("libs/a/src/a.cpp", "int x = 1; int y;\n")
        self.assertEqual(self.touched(), ["a"])
        self.commit("second")
        self.assertEqual((self.touched(), self.touched("HEAD~1")), ([], ["a"]))
        self.write("libs/b/tests/b_test.cpp", "TEST(topic, other) {}\n")
        self.assertEqual(self.touched(), ["b"], "its test is gone")
        self.git("checkout", "-q", ".")
        self.write("libs/a/tests/helper.hpp", "int z;\n")
        self.assertEqual(self.touched(), ["a"])
        self.commit("third")
        text = (self.root / "tests/mutants/b.mutants").read_text()
        self.write("tests/mutants/b.mutants", text.replace("new: 2", "new: 3"))
        self.assertEqual(self.touched(), ["b"])
        self.write("scripts/mutation/judge.py", "")
        self.assertEqual(self.touched(), ["a", "b"])

    def test_the_base_is_where_the_branch_left_origin_or_the_last_run_of_all(self):
        self.assertIsNone(selection.default_base(self.root), "nothing is recorded")
        first = selection.git(self.root, "rev-parse", "HEAD")
        selection.record_full_run(self.root)
        self.write("libs/a/src/a.cpp", "int x = 1; int y;\n")
        selection.record_full_run(self.root)  # has no effect: what was run is not committed
        self.commit("second")
        self.assertEqual(selection.default_base(self.root), first)
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertEqual(selection.default_base(self.root), first, "nothing is ahead of origin")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD~1")
        self.write("libs/b/src/b.cpp", "int x = 1; int y;\n")
        self.commit("third")
        self.assertEqual(selection.default_base(self.root), first)
        self.assertIsNone(selection.changed_files(self.root, "0123456789"))
        self.git("update-ref", "-d", "refs/remotes/origin/main")
        self.write(selection.FULL_RUN, "0123456789\n")
        self.assertIsNone(selection.default_base(self.root), "git does not know it")


if __name__ == "__main__":
    unittest.main()
