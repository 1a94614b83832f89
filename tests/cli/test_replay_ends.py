"""`lawsmith replay --stop-when`, `--trunk-decay` and the outlook: its end, its cost, its answer."""

from __future__ import annotations

import pytest
from tests.conftest import extra
from tests.surrogates import tabpfn_stand_in

from lawsmith.cli.replay_ends import DRAWN
from lawsmith.datasets import load
from lawsmith.runs import Runs
from lawsmith.surrogates import SURROGATES, make_surrogate

SHORT = ("--n-init", 6, "--seed", 1)
RULE = "loss@1e22 within 20%"
NEVER = "loss@1e22 within 0.0001%"
RANDOM = ("--policy", "window", "--surrogate", "none")
INTERVAL = {"centre", "low", "high"}


def at(found, compute):
    """The prediction at a compute in the outlook of a JSON."""
    return next(p for p in found["outlook"]["predictions"] if p["compute"] == compute)


def reach(interval):
    """How far an interval goes from its middle, relative to that."""
    return (interval["high"] - interval["low"]) / (interval["high"] + interval["low"])


def test_a_rule_ends_a_replay_after_the_run_that_meets_it_and_not_before(replay_json, sweep):
    found = replay_json(sweep, *SHORT, "--stop-when", RULE)
    n = len(found["trace"])
    assert (found["stopped"], found["complete"]) == ("answered", True)
    assert found["settings"]["stop_when"] == RULE
    assert 6 < n < found["pool"]["n"]
    assert reach(at(found, 1e22)["truth"]) <= 0.2
    for earlier in (n - 3, n - 2, n - 1):
        cut = replay_json(sweep, *SHORT, "--stop-when", NEVER, "--iterations", earlier)
        chosen = [step["candidate"] for step in found["trace"][:earlier]]
        assert [step["candidate"] for step in cut["trace"]] == chosen
        assert cut["stopped"] == "iterations"
        assert reach(at(cut, 1e22)["truth"]) > 0.2


