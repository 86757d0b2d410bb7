#!/usr/bin/env python3
"""Runs PROGRAM URL against a server that answers 503 twice, then 200.

The program must print the third answer, and log each retry with the URL, without its user and its
query, and the failure.
"""

import contextlib
import http.server
import re
import subprocess
import sys
import threading


class busy_twice(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        busy_twice.asked += 1
        is_busy = busy_twice.asked <= 2
        body = b"" if is_busy else b"21 degrees"
        self.send_response(503 if is_busy else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def running_server():
    """Runs the server, and returns `address/path` without a scheme."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), busy_twice) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}/weather"
        server.shutdown()


def main():
    with running_server() as place:
        done = subprocess.run([sys.argv[1], f"http://bob:secret@{place}?key=42"], check=True,
                              capture_output=True, text=True, timeout=50)
    print(done.stderr + done.stdout, end="")
    line = re.escape(f"http://{place}: attempt ") + r"\d failed, HTTP 503 \(503\); retried after .* ms"
    lines = done.stderr.splitlines()
    is_logged = len(lines) == 2 and all(re.fullmatch(line, each) for each in lines)
    return 0 if done.stdout == "200 21 degrees\n" and is_logged and busy_twice.asked == 3 else 1


if __name__ == "__main__":
    sys.exit(main())
