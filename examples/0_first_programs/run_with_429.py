#!/usr/bin/env python3
"""Runs PROGRAM URL against a server that answers 429 with Retry-After: 1, then 200.

The program must print the second answer, and must not ask before the second is over.
"""

import http.server
import subprocess
import sys
import threading
import time


class busy_once(http.server.BaseHTTPRequestHandler):
    asked_at = []

    def do_GET(self):
        self.asked_at.append(time.monotonic())
        is_busy = len(self.asked_at) == 1
        body = b"" if is_busy else b"21 degrees"
        self.send_response(429 if is_busy else 200)
        if is_busy:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def main():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), busy_once) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        printed = subprocess.run([sys.argv[1], url], check=True, capture_output=True, text=True,
                                 timeout=50).stdout
        server.shutdown()
    times = busy_once.asked_at
    print(f"{len(times)} requests, printed: {printed}", end="")
    return 0 if printed == "200 21 degrees\n" and len(times) == 2 and times[1] - times[0] >= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
