"""Replays as rows of one tidy table: a row for every replay, fit and budget.

A row tells what stood after the last run within its budget. Budgets are evenly spaced in logs, with
the round ones of the paper among them. How long a run took is not in it, so that a run that was
interrupted gives the same table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lawsmith.grid import FloatArray
from lawsmith_paper.curves import FITS, Curves, FitName, curves_from, incumbent_index
from lawsmith_paper.jobs import Json
from lawsmith_paper.replays import Settings, task_of

ROUND = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
BUDGETS = np.unique(np.concatenate([np.geomspace(1e-4, 1.0, 81), ROUND]).round(10))


def curves_of_lines(settings: Settings, lines: Sequence[Json]) -> Curves:
    """The arrays of a replay's step records."""
    name = "+".join(str(settings[part]) for part in ("space", "surrogate", "acquisition"))
    seed = settings["seed"]
    return curves_from(task_of(settings), lines, policy=name, seed=seed, settings=dict(settings))


def replay_rows(settings: Settings, lines: Sequence[Json]) -> Iterator[Json]:
    """The rows of a replay's step records."""
    return tidy_rows(curves_of_lines(settings, lines))


def tidy_rows(run: Curves) -> Iterator[Json]:
    """The rows of one replay, budget by budget and fit by fit."""
    spent = run.cost_fraction
    reached = BUDGETS[(spent[0] <= BUDGETS) & (spent[-1] * (1 + 1e-9) >= BUDGETS)]
    last = np.searchsorted(spent, reached * (1 + 1e-12), side="right") - 1
    for fit in FITS:
        columns = metrics(run, fit)
        for budget, step in zip(reached.tolist(), last.tolist(), strict=True):
            values = {name: float(array[step]) for name, array in columns.items()}
            yield {
                **run.settings,
                "synthetic": run.task.study.synthetic,
                "fit": fit,
                "budget": budget,
                "cost_fraction": float(spent[step]),
                "n_runs": step + 1,
                **values,
            }


def metrics(run: Curves, fit: FitName) -> dict[str, FloatArray]:
    """Every metric of a replay by column name, (T,) each."""
    law = run.task.law
    keys = [key for p in law.params for key in ([f"log_{p.name}"] if p.positive else []) + [p.name]]
    regrets = {key: run.regret(key, fit) for key in keys}
    return {
        "n_points": run.n_points[fit].astype(np.float64),
        "envelope": run.envelope[fit],
        "held_out_mse": run.held_out_mse(fit),
        "held_out_mse_beyond": run.held_out_mse_beyond(fit),
        "pool_mse": run.pool_mse(fit),
        **{key: run.parameter(key, fit) for key in keys},
        **{f"regret_{key}": regret for key, regret in regrets.items()},
        **{f"incumbent_regret_{key}": _least(regret) for key, regret in regrets.items()},
        **{f"difference_{at}": run.extrapolation(at, fit) for at in run.task.targets},
        **{
            f"incumbent_difference_{at}": run.extrapolation_incumbent(at, fit)
            for at in run.task.targets
        },
    }


def _least(values: FloatArray) -> FloatArray:
    """(T,) running minimum, NaN before the first value."""
    step = incumbent_index(values)
    return np.where(step < 0, np.nan, values[np.maximum(step, 0)])


def replay_facts(settings: Settings) -> tuple[str, Json]:
    """(law, what the fractions of its budgets are of)."""
    task = task_of(settings)
    return settings["law"], {
        "hold_out": str(task.hold_out),
        "n_pool": len(task.pool),
        "total_compute": task.total_compute,
        "n_envelope": len(task.reference.envelope),
        "log_params": task.reference.validation.log_params,
        "params": task.reference.validation.params,
    }
