"""A headless Chromium of the distribution, driven through its own protocol over a pair of pipes: no package of Python.

https://chromedevtools.github.io/devtools-protocol/
"""

import json
import os
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """The path of a Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Chromium:
    """One browser with one page. What the page logs, throws, and asks of a network is kept."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def pipes_as_3_and_4():
            # Out of the way first: one of them may be 3 or 4 itself.
            read, write = os.dup(to_browser), os.dup(from_browser)
            read, write = os.dup2(read, 103), os.dup2(write, 104)
            os.dup2(read, 3)
            os.dup2(write, 4)

        # Root has no sandbox, and containers have a small /dev/shm.
        arguments = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}"]
        # The pipes have to survive until the numbers are set, so not all others are closed.
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=pipes_as_3_and_4)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.forget()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (OSError, EOFError):
            pass
        self.process.wait(timeout=20)
        os.close(self.commands)
        os.close(self.answers)
        self.folder.cleanup()

    def forget(self):
        """What was kept of the page before."""
        self.errors, self.requests, self.loaded = [], [], False

    def _message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _notice(self, message):
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(about["exceptionDetails"].get("exception", {}).get("description") or str(about))
        elif method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.errors.append(str(about["args"]))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.errors.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.errors.append("a dialog: " + about["message"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **parameters):
        """The answer to a command. Throws AssertionError where the browser refuses it."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._notice(answer)

    def open(self, path):
        """Loads a file, and waits until it has been drawn twice: scripts have run."""
        self.forget()
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + 30
        while not self.loaded:
            assert time.monotonic() < deadline, "the page does not load"
            self.evaluate("1")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def evaluate(self, expression):
        """The value of an expression of JavaScript, awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def point_at(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def prefer(self, media="", color_scheme="light"):
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": color_scheme}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
