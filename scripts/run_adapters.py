#!/usr/bin/env python3
"""The adapters against the real client libraries and servers: run_adapters.py [NAME...]

Runs the test program of each adapter (tests/adapters), which starts the servers it needs on the
loopback and ends them. Prints a table at the end; exits with 1 if a check failed or a program
ended without a result.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests" / "adapters"
# adapter_NAME_tests is built from the files NAME_*test.cpp.
ADAPTERS = sorted({path.name.partition("_")[0] for path in TESTS.glob("*_test.cpp")})
TIME_MAX_S = 300
RESULT = re.compile(r"\[\s+(OK|FAILED)\s+\] (\S+?)(?:, where .*)? \(\d+ ms\)")


def run_adapter(build, name):
    """(passed, failed) of one test program."""
    program = build / "bin" / f"adapter_{name}_tests"
    with subprocess.Popen(["timeout", "-k", "5", str(TIME_MAX_S), str(program)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace") as process:
        passed = failed = 0
        for line in process.stdout:
            if found := RESULT.match(line):
                passed += found[1] == "OK"
                failed += found[1] == "FAILED"
                print(f"  check {'ok' if found[1] == 'OK' else 'FAILED'} {found[2]}", flush=True)
            elif not line.startswith("["):
                print("  " + line, end="", flush=True)
        code = process.wait()
    if code != 0 and failed == 0:
        print(f"  check FAILED {program.name} ended with {code}", flush=True)
        failed = 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build/adapters"))
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ADAPTERS))
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(ADAPTERS):
        parser.error(f"no such adapter: {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(ADAPTERS)}")
    names = [name for name in ADAPTERS if not arguments.names or name in arguments.names]
    if arguments.list:
        print(" ".join(names))
        return 0
    table = []
    for name in names:
        print(f"{name}:", flush=True)
        table.append((name, *run_adapter(arguments.build, name)))
    print(f"\n{'adapter':<16} {'passed':>7} {'failed':>7}")
    for name, passed, failed in table:
        print(f"{name:<16} {passed:>7} {failed:>7}")
    return 1 if any(failed or not passed for _, passed, failed in table) else 0


if __name__ == "__main__":
    sys.exit(main())
