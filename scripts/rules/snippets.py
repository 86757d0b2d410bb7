"""The code that a reader copies compiles. If a ```cpp block of the root's or a library's README.md
or of docs/guide/*.md follows a line `<!-- example: path/to/file.cpp -->`, it must equal the text of
that file, or what stands between its `// [readme]` and `// [/readme]` lines if it has them;
`<!-- example: path #region name -->` means the lines between `// [name]` and `// [/name]`. In the
root README and in docs/guide every ```cpp block must have such a line, and a program or a region
stands on one page only.

Code in the `///` comments of public headers is indented by four more columns. It must occur in an
example or a test, as it is: spaces, line breaks and comments do not matter, and `...` stands for
anything. A block is code if one of its lines ends with `;`, `{` or `}`."""

import re
import textwrap

from rules.tree import LIBRARY, Violation, without_comments

PAGE = re.compile(rf"README\.md$|{LIBRARY}/README\.md$|docs/guide/.*\.md$")
COMPILED = re.compile(r"(examples|tests)/.*\.[ch]pp$|(libs|testbed|apps)/.*/tests/.*\.[ch]pp$")
COMMENT_CODE = re.compile(r"^\s*///     (.*)$")
EXAMPLE = re.compile(r"<!--\s*example:\s*(\S+?)(?:\s+#region\s+([\w-]+))?\s*-->\s*$")


def cpp_blocks(text):
    """Returns (line of the fence, example line's match or None, text) of each ```cpp block."""
    lines, example, number = text.splitlines(), None, 0
    while number < len(lines):
        line = lines[number].strip()
        number += 1
        if line.startswith("```cpp"):
            start, block = number, []
            while number < len(lines) and lines[number].strip() != "```":
                block.append(lines[number])
                number += 1
            number += 1
            yield start, example, "\n".join(block)
            example = None
        elif line:
            if example:
                yield number, example, None
            example = EXAMPLE.match(line)
    if example:
        yield number, example, None


def normal(text):
    """Returns the text without common indentation, trailing spaces and outer empty lines."""
    return "\n".join(line.rstrip() for line in textwrap.dedent(text).strip("\n").split("\n"))


def region_of(source, name):
    """Returns the text between `// [name]` and `// [/name]`, or None."""
    word = re.escape(name)
    match = re.search(rf"^[ \t]*// \[{word}\][ \t]*\n(.*?)^[ \t]*// \[/{word}\]",
                      source, re.DOTALL | re.MULTILINE)
    if match is None and name == "readme" and "// [readme]" not in source:
        return source
    return match[1] if match else None


def comment_blocks(text):
    """Returns (line, text) of each block of code in the `///` comments of a header."""
    lines, number = text.split("\n"), 0
    while number < len(lines):
        start, block = number, []
        while number < len(lines) and (match := COMMENT_CODE.match(lines[number])):
            block.append(match[1])
            number += 1
        number += not block
        code = without_comments("\n".join(block))
        if re.search(r"[;{}]\s*$", code, re.MULTILINE):
            yield start + 1, code


def squeezed(text):
    return "".join(text.split())


def occurs(code, sources):
    """Whether one of the sources has all parts of the code, which `...` separates, in this order."""
    parts = [part for part in squeezed(code).split("...") if part]
    for source in sources:
        place = 0
        for part in parts:
            place = source.find(part, place)
            if place < 0:
                break
            place += len(part)
        else:
            return True
    return False


def check_headers(tree):
    sources = [squeezed(without_comments(tree.text(path)))
               for path in tree.cpp_files if COMPILED.match(path)]
    for header in tree.library_headers:
        for line, code in comment_blocks(tree.text(header)):
            if not occurs(code, sources):
                yield Violation(header, line, "no example or test contains this code")


def check(tree):
    yield from check_headers(tree)
    shown_in = {}
    for page in filter(PAGE.match, tree.files):
        for line, example, block in cpp_blocks(tree.text(page)):
            if example is None:
                if page == "README.md" or page.startswith("docs/guide/"):
                    yield Violation(page, line, "cpp block without an example line")
                continue
            path, name = example[1], example[2] or "readme"
            first = shown_in.setdefault((path, name), page)
            if first != page:
                yield Violation(page, line, f"{first} already shows region [{name}] of {path}")
            if block is None:
                yield Violation(page, line, "example line without a cpp block after it")
            elif path not in tree.files:
                yield Violation(page, line, f"example {path} does not exist")
            elif (region := region_of(tree.text(path), name)) is None:
                yield Violation(page, line, f"{path} has no region [{name}]")
            elif normal(region) != normal(block):
                yield Violation(page, line, f"block differs from region [{name}] of {path}")
