"""How long the page of `reprise lab serve` takes from a moved setting to the redrawn curves."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "apps/reprise/tests"))
from browser import Browser  # noqa: E402

ROUNDS = 5

# Moves a slider as a person would, and waits for the frame after the new curves.
MOVE = """(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const runs = () => +(document.body.dataset.runs || 0);
  const slider = document.getElementById("attempts");
  const times = [];
  for (let round = 0; round < ROUNDS; ++round) {
    const before = runs(), start = performance.now();
    slider.value = 3 + round % 2;
    slider.dispatchEvent(new Event("input"));
    while (runs() === before) await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
})()""".replace("ROUNDS", str(ROUNDS))

CHOOSE = """(() => {
  const list = document.getElementById("scenario");
  document.body.dataset.runs = 0;
  list.value = NAME;
  list.dispatchEvent(new Event("input"));
})()"""


def redraw_times(program, chromium):
    """Returns {scenario: milliseconds}, medians."""
    server = subprocess.Popen([program, "lab", "serve", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        link = json.loads(server.stdout.readline())["link"]
        with Browser(chromium) as browser:
            browser.open(link)
            browser.wait_for("document.body.dataset.runs > 0")
            times = {}
            for name in browser.run("scenarios.map(each => each.name)"):
                browser.run(CHOOSE.replace("NAME", json.dumps(name)))
                browser.wait_for("document.body.dataset.runs > 0")
                times[name] = round(statistics.median(browser.run(MOVE)))
            return times
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
