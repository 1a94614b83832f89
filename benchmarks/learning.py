"""Does a prior learnt from other studies help a study that played no part in it?

    python benchmarks/learning.py --out learning.json            # resumes from learning.json
    python benchmarks/learning.py --out learning.json --page docs/truth.md
    python benchmarks/learning.py --out learning.json --again learnt --tables chinchilla tinylm

Each study is left out in turn, all of its tables at once. A prior is learnt from the others, and
the study's held-out frontier (`holdout.py`) is predicted with it and with the broad prior: from all
runs below Cmax/3 and Cmax/8, and from few runs below Cmax/3. Few runs are worth 1 % of the compute
of the pool: random ones, no one of which costs more than a quarter of that (several seeds), or the
cheapest ones. Where fewer than 6 runs are to be had for it, the budget is doubled until they are.

Errors, half-widths and interval scores are of log loss, in per cent. Every study counts once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from holdout import Record, Rows, Split, Store, Table, of_mixture, refresh, scores, split
from holdout import tables as every_table
from left_out import LeftOut
from scipy import stats
from truth_page import replace_blocks
from truth_page import rows as rows_of

from lawsmith.datasets import Study
from lawsmith.runs import Runs
from lawsmith.surface import BROAD, Prior, fit_surface

CUTS = (3.0, 8.0)
SHARE = 0.01
SEEDS = 6
LEAST_FEW = 6
LARGEST = 0.25  # of the budget that one run may cost
METHODS = ("broad", "learnt")


def few(pool: Study, seed: int) -> Study:
    """Some of a pool's runs, worth SHARE of its compute; the cheapest ones with seed 0."""
    loss = pool.runs.config_loss(len(pool.grid))
    rows = np.flatnonzero(np.isfinite(loss))
    cost = pool.grid.C[rows]
    rng = np.random.default_rng(seed)
    order = np.argsort(cost, kind="stable") if seed == 0 else rng.permutation(len(rows))
    budget = SHARE * float(cost.sum())
    while True:
        kept, spent = [], 0.0
        for i in order.tolist():
            if spent + cost[i] <= budget and (seed == 0 or cost[i] <= LARGEST * budget):
                kept.append(i)
                spent += float(cost[i])
        if len(kept) >= LEAST_FEW and len(np.unique(cost[kept])) >= 3:
            break
        budget *= 2.0
    chosen = np.sort(rows[kept])
    runs = Runs.from_losses(np.arange(len(chosen)), loss[chosen])
    return replace(pool, grid=pool.grid.subset(chosen), runs=runs)


def predicted(study: Study, parts: Split, pool: Study, prior: Prior) -> Rows:
    """The held-out frontier by the surface of ``pool``, beside the truth."""
    surface = fit_surface(pool.grid, pool.runs, prior)
    loss = study.runs.config_loss(len(study.grid))
    rows = []
    for row in parts.cells[parts.frontier]:
        scales = {k: float(study.grid.numbers(k)[row]) for k in surface.scale_names}
        mixture = surface.mixture_at(scales)
        said = {k: [float(v) for v in values] for k, values in vars(mixture).items()}
        found = of_mixture(mixture, run=True)
        rows.append({**found, "mixture": said, "true": float(loss[row]), "frontier": True})
    return rows


def pools(study: Study, seeds: int) -> dict[str, tuple[Split, Study]]:
    """What is predicted of a table and from which runs: whole pools, then few runs."""
    found = {}
    for cut in CUTS:
        parts = split(study, cut)
        if parts is not None:
            found[f"{cut:g}"] = (parts, parts.pool)
            if cut == CUTS[0]:
                few_runs = {f"few{seed}": (parts, few(parts.pool, seed)) for seed in range(seeds)}
                found |= few_runs
    return found


def run(
    table: Table, priors: dict[str, Callable[[], Prior]], seeds: int, known: dict[str, Record]
) -> None:
    """Fill ``known`` with what is missing: key table|job|method → rows."""
    names = [f"{cut:g}" for cut in CUTS] + [f"few{seed}" for seed in range(seeds)]
    wanted = [
        (name, m) for name in names for m in priors if f"{table.name}|{name}|{m}" not in known
    ]
    if not wanted:
        return
    study = table.load()
    made = pools(study, seeds)
    for name, method in wanted:
        begin = time.perf_counter()
        record: Record = {"study": table.study, "rows": [], "n_pool": 0}
        if name in made:
            parts, pool = made[name]
            record["rows"] = predicted(study, parts, pool, priors[method]())
            record["n_pool"] = len(pool.runs)
        record["seconds"] = time.perf_counter() - begin
        known[f"{table.name}|{name}|{method}"] = record


