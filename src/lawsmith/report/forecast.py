"""The answer in numbers: the loss at the targets, N and D there, and the hyperparameters to use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.analysis import HyperparameterLaw, hyperparameter_laws
from lawsmith.formats import flops
from lawsmith.grid import FloatArray
from lawsmith.laws.allocation import LOG6, can_allocate, log_optimal_n
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Outlook
from lawsmith.report.source import Source

TRUE_LOSS = "the true loss"
ALL_RUNS = "the law of all candidates"
THE_LAW = "the law"
FURTHER_RUN = "one more run, tuned as well"


@dataclass(frozen=True)
class Forecast:
    """The loss at one target.

    intervals  what each is of → its ends; the first is the one to decide by
    decades    beyond the largest compute there is, below 0 inside it
    """

    label: str
    compute: float
    loss: float
    intervals: dict[str, Interval]
    decades: float


@dataclass(frozen=True)
class Shares:
    """How to divide the compute of the first target between N and D, and by which law."""

    law: Law
    N: Interval
    D: Interval
    ratio: Interval


@dataclass(frozen=True)
class Setting:
    """A hyperparameter's best value; ``interval`` is None where it is not known how well.

    origin   in a few words, where the value is from
    """

    axis: str
    value: float | str
    interval: Interval | None
    origin: str = ""


@dataclass(frozen=True)
class Settings:
    """The best hyperparameters, and where they are from."""

    settings: tuple[Setting, ...]
    how: str


def forecasts(source: Source) -> tuple[Forecast, ...]:
    """The loss at every target, the main one first; none without a law."""
    if source.seen is not None:
        return tuple(
            Forecast(
                f"{flops(p.compute)} FLOPs",
                p.compute,
                p.loss,
                {TRUE_LOSS: p.truth, ALL_RUNS: p.pool},
                p.decades,
            )
            for p in source.seen.outlook.predictions
        )
    if source.analysis is None or source.kind != "table":
        return ()
    found = []
    for p in source.analysis.predictions:
        named = {THE_LAW: p.interval, FURTHER_RUN: p.run_interval}
        known = {name: ends for name, ends in named.items() if ends is not None}
        found.append(Forecast(p.target.label, p.target.C, p.loss, known, p.decades))
    return tuple(found)


def shares(source: Source) -> Shares | None:
    """N, D and D/N at the first target; None where no law divides compute."""
    if source.seen is not None:
        own = source.seen.outlook
        return _true_shares(own if can_allocate(own.law) else source.both)
    if source.shares is not None and source.shares.predictions:
        found, law = source.shares.predictions[0].allocation, source.shares.law
    else:
        return None
    return None if found is None else Shares(law, found["N"], found["D"], found["D/N"])


def _true_shares(outlook: Outlook | None) -> Shares | None:
    """As the draws of the truth have it: those of the pool agree once all of it was run."""
    if outlook is None or not outlook.predictions:
        return None
    law, compute = outlook.law, outlook.predictions[0].compute
    phi = np.vstack([outlook.fit.phi[None], outlook.truth_phi])
    log_n = log_optimal_n(law, phi, np.array([compute]))[:, 0]
    budget = float(np.log(compute) - LOG6)

    def interval(logs: FloatArray) -> Interval:
        ends = np.quantile(logs[1:], [0.5 - outlook.level / 2, 0.5 + outlook.level / 2])
        # Beyond that nobody reads a number; no law that few runs tell may break the page.
        return Interval(*(float(np.exp(np.clip(x, -200, 200))) for x in (logs[0], *ends)))

    return Shares(law, interval(log_n), interval(budget - log_n), interval(budget - 2 * log_n))


def true_parameters(outlook: Outlook) -> dict[str, Interval]:
    """Natural parameters, with intervals of the truth and not of the pool's law alone."""
    tail = 0.5 - outlook.level / 2
    found = {}
    for j, param in enumerate(outlook.law.params):
        ends = np.quantile(outlook.truth_phi[:, j], [tail, 1 - tail])
        low, high = (float(param.to_natural(end)) for end in ends)
        found[param.name] = Interval(outlook.fit.params[param.name], low, high)
    return found


def tuning_laws(source: Source) -> tuple[HyperparameterLaw, ...]:
    """λ*(N, D) of every tuned axis: on the mixed grid of a search, else on the runs."""
    if source.seen is not None:
        grid = source.seen.grid
        return hyperparameter_laws(grid, np.arange(len(grid)), source.seen.mixed)
    any_law = source.analysis or source.shares
    return () if any_law is None else any_law.hyperparameters


def settings(source: Source) -> Settings | None:
    """The hyperparameters to use at the first target; None where none was tuned or known."""
    grid, best = source.study.grid, shares(source)
    tuned = [name for name, values in grid.hp.items() if len(np.unique(values)) > 1]
    if not tuned:
        return None
    laws = {law.axis: law for law in tuning_laws(source)} if best is not None else {}
    found, how = _of_best_run(source, [name for name in tuned if name not in laws])
    if best is not None and laws:
        at = {"N": np.array([best.N.centre]), "D": np.array([best.D.centre])}
        found |= {axis: _setting(law, at, source) for axis, law in laws.items()}
        how = [f"{', '.join(laws)} by λ* = c·N^a·D^b, extrapolated to these N and D", *how]
    known = tuple(found[name] for name in tuned if name in found)
    return Settings(known, "; ".join(how)) if known else None


def _setting(law: HyperparameterLaw, at: dict[str, np.ndarray], source: Source) -> Setting:
    value = float(law.fit.predict(at)[0])
    # Fantasized losses are no data: of a mixed grid the interval would be too narrow.
    if source.seen is not None or law.uncertainty is None:
        return Setting(law.axis, value, None, "extrapolated")
    band = law.uncertainty.loss(at, source.level)
    interval = Interval(*(float(v[0]) for v in band))
    return Setting(law.axis, value, interval, "extrapolated")


def _of_best_run(source: Source, names: list[str]) -> tuple[dict[str, Setting], list[str]]:
    """Those of the run of least loss, and how that is said."""
    grid = source.study.grid
    loss = source.study.runs.config_loss(len(grid))
    if not names or not np.isfinite(loss).any():
        return {}, []
    row = int(np.nanargmin(loss))
    origin = "as in the best run"
    found = {axis: Setting(axis, grid.column(axis)[row].item(), None, origin) for axis in names}
    return found, [f"{', '.join(names)} as in the best run, at {flops(grid.C[row])} FLOPs"]
