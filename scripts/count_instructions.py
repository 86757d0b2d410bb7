#!/usr/bin/env python3
"""Counts instructions in user space per operation, with callgrind, and prints JSON.

Each scenario of `instruction_bench` runs with recorded answers, so the counts vary by far less than
the margin. Those named `api_...` go through the public API and a loopback socket, whose answers come
from the same thread; their allocations are counted as well. The counts are compared with
bench/instructions.json; a scenario that needs more than 3 % more instructions, or more allocations,
fails. `--update` writes the counts into that file and into docs/performance.md, which must agree.
`--functions get_64` prints where the instructions of one scenario are spent instead, by function:
inlined functions count for the one that they are part of.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import performance_page

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = ROOT / "bench" / "instructions.json"
MARGIN = 1.03
ALLOCATION_MARGIN = 0.05  # of one allocation per operation
# name: operations of the run that is counted. A run with fewer is subtracted, and with it what
# happens only once.
SCENARIOS = {
    "get_64": 6400,
    "get_1": 2000,
    "upsert_64": 6400,
    "api_get_64": 6400,
    "api_get_1": 2000,
    "api_upsert_64": 6400,
    "api_upsert_1": 2000,
    "success": 20000,
    "virtual_success": 20000,
    "decision": 5000,
    "refusal": 5000,
}
WARM_UP_SHARE = 4


def library_of(source):
    """Returns the library that a source file belongs to: "retry", "engine", "standard library"."""
    # Objects from a compiler cache may name another folder of the same tree.
    path = os.path.normpath(source)
    found = re.search(r"(?:^|/)libs/(\w+)/(?:include|private|src)/", path)
    if found:
        return found.group(1)
    if "/boost/asio/" in source:
        return "asio"
    return "bench" if re.search(r"(?:^|/)bench/\w+\.[ch]pp$", path) else "standard library"


def short_name(function):
    """Removes arguments, template arguments and callgrind's number of a recursion."""
    depth = 0
    kept = []
    for letter in function.partition("'")[0]:
        depth += letter in "<("
        if depth == 0:
            kept.append(letter)
        depth -= letter in ">)"
    return "".join(kept)


class Profile:
    """The costs in one callgrind file: by library, by function, and by counted function or stage
    with what it calls. A counted function does not include the stages inside of it."""

    def __init__(self, path, allocations):
        self.allocations = allocations
        self.names = {}
        self.libraries = Counter()
        self.functions = Counter()
        self.stages = Counter()
        self.total = 0
        self.read(path)

    def name_of(self, field):
        """Resolves callgrind's compressed names: "(7) name" defines, "(7)" repeats."""
        number, _, name = field.partition(" ")
        if name:
            self.names[number] = name
        return self.names[number]

    def read(self, path):
        files = {}
        source = function = called = ""
        is_call_cost = False
        for line in path.read_text().splitlines():
            key, is_assignment, value = line.partition("=")
            if is_assignment and key in ("fl", "fi", "fe"):
                number, _, name = value.partition(" ")
                if name:
                    files[number] = name
                source = files[number]
            elif is_assignment and key in ("cfi", "cfl", "ob", "cob"):
                number, _, name = value.partition(" ")
                if name and key in ("cfi", "cfl"):
                    files[number] = name
            elif is_assignment and key == "fn":
                function = self.name_of(value)
            elif is_assignment and key == "cfn":
                called = self.name_of(value)
            elif is_assignment and key == "calls":
                is_call_cost = True
            elif line[:1].isdigit() or line[:1] in "+-*":
                costs = line.split()[1:]  # a cost of zero is left out
                cost = int(costs[0]) if costs else 0
                if is_call_cost:
                    is_call_cost = False
                    self.add_stage(function, called, cost)
                else:
                    self.libraries[library_of(source)] += cost
                    self.functions[short_name(function)] += cost
                    self.total += cost
                    self.add_stage(function, "", cost)

    def add_stage(self, function, called, cost):
        """Adds what a counted function spends itself and in what it calls."""
        stage = re.search(r"\b(measured|stage)_(\w+)", function)
        if stage and called != function:
            self.stages[stage.group(2)] += cost
        # The stages are called, through other functions, by the only counted function.
        if stage and stage.group(1) == "stage" and called != function:
            self.stages["turn"] -= cost


