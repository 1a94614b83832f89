"""The figures of 'methods': average ranks at every budget, for each role a chart."""

from __future__ import annotations

from functools import cache, partial

from lawsmith_paper.charts.draw.standings import standings as standings_chart
from lawsmith_paper.figures import Picture
from lawsmith_paper.methods.contenders import Role, of_role
from lawsmith_paper.methods.results import SHOWN, Results
from lawsmith_paper.methods.standings import standings

HEADINGS: dict[Role, str] = {
    "rival": "The frontier policy and other methods",
    "ablation": "The frontier policy and its ablations",
}


def methods_pictures(results: Results) -> list[Picture]:
    """A chart for each role all of whose contenders have results."""
    found = [_picture(results, role) for role in HEADINGS]
    return [picture for picture in found if picture is not None]


def _picture(results: Results, role: Role) -> Picture | None:
    contenders = of_role(role)
    found = standings(results, contenders)
    if not found:
        return None
    n_studies = max(standing.n_subjects for standing in found)
    about = f"average rank over seeds and up to {n_studies} studies (how many in brackets), 1 best"
    ranks = {f"{s.metric.label} ({s.n_subjects})": s.ranks for s in found}
    draw = partial(
        standings_chart,
        [contender.label for contender in contenders],
        SHOWN,
        ranks,
        heading=HEADINGS[role],
        about=about,
    )
    caption = (
        "Each dot is a method's average rank at a budget. Methods that differ by chance alone "
        "would all stand in the middle."
    )
    return Picture(f"methods-ranks-{role}", caption, cache(draw))
