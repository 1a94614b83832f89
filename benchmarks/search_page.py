"""The tables of docs/search.md, from the results of `search.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from search import BUDGETS, METHODS, TABLES, WITH_HP, Record

from lawsmith_paper.methods.compare import holm, paired_p, ranks
from lawsmith_paper.studies.drawn import SHAPES

Known = dict[str, Record]
Errors = Callable[[str, str, float], np.ndarray]  # table, method, budget → (seeds,)
OURS = "frontier"
DRAWN = tuple(f"drawn-{shape}" for shape in SHAPES)


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def seeds_of(known: Known) -> int:
    return 1 + max(int(key.split("|")[2]) for key in known)


def values(known: Known, name: str, method: str, budget: float, field: str) -> np.ndarray:
    """(seeds,) of one method on one table; NaN where there was no answer."""
    share = "1" if method == "all" else f"{budget:g}"
    keys = (f"{name}|{method}|{seed}|{share}" for seed in range(seeds_of(known)))
    return np.array([known.get(key, {}).get(field, np.nan) for key in keys], dtype=np.float64)


def of_truth(known: Known) -> Errors:
    """How far answers are from held-out losses, or from the true best loss."""
    return lambda name, method, budget: values(known, name, method, budget, "error")


def of_pool(known: Known) -> Errors:
    """How far the best loss at the target compute is from the one by all runs of the pool."""

    def errors(name: str, method: str, budget: float) -> np.ndarray:
        whole = values(known, name, "all", 1.0, "best")
        return np.abs(values(known, name, method, budget, "best") - whole)

    return errors


def told(known: Known, names: Iterable[str]) -> list[str]:
    return [name for name in names if f"{name}|all|0|1" in known]


def by_table(known: Known) -> str:
    """Mean error of the frontier policy on each table, beside the whole pool's."""
    body = []
    for name in told(known, (*TABLES, *DRAWN)):
        whole = np.nanmean(values(known, name, "all", 1.0, "error"))
        law = known[f"{name}|all|0|1"].get("law", np.nan)
        row = [name, f"{whole:.2f}", "–" if not np.isfinite(law) else f"{law:.2f}"]
        for budget in BUDGETS:
            off = values(known, name, OURS, budget, "error")
            held = np.nanmean(values(known, name, OURS, budget, "held"))
            runs = np.nanmean(values(known, name, OURS, budget, "n_runs"))
            row.append(
                f"{np.nanmean(off):.2f} ± {np.nanstd(off):.2f} ({100 * held:.0f} %, {runs:.0f})"
            )
        body.append(row)
    head = ["table", "all runs", "L(C) of all runs", *(f"{100 * b:g} %" for b in BUDGETS)]
    return table(head, body)


def by_method(known: Known, names: list[str], errors: Errors) -> str:
    """Median error, coverage and rank of every method; p of the paired tests against ours."""
    body = []
    for method in METHODS:
        row = [f"**{method}**" if method == OURS else method]
        for budget in BUDGETS:
            off = [np.nanmean(errors(n, method, budget)) for n in names]
            held = [np.nanmean(values(known, n, method, budget, "held")) for n in names]
            row.append(
                f"{np.nanmedian(off):.2f} / {100 * np.nanmean(held):.0f} / "
                f"{mean_rank(names, method, budget, errors):.1f}"
            )
        worse, better = certain(names, method, errors)
        row.append("" if method == OURS else f"{better} / {worse}")
        body.append(row)
    head = ["", *(f"{100 * b:g} %" for b in BUDGETS), "ours better / worse"]
    return table(head, body)


def mean_rank(names: list[str], method: str, budget: float, errors: Errors) -> float:
    places = []
    for name in names:
        grid = np.stack([errors(name, m, budget) for m in METHODS])
        places.append(ranks(grid)[list(METHODS).index(method)].mean())
    return float(np.mean(places))


def certain(names: list[str], method: str, errors: Errors) -> tuple[int, int]:
    """On how many tables and budgets the method is certainly better and worse than ours.

    Wilcoxon's test over seeds, Holm's correction over the tables of a budget, 5 %: of more than
    25 tests together ten seeds could tell nothing.
    """
    worse = better = 0
    for budget in BUDGETS if method != OURS else ():
        pairs = [[errors(name, m, budget) for m in (OURS, method)] for name in names]
        sure = holm(np.array([paired_p(a, b) for a, b in pairs])) < 0.05
        above = np.array([np.nanmedian(a) > np.nanmedian(b) for a, b in pairs])
        worse, better = worse + int((sure & above).sum()), better + int((sure & ~above).sum())
    return worse, better


def bars(known: Known) -> str:
    """The bars that the search was built for, and what came."""
    lines = []
    if told(known, ["oellm-english"]):
        off = [np.nanmean(values(known, "oellm-english", OURS, b, "error")) for b in BUDGETS]
        came = " / ".join(f"{x:.2f}" for x in off)
        lines.append(f"OELLM-English at 1, 2 and 5 %: {came} % (wanted 0.8 / 0.6 / 0.3).")
    tables = told(known, WITH_HP)
    ratios = {}
    for budget in (0.02, 0.05):
        ratios[budget] = [
            np.nanmean(values(known, n, OURS, budget, "error")) / known[f"{n}|all|0|1"]["law"]
            for n in tables
        ]
    below = sum(r < 1.0 for r in ratios[0.02])
    shown = ", ".join(f"{n} {r:.2f}" for n, r in zip(tables, ratios[0.02], strict=True))
    lines.append(
        f"Tables with hyperparameters at 2 %, error as a multiple of the dense pool's L(C): "
        f"{shown}. Below 1 on {below} of {len(tables)} (wanted four of five)."
    )
    lines.append(
        f"The same at 5 %: {np.mean(ratios[0.05]):.2f} on average, "
        f"{np.median(ratios[0.05]):.2f} in the median (wanted 0.6)."
    )
    drawn = told(known, DRAWN)
    if drawn:
        own = [np.nanmedian(values(known, n, OURS, 0.02, "error")) for n in drawn]
        whole = [np.nanmedian(values(known, n, "all", 1.0, "error")) for n in drawn]
        held = [
            np.nanmean([np.nanmean(values(known, n, OURS, b, "held")) for n in drawn])
            for b in BUDGETS
        ]
        ratio = np.mean(own) / np.mean(whole)
        came = " / ".join(f"{100 * x:.0f}" for x in held)
        lines.append(
            f"Drawn studies: error of the true best loss at 2 % is {ratio:.2f} times that of all "
            f"runs (wanted 1.2); 95 % intervals hold {came} % at 1, 2 and 5 % (wanted 93–97)."
        )
    return "\n".join(f"- {line}" for line in lines)


def write(known: Known, path: Path) -> None:
    """Put the tables into the page, between their marks; of rivals only if all of them ran."""
    real, drawn = told(known, TABLES), told(known, DRAWN)
    parts = {"bars": bars(known), "tables": by_table(known)}
    if {key.split("|")[1] for key in known} >= {*METHODS}:
        parts["methods"] = by_method(known, real, of_truth(known))
        parts["pool"] = by_method(known, real, of_pool(known))
        parts["drawn"] = by_method(known, drawn, of_truth(known)) if drawn else ""
    text = path.read_text(encoding="utf-8")
    for name, made in parts.items():
        pattern = rf"(<!-- made: {name} -->\n).*?(\n<!-- end -->)"
        text = re.sub(pattern, lambda m, made=made: f"{m[1]}\n{made}\n{m[2]}", text, flags=re.S)
    path.write_text(text, encoding="utf-8")
