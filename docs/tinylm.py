"""Bring the numbers and figures of docs/tinylm.md up to the bundled grid (some minutes).

    python examples/tinylm/bundle.py && python docs/tinylm.py

Text between `<!-- made: NAME -->` and `<!-- end -->` is replaced; the rest is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from tinylm_numbers import SEED_BATCH, Dense, rms

from lawsmith import Analysis, Target, charts, fit, get_law, load, make_policy, make_surrogate
from lawsmith.analysis import FitOptions, analyse
from lawsmith.charts import WIDE
from lawsmith.charts.isoflop import draw_isoflop
from lawsmith.datasets import ReadOptions
from lawsmith.formats import count, flops, interval
from lawsmith.metrics import value_at
from lawsmith.replay import Stop, prepare, run_replay

DOCS = Path(__file__).parent
TARGET = 1e16
SEEDS, BUDGETS = range(5), (0.02, 0.05, 0.10)
LIVE = DOCS.parent / "examples" / "tinylm" / "results" / "live.jsonl"
NOISE_EDGES = (3e11, 1e12, 1e13, 1e14, 1e15, 2e15)
NORMAL_MEDIAN = 0.6745  # of |z| for a standard normal z


def rows(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def power(value: float) -> str:
    return f"2^{np.log2(value):g}"


def by_cell(dense: Dense, column: str, text: Callable[[float], str]) -> str:
    """A column of the best runs, a row for each N; an asterisk where it lies at an end."""
    table = dense.by_cell(column)
    ends = [name for name in (f"{column}_min", f"{column}_max") if name in dense.best]
    marks = sum((dense.by_cell(name).astype(int) for name in ends), start=0 * table.astype(int))
    body = [
        [count(N), *(text(v) + "\\*" * m for v, m in zip(table.loc[N], marks.loc[N], strict=True))]
        for N in table.index
    ]
    return rows(["N \\ D", *map(power, table.columns)], body)


def grid(dense: Dense) -> str:
    runs = dense.runs
    return (
        f"{len(runs):,} runs of {len(dense.configurations):,} configurations, "
        f"{flops(float(runs['C'].sum()))} FLOPs by 6ND, {flops(float(runs['flops_exact'].sum()))} "
        f"exactly; losses from {runs['loss'].min():.3f} to {runs['loss'].max():.3f}; "
        f"{int(runs['loss'].isna().sum()) or 'no run'} diverged."
    )


def best(dense: Dense) -> str:
    table = dense.by_cell("loss").to_numpy()
    by_D, by_N = np.diff(table, axis=1) < 0, np.diff(table, axis=0) < 0
    text = (
        f"The best loss falls with every doubling of D ({by_D.sum()} of {by_D.size}) and with "
        f"{by_N.sum()} of {by_N.size} steps of N."
    )
    return f"{by_cell(dense, 'loss', '{:.3f}'.format)}\n\n{text}"


def optima(dense: Dense) -> str:
    found, trunk = dense.best, dense.trunk_best
    high = trunk["lr"] == trunk["lr"].max()
    per_size = high.groupby(trunk["N"]).agg(["sum", "size"])
    at_edge = ", ".join(
        f"{int(row['sum'])} of {int(row['size'])} at N = {count(N)}"
        for N, row in per_size.iterrows()
        if row["sum"]
    )
    lr_edge = int((found["lr_min"] | found["lr_max"]).sum())
    inside = int((~found["batch_min"] & ~found["batch_max"]).sum())
    return "\n\n".join(
        [
            "Best learning rate; \\* at an end of what was run:",
            by_cell(dense, "lr", power),
            "Best batch, in sequences; \\* at an end of what was run in that cell:",
            by_cell(dense, "batch", "{:.0f}".format),
            f"The learning rate's optimum lies inside in {len(found) - lr_edge} of {len(found)} "
            f"cells. For single batches it lies at the highest rate in {at_edge}. The batch's lies "
            f"inside in {inside} of {len(found)} cells, at the least in "
            f"{int(found['batch_min'].sum())}, at the largest in {int(found['batch_max'].sum())}.",
        ]
    )


def noise(dense: Dense) -> str:
    pairs = dense.noise
    body = []
    for steps, label in enumerate(("best learning rate", "2× off", "4× off", "8× or more")):
        some = pairs[pairs["steps"].clip(upper=3) == steps]
        body.append([label, *_noise_cells(some["sd"], some["share"])])
    body.append(["all", *_noise_cells(pairs["sd"], pairs["share"])])
    head = ["at", "configurations", "median", "90 % below", "rms", "largest", "rms, of loss"]
    text = f"Standard deviation between seeds, in nats; batch {SEED_BATCH}, {_seed_sizes(dense)}."
    return f"{text}\n\n{rows(head, body)}"


def noise_by_compute(dense: Dense) -> str:
    """Every run of the live studies against the grid's run of the same configuration."""
    repeats = dense.repeats(pd.read_json(LIVE, lines=True))
    body = []
    for low, high in pairwise(NOISE_EDGES):
        some = repeats[(repeats["C"] >= low) & (repeats["C"] < high)]["ratio"].abs()
        values = (some.median() / NORMAL_MEDIAN, rms(some), some.max())
        cells = (f"{100 * v:.1f} %" for v in values)
        body.append([f"{flops(low)} to {flops(high)}", str(len(some)), *cells])
    head = ["FLOPs of the run", "pairs", "SD, by the median", "SD, rms", "largest"]
    return rows(head, body)


