"""The law and what follows from it: envelope and band, isoFLOP curves, allocation."""

from __future__ import annotations

from functools import partial
from math import isnan

from lawsmith import charts
from lawsmith.analysis import Analysis
from lawsmith.charts.data.outlook import Seen
from lawsmith.charts.draw.titles import EVERY, point_name
from lawsmith.formats import number, percent
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.cards.cautions import cautions, of_analysis
from lawsmith.report.forecast import true_parameters
from lawsmith.report.parts import Absent, Card, Figure, Listing, Part, figure
from lawsmith.report.source import Source
from lawsmith.report.words import ends, symbol

LETTERS = {
    "C": "the training compute in FLOPs",
    "N": "the number of parameters",
    "D": "the number of training tokens",
}


def law(source: Source) -> Card:
    """Runs, the envelope, and the law with its band."""
    told = cautions(source, "law")
    if source.seen is not None:
        caption = _outlook_caption(source.seen)
        main = figure("law", caption, partial(charts.outlook, source.seen), cautions=told)
    elif source.analysis is not None:
        caption = (
            "Grey: every run. Blue: those that the law is fitted to. The band is its interval, "
            "carried on to the target. Hover over a point to see the run."
        )
        main = figure("law", caption, partial(charts.law, source.analysis), cautions=told)
    else:
        main = Absent("law", source.why_no_law, told)
    parts: list[Part] = [main, *_parameters(source)]
    return Card("law", "The law", _letters(source.law), tuple(parts))


def _letters(law: Law) -> str:
    """The formula, and what its letters stand for."""
    known = [f"{name} {LETTERS[name]}" for name in law.inputs if name in LETTERS]
    said = f", where L is the best loss, {', '.join(known)}" if known else ""
    floor = " E is the loss that no scale gets below." if "E" in law.names else ""
    return f"{law.formula}{said}.{floor}"


def _outlook_caption(seen: Seen) -> str:
    told = "Blue: the envelope, the best losses at each compute, which the law is fitted to."
    if not seen.outlook.observed.all():
        told += (
            " Filled points were run; hollow ones are what the surrogate expects of runs not made."
        )
    told += " The band is of the true loss; it lies higher than the line where the best of noisy "
    return told + "runs look better than they are. Hover over a point to see the run."


def _parameters(source: Source) -> list[Part]:
    intervals: dict[str, Interval] = {}
    if source.seen is not None:
        fit, intervals = source.seen.outlook.fit, true_parameters(source.seen.outlook)
    elif source.analysis is not None:
        fit = source.analysis.fit
        if source.analysis.uncertainty is not None:
            intervals = source.analysis.uncertainty.params(source.level)
    else:
        return []
    rows = tuple(
        (
            symbol(name),
            number(value, 5),
            _interval(intervals.get(name)),
        )
        for name, value in fit.params.items()
    )
    columns = ("parameter", "fitted", f"{percent(source.level)} interval")
    return [Listing("parameters", columns, rows)]


def _interval(found: Interval | None) -> str:
    if found is None:
        return "–"
    return "at its bound" if isnan(found.low) else ends(found, number)


def isoflop(source: Source) -> Card:
    """Best loss against size at equal compute, and against tokens at equal size."""
    told = cautions(source, "isoflop")
    title = "At equal compute"
    lead = (
        "Which size does best at equal compute, and what more tokens bring at equal size; of the "
        "runs that were made."
    )
    caption = (
        "Each curve joins runs of about the same compute, each the best of its size and tokens. "
        "Its lowest point, a diamond, is the best size for that compute. A hollow one lies at an "
        "end of its curve: a size beyond may do better still."
    )
    if source.analysis is None:
        return Card("isoflop", title, lead, (Absent("isoflop", source.why_no_law, told),))
    parts: list[Part] = [
        figure("isoflop", caption, partial(charts.isoflop, source.analysis), cautions=told)
    ]
    if source.shares is not None:
        draw = partial(charts.curves, source.shares)
        parts.append(figure("curves", _curves_caption(source, source.shares), draw))
    return Card("isoflop", title, lead, tuple(parts))


def _curves_caption(source: Source, shares: Analysis) -> str:
    points = "each point the best run at that many tokens"
    if point_name(shares) == EVERY:
        points = "each point a run"
    told = (
        f"Each colour is one model size, {points}. Lines are {shares.law.formula}, fitted to them"
    )
    if shares.score is not None:
        told += "; stars were held out of the fit"
    if shares is not source.analysis:
        told += f". It is not the law of the answer, {source.law.formula}, which has no sizes"
    return f"{told}."


def allocation(source: Source) -> Card:
    """How to divide compute between parameters and tokens."""
    lead = "How to divide compute between parameters and tokens."
    whose, other = source.shares, source.shares is not source.analysis
    told = cautions(source, "allocation")
    if other:
        told = of_analysis(whose, "allocation", "parameters")
    caption = (
        "The best N, D and D/N for each compute, with intervals. Diamonds, if any, are the lowest "
        "points of the curves at equal compute."
    )
    if other and whose is not None:
        caption += f" By {whose.law.formula}: {source.law.formula} does not divide compute."
    if source.seen is not None:
        caption += (
            " Fitted to the runs made alone; N* and D* of the answer also count what the surrogate "
            "expects of the others."
        )
    part: Figure | Absent
    if whose is None:
        part = Absent("allocation", source.why_no_shares or source.why_no_law, told)
    else:
        part = figure("allocation", caption, partial(charts.allocation, whose), cautions=told)
    return Card("allocation", "Dividing compute", lead, (part,))
