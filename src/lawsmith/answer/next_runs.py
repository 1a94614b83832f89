"""Which run to make next: by how much one more run narrows the interval at a target, and its cost.

Notation, for members j of the surface and a candidate x
    m_j, v_j      mean and variance of log loss at the best point of the target
    k_j           cov_j(x, target) / (var_j(x) + noise of a run at x)
    after         v_j − k_j·cov_j(x, target); m_j + k_j·(m̄(x) − m_j(x)), m̄ the mixture's mean: a run
                  brings members together, and on average it does not move their mean
    beyond        a run above the largest one shortens the extrapolation that the interval covers

Candidates cost less than the target. They have the D/N that were run, and the best hyperparameters.
The means after the run are expected values, so the width after it is an expectation too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.surface import Surface
from lawsmith.surface.frame import Points, stack
from lawsmith.surface.mixture import Mixture

N_COMPUTES, N_RATIOS = 9, 41  # computes of candidates, and D/N at each compute
BELOW = 100.0  # largest run's compute over the cheapest candidate's: cheaper ones tell little
MOST = 0.5  # of the target's compute: who can pay more makes the run of the target itself


@dataclass(frozen=True)
class NextRun:
    """A run that could be made next.

    C, scales, hp    its cost, its N and D (or the scales of the table), its hyperparameters
    before, after    half-width of the interval at the target without and with it, relative
    """

    C: float
    scales: Mapping[str, float]
    hp: Mapping[str, float | str]
    before: float
    after: float

    @property
    def narrowed(self) -> float:
        """By what share it narrows the interval."""
        return 1.0 - self.after / self.before


def next_runs(surface: Surface, C: float, n: int, *, level: float = 0.95) -> tuple[NextRun, ...]:
    """The n runs that narrow the interval at C most per FLOP, best first; one for each compute."""
    log_target, top = float(np.log(C)), surface.frame.log_top
    highest = max(log_target + np.log(MOST), top - np.log(BELOW) / 2)
    computes = np.exp(np.linspace(top - np.log(BELOW), highest, N_COMPUTES))
    target = surface.best_of(*surface.along(C))
    mixture = surface.mixture(target)
    before = _half_width(mixture, level)
    fresh = {a.name for a in surface.frame.further if a.kind != "experts"}  # no token is repeated
    runs = []
    for compute in computes.tolist():
        scales, places = _candidates(surface, compute)
        after = _after(surface, mixture, target, places, level)
        i = int(np.argmin(after))
        hp = surface.frame.hp_of(places.take(np.array([i])))
        runs.append(
            NextRun(
                C=compute,
                scales={name: float(values[i]) for name, values in scales.items()},
                hp={name: values[0].item() for name, values in hp.items() if name not in fresh},
                before=before,
                after=float(min(after[i], before)),
            )
        )
    useful = [run for run in runs if run.narrowed > 0.0]
    return tuple(sorted(useful, key=lambda run: -run.narrowed / run.C)[:n])


def _candidates(surface: Surface, C: float) -> tuple[dict[str, FloatArray], Points]:
    """Scales of runs that cost C, with the D/N that were run, and their points at the best λ."""
    given = surface.with_best_experts(C)
    line = {k: np.asarray(v) for k, v in surface.line(C, N_RATIOS, given).items()}
    if surface.scale_names == ("N", "D") and len(line["N"]) > 1:
        ratio, (low, high) = np.log(line["D"] / line["N"]), surface.frame.ratio
        kept = (ratio >= low - 1e-9) & (ratio <= high + 1e-9)
        line = {name: values[kept] for name, values in line.items()}
    return line, surface.best_hp(surface.heaviest, line, given)


def _after(
    surface: Surface, mixture: Mixture, target: list[Points], tried: Points, level: float
) -> FloatArray:
    """(q,) half-widths at the target after a run at each of the candidates."""
    q = len(tried)
    means, models = np.empty((len(target), q)), np.empty((len(target), q))
    at, gains = np.empty((len(target), q)), np.empty((len(target), q))
    for j, (member, goal) in enumerate(zip(surface.members, target, strict=True)):
        mean, cov = member.mean_and_cov(stack([goal, tried]))
        run = np.diag(cov)[1:] + member.run_noise(tried) ** 2
        gains[j] = cov[0, 1:] / run
        means[j], at[j] = mean[0], mean[1:]
        models[j] = np.maximum(cov[0, 0] - cov[0, 1:] ** 2 / run, 1e-12)
    means += gains * (surface.weight @ at - at)
    repeated = np.zeros(q, dtype=np.int64)
    h = np.stack([surface.frame.beyond(goal.take(repeated), tried) for goal in target])
    after = (replace(mixture, mean=means[:, i], model=models[:, i], h=h[:, i]) for i in range(q))
    return np.array([_half_width(one, level) for one in after])


def _half_width(mixture: Mixture, level: float) -> float:
    """Half-width of the interval of the loss, relative to the loss."""
    centre, low, high, *_ = mixture.interval(level)
    return 0.5 * (high - low) / centre
