#!/usr/bin/env python3
"""Writes docs/performance.md: performance_page.py REPORT

REPORT is what `./dev bench` prints; a benchmark that is not in it is left out of the page. Counts of
instructions come from bench/instructions.json, which `./dev bench instructions` checks.
"""

import argparse
import datetime
import json
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
INSTRUCTIONS = ROOT / "bench" / "instructions.json"
# scenario: (what it is, goal)
COUNTED = {
    "api_get_64": ("get, 64 in flight", 1500),
    "api_upsert_64": ("upsert, 64 in flight", 1700),
    "api_get_1": ("get, one at a time", 4000),
    "api_upsert_1": ("upsert, one at a time", None),
    "get_64": ("get, 64 in flight, the engine alone", None),
    "success": ("`retry()` that succeeds", None),
    "virtual_success": ("the same through the virtual interface", None),
    "decision": ("`retry()` that fails once, then succeeds", None),
    "refusal": ("`retry()` whose budget refuses", None),
}
TOP = """\
# Performance

What a successful call costs, and what a retry costs. The script that runs the benchmarks writes
this page. Instructions do not depend on the machine or its neighbours, so they are what we hold;
times are from {machine} on {date}.
Repeat all of it with

    ./dev bench instructions
    ./dev bench --page

[What a key-value operation costs](design/cost_of_an_operation.md) explains the figures stage by
stage, with what was tried.
"""


def table(heading, rows):
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    return "\n".join(lines + [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows])


def prose(text):
    return textwrap.fill(text, 100, break_long_words=False)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:g}"


def counts_section(counts):
    rows = [(text, number(counts[name]["instructions"]), number(goal) if goal else "",
             counts[name].get("allocations", ""))
            for name, (text, goal) in COUNTED.items() if name in counts]
    stages = [(stage, number(cost)) for stage, cost in counts["get_64"]["stages"].items()]
    libraries = sorted(counts["api_get_64"]["libraries"].items(), key=lambda item: -item[1])
    return "\n\n".join([
        "## Instructions in user space",
        table(("operation", "instructions", "goal", "allocations"), rows),
        "The engine's part of a get with 64 in flight, by stage:",
        table(("stage", "instructions"), stages),
        prose("All of it, by library: "
              + ", ".join(f"{name} {number(cost)}" for name, cost in libraries) + ".")])


def retry_section(report):
    ratios = [(name.replace("_", " "), each["ratio"], each["bar"] or "")
              for name, each in report["ratios"].items()]
    limits = [(name.replace("_", " "), f"{each['ns']} ns", f"{each['bar_ns']} ns")
              if "ns" in each else (name.replace("_", " "), each["value"], each["bar"])
              for name, each in report["limits"].items()]
    return "\n\n".join(["## The retry library (`./dev bench retry`)",
                        table(("ratio", "seen", "bar"), ratios),
                        table(("of one call", "seen", "bar"), limits),
                        prose("An observer or a breaker needs two readings of the clock, which "
                              f"take {report['nanoseconds']['two_clock_reads']} ns of what it "
                              "adds.")])


def kv_section(report):
    parts = ["## Key-value against a bare client (`./dev bench kv`)",
             prose("The bare client builds the same packets and matches the opaque, and does nothing "
                   "else. Processor time per operation with 64 in flight, and round trips per second "
                   "with one at a time, each as a multiple of the bare client's in the same run.")]
    rows = []
    for placement in ("same_core", "other_core"):
        for name, each in report.get(placement, {}).get("ratios", {}).items():
            rows.append((placement.replace("_", " "), name.replace("_", " "), each["ratio"],
                         each["bar"] or ""))
    parts.append(table(("responder on", "ratio", "seen", "bar"), rows))
    same = report["same_core"]
    allocations = [f"{name.removesuffix('_allocations_per_op').replace('_', ' ')} {each['value']}"
                   for name, each in same["limits"].items() if name.endswith("_allocations_per_op")]
    largest = same["limits"]["in_flight_256_cpu_ns"]
    parts.append(prose(f"With 256 in flight on the same core, a get takes {number(largest['value'])} "
                       f"ns of processor time (bar {largest['bar']}). Allocations of one operation: "
                       f"{', '.join(allocations)}."))
    if "loops" in report:
        loops = report["loops"]
        parts += [prose("Two loops (`io_threads`) as a multiple of one, 64 in flight on each: by "
                        "processor time, which is what two free cores would do, and by throughput, "
                        "which needs a third core for the responder."),
                  table(("cores", "by processor time", "by throughput"),
                        [(loops["cores"], loops["two_loops_to_one_by_cpu_time"],
                          loops["two_loops_to_one_by_throughput"])])]
    return "\n\n".join(parts)


