#!/usr/bin/env python3
"""Draws a retry storm with and without a budget: storm_picture.py --lab PROGRAM PICTURE.svg

Runs `reprise lab run metastable --json` and shows two of its policies, naive retries and the
standard strategy, second by second: what arrives at the server above, and the useful answers below.
With --check the picture is compared, not written. This draws the one in the README:

    python3 scripts/storm_picture.py --lab build/dev/bin/reprise docs/pictures/storm.svg
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

WIDTH, LEFT, RIGHT = 760, 62, 16
PANEL, GAP, TOP = 132, 46, 84
COLOURS = {"naive retries": "#c0392b", "standard strategy": "#1f6fb2"}
LABELS = {"naive retries": "five attempts, no budget",
          "standard strategy": "standard strategy, with a budget"}
PANELS = (("attempts", "attempts per second that reach the server", 8000),
          ("useful", "useful answers per second", 1000))
STYLE = ("text{font:13px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}"
         ".small{font-size:11px;fill:#666}.right{text-anchor:end}.middle{text-anchor:middle}")


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Picture:
    """Collects elements; x is in seconds, y in units of the current panel."""

    def __init__(self, length):
        self.length, self.parts, self.top, self.top_value = length, [], TOP, 1

    def x(self, seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.length

    def y(self, value):
        return self.top + PANEL * (1 - min(value, self.top_value) / self.top_value)

    def text(self, x, y, words, css=""):
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" class="{css}">{words}</text>')

    def line(self, x1, y1, x2, y2):
        self.parts.append(f'<path d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}" '
                          'stroke="#ddd"/>')

    def panel(self, index, title, top_value):
        self.top, self.top_value = TOP + index * (PANEL + GAP), top_value
        self.text(LEFT, self.top - 8, title)
        for value in (0, top_value // 2, top_value):
            self.line(LEFT, self.y(value), WIDTH - RIGHT, self.y(value))
            self.text(LEFT - 8, self.y(value) + 4, f"{value:,}", "small right")
        for seconds in range(0, int(self.length) + 1, 10):
            self.text(self.x(seconds), self.top + PANEL + 15, f"{seconds} s", "small middle")

    def shade(self, start, end):
        self.parts.append(f'<rect x="{number(self.x(start))}" y="{self.top}" fill="#f3e6c4" '
                          f'width="{number(self.x(end) - self.x(start))}" height="{PANEL}"/>')

    def curve(self, values, colour):
        points = "L".join(f"{number(self.x(second + 0.5))} {number(self.y(value))}"
                          for second, value in enumerate(values))
        self.parts.append(f'<path d="M{points}" fill="none" stroke="{colour}" stroke-width="2"/>')


def draw(data):
    """Returns the picture as text. The same data gives the same bytes."""
    options = data["options"]
    picture = Picture(options["length_s"])
    start = options["outage_start_s"]
    end = start + options["outage_length_s"]
    picture.text(LEFT, 22, f"A server stalls from {start:g} s to {end:g} s", "title")
    for index, (policy, label) in enumerate(LABELS.items()):
        x = LEFT + 210 * index
        picture.parts.append(f'<rect x="{x}" y="33" width="12" height="12" '
                             f'fill="{COLOURS[policy]}"/>')
        picture.text(x + 18, 44, label)
    for index, (series, title, top_value) in enumerate(PANELS):
        picture.panel(index, title, top_value)
        picture.shade(start, end)
        for policy in data["policies"]:
            if policy["policy"] in COLOURS:
                picture.curve(policy["series"][series], COLOURS[policy["policy"]])
    height = TOP + len(PANELS) * (PANEL + GAP)
    body = "\n".join(picture.parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}">\n'
            f"<title>{data['title']}</title>\n<style>{STYLE}</style>\n"
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n{body}\n</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", required=True, help="the program reprise")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    data = subprocess.run([options.lab, "lab", "run", "metastable", "--json"], check=True,
                          capture_output=True, text=True).stdout
    text = draw(json.loads(data))
    if not options.check:
        options.picture.write_text(text, encoding="utf-8")
        return 0
    if options.picture.read_text(encoding="utf-8") != text:
        print(f"{options.picture} is not what the lab shows; {Path(__file__).name} draws it")
        return 1
    print(f"{options.picture} is what the lab shows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
