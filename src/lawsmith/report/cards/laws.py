"""The law and what follows from it: envelope and band, isoFLOP curves, allocation."""

from __future__ import annotations

from functools import partial
from math import isnan

from lawsmith import charts
from lawsmith.formats import number, percent
from lawsmith.laws.uncertainty import Interval
from lawsmith.report.cards.cautions import cautions, of_analysis
from lawsmith.report.forecast import true_parameters
from lawsmith.report.parts import Absent, Card, Figure, Listing, Part, figure
from lawsmith.report.source import Source
from lawsmith.report.words import ends, symbol


def law(source: Source) -> Card:
    """Runs, the envelope, and the law with its band."""
    told = cautions(source, "law")
    if source.seen is not None:
        caption = (
            "Filled points of the envelope were run; hollow ones are what the surrogate expects "
            "of runs not made. The law is fitted to both; the band is of the true loss."
        )
        main = figure("law", caption, partial(charts.outlook, source.seen), cautions=told)
    elif source.analysis is not None:
        caption = (
            "Every run, those that the law is fitted to, and the law with its interval. Hover "
            "over a point to see the run."
        )
        main = figure("law", caption, partial(charts.law, source.analysis), cautions=told)
    else:
        main = Absent("law", source.why_no_law, told)
    parts: list[Part] = [main, *_parameters(source)]
    return Card("law", "The law", f"{source.law.formula}: best loss against scale.", tuple(parts))


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
    lead = "Best loss against model size at each level of compute, of the runs that were made."
    caption = "A hollow minimum lies at an end of its curve: the best size may lie beyond."
    if source.analysis is None:
        return Card("isoflop", title, lead, (Absent("isoflop", source.why_no_law, told),))
    parts: list[Part] = [
        figure("isoflop", caption, partial(charts.isoflop, source.analysis), cautions=told)
    ]
    if source.shares is not None:
        caption = f"Lines are {source.shares.law.formula}, fitted to the best run of each (N, D)."
        parts.append(figure("curves", caption, partial(charts.curves, source.shares)))
    return Card("isoflop", title, lead, tuple(parts))


def allocation(source: Source) -> Card:
    """How to divide compute between parameters and tokens."""
    lead = "How to divide compute between parameters and tokens."
    whose, other = source.shares, source.shares is not source.analysis
    told = cautions(source, "allocation")
    if other:
        told = of_analysis(whose, "allocation", "parameters")
    caption = "Best N, D and D/N at each compute, with intervals; diamonds are observed minima."
    if other:
        caption += f" {source.law.name} has no N and D: the law here is {_name(source)}."
    if source.seen is not None:
        caption += " Fitted to the runs made, without fantasized ones."
    part: Figure | Absent
    if whose is None:
        part = Absent("allocation", source.why_no_shares or source.why_no_law, told)
    else:
        part = figure("allocation", caption, partial(charts.allocation, whose), cautions=told)
    return Card("allocation", "Dividing compute", lead, (part,))


def _name(source: Source) -> str:
    return source.shares.law.formula if source.shares is not None else ""
