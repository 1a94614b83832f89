"""`lawsmith fit TABLE`: what runs say of the loss at a target, and a law that describes them."""

from __future__ import annotations

import json

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
    from lawsmith.cli import fit_run
    from lawsmith.cli import options as read
    from lawsmith.cli.console import stdout
    from lawsmith.cli.draw import Drawn, draw
    from lawsmith.datasets import ReadOptions
    from lawsmith.grid import HeldOut
    from lawsmith.laws.own import read_law

    asked = fit_run.FitRequest(
        table=table,
        reading=ReadOptions(
            columns=read.with_loss(read.columns(columns or ()), loss),
            ignore=read.ignored(ignore),
            where=where,
            drop_largest_loss=drop_largest_loss,
            skip_bad_rows=skip_bad_rows,
            diverged_above=read.diverged_above(diverged_above),
            compute=compute,
        ),
        hold_out=HeldOut.parse(hold_out) if hold_out else None,
        learn_from=tuple(learn_from or ()),
        curves=curves,
        curve_reading=read.curve_options(
            curves, curve_kind, curve_columns or (), skip_bad_rows=skip_bad_rows
        ),
        law=read_law(law) if law else None,
        fix=tuple(fix or ()),
        prior=tuple(prior or ()),
        objective=objective,
        delta=delta,
        force=force,
        seed=seed,
        targets=tuple(read.in_order(context.obj or (), ("--target", "--at"))),
        level=read.level(level),
        compare=compare,
        inference_tokens=read.tokens(inference_tokens, "--inference-tokens"),
        n_next=next_runs,
        critical_batch=critical_batch,
        other_n=other_n,
    )
    read.targets(asked.targets)  # a bad one is told before the table is read
    folder = read.folder(charts, "--charts") if charts else None
    tasks = read.tasks(metric or (), chance or (), questions or ())
    read.check_via(tasks, via)
    if tasks:
        from lawsmith.cli.fit_tasks import fit_tasks

        fit_tasks(asked, tasks, via or "", folder=folder, as_json=as_json)
        return
    if metrics:
        from lawsmith.cli.fit_metrics import fit_metrics

        fit_metrics(asked, read.names(metrics, "--metrics"), as_json=as_json)
        return
    found = fit_run.run(asked)
    drawn = Drawn()
    if folder:
        made = (found.answer, found.analysis, found.compared, found.along)
        drawn = draw(folder, found.study, *made)
    if as_json:
        from lawsmith.cli.payload import fit_payload

        payload = fit_payload(found, drawn)
        typer.echo(json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        from lawsmith.cli.fit_view import show_fit

        show_fit(stdout(), found, drawn)
