"""Runs with a schedule of their own are stopped where they are hopeless, and only there."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lawsmith.journal import Kind, Stage, make
from lawsmith.runners.base import Ending, Job, Phase, Status
from lawsmith.study import LiveStudy
from lawsmith.study.answer import saved_text, stopped_of
from lawsmith.study.asking import propose, stops
from lawsmith.study.loop import Driver
from lawsmith.study.prefixes import predict_end, stopped_ends
from tests.study.scheduled import (
    RATES,
    Law,
    begin_run,
    finish_some,
    row_at,
    scheduled_study,
)

N, D = 1e8, 4e9  # the largest candidate
OFF = "[policy]\nstop = false\n[law]"


def judged(study: LiveStudy, law: Law, lr: float, share: float) -> list:
    """The events that stop a run that has come so far."""
    name = begin_run(study, law, row_at(study, N, D, lr), share)
    found = stops(study, study.read(), [name])
    study.journal.update(lambda _: [make(Kind.CANCELLED, name, trained=0.0)])
    return found


def test_a_hopeless_run_is_stopped_with_the_reason_and_its_values_on_record(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 24)
    (wish,) = judged(study, law, RATES[-1], 0.5)
    assert (wish["event"], wish["reason"]) == ("cancelling", "stopped")
    assert "not on the envelope" in wish["why"]
    values = wish["values"]
    assert values["expected end"] > 1.02 * values["envelope"]
    assert values["expected end"] == pytest.approx(law.end(N, D, RATES[-1]), rel=0.03)
    assert values["chance of the envelope"] < 0.005
    assert values["worth of its rest per FLOP"] < values["worth of the next per FLOP"]


def test_nothing_is_stopped_before_enough_runs_have_ended_or_where_the_study_says_so(tmp_path):
    law = Law.draw(0)
    for name, n, changes in (("few", 7, ()), ("off", 24, (("[law]", OFF),))):
        study = scheduled_study(tmp_path / name, *changes)
        finish_some(study, law, n)
        assert judged(study, law, RATES[-1], 0.5) == []


def test_a_run_is_judged_neither_at_its_begin_nor_where_little_is_left_to_save(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 24)
    assert [judged(study, law, RATES[-1], share) for share in (0.2, 0.94)] == [[], []]


def test_no_run_near_the_frontier_is_stopped_and_most_hopeless_ones_are(tmp_path: Path):
    """Ten draws: every rate of the largest candidate, early and late on its way."""
    n_hopeless, n_stopped = 0, 0
    for seed in range(10):
        study, law = scheduled_study(tmp_path / str(seed)), Law.draw(seed)
        finish_some(study, law, 30)
        ends = [law.end(N, D, lr) for lr in RATES]
        for i, lr in enumerate(RATES):
            above = float(np.log(ends[i] / min(ends)))
            found = judged(study, law, lr, 0.3 if i % 2 else 0.6)
            assert not found or above > 0.003, (seed, lr, above)
            n_hopeless += above > 0.06
            n_stopped += above > 0.06 and bool(found)
    assert n_hopeless > 8
    assert n_stopped >= 0.5 * n_hopeless


def test_curves_that_cross_for_no_reason_stop_nothing(tmp_path: Path):
    """What a run is off by on its way says nothing of its end: 8 % at its begin."""
    for seed in range(4):
        study, law = scheduled_study(tmp_path / str(seed)), Law.draw(seed, lost=0.08)
        finish_some(study, law, 24)
        for lr in RATES[::2]:
            assert judged(study, law, lr, 0.3) == []


def test_a_rate_that_no_finished_run_had_is_not_judged(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 24)
    hot = [t.name for t in study.read().trials.values() if t.config["lr"] == RATES[-1]]
    study.journal.update(lambda _: [make(Kind.QUARANTINED, n, detail="wrong data") for n in hot])
    assert judged(study, law, RATES[-1], 0.5) == []


@pytest.mark.parametrize(
    "changes",
    [
        ("[law]", "[cost]\ntrunk = true\n[law]"),
        ("[law]", '[policy]\nname = "full"\n[law]'),
        ("[law]", '[policy]\nsurrogate = "gp"\nn_init = 2\n[law]'),
    ],
)
def test_other_policies_and_runs_that_leave_trunks_are_not_judged(tmp_path: Path, changes):
    study, law = scheduled_study(tmp_path, changes), Law.draw(0)
    finish_some(study, law, 24)
    assert judged(study, law, RATES[-1], 0.5) == []


def test_a_run_with_results_on_its_way_is_not_judged(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 24)
    name = begin_run(study, law, row_at(study, N, D, RATES[-1]), 0.5)
    study.journal.update(lambda _: [make(Kind.PASSED, name, tokens=1e9, loss=3.5)])
    assert stops(study, study.read(), [name]) == []


def test_the_end_that_a_stopped_run_would_have_had_is_known_to_the_policy(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 24)
    row = row_at(study, N, D, RATES[-1])
    name = begin_run(study, law, row, 0.5)
    assert not len(stopped_ends(study, study.read(), np.arange(len(study.grid))).rows)
    (wish,) = stops(study, study.read(), [name])
    closing = make(Kind.CANCELLED, name, trained=0.5 * D)
    study.journal.update(lambda _: [wish, closing])
    ledger = study.read()
    hints = stopped_ends(study, ledger, np.arange(len(study.grid)))
    assert hints.rows.tolist() == [row]
    end = predict_end(study, ledger, ledger.trials[name])
    assert end is not None
    assert end.trusted
    assert hints.y[0] == end.mean
    assert abs(end.mean - np.log(law.end(N, D, RATES[-1]))) < 3.0 * np.sqrt(end.variance)
    # What was trained is paid; the rest returned to the budget.
    assert ledger.trials[name].spend == pytest.approx(0.5 * study.grid.C[row])
    assert row not in [study.candidates.row_of(e["config"]) for e in propose(study, ledger, 3)]
    said = "1 run stopped before the end: 1.2e18 FLOPs saved, 6% of the budget"
    assert saved_text(stopped_of(ledger), study.budget) == said


class Playing:
    """A runner whose jobs tell the losses of a law, an eighth of their way at each look.

    ``dies`` is the driver's death: it is raised where a job is to be cancelled.
    """

    def __init__(self, law: Law, *, dies: bool = False) -> None:
        self.law, self.dies = law, dies
        self.share: dict[str, float] = {}
        self.cancelled: set[str] = set()

    def submit(self, jobs: list[Job]) -> dict[str, str]:
        self.share |= {job.name: 0.0 for job in jobs}
        return {job.name: "playing" for job in jobs}

    def poll(self, jobs: list[Job]) -> dict[str, Status]:
        return {job.name: self._look(job) for job in jobs}

    def _look(self, job: Job) -> Status:
        if job.name in self.cancelled:
            return Status(Phase.ENDED, Ending.CANCELLED)
        at = [float(job.values[key]) for key in ("N", "D", "lr")]
        before = self.share.setdefault(job.name, 0.0)
        self.share[job.name] = now = before + 0.125
        with open(job.folder / "progress.jsonl", "a") as file:
            for u in np.arange(before + 0.02, now, 0.02).tolist():
                line = {"tokens": u * at[1], "loss": self.law.on_way(*at, u)}
                file.write(json.dumps(line) + "\n")
        if now < 1.0:
            return Status(Phase.RUNNING)
        (job.folder / "result.json").write_text(json.dumps({"loss": self.law.end(*at)}))
        return Status(Phase.ENDED, Ending.COMPLETED)

    def cancel(self, jobs: list[Job]) -> None:
        if self.dies:
            raise KeyboardInterrupt
        self.cancelled |= {job.name for job in jobs}


def drive_until_closed(study: LiveStudy, runner: Playing, name: str) -> None:
    driver = Driver(study, runner)
    for _ in range(20):
        driver.step()
        if not study.journal.ledger.trials[name].open:
            return


def test_a_driver_that_dies_while_it_stops_a_run_loses_nothing(tmp_path: Path):
    law = Law.draw(0)
    stages = {}
    for dies in (False, True):
        study = scheduled_study(tmp_path / str(dies))
        finish_some(study, law, 24)
        row = row_at(study, N, D, RATES[-1])
        name = begin_run(study, law, row, 0.0)  # the driver finds it running
        study.journal.update(lambda _, n=name: [make(Kind.SUBMITTED, n, attempt=1, handle="x")])
        study.layout.attempt(name, 1).mkdir(parents=True)
        runner = Playing(law, dies=dies)
        if dies:
            with pytest.raises(KeyboardInterrupt):
                drive_until_closed(study, runner, name)
            assert study.read().trials[name].stage is Stage.CANCELLING
            runner.dies = False
        drive_until_closed(study, runner, name)
        trial = study.read().trials[name]
        told = 0.0 if trial.report is None else trial.report[0]
        assert (trial.stage, trial.reason) == (Stage.CANCELLED, "stopped")
        assert 0.25 * D < told < 0.9 * D
        assert trial.spend == pytest.approx(trial.cost * trial.last / D)
        assert trial.last >= told
        stages[dies] = {t.name: t.stage for t in study.read().trials.values()}
    assert [stages[True][name] for name in stages[False] if name in stages[True]].count(
        Stage.CANCELLED
    ) == 1
