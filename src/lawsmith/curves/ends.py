"""The ends of unfinished scheduled runs, by a law of the learning rate's path that is tested first.

A law (:mod:`lawsmith.curves.schedule`) is fitted to all curves of one N. Before it is used,
finished runs of the study are cut at the share of their tokens that the unfinished run has reached,
and their ends are predicted from the rest. The law is used if it errs by PROVEN or less (root mean
square); what it erred by is in every interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import FloatArray, evenly_spaced
from lawsmith.curves.records import End
from lawsmith.curves.schedule import ScheduleLaw, Units, fit_law
from lawsmith.curves.trunks import end_of
from lawsmith.formats import percent, plural
from lawsmith.trajectory import Curve

PROVEN = 0.03  # root mean square error of log loss
LEAST_TRIALS, MOST_TRIALS = 2, 12  # one trial may be luck; each is a fit of the law
FIRST_ERROR, FIRST_TRIALS = 0.01, 2.0  # what is expected of a law before its trials, and how firmly
SHARES = (0.0, 0.25, 0.5, 0.75)  # of a run at which finished ones are cut
SAME_N = 1e-6  # relative: one N, but for rounding


@dataclass(frozen=True)
class EndTrial:
    """Hold-outs at one share: how many, and the root mean square error of log loss."""

    n: int
    error: float

    @property
    def proven(self) -> bool:
        return self.n >= LEAST_TRIALS and self.error <= PROVEN

    @property
    def variance(self) -> float:
        total = self.n * self.error**2 + FIRST_TRIALS * FIRST_ERROR**2
        return total / (self.n + FIRST_TRIALS)

    @property
    def df(self) -> float:
        return self.n + FIRST_TRIALS


def scheduled_ends(
    curves: Sequence[Curve], level: float
) -> tuple[tuple[End, ...], tuple[FloatArray, FloatArray], tuple[str, ...]]:
    """Ends of unfinished scheduled runs, their log losses (r,) with cov (r, r), and notes."""
    known = [c for c in curves if c.path is not None and np.isfinite(c.N)]
    groups = [[c for c in known if same_size(c, N)] for N in _sizes(known)]
    open_runs = [c for c in known if c.kind == "scheduled" and not c.finished]
    notes, ends, y, variance, sizes = [], [], [], [], []
    trials = {p: try_laws(groups, p) for p in sorted({share_of(c) for c in open_runs})}
    laws: dict[int, ScheduleLaw] = {}
    n_refused = 0
    for c in open_runs:
        trial = trials[share_of(c)]
        k = next(k for k, group in enumerate(groups) if c in group)
        if not trial.proven or not any(len(other.D) for other in groups[k]):
            n_refused += 1
            continue
        if k not in laws:
            laws[k] = fit_group(groups[k])
        law = laws[k]
        mean, by_theta = law.end(c)
        scale2 = by_theta + trial.variance
        ends.append(end_of(c, c.end, mean, scale2, law.sd**2, trial.df, level))
        y.append(mean)
        variance.append(scale2)
        sizes.append(c.N)
    if n_refused:
        notes.append(f"{plural(n_refused, 'unfinished run')} not used: {_why(trials.values())}")
    sd = np.sqrt(np.array(variance))
    # Ends of one size come from one law, so half of their errors' variance is taken as shared.
    same = np.equal.outer(np.array(sizes), np.array(sizes))
    cov = np.outer(sd, sd) * np.where(np.eye(len(sd)) > 0, 1.0, np.where(same, 0.5, 0.0))
    return tuple(ends), (np.array(y), cov), tuple(notes)


def _why(trials: Iterable[EndTrial]) -> str:
    worst = [trial for trial in trials if not trial.proven]
    if not worst or min(trial.n for trial in worst) < LEAST_TRIALS:
        need = f"at least {LEAST_TRIALS} finished runs with a learning rate"
        return f"{need} are needed to prove a law of the schedule"
    trial = max(worst, key=lambda trial: trial.error)
    erred = f"erred by {percent(trial.error, 2)} on {plural(trial.n, 'finished run')} held out"
    return f"the law of the schedule {erred}"


def try_laws(groups: Sequence[Sequence[Curve]], share: float) -> EndTrial:
    """How far laws err on ends of finished runs that are cut at a share of their tokens."""
    cases = [
        (group, c)
        for group in groups
        for c in group
        if c.kind == "scheduled" and c.finished and any(len(o.D) for o in group if o is not c)
    ]
    errors = []
    for group, c in (cases[i] for i in evenly_spaced(len(cases), MOST_TRIALS).tolist()):
        law = fit_group([cut(o, share) if o is c else o for o in group])
        errors.append(law.end(c)[0] - float(np.log(c.loss[-1])))
    return EndTrial(len(errors), float(np.sqrt(np.mean(np.square(errors)))) if errors else np.inf)


def fit_group(group: Sequence[Curve]) -> ScheduleLaw:
    """The law of all curves of a size that have losses."""
    with_losses = [c for c in group if len(c.D)]
    return fit_law(with_losses, Units.of(group))


def cut(curve: Curve, share: float) -> Curve:
    """The curve up to a share of its tokens; its plan stays."""
    kept = share * curve.end >= curve.D
    return replace(curve, D=curve.D[kept], loss=curve.loss[kept])


def share_of(curve: Curve) -> float:
    """The largest of SHARES that a run has reached."""
    return max(p for p in SHARES if p * curve.end <= curve.reached)


def same_size(curve: Curve, N: float) -> bool:
    return bool(abs(np.log(curve.N / N)) < SAME_N)


def _sizes(curves: Sequence[Curve]) -> list[float]:
    sizes: list[float] = []
    for c in curves:
        if not any(same_size(c, N) for N in sizes):
            sizes.append(c.N)
    return sizes
