"""Laws compared with each other and with the surface: predictions, AICc, rolling hold-outs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lawsmith.analysis.analyse import above_observed, predict, predict_runs
from lawsmith.analysis.fitting import fit_frontier, split
from lawsmith.analysis.records import Analysis, Comparison, Cut, FitOptions, Prediction
from lawsmith.analysis.text import Json, prediction_payload, prediction_row
from lawsmith.answer.make import answer
from lawsmith.answer.records import HeldOutRuns
from lawsmith.arrays import saturating
from lawsmith.datasets.records import Study, frame_of
from lawsmith.digest import Columns, Digest, plain
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, formatted, number, percent
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.allocation import further_inputs
from lawsmith.laws.catalogue import LAWS
from lawsmith.laws.fit import LawFit
from lawsmith.laws.law import Law
from lawsmith.laws.objective import LEAST_SQUARES_LOG
from lawsmith.laws.uncertainty import refit
from lawsmith.surface import PUBLIC, Prior
from lawsmith.threads import one_thread

if TYPE_CHECKING:
    from lawsmith.datasets.records import Frame

# Runs below the largest compute divided by these are fitted. Half a decade, almost one, and one and
# a half, about evenly spaced in logs; the same as in `benchmarks/holdout.py`.
CUTS = (3.0, 8.0, 30.0)
LEAST_BELOW = 6  # finished runs below a cut: twice the parameters of L(C), the smallest law


def rolling_cuts(study: Study, options: FitOptions) -> tuple[Cut, ...]:
    """The hold-out of the options, then one of the pool's largest runs for each of CUTS."""
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    pool, held = split(grid, options.hold_out)
    cuts = [_cut(str(options.hold_out), study, loss, pool, held)] if len(held) else []
    done = pool[np.isfinite(loss[pool])]
    top = float(grid.C[done].max(initial=0.0))
    for ratio in CUTS:
        large = grid.C[done] * ratio * (1 + 1e-9) >= top
        name = f"C < {flops(top / ratio, 2)}"
        cuts.append(_cut(name, study, loss, done[~large], done[large]))
    return tuple(cut for cut in cuts if len(cut.pool) >= LEAST_BELOW and len(cut.best))


def _cut(name: str, study: Study, loss: FloatArray, pool: IntArray, held: IntArray) -> Cut:
    return Cut(name, pool, held[frontier(study.grid.subset(held), loss[held], ("C",))], held)


def laws_for(study: Study) -> tuple[Law, ...]:
    """The built-in laws that the study has the further inputs of."""
    return tuple(law for law in LAWS.values() if set(further_inputs(law)) <= set(study.grid.names))


@saturating
@one_thread()
def compare_laws(
    study: Study, options: FitOptions, laws: tuple[Law, ...] | None = None
) -> tuple[Comparison, ...]:
    """Every law's predictions at the targets and of the best runs above each cut; best law first.

    ``options.law`` is ignored. By default the laws are those of `laws_for`.
    """
    laws = laws_for(study) if laws is None else laws
    cuts = rolling_cuts(study, options)
    compared = [_compared(study, _for_law(options, law), cuts) for law in laws]
    return tuple(sorted(compared, key=_rank))


def _for_law(options: FitOptions, law: Law) -> FitOptions:
    fixed = {k: v for k, v in options.fixed.items() if k in law.names}
    return replace(options, law=law, fixed=fixed)


def _rank(c: Comparison) -> tuple[bool, int, float]:
    """Fitted laws first, then those that could be fitted at the most cuts, then by error."""
    missing = sum(runs is None for runs in c.on_cuts)
    return c.fit is None, missing, c.score.rmse if c.score else np.inf


def _compared(study: Study, options: FitOptions, cuts: Sequence[Cut]) -> Comparison:
    try:
        a = fit_frontier(study, split(study.grid, options.hold_out)[0], options)
    except LawsmithError as error:
        return Comparison(options.law, None, None, str(error))
    judged = tuple(_judged(study, options, cut) for cut in cuts)
    predictions = _predictions(a)
    above = (above_observed(a, p) for p in predictions)
    return Comparison(
        a.law,
        a.fit,
        _together([runs for runs in judged if runs is not None]),
        predictions=predictions,
        aicc=aicc(a.fit),
        on_cuts=judged,
        warnings=tuple(warning for warning in above if warning is not None),
    )


