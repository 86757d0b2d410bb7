#!/usr/bin/env python3
"""Draws what the lab shows: lab_pictures.py --lab PROGRAM [--check] [ROOT]

Runs the gallery of `reprise lab` and writes, below the repository's root,

    docs/pictures/storm.svg            the picture in the README
    docs/pictures/lab_<scenario>.svg   one picture for each scenario
    docs/lab_gallery.md                the page that shows them

With --check the files are compared, not written. Pictures have a light and a dark form.
"""

import argparse
import json
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 760, 62, 16
PANEL, GAP = 132, 46
LIGHT = ["#5b6470", "#c2410c", "#8a5a00", "#0b62b0", "#7a3fb0", "#0f766e"]
DARK = ["#b4bcc8", "#ff9a5c", "#e6c15a", "#62b5ff", "#c9a0f5", "#4fd1c5"]
STORM_LABELS = {"naive": "five attempts, no pause", "backoff": "backoff and jitter, no budget",
                "standard": "the same with a budget"}

HEADING = """# The lab's gallery

`reprise lab run NAME` runs each of these scenarios; `reprise lab new FILE --from NAME` copies one.
The columns: when the service recovers after the trouble, the share of requests that succeed, and
attempts per request over the run and in the worst second. `scripts/lab_pictures.py` writes this
page.
"""


def style():
    def colours(values):
        return "".join(f".c{i}{{stroke:{value}}}.f{i}{{fill:{value}}}"
                       for i, value in enumerate(values))
    light = "text{font:13px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}" \
            ".small{font-size:11px;fill:#666}.right{text-anchor:end}.middle{text-anchor:middle}" \
            ".paper{fill:#fff}.grid{stroke:#ddd}.shade{fill:#f3e6c4}.curve{fill:none}" \
            ".limit{stroke:#333;stroke-dasharray:6 5;fill:none}"
    dark = "text{fill:#e8eaed}.small{fill:#a3acb8}.paper{fill:#14171b}.grid{stroke:#343b45}" \
           ".shade{fill:#3a2a20}.limit{stroke:#e8eaed}"
    return (f"<style>{light}{colours(LIGHT)}"
            f"@media (prefers-color-scheme:dark){{{dark}{colours(DARK)}}}</style>")


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def nice_top(value):
    """The next of 1, 2, 4, 5, 8 or 10 times a power of ten."""
    if value <= 0:
        return 1
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 5, 8, 10) if step * power >= value * 0.999)


class Picture:
    """Collects elements; x is in seconds, y in units of the current panel."""

    def __init__(self, length, top):
        self.length, self.first, self.parts = length, top, []
        self.top, self.bottom_value, self.top_value, self.log = top, 0, 1, False

    def x(self, seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.length

    def y(self, value):
        if self.log:
            value = max(value, self.bottom_value)
            share = math.log(value / self.bottom_value) / math.log(self.top_value / self.bottom_value)
        else:
            share = value / self.top_value
        return self.top + PANEL * (1 - min(max(share, 0), 1))

    def text(self, x, y, words, css=""):
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" class="{css}">'
                          f"{escape(words)}</text>")

    def panel(self, index, title, ticks, log):
        self.top = self.first + index * (PANEL + GAP)
        self.log, self.bottom_value, self.top_value = log, ticks[0], ticks[-1]
        self.text(LEFT, self.top - 8, title)
        for value in ticks:
            height = number(self.y(value))
            self.parts.append(f'<path d="M{LEFT} {height}H{WIDTH - RIGHT}" class="grid"/>')
            label = (f"{value * 1000:g} ms" if value < 1 else f"{value:g} s") if log else f"{value:,g}"
            self.text(LEFT - 8, self.y(value) + 4, label, "small right")
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100) if self.length / s <= 12)
        for seconds in range(0, int(self.length) + 1, step):
            self.text(self.x(seconds), self.top + PANEL + 15, f"{seconds} s", "small middle")

    def shade(self, start, end):
        self.parts.append(f'<rect x="{number(self.x(start))}" y="{self.top}" class="shade" '
                          f'width="{number(self.x(end) - self.x(start))}" height="{PANEL}"/>')

    def limit(self, value):
        if value and value <= self.top_value:
            self.parts.append(f'<path d="M{LEFT} {number(self.y(value))}H{WIDTH - RIGHT}" '
                              'class="limit"/>')

    def curve(self, values, step, css, width):
        path, is_open = "", False
        for index, value in enumerate(values):
            if value is None:
                is_open = False
                continue
            point = f"{number(self.x((index + 0.5) * step))} {number(self.y(value))}"
            path += f"{'L' if is_open else 'M'}{point}"
            is_open = True
        self.parts.append(f'<path d="{path}" class="curve {css}" stroke-width="{width}"/>')


