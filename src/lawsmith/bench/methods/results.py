"""The trials of 'methods' read back: every metric of every contender, subject, seed and budget.

Shapes: n_seeds trials, B budgets; a metric is (n_seeds, B), NaN where there was no law.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lawsmith.bench.jobs import Job, Json
from lawsmith.bench.methods.contenders import CONTENDERS, OURS, Contender
from lawsmith.bench.methods.suite import Subject
from lawsmith.bench.plan import Suite
from lawsmith.bench.store import Store
from lawsmith.bench.trial import BUDGETS, trial_rows
from lawsmith.grid import FloatArray, IntArray

SHOWN = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25)


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


# Subject's label → contender's name → outcome; of what is finished.
Results = dict[str, dict[str, Outcome]]


def read_results(store: Store, suite: Suite) -> Results:
    """The finished trials of a suite, in the order of its jobs."""
    found: dict[tuple[str, str], list[_Trial]] = {}
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
            found.setdefault((_label(job), contender.name), []).append(trial)
    labels = list(dict.fromkeys(_label(job) for job in suite.jobs))
    return {
        label: {
            c.name: _outcome(found[label, c.name]) for c in CONTENDERS if (label, c.name) in found
        }
        for label in labels
        if (label, OURS) in found
    }


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
