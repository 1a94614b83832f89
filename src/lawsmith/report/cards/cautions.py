"""Which warning stands beside what."""

from __future__ import annotations

from lawsmith.analysis import Analysis
from lawsmith.formats import plural
from lawsmith.laws.diagnostics import FAR_DECADES
from lawsmith.report.forecast import forecasts
from lawsmith.report.parts import Caution
from lawsmith.report.source import Source

# The card that each kind of warning concerns; one that is not listed stands with the law.
PLACES = {
    "extrapolation_decades": "answer",
    "too_few_levels": "law",
    "frontier_optimism": "law",
    "isoflop_unbracketed": "isoflop",
    "collinear_design": "allocation",
    "influential_point": "residuals",
    "lack_of_fit": "residuals",
    "at_bound": "parameters",
    "ill_conditioned": "parameters",
}
MOST_DREAMT = 0.5  # share of an envelope that may be fantasized without a word


def cautions(source: Source, place: str) -> tuple[Caution, ...]:
    """What must be said in ``place``."""
    found = list(of_analysis(source.analysis, place))
    if source.seen is None:
        return tuple(found)
    # What is said of the observed runs' own law is not true of the law of both.
    if place == "law":
        found = _fantasized(source)
    if place == "answer":
        found = _far(source)
    return tuple(found)


def of_analysis(analysis: Analysis | None, *places: str) -> tuple[Caution, ...]:
    """An analysis's warnings that belong in one of ``places``."""
    told = () if analysis is None else analysis.warnings
    return tuple(
        Caution(warning.code, warning.message)
        for warning in told
        if PLACES.get(warning.code, "law") in places
    )


def _far(source: Source) -> list[Caution]:
    return [
        Caution(
            "extrapolation_decades",
            f"{forecast.label} lies {forecast.decades:.1f} decades beyond the largest candidate; "
            "the interval assumes that the form still holds there",
        )
        for forecast in forecasts(source)[:1]
        if forecast.decades > FAR_DECADES
    ]


def _fantasized(source: Source) -> list[Caution]:
    assert source.seen is not None
    observed = source.seen.outlook.observed
    n, n_dreamt = len(observed), int((~observed).sum())
    if n_dreamt <= MOST_DREAMT * n:
        return []
    text = (
        f"{n_dreamt} of the {plural(n, 'point')} of the envelope are fantasized: the surrogate "
        "expects them, nobody has run them; the interval counts how uncertain they are"
    )
    return [Caution("mostly_fantasized", text)]
