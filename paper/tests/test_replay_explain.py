"""`lawsmith-paper replay --explain`: its page, what it is refused for; plain policies."""

from __future__ import annotations

import json
import re

import pytest

from lawsmith.datasets import load
from lawsmith.laws.catalogue import LC
from lawsmith.policies import make_policy
from lawsmith.replay import prepare
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith_paper.outlook import outlook_after

SHORT = ("--iterations", 14, "--n-init", 6, "--target", "1e22")


def told_in(page) -> dict:
    return json.loads(re.search(r"const told = (.*);\n", page.read_text(encoding="utf-8"))[1])


def test_the_page_tells_the_replay_that_is_reported(lawsmith_paper, sweep, tmp_path):
    page = tmp_path / "new" / "page.html"
    result = lawsmith_paper("replay", sweep, *SHORT, "--json", "--explain", page)
    assert result.code == 0
    assert str(page) in result.err
    assert result.json["settings"]["policy"] == "frontier"
    told = told_in(page)
    assert [frame["n"] for frame in told["frames"]] == [0, *range(6, 15)]
    assert told["runs"]["columns"]["C"] == pytest.approx(
        [step["compute"] for step in result.json["trace"]], rel=1e-5
    )
    found = told["frames"][-1]["data"]["target"]["columns"]
    rows = [step["candidate"] for step in result.json["trace"]]
    task = prepare(load(str(sweep)), LC, targets=[1e22])
    policy = make_policy("frontier", make_surrogate("surface"), n_init=6, target=1e22)
    runs = Runs.from_losses(rows, task.loss[rows])
    seed = result.json["seed"]
    expected = outlook_after(task, policy, runs, (1e22,), seed=seed).predictions[0]
    assert found["fitted"][0] == pytest.approx(expected.loss, rel=1e-5)
    for kind in ("pool", "truth"):
        ends = [found[f"{kind}_{end}"][0] for end in ("low", "high")]
        interval = getattr(expected, kind)
        assert ends == pytest.approx([interval.low, interval.high], rel=1e-4)


@pytest.mark.parametrize(
    "more", [("--budget", "40%"), ("--trunk-decay", "0.2"), ("--stop-when", "loss@1e22 within 1%")]
)
def test_every_choice_is_the_best_by_its_value_whatever_ends_or_prices_it(
    lawsmith_paper, sweep, tmp_path, more
):
    page = tmp_path / "page.html"
    words = ("--n-init", 6, "--iterations", 12, "--target", "1e22")
    assert lawsmith_paper("replay", sweep, *words, *more, "--explain", page).code == 0
    searched = [f for f in told_in(page)["frames"] if f["words"]["next"]]
    assert searched
    for frame in searched:
        chooses = [
            value
            for value in ("envelope", "answer")
            if frame["data"][f"head-{value}"]["columns"]["text"][0].endswith(": chooses")
        ]
        cells = frame["data"][chooses[0]]["columns"]
        shares = dict(zip(zip(cells["N"], cells["D"], strict=True), cells["share"], strict=True))
        chosen = frame["data"]["chosen"]["columns"]
        # Shares have three digits, so that two cells may have the largest.
        assert shares[chosen["N"][0], chosen["D"][0]] == max(shares.values())


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--policy", "window"], "--explain: got --policy window, want --policy frontier"),
        (
            ["--surrogate", "xgboost"],
            "--explain: got --surrogate xgboost, want --surrogate surface",
        ),
    ],
)
def test_a_search_that_it_cannot_tell_is_refused_before_the_work(
    lawsmith_paper, sweep, tmp_path, words, error
):
    result = lawsmith_paper("replay", sweep, *words, "--explain", tmp_path / "page.html")
    assert (result.code, result.out) == (2, "")
    assert error in result.err
    assert not (tmp_path / "page.html").exists()


def test_a_folder_is_no_page(lawsmith_paper, sweep, tmp_path):
    result = lawsmith_paper("replay", sweep, "--explain", tmp_path)
    assert result.code == 2
    assert "a folder, want a file such as page.html" in result.err


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("random", "random, 6 initial runs; seed 0"),
        ("cheapest", "cheapest+none, 6 initial runs; seed 0"),
        ("vopt", "vopt+none, 6 initial runs; seed 0"),
    ],
)
def test_plain_policies_are_called_what_they_are(lawsmith_paper, sweep, policy, words):
    result = lawsmith_paper("replay", sweep, *SHORT, "--policy", policy)
    assert result.code == 0
    assert words in result.text
    assert "observed + fantasized" not in result.text


def test_the_cheapest_are_run_in_the_order_of_their_compute(replay_json, sweep):
    trace = replay_json(sweep, "--policy", "cheapest", "--iterations", 20)["trace"]
    computes = [step["compute"] for step in trace]
    assert computes == sorted(computes)


def test_random_is_full_without_a_surrogate(replay_json, sweep):
    both = [
        replay_json(sweep, *SHORT, "--policy", *words)["trace"]
        for words in (["random"], ["full", "--surrogate", "none"])
    ]
    assert both[0] == both[1]


def test_a_plain_policy_may_have_its_other_runs_fantasized(lawsmith_paper, sweep):
    result = lawsmith_paper("replay", sweep, *SHORT, "--policy", "vopt", "--surrogate", "surface")
    assert "vopt+surface" in result.text
    assert "observed + fantasized" in result.text


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["random", "--surrogate", "gp"], "--surrogate: got 'gp' with --policy random"),
        (["cheapest", "--acquisition", "ei"], "--acquisition: got 'ei' with --policy cheapest"),
        (["vopt", "--reach", "2"], "--reach: got 2 with --policy vopt"),
    ],
)
def test_what_a_plain_policy_has_no_use_for_is_refused(lawsmith_paper, sweep, words, error):
    result = lawsmith_paper("replay", sweep, "--policy", *words)
    assert result.code == 2
    assert error in result.err
