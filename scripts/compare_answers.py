#!/usr/bin/env python3
"""Compares the sandbox with recorded answers of a real cluster.

    scripts/compare_answers.py FOLDER [--build build/dev]

FOLDER holds documents.json (documents by key), query-answers.json (requests to the query service,
each with its HTTP status, `status`, codes, results and signature) and management-answers.json
(method, path, form, user, status, headers and body). The script starts a sandbox with these
documents, sends all requests in their order and compares: status, codes, results and signature of
statements; status, telling headers, error texts and the shape of bodies of the management port.

testbed/sandbox/tests/answers/explained.tsv explains differences that are meant to stay, by the
request's index and a digest of the request. Exits with 1 if a difference has no explanation, or an
explanation no difference.
"""

import argparse
import base64
import hashlib
import http.client
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPLAINED = ROOT / "testbed" / "sandbox" / "tests" / "answers" / "explained.tsv"
USER, PASSWORD, BUCKET = "Administrator", "secret1", "travel"
# The recorded query service had a file datastore, which has other codes for the same conditions: a
# missing keyspace (HTTP 424 on a cluster), a missing scope, a key that exists; a cluster has no
# error for a statement that had nothing to insert.
CLUSTER_CODES = {15002: 12003, 16021: 12021, 15007: 12009, 15005: None}
CLUSTER_HTTP = {12003: 424}


class Number(float):
    """A number with a point or an exponent: not the same text as the whole number."""

    def __eq__(self, other):
        return isinstance(other, Number) and float(self) == float(other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(float(self))


def parse(text):
    return json.loads(text, parse_float=Number)


class Sandbox:
    """A running sandbox with one node and one bucket."""

    def __init__(self, build):
        self.folder = tempfile.TemporaryDirectory()
        ready = Path(self.folder.name) / "ready.json"
        self.process = subprocess.Popen(
            [str(build / "bin" / "reprise"), "sandbox", "start", "--nodes", "1", "--bucket",
             BUCKET, "--user", USER, "--password", PASSWORD, "--quiet", "--ready-file",
             str(ready)])
        deadline = time.monotonic() + 30
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the sandbox did not start")
            time.sleep(0.05)
        self.node = json.loads(ready.read_text())["nodes"][0]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.folder.cleanup()

    def port(self, service):
        for member in (service, f"{service}_port"):
            if member in self.node:
                return self.node[member]
        sys.exit(f"the ready file has no port of the {service} service: {sorted(self.node)}")

    def ask(self, service, method, path, body="", content="application/json", login=None):
        """Returns status, headers and text of one exchange."""
        headers = {"Content-Type": content}
        if login:
            headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port(service), timeout=30)
        connection.request(method, urllib.parse.quote(path, safe="/?=&%"), body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def query(self, request):
        return self.ask("query", "POST", "/query/service", json.dumps(request),
                        login=f"{USER}:{PASSWORD}")


def digest(request):
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:8]


def unordered(statement, results):
    """Rows whose order the statement leaves open are compared sorted."""
    if re.search(r"order\s+by|use\s+keys|values", statement, re.IGNORECASE):
        return results
    return sorted(results, key=lambda row: json.dumps(row, sort_keys=True))


def query_differences(expected, status, text):
    """Returns {aspect: (expected, got)}."""
    codes = [CLUSTER_CODES.get(code, code) for code in expected["codes"]]
    codes = [code for code in codes if code]
    wanted = {"http": CLUSTER_HTTP.get(codes[0] if codes else 0, expected["http"]),
              "status": expected["status"], "codes": codes}
    try:
        body = parse(text)
    except ValueError:
        body = {"status": "NOT JSON"}
    got = {"http": status, "status": body.get("status"),
           "codes": [error["code"] for error in body.get("errors", [])]}
    statement = expected["request"].get("statement", "")
    if not statement.upper().startswith("PREPARE"):  # its result is the plan
        wanted["results"] = unordered(statement, expected["results"]) \
            if "results" in expected else None
        got["results"] = unordered(statement, body["results"]) if "results" in body else None
    wanted["signature"] = expected.get("signature")
    got["signature"] = body.get("signature")
    for error in body.get("errors", []):
        if error.get("retry") is False:
            got["retry"], wanted["retry"] = False, "absent unless true"
    return {name: (wanted[name], got[name]) for name in wanted if wanted[name] != got[name]}


def shape(value, path=""):
    """Yields the paths of all members with their types. The elements of a list share a path."""
    if isinstance(value, dict):
        yield path, "object"
        for name, content in value.items():
            yield from shape(content, f"{path}.{name}")
    elif isinstance(value, list):
        yield path, "list"
        for element in value:
            yield from shape(element, path + "[]")
    else:
        yield path, ("boolean" if isinstance(value, bool) else
                     "number" if isinstance(value, (int, float)) else
                     "null" if value is None else "text")


