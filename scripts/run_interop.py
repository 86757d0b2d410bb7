#!/usr/bin/env python3
"""Tests with third-party servers and clients: our client on CouchbaseMock, and the Node.js, Java,
Python and C SDKs on our sandbox. Prints a table at the end. Exits with 1 if a check failed, and
with 3 if a registry could not be reached.

Versions are pinned here and in the folders of tests/interop. Downloads are kept in the build
directory. Everything runs on loopback; servers that listen on every address run in a private
network namespace.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from private_network import enter_private_network

ROOT = Path(__file__).resolve().parent.parent
MOCK = ("com.couchbase.mock", "CouchbaseMock", "1.5.27")
NODE = ROOT / "tests" / "interop" / "node"
JAVA = ROOT / "tests" / "interop" / "java"
PYTHON = ROOT / "tests" / "interop" / "python"
C = ROOT / "tests" / "interop" / "c"
# An old package of the Node.js SDK contains the sources of the C SDK 3.3.4, with its tools.
C_SOURCES = ("couchbase", "3.2.7", "package/deps/lcb")
BUCKET, PASSWORD = "default", "secret"
TRIES = 3
NODES, GET = 4, 0
# Times are compared to 10 ms, so nothing else may use the processor meanwhile.
IDLE_SHARE_MIN, IDLE_WAIT_MAX_S = 0.9, 120


class RegistryUnreachable(Exception):
    """A package could not be downloaded, after several tries."""


def download(what, command, **options):
    """Runs a package client, several times if necessary."""
    output = ""
    for attempt in range(1, TRIES + 1):
        result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
        if result.returncode == 0:
            return
        output = (result.stdout + result.stderr).strip()
        print(f"downloading {what} failed (try {attempt} of {TRIES})", file=sys.stderr)
        time.sleep(2 * attempt)
    raise RegistryUnreachable(f"{what}: the package registry could not be reached, or does not "
                              f"have it. Last output of the client:\n{output[-800:]}")


def mock_jar(work):
    group, name, version = MOCK
    jar = work / f"{name}-{version}.jar"
    if not jar.exists():
        download(f"{name} {version}",
                 ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={group}:{name}:{version}",
                  f"-DoutputDirectory={work}"])
    return jar


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
        """Makes all gets fail with this code, or succeed if it is 0, and starts to log requests."""
        count = -1 if code else 0
        self.command("opfail", code=code, count=count, operation=GET)
        for index in range(NODES if code else 0):
            self.command("start_retry_verify", bucket=BUCKET, idx=index)

    def check_retries(self, code, port):
        """Makes the mock compare the log of one node with its plan, within its tolerance."""
        index = self.command("get_mcports", bucket=BUCKET).index(port)
        self.command("check_retry_verify", bucket=BUCKET, idx=index, opcode=GET, errcode=code)

    def close(self):
        self.monitor.close()
        self.process.terminate()
        self.process.wait(20)


def collect(lines):
    """Returns (name, ok) of every line that reports a check."""
    rows = []
    for line in lines:
        words = line.rstrip("\n")
        for mark, is_ok in (("check ok ", True), ("check FAILED ", False)):
            if words.startswith(mark):
                rows.append((words[len(mark):], is_ok))
    return rows


def failed_alone(name):
    """Returns the rows of a part that could not start."""
    print(f"  check FAILED {name}", flush=True)
    return [(name, False)]


def run_command(mock, command, *numbers):
    """Carries out the program's command. Returns "done" or the mock's error message."""
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


def run_mock_interop(build, work, *words):
    jar = mock_jar(work)
    enter_private_network()
    mock = Mock(jar)
    try:
        ports = mock.command("get_mcports", bucket=BUCKET)
        program = subprocess.Popen(
            [str(build / "bin" / "mock_interop"), f"couchbase://127.0.0.1:{ports[0]}", BUCKET,
             PASSWORD, BUCKET, *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        lines = []
        for line in program.stdout:
            if line.startswith("do "):
                program.stdin.write(run_command(mock, *line.split()[1:]) + "\n")
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


def run_on_mock(build, work):
    return run_mock_interop(build, work)


def idle_share(seconds):
    """Returns the idle share of the processors' time."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:]]
        return sum(ticks), ticks[3] + ticks[4]
    begin_all, begin_idle = read()
    time.sleep(seconds)
    end_all, end_idle = read()
    return (end_idle - begin_idle) / max(1, end_all - begin_all)


