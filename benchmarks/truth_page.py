"""The tables and the figure of docs/truth.md; part of `holdout.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
from drawn_truth import error_ratio, optima, told
from holdout import (
    METHODS,
    SIZES,
    TABLES,
    Found,
    Record,
    by_file,
    by_study,
    judged,
    pooled,
    scores,
)

from lawsmith import charts
from lawsmith.charts.theme import LIGHT, themed

Parts = dict[str, dict[str, Record]]
NAMES = {
    "surface": "**surface**",
    "LC": "L(C)",
    "chinchilla": "Chinchilla",
    "skaling": "Skaling",
    "gadre": "Gadre",
}
SHOWN = ("surface", "LC", "chinchilla", "skaling")  # on the page; the script prints all
HEAD = ["", "50 %", "80 %", "95 %", "half-width", "error", "interval score"]


def rows(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(values: dict[str, float]) -> list[str]:
    held = [f"{100 * values[c]:.0f}" for c in ("c50", "c80", "c95")]
    return [*held, *(f"{values[c]:.2f}" for c in ("half", "error", "score"))]


def of_tables(known: dict[str, Record], cut: str) -> str:
    """A row for each method: by file / by study."""
    body = []
    for method in SHOWN:
        found = judged(known, cut, method)
        if found:
            groups = by_file(found), by_study(list(found.values()))
            both = zip(*(cells(pooled(group)) for group in groups), strict=True)
            body.append([NAMES[method], *(f"{x} / {y}" for x, y in both)])
    return rows(HEAD, body)


def by_size(parts: Parts) -> str:
    """A row for each method and each way to hold sizes out, by study."""
    body = []
    for axis, factor in SIZES:
        for method in SHOWN:
            found: Found = list(judged(parts["sizes"], f"{axis}{factor:g}", method).values())
            if found:
                label = f"{axis} > {axis}max/{factor:g}"
                body.append([label, NAMES[method], *cells(pooled(by_study(found)))])
    return rows(["held out", *HEAD], body)


def by_cut(parts: Parts, cuts: Iterable[str]) -> str:
    blocks = []
    for cut in cuts:
        found = judged(parts["tables"], cut, "surface")
        every, files = list(found.values()), by_file(found)
        k, whole = len(by_study(every)), pooled(every)
        held, of_files = (np.mean([s["c95"] >= 0.9 for _, s in part]) for part in (every, files))
        text = (
            f"**C ≥ Cmax/{cut} held out**: {len(every)} tables in {len(files)} files of {k} "
            f"studies. The surface's 95 % intervals hold 90 % or more in {of_files:.0%} of the "
            f"files and {held:.0%} of the tables. Counted by table they hold {whole['c95']:.0%}, "
            f"with a half-width of {whole['half']:.2f} % and an error of {whole['error']:.2f} %."
        )
        blocks.append(f"{text}\n\n{of_tables(parts['tables'], cut)}")
    return "\n\n".join(blocks)


def by_method(known: dict[str, Record], cuts: Iterable[str]) -> Iterator[tuple[list[str], Found]]:
    """For each cut and method the first cells of a row, and the scores of every table."""
    for cut, method in product(cuts, SHOWN):
        found = list(judged(known, cut, method).values())
        if found:
            yield [f"C ≥ Cmax/{cut}", str(len(found)), NAMES[method]], found


def of_further(known: dict[str, Record], cuts: Iterable[str]) -> str:
    """Every study counted once."""
    rows_ = by_method(known, cuts)
    return rows(
        ["held out", "tables", *HEAD],
        [[*first, *cells(pooled(by_study(found)))] for first, found in rows_],
    )


def of_all(known: dict[str, Record], cuts: Iterable[str]) -> str:
    """Every table counted once."""
    body = []
    for first, found in by_method(known, cuts):
        often = f"{np.mean([values['c95'] >= 0.9 for _, values in found]):.0%}"
        body.append([*first, *cells(pooled(found)), often])
    return rows(["held out", "tables", *HEAD, "of them hold ≥ 90 %"], body)


def split_known(known: dict[str, Record]) -> tuple[dict[str, Record], dict[str, Record]]:
    """The records of the tables in `TABLES`, and those of further ones."""
    names = {table.name for table in TABLES}
    at_hand = {key: record for key, record in known.items() if key.split("|")[0] in names}
    return at_hand, {key: record for key, record in known.items() if key not in at_hand}


def of_drawn(parts: Parts) -> str:
    methods = [method for method in SHOWN if told(parts["drawn"], method)]
    body = [[NAMES[m], *cells(scores(told(parts["drawn"], m)))] for m in methods]
    n = len(told(parts["drawn"], "surface"))
    held = [
        f"The true {what} lies in its interval in {inside:.0%} of cases, in the set within 0.5 % "
        f"in {near:.0%}."
        for what, (inside, near) in optima(parts["drawn"]).items()
    ]
    text = (
        f"{n} studies. The surface's median error is {error_ratio(parts['drawn']):.2f} of L(C)'s."
    )
    return f"{rows(HEAD, body)}\n\n{text} {' '.join(held)}"


def of_bet(parts: Parts) -> str:
    body = []
    sources = dict.fromkeys(key.split("|")[0] for key in parts["bet"])
    for source, method in product(sources, SHOWN):
        record = parts["bet"].get(f"{source}|bet|{method}")
        if record is None:
            continue
        low, high = record["intervals"]["0.95"]
        off = 100 * (record["loss"] / record["true"] - 1)
        half = 50 * np.log(high / low)
        inside = "yes" if low <= record["true"] <= high else "**no**"
        numbers = [f"{record['loss']:.3f}", f"[{low:.3f}, {high:.3f}]"]
        body.append([NAMES[method], source, *numbers, f"±{half:.1f} %", f"{off:+.1f} %", inside])
    return rows(["", "from", "predicted", "95 %", "half-width", "off", "inside"], body)


def worst(parts: Parts, cuts: Iterable[str]) -> str:
    """The tables whose 95 % intervals of the surface hold less than 90 %."""
    body = []
    for cut in cuts:
        for table, (_, s) in judged(parts["tables"], cut, "surface").items():
            if s["c95"] < 0.9:
                held = f"{s['c95'] * s['n']:.0f} of {s['n']:.0f}"
                body.append(
                    [table, f"Cmax/{cut}", held, f"±{s['half']:.2f} %", f"{s['bias']:+.2f} %"]
                )
    return rows(["table", "cut", "held", "half-width", "error"], body)


def write(parts: Parts, cuts: Iterable[str], page: Path) -> None:
    """Replace what stands between the marks of the page."""
    cuts, every = list(cuts), parts["tables"]
    at_hand, further = split_known(every)
    parts = parts | {"tables": at_hand, "sizes": split_known(parts["sizes"])[0]}
    made = {}
    if further:
        made = {"further": of_further(further, cuts), "all": of_all(every, cuts)}
    made |= {
        "cuts": by_cut(parts, cuts),
        "sizes": by_size(parts),
        "drawn": of_drawn(parts),
        "bet": of_bet(parts),
        "worst": worst(parts, cuts),
    }
    replace_blocks(page, made)


def replace_blocks(page: Path, made: Mapping[str, str]) -> None:
    """Put each block between its marks of the page."""
    text = page.read_text(encoding="utf-8")
    for name, block in made.items():
        pattern = rf"(<!-- made: {name} -->\n).*?(<!-- end -->)"
        text, n = re.subn(pattern, lambda m, b=block: f"{m[1]}\n{b}\n\n{m[2]}", text, flags=re.S)
        if n != 1:
            raise SystemExit(f"{page}: {n} blocks of the name {name}, want one")
    page.write_text(text, encoding="utf-8")


def draw(parts: Parts, path: Path) -> None:
    """Left: held-out losses beside what was predicted. Right: coverage against half-width."""
    parts = parts | {"tables": split_known(parts["tables"])[0]}
    charts.write(
        themed(alt.hconcat(_misses(parts), _coverage(parts), spacing=40), LIGHT),
        path.parent,
        path.stem,
        formats=("png",),
    )


def _misses(parts: Parts) -> alt.LayerChart:
    """The held-out losses of each table about the surface's prediction, cut 8 (3 without it)."""
    frame = pd.DataFrame(misses(parts["tables"]))
    order = frame["table"].drop_duplicates().tolist()
    base = alt.Chart(frame).encode(y=alt.Y("table", sort=order, title=None))
    x = alt.X(
        "off", title="held-out loss − predicted, % of loss", scale=alt.Scale(domain=[-10, 10])
    )
    zero = alt.Chart(pd.DataFrame({"off": [0.0]})).mark_rule(color="#888888", strokeDash=[4, 3])
    bars = base.mark_rule(strokeWidth=5, opacity=0.35, color="#0072B2", clip=True).encode(
        x=alt.X("mean(low)"), x2="mean(high)"
    )
    colour = alt.condition("datum.inside", alt.value("#16191d"), alt.value("#D55E00"))
    dots = base.mark_point(filled=True, size=28, opacity=0.9, clip=True).encode(x=x, color=colour)
    title = alt.Title(
        "Held-out losses about the surface's prediction",
        subtitle="C ≥ Cmax/8 held out (parallel: /3); bar: mean 95 % interval; orange: outside",
    )
    return alt.layer(zero.encode(x="off"), bars, dots).properties(
        width=340, height=14 * len(order), title=title
    )


