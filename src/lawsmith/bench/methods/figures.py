"""The figures of 'methods': average ranks at every budget, for each role a chart."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from lawsmith.bench.figures import Picture
from lawsmith.bench.methods.contenders import Role, of_role
from lawsmith.bench.methods.results import METRICS, SHOWN, Results
from lawsmith.bench.methods.standings import average_ranks, rankable
from lawsmith.charts.draw.standings import standings
from lawsmith.grid import FloatArray

SCALED = ", ×"  # how a label names a factor, which ranks have not
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
    ranks: dict[str, FloatArray] = {}
    n_studies = 0
    for metric in METRICS:
        places = [average_ranks(results, metric, contenders, budget) for budget in SHOWN]
        known = [p for p in places if p is not None]
        if len(known) == len(SHOWN):
            n = len(rankable(results, metric, [c.name for c in contenders]))
            n_studies = max(n_studies, n)
            ranks[f"{metric.label.split(SCALED)[0]} ({n})"] = np.stack(known, axis=1)
    if not ranks:
        return None
    about = f"average rank over seeds and up to {n_studies} studies (how many in brackets), 1 best"
    draw = partial(
        standings,
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
