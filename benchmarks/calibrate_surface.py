"""Learn how far surfaces err beyond their data, each study judged by what the others taught.

    python benchmarks/holdout.py --methods surface --draws 0 --out out.json
    python benchmarks/learning.py --methods learnt --out learning.json
    python benchmarks/calibrate_surface.py out.json learning.json

Reads what every member said of the held-out frontier cells, from whole pools and from few runs (all
draws of few runs count as one cut), and finds the numbers of
`lawsmith.surface.mixture` that make the held-out losses most likely. Every study counts the same,
whatever its number of tables, cuts and cells. "left out" is what the numbers learnt from the other
studies give on a study.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from holdout import NOT_LEARNT_FROM
from scipy.optimize import minimize
from scipy.special import gammaln, stdtr

METHODS = ("surface", "learnt")  # with a prior learnt from other studies
NAMES = ("MODEL", "DRIFT", "SPREAD", "RUN_NOISE", "FEW")
START = np.log([0.5, 0.1, 0.3, 1.5, 20.0])
PRIOR_SD = np.array(
    [1.0, 1.0, 1.0, 0.5, 1.0]
)  # of the logs: keeps what the data do not tell near the start


class Cell:
    """A held-out cell: study, table, cut, true log loss, what members said (7, m), and a weight."""

    def __init__(self, study: str, table: str, cut: str, row: dict[str, Any]) -> None:
        self.study, self.table, self.cut = study, table, cut
        self.true = np.log(row["true"])
        m = row["mixture"]
        self.weight = np.array(m["weight"])
        self.mean, self.model, self.noise, self.slope, self.a, self.h, self.n = (
            np.array(m[k]) for k in ("mean", "model", "noise", "slope", "a", "h", "n")
        )
        self.share = 0.0

    def sd(self, phi: np.ndarray) -> np.ndarray:
        model, drift, spread, run, few = np.exp(phi)
        share = model + (1.0 - model) * few / (few + self.n)
        beyond = (drift * self.slope * self.h) ** 2 + (spread * self.a) ** 2 * self.h
        return np.sqrt(share * self.model + beyond + run * self.noise)


def read(paths: list[Path], cuts: list[str], skip: set[str]) -> list[Cell]:
    records: dict[str, Any] = {}
    for path in paths:
        found = json.loads(path.read_text())["tables"]
        records |= {key: r for key, r in found.items() if key.split("|")[2] in METHODS}
    cells = []
    for key, record in records.items():
        table, job, _ = key.split("|")
        cut = "few" if job.startswith("few") else job
        if cut in cuts and table not in skip:
            rows = [row for row in record["rows"] if row["frontier"]]
            cells += [Cell(record["study"], table, cut, row) for row in rows]
    groups: dict[str, dict[tuple[str, str], list[Cell]]] = {}
    for cell in cells:
        groups.setdefault(cell.study, {}).setdefault((cell.table, cell.cut), []).append(cell)
    for tables in groups.values():
        for same in tables.values():
            for cell in same:
                cell.share = 1.0 / (len(same) * len(tables))
    return cells


def log_density(cell: Cell, phi: np.ndarray, df: float) -> float:
    sd = cell.sd(phi)
    t = (cell.true - cell.mean) / sd
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
    parts = (
        np.log(cell.weight + 1e-300) + constant - np.log(sd) - (df + 1) / 2 * np.log1p(t * t / df)
    )
    top = parts.max()
    return float(top + np.log(np.exp(parts - top).sum()))


def learn(cells: list[Cell], df: float) -> np.ndarray:
    def negative(phi: np.ndarray) -> float:
        total = sum(cell.share * log_density(cell, phi, df) for cell in cells)
        return -total + 0.05 * float((((phi - START) / PRIOR_SD) ** 2).sum())

    return np.asarray(minimize(negative, START, method="Nelder-Mead", options={"maxiter": 600}).x)


def levels(cells: list[Cell], phi: np.ndarray, df: float) -> np.ndarray:
    """(cells,) where each held-out loss lies in its predictive distribution."""
    return np.array([c.weight @ stdtr(df, (c.true - c.mean) / c.sd(phi)) for c in cells])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--cuts", nargs="*", default=["3", "8", "30", "few"])
    parser.add_argument("--df", nargs="*", type=float, default=[8.0])
    parser.add_argument("--skip", nargs="*", default=list(NOT_LEARNT_FROM))
    options = parser.parse_args()
    cells = read(options.json, options.cuts, set(options.skip))
    studies = list(dict.fromkeys(cell.study for cell in cells))
    for df in options.df:
        phi = learn(cells, df)
        print(
            f"df {df:g}: "
            + ", ".join(f"{n} {v:.3f}" for n, v in zip(NAMES, np.exp(phi), strict=True))
        )
        kept = []
        for study in studies:
            own = [cell for cell in cells if cell.study == study]
            others = learn([cell for cell in cells if cell.study != study], df)
            u = np.abs(levels(own, others, df) - 0.5) * 2
            share = np.array([cell.share for cell in own])
            held = [float(share @ (u <= level)) for level in (0.5, 0.8, 0.95)]
            half = 100 * 2.2 * float(np.median([float(c.weight @ c.sd(others)) for c in own]))
            score = float(sum(c.share * log_density(c, others, df) for c in own))
            kept.append([*held, half, score])
            numbers = " ".join(f"{v:.2f}" for v in np.exp(others))
            print(
                f"  left out {study:18s} 50/80/95: {held[0]:.2f} {held[1]:.2f} {held[2]:.2f}"
                f"  half ~{half:.2f} %  log score {score:.2f}   [{numbers}]"
            )
        mean = np.mean(kept, axis=0)
        print(
            f"  mean of studies             {mean[0]:.2f} {mean[1]:.2f} {mean[2]:.2f}  "
            f"half ~{np.median(np.array(kept)[:, 3]):.2f} %  log score {mean[4]:.3f}"
        )


if __name__ == "__main__":
    main()
