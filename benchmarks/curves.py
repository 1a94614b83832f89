"""How far losses along runs help: trunks of Gemstones and tinylm-wsd, MultiPowerLaw's schedules.

    python benchmarks/curves.py --out out.json                      # all of it; 6 minutes on a core
    python benchmarks/curves.py --out out.json --page docs/curves.md
    python benchmarks/curves.py --out out.json --only shape schedules

Gemstones. One shape's cooldowns are left out; its trunk stays. What is predicted is the loss after
each cooldown. A branch is taken to leave its trunk at D/1.1, which the table does not say. Beside
the curves: the surface without them, and the trunk's loss at the branch point plus the mean gain of
the other shapes. MultiPowerLaw. Of each size two schedules are known to their end, of the others
only the learning rate (or also the first half of the losses). What is predicted is their last loss.

tinylm-wsd. From sizes up to 4.2M and decays up to 2^25 tokens of one seed, the best loss of every
size at 2^26 tokens, 11M among them. Whole runs cost 6·N·D each; trunks cost their tokens once, and
each decay its own.

Intervals are those of a further run, 95 %. Errors and half-widths are of log loss, in per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lawsmith.analysis import Target, answer_study
from lawsmith.curves import trunks as trunk_model
from lawsmith.curves.ends import cut, scheduled_ends
from lawsmith.curves.trunk import TrunkCurve, fit_trunk
from lawsmith.datasets import CurveOptions, Curves, curves_from_frame, study_from_frame
from lawsmith.datasets.catalogue import FOLDER
from lawsmith.trajectory import Curve

LEVEL = 0.95
LONGEST = 2**26  # tokens, of tinylm-wsd
DECAY = 1.1  # tokens at the end of a cooldown over those at its branch point
PAIRS = (
    ("constant_24000", "cosine_24000"),
    ("cosine_24000", "cosine_72000"),
    ("cosine_24000", "wsd_20000_24000"),
    ("cosine_72000", "wsdcon_9"),
    ("constant_72000", "wsdld_20000_24000"),
)
Row = dict[str, Any]
SMOOTHED: dict[tuple[str, int, float], TrunkCurve] = {}


def smooth_once(curve: Curve) -> TrunkCurve:
    """A trunk does not depend on what is held out, so it is smoothed once."""
    key = (curve.run, len(curve.D), curve.reached)
    if key not in SMOOTHED:
        SMOOTHED[key] = fit_trunk(curve)
    return SMOOTHED[key]


def data(path: str) -> pd.DataFrame:
    return pd.read_csv(Path(os.environ["LAWSMITH_DATA"]) / path)


def gemstones() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cooldowns with their parents and branch points, and the trunks of the main run."""
    runs, trunks = data("gemstones/cooldowns.csv"), data("gemstones/trunks.csv")
    trunks = trunks[trunks["lr"] == 1.0].assign(kind="trunk").drop(columns="lr")
    name = trunks.groupby(["width", "depth"])["run"].first()
    runs["parent"] = [name[w, d] for w, d in zip(runs["width"], runs["depth"], strict=True)]
    runs["run"] = [f"cooldown-{i}" for i in range(len(runs))]
    return runs.assign(branch_at=runs["D"] / DECAY), trunks


def predict(
    runs: pd.DataFrame,
    trunks: pd.DataFrame | None,
    held: pd.DataFrame,
    case: str,
    method: str,
    *,
    carry: tuple[str, ...] = (),
) -> Iterator[Row]:
    """The held-out runs beside what the others say of them; ``carry``: hyperparameters."""
    study = study_from_frame(runs, name=case)
    curves = None if trunks is None else curves_from_frame(trunks, CurveOptions(carry=carry))
    pairs = zip(held["N"].astype(float), held["D"].astype(float), strict=True)
    targets = [Target(6.0 * N * D, N, D) for N, D in pairs]
    found = answer_study(study, targets, level=LEVEL, curves=curves).forecasts
    for f, loss, name in zip(found, held["loss"], held["parent"], strict=True):
        half = 0.5 * np.log(f.run_high / f.run_low)
        inside = bool(f.run_low <= loss <= f.run_high)
        error = float(np.log(f.loss / loss))
        yield {
            "case": case,
            "method": method,
            "run": name,
            "error": error,
            "half": half,
            "in": inside,
        }


