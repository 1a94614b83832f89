"""An answer made by hand: a best loss and an allocation of formulae that one can work out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from lawsmith.answer import Answer, Forecast, HeldOutRuns, Target
from lawsmith.charts.answer import AnswerWithRuns
from lawsmith.grid import Grid
from lawsmith.runs import Runs
from lawsmith.surface import Range
from lawsmith.surface.axes import Axis

LEVEL = 0.9


def key_of(chart) -> list[str]:
    """The texts of a chart's key, in order."""
    marks = [part["mark"] for part in chart.to_dict()["layer"]]
    return [mark["text"] for mark in marks if mark["type"] == "text" and "dx" not in mark]


SD = 0.1  # of log loss: quantiles are those of a triangle of this half-width


def best_loss(C):
    return 3.0 * (np.asarray(C) / 1e20) ** -0.05


def best_n(C):
    return 1e8 * (C / 1e20) ** 0.5


def scales_at(C: float, *, given: bool = False) -> dict[str, Range]:
    """N = 100M·√(C/1e20), known to a factor of 2, within 0.5 % to a factor of 3."""
    N, wide, near = best_n(C), 1.0 if given else 2.0, 1.0 if given else 3.0
    D = C / (6 * N)
    sizes = {"N": (N, 1.0), "D": (D, 1.0), "D/N": (D / N, 2.0)}
    return {
        name: Range(x, x / wide**k, x * wide**k, x / near**k, x * near**k)
        for name, (x, k) in sizes.items()
    }


def hp_at(C: float) -> dict[str, Range]:
    """lr = 0.001·(C/1e20)^−0.1, and another axis that has no logarithm."""
    lr = 1e-3 * (C / 1e20) ** -0.1
    return {"lr": Range(lr, lr / 2, lr * 2, lr / 3, lr * 3), "dropout": Range(0, 0, 0.1, 0, 0.2)}


class Surface:
    """As far as charts ask one."""

    scale_names = ("N", "D")
    frame = SimpleNamespace(numeric=(Axis("lr", "log"), Axis("dropout", "linear")))

    def __init__(self, factor: float = 1.0):
        self.factor = factor

    def mixture_best(self, C: float, n_ratios: int = 121):
        middle = np.log(self.factor * best_loss(C))
        return SimpleNamespace(quantile=lambda p, *, run: middle + 2 * SD * (p - 0.5))

    def best(self, C: float, *, level: float):
        assert level == LEVEL
        return SimpleNamespace(scales=scales_at(C), hp=hp_at(C))


def forecast(target: Target, *, half: float = 0.09) -> Forecast:
    loss = float(best_loss(target.C))
    ends = {"low": loss * (1 - half), "high": loss * (1 + half)}
    return Forecast(
        target=target,
        loss=loss,
        **ends,
        run_low=loss * (1 - 2 * half),
        run_high=loss * (1 + 2 * half),
        decades=float(np.log10(target.C / 1e20)),
        scales=scales_at(target.C, given=target.sized),
        hp={},
        levels={},
    )


N, D = (
    values.ravel() for values in np.meshgrid(1e7 * 4.0 ** np.arange(3), 1e9 * 4.0 ** np.arange(3))
)
TARGETS = (Target(1e22), Target(6e20, 1e9, 1e11), Target(1e25))


def answered(*, factor: float | None = None, held_out: bool = True) -> AnswerWithRuns:
    """Nine runs, N of 10M, 40M and 160M by D of 1B, 4B and 16B; the fourth one diverged.

    factor   of the best loss, by the answer of a whole pool; None for no such answer
    """
    lr = 1e-3 * 2.0 ** np.arange(9.0)
    grid = Grid.from_columns({"N": N, "D": D, "lr": lr, "dropout": 0.01 * np.arange(9.0)})
    loss = 5.0 - 0.1 * np.arange(9.0)
    loss[3] = np.nan
    judged = None
    if held_out:
        ends = (np.array([x]) for x in (3e20, 2.8, 2.9, 2.7, 3.1))
        judged = HeldOutRuns(np.array([8]), *ends)
    return AnswerWithRuns(
        name="small",
        answer=_answer(1.0, judged),
        grid=grid,
        runs=Runs.from_losses(np.arange(9), loss),
        pool_answer=None if factor is None else _answer(factor, None),
    )


def _answer(factor: float, judged: HeldOutRuns | None) -> Answer:
    return Answer(
        study="small",
        level=LEVEL,
        n_runs=9,
        n_diverged=1,
        largest=1.536e19,
        forecasts=tuple(map(forecast, TARGETS)),
        left_out=np.arange(0),
        held_out=judged,
        warnings=(),
        verdict="Firm.",
        surface=Surface(factor),  # type: ignore[arg-type]
    )
