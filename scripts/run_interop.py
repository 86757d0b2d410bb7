#!/usr/bin/env python3
"""Servers and clients that we did not write: our client on CouchbaseMock, the Node.js and Java
SDKs on our sandbox. Prints a table at the end; exits with 1 if a check failed, 3 if a registry was
out of reach.

Versions are pinned here, in tests/interop/node and in tests/interop/java. Downloads are kept in the
build directory. Everything runs on loopback; the mock, which listens on every address, gets a
network namespace of its own.
"""

import argparse
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOCK = ("com.couchbase.mock", "CouchbaseMock", "1.5.27")
NODE = ROOT / "tests" / "interop" / "node"
JAVA = ROOT / "tests" / "interop" / "java"
BUCKET, PASSWORD = "default", "secret"
TRIES = 3
CLONE_NEWNET = 0x40000000
NODES, GET = 4, 0
# The mock counts max-duration from the first retry, we from the first failure (EM-10): with its
# codes that is 50 ms apart, and the tolerance must hold it.
PLAN_TOLERANCE_MS = 65


class RegistryUnreachable(Exception):
    """A package could not be downloaded, after several tries."""


def download(what, command, **options):
    """Runs a package client, several times if need be."""
    output = ""
    for attempt in range(1, TRIES + 1):
        result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if result.returncode == 0:
            return
        output = (result.stdout + result.stderr).strip()
        print(f"downloading {what} failed (try {attempt} of {TRIES})", file=sys.stderr)
        time.sleep(2 * attempt)
    raise RegistryUnreachable(f"{what}: the package registry could not be reached, or does not "
                              f"have it. Last words of the client:\n{output[-800:]}")


def mock_jar(work):
    group, name, version = MOCK
    jar = work / f"{name}-{version}.jar"
    if not jar.exists():
        download(f"{name} {version}",
                 ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={group}:{name}:{version}",
                  f"-DoutputDirectory={work}"])
    return jar


