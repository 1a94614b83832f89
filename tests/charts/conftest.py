"""Small studies with analyses and replays to draw: exact laws, hand-made grids and steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from lawsmith.analysis import Analysis, FitOptions, Target, analyse
from lawsmith.datasets import ReadLog, Study, demo_study
from lawsmith.grid import Grid, HeldOut
from lawsmith.laws.catalogue import CHINCHILLA, LC
from lawsmith.replay import Scores, Step, Task, Trace, prepare
from lawsmith.runs import Runs

TRUTH = {"E": 1.7, "A": 400.0, "alpha": 0.34, "B": 410.0, "beta": 0.28}

MakeStudy = Callable[..., Study]


@pytest.fixture(scope="session")
def make_study() -> MakeStudy:
    """``make_study(columns, loss, name=…)``: one run per row; a NaN loss is a diverged run."""

    def make(columns: Mapping[str, object], loss: object, *, name: str = "small") -> Study:
        grid = Grid.from_columns(columns)
        runs = Runs.from_losses(np.arange(len(grid)), loss)
        log = ReadLog(len(grid))
        return Study(name, name, grid, runs, log, np.zeros(len(grid), bool), None)

    return make


def grid_columns() -> dict[str, np.ndarray]:
    """5 sizes × 5 token counts, two-fold apart, so that isoFLOP levels are exact."""
    N, D = np.meshgrid(1e8 * 2.0 ** np.arange(5), 2e9 * 2.0 ** np.arange(5))
    return {"N": N.ravel(), "D": D.ravel()}


def wiggle(n: int) -> np.ndarray:
    """Small deterministic deviations, so that intervals are not of zero width."""
    return 1 + 1e-3 * np.sin(7.0 * np.arange(n))


@pytest.fixture(scope="session")
def chinchilla(make_study: MakeStudy) -> Analysis:
    """A law of N and D on 25 runs, the largest N held out, one target."""
    columns = grid_columns()
    loss = CHINCHILLA.predict(TRUTH, columns) * wiggle(25)
    options = FitOptions(CHINCHILLA, HeldOut.largest("N"), (Target(1e23),))
    return analyse(make_study(columns, loss), options)


@pytest.fixture(scope="session")
def compute_law(make_study: MakeStudy) -> Analysis:
    """L(C) on 25 runs, the upper half of compute held out, no target."""
    columns = grid_columns()
    loss = CHINCHILLA.predict(TRUTH, columns) * wiggle(25)
    return analyse(make_study(columns, loss), FitOptions(LC, HeldOut.by_compute(0.5)))


@pytest.fixture(scope="session")
def demo() -> Analysis:
    """The synthetic study: hyperparameters, replicates, diverged runs."""
    options = FitOptions(CHINCHILLA, HeldOut.largest("N"), (Target(1e22), Target(1e23)))
    return analyse(demo_study(), options)


@pytest.fixture(scope="session")
def demo_compute() -> Analysis:
    """The synthetic study under L(C)."""
    return analyse(demo_study(), FitOptions(LC, HeldOut.by_compute(0.5), (Target(1e23),)))


@pytest.fixture(scope="session")
def compute_task(compute_law: Analysis) -> Task:
    """L(C) to be found on 25 runs, the upper half of compute held out."""
    return prepare(compute_law.study, LC)


@pytest.fixture(scope="session")
def chinchilla_task(chinchilla: Analysis) -> Task:
    """L(N, D) to be found on 25 runs, the largest N held out."""
    return prepare(chinchilla.study, CHINCHILLA)


def make_scores(task: Task, value: float) -> Scores:
    """The reference's law off by ``value`` in every searched parameter."""
    fit = task.reference.validation
    phi = fit.phi + value
    names = [*fit.params, *(f"log_{name}" for name in fit.log_params)]
    return Scores(
        params=task.law.natural(phi),
        log_params={name: float(phi[task.law.position(name)]) for name in fit.log_params},
        n_points=fit.n_points,
        regret=dict.fromkeys(names, value),
        held_out_mse=value**2,
        held_out_mse_beyond=value**2,
        pool_mse=value**2,
        extrapolation=dict.fromkeys(task.targets, value),
    )


MakeTrace = Callable[..., Trace]


@pytest.fixture(scope="session")
def make_trace() -> MakeTrace:
    """``make_trace(task, spent, fantasized, observed)``: a step for each spend (a fraction).

    The values are regrets, None for no law; envelope shares follow the spend. The first step is
    the initial design; rows are run in the order of the pool.
    """

    def make(
        task: Task,
        spent: Sequence[float],
        fantasized: Sequence[float | None],
        observed: Sequence[float | None] | None = None,
        *,
        rows: Sequence[int] | None = None,
        policy: str = "window",
        seed: int = 0,
    ) -> Trace:
        steps = []
        for i, (share, f, o) in enumerate(
            zip(spent, fantasized, observed or fantasized, strict=True)
        ):
            row = rows[i] if rows else i
            steps.append(
                Step(
                    iteration=i + 1,
                    candidate=row,
                    config={"N": float(task.pool.N[row]), "D": float(task.pool.D[row])},
                    loss=float(task.loss[row]),
                    compute=float(task.pool.C[row]),
                    cost=share * task.total_compute,
                    cost_fraction=share,
                    window=float("nan") if i == 0 else float(task.pool.C.max()),
                    observed=None if o is None else make_scores(task, o),
                    fantasized=None if f is None else make_scores(task, f),
                    envelope_observed=share / 2,
                    envelope_mixed=None if f is None else share,
                )
            )
        return Trace(task, policy, seed, {}, tuple(steps))

    return make


@pytest.fixture(scope="session")
def replayed(compute_task: Task, make_trace: MakeTrace) -> Trace:
    """A replay of four runs."""
    return make_trace(compute_task, (0.01, 0.02, 0.1, 0.3), (None, 0.4, 0.2, 0.0))
