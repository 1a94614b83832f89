"""`lawsmith fit TABLE` and `lawsmith report SOURCE`: what they can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lawsmith.cli.params import (
    FORMS,
    LAW,
    RUNS,
    SHOW,
    AnswerRequest,
    ShownRequest,
    Texts,
    argument,
    flag,
    number,
    option,
    reader,
    takes,
    whole,
)


@dataclass(frozen=True, kw_only=True)
class FitRequest(ShownRequest, AnswerRequest):
    """What `lawsmith fit` is asked."""

    table: str = argument(
        "TABLE",
        f"One row per run: {FORMS}. Or a published study by name (see lawsmith datasets).",
    )
    loss: str | None = option(RUNS, "COLUMN", "Loss column; the same as --columns loss=COLUMN.")
    metrics: Texts = option(
        RUNS, "COLUMN,…", "Several loss columns: an answer for each, side by side."
    )
    fix: Texts = option(LAW, "E=1.69", "Fix a parameter at a value; may be repeated.")
    objective: str | None = option(
        LAW,
        "NAME",
        "huber, least-squares, least-squares-log, mae, or one-sided (runs above the law count "
        "a tenth: for sizes tuned less); by default what the law's authors use.",
    )
    delta: float | None = option(LAW, "δ", "Huber's δ, by default 1e-3.", parser=number)
    inference_tokens: float | None = option(
        SHOW,
        "1T",
        "Tokens to be served: at each --target, the N and D with the same loss that make "
        "training and serving cheapest.",
        parser=reader("inference_tokens"),
    )
    n_next: int = option(
        SHOW,
        "K",
        "The K runs that narrow the interval at each target most per FLOP.",
        "--next",
        default=0,
        parser=whole,
    )
    critical_batch: bool = flag(
        SHOW,
        "--critical-batch",
        "The largest batch that needs at most 20% more tokens for the same loss, at each target.",
    )
    other_n: str | None = option(
        SHOW, "EXPR", "How far the answer moves if N is counted so: 'N + vocab * width'."
    )
    compare: bool = flag(
        SHOW, "--compare", "Compare every law with the answer, on held-out compute."
    )


@dataclass(frozen=True, kw_only=True)
class ReportRequest(AnswerRequest):
    """What `lawsmith report` is asked."""

    table: str = argument(
        "SOURCE",
        "A table of runs, the name of a published study, the folder of a replay "
        "(lawsmith replay --out), or a live study (its file or its folder).",
    )
    out: Path = option(
        None,
        "FILE",
        "The page to write.",
        *("--out", "-o"),
        default=Path("report.html"),
        dir_okay=False,
    )


@takes(FitRequest)
def fit(asked: FitRequest) -> None:
    """Predict the best loss at a compute nobody has explored, from a table of training runs.

    For example: lawsmith fit runs.csv --target 1e25 --law chinchilla
    """
    from lawsmith.cli.fit_view import run_fit

    run_fit(asked)


@takes(ReportRequest)
def report(asked: ReportRequest) -> None:
    """Make a report: one self-contained page with the answer, the figures and every run.

    For example: lawsmith report oellm-english --target 1e25 -o report.html
    """
    from lawsmith.cli.report import run_report

    run_report(asked)
