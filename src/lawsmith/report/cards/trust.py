"""How far to trust the law: residuals, the influence of points, parameters that vary together."""

from __future__ import annotations

from functools import partial

from lawsmith import charts
from lawsmith.charts.pairs import draws_of
from lawsmith.report.cards.cautions import of_law
from lawsmith.report.parts import Absent, Card, Part, figure
from lawsmith.report.source import Source


def residuals(source: Source) -> Card:
    """What the law misses, and which runs it hangs on."""
    lead = "What the law misses, and which points its prediction hangs on."
    told = of_law(source.analysis, "residuals")
    caption = (
        "Above: how far each point lies from the law. Below: how the prediction moves when the "
        "point is left out, beside one standard error."
    )
    if source.analysis is None:
        part: Part = Absent("residuals", source.why_no_law, told)
    else:
        part = figure(
            "residuals", caption, partial(charts.residuals, source.analysis), cautions=told
        )
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