def summary(known: dict[str, Record], job: str, method: str) -> dict[str, dict[str, float]]:
    """Study → scores of its held-out frontier, averaged over tables and seeds; mean errors."""
    parts: dict[str, list[dict[str, float]]] = {}
    for key, record in known.items():
        _, name, m = key.split("|")
        if (
            m == method
            and record["rows"]
            and (name.startswith("few") if job == "few" else name == job)
        ):
            values = {
                **scores(record["rows"]),
                "error": 100 * float(_errors(record["rows"]).mean()),
            }
            parts.setdefault(record["study"], []).append(values)
    return {
        study: {k: float(np.mean([p[k] for p in found])) for k in found[0]}
        for study, found in parts.items()
    }


def _errors(rows: Rows) -> np.ndarray:
    return np.abs(np.log([row["loss"] for row in rows]) - np.log([row["true"] for row in rows]))


def differences(known: dict[str, Record], study: str) -> np.ndarray:
    """(seeds,) error with the learnt prior minus that with the broad one, few runs, in per cent."""
    by_seed: dict[str, list[float]] = {}
    for key, record in known.items():
        table, name, method = key.split("|")
        if method == "learnt" and record["study"] == study and name.startswith("few"):
            other = known[f"{table}|{name}|broad"]["rows"]
            if other:
                off = _errors(record["rows"]).mean() - _errors(other).mean()
                by_seed.setdefault(name, []).append(100 * float(off))
    return np.array([np.mean(v) for v in by_seed.values()])


def holm(p: np.ndarray) -> np.ndarray:
    """P values corrected for their number."""
    order, n = np.argsort(p), len(p)
    raised = np.maximum.accumulate((n - np.arange(n)) * p[order])
    out = np.empty(n)
    out[order] = np.minimum(raised, 1.0)
    return out


def of_studies(known: dict[str, Record]) -> str:
    """A row for each study: few runs, with either prior, and whether the learnt one is worse."""
    broad, learnt = (summary(known, "few", m) for m in METHODS)
    tests = {
        study: stats.ttest_1samp(differences(known, study), 0.0, alternative="greater")
        for study in learnt
    }
    p = dict(zip(tests, holm(np.array([t.pvalue for t in tests.values()])), strict=True))
    body = []
    for study in learnt:
        off = differences(known, study)
        told = [f"{v[study][c]:.2f}" for c in ("error", "half") for v in (broad, learnt)]
        held = [f"{100 * v[study]['c95']:.0f}" for v in (broad, learnt)]
        sure = f"{off.mean():+.2f} ± {off.std(ddof=1) / len(off) ** 0.5:.2f}"
        body.append([study, *told[:2], sure, f"{p[study]:.2f}", *told[2:], *held])
    head = [
        "few runs",
        "error, broad",
        "learnt",
        "difference",
        "worse, p",
        "half-width, broad",
        "learnt",
        "95 % holds, broad",
        "learnt",
    ]
    return rows_of(head, body)


def of_jobs(known: dict[str, Record]) -> str:
    """A row for each way and prior: means over studies."""
    body = []
    names = {"3": "all runs below Cmax/3", "8": "all runs below Cmax/8", "few": "few runs"}
    for job, words in names.items():
        found = {m: summary(known, job, m) for m in METHODS}
        for m, studies in found.items():
            values = list(studies.values())
            ratio = np.array([studies[s]["error"] / found["broad"][s]["error"] for s in studies])
            held = [f"{100 * np.mean([v[c] for v in values]):.0f}" for c in ("c50", "c80", "c95")]
            told = [f"{np.mean([v[c] for v in values]):.2f}" for c in ("error", "half", "score")]
            told.insert(1, f"{np.exp(np.log(ratio).mean()):.2f}")
            body.append([words if m == "broad" else "", m, *held, *told])
    head = [
        "",
        "prior",
        "50 %",
        "80 %",
        "95 %",
        "error",
        "its ratio",
        "half-width",
        "interval score",
    ]
    return rows_of(head, body)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="*", default=[])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, help="JSON where results are kept and resumed")
    parser.add_argument("--again", nargs="*", default=[], help="methods to run again")
    parser.add_argument("--refresh", action="store_true", help="intervals again, without fits")
    parser.add_argument("--page", type=Path, help="page whose tables are brought up to date")
    return parser.parse_args()


def main() -> None:
    asked = options()
    store = Store.open(asked.out)
    store.forget(set(asked.again))
    known, tables = store.parts["tables"], every_table()
    prior = LeftOut(tables.values(), store.parts.setdefault("evidence", {}))
    store.save()
    for table in (t for n, t in tables.items() if not asked.tables or n in asked.tables):
        print(table.name, file=sys.stderr, flush=True)
        every = {"broad": lambda: BROAD, "learnt": lambda s=table.study: prior(s)}
        run(table, {m: every[m] for m in asked.methods}, asked.seeds, known)
        store.save()
    if asked.refresh:
        refresh({key: record for key, record in known.items() if key.endswith("|learnt")})
        store.save()
    if not set(METHODS) <= set(asked.methods):
        return  # the tables compare both
    blocks = {"teaching": of_jobs(known), "taught": of_studies(known)}
    print("\n\n".join(blocks.values()))
    if asked.page:
        replace_blocks(asked.page, blocks)


if __name__ == "__main__":
    main()
