"""How well the best loss is predicted beyond the data: real tables, drawn studies, tinylm's bet.

    python benchmarks/holdout.py --out out.json        # everything; resumes from out.json
    python benchmarks/holdout.py --out out.json --page docs/truth.md --figure docs/figures/truth.png
    python benchmarks/holdout.py --tables chinchilla tinylm --cuts 3 8 --methods surface LC
    python benchmarks/holdout.py --folder my-tables --cuts 3 8         # every CSV file there

Real tables. For each table and each cut r the runs below Cmax/r are fitted. What is predicted is
the best loss of held-out cells (N, D): those that no run of at most 1.05 times their compute beats
by more than 0.3 % (the frontier). The surface's prior is learnt from the other studies. Intervals
are those of a further run. Tables of one file (corpora, losses, cuts of the same runs) and of one
study are correlated: "by file" and "by study" average within each first.

Sizes. The runs within a factor of 2 or 4 of the largest N (or D) are held out, whatever they cost,
and every cell (N, D) of them is predicted, on the frontier or not.

Drawn studies have a known law (`lawsmith_paper.studies.drawn`). All runs are fitted. What is
predicted is the true best loss at a hundred times the largest compute. Intervals are those of the
truth. The bet is one run of tinylm at nine times the compute of its grid.

A folder of one's own: its tables played no part in lawsmith, so they are judged with the prior that
ships. Files whose names begin alike up to a dot are one study: xlstm.2048.csv, xlstm.8192.csv.
The tables in the folder $LAWSMITH_FURTHER are treated as those at hand: they teach each other.

Errors, half-widths and interval scores are of log loss, in per cent.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from left_out import REPEATS, LeftOut

from lawsmith.analysis import FitOptions, analyse
from lawsmith.datasets import ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import get_law
from lawsmith.surface import PUBLIC, Prior, fit_surface
from lawsmith.surface.mixture import Mixture
from lawsmith_paper import studies

LEVELS = (0.5, 0.8, 0.95)
LAWS = ("LC", "chinchilla", "skaling", "gadre")
METHODS = ("surface", *LAWS)
LEAST_RUNS = 10  # below a cut, to fit anything
LEAST_SIZES = 4  # values of N, where sizes are held out
SIZES = (("N", 2.0), ("N", 4.0), ("D", 2.0), ("D", 4.0))
Record = dict[str, Any]
Rows = list[Record]
Priors = Callable[[str], Prior]  # the prior that a study is judged with


@dataclass(frozen=True)
class Table:
    """A table to hold runs out of: how to load it, its study, and the file that it is a part of."""

    name: str
    study: str
    load: Callable[[], Study]
    file: str


def _catalogued(name: str, study: str | None = None, **options: Any) -> Table:
    label = name.removeprefix("scalebench-")
    read = ReadOptions(**options)
    file = label.split(":")[0]
    return Table(label, study or file, lambda: studies.load(name, read), file)


def _file(label: str, study: str, path: str, columns: dict[str, str], **options: Any) -> Table:
    def load() -> Study:
        root = Path(os.environ["LAWSMITH_DATA"])
        reading = ReadOptions(columns=columns, ignore=("*",), **options)
        return studies.load(root / path, reading)

    return Table(label, study, load, path)


def _gadre() -> Iterable[Table]:
    corpora = {"c4": "c4_original", "rpj": "rpj", "rw": "rw_original"}
    losses = {"c4": "loss:c4_val", "openlm": "loss:openlm", "rp": "loss:paloma_redpajama"}
    for short, corpus in corpora.items():
        for word, column in losses.items():
            columns = {"N": "N", "D": "D", "loss": column}
            where = f"corpus == '{corpus}'"
            path = "gadre/gadre_tasks.csv"
            yield _file(f"gadre-{short}-{word}", "gadre", path, columns, where=where)


def _kempner() -> Iterable[Table]:
    columns = {"N": "N", "D": "D", "loss": "loss"}
    for corpus in ("fineweb_100b", "proof_pile_2", "starcoder"):
        path = f"kempner/{corpus}.csv"
        yield _file(f"kempner-{corpus}", "kempner", path, columns)
        yield _file(f"kempner-{corpus}-inner", "kempner", path, columns, where="heldout == 0")


# Left out, with the reason: scalebench's vocab (losses below 0) and its domain mixtures (no scale),
# Pythia (accuracies), MultiPowerLaw (losses along runs of three sizes).
ND = {"N": "N", "D": "D", "loss": "loss"}
TABLES: tuple[Table, ...] = (
    _catalogued("oellm-english"),
    _catalogued("steplaw"),
    _catalogued("scalebench-lr_bsz", "steplaw"),
    _catalogued("porian-hp"),
    _catalogued("porian-hp:beta2"),
    _catalogued("chinchilla", drop_largest_loss=5),
    *_gadre(),
    *_kempner(),
    _file("gemstones", "gemstones", "gemstones/cooldowns.csv", ND),
    _file("gemstones-shape", "gemstones", "gemstones/cooldowns.csv", {**ND, "depth": "depth"}),
    _file("marin", "marin", "marin-isoflop/nemotron.csv", {**ND, "C": "C"}),
    _catalogued("scalebench-farseer"),
    _catalogued("scalebench-moe"),
    _catalogued("scalebench-data_constrained", where="unique_tokens >= tokens"),
    _catalogued("tinylm"),
    _catalogued("scalebench-parallel"),
    _catalogued("scalebench-sparsity"),  # two phases of training on different tokens: hard
)
# The first two came last; the others repeat a study that is there already.
NOT_LEARNT_FROM = ("parallel", "sparsity", "porian-hp:beta2", "lr_bsz")


def tables() -> dict[str, Table]:
    """The tables above, and those in the folder $LAWSMITH_FURTHER."""
    further = os.environ.get("LAWSMITH_FURTHER")
    found = {table.name: table for table in TABLES}
    return found | tables_in(Path(further)) if further else found


def tables_in(folder: Path) -> dict[str, Table]:
    """Every CSV file of a folder."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        load = partial(studies.load, path, ReadOptions())
        found[path.stem] = Table(path.stem, path.stem.split(".")[0], load, path.name)
    return found


