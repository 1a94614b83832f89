"""Learn the prior that lawsmith ships from public studies, and write it down.

    python benchmarks/learn_prior.py --out learning.json --write src/lawsmith/surface/public.toml

Every study's surface is fitted with the broad prior, to all of its runs.
`population.py` finds the centre and the spread of each number over studies. Also
printed: how much tables of one family (the corpora of Gadre and of Kempner) differ, beside how much
studies do. What `benchmarks/learning.py` has found already in ``--out`` is used again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from holdout import Store
from holdout import tables as every_table
from left_out import by_study, evidence_of, teaching
from population import population

from lawsmith.surface.learning import Evidence, moments_given
from lawsmith.surface.prior import BROAD, SHARES, Number, Prior

FAMILIES = ("gadre", "kempner")
TOLD = 0.7  # a number counts for a family where runs narrow it to this share of the spread

HEAD = """# What public studies are like: a prior for the next one. Made by a script; do not edit.
#
#     python benchmarks/learn_prior.py --out learning.json --write src/lawsmith/surface/public.toml
#
# A number has its centre (the median of a positive one) and SD (of the log of that) over studies,
# wider where few studies tell of it (benchmarks/population.py), and how many do. Shares are those
# at 1e20 FLOPs. Which numbers are positive is as in `lawsmith.surface.prior`.

studies = [{studies}]

# How much studies of one family share (corpora of Gadre and of Kempner): the correlation of shares
# of the loss, and of all other numbers.
[family]
shares = {shares:.2f}
others = {others:.2f}

[numbers]
"""


def line(name: str, number: Number, n: int) -> str:
    return f'"{name}" = [{float(f"{number.centre:.4g}")}, {float(f"{number.sd:.3g}")}, {n}]\n'


def text(prior: Prior, counts: dict[str, int], names: list[str], shared: dict[str, float]) -> str:
    """The file that holds a prior, with how many studies tell of each number."""
    head = HEAD.format(studies=", ".join(f'"{name}"' for name in names), **shared)
    return head + "".join(line(k, number, counts.get(k, 0)) for k, number in prior.numbers.items())


def family_shares(families: Sequence[Sequence[Evidence]], prior: Prior) -> dict[str, float]:
    """Correlation within families: 1 − spread among tables over spread among studies, squared."""
    within: dict[str, list[float]] = {"shares": [], "others": []}
    for tables in families:
        found = [moments_given(table, prior) for table in tables]
        for name in found[0]:
            told = np.array([table[name] for table in found if name in table])
            spread = prior[name].sd / BROAD[name].sd
            mean, square = told.T
            variance = square - mean**2
            if len(told) > 2 and np.sqrt(variance.mean()) < TOLD * spread:
                ratio = (mean.var(ddof=1) + variance.mean()) / spread**2
                within["shares" if name in SHARES else "others"].append(float(ratio))
                print(f"{name:16s} within {ratio:.2f} of the variance of studies")
    return {kind: float(np.clip(1.0 - np.median(v), 0.0, 0.95)) for kind, v in within.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="JSON of `learning.py`")
    parser.add_argument("--write", type=Path, help="file to write")
    asked = parser.parse_args()
    store, tables = Store.open(asked.out), every_table()
    known = store.parts.setdefault("evidence", {})
    told = by_study(tables.values(), known)
    store.save()
    prior = population(told)
    counts: dict[str, int] = {}
    for parts in told.values():
        for name in {n for part in parts for own in part.names for n in own}:
            counts[name] = counts.get(name, 0) + 1
    families = [
        [evidence_of(t, known) for t in teaching(tables.values()) if t.study == family]
        for family in FAMILIES
    ]
    shared = family_shares(families, prior)
    made = text(prior, counts, list(told), shared)
    print(made)
    if asked.write:
        asked.write.write_text(made)


if __name__ == "__main__":
    main()
