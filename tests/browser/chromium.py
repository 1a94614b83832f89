"""A real browser, headless, driven by Playwright: Debian's Chromium, or another on the path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # it may be absent: the tests are then skipped
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 120.0  # seconds for anything to happen, also on a busy machine
FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb")
DRAW_ALL = """async () => {
  for (const place of document.querySelectorAll(".chart")) {
    place.scrollIntoView();
    for (let i = 0; i < 400 && !place.dataset.drawn; i++)
      await new Promise((done) => setTimeout(done, 20));
  }
  scrollTo(0, 0);
}"""


def find() -> str | None:
    """The browser's program; None where it or Playwright is missing."""
    if find_spec("playwright") is None:
        return None
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@dataclass
class Tab:
    """One page, with what it logged as an error, what it requested, and the dialogs it opened."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Keep what the page does from now on."""
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self._dismiss)

    def _note(self, message: Any) -> None:
        if message.type in ("error", "assert"):
            self.errors.append(message.text)

    def _dismiss(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, url: str) -> None:
        """Load a page, up to its load event."""
        self.page.goto(url)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; of a promise once it has one."""
        return self.page.evaluate(expression)

    def until(self, expression: str, *, seconds: float = PATIENCE) -> Any:
        """The value of an expression once it is true."""
        found = self.page.wait_for_function(expression, timeout=1000 * seconds, polling=50)
        return found.json_value()

    def theme(self, scheme: Any) -> None:
        """'light' or 'dark'."""
        self.page.emulate_media(color_scheme=scheme)

    def draw_all(self) -> None:
        """Scroll through the page so that every chart is drawn."""
        self.page.evaluate(DRAW_ALL)

    def hover(self, selector: str) -> None:
        """Move the mouse onto the middle of the first element that matches."""
        found = self.page.locator(selector).first
        found.evaluate("(element) => element.scrollIntoView({block: 'center'})")
        box = found.bounding_box()
        assert box is not None, selector
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x + 3, y + 3)  # Vega listens to movement
        self.page.mouse.move(x, y)

    def pdf(self, path: Path) -> None:
        """The page as it would be printed."""
        self.page.pdf(path=path, format="A4", print_background=True)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser, closed at the end. While it is open, this thread can run no event loop."""
    from playwright.sync_api import sync_playwright

    program = find()
    if program is None:
        raise FileNotFoundError("no chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield found
        finally:
            found.close()


@contextmanager
def tab(opened: Browser, *, width: int = 1280, height: int = 900) -> Iterator[Tab]:
    """A new page with nothing remembered; a narrow one is a telephone's."""
    size: Any = {"width": width, "height": height}
    # A browser for telephones: the viewport is then as wide as the page's meta tag says.
    with opened.new_context(viewport=size, is_mobile=width < 640) as context:
        context.set_default_timeout(1000 * PATIENCE)
        made = Tab(context.new_page())
        made.listen()
        made.theme("light")
        yield made
