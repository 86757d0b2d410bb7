#!/usr/bin/env python3
"""Follows the root README as a newcomer does, in an empty folder with the repository next to it.

Its first program is saved and its commands under 'Get it' are run, against a server that answers as
the page assumes; the program must print what the page shows. Then a call of the newcomer's own
takes the program's place, and the commands are run again. The CPU seconds of all this are printed
with their goal, and not checked, because they depend on the machine.
"""

import re
import sys
from pathlib import Path

from steps import ROOT, StepFailed, child_seconds, main, run, without_compiler_cache

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/0_first_programs"))
from run_http_get import running_server  # noqa: E402

SECONDS_GOAL = 120
PLACE = "http://127.0.0.1:8080/weather"  # as the page writes it
OWN_CALL = ROOT / "examples/0_first_programs/any_error.cpp"


def block_after(text, start, language):
    """The first fenced block of a language after a text."""
    found = re.compile(rf"^```{language}\n(.*?)^```$", re.DOTALL | re.MULTILINE).search(
        text, text.index(start))
    return found[1]


def without_numbers(text):
    return re.sub(r"\d+(\.\d+)?", "#", text)


def check(folder):
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = block_after(page, "## Get it", "sh")
    if PLACE not in commands:
        raise StepFailed(f"the commands do not ask {PLACE}")
    (folder / "reprise").symlink_to(ROOT)
    before = child_seconds()
    (folder / "first.cpp").write_text(block_after(page, "# Reprise", "cpp"), encoding="utf-8")
    with running_server() as place:
        steps = ["env", "-C", folder, "sh", "-ec", commands.replace(PLACE, f"http://{place}")]
        printed = run("the README's program", steps, without_compiler_cache())
    shown = block_after(page, "# Reprise", "text")
    if without_numbers(printed) != without_numbers(shown):
        raise StepFailed(f"the program prints something else:\n{printed}")
    (folder / "first.cpp").write_text(OWN_CALL.read_text(encoding="utf-8"), encoding="utf-8")
    printed = run("a call of one's own", steps, without_compiler_cache())
    if printed != "3 attempts\n":
        raise StepFailed(f"the own call prints something else:\n{printed}")
    seconds = child_seconds() - before
    print(f"a retried call after {seconds:.1f} CPU seconds (goal {SECONDS_GOAL} seconds)")


if __name__ == "__main__":
    sys.exit(main(check))
