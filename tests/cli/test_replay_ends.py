"""`lawsmith replay --stop-when` and `--trunk-decay`: its end, its answer then, its cost."""

from __future__ import annotations

import pytest

SHORT = ("--n-init", 6, "--seed", 1)
RULE = "loss@1e22 within 4%"
NEVER = "loss@1e22 within 0.0001%"
WINDOW = ("--policy", "window")


def half_width(found, compute):
    """Of the interval at a compute among the answers of a JSON, relative to the loss."""
    at = next(a for a in found["answers"] if a["compute"] == compute)
    return (at["high"] - at["low"]) / 2 / at["loss"]


def test_a_rule_ends_a_replay_after_the_run_that_meets_it_and_not_before(replay_json, sweep):
    found = replay_json(sweep, *SHORT, "--stop-when", RULE)
    n = len(found["trace"])
    assert (found["stopped"], found["complete"]) == ("answered", True)
    assert found["settings"]["stop_when"] == RULE
    assert 6 < n < found["pool"]["n"]
    assert half_width(found, 1e22) <= 0.04
    for earlier in (n - 2, n - 1):
        cut = replay_json(sweep, *SHORT, "--stop-when", NEVER, "--iterations", earlier)
        chosen = [step["candidate"] for step in found["trace"][:earlier]]
        assert [step["candidate"] for step in cut["trace"]] == chosen
        assert cut["stopped"] == "iterations"
        assert half_width(cut, 1e22) > 0.04


def test_the_terminal_says_that_the_answer_is_known_and_shows_the_rules_target(lawsmith, sweep):
    result = lawsmith("replay", sweep, *SHORT, "--stop-when", RULE)
    assert (result.code, result.err) == (0, "")
    assert "the answer is known as well as asked for" in result.text
    rows = [line.split()[0] for line in result.out.splitlines() if "decades of compute" in line]
    assert rows == ["1e21", "1e22"]


def test_a_rule_that_is_never_met_leaves_the_end_to_the_budget(replay_json, sweep):
    short = (sweep, *SHORT, "--target", "1e22", "--budget", "5%")
    found = replay_json(*short, "--stop-when", NEVER)
    assert (found["stopped"], found["settings"]["stop_when"]) == ("budget", NEVER)
    without = replay_json(*short)
    assert without["stopped"] == "budget"
    assert found["trace"] == without["trace"]


def test_a_rule_at_one_of_the_targets_adds_none(replay_json, sweep):
    short = (sweep, *SHORT, "--iterations", 8)
    found = replay_json(*short, "--stop-when", "loss@1e21 within 0.1%")
    assert [a["compute"] for a in found["answers"]] == [1e21]
    exact = replay_json(*short, "--target", "1.23456789e24")
    assert [a["compute"] for a in exact["answers"]] == [1.23456789e24]
    assert exact["settings"]["stop_when"] is None


def test_a_size_of_the_rules_compute_is_not_its_target(replay_json, sweep):
    rule = ("--stop-when", "loss@6e20 within 0.1%")
    found = replay_json(sweep, *SHORT, "--iterations", 8, "--at", "N=1B,D=100B", *rule)
    assert [a["compute"] for a in found["answers"]] == [6e20, 6e20]
    assert found["answers"][0]["N"] == 1e9
    assert found["answers"][1]["N"] != 1e9


def trunk_cost(steps, decay):
    """FLOPs of runs on trunks, added up by hand: the longest stem of each, and every decay."""
    stems: dict[tuple[float, float], float] = {}
    for step in steps:
        trunk = (step["config"]["N"], step["config"]["lr"])
        stems[trunk] = max(stems.get(trunk, 0.0), (1 - decay) * step["compute"])
    return sum(stems.values()) + sum(decay * step["compute"] for step in steps)


@pytest.mark.parametrize("policy", [(), WINDOW], ids=["frontier", "window"])
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
    """Under a budget of as many FLOPs more of its runs branch from a trunk that is there."""
    total = replay_json(sweep, *SHORT, "--iterations", 1)["pool"]["total_compute"]
    budget = ("--budget", f"{0.2 * total:.17g}")
    apart = replay_json(sweep, *SHORT, *budget)
    shared = replay_json(sweep, *SHORT, *budget, "--trunk-decay", 0.2)
    assert branches(shared["trace"]) > branches(apart["trace"])


def branches(trace):
    """Share of runs whose N and hyperparameters an earlier run has."""
    trunks = [tuple(v for k, v in step["config"].items() if k != "D") for step in trace]
    return 1.0 - len(set(trunks)) / len(trunks)


def test_the_terminal_says_that_trunks_are_shared(lawsmith, sweep):
    words = "runs that differ in D alone share a trunk, paid once"
    result = lawsmith("replay", sweep, *SHORT, "--iterations", 8, "--trunk-decay", 0.2)
    assert words in result.text
    assert words not in lawsmith("replay", sweep, *SHORT, "--iterations", 8).text


def test_with_fewer_than_four_runs_there_is_no_answer(lawsmith, replay_json, sweep):
    args = (sweep, *SHORT, "--iterations", 3)
    told = replay_json(*args)
    assert (told["answers"], told["whole_pool"], told["verdict"]) == ([], None, None)
    result = lawsmith("replay", *args)
    assert "Answer" not in result.out
    assert result.code == 0


def test_draws_of_losses_below_zero_do_not_end_a_replay(lawsmith, sweep):
    """A GP of the loss itself does, early in a study; no law is made of such a draw."""
    args = ("--policy", "window", "--iterations", 8)
    result = lawsmith("replay", sweep, *SHORT, *args)
    assert (result.code, result.err) == (0, "")
