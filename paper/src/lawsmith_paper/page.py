"""The results of suites as one self-contained HTML page: tables, interactive charts, remarks."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from lawsmith.charts import NARROW
from lawsmith.charts import WIDE as MEDIUM
from lawsmith.charts.page import bare, head, library, script_json, theme_configs
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, number
from lawsmith_paper.figures import FOLDER, FULL, Picture, write_pictures
from lawsmith_paper.flowchart import TALL, WIDE, svg
from lawsmith_paper.jobs import Json
from lawsmith_paper.page_parts import FRAME, SCRIPT, STYLE
from lawsmith_paper.plan import Options
from lawsmith_paper.results import SUMMARY
from lawsmith_paper.sections import Section, sections
from lawsmith_paper.store import Store
from lawsmith_paper.suites import PAPER, suites_named
from lawsmith_paper.tables import Table

PAGE = "index.html"
TITLE = "Amortizing scaling law construction: the paper's results, run again"
END = "with its pool, where its suite says nothing else"
MANY_HEADS = 4  # from so many heads on, the first becomes a row above its group
WIDTHS = {"wide": FULL, "medium": MEDIUM, "narrow": NARROW}


def page_of(folder: Path) -> Path:
    """The page of a folder of results, with its figures as files beside it."""
    summary = read_summary(folder)
    options = Options(summary["seeds"], summary["iterations"])
    suites = [suite for name in summary["suites"] for suite in suites_named(name, options)]
    store = Store(folder)
    jobs = [job for suite in suites for job in suite.jobs]
    if jobs and summary["jobs"]["finished"] and not any(store.finished(job) for job in jobs):
        got, hint = "results of other code or data", "run the suite again, which keeps the old ones"
        raise LawsmithError(str(folder), got=got, want="results of this version", hint=hint)
    made = sections(suites, store)
    write_pictures(folder, [picture for section in made for picture in section.figures])
    return write_page(folder, made)


def read_summary(folder: Path) -> Json:
    """What `write_results` says was run."""
    try:
        found: Json = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except FileNotFoundError:
        hint = "lawsmith-paper run SUITE --out DIR writes it"
        raise LawsmithError(str(folder), got=f"no {SUMMARY}", hint=hint) from None
    return found


def write_page(folder: Path, sections: Sequence[Section]) -> Path:
    """Write ``folder``/index.html; how it was run is read from the folder's summary."""
    of_paper = any(section.name in PAPER for section in sections)
    title = html.escape(TITLE if of_paper else "; ".join(section.title for section in sections))
    parts = [
        f"<h1>{title}</h1>",
        *_how(read_summary(folder)),
        *_contents(sections, of_paper=of_paper),
        *(_framework() if of_paper else []),
        *(part for section in sections for part in _section(section)),
    ]
    text = FRAME.format(
        head=head(title, STYLE),
        body="\n".join(parts),
        library=library(),
        configs=theme_configs(),
        script=SCRIPT,
    )
    path = folder / PAGE
    path.write_text(text, encoding="utf-8")
    return path


def _how(summary: Json) -> list[str]:
    """Package, code, seeds, and the studies with checksums and pools."""
    done, iterations = summary["jobs"], summary["iterations"]
    code = summary["code"]
    if isinstance(code, dict):
        code = ", ".join(f"{kind} {version}" for kind, version in code.items())
    told = {
        "lawsmith": summary["version"],
        "code": code or "–",
        "seeds": str(summary["seeds"]),
        "each replay ends": f"after {iterations} runs" if iterations else END,
        "replays": f"{done['finished']} of {done['planned']} finished, "
        f"{summary['seconds'] / 60:.1f} minutes of computing",
    }
    rows = [(name, *row) for name, study in summary["studies"].items() for row in _study(study)]
    columns = (
        *("study", "checksum", "law", "held out", "runs in the pool"),
        *("FLOPs of the pool", "frontier points", "law of the pool"),
    )
    table = Table("studies", "Studies", columns, tuple(rows), n_heads=2)
    items = (f"<dt>{_text(key)}</dt><dd>{_text(value)}</dd>" for key, value in told.items())
    return ['<h2 id="how">How it was run</h2>', f"<dl>{''.join(items)}</dl>", *_table(table)]


def _study(study: Json) -> list[tuple[str, ...]]:
    """A row for each law; what a kind of job does not tell is left open."""
    rows: list[tuple[str, ...]] = []
    for law, facts in study["laws"].items():
        params = facts.get("params", {})
        compute = facts.get("total_compute")
        rows.append(
            (
                study["digest"],
                law,
                str(facts.get("hold_out", "–")),
                str(facts.get("n_pool", "–")),
                "–" if compute is None else flops(compute),
                str(facts.get("n_envelope", "–")),
                ", ".join(f"{k} = {number(v)}" for k, v in params.items()) or "–",
            )
        )
    return rows


def _framework() -> list[str]:
    """The paper's flow chart."""
    return [
        '<h2 id="framework">The framework</h2>',
        '<p class="about">A search runs few of a grid\'s runs and judges the law it would give. '
        "The two additions to plain Bayesian optimisation are highlighted: the window, which keeps "
        "a search from expensive runs until cheaper ones are known, and the fantasized losses, "
        "which stand in for the runs not made.</p>",
        svg(WIDE, "wide"),
        svg(TALL, "tall"),
    ]


