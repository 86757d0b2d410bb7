#!/usr/bin/env python3
"""Man pages and shell completions of the command line, generated from its help.

command_pages.py PROGRAM FOLDER: writes man1/*.1, reprise.bash and _reprise. The program's own
`--help` is the only source, so that no page can differ from it.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

NAME = "reprise"
ENTRY = re.compile(r"  (\S+)( [A-Z.].*?)?(?:  +(.*))?")
TEXT_COLUMN = 30
SECTIONS = ("Positionals", "Options", "Subcommands", "Exit codes", "Examples", "Example")


@dataclass
class Entry:
    """An option, argument or subcommand."""
    names: list
    value: str  # as the help shows it; empty for a flag
    text: str


@dataclass
class Command:
    path: list
    about: str
    usage: str
    sections: dict
    remarks: str  # what stands after the lists and is none of the known sections
    commands: list = field(default_factory=list)

    def entries(self, section):
        return parse_entries(self.sections.get(section, []))

    def title(self):
        return "-".join([NAME, *self.path])


def spread(line):
    """The line with two spaces before its text, also where the names leave room for only one."""
    left, text = line[:TEXT_COLUMN], line[TEXT_COLUMN:]
    is_tight = re.fullmatch(r"  .*[^ :] ", left) and not re.match(r"-|Excludes:|Needs:|REQUIRED", text)
    return f"{left} {text}" if is_tight and text else line


def parse_entries(lines):
    found = []
    for line in map(spread, lines):
        entry = ENTRY.fullmatch(line)
        if entry and not line.startswith("   "):
            names, value, text = entry.groups()
            found.append(Entry(names.split(","), (value or "").strip(), text or ""))
        elif found and line.strip():
            found[-1].text = f"{found[-1].text} {line.strip()}".strip()
    return found


def parse_help(path, text):
    before, _, rest = text.partition("\nUsage: ")
    usage, _, rest = rest.partition("\n")
    sections, current, remarks = {}, None, []
    for line in rest.split("\n"):
        heading = re.fullmatch(r"(?:(.*)\. )?(\w[\w ]*):", line)
        if heading and heading[2] in SECTIONS:
            remarks += [heading[1] + "."] if heading[1] else []
            name = "Examples" if heading[2] == "Example" else heading[2]
            current = sections.setdefault(name, [])
        elif current is not None and line.strip():
            if line.startswith(" ") or re.match(r"\d", line):
                current.append(line)
            else:
                remarks.append(line)
                current = None
        elif line.strip():
            remarks.append(line)
    return Command(path, " ".join(before.split()), usage.strip(), sections, "\n".join(remarks))


def read_command(program, path=()):
    """The command of that path with all below it."""
    text = subprocess.run([program, *path, "--help"], capture_output=True, text=True,
                          check=True).stdout
    command = parse_help(list(path), text)
    for entry in command.entries("Subcommands"):
        command.commands.append(read_command(program, [*path, entry.names[0]]))
    return command


def all_commands(command):
    yield command
    for each in command.commands:
        yield from all_commands(each)


def roff(text):
    """Text that roff prints unchanged."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def man_page(command, version):
    lines = [f'.TH "{command.title().upper()}" 1 "" "{NAME} {version}" "{NAME}"', ".SH NAME",
             f"{roff(command.title())} \\- {roff(command.about)}", ".SH SYNOPSIS",
             roff(command.usage)]
    for title, section in (("ARGUMENTS", "Positionals"), ("OPTIONS", "Options"),
                           ("COMMANDS", "Subcommands")):
        entries = command.entries(section)
        if entries:
            lines.append(f".SH {title}")
        for entry in entries:
            lines += [".TP", f"\\fB{roff(', '.join(entry.names))}\\fR {roff(entry.value)}".rstrip(),
                      roff(entry.text)]
    if command.remarks:
        lines += [".SH NOTES", roff(command.remarks)]
    for title, section in (("EXIT STATUS", "Exit codes"), ("EXAMPLES", "Examples")):
        if command.sections.get(section):
            lines += [f".SH {title}", ".nf", roff("\n".join(command.sections[section])), ".fi"]
    others = [command.path[:-1]] if command.path else []
    others += [each.path for each in command.commands]
    if others:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{roff('-'.join([NAME, *path]))}\\fR(1)"
                                            for path in others)]
    return "\n".join(lines) + "\n"


def options_of(command):
    return [(name, entry) for entry in command.entries("Options") for name in entry.names]


def is_path_option(entry):
    return bool(entry.value) and ("file" in entry.names[-1] or "File" in entry.text)


BASH = """\
# Completion of reprise for bash, generated from its help.
_reprise() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= commands options files i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    case $path in
%s
    esac
    ((i < COMP_CWORD)) && [[ " $commands " == *" ${COMP_WORDS[i]} "* ]] && path="$path ${COMP_WORDS[i]}"
  done
  if [[ " $files " == *" $before "* ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  fi
}
complete -o default -F _reprise reprise
"""

ZSH = """\
#compdef reprise
# Completion of reprise for zsh, generated from its help.
_reprise() {
  local path_words= i
  local -a commands options files
  for ((i = 2; i <= CURRENT; i++)); do
    case $path_words in
%s
    esac
    if ((i < CURRENT)) && [[ -n ${(M)commands:#${words[i]}:*} ]]; then
      path_words="$path_words ${words[i]}"
    fi
  done
  if ((${files[(Ie)${words[CURRENT-1]}]})); then
    _files
  elif [[ ${words[CURRENT]} == -* ]]; then
    _describe option options
  elif ((${#commands})); then
    _describe command commands
  else
    _files
  fi
}
if [[ $funcstack[1] == _reprise ]]; then _reprise "$@"; else compdef _reprise reprise; fi
"""


def case_label(command):
    return '"' + "".join(f" {word}" for word in command.path) + '"'


def bash_completion(root):
    rows = []
    for command in all_commands(root):
        options = options_of(command)
        rows.append(f"      {case_label(command)}) "
                    f"commands='{' '.join(each.path[-1] for each in command.commands)}' "
                    f"options='{' '.join(name for name, _ in options)}' "
                    f"files='{' '.join(name for name, entry in options if is_path_option(entry))}' ;;")
    return BASH % "\n".join(rows)


def described(name, text):
    return "'" + f"{name}:{text}".replace("'", "'\\''") + "'"


def zsh_completion(root):
    rows = []
    for command in all_commands(root):
        options = options_of(command)
        rows += [f"      {case_label(command)})",
                 "        commands=(" + " ".join(described(each.path[-1], each.about)
                                                 for each in command.commands) + ")",
                 "        options=(" + " ".join(described(name, entry.text)
                                                for name, entry in options) + ")",
                 "        files=(" + " ".join(name for name, entry in options
                                              if is_path_option(entry)) + ") ;;"]
    return ZSH % "\n".join(rows)


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    version = subprocess.run([program, "--version"], capture_output=True, text=True,
                             check=True).stdout.split()[-1]
    root = read_command(program)
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    for command in all_commands(root):
        (folder / "man1" / f"{command.title()}.1").write_text(man_page(command, version),
                                                              encoding="utf-8")
    (folder / "reprise.bash").write_text(bash_completion(root), encoding="utf-8")
    (folder / "_reprise").write_text(zsh_completion(root), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
