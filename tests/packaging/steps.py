"""What the packaging tests share: steps that are run in a temporary folder and reported."""

import os
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CONSUMER = ROOT / "tests/install/consumer"  # a user's program; it returns 0 if all is well


class StepFailed(Exception):
    """A step failed; the text names it and has its output."""


def run(step, command, environment=None, expect_failure=False):
    """Runs a command and returns what it printed."""
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)
    if (result.returncode != 0) != expect_failure:
        raise StepFailed(f"{step}: exit status {result.returncode}\n{result.stdout}")
    print(f"{step}: ok", flush=True)
    return result.stdout


def child_seconds():
    """CPU seconds of all children that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def without_compiler_cache():
    """The environment for a step whose cost is measured."""
    return dict(os.environ, CCACHE_DISABLE="1")


def main(check):
    """Calls check(folder) with a temporary folder; the exit status is 0 if it passed."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            check(Path(folder))
        except StepFailed as problem:
            print(problem)
            return 1
    return 0