def management_differences(expected, status, headers, text):
    found = {}
    if status != expected["status"]:
        found["status"] = (expected["status"], status)
    for name, value in expected["headers"].items():
        got = (headers.get(name) or "").split(";")[0]
        if got != value:
            found[name] = (value, got)
    is_json = expected["headers"].get("Content-Type") == "application/json"
    try:
        body = parse(text) if is_json else text
    except ValueError:
        body = text
    wanted = expected["body"]
    if isinstance(wanted, dict) and "errors" in wanted or not isinstance(wanted, (dict, list)):
        errors = wanted["errors"] if isinstance(wanted, dict) else wanted
        got = body.get("errors") if isinstance(wanted, dict) and isinstance(body, dict) else body
        if errors != got:
            found["errors"] = (errors, got)
    wanted_shape, got_shape = dict(shape(wanted)), dict(shape(body))
    missing = sorted(set(wanted_shape) - set(got_shape))
    # Only the outermost missing member counts, not what is inside it.
    missing = [path for path in missing
               if re.sub(r"(\.[^.\[]*|\[\])$", "", path) not in missing]
    extra = sorted(set(got_shape) - set(wanted_shape))
    wrong = sorted(path for path in set(wanted_shape) & set(got_shape)
                   if wanted_shape[path] != got_shape[path])
    for name, paths in (("lacks", missing), ("adds", extra), ("types", wrong)):
        if paths and "errors" not in found and "status" not in found:
            found[name] = (name, " ".join(paths))
    return found


def compare_queries(sandbox, folder):
    documents = json.loads((folder / "documents.json").read_text())
    for key, value in documents.items():
        sandbox.query({"statement": f"UPSERT INTO {BUCKET} (KEY, VALUE) VALUES ($1, $2)",
                       "args": [key, value]})
    sandbox.query({"statement": f"CREATE PRIMARY INDEX ON {BUCKET}"})
    for index, expected in enumerate(parse((folder / "query-answers.json").read_text())):
        status, _, text = sandbox.query(expected["request"])
        yield (f"query {index}", digest(expected["request"]), json.dumps(expected["request"]),
               query_differences(expected, status, text))


def compare_management(sandbox, folder):
    for index, expected in enumerate(parse((folder / "management-answers.json").read_text())):
        request = {name: expected[name] for name in ("method", "path", "form", "as")}
        # The recording does not show that this login had a wrong password.
        is_wrong = expected["as"] == USER and expected["status"] == 401
        login = expected["as"] and f"{expected['as']}:{'wrong' if is_wrong else PASSWORD}"
        form = urllib.parse.urlencode([tuple(field.split("=", 1)) for field in expected["form"]])
        status, headers, text = sandbox.ask(
            "management", expected["method"], expected["path"], form,
            "application/x-www-form-urlencoded", login)
        yield (f"management {index}", digest(request), json.dumps(request),
               management_differences(expected, status, headers, text))


def read_explanations():
    """Returns {(file and index, digest): (aspects, kind, reason)}."""
    rows = {}
    for line in EXPLAINED.read_text().splitlines():
        if line and not line.startswith("#"):
            where, what, aspects, kind, reason = line.split("\t")
            rows[where, what] = (set(aspects.split(",")), kind, reason)
    return rows


def report(answers, explanations, is_verbose):
    """Prints the unexplained differences and a summary. Returns whether there are any."""
    counts, used, is_wrong = Counter(), set(), False
    for where, what, request, found in answers:
        counts[where.split()[0], "all"] += 1
        if not found:
            counts[where.split()[0], "equal"] += 1
            continue
        aspects, kind, reason = explanations.get((where, what), (set(), "", ""))
        if aspects:
            used.add((where, what))
        left = set(found) - aspects
        counts[where.split()[0], "unexplained" if left else kind] += 1
        is_wrong = is_wrong or bool(left) or bool(aspects - set(found))
        if left or is_verbose:
            print(f"{where} {what}: {request[:160]}")
        for name, (wanted, got) in found.items():
            if name in left or is_verbose:
                print(f"    {name}: {str(wanted)[:240]}\n    {'got':>{len(name)}}: "
                      f"{str(got)[:400]}" + (f"\n    {reason}" if name not in left else ""))
        for name in sorted(aspects - set(found)):
            print(f"{where} {what}: the explained difference of {name} is gone")
    for row in sorted(set(explanations) - used):
        print(f"{' '.join(row)}: explained, but there is no difference")
        is_wrong = True
    for (file, kind), count in sorted(counts.items()):
        print(f"{file:<11} {kind:<16} {count}")
    return is_wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path, help="the folder of the recorded answers")
    arguments.add_argument("--build", type=Path, default=ROOT / "build" / "dev")
    arguments.add_argument("--verbose", action="store_true", help="also explained differences")
    given = arguments.parse_args()
    answers = []
    for compare in (compare_queries, compare_management):
        sandbox = Sandbox(given.build)
        try:
            answers += compare(sandbox, given.folder)
        finally:
            sandbox.close()
    sys.exit(1 if report(answers, read_explanations(), given.verbose) else 0)


if __name__ == "__main__":
    main()
