"""How far to trust the law: its warnings, residuals, influence, parameters that vary together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lawsmith import charts
from lawsmith.analysis import Analysis
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report.parts import Absent, Card, Caution, Figure, figure
from lawsmith.report.source import Source

# The card that each warning about the law concerns; one that is not listed stands with the law.
PLACES = {
    "isoflop_unbracketed": "isoflop",
    "influential_point": "residuals",
    "lack_of_fit": "residuals",
}


def of_analysis(
    source: Source, name: str, caption: str, draw: Callable[..., charts.Chart]
) -> Figure | Absent:
    """The chart ``draw`` of the law, with the warnings that belong there, or why there is none."""
    told = of_law(source.found.analysis, name)
    if source.found.analysis is None:
        return Absent(name, source.found.why_no_law, told)
    return figure(name, caption, partial(draw, source.found.analysis), cautions=told)


def of_answer(
    source: Source, name: str, caption: str, draw: Callable[..., charts.Chart]
) -> Figure | Absent:
    """The chart ``draw`` of the answer, or why there is none."""
    if source.found.answered is None:
        return Absent(name, source.found.why_no_answer)
    return figure(name, caption, partial(draw, source.found.answered))


def residuals(source: Source) -> Card:
    """What the law misses, and which runs it hangs on."""
    lead = "What the law misses, and which points its prediction hangs on."
    caption = (
        "Above: how far each point lies from the law. Below: how the prediction moves when the "
        "point is left out, beside one standard error."
    )
    part = of_analysis(source, "residuals", caption, charts.residuals)
    return Card("residuals", "Residuals and influence", lead, (part,))


def place_of(warning: Diagnostic) -> str:
    """The card that a warning about the law stands in."""
    return PLACES.get(warning.code, "law")


def of_law(analysis: Analysis | None, place: str) -> tuple[Caution, ...]:
    """The warnings about a law that belong in ``place``."""
    told = () if analysis is None else analysis.warnings
    return tuple(Caution(w.code, w.message) for w in told if place_of(w) == place)
