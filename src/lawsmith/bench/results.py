"""Reading results back: replays as curves, a figure's lines, one tidy table, a summary.

The tidy table has a row for every replay, fit and budget: what stood after the last run within
that budget. Budgets are evenly spaced in logs, with the round ones of the paper among them. How
long a run took is not in it, so that a run that was interrupted gives the same table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import lawsmith
from lawsmith.bench.jobs import Job, Json, code_version
from lawsmith.bench.kinds import task_of
from lawsmith.bench.plan import Figure, Options, Suite
from lawsmith.bench.store import Store
from lawsmith.grid import FloatArray
from lawsmith.metrics import incumbent_index
from lawsmith.replay.curves import FITS, Curves, FitName, curves_from

ROUND = (0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)
BUDGETS = np.unique(np.concatenate([np.geomspace(1e-4, 1.0, 81), ROUND]).round(10))


def curves(store: Store, job: Job) -> Curves | None:
    """The replay of a job as arrays; None while it has no lines."""
    lines = store.read(job).lines
    if not lines:
        return None
    known = job.settings
    name = "+".join(str(known[part]) for part in ("space", "surrogate", "acquisition"))
    return curves_from(task_of(known), lines, policy=name, seed=known["seed"], settings=dict(known))


def lines_of(store: Store, figure: Figure) -> dict[str, list[Curves]]:
    """Label → the curves of its seeds, as far as they exist."""
    found = {
        label: [c for c in (curves(store, job) for job in jobs) if c is not None]
        for label, jobs in figure.lines.items()
    }
    return {label: group for label, group in found.items() if group}


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
                "synthetic": run.task.synthetic,
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


def write_results(folder: Path, suites: Sequence[Suite], options: Options) -> list[Path]:
    """``results.parquet``, ``results.csv`` and ``summary.json`` of everything that was replayed."""
    store = Store(folder)
    jobs = list(dict.fromkeys(job for suite in suites for job in suite.jobs))
    parts = []
    for job in jobs:
        run = curves(store, job)
        if run is not None:
            parts.append(pd.DataFrame(tidy_rows(run)))
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    paths = [folder / "results.parquet", folder / "results.csv", folder / "summary.json"]
    table.to_parquet(paths[0], index=False)
    table.to_csv(paths[1], index=False, float_format="%.10g")
    text = json.dumps(_summary(store, suites, jobs, options), indent=2, allow_nan=False)
    paths[2].write_text(text + "\n", encoding="utf-8")
    return paths


def _summary(store: Store, suites: Sequence[Suite], jobs: Sequence[Job], options: Options) -> Json:
    """What was run, with which code on which data, and what came of it."""
    studies = {str(job.settings["study"]): job.data for job in jobs}
    ends = [store.read(job).end for job in jobs]
    return {
        "version": lawsmith.__version__,
        "code": code_version("replay"),
        "suites": [suite.name for suite in suites],
        "seeds": options.seeds,
        "iterations": options.iterations,
        "studies": {name: {"digest": data, **_study(name, jobs)} for name, data in studies.items()},
        "jobs": {"planned": len(jobs), "finished": sum(end is not None for end in ends)},
        "seconds": round(sum(end["seconds"] for end in ends if end), 1),
    }


def _study(name: str, jobs: Sequence[Job]) -> Json:
    """A study's pool, by law: what the fractions of a budget are of."""
    found: dict[str, Any] = {}
    for job in jobs:
        known = job.settings
        if known["study"] == name and known["law"] not in found:
            task = task_of(known)
            found[known["law"]] = {
                "hold_out": str(task.hold_out),
                "n_pool": len(task.pool),
                "total_compute": task.total_compute,
                "n_envelope": len(task.reference.envelope),
                "log_params": task.reference.validation.log_params,
                "params": task.reference.validation.params,
            }
    synthetic = any(task_of(j.settings).synthetic for j in jobs if j.settings["study"] == name)
    return {"synthetic": synthetic, "laws": found}
