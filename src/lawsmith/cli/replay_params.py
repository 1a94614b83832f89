"""The options of `lawsmith replay` as Typer types; those of tables and laws are `fit`'s."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import number, whole

_RUNS, _LAW = "Which runs", "Which law"
_CHOICE, _END, _SHOW = "How runs are chosen", "When it ends", "What is shown"

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        show_default=False,
        help="The name of a published or synthetic study (lawsmith datasets lists them), or a "
        "table with one row per run, in any form that lawsmith fit reads.",
    ),
]
HoldOut = Annotated[
    str | None,
    typer.Option(
        metavar="50%|largest-N|0",
        help="Runs kept apart to judge by, never chosen; 0 keeps none. By default as the study's "
        "paper splits it, else the upper half of compute, for laws of N the largest N.",
        rich_help_panel=_RUNS,
    ),
]
LawName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="LC, LN, LD, chinchilla, kaplan, skaling or gadre.",
        rich_help_panel=_LAW,
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Look for a law that this study cannot identify.", rich_help_panel=_LAW
    ),
]
Policy = Annotated[
    str,
    typer.Option(
        metavar="frontier|window|full",
        help="Take by turns what lowers the envelope and what tells most of the law, per FLOP; or, "
        "as the paper does, search a window that climbs with the compute run so far, or the whole "
        "pool.",
        rich_help_panel=_CHOICE,
    ),
]
SurrogateName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="surface (by default with frontier) or gp (with window and full).",
        rich_help_panel=_CHOICE,
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of gp: matern (by default), linear, matern+linear or grouped.",
        rich_help_panel=_CHOICE,
    ),
]
Priors = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Of gp: free (by default), lognormal or gamma.",
        rich_help_panel=_CHOICE,
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="loss|log",
        help="What is modelled: the loss (by default) or its logarithm.",
        rich_help_panel=_CHOICE,
    ),
]
AcquisitionName = Annotated[
    str | None,
    typer.Option(
        metavar="lcb|ei|pi",
        help="What makes a candidate the next run; by default lcb.",
        rich_help_panel=_CHOICE,
    ),
]
Kappa = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="κ",
        help="Of lcb: standard deviations below the mean, by default 2.",
        rich_help_panel=_CHOICE,
    ),
]
Reach = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="FACTOR",
        help="Of the window beyond the compute run so far; 1 is the next level only. By default "
        "as the study's paper sets it, else 1.5.",
        rich_help_panel=_CHOICE,
    ),
]
SliceBy = Annotated[
    str | None,
    typer.Option(
        metavar="C|N|D",
        help="What the window climbs by: compute (by default), or slices of constant N or D.",
        rich_help_panel=_CHOICE,
    ),
]
NInit = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="Cheap runs to start from, drawn at random. Default: 10, none for the surface.",
        rich_help_panel=_CHOICE,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        parser=whole,
        metavar="SEED",
        help="Random seed.",
        rich_help_panel=_CHOICE,
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        parser=whole,
        metavar="N",
        help="After so many runs, initial ones included; by default when the pool is exhausted.",
        rich_help_panel=_END,
    ),
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="0.05|5%|1e21",
        help="Before more than this share of the pool's compute, or these FLOPs, would be spent.",
        rich_help_panel=_END,
    ),
]
StopWhen = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Once the best loss is known so well: 'loss@1e25 within 1%'.",
        rich_help_panel=_END,
    ),
]
TrunkDecay = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="SHARE",
        help="Price runs that differ in D alone as branches of one trunk, each with a decay of "
        "this share of its tokens, such as 0.2.",
        rich_help_panel=_CHOICE,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write trace.json, steps.csv and charts there.",
        rich_help_panel=_SHOW,
    ),
]
