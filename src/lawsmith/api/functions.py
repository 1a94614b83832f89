"""The functions of the Python API: predictions of losses and accuracies, laws, replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lawsmith import analysis
from lawsmith.analysis import Analysis, Comparisons, FitOptions
from lawsmith.answer import Answer
from lawsmith.api import reading
from lawsmith.api.reading import in_python
from lawsmith.cli import options as read
from lawsmith.cli import replay_options
from lawsmith.cli.commands import ReplayRequest
from lawsmith.cli.replay import replay_runs, set_up
from lawsmith.datasets import ReadOptions, Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.laws.catalogue import LAWS, read_law
from lawsmith.laws.law import Law
from lawsmith.laws.objective import Objective, get_objective
from lawsmith.replay import Replayed
from lawsmith.stopping import parse_rule
from lawsmith.surface import Prior
from lawsmith.tasks import Task, TaskAnswer

if TYPE_CHECKING:
    from lawsmith.api.reading import CurveSource, Source, TargetLike


@in_python
def fit(
    source: Source,
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    columns: Mapping[str, str] | None = None,
    hold_out: HeldOut | str | float | None = None,
    level: float = 0.95,
    learn_from: Prior | Sequence[Source] = (),
    curves: CurveSource | None = None,
) -> Answer:
    """The best loss to expect at larger computes, and which N, D and hyperparameters reach it.

    source      a DataFrame, a file, the name of a study, or a Study (see `load`)
    targets     computes in FLOPs, or sizes such as 'N=7B,D=140B'; by default one compute half a
                decade or more above the largest run
    columns     which column is N, D, C, the loss or a hyperparameter, as for `load`
    hold_out    runs to keep out and predict instead: '50%' of compute, or 'largest-N'
    level       confidence level of the intervals
    learn_from  earlier studies like this one, each as ``source``; or what `learn` returned
    curves      losses along the runs, as `load_curves` takes them

    >>> import lawsmith
    >>> found = lawsmith.fit("tinylm", targets=1e16)
    >>> found
    Answer of tinylm, from 1739 runs, up to 1.69e15 FLOPs
      1.18... at 1e16 FLOPs, 95% interval [1.16..., 1.2...]
      Firm: 1e16 FLOPs is 0.8 decades beyond the largest run, and the loss there is known to ...
    >>> found.forecasts[0].low < found.forecasts[0].loss < found.forecasts[0].high
    True
    >>> found.to_frame()[["C", "loss", "N", "D", "lr"]].shape
    (1, 5)
    """
    study = reading.load(source, columns=columns)
    return analysis.answer_study(
        study,
        reading.as_targets(targets, study),
        level=read.level(level),
        hold_out=reading.as_hold_out(hold_out),
        prior=reading.as_prior(learn_from),
        curves=None if curves is None else reading.load_curves(curves),
    )


@in_python
def fit_losses(
    source: Source,
    losses: Sequence[str],
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    columns: Mapping[str, str] | None = None,
    hold_out: HeldOut | str | float | None = None,
    level: float = 0.95,
) -> dict[str, Answer]:
    """The best of several losses of the same runs to expect at larger computes, an Answer each.

    source    a DataFrame, a file or the name of a study
    losses    their columns; a run may lack some, which are inferred where another loss tells them
    the rest  as for `fit`

    >>> import numpy as np, pandas as pd
    >>> N, D = (v.ravel() for v in np.meshgrid([1e8, 3e8, 1e9, 3e9], [3e9, 1e10, 3e10, 1e11]))
    >>> web = 1.7 + 400 * N**-0.34 + 410 * D**-0.28
    >>> code = np.where(N < 3e9, 0.5 * web**1.1, np.nan)  # not measured for the largest
    >>> table = pd.DataFrame({"N": N, "D": D, "web": web, "code": code})
    >>> found = fit_losses(table, ["web", "code"], targets=1e22)
    >>> found["code"].forecasts[0].loss < found["web"].forecasts[0].loss
    True
    >>> found["code"].others.relations[0].name
    'web'
    """
    options = ReadOptions(columns=columns or {})
    studies = {
        one: reading.load(source, analysis.reading_of(one, losses, options)) for one in losses
    }
    if not studies:
        raise LawsmithError("losses", got="none", want="the names of columns")
    return analysis.answer_losses(
        studies,
        reading.as_targets(targets, next(iter(studies.values()))),
        level=read.level(level),
        hold_out=reading.as_hold_out(hold_out),
    )


@in_python
def fit_tasks(
    source: Source,
    tasks: Sequence[Task | str],
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    via: str = "",
    columns: Mapping[str, str] | None = None,
    hold_out: HeldOut | str | float | None = None,
    level: float = 0.95,
) -> list[TaskAnswer]:
    """The accuracy of tasks to expect at larger computes; of several, their average last.

    tasks     columns of accuracies, or Tasks that also say chance and the number of questions
    via       the column of a loss that accuracy depends on; '' predicts from scale alone
    the rest  as for `fit`

    >>> import numpy as np, pandas as pd
    >>> N, D = (v.ravel() for v in np.meshgrid([1e8, 3e8, 1e9, 3e9], [3e9, 1e10, 3e10, 1e11]))
    >>> loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28
    >>> right = 0.25 + 0.6 / (1 + np.exp(4 * (loss - 2.7)))
    >>> table = pd.DataFrame({"N": N, "D": D, "loss": loss, "quiz": right})
    >>> (quiz,) = fit_tasks(table, [Task("quiz", chance=0.25)], targets=1e22, via="loss")
    >>> quiz.forecasts[0].low < quiz.forecasts[0].value < quiz.forecasts[0].high
    True
    """
    wanted = [task if isinstance(task, Task) else Task(task) for task in tasks]
    if not isinstance(source, Study):
        options = read.with_tasks(ReadOptions(columns=columns or {}), wanted, via or None)
        source = reading.load(source, options)
    return analysis.answer_tasks(
        source,
        wanted,
        reading.as_targets(targets, source),
        via=via,
        level=read.level(level),
        hold_out=reading.as_hold_out(hold_out),
    )


@in_python
def analyse(
    source: Source,
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    law: Law | str | None = None,
    columns: Mapping[str, str] | None = None,
    hold_out: HeldOut | str | float | None = None,
    level: float = 0.95,
    objective: Objective | str | None = None,
    fixed: Mapping[str, float] | None = None,
    force: bool = False,
) -> Analysis:
    """Describe the best runs by a law: its parameters, its predictions, and warnings about it.

    law        a name such as 'chinchilla', 'FILE.py:NAME', or a Law; by default the usual one
    objective  'huber', 'least-squares-log', … ; by default the one that the law's authors use
    fixed      parameters held at a value: {'E': 1.69}
    force      fit also where the runs cannot tell the parameters apart
    the rest   as for `fit`

    >>> import lawsmith
    >>> analysis = lawsmith.analyse("synthetic-demo", targets=1e24, law="chinchilla")
    >>> sorted(analysis.fit.params)
    ['A', 'B', 'E', 'alpha', 'beta']
    >>> interval = analysis.predictions[0].interval
    >>> interval.low < analysis.predictions[0].loss < interval.high
    True
    """
    study = reading.load(source, columns=columns)
    found = reading.as_law(law, study)
    pinned = read.fixed([f"{name}={value}" for name, value in (fixed or {}).items()], found)
    options = FitOptions(
        law=found,
        hold_out=reading.as_hold_out(hold_out),
        targets=reading.as_targets(targets, study),
        objective=get_objective(objective) if isinstance(objective, str) else objective,
        fixed=pinned,
        level=read.level(level),
        force=force,
    )
    return analysis.analyse(study, options)


@in_python
def compare_laws(
    source: Source,
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    laws: Sequence[Law | str] = tuple(LAWS),
    columns: Mapping[str, str] | None = None,
    hold_out: HeldOut | str | float | None = None,
    level: float = 0.95,
) -> Comparisons:
    """Several laws beside each other, best first: predictions, and errors on held-out large runs.

    laws      names or Laws; by default every built-in one
    the rest  as for `fit`

    >>> compared = compare_laws("synthetic-demo", targets=1e24, laws=["LC", "chinchilla"])
    >>> sorted(compared.to_frame()["law"])
    ['LC', 'chinchilla']
    """
    study = reading.load(source, columns=columns)
    named = tuple(read_law(one) if isinstance(one, str) else one for one in laws)
    options = FitOptions(
        law=named[0],
        hold_out=reading.as_hold_out(hold_out),
        targets=reading.as_targets(targets, study),
        level=read.level(level),
    )
    return Comparisons(study.name, analysis.compare_laws(study, options, named))


@in_python
def replay_study(
    source: Source,
    targets: TargetLike | Sequence[TargetLike] = (),
    *,
    law: Law | str = "LC",
    budget: str | float | None = None,
    iterations: int | None = None,
    stop_when: str | None = None,
    policy: str = "frontier",
    surrogate: str | None = None,
    hold_out: HeldOut | str | float | None = None,
    columns: Mapping[str, str] | None = None,
    learn_from: Prior | Sequence[Source] = (),
    seed: int = 0,
) -> Replayed:
    """Act as if the runs of a finished study were still to be made, and choose among them.

    law         the law that is judged after every run; LC, of compute, by default
    budget      share of the pool's compute, '5%' or 0.05, or FLOPs
    iterations  most runs to make
    stop_when   end when the answer is known: 'loss@1e23 within 2%'
    policy      'frontier', lawsmith's own; 'window' or 'full', the paper's
    surrogate   'surface' or 'gp'; by default the policy's own
    seed        decides the choice of runs together with their losses
    the rest    as for `fit`

    >>> import lawsmith
    >>> small = lawsmith.load("tinylm", where="batch == 32 and 0.001 < lr < 0.002")
    >>> replayed = lawsmith.replay_study(small, targets=1e16, iterations=8)
    >>> replayed
    Replay of tinylm by frontier..., seed 0
      8 runs of ..., ... of the compute; ended by: iterations
      1... at 1e16 FLOPs, 95% interval [...]; the whole pool says 1... at 1e16 FLOPs, ...
    >>> replayed.to_frame()["cost_fraction"].is_monotonic_increasing
    True
    """
    study = reading.load(source, columns=columns)
    request = ReplayRequest(
        study=study.name,
        law=reading.as_law(law, study),
        hold_out=reading.as_hold_out(hold_out),
        policy=policy,
        surrogate=surrogate,
        seed=seed,
        iterations=iterations,
        budget=None if budget is None else replay_options.budget(str(budget)),
        rule=None if stop_when is None else parse_rule(stop_when),
        words=tuple(word for pair in reading.as_options(targets) for word in pair),
    )
    setup = replace(set_up(request), reading=ReadOptions(columns=columns or {}))
    return replay_runs(setup, study, reading.as_prior(learn_from))
