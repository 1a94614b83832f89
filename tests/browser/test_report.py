"""The report in a real browser: nothing fails, nothing is fetched, everything answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lawsmith.datasets import demo_study
from lawsmith.formats import count, flops
from lawsmith.report import CARDS

from ..report.sources import ATTACK
from .chromium import tab as new_tab

WORDS = "[...document.querySelectorAll('#table-runs tbody tr')].map((r) => r.cells[{}].textContent)"
POINT = "#figure-answer .chart .mark-symbol path[aria-label]"


def cells(tab, column: int) -> list[str]:
    return tab.run(WORDS.format(column))


@pytest.mark.parametrize("name", ["table", "replay", "attack"])
def test_a_page_opens_without_an_error_or_a_request_that_leaves_the_file(tab, pages, name):
    tab.open(pages[name].as_uri())
    tab.draw_all()
    assert tab.errors == []
    assert tab.dialogs == []
    outside = [url for url in tab.requests if not url.startswith(("data:", "blob:"))]
    assert outside == [pages[name].as_uri()]


@pytest.mark.parametrize("name", ["table", "replay"])
def test_every_card_is_there_and_every_chart_is_drawn(tab, pages, name):
    tab.open(pages[name].as_uri())
    found = tab.run("[...document.querySelectorAll('.card')].map((c) => c.id)")
    # Of live studies alone, and of tasks and curves, which were not asked for.
    others = ["progress", "next", "failures", "tasks", "along"]
    # A table does not tell the order of its runs; the last card says so.
    others += ["spend", "timeline"] if name == "table" else []
    last = ["card-absent"] if name == "table" else []
    assert found == [f"card-{n}" for n in CARDS if n not in others] + last
    tab.draw_all()
    charts = tab.run(
        "[...document.querySelectorAll('.chart')].map((c) => c.querySelectorAll('svg path').length)"
    )
    assert len(charts) >= 8
    assert min(charts) > 2


def test_hovering_shows_the_run(tab, pages):
    tab.open(pages["table"].as_uri())
    tab.until("document.querySelector('#figure-answer .chart[data-drawn] svg')")
    tab.run("document.querySelector('#figure-answer').scrollIntoView()")
    tab.hover("#figure-answer .chart svg g.mark-symbol path")
    text = tab.until("document.querySelector('#vg-tooltip-element.visible')?.innerText")
    for word in ("N", "D", "C", "lr", "batch", "loss"):
        assert word in text


def test_a_click_on_a_head_sorts_and_another_turns_it_round(tab, pages):
    tab.open(pages["table"].as_uri())
    runs = demo_study().runs
    n = len(runs)
    assert cells(tab, 0) == [str(i) for i in range(1, 51)]
    heads = tab.run("[...document.querySelectorAll('#table-runs th')].map((h) => h.textContent)")
    at = heads.index("loss")
    tab.run(f"document.querySelectorAll('#table-runs th button')[{at}].click()")
    least = np.sort(runs.loss[np.isfinite(runs.loss)])
    assert [float(x) for x in cells(tab, at)] == pytest.approx(least[:50], abs=1e-4)
    tab.run(f"document.querySelectorAll('#table-runs th button')[{at}].click()")
    assert [float(x) for x in cells(tab, at)] == pytest.approx(least[::-1][:50], abs=1e-4)
    order = "[...document.querySelectorAll('#table-runs th')][{}].getAttribute('aria-sort')"
    assert tab.run(order.format(at)) == "descending"
    assert tab.run("document.querySelector('.runs output').textContent") == f"{n} runs"


def filtered(tab, text: str) -> str:
    """Type into the filter; what is said of the result."""
    return tab.run(
        f"""(() => {{
          const input = document.querySelector(".runs input");
          input.value = {json.dumps(text)};
          input.dispatchEvent(new Event("input", {{bubbles: true}}));
          return document.querySelector(".runs output").textContent;
        }})()"""
    )


def test_the_filter_takes_words_and_comparisons(tab, pages):
    tab.open(pages["table"].as_uri())
    study = demo_study()
    N, lr = (study.grid.numbers(name)[study.runs.index] for name in ("N", "lr"))
    n, diverged = len(study.runs), (study.runs.state == "diverged").sum()
    assert filtered(tab, "diverged") == f"{diverged} of {n} runs"
    some = float(np.unique(lr)[2])
    assert filtered(tab, f"lr>={some:g}") == f"{(lr >= some * (1 - 1e-9)).sum()} of {n} runs"
    both = (N < 3e8) & (study.runs.state == "diverged")
    assert filtered(tab, "N<300M state=diverged") == f"{both.sum()} of {n} runs"
    assert filtered(tab, "no such run") == f"0 of {n} runs"
    assert filtered(tab, "") == f"{n} runs"


def test_pages_of_runs_can_be_turned(tab, pages):
    tab.open(pages["table"].as_uri())
    tab.run("document.querySelector('.pages [data-step=\"1\"]').click()")
    assert cells(tab, 0)[0] == "51"
    assert (
        tab.run("document.querySelector('.pages span').textContent")
        == f"51–100 of {len(demo_study().runs)}"
    )
    filtered(tab, "diverged")
    assert tab.run("document.querySelector('.pages [data-step=\"-1\"]').disabled")


def test_numbers_read_as_lawsmith_writes_them(tab, pages):
    tab.open(pages["table"].as_uri())
    study = demo_study()
    rows = study.runs.index[:50]
    assert cells(tab, 2) == [count(value) for value in study.grid.N[rows]]
    assert cells(tab, 3) == [count(value) for value in study.grid.D[rows]]
    assert cells(tab, 4) == [flops(value) for value in study.grid.C[rows]]


def test_text_like_a_script_stays_text_everywhere(tab, pages):
    tab.open(pages["attack"].as_uri())
    tab.draw_all()
    assert tab.run("document.querySelector('h1').textContent") == ATTACK
    assert ATTACK in cells(tab, 5)
    assert set(cells(tab, 0)) == {ATTACK}
    n_scripts = "document.querySelectorAll('main script:not([type=\"application/json\"])').length"
    assert tab.run(n_scripts) == 0
    tab.hover("#figure-answer .chart svg g.mark-symbol path")
    text = tab.until("document.querySelector('#vg-tooltip-element.visible')?.innerText")
    assert "alert(1)" in text
    assert tab.run("document.querySelectorAll('#vg-tooltip-element script').length") == 0
    assert tab.dialogs == []
    assert tab.errors == []


def test_the_page_follows_the_readers_theme(tab, pages):
    tab.open(pages["table"].as_uri())
    drawn = "document.querySelector('#figure-answer .chart').dataset.drawn"
    back = "getComputedStyle(document.body).backgroundColor"
    tab.until(f"{drawn} === 'light'")
    light = tab.run(back)
    tab.theme("dark")
    tab.until(f"{drawn} === 'dark'")
    assert tab.run(back) != light
    assert tab.errors == []


def test_printing_draws_every_chart_for_paper(tab, pages, tmp_path):
    tab.theme("dark")
    tab.open(pages["table"].as_uri())
    # Behind the page's own listener: what is there now is what will be printed.
    tab.run(
        """addEventListener("beforeprint", () => {
          globalThis.printed = [...document.querySelectorAll(".chart")]
            .map((c) => [c.dataset.drawn, c.querySelectorAll("svg path").length > 2]);
        })"""
    )
    tab.pdf(tmp_path / "page.pdf")
    printed = tab.run("printed")
    assert len(printed) >= 8
    assert all(one == ["print", True] for one in printed)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", ["table", "replay"])
@pytest.mark.parametrize("width", [390, 760, 1280])
def test_nothing_is_wider_than_the_window(browser, pages, name, width):
    with new_tab(browser, width=width) as tab:
        tab.open(pages[name].as_uri())
        tab.draw_all()
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert tab.errors == []


@pytest.mark.parametrize(
    ("name", "width", "scheme"), [("table", 1280, "light"), ("replay", 390, "dark")]
)
def test_axe_finds_nothing_that_keeps_a_reader_out(browser, pages, name, width, scheme):
    """Deque's rules: names for screen readers, contrast, landmarks, headings, tables."""
    from axe_playwright_python.sync_playwright import Axe

    with new_tab(browser, width=width) as tab:
        tab.theme(scheme)
        tab.open(pages[name].as_uri())
        tab.draw_all()
        found = Axe().run(tab.page).response
        assert len(found["passes"]) > 20
        assert {v["id"]: v["nodes"][0]["html"] for v in found["violations"]} == {}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_contents_stay_in_sight_and_name_the_card_being_read(browser, pages, width):
    with new_tab(browser, width=width) as tab:
        tab.open(pages["table"].as_uri())
        tab.page.click("nav.contents a[href='#card-runs']")
        tab.until("document.querySelector('nav.contents [aria-current]').hash === '#card-runs'")
        box = tab.page.locator("nav.contents [aria-current]").bounding_box()
        assert 0 <= box["y"] < 900
        assert 0 <= box["x"] < width


def test_every_warning_of_the_page_is_linked_from_the_answer(tab, pages):
    tab.open(pages["table"].as_uri())
    links = set(tab.run("[...document.querySelectorAll('#card-answer p a')].map((a) => a.hash)"))
    places = "[...document.querySelectorAll('.cautions')].map((c) => '#' + c.closest('.card').id)"
    assert set(tab.run(places)) - {"#card-answer"} == links
    assert links


def test_on_a_telephone_tables_scroll_in_their_frames(browser, pages):
    with new_tab(browser, width=390) as tab:
        tab.open(pages["table"].as_uri())
        frame = "document.querySelector('#table-runs').parentNode"
        assert tab.run(f"{frame}.scrollWidth > {frame}.clientWidth")
        tab.run(f"{frame}.scrollLeft = 200")
        assert tab.run(f"{frame}.scrollLeft") == 200
        cell = "document.querySelector('#table-runs tbody td')"  # the run's name stays in sight
        assert 0 <= tab.run(f"{cell}.getBoundingClientRect().left") < 40