def values_section(report):
    rows = []
    for name, figures in report["client"].items():
        if name == "tls_connection":
            continue
        transport, operation, size = name.split("_")
        rows.append((transport, operation, number(int(size)), number(figures["mb_per_second"]),
                     report["ratios"][f"{name}_speed_to_bare"]["ratio"],
                     number(figures["cpu_ns_per_op"]),
                     report["ratios"][f"{name}_cpu_to_bare"]["ratio"]))
    handshake, whole = (report[side]["tls_connection"]["cpu_us"] for side in ("bare", "client"))
    return "\n\n".join([
        "## Large values and TLS (`./dev bench values`)",
        prose("One thread, the responder on another core. The bare client uses blocking sockets, or "
              "OpenSSL alone, and looks at nothing but the status of an answer."),
        table(("transport", "operation", "bytes", "MB/s", "to bare", "CPU ns each", "to bare"), rows),
        prose(f"A TLS connection costs {number(whole)} us of processor time from `connect` to the end "
              f"of its first get and `close`, and a bare handshake {number(handshake)} us.")])


def http_section(report):
    rows = []
    for chunks in ("chunks_16_kib", "chunks_2_kib"):
        for shape, figures in report.get(chunks, {}).items():
            for name, each in figures["ratios"].items():
                rows.append((chunks.replace("_", " "), shape.replace("_", " "),
                             name.replace("_", " "), each["ratio"], each["bar"] or ""))
    return "\n\n".join([
        "## Streamed rows (`./dev bench http`)",
        prose("Processor time per byte of an answer (*cpu*) as a multiple of curl's, which discards "
              "it, and bytes per second (*speed*) as a share of what curl's library reaches."),
        table(("answer in", "rows with", "ratio", "seen", "bar"), rows)])


def scale_section(report):
    parked = report["parked"]
    return "\n\n".join([
        "## Large clusters (`./dev bench scale`)",
        prose("Processor time of one get in the engine with 1,000 in flight. With more nodes, each "
              "write carries fewer requests: with 1,000 nodes about one."),
        table(("nodes", *report["get_ns_by_nodes"]),
              [("ns per get", *map(number, report["get_ns_by_nodes"].values()))]),
        table(("collections", *report["get_ns_by_collections"]),
              [("ns per get", *map(number, report["get_ns_by_collections"].values()))]),
        f"{parked['count']:,} operations that wait for one connection:",
        table(("", "seen", "bar"),
              [("memory of each, with key and value", f"{number(parked['bytes_each'])} bytes",
                f"{report['limits']['bytes_each']['bar']} bytes"),
               ("waking one", f"{parked['wake_ns']} ns", f"{report['limits']['wake_ns']['bar']} ns"),
               ("longest pause of the loop", f"{parked['longest_call_ms']} ms",
                f"{report['limits']['longest_call_ms']['bar']} ms")])])


def sim_section(report):
    rows = [(name, number(each["ops_per_second"])) for name, each in report["profiles"].items()]
    return "\n\n".join(["## Simulation (`./dev bench sim`)",
                        table(("profile", "operations per second and core"), rows)])


def sandbox_section(report):
    limits = report["limits"]
    return "\n\n".join([
        "## The embedded cluster, without sockets (`./dev bench sandbox`)",
        table(("", "seen", "bar"),
              [("a small get", f"{number(limits['get_ns']['value'])} ns",
                f"{limits['get_ns']['bar']} ns"),
               ("memory of 100,000 documents of 1 KiB, to their size",
                limits["memory_to_documents"]["value"], limits["memory_to_documents"]["bar"])])])


def compile_section(report):
    rows = [(f"`<{header}>`", f"{each['seconds']} s", each["ratio"], each["bar"])
            for header, each in report["ratios"].items()]
    return "\n\n".join([
        "## Compile time (`./dev bench compile`)",
        prose("A file with one of our headers, and as a multiple of a file with the same standard "
              "headers."),
        table(("header", "time", "ratio", "bar"), rows)])


SECTIONS = {"retry": retry_section, "kv": kv_section, "values": values_section,
            "scale": scale_section, "http": http_section, "sim": sim_section,
            "sandbox": sandbox_section, "compile": compile_section}


def machine_of(report):
    model = "an unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"a machine with {report['cores']} cores ({model})"


def page(report, counts, date):
    sections = [counts_section(counts)]
    sections += [write(report[name]) for name, write in SECTIONS.items() if name in report]
    return "\n\n".join([TOP.format(machine=machine_of(report), date=date).rstrip(), *sections]) + "\n"


def write(report):
    counts = json.loads(INSTRUCTIONS.read_text())
    PAGE.write_text(page(report, counts, datetime.date.today().isoformat()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    write(json.loads(parser.parse_args().report.read_text()))


if __name__ == "__main__":
    main()