def test_the_terminal_says_that_the_answer_is_known_and_shows_the_rules_target(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--stop-when", RULE)
    assert (result.code, result.err) == (0, "")
    assert "the answer is known as well as asked for" in result.text
    rows = [line.split()[0] for line in result.out.splitlines() if "decades" in line]
    assert rows == ["1e25", "1e27", "1e29", "1e22"]


def test_a_rule_that_is_never_met_leaves_the_end_to_the_budget(replay_json, sweep):
    found = replay_json(sweep, *SHORT, "--stop-when", NEVER, "--budget", "5%")
    assert (found["stopped"], found["settings"]["stop_when"]) == ("budget", NEVER)
    without = replay_json(sweep, *SHORT, "--budget", "5%")
    assert found["trace"] == without["trace"]


def test_a_rule_at_one_of_the_targets_adds_none(replay_json, sweep):
    short = (sweep, *SHORT, "--iterations", 8)
    found = replay_json(*short, "--stop-when", "loss@1e25 within 0.1%")
    assert [p["compute"] for p in found["outlook"]["predictions"]] == [1e25, 1e27, 1e29]
    exact = replay_json(*short, "--extrapolate-to", "1.23456789e24")
    assert [p["compute"] for p in exact["outlook"]["predictions"]] == [1.23456789e24]
    assert exact["settings"]["stop_when"] is None


@pytest.mark.parametrize("name", [name for name in SURROGATES if name != "none"])
def test_the_surrogates_that_a_rule_takes_are_those_with_joint_draws(name, sweep, monkeypatch):
    if name in ("botorch", "xgboost"):
        extra(name)
    stand_in = tabpfn_stand_in.new_regressor
    monkeypatch.setattr("lawsmith.surrogates.tabpfn.new_regressor", stand_in)
    study = load(str(sweep))
    loss = study.runs.config_loss(len(study.grid))
    posterior = make_surrogate(name).fit(study.grid, Runs.from_losses(range(12), loss[:12]))
    assert (posterior.sampler is not None) == (name in DRAWN)


def trunk_cost(steps, decay):
    """FLOPs of runs on trunks, added up by hand: the longest stem of each, and every decay."""
    stems: dict[tuple[float, float], float] = {}
    for step in steps:
        trunk = (step["config"]["N"], step["config"]["lr"])
        stems[trunk] = max(stems.get(trunk, 0.0), (1 - decay) * step["compute"])
    return sum(stems.values()) + sum(decay * step["compute"] for step in steps)


@pytest.mark.parametrize("policy", [(), RANDOM], ids=["frontier", "random"])
def test_on_trunks_the_cost_of_a_step_is_that_of_stems_and_decays(replay_json, sweep, policy):
    found = replay_json(sweep, *SHORT, *policy, "--trunk-decay", 0.2)
    steps = found["trace"]
    assert found["settings"]["trunk_decay"] == 0.2
    total = trunk_cost(steps, 0.2)
    assert found["pool"]["total_compute"] == pytest.approx(total)
    assert total < 0.9 * sum(step["compute"] for step in steps)
    for k, step in enumerate(steps, start=1):
        C = 6 * step["config"]["N"] * step["config"]["D"]
        assert step["compute"] == pytest.approx(C)
        assert step["cost"] == pytest.approx(trunk_cost(steps[:k], 0.2))
        assert step["cost_fraction"] == pytest.approx(trunk_cost(steps[:k], 0.2) / total)
    assert steps[-1]["cost_fraction"] == 1.0


def test_a_budget_on_trunks_is_a_share_of_what_the_pool_costs_on_trunks(replay_json, sweep):
    apart = replay_json(sweep, *SHORT, "--iterations", 1)
    assert apart["settings"]["trunk_decay"] is None
    found = replay_json(sweep, *SHORT, "--trunk-decay", 0.2, "--budget", "20%")
    total = found["pool"]["total_compute"]
    assert total < 0.9 * apart["pool"]["total_compute"]
    assert found["stopped"] == "budget"
    assert trunk_cost(found["trace"], 0.2) <= 0.2 * total < 0.2 * apart["pool"]["total_compute"]


def test_a_budget_beyond_what_the_pool_costs_on_trunks_is_refused(lawsmith, replay_json, sweep):
    apart = replay_json(sweep, *SHORT, "--iterations", 1)["pool"]["total_compute"]
    result = lawsmith("replay", sweep, "--trunk-decay", 0.2, "--budget", f"{0.95 * apart:.17g}")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "--budget: got" in result.err
    assert "the whole pool of" in result.err


def test_the_frontier_goes_where_trunks_are_cheap(replay_json, sweep):
    """Under a budget of as many FLOPs it makes more runs, and says how they were priced."""
    total = replay_json(sweep, *SHORT, "--iterations", 1)["pool"]["total_compute"]
    budget = ("--budget", f"{0.2 * total:.17g}")
    apart = replay_json(sweep, *SHORT, *budget)
    shared = replay_json(sweep, *SHORT, *budget, "--trunk-decay", 0.2)
    assert len(shared["trace"]) > len(apart["trace"])


def test_the_terminal_says_that_trunks_are_shared(lawsmith, sweep):
    words = "runs that differ in D alone share a trunk, paid once"
    result = lawsmith("replay", sweep, *SHORT, "--iterations", 8, "--trunk-decay", 0.2)
    assert words in result.text
    assert words not in lawsmith("replay", sweep, *SHORT, "--iterations", 8).text


def test_the_outlook_is_in_the_text_and_in_the_json(lawsmith, replay_json, sweep):
    found = replay_json(sweep, *SHORT, "--iterations", 12)["outlook"]
    assert set(found) == {
        *("level", "params", "param_intervals", "n_points", "n_observed", "predictions"),
    }
    assert set(found["params"]) == set(found["param_intervals"]) == {"E", "A", "alpha"}
    assert all(set(interval) == INTERVAL for interval in found["param_intervals"].values())
    shown = lawsmith("replay", sweep, *SHORT, "--iterations", 12).out
    assert "Outlook: what these runs say, with 95% intervals" in shown
    for p in found["predictions"]:
        assert set(p) == {
            *("compute", "inputs", "loss", "pool", "truth", "decades", "allocation"),
        }
        assert set(p["pool"]) == set(p["truth"]) == INTERVAL
        assert (p["allocation"], set(p["inputs"])) == (None, {"C"})
        for kind in ("pool", "truth"):
            interval = p[kind]
            assert interval["low"] < interval["centre"] < interval["high"]
            text = "{centre:.4f} [{low:.4f}, {high:.4f}]".format(**interval)
            assert text in shown


def test_when_the_pool_is_exhausted_its_law_is_known_and_the_truth_is_not(replay_json, sweep):
    found = replay_json(sweep, *SHORT)
    for label, p in zip(("1e25", "1e27", "1e29"), found["outlook"]["predictions"], strict=True):
        law = found["reference"]["losses"][label]
        assert p["loss"] == pytest.approx(law, rel=1e-6)
        assert [p["pool"][end] for end in INTERVAL] == pytest.approx([law] * 3, rel=1e-5)
        assert p["truth"]["high"] - p["truth"]["low"] > 1e-3 * law
    assert found["outlook"]["n_points"] == found["outlook"]["n_observed"]


def test_without_joint_draws_or_too_early_there_is_no_outlook(lawsmith, replay_json, sweep):
    for args in ((*RANDOM, "--iterations", 20), ("--iterations", 4)):
        assert replay_json(sweep, *SHORT, *args)["outlook"] is None
        assert "Outlook" not in lawsmith("replay", sweep, *SHORT, *args).out


def test_a_law_of_N_and_D_shows_what_is_best_for_a_compute(lawsmith, replay_json, sweep):
    args = (sweep, *SHORT, "--law", "chinchilla", "--iterations", 20)
    found, shown = replay_json(*args), lawsmith("replay", *args).text
    for p in found["outlook"]["predictions"]:
        assert set(p["allocation"]) == {"N", "D", "D/N"}
        N, D = p["inputs"]["N"], p["inputs"]["D"]
        assert p["compute"] == pytest.approx(6 * N * D)
        assert p["allocation"]["N"]["centre"] == pytest.approx(N)
        assert p["allocation"]["D/N"]["centre"] == pytest.approx(D / N)
    assert "At 1e25 FLOPs the best are N = " in shown


def test_a_law_without_compute_has_an_outlook_on_its_parameters_alone(replay_json, sweep):
    found = replay_json(sweep, *SHORT, "--law", "LN", "--iterations", 20)["outlook"]
    assert found["predictions"] == []
    assert set(found["param_intervals"]) == {"E", "A", "alpha"}


def test_draws_of_losses_below_zero_do_not_end_a_replay(lawsmith, sweep):
    """A GP of the loss itself does, early in a study; no law is made of such a draw."""
    args = ("--policy", "window", "--iterations", 8)
    result = lawsmith("replay", sweep, *SHORT, *args)
    assert (result.code, result.err) == (0, "")
