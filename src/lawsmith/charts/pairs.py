"""The pair plot: how the parameters of plausible laws vary together.

Coefficients, which span decades, are shown in natural logs, exponents as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import altair as alt
import numpy as np
import pandas as pd

from lawsmith.analysis import Analysis
from lawsmith.charts import draw, titles
from lawsmith.charts.draw import WIDE, Channel, field, layer, mark
from lawsmith.charts.runs import ChartUnavailable, short
from lawsmith.formats import symbol
from lawsmith.grid import FloatArray
from lawsmith.laws.law import Law
from lawsmith.laws.uncertainty import Uncertainty

HEIGHT, SPACING, LEFT = 130, 26, 46
SHARE = 0.99  # of the draws that an axis shows: a far one would press the others together

N_DRAWS = 400


@dataclass(frozen=True)
class PairsData:
    """What the pair plot shows.

    draws   p0, p1, …: a row a draw, parameters that vary
    fitted  the same columns: the law as fitted, one row
    names   column → title
    pairs   (across, up, correlation) of every panel
    """

    draws: pd.DataFrame
    fitted: pd.DataFrame
    names: dict[str, str]
    pairs: tuple[tuple[str, str, float], ...]


def pairs_data(law: Law, phi: FloatArray, draws: FloatArray) -> PairsData:
    """The pair plot of ``draws`` (S, p) around ``phi`` (p,), parameters as they are searched."""
    usable = draws[np.isfinite(draws).all(axis=1)][:N_DRAWS]
    if len(usable) < 10:
        raise ChartUnavailable("too few plausible laws to see how their parameters vary")
    spread = usable.std(axis=0)
    free = [j for j in range(law.n_params) if spread[j] > 1e-9 * max(abs(phi[j]), 1.0)]
    if len(free) < 2:
        raise ChartUnavailable("fewer than two parameters vary: all plausible laws are one")
    names = {f"p{j}": _title(law, j) for j in free}
    table = {f"p{j}": short(usable[:, j]) for j in free}
    pairs = tuple(
        (f"p{a}", f"p{b}", float(np.corrcoef(usable[:, a], usable[:, b])[0, 1]))
        for a, b in combinations(free, 2)
    )
    fitted = pd.DataFrame({f"p{j}": short([phi[j]]) for j in free})
    return PairsData(pd.DataFrame(table), fitted, names, pairs)


def draws_of(uncertainty: Uncertainty, *, seed: int = 0) -> FloatArray:
    """(S, p) laws as plausible as an analysis finds them: Student's t about its centre."""
    rng = np.random.default_rng([seed, 11])
    values, vectors = np.linalg.eigh(uncertainty.cov)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    dof = max(uncertainty.dof, 1)
    stretch = np.sqrt(dof / rng.chisquare(dof, size=(N_DRAWS, 1)))
    return np.asarray(
        uncertainty.phi + stretch * (rng.standard_normal((N_DRAWS, len(values))) @ root.T)
    )


def _title(law: Law, j: int) -> str:
    param = law.params[j]
    return f"ln {symbol(param.name)}" if param.positive else symbol(param.name)


def pairs(analysis: Analysis, *, width: int = WIDE) -> alt.VConcatChart:
    """Every two parameters of plausible laws against each other, and the law as fitted."""
    if analysis.uncertainty is None:
        raise ChartUnavailable(
            "as many parameters as points: nothing is left to tell how they vary"
        )
    draws = draws_of(analysis.uncertainty, seed=analysis.options.seed)
    data = pairs_data(analysis.law, analysis.fit.phi, draws)
    heading = titles.heading("Parameters of plausible laws", analysis)
    return draw_pairs(data, heading, width=width)


def draw_pairs(data: PairsData, heading: str, *, width: int) -> alt.VConcatChart:
    n_columns = _n_columns(len(data.pairs), width)
    room = draw.panels_of(width, n_columns, spacing=SPACING, left=LEFT)
    axes = {name: _axis(data, name, room.width) for name in data.names}
    strongest = max(data.pairs, key=lambda pair: abs(pair[2]))
    text = (
        f"{len(data.draws)} draws; strongest together: {data.names[strongest[0]]} and "
        f"{data.names[strongest[1]]}, correlation {strongest[2]:+.2f}".replace("-", "−")
    )
    panels = [_panel(data, pair, axes, room.width) for pair in data.pairs]
    return room.chart(panels, heading, [text])


def _n_columns(n_panels: int, width: int) -> int:
    """Three panels abreast on a page, five of many; one or two on a telephone."""
    if width < draw.TWO_COLUMNS:
        return 2 if n_panels > 3 else 1
    return min(5 if n_panels > 6 else 3, n_panels)


def _axis(data: PairsData, name: str, pixels: int) -> Channel:
    values = data.draws[name]
    tail = (1 - SHARE) / 2
    at = float(data.fitted[name].iloc[0])
    low = min(float(values.quantile(tail)), at)
    high = max(float(values.quantile(1 - tail)), at)
    room = 0.05 * (high - low) or 0.05 * abs(at) or 0.05  # all alike where it lies at its bound
    domain, n_ticks = (low - room, high + room), max(pixels // 45, 3)
    return draw.linear_axis(data.names[name], domain, n_ticks=n_ticks)


def _panel(
    data: PairsData, pair: tuple[str, str, float], axes: dict[str, Channel], pixels: int
) -> alt.LayerChart:
    across, up, _ = pair
    vertical = {**axes[up], "axis": {**axes[up]["axis"], "titlePadding": 4}}
    where = {"x": field(across, axes[across]), "y": field(up, vertical)}
    names = {across: data.names[across], up: data.names[up]}
    layers = [
        layer(data.draws, mark("point", "draw", clip=True), "a plausible law", **where),
        layer(data.fitted, mark("point", "target"), "as fitted", tooltip=names, **where),
    ]
    return draw.view(layers, width=pixels, height=HEIGHT)
