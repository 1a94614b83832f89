"""What is asked for: within the budget, never twice, the same from the same history."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lawsmith.costs import Continued, SeparateRuns
from lawsmith.journal import Kind, make
from lawsmith.policies import unasked
from lawsmith.runs import State
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.asking import exhausted, propose, rounded
from tests.study.studies import N_CANDIDATES, small_study

FRONTIER = (
    'name = "full"\nsurrogate = "surface"',
    'name = "frontier"\nsurrogate = "surface"\nn_init = 4',
)


def ask(study: LiveStudy, n: int) -> list[str]:
    """Ask by hand; the names of the new trials."""
    study.begin()
    events = study.journal.update(lambda ledger: propose(study, ledger, n, by="hand"))
    return [event["trial"] for event in events]


def tell_all(study: LiveStudy) -> None:
    """A loss for every open trial: the larger the run the better."""
    events = []
    for trial in study.journal.ledger.open():
        row = study.candidates.row_of(trial.config)
        assert row is not None
        loss = 2.0 + 400 * study.grid.N[row] ** -0.34 + 410 * study.grid.D[row] ** -0.28
        events.append(make(Kind.FINISHED, trial.name, loss=float(loss)))
    study.journal.update(lambda _: events)


def test_pending_runs_are_not_asked_for_again(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    names = ask(study, 4) + ask(study, 4) + ask(study, 4)
    configs = [str(study.journal.ledger.trials[name].config) for name in names]
    assert len(set(configs)) == 12


def test_another_process_asks_for_the_same_from_the_same_record(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    for _ in range(3):
        ask(study, 3)
        tell_all(study)
    other = open_study(study.layout.file)
    both = (propose(one, one.read(), 4) for one in (study, other))
    own, again = ([{**event, "time": ""} for event in found] for found in both)
    assert own == again


def test_everything_is_asked_for_in_the_end_and_then_nothing(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    while ask(study, 3):
        tell_all(study)
    assert len(study.journal.ledger.trials) == N_CANDIDATES
    assert exhausted(study, study.journal.ledger) == "candidates"


def test_what_is_pending_is_part_of_the_spend(tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 3e16"))
    ask(study, 50)
    ledger = study.journal.ledger
    assert 0 < ledger.spend <= 3e16
    assert ask(study, 1) == []
    assert exhausted(study, ledger) == "budget"


def test_excluded_candidates_are_passed_over(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    study.begin()
    study.journal.update(lambda _: [make(Kind.EXCLUDED, where="opt == 'muon'", reason="")])
    while ask(study, 4):
        tell_all(study)
    told = {trial.config["opt"] for trial in study.journal.ledger.trials.values()}
    assert told == {"adamw"}
    assert len(study.journal.ledger.trials) == N_CANDIDATES / 2


def test_an_exclusion_leaves_results_there_are_in_the_fit(tmp_path: Path):
    study = small_study(tmp_path)
    ask(study, 20)
    tell_all(study)
    study.journal.update(lambda _: [make(Kind.EXCLUDED, match={"lr": 0.001}, reason="")])
    history = study.history(study.journal.ledger)
    assert history.excluded.sum() == N_CANDIDATES / 2
    assert len(history.runs.of(State.DONE)) == N_CANDIDATES
    assert len(history.pool) == N_CANDIDATES


def test_an_initial_design_larger_than_what_exclusions_leave_is_cut(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER, ("n_init = 4", "n_init = 15"))
    study.begin()
    study.journal.update(lambda _: [make(Kind.EXCLUDED, where="N > 2e7", reason="")])
    assert len(ask(study, 50)) == 12


def test_a_run_of_no_candidate_keeps_its_cost_and_is_counted(tmp_path: Path):
    study = small_study(tmp_path)
    ask(study, 2)
    changed = small_study(tmp_path, ("lr = [1e-3, 4e-3]", "lr = [1e-2, 2e-2]"))
    ledger = changed.read()
    history = changed.history(ledger)
    assert (len(history.runs), history.unmatched) == (0, 2)
    assert ledger.spend == study.journal.ledger.spend


def test_runs_come_in_the_order_they_were_settled(tmp_path: Path):
    study = small_study(tmp_path)
    first, second, third = ask(study, 3)
    told = [make(Kind.FINISHED, name, loss=loss) for name, loss in ((third, 3.0), (first, 1.0))]
    study.journal.update(lambda _: told)
    runs = study.history(study.journal.ledger).runs
    rows = [
        study.candidates.row_of(study.journal.ledger.trials[n].config)
        for n in (third, first, second)
    ]
    assert runs.index.tolist() == rows
    np.testing.assert_array_equal(runs.loss, [3.0, 1.0, np.nan])


@pytest.mark.parametrize("n", [1, 5])
def test_proposals_are_no_more_than_asked(tmp_path: Path, n: int):
    study = small_study(tmp_path)
    assert len(propose(study, study.read(), n)) == n
    assert not study.layout.journal.exists()


SURFACE = (FRONTIER[0], 'name = "frontier"\nsurrogate = "surface"')


def test_the_record_says_why_each_run_was_asked_and_by_which_values(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    ask(study, 4)
    tell_all(study)
    found = propose(study, study.read(), 2)
    ask(study, 2)
    lines = [json.loads(line) for line in study.layout.journal.read_text().splitlines()]
    asked = [line for line in lines if line["event"] == "asked"]
    assert [line["why"] for line in asked[:4]] == ["initial design, at random"] * 4
    assert [line["values"] for line in asked[:4]] == [{}] * 4
    assert [line["why"] for line in asked[4:]] == ["to know the answer", "to lower the envelope"]
    for line, one in zip(asked[4:], found, strict=True):
        assert line["values"] == one["values"]
        assert list(line["values"]) == [
            *("lowers the envelope by", "worth for the answer", "expected loss", "SD")
        ]
        assert line["cost"] == one["cost"]


def test_a_value_that_is_no_number_is_null_on_record():
    assert rounded({"ei": -np.inf, "SD": 0.123456789}) == {"ei": None, "SD": 0.123457}


def test_the_first_line_of_the_record_has_the_method(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER)
    study.begin()
    (created,) = (json.loads(line) for line in study.layout.journal.read_text().splitlines())
    told = {name: value for name, value in created["method"].items() if value is not None}
    assert told == {
        **{"policy": "frontier", "surrogate": "surface", "n_init": 4, "acquisition": "lcb"},
        "replicates": False,
    }


def test_a_study_of_the_surface_needs_no_initial_design(tmp_path: Path):
    study = small_study(tmp_path, SURFACE)
    assert study.method.n_first == 0
    (one,) = propose(study, study.read(), 1)
    assert one["why"] == "to know the answer"
    assert one["values"]["worth for the answer"] > 0.0


def test_runs_are_chosen_by_what_they_cost_on_the_trunks_there_are(tmp_path: Path):
    """The policy asks the very prices that are put on record, imported runs leaving no trunk."""
    cost = ("[law]", "[cost]\ntrunk = true\ndecay = 0.1\n\n[law]")
    study = small_study(tmp_path, SURFACE, cost)
    study.begin()
    config = dict(study.candidates.configs[0])
    line = make(Kind.IMPORTED, "i0001", config=config, loss=3.0, key="k")
    study.journal.update(lambda _: [line])
    ask(study, 2)
    tell_all(study)
    ledger = study.read()
    runs, paid = study.history(ledger).runs, study.history(ledger).paid
    assert (len(runs), len(paid)) == (3, 2)
    after = [*runs.index, *paid]
    for one in propose(study, ledger, 6):
        price = study.pricing.added(study.grid, [r for r in after if r != 0])
        row = study.candidates.row_of(one["config"])
        assert one["cost"] == pytest.approx(price[row])
        after.append(row)
    policy = study.policy(study.grid, Continued(study.pricing, runs.index, paid))
    apart = study.policy(study.grid, SeparateRuns())
    free = unasked(study.grid, runs)
    own, other = (p.weigh(study.grid, runs, free, None).scores["answer"] for p in (policy, apart))
    saved = study.pricing.added(study.grid, paid)[free] / study.grid.C[free]
    assert (saved < 1.0).any()
    np.testing.assert_allclose(other - own, np.log(saved), atol=1e-9)
