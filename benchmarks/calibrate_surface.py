"""Learn how far surfaces err beyond their data, each study judged by what the others taught.

    python benchmarks/holdout.py --methods surface --draws 0 --out out.json
    python benchmarks/learning.py --methods learnt --out learning.json
    python benchmarks/calibrate_surface.py out.json learning.json

Reads what every member said of the held-out frontier cells, from whole pools and from few runs (all
draws of few runs count as one cut), and finds the numbers of
`lawsmith.surface.mixture` that make the held-out losses most likely. Every study counts the same,
whatever its number of tables, cuts and cells. "left out" is what the numbers learnt from the other
studies give on a study. Also printed: how likely the losses are with the shipped numbers, and with
factors on the variance of a member and on the noise of a run, which lawsmith does without.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from holdout import NOT_LEARNT_FROM
from scipy.optimize import minimize
from scipy.special import gammaln, stdtr

from lawsmith.surface.mixture import DF, DRIFT, SPREAD

METHODS = ("surface", "learnt")  # with a prior learnt from other studies
PARTS = {"weight": 0.0, "mean": 0.0, "model": 1.0, "noise": 1.0, "slope": 0.0, "a": 0.0, "h": 0.0}
NAMES = ("DRIFT", "SPREAD", "factor of v", "factor of σ²")
START = np.log([0.1, 0.3, 1.0, 1.0])
PRIOR_SD = np.array([1.0, 1.0, 1.0, 0.5])  # of logs: keeps what the data do not tell near the start


@dataclass(frozen=True)
class Cells:
    """n held-out cells: study and cut, true log loss, share of a study, and what m members said."""

    study: np.ndarray
    cut: np.ndarray
    true: np.ndarray
    share: np.ndarray
    said: dict[str, np.ndarray]  # (n, m) by PARTS, filled up with members of no weight

    def take(self, rows: np.ndarray) -> Cells:
        said = {name: values[rows] for name, values in self.said.items()}
        return Cells(self.study[rows], self.cut[rows], self.true[rows], self.share[rows], said)

    def scale(self, phi: np.ndarray) -> np.ndarray:
        """(n, m) of each member, by the logs of the four numbers."""
        drift, spread, model, run = np.exp(phi)
        said = self.said
        beyond = (drift * said["slope"] * said["h"]) ** 2 + (spread * said["a"]) ** 2 * said["h"]
        return np.sqrt(model * said["model"] + beyond + run * said["noise"])


def read(paths: list[Path], cuts: list[str], skip: set[str]) -> Cells:
    records: dict[str, Any] = {}
    for path in paths:
        found = json.loads(path.read_text())["tables"]
        records |= {key: r for key, r in found.items() if key.split("|")[2] in METHODS}
    rows = []
    for key, record in records.items():
        table, job, _ = key.split("|")
        cut = "few" if job.startswith("few") else job
        if cut in cuts and table not in skip:
            group = (record["study"], table, cut)
            rows += [(group, row) for row in record["rows"] if row["frontier"]]
    groups = [group for group, _ in rows]
    of_study: dict[str, set[Any]] = {}
    for group in groups:
        of_study.setdefault(group[0], set()).add(group)
    share = [1.0 / (groups.count(group) * len(of_study[group[0]])) for group in groups]
    most = max(len(row["mixture"]["mean"]) for _, row in rows)
    said = {}
    for name, fill in PARTS.items():
        each = [row["mixture"][name] for _, row in rows]
        said[name] = np.array([values + [fill] * (most - len(values)) for values in each])
    study, _, cut = (np.array(column) for column in zip(*groups, strict=True))
    true = np.log([row["true"] for _, row in rows])
    return Cells(study, cut, true, np.array(share), said)


def log_density(cells: Cells, phi: np.ndarray, df: float) -> np.ndarray:
    """(n,) of each true loss."""
    scale = cells.scale(phi)
    t = (cells.true[:, None] - cells.said["mean"]) / scale
    constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * np.pi)
    with np.errstate(divide="ignore"):
        weight = np.log(cells.said["weight"])
    parts = weight + constant - np.log(scale) - (df + 1) / 2 * np.log1p(t * t / df)
    return np.asarray(np.logaddexp.reduce(parts, axis=1))


def total(cells: Cells, phi: np.ndarray, df: float) -> float:
    return float(cells.share @ log_density(cells, phi, df))


def learn(cells: Cells, df: float, n_free: int) -> np.ndarray:
    """The logs of the four numbers; the last ones stay at START unless they are free."""

    def negative(some: np.ndarray) -> float:
        phi = np.concatenate([some, START[n_free:]])
        return -total(cells, phi, df) + 0.05 * float((((phi - START) / PRIOR_SD) ** 2).sum())

    found = minimize(negative, START[:n_free], method="Nelder-Mead", options={"maxiter": 600})
    return np.concatenate([found.x, START[n_free:]])


def held(cells: Cells, phi: np.ndarray, df: float) -> list[float]:
    """How often intervals of 50, 80 and 95 % hold."""
    t = (cells.true[:, None] - cells.said["mean"]) / cells.scale(phi)
    level = np.abs((cells.said["weight"] * stdtr(df, t)).sum(axis=1) - 0.5) * 2
    return [float(cells.share @ (level <= p)) for p in (0.5, 0.8, 0.95)]


def half_width(cells: Cells, phi: np.ndarray) -> float:
    """About that of a 95 % interval, in per cent (median)."""
    return 220.0 * float(np.median((cells.said["weight"] * cells.scale(phi)).sum(axis=1)))


def numbers(phi: np.ndarray) -> str:
    return ", ".join(f"{name} {v:.3f}" for name, v in zip(NAMES, np.exp(phi), strict=True))


def report(cells: Cells, df: float) -> None:
    phi = learn(cells, df, 2)
    print(f"df {df:g}: {numbers(phi)}; log likelihood {total(cells, phi, df):.2f}")
    free = learn(cells, df, len(NAMES))
    print(f"with factors: {numbers(free)}; {total(cells, free, df):.2f}")
    shipped = np.log([DRIFT, SPREAD, 1.0, 1.0])
    print(f"shipped: {numbers(shipped)}; {total(cells, shipped, df):.2f}")
    kept = []
    for study in dict.fromkeys(cells.study.tolist()):
        own = cells.take(cells.study == study)
        others = learn(cells.take(cells.study != study), df, 2)
        told = [*held(own, others, df), half_width(own, others), total(own, others, df)]
        kept.append(told)
        drift, spread = np.exp(others[:2])
        print(
            f"  left out {study:18s} 50/80/95: {told[0]:.2f} {told[1]:.2f} {told[2]:.2f}"
            f"  half ~{told[3]:.2f} %  log score {told[4]:.2f}   [{drift:.3f} {spread:.3f}]"
        )
    mean = np.mean(kept, axis=0)
    print(
        f"  mean of studies             {mean[0]:.2f} {mean[1]:.2f} {mean[2]:.2f}  "
        f"half ~{np.median(np.array(kept)[:, 3]):.2f} %  log score {mean[4]:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("json", type=Path, nargs="+")
    parser.add_argument("--cuts", nargs="*", default=["3", "8", "30", "few"])
    parser.add_argument("--df", nargs="*", type=float, default=[DF])
    parser.add_argument("--skip", nargs="*", default=list(NOT_LEARNT_FROM))
    options = parser.parse_args()
    cells = read(options.json, options.cuts, set(options.skip))
    for df in options.df:
        report(cells, df)


if __name__ == "__main__":
    main()
