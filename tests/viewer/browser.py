"""A small client for a headless Chromium, by the DevTools protocol over a pair of pipes."""

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60.0
"""How long an answer may take; a machine that runs other tests is slow."""

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # containers run as root; only pages of the viewer are opened
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-extensions",
    "--disable-sync",
    "--mute-audio",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1440,900",
)


def find_chromium() -> str | None:
    """The path of an installed Chromium; `None` if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A running Chromium. Messages end with a zero byte; descriptors 3 and 4 are its ends of the pipes."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        arguments = " ".join([program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"])
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec 3<&{read} 4>&{write}; exec {arguments}"],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read)
        os.close(write)
        self._rest, self._numbers = b"", itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        """End the browser, and delete its profile."""
        with contextlib.suppress(OSError, TimeoutError, RuntimeError):
            self.send("Browser.close")
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self._profile, ignore_errors=True)

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command, and wait for its answer. Events that arrive before are kept in `events`."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        os.write(self._write, json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        deadline = time.monotonic() + SECONDS
        while (answer := self._receive(deadline)).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError("Chromium did not answer.")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium has ended.")
            self._rest += part
        first, _, self._rest = self._rest.partition(b"\0")
        return json.loads(first)

    def tab(self, address: str = "about:blank") -> "Tab":
        """Open a tab."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.send(f"{domain}.enable")
        if address != "about:blank":
            tab.open(address)
        return tab


class Tab:
    """One tab."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command to the tab."""
        return self._browser.send(method, self._session, **parameters)

    def open(self, address: str) -> None:
        """Go to an address."""
        self.send("Page.navigate", url=address)

    def close(self) -> None:
        """Close the tab."""
        self._browser.send("Target.closeTarget", targetId=self._target)

    def value(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wait(self, expression: str, seconds: float = SECONDS) -> Any:
        """Wait until an expression is true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(AssertionError):  # the page is still loading
                if (found := self.value(expression)) not in (None, False, 0, ""):
                    return found
            time.sleep(0.03)
        raise AssertionError(
            f"never true: {expression}; the page shows: {self.value('document.body.innerText')[:2000]}"
        )

    def click(self, selector: str) -> None:
        """Click the middle of an element, as a person does."""
        box = self.wait(
            f"""(() => {{ const found = document.querySelector({json.dumps(selector)});
            if (!found) return null; found.scrollIntoView({{block: "center"}});
            const box = found.getBoundingClientRect();
            return box.width ? [box.x + box.width / 2, box.y + box.height / 2] : null; }})()"""
        )
        self.point(*box)

    def point(self, x: float, y: float) -> None:
        """Click a point."""
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def move(self, x: float, y: float, buttons: int = 0) -> None:
        """Move the mouse."""
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=buttons)

    def press(self, key: str, text: str = "") -> None:
        """Press a key."""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Another window, and a light or dark theme of the system."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)

    def picture(self) -> bytes:
        """A picture of the window, as a PNG file."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def screenshot(self, path: Path) -> None:
        """Write a picture of the window."""
        path.write_bytes(self.picture())

    def complaints(self) -> list[str]:
        """Errors that the page has reported so far: exceptions, and what the content security policy refused."""
        self.value("0")
        mine = [each for each in self._browser.events if each.get("sessionId") == self._session]
        thrown = [each["params"] for each in mine if each["method"] == "Runtime.exceptionThrown"]
        logged = [each["params"]["entry"] for each in mine if each["method"] == "Log.entryAdded"]
        return [each["exceptionDetails"]["exception"].get("description", "thrown") for each in thrown] + [
            each["text"] for each in logged if each["level"] == "error"
        ]

    def requests(self) -> list[str]:
        """The addresses that the tab has asked for so far."""
        mine = [each for each in self._browser.events if each.get("sessionId") == self._session]
        sent = [each for each in mine if each["method"] == "Network.requestWillBeSent"]
        return [each["params"]["request"]["url"] for each in sent]
