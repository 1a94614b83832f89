"""How far to trust the law: its warnings, residuals, influence, parameters that vary together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lawsmith import charts
from lawsmith.analysis import Analysis
from lawsmith.charts.pairs import draws_of
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.report.parts import Absent, Card, Caution, Figure, figure
from lawsmith.report.source import Source

# The card that each warning about the law concerns; one that is not listed stands with the law.
PLACES = {
    "isoflop_unbracketed": "isoflop",
    "influential_point": "residuals",
    "lack_of_fit": "residuals",
    "at_bound": "parameters",
    "ill_conditioned": "parameters",
}


def of_analysis(
    source: Source, name: str, caption: str, draw: Callable[..., charts.Chart]
) -> Figure | Absent:
    """The chart ``draw`` of the law, with the warnings that belong there, or why there is none."""
    told = of_law(source.analysis, name)
    if source.analysis is None:
        return Absent(name, source.why_no_law, told)
    return figure(name, caption, partial(draw, source.analysis), cautions=told)


def residuals(source: Source) -> Card:
    """What the law misses, and which runs it hangs on."""
    lead = "What the law misses, and which points its prediction hangs on."
    caption = (
        "Above: how far each point lies from the law. Below: how the prediction moves when the "
        "point is left out, beside one standard error."
    )
    part = of_analysis(source, "residuals", caption, charts.residuals)
    return Card("residuals", "Residuals and influence", lead, (part,))


def parameters(source: Source) -> Card:
    """Parameters of plausible laws against each other."""
    lead = (
        "How the law's parameters vary together. Along a narrow line one makes up for the other: "
        "the runs tell both only together."
    )
    told = of_law(source.analysis, "parameters")
    title = "Parameters together"
    if source.analysis is None:
        return Card("parameters", title, lead, (Absent("pairs", source.why_no_law, told),))
    if source.analysis.uncertainty is None:
        why = "as many parameters as points: nothing is left to tell how they vary"
        return Card("parameters", title, lead, (Absent("pairs", why, told),))
    law, phi = source.analysis.law, source.analysis.fit.phi
    draws = draws_of(source.analysis.uncertainty, seed=source.analysis.options.seed)
    caption = "Each dot is a law as plausible as the fitted one, drawn from its uncertainty."
    draw = partial(charts.pairs, law, phi, draws, name=source.name)
    return Card("parameters", title, lead, (figure("pairs", caption, draw, cautions=told),))


def place_of(warning: Diagnostic) -> str:
    """The card that a warning about the law stands in."""
    return PLACES.get(warning.code, "law")


def of_law(analysis: Analysis | None, place: str) -> tuple[Caution, ...]:
    """The warnings about a law that belong in ``place``."""
    told = () if analysis is None else analysis.warnings
    return tuple(Caution(w.code, w.message) for w in told if place_of(w) == place)
