"""`lawsmith fit TABLE`: what runs say of the loss at a target, and a law that describes them."""

from __future__ import annotations

import typer

from lawsmith.cli import params


def fit(
    context: typer.Context,
    table: params.Table,
    columns: params.Columns = None,
    ignore: params.Ignore = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    loss: params.LossName = None,
    metrics: params.Metrics = None,
    hold_out: params.HoldOut = None,
    learn_from: params.LearnFrom = None,
    curves: params.CurvesFile = None,
    curve_kind: params.CurveKind = None,
    curve_columns: params.CurveColumns = None,
    law: params.LawName = None,
    fix: params.Fix = None,
    prior: params.PriorText = None,
    objective: params.ObjectiveName = None,
    delta: params.Delta = None,
    force: params.Force = False,
    seed: params.Seed = 0,
    target: params.Targets = None,
    at: params.At = None,
    inference_tokens: params.InferenceTokens = None,
    next_runs: params.NextRuns = 0,
    critical_batch: params.CriticalBatch = False,
    other_n: params.OtherN = None,
    metric: params.Metric = None,
    via: params.Via = None,
    chance: params.Chance = None,
    questions: params.Questions = None,
    level: params.Level = 0.95,
    compare: params.Compare = False,
    as_json: params.Json = False,
    charts: params.Charts = None,
) -> None:
    """Predict the best loss at a compute nobody has explored, from a table of training runs.

    For example: lawsmith fit runs.csv --target 1e25 --law chinchilla
    """
    given = dict(locals())
    from lawsmith.cli import fit_several
    from lawsmith.cli import options as read
    from lawsmith.cli.console import print_json, stdout
    from lawsmith.cli.draw import Drawn, draw_fit
    from lawsmith.cli.fit_payload import fit_payload
    from lawsmith.cli.fit_run import run
    from lawsmith.cli.fit_view import show_fit
    from lawsmith.cli.request import request_of

    asked = request_of(given)
    folder = read.folder(charts, "--charts") if charts else None
    if asked.tasks:
        fit_several.fit_tasks(asked, folder, as_json=as_json)
        return
    if metrics:
        fit_several.fit_losses(asked, read.names(metrics, "--metrics"), as_json=as_json)
        return
    found = run(asked)
    drawn = draw_fit(folder, found) if folder else Drawn()
    if as_json:
        print_json(fit_payload(found, drawn))
    else:
        show_fit(stdout(), found, drawn)
