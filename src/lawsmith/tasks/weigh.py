"""How much each member counts: how well it predicts the largest runs from the smaller ones.

Runs within a factor TOP of the largest compute (and TOP_SHARE of all at least) are kept out; every
member, and the surface of the loss, are fitted to the others. Those runs are not independent, so
together they count as EFFECTIVE_ROWS at most. Where too few runs are left, all members count the
same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lawsmith.arrays import FloatArray
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surface import Surface, fit_surface
from lawsmith.tasks import priors
from lawsmith.tasks.data import Scored, best_of_cells
from lawsmith.tasks.draws import log_losses
from lawsmith.tasks.members import N_DRAWS, Member, fit_members

LEAST_TOP, LEAST_BELOW = 3, 5  # runs to judge ways by, and to fit them to: one more than an answer
TOP_SHARE = 0.15  # of the runs, at least: a table with one large run is judged by more than that
MOST_TOP = 20  # runs that are predicted
SEED = 21


def weigh(grid: Grid, runs: Runs, data: Scored, members: Sequence[Member]) -> FloatArray:
    """(m,) weights, which sum to 1."""
    even = np.full(len(members), 1.0 / len(members))
    cut = _cut(data.C)
    top = cut < data.C
    if top.sum() < LEAST_TOP or (~top).sum() < LEAST_BELOW:
        return even
    below, rows = data.take(~top), data.take(top)
    rows = rows.take(best_of_cells(rows))
    rows = rows.take(np.argsort(-rows.C, kind="stable")[:MOST_TOP])
    ways = tuple(dict.fromkeys(member.way for member in members))
    try:
        kept = runs.take(grid.C[runs.index] <= cut)
        surface = fit_surface(grid, kept) if len(ways) > 1 else None
    except LawsmithError:
        return even
    losses = None if surface is None else _losses(surface, grid, rows)
    judged = fit_members(below, members[0].task, ways, SEED)
    score = {(m.way, m.window): _score(m, rows, losses) for m in judged}
    # A window that is too small below the cut is judged as the way's other one.
    each = np.array([score.get((m.way, m.window), score[m.way, "all"]) for m in members])
    each *= min(1.0, priors.EFFECTIVE_ROWS / len(rows))
    found = np.exp(each - each.max())
    return np.asarray(found / found.sum())


def _cut(C: FloatArray) -> float:
    """The compute above which runs are kept out."""
    n = max(LEAST_TOP, int(np.ceil(TOP_SHARE * len(C))))
    ordered = np.sort(C)
    below = ordered[ordered < ordered[-n]] if n < len(C) else ordered[:0]
    return float(min(C.max() / priors.TOP, below.max(initial=0.0)))


def _losses(surface: Surface, grid: Grid, rows: Scored) -> FloatArray:
    """(b, k) log losses that the surface expects of runs."""
    rng = np.random.default_rng(SEED)
    found = []
    for row in rows.row.tolist():
        scales = {name: float(grid.numbers(name)[row]) for name in surface.scale_names}
        mixture = surface.mixture_at(scales, surface.further_of(grid, row))
        found.append(log_losses(mixture, N_DRAWS, rng))
    return np.stack(found, axis=1)


def _score(member: Member, rows: Scored, losses: FloatArray | None) -> float:
    rng = np.random.default_rng(SEED)
    if member.way == "two steps":
        assert losses is not None
        return member.log_predictive(rows.y, member.x_at(losses, rng))
    return member.log_predictive(rows.y, member.x_at(rows.Z, rng))
