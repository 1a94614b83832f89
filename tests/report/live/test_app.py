"""The live page over HTTP: behind its token, read-only, for this machine alone."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from ...conftest import extra
from .. import sources
from .serving import served, wait

extra("starlette")
extra("uvicorn")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    study = sources.live_study(tmp_path_factory.mktemp("served"), n_runs=6)
    with served(study) as found:
        yield study, found


def get(url: str, *, method: str = "GET", **headers: str):
    """(status, headers, text) of an answer."""
    request = urllib.request.Request(url, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()


def test_the_page_is_there_with_its_token_only(site):
    _, found = site
    status, headers, text = get(found.url)
    assert status == 200
    assert 'id="card-runs"' in text
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    base, token, _ = found.url.rsplit("/", 2)
    assert len(token) >= 20
    for other in (f"{base}/", f"{base}/x/", f"{base}/{token}x/", f"{base}/x/cards?since=0"):
        status, _, text = get(other)
        assert (status, text) == (404, "there is nothing here\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(site, method):
    assert get(site[1].url, method=method)[0] == 405
    assert get(site[1].url + "cards", method=method)[0] == 405


def test_another_hosts_name_is_refused(site):
    assert get(site[1].url, Host="evil.example")[0] == 400


def test_newer_cards_come_as_soon_as_there_are_any(site):
    study, found = site
    told = json.loads(get(found.url + "cards?since=0")[2])
    assert {"runs", "progress"} <= set(told["order"])
    name = sources.run_one(study)
    wait(lambda: name in get(found.url + f"cards?since={told['revision']}")[2])


@pytest.mark.parametrize("since", ["", "-1", "abc", "9" * 30, "1.5", "%00"])
def test_a_revision_that_is_none_gets_everything(site, since):
    status, _, text = get(site[1].url + f"cards?since={since}")
    assert status == 200
    assert "answer" in json.loads(text)["order"] or json.loads(text)["cards"]


def test_every_page_has_a_token_of_its_own():
    from lawsmith.report.live.app import Site
    from lawsmith.report.live.watch import new_board

    assert len({Site(new_board(), "x").token for _ in range(50)}) == 50


def test_a_port_that_is_taken_is_told_in_one_line():
    from lawsmith.errors import LawsmithError
    from lawsmith.report.live.app import listen

    with listen("127.0.0.1", 0) as sock:
        taken = sock.getsockname()[1]
        with pytest.raises(LawsmithError, match="an address and port that are free"):
            listen("127.0.0.1", taken)
