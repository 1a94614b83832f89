"""What the surface of the runs so far answers, beside what is true.

Of a table the answer is judged by the best run of each held-out cell (N, D) on the frontier, which
the search never saw; an interval is that of one run. Of a drawn study it is judged by the true best
loss at the target; an interval is that of the truth.

Notation and shapes
    q   losses that are asked for
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.datasets import Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import BoolArray, FloatArray, IntArray
from lawsmith.replay import Task
from lawsmith.runs import Runs
from lawsmith.surface import Surface, fit_surface
from lawsmith.surface.mixture import Mixture
from lawsmith_paper.jobs import Json

LEVEL = 0.95
NEAR, WITHIN = 1.05, 1.003  # a cell is beaten by a loss this much lower, at this much compute
NAMES = ("error", "held", "score")  # what an answer is judged by


@dataclass(frozen=True, eq=False)
class Question:
    """What a surface is asked.

    loss      (q,) what is true
    scales    by name, (q,) each: N, D and C of held-out cells; empty: the best loss at ``compute``
    """

    loss: FloatArray
    scales: Mapping[str, FloatArray]
    compute: float | None = None

    def judged(self, task: Task, rows: Sequence[int]) -> Json | None:
        """How right the surface of these runs of the pool is; None without one, or without losses.

        error   median of |ln predicted − ln true|, in %
        held    share of the 95 % intervals that hold what is true
        score   mean interval score of log loss, in %: width + 40 times what a loss is outside by
        """
        if not len(self.loss):
            return None  # no held-out cell is on the frontier
        try:
            surface = fit_surface(task.pool, Runs.from_losses(rows, task.loss[list(rows)]))
            mixtures = self._mixtures(surface)
        except LawsmithError:
            return None
        run, true = self.compute is None, np.log(self.loss)
        tails = (0.5 - LEVEL / 2, 0.5, 0.5 + LEVEL / 2)
        low, centre, high = np.array(
            [[m.quantile(p, run=run and p != 0.5) for p in tails] for m in mixtures]
        ).T
        outside = np.maximum(low - true, 0.0) + np.maximum(true - high, 0.0)
        return {
            "error": 100.0 * float(np.median(np.abs(centre - true))),
            "held": float(np.mean(outside == 0.0)),
            "score": 100.0 * float(np.mean(high - low + 2.0 / (1.0 - LEVEL) * outside)),
        }

    def _mixtures(self, surface: Surface) -> list[Mixture]:
        if self.compute is not None:
            return [surface.mixture_best(self.compute)]
        return [
            surface.mixture_at({name: float(self.scales[name][i]) for name in surface.scale_names})
            for i in range(len(self.loss))
        ]


def of_drawn(study: Study, compute: float) -> Question:
    """The true best loss at a compute."""
    if study.truth is None:
        raise LawsmithError("study", got=study.name, want="one whose truth is known")
    return Question(np.array([study.truth.best_loss(compute)]), {}, compute)


def of_table(study: Study, task: Task) -> Question:
    """The best losses of the held-out cells on the frontier of the table."""
    grid = study.grid
    held = np.ones(len(grid), dtype=np.bool_)
    held[task.rows] = False
    rows = frontier_cells(study, held)
    names = [name for name in grid.names if name in ("N", "D")]
    scales = {"C": grid.C[rows], **{name: grid.numbers(name)[rows] for name in names}}
    return Question(study.runs.config_loss(len(grid))[rows], scales)


def frontier_cells(study: Study, held: BoolArray) -> IntArray:
    """Rows of a table: the best run of each cell (N, D), where it is ``held`` and on the frontier.

    On the frontier no run of at most NEAR times its compute is better by more than WITHIN.
    """
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    names = [name for name in grid.names if name in ("N", "D")] or ["C"]
    cell, known = grid.cells(names), np.isfinite(loss)
    order = np.lexsort((np.where(known, loss, np.inf), cell))
    best = order[np.unique(cell[order], return_index=True)[1]]
    best = best[known[best]]
    found = best[held[best]]
    cheaper = grid.C[best][None, :] <= NEAR * grid.C[found][:, None]
    rival = np.where(cheaper, loss[best][None, :], np.inf).min(axis=1)
    return np.asarray(found[loss[found] <= WITHIN * rival], dtype=np.int64)
