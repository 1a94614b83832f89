"""The page of a search step by step in a browser: it moves, nothing fails, nothing is fetched."""

from __future__ import annotations

import pytest

from lawsmith.laws.catalogue import LC
from lawsmith.policies import make_policy
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.surrogates import make_surrogate
from lawsmith_paper.charts.data.discovery import discovery_data
from lawsmith_paper.charts.discovery import write_discovery
from tests.browser.chromium import tab as new_tab
from tests.replay.test_answering import made_study

N_RUNS = 12
DRAWN = "[...document.querySelectorAll('.chart')].every((c) => c.dataset.drawn === '{}')"
HEAD = "document.getElementById('head').textContent"
# Marks of runs on the plane carry the numbers of their tooltip.
RUNS = (
    "document.querySelectorAll('#section-plane path[aria-roledescription=point][aria-label*=run]')"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    task = prepare(made_study(), LC, targets=[1e22])

    def policy():
        return make_policy("frontier", make_surrogate("surface"), n_init=6, target=1e22)

    trace = run_replay(task, policy(), seed=2, stop=Stop(iterations=N_RUNS))
    folder = tmp_path_factory.mktemp("discovery")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAWSMITH_CACHE", str(folder / "cache"))
        return write_discovery(discovery_data(trace, policy()), folder / "page.html")


def opened(tab, page):
    tab.open(page.as_uri())
    tab.until(DRAWN.format(6))
    return tab


def click(tab, selector):
    tab.run(f"document.querySelector({selector!r}).click()")


def test_it_opens_at_the_first_law_without_an_error_or_a_request(tab, page):
    opened(tab, page)
    assert tab.run(HEAD).startswith("After 6 runs")
    assert (tab.errors, tab.dialogs) == ([], [])
    outside = [url for url in tab.requests if not url.startswith(("data:", "blob:"))]
    assert outside == [page.as_uri()]
    paths = "[...document.querySelectorAll('.chart')].map((c) => c.querySelectorAll('path').length)"
    assert len(tab.run(paths)) == 3
    assert min(tab.run(paths)) > 5


def test_buttons_and_the_slider_move_the_words_and_the_charts(tab, page):
    opened(tab, page)
    click(tab, "#following")
    tab.until(DRAWN.format(7))
    assert tab.run(HEAD).startswith("After 7 runs")
    click(tab, "#previous")
    tab.until(DRAWN.format(6))
    tab.run(
        "(() => { const s = document.getElementById('slider'); s.value = s.max; "
        "s.dispatchEvent(new Event('input')); })()"
    )
    tab.until(DRAWN.format(N_RUNS))
    assert tab.run(HEAD).endswith("the end")
    assert tab.run("document.getElementById('following').disabled") is True
    assert tab.errors == []


def test_the_plane_shows_as_many_runs_as_were_made(tab, page):
    opened(tab, page)
    before = tab.run(f"{RUNS}.length")
    click(tab, "#looks button:last-child")
    tab.until(DRAWN.format(N_RUNS))
    assert before == 6
    assert tab.run(f"{RUNS}.length") == N_RUNS


def test_the_number_of_a_run_leads_to_the_moment_it_was_chosen(tab, page):
    opened(tab, page)
    click(tab, "button[data-before='9']")
    tab.until(DRAWN.format(9))
    assert "Next, run 10:" in tab.run("document.getElementById('next').textContent")
    click(tab, "button[data-before='2']")
    tab.until(DRAWN.format(0))
    assert tab.run(HEAD) == "The first design"


def test_play_goes_on_by_itself(tab, page):
    opened(tab, page)
    click(tab, "#play")
    tab.until(DRAWN.format(8))
    click(tab, "#play")
    assert tab.run("document.getElementById('play').textContent") == "Play"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_telephone_nothing_is_wider_than_the_screen(browser, page, scheme):
    with new_tab(browser, width=390) as tab:
        tab.theme(scheme)
        opened(tab, page)
        assert tab.run("document.documentElement.scrollWidth") == 390
        assert tab.errors == []
