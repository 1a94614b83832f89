"""Make the screenshots of docs/report.md with a real browser, so that they stay true.

LAWSMITH_DATA=… python docs/screenshots.py      # needs chromium, and the extra serve for the last
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures" / "report"
sys.path.insert(0, str(DOCS.parent))

from tests.browser.chromium import Tab, browser, tab  # noqa: E402

LAWSMITH = [sys.executable, "-m", "lawsmith"]
STUDY, TARGET = "oellm-english", "1e25"
WIDE, TALL = 900, 1560  # of one report beside another, in pixels


def main() -> None:
    FIGURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browser() as opened:
        folder = Path(name)
        page = folder / "table.html"
        lawsmith("report", STUDY, "--target", TARGET, "-o", str(page))
        table(opened, page)
        budgets(opened, folder, page)
        live(opened, folder)


def table(opened: Any, page: Path) -> None:
    """The report on the whole study: on a page, in the dark, on a telephone."""
    shot(opened, page, FIGURES / "table.png", 1280, 1500)
    shot(opened, page, FIGURES / "dark.png", 1280, 1500, scheme="dark")
    shot(opened, page, FIGURES / "telephone.png", 390, 1500)


def budgets(opened: Any, folder: Path, whole: Path) -> None:
    """The report after a search with 1 % of the compute, beside that on the whole study."""
    out = folder / "replay"
    lawsmith("replay", STUDY, "--target", TARGET, "--budget", "1%", "--out", str(out))
    lawsmith("report", str(out), "-o", str(out / "report.html"))
    pages = {"1% of the compute": out / "report.html", "all of it": whole}
    shots = {
        text: shot(opened, page, folder / f"{page.stem}.png", WIDE, TALL)
        for text, page in pages.items()
    }
    heads = "".join(
        f"<figure><figcaption>{html.escape(text)}</figcaption><img src='{path.as_uri()}'></figure>"
        for text, path in shots.items()
    )
    both = folder / "both.html"
    both.write_text(
        "<style>body{margin:0;display:flex;gap:2px;background:#888;font:600 22px sans-serif}"
        "figure{margin:0;background:#fff}figcaption{padding:14px 24px;background:#eef2f6}"
        f"img{{display:block;width:{WIDE}px}}</style>{heads}",
        encoding="utf-8",
    )
    shot(opened, both, FIGURES / "budgets.png", 2 * WIDE + 2, TALL + 55)


def live(opened: Any, folder: Path) -> None:
    """The live page of examples/local while it runs."""
    study = folder / "local"
    shutil.copytree(DOCS.parent / "examples" / "local", study)
    trainer = study / "train.py"  # as quick as it is, the page would be over before it is seen
    slow = "def main() -> None:\n    __import__('time').sleep(9)\n"
    trainer.write_text(trainer.read_text().replace("def main() -> None:\n", slow))
    run = subprocess.Popen(
        [*LAWSMITH, "run", "study.toml"],
        cwd=study,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    serve = subprocess.Popen(
        [*LAWSMITH, "serve", "study.toml"],
        cwd=study,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert serve.stdout is not None
        with tab(opened, width=1280, height=1500) as page:
            page.open(serve.stdout.readline().strip())
            page.until(f"{says('answer', 'asked for 2[0-9] runs')} && {SETTLED}", seconds=400)
            page.until("document.querySelector('#figure-answer .chart[data-drawn]')")
            capture(page, FIGURES / "live.png", 1280, 1500)
    finally:
        for process in (serve, run):
            process.terminate()
            process.wait(30)


def says(card: str, text: str) -> str:
    """In the page: whether a card holds a text, given as a regular expression."""
    return f"/{text}/.test(document.getElementById('card-{card}')?.innerText)"


SETTLED = f"{says('answer', 'from all')} && {says('next', 'expected loss')}"


def shot(
    opened: Any, page: Path, path: Path, width: int, height: int, *, scheme: str = "light"
) -> Path:
    """The top of a page as PNG."""
    with tab(opened, width=width, height=height) as found:
        found.theme(scheme)
        found.open(page.as_uri())
        if found.run("document.querySelectorAll('.chart').length"):
            found.draw_all()
        capture(found, path, width, height)
    return path


def capture(page: Tab, path: Path, width: int, height: int) -> None:
    time.sleep(0.3)  # for the last frame
    page.page.screenshot(path=path, clip={"x": 0, "y": 0, "width": width, "height": height})


def lawsmith(*words: str) -> None:
    subprocess.run([*LAWSMITH, *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