def panels_of(data):
    """Title, values of a strategy, step, limit, and whether the scale is logarithmic."""
    model, step = data["model"], data["step_s"]
    last = len(model["services"]) - 1

    def rate(service, series):
        return lambda strategy: [n / step for n in strategy["services"][service]["series"][series]]

    load = (f"attempts per second that reach {model['services'][last]['name']}",
            rate(last, "attempts"), step, model["services"][last]["capacity_per_second"], False)
    useful = ("useful answers per second", rate(0, "useful"), step, model["requests_per_second"],
              False)
    latency = ("99 % of requests are answered within",
               lambda strategy: strategy["latency_by_second"]["p99_s"], 1, None, True)
    return [load, latency] if data["scenario"] == "hedging" else [load, useful]


def draw(data, labels=None):
    """Returns the picture as text. The same data gives the same bytes."""
    strategies = [each for each in data["strategies"] if not labels or each["name"] in labels]
    names = [(labels or {}).get(each["name"], each["name"]) for each in strategies]
    colours = [1, 2, 3] if labels else range(len(strategies))
    rows, row, room = [], [], WIDTH - LEFT - RIGHT
    for colour, name in zip(colours, names):
        width = 34 + 7.2 * len(name)
        if width > room:
            rows.append(row)
            row, room = [], WIDTH - LEFT - RIGHT
        row.append((colour, name, WIDTH - RIGHT - room))
        room -= width
    rows.append(row)
    picture = Picture(data["model"]["length_s"], 62 + 20 * len(rows))
    picture.text(LEFT, 22, data["title"], "title")
    for line, entries in enumerate(rows):
        for colour, name, x in entries:
            picture.parts.append(f'<rect x="{number(x)}" y="{33 + 20 * line}" width="12" '
                                 f'height="12" class="f{colour}"/>')
            picture.text(x + 18, 44 + 20 * line, name)
    panels = panels_of(data)
    for index, (title, values, step, limit, log) in enumerate(panels):
        curves = [values(each) for each in strategies]
        highest = max((v for curve in curves for v in curve if v is not None), default=1)
        if limit and highest < limit * 1.5:
            highest = max(highest, limit)
        if log:
            ticks = [0.001, 0.01, 0.1, 1]
        else:
            top = nice_top(highest)
            ticks = [0, top / 2, top]
        picture.panel(index, title + (f"; dashed: {'capacity' if index == 0 else 'requests'}"
                                      if limit and limit <= ticks[-1] else ""), ticks, log)
        for trouble in data["model"]["troubles"]:
            picture.shade(trouble["start_s"], trouble["end_s"])
        picture.limit(limit)
        for order, (colour, curve) in enumerate(zip(colours, curves)):
            # Earlier curves are wider, so that they stay visible below later ones.
            width = number(4 - 2.25 * order / max(1, len(curves) - 1))
            picture.curve(curve, step, f"c{colour}", width)
    height = picture.first + len(panels) * (PANEL + GAP)
    body = "\n".join(picture.parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}">\n'
            f"<title>{escape(data['title'])}</title>\n{style()}\n"
            f'<rect width="{WIDTH}" height="{height}" class="paper"/>\n{body}\n</svg>\n')


def wrapped(text, width=100):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "\n".join(lines + [line])


def table(data):
    recovery = {"recovered": lambda s: f"{s['recovery_s']:.1f} s", "never": lambda s: "never",
                "no_outage": lambda s: "-", "not_healthy_before": lambda s: "unhealthy before"}
    lines = ["| strategy | recovers | succeed | attempts | worst second |",
             "|---|---|---|---|---|"]
    for each in data["strategies"]:
        last = each["services"][-1]
        lines.append(
            f"| {each['name']} | {recovery[each['recovery']](each)} | "
            f"{each['success_share'] * 100:.1f} % | {last['amplification']:.2f} | "
            f"{last['worst_amplification']:.2f} |")
    return "\n".join(lines)


def section(data, summary):
    name = data["scenario"]
    return (f"\n## {name}: {data['title'][0].lower() + data['title'][1:]}\n\n"
            f"{wrapped(summary)}\n\n"
            f"![Scenario {name}](pictures/lab_{name}.svg)\n\n"
            f"{table(data)}\n")


def make_files(program):
    """Returns the text of each file by its path."""
    listed = json.loads(subprocess.run([program, "lab", "list", "--json"], check=True,
                                       capture_output=True, text=True).stdout)["scenarios"]

    def run(entry):
        return json.loads(subprocess.run(
            [program, "lab", "run", entry["name"], "--json", "--threads", "1"], check=True,
            capture_output=True, text=True).stdout)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, listed))
    files, page = {}, HEADING
    for entry, data in zip(listed, results):
        files[f"docs/pictures/lab_{entry['name']}.svg"] = draw(data)
        page += section(data, entry["summary"])
        if entry["name"] == "metastable":
            files["docs/pictures/storm.svg"] = draw(data, STORM_LABELS)
    files["docs/lab_gallery.md"] = page
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", required=True, help="the program reprise")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parent.parent)
    options = parser.parse_args()
    different = []
    for name, text in make_files(options.lab).items():
        path = options.root / name
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            different.append(name)
    if different:
        print(f"not what the lab shows: {', '.join(different)}; {Path(__file__).name} draws them")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
