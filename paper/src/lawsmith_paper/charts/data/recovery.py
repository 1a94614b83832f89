"""The numbers of the recovery chart: how fast replays find the pool's law, against compute spent.

Panels are the paper's: the regret of parameters (of the logs of positive ones), the error on the
held-out frontier, the share of the envelope recovered. Spend is in per cent of the pool's compute.

A replay is a staircase: a value stands from the run that made it to the next. Several seeds are
read on one grid of spends, evenly spaced in logs, as mean and sample standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from lawsmith.charts.runs import ChartUnavailable, rounded
from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import FloatArray
from lawsmith.laws.law import Law
from lawsmith.metrics import value_at
from lawsmith.replay import Trace
from lawsmith_paper.curves import Curves, FitName, curves_of, running_minimum

Value = Literal["current", "incumbent"]
FITS: tuple[FitName, ...] = ("fantasized", "observed")
MSE, ENVELOPE = "held_out_mse", "envelope"
N_GRID = 160  # spends at which seeds are averaged: no line has more points
N_REGRETS = 3  # a law of more parameters shows the regrets of its exponents and its asymptote
DECADES = 5  # below a panel's largest value, what is smaller is drawn at the foot
_GREEK = {"alpha": "α", "beta": "β", "alpha_N": "αN", "alpha_D": "αD"}

Replay = Trace | Curves
Replays = Replay | Mapping[str, Sequence[Replay]]


@dataclass(frozen=True)
class Panel:
    """One panel.

    key        a parameter ('alpha', 'log_E'), 'held_out_mse' or 'envelope'
    lines      label, fit, spent (%), mean, low, high, n; one seed: its steps, low and high NaN;
               a mean of NaN is a gap, where the law was lost again
    reference  of the pool's own law; NaN where there is none
    floor      what smaller values, zero included, are drawn at; 0 on a linear axis
    """

    key: str
    title: str
    lines: pd.DataFrame
    reference: float
    floor: float

    @property
    def is_log(self) -> bool:
        return self.key != ENVELOPE


@dataclass(frozen=True)
class RecoveryData:
    """What the recovery chart shows: panels in order, the seeds behind each label, which fits."""

    panels: tuple[Panel, ...]
    n_seeds: Mapping[str, int]
    value: Value
    fits: tuple[FitName, ...]


def recovery_data(
    replays: Replays, *, value: Value = "current", fits: Sequence[FitName] = FITS
) -> RecoveryData:
    """The recovery chart's numbers, of one replay or of labelled replays of one task.

    ``value`` 'incumbent' shows the running minima of the regrets, as the paper's figures do, and
    no other panels: they have no incumbents. ``fits`` are the laws shown.
    """
    if value not in get_args(Value):
        raise unknown("value", value, get_args(Value))
    shown = tuple(fit for fit in FITS if fit in fits)
    if not shown or len(shown) < len(set(fits)):
        raise unknown("fits", ", ".join(fits), FITS)
    labelled = labelled_curves(replays)
    every = [run for group in labelled.values() for run in group]
    _check_one_task(every)
    start = min((_first_spend(run, shown) for run in every), default=np.inf)
    if not np.isfinite(start):
        raise ChartUnavailable("no law was found on the way")
    law, reference = every[0].task.law, every[0].task.reference
    panels = []
    others = (MSE, ENVELOPE) if value == "current" else ()
    for key in (*regret_keys(law), *others):
        lines = pd.concat(_lines(labelled, key, value, shown, start), ignore_index=True)
        own = reference.held_out_mse if key == MSE else float("nan")
        floor = 0.0 if key == ENVELOPE else _floor([*lines["mean"], own])
        panels.append(Panel(key, _title(key), lines, own, floor))
    counts = {label: len(group) for label, group in labelled.items()}
    return RecoveryData(tuple(panels), counts, value, shown)


def labelled_curves(replays: Replays) -> dict[str, list[Curves]]:
    """Label → its seeds, without those that made no run; one replay goes by its policy's name."""
    if isinstance(replays, Trace | Curves):
        replays = {replays.policy: [replays]}
    found = {label: [_curves(one) for one in group] for label, group in replays.items()}
    known = {label: [run for run in group if len(run)] for label, group in found.items()}
    if not any(known.values()):
        raise ChartUnavailable("no run was replayed")
    return {label: group for label, group in known.items() if group}


def _curves(replay: Replay) -> Curves:
    return curves_of(replay) if isinstance(replay, Trace) else replay


def regret_keys(law: Law) -> tuple[str, ...]:
    """The regrets shown: of every parameter of a short law; else of exponents, then asymptotes."""
    params = law.params
    if law.n_params > N_REGRETS:
        params = tuple(p for p in params if not p.positive) + tuple(p for p in params if p.additive)
    return tuple(f"log_{p.name}" if p.positive else p.name for p in params)


