"""Mutants that are applied alone: constant tables, templates, pages, code that must not compile.

`compile` names a test file. It is compiled against a changed copy, together with the changed
sources, and linked with the existing libraries; a test with the id must fail. `command` runs in the
changed copy and must fail with the text of `output`.
"""

import json
import re
import shlex
import shutil
import subprocess

from mutation import instrument, judge


def flags_for(build, source, file):
    """Returns compiler and flags of a test file: its own, or those of its program."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    program = f"/{file.split('/')[1]}_tests.dir/"
    own = [entry for entry in commands if entry["file"] == str(source / file)]
    others = [entry for entry in commands if program in entry["command"]]
    if not own + others:
        raise SystemExit(f"{file}: no program of the copy's build has it")
    words = shlex.split((own + others)[0]["command"])
    words = words[1:] if words[0].endswith("ccache") else words
    return words[:words.index("-o")]


def compile_and_judge(copy, mutant, folder, timeout):
    objects, flags = [], flags_for(copy.build, copy.source, mutant.compile)
    flags = [flag.replace(str(copy.source), str(folder)) for flag in flags
             if not flag.endswith(instrument.HEADER_NAME) and flag != "-include"]
    sources = [edit.source for edit in mutant.edits if edit.source.endswith(".cpp")]
    for file in dict.fromkeys([mutant.compile, *sources]):
        object_file = folder / (file.replace("/", "_") + ".o")
        done = subprocess.run([*flags, "-c", str(folder / file), "-o", str(object_file)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return [("", f"{file} does not compile: {done.stderr[:1000]}")]
        objects.append(str(object_file))
    libraries = sorted(map(str, copy.build.glob("*/*/libreprise_*.a")))
    program = folder / "program"
    # The changed source comes first; the library contains the original in a unity file.
    done = subprocess.run(
        [flags[0], *objects, "-Wl,--allow-multiple-definition", "-Wl,--start-group", *libraries,
         "-Wl,--end-group", "-lgtest", "-lgtest_main", "-lpthread", "-lboost_json", "-lssl",
         "-lcrypto", "-lsnappy", "-o", str(program)], capture_output=True, text=True)
    if done.returncode != 0:
        return [("", f"{mutant.compile} cannot be linked: {done.stderr[:1000]}")]
    names = judge.list_tests(program)
    return [(f"{id} by {mutant.compile} {', '.join(red)}", wrong and f"{id}: {wrong}")
            for id, _, red, wrong in judge.notice_by_tests(
                mutant, [(program, "*", names)], timeout)]


def run(copy, mutant, timeout):
    """Returns [(who noticed, problem)] for one separate mutant."""
    folder = copy.folder / "separate" / mutant.name
    shutil.rmtree(folder, ignore_errors=True)  # results of an earlier run must not count
    instrument.make_separate_copy(copy.root, folder, mutant)
    if mutant.compile:
        return compile_and_judge(copy, mutant, folder, timeout)
    done = subprocess.run(" ".join(mutant.command.split("\n")), shell=True, cwd=folder, capture_output=True, text=True,
                          timeout=4 * timeout)
    output = done.stdout + done.stderr
    if done.returncode == 0:
        return [("", f"this passes: {mutant.command}")]
    if not re.search(mutant.output, output):
        return [("", f"it fails without {mutant.output!r}: {output[-1000:]}")]
    return [(f"by {mutant.command}", "")]
