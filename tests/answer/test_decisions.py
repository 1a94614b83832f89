"""Further runs, critical batches and regions, on studies drawn from formulae that one can solve."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.answer import Target, answer
from lawsmith.answer.batch import OVERHEAD, critical_batch
from lawsmith.answer.next_runs import next_runs
from lawsmith.charts import ChartUnavailable
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.charts.region import LEVELS, region, region_data
from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.runs import Runs

CRITICAL = 300.0  # tokens needed are D·(1 + B/CRITICAL)
BATCHES = np.array([16.0, 32.0, 64.0, 128.0, 256.0, 512.0])


def loss_of(N: np.ndarray, D: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """A batch wastes tokens, McCandlish's way: D tokens are worth D/(1 + B/CRITICAL)."""
    return 1.7 + 400 * N**-0.34 + 410 * (D / (1 + batch / CRITICAL)) ** -0.28


@pytest.fixture(scope="module")
def study() -> tuple[Grid, Runs]:
    rng = np.random.default_rng(0)
    sizes = np.meshgrid(np.geomspace(3e7, 1e9, 5), np.geomspace(3e9, 1e11, 5), BATCHES)
    N, D, batch = (axis.ravel() for axis in sizes)
    kept = rng.permutation(len(N))[:110]
    N, D, batch = N[kept], D[kept], batch[kept]
    loss = loss_of(N, D, batch) * np.exp(0.0005 * rng.standard_normal(len(N)))
    grid = Grid.from_columns({"N": N, "D": D, "batch_size": batch}, compute="6ND")
    return grid, Runs.from_losses(np.arange(len(N)), loss)


@pytest.fixture(scope="module")
def found(study):
    return answer(*study, targets=(Target(1e22),))


def test_the_critical_batch_is_the_one_that_a_fifth_more_tokens_make_up_for(found) -> None:
    batch = critical_batch(found.surface, 3e8, 3e10)
    # From the smallest batch on, tokens are worth a fifth more: 1 + B/c = 1.2·(1 + 16/c).
    exact = CRITICAL * ((1 + OVERHEAD) * (1 + BATCHES[0] / CRITICAL) - 1)
    assert batch.axis == "batch_size"
    assert batch.identified
    assert batch.best < 50
    assert batch.low <= exact <= batch.high
    assert batch.critical == pytest.approx(exact, rel=0.4)


def test_a_batch_that_costs_nothing_has_no_critical_value(study) -> None:
    grid, _ = study
    loss = loss_of(grid.N, grid.D, np.full(len(grid), 16.0))
    surface = answer(grid, Runs.from_losses(np.arange(len(grid)), loss)).surface
    batch = critical_batch(surface, 3e8, 3e10)
    assert not batch.identified
    assert batch.largest == pytest.approx(512.0)


def test_a_study_without_a_batch_is_told_so(study) -> None:
    grid, _ = study
    alone = np.unique(np.stack([grid.N, grid.D]), axis=1)
    bare = Grid.from_columns({"N": alone[0], "D": alone[1]}, compute="6ND")
    loss = loss_of(alone[0], alone[1], np.full(len(bare), 16.0))
    runs = Runs.from_losses(np.arange(len(bare)), loss)
    found = answer(bare, runs, (Target(1e22),))
    with pytest.raises(LawsmithError, match="a batch size that varies"):
        critical_batch(found.surface, 3e8, 3e10)
    with pytest.raises(ChartUnavailable, match="no hyperparameter"):
        region_data(AnswerWithRuns("bare", found, bare, runs))


def test_a_run_narrows_the_interval_about_as_much_as_was_said(study, found) -> None:
    grid, runs = study
    told = next_runs(found.surface, 1e22, 9)
    assert all(0.0 < run.after <= run.before for run in told)
    assert told[0].before == pytest.approx(found.forecasts[0].half_width, rel=0.1)
    per_flop = [run.narrowed / run.C for run in told]
    assert per_flop == sorted(per_flop, reverse=True)
    large = max(told, key=lambda run: run.C)
    assert large.after == min(run.after for run in told)
    N, D, batch = large.scales["N"], large.scales["D"], large.hp["batch_size"]
    assert pytest.approx(large.C, rel=1e-6) == 6 * N * D
    columns = {
        "N": [*grid.N, N],
        "D": [*grid.D, D],
        "batch_size": [*grid.column("batch_size"), batch],
    }
    more = Grid.from_columns(columns, compute="6ND")
    loss = [*runs.loss, float(loss_of(np.array(N), np.array(D), np.array(batch)))]
    after = answer(more, Runs.from_losses(np.arange(len(more)), np.array(loss)), (Target(1e22),))
    assert after.forecasts[0].half_width == pytest.approx(large.after, rel=0.5)
    assert after.forecasts[0].half_width < told[0].before


def test_the_region_holds_the_best_and_its_excess_is_that_of_the_formula(study, found) -> None:
    grid, runs = study
    label, panels = region_data(AnswerWithRuns("drawn", found, grid, runs))
    assert label == "1e22 FLOPs"
    (panel,) = panels
    assert (panel.across, panel.up) == ("N", "batch_size")
    assert panel.cells["excess"].min() == 0.0
    assert panel.cells["excess"].max() <= max(LEVELS)
    best = found.forecasts[0].scales["N"]
    assert best.near_low <= panel.best[0] <= best.near_high
    near = panel.cells[panel.cells["excess"] <= 0.5]
    N, batch = near["a"].to_numpy(), near["b"].to_numpy()
    exact = loss_of(N, 1e22 / (6 * N), batch)
    least = loss_of(np.array(panel.best[0]), np.array(1e22 / (6 * panel.best[0])), panel.best[1])
    assert np.median(np.abs(exact / least - 1.0)) < 0.01
    spec = region(AnswerWithRuns("drawn", found, grid, runs)).to_dict()  # validates
    assert "Settings close to the best" in spec["title"]["text"][0]