def series(run: Curves, key: str, fit: FitName, value: Value = "current") -> FloatArray:
    """(T,) one quantity after each run, NaN where there is none; the envelope in per cent."""
    if key == ENVELOPE:
        return 100 * run.envelope[fit]
    if key == MSE:
        return run.held_out_mse(fit)
    regret = run.regret(key, fit)
    if value == "current":
        return regret
    # Where the law was lost again, so is its incumbent: the line has the same gaps.
    return np.where(np.isfinite(regret), running_minimum(regret), np.nan)


def standing(spent: FloatArray, values: FloatArray, at: FloatArray) -> FloatArray:
    """(n,) the value that stands at each spend: NaN before the first step and after the last."""
    # What a replay that was stopped would have shown beyond its end is not known.
    return np.where(at <= spent[-1] * (1 + 1e-9), value_at(spent, values, at), np.nan)


def _lines(
    labelled: Mapping[str, Sequence[Curves]],
    key: str,
    value: Value,
    fits: Sequence[FitName],
    start: float,
) -> Iterator[pd.DataFrame]:
    for label, group in labelled.items():
        spends = [run.cost_fraction for run in group]
        for fit in fits:
            values = [series(run, key, fit, value) for run in group]
            alone = len(group) == 1
            frame = _one(spends[0], values[0], start) if alone else _many(spends, values, start)
            kept = frame["mean"].bfill().notna() & frame["mean"].ffill().notna()
            yield frame[kept].assign(label=label, fit=fit)


def _one(spent: FloatArray, values: FloatArray, start: float) -> pd.DataFrame:
    """The steps of one seed at which its value changes, and the last; many are read on a grid."""
    shown = spent >= start * (1 - 1e-9)
    spent, values = spent[shown], values[shown]
    changes = np.append(True, values[1:] != values[:-1])
    changes[-1] = True
    if changes.sum() > N_GRID:
        grid = np.geomspace(spent[0], spent[-1], N_GRID)
        spent, values = grid, standing(spent, values, grid)
    else:
        spent, values = spent[changes], values[changes]
    frame = pd.DataFrame({"spent": rounded(100 * spent), "mean": values, "n": 1})
    return frame.assign(low=np.nan, high=np.nan)


def _many(spends: Sequence[FloatArray], values: Sequence[FloatArray], start: float) -> pd.DataFrame:
    """Mean and SD over the seeds, once all have a value, as long as at least half still do.

    A mean that seeds join one by one would rise and fall with who has joined.
    """
    end = max(spent[-1] for spent in spends)
    grid = np.geomspace(start, end, N_GRID)
    table = np.stack([standing(s, v, grid) for s, v in zip(spends, values, strict=True)])
    known = np.isfinite(table)
    n, begun = known.sum(axis=0), np.maximum.accumulate(known, axis=1)
    enough = begun[known.any(axis=1)].all(axis=0) & (2 * n >= len(table))
    mean, sd = np.full(N_GRID, np.nan), np.full(N_GRID, np.nan)
    mean[enough] = np.nanmean(table[:, enough], axis=0)
    spread = enough & (n > 1)
    sd[spread] = np.nanstd(table[:, spread], axis=0, ddof=1)
    frame = pd.DataFrame({"spent": rounded(100 * grid), "mean": mean, "n": n})
    return frame.assign(low=mean - sd, high=mean + sd)


def _first_spend(run: Curves, fits: Sequence[FitName]) -> float:
    """The least spend with a law that is shown; infinite without one."""
    has = np.any([run.has_law(fit) for fit in fits], axis=0)
    return float(run.cost_fraction[has].min(initial=np.inf))


def _check_one_task(runs: Sequence[Curves]) -> None:
    tasks = {(run.task.study.name, run.task.law.name): None for run in runs}
    if len(tasks) > 1:
        got = " and ".join(f"{law} on {study}" for study, law in tasks)
        raise LawsmithError("recovery", got=got, want="replays of one study and one law")


def _floor(values: Sequence[float]) -> float:
    """The foot of a log axis: no more than DECADES below the top, and apart from what is above."""
    known = np.array([v for v in values if v > 0], dtype=np.float64)
    if not len(known):
        return 1e-6
    return float(max(known.min() / 2, known.max() * 10.0**-DECADES))


def _title(key: str) -> str:
    if key == MSE:
        return "Held-out MSE"
    if key == ENVELOPE:
        return "Envelope recovered (%)"
    name = key.removeprefix("log_")
    return f"Regret of {'ln ' if key != name else ''}{_GREEK.get(name, name)}"
