"""Warnings about a fit: a code, a sentence that says what to do, and its numbers.

Every check is a function of finished fits and arrays, and returns a Diagnostic or None.
Shapes as in :mod:`lawsmith.laws.law`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import fdtri

from lawsmith.arrays import robust_sd
from lawsmith.formats import flops, formatted, interval, number, percent
from lawsmith.grid import FloatArray, IntArray
from lawsmith.laws.fit import LawFit
from lawsmith.laws.noise import MOST_RUNS
from lawsmith.laws.uncertainty import Influence, Interval, Uncertainty, lowest_loss

# With this an error of 0.1 % in the losses may be one of 1000 % in a combination of parameters.
MAX_CONDITION = 1e4
MIN_SPREAD = 0.05  # SD of log D at given log N; below it N and D cannot be told apart
FAR_DECADES = 1.0  # about as far as hold-outs test a form (`analysis.compare.CUTS`)
LEAST_MOVE = 0.005  # of the loss: a smaller change of the prediction is not worth a warning
LEAST_OPTIMISM = 2e-4  # of the loss: less is not visible in the four digits of a loss
SURE = 0.99  # level of F tests: one false alarm in a hundred fits
SAME_RATIO = 0.01  # tolerance of equal D/N, because tokens are rounded to whole batches


@dataclass(frozen=True)
class Diagnostic:
    """A warning: its code, one sentence that says what to do, and the numbers in it by name."""

    code: str
    message: str
    numbers: Mapping[str, float | str] = field(default_factory=dict)


def at_bound(fit: LawFit) -> Diagnostic | None:
    if not fit.at_bounds:
        return None
    values = {name: fit.params[name] for name in fit.at_bounds}
    lowest = lowest_loss(fit)
    floors = [p.name for p in fit.law.params if p.additive and p.name in values]
    capped = [name for name in floors if np.isclose(values[name], lowest, rtol=1e-9)]
    if capped:
        text = f"{capped[0]} is held at {number(lowest)}, the lowest loss in the data: left free, "
        text += f"{fit.law.name} would not go below a loss that was reached. Try another form"
    else:
        edges = ", ".join(f"{name} = {number(value, 3)}" for name, value in values.items())
        text = f"{edges} sits at the edge of its range; read it as 'no limit', or fix it with --fix"
    return Diagnostic("at_bound", text, {**values, "lowest_loss": lowest})


def not_identified(uncertainty: Uncertainty | None, level: float) -> Diagnostic | None:
    """Warn of parameters that are not identified, except those at the edge of their range."""
    if uncertainty is None:
        return None
    params = uncertainty.params(level)
    unknown = [
        name
        for name, interval in params.items()
        if np.isnan(interval.low) and name not in uncertainty.at_bounds
    ]
    if not unknown:
        return None
    return Diagnostic(
        "not_identified",
        f"the runs do not identify {', '.join(unknown)}: very different values fit as well. Do not "
        "quote them; add runs over a wider range, fix one with --fix, or use a simpler law",
        {name: params[name].centre for name in unknown},
    )


def ill_conditioned(fit: LawFit) -> Diagnostic | None:
    if fit.condition <= MAX_CONDITION:
        return None
    return Diagnostic(
        "ill_conditioned",
        f"condition number {formatted(fit.condition, '.2g')}: parameters trade off against each "
        "other, so trust predictions inside the data, not single parameters",
        {"condition": fit.condition},
    )


def too_few_levels(fit: LawFit, n_levels: int) -> Diagnostic | None:
    n_free = int(fit.free.sum())
    if min(n_levels, fit.n_points) >= n_free + 3:
        return None
    return Diagnostic(
        "too_few_levels",
        f"{fit.n_points} points at {n_levels} levels for {n_free} free parameters: too few to "
        "judge the fit. Add runs, or fix a parameter with --fix",
        {"n_points": fit.n_points, "n_levels": n_levels, "n_free": n_free},
    )


def collinear_design(N: FloatArray, D: FloatArray) -> Diagnostic | None:
    """Warn if D is nearly a function of N, so that their effects cannot be told apart."""
    n, d = np.log(N), np.log(D)
    if np.ptp(n) == 0 or np.ptp(d) == 0:
        which = "N" if np.ptp(n) == 0 else "D"
        text = f"{which} has one value: its term cannot be fitted"
        return Diagnostic("collinear_design", text, {"n_values": 1})
    slope, intercept = np.polyfit(n, d, 1)
    spread = float(np.std(d - slope * n - intercept))
    if spread >= MIN_SPREAD:
        return None
    return Diagnostic(
        "collinear_design",
        f"D follows N (D ∝ N^{slope:.2f} within {max(100 * spread, 0.01):.2g}%): the terms of N "
        "and of D cannot be told apart, so L(N, D) is unidentifiable",
        {"slope": float(slope), "spread": spread},
    )


def influential_point(influence: Influence, where: FloatArray, target: str) -> Diagnostic | None:
    """Warn of a point that moves the prediction at the target; ``where`` (n,): their compute."""
    worst = influence.largest
    shift = float(influence.shift[worst])
    if abs(shift) < max(influence.standard_error, LEAST_MOVE):
        return None
    return Diagnostic(
        "influential_point",
        f"without the point at {flops(where[worst])} FLOPs the prediction at {target} moves by "
        f"{100 * np.expm1(shift):+.2g}%: check that run, or repeat it",
        {
            "compute": float(where[worst]),
            "change": float(np.expm1(shift)),
            "standard_error": influence.standard_error,
            "n_refitted": influence.n_refitted,
        },
    )


def lack_of_fit(fit: LawFit, uncertainty: Uncertainty | None) -> Diagnostic | None:
    """Warn of residuals that are larger than noise, or that still curve with scale."""
    if uncertainty is None:
        return None
    if np.isfinite(uncertainty.misfit):
        return _beyond_noise(uncertainty)
    curve = _curve_left(fit)
    if curve is None or curve[0] <= curve[1]:
        return None
    return Diagnostic(
        "lack_of_fit",
        f"the residuals still bend with scale (F = {formatted(curve[0], '.1f')}): try another form",
        {"F": curve[0], "F_limit": curve[1]},
    )


def _beyond_noise(u: Uncertainty) -> Diagnostic | None:
    """Compare the ratio of variances with the 99 % point of F."""
    limit = float(fdtri(max(u.dof, 1), max(u.noise_dof, 1), SURE))
    if u.misfit <= limit:
        return None
    return Diagnostic(
        "lack_of_fit",
        f"residuals are {formatted(float(np.sqrt(u.misfit)), '.1f')}× what the noise of a run "
        "explains: the form misses something. Intervals are widened by it; compare other forms "
        "with --compare",
        {"F": u.misfit, "F_limit": limit, "dof": u.dof, "noise_dof": u.noise_dof},
    )


def _curve_left(fit: LawFit) -> tuple[float, float] | None:
    """The F statistic of adding squares of the log inputs to the law, and its 99 % point."""
    base = fit.jac[fit.free].T
    z = (fit.x - fit.x.mean(axis=1, keepdims=True)) / np.maximum(
        np.ptp(fit.x, axis=1)[:, None], 1e-12
    )
    extra = (z**2).T
    full = np.concatenate([base, extra], axis=1)
    n, rank = len(base), int(np.linalg.matrix_rank(full))
    added = rank - int(np.linalg.matrix_rank(base))
    if n - rank < 3 or added < 1:
        return None

    # Outliers are no curvature: residuals beyond 2.5 robust SDs are clipped.
    limit = 2.5 * max(robust_sd(fit.residuals), 1e-12)
    residual = np.clip(fit.residuals, -limit, limit)

    def squares(columns: FloatArray) -> float:
        solution = np.linalg.lstsq(columns, residual, rcond=None)[0]
        return float(((residual - columns @ solution) ** 2).sum())

    before, after = squares(base), squares(full)
    if after <= 1e-24:
        return None
    statistic = ((before - after) / added) / (after / (n - rank))
    return statistic, float(fdtri(added, n - rank, SURE))


def extrapolation_decades(
    target: str,
    decades: float,
    meant: str = "the interval assumes that the form holds there. A larger run would test this",
) -> Diagnostic | None:
    """Warn if a target is a far extrapolation; ``meant`` says what that means."""
    if decades <= FAR_DECADES:
        return None
    far = (
        f"{target} lies {formatted(decades, '.1f')} decades beyond the largest compute in the data"
    )
    return Diagnostic("extrapolation_decades", f"{far}; {meant}", {"decades": decades})


def frontier_optimism(
    uncertainty: Uncertainty | None, n_runs: int, n_points: int
) -> Diagnostic | None:
    """Say how optimistic the frontier is, or why this is unknown."""
    if n_runs <= n_points or uncertainty is None:
        return None
    if not np.isfinite(uncertainty.noise_sd):
        why = "too few to separate noise from real differences"
        if n_runs > MOST_RUNS:
            why = f"more than {MOST_RUNS:,}, for which noise is not separated from real differences"
        return Diagnostic(
            "frontier_optimism",
            f"{n_points} frontier points are minima of {n_runs} runs; there are {why}, so their "
            "optimism is not corrected",
            {"n_runs": n_runs, "n_points": n_points},
        )
    if abs(uncertainty.shift) < LEAST_OPTIMISM:
        return None
    return Diagnostic(
        "frontier_optimism",
        f"the minimum of noisy runs is optimistic: frontier losses lie about "
        f"{percent(-uncertainty.shift)} below the true best (noise of a run "
        f"{percent(uncertainty.noise_sd)}); intervals are corrected for it, the fitted law is not",
        {"optimism": -uncertainty.shift, "noise_sd": uncertainty.noise_sd},
    )


def isoflop_unbracketed(N: FloatArray, loss: FloatArray, level_of: IntArray) -> Diagnostic | None:
    """Warn of isoFLOP curves with their minimum at an end, so that the optimum was not run.

    One row per (N, D) cell; ``level_of`` is the number of its compute level.
    """
    n_open, n_curves = 0, 0
    for level in np.unique(level_of):
        rows = np.flatnonzero(level_of == level)
        if len(rows) < 3:
            continue
        n_curves += 1
        order = rows[np.argsort(N[rows])]
        if int(np.argmin(loss[order])) in (0, len(order) - 1):
            n_open += 1
    if n_open == 0:
        return None
    return Diagnostic(
        "isoflop_unbracketed",
        f"{n_open} of {n_curves} isoFLOP curves have their minimum at an end: the optimal N there "
        "lies outside the sizes that were run. Add runs beyond that end",
        {"n_open": n_open, "n_curves": n_curves},
    )


def law_above_observed(
    law: str, target: str, predicted: float, reached: float, compute: float
) -> Diagnostic | None:
    """Warn if a law predicts more than ``reached``, the lowest loss of runs that are no larger."""
    if not predicted > reached:
        return None
    return Diagnostic(
        "law_above_observed",
        f"{law} predicts {predicted:#.4g} at {target}, above the {reached:#.4g} that a run of "
        f"{flops(compute)} FLOPs has reached: this law is wrong there. Go by the answer, or try "
        "another form",
        {"law": law, "predicted": predicted, "reached": reached, "reached_compute": compute},
    )


def laws_disagree(target: str, claims: Mapping[str, Interval], level: float) -> Diagnostic | None:
    """Warn if intervals of the same loss do not overlap; ``claims``: name → its interval."""
    if len(claims) < 2:
        return None
    names = list(claims)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    disjoint = [p for p in pairs if _gap(claims[p[0]], claims[p[1]]) > 0.0]
    if not disjoint:
        return None
    low, high = max(disjoint, key=lambda p: _gap(claims[p[0]], claims[p[1]]))
    if claims[low].low > claims[high].low:
        low, high = high, low
    ends = {name: interval(claims[name].low, claims[name].high, _loss) for name in (low, high)}
    ranges = " and ".join(f"{name} {text}" for name, text in ends.items())
    others = f"; {len(disjoint)} of {len(pairs)} pairs are apart" if len(pairs) > 1 else ""
    return Diagnostic(
        "laws_disagree",
        f"at {target} the {percent(level)} intervals of {ranges} do not overlap{others}: an "
        "interval of a law holds only if its form is right. Go by the answer, and see with "
        "--compare which form predicts runs that it has not seen",
        {
            "lower": low,
            "lower_high": float(claims[low].high),
            "higher": high,
            "higher_low": float(claims[high].low),
            "n_disjoint": len(disjoint),
            "n_pairs": len(pairs),
        },
    )


def _gap(a: Interval, b: Interval) -> float:
    """The distance between two intervals, below 0 if they overlap."""
    return float(max(a.low, b.low) - min(a.high, b.high))


def _loss(value: float) -> str:
    return f"{value:#.4g}"


def allocation_extrapolated(
    subject: str,
    ratio: float,
    tried: FloatArray,
    rely_on: str = "this N and D",
    *,
    at_edge: bool = False,
) -> Diagnostic | None:
    """Warn if a D/N lies outside those of the runs, ``tried``.

    subject   'at 1e25 FLOPs the best D/N by chinchilla is'
    rely_on   what the reader should not rely on then
    """
    low, high = float(tried.min()), float(tried.max())
    inside = low * (1 - SAME_RATIO) <= ratio <= high * (1 + SAME_RATIO)
    if inside and not at_edge:
        return None
    where = "at the end of" if inside else "outside"
    return Diagnostic(
        "allocation_extrapolated",
        f"{subject} {number(ratio, 3)}, {where} the {number(low, 3)} to {number(high, 3)} that "
        f"were run: run some there before you rely on {rely_on}",
        {"ratio": ratio, "least_run": low, "largest_run": high},
    )
