"""The frontier operator Π: the best-loss envelope of a grid, by a law's independent variables.

Notation and shapes
    C       (m,) compute of each row
    loss    (m,) one loss per configuration (`Runs.config_loss`); not finite if unknown
    cells   (m,) integer cell of each row (`Grid.cells`)
    losses  (B, m) a batch of loss vectors on the same grid: bootstrap draws, posterior samples

For L(C), Π is the strict compute–loss Pareto frontier, not the minimum per compute level. For any
other law it is the minimum over the axes that the law does not model: one row per cell of its
inputs.

Replicates are averaged before Π. The least of several replicates would also be a minimum over
noise: the more replicates, the more optimistic.

Ties go to less compute, then to the lower row. A loss that is not finite is never on the frontier.
"""

from __future__ import annotations

import numpy as np

from lawsmith.grid import BoolArray, FloatArray, Grid, IntArray


def frontier(grid: Grid, loss: FloatArray, inputs: tuple[str, ...]) -> IntArray:
    """Π: rows on the frontier of a law in ``inputs``, ascending in C or in cell."""
    if inputs == ("C",):
        return pareto(grid.C, loss)
    return cell_minima(grid.cells(inputs), loss)


def frontier_batch(grid: Grid, losses: FloatArray, inputs: tuple[str, ...]) -> BoolArray:
    """(B, m) membership of each row in Π of each loss vector."""
    if inputs == ("C",):
        return pareto_batch(grid.C, losses)
    return _membership(cell_minima_batch(grid.cells(inputs), losses), losses.shape)


def best_row(loss: FloatArray, allowed: BoolArray | None = None) -> int | None:
    """The allowed row of least loss; None if no allowed row has a loss."""
    seen = np.isfinite(loss) if allowed is None else np.isfinite(loss) & allowed
    return int(np.argmin(np.where(seen, loss, np.inf))) if seen.any() else None


def frontier_level(grid: Grid, loss: FloatArray, inputs: tuple[str, ...]) -> FloatArray:
    """(m,) the frontier's level at each row: the least loss at no more compute, or of its cell."""
    filled = np.where(np.isfinite(loss), loss, np.inf)
    cells = np.unique(grid.C, return_inverse=True)[1] if inputs == ("C",) else grid.cells(inputs)
    least = np.full(int(cells.max()) + 1, np.inf)
    np.minimum.at(least, cells, filled)
    level: FloatArray = (np.minimum.accumulate(least) if inputs == ("C",) else least)[cells]
    return level


def pareto(C: FloatArray, loss: FloatArray) -> IntArray:
    """Rows whose loss is strictly below every loss at no more compute, ascending in C."""
    rows = np.flatnonzero(np.isfinite(loss))
    rows = rows[np.lexsort((loss[rows], C[rows]))]  # stable: the lower row first
    best_before = np.minimum.accumulate(np.concatenate([[np.inf], loss[rows]]))[:-1]
    return rows[loss[rows] < best_before]


def cell_minima(cells: IntArray, loss: FloatArray) -> IntArray:
    """The row of least loss in each cell, ascending in cell; cells without a loss are left out."""
    rows = np.flatnonzero(np.isfinite(loss))
    rows = rows[np.lexsort((loss[rows], cells[rows]))]  # stable: the lower row first
    return rows[np.unique(cells[rows], return_index=True)[1]]


def pareto_batch(C: FloatArray, losses: FloatArray) -> BoolArray:
    """(B, m) membership of each row in `pareto` of each loss vector."""
    rows = cell_minima_batch(np.unique(C, return_inverse=True)[1].astype(np.int64), losses)
    least = np.where(rows < 0, np.inf, np.take_along_axis(losses, np.maximum(rows, 0), axis=1))
    best = np.minimum.accumulate(least, axis=1)
    best_before = np.concatenate([np.full((len(best), 1), np.inf), best[:, :-1]], axis=1)
    return _membership(np.where(least < best_before, rows, -1), losses.shape)


def cell_minima_batch(cells: IntArray, losses: FloatArray) -> IntArray:
    """(B, n_cells) row of least loss in each distinct cell, ascending in cell; −1 if none."""
    n_rows = losses.shape[1]
    order = np.argsort(cells, kind="stable")  # stable: within a cell the lower row comes first
    _, starts, sizes = np.unique(cells[order], return_index=True, return_counts=True)
    sorted_losses = losses[:, order]
    sorted_losses[~np.isfinite(sorted_losses)] = np.inf
    least = np.minimum.reduceat(sorted_losses, starts, axis=1)
    is_least = sorted_losses == np.repeat(least, sizes, axis=1)
    place = np.where(is_least, np.arange(n_rows), n_rows)
    first = np.minimum.reduceat(place, starts, axis=1)
    return np.where(np.isfinite(least), order[first], -1)


def _membership(rows: IntArray, shape: tuple[int, ...]) -> BoolArray:
    """(B, m) masks from rows (B, n); −1 means no row."""
    on = np.zeros((shape[0], shape[1] + 1), dtype=np.bool_)
    np.put_along_axis(on, rows, True, axis=1)  # −1 sets the extra last column
    return on[:, :-1]
