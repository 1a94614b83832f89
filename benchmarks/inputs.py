"""Laws with further inputs on ScaleBench: R² in its target region, beside the published ones.

A law is fitted to every run of a task's pool and judged on the runs of its target region, as the
benchmark does (arXiv 2604.22753). Its authors publish means over several families of laws: of fits
to the whole pool, and of fits to what their method chose under three budgets.

    python benchmarks/inputs.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lawsmith.laws.catalogue import EXPERTS, FARSEER, REPEATED, VOCABULARY
from lawsmith.laws.law import Law
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


def main() -> None:
    print(f"{'task':10s} {'law':12s} {'R²':>7s} {'best published':>15s}")
    for name, law in MATCHING.items():
        found = judge(name, law)
        verdict = "holds" if found.holds else "missed"
        print(f"{name:10s} {found.law:12s} {found.r2:7.3f} {found.published:15.2f}  {verdict}")


if __name__ == "__main__":
    main()