def one_constant(runs: pd.DataFrame, trunks: pd.DataFrame, held: pd.DataFrame) -> Iterator[Row]:
    """The trunk's loss at the branch point less the mean gain of the other shapes."""

    def log_trunk(some: pd.DataFrame) -> np.ndarray:
        by_run = {run: part for run, part in trunks.groupby("run")}
        return np.array(
            [
                np.interp(np.log(b), np.log(by_run[p]["D"]), np.log(by_run[p]["loss"]))
                for b, p in zip(some["branch_at"], some["parent"], strict=True)
            ]
        )

    gain = log_trunk(runs) - np.log(runs["loss"])
    half = 1.96 * float(np.std(gain))
    errors = log_trunk(held) - float(gain.mean()) - np.log(held["loss"])
    for error, name in zip(errors, held["parent"], strict=True):
        inside = bool(abs(error) <= half)
        row = {"case": "shape", "method": "one constant", "run": name}
        yield row | {"error": float(error), "half": half, "in": inside}


def leave_shapes_out() -> Iterator[Row]:
    """The cooldowns of one shape from its trunk, and from N and D alone."""
    runs, trunks = gemstones()
    for parent in runs["parent"].unique():
        held, rest = runs[runs["parent"] == parent], runs[runs["parent"] != parent]
        yield from predict(rest, trunks, held, "shape", "curves")
        yield from predict(rest, None, held, "shape", "surface")
        yield from one_constant(rest, trunks, held)
        blind = rest.drop(columns="branch_at")
        yield from predict(blind, trunks, held, "shape", "curves, no branch points")


def beyond_the_trunk() -> Iterator[Row]:
    """The last cooldown of a shape from its trunk's first half, or its first quarter."""
    runs, trunks = gemstones()
    for parent in runs["parent"].unique():
        held, rest = runs[runs["parent"] == parent].tail(1), runs[runs["parent"] != parent]
        for factor in (2, 4):
            end = float(held["branch_at"].iloc[0]) / factor
            short = trunks[(trunks["run"] != parent) | (trunks["D"] <= end)]
            yield from predict(rest, short, held, f"beyond {factor}", "curves")


def known_branches() -> Iterator[Row]:
    """Cooldowns of a trunk from its other cooldowns: one in the middle, and the later half."""
    runs, trunks = gemstones()
    for parent in runs["parent"].unique():
        mine = runs[runs["parent"] == parent]
        middle = mine.iloc[[5]]
        yield from predict(runs.drop(middle.index), trunks, middle, "one branch", "curves")
        late = mine.iloc[5:]
        yield from predict(runs.drop(late.index), trunks, late, "later branches", "curves")


def without_a_trunk() -> Iterator[Row]:
    """The last cooldowns of a shape without its trunk, from short ones and all other trunks."""
    runs, trunks = gemstones()
    short = runs[runs["D"] <= 34e9]
    for parent in runs["parent"].unique():
        held = runs[(runs["parent"] == parent) & (runs["D"] > 80e9)]
        rest = short[short["parent"] != parent]
        others = trunks[trunks["run"] != parent]
        yield from predict(rest, others, held, "no trunk", "curves")
        yield from predict(rest, None, held, "no trunk", "surface")


def schedules() -> Iterator[Row]:
    """Ends of schedules from two others of the same size."""
    frame = data("multipower/curves.csv")
    curves: Curves = curves_from_frame(frame, CurveOptions(kind="scheduled"))
    truth = {c.run: float(c.loss[-1]) for c in curves.curves}
    for pair in PAIRS:
        for share in (0.0, 0.5):
            told = [c if c.run.split("-")[1] in pair else cut(c, share) for c in curves.curves]
            for end in scheduled_ends(told, LEVEL)[0]:
                loss = truth[end.run]
                row = {"case": f"schedules {share:g}", "method": " + ".join(pair), "run": end.run}
                inside = bool(end.run_low <= loss <= end.run_high)
                half = 0.5 * float(np.log(end.run_high / end.run_low))
                yield row | {"error": float(np.log(end.loss / loss)), "half": half, "in": inside}


