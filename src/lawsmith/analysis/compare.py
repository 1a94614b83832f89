"""Laws beside each other and beside the surface: predictions, AICc, rolling hold-outs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lawsmith.analysis.design import inputs_at, largest_compute
from lawsmith.analysis.fitting import fit_frontier, split
from lawsmith.analysis.predict import above_observed, predict
from lawsmith.analysis.records import Comparison, Cut, FitOptions, HeldOutScore, Prediction
from lawsmith.answer.make import answer
from lawsmith.answer.records import HeldOutRuns
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.allocation import further_inputs
from lawsmith.laws.catalogue import LAWS
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import Uncertainty, refit
from lawsmith.surface import PUBLIC, Prior

CUTS = (3.0, 8.0, 30.0)  # the largest compute over that: what is below is fitted
LEAST_BELOW = 6  # finished runs below a cut


def rolling_cuts(study: Study, options: FitOptions) -> tuple[Cut, ...]:
    """The hold-out asked for, then those of the pool's largest runs, cut by cut."""
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    pool, held = split(grid, options.hold_out)
    found = [_cut(str(options.hold_out), study, loss, pool, held)] if len(held) else []
    done = pool[np.isfinite(loss[pool])]
    top = float(grid.C[done].max(initial=0.0))
    for ratio in CUTS:
        large = grid.C[done] * ratio * (1 + 1e-9) >= top
        name = f"C < {flops(top / ratio, 2)}"
        found.append(_cut(name, study, loss, done[~large], done[large]))
    return tuple(cut for cut in found if len(cut.pool) >= LEAST_BELOW and len(cut.judged))


def _cut(name: str, study: Study, loss: FloatArray, pool: IntArray, held: IntArray) -> Cut:
    return Cut(name, pool, held[frontier(study.grid.subset(held), loss[held], ("C",))], held)


def laws_for(study: Study) -> tuple[Law, ...]:
    """The built-in laws whose further inputs the study has."""
    return tuple(law for law in LAWS.values() if set(further_inputs(law)) <= set(study.grid.names))


@saturating
def compare_laws(
    study: Study, options: FitOptions, laws: tuple[Law, ...] | None = None
) -> tuple[Comparison, ...]:
    """Every law: its predictions at the targets, and on the best runs above each cut; best first.

    ``options.law`` plays no part. By default the laws are those of `laws_for`.
    """
    laws = laws_for(study) if laws is None else laws
    cuts = rolling_cuts(study, options)
    found = [_compared(study, _for_law(options, law), cuts) for law in laws]
    return tuple(sorted(found, key=_rank))


def _for_law(options: FitOptions, law: Law) -> FitOptions:
    fixed = {k: v for k, v in options.fixed.items() if k in law.names}
    priors = {k: v for k, v in options.priors.items() if k in law.names}
    return replace(options, law=law, fixed=fixed, priors=priors)


def _rank(c: Comparison) -> tuple[bool, int, float]:
    """Fitted laws first, then those judged on the most cuts, then by error."""
    missing = sum(cut is None for cut in c.cuts)
    return c.fit is None, missing, c.score.rmse if c.score else np.inf


def _compared(study: Study, options: FitOptions, cuts: Sequence[Cut]) -> Comparison:
    grid, law = study.grid, options.law
    loss = study.runs.config_loss(len(grid))
    try:
        pool, _ = split(grid, options.hold_out)
        _, fit, uncertainty = fit_frontier(study, pool, loss, options)
    except LawsmithError as error:
        return Comparison(law, None, None, str(error))
    largest = largest_compute(grid, pool, loss)
    judged = tuple(_judged(study, options, loss, cut) for cut in cuts)
    predictions = _predictions(fit, uncertainty, largest, options)
    above = (above_observed(grid, pool, loss, law, p) for p in predictions)
    return Comparison(
        law,
        fit,
        _together([runs for runs in judged if runs is not None]),
        predictions=predictions,
        aicc=aicc(fit),
        cuts=judged,
        warnings=tuple(warning for warning in above if warning is not None),
    )


def _predictions(
    fit: LawFit, uncertainty: Uncertainty | None, largest: float, options: FitOptions
) -> tuple[Prediction, ...]:
    """At the targets whose inputs the law has."""
    found = []
    for target in options.targets:
        if not set(target.hp) <= set(fit.law.inputs):
            continue
        try:
            found.append(predict(target, fit, uncertainty, largest, options.level))
        except LawsmithError:  # L(N) has nothing to say of a compute
            continue
    return tuple(found)


def _judged(study: Study, options: FitOptions, loss: FloatArray, cut: Cut) -> HeldOutRuns | None:
    """The law of the runs below a cut on the best ones above; None where it cannot be fitted."""
    try:
        _, fit, uncertainty = fit_frontier(study, cut.pool, loss, options)
    except LawsmithError:
        return None
    inputs = inputs_at(study.grid, options.law, cut.judged)
    predicted = fit.predict(inputs)
    nothing = np.full(len(predicted), np.nan)
    ends = uncertainty.run(inputs, options.level)[1:] if uncertainty else (nothing, nothing)
    return HeldOutRuns(cut.judged, study.grid.C[cut.judged], loss[cut.judged], predicted, *ends)


def _together(judged: Sequence[HeldOutRuns]) -> HeldOutScore | None:
    if not judged:
        return None
    parts = ((runs.rows, runs.loss, runs.predicted) for runs in judged)
    return HeldOutScore(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@saturating
def surface_on_cuts(
    study: Study, cuts: Sequence[Cut], level: float, prior: Prior = PUBLIC
) -> tuple[HeldOutRuns | None, ...]:
    """The surface of the runs below each cut on the best ones above, as laws are judged."""
    found: list[HeldOutRuns | None] = []
    for cut in cuts:
        kept = np.sort(np.concatenate([cut.pool, cut.held_out]))
        runs, held = study.runs.select(kept), np.searchsorted(kept, cut.held_out)
        try:
            made = answer(study.grid.subset(kept), runs, level=level, held_out=held, prior=prior)
        except LawsmithError:
            found.append(None)
            continue
        found.append(made.held_out and replace(made.held_out, rows=kept[made.held_out.rows]))
    return tuple(found)


def aicc(fit: LawFit) -> float:
    """Akaike's criterion with its correction for few points, of least squares on log loss.

    n ln(RSS/n) + 2k + 2k(k + 1)/(n − k − 1), the variance counted among the k parameters (Burnham
    and Anderson 2002); NaN with too few points for it.
    """
    squares = refit(fit, LEAST_SQUARES_LOG)
    n, k = fit.n_points, int(fit.free.sum()) + 1
    rss = float((squares.residuals**2).sum())
    if n - k - 1 < 1 or not rss > 0.0:
        return float("nan")
    return n * float(np.log(rss / n)) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
