"""The numbers of docs/tinylm.md: what the bundled grid has, its optima, its noise, isoFLOP curves.

Cells are pairs (N, D); of every configuration the mean over seeds counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from lawsmith.charts.isoflop import IsoflopData
from lawsmith.datasets import entry, locate, read_frame

SEED_BATCH = 8  # of the cells that were run with three seeds
ISOFLOP = tuple(10.0 ** (k / 2) for k in range(25, 30))  # 3.2e12 to 3.2e14
CONFIGURATION = ["N", "D", "lr", "batch"]


@dataclass(frozen=True)
class Dense:
    """The table with the views of it that the card needs; frames have a row each as named."""

    runs: pd.DataFrame

    @classmethod
    def bundled(cls) -> Dense:
        (path,) = locate(entry("tinylm"))
        return cls(read_frame(path))

    @cached_property
    def configurations(self) -> pd.DataFrame:
        return self.runs.groupby(CONFIGURATION, as_index=False)["loss"].mean()

    @cached_property
    def best(self) -> pd.DataFrame:
        """The best configuration of each cell, with whether lr and batch lie at an end there.

        Ends are those of what was run in the cell.
        """
        frame = self.configurations
        cells = frame.groupby(["N", "D"])
        best = frame.loc[cells["loss"].idxmin()]
        for axis in ("lr", "batch"):
            for end in ("min", "max"):
                edge = cells[axis].transform(end).loc[best.index]
                best = best.assign(**{f"{axis}_{end}": best[axis] == edge})
        return best.reset_index(drop=True)

    def by_cell(self, column: str) -> pd.DataFrame:
        """A column of ``best`` as a table of N by D."""
        return self.best.pivot(index="N", columns="D", values=column)

    @cached_property
    def trunk_best(self) -> pd.DataFrame:
        """The best learning rate of each (N, D, batch)."""
        frame = self.configurations
        return frame.loc[frame.groupby(["N", "D", "batch"])["loss"].idxmin()]

    @cached_property
    def noise(self) -> pd.DataFrame:
        """Repeated configurations: sd of the loss, share of the mean, steps from the best lr.

        A step is a factor of two; the best is that of the same N, D and batch.
        """
        found = self.runs.groupby(CONFIGURATION)["loss"].agg(["size", "mean", "std"]).reset_index()
        found = found[found["size"] > 1].rename(columns={"std": "sd"})
        best = self.trunk_best.set_index(["N", "D", "batch"])["lr"].rename("best_lr")
        found = found.join(best, on=["N", "D", "batch"])
        steps = np.log2(found["lr"] / found["best_lr"]).round().abs().astype(int)
        return found.assign(share=found["sd"] / found["mean"], steps=steps)

    def repeats(self, again: pd.DataFrame) -> pd.DataFrame:
        """Runs of ``again`` with the first of the same configuration here: C, and the log ratio.

        The ratio is divided by √2, so that its rms is the noise of one run.
        """
        # The table has learning rates to a few digits.
        runs, again = (
            f.assign(lr=[float(f"{lr:.3g}") for lr in f["lr"]]) for f in (self.runs, again)
        )
        first = runs.groupby(CONFIGURATION, as_index=False)[["C", "loss"]].first()
        joined = again[[*CONFIGURATION, "loss"]].merge(
            first, on=CONFIGURATION, suffixes=("_again", ""), validate="many_to_one"
        )
        ratio = np.log(joined["loss_again"] / joined["loss"]) / np.sqrt(2)
        return pd.DataFrame({"C": joined["C"], "ratio": ratio}).dropna()

    def isoflop(self) -> IsoflopData:
        """Best loss against N at equal compute, between budgets read off in logs.

        Sizes are not powers of two, so that cells of one diagonal differ in compute by up to a
        quarter, which would tilt a curve by more than its curvature.
        """
        cells = []
        for N, size in self.best.groupby("N"):
            x, y = np.log(size["D"].to_numpy()), np.log(size["loss"].to_numpy())
            for C in ISOFLOP:
                at = np.log(C / (6.0 * N))
                if x[0] <= at <= x[-1]:
                    loss = float(np.exp(np.interp(at, x, y)))
                    cells.append({"level": C, "C": C, "N": N, "D": np.exp(at), "loss": loss})
        frame = pd.DataFrame(cells).sort_values(["level", "N"], ignore_index=True)
        minima = pd.concat([_minimum(level) for _, level in frame.groupby("level")])
        return IsoflopData(frame, minima, 0)


def _minimum(level: pd.DataFrame) -> pd.DataFrame:
    at = int(level["loss"].to_numpy().argmin())
    return level.iloc[[at]].assign(bracketed=0 < at < len(level) - 1)


def rms(values: pd.Series) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
