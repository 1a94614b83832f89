"""The trials of 'methods' read back: every metric of every contender, subject, seed and budget.

Shapes: n_seeds trials, B budgets; a metric is (n_seeds, B), NaN where there was no law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.grid import FloatArray, IntArray
from lawsmith_paper.jobs import Job, Json
from lawsmith_paper.methods.contenders import CONTENDERS, OURS, Contender
from lawsmith_paper.methods.suite import Subject
from lawsmith_paper.plan import Suite
from lawsmith_paper.store import Store
from lawsmith_paper.trial import BUDGETS, trial_rows

SHOWN = BUDGETS


@dataclass(frozen=True)
class Metric:
    """What is compared.

    columns   of a trial's rows; of several, the mean of the ranks counts
    sign      1 where less is better, −1 where more is
    factor    for show, which ``unit`` names where the label does not; digits after the point
    """

    name: str
    label: str
    columns: tuple[str, ...]
    sign: float = 1.0
    factor: float = 1.0
    digits: int = 2
    unit: str = ""


_REGRETS = ("log_E", "log_A", "alpha", "log_B", "beta")
METRICS = (
    Metric("difference", "% off the full-pool law at the target", ("difference",)),
    Metric("parameters", "regrets of the parameters", tuple(f"regret_{r}" for r in _REGRETS)),
    Metric(
        "held_out", "held-out |MSE − the reference's|", ("held_out",), factor=1e4, unit=", × 1e4"
    ),
    Metric(
        "envelope_mixed", "% of the envelope, mixed", ("envelope_mixed",), -1.0, 100.0, digits=0
    ),
    Metric(
        "envelope_observed", "% of the envelope, run", ("envelope_observed",), -1.0, 100.0, digits=0
    ),
    Metric("answer_error", "error of the answer, %", ("answer_error",)),
    Metric(
        "answer_held", "% of the answer's intervals that hold", ("answer_held",), -1.0, 100.0, 0
    ),
    Metric("answer_score", "interval score of the answer, %", ("answer_score",), digits=1),
    Metric("true_error", "% off the true loss at the target", ("true_error",)),
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a contender reached on a subject: column → (n_seeds, B); seeds (n_seeds,) ascending.

    seconds, n_runs   (n_seeds,) what each trial took, and its runs
    """

    seeds: IntArray
    columns: Mapping[str, FloatArray]
    seconds: FloatArray
    n_runs: IntArray

    def at(self, column: str, budget: float) -> FloatArray:
        """(n_seeds,) a column at a budget."""
        return self.columns[column][:, BUDGETS.index(budget)]


class _Trial(NamedTuple):
    """A finished trial; rows, one a budget, of the law that its contender is judged by."""

    seed: int
    seconds: float
    n_runs: int
    rows: list[Json]

    def and_(self, other: _Trial) -> _Trial:
        """Both of one seed, for different budgets, as if they were one."""
        rows = sorted([*self.rows, *other.rows], key=lambda row: float(row["budget"]))
        return _Trial(self.seed, self.seconds + other.seconds, self.n_runs + other.n_runs, rows)


# Subject's label → contender's name → outcome; of what is finished.
Results = dict[str, dict[str, Outcome]]


def read_results(store: Store, suite: Suite) -> Results:
    """The finished trials of a suite, in the order of its jobs."""
    found: dict[tuple[str, str], dict[int, _Trial]] = {}
    by_trial: dict[str, list[Contender]] = {}
    for contender in CONTENDERS:
        by_trial.setdefault(contender.trial_name, []).append(contender)
    # Seed by seed: the tasks of drawn studies are made once for all methods.
    for job in sorted(suite.jobs, key=lambda job: (_label(job), job.settings["seed"])):
        kept = store.read(job)
        if kept.end is None or not kept.lines:
            continue
        rows = list(trial_rows(job.settings, kept.lines))
        for contender in by_trial[job.settings["method"]]:
            mine = [row for row in rows if row["fit"] == contender.fit]
            seed, seconds = job.settings["seed"], kept.end["seconds"]
            trial = _Trial(seed, seconds, len(kept.lines), mine)
            seeds = found.setdefault((_label(job), contender.name), {})
            seeds[seed] = seeds[seed].and_(trial) if seed in seeds else trial
    whole = {key: [t for t in seeds.values() if _is_whole(t)] for key, seeds in found.items()}
    labels = list(dict.fromkeys(_label(job) for job in suite.jobs))
    return {
        label: {
            c.name: _outcome(whole[label, c.name]) for c in CONTENDERS if whole.get((label, c.name))
        }
        for label in labels
        if whole.get((label, OURS))
    }


def _is_whole(trial: _Trial) -> bool:
    """Whether the trials of all budgets are finished."""
    return tuple(row["budget"] for row in trial.rows) == BUDGETS


def _label(job: Job) -> str:
    return Subject(*(job.settings[name] for name in ("study", "law", "noise"))).label


def _outcome(trials: Sequence[_Trial]) -> Outcome:
    names = [name for name, value in trials[0].rows[0].items() if isinstance(value, float)]
    columns = {
        name: np.array([[row[name] for row in trial.rows] for trial in trials]) for name in names
    }
    return Outcome(
        seeds=np.array([trial.seed for trial in trials], dtype=np.int64),
        columns=columns,
        seconds=np.array([trial.seconds for trial in trials]),
        n_runs=np.array([trial.n_runs for trial in trials], dtype=np.int64),
    )


def common(outcomes: Sequence[Outcome], column: str, budget: float) -> FloatArray:
    """(methods, seeds) a column at a budget, of the seeds that all of them have."""
    shared = outcomes[0].seeds
    for outcome in outcomes[1:]:
        shared = np.intersect1d(shared, outcome.seeds)
    picked = [
        outcome.at(column, budget)[np.searchsorted(outcome.seeds, shared)] for outcome in outcomes
    ]
    return np.stack(picked)
