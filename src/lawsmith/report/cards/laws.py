"""A law that describes the runs, isoFLOP curves, how to divide compute, best hyperparameters."""

from __future__ import annotations

from functools import partial
from math import isnan

from lawsmith import charts
from lawsmith.analysis import Analysis
from lawsmith.charts.titles import EVERY, point_name
from lawsmith.formats import number, percent, symbol
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.cards.trust import of_analysis, of_answer
from lawsmith.report.parts import Card, Listing, Part, figure
from lawsmith.report.source import Source

TUNED = (
    "The best value for each compute with its interval, and between the dashed lines what costs at "
    "most 0.5% more loss, all at the best N and D. Dots are the best runs so far."
)
REGION = (
    "At the first target: the darker a place, the less loss it costs beside the best one, the "
    "star. Choose what suits you within the darkest region."
)
LETTERS = {
    "C": "the training compute in FLOPs",
    "N": "the number of parameters",
    "D": "the number of training tokens",
}


def law(source: Source) -> Card:
    """A law that describes the runs, with its own band: not the answer."""
    caption = (
        "Grey: every run. Blue: those that the law is fitted to. The band is the law's own "
        "interval, which assumes that its form is right; the answer above does not. Hover over a "
        "point to see the run."
    )
    parts: list[Part] = [of_analysis(source, "law", caption, charts.law), *_parameters(source)]
    return Card("law", "A law that describes the runs", _letters(source.law), tuple(parts))


def _letters(law: Law) -> str:
    """The formula, and what its letters stand for."""
    known = [f"{name} {LETTERS[name]}" for name in law.inputs if name in LETTERS]
    said = f", where L is the best loss, {', '.join(known)}" if known else ""
    floor = " E is the loss that no scale gets below." if "E" in law.names else ""
    return f"{law.formula}{said}.{floor}"


def _parameters(source: Source) -> list[Part]:
    if source.found.analysis is None:
        return []
    intervals: dict[str, Interval] = {}
    if source.found.analysis.uncertainty is not None:
        intervals = source.found.analysis.uncertainty.params(source.level)
    rows = tuple(
        (symbol(name), number(value, 5), _interval(intervals.get(name)))
        for name, value in source.found.analysis.fit.params.items()
    )
    columns = ("parameter", "fitted", f"{percent(source.level)} interval")
    return [Listing("parameters", columns, rows)]


def _interval(found: Interval | None) -> str:
    if found is None:
        return "–"
    return "at its bound" if isnan(found.low) else f"{number(found.low)} to {number(found.high)}"


def isoflop(source: Source) -> Card:
    """Best loss against size at equal compute, and against tokens at equal size."""
    lead = (
        "Which size does best at equal compute, and what more tokens bring at equal size; of the "
        "runs that were made."
    )
    caption = (
        "Each curve joins runs of about the same compute, each the best of its size and tokens. "
        "Its lowest point, a diamond, is the best size for that compute. A hollow one lies at an "
        "end of its curve: a size beyond may do better still."
    )
    parts: list[Part] = [of_analysis(source, "isoflop", caption, charts.isoflop)]
    if source.found.analysis is not None and source.found.sizes is not None:
        draw = partial(charts.curves, source.found.sizes)
        parts.append(figure("curves", _curves_caption(source, source.found.sizes), draw))
    return Card("isoflop", "At equal compute", lead, tuple(parts))


def _curves_caption(source: Source, sizes: Analysis) -> str:
    points = "each point the best run at that many tokens"
    if point_name(sizes) == EVERY:
        points = "each point a run"
    told = f"Each colour is one model size, {points}. Lines are {sizes.law.formula}, fitted to them"
    if sizes.score is not None:
        told += "; stars were held out of the fit"
    if sizes is not source.found.analysis:
        told += f". It is another law than {source.law.formula}, which has no sizes"
    return f"{told}."


def allocation(source: Source) -> Card:
    """How to divide compute between parameters and tokens."""
    lead = "How to divide compute between parameters and tokens, by the answer's own surface."
    caption = (
        "The best N, D and D/N for each compute with their intervals, and between the dashed lines "
        "what costs at most 0.5% more loss. Dots are the best runs so far."
    )
    part = of_answer(source, "allocation", caption, charts.allocation)
    return Card("allocation", "Dividing compute", lead, (part,))


def tuning(source: Source) -> Card:
    """Where the best hyperparameters lie, and how they move with scale."""
    lead = "Which hyperparameters to use, and how the best ones drift as compute grows."
    parts = (
        of_answer(source, "hyperparameters", TUNED, charts.hyperparameters),
        of_answer(source, "region", REGION, charts.region),
    )
    return Card("tuning", "Hyperparameters", lead, parts)