@dataclass(frozen=True, eq=False)
class Split:
    """A study cut at a compute: what is fitted, and the held-out cells to predict."""

    pool: Study
    cells: np.ndarray  # rows of the whole grid: the best run of each held-out cell
    frontier: np.ndarray  # (len(cells),) whether the cell is on the frontier


def split(study: Study, cut: float) -> Split | None:
    """The runs with at least 1/cut of the largest compute are held out."""
    loss = study.runs.config_loss(len(study.grid))
    large = (1.0 + 1e-9) * cut * study.grid.C >= study.grid.C[np.isfinite(loss)].max()
    return _split(study, loss, large)


def split_sizes(study: Study, axis: str, factor: float) -> Split | None:
    """The runs within a factor of the largest N or D are held out; all of them are predicted."""
    grid = study.grid
    if not {"N", "D"} <= set(grid.names):
        return None
    loss = study.runs.config_loss(len(grid))
    values = grid.numbers(axis)
    large = values * factor > values[np.isfinite(loss)].max()
    if len(np.unique(np.log(grid.N[~large]).round(2))) < LEAST_SIZES:
        return None
    parts = _split(study, loss, large)
    return parts and replace(parts, frontier=np.ones(len(parts.cells), dtype=bool))


def _split(study: Study, loss: np.ndarray, large: np.ndarray) -> Split | None:
    grid, ok = study.grid, np.isfinite(loss)
    below, above = np.flatnonzero(~large), ok & large
    if np.isfinite(loss[below]).sum() < LEAST_RUNS or len(np.unique(grid.C[below])) < 4:
        return None
    names = [name for name in ("N", "D") if name in grid.names] or ["C"]
    cell = grid.cells(names)
    order = np.lexsort((np.where(ok, loss, np.inf), cell))
    best = order[np.unique(cell[order], return_index=True)[1]]
    best = best[ok[best]]
    held = best[above[best]]
    within = grid.C[best][None, :] <= 1.05 * grid.C[held][:, None]
    rival = np.where(within, loss[best][None, :], np.inf).min(axis=1)
    frontier = loss[held] <= 1.003 * rival
    pool = replace(
        study,
        grid=grid.subset(below),
        runs=study.runs.select(below),
        target=study.target[below],
        run_names=(),
    )
    return Split(pool, held, frontier)