def misses(known: dict[str, Record]) -> list[Record]:
    """One row for each held-out frontier cell, in per cent of loss about its prediction."""
    found = []
    for name in (table.name for table in TABLES):
        records = [known.get(f"{name}|{cut}|surface", {"rows": []}) for cut in ("8", "3")]
        rows_ = next((r["rows"] for r in records if any(x["frontier"] for x in r["rows"])), [])
        for row in (row for row in rows_ if row["frontier"]):
            ends = row["intervals"]["0.95"]
            low, high, off = (100 * np.log(x / row["loss"]) for x in (*ends, row["true"]))
            inside = bool(low <= off <= high)
            found.append({"table": name, "off": off, "low": low, "high": high, "inside": inside})
    return found


def _coverage(parts: Parts) -> alt.VConcatChart:
    """Coverage by nominal level, and half-width, of every method."""
    found = []
    for cut in ("3", "8", "30"):
        for method in METHODS:
            every = list(judged(parts["tables"], cut, method).values())
            if every:
                values = pooled(every)
                found += [
                    {"method": NAMES[method].strip("*"), "cut": cut, "level": 100 * level}
                    | {"held": 100 * values[f"c{100 * level:.0f}"]}
                    for level in (0.5, 0.8, 0.95)
                ]
    frame = pd.DataFrame(found).groupby(["method", "level"], as_index=False)["held"].mean()
    colour = alt.Color(
        "method",
        title=None,
        sort=[NAMES[m].strip("*") for m in METHODS],
        scale=alt.Scale(range=["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#777777"]),
    )
    scale = alt.Scale(domain=[0, 100])
    line = alt.Chart(frame).encode(
        x=alt.X("level", title="nominal, %", scale=alt.Scale(domain=[40, 100])),
        y=alt.Y("held", title="held-out losses inside, %", scale=scale),
        color=colour,
    )
    ideal = alt.Chart(pd.DataFrame({"level": [40, 100], "held": [40, 100]})).mark_line(
        color="#888888", strokeDash=[4, 3]
    )
    title = alt.Title(
        "What intervals hold", subtitle="mean of tables and of three cuts; colours as below"
    )
    top = alt.layer(
        ideal.encode(x="level", y="held"), line.mark_line(), line.mark_point(filled=True, size=45)
    ).properties(width=260, height=230, title=title)
    return alt.vconcat(top, _drawn_errors(parts, colour))


def _drawn_errors(parts: Parts, colour: alt.Color) -> alt.Chart:
    """Quartiles of the error of the true best loss of drawn studies."""
    found = [
        {
            "method": NAMES[m].strip("*"),
            "error": 100 * abs(np.log(max(r["loss"], 1e-9) / r["true"])),
        }
        for m in METHODS
        for r in told(parts["drawn"], m)
    ]
    order = [NAMES[m].strip("*") for m in METHODS]
    scale = alt.Scale(type="symlog", constant=0.3)
    return (
        alt.Chart(pd.DataFrame(found))
        .mark_boxplot(extent="min-max", size=14)
        .encode(
            x=alt.X("error", title="error of the true best loss, %", scale=scale),
            y=alt.Y("method", sort=order, title=None),
            color=colour.legend(None),
        )
        .properties(
            width=260,
            height=120,
            title=alt.Title("Drawn studies, two decades out", subtitle="box: quartiles"),
        )
    )
