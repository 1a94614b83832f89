"""Make docs/paper.md or docs/scalebench.md, with figures, from the results of `lawsmith bench run`.

python docs/paper.py DIR        # the folder that the suite paper or scalebench was run into
"""

from __future__ import annotations

import sys
from pathlib import Path

import vl_convert

from lawsmith.bench.page import read_summary
from lawsmith.bench.plan import Options
from lawsmith.bench.sections import Section, sections
from lawsmith.bench.store import Store
from lawsmith.bench.suites import suites_named
from lawsmith.charts import WIDE

DOCS = Path(__file__).parent
INTRODUCTIONS = {
    "paper": """# The paper, run again

*Amortizing Scaling Law Construction Costs*, every table and figure, with lawsmith's own GP. Made by
`lawsmith bench run paper --out DIR` and `python docs/paper.py DIR`; `lawsmith bench page DIR` makes
the same as one interactive page. Studies whose tables are not public run on synthetic twins and say
so. Code {code}; {finished} of {planned} replays were finished when this was written, up to {seeds}
seeds a line: each table says where there are fewer.
""",
    "scalebench": """# ScaleBench

The tasks of ScaleBench (arXiv 2604.22753) as tables with named inputs, lawsmith's policies on them
with its budgets, and its published figures beside. Made by `lawsmith bench run scalebench --out
DIR` and `python docs/paper.py DIR`. Code {code}; {finished} of {planned} jobs were finished when
this was written, up to {seeds} seeds a line.
""",
}


def text(section: Section, page: str) -> str:
    """A section in Markdown, its figures by name."""
    parts = [f"## {section.title}", section.about]
    if section.remarks:
        parts.append("\n".join(f"- {remark}" for remark in section.remarks))
    for table in section.tables:
        parts += [f"**{table.title}**", table.markdown()]
        parts += [table.note] if table.note else []
    for picture in section.figures:
        parts += [f"![{picture.name}](figures/{page}/{picture.name}.png)", picture.caption]
    return "\n\n".join(part for part in parts if part)


def main(folder: Path) -> None:
    summary = read_summary(folder)
    options = Options(summary["seeds"], summary["iterations"])
    suites = [suite for name in summary["suites"] for suite in suites_named(name, options)]
    made = sections(suites, Store(folder))
    page = "scalebench" if summary["suites"] == ["scalebench"] else "paper"
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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