def by_law(name: str, study: Study, parts: Split) -> Rows:
    """Predictions of a law: of each held-out cell, as one dict."""
    law = get_law(name)
    analysis = analyse(parts.pool, FitOptions(law=law, force=True))
    if analysis.uncertainty is None:
        return []
    inputs = {key: study.grid.numbers(key)[parts.cells] for key in law.inputs}
    bands = {level: analysis.uncertainty.run(inputs, level) for level in LEVELS}
    centre = analysis.fit.predict(inputs)
    rows = []
    for i in range(len(parts.cells)):
        ends = {str(level): [float(b.low[i]), float(b.high[i])] for level, b in bands.items()}
        rows.append({"loss": float(centre[i]), "intervals": ends})
    return rows


def by_surface(study: Study, parts: Split, prior: Prior) -> Rows:
    """Predictions of the surface: at(N, D) of each held-out cell."""
    surface = fit_surface(parts.pool.grid, parts.pool.runs, prior)
    rows = []
    for row in parts.cells:
        scales = {k: float(study.grid.numbers(k)[row]) for k in surface.scale_names}
        mixture = surface.mixture_at(scales)
        said = {k: [float(v) for v in values] for k, values in vars(mixture).items()}
        rows.append({**of_mixture(mixture, run=True), "mixture": said})
    return rows


def of_mixture(mixture: Mixture, *, run: bool) -> Record:
    """Centre, and intervals of a further run or of the truth."""
    ends = {}
    for p in LEVELS:
        tails = ((1 - p) / 2, (1 + p) / 2)
        ends[str(p)] = [float(np.exp(mixture.quantile(t, run=run))) for t in tails]
    return {"loss": float(np.exp(mixture.quantile(0.5, run=False))), "intervals": ends}


def refresh(known: dict[str, Record]) -> None:
    """Intervals again from what members said, after `lawsmith.surface.mixture` has changed."""
    for record in known.values():
        for row in record["rows"]:
            if "mixture" in row:
                parts = {k: np.array(v) for k, v in row["mixture"].items()}
                row |= of_mixture(Mixture(**parts), run=True)


def run(
    table: Table, cut: str, methods: Iterable[str], known: dict[str, Record], prior: Priors
) -> None:
    """Fill ``known`` with what is missing: key table|cut|method → predictions.

    cut   '3' for the runs above Cmax/3, 'N2' for those within a factor of 2 of the largest N
    """
    missing = [m for m in methods if f"{table.name}|{cut}|{m}" not in known]
    if not missing:
        return
    study = table.load()
    by_size = cut[0] in "ND"
    parts = split_sizes(study, cut[0], float(cut[1:])) if by_size else split(study, float(cut))
    for method in missing:
        begin = time.perf_counter()
        record: Record = {"study": table.study, "rows": []}
        if parts is not None:
            record |= _predicted(method, study, parts, prior(table.study))
        record["seconds"] = time.perf_counter() - begin
        known[f"{table.name}|{cut}|{method}"] = record


