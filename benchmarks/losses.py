"""Whether one loss of a run helps to predict another: Gadre's eight losses, and drawn studies.

    python benchmarks/losses.py gadre                  # needs LAWSMITH_DATA; minutes
    python benchmarks/losses.py drawn --studies 40     # minutes

gadre   runs with C ≥ Cmax/100 are predicted and nothing is known of them. Of the runs below, one
        loss is hidden for a part: for the larger ones (C ≥ Cmax/3000), or for six of ten by chance.
drawn   two laws of Chinchilla's form, 36 runs, noise of 1 % of which half the variance or all is
        shared; one loss is hidden for the 18 larger runs. The truth at 30 times the largest compute
        is predicted.

`without` leaves out the runs that lack the loss, `with` infers it (lawsmith.answer.related), `all`
has the hidden losses. Error, half-width of the 95 % interval of a further run (of the truth for
drawn studies) and interval score (width plus 40 times the miss) are in per cent of the loss.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lawsmith.analysis.answering import answer_losses, reading_of
from lawsmith.answer import Answer, Target
from lawsmith.arrays import BoolArray, FloatArray
from lawsmith.datasets import ReadOptions, study_from_frame

WAYS = ("without", "with", "all")
KNOWN = ("loss:c4_val", "loss:openlm")
Case = tuple[pd.DataFrame, BoolArray, list[Target], FloatArray]


def answers(table: pd.DataFrame, hidden: BoolArray, targets: list[Target]) -> dict[str, Answer]:
    """The answer for column `wanted`, hidden in some rows, in each way; `known` is beside it."""
    lacking = table.assign(wanted=table["wanted"].where(~hidden))
    parts = {"without": table[~hidden], "with": lacking, "all": table}
    found = {}
    for way, part in parts.items():
        names = ["known", "wanted"]
        options = ReadOptions(columns={"N": "N", "D": "D"}, ignore=("*",))
        studies = {n: study_from_frame(part, reading_of(n, names, options)) for n in names}
        found[way] = answer_losses({"wanted": studies["wanted"]}, targets)["wanted"]
    return found


def gadre() -> Iterator[tuple[str, Case]]:
    runs = pd.read_csv(Path(os.environ["LAWSMITH_DATA"]) / "gadre" / "gadre_tasks.csv")
    columns = [name for name in runs if name.startswith("loss:")]
    for corpus, part in runs.groupby("corpus"):
        C = 6.0 * part["N"].to_numpy() * part["D"].to_numpy()
        test = C.max() / 100.0 <= C
        chance = np.random.default_rng(0).random(len(C)) < 0.6
        hides = {"larger": C.max() / 3000.0 <= C, "by chance": chance}
        for known, wanted, (how, hidden) in product(KNOWN, columns, hides.items()):
            if known == wanted:
                continue
            table = part[["N", "D"]].assign(known=part[known], wanted=part[wanted])
            rows = table[test]
            targets = [Target(6.0 * n * d, n, d) for n, d in zip(rows["N"], rows["D"], strict=True)]
            case = (table[~test], hidden[~test], targets, rows["wanted"].to_numpy())
            yield f"{how}: {corpus}, {known} to {wanted}", case


class Law(NamedTuple):
    """E + A·(N / 3e8)^-α + B·(D / 5e9)^-β, drawn near what language models have."""

    E: float
    A: float
    B: float
    alpha: float
    beta: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Law:
        return cls(rng.uniform(1.3, 2.0), *rng.uniform(0.35, 0.7, 2), *rng.uniform(0.28, 0.4, 2))

    def loss(self, N: FloatArray, D: FloatArray) -> FloatArray:
        return self.E + self.A * (N / 3e8) ** -self.alpha + self.B * (D / 5e9) ** -self.beta


def drawn(n_studies: int) -> Iterator[tuple[str, Case]]:
    sizes, tokens = np.meshgrid(np.geomspace(3e7, 1e9, 6), np.geomspace(1e9, 3e10, 6))
    N, D = sizes.ravel(), tokens.ravel()
    C = 6.0 * N * D
    for seed, share in product(range(n_studies), (0.5, 1.0)):
        rng = np.random.default_rng([seed, int(10 * share)])
        known, wanted = Law.draw(rng), Law.draw(rng)
        common = np.sqrt(share) * rng.standard_normal(len(N))
        own = np.sqrt(1.0 - share) * rng.standard_normal((2, len(N)))
        noise = np.exp(0.01 * (common + own))
        losses = {"known": known.loss(N, D) * noise[0], "wanted": wanted.loss(N, D) * noise[1]}
        n, d = 5.0 * N.max(), 6.0 * D.max()
        truth = wanted.loss(np.array([n]), np.array([d]))
        hidden = np.median(C) < C
        table = pd.DataFrame({"N": N, "D": D, **losses})
        yield f"{share:.0%} shared: {seed}", (table, hidden, [Target(6 * n * d, n, d)], truth)


def judge(answer: Answer, truth: FloatArray, *, of_run: bool) -> FloatArray:
    """(4,) error, half-width, share inside and score, means over the targets."""
    ends = [(f.run_low, f.run_high) if of_run else (f.low, f.high) for f in answer.forecasts]
    low, high = np.log(np.array(ends)).T
    y, predicted = np.log(truth), np.log([f.loss for f in answer.forecasts])
    miss = np.maximum(np.maximum(low - y, y - high), 0.0)
    columns = (abs(predicted - y), 0.5 * (high - low), 0.01 * (miss == 0.0), high - low + 40 * miss)
    return 100.0 * np.mean(columns, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", choices=("gadre", "drawn"))
    parser.add_argument("--studies", type=int, default=40)
    told = parser.parse_args()
    cases = gadre() if told.cases == "gadre" else drawn(told.studies)
    found: dict[str, list[FloatArray]] = {}
    used: dict[str, list[bool]] = {}
    for name, (table, hidden, targets, truth) in cases:
        if (~hidden).sum() < 8:
            continue
        made = answers(table, hidden, targets)
        scores = np.array([judge(made[w], truth, of_run=told.cases == "gadre") for w in WAYS])
        others = made["with"].others
        kind = name.split(":")[0]
        found.setdefault(kind, []).append(scores)
        used.setdefault(kind, []).append(others is not None and bool(others.relations))
        words = "  ".join(
            f"{w} {s[0]:.2f} ±{s[1]:.2f} {s[2]:.2f} {s[3]:.1f}"
            for w, s in zip(WAYS, scores, strict=True)
        )
        print(f"{name:60s} {'used' if used[kind][-1] else 'left'}  {words}", flush=True)
    for kind, many in found.items():
        scores = np.array(many)
        print(f"\n{kind}: {len(many)} cases, the other loss used in {sum(used[kind])}")
        for i, way in enumerate(WAYS):
            told_of = zip(
                ("error", "half-width", "inside", "score"), scores[:, i].mean(0), strict=True
            )
            print(f"  {way:8s}", "  ".join(f"{what} {value:.2f}" for what, value in told_of))
        less, more = scores[:, 1, 0] < scores[:, 0, 0], scores[:, 1, 0] > scores[:, 0, 0]
        print(f"  with it nearer in {less.sum()}, further off in {more.sum()}")


if __name__ == "__main__":
    main()
