"""`lawsmith replay STUDY`: choose a finished study's runs anew, and see what its law would cost."""

from __future__ import annotations

import typer

from lawsmith.cli import params
from lawsmith.cli import replay_params as own
from lawsmith.cli.codes import INTERRUPTED


def replay(
    study: own.StudyName,
    columns: params.Columns = None,
    where: params.Where = None,
    drop_largest_loss: params.DropLargestLoss = 0,
    diverged_above: params.DivergedAbove = None,
    skip_bad_rows: params.SkipBadRows = False,
    compute: params.Compute = "auto",
    hold_out: own.HoldOut = None,
    law: own.LawName = "LC",
    force: own.Force = False,
    policy: own.Policy = "frontier",
    surrogate: own.SurrogateName = None,
    kernel: own.Kernel = None,
    priors: own.Priors = None,
    scale: own.Scale = None,
    model_path: own.ModelPath = None,
    acquisition: own.AcquisitionName = None,
    kappa: own.Kappa = None,
    reach: own.Reach = None,
    n_init: own.NInit = 10,
    seed: own.Seed = 0,
    iterations: own.Iterations = None,
    budget: own.BudgetText = None,
    stop_when: own.StopWhen = None,
    trunk_decay: own.TrunkDecay = None,
    extrapolate_to: own.ExtrapolateTo = None,
    as_json: params.Json = False,
    out: own.Out = None,
    charts: params.Charts = None,
    explain: own.Explain = None,
) -> None:
    """Replay a finished study as if its runs were still to be chosen.

    For example: lawsmith replay oellm-english --budget 5% --seed 0
    """
    from lawsmith.cli import options as read
    from lawsmith.cli import replay_ends as read_ends
    from lawsmith.cli import replay_explain as told
    from lawsmith.cli import replay_options as read_own
    from lawsmith.cli.replay_run import Asked, report, run
    from lawsmith.datasets import ReadOptions
    from lawsmith.laws.catalogue import get_law

    sought, known = get_law(law), read_own.catalogued(study)
    given: dict[str, object] = {"kernel": kernel, "priors": priors, "scale": scale}
    given |= {"acquisition": acquisition, "kappa": kappa, "reach": reach, "model_path": model_path}
    method = read_own.method(policy, surrogate, n_init, known=known, given=given)
    asked = Asked(
        study=study,
        reading=ReadOptions(
            columns=read.columns(columns or ()),
            where=where,
            drop_largest_loss=drop_largest_loss,
            skip_bad_rows=skip_bad_rows,
            diverged_above=read.diverged_above(diverged_above),
            compute=compute,
        ),
        law=sought,
        hold_out=read_own.split(hold_out, sought, known),
        force=force,
        method=method,
        seed=seed,
        iterations=iterations,
        budget=read_ends.budget(budget),
        rule=read_ends.answer_rule(stop_when, sought, method.surrogate),
        pricing=read_ends.pricing(trunk_decay),
        targets=read_own.targets(extrapolate_to, sought, known),
    )
    page = told.page_file(explain, method) if explain else None
    folder = read.folder(out, "--out") if out else None
    drawings = read.folder(charts, "--charts") if charts else folder and folder / "charts"
    done = run(asked)
    report(done, folder=folder, charts=drawings, as_json=as_json)
    if page:
        told.explain(asked, done, page)
    if done.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)
