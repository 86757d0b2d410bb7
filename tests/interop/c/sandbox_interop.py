"""The C SDK's tools against the sandbox: python sandbox_interop.py READY_FILE PROGRAM TOOLS

Expects `reprise sandbox start --nodes 4 --tls --bucket travel --collection inventory.airline
--ready-file READY_FILE` to be running with the default user, and the document "from-reprise" in the
bucket. Leaves "from-c" there. PROGRAM is `reprise`, which changes the topology. TOOLS is the folder
with cbc and cbc-pillowfight. Prints one line for each check and exits with 1 if any failed.
"""

import json
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

DOCUMENTS, CYCLES, BATCH = 200, 40, 50
SUCCESS, NOT_MY_VBUCKET = "0x0000", "0x0007"
LOADS = {"documents": (), "compressed documents": ("-y", "-y", "--max-size", "4000"),
         "durable writes": ("-d", "majority"),
         "a named collection": ("--collection", "inventory.airline")}


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"expected: {wanted!r}, got: {got!r}")


def contains(text, wanted):
    if wanted not in text:
        raise AssertionError(f"expected: {wanted}, got: {text[-300:]}")


class Peer:
    def __init__(self, ready_file, program, tools):
        self.ready_file, self.program, self.tools = ready_file, program, Path(tools)
        self.ready = json.loads(Path(ready_file).read_text(encoding="utf-8"))
        self.passed = self.failed = 0

    def control(self, *words):
        """Runs `reprise sandbox WORDS` and returns the sandbox's answer."""
        done = subprocess.run(
            [self.program, "sandbox", *words, "--json", "--ready-file", self.ready_file],
            check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        return json.loads(done.stdout)

    def line(self, tool, *words, where=None, password="secret"):
        where = where or self.ready["connection_string"] + "/travel"
        return [self.tools / tool, *words, "-U", where, "-u", "app", "-P", password]

    def run(self, tool, *words, **options):
        """Returns all output of a tool, which reports most errors only there."""
        done = subprocess.run(self.line(tool, *words, **options), text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout

    def cbc(self, command, *words):
        return self.run(f"cbc-{command}", *words)

    def check(self, name, body, *arguments):
        try:
            detail = body(*arguments)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            self.failed += 1
            print(f"check FAILED {name}: {str(error)[:600]}".replace("\n", " "), flush=True)
        else:
            self.passed += 1
            print(f"check ok {name}" + (f" ({detail})" if detail else ""), flush=True)

    def check_documents(self):
        contains(self.cbc("create", "c-document", "-V", '{"a":1}'), "Stored.")
        contains(self.cbc("cat", "c-document"), '{"a":1}')
        contains(self.cbc("rm", "c-document"), "Deleted")
        contains(self.cbc("cat", "c-document"), "LCB_ERR_DOCUMENT_NOT_FOUND")

    def check_counters(self):
        for wanted in (40, 45):
            contains(self.cbc("incr", "--initial=40", "--delta=5", "c-counter"),
                     f"Current value is {wanted}.")

    def check_locks(self):
        self.cbc("create", "c-lock", "-V", "1")
        cas = re.search("CAS=(0x[0-9a-f]+)", self.cbc("lock", "-e", "15", "c-lock")).group(1)
        contains(self.cbc("rm", "-D", "timeout=0.5", "c-lock"), "LCB_ERR_DOCUMENT_LOCKED")
        contains(self.cbc("unlock", "c-lock", cas), "Unlocked")
        contains(self.cbc("rm", "c-lock"), "Deleted")

    def check_query(self):
        contains(self.cbc("n1ql", "SELECT RAW n FROM ARRAY_RANGE(0, 3) AS n"), "0,\n1,\n2,\n")

    def check_wrong_password(self):
        contains(self.run("cbc-cat", "k", password="wrong"), "LCB_ERR_AUTHENTICATION_FAILURE")

    def check_exchange(self):
        contains(self.cbc("cat", "from-reprise"), '{"by":"reprise"}')
        contains(self.cbc("create", "from-c", "-V", '{"by":"c"}'), "Stored.")

    def pillowfight(self, prefix, cycles):
        """The words of a load. Its only thread reads no document before it has stored all."""
        return ["--key-prefix", prefix, "--num-items", str(DOCUMENTS), "--batch-size", str(BATCH),
                "--num-cycles", str(cycles), "--set-pct", "50"]

    def check_output(self, output, prefix):
        """The tool has reported no error and stored all documents. Returns how often the sandbox
        answered with each status."""
        contains(output, "has finished populating")
        if "LCB_ERR" in output:
            raise AssertionError(output[output.index("LCB_ERR"):][:300])
        answered = Counter(entry["status"] for entry in self.control(
            "audit", "--key", prefix + "*", "--limit", "100000")["entries"])
        equal(set(answered) - {SUCCESS, NOT_MY_VBUCKET}, set())
        return answered

    def check_load(self, prefix, *words, **options):
        output = self.run("cbc-pillowfight", *self.pillowfight(prefix, CYCLES), *words, **options)
        answered = self.check_output(output, prefix)
        equal(answered, {SUCCESS: CYCLES * BATCH})
        return f"{answered[SUCCESS]} requests"

    def check_tls(self):
        where = f"{self.ready['connection_string_tls']}/travel?truststorepath="
        return self.check_load("c-tls-", where=where + self.ready["ca_path"])

    def rebalance(self):
        """A node takes the place of another one, vbucket by vbucket."""
        self.control("topology", "add")
        self.control("topology", "rebalance", "--eject", "1", "--interval", "10ms")
        deadline = time.monotonic() + 60
        while self.control("topology", "status")["rebalance"]["running"]:
            if time.monotonic() > deadline:
                raise AssertionError("the rebalance does not end")
            time.sleep(0.1)

    def check_rebalance(self):
        words = self.pillowfight("c-moved-", 2**30)
        with subprocess.Popen(self.line("cbc-pillowfight", *words, "--rate-limit", "1500"),
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as load:
            try:
                self.rebalance()
            finally:
                load.send_signal(signal.SIGINT)
                output = load.communicate(timeout=60)[0]
        answered = self.check_output(output, "c-moved-")
        keys = [f"c-moved-{number:020}" for number in range(DOCUMENTS)]
        equal(self.cbc("cat", *keys).count("CAS="), DOCUMENTS)
        return (f"{answered[SUCCESS]} requests, {answered[NOT_MY_VBUCKET]} more were sent to a "
                "former owner")

    def check_all(self):
        self.check("a wrong password is refused", self.check_wrong_password)
        self.check("store, read and remove", self.check_documents)
        self.check("counters", self.check_counters)
        self.check("locks", self.check_locks)
        self.check("query", self.check_query)
        self.check("exchange of documents", self.check_exchange)
        for name, words in LOADS.items():
            self.check(f"pillowfight: {name}", self.check_load, f"c-{name[:3]}-", *words)
        self.check("pillowfight: TLS", self.check_tls)
        # Last, because a node of the connection string is removed.
        self.check("pillowfight: a rebalance under load", self.check_rebalance)


def main():
    peer = Peer(*sys.argv[1:])
    peer.check_all()
    print(f"{peer.passed} of {peer.passed + peer.failed} checks passed")
    sys.exit(1 if peer.failed else 0)


if __name__ == "__main__":
    main()
