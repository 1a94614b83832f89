"""The (Mis)Fitting checklist, filled in from what is known.

Li, Kudugunta and Zettlemoyer, *(Mis)Fitting: A Survey of Scaling Laws* (2025), ask of every scaling
law how it was hypothesised, trained for, collected and fitted. The questions here are put in
lawsmith's own words; what no table tells is left open, to be filled in by hand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.answer.text import held_out_text, rests_on
from lawsmith.charts.titles import objective_text
from lawsmith.formats import count, digits, number, percent, plural, symbol
from lawsmith.report.parts import Card, Listing
from lawsmith.report.source import Source, compute_text

OPEN = "not known to lawsmith"
COLUMNS = ("of", "question", "answer")


@dataclass(frozen=True)
class Item:
    """A question and its answer; OPEN where it cannot be told from the runs."""

    of: str
    question: str
    answer: str


def checklist(source: Source) -> Card:
    """What a careful reader asks of a scaling law."""
    items = [*_form(source), *_training(source), *_collecting(source), *_fitting(source)]
    n_open = sum(item.answer.startswith(OPEN) for item in items)
    lead = (
        f"The (Mis)Fitting checklist: {len(items) - n_open} of {plural(len(items), 'question')} "
        "answered from the runs; what is open is for you to say."
    )
    above = ["", *(item.of for item in items)]
    rows = tuple(
        (item.of if item.of != before else "", item.question, item.answer)
        for item, before in zip(items, above, strict=False)
    )
    listing = Listing("checklist", COLUMNS, rows, n_words=3)
    return Card("checklist", "Checklist", lead, (listing,))


def _form(source: Source) -> list[Item]:
    law = source.law
    names = ", ".join(symbol(name) for name in law.names)
    counted = "by the table's own column" if "C" in source.study.grid.names else "as 6·N·D"
    found = () if source.answer is None else source.answer.forecasts
    far = (
        "no target"
        if not found
        else f"{digits(found[0].decades, '.1f')} decades, to {found[0].target.label}"
    )
    return [
        Item("form", "What is the form?", law.formula),
        Item("form", "Which variables does it relate?", f"loss and {', '.join(law.inputs)}"),
        Item("form", "Which parameters are fitted?", f"{names}: {law.n_params}"),
        Item("form", "How far is it extrapolated?", far),
        Item(
            "form",
            "How is compute counted?",
            counted if source.kind != "live" else _live_cost(source),
        ),
    ]


def _live_cost(source: Source) -> str:
    rule = source.record.settings.get("compute", "6ND")
    return f"as {rule}"


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
        Item("training", "How many runs, and what became of them?", f"{len(runs)}: {became}"),
        Item("training", "Of which sizes, on how many tokens?", _ranges(source)),
        Item("training", "With how much compute?", compute_text(source.spend, source.spend.spent)),
        Item("training", "Which hyperparameters were tuned?", ", ".join(tuned) or "none"),
        Item("training", "Were runs repeated?", repeats),
        Item("training", "Are embeddings counted in N?", OPEN),
        Item("training", "Which architecture, data, tokenizer?", OPEN),
        Item("training", "Which optimiser, schedule, precision?", OPEN),
        Item("training", "Was data repeated?", OPEN),
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
        Item("data", "Which runs enter the fit?", _points(source)),
        Item("data", "Which were left out?", ", ".join(left) or "none by lawsmith"),
        Item("data", "Final losses, or of checkpoints on the way?", final),
        Item("data", "What is the loss, on which data?", OPEN),
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
        return [Item("fitting", "How was it fitted?", "there is no law yet")]
    pinned = [f"{symbol(k)} = {number(v)}" for k, v in fit.fixed.items()]
    pinned += [f"{symbol(k)} about {number(p.value)}" for k, p in fit.priors.items()]
    free = ", ".join(pinned) or "nothing"
    steps = (
        "variable projection on a grid of exponents, then Newton's method with exact Hessians, to "
        f"a gradient of {number(fit.gradient, 2)}"
    )
    return [
        Item("fitting", "Which objective?", objective_text(fit.objective)),
        Item("fitting", "Which optimiser, from where?", steps),
        Item("fitting", "What was pinned or given a prior?", free),
        Item("fitting", "How uncertain is it?", _uncertainty(source)),
        Item("fitting", "How was it validated?", _validation(source)),
        Item("fitting", "Can it be done again?", "yes: see the commands and checksums below"),
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
