"""Laws and the surface with further inputs, on ScaleBench.

Laws: R² in the target region, beside the published ones. A law is fitted to every run of a task's
pool and judged on the runs of its target region, as the benchmark does (arXiv 2604.22753). Its
authors publish means over several families of laws: of fits to the whole pool, and of fits to what
their method chose under three budgets.

Surface: the largest runs are held out, as in holdout.py, and each is predicted at its own experts
or unique tokens; once with these as further scale axes, once with a bowl in each as in any other
hyperparameter.

    python benchmarks/inputs.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from holdout import COLUMNS, Rows, line, of_mixture, scores

from lawsmith.datasets import ReadOptions, Study
from lawsmith.laws.catalogue import EXPERTS, FARSEER, REPEATED, VOCABULARY
from lawsmith.laws.law import Law
from lawsmith.surface import axes, fit_surface
from lawsmith_paper import studies
from lawsmith_paper.scalebench.search import fit_group, score
from lawsmith_paper.scalebench.tasks import get_task, groups_of

MATCHING = {"moe": EXPERTS, "data_con": REPEATED, "vocab": VOCABULARY, "farseer": FARSEER}


@dataclass(frozen=True)
class Judged:
    """R² of a law in a task's target region, and the best that is published of the task."""

    task: str
    law: str
    r2: float
    published: float

    @property
    def holds(self) -> bool:
        return self.r2 >= self.published


def judge(name: str, law: Law) -> Judged:
    """The law of a task's whole pool in its target region."""
    task = replace(get_task(name), law=law)
    groups = groups_of(name)
    fits = [fit_group(task, g, g.runs, g.runs.config_loss(len(g.pool))) for g in groups]
    r2 = score(task, groups, fits)
    best = max(task.all_data[0], *(figure.r2 for figure in task.mspe))
    return Judged(name, law.name, float("nan") if r2 is None else r2, best)


TABLES = ("moe", "data_constrained", "sparsity")
CUTS = (3.0, 8.0, 30.0)
LEAST_RUNS = 10
OWN = ("experts", "unique_tokens")  # what a run is predicted at


def read(name: str) -> Study:
    """A table of ScaleBench; how sparse a model is counts as its experts."""
    if name != "sparsity":
        return studies.load(f"scalebench-{name}")
    columns = {"experts": "P", "D2": "D2", "N": "N_active", "loss": "loss"}
    return studies.load("scalebench-sparsity", ReadOptions(columns=columns))


def held_out(study: Study, cut: float) -> Rows:
    """Runs at or above the largest compute over ``cut``, each predicted from those below."""
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    large = (1.0 + 1e-9) * cut * grid.C >= grid.C.max()
    below = np.flatnonzero(~large)
    if np.isfinite(loss[below]).sum() < LEAST_RUNS:
        return []
    surface = fit_surface(grid.subset(below), study.runs.select(below))
    rows = []
    for row in np.flatnonzero(large & np.isfinite(loss)).tolist():
        scales = {name: float(grid.numbers(name)[row]) for name in surface.scale_names}
        further = {n: float(grid.numbers(n)[row]) for n in OWN if n in grid.hp}
        mixture = surface.mixture_at(scales, further)
        rows.append({**of_mixture(mixture, run=True), "true": float(loss[row])})
    return rows


@contextmanager
def bowls_alone() -> Iterator[None]:
    """The surface as it is without further scale axes."""
    before = dict(axes.FURTHER)
    try:
        axes.FURTHER.clear()
        yield
    finally:
        axes.FURTHER.update(before)


def surfaces() -> None:
    print(f"\n{'':46s}" + " ".join(f"{c:>8s}" for c in COLUMNS))
    for name in TABLES:
        study = read(name)
        for cut in CUTS:
            found = {"scale axis": held_out(study, cut)}
            with bowls_alone():
                found["bowl"] = held_out(study, cut)
            for how, rows in found.items():
                if rows:
                    print(line(f"{name}, C >= Cmax/{cut:g}, {how}", scores(rows)), flush=True)


def main() -> None:
    print(f"{'task':10s} {'law':12s} {'R²':>7s} {'best published':>15s}")
    for name, law in MATCHING.items():
        found = judge(name, law)
        verdict = "holds" if found.holds else "missed"
        print(f"{name:10s} {found.law:12s} {found.r2:7.3f} {found.published:15.2f}  {verdict}")
    surfaces()


if __name__ == "__main__":
    main()
