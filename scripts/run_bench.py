#!/usr/bin/env python3
"""Runs benchmarks and prints JSON: absolute figures, and ratios taken within the same run.

`./dev bench` runs all, `./dev bench retry` one. Ratios are the point: absolute figures of a small
virtual machine say little. The bars are printed beside them; nothing here fails a build.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

# name of a ratio: (benchmark, reference, bar, what it says)
RETRY_RATIOS = {
    "success_inlined_to_two_virtual_calls": ("success_inlined", "two_virtual_calls", 5.0),
    "success_virtual_to_two_virtual_calls": ("success_virtual", "two_virtual_calls", 5.0),
    "success_two_threads_to_mutex_two_threads":
        ("success_shared_bucket/threads:2", "mutex/threads:2", None),
    "decision_to_compare_and_swap": ("decision", "compare_and_swap", None),
    "refusal_to_compare_and_swap": ("refusal", "compare_and_swap", None),
}
# name: (bar in nanoseconds where a compare-and-swap costs 14 ns)
RETRY_NANOSECONDS = {"decision": 100.0, "refusal": 40.0}


def run_google_benchmark(program, repetitions):
    """Medians of CPU time in nanoseconds by benchmark name."""
    command = [str(program), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.1"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    medians = {}
    for entry in json.loads(result.stdout)["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            medians[entry["run_name"]] = entry["cpu_time"]
    return medians


def bench_retry(build):
    medians = run_google_benchmark(build / "bin" / "retry_bench", 5)
    ratios = {}
    for name, (measured, reference, bar) in RETRY_RATIOS.items():
        ratio = medians[measured] / medians[reference]
        ratios[name] = {"ratio": round(ratio, 2), "bar": bar,
                        "within_bar": None if bar is None else ratio <= bar}
    scale = max(1.0, medians["compare_and_swap"] / 14.0)
    limits = {name: {"ns": round(medians[name], 1), "bar_ns": round(bar * scale, 1),
                     "within_bar": medians[name] <= bar * scale}
              for name, bar in RETRY_NANOSECONDS.items()}
    return {"nanoseconds": {name: round(value, 2) for name, value in sorted(medians.items())},
            "ratios": ratios, "limits": limits}


BENCHMARKS = {"retry": bench_retry}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown benchmark: {unknown[0]} (there is: {', '.join(BENCHMARKS)})")
    report = {"cores": os.cpu_count()}
    for name in arguments.names or BENCHMARKS:
        report[name] = BENCHMARKS[name](arguments.build)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