def tinylm_wsd() -> Iterator[Row]:
    """The best loss of every size at 2^26 tokens, from whole runs and from trunks with decays."""
    runs, curves = (
        pd.read_csv(FOLDER / f"tinylm-wsd{more}.csv").query("seed == 0") for more in ("", "-curves")
    )
    held = runs[runs["D"] == LONGEST]
    held = held.loc[held.groupby("N")["loss"].idxmin()]
    known = runs[(runs["D"] <= LONGEST / 2) & (runs["N"] < 1e7)]
    trunks = curves[(curves["D"] <= known["branch_at"].max()) & (curves["N"] < 1e7)]
    for exponents in ((21, 22, 23, 24, 25), (21, 22, 23, 24)):
        some = known[np.log2(known["D"]).isin(exponents)]
        paid = 6.0 * float((some["N"] * some["D"]).sum())
        yield from _wsd_rows(some, None, held, f"whole runs to 2^{exponents[-1]}, {paid:.3g} FLOPs")
    ends = trunks.groupby("run").agg({"N": "first", "D": "max"}).prod(axis=1).sum()
    for exponents in ((21, 22, 23, 24, 25), (23, 25), (21, 22, 23)):
        some = known[np.log2(known["D"]).isin(exponents)]
        paid = 6.0 * float((some["N"] * (some["D"] - some["branch_at"])).sum() + ends)
        at = ", ".join(f"2^{k}" for k in exponents)
        cost = f"trunks and decays at {at}, {paid:.3g} FLOPs"
        yield from _wsd_rows(some, trunks, held, f"{cost}, with curves")
        yield from _wsd_rows(some, None, held, f"{cost}, without")


def _wsd_rows(
    runs: pd.DataFrame, trunks: pd.DataFrame | None, held: pd.DataFrame, method: str
) -> Iterator[Row]:
    axes = ["run", "parent", "branch_at", "N", "D", "lr", "loss"]
    some = None if trunks is None else trunks[["run", "kind", "N", "lr", "D", "loss"]]
    yield from predict(runs[axes], some, held, "wsd", method, carry=("lr",))


CASES: dict[str, Callable[[], Iterator[Row]]] = {
    "shape": leave_shapes_out,
    "beyond": beyond_the_trunk,
    "no-trunk": without_a_trunk,
    "schedules": schedules,
    "branches": known_branches,
    "wsd": tinylm_wsd,
}
TITLES = {
    "shape": "a shape left out, its trunk known",
    "beyond 2": "its last cooldown, from half of its trunk",
    "beyond 4": "its last cooldown, from a quarter of its trunk",
    "one branch": "one cooldown, the other nine known",
    "later branches": "the later five cooldowns, the first five known",
    "no trunk": "D > 80B without a trunk, from cooldowns of D < 34B",
    "schedules 0": "ends of schedules, their rate known",
    "schedules 0.5": "ends of schedules, half of the losses known",
    "wsd": "tinylm-wsd: the best loss of 7 sizes at 2^26 tokens",
}


def summary(rows: Iterable[Row]) -> str:
    """A table in Markdown: a line for each case and method."""
    frame = pd.DataFrame(rows)
    lines = ["| predicted | from | losses | error | half-width | 95 % holds |", "|" + "---|" * 6]
    for (case, method), part in frame.groupby(["case", "method"], sort=False):
        error, half = (100.0 * part[k].abs().median() for k in ("error", "half"))
        held = f"{100.0 * part['in'].mean():.0f} %"
        cells = [TITLES[str(case)], str(method), str(len(part)), f"{error:.2f} %", f"±{half:.2f} %"]
        lines.append(f"| {' | '.join([*cells, held])} |")
    return "\n".join(lines)


def write_page(page: Path, table: str) -> None:
    """The made section of the page."""
    text = page.read_text(encoding="utf-8")
    made = re.compile(r"(<!-- made: benchmark -->\n).*?(<!-- end -->)", re.DOTALL)
    page.write_text(made.sub(rf"\1\n{table}\n\n\2", text), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="results as JSON; resumes from it")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    asked = parser.parse_args()
    trunk_model.fit_trunk = smooth_once
    done = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    for name in asked.only:
        if name not in done:
            start = time.perf_counter()
            done[name] = list(CASES[name]())
            asked.out.write_text(json.dumps(done))
            print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    table = summary(row for name in CASES if name in done for row in done[name])
    print(table)
    if asked.page:
        write_page(asked.page, table)


if __name__ == "__main__":
    main()
