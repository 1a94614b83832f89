"""From the runs of a study to its answer: one function for tables, replays and live studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lawsmith.answer import cautions
from lawsmith.answer.from_curves import from_curves
from lawsmith.answer.records import Answer, Forecast, HeldOutRuns, Target
from lawsmith.answer.related import relate
from lawsmith.arrays import BoolArray, FloatArray, IntArray, saturating
from lawsmith.curves import Along, CurveModel, fit_curves
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import Grid
from lawsmith.runs import Runs, State
from lawsmith.surface import PUBLIC, Prior, Surface, fit_surface
from lawsmith.threads import one_thread

LEAST_RUNS = 4  # finished with a loss: fewer tell neither a level nor a slope
# A surface is fitted to a few hundred configurations. They are chosen among at most this many: a
# quarter are the largest ones, the rest are spread evenly over compute.
MOST_CONFIGS = 20_000
MOST_BESIDE = 2_000  # the same if losses are inferred: the covariance of their errors is a matrix


@saturating
def answer(
    grid: Grid,
    runs: Runs,
    targets: Sequence[Target] = (),
    *,
    study: str = "",
    level: float = 0.95,
    held_out: IntArray | None = None,
    prior: Prior = PUBLIC,
    along: Along | None = None,
    others: Mapping[str, FloatArray] | None = None,
) -> Answer:
    """Predict the loss at ``targets`` from ``runs`` on ``grid``.

    held_out   rows of the grid whose runs are not used but predicted
    prior      learnt from earlier studies: by default public ones; `lawsmith.learn` adds others
    along      losses along runs, with the runs in the order of ``runs``
    others     other losses of ``runs``, in their order, from which the loss of pending runs is
               inferred. Not used together with ``along``
    """
    held = np.empty(0, dtype=np.int64) if held_out is None else held_out
    not_held = ~np.isin(runs.index, held)
    kept = runs.finished & not_held  # pending runs must not narrow an interval
    used = runs.take(kept)
    done = used.of(State.DONE)
    if len(done) < LEAST_RUNS:
        got = f"{len(done)} finished runs"
        raise LawsmithError("answer", got=got, want=f"at least {LEAST_RUNS}")
    with one_thread():
        model = None
        if along is not None:  # with the trunks that targets and held-out runs need
            sizes = [float(target.N) for target in targets if target.N is not None]
            sizes += np.unique(grid.N[held]).tolist()
            model = fit_curves(along.of(kept), grid, used, sizes, level)
        fitted = used if along is not None else thin(grid, used)
        inferred = None if model is None else model.inferred
        surface = fit_surface(*_candidates(grid, fitted, held), prior, inferred=inferred)
        related = None
        if others and along is None:
            pending = not_held & (runs.state == State.PENDING.value)
            both = (kept & _spread_over(grid, runs.index, MOST_BESIDE)) | pending
            other_losses = {name: values[both] for name, values in others.items()}
            related, rows = relate(surface, grid, runs.take(both), other_losses)
            if rows is not None:
                pool, known = _candidates(grid, runs.take(both), held)
                surface = fit_surface(pool, known, prior, inferred=rows)
        forecasts = tuple(_forecast(surface, model, target, level) for target in targets)
        judged = _judged(surface, model, grid, runs, held, level)
        finding = None if model is None else model.finding(level)
    n_diverged = len(used.of(State.DIVERGED))
    loss = used.config_loss(len(grid))
    warned = cautions.warnings(forecasts, judged, grid, loss, len(done), level)
    warned += [cautions.odd_run(run) for run in surface.odd_runs()]
    if len(fitted) < len(used):
        warned.append(cautions.thinned(len(fitted), len(used)))
    return Answer(
        study=study,
        level=level,
        n_runs=len(done) + n_diverged,
        n_diverged=n_diverged,
        largest=float(grid.C[done.index].max()),
        forecasts=forecasts,
        left_out=held,
        held_out=judged,
        warnings=tuple(warned),
        verdict=cautions.verdict(forecasts, warned, level),
        surface=surface,
        public=prior.public,
        learnt_from=prior.learnt_from,
        curves=finding,
        others=related,
    )


def default_target(grid: Grid, runs: Runs) -> Target:
    """The first power of ten that is at least half a decade above the largest run."""
    done = runs.of(State.DONE)
    if not len(done):
        raise LawsmithError("answer", got="no finished run", want=f"at least {LEAST_RUNS}")
    largest = float(grid.C[done.index].max())
    return Target(10.0 ** np.ceil(np.log10(largest) + 0.5))


def _candidates(grid: Grid, runs: Runs, held_out: IntArray) -> tuple[Grid, Runs]:
    """The grid without held-out rows, which must not extend the range of hyperparameters."""
    if not len(held_out):
        return grid, runs
    rows = np.setdiff1d(np.arange(len(grid)), held_out)
    return grid.subset(rows), runs.select(rows)


def thin(grid: Grid, runs: Runs) -> Runs:
    """The runs of at most MOST_CONFIGS configurations, chosen by compute and never by loss."""
    kept = _spread_over(grid, runs.index, MOST_CONFIGS)
    return runs if kept.all() else runs.take(kept)


def _spread_over(grid: Grid, index: IntArray, most: int) -> BoolArray:
    """(k,) a mask of runs on rows ``index``: those of at most ``most`` configurations."""
    configs = np.unique(index)
    if len(configs) <= most:
        return np.ones(len(index), dtype=np.bool_)
    scattered = (configs * 0.6180339887498949) % 1.0  # rows of equal compute in no fixed order
    ranked = configs[np.lexsort((scattered, grid.C[configs]))]
    n_top = most // 4
    spread = np.linspace(0, len(ranked) - n_top - 1, most - n_top).astype(np.int64)
    rows = np.zeros(len(grid), dtype=np.bool_)
    rows[np.concatenate([ranked[-n_top:], ranked[spread]])] = True
    return np.asarray(rows[index])


def _forecast(surface: Surface, model: CurveModel | None, target: Target, level: float) -> Forecast:
    if target.sized:
        estimate = surface.at(level=level, hp=target.hp, **target.scales(surface.scale_names))
    else:
        estimate = surface.best(target.C, level=level, hp=target.hp)
    forecast = Forecast(**vars(estimate), target=target)
    return forecast if model is None else from_curves(model, surface, forecast, level)


def _judged(
    surface: Surface,
    model: CurveModel | None,
    grid: Grid,
    runs: Runs,
    held_out: IntArray,
    level: float,
) -> HeldOutRuns | None:
    """The best held-out run of each compute, with its prediction; None if there is none."""
    loss = runs.config_loss(len(grid))
    kept = held_out[np.isfinite(loss[held_out])]
    if not len(kept):
        return None
    rows = kept[frontier(grid.subset(kept), loss[kept], ("C",))]
    ends = np.array([_further_run(surface, model, grid, int(row), level) for row in rows])
    return HeldOutRuns(rows, grid.C[rows], loss[rows], *ends.T)


def _further_run(
    surface: Surface, model: CurveModel | None, grid: Grid, row: int, level: float
) -> FloatArray:
    """(3,) loss, run_low and run_high of a further run at the scales of a row, tuned as well."""
    if model is not None:
        target = Target(float(grid.C[row]), float(grid.N[row]), float(grid.D[row]))
        forecast = _forecast(surface, model, target, level)
        return np.array([forecast.loss, forecast.run_low, forecast.run_high])
    mixture = surface.mixture_of(grid, row)
    centre = np.exp(mixture.quantile(0.5, run=True))
    return np.array([centre, *mixture.interval(level)[3:]])
