"""`lawsmith-paper replay`: every rival, the paper's studies, and the combinations it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from paper.tests import tabpfn_stand_in

from lawsmith.cli.replay_options import CHOICES as OWN
from lawsmith_paper.cli.choices import CHOICES, further
from lawsmith_paper.cli.replay import RivalRequest
from lawsmith_paper.rivals import POLICIES, SURROGATES

SHORT = ("--n-init", 6, "--iterations", 9, "--target", "1e22")
WINDOW = ("--policy", "window")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """TabPFN without its weights."""
    name = "lawsmith_paper.rivals.tabpfn.new_regressor"
    monkeypatch.setattr(name, tabpfn_stand_in.new_regressor)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_replays(replay_json, sweep, policy):
    found = replay_json(sweep, *SHORT, "--policy", policy)
    assert found["settings"]["policy"] == policy
    assert len({step["candidate"] for step in found["trace"]}) == 9
    without = CHOICES.usual.get(policy, "gp") == "none"
    assert (found["trace"][-1]["fits"]["fantasized"] is None) == without


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_every_surrogate_replays(replay_json, sweep, surrogate):
    found = replay_json(sweep, *SHORT, *WINDOW, "--surrogate", surrogate)
    assert found["settings"]["surrogate"] == surrogate
    assert len({step["candidate"] for step in found["trace"]}) == 9
    assert len(found["answers"]) == 1  # whatever chose the runs


@pytest.mark.parametrize("words", [(), WINDOW, ("--policy", "full", "--acquisition", "ei")])
def test_lawsmiths_own_methods_replay_as_in_lawsmith(replay_json, capsys, sweep, words):
    from lawsmith.cli import main

    found = replay_json(sweep, *SHORT, *words)
    assert main(["replay", *map(str, (sweep, *SHORT, *words)), "--json"]) == 0
    import json

    assert json.loads(capsys.readouterr().out) == found


def test_a_study_of_the_paper_is_known_by_name_with_its_own_split_and_reach(replay_json):
    found = replay_json("synthetic-warmstart", *WINDOW, *SHORT)
    assert found["study"] == "synthetic-warmstart"
    assert (found["settings"]["hold_out"], found["settings"]["reach"]) == ("0.9", 2.0)


def test_the_slice_keeps_to_what_the_window_adds(replay_json, sweep):
    """Until nothing lies above, every run goes beyond those before it."""
    found = replay_json(sweep, "--policy", "slice", "--reach", 1, "--n-init", 6)
    computes = [step["compute"] for step in found["trace"]]
    assert (found["settings"]["reach"], found["settings"]["slice_by"]) == (1.0, "C")
    climbing = [n for n in range(6, len(computes)) if max(computes[:n]) < max(computes)]
    assert len(climbing) > 1
    assert all(computes[n] > max(computes[:n]) for n in climbing)


@pytest.mark.parametrize("surrogate", ["xgboost", "tabpfn"])
def test_the_seed_is_that_of_a_surrogate_that_draws(surrogate):
    request = RivalRequest(study="tinylm", policy="window", surrogate=surrogate, seed=5)
    assert further(request) == {"seed": 5}
    assert further(replace(request, surrogate=None)) == {}
    if surrogate == "tabpfn":
        path = replace(request, model_path=Path("w.ckpt"))
        assert further(path) == {"seed": 5, "model_path": "w.ckpt"}


def test_random_search_is_called_so_and_has_no_fantasies(lawsmith_paper, replay_json, sweep):
    words = (sweep, "--n-init", 6, "--surrogate", "none", "--policy", "full")
    result = lawsmith_paper("replay", *words)
    assert "full+none, 6 initial runs; seed 0" in result.text
    assert "fantasized" not in result.out
    assert "mixed" not in result.out
    found = replay_json(*words)
    assert all(step["fits"]["fantasized"] is None for step in found["trace"])
    assert all(step["envelope"]["mixed"] is None for step in found["trace"])
    assert found["trace"][-1]["envelope"]["observed"] == 1.0
    assert found["settings"]["kernel"] is found["settings"]["acquisition"] is None
    assert len(found["answers"]) >= 1  # it needs no surrogate


def test_a_window_is_told_with_what_it_climbs_by(lawsmith_paper, sweep):
    told = lawsmith_paper("replay", sweep, *SHORT, "--policy", "slice", "--slice-by", "N").text
    assert "reach 1.5, slice by N, 6 initial runs" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--surrogate", "xgbost"], "--surrogate: got 'xgbost', want one of surface, gp, botorch"),
        (["--surrogate", "xgbost"], "did you mean xgboost?"),
        (["--policy", "vop"], "did you mean vopt?"),
        (
            ["--kernel", "linear", "--surrogate", "xgboost"],
            "--kernel: got 'linear' with --surrogate xgboost, want --surrogate gp or --surrogate b",
        ),
        (
            [*WINDOW, "--priors", "gamma", "--surrogate", "none"],
            "--priors: got 'gamma' with --surrogate none",
        ),
        (
            [*WINDOW, "--scale", "log", "--surrogate", "none"],
            "--scale: got 'log' with --surrogate none",
        ),
        (["--scale", "log"], "--scale: got 'log' with --surrogate surface"),
        (
            [*WINDOW, "--acquisition", "ei", "--surrogate", "none"],
            "--acquisition: got 'ei' with --surrogate none",
        ),
        (
            [*WINDOW, "--kappa", "1", "--surrogate", "none"],
            "--kappa: got 1 with --surrogate none",
        ),
        (
            [*WINDOW, "--model-path", "w.ckpt"],
            "--model-path: got 'w.ckpt' with --surrogate gp, want --surrogate tabpfn",
        ),
        (
            ["--model-path", "w.ckpt", "--surrogate", "xgboost"],
            "--model-path: got 'w.ckpt' with --surrogate xgboost, want --surrogate tabpfn",
        ),
        (["--surrogate", "none"], "--surrogate: got none, want one that predicts, for frontier"),
        (["--surrogate", "none"], "random search is --policy random"),
        (
            ["--policy", "random", "--surrogate", "gp"],
            "--surrogate: got 'gp' with --policy random, want --policy window or --policy full",
        ),
        (["--policy", "random", "--reach", "2"], "--reach: got 2 with --policy random"),
        (["--policy", "random", "--slice-by", "N"], "--slice-by: got 'N' with --policy random"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(lawsmith_paper, sweep, words, message):
    result = lawsmith_paper("replay", sweep, *words)
    assert (result.code, result.out) == (2, "")
    assert (result.err.startswith("error: "), result.err.count("\n")) == (True, 1)
    assert message in result.err


def test_the_options_are_lawsmiths_and_two_more(lawsmith_paper):
    told = lawsmith_paper("replay", "--help").text
    for option in ("--policy", "--slice-by", "--stop-when", "--model-path", "--explain"):
        assert option in told
    assert set(OWN.policies) < set(CHOICES.policies)
    assert set(OWN.surrogates) < set(CHOICES.surrogates)
    assert set(OWN.entries) < set(CHOICES.entries)


def test_a_report_names_the_command_that_has_the_rival(lawsmith_paper, sweep, tmp_path):
    from lawsmith.cli import main

    out = tmp_path / "replay"
    words = ("replay", sweep, *SHORT, *WINDOW, "--surrogate", "xgboost", "--out", out)
    assert lawsmith_paper(*words).code == 0
    page = tmp_path / "report.html"
    assert main(["report", str(out), "-o", str(page)]) == 0
    assert f"lawsmith-paper replay {sweep}" in page.read_text(encoding="utf-8")
