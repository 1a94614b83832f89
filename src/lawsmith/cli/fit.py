"""`lawsmith fit TABLE`: read runs, fit a law to their frontier, show it with its uncertainty."""

from __future__ import annotations

import json

import typer

from lawsmith.cli import params


def fit(
    table: params.Table,
    columns: params.Columns = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: params.HoldOut = None,
    law: params.LawName = None,
    fix: params.Fix = None,
    prior: params.PriorText = None,
    objective: params.ObjectiveName = None,
    delta: params.Delta = None,
    force: params.Force = False,
    seed: params.Seed = 0,
    target: params.Targets = None,
    level: params.Level = 0.95,
    compare: params.Compare = False,
    as_json: params.Json = False,
    charts: params.Charts = None,
) -> None:
    """Fit a scaling law to a table of training runs.

    For example: lawsmith fit runs.csv --law chinchilla --hold-out 0.5 --target 1e25
    """
    from lawsmith.analysis import FitOptions, analyse, compare_laws
    from lawsmith.cli import options as read
    from lawsmith.cli.console import downloads, stdout
    from lawsmith.cli.draw import Drawn, draw
    from lawsmith.datasets import ReadOptions, load
    from lawsmith.grid import HeldOut
    from lawsmith.laws.catalogue import get_law

    named = get_law(law) if law else None
    reading = ReadOptions(
        columns=read.columns(columns or ()),
        where=where,
        drop_largest_loss=drop_largest_loss,
        skip_bad_rows=skip_bad_rows,
        diverged_above=read.diverged_above(diverged_above),
        compute=compute,
    )
    held_out = HeldOut.parse(hold_out) if hold_out else None
    targets, probability = read.targets(target or ()), read.level(level)
    folder = read.folder(charts, "--charts") if charts else None
    with downloads() as progress:
        study = load(table, reading, progress=progress)
    chosen = named or get_law(read.law_of(study))
    read.check_inputs(study, chosen)
    pinned = read.fixed(fix or (), chosen)
    asked = FitOptions(
        law=chosen,
        hold_out=held_out,
        targets=targets,
        objective=read.objective(objective, delta, chosen),
        fixed=pinned,
        priors=read.priors(prior or (), chosen, pinned),
        level=probability,
        force=force,
        seed=seed,
    )
    analysis = analyse(study, asked)
    compared = compare_laws(study, asked) if compare else ()
    drawn = draw(analysis, folder, compared) if folder else Drawn()
    if as_json:
        from lawsmith.cli.payload import fit_payload

        payload = fit_payload(analysis, compared, drawn)
        typer.echo(json.dumps(payload, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        from lawsmith.cli.fit_view import show_fit

        show_fit(stdout(), analysis, compared, drawn)
