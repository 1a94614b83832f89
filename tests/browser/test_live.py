"""The live page in a real browser: what happens in the study appears without a reload."""

from __future__ import annotations

import pytest

from ..conftest import extra
from ..report import sources
from ..report.live.serving import served

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
        tab.until("document.querySelectorAll('.card').length === 14")
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
