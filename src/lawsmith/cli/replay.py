"""`lawsmith replay STUDY`: choose a finished study's runs anew, and see what its law would cost."""

from __future__ import annotations

from pathlib import Path

import typer

from lawsmith.cli import params
from lawsmith.cli import replay_params as own
from lawsmith.cli.codes import INTERRUPTED


def replay(
    context: typer.Context,
    study: own.StudyName,
    columns: params.Columns = None,
    ignore: params.Ignore = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: own.HoldOut = None,
    learn_from: params.LearnFrom = None,
    law: own.LawName = "LC",
    force: own.Force = False,
    policy: own.Policy = "frontier",
    surrogate: own.SurrogateName = None,
    kernel: own.Kernel = None,
    priors: own.Priors = None,
    scale: own.Scale = None,
    acquisition: own.AcquisitionName = None,
    kappa: own.Kappa = None,
    reach: own.Reach = None,
    slice_by: own.SliceBy = None,
    n_init: own.NInit = None,
    seed: own.Seed = 0,
    iterations: own.Iterations = None,
    budget: own.BudgetText = None,
    stop_when: own.StopWhen = None,
    trunk_decay: own.TrunkDecay = None,
    target: params.Targets = None,
    at: params.At = None,
    as_json: params.Json = False,
    out: own.Out = None,
    charts: params.Charts = None,
) -> None:
    """Replay a finished study as if its runs were still to be chosen.

    For example: lawsmith replay oellm-english --budget 5% --seed 0
    """
    given = dict(locals())
    given["args"] = given.pop("context").obj or ()
    from lawsmith.cli.replay_options import CHOICES  # here: --help need not wait for numpy
    from lawsmith.cli.replay_run import read_options, report, run

    asked = read_options(given, CHOICES)
    folders = output_folders(out, charts)
    done = run(asked)
    report(done, folders, as_json=as_json)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def output_folders(out: Path | None, charts: Path | None) -> tuple[Path | None, Path | None]:
    """Where files and charts go, made before the work; charts with the files where not said."""
    from lawsmith.cli.options import folder

    files = folder(out, "--out") if out else None
    return files, folder(charts, "--charts") if charts else files and files / "charts"
