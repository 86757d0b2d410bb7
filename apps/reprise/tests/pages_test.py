"""Help, man pages and completions: the pages are generated from the help, and each command's help
shows examples of that command. Usage: pages_test.py PROGRAM COMMAND_PAGES_SCRIPT
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(sys.argv.pop())
PROGRAM = sys.argv.pop()
sys.path.insert(0, str(SCRIPT.parent))
import command_pages  # noqa: E402

# Calls the function with the words of a command line, as the shell does for the last of them.
ASK_BASH = """source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reprise; echo "${COMPREPLY[@]}" """
ASK_ZSH = """compdef() { }; _describe() { print -l -- ${(P)2} }; _files() { print files }
source $1; shift; words=("$@"); CURRENT=$#; _reprise"""


class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pages = Path(cls.folder.name)
        subprocess.run([sys.executable, "-B", SCRIPT, PROGRAM, cls.pages], check=True)
        cls.root = command_pages.read_command(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def test_every_command_shows_examples_of_its_own(self):
        for command in command_pages.all_commands(self.root):
            examples = [line for line in command.sections.get("Examples", [])
                        if not line.startswith("   ")]  # those go on from the line above
            with self.subTest(command=command.title()):
                self.assertTrue(examples)
                # Others may follow, such as the next step.
                self.assertIn(" ".join([" reprise", *command.path]), examples[0])

    def test_every_command_has_a_page_that_formats_without_warnings(self):
        commands = list(command_pages.all_commands(self.root))
        self.assertGreater(len(commands), 50)
        for command in commands:
            page = self.pages / "man1" / f"{command.title()}.1"
            shown = subprocess.run(["groff", "-man", "-Tascii", "-ww", page], capture_output=True,
                                   text=True, check=True)
            self.assertEqual(shown.stderr, "", page.name)

    def test_a_page_shows_what_the_help_shows(self):
        text = (self.pages / "man1/reprise-get.1").read_text(encoding="utf-8")
        for part in ("reprise\\-get \\- Read a document", ".SH OPTIONS", "\\-\\-collection",
                     ".SH EXIT STATUS", "reprise get k \\-\\-json"):
            self.assertIn(part, text)

    def test_options_and_their_texts_are_distinguished(self):
        for command in command_pages.all_commands(self.root):
            for entry in command.entries("Options"):
                with self.subTest(command=command.title(), option=entry.names[0]):
                    self.assertTrue(entry.text)
                    self.assertTrue(entry.names[-1].startswith("--"))

    def test_bash_completes_commands_options_and_files(self):
        def complete(*words):
            return self.ask("bash", "-c", ASK_BASH, self.pages / "reprise.bash", "reprise",
                            *words).split()
        self.assertEqual(complete("sand"), ["sandbox"])
        self.assertEqual(complete("lab", ""), ["list", "run", "region", "new", "lint", "serve"])
        self.assertEqual(complete("lab", "run", "outage", "--stra"), ["--strategy"])
        self.assertIn("--password-file", complete("get", "key", "--pass"))
        self.assertEqual(complete("get", "--ca-file", str(self.pages / "man")),
                         [str(self.pages / "man1")])

    def test_zsh_completes_commands_with_their_texts(self):
        def complete(*words):
            return self.ask("zsh", "-fc", ASK_ZSH, "zsh", self.pages / "_reprise", "reprise", *words)
        self.assertIn("list:List the gallery", complete("lab", ""))
        self.assertIn("--strategy:Strategy to compare", complete("lab", "run", "outage", "--stra"))
        self.assertEqual(complete("get", "key", ""), "files\n")


if __name__ == "__main__":
    unittest.main()
