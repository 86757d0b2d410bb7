#!/usr/bin/env python3
"""Builds the documentation site: build_site.py [--output DIR]

Doxygen renders the pages and the public headers (see docs/Doxyfile) to build/site/html. Fails
if Doxygen warns, if a public name has no documentation, or if a link of the site leads to nothing.
Members of a class need no comment; classes, enumerations and names of namespaces do.

Doxygen also calls this script for each page: build_site.py --page FILE prints the page with the
anchors that forges give to headings, and with links that Doxygen resolves.
"""

import argparse
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rules.pages import HEADING, LINK, headings_of, prose_lines, resolve

ROOT = Path(__file__).resolve().parent.parent
DOXYFILE = ROOT / "docs/Doxyfile"
INDEXES = ("docs/guide/README.md", "docs/design/README.md")
# A member of a class without a comment; a specialisation, which its primary template documents.
SPEAKS_FOR_ITSELF = re.compile(
    r"warning: (Member .* of (class|struct|union) .* is not documented|"
    r"Compound .*<.*> is not documented|parameters of member .* are not)")

# Doxygen writes this one on pages of classes whose only nested classes are private.
OWN_LINKS = ("#nested-classes",)


def page_id(page):
    """Returns Doxygen's name for a page, from its path: docs/guide/lab.md is guide_lab."""
    if page == "README.md":
        return "mainpage"
    return re.sub(r"\W", "_", page.removesuffix(".md").removeprefix("docs/")).lower()


def anchor_id(page, anchor):
    return f"{page_id(page)}_{re.sub(r'[^a-z0-9_]', '_', anchor)}"


def inputs_of_site():
    """Returns what the Doxyfile's INPUT names."""
    text = DOXYFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.search(r"^INPUT\s*=(.*)$", text, re.MULTILINE)[1].split()


def missing_inputs():
    """Yields a problem for each library whose headers are installed, but not on the site."""
    text = (ROOT / "cmake/reprise_install.cmake").read_text(encoding="utf-8")
    for component in re.findall(r"^\s*reprise_install\((\w+)", text, re.MULTILINE):
        folder = f"libs/{component}/include"
        if (ROOT / folder).exists() and folder not in inputs_of_site():
            yield f"docs/Doxyfile: INPUT lacks {folder}, which is installed"


def pages_of_site():
    for path in inputs_of_site():
        if path.endswith(".md"):
            yield path
        else:
            yield from (page.relative_to(ROOT).as_posix()
                        for page in sorted((ROOT / path).rglob("*.md")))


def link_for_site(page, match, known, listed):
    """Returns one link as Doxygen resolves it; what is not on the site becomes plain text."""
    is_image, text, target = match.groups()
    text = " ".join(text.split())  # Doxygen ends a link's text at the end of the line.
    split = urlsplit(target)
    if split.scheme:
        return f"{is_image}[{text}]({target})"
    path = resolve(page, split.path) if split.path else page
    if is_image:
        return f"![{text}]({Path(path).name})"
    if f"{path}/README.md" in known:
        path = f"{path}/README.md"
    if path not in known:
        return text if text.strip("`") == target else f"{text} (`{path}`)"
    if split.fragment:
        return f"[{text}](@ref {anchor_id(path, split.fragment)})"
    if page in INDEXES and path not in listed and Path(path).parent == Path(page).parent:
        listed.add(path)
        return f"@subpage {page_id(path)} \"{text}\""
    return f"[{text}](@ref {page_id(path)})" if path != "README.md" else f"[{text}](@ref index)"


def page_for_site(page):
    """Returns the text of a page for Doxygen."""
    text = (ROOT / page).read_text(encoding="utf-8")
    anchors = {heading.line: heading for heading in headings_of(text)}
    known, listed = set(pages_of_site()), set()
    lines = text.split("\n")
    prose = {number for number, line in prose_lines(text) if line}
    # Links may continue on the next line, so whole stretches of prose are rewritten.
    result, stretch = [], []

    def flush():
        joined = "\n".join(stretch)
        result.append(LINK.sub(lambda match: link_for_site(page, match, known, listed), joined))
        stretch.clear()

    for number, line in enumerate(lines, start=1):
        heading = anchors.get(number)
        if heading:
            name = page_id(page) if heading.level == 1 else anchor_id(page, heading.anchor)
            line = f"{HEADING.match(line)[1]} {heading.text} {{#{name}}}"
        if number in prose:
            stretch.append(line)
            continue
        if stretch:
            flush()
        result.append(line)
    if stretch:
        flush()
    return "\n".join(result)


class LinkReader(HTMLParser):
    """Collects the links and the anchors of one file."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)


def broken_links(folder):
    """Yields `file: link` for each link inside the site that leads to nothing. Doxygen's own search
    pages are in a folder of their own and are not read."""
    readers = {}
    for file in sorted(folder.glob("*.html")):
        readers[file.name] = reader = LinkReader()
        reader.feed(file.read_text(encoding="utf-8", errors="replace"))
    for name, reader in readers.items():
        for link in reader.links:
            split = urlsplit(link)
            if split.scheme or split.netloc or link in OWN_LINKS:
                continue
            target = unquote(split.path) or name
            if not (folder / target).exists():
                yield f"{name}: {link}"
            elif split.fragment and target in readers \
                    and unquote(split.fragment) not in readers[target].anchors:
                yield f"{name}: {link}"


def build(output):
    shutil.rmtree(output / "html", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    configuration = DOXYFILE.read_text(encoding="utf-8") + f"\nOUTPUT_DIRECTORY = {output}\n"
    run = subprocess.run(["doxygen", "-"], input=configuration, cwd=ROOT, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    problems = [line for line in run.stdout.splitlines()
                if line.strip() and not SPEAKS_FOR_ITSELF.search(line)]
    if run.returncode != 0:
        problems.append(f"doxygen ended with {run.returncode}")
    problems += missing_inputs()
    problems += [f"link to nothing: {link}" for link in broken_links(output / "html")]
    for problem in problems:
        print(problem.replace(f"{ROOT}/", ""))
    count = len(list((output / "html").glob("*.html")))
    print(f"{output}/html/index.html: {count} files, {len(problems)} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "build/site")
    parser.add_argument("--page", type=Path, help="print this page as Doxygen reads it")
    options = parser.parse_args()
    if options.page:
        print(page_for_site(options.page.resolve().relative_to(ROOT).as_posix()))
        return 0
    return build(options.output.resolve())


if __name__ == "__main__":
    sys.exit(main())
