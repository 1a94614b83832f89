"""The (Mis)Fitting checklist, filled in from what is known.

Li, Kudugunta and Zettlemoyer, *(Mis)Fitting: A Survey of Scaling Laws* (2025), ask of every scaling
law how it was hypothesised, trained for, collected and fitted. The questions here are put in
lawsmith's own words; what no table tells is left open, to be filled in by hand.
"""

from __future__ import annotations

import numpy as np

from lawsmith.answer.text import held_out_text, rests_on
from lawsmith.charts.titles import objective_text
from lawsmith.formats import count, digits, number, percent, plural, symbol
from lawsmith.report.parts import Card, Listing
from lawsmith.report.source import Source, compute_text

OPEN = "not known to lawsmith"
COLUMNS = ("of", "question", "answer")
Item = tuple[str, str]  # a question and its answer; OPEN where it cannot be told from the runs


def checklist(source: Source) -> Card:
    """What a careful reader asks of a scaling law."""
    asked = {
        "form": _form(source),
        "training": _training(source),
        "data": _collecting(source),
        "fitting": _fitting(source),
    }
    rows = tuple(
        ("" if i else of, *item) for of, items in asked.items() for i, item in enumerate(items)
    )
    n_open = sum(told.startswith(OPEN) for _, _, told in rows)
    lead = (
        f"The (Mis)Fitting checklist: {len(rows) - n_open} of {plural(len(rows), 'question')} "
        "answered from the runs; what is open is for you to say."
    )
    listing = Listing("checklist", COLUMNS, rows, n_words=3)
    return Card("checklist", "Checklist", lead, (listing,))


def _form(source: Source) -> list[Item]:
    law = source.law
    names = ", ".join(symbol(name) for name in law.names)
    counted = "by the table's own column" if "C" in source.study.grid.names else "as 6·N·D"
    if source.kind == "live":
        counted = f"as {source.record.settings.get('compute', '6ND')}"
    found = () if source.answer is None else source.answer.forecasts
    far = (
        "no target"
        if not found
        else f"{digits(found[0].decades, '.1f')} decades, to {found[0].target.label}"
    )
    return [
        ("What is the form?", law.formula),
        ("Which variables does it relate?", f"loss and {', '.join(law.inputs)}"),
        ("Which parameters are fitted?", f"{names}: {law.n_params}"),
        ("How far is it extrapolated?", far),
        ("How is compute counted?", counted),
    ]


def _training(source: Source) -> list[Item]:
    grid, runs = source.study.grid, source.study.runs
    counts = {state: n for state, n in runs.counts().items() if n}
    became = ", ".join(f"{n} {state}" for state, n in counts.items()) or "none"
    tuned = [
        f"{name} ({len(np.unique(values))} values)"
        for name, values in grid.hp.items()
        if len(np.unique(values)) > 1
    ]
    n_repeated = int((runs.replicate_counts(len(grid)) > 1).sum()) if len(runs) else 0
    repeats = f"{plural(n_repeated, 'configuration')} more than once" if n_repeated else "none"
    return [
        ("How many runs, and what became of them?", f"{len(runs)}: {became}"),
        ("Of which sizes, on how many tokens?", _ranges(source)),
        ("With how much compute?", compute_text(source.spend, source.spend.spent)),
        ("Which hyperparameters were tuned?", ", ".join(tuned) or "none"),
        ("Were runs repeated?", repeats),
        ("Are embeddings counted in N?", OPEN),
        ("Which architecture, data, tokenizer?", OPEN),
        ("Which optimiser, schedule, precision?", OPEN),
        ("Was data repeated?", OPEN),
    ]


def _ranges(source: Source) -> str:
    grid, rows = source.study.grid, source.study.runs.index
    told = []
    for name in ("N", "D"):
        if name in grid.names and len(rows):
            values = grid.numbers(name)[rows]
            n = len(np.unique(values))
            told.append(f"{n} values of {name}, {count(values.min())} to {count(values.max())}")
    return "; ".join(told) or OPEN


def _collecting(source: Source) -> list[Item]:
    log = source.study.log
    left = [
        f"{n} {what}"
        for n, what in (
            (log.n_filtered, "filtered out"),
            (log.n_bad, "with a bad cell"),
            (len(log.dropped), "of largest loss dropped"),
        )
        if n
    ]
    final = "final results only" if source.kind == "live" else OPEN
    return [
        ("Which runs enter the fit?", _points(source)),
        ("Which were left out?", ", ".join(left) or "none by lawsmith"),
        ("Final losses, or of checkpoints on the way?", final),
        ("What is the loss, on which data?", OPEN),
    ]


def _points(source: Source) -> str:
    if source.answer is None:
        return "none yet"
    told = f"the answer: all of {rests_on(source.answer)}"
    a = source.found.analysis
    if a is None:
        return told
    n_known = int(np.isfinite(a.loss[a.pool]).sum())
    return f"{told}; the law: {a.fit.n_points} of {plural(n_known, 'configuration')}, the frontier"


def _fitting(source: Source) -> list[Item]:
    fit = source.found.analysis.fit if source.found.analysis is not None else None
    if fit is None:
        return [("How was it fitted?", "there is no law yet")]
    pinned = [f"{symbol(k)} = {number(v)}" for k, v in fit.fixed.items()]
    pinned += [f"{symbol(k)} about {number(p.value)}" for k, p in fit.priors.items()]
    free = ", ".join(pinned) or "nothing"
    steps = (
        "variable projection on a grid of exponents, then Newton's method with exact Hessians, to "
        f"a gradient of {number(fit.gradient, 2)}"
    )
    return [
        ("Which objective?", objective_text(fit.objective)),
        ("Which optimiser, from where?", steps),
        ("What was pinned or given a prior?", free),
        ("How uncertain is it?", _uncertainty(source)),
        ("How was it validated?", _validation(source)),
        ("Can it be done again?", "yes: see the commands and checksums below"),
    ]


def _uncertainty(source: Source) -> str:
    level = percent(source.level)
    u = source.found.analysis.uncertainty if source.found.analysis is not None else None
    law = "not known: no degree of freedom is left" if u is None else f"{level}, {u.method}"
    return f"the answer: {level}, posterior of the surface; the law: {law}"


def _validation(source: Source) -> str:
    if source.answer is None or source.answer.held_out is None:
        return "not at all: nothing was held out"
    return held_out_text(source.answer)
