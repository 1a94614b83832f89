"""A real browser, driven headless over Chromium's DevTools protocol, spoken through a pipe.

Messages are JSON, each ended by a zero byte, on the file descriptors 3 (to the browser) and 4 (from
it), so that no port is opened and nothing but the standard library is needed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 30.0  # seconds for anything to happen
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
    *("--disable-component-update", "--disable-dev-shm-usage", "--force-color-profile=srgb"),
    *("--remote-debugging-pipe", "--font-render-hinting=none"),
)


def find() -> str | None:
    """The browser's program, None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Pipe:
    """Messages to and from the browser."""

    to: int
    back: int
    _rest: bytes = b""
    _next: int = 0

    def send(self, method: str, params: dict[str, Any], session: str | None) -> int:
        self._next += 1
        message: dict[str, Any] = {"id": self._next, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        return self._next

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message, None where there is none in time."""
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                return None
            more = os.read(self.back, 1 << 20)
            if not more:
                raise RuntimeError("the browser is gone")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))


@dataclass
class Tab:
    """One page: what it logged as an error, what it asked the network for, and what to do in it."""

    pipe: Pipe
    session: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    _seen: list[str] = field(default_factory=list)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a command."""
        number = self.pipe.send(method, params, self.session)
        end = time.monotonic() + PATIENCE
        while True:
            message = self.pipe.receive(end - time.monotonic())
            if message is None:
                raise TimeoutError(f"no answer to {method}")
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        """Keep what a test may ask about."""
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.errors.append(str(details.get("exception", {}).get("description", details)))
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "assert"):
                self.errors.append(str([arg.get("value", arg) for arg in params["args"]]))
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.errors.append(str(params["entry"]["text"]))
            case "Network.requestWillBeSent":
                self.requests.append(str(params["request"]["url"]))
            case "Page.javascriptDialogOpening":
                self.dialogs.append(str(params["message"]))
                self.pipe.send("Page.handleJavaScriptDialog", {"accept": True}, self.session)
            case str() as method:
                self._seen.append(method)

    def open(self, url: str) -> float:
        """Load a page; the seconds until its load event."""
        self._seen.clear()
        began = time.monotonic()
        self.call("Page.navigate", url=url)
        end = began + PATIENCE
        while "Page.loadEventFired" not in self._seen:
            message = self.pipe.receive(max(end - time.monotonic(), 0.0))
            if message is None:
                raise TimeoutError(f"{url} did not load")
            self._note(message)
        return time.monotonic() - began

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise's, once it has one."""
        found = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise RuntimeError(str(details.get("exception", {}).get("description", details)))
        return found["result"].get("value")

    def until(self, expression: str, *, seconds: float = PATIENCE) -> Any:
        """The expression's value once it is true."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(expression)
            if value not in (None, False, "", 0):  # an element comes as {}
                return value
            if time.monotonic() > end:
                raise TimeoutError(f"not so within {seconds:g} s: {expression}")
            time.sleep(0.05)

    def size(self, width: int, height: int, *, scale: float = 1.0) -> None:
        """The size of the window in pixels; a narrow one is a telephone's."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 640,
        )

    def theme(self, scheme: str, *, media: str = "") -> None:
        """'light' or 'dark', and 'print' for ``media``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def draw_all(self) -> None:
        """Scroll through the page so that every chart is drawn."""
        self.run(
            """(async () => {
              for (const place of document.querySelectorAll(".chart")) {
                place.scrollIntoView();
                for (let i = 0; i < 400 && !place.dataset.drawn; i++)
                  await new Promise((done) => setTimeout(done, 20));
              }
              scrollTo(0, 0);
            })()"""
        )

    def hover(self, selector: str) -> None:
        """Move the mouse onto the middle of the first element that matches."""
        at = self.run(
            f"""(() => {{
              const found = document.querySelector({json.dumps(selector)});
              found.scrollIntoView({{block: "center"}});
              const box = found.getBoundingClientRect();
              return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        for shift in (3, 0):  # Vega listens to movement
            self.call(
                "Input.dispatchMouseEvent", type="mouseMoved", x=at[0] + shift, y=at[1] + shift
            )

    def screenshot(self, path: Path, *, whole: bool = True, clip: Any = None) -> None:
        """A PNG of the window, or of the whole page."""
        params: dict[str, Any] = {"format": "png", "captureBeyondViewport": whole}
        if clip is not None:
            params["clip"] = {**clip, "scale": 1}
        elif whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            params["clip"] = {
                "x": 0,
                "y": 0,
                "scale": 1,
                **{k: size[k] for k in ("width", "height")},
            }
        data = self.call("Page.captureScreenshot", **params)["data"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        """The page as it would be printed."""
        data = self.call(
            "Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69
        )
        path.write_bytes(base64.b64decode(data["data"]))


@contextmanager
def browser() -> Iterator[Pipe]:
    """A browser of its own, gone afterwards."""
    program = find()
    if program is None:
        raise FileNotFoundError("no chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        read_3, write_3 = os.pipe()
        read_4, write_4 = os.pipe()

        def connect() -> None:
            # Through free numbers first: an end may already be called 3 or 4.
            ends = os.dup2(read_3, 93), os.dup2(write_4, 94)
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_3)
        os.close(write_4)
        try:
            yield Pipe(write_3, read_4)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(write_3)
            os.close(read_4)


@contextmanager
def tab(pipe: Pipe, *, width: int = 1280, height: int = 900, scale: float = 1.0) -> Iterator[Tab]:
    """A new page with its own log."""
    root = Tab(pipe, "")
    target = root.call("Target.createTarget", url="about:blank")["targetId"]
    session = root.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    made = Tab(pipe, session)
    for domain in ("Page", "Runtime", "Log", "Network"):
        made.call(f"{domain}.enable")
    made.size(width, height, scale=scale)
    made.theme("light")
    try:
        yield made
    finally:
        root.call("Target.closeTarget", targetId=target)