def run_retries_on_mock(build, work):
    """Runs the mock's own check of the times of retries, alone on an idle machine."""
    deadline = time.monotonic() + IDLE_WAIT_MAX_S
    while (share := idle_share(2)) < IDLE_SHARE_MIN:
        if time.monotonic() > deadline:
            return failed_alone(f"the machine is idle enough to compare times to 10 ms "
                                f"(idle: {share:.0%})")
    return run_mock_interop(build, work, "retries")


@contextlib.contextmanager
def sandbox_with(build, ready, *options):
    """Runs a sandbox that writes the ready file."""
    ready.unlink(missing_ok=True)
    process = subprocess.Popen(
        [str(build / "bin" / "reprise"), "sandbox", "start", "--nodes", "4", "--bucket", "travel",
         "--user", "app", "--password", "secret", "--collection", "inventory.airline",
         "--ready-file", str(ready), *options], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the sandbox did not start")
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def run_checks_of(name, command):
    """Runs a program of another client. Returns the checks that it reports."""
    result = subprocess.run(command, text=True, capture_output=True, check=False, timeout=240)
    print("".join("  " + line + "\n" for line in result.stdout.splitlines()), end="")
    rows = collect(result.stdout.splitlines())
    if result.returncode != 0 and all(ok for _, ok in rows):
        rows.append((f"{name} ended with {result.returncode}: {result.stderr[-200:]}", False))
    return rows


def run_and_exchange(build, ready, name, command):
    """The same for a program that reads the document "from-reprise" and writes "from-NAME"."""
    stored = ours(build, ready, "upsert", "from-reprise", '{"by":"reprise"}')
    rows = run_checks_of(name, command)
    read = ours(build, ready, "get", f"from-{name}")
    exchanged = [("our document is stored", stored.returncode == 0),
                 ("we read their document", "".join(read.stdout.split()) == f'{{"by":"{name}"}}')]
    for check, is_ok in exchanged:
        print(f"  check {'ok' if is_ok else 'FAILED'} exchange: {check}")
    return rows + exchanged


def ours(build, ready, *words):
    """Runs our command line on the sandbox that the ready file describes."""
    where = json.loads(ready.read_text())["connection_string"]
    command = [str(build / "bin" / "reprise"), *words, "-c", where, "-u", "app", "--bucket",
               "travel"]
    return subprocess.run(command, text=True, capture_output=True, check=False,
                          env={**os.environ, "REPRISE_PASSWORD": "secret"}, timeout=60)


def run_node_on_sandbox(build, work):
    folder = work / "node"
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json", "sandbox_interop.mjs", "load.mjs"):
        shutil.copy(NODE / name, folder / name)
    download("the Node.js SDK", ["npm", "ci", "--no-audit", "--no-fund"], cwd=folder)
    ready = work / "ready_node.json"
    with sandbox_with(build, ready, "--tls"):
        return run_and_exchange(build, ready, "node", [
            "node", str(folder / "sandbox_interop.mjs"), str(ready),
            str(build / "bin" / "reprise")])


def java_jars(work):
    """Returns the folder with the SDK and its dependencies; recreates it for a new version."""
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
    jars = f"{java_jars(work)}/*"
    classes = work / "java_classes"
    shutil.rmtree(classes, ignore_errors=True)
    subprocess.run(["javac", "-cp", jars, "-d", str(classes),
                    *map(str, sorted(JAVA.glob("*.java")))], check=True)
    ready = work / "ready_java.json"
    with sandbox_with(build, ready):
        return run_and_exchange(build, ready, "java", [
            "java", "-cp", f"{classes}:{jars}", "SandboxInterop", str(ready),
            str(build / "bin" / "reprise")])


def python_with_sdk(work):
    """Returns the interpreter of an environment with the SDK; recreates it for a new version."""
    wanted = PYTHON / "requirements.txt"
    folder = work / "python"
    fetched_for = folder / "requirements.txt"
    if not fetched_for.exists() or fetched_for.read_text() != wanted.read_text():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        download("the Python SDK",
                 [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--no-deps",
                  "--disable-pip-version-check", "--only-binary", ":all:", "-r", str(wanted)])
        shutil.copy(wanted, fetched_for)
    return folder / "bin" / "python"


def run_python_on_sandbox(build, work):
    interpreter = python_with_sdk(work)
    ready = work / "ready_python.json"
    with sandbox_with(build, ready, "--tls", "--server-group", "east,west"):
        return run_and_exchange(build, ready, "python", [
            str(interpreter), "-B", str(PYTHON / "sandbox_interop.py"), str(ready),
            str(build / "bin" / "reprise")])


def c_tools(work):
    """Returns the folder with the tools of the C SDK; builds them if necessary."""
    package, version, path = C_SOURCES
    folder = work / f"c-{version}"
    tools = folder / "build" / "bin"
    if (tools / "cbc-pillowfight").exists() and (tools / "cbc-cat").exists():
        return tools
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    download("the C SDK", ["npm", "pack", "--silent", f"{package}@{version}"], cwd=folder)
    subprocess.run(["tar", "-xzf", f"{package}-{version}.tgz"], cwd=folder, check=True)
    launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")
                 if shutil.which("ccache")]
    # Without optimisation, which would double the time of the build.
    for command in (["cmake", "-S", str(folder / path), "-B", str(folder / "build"), "-G", "Ninja",
                     "-DCMAKE_BUILD_TYPE=None", "-DLCB_NO_TESTS=1", "-DLCB_NO_MOCK=1",
                     "-DLCB_NO_PLUGINS=1", "-Wno-dev", *launchers],
                    ["cmake", "--build", str(folder / "build"), "--target", "cbc",
                     "cbc-pillowfight"]):
        built = subprocess.run(command, text=True, capture_output=True, check=False)
        if built.returncode != 0:
            sys.exit(f"the C SDK could not be built:\n{(built.stdout + built.stderr)[-2000:]}")
    return tools