def bring_up_loopback():
    """A new network namespace has its loopback down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14x", b"lo", 0x1)  # IFF_UP
        fcntl.ioctl(control, 0x8914, request)  # SIOCSIFFLAGS


def enter_private_network():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) != 0:
        sys.exit("interop needs a network namespace of its own: run as root "
                 f"({os.strerror(ctypes.get_errno())})")
    bring_up_loopback()


class Mock:
    """CouchbaseMock, driven over its monitor connection."""

    def __init__(self, jar):
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        self.process = subprocess.Popen(
            ["java", "-jar", str(jar), f"--harakiri-monitor=127.0.0.1:{port}", "-n", str(NODES), "-R", "1",
             "-p", "0", "-b", f"{BUCKET}:{PASSWORD}:couchbase"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        listener.settimeout(30)
        self.monitor, _ = listener.accept()
        self.monitor.settimeout(30)
        self.reader = self.monitor.makefile("rb")
        rest_port = b""
        while (byte := self.reader.read(1)) not in (b"\0", b""):
            rest_port += byte
        self.command("set_cccp", enabled="true")

    def command(self, name, **payload):
        line = json.dumps({"command": name, "payload": payload}) + "\n"
        self.monitor.sendall(line.encode())
        answer = json.loads(self.reader.readline())
        if answer.get("status") != "ok":
            raise RuntimeError(f"the mock refused {name}: {answer}")
        return answer.get("payload")

    def fail_gets(self, code):
        """All gets fail with this code from now on; 0: they succeed. Logging of requests begins."""
        count = -1 if code else 0
        self.command("opfail", code=code, count=count, operation=GET)
        for index in range(NODES if code else 0):
            self.command("start_retry_verify", bucket=BUCKET, idx=index)

    def check_retries(self, code, port):
        """The mock compares the log of one node with its own plan for the code."""
        index = self.command("get_mcports", bucket=BUCKET).index(port)
        self.command("check_retry_verify", bucket=BUCKET, idx=index, opcode=GET, errcode=code,
                     fuzz_ms=PLAN_TOLERANCE_MS)

    def close(self):
        self.monitor.close()
        self.process.terminate()
        self.process.wait(20)


def collect(lines):
    """(name, ok) of every line that tells of a check."""
    rows = []
    for line in lines:
        words = line.rstrip("\n")
        for mark, is_ok in (("check ok ", True), ("check FAILED ", False), ("ok      ", True),
                            ("FAILED  ", False)):
            if words.startswith(mark):
                rows.append((words[len(mark):], is_ok))
    return rows


def obey(mock, command, *numbers):
    """Does what the program asked for: "done", or what the mock said against it."""
    numbers = [int(number) for number in numbers]
    try:
        if command == "wait":
            time.sleep(numbers[0] / 1000)
        elif command in ("failover", "respawn"):
            mock.command(command, bucket=BUCKET, idx=numbers[0])
        else:
            {"fail_gets": mock.fail_gets, "check_retries": mock.check_retries}[command](*numbers)
    except RuntimeError as refused:
        return str(refused).replace("\n", " ")
    return "done"


def run_on_mock(build, work):
    jar = mock_jar(work)
    enter_private_network()
    mock = Mock(jar)
    try:
        ports = mock.command("get_mcports", bucket=BUCKET)
        program = subprocess.Popen(
            [str(build / "bin" / "mock_interop"), f"couchbase://127.0.0.1:{ports[0]}", BUCKET,
             PASSWORD, BUCKET],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lines = []
        for line in program.stdout:
            if line.startswith("do "):
                program.stdin.write(obey(mock, *line.split()[1:]) + "\n")
                program.stdin.flush()
            else:
                print("  " + line, end="", flush=True)
                lines.append(line)
        code = program.wait(60)
        rows = collect(lines)
        return rows if code == 0 or any(not ok for _, ok in rows) else rows + [
            (f"mock_interop ended with {code}", False)]
    finally:
        mock.close()


def wait_for(path, process):
    deadline = time.monotonic() + 30
    while not path.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit("the sandbox did not start")
        time.sleep(0.05)


def ours(build, ready, *words):
    """Our command line on the sandbox that the ready file tells of."""
    where = json.loads(ready.read_text())["connection_string"]
    command = [str(build / "bin" / "reprise"), *words, "-c", where, "-u", "app", "--bucket",
               "travel"]
    return subprocess.run(command, text=True, capture_output=True, check=False,
                          env={**os.environ, "REPRISE_PASSWORD": "secret"}, timeout=60)


def exchange_documents(build, folder, ready):
    """Documents written by our client are read by the other one, and the other way round."""
    stored = ours(build, ready, "upsert", "from-reprise", '{"by":"reprise"}')
    node = subprocess.run(["node", "exchange.mjs", str(ready)], cwd=folder, text=True,
                          capture_output=True, check=False, timeout=120)
    read = ours(build, ready, "get", "from-node")
    rows = [("our document is stored", stored.returncode == 0)]
    rows += collect(node.stdout.splitlines())
    rows.append(("we read their document", read.stdout.strip() == '{"by":"node"}'))
    for name, is_ok in rows:
        print(f"  {'ok      ' if is_ok else 'FAILED  '}exchange: {name}")
    return rows


def run_node_on_sandbox(build, work):
    folder = work / "node"
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json", "sandbox_interop.mjs",
                 "exchange.mjs"):
        shutil.copy(NODE / name, folder / name)
    download("the Node.js SDK", ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder)
    ready = work / "ready.json"
    ready.unlink(missing_ok=True)
    sandbox = subprocess.Popen(
        [str(build / "bin" / "reprise"), "sandbox", "start", "--nodes", "4", "--bucket", "travel",
         "--user", "app", "--password", "secret", "--tls", "--collection", "inventory.airline",
         "--ready-file", str(ready)], stdout=subprocess.DEVNULL)
    try:
        wait_for(ready, sandbox)
        result = subprocess.run(["node", "sandbox_interop.mjs", str(ready)], cwd=folder, text=True,
                                capture_output=True, check=False, timeout=240)
        print("".join("  " + line + "\n" for line in result.stdout.splitlines()), end="")
        rows = collect(result.stdout.splitlines())
        if result.returncode != 0 and all(ok for _, ok in rows):
            rows.append((f"node ended with {result.returncode}: {result.stderr[-200:]}", False))
        return rows + exchange_documents(build, folder, ready)
    finally:
        sandbox.send_signal(signal.SIGTERM)
        sandbox.wait(20)


def java_jars(work):
    """The folder with the SDK and what it needs; made anew when the pinned version changes."""
    pom = JAVA / "pom.xml"
    folder = work / "java"
    fetched_for = folder / "pom.xml"
    if not fetched_for.exists() or fetched_for.read_text() != pom.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        download("the Java SDK",
                 ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies",
                  "-DincludeScope=runtime", f"-DoutputDirectory={folder}"])
        shutil.copy(pom, fetched_for)
    return folder


def run_java_on_sandbox(build, work):
    folder = java_jars(work)
    ready = work / "ready_java.json"
    ready.unlink(missing_ok=True)
    sandbox = subprocess.Popen(
        [str(build / "bin" / "reprise"), "sandbox", "start", "--nodes", "4", "--bucket", "travel",
         "--user", "app", "--password", "secret", "--services", "--collection",
         "inventory.airline", "--ready-file", str(ready)], stdout=subprocess.DEVNULL)
    try:
        wait_for(ready, sandbox)
        stored = ours(build, ready, "upsert", "from-reprise", '{"by":"reprise"}')
        result = subprocess.run(
            ["java", "-cp", f"{folder}/*", str(JAVA / "sandbox_interop.java"), str(ready)],
            text=True, capture_output=True, check=False, timeout=240)
        print("".join("  " + line + "\n" for line in result.stdout.splitlines()), end="")
        rows = collect(result.stdout.splitlines())
        if result.returncode != 0 and all(ok for _, ok in rows):
            rows.append((f"java ended with {result.returncode}: {result.stderr[-200:]}", False))
        read = ours(build, ready, "get", "from-java")
        exchanged = [("our document is stored", stored.returncode == 0),
                     ("we read their document", read.stdout.strip() == '{"by":"java"}')]
        for name, is_ok in exchanged:
            print(f"  check {'ok' if is_ok else 'FAILED'} exchange: {name}")
        return rows + exchanged
    finally:
        sandbox.send_signal(signal.SIGTERM)
        sandbox.wait(20)


PARTS = {"node": ("Node.js SDK on the sandbox", run_node_on_sandbox),
         "java": ("Java SDK on the sandbox", run_java_on_sandbox),
         "mock": ("our client on CouchbaseMock", run_on_mock)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    work = build / "interop"
    work.mkdir(exist_ok=True)
    table = []
    # The mock is last: this process then moves into a network namespace that reaches nothing.
    for key, (title, run) in PARTS.items():
        if arguments.parts and key not in arguments.parts:
            continue
        print(f"{title}:", flush=True)
        try:
            rows = run(build, work)
        except RegistryUnreachable as error:
            print(error, file=sys.stderr)
            sys.exit(3)
        table.append((title, sum(ok for _, ok in rows), sum(not ok for _, ok in rows)))
    print(f"\n{'who on what':<32} {'passed':>7} {'failed':>7}")
    for title, passed, failed in table:
        print(f"{title:<32} {passed:>7} {failed:>7}")
    empty = [title for title, passed, failed in table if passed + failed == 0]
    sys.exit(1 if empty or any(failed for _, _, failed in table) else 0)


if __name__ == "__main__":
    main()
