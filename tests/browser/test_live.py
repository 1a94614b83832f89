"""The live page in a real browser: what happens in the study appears without a reload."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lawsmith.report import Memory, Record, cards_of, find_all, live_source
from lawsmith.report.live.watch import new_board

from ..conftest import extra
from ..report import sources
from ..report.live.serving import put_all, served, serving
from .chromium import tab as new_tab

extra("starlette")
extra("uvicorn")


@pytest.fixture
def study(tmp_path):
    return sources.live_study(tmp_path / "study", n_runs=7)


def test_a_finished_run_appears_and_the_answer_follows(tab, study):
    with served(study) as site:
        tab.open(site.url)
        tab.until("document.getElementById('card-answer')?.textContent.includes('7 runs')")
        tab.run("globalThis.same = true")
        name = sources.run_one(study)
        tab.until(f"document.getElementById('table-runs').textContent.includes('{name}')")
        tab.until("document.getElementById('card-answer').textContent.includes('8 runs')")
        assert tab.run("globalThis.same") is True  # the page was not loaded again
        assert tab.errors == []
        assert all(url.startswith((site.url, "data:", "blob:")) for url in tab.requests)


def test_cards_stay_in_order_and_a_failure_gets_its_own(tab, study):
    with served(study) as site:
        tab.open(site.url)
        tab.until("document.getElementById('card-record')")
        sources.fail_one(study, f"step 3\n{sources.ATTACK}\n")
        tab.until("document.getElementById('card-failures')")
        order = tab.run("[...document.querySelectorAll('.card')].map((c) => c.id)")
        assert order[:4] == ["card-answer", "card-progress", "card-next", "card-failures"]
        text = tab.run("document.getElementById('card-failures').textContent")
        assert sources.ATTACK in text
        assert tab.dialogs == []
        assert tab.errors == []


def test_a_filter_survives_news(tab, study):
    with served(study) as site:
        tab.open(site.url)
        tab.until("document.querySelector('.runs input')")
        tab.run(
            """(() => {
              const input = document.querySelector(".runs input");
              input.focus();
              input.value = "finished";
              input.dispatchEvent(new Event("input", {bubbles: true}));
            })()"""
        )
        name = sources.run_one(study)
        tab.until(f"document.getElementById('table-runs').textContent.includes('{name}')")
        assert tab.run("document.querySelector('.runs input').value") == "finished"
        assert tab.run("document.activeElement === document.querySelector('.runs input')")


def test_a_server_that_is_gone_is_told(tab, study):
    with served(study) as site:
        tab.open(site.url)
        tab.until("document.getElementById('state').textContent.startsWith('live')")
    tab.until("document.getElementById('state').classList.contains('lost')")
    assert "may be old" in tab.run("document.getElementById('state').textContent")


N_UPDATES = 10
HEIGHTS = """Object.fromEntries([...document.querySelectorAll(".chart, .chart summary, h2, .lead")]
  .map((e) => [(e.closest(".chart")?.dataset.name ?? e.closest(".card").id) + " " + e.tagName,
               e.getBoundingClientRect().height]))"""
LINKS = "[...document.querySelectorAll('nav.contents a')].map((a) => a.getAttribute('href'))"
# Where a card begins below the line that links land on, and what is left to scroll.
LANDED = """(id) => {
  const card = document.getElementById(id);
  const line = parseFloat(getComputedStyle(card).scrollMarginTop);
  const left = document.documentElement.scrollHeight - innerHeight - scrollY;
  return [card.getBoundingClientRect().top - line, left];
}"""
# No chart near the screen waits to be drawn.
STILL = """[...document.querySelectorAll(".chart")].every((c) => {
  const {top, bottom} = c.getBoundingClientRect();
  return c.dataset.drawn || bottom < -600 || top > innerHeight + 600;
})"""


def test_over_ten_updates_nothing_grows_and_every_link_lands_on_its_card(browser, study):
    ledger = study.read()
    found, board = find_all(study, ledger, Memory(), n_next=1), new_board()
    put_all(board, cards_of(live_source(study, ledger, found, Record())))
    with (
        serving(board, "small") as site,
        new_tab(browser) as wide,
        new_tab(browser, width=390) as narrow,
    ):
        before = {}
        for tab in (wide, narrow):
            tab.open(site.url)
            tab.draw_all()
            before[tab.page] = tab.run(HEIGHTS), tab.run("document.documentElement.scrollHeight")
        for i in range(N_UPDATES):
            sources.run_one(study)
            update(board, live_source(study, study.read(), found, Record()), i)
            for tab in (wide, narrow):
                tab.until(f"document.getElementById('card-record').textContent.includes('({i})')")
                heights, whole = before[tab.page]
                check_heights(tab, heights, whole + 200 + 40 * N_UPDATES)  # a row a run
                check_links(tab, i)
                assert tab.errors == []


def check_heights(tab, before: dict[str, float], most: float) -> None:
    """A chart may gain a row of its legend or a run in parallel; an icon is 14 pixels high."""
    tab.until(STILL)
    grown = {k: v for k, v in tab.run(HEIGHTS).items() if v > before.get(k, 0) + 60}
    assert grown == {}
    assert tab.run("document.documentElement.scrollHeight") < most


def check_links(tab, i: int) -> None:
    """Two links, other ones each time, up and down the page."""
    links = tab.run(LINKS)
    assert len(links) >= 12
    for link in (links[(5 * i) % len(links)], links[(-3 * i) % len(links)]):
        tab.page.click(f"nav.contents a[href='{link}']")
        tab.until(STILL)
        top, left = tab.page.evaluate(LANDED, link.removeprefix("#"))
        assert abs(top) < 3 or (top > 0 and left < 3), (i, link, top, left)


def update(board, source, i: int) -> None:
    """All cards change: some in what they show, the others in their words alone."""
    own = {card.name: card for card in cards_of(source, ("progress", "runs", "timeline"))}
    cards = [own.get(shown.card.name, shown.card) for shown in board._shown.values()]
    told = [replace(card, lead=f"{card.lead.partition(' (')[0]} ({i})") for card in cards]
    put_all(board, told)


def test_what_is_read_stays_in_its_place_while_cards_above_it_grow(tab, study):
    board = new_board()
    ledger = study.read()
    source = live_source(study, ledger, find_all(study, ledger, Memory(), n_next=0), Record())
    cards = cards_of(source, ("progress", "law", "runs", "record"))
    put_all(board, cards)
    with serving(board, "small") as site:
        tab.open(site.url)
        tab.draw_all()
        tab.page.click("nav.contents a[href='#card-runs']")
        tab.until(STILL)
        top = "document.getElementById('card-runs').getBoundingClientRect().top"
        before = tab.run(top)
        long = replace(cards[0], lead="A long story. " * 200)
        board.put("progress", long)
        tab.until("document.getElementById('card-progress').textContent.includes('long story')")
        assert tab.run(top) == pytest.approx(before, abs=2)
        link = tab.run("document.querySelector('nav.contents [aria-current]').hash")
        assert link == "#card-runs"
