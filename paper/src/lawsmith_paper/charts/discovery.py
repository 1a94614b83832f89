"""A replay told step by step: one self-contained page with a frame for each run, and figures."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from lawsmith.charts.draw import NARROW, WIDE, view_of
from lawsmith.charts.page import bare, head, library, script_json, theme_configs
from lawsmith.charts.text import title
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.files import write_output
from lawsmith.formats import flops, percent, plural
from lawsmith_paper.charts.data.discovery import DiscoveryData
from lawsmith_paper.charts.data.frames import Frame
from lawsmith_paper.charts.data.reasons import (
    answer_words,
    choice_words,
    configuration,
    outcome_words,
    price_words,
)
from lawsmith_paper.charts.draw.discovery import (
    frame_datasets,
    path,
    plane,
    run_datasets,
    run_kinds,
)
from lawsmith_paper.charts.draw.weighing import value_datasets, values
from lawsmith_paper.titles import task_name

Json = dict[str, Any]
CHARTS = {"plane": plane, "values": values, "path": path}
HEADS = {
    "plane": "What is known",
    "values": "What each candidate is worth",
    "path": "How the answer moved",
}
CAPTIONS = {
    "plane": "Bars are 95 % intervals. Only the grey line knows the rest of the pool.",
    "values": "Each square is the best of its hyperparameters, as a share of the best of all. "
    "Dots: cells with runs; star: the next run. The two values choose by turns.",
    "path": "",
}


def write_discovery(data: DiscoveryData, file: Path) -> Path:
    """Write the page; the file is there as a whole or not at all."""
    return write_output(file, discovery_html(data), where="page")


def discovery_html(data: DiscoveryData) -> str:
    """The page: controls, the frame's words and charts, and a table with the reason of each run."""
    shown = [name for name in CHARTS if _available(name, data)]
    told = {
        "specs": {name: _specs(name, data) for name in shown},
        "frames": [_frame_json(data, frame) for frame in data.frames],
        "runs": by_column(run_kinds(data)),
        "looks": data.looks(),
    }
    heading = html.escape(f"{task_name(data.trace.task)}, discovered step by step")
    return asset("discovery.html").format(
        head=head(heading, asset("discovery.css")),
        title=heading,
        lead=html.escape(lead(data)),
        charts="\n".join(_section(name) for name in shown),
        rows="\n".join(_table_row(data, i) for i in range(len(data.reasons))),
        library=library(),
        told=script_json(told),
        configs=theme_configs(),
        script=asset("discovery.js"),
    )


def figure(data: DiscoveryData, frame: Frame, *, width: int = WIDE) -> alt.VConcatChart:
    """One frame as a chart by itself: its words as a title, what is known, the values."""
    datasets = {**frame_datasets(data, frame), **run_datasets(data, frame)}
    parts: list[Any] = [plane(data, width=width)]
    if data.has_cells and frame.reason is not None and frame.reason.chooser != "initial":
        parts.append(values(data, width=width))
        datasets |= value_datasets(frame)
    words = frame_words(data, frame)
    pixels = view_of(width).width
    lines = [words["next"], words["why"]] if frame.reason else [words["came"]]
    chart = alt.VConcatChart(
        vconcat=parts,
        spacing=28,
        title=title(words["head"], [line for line in lines if line], pixels=pixels),
        datasets={name: rows_of(rows) for name, rows in datasets.items()},
        resolve={"scale": {"color": "independent"}},
    )
    return themed(chart, LIGHT)


def lead(data: DiscoveryData) -> str:
    """What is told, in two sentences."""
    trace, task = data.trace, data.trace.task
    last = trace.steps[-1]
    run = f"{plural(last.iteration, 'run')} of {len(task.pool)}"
    spent = f"{percent(last.cost_fraction)} of {flops(task.total_compute)} FLOPs"
    return (
        f"{task.law.formula}, sought by {trace.policy} with seed {trace.seed}: {run}, {spent}. "
        "Each frame shows what was known after so many runs, and why the next one was chosen."
    )