def _contents(sections: Sequence[Section], *, of_paper: bool) -> list[str]:
    named = [("framework", "The framework")] if of_paper else []
    named += [(section.name, section.title) for section in sections]
    links = (f'<li><a href="#{html.escape(name)}">{_text(text)}</a></li>' for name, text in named)
    return [f'<ul class="contents">{"".join(links)}</ul>']


def _section(section: Section) -> list[str]:
    parts = [f'<h2 id="{html.escape(section.name)}">{_text(section.title)}</h2>']
    parts.append(f'<p class="about">{_text(section.about)}</p>')
    if section.remarks:
        remarks = "".join(f"<li>{_text(remark)}</li>" for remark in section.remarks)
        parts.append(f'<h3>Beside the paper</h3><ul class="remarks">{remarks}</ul>')
    tables = [part for table in section.tables for part in _table(table)]
    figures = [_figure(picture) for picture in section.figures]
    parts += [*figures, *tables] if section.figures_first else [*tables, *figures]
    if not section.tables and not section.figures:
        parts.append("<p>Nothing of this is finished yet.</p>")
    return parts


def _figure(picture: Picture) -> str:
    """A place for the chart, its data, and what stands there without a script."""
    specs = {name: picture.draw(width=w).to_dict(validate=False) for name, w in WIDTHS.items()}
    datasets: Json = {}
    for spec in specs.values():
        datasets |= spec.get("datasets", {})
    told = {
        "specs": {name: bare(spec) for name, spec in specs.items()},
        "datasets": {name: by_column(rows) for name, rows in datasets.items()},
    }
    name = html.escape(picture.name)
    return (
        f'<figure id="figure-{name}"><div class="chart" data-name="{name}"><noscript>This chart is '
        f"drawn by a script; {FOLDER}/{name}.svg and .png show the same.</noscript></div>"
        f'<script type="application/json" id="data-{name}">{script_json(told)}</script>'
        f"<figcaption>{_text(picture.caption)}</figcaption></figure>"
    )


def by_column(rows: Sequence[Json]) -> Json:
    """Rows of equal keys as {'n': how many, 'columns': {name: values}}, which is half the size."""
    names = list(rows[0]) if rows else []
    return {"n": len(rows), "columns": {name: [row[name] for row in rows] for name in names}}


def _table(table: Table) -> list[str]:
    """The table in a frame of its own that scrolls, so that the page does not."""
    name, groups = html.escape(table.name), _groups(table)
    first = next(iter(groups.values()))
    heads = (
        f'<th scope="col"{_class(i, text, first)}>{_text(text)}</th>'
        for i, text in enumerate(first.columns)
    )
    title = f'<h3 id="title-{name}">{_text(table.title)}</h3>'
    body = (
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="title-{name}">'
        f'<table id="table-{name}" aria-labelledby="title-{name}"><thead><tr>{"".join(heads)}</tr>'
        f"</thead>{''.join(_body(group, part) for group, part in groups.items())}</table></div>"
    )
    note = [f'<p class="note">{_text(table.note)}</p>'] if table.note else []
    if table.detail:
        return [f"<details><summary>{title}</summary>", body, *note, "</details>"]
    return [title + body, *note]


def _groups(table: Table) -> dict[str, Table]:
    """A table of many heads, by the first of them: as a column it would take too much room."""
    if table.n_heads < MANY_HEADS:
        return {"": table}
    return {
        group: replace(
            table,
            columns=table.columns[1:],
            rows=tuple(row[1:] for row in rows),
            n_heads=table.n_heads - 1,
        )
        for group, rows in groupby(table.rows, lambda row: row[0])
    }


def _body(group: str, table: Table) -> str:
    """The rows, below one that names their group where there is one."""
    span = len(table.columns)
    head = f'<tr class="group"><th colspan="{span}" scope="rowgroup">{_text(group)}</th></tr>'
    rows = ("<tr>" + "".join(cells) + "</tr>" for cells in _cells(table))
    return f"<tbody>{head if group else ''}{''.join(rows)}</tbody>"


def _cells(table: Table) -> list[list[str]]:
    """The cells of each row; equal heads of rows that follow each other are one cell."""
    made: list[list[str]] = [[] for _ in table.rows]
    for column in range(table.n_heads):
        # The same head again counts as the same only where all heads before it are, too.
        def key(i: int, upto: int = column + 1) -> Any:
            return table.rows[i][:upto]

        for _, group in groupby(range(len(table.rows)), key):
            rows = list(group)
            text = _text(table.rows[rows[0]][column])
            span = f' rowspan="{len(rows)}"' if len(rows) > 1 else ""
            made[rows[0]].append(f'<th scope="row" class="head"{span}>{text}</th>')
    for cells, row in zip(made, table.rows, strict=True):
        for i, text in enumerate(row[table.n_heads :], start=table.n_heads):
            cells.append(f"<td{_class(i, table.columns[i], table)}>{_text(text)}</td>")
    return made


def _class(i: int, name: str, table: Table) -> str:
    if i < table.n_heads:
        return ' class="head"'
    return ' class="paper"' if name.startswith("paper") else ""


def _text(text: str) -> str:
    """Escaped, and a number kept on one line with its sign of per cent and its spread."""
    for sign in (" %", " ± "):
        text = text.replace(sign, sign.replace(" ", "\u00a0"))
    return html.escape(text, quote=False)