def run_c_on_sandbox(build, work):
    tools = c_tools(work)
    ready = work / "ready_c.json"
    with sandbox_with(build, ready, "--tls"):
        return run_and_exchange(build, ready, "c", [
            sys.executable, "-B", str(C / "sandbox_interop.py"), str(ready),
            str(build / "bin" / "reprise"), str(tools)])


# The order matters: from the mock on this process is in a network namespace without a network, and
# the part that measures times runs when everything else is done.
PARTS = {"node": ("Node.js SDK on the sandbox", run_node_on_sandbox),
         "java": ("Java SDK on the sandbox", run_java_on_sandbox),
         "python": ("Python SDK on the sandbox", run_python_on_sandbox),
         "c": ("C SDK on the sandbox", run_c_on_sandbox),
         "mock": ("our client on CouchbaseMock", run_on_mock),
         "retries": ("times of retries on CouchbaseMock", run_retries_on_mock)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    build = arguments.build.resolve()
    work = build / "interop"
    work.mkdir(exist_ok=True)
    table = []
    for key in [key for key in PARTS if key in (arguments.parts or PARTS)]:
        title, run = PARTS[key]
        print(f"{title}:", flush=True)
        try:
            rows = run(build, work)
        except RegistryUnreachable as error:
            print(error, file=sys.stderr)
            sys.exit(3)
        table.append((title, sum(ok for _, ok in rows), sum(not ok for _, ok in rows)))
    print(f"\n{'client on server':<34} {'passed':>7} {'failed':>7}")
    for title, passed, failed in table:
        print(f"{title:<34} {passed:>7} {failed:>7}")
    empty = [title for title, passed, failed in table if passed + failed == 0]
    sys.exit(1 if empty or any(failed for _, _, failed in table) else 0)


if __name__ == "__main__":
    main()
