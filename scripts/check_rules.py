#!/usr/bin/env python3
"""The house rules that a machine can check: check_rules.py RULE [--root DIR]

Each rule is a module of scripts/rules with `check(tree) -> violations`; its docstring is the rule.
Prints `path:line: text` per violation and exits with 1 if there is one. The tables of exceptions,
each with its reason, are in tests/rules/*.tsv of the tree that is checked.
"""

import argparse
import sys
from pathlib import Path

from rules import (architecture, charges, clock, decoders, defaults, english, errors, extensions,
                   files, headers, includes, names, pages, promises, refusals, sizes, snippets,
                   switches)
from rules.tree import Tree

RULES = {module.__name__.split(".")[-1]: module
         for module in (architecture, includes, sizes, clock, snippets, files, headers, switches,
                        charges, decoders, defaults, english, errors, extensions, names, pages,
                        promises, refusals)}


def main():
    parser = argparse.ArgumentParser(description="Checks one house rule over the whole tree.")
    parser.add_argument("rule", choices=sorted(RULES))
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    options = parser.parse_args()

    tree = Tree(options.root)
    violations = sorted(RULES[options.rule].check(tree))
    for violation in violations:
        print(violation)
    print(f"{options.rule}: {len(tree.files)} files in the tree, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
