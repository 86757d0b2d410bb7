#!/usr/bin/env python3
"""Builds the documentation site and looks at it in a browser: check_site.py CHROMIUM [--shots DIR]

Every guide, the first page and one page of the reference must be readable on a telephone (390
pixels) and on a desk, in light and in dark: nothing makes the page scroll sideways, text has the
size and the contrast to be read, pictures fit, and no markup is shown as text. --shots saves what
the browser shows.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "apps/reprise/tests"))
from browser import Browser  # noqa: E402

WIDTHS = (390, 1200)
CONTRAST_MIN = 4.5  # of text that WCAG 2 calls readable (level AA)
FONT_SIZE_MIN = 13
LOOK = """(() => {
    const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = colour => {
        const [r, g, b] = parts(colour).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const body = getComputedStyle(document.body);
    const [back, front] = [light(body.backgroundColor), light(body.color)];
    const sizes = [...document.querySelectorAll('.contents p, .contents td, .contents pre')]
        .map(e => parseFloat(getComputedStyle(e).fontSize));
    const prose = document.querySelector('.contents').cloneNode(true);
    prose.querySelectorAll('pre, code, .fragment').forEach(e => e.remove());
    const pictures = [...document.querySelectorAll('.contents img, .contents object')];
    return {
        width: document.documentElement.scrollWidth,
        contrast: (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05),
        is_dark: back < front,
        font: Math.min(100, ...sizes),
        wide: pictures.filter(e => e.getBoundingClientRect().right > innerWidth).length,
        text: prose.textContent,
    };
})()"""
MARKUP = ("<table", "markdownTable", "@ref", "@subpage", "](")


def problems_of(seen, width, is_dark):
    if seen["width"] > width:
        yield f"the page is {seen['width']} pixels wide"
    if seen["is_dark"] != is_dark:
        yield "the colours do not follow the reader's scheme"
    if seen["contrast"] < CONTRAST_MIN:
        yield f"the contrast of the text is {seen['contrast']:.1f}"
    if seen["font"] < FONT_SIZE_MIN:
        yield f"some text is {seen['font']} pixels high"
    if seen["wide"]:
        yield f"{seen['wide']} pictures are cut off"
    for mark in MARKUP:
        if mark in seen["text"]:
            yield f"markup is shown as text: {mark}"


def look(chromium, folder, shots):
    pages = ["index", *sorted(path.stem for path in folder.glob("guide_*.html")),
             "classreprise_1_1circuit__breaker"]
    failed = 0
    for width in WIDTHS:
        for is_dark in (False, True):
            scheme = "dark" if is_dark else "light"
            with Browser(chromium, width, 900, is_dark) as browser:
                for page in pages:
                    browser.open(f"file://{folder}/{page}.html")
                    found = [*problems_of(browser.run(LOOK), width, is_dark), *browser.errors]
                    browser.errors.clear()
                    for problem in found:
                        print(f"{page} at {width} pixels, {scheme}: {problem}")
                    failed += len(found)
                    if shots:
                        browser.screenshot(f"{shots}/{page}_{width}_{scheme}.png")
    print(f"{len(pages)} pages in {len(WIDTHS)} widths and 2 schemes, {failed} problems")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chromium")
    parser.add_argument("--shots", type=Path, help="folder for screenshots")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run([sys.executable, "-B", ROOT / "scripts/build_site.py", "--output",
                                folder], check=False)
        if built.returncode != 0:
            return 1
        return 1 if look(options.chromium, Path(folder) / "html", options.shots) else 0


if __name__ == "__main__":
    sys.exit(main())