def _noise_cells(sd, share) -> list[str]:
    values = (sd.median(), sd.quantile(0.9), rms(sd), sd.max())
    return [str(len(sd)), *(f"{v:.3f}" for v in values), f"{100 * rms(share):.1f} %"]


def _seed_sizes(dense: Dense) -> str:
    largest = dense.noise.groupby("N")["D"].max()
    return ", ".join(f"N = {count(N)} up to {power(D)} tokens" for N, D in largest.items())


def isoflop(dense: Dense) -> str:
    data = dense.isoflop()
    body = [
        [
            flops(m.level),
            str(int((data.cells["level"] == m.level).sum())),
            count(m.N),
            f"{m.D / m.N:.0f}",
            f"{m.loss:.3f}",
            "yes" if m.bracketed else "no",
        ]
        for m in data.minima.itertuples()
    ]
    return rows(["C", "sizes", "best N", "D/N there", "loss", "inside"], body)


def fitted(law: str, *, compute: str = "auto", where: str | None = None) -> Analysis:
    study = load("tinylm", ReadOptions(compute=compute, where=where))
    return analyse(study, FitOptions(law=get_law(law), targets=(Target(TARGET),)))


def laws(dense: Dense) -> str:
    pairs = dense.noise
    near = rms(pairs.loc[pairs["steps"] <= 1, "share"])
    body = [
        _law_row("L(C), C = 6ND", fitted("LC")),
        _law_row("L(C), exact FLOPs", fitted("LC", compute="flops_exact")),
        _law_row("L(C), runs above 1e13", fitted("LC", where="C > 1e13")),
        _law_row("Chinchilla", fitted("chinchilla")),
        _law_row("Skaling", fitted("skaling")),
    ]
    head = [
        "law",
        "points",
        "fitted",
        "rms residual",
        f"loss at {TARGET:g}".replace("+", ""),
        "95 %",
    ]
    text = (
        f"Residuals are of log loss; seeds differ by {100 * near:.1f} % (rms) at the best learning "
        "rate and one step from it."
    )
    return f"{rows(head, body)}\n\n{text}"


def _law_row(name: str, a: Analysis) -> list[str]:
    params = ", ".join(f"{p} {v:.3g}" for p, v in a.fit.params.items())
    (p,) = a.predictions
    ends = interval(p.interval.low, p.interval.high, "{:.3f}".format)
    residual = f"{100 * np.sqrt(np.mean(a.fit.residuals**2)):.1f} %"
    return [name, str(a.fit.n_points), params, residual, f"{p.loss:.3f}", ends]


def replays(_: Dense) -> str:
    """The default policy under several seeds, against the law of the whole pool."""
    task = prepare(load("tinylm"), get_law("LC"), targets=(TARGET,))
    (label,) = task.targets
    off, found = [], []
    for seed in SEEDS:
        budget = BUDGETS[-1] * task.total_compute
        policy = make_policy("frontier", make_surrogate("surface"), n_init=0, target=TARGET)
        trace = run_replay(task, policy, seed=seed, stop=Stop(budget=budget))
        steps, spent = trace.steps, trace.cost_fraction
        at = value_at(spent, np.arange(float(len(steps))), BUDGETS).astype(int)
        off.append([steps[i].fantasized.extrapolation[label] for i in at])
        found.append([100 * steps[i].envelope_mixed for i in at])
    head = ["after", f"% off at {label}, five seeds", "envelope found"]
    body = [
        [
            f"{100 * budget:g} %",
            ", ".join(f"{x:+.1f}" for x in np.array(off)[:, j]),
            f"{np.mean(found, axis=0)[j]:.0f} %",
        ]
        for j, budget in enumerate(BUDGETS)
    ]
    return rows(head, body)


# In the order of the page. Those of the second list fit laws, and take their time.
COUNTED = {
    "grid": grid,
    "best": best,
    "optima": optima,
    "noise": noise,
    "noise by compute": noise_by_compute,
    "isoflop": isoflop,
}
FITTED = {"laws": laws, "replays": replays}


def with_blocks(text: str, blocks: dict[str, str]) -> str:
    """The page with those blocks replaced; a name that the page has not is an error."""
    for name, made in blocks.items():
        pattern = rf"(<!-- made: {name} -->\n).*?(<!-- end -->)"
        text, n = re.subn(
            pattern, lambda m, made=made: f"{m[1]}\n{made}\n\n{m[2]}", text, flags=re.S
        )
        if n != 1:
            raise SystemExit(f"{n} blocks of the name {name} in the page, want one")
    return text


def draw(dense: Dense) -> None:
    compute, size = fitted("LC"), fitted("skaling")
    figures = {
        "law": charts.law(compute),
        "curves": charts.curves(size),
        "isoflop": draw_isoflop(dense.isoflop(), size, width=WIDE),
        "hyperparameters": charts.hyperparameters(fit("tinylm", targets=TARGET)),
    }
    for name, chart in figures.items():
        charts.write(chart, DOCS / "figures" / "tinylm", name, formats=("png",))


def main() -> None:
    dense, page = Dense.bundled(), DOCS / "tinylm.md"
    made = {name: block(dense) for name, block in (COUNTED | FITTED).items()}
    page.write_text(with_blocks(page.read_text(encoding="utf-8"), made), encoding="utf-8")
    draw(dense)


if __name__ == "__main__":
    main()
