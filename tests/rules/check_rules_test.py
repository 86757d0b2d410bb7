"""Plants violations of each house rule in a temporary tree and checks that check_rules.py reports
them."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LATER = "TO" + "DO"  # in two parts: this file is under the rule too


class planted_tree(unittest.TestCase):
    """A small tree that holds all rules; each test breaks one."""

    rule = None

    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for table in ("includes", "clock"):
            self.plant(f"tests/rules/{table}.tsv",
                       (ROOT / f"tests/rules/{table}.tsv").read_text(encoding="utf-8"))
        self.plant("libs/retry/CMakeLists.txt", "reprise_library(retry)\n")
        self.plant("libs/retry/README.md", "# retry\n")
        self.plant("libs/retry/include/reprise/retry.hpp",
                   "// Retries.\n#pragma once\n#include <chrono>\nnamespace reprise {}\n")
        self.plant("libs/retry/src/retry.cpp",
                   '#include <reprise/retry.hpp>\n#include "loop.hpp"\n')
        self.plant("libs/retry/src/loop.hpp", "#pragma once\n#include <vector>\n")
        self.plant("libs/retry/tests/retry_test.cpp",
                   "#include <gtest/gtest.h>\n#include <reprise/retry.hpp>\n")

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def run_rule(self):
        run = subprocess.run(
            [sys.executable, "-B", str(ROOT / "scripts/check_rules.py"), self.rule, "--root",
             str(self.root)], capture_output=True, text=True)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return run.returncode, run.stdout

    def assert_clean(self):
        status, output = self.run_rule()
        self.assertEqual(status, 0, output)

    def assert_reported(self, *parts):
        status, output = self.run_rule()
        self.assertEqual(status, 1, output)
        found = [line for line in output.splitlines() if all(part in line for part in parts)]
        self.assertTrue(found, f"{parts} not in:\n{output}")


class includes_rule(planted_tree):
    rule = "includes"

    def test_clean_tree_passes(self):
        self.assert_clean()

    def test_retry_may_not_use_boost(self):
        self.plant("libs/retry/src/retry.cpp", "\n#include <boost/asio.hpp>\n")
        self.assert_reported("libs/retry/src/retry.cpp:2", "boost/asio")

    def test_commented_include_is_no_include(self):
        self.plant("libs/retry/src/retry.cpp", "// #include <boost/asio.hpp>\n")
        self.assert_clean()

    def test_retry_may_not_use_posix_headers(self):
        self.plant("libs/retry/src/retry.cpp", "#include <unistd.h>\n")
        self.assert_reported("posix")

    def test_library_may_not_include_a_library_outside_its_row(self):
        self.plant("libs/base/src/cursor.cpp", "#include <reprise/retry.hpp>\n")
        self.assert_reported("libs/base/src/cursor.cpp:1", "may not use retry")

    def test_gtest_is_for_tests(self):
        self.plant("libs/retry/src/retry.cpp", "#include <gtest/gtest.h>\n")
        self.assert_reported("gtest")

    def test_couchbase_headers_other_than_asio_are_free_of_boost_and_openssl(self):
        folder = "libs/couchbase/include/reprise/couchbase"
        self.plant(f"{folder}/asio.hpp", "#include <boost/asio/async_result.hpp>\n")
        self.assert_clean()
        self.plant(f"{folder}/cluster.hpp", "#include <boost/asio.hpp>\n#include <openssl/ssl.h>\n")
        self.assert_reported("cluster.hpp:1", "boost/asio")
        self.assert_reported("cluster.hpp:2", "openssl")

    def test_second_file_may_not_use_what_one_file_may(self):
        self.plant("libs/http/src/codec.cpp", "#include <boost/beast/http/basic_parser.hpp>\n")
        self.assert_clean()
        self.plant("libs/http/src/more.cpp", "#include <boost/beast/http/basic_parser.hpp>\n")
        self.assert_reported("libs/http/src/more.cpp", "only one file")

    def test_private_header_of_another_library_is_out_of_reach(self):
        self.plant("libs/lab/src/lab.cpp", '#include "../../retry/src/loop.hpp"\n')
        self.assert_reported("reaches into libs/retry")

    def test_private_header_in_angle_brackets_is_no_header_of_the_system(self):
        self.plant("libs/engine/src/route.hpp", "#pragma once\n")
        self.plant("libs/net/src/driver.cpp", "#include <route.hpp>\n")
        self.assert_reported("libs/net/src/driver.cpp:1", "may not use engine/src")

    def test_missing_headers_are_reported(self):
        self.plant("libs/retry/src/retry.cpp", '#include <reprise/none.hpp>\n#include "none.hpp"\n')
        self.assert_reported(":1", "not a public header")
        self.assert_reported(":2", "not a private header")

    def test_folder_without_a_row_is_reported(self):
        self.plant("libs/unheard/src/x.cpp", "\n")
        self.assert_reported("has no row")


class sizes_rule(planted_tree):
    rule = "sizes"

    def function(self, lines, before="", body="    step();\n"):
        """A function of exactly `lines` lines."""
        return f"{before}void f(int a) {{\n" + body * (lines - 2) + "}\n"

    def test_clean_tree_passes(self):
        self.assert_clean()

    def test_long_file_is_reported(self):
        self.plant("libs/retry/src/long.cpp", "int x;\n" * 600)
        self.assert_clean()
        self.plant("libs/retry/src/long.cpp", "int x;\n" * 601)
        self.assert_reported("long.cpp:1", "601 lines")

    def test_wide_line_is_reported(self):
        self.plant("libs/retry/src/wide.cpp", "\n// " + "x" * 98 + "\n")
        self.assert_reported("wide.cpp:2", "101 columns")

    def test_long_function_is_reported(self):
        self.plant("libs/retry/src/f.cpp", "namespace a {\n" + self.function(70) + "}\n")
        self.assert_clean()
        self.plant("libs/retry/src/f.cpp", "namespace a {\n" + self.function(71) + "}\n")
        self.assert_reported("f.cpp:2", "71 lines, limit 70")

    def test_class_with_many_methods_is_reported(self):
        def methods(count):
            return "class c {\npublic:\n    c();\n" + "".join(
                f"    int m{n}(int a = f()) const {{ return a; }}\n" for n in range(count - 1)) + "};\n"
        self.plant("libs/retry/src/c.hpp", "// Rules.\n" + methods(40))
        self.assert_clean()
        self.plant("libs/retry/src/c.hpp", "// Rules.\n" + methods(41))
        self.assert_reported("c.hpp:2", "class c has 41 methods, limit 40")

    def test_long_member_and_constructor_are_reported(self):
        constructor = ("struct s {\npublic:\n    s(int a) : a_{a}, b_{a} {\n" + "step();\n" * 70
                       + "}\n    int a_;\n};\n")
        self.plant("libs/retry/src/f.cpp", constructor)
        self.assert_reported("f.cpp:3", "72 lines")

    def test_braces_in_literals_and_comments_do_not_count(self):
        text = 'void f() { g("{", \'{\', R"x({{)x", 1\'000); } // {\n' + self.function(71)
        self.plant("libs/retry/src/f.cpp", text)
        self.assert_reported("f.cpp:2", "71 lines")

    def test_branches_of_the_preprocessor_do_not_confuse(self):
        text = "void g() {\n#ifdef A\n if (a) {\n#else\n if (b) {\n#endif\n }\n}\n"
        self.plant("libs/retry/src/f.cpp", text + self.function(71))
        self.assert_reported("f.cpp:9", "71 lines")

    def test_data_is_no_function(self):
        self.plant("libs/retry/src/f.cpp",
                   "const auto table = make({\n" + "    {1, 2},\n" * 90 + "});\n")
        self.assert_clean()

    def test_function_that_is_one_switch_may_be_longer(self):
        def switch(cases):
            return ("int f(int a) {\n    switch (a) {\n" + "        case 1: return 2;\n" * cases
                    + "    }\n    return 0;\n}\n")
        self.plant("libs/retry/src/f.cpp", switch(95))
        self.assert_clean()
        self.plant("libs/retry/src/f.cpp", switch(96))
        self.assert_reported("101 lines, limit 100")

    def test_exception_with_reason_raises_a_limit(self):
        self.plant("libs/retry/src/f.cpp", self.function(80))
        self.plant("tests/rules/exceptions.tsv",
                   "function\tlibs/retry/src/f.cpp\t80\tone table of steps\n")
        self.assert_clean()

    def test_exception_for_a_missing_file_is_reported(self):
        self.plant("tests/rules/exceptions.tsv", "file\tlibs/none.cpp\t700\tgenerated\n")
        self.assert_reported("libs/none.cpp")


class clock_rule(planted_tree):
    rule = "clock"

    READS = ("auto t = std::chrono::steady_clock::now();", "auto t = clock::now();",
             "std::random_device device;", "auto t = time(nullptr);", "auto t = std::time(&x);",
             "int r = rand();", "gettimeofday(&tv, nullptr);", "clock_gettime(0, &ts);",
             "using c = std::chrono::high_resolution_clock;", "std::this_thread::sleep_for(d);",
             "std::mt19937 engine;", "std::default_random_engine engine(seed);")

    def test_clean_tree_passes(self):
        self.assert_clean()

    def test_each_way_to_read_a_clock_is_reported(self):
        for line in self.READS:
            with self.subTest(line):
                self.plant("libs/retry/src/decide.cpp", f"\n{line}\n")
                self.assert_reported("decide.cpp:2")
                self.plant("libs/retry_adapters/include/reprise/fetch.hpp", f"\n{line}\n")
                self.assert_reported("fetch.hpp:2")

    def test_engines_that_get_their_seed_as_an_argument_are_listed(self):
        self.plant("testbed/sandbox/src/faults.cpp", "std::mt19937_64 engine(seed);\n")
        self.assert_reported("faults.cpp:1", "is a random engine")
        self.plant("tests/rules/random_engines.tsv", "testbed/sandbox\tseeded\n")
        self.assert_clean()

    def test_drivers_may_read_it(self):
        for path in ("libs/net/src/loop.cpp", "libs/retry/src/steady_clock.cpp", "apps/x/main.cpp"):
            self.plant(path, "".join(line + "\n" for line in self.READS))
        self.assert_clean()

    def test_time_as_an_argument_is_fine(self):
        self.plant("libs/retry/src/decide.cpp",
                   "auto t = clock.now(); // not steady_clock::now()\n"
                   "time_point time() const; auto u = entry.time(); brand(1);\n")
        self.assert_clean()

    def test_tests_may_read_a_clock_but_not_sleep(self):
        self.plant("libs/retry/tests/wait_test.cpp", "auto t = std::chrono::steady_clock::now();\n")
        self.plant("tests/integration/wait_test.cpp", "auto t = steady_clock::now();\n")
        self.assert_clean()
        for line in ("std::this_thread::sleep_for(1ms);", "usleep(5);"):
            for path in ("libs/retry/tests/wait_test.cpp", "tests/integration/wait_test.cpp"):
                with self.subTest(line + path):
                    self.plant(path, line + "\n")
                    self.assert_reported(path, "tests must not sleep")
                    self.plant(path, "\n")


class snippets_rule(planted_tree):
    rule = "snippets"

    EXAMPLE = ("int main() {\n    // [readme]\n    auto x = 1;\n\n    use(x);\n    // [/readme]\n"
               "    // [more]\n    more();\n    // [/more]\n}\n")
    LINE = "<!-- example: examples/first.cpp -->\n"
    BLOCK = "```cpp\nauto x = 1;\n\nuse(x);\n```\n"

    def setUp(self):
        super().setUp()
        self.plant("examples/first.cpp", self.EXAMPLE)

    def test_equal_blocks_pass(self):
        self.plant("README.md", "# x\n" + self.LINE + self.BLOCK
                   + "<!-- example: examples/first.cpp #region more -->\n\n```cpp\nmore();\n```\n")
        self.assert_clean()

    def test_block_that_differs_is_reported(self):
        for page in ("README.md", "libs/retry/README.md", "docs/guide/start.md"):
            with self.subTest(page):
                self.plant(page, self.LINE + self.BLOCK.replace("x = 1", "x = 2"))
                self.assert_reported(f"{page}:2", "differs")

    def test_root_readme_and_guides_need_an_example_for_each_block(self):
        for page in ("README.md", "docs/guide/start.md"):
            self.plant(page, self.BLOCK)
            self.assert_reported(f"{page}:1", "without an example line")
            self.plant(page, "")
        self.plant("libs/retry/README.md", self.BLOCK)
        self.assert_clean()

    def test_broken_references_are_reported(self):
        for line, text in ((self.LINE.replace("first", "none"), "does not exist"),
                           (self.LINE.replace(" -->", " #region none -->"), "no region [none]")):
            with self.subTest(text):
                self.plant("README.md", line + self.BLOCK)
                self.assert_reported("README.md:2", text)
        self.plant("README.md", self.LINE + "some text\n")
        self.assert_reported("without a cpp block")

    def test_file_without_marks_is_shown_whole(self):
        self.plant("examples/first.cpp", "auto x = 1;\n\nuse(x);\n")
        self.plant("README.md", self.LINE + self.BLOCK)
        self.assert_clean()
        self.plant("examples/first.cpp", "auto x = 1;\n\nuse(x);\nuse(x);\n")
        self.assert_reported("README.md:2", "differs")

    def test_region_stands_on_one_page_only(self):
        self.plant("README.md", self.LINE + self.BLOCK)
        self.assert_clean()
        self.plant("docs/guide/first.md", self.LINE + self.BLOCK)
        self.assert_reported("docs/guide/first.md:2", "README.md already shows")

    HEADER = "libs/retry/include/reprise/retry/first.hpp"

    def test_code_in_comments_of_headers_occurs_in_a_compiled_source(self):
        for code in ("///     auto x = 1;  // one\n///\n", "///     auto x =\n///         1;\n",
                     "///     auto x = 1;\n///     ...\n///     more();\n", "///     a -> b\n"):
            with self.subTest(code):
                self.plant(self.HEADER, "#pragma once\n/// First.\n" + code)
                self.assert_clean()

    def test_code_in_comments_of_headers_that_nothing_compiles_is_reported(self):
        for code in ("///     auto x = 2;\n", "///     more();\n///     ...\n///     auto x = 1;\n",
                     "///     int main() {\n///     }\n"):
            with self.subTest(code):
                self.plant(self.HEADER, "#pragma once\n/// First.\n" + code)
                self.assert_reported(f"{self.HEADER}:3", "no example or test contains this code")


class architecture_rule(planted_tree):
    rule = "architecture"

    ROWS = ("| folder | holds |\n|---|---|\n| `libs` | libraries |\n| `tests` | tests |\n\n"
            "| folder | holds | may use |\n|---|---|---|\n"
            "| `libs/retry` | retries | standard library |\n"
            "| `libs/retry_asio` | loops | retry, Asio |\n")

    def setUp(self):
        super().setUp()
        self.plant("libs/retry_asio/README.md", "# retry_asio\n")
        self.plant("tests/rules/includes.tsv",
                   "libs/retry\t-\t-\twhy\nlibs/retry_asio\tretry\tasio\twhy\n")
        self.plant("ARCHITECTURE.md", self.ROWS)

    def test_true_page_passes(self):
        self.assert_clean()

    def test_folder_without_a_row_is_reported(self):
        self.plant("bench/README.md", "# bench\n")
        self.assert_reported("no row for bench")
        self.plant("ARCHITECTURE.md", self.ROWS.replace("libs/retry_asio", "libs/retry"))
        self.assert_reported("no row for libs/retry_asio")

    def test_row_without_a_folder_is_reported(self):
        self.plant("ARCHITECTURE.md", self.ROWS + "| `libs/gone` | x | retry |\n")
        self.assert_reported("ARCHITECTURE.md:10", "no folder libs/gone")

    def test_other_libraries_than_the_table_allows_are_reported(self):
        self.plant("ARCHITECTURE.md", self.ROWS.replace("| retry, Asio |", "| Asio |"))
        self.assert_reported("ARCHITECTURE.md:9", "may also use retry")
        self.plant("ARCHITECTURE.md", self.ROWS.replace("standard library", "retry_asio"))
        self.assert_reported("ARCHITECTURE.md:8", "may not use retry_asio")


class refusals_rule(planted_tree):
    rule = "refusals"

    PAGE = "docs/guide/why_not_retried.md"
    ROWS = ("| `none` | retried | it was | nothing |\n"
            "| `canceled` | canceled | it was stopped | nothing |\n")

    def setUp(self):
        super().setUp()
        self.plant("libs/retry/include/reprise/retry/retry_errc.hpp",
                   "#pragma once\nenum class refusal_reason : int {\n    none,  ///< Not refused.\n"
                   "    canceled,  ///< Stopped.\n};\n")
        self.plant("libs/retry/src/refusal_reason.cpp",
                   "std::string_view to_string(refusal_reason reason) noexcept {\n"
                   "    switch (reason) {\n        case refusal_reason::none:\n"
                   '            return "retried";\n        case refusal_reason::canceled:\n'
                   '            return "canceled";\n    }\n}\n')

    def test_complete_page_passes(self):
        self.plant(self.PAGE, self.ROWS)
        self.assert_clean()

    def test_reason_without_a_row_is_reported(self):
        self.plant(self.PAGE, self.ROWS.split("\n")[0] + "\n")
        self.assert_reported("refusal_reason::canceled is not explained")

    def test_row_without_a_reason_is_reported(self):
        self.plant(self.PAGE, self.ROWS + "| `tired` | tired | x | y |\n")
        self.assert_reported(f"{self.PAGE}:3", "tired")

    def test_other_text_and_empty_remedy_are_reported(self):
        for row in ("| `canceled` | stopped | x | y |\n", "| `canceled` | canceled | x | |\n"):
            with self.subTest(row):
                self.plant(self.PAGE, self.ROWS.split("\n")[0] + "\n" + row)
                self.assert_reported(f"{self.PAGE}:2", "canceled")


class english_rule(planted_tree):
    rule = "english"

    SOURCE = "libs/retry/src/retry.cpp"
    TABLE = "tests/rules/english.tsv"

    def test_plain_comments_pass(self):
        self.plant(self.SOURCE, "// Users know what they want. The operation fails.\n"
                                "// The server does not know the password.\n")
        self.assert_clean()

    def test_each_wording_is_reported(self):
        for words in ("told as", "is told", "hears", "anew", "mended", "spoils", "heals", "kinder",
                      "whoever", "who waits", "by the guide", "the guide's", "both documents",
                      "beside its", "strategy wants", "policies say", "loop tells",
                      "client does not know", "servers believe"):
            with self.subTest(words):
                self.plant(self.SOURCE, f"int first;\nint second;  // X {words} y.\n")
                self.assert_reported(f"{self.SOURCE}:2", f"`{words}`")

    def test_wording_over_two_lines_of_a_comment_is_reported(self):
        for comment in ("int x;\n    /// The error is\n    /// told.\n",
                        "\n/* The error is\n * told. */\n"):
            with self.subTest(comment):
                self.plant(self.SOURCE, comment)
                self.assert_reported(f"{self.SOURCE}:2", "`is told`")

    def test_code_literals_and_text_in_backticks_pass(self):
        self.plant(self.SOURCE, 'const auto anew = "told as";\n// `mended` names an option.\n'
                                "int first;  // is\nint second;  // told\n")
        self.plant("README.md", "Run `reprise whoever`:\n\n```\n# begins anew\n```\n")
        self.assert_clean()

    def test_pages_tables_and_mutants_are_checked(self):
        self.plant("README.md", "# Retries\n\nThe call begins\nanew.\n")
        self.plant("docs/clauses.tsv", "AB-01.1\tThe strategy wants a token.\n")
        self.plant("tests/mutants/retry.mutants",
                   "mutant: anew\nsays: The loop\n    hears nothing.\nold: mended\n# Whoever.\n")
        self.assert_reported("README.md:4", "`anew`")
        self.assert_reported("docs/clauses.tsv:1", "`strategy wants`")
        self.assert_reported("tests/mutants/retry.mutants:3", "`hears`")
        self.assert_reported("tests/mutants/retry.mutants:5", "`Whoever`")
        self.assert_reported("4 violations")

    def test_comments_and_docstrings_of_python_are_checked(self):
        self.plant("scripts/x.py", '"""Says\nanew."""\nanew = "mended"  # is\n# told\nanew(\n'
                                   '    "hears")\n')
        self.assert_reported("scripts/x.py:2", "`anew`")
        self.assert_reported("scripts/x.py:3", "`is told`")
        self.assert_reported("2 violations")

    def test_exceptions_allow_one_wording_or_all(self):
        self.plant("docs/words.md", "Not: Mended anew.\n")
        self.plant(self.TABLE, "docs/words.md\tmended\tquoted\n")
        self.assert_reported("docs/words.md:1", "`anew`")
        self.assert_reported("1 violations")
        self.plant(self.TABLE, "docs\t*\tquoted\n")
        self.assert_clean()

    def test_exception_that_nothing_needs_is_reported(self):
        self.plant(self.TABLE, "README.md\tanew\tquoted\n")
        self.assert_reported(self.TABLE, "README.md does not need the exception for `anew`")


class errors_rule(planted_tree):
    rule = "errors"

    ENUM = "libs/couchbase_types/include/reprise/couchbase_types/errc.hpp"

    def setUp(self):
        super().setUp()
        self.plant(self.ENUM, "#pragma once\nenum class errc : int {\n    // Common.\n"
                              "    gone = 1,  ///< Was there.\n};\n")

    def test_raised_and_tested_error_passes(self):
        self.plant("libs/engine/src/send.cpp", "auto failed = errc::gone;\n")
        self.plant("libs/engine/tests/send_test.cpp", "EXPECT_EQ(failed, errc::gone);\n")
        self.assert_clean()

    def test_error_that_only_a_comment_and_its_table_name_is_reported(self):
        self.plant("libs/couchbase_types/src/errc.cpp", "row{errc::gone};\n")
        self.plant("libs/engine/src/send.cpp", "// gone\n")
        self.plant("libs/engine/tests/send_test.cpp", "EXPECT_EQ(failed, errc::gone);\n")
        self.assert_reported(f"{self.ENUM}:4", "never raised")

    def test_error_without_a_test_is_reported(self):
        self.plant("libs/engine/src/send.cpp", "auto failed = errc::gone;\n")
        self.assert_reported(f"{self.ENUM}:4", "named in no test")

    def plant_mapping(self, comment):
        self.plant(self.ENUM, "#pragma once\nenum class errc : int {\n"
                              f"    gone = 1,  ///< {comment}\n}};\n")
        self.plant("libs/engine/tests/send_test.cpp", "EXPECT_EQ(failed, errc::gone);\n")
        self.plant("libs/wire/private/reprise/wire/status.hpp",
                   "#pragma once\nenum class status {\n    enoent = 0x01,\n    lost = 0x30,\n};\n")
        self.plant("libs/engine/src/operations/status_mapping.cpp",
                   "response_outcome classify_lost(const response_facts& facts) noexcept {\n"
                   "    return mapped_error(errc::gone);\n}\n"
                   "switch (code) {\n    case status::enoent:\n        return errc::gone;\n"
                   "    case status::lost:\n        return classify_lost(facts);\n}\n")

    def test_comment_with_all_statuses_passes(self):
        for comment in ("0x01, 0x30.", "0x01; 0x30..0x30."):
            self.plant_mapping(comment)
            self.assert_clean()

    def test_status_that_the_comment_leaves_out_or_invents_is_reported(self):
        self.plant_mapping("0x01.")
        self.assert_reported(f"{self.ENUM}:3", "0x30 means errc::gone")
        self.plant_mapping("0x01, 0x02, 0x30.")
        self.assert_reported(f"{self.ENUM}:3", "0x02 does not mean errc::gone")


class names_rule(planted_tree):
    rule = "names"

    def plant_names(self, count, opening="namespace reprise {"):
        names = "".join(f"template <class T>\nstruct name_{number} {{\n    T inner;\n}};\n"
                        for number in range(count))
        companions = ", ".join(f"name_{number}" for number in range(1, count))
        self.plant_list(f"///     name_0   does it   {companions}\n")
        self.plant("libs/retry/include/reprise/retry/all.hpp",
                   f"#pragma once\n{opening}\n{names}}}\n")

    def plant_list(self, rows):
        self.plant("libs/retry/include/reprise/retry.hpp",
                   f"#pragma once\n{rows}#include <reprise/retry/all.hpp>\n")

    def test_few_names_pass(self):
        self.plant_names(20)
        self.assert_clean()

    def test_many_names_are_reported(self):
        self.plant_names(100)
        self.assert_reported("retry.hpp:1", "shows 100 names")

    def test_names_for_authors_of_clients_do_not_count(self):
        self.plant_names(100, "namespace reprise::driver {")
        self.plant_list("")
        self.assert_clean()

    def test_many_presented_names_are_reported(self):
        self.plant_names(21)
        self.plant_list("".join(f"///     name_{number}   does it\n" for number in range(21)))
        self.assert_reported("retry.hpp:1", "presents 21 names")

    def test_name_that_the_list_leaves_out_or_invents_is_reported(self):
        self.plant_names(3)
        self.plant_list("///     name_0   does it   name_7,\n///              name_1\n")
        self.assert_reported("retry.hpp:1", "does not list name_2")
        self.assert_reported("retry.hpp:1", "lists name_7")


class files_rule(planted_tree):
    rule = "files"

    def test_clean_tree_passes(self):
        self.assert_clean()

    def test_library_without_readme_or_build_file_is_reported(self):
        for folder in ("libs/lab", "testbed/sim"):
            for name in ("README.md", "CMakeLists.txt"):
                with self.subTest(folder=folder, name=name):
                    self.plant(f"{folder}/README.md", "")
                    self.plant(f"{folder}/CMakeLists.txt", "")
                    (self.root / folder / name).unlink()
                    self.assert_reported(f"{folder}/{name}")

    def test_dead_files_are_reported(self):
        for path in ("libs/retry/tests/dead.cpp", "testbed/sim/tests/hunt/dead.cpp",
                     "libs/retry/tests/other/dead_test.cpp",
                     "libs/retry/src/dead.hpp", "examples/dead.cpp", "scripts/dead.py"):
            with self.subTest(path):
                self.plant("examples/CMakeLists.txt", "add_executable(alive alive.cpp)\n")
                self.plant(path, "#pragma once\n")
                self.assert_reported(path)
                (self.root / path).unlink()

    def test_folder_that_is_not_part_of_the_build_is_reported(self):
        self.plant("CMakeLists.txt", "add_subdirectory(libs/retry)\n")
        self.assert_clean()
        self.plant("examples/CMakeLists.txt", "\n")
        self.assert_reported("examples/CMakeLists.txt", "does not name this folder")

    def test_sources_in_subfolders_of_a_library_are_built(self):
        self.plant("libs/retry/src/loops/loop.cpp", '#include "loops/step.hpp"\n')
        self.plant("libs/retry/src/loops/step.hpp", "#pragma once\n")
        self.plant("libs/retry/tests/loops/loop_test.cpp", "\n")
        self.assert_clean()

    def test_named_or_globbed_sources_are_built(self):
        self.plant("examples/CMakeLists.txt",
                   'foreach(name IN ITEMS first)\nfile(GLOB x "2/*.cpp")\n')
        self.plant("examples/first.cpp", "\n")
        self.plant("examples/2/second.cpp", "\n")
        self.assert_clean()

    def test_text_left_for_later_is_reported(self):
        self.plant("libs/retry/src/retry.cpp", f'#include "loop.hpp"\n// {LATER}: think\n')
        self.assert_reported("retry.cpp:2", LATER)

    def test_machine_paths_are_reported(self):
        for folder in ("work", "root", "home"):
            with self.subTest(folder):
                self.plant("docs/start.md", f"\nsee `/{folder}/someone/x`\n")
                self.assert_reported("docs/start.md:2")

    def test_empty_names_are_reported(self):
        for path in ("libs/retry/src/string_utils.cpp", "docs/misc/page.md", "docs/page_v2.md"):
            with self.subTest(path):
                self.plant(path, "")
                self.assert_reported(path, "not specific")
                (self.root / path).unlink()

    def test_empty_name_with_a_reason_passes(self):
        self.plant("docs/common_flags.md", "")
        self.plant("tests/rules/exceptions.tsv",
                   "name\tdocs/common_flags.md\tcommon\tthe server's word\n")
        self.assert_clean()

    def test_spelling_of_cpp_files_is_checked(self):
        self.plant("libs/retry/src/Loop.cpp", "")
        self.assert_reported("Loop.cpp", "snake_case")
        self.plant("libs/retry/src/x.h", "")
        self.assert_reported("x.h", ".hpp")
        self.plant("libs/retry/src/loop.hpp", "")
        self.assert_reported("loop.hpp", "pragma once")


class headers_rule(planted_tree):
    rule = "headers"

    def test_comment_share_is_printed_and_never_refused(self):
        status, output = self.run_rule()
        self.assertEqual(status, 0)
        self.assertIn("libs/retry/include/reprise/retry.hpp: 25 % comment (aim", output)


class promises_rule(planted_tree):
    rule = "promises"

    def plant_promise(self, tests):
        self.plant("SECURITY.md", f"| promise | held by |\n|---|---|\n| It holds. | {tests} |\n")

    def test_tests_that_exist_pass(self):
        self.plant("libs/retry/tests/retry_test.cpp", "TEST(suite, it_holds) {}\n")
        self.plant_promise("`retry_tests`: `suite`, `it_holds`")
        self.assert_clean()

    def test_a_test_that_does_not_exist_is_reported(self):
        self.plant_promise("`retry_tests`: `it_does_not_hold`")
        self.assert_reported("SECURITY.md:3", "it_does_not_hold")

    def test_a_word_in_a_test_is_no_test(self):
        self.plant("libs/retry/tests/retry_test.cpp", "TEST(suite, it_holds) { word(); }\n")
        self.plant_promise("`suite`: `word`")
        self.assert_reported("SECURITY.md:3", "word is no test")

    def test_checkers_and_profiles_of_the_simulation_pass(self):
        self.plant("testbed/sim/src/checks/finding.cpp", 'names{"trust"};\n')
        self.plant_promise("simulation: checker `trust`")
        self.assert_clean()

    def test_a_promise_without_a_test_is_reported(self):
        self.plant_promise("we are sure")
        self.assert_reported("SECURITY.md:3", "names no test")


class charges_rule(planted_tree):
    rule = "charges"

    def test_the_admission_and_the_charged_classes_pass(self):
        self.plant("libs/retry/src/admission.cpp", "limits.budget->try_pay(facts, now);\n")
        self.plant("libs/retry/src/budget.cpp", "bucket_->try_take(cost);\n")
        self.plant("libs/retry/tests/budget_test.cpp", "budget.try_pay({}, {});\n")
        self.plant("libs/engine/src/opaque.cpp", "void try_pay(int);\n")
        self.assert_clean()

    def test_charges_elsewhere_are_reported(self):
        for line in ("budget->try_pay(facts, now);", "allowance.try_take();",
                     "outer->give_back();"):
            with self.subTest(line):
                self.plant("libs/engine/src/flow.cpp", f"\n{line}\n")
                self.assert_reported("libs/engine/src/flow.cpp:2", "admission.cpp")


class decoders_rule(planted_tree):
    rule = "decoders"
    header = "libs/retry_adapters/include/reprise/retry/adapters/reply.hpp"

    def setUp(self):
        super().setUp()
        self.plant(self.header, "#pragma once\nnamespace reprise::adapters {\n"
                                "namespace detail {\nint step(std::string_view rest);\n"
                                "}  // namespace detail\n"
                                "[[nodiscard]] constexpr int parse_reply(\n"
                                "    std::string_view text) noexcept {\n    return detail::step(text);\n}\n"
                                "int count(int number);\n}\n")

    def test_decoder_with_a_fuzz_target_passes(self):
        self.plant("libs/retry_adapters/tests/fuzz/reply_fuzz.cpp", "parse_reply(text);\n")
        self.assert_clean()

    def test_decoder_without_a_fuzz_target_is_reported(self):
        self.plant("libs/retry_adapters/tests/fuzz/reply_fuzz.cpp", "// parse_reply(text)\n")
        self.assert_reported(self.header, "`parse_reply` takes a text")

    def test_text_as_a_string_or_a_pointer_is_a_text(self):
        for parameter in ("const std::string& text", "const char* text", "std::span<char> text"):
            with self.subTest(parameter):
                self.plant(self.header, f"inline int parse_reply({parameter}) {{\n"
                                        "    return 0;\n}\n")
                self.assert_reported(self.header, "`parse_reply` takes a text")

    def plant_detail(self, caller):
        self.plant("libs/retry_adapters/tests/fuzz/reply_fuzz.cpp", "parse_reply(text);\n")
        self.plant(self.header, "namespace reprise::adapters {\nnamespace detail {\n"
                                "inline int step(const char* rest) {\n    return *rest;\n}\n"
                                f"class reader {{\n    int next();\n    {caller}\n}};\n"
                                "}  // namespace detail\n"
                                "inline int parse_reply(std::string_view text) {\n"
                                "    return detail::reader(text).next();\n}\n}\n")

    def test_private_decoder_of_a_fuzzed_one_passes(self):
        self.plant_detail("int read() { return step(rest_); }")
        self.assert_clean()

    def test_private_decoder_that_no_fuzzed_one_reaches_is_reported(self):
        self.plant_detail("// step(rest_)")
        self.assert_reported(self.header + ":3", "`step` takes a text")

    def test_reason_exempts_a_function_and_must_name_one(self):
        self.plant("tests/rules/decoders.tsv", "parse_reply\tthe program's own text\n")
        self.assert_clean()
        self.plant("tests/rules/decoders.tsv", "parse_replies\tthe program's own text\n")
        self.assert_reported("`parse_replies` is no function")


class defaults_rule(planted_tree):
    rule = "defaults"

    def plant_switch(self, label, default):
        self.plant("libs/retry/src/loop.cpp",
                   f"    switch (x) {{\n        case {label}:\n            return 1;\n"
                   f"        {default}\n            return 2;\n    }}\n")

    def test_reasons_and_switches_over_values_pass(self):
        for label, default in (("state::open", "default:  // all others are closed"),
                               ("'a'", "default:"), ("404", "default:")):
            with self.subTest(label):
                self.plant_switch(label, default)
                self.assert_clean()

    def test_a_silent_default_over_an_enumeration_is_reported(self):
        for default in ("default:", "default:  // why?", "default: {"):
            with self.subTest(default):
                self.plant_switch("state::open", default)
                self.assert_reported("libs/retry/src/loop.cpp:4", "enumeration")


class extensions_rule(planted_tree):
    rule = "extensions"
    header = "libs/retry/include/reprise/retry/wide.hpp"

    def test_each_extension_is_reported(self):
        for line in ("using wide = unsigned __int128;", "[[gnu::always_inline]] void run();",
                     "void run() __attribute__((cold));", "int n = __builtin_clz(1);"):
            with self.subTest(line):
                self.plant(self.header, f"#pragma once\n{line}\n")
                self.assert_reported("wide.hpp:2", "extension")

    def test_header_of_macros_comments_and_private_code_pass(self):
        self.plant("libs/retry/include/reprise/retry/detail/compiler.hpp",
                   "#pragma once\n#define REPRISE_EXPORT [[gnu::visibility(\"default\")]]\n")
        self.plant(self.header, "#pragma once\n// no __int128\n")
        self.plant("libs/services/src/rows.cpp", "int n = __builtin_clz(1);\n")
        self.assert_clean()

    def test_pragma_needs_a_condition_that_names_the_compiler(self):
        self.plant(self.header, "#pragma once\n#pragma GCC diagnostic push\n")
        self.assert_reported("wide.hpp:2", "pragma")
        self.plant(self.header, "#pragma once\n#if defined(__GNUC__)\n"
                                "#pragma GCC diagnostic push\n#endif\n")
        self.assert_clean()


class pages_rule(planted_tree):
    rule = "pages"

    def test_good_links_and_wide_tables_pass(self):
        self.plant("docs/guide/a.md",
                   "# A\n\n## The `b` of *c*: d\n\n[b](b.md#two-words-1), [here](#the-b-of-c-d), "
                   "[up](../../libs/retry/), [out](https://a.example/#y)\n\n"
                   "`[code](nothing.md)`\n\n```text\n[code](nothing.md)\n```\n\n"
                   "    [code](nothing.md)\n\n| " + "x" * 120 + " |\n")
        self.plant("docs/guide/b.md", "# B\n\n## Two words\n\n## Two words\n")
        self.assert_clean()

    def test_links_to_nothing_are_reported(self):
        for link, problem in (("b.md", "link to nothing"), ("../../../b.md", "link to nothing"),
                              ("#bb", "no such heading"), ("a.md#b-b", "no such heading"),
                              ("https://nowhere", "malformed"), ("htp://a.example", "malformed")):
            with self.subTest(link):
                self.plant("docs/guide/a.md", f"# A\n\n## B\n\nSee [the `b`\npage]({link}).\n")
                self.assert_reported("docs/guide/a.md:5", problem)

    def test_wide_lines_are_reported(self):
        for page, line in (("docs/guide/a.md", "x" * 101), ("docs/guide/a.md", "    " + "y" * 97),
                           ("README.md", "| " + "x" * 99 + " |")):
            with self.subTest(page):
                self.plant(page, f"# A\n\n{line}\n")
                self.assert_reported(f"{page}:3", "columns")
                self.plant(page, "# A\n")

    def test_indented_fences_are_reported(self):
        self.plant("docs/guide/a.md", "# A\n\n```text\nx\n    ```\n\n## Still code\n")
        self.assert_reported("docs/guide/a.md:5", "indented fence")

    def test_rows_with_missing_cells_are_reported(self):
        self.plant("docs/guide/a.md", "# A\n\n| a | b |\n|---|---|\n| `x \\| y` | 1 |<!-- z -->\n| 2 |\n")
        self.assert_reported("docs/guide/a.md:6", "row of 1 cells in a table of 2")


class switches_rule(planted_tree):
    rule = "switches"

    def test_code_without_switches_passes(self):
        self.plant("libs/retry/tests/retry_test.cpp", "// REPRISE is planted in no test\n")
        self.plant("tests/mutants/retry.mutants", "new: planted(bug::x)\n")
        self.assert_clean()

    def test_bugs_on_purpose_are_reported(self):
        for line in ("#if defined(REPRISE_MUTANT" "_RH_16)", "if (planted" "(bug::x)) {}",
                     '#include "planted' '_bug.hpp"', 'reprise' '_mutant("x")'):
            for path in ("libs/retry/src/loop.hpp", "apps/reprise/CMakeLists.txt"):
                with self.subTest(line):
                    self.plant(path, f"\n{line}\n")
                    self.assert_reported(f"{path}:2", "tests/mutants")
                    self.plant(path, "#pragma once\n")


if __name__ == "__main__":
    unittest.main()
