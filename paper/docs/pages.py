"""Make a page of paper/docs, with figures, from the results of `lawsmith-paper run`.

python paper/docs/pages.py DIR    # the folder that the suite was run into

The suite paper makes paper.md, scalebench makes scalebench.md; methods makes methods-compared.md,
and methods-studies.csv with the numbers of single studies.
"""

from __future__ import annotations

import sys
from pathlib import Path

import vl_convert

from lawsmith.charts import WIDE
from lawsmith.spreadsheet import csv_text
from lawsmith_paper.figures import Picture
from lawsmith_paper.page import read_summary
from lawsmith_paper.plan import Options
from lawsmith_paper.sections import Section, sections
from lawsmith_paper.store import Store
from lawsmith_paper.suites import suites_named
from lawsmith_paper.tables import Table

DOCS = Path(__file__).parent
METHODS = "methods-compared"
INTRODUCTIONS = {
    "paper": """# The paper, run again

*Amortizing Scaling Law Construction Costs*, every table and figure, with lawsmith's own GP: the
model that users of BoTorch write, checked against BoTorch itself below. [notation.md](notation.md)
has the symbols and the choices that the paper leaves open. Studies whose tables are not public run
on synthetic twins and say so.

Made by `make paper`, then `python paper/docs/pages.py DIR`; `lawsmith-paper page DIR` makes the
same as one interactive page. Code {code}; {finished} of {planned} replays were finished when this
was written, up to {seeds} seeds a line: each table says where there are fewer. Standard deviations
are over seeds and divide by n − 1.
""",
    "scalebench": """# ScaleBench

The tasks of ScaleBench (arXiv 2604.22753) as tables with named inputs, lawsmith's policies on them
with its budgets, and its published figures beside. Made by `lawsmith-paper run scalebench
--out DIR` and `python paper/docs/pages.py DIR`. Code {code}; {finished} of {planned} jobs were
finished when this was written, up to {seeds} seeds a line.
""",
    METHODS: """# Methods compared

The frontier policy, its ablations and eight other methods on every study. Made by `lawsmith-paper
run methods --out DIR` and `python paper/docs/pages.py DIR`;
[search.md](../../docs/search.md) says how the policy works and what follows from these tables,
[methods-studies.csv](methods-studies.csv) has every study for itself: one row for each study,
metric and method, with the mean and SD over seeds at each budget. Code {code}; {finished} of
{planned} trials were finished when this was written, {seeds} seeds.
""",
}
PAGES = {("scalebench",): "scalebench", ("methods",): METHODS}


def text(section: Section, page: str) -> str:
    """A section in Markdown, its figures by name; tables for those who look closer left out."""
    tables = [_table(table) for table in section.tables if not table.detail]
    figures = [_figure(picture, page) for picture in section.figures]
    shown = [*figures, *tables] if section.figures_first else [*tables, *figures]
    remarks = "\n".join(f"- {remark}" for remark in section.remarks)
    parts = [f"## {section.title}", section.about, remarks, *shown]
    return "\n\n".join(part for part in parts if part)


def _table(table: Table) -> str:
    parts = [f"**{table.title}**", table.markdown(), table.note]
    return "\n\n".join(part for part in parts if part)


def _figure(picture: Picture, page: str) -> str:
    return f"![{picture.name}](figures/{page}/{picture.name}.png)\n\n{picture.caption}"


def study_rows(section: Section) -> list[dict[str, str]]:
    """The numbers of single studies: a row a method, mean and SD over seeds at each budget."""
    found = []
    for table in (table for table in section.tables if table.detail):
        study = table.title.removesuffix(": mean ± SD over seeds")
        for metric, method, *cells in table.rows:
            if metric.startswith("regret of"):  # those are on the page of lawsmith-paper
                continue
            row = {"study": study, "metric": metric, "method": method}
            for budget, cell in zip(table.columns[2:], cells, strict=True):
                mean, _, sd = cell.split(",")[0].split(" (")[0].partition(" ± ")
                row |= {f"mean at {budget}": mean.replace("–", ""), f"SD at {budget}": sd}
            found.append(row)
    return found


def main(folder: Path) -> None:
    summary = read_summary(folder)
    options = Options(summary["seeds"], summary["iterations"])
    suites = [suite for name in summary["suites"] for suite in suites_named(name, options)]
    made = sections(suites, Store(folder))
    page = PAGES.get(tuple(summary["suites"]), "paper")
    for section in made:
        for picture in section.figures:
            # At one and a quarter of their size: sharp enough to read, small enough to keep.
            drawn = picture.draw(width=WIDE).to_dict(validate=False)
            path = DOCS / "figures" / page / f"{picture.name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(vl_convert.vegalite_to_png(drawn, scale=1.25))
    code = ", ".join(f"{kind} {version}" for kind, version in summary["code"].items())
    head = INTRODUCTIONS[page].format(code=code, seeds=summary["seeds"], **summary["jobs"])
    body = "\n\n".join([head.strip(), *(text(section, page) for section in made)])
    (DOCS / f"{page}.md").write_text(body + "\n", encoding="utf-8")
    if page == METHODS:
        rows = study_rows(made[0])
        table = csv_text(list(dict.fromkeys(name for row in rows for name in row)), rows)
        (DOCS / "methods-studies.csv").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
