#!/usr/bin/env python3
"""Runs benchmarks and prints JSON: absolute figures, and ratios from the same run.

`./dev bench` runs all of them, `./dev bench retry`, `kv`, `values`, `http`, `sim`, `scale`,
`sandbox`, `compile` or `lab` only one. The ratios are what matters: absolute figures of a small
virtual machine mean little. The report also has the bars; missing one does not fail a build.
`--page` also writes docs/performance.md.
"""

import argparse
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import performance_page
from time_redraws import redraw_times

# name of a ratio: (benchmark, reference, bar)
RETRY_RATIOS = {
    "success_inlined_to_two_virtual_calls": ("success_inlined", "two_virtual_calls", 2.0),
    "success_virtual_to_two_virtual_calls": ("success_virtual", "two_virtual_calls", 2.0),
    "success_two_threads_to_mutex_two_threads":
        ("success_shared_bucket/threads:2", "mutex/threads:2", None),
    "decision_to_compare_and_swap": ("decision", "compare_and_swap", None),
    "refusal_to_compare_and_swap": ("refusal", "compare_and_swap", None),
}
# name: bar in nanoseconds on a machine where a compare-and-swap costs 14 ns
RETRY_NANOSECONDS = {"decision": 35.0, "refusal": 15.0}
# What an observer or a breaker adds to a success: nanoseconds, likewise, and heap blocks.
RETRY_ADDITIONS = {"success_observed": 50.0, "success_with_breaker": 50.0}


