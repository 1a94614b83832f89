"""A live study's source: what was known on the way, what is remembered, why a run is next."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from lawsmith.formats import flops
from lawsmith.policies import make_policy
from lawsmith.report import Findings, Memory, Record, cards_of, find_all, live_source
from lawsmith.report.findings import GROWTH, run_counts, values_text
from lawsmith.runs import Runs
from lawsmith.surrogates.base import Posterior

from . import sources


def test_the_ladder_of_counts_does_not_depend_on_where_it_ends():
    assert run_counts(4, 4) == [4]
    assert run_counts(5, 4) == []
    short, long = run_counts(4, 30), run_counts(4, 500)
    assert short[:-1] == [n for n in long if n < 30]
    assert long[-1] == 500
    for a, b in pairwise(long[4:-1]):
        assert b / a == pytest.approx(GROWTH, rel=0.1)


def test_answers_on_the_way_are_worked_out_once(tmp_path):
    study = sources.live_study(tmp_path, n_runs=10)
    memory = Memory()
    first = find_all(study, study.read(), memory, n_next=0)
    n_first = len(memory)
    sources.run_one(study)
    again = find_all(study, study.read(), memory, n_next=0)
    assert n_first == len(run_counts(4, 10))
    assert len(memory) - n_first <= 2
    assert again.moments[: len(first.moments) - 1] == first.moments[:-1]
    spends = [moment.spend for moment in again.moments]
    assert spends == sorted(spends)


def test_a_thought_that_is_called_off_leaves_what_there_is(tmp_path):
    study = sources.live_study(tmp_path, n_runs=8)
    found = find_all(study, study.read(), Memory(), n_next=0, keep_going=lambda: False)
    assert found.answered is not None
    assert found.moments == ()


def test_pending_runs_do_not_narrow_the_answer(tmp_path):
    study = sources.live_study(tmp_path, n_runs=8)
    before = find_all(study, study.read(), Memory(), n_next=0)
    ledger = study.read()
    events = sources.propose(study, ledger, 3, by="hand")
    study.journal.update(lambda _: events)
    after = find_all(study, study.read(), Memory(), n_next=0)
    assert after.answered.answer.forecasts == before.answered.answer.forecasts
    source = live_source(study, study.read(), after, Record())
    assert [attempt.state for attempt in source.attempts[-3:]] == ["pending"] * 3
    assert len(source.live.ledger.open()) == 3


def test_the_stages_and_the_best_run_are_told(live, study):
    trials = study.read().trials.values()
    losses = {t.name: t.loss for t in trials if t.stage.value == "finished"}
    (card,) = cards_of(live, ["progress"])
    tiles, facts = card.parts[:2]
    assert f" by {min(losses, key=losses.get)} (" in dict(facts.rows)["best run"]
    counts = {tile.label: tile.value for tile in tiles.tiles[1:]}
    assert counts == {"Finished": "15", "Diverged": "1", "Failed": "1"}
    reached = max(float(study.grid.C[study.candidates.row_of(t.config)]) for t in trials if t.loss)
    assert f"up to {flops(reached)} FLOPs so far" in dict(facts.rows)["window"]


def test_charts_name_the_trials_of_their_points(live, study):
    named = {name for text in live.findings.answered.run_names for name in text.split(", ") if name}
    assert named == set(study.read().trials)


def test_what_is_found_may_be_of_an_earlier_moment(study):
    ledger = study.read()
    source = live_source(study, ledger, Findings(), Record())
    assert source.answer is None
    assert source.runs.n_runs == len(ledger.trials)
    assert len(source.attempts) == len(ledger.trials)


class Known:
    """A surrogate that is certain of the mean and deviation it was given."""

    name = "known"

    def __init__(self, mean, sd):
        self.posterior = Posterior(np.array(mean), np.array(sd), "loss", best=2.0)

    def fit(self, grid, runs):
        return self.posterior


def test_a_search_tells_the_acquisition_that_it_chose_by(compute_grid):
    surrogate = Known([2.5, 2.1, 1.9], [0.1, 0.2, 0.05])
    policy = make_policy("full", surrogate, acquisition="ei", n_init=1)
    runs = Runs(np.array([0, 2]), np.array([2.0, np.nan]), np.array(["done", "failed"]))
    (chosen,) = policy.choose(compute_grid, runs, 1, np.random.default_rng(0))
    values = values_text(chosen.values, logs=False)
    z = (2.0 - 2.1) / 0.2
    ei = 0.2 * (z * norm.cdf(z) + norm.pdf(z))
    assert chosen.why == "largest acquisition"
    assert float(values["ei"]) == pytest.approx(np.log(ei), rel=5e-3)
    assert values["expected loss"] == "2.1 ± 0.2"


def test_shares_of_a_loss_are_percents_where_its_logs_are_modelled():
    values = {"worth for the answer": 0.00123, "lowers the envelope by": 0.02, "SD": 0.1}
    shown = values_text({**values, "expected loss": 2.5}, logs=True)
    assert shown == {
        "worth for the answer": "0.12%",
        "lowers the envelope by": "2%",
        "expected loss": "2.5 ± 0.1",
    }
    assert values_text(values, logs=False)["lowers the envelope by"] == "0.02"


def test_the_initial_design_has_no_reason_but_chance(compute_grid):
    policy = make_policy("full", None, n_init=2)
    rng = np.random.default_rng(0)
    (first,) = policy.choose(compute_grid, Runs.empty(), 1, rng)
    assert (first.why, dict(first.values)) == ("initial design, at random", {})
    (third,) = policy.choose(compute_grid, Runs.from_losses([0, 1], [2.0, 2.1]), 1, rng)
    assert (third.row, third.why, dict(third.values)) == (2, "at random", {})


@pytest.fixture
def compute_grid():
    from lawsmith.grid import Grid

    return Grid.from_columns({"N": [1e8, 2e8, 4e8], "D": [1e9, 2e9, 4e9]})