def _predicted(method: str, study: Study, parts: Split, prior: Prior) -> Record:
    """What a method says of the held-out cells, beside their losses."""
    try:
        if method == "surface":
            found = by_surface(study, parts, prior)
        else:
            found = by_law(method, study, parts)
    except LawsmithError as error:
        return {"error": str(error)}
    loss = study.runs.config_loss(len(study.grid))[parts.cells]
    told = zip(found, loss, parts.frontier, study.grid.C[parts.cells], strict=False)
    rows = [
        {**row, "true": float(true), "frontier": bool(front), "C": float(C)}
        for row, true, front, C in told
    ]
    return {
        "rows": rows,
        "n_pool": len(parts.pool.runs),
        "top": float(parts.pool.grid.C.max()),
    }


def scores(rows: Rows) -> dict[str, float]:
    """Coverage at each level, and median half-width, error and interval score, in % of loss."""
    true = np.log([row["true"] for row in rows])
    out: dict[str, float] = {}
    for level in LEVELS:
        ends = np.log(np.maximum([row["intervals"][str(level)] for row in rows], 1e-9))
        out[f"c{100 * level:.0f}"] = float(np.mean((ends[:, 0] <= true) & (true <= ends[:, 1])))
    miss = np.maximum(ends[:, 0] - true, 0) + np.maximum(true - ends[:, 1], 0)
    centre = np.log([row["loss"] for row in rows])
    out["half"] = 50 * float(np.median(ends[:, 1] - ends[:, 0]))
    out["error"] = 100 * float(np.median(np.abs(centre - true)))
    out["bias"] = 100 * float(np.median(centre - true))
    out["score"] = 100 * float(np.mean(ends[:, 1] - ends[:, 0] + 2 / 0.05 * miss))
    out["n"] = len(rows)
    return out


COLUMNS = ("c50", "c80", "c95", "half", "error", "bias", "score", "n")
Found = list[tuple[str, dict[str, float]]]  # label (table or study), its scores


def line(label: str, values: dict[str, float]) -> str:
    cells = [f"{values[c]:8.2f}" for c in COLUMNS]
    return f"{label:46s}" + " ".join(cells)


def pooled(found: Found) -> dict[str, float]:
    """Means of coverage, medians of half-width, error, bias and score, over tables or studies.

    One law that runs away on one table would rule a mean of scores.
    """
    values = [scores for _, scores in found]
    out = {c: float(np.mean([v[c] for v in values])) for c in ("c50", "c80", "c95", "n")}
    out |= {c: float(np.median([v[c] for v in values])) for c in ("half", "error", "bias", "score")}
    out["mean_score"] = float(np.mean([v.get("mean_score", v["score"]) for v in values]))
    return out


def by_study(found: Found) -> Found:
    names = dict.fromkeys(study for study, _ in found)
    return [(name, pooled([f for f in found if f[0] == name])) for name in names]


def by_file(found: dict[str, tuple[str, Record]]) -> Found:
    """Scores of each file: its tables are corpora, losses or cuts of the same runs."""
    files = {table.name: table.file for table in TABLES}
    return by_study([(files.get(name, name), scores) for name, (_, scores) in found.items()])


def judged(known: dict[str, Record], cut: str, method: str) -> dict[str, tuple[str, Record]]:
    """Table → its study and the scores of its held-out frontier cells."""
    found = {}
    for key, record in known.items():
        table, r, m = key.split("|")
        rows = [row for row in record["rows"] if row["frontier"]]
        if m == method and r == cut and rows:
            found[table] = (record["study"], scores(rows))
    return found


