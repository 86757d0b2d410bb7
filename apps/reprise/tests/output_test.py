"""Output that cannot be written: a full disk, a closed stream, a reader that went away. The program
never ends by a signal and never with 0. Usage: output_test.py PROGRAM
"""

import os
import pty
import re
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

from sandbox_fixture import PATIENCE_SECONDS, PROGRAM

OUTPUT_FAILED = 8

# Each prints to standard output in a different way: help, lines, a table, rows, a demo.
PRINTING = (["--help"], ["--version"], ["sandbox", "run", "--help"], ["exit-codes"],
            ["explain", "--list"], ["lab", "list"], ["sim", "--list-profiles"],
            ["sim", "--seeds", "1..2", "--profile", "quick"],
            ["sim", "--replay", "7", "--profile", "quick"],
            ["query", "SELECT RAW 1"], ["query", "SELECT RAW 1", "--json"], ["ping", "--json"],
            ["demo", "--seconds", "2", "--plain"], ["demo", "--seconds", "2", "--json"])


def run(arguments, **streams):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, check=False,
                          timeout=PATIENCE_SECONDS, **streams)


class OutputTest(unittest.TestCase):
    def test_a_full_standard_output_is_reported_by_every_command(self):
        for arguments in PRINTING:
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                ended = run(arguments, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(ended.returncode, OUTPUT_FAILED, ended.stderr)
                self.assertIn(b"cannot write to standard output", ended.stderr)

    def test_a_closed_pipe_does_not_raise_a_signal(self):
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                reading, writing = os.pipe()
                os.close(reading)
                ended = run(arguments, stdout=writing, stderr=subprocess.DEVNULL)
                os.close(writing)
                self.assertEqual(ended.returncode, OUTPUT_FAILED)

    def test_a_reader_that_stops_after_one_line_ends_a_long_output(self):
        for arguments in (["sim", "--replay", "1"], ["sim", "--replay", "3", "--profile", "swarm"],
                          ["explain", "--list"]):
            with self.subTest(arguments=arguments):
                started = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                started.stdout.readline()
                started.stdout.close()
                errors = started.stderr.read()
                started.stderr.close()
                self.assertIn(started.wait(timeout=PATIENCE_SECONDS), (0, OUTPUT_FAILED), errors)

    def test_one_file_writes_to_the_terminal_and_two_commands_write_documents(self):
        # Everything that `print` and `print_aside` write is escaped; see tests/hostile/terminal.
        raw = re.compile(r"\b(f?puts|fputc|putchar|v?f?printf|fwrite|std::c(out|err|log)|"
                         r"fmt::print|std::print(ln)?|STDOUT_FILENO|STDERR_FILENO|stdout|stderr)\b")
        unescaped = re.compile(r"\bprint_(document|control)\b")
        sources = Path(__file__).parent.parent
        ways, users = set(), set()
        for source in [*sources.glob("src/**/*.[ch]pp"), *sources.glob("demo/**/*.[ch]pp")]:
            code = re.sub(r"//.*", "", source.read_text(encoding="utf-8"))
            name = str(source.relative_to(sources))
            if raw.search(code):
                ways.add(name)
            if unescaped.search(code):
                users.add(name)
        # The last three only ask whether a stream is a terminal.
        self.assertEqual(ways, {"src/output/output.cpp", "src/commands/sim.cpp", "demo/view.cpp",
                                "src/lab/side_by_side.cpp"})
        self.assertEqual(users, {
            "src/output/output.hpp", "src/output/output.cpp", "src/commands/kv.cpp",
            "src/commands/query.cpp", "src/commands/demo.cpp", "demo/run.hpp", "demo/view.cpp"})

    def test_a_document_is_escaped_only_on_a_terminal(self):
        document = "\x1b[31mred"
        run_alone = [PROGRAM, "query", "SELECT RAW '" + document + "'"]
        piped = subprocess.run(run_alone, capture_output=True, check=False,
                               timeout=PATIENCE_SECONDS)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        ours, theirs = pty.openpty()
        shown = subprocess.run(run_alone, stdout=theirs, stderr=subprocess.DEVNULL, check=False,
                               timeout=PATIENCE_SECONDS)
        os.close(theirs)
        self.assertEqual(shown.returncode, 0)
        self.assertNotIn(b"\x1b[31m", os.read(ours, 4096))
        os.close(ours)

    def test_an_unwritable_standard_error_neither_aborts_nor_counts_as_success(self):
        with open("/dev/full", "wb") as full:
            # Reports on standard error that it started a cluster.
            ended = run(["query", "SELECT RAW 1"], stdout=subprocess.PIPE, stderr=full)
            self.assertEqual((ended.returncode, ended.stdout), (OUTPUT_FAILED, b"1\n"))
            # The error's own code takes precedence over the lost text.
            for arguments, code in ((["fly"], 2), (["get", "k"], 3), (["sandbox", "status"], 2)):
                with self.subTest(arguments=arguments):
                    ended = run(arguments, stdout=subprocess.DEVNULL, stderr=full)
                    self.assertEqual(ended.returncode, code)

    def test_both_streams_full(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["--help"], ["get", "k", "--json"], ["demo", "--seconds", "2"]):
                with self.subTest(arguments=arguments):
                    ended = run(arguments, stdout=full, stderr=full)
                    self.assertIn(ended.returncode, (3, OUTPUT_FAILED))

    def test_sockets_do_not_reuse_closed_streams(self):
        # Otherwise a socket would get the number of a closed stream, and a server the text.
        for closed, code in ((">&-", OUTPUT_FAILED), ("2>&-", OUTPUT_FAILED),
                             (">&- 2>&-", OUTPUT_FAILED), ("<&-", 0)):
            with self.subTest(closed=closed):
                ended = subprocess.run(
                    ["sh", "-c", f'"$0" query "SELECT RAW 1" {closed}', PROGRAM],
                    capture_output=True, check=False, timeout=PATIENCE_SECONDS)
                self.assertEqual(ended.returncode, code, ended.stdout + ended.stderr)

    def run_on_a_terminal(self, **variables):
        """What a wrong command prints on standard error if that is a terminal."""
        main, side = pty.openpty()
        environment = dict(os.environ, TERM="xterm") | variables
        try:
            run(["fly"], stdout=subprocess.DEVNULL, stderr=side, env=environment)
            return os.read(main, 65536).decode()
        finally:
            os.close(main)
            os.close(side)

    def test_colours_are_for_terminals_and_NO_COLOR_turns_them_off(self):
        self.assertTrue(self.run_on_a_terminal(NO_COLOR="").startswith("\x1b[1;31mreprise:"))
        for variables in ({"NO_COLOR": "1"}, {"NO_COLOR": "", "TERM": "dumb"}):
            with self.subTest(variables=variables):
                self.assertTrue(self.run_on_a_terminal(**variables).startswith("reprise: "))
        ended = run(["fly"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(ended.stderr.startswith(b"reprise: "))

    def test_a_page_with_a_default_name_is_not_written_through_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            victim = os.path.join(folder, "victim")
            with open(victim, "w", encoding="utf-8") as file:
                file.write("precious")
            os.symlink(victim, os.path.join(folder, "reprise-outage.html"))
            command = [PROGRAM, "lab", "run", "outage"]
            trap = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                                  timeout=PATIENCE_SECONDS)
            self.assertEqual(trap.returncode, 1)
            self.assertIn("symbolic link", trap.stderr)
            with open(victim, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
            asked = subprocess.run([*command, "--quiet", "--html", "reprise-outage.html"],
                                   cwd=folder, check=False, timeout=PATIENCE_SECONDS)
            self.assertEqual(asked.returncode, 0)


class ScarceMemoryTest(unittest.TestCase):
    def test_too_little_memory_is_an_error_and_no_abort(self):
        for mebibytes in range(24, 64, 6):
            size = mebibytes << 20
            limit = lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size))
            with self.subTest(mebibytes=mebibytes):
                ended = subprocess.run(
                    [PROGRAM, "query", "SELECT RAW 1", "--timeout", "1s"], check=False,
                    stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limit,
                    timeout=PATIENCE_SECONDS)
                # 127: the system could not even load the program.
                self.assertIn(ended.returncode, (*range(9), 127), ended.stderr)


if __name__ == "__main__":
    unittest.main()
