"""Drawn studies, whose true best loss is known, and the bet on tinylm; part of `holdout.py`.

Keys of results: shape|seed|method for drawn studies, source|bet|method for the bet.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from holdout import COLUMNS, LEVELS, Record, line, of_mixture, scores

from lawsmith import Target, datasets
from lawsmith.analysis import FitOptions, analyse
from lawsmith.datasets import Study
from lawsmith.errors import LawsmithError
from lawsmith.journal import fold
from lawsmith.laws.catalogue import get_law
from lawsmith.study.exporting import csv_text, rows_of
from lawsmith.study.live import open_study
from lawsmith.surface import Estimate, Prior, fit_surface
from lawsmith_paper.studies.drawn import SHAPES, drawn_study

FURTHER = 100.0  # times the largest compute
TINYLM = Path(__file__).parent.parent / "examples" / "tinylm"


def run_drawn(methods: Iterable[str], n: int, known: dict[str, Record]) -> Iterator[str]:
    """Fill ``known`` with what is missing; yields the shape after each study."""
    for seed in range(n):
        for shape in SHAPES:
            missing = [m for m in methods if f"{shape}|{seed}|{m}" not in known]
            if missing:
                study = drawn_study(shape, seed)
                for method in missing:
                    known[f"{shape}|{seed}|{method}"] = drawn_record(study, method)
                yield shape


def drawn_record(study: Study, method: str) -> Record:
    """What a method says of the best loss far beyond the study, beside the truth."""
    C = FURTHER * float(study.grid.C.max())
    begin = time.perf_counter()
    try:
        found = _surface_best(study, C) if method == "surface" else _law_best(method, study, C)
    except LawsmithError as error:
        found = {"error": str(error)}
    assert study.truth is not None
    true = study.truth.best_loss(C)
    return {**found, "true": true, "C": C, "seconds": time.perf_counter() - begin}


def _surface_best(study: Study, C: float) -> Record:
    surface = fit_surface(study.grid, study.runs)
    found = of_mixture(surface.mixture_best(C), run=False)
    return {**found, "held": held_optima(study, C, surface.best(C))}


def held_optima(study: Study, C: float, found: Estimate) -> dict[str, list[bool]]:
    """Whether intervals of N* and λ* hold the true ones, and whether 'within 0.5 %' does."""
    assert study.truth is not None
    true = study.truth.surface
    N = np.geomspace(1e6, 1e15, 20_000)
    best = float(N[np.argmin(true.best_loss(N, C / (6.0 * N)))])
    scales = found.scales
    wanted: dict[str, float] = {"N": best}
    at = (scales["N"].centre / 1e9, scales["D"].centre / 1e10)
    for name in found.hp:
        if name in true.bowls:
            bowl = true.bowls[name]
            wanted[name] = bowl.centre * at[0] ** bowl.drift_N * at[1] ** bowl.drift_D
    ranges = {"N": scales["N"], **found.hp}
    return {
        name: [
            bool(ranges[name].low <= x <= ranges[name].high),
            bool(ranges[name].near_low <= x <= ranges[name].near_high),
        ]
        for name, x in wanted.items()
    }


def _law_best(name: str, study: Study, C: float) -> Record:
    analysis = analyse(study, FitOptions(law=get_law(name), targets=(Target(C),), force=True))
    if analysis.uncertainty is None or not analysis.predictions:
        return {"error": "no prediction"}
    (p,) = analysis.predictions
    inputs = {k: np.array([v]) for k, v in p.inputs.items()}
    bands = {level: analysis.uncertainty.loss(inputs, level) for level in LEVELS}
    ends = {
        str(k): [float(np.ravel(b.low)[0]), float(np.ravel(b.high)[0])] for k, b in bands.items()
    }
    return {"loss": p.loss, "intervals": ends}


def told(known: dict[str, Record], method: str, shape: str = "") -> list[Record]:
    """The draws that a method predicted."""
    return [
        record
        for key, record in known.items()
        if key.endswith(f"|{method}") and key.startswith(shape) and "loss" in record
    ]


def report(parts: dict[str, dict[str, Record]], methods: Collection[str]) -> None:
    print("\n== drawn studies: the true best loss two decades beyond the largest run")
    print(f"{'':46s}" + " ".join(f"{c:>8s}" for c in COLUMNS))
    for method in methods:
        for shape in SHAPES if method == "surface" else ():
            if rows := told(parts["drawn"], method, f"{shape}|"):
                print(line(f"  {method:13s}{shape}", scores(rows)))
        if rows := told(parts["drawn"], method):
            print(line(f"{method}: all", scores(rows)))
    if {"surface", "LC"} <= set(methods):
        print(f"error of the surface over that of L(C): {error_ratio(parts['drawn']):.2f}")
    for what, (inside, near) in optima(parts["drawn"]).items():
        print(f"true {what} inside its interval: {inside:.0%}, within the 0.5 % set: {near:.0%}")
    print("\n== the bet on tinylm: the loss of one run at nine times the compute of the grid")
    for key, record in parts["bet"].items():
        print(bet_line(key, record))


def error_ratio(known: dict[str, Record]) -> float:
    """Median error of the surface over the median error of L(C)."""
    surface, law = (scores(told(known, m))["error"] for m in ("surface", "LC"))
    return surface / law


def optima(known: dict[str, Record]) -> dict[str, tuple[float, float]]:
    """Share of draws whose N* and λ* are held: by the interval, by the set within 0.5 %."""
    held: dict[str, list[list[bool]]] = {"N*": [], "λ*": []}
    for key, record in known.items():
        # In Porian's shape N and D cannot be told apart, so N* is a prior's.
        for name, two in record.get("held", {}).items():
            if name != "N":
                held["λ*"].append(two)
            elif not key.startswith("porian"):
                held["N*"].append(two)
    return {k: tuple(np.mean(v, axis=0).tolist()) for k, v in held.items() if v}  # type: ignore[misc]


def bet_line(key: str, record: Record) -> str:
    source, _, method = key.split("|")
    low, high = record["intervals"]["0.95"]
    inside = "inside" if low <= record["true"] <= high else "MISSED"
    half = 50 * np.log(high / max(low, 1e-9))
    off = 100 * np.log(record["loss"] / record["true"])
    head = f"{method:12s} from {source:12s} {record['loss']:.3f} [{low:.3f}, {high:.3f}]"
    return f"{head} off {off:+.1f} % ±{half:.1f} % {inside}"


def run_bet(methods: Iterable[str], known: dict[str, Record], prior: Prior) -> None:
    """What each method says of the bet, from the dense grid and from the 10 % study."""
    bet = json.loads((TINYLM / "results" / "bet.json").read_text())
    sources = {"dense grid": lambda: datasets.load("tinylm"), "10 % study": tenth}
    for source, load in sources.items():
        missing = [m for m in methods if f"{source}|bet|{m}" not in known]
        study = load() if missing else None
        for method in missing:
            assert study is not None
            found = (
                _bet_surface(study, bet, prior)
                if method == "surface"
                else _bet_law(method, study, bet)
            )
            known[f"{source}|bet|{method}"] = {**found, "true": bet["loss"]}


def tenth() -> Study:
    """The runs of the live study that spent a tenth of the grid's compute."""
    folder = TINYLM / "live" / "frontier-10"
    events = map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
    rows = rows_of(open_study(folder / "study.toml"), fold(list(events)))
    with TemporaryDirectory() as place:
        path = Path(place) / "runs.csv"
        path.write_text(csv_text(rows, finished=True))
        return datasets.load(path)


def _bet_surface(study: Study, bet: dict[str, Any], prior: Prior) -> Record:
    surface = fit_surface(study.grid, study.runs, prior)
    return of_mixture(surface.mixture_at({"N": bet["N"], "D": bet["D"]}), run=True)


def _bet_law(name: str, study: Study, bet: dict[str, Any]) -> Record:
    law = get_law(name)
    analysis = analyse(study, FitOptions(law=law, force=True))
    assert analysis.uncertainty is not None
    inputs = {key: np.array([float(bet[key])]) for key in law.inputs}
    bands = {level: analysis.uncertainty.run(inputs, level) for level in LEVELS}
    ends = {str(k): [float(b.low[0]), float(b.high[0])] for k, b in bands.items()}
    return {"loss": float(analysis.fit.predict(inputs)[0]), "intervals": ends}
