"""One table of exit codes: the program's list, its help pages and command_line.md agree, and each
code occurs. Usage: exit_code_test.py PROGRAM GUIDE
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

GUIDE = sys.argv.pop(2)

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM, SandboxCase, run  # noqa: E402

COMMON = {0, 1, 2, 8}


def known_codes():
    return {each["code"]: each for each in json.loads(run("exit-codes", "--json").stdout)["exit_codes"]}


def listed_codes(text):
    """The codes in the part of a help page that begins with "Exit codes:"."""
    lines = text.split("Exit codes:\n", 1)[1].splitlines()
    return {int(match[1]): match[2] for line in lines
            if (match := re.match(r" {2,4}(\d+)  (\S.*)$", line))}


def all_commands():
    """Every command that has a help page and no subcommands."""
    pending, leaves = [[]], []
    while pending:
        words = pending.pop()
        text = run(*words, "--help").stdout
        below = re.findall(r"(?m)^  ([a-z-]+) ", text.split("Subcommands:\n")[1].split("\n\n")[0]) \
            if "Subcommands:\n" in text else []
        pending += [[*words, name] for name in below]
        if not below:
            leaves.append((words, text))
    return leaves


class TableTest(unittest.TestCase):
    def test_the_guide_has_the_same_table(self):
        with open(GUIDE, encoding="utf-8") as file:
            rows = re.findall(r"(?m)^\| (\d+) \| `(\w+)` \| (.*) \|$", file.read())
        self.assertEqual([(int(code), name, meaning) for code, name, meaning in rows],
                         [(each["code"], each["name"], each["meaning"])
                          for each in known_codes().values()])

    def test_the_first_help_page_has_the_whole_table(self):
        text = run("--help").stdout
        for each in known_codes().values():
            self.assertRegex(text, rf"(?m)^ +{each['code']}  {each['name']} +{each['meaning']}"
                             .replace("(Ctrl-C)", r"\(Ctrl-C\)"))

    def test_help_pages_describe_known_codes_with_the_same_text(self):
        known = known_codes()
        commands = all_commands()
        self.assertGreater(len(commands), 40)
        for words, text in commands:
            with self.subTest(command=words):
                self.assertIn("--json", text)
                if "Exit codes:" in text:
                    listed = listed_codes(text)
                    self.assertLessEqual(COMMON, set(listed))
                    for code, meaning in listed.items():
                        self.assertEqual(meaning, known[code]["meaning"])

    def test_errors_in_json_contain_their_exit_code(self):
        known = known_codes()
        for arguments in (["fly"], ["get"], ["sim", "--seeds", "x"], ["lab", "run", "calm"],
                          ["sandbox", "start", "--nodes", "0"], ["explain", "nothing_such"],
                          ["sandbox", "run", "--", "no-such-program"],
                          ["config", "--file", "/nonexistent/file"], ["get", "k"],
                          ["upsert", "k", "v"], ["verify", "-c", "http://host"],
                          ["sandbox", "status", "--ready-file", "/nonexistent/file"]):
            with self.subTest(arguments=arguments):
                ended = run(arguments[0], "--json", *arguments[1:])
                error = json.loads(ended.stdout)["error"]
                self.assertEqual(error["exit_code"], ended.returncode)
                self.assertEqual(error["exit_name"], known[ended.returncode]["name"])
                self.assertRegex(error["name"], r"^[a-z_]+$")
                self.assertNotEqual(error["message"], "")
                self.assertIn("reprise: ", ended.stderr)


class EachCodeTest(SandboxCase):
    OPTIONS = ("--nodes", "1", "--replicas", "0")

    def test_each_code_occurs_as_in_the_table(self):
        self.command("upsert", "there", "1")
        cases = {
            0: ("get", "there"),
            2: ("get",),
            3: ("get", "nowhere"),
            4: ("insert", "there", "1"),
            6: ("get", "there", "--bucket", "nowhere"),
            7: ("query", "SELEKT 1"),
        }
        for code, arguments in cases.items():
            with self.subTest(code=code):
                ended = self.command(*arguments)
                self.assertEqual(ended.returncode, code, ended.stderr)
        with self.subTest(code=1):
            self.assertEqual(run("config", "--file", "/nonexistent/file").returncode, 1)
        with self.subTest(code=5):
            late = run("get", "k", "-c", "couchbase://127.0.0.1:1", "--timeout", "100ms")
            self.assertEqual(late.returncode, 5, late.stderr)
        with self.subTest(code=8), open("/dev/full", "wb") as full:
            self.assertEqual(subprocess.run([PROGRAM, "exit-codes"], stdout=full, check=False,
                                            stderr=subprocess.DEVNULL).returncode, 8)
        with self.subTest(code=127):
            self.assertEqual(run("sandbox", "run", "--", "no-such-program").returncode, 127)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(code=code):
                process = subprocess.Popen([PROGRAM, "demo", "--seconds", "3600", "--plain"],
                                           stdout=subprocess.PIPE, start_new_session=True)
                process.stdout.readline()
                process.send_signal(number)
                process.communicate(timeout=PATIENCE_SECONDS)
                self.assertEqual(process.returncode, code)

    def test_services_use_the_same_codes_as_documents(self):
        self.assertEqual(self.command("search", "nowhere", "word").returncode, 3)
        self.assertEqual(self.command("view", "nothing", "here", "--timeout", "2s").returncode, 3)
        self.assertEqual(self.command("query", "SELECT 1", password="wrong").returncode, 6)
        self.assertEqual(self.command("config", password="wrong").returncode, 6)
        late = run("config", "-c", "couchbase://127.0.0.1:1", "--timeout", "100ms")
        self.assertEqual(late.returncode, 5, late.stderr)


class CommandNames(unittest.TestCase):
    def test_an_unknown_command_is_reported_with_a_suggestion(self):
        for arguments, complaint in (
                (["upsrt", "k", "v"], "'upsrt' is not a command of 'reprise'; did you mean 'upsert'?"),
                (["sandbox", "stert"], "'stert' is not a command of 'reprise sandbox'; did you mean "
                                       "'start'?"),
                (["sandbox", "fault", "ad", "--opcode", "get"],
                 "'ad' is not a command of 'reprise sandbox fault'; did you mean 'add'?"),
                (["--json", "xyzzy"], "'xyzzy' is not a command of 'reprise'; the commands are ")):
            with self.subTest(arguments=arguments):
                ended = run(*arguments)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(complaint, ended.stderr)


class OptionNames(unittest.TestCase):
    def test_an_unknown_option_is_reported_with_a_suggestion(self):
        for arguments, complaint in (
                (["get", "key", "--timout", "5s"],
                 "'--timout' is not an option of 'reprise get'; did you mean --timeout?"),
                (["demo", "--secnods=3"],
                 "'--secnods=3' is not an option of 'reprise demo'; did you mean --seconds?"),
                (["sandbox", "fault", "add", "--opcde", "get"],
                 "'--opcde' is not an option of 'reprise sandbox fault add'; did you mean "
                 "--opcode?"),
                (["exit-codes", "--zzzzzz"], "'--zzzzzz' is not an option of 'reprise exit-codes'\n"),
                (["exit-codes", "seven"],
                 "'seven' is one argument too many for 'reprise exit-codes'\n")):
            with self.subTest(arguments=arguments):
                ended = run(*arguments)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(complaint, ended.stderr)

    def test_a_duration_needs_its_unit(self):
        ended = run("get", "key", "--timeout", "5")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("'5' is not a time with its unit", ended.stderr)


class Notices(unittest.TestCase):
    def test_a_notice_does_not_look_like_an_error(self):
        ended = run("query", "SELECT RAW 1")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertTrue(ended.stderr.startswith("note: started an embedded cluster"), ended.stderr)
        self.assertNotIn("reprise:", ended.stderr)


class ReadyFiles(unittest.TestCase):
    def test_a_ready_file_in_use_is_kept_and_a_stale_one_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ready.json")
            options = [PROGRAM, "sandbox", "start", "--nodes", "1", "--replicas", "0",
                       "--ready-file", path]
            with subprocess.Popen([*options, "--json"], stdout=subprocess.PIPE, text=True) as first:
                printed = "".join(iter(first.stdout.readline, "}\n")) + "}"
                before = json.loads(printed)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(json.load(file), before)
                second = subprocess.run(options, capture_output=True, text=True, check=False,
                                        timeout=PATIENCE_SECONDS)
                self.assertEqual(second.returncode, 1)
                self.assertIn(path, second.stderr)
                self.assertIn(f"process {first.pid}", second.stderr)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(json.load(file), before)
                first.kill()
            self.assertTrue(os.path.exists(path))
            with subprocess.Popen(options, stdout=subprocess.PIPE, text=True) as third:
                next(line for line in third.stdout if "ready file" in line)
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(json.load(file)["pid"], third.pid)
                third.terminate()
            self.assertFalse(os.path.exists(path))

    def test_drafts_are_never_written_through_a_link(self):
        # Others who can write to the folder could guess the draft's name: the process id is known.
        with tempfile.TemporaryDirectory() as folder:
            victim = os.path.join(folder, "victim")
            with open(victim, "w", encoding="utf-8") as file:
                file.write("precious")
            trap = ('for name in "$1.$$.part" "$1.$$-0.part" "$1.$$-1.part"; do '
                    'ln -s "$2" "$name"; done; '
                    'exec "$0" sandbox run --nodes 1 --replicas 0 --ready-file "$1" -- cat "$1"')
            ended = subprocess.run(["sh", "-c", trap, PROGRAM, os.path.join(folder, "r"), victim],
                                   capture_output=True, text=True, check=False,
                                   timeout=PATIENCE_SECONDS, start_new_session=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertIn("connection_string", ended.stdout)
            with open(victim, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")


if __name__ == "__main__":
    unittest.main()
