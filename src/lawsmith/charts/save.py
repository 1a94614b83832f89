"""All charts by name, and charts as files: HTML that loads nothing, PNG, SVG, PDF."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import altair as alt
import vl_convert

from lawsmith.analysis import Analysis
from lawsmith.arrays import saturating
from lawsmith.charts.allocation import allocation, hyperparameters
from lawsmith.charts.answer import AnswerWithRuns, answer
from lawsmith.charts.curves import curves
from lawsmith.charts.draw import NARROW, WIDE
from lawsmith.charts.isoflop import isoflop
from lawsmith.charts.law import law
from lawsmith.charts.page import page
from lawsmith.charts.region import region
from lawsmith.charts.residuals import residuals
from lawsmith.charts.runs import ChartUnavailable
from lawsmith.charts.tasks import accuracy_by_compute, accuracy_by_loss
from lawsmith.charts.trunks import AnswerWithCurves, trunks
from lawsmith.errors import unknown
from lawsmith.files import write_output
from lawsmith.tasks import TaskAnswer

Chart = alt.LayerChart | alt.ConcatChart | alt.VConcatChart

# Each is called with an AnswerWithRuns and, by keyword, the width in pixels.
ANSWER_CHARTS: dict[str, Callable[..., Chart]] = {
    "answer": answer,
    "allocation": allocation,
    "hyperparameters": hyperparameters,
    "region": region,
}

# Each is called with an Analysis and, by keyword, the width in pixels.
CHARTS: dict[str, Callable[..., Chart]] = {
    "law": law,
    "curves": curves,
    "isoflop": isoflop,
    "residuals": residuals,
}

# Each is called with a TaskAnswer and, by keyword, the study's name and the width in pixels.
TASK_CHARTS: dict[str, Callable[..., Chart]] = {
    "accuracy-by-compute": accuracy_by_compute,
    "accuracy-by-loss": accuracy_by_loss,
}

Drawing = tuple[str, Callable[..., Chart]]  # name of a chart, and a function of the width
Written = tuple[list[Path], dict[str, str]]  # the files, and for charts without any, name → reason
Format = Literal["html", "png", "svg", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
DEFAULT: tuple[Format, ...] = ("html", "png")

# Altair's limit of rows is a global of the process, and live pages draw in several threads: two
# that lift it at the same time would restore it in the wrong order.
_UNLIMITED = threading.Lock()


def spec_of(chart: Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, without Altair's limit of 5,000 rows."""
    with _UNLIMITED, alt.data_transformers.enable("default", max_rows=None):
        return chart.to_dict(validate=False)


def write(
    chart: Chart,
    directory: str | Path,
    name: str,
    *,
    narrow: Chart | None = None,
    formats: Sequence[Format] = DEFAULT,
) -> list[Path]:
    """Write directory/name.html, .png, …; ``narrow`` is the same chart, drawn for phones."""
    # Not validated here: the tests do that, and it would take most of the time.
    wide = spec_of(chart)
    small = wide if narrow is None else spec_of(narrow)
    paths = []
    for suffix in formats:
        if suffix not in FORMATS:
            raise unknown("chart format", suffix, FORMATS)
        text = _render(suffix, wide, small, name)
        paths.append(write_output(Path(directory) / f"{name}.{suffix}", text, where="chart"))
    return paths


@saturating
def write_all(
    directory: str | Path,
    answered: AnswerWithRuns | None,
    analysis: Analysis | None = None,
    *,
    curved: AnswerWithCurves | None = None,
    formats: Sequence[Format] = DEFAULT,
) -> Written:
    """Write all charts of an answer, of a law, and of curves."""
    drawings = [*_of(answered, ANSWER_CHARTS), *_of(analysis, CHARTS)]
    return _write_each([*drawings, *_of(curved, {"trunks": trunks})], directory, formats)


def write_tasks(
    directory: str | Path,
    study: str,
    answers: Sequence[TaskAnswer],
    *,
    formats: Sequence[Format] = DEFAULT,
) -> Written:
    """Write the charts of task answers; if there are several, file names include the task."""
    drawings = []
    for one in answers:
        task = re.sub(r"[^A-Za-z0-9_]+", "-", one.task.name).strip("-")
        suffix = f"-{task}" if len(answers) > 1 else ""
        for name, draw in TASK_CHARTS.items():
            drawings.append((f"{name}{suffix}", partial(draw, one, study=study)))
    return _write_each(drawings, directory, formats)


def _write_each(
    drawings: Iterable[Drawing], directory: str | Path, formats: Sequence[Format]
) -> Written:
    paths: list[Path] = []
    missing: dict[str, str] = {}
    for name, draw in drawings:
        try:
            wide, narrow = draw(width=WIDE), draw(width=NARROW)
        except ChartUnavailable as error:
            missing[name] = error.reason
        else:
            paths += write(wide, directory, name, narrow=narrow, formats=formats)
    return paths, missing


def _of(value: object, charts: Mapping[str, Callable[..., Chart]]) -> list[Drawing]:
    """The drawings of a value; none for None."""
    return [] if value is None else [(name, partial(draw, value)) for name, draw in charts.items()]


def _render(suffix: Format, wide: dict[str, Any], narrow: dict[str, Any], name: str) -> bytes:
    match suffix:
        case "html":
            return page(wide, narrow, title=_title(wide, name)).encode()
        case "png":
            return bytes(vl_convert.vegalite_to_png(wide, scale=2))
        case "svg":
            return str(vl_convert.vegalite_to_svg(wide)).encode()
        case "pdf":
            return bytes(vl_convert.vegalite_to_pdf(wide))


def _title(spec: dict[str, Any], name: str) -> str:
    text = spec.get("title", {}).get("text", name)
    return text if isinstance(text, str) else " ".join(text)