def report(
    known: dict[str, Record], cuts: Iterable[str], methods: Iterable[str], names: set[str]
) -> None:
    """Print every table, then tables and studies together, for each cut and method."""
    for cut in cuts:
        held = f"largest {cut[0]}/{cut[1:]}, all" if cut[0] in "ND" else f"Cmax/{cut}, frontier"
        print(f"\n== held out from {held} cells")
        print(f"{'':46s}" + " ".join(f"{c:>8s}" for c in COLUMNS))
        for method in methods:
            found = {t: f for t, f in judged(known, cut, method).items() if t in names}
            for table, (_, values) in found.items():
                print(line(f"  {method:13s}{table}", values))
            if not found:
                continue
            every = list(found.values())
            held = np.mean([s["c95"] >= 0.9 for _, s in every])
            print(line(f"{method}: {len(every)} tables, {held:.0%} hold ≥ 90 %", pooled(every)))
            for what, group in (("files", by_file(found)), ("studies", by_study(every))):
                held = np.mean([s["c95"] >= 0.9 for _, s in group])
                label = f"{method}: {len(group)} {what}, {held:.0%} hold ≥ 90 %"
                print(line(label, pooled(group)))


@dataclass
class Store:
    """Results in a JSON file, written as a whole after each step, so that a run can resume."""

    path: Path | None
    parts: dict[str, dict[str, Record]]

    @classmethod
    def open(cls, path: Path | None) -> Store:
        names = ("tables", "sizes", "drawn", "bet", "evidence")
        parts: dict[str, dict[str, Record]] = {name: {} for name in names}
        if path is not None and path.exists():
            parts |= json.loads(path.read_text())
        return cls(path, parts)

    def save(self) -> None:
        if self.path is not None:
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.parts))
            part.rename(self.path)

    def forget(self, methods: set[str]) -> None:
        """Drop what these methods said, so that they run again."""
        for name, records in self.parts.items():
            self.parts[name] = {k: v for k, v in records.items() if k.split("|")[2] not in methods}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="*", default=[], help="these alone; no drawn studies")
    parser.add_argument("--folder", type=Path, help="CSV tables to judge instead")
    parser.add_argument("--cuts", nargs="*", default=["3", "8", "30"])
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--draws", type=int, default=20, help="drawn studies of each of 5 shapes")
    parser.add_argument("--out", type=Path, help="JSON where results are kept and resumed")
    parser.add_argument("--again", nargs="*", default=[], help="methods to run again")
    parser.add_argument("--refresh", action="store_true", help="intervals again, without fits")
    parser.add_argument("--figure", type=Path, help="PNG to draw")
    parser.add_argument("--page", type=Path, help="page whose tables are brought up to date")
    return parser.parse_args()


def main() -> None:
    import drawn_truth  # they need `scores` of this module
    import truth_page

    asked = options()
    store = Store.open(asked.out)
    store.forget(set(asked.again))
    if asked.refresh:
        refresh(store.parts["tables"])
        refresh(store.parts["sizes"])
    every = tables_in(asked.folder) if asked.folder else tables()
    prior: Priors = lambda study: PUBLIC  # noqa: E731
    if not asked.folder:
        prior = LeftOut(every.values(), store.parts["evidence"])
    sizes = [f"{axis}{factor:g}" for axis, factor in SIZES]
    for name in asked.tables or every:
        print(name, file=sys.stderr, flush=True)
        for cut in asked.cuts:
            run(every[name], cut, asked.methods, store.parts["tables"], prior)
        if every[name].name not in REPEATS and not name.endswith("-inner"):
            for cut in sizes:
                run(every[name], cut, asked.methods, store.parts["sizes"], prior)
        store.save()
    names = set(asked.tables or every)
    report(store.parts["tables"], asked.cuts, asked.methods, names)
    report(store.parts["sizes"], sizes, asked.methods, names)
    if not (asked.tables or asked.folder) and asked.draws:
        drawn_truth.run_bet(asked.methods, store.parts["bet"], prior("tinylm"))
        for _ in drawn_truth.run_drawn(asked.methods, asked.draws, store.parts["drawn"]):
            store.save()
        drawn_truth.report(store.parts, asked.methods)
    if asked.figure:
        truth_page.draw(store.parts, asked.figure)
    if asked.page:
        truth_page.write(store.parts, asked.cuts, asked.page)


if __name__ == "__main__":
    main()
