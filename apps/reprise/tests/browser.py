"""A browser for tests of pages, driven through the DevTools protocol on a pipe: real clicks and keys,
and every error that a page reports."""

import json
import os
import select
import subprocess
import tempfile
import time

# Longer than any page needs, even on a busy machine.
LIMIT_SECONDS = 120


class Browser:
    """`with Browser(chromium) as browser: browser.open(link)`"""

    def __init__(self, chromium, width=1200, height=900, is_dark=False):
        # The browser's other processes may write to it for a moment after the kill.
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # The protocol uses descriptors 3 and 4 of the browser.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}"]
        if is_dark:
            options += ["--force-dark-mode", "--enable-features=WebContentsForceDark:none"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{commands} 4>&{answers}', chromium, *options],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.errors = []
        self._buffer = b""
        self._number = 0
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self.profile.cleanup()

    def _receive(self, until):
        while b"\0" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._answers], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise ConnectionError("the browser has ended")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        about = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(about["exceptionDetails"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and about["type"] == "error":
            self.errors.append(json.dumps(about["args"]))
        elif message.get("method") == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.errors.append(about["entry"]["text"])
        return message

    def call(self, method, **params):
        """Sends a command and returns its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        if self._session and not method.startswith("Target."):
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + LIMIT_SECONDS
        while True:
            message = self._receive(until)
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, link):
        self.call("Page.navigate", url=link)
        self.wait_for("document.readyState === 'complete'")

    def run(self, script):
        """Returns the value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, condition):
        """Returns once the expression is true."""
        until = time.monotonic() + LIMIT_SECONDS
        # The page evaluates it before each frame.
        script = (f"new Promise(done => {{ const look = () => ({condition}) ? done(true) : "
                  "setTimeout(look, 20); look(); })")
        while time.monotonic() < until:
            try:
                if self.run(script):
                    return
            except RuntimeError as error:  # the page was replaced in between
                if "context" not in str(error):
                    raise
        raise TimeoutError(f"still not true: {condition}")

    def press(self, key, text=""):
        """A key, as from the keyboard: press('Tab'), press('Enter', '\\r')."""
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowLeft": 37, " ": 32}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, text=text,
                      windowsVirtualKeyCode=code)

    def screenshot(self, path):
        """The whole page as a PNG file."""
        import base64
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
