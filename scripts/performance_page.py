#!/usr/bin/env python3
"""Writes docs/performance.md: performance_page.py REPORT, or performance_page.py --counts

REPORT is what `./dev bench` prints; a benchmark that is not in it is left out of the page. Counts of
instructions come from bench/instructions.json, which `./dev bench instructions` checks; `--counts`
writes only these.
"""

import argparse
import datetime
import json
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
INSTRUCTIONS = ROOT / "bench" / "instructions.json"
COUNTS_HEADING = "## Instructions in user space"
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

{intro}

    ./dev bench instructions
    ./dev bench --page

[What a key-value operation costs](design/cost_of_an_operation.md) explains the figures stage by
stage, with what was tried.
"""
INTRO = """\
What a successful call costs, and what a retry costs. The script that runs the benchmarks writes this
page. Instructions do not depend on the machine or its neighbours, so they are what we hold; times are
from {machine} on {date}. Repeat all of it with"""


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
        COUNTS_HEADING,
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
        by_cpu, by_clock = (loops["ratios"][f"two_loops_to_one_by_{by}"]
                            for by in ("cpu_time", "throughput"))
        parts += [prose("Two loops (`io_threads`) as a multiple of one, 64 in flight on each: by "
                        "processor time, which is what two free cores would do, and by throughput, "
                        "which needs a third core for the responder. More than 2 means that the "
                        "responder answers larger batches when it has less time, which make the "
                        "client's work for each operation smaller, too."),
                  table(("cores", "by processor time", "by throughput", "bar"),
                        [(loops["cores"], by_cpu["ratio"], by_clock["ratio"], by_cpu["bar"])])]
    return "\n\n".join(parts)


def values_section(report):
    rows = []
    for name, figures in report["client"].items():
        if name == "tls_connection":
            continue
        transport, operation, size = name.split("_")
        rows.append((transport, operation, number(int(size)), number(figures["mb_per_second"]),
                     report["ratios"][f"{name}_speed_to_bare"]["ratio"],
                     report["ratios"][f"{name}_speed_to_bare"]["bar"] or "",
                     number(figures["cpu_ns_per_op"]),
                     report["ratios"][f"{name}_cpu_to_bare"]["ratio"]))
    handshake, whole = (report[side]["tls_connection"]["cpu_us"] for side in ("bare", "client"))
    more = report["limits"]["tls_connection_us_beside_handshake"]
    return "\n\n".join([
        "## Large values and TLS (`./dev bench values`)",
        prose("One thread, the responder on another core. The bare client uses blocking sockets, or "
              "OpenSSL alone, and looks at nothing but the status of an answer."),
        table(("transport", "operation", "bytes", "MB/s", "to bare", "bar", "CPU ns each",
               "to bare"), rows),
        prose(f"A TLS connection costs {number(whole)} us of processor time from `connect` to the end "
              f"of its first get and `close`, and a bare handshake {number(handshake)} us: "
              f"{number(more['value'])} us more (bar {number(more['bar'])}).")])


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


def growth_table(report, first, name):
    growth = report["ratios"][f"{name}_growth"]
    figures = report[name]
    return table((first, *figures, "growth", "bar"),
                 [("ns per get", *map(number, figures.values()), growth["ratio"],
                   growth["bar"] or "")])


def scale_section(report):
    parked = report["parked"]
    return "\n\n".join([
        "## Large clusters (`./dev bench scale`)",
        prose("Processor time of one get in the engine. With 1,000 in flight, each write carries "
              "fewer requests the more nodes there are: with 1,000 nodes about one."),
        growth_table(report, "nodes", "get_ns_by_nodes"),
        "With 16 in flight at each node, each write carries 16 requests, whatever the number of nodes:",
        growth_table(report, "nodes", "get_ns_by_nodes_busy"),
        "With one node and 1,000 in flight:",
        growth_table(report, "vbuckets", "get_ns_by_vbuckets"),
        growth_table(report, "collections", "get_ns_by_collections"),
        f"{parked['count']:,} operations that wait for one connection:",
        table(("", "seen", "bar"),
              [("memory of each, with key and value", f"{number(parked['bytes_each'])} bytes",
                f"{report['limits']['bytes_each']['bar']} bytes"),
               ("parking one", f"{parked['park_ns']} ns", ""),
               ("waking one", f"{parked['wake_ns']} ns", f"{report['limits']['wake_ns']['bar']} ns"),
               ("longest pause of the loop", f"{parked['longest_call_ms']} ms",
                f"{report['limits']['longest_call_ms']['bar']} ms")])])


def sim_section(report):
    bars = {"bench": number(report["limits"]["bench_ops_per_second"]["bar"])}
    rows = [(name, number(each["ops_per_second"]), bars.get(name, ""))
            for name, each in report["profiles"].items()]
    return "\n\n".join(["## Simulation (`./dev bench sim`)",
                        table(("profile", "operations per second and core", "bar"), rows)])


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
    return (f"a machine with {report['cores']} cores ({report['processor']}, {report['system']}, "
            f"{report['compiler']})")


def page(report, counts, date):
    intro = prose(INTRO.format(machine=machine_of(report), date=date))
    sections = [counts_section(counts)]
    sections += [write(report[name]) for name, write in SECTIONS.items() if name in report]
    return "\n\n".join([TOP.format(intro=intro).rstrip(), *sections]) + "\n"


def write(report):
    counts = json.loads(INSTRUCTIONS.read_text())
    PAGE.write_text(page(report, counts, datetime.date.today().isoformat()))


def has_counts(counts):
    return counts_section(counts) in PAGE.read_text()


def write_counts(counts):
    before, _, rest = PAGE.read_text().partition(COUNTS_HEADING)
    after = rest[rest.index("\n## "):]
    PAGE.write_text(before + counts_section(counts) + "\n" + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("report", type=Path, nargs="?")
    source.add_argument("--counts", action="store_true")
    arguments = parser.parse_args()
    if arguments.counts:
        write_counts(json.loads(INSTRUCTIONS.read_text()))
    else:
        write(json.loads(arguments.report.read_text()))


if __name__ == "__main__":
    main()