def _predictions(a: Analysis) -> tuple[Prediction, ...]:
    """Predictions at the targets at which the law can be read."""
    predictions = []
    for target in a.options.targets:
        if not set(target.hp) <= set(a.law.inputs):
            continue
        try:
            predictions.append(predict(a, target))
        except LawsmithError:  # L(N) cannot be read at a compute
            continue
    return tuple(predictions)


def _judged(study: Study, options: FitOptions, cut: Cut) -> HeldOutRuns | None:
    """The best runs above a cut, predicted by the law of those below; None if there is none."""
    try:
        return predict_runs(fit_frontier(study, cut.pool, options), cut.best)
    except LawsmithError:
        return None


def _together(judged: Sequence[HeldOutRuns]) -> HeldOutRuns | None:
    if not judged:
        return None
    parts = (vars(runs).values() for runs in judged)
    return HeldOutRuns(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@saturating
def surface_on_cuts(
    study: Study, cuts: Sequence[Cut], level: float, prior: Prior = PUBLIC
) -> tuple[HeldOutRuns | None, ...]:
    """The best runs above each cut, predicted by the surface of those below."""
    of_cuts: list[HeldOutRuns | None] = []
    for cut in cuts:
        kept = np.sort(np.concatenate([cut.pool, cut.held_out]))
        runs, held = study.runs.select(kept), np.searchsorted(kept, cut.held_out)
        try:
            made = answer(study.grid.subset(kept), runs, level=level, held_out=held, prior=prior)
        except LawsmithError:
            of_cuts.append(None)
            continue
        of_cuts.append(made.held_out and replace(made.held_out, rows=kept[made.held_out.rows]))
    return tuple(of_cuts)


def aicc(fit: LawFit) -> float:
    """Akaike's criterion with the correction for few points, of least squares on log loss.

    n ln(RSS/n) + 2k + 2k(k + 1)/(n − k − 1), where the variance is one of the k parameters (Burnham
    and Anderson 2002); NaN with too few points.
    """
    squares = refit(fit, LEAST_SQUARES_LOG)
    n, k = fit.n_points, int(fit.free.sum()) + 1
    rss = float((squares.residuals**2).sum())
    if n - k - 1 < 1 or not rss > 0.0:
        return float("nan")
    return n * float(np.log(rss / n)) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


@dataclass(frozen=True, repr=False)
class Comparisons:
    """Laws of one study, best first: the result of `compare_laws`.

    laws   one Comparison each; ``reason`` says why a law could not be fitted

    >>> compare_laws("synthetic-demo", laws=["LC"]).laws[0].law.name
    'LC'
    """

    study: str
    laws: tuple[Comparison, ...]

    def __repr__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """The laws as a table of text."""
        return self._listing().text()

    def to_frame(self) -> Frame:
        """One row per law and target: the error on held-out runs, AICc, the loss with intervals."""
        return frame_of(row for one in self.laws for row in _rows(one))

    def to_dict(self) -> dict[str, Any]:
        """The laws as plain values."""
        values: Json = plain({"study": self.study, "laws": [_values(one) for one in self.laws]})
        return values

    def _repr_html_(self) -> str:
        return self._listing().html()

    def _listing(self) -> Digest:
        heads = ("law", "held-out error", "AICc", "predictions", "")
        rows = [_line(one) for one in self.laws]
        return Digest(f"Laws of {self.study}, best first", [Columns("", heads, rows)])


def _line(one: Comparison) -> tuple[str, ...]:
    error = "" if one.score is None else percent(one.score.rms_error)
    losses = [f"{formatted(p.loss, '#.4g')} at {p.target.label}" for p in one.predictions]
    criterion = number(one.aicc) if one.fit is not None else ""
    return one.law.name, error, criterion, ", ".join(losses), one.reason


def _rows(one: Comparison) -> list[Json]:
    error = None if one.score is None else one.score.rms_error
    first = {"law": one.law.name, "held_out_error": error, "aicc": one.aicc, "reason": one.reason}
    return [{**first, **prediction_row(p)} for p in one.predictions] or [first]


def _values(one: Comparison) -> Json:
    return {
        "law": one.law.name,
        "params": None if one.fit is None else one.fit.params,
        "held_out_error": None if one.score is None else one.score.rms_error,
        "aicc": one.aicc,
        "predictions": [prediction_payload(p) for p in one.predictions],
        "reason": one.reason or None,
    }