def run_google_benchmark(program, repetitions):
    """Returns by benchmark name the median CPU time in nanoseconds, and the allocations of those
    that count them."""
    command = [str(program), "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.1"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    medians, allocations = {}, {}
    for entry in json.loads(result.stdout)["benchmarks"]:
        if entry.get("aggregate_name") == "median":
            medians[entry["run_name"]] = entry["cpu_time"]
            if "allocations" in entry:
                allocations[entry["run_name"]] = entry["allocations"]
    return medians, allocations


def bench_retry(build):
    medians, allocations = run_google_benchmark(build / "bin" / "retry_bench", 5)
    ratios = {}
    for name, (measured, reference, bar) in RETRY_RATIOS.items():
        ratio = medians[measured] / medians[reference]
        ratios[name] = {"ratio": round(ratio, 2), "bar": bar,
                        "within_bar": None if bar is None else ratio <= bar}
    scale = max(1.0, medians["compare_and_swap"] / 14.0)
    limits = {name: {"ns": round(medians[name], 1), "bar_ns": round(bar * scale, 1),
                     "within_bar": medians[name] <= bar * scale}
              for name, bar in RETRY_NANOSECONDS.items()}
    for name, bar in RETRY_ADDITIONS.items():
        more = medians[name] - medians["success_inlined"]
        limits[f"{name}_in_addition"] = {"ns": round(more, 1), "bar_ns": round(bar * scale, 1),
                                         "within_bar": more <= bar * scale}
        limits[f"{name}_allocations"] = {"value": round(allocations[name], 3), "bar": 0,
                                         "within_bar": allocations[name] < 0.001}
    return {"nanoseconds": {name: round(value, 2) for name, value in sorted(medians.items())},
            "ratios": ratios, "limits": limits}


KV_ROUNDS = 5
KV_OPERATIONS = 200_000  # per measurement, or
KV_SECONDS = 1.0         # this long, whichever ends first
# The client's CPU time per operation with 64 in flight, as a maximum multiple of the bare client's,
# and in nanoseconds with 256. For one core.
KV_CPU_BAR = 2.0
KV_CPU_BAR_256_NS = 300
# The client's round trips per second, as a minimum share of the bare client's.
KV_ROUND_TRIPS_BARS = {"one_at_a_time_caller_drives": 0.9, "one_at_a_time_own_thread": 0.75}
# Threads that wait, compared with as many operations in flight on one thread.
KV_THREADS_BAR = 0.8
KV_ALLOCATIONS_BAR = 0.0
# What two loops do, as a minimum multiple of what one does.
KV_LOOPS_BAR = 1.8


def run_pinned(program, core, arguments):
    """Runs a program on one core and returns the JSON object that it prints."""
    result = subprocess.run(["taskset", "-c", str(core), str(program), *map(str, arguments)],
                            stdout=subprocess.PIPE, text=True, check=True, timeout=120)
    return json.loads(result.stdout)


def run_kv_rounds(build, client_core, responder_core):
    """Returns the bare client's and the client's results of each round, with one responder."""
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
    """Returns the median of client / bare over the rounds: a disturbance affects both."""
    return statistics.median(client[client_name][field] / bare[bare_name][field]
                             for bare, client in rounds)


def kv_placement(rounds, is_same_core):
    report = {"bare": kv_medians([bare for bare, _ in rounds]),
              "client": kv_medians([client for _, client in rounds]), "ratios": {}, "limits": {}}
    for name, figures in report["client"].items():
        if name == "threads_16_woken_by_a_thread":
            continue
        allocations = round(figures["allocations_per_op"], 2)
        report["limits"][f"{name}_allocations_per_op"] = {
            "value": allocations, "bar": KV_ALLOCATIONS_BAR,
            "within_bar": allocations <= KV_ALLOCATIONS_BAR}
        if name.startswith("in_flight_64"):
            ratio = kv_ratio(rounds, name, "in_flight_64", "cpu_ns_per_op")
            bar = KV_CPU_BAR if is_same_core else None
            is_within = None if bar is None else ratio <= bar
            label = f"{name}_cpu_to_bare"
        elif name in KV_ROUND_TRIPS_BARS:
            ratio = kv_ratio(rounds, name, "one_at_a_time", "ops_per_second")
            bar = KV_ROUND_TRIPS_BARS[name]
            is_within = ratio >= bar
            label = f"{name}_round_trips_to_bare"
        else:
            continue
        report["ratios"][label] = {"ratio": round(ratio, 2), "bar": bar, "within_bar": is_within}
    threads = statistics.median(client["threads_16_own_thread"]["ops_per_second"] /
                                client["in_flight_16_own_thread"]["ops_per_second"]
                                for _, client in rounds)
    report["ratios"]["threads_16_to_in_flight_16"] = {
        "ratio": round(threads, 2), "bar": KV_THREADS_BAR, "within_bar": threads >= KV_THREADS_BAR}
    # What no client could exceed that wakes a thread for each of its operations.
    woken = statistics.median(client["threads_16_woken_by_a_thread"]["ops_per_second"] /
                              client["in_flight_16_own_thread"]["ops_per_second"]
                              for _, client in rounds)
    report["ratios"]["threads_16_that_are_only_woken_to_in_flight_16"] = {
        "ratio": round(woken, 2), "bar": None, "within_bar": None}
    if is_same_core:
        seen = report["client"]["in_flight_256_caller_drives"]["cpu_ns_per_op"]
        report["limits"]["in_flight_256_cpu_ns"] = {
            "value": seen, "bar": KV_CPU_BAR_256_NS, "within_bar": seen <= KV_CPU_BAR_256_NS}
    return report


def kv_loops_ratio(ratio, has_bar):
    return {"ratio": round(ratio, 2), "bar": KV_LOOPS_BAR if has_bar else None,
            "within_bar": ratio >= KV_LOOPS_BAR if has_bar else None}


def bench_loops(build):
    """Compares two loops with one, which need a core each. The responder has its own if there are
    three; otherwise only the CPU time counts: two free cores do 2 * one / two times the work."""
    cores = sorted(os.sched_getaffinity(0))
    programs = build / "bin"
    responder = subprocess.Popen(
        ["taskset", "-c", str(cores[-1]), str(programs / "kv_canned_responder")],
        stdout=subprocess.PIPE, text=True)
    try:
        arguments = [int(responder.stdout.readline()), KV_OPERATIONS, KV_SECONDS, "loops"]
        used = ",".join(map(str, cores[:2]))
        rounds = [run_pinned(programs / "kv_client_bench", used, arguments)
                  for _ in range(KV_ROUNDS)]
    finally:
        responder.terminate()
        responder.wait()
    by_cpu = statistics.median(2 * each["one_loop"]["cpu_ns_per_op"] /
                               each["two_loops"]["cpu_ns_per_op"] for each in rounds)
    by_clock = statistics.median(each["two_loops"]["ops_per_second"] /
                                 each["one_loop"]["ops_per_second"] for each in rounds)
    # Without a core for the responder, the throughput shows how it shares one, not what loops do.
    has_core = len(cores) > 2
    allocations = max(each["two_loops"]["allocations_per_op"] for each in rounds)
    return {"cores": len(cores), "figures": kv_medians(rounds),
            "ratios": {
                "two_loops_to_one_by_cpu_time": kv_loops_ratio(by_cpu, True),
                "two_loops_to_one_by_throughput": kv_loops_ratio(by_clock, has_core)},
            "limits": {"two_loops_allocations_per_op": {
                "value": round(allocations, 2), "bar": KV_ALLOCATIONS_BAR,
                "within_bar": round(allocations, 2) <= KV_ALLOCATIONS_BAR}}}


def bench_kv(build):
    cores = sorted(os.sched_getaffinity(0))
    report = {"rounds": KV_ROUNDS,
              "same_core": kv_placement(run_kv_rounds(build, cores[0], cores[0]), True)}
    if len(cores) > 1:
        report["other_core"] = kv_placement(run_kv_rounds(build, cores[0], cores[1]), False)
        report["loops"] = bench_loops(build)
    return report


VALUES_ROUNDS = 3
# The client's bytes per second with large values, as a minimum share of the bare client's.
VALUES_SPEED_BAR = 0.9
VALUES_LARGE_BYTES = 1024
# A new TLS connection's processor time, in addition to that of a bare handshake.
VALUES_CONNECTION_BAR_US = 1000


def make_certificate(folder):
    """Creates a certificate for 127.0.0.1 that is its own authority; returns its file and the key's."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-days", "2", "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    return certificate, key


def run_values_rounds(build, cores):
    """Returns the bare client's and the client's results of each round, with one responder."""
    programs = build / "bin"
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(Path(folder))
        responder = subprocess.Popen(
            ["taskset", "-c", str(cores[-1]), str(programs / "values_responder"), str(certificate),
             str(key)], stdout=subprocess.PIPE, text=True)
        try:
            arguments = [*responder.stdout.readline().split(), certificate]
            return [(run_pinned(programs / "values_bare_client", cores[0], arguments),
                     run_pinned(programs / "values_client_bench", cores[0], arguments))
                    for _ in range(VALUES_ROUNDS)]
        finally:
            responder.terminate()
            responder.wait()


def bench_values(build):
    rounds = run_values_rounds(build, sorted(os.sched_getaffinity(0)))
    bare, client = ([each[side] for each in rounds] for side in (0, 1))
    report = {"rounds": VALUES_ROUNDS, "bare": kv_medians(bare), "client": kv_medians(client),
              "ratios": {}, "limits": {}}
    for name in report["client"]:
        if name == "tls_connection":
            more = report["client"][name]["cpu_us"] - report["bare"][name]["cpu_us"]
            report["limits"]["tls_connection_us_beside_handshake"] = {
                "value": round(more, 1), "bar": VALUES_CONNECTION_BAR_US,
                "within_bar": more <= VALUES_CONNECTION_BAR_US}
            continue
        cpu = kv_ratio(rounds, name, name, "cpu_ns_per_op")
        speed = kv_ratio(rounds, name, name, "mb_per_second")
        is_large = int(name.rpartition("_")[2]) >= VALUES_LARGE_BYTES
        bar = VALUES_SPEED_BAR if is_large and name.startswith("plain") else None
        report["ratios"][f"{name}_speed_to_bare"] = {
            "ratio": round(speed, 2), "bar": bar, "within_bar": None if bar is None else speed >= bar}
        report["ratios"][f"{name}_cpu_to_bare"] = {"ratio": round(cpu, 2), "bar": None,
                                                   "within_bar": None}
    return report


HTTP_ROUNDS = 7
HTTP_SHAPES = ("one_field", "five_fields")
# The client's CPU time per byte of a streamed answer, as a maximum multiple of `curl -o /dev/null`.
# The report also has the cost of curl's library with a callback that does nothing.
HTTP_CPU_BAR = 3.0
# Bytes per second, as a minimum share of what curl's library passes to a function that drops them.
HTTP_SPEED_BAR = 0.9
# The peak memory may grow this much while ten times as many rows pass. Rows are in the blocks that
# received them (waiting and being read: each up to 1 MiB and one read; up to six more for reuse),
# and how many exist at once varies from run to run.
HTTP_GROWTH_BAR_KIB = 4096


def curl_cpu_seconds(core, port, shape, rows):
    """Returns the CPU time of the curl program, and how many bytes it discarded."""
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
    """Returns nanoseconds per byte, without the time to start the program."""
    start, few = curl_cpu_seconds(core, port, shape, 1)
    whole, many = curl_cpu_seconds(core, port, shape, rows)
    return (whole - start) * 1e9 / (many - few)


def run_http_rounds(build, cores, chunk, rows):
    """Returns for each shape the (curl program, curl's library, client) results of each round, all
    with one responder."""
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
    """Returns the ratio of the medians, and the spread of the rounds."""
    ratio = statistics.median(client_ns) / statistics.median(curl_ns)
    ratios = [client / curl for client, curl in zip(client_ns, curl_ns)]
    return {"ratio": round(ratio, 2), "least": round(min(ratios), 2),
            "most": round(max(ratios), 2), "bar": bar,
            "within_bar": None if bar is None else ratio <= bar}


def http_speed_ratio(client_mb, curl_mb, bar):
    """As http_ratio, of bytes per second: the bar is a minimum."""
    compared = http_ratio(client_mb, curl_mb, bar)
    return {**compared, "within_bar": None if bar is None else compared["ratio"] >= bar}


def http_shape(rounds, has_bar):
    """Returns medians over the rounds. All sides read the same bytes; curl counts them."""
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
        report["ratios"][f"{mode}_speed_to_curl_library"] = http_speed_ratio(
            [each["rows_per_second"] * body_bytes / each["rows"] / 1e6 for each in seen],
            [library["mb_per_second"] for _, library, _ in rounds],
            HTTP_SPEED_BAR if has_bar else None)
        report["limits"][f"{mode}_memory_growth_kib"] = {
            "value": growth, "bar": HTTP_GROWTH_BAR_KIB,
            "within_bar": growth <= HTTP_GROWTH_BAR_KIB}
    return report


def bench_http(build, rows):
    cores = sorted(os.sched_getaffinity(0))
    report = {"rounds": HTTP_ROUNDS}
    # A service flushes 16 KiB when rows arrive fast; small chunks are for comparison.
    for name, chunk, has_bar in (("chunks_16_kib", 16384, True), ("chunks_2_kib", 2048, False)):
        rounds = run_http_rounds(build, cores, chunk, rows)
        report[name] = {shape: http_shape(each, has_bar) for shape, each in rounds.items()}
    return report


SIM_SECONDS = 3.0  # of processor time for each profile
# Operations per second on one core, for the profile without faults.
SIM_BAR = 400_000


def bench_sim(build):
    core = sorted(os.sched_getaffinity(0))[0]
    figures = run_pinned(build / "bin" / "sim_bench", core, [SIM_SECONDS])
    reached = figures["bench"]["ops_per_second"]
    return {"profiles": figures,
            "limits": {"bench_ops_per_second": {"value": reached, "bar": SIM_BAR,
                                                 "within_bar": reached >= SIM_BAR}}}


# The engine alone: processor time of a call that holds up the loop, of waking one operation, and
# memory of a waiting one, its key and value included.
SCALE_BARS = {"bytes_each": 608, "wake_ns": 100, "longest_call_ms": 5}
# How much dearer a get may become, from the smallest cluster to the largest. Without a bar where the
# number of requests in one write falls as well.
SCALE_GROWTH_BARS = {"get_ns_by_nodes": None, "get_ns_by_nodes_busy": 1.5,
                     "get_ns_by_vbuckets": 1.5, "get_ns_by_collections": 1.5}


def bench_scale(build):
    core = sorted(os.sched_getaffinity(0))[0]
    figures = run_pinned(build / "bin" / "scale_bench", core, [])
    limits = {name: {"value": figures["parked"][name], "bar": bar,
                     "within_bar": figures["parked"][name] <= bar}
              for name, bar in SCALE_BARS.items()}
    ratios = {}
    for name, bar in SCALE_GROWTH_BARS.items():
        first, *_, last = figures[name].values()
        ratios[f"{name}_growth"] = {"ratio": round(last / first, 2), "bar": bar,
                                    "within_bar": None if bar is None else last / first <= bar}
    return {**figures, "limits": limits, "ratios": ratios}


# The embedded cluster: processor time of a small get, and memory as a multiple of the documents.
SANDBOX_BARS = {"get_ns": 800, "memory_to_documents": 1.5}


def bench_sandbox(build):
    figures = run_pinned(build / "bin" / "sandbox_bench", sorted(os.sched_getaffinity(0))[0], [])
    return {"limits": {name: {"value": figures[name], "bar": bar,
                              "within_bar": figures[name] <= bar}
                       for name, bar in SANDBOX_BARS.items()}}


COMPILE_ROUNDS = 5
# header: (standard, bar). A file with it, as a multiple of one with the same standard headers.
COMPILE_BARS = {"reprise/retry.hpp": ("c++20", 1.2), "reprise/couchbase.hpp": ("c++23", 1.5)}


def standard_headers(dependencies):
    """The standard headers that our files among these include."""
    found = set()
    for file in map(Path, dependencies):
        if "/reprise/" in str(file) and file.suffix == ".hpp":
            found.update(re.findall(r"^#include <(\w+)>", file.read_text(encoding="utf-8"), re.M))
    return sorted(found)


def compile_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def bench_compile(_):
    """How much longer a file takes to compile because of our headers. Needs no build."""
    root = Path(__file__).resolve().parent.parent
    folders = [f"-I{folder}" for folder in sorted((root / "libs").glob("*/include"))]
    report = {"ratios": {}}
    with tempfile.TemporaryDirectory() as folder:
        for header, (standard, bar) in COMPILE_BARS.items():
            command = ["g++", f"-std={standard}", *folders]
            ours, plain = Path(folder, "ours.cpp"), Path(folder, "plain.cpp")
            ours.write_text(f"#include <{header}>\n")
            listed = subprocess.run([*command, "-M", str(ours)], capture_output=True, text=True,
                                    check=True).stdout.replace("\\", " ").split()[1:]
            plain.write_text("".join(f"#include <{name}>\n" for name in standard_headers(listed)))
            rounds = [[compile_seconds([*command, "-c", str(file), "-o", "/dev/null"])
                       for file in (ours, plain)] for _ in range(COMPILE_ROUNDS)]
            ratio = statistics.median(mine / reference for mine, reference in rounds)
            report["ratios"][header] = {
                "seconds": round(statistics.median(mine for mine, _ in rounds), 2),
                "ratio": round(ratio, 2), "bar": bar, "within_bar": ratio <= bar}
    return report


# A page that follows a slider, without and with a browser, and requests per second of processor time, by clients.
LAB_PREVIEW_BAR_MS = 300
LAB_SPEED_BARS = {"1000 clients": 2_000_000, "1000000 clients": 500_000}


def bench_lab(build):
    core = sorted(os.sched_getaffinity(0))[0]
    figures = run_pinned(build / "bin" / "lab_bench", core, [])
    limits = {f"preview_ms_{name}": {"value": value, "bar": LAB_PREVIEW_BAR_MS,
                                     "within_bar": value <= LAB_PREVIEW_BAR_MS}
              for name, value in figures["preview_ms"].items()}
    chromium = shutil.which("chromium")
    redraws = redraw_times(build / "bin" / "reprise", chromium) if chromium else {}
    for name, value in redraws.items():
        limits[f"redraw_ms_{name}"] = {"value": value, "bar": LAB_PREVIEW_BAR_MS,
                                       "within_bar": value <= LAB_PREVIEW_BAR_MS}
    for name, bar in LAB_SPEED_BARS.items():
        value = figures["requests_per_second"][name]
        limits[f"requests_per_second_{name}"] = {"value": value, "bar": bar,
                                                 "within_bar": value >= bar}
    return {"limits": limits}


def missed_bars(report, path=""):
    """Yields the bars of a report that its figures miss, and "" for each bar that they meet."""
    for name, value in report.items():
        if isinstance(value, dict) and value.get("within_bar") is not None:
            figure = value.get("ratio", value.get("value", value.get("ns")))
            yield "" if value["within_bar"] else f"{path}{name} {figure}"
        elif isinstance(value, dict):
            inner = "" if name in ("ratios", "limits") else f"{name}."
            yield from missed_bars(value, path + inner)


def describe_machine():
    """Returns what figures depend on: the processor, the system and the compiler."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    compiler = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return {"cores": os.cpu_count(), "processor": models[0] if models else "an unknown processor",
            "system": " ".join([platform.system(), *platform.release().split(".")[:1]]),
            "compiler": f"GCC {compiler.stdout.strip()}"}


BENCHMARKS = {"retry": bench_retry, "kv": bench_kv, "values": bench_values, "http": bench_http,
              "sim": bench_sim, "scale": bench_scale, "sandbox": bench_sandbox,
              "compile": bench_compile, "lab": bench_lab}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000,
                        help="rows of each answer that bench http reads (100 bytes each)")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        sys.exit(f"unknown benchmark: {unknown[0]} (choose from: {', '.join(BENCHMARKS)})")
    report = describe_machine()
    for name in arguments.names or BENCHMARKS:
        more = [arguments.rows] if name == "http" else []
        report[name] = BENCHMARKS[name](arguments.build, *more)
    print(json.dumps(report, indent=2), flush=True)
    if arguments.page:
        performance_page.write(report)
    bars = list(missed_bars(report))
    missed = [bar for bar in bars if bar]
    print(f"bars: {len(bars) - len(missed)} of {len(bars)} met" +
          (f"; missed: {', '.join(missed)}" if missed else ""), file=sys.stderr)


if __name__ == "__main__":
    main()
