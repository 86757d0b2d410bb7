#!/usr/bin/env python3
"""Runs benchmarks and prints JSON: absolute figures, and ratios taken within the same run.

`./dev bench` runs all, `./dev bench retry`, `kv`, `http` or `sim` one. Ratios are the point: absolute
figures of a small virtual machine say little. The bars are printed beside them; nothing here fails
a build.
"""

import argparse
import json
import os
import resource
import statistics
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


KV_ROUNDS = 5
KV_OPERATIONS = 200_000  # per measurement, or
KV_SECONDS = 1.0         # this long, whichever ends first
# Client CPU per operation, at most so many times the bare client's. The bar holds on one core.
KV_CPU_BAR = 5.0
# Client round trips per second, at least so much of the bare client's. Holds for caller_drives.
KV_ROUND_TRIPS_BAR = 0.75
KV_ALLOCATIONS_BAR = 0.0


def run_pinned(program, core, arguments):
    """The JSON object that a program prints, run on one core."""
    result = subprocess.run(["taskset", "-c", str(core), str(program), *map(str, arguments)],
                            stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    return json.loads(result.stdout)


def run_kv_rounds(build, client_core, responder_core):
    """Bare and client results of each round, all against one responder."""
    programs = build / "bin"
    responder = subprocess.Popen(
        ["taskset", "-c", str(responder_core), str(programs / "kv_canned_responder")],
        stdout=subprocess.PIPE, text=True)
    try:
        arguments = [int(responder.stdout.readline()), KV_OPERATIONS, KV_SECONDS]
        return [(run_pinned(programs / "kv_bare_client", client_core, arguments),
                 run_pinned(programs / "kv_client_bench", client_core, arguments))
                for _ in range(KV_ROUNDS)]
    finally:
        responder.terminate()
        responder.wait()


def kv_medians(results):
    return {name: {field: round(statistics.median(each[name][field] for each in results), 4)
                   for field in results[0][name]}
            for name in results[0]}


def kv_ratio(rounds, client_name, bare_name, field):
    """Median over the rounds of client / bare: what disturbs a round disturbs both."""
    return statistics.median(client[client_name][field] / bare[bare_name][field]
                             for bare, client in rounds)


def kv_placement(rounds, is_same_core):
    report = {"bare": kv_medians([bare for bare, _ in rounds]),
              "client": kv_medians([client for _, client in rounds]), "ratios": {}, "limits": {}}
    for name, figures in report["client"].items():
        allocations = round(figures["allocations_per_op"], 2)
        report["limits"][f"{name}_allocations_per_op"] = {
            "value": allocations, "bar": KV_ALLOCATIONS_BAR,
            "within_bar": allocations <= KV_ALLOCATIONS_BAR}
        if name.startswith("in_flight_64"):
            ratio = kv_ratio(rounds, name, "in_flight_64", "cpu_ns_per_op")
            bar = KV_CPU_BAR if is_same_core else None
            is_within = None if bar is None else ratio <= bar
            label = f"{name}_cpu_to_bare"
        else:
            ratio = kv_ratio(rounds, name, "one_at_a_time", "ops_per_second")
            bar = KV_ROUND_TRIPS_BAR if name.endswith("caller_drives") else None
            is_within = None if bar is None else ratio >= bar
            label = f"{name}_round_trips_to_bare"
        report["ratios"][label] = {"ratio": round(ratio, 2), "bar": bar, "within_bar": is_within}
    return report


def bench_kv(build):
    cores = sorted(os.sched_getaffinity(0))
    report = {"rounds": KV_ROUNDS,
              "same_core": kv_placement(run_kv_rounds(build, cores[0], cores[0]), True)}
    if len(cores) > 1:
        report["other_core"] = kv_placement(run_kv_rounds(build, cores[0], cores[1]), False)
    return report


HTTP_ROUNDS = 7
HTTP_SHAPES = ("one_field", "five_fields")
# Client CPU per byte of a streamed answer, at most so many times that of `curl -o /dev/null`. What
# is left of curl when its library hands every piece to a function that does nothing is told, too.
HTTP_CPU_BAR = 3.0
# The largest memory may grow so much while ten times as many rows pass: rows lie in the blocks they
# came in (waiting, being read: each up to 1 MiB and one read; up to six more to be used again),
# and how many of them there are at once is a matter of luck.
HTTP_GROWTH_BAR_KIB = 4096


def curl_cpu_seconds(core, port, shape, rows):
    """CPU of the curl program, and how many bytes it dropped."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    statement = json.dumps({"statement": f"SELECT * FROM {shape} LIMIT {rows}"})
    run = subprocess.run(
        ["taskset", "-c", str(core), "curl", "--silent", "--fail", "--noproxy", "*", "--output",
         "/dev/null", "--write-out", "%{size_download}", "--header",
         "Content-Type: application/json", "--data", statement,
         f"http://127.0.0.1:{port}/query/service"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            int(run.stdout))


def run_curl_program(core, port, shape, rows):
    """Nanoseconds a byte, without what it takes to start the program."""
    start, few = curl_cpu_seconds(core, port, shape, 1)
    whole, many = curl_cpu_seconds(core, port, shape, rows)
    return (whole - start) * 1e9 / (many - few)


def run_http_rounds(build, cores, chunk, rows):
    """For each shape the (curl program, curl's library, client) results of each round, all against
    one responder."""
    programs = build / "bin"
    responder = subprocess.Popen(
        ["taskset", "-c", str(cores[-1]), str(programs / "http_canned_responder"), str(chunk)],
        stdout=subprocess.PIPE, text=True)
    try:
        kv_port, query_port = responder.stdout.readline().split()
        return {shape: [(run_curl_program(cores[0], query_port, shape, rows),
                         run_pinned(programs / "http_curl_client", cores[0],
                                    [query_port, shape, rows]),
                         run_pinned(programs / "http_stream_bench", cores[0],
                                    [kv_port, shape, rows]))
                        for _ in range(HTTP_ROUNDS)]
                for shape in HTTP_SHAPES}
    finally:
        responder.terminate()
        responder.wait()


def http_ratio(client_ns, curl_ns, bar):
    """Of the medians; and how far the rounds are apart."""
    ratio = statistics.median(client_ns) / statistics.median(curl_ns)
    ratios = [client / curl for client, curl in zip(client_ns, curl_ns)]
    return {"ratio": round(ratio, 2), "least": round(min(ratios), 2),
            "most": round(max(ratios), 2), "bar": bar,
            "within_bar": None if bar is None else ratio <= bar}


def http_shape(rounds, has_bar):
    """Medians over the rounds. All sides read the same bytes; curl counts them."""
    body_bytes = rounds[0][1]["body_bytes"]
    program_ns = [program for program, _, _ in rounds]
    library_ns = [library["cpu_ns_per_byte"] for _, library, _ in rounds]
    report = {"body_bytes": body_bytes,
              "curl": {"cpu_ns_per_byte": round(statistics.median(program_ns), 4)},
              "curl_library": {"cpu_ns_per_byte": round(statistics.median(library_ns), 4),
                               "mb_per_second": statistics.median(
                                   library["mb_per_second"] for _, library, _ in rounds)},
              "client": {}, "ratios": {}, "limits": {}}
    for mode in rounds[0][2]:
        seen = [client[mode] for _, _, client in rounds]
        client_ns = [each["cpu_seconds"] * 1e9 / body_bytes for each in seen]
        growth = max(each["memory_growth_kib"] for each in seen)
        report["client"][mode] = {
            "cpu_ns_per_byte": round(statistics.median(client_ns), 4),
            "rows": seen[0]["rows"],
            "rows_per_second": statistics.median(each["rows_per_second"] for each in seen),
            "row_mb_per_second": statistics.median(each["row_mb_per_second"] for each in seen),
            "memory_peak_kib": max(each["memory_peak_kib"] for each in seen)}
        report["ratios"][f"{mode}_cpu_to_curl"] = http_ratio(
            client_ns, program_ns, HTTP_CPU_BAR if has_bar else None)
        report["ratios"][f"{mode}_cpu_to_curl_library"] = http_ratio(client_ns, library_ns, None)
        report["limits"][f"{mode}_memory_growth_kib"] = {
            "value": growth, "bar": HTTP_GROWTH_BAR_KIB,
            "within_bar": growth <= HTTP_GROWTH_BAR_KIB}
    return report


def bench_http(build, rows):
    cores = sorted(os.sched_getaffinity(0))
    report = {"rounds": HTTP_ROUNDS}
    # 16 KiB is what a service flushes when rows come fast; small chunks are for comparison.
    for name, chunk, has_bar in (("chunks_16_kib", 16384, True), ("chunks_2_kib", 2048, False)):
        rounds = run_http_rounds(build, cores, chunk, rows)
        report[name] = {shape: http_shape(each, has_bar) for shape, each in rounds.items()}
    return report


SIM_SECONDS = 3.0  # of processor time for each profile
# Operations a second on one core. Holds for the profile that draws no faults.
SIM_BAR = 100_000


def bench_sim(build):
    core = sorted(os.sched_getaffinity(0))[0]
    figures = run_pinned(build / "bin" / "sim_bench", core, [SIM_SECONDS])
    reached = figures["bench"]["ops_per_second"]
    return {"profiles": figures,
            "limits": {"bench_ops_per_second": {"value": reached, "bar": SIM_BAR,
                                                 "within_bar": reached >= SIM_BAR}}}


BENCHMARKS = {"retry": bench_retry, "kv": bench_kv, "http": bench_http, "sim": bench_sim}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000,
                        help="of each answer that bench http reads (100 bytes each)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown benchmark: {unknown[0]} (there is: {', '.join(BENCHMARKS)})")
    report = {"cores": os.cpu_count()}
    for name in arguments.names or BENCHMARKS:
        more = [arguments.rows] if name == "http" else []
        report[name] = BENCHMARKS[name](arguments.build, *more)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
