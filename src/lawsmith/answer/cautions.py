"""Warnings about an answer, and its verdict: one line on how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc

from lawsmith.answer.records import Forecast, HeldOutRuns
from lawsmith.answer.text import distance
from lawsmith.arrays import FloatArray
from lawsmith.formats import flops, number, percent, plural
from lawsmith.frontier import best_row
from lawsmith.grid import Grid
from lawsmith.laws import diagnostics as checks
from lawsmith.laws.diagnostics import Diagnostic
from lawsmith.surface import OddRun

FEW_RUNS = 20  # by judgement: with fewer, most of the answer comes from the prior
FEW_HELD_OUT = 5  # with fewer, even no miss at all says little about intervals of 95 %
FAR = "the interval is as wide as such distances were in public studies. A larger run narrows it"
RARE = 0.05  # misses that are less likely than this by chance are reported
FIRM, ROUGH = 0.03, 0.10  # largest half-widths of an interval with these verdicts, by judgement


def warnings(
    forecasts: Sequence[Forecast],
    held_out: HeldOutRuns | None,
    grid: Grid,
    loss: FloatArray,
    n_runs: int,
    level: float,
) -> list[Diagnostic]:
    """Every warning about an answer, without repeats."""
    candidates = [few_runs(n_runs), few_held_out(held_out), missed(held_out, level)]
    for forecast in forecasts:
        candidates += [
            checks.extrapolation_decades(forecast.target.label, forecast.decades, FAR),
            allocation_extrapolated(forecast, grid, loss),
            best_at_edge(forecast),
            above_observed(forecast, grid, loss),
        ]
    return each_once(candidates)


def each_once(candidates: Sequence[Diagnostic | None]) -> list[Diagnostic]:
    """The warnings without None and without repeats."""
    kept: dict[tuple[str, str], Diagnostic] = {}
    for warning in candidates:
        if warning is not None:
            kept.setdefault((warning.code, warning.message), warning)
    return list(kept.values())


def few_runs(n: int) -> Diagnostic | None:
    if n >= FEW_RUNS:
        return None
    return Diagnostic(
        "few_runs",
        f"{plural(n, 'run')} with a loss: most of the answer comes from other studies. With "
        f"{FEW_RUNS} or more it comes from these runs",
        {"n_runs": n},
    )


def odd_run(run: OddRun) -> Diagnostic:
    """Warn of a run whose loss is far below what the other runs predict."""
    return Diagnostic(
        "odd_run",
        f"a run of {flops(run.C)} FLOPs has a loss of {number(run.loss)}, "
        f"{percent(1.0 - run.loss / run.expected, 2)} below what the others predict, and moves the "
        "answer. Check it, and leave it out if it was trained in another way",
        {"compute": run.C, "loss": run.loss, "expected": run.expected},
    )


def thinned(n_kept: int, n_runs: int) -> Diagnostic:
    """Say that the surface was fitted to a part of the runs."""
    return Diagnostic(
        "thinned",
        f"the answer rests on {n_kept:,} of {n_runs:,} runs, those of largest compute and others "
        "spread evenly below: all of them would take minutes and hardly change the answer",
        {"n_kept": n_kept, "n_runs": n_runs},
    )


def few_held_out(held_out: HeldOutRuns | None) -> Diagnostic | None:
    if held_out is None or len(held_out.rows) >= FEW_HELD_OUT:
        return None
    n = len(held_out.rows)
    return Diagnostic(
        "few_held_out",
        f"{plural(n, 'best run')} held out: too few to judge intervals by. Hold out more of the "
        "compute, or try several splits",
        {"n_held_out": n},
    )


def missed(
    held_out: HeldOutRuns | None,
    level: float,
    kind: str = "best run",
    interval: str = "of the answer on this study",
) -> Diagnostic | None:
    """Warn of more runs outside their intervals than chance explains at this level."""
    if held_out is None:
        return None
    n, out = len(held_out.rows), int((~held_out.inside).sum())
    if bdtrc(out - 1, n, 1.0 - level) >= RARE:
        return None
    return Diagnostic(
        "held_out_missed",
        f"{out} of {plural(n, kind)} held out lie outside their intervals: do not trust the "
        f"interval {interval} until you know why",
        {"n_held_out": n, "n_missed": out},
    )


def allocation_extrapolated(forecast: Forecast, grid: Grid, loss: FloatArray) -> Diagnostic | None:
    """Warn if the D/N, the best one or that of the target, lies outside those of the runs.

    Not if the loss is predicted from a curve: no run with that D/N is needed then.
    """
    ratio, target = forecast.scales.get("D/N"), forecast.target
    if ratio is None or forecast.source:
        return None
    run = np.isfinite(loss)
    tried = grid.D[run] / grid.N[run]
    if target.sized:
        subject = f"{target.label} has a D/N of"
        return checks.allocation_extrapolated(subject, ratio.centre, tried, "this loss")
    subject, at_edge = f"at {target.label} the best D/N of the answer is", "N" in forecast.at_edge
    return checks.allocation_extrapolated(subject, ratio.centre, tried, at_edge=at_edge)


def above_observed(forecast: Forecast, grid: Grid, loss: FloatArray) -> Diagnostic | None:
    """Warn if a run that costs no more has a lower loss than the forecast.

    Inside the data a lucky run is no reason to warn: there its loss must lie below the interval of
    a run. Targets with hyperparameters or further inputs differ from the runs, so they are skipped.
    """
    if forecast.target.sized or forecast.target.hp:
        return None
    row = best_row(loss, forecast.compute * (1.0 + 1e-9) >= grid.C)
    if row is None:
        return None
    reached, compute = float(loss[row]), float(grid.C[row])
    if reached >= (forecast.loss if forecast.decades > 0.0 else forecast.run_low):
        return None
    return Diagnostic(
        "answer_above_observed",
        f"{forecast.loss:#.4g} is expected at {forecast.target.label}, but a run of "
        f"{flops(compute)} FLOPs has reached {reached:#.4g}: look at that run, and leave it out "
        "if it is not like the others",
        {"predicted": forecast.loss, "reached": reached, "reached_compute": compute},
    )


def best_at_edge(forecast: Forecast) -> Diagnostic | None:
    """Warn if a best hyperparameter is at the end of the values that were tried, or beyond."""
    names = [name for name in forecast.at_edge if name in forecast.hp]
    if not names:
        return None
    values = ", ".join(f"{name} = {number(forecast.hp[name].centre, 3)}" for name in names)
    return Diagnostic(
        "best_at_edge",
        f"at {forecast.target.label} the best {values} is at the end of what was tried, or beyond: "
        "the optimum may lie further out, so try some there",
        {name: forecast.hp[name].centre for name in names},
    )


class Doubts(NamedTuple):
    """The rules of a verdict.

    firm, rough   largest half-widths of an interval with these verdicts
    grave         codes of warnings with which no answer is firm
    why           reasons against an answer by the code of their warning, in the order of the line
    """

    firm: float
    rough: float
    grave: frozenset[str]
    why: Mapping[str, str]


OF_LOSS = Doubts(
    firm=FIRM,
    rough=ROUGH,
    grave=frozenset(("held_out_missed", "few_runs", "odd_run")),
    why={
        "held_out_missed": "held-out runs were missed",
        "odd_run": "a run does not belong to the others",
        "few_runs": "there are few runs",
        "allocation_extrapolated": "its D/N was not run",
        "answer_above_observed": "a cheaper run has less loss",
        "best_at_edge": "the best hyperparameters are at the edge",
    },
)


def verdict(forecasts: Sequence[Forecast], warnings: Sequence[Diagnostic], level: float) -> str:
    """How far to trust the first forecast, and why."""
    if not forecasts:
        return ""
    width = percent(forecasts[0].half_width, 2)
    known = f"the loss there is known to ±{width} at {percent(level)}"
    return verdict_line(forecasts[0], known, warnings, OF_LOSS)


def verdict_line(forecast: Any, known: str, warnings: Sequence[Diagnostic], doubts: Doubts) -> str:
    """How far to trust a forecast, how precisely it is known (``known``), and why not further."""
    codes, width = {warning.code for warning in warnings}, forecast.half_width
    word = "Firm" if width <= doubts.firm else "Rough" if width <= doubts.rough else "Open"
    if word == "Firm" and codes & doubts.grave:
        word = "Rough"
    text = f"{word}: {forecast.target.label} is {distance(forecast.decades)}, and {known}"
    reasons = ", ".join(words for code, words in doubts.why.items() if code in codes)
    return f"{text}; {reasons}." if reasons else f"{text}."
