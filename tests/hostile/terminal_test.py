"""Hostile texts of servers: whatever a command shows of them, no control character reaches the
terminal, neither as text nor as JSON.

Usage: terminal_test.py PROGRAM
"""

import json
import unicodedata

import frames
import hostile_case
import servers
from servers import Http, KeyValue, http_answer

# ESC, BEL, NUL, DEL, C1, carriage return, a forged line, right-to-left override, isolates, BOM.
NASTY = "\x1b]0;owned\x07\x00\x7f\u009b31m\r\nforged: line\u202eevil\u2066\u2028\ufeff"
ALLOWED = "\n\t"


def place(server):
    return f"couchbase://127.0.0.1:{server.port}"


class Terminal(hostile_case.HostileCase):
    def assert_harmless(self, ended, mark):
        """The text was shown (`mark` is a part of it), and nothing in it controls a terminal."""
        self.assertIn(mark, ended.text)
        for letter in set(ended.text) - set(ALLOWED):
            self.assertNotIn(unicodedata.category(letter), ("Cc", "Cf", "Zl", "Zp"),
                             f"{letter!r} in {ended.text!r}")
        for line in ended.text.split("\n"):
            self.assertFalse(line.startswith("forged"), ended.text)

    def both_forms(self, mark, *arguments, **options):
        for form in ((), ("--json",)):
            with self.subTest(form):
                ended = self.attack(*arguments, *form, timeout="5s", **options)
                self.assert_harmless(ended, mark)
                if form and ended.out:
                    json.loads(ended.out)

    def service(self, member, answer):
        """A cluster whose service gives this answer."""
        http = Http(lambda *_: answer)
        return http, KeyValue(services={member: http.port})

    def test_an_error_map(self):
        text = json.dumps({"version": 1, "revision": 1, "errors": {
            "7fe0": {"name": "N" + NASTY, "desc": "D" + NASTY, "attrs": ["attr" + NASTY]}}})
        def colourful(_, __, request):
            return frames.response(request, value=text.encode(), datatype=1)
        with KeyValue({frames.GET_ERROR_MAP: colourful}) as server:
            self.both_forms("owned", "error-map", "-c", place(server))
            self.both_forms("owned", "error-map", "0x7fe0", "-c", place(server))

    def test_an_error_with_an_unknown_attribute(self):
        text = json.dumps({"version": 1, "revision": 1, "errors": {
            "7fe0": {"name": "BUSY", "desc": "D", "attrs": ["guard-rail" + NASTY, "rate-limit"]}}})
        script = {
            frames.GET_ERROR_MAP: lambda _, __, asked: frames.response(
                asked, value=text.encode(), datatype=1),
            frames.GET: lambda _, __, asked: frames.response(asked, 0x7fe0)}
        with KeyValue(script) as server:
            ended = self.attack("get", "k", "-c", place(server), timeout="2s")
            self.assert_harmless(ended, "guard-rail")
            self.assertIn("rate-limit", ended.text)
            ended = self.attack("error-map", "-c", place(server), timeout="2s")
            self.assert_harmless(ended, "guard-rail")

    def test_a_configuration(self):
        def configure(server):
            text = frames.configuration("travel", [server.port])
            text["bucketCapabilities"] = ["cap" + NASTY, "collections"]
            text["nodesExt"][0]["alternateAddresses"] = {
                "net" + NASTY: {"hostname": "other.example"}}
            return text
        with KeyValue(configure=configure) as server:
            ended = self.attack("config", "-c", place(server), timeout="5s")
            self.assert_harmless(ended, "owned")

    def test_warnings_and_ids_of_a_query(self):
        body = json.dumps({
            "requestID": "id" + NASTY, "results": [{"text": NASTY}], "status": "success" + NASTY,
            "warnings": [{"code": 1, "msg": "W" + NASTY}], "metrics": {}})
        for raw in (body, json.dumps(json.loads(body), ensure_ascii=False)):
            http, cluster = self.service("n1ql", http_answer(raw.encode()))
            with http, cluster:
                ended = self.attack("query", "SELECT 1", "--metrics", "--json", "-c",
                                    place(cluster), timeout="5s")
                self.assert_harmless(ended, "owned")
                self.assertEqual(json.loads(ended.out)["rows"][0]["text"], NASTY)
        http, cluster = self.service("n1ql", http_answer(json.dumps(
            {"requestID": "id" + NASTY, "results": [], "status": "success",
             "warnings": [{"code": 1, "msg": "W" + NASTY}]}).encode()))
        with http, cluster:
            ended = self.attack("query", "SELECT 1", "--metrics", "-c", place(cluster),
                                timeout="5s")
            self.assert_harmless(ended, "owned")

    def test_warnings_of_analytics(self):
        http, cluster = self.service("cbas", http_answer(json.dumps(
            {"requestID": "id" + NASTY, "results": [], "status": "success",
             "warnings": [{"code": 1, "msg": "W" + NASTY}]}).encode()))
        with http, cluster:
            self.both_forms("owned", "analytics", "SELECT 1", "--metrics", "-c", place(cluster))

    def test_partition_errors_of_a_search(self):
        http, cluster = self.service("fts", http_answer(json.dumps(
            {"status": {"total": 2, "failed": 1, "successful": 1,
                        "errors": {"p" + NASTY: "E" + NASTY}}, "hits": [], "total_hits": 0,
             "max_score": 0, "took": 1}).encode()))
        with http, cluster:
            self.both_forms("owned", "search", "index", "pool", "-c", place(cluster))

    def test_errors_of_a_view(self):
        http, cluster = self.service("capi", http_answer(json.dumps(
            {"total_rows": 0, "rows": [], "errors": [
                {"from": "F" + NASTY, "reason": "R" + NASTY}]}).encode()))
        with http, cluster:
            self.both_forms("owned", "view", "design", "view", "-c", place(cluster))

    def test_errors_of_a_service(self):
        http, cluster = self.service("n1ql", http_answer(json.dumps(
            {"requestID": NASTY, "errors": [{"code": 3000, "msg": "M" + NASTY}],
             "status": "fatal"}).encode(), "400 Bad Request"))
        with http, cluster:
            self.both_forms("owned", "query", "SELECT 1", "-c", place(cluster))

    def test_a_document_as_json(self):
        with KeyValue() as server:
            server.documents[b"k"] = json.dumps({"text": NASTY}, ensure_ascii=False).encode()
            ended = self.attack("get", "k", "--json", "-c", place(server), timeout="5s")
            self.assert_harmless(ended, "owned")
            self.assertEqual(json.loads(ended.out)["value"]["text"], NASTY)


if __name__ == "__main__":
    hostile_case.main()
