"""The figures of suites: charts that can be drawn at any width, and their files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from lawsmith import charts
from lawsmith.charts import NARROW, PRINT, Chart
from lawsmith.replay import Task
from lawsmith_paper.charts.data.subsets import SubsetsData, subsets_data
from lawsmith_paper.charts.draw.recovery import recovery
from lawsmith_paper.charts.draw.subsets import draw_subsets
from lawsmith_paper.plan import Figure
from lawsmith_paper.tables import Lines

FULL = 1040  # pixels: five panels abreast, as in the paper
FOLDER = "figures"


@dataclass(frozen=True)
class Picture:
    """A chart of a section.

    name      of its files
    caption   what it shows beside the paper's, in a sentence or two
    draw      draws it at a ``width`` given by keyword; files and page ask for the same ones
    """

    name: str
    caption: str
    draw: Callable[..., Chart]


def recovery_picture(figure: Figure, lines: Lines, caption: str) -> Picture:
    """The recovery chart of a figure's replays."""
    draw = partial(recovery, lines, value=figure.value, fits=figure.fits, title=figure.title)
    return Picture(figure.name, caption, cache(draw))


def subsets_picture(name: str, task: Task, caption: Callable[[SubsetsData], str]) -> Picture:
    """The subsets chart of a task's frontier; ``caption`` is told its numbers."""
    data = subsets_data(task)
    return Picture(name, caption(data), cache(partial(draw_subsets, data, task)))


def write_pictures(folder: Path, pictures: Sequence[Picture]) -> list[Path]:
    """Every picture as PNG, SVG, PDF and interactive HTML in ``folder``/figures.

    SVG and PDF, which are for papers, are in the colours for print.
    """
    paths: list[Path] = []
    for picture in pictures:
        wide, narrow = picture.draw(width=FULL), picture.draw(width=NARROW)
        into = folder / FOLDER
        paths += charts.write(wide, into, picture.name, narrow=narrow, formats=("html", "png"))
        printed = charts.themed(wide, PRINT)
        paths += charts.write(printed, into, picture.name, formats=("svg", "pdf"))
    return paths