def run(program, scenario, count, folder):
    """Returns the profile of one run."""
    out = folder / f"{scenario}.{count}"
    command = ["valgrind", "--tool=callgrind", "--toggle-collect=*measured_*",
               f"--callgrind-out-file={out}", "--error-exitcode=9", str(program), scenario,
               str(count)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    allocations = re.search(r"^allocations (\d+)$", result.stdout, re.MULTILINE)
    return Profile(out, int(allocations.group(1)) if allocations else None)


def count_functions(program, scenario, folder):
    """Yields the instructions per operation of each function, most expensive first."""
    many = SCENARIOS[scenario]
    few = many // WARM_UP_SHARE
    costs = run(program, scenario, many, folder).functions
    costs.subtract(run(program, scenario, few, folder).functions)
    for name, cost in costs.most_common():
        if cost >= (many - few) / 2:
            yield f"{cost / (many - few):8.1f}  {name}"


def count(program, scenario, folder):
    """Returns instructions per operation: in all, by library and by stage."""
    many = SCENARIOS[scenario]
    few = many // WARM_UP_SHARE
    whole, start = run(program, scenario, many, folder), run(program, scenario, few, folder)

    def each(name):
        costs = Counter(getattr(whole, name))
        costs.subtract(getattr(start, name))
        return {key: round(cost / (many - few), 1) for key, cost in sorted(costs.items())
                if round(cost / (many - few), 1) > 0}

    figures = {"instructions": round((whole.total - start.total) / (many - few), 1),
               "libraries": each("libraries")}
    if len(each("stages")) > 1:
        figures["stages"] = each("stages")
    if whole.allocations is not None:
        figures["allocations"] = round((whole.allocations - start.allocations) / (many - few), 2)
    return figures


def compare(figures, committed):
    """Yields a line for each scenario above the committed count, and for each one without."""
    for name, figure in figures.items():
        if name not in committed:
            yield f"{name}: no count in {COMMITTED.relative_to(ROOT)}"
        elif figure["instructions"] > committed[name]["instructions"] * MARGIN:
            yield (f"{name}: {figure['instructions']} instructions, "
                   f"{committed[name]['instructions']} before")
        elif (figure.get("allocations", 0)
              > committed[name].get("allocations", 0) + ALLOCATION_MARGIN):
            yield (f"{name}: {figure['allocations']} allocations, "
                   f"{committed[name]['allocations']} before")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--update", action="store_true", help="write the counts to be held")
    parser.add_argument("--functions", choices=SCENARIOS, help="list the functions of a scenario")
    arguments = parser.parse_args()
    program = arguments.build / "bin" / "instruction_bench"
    if arguments.functions:
        with tempfile.TemporaryDirectory() as folder:
            print("\n".join(count_functions(program, arguments.functions, Path(folder))))
        return
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        figures = dict(zip(SCENARIOS, pool.map(
            lambda name: count(program, name, Path(folder)), SCENARIOS)))
    print(json.dumps(figures, indent=2))
    if arguments.update:
        COMMITTED.write_text(json.dumps(figures, indent=2) + "\n")
        performance_page.write_counts(figures)
        return
    committed = json.loads(COMMITTED.read_text())
    if not performance_page.has_counts(committed):
        sys.exit("docs/performance.md does not have the counts of bench/instructions.json; "
                 "`python3 scripts/performance_page.py --counts` writes them")
    above = list(compare(figures, committed))
    if above:
        sys.exit("\n".join(["above bench/instructions.json:", *above]))


if __name__ == "__main__":
    main()