def frame_words(data: DiscoveryData, frame: Frame) -> dict[str, str]:
    """What a frame says: where it stands, the next run, why it, and what came of it."""
    reason, total = frame.reason, len(data.trace.steps)
    spent = percent(frame.spent / 100)
    head = f"After {plural(frame.n_runs, 'run')}, {spent} of the pool's compute"
    if reason is None:
        return {"head": f"{head}: the end", "next": "", "why": "", "came": _final(data)}
    if reason.chooser == "initial":
        n = sum(1 for one in data.reasons if one.chooser == "initial")
        why = (
            f"The first {n} of {plural(total, 'run')}, drawn at random among the cheapest before "
            "there is anything to model: with N and D, of the smallest N and the few smallest D."
        )
        return {"head": "The first design", "next": "", "why": why, "came": ""}
    what = f"Next, run {reason.iteration}: {configuration(reason.config)}; {price_words(reason)}."
    came = f"{outcome_words(reason)} {answer_words(reason, data.compute)}".strip()
    return {"head": head, "next": what, "why": choice_words(reason, data.compute), "came": came}


def _final(data: DiscoveryData) -> str:
    if data.path.empty:
        return ""
    last = data.path.iloc[-1]
    ends = f"[{last['truth_low']:#.4g}, {last['truth_high']:#.4g}]"
    text = f"The law says {last['loss']:#.4g} at {flops(data.compute)} FLOPs, true loss in {ends}"
    return f"{text}; the law of the whole pool says {data.answer:#.4g}."


def rows_of(frame: pd.DataFrame) -> list[Json]:
    """Plain rows; what is not a number is null."""
    clean = frame.astype(object).where(frame.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in clean.to_dict("records")]


def by_column(frame: pd.DataFrame) -> Json:
    """{'n': rows, 'columns': {name: values}}, which is half the size of rows."""
    clean = frame.astype(object).where(frame.notna(), None)
    return {"n": len(frame), "columns": {name: clean[name].tolist() for name in frame}}


def _frame_json(data: DiscoveryData, frame: Frame) -> Json:
    datasets = {**frame_datasets(data, frame), **value_datasets(frame)}
    del datasets["reference"]
    return {
        "n": frame.n_runs,
        "shown": frame.shown,
        "words": frame_words(data, frame),
        "law": len(frame.line) > 0,
        "data": {name: by_column(rows) for name, rows in datasets.items()},
    }


def _available(name: str, data: DiscoveryData) -> bool:
    return {"values": data.has_cells, "path": len(data.path) > 1}.get(name, True)


def _specs(name: str, data: DiscoveryData) -> Json:
    drawn = {"wide": CHARTS[name](data, width=WIDE), "narrow": CHARTS[name](data, width=NARROW)}
    specs: Mapping[str, Json] = {
        size: chart.to_dict(validate=False) for size, chart in drawn.items()
    }
    fixed = {**specs["wide"].get("datasets", {}), **specs["narrow"].get("datasets", {})}
    fixed |= {"reference": rows_of(data.reference)} if name == "plane" else {}
    return {**{size: bare(spec) for size, spec in specs.items()}, "fixed": fixed}


def _section(name: str) -> str:
    return (
        f'<section id="section-{name}"><h2>{HEADS[name]}</h2>'
        f'<div class="chart" data-name="{name}"><noscript>This chart is drawn by a script.'
        f'</noscript></div><p class="caption">{CAPTIONS[name]}</p></section>'
    )


def _table_row(data: DiscoveryData, i: int) -> str:
    reason, step = data.reasons[i], data.trace.steps[i]
    words = (choice_words(reason, data.compute), outcome_words(reason))
    told = " ".join((*words, answer_words(reason, data.compute))).strip()
    cells = (
        configuration(reason.config),
        flops(reason.price),
        percent(step.cost_fraction, 2),
        {"initial": "design", "envelope": "envelope", "answer": "answer"}[reason.chooser],
        told,
    )
    first = f'<td><button type="button" data-before="{i}">{reason.iteration}</button></td>'
    return f"<tr>{first}{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"


@cache
def asset(name: str) -> str:
    """A file of the page's own markup, script or style."""
    return files("lawsmith_paper.charts").joinpath("assets", name).read_text(encoding="utf-8")
