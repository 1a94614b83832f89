"""A finished study replayed: how few of its runs would have done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lawsmith.api import reading
from lawsmith.api.reading import in_python
from lawsmith.cli.commands import ReplayRequest
from lawsmith.cli.replay import replay_runs, set_up
from lawsmith.cli.replay_options import budget as read_budget
from lawsmith.datasets import ReadOptions
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.replay import Replayed
from lawsmith.stopping import parse_rule
from lawsmith.surface import Prior

if TYPE_CHECKING:
    from lawsmith.api.reading import Source, TargetLike


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
    asked = ReplayRequest(
        study=study.name,
        law=reading.as_law(law, study),
        hold_out=reading.as_hold_out(hold_out),
        policy=policy,
        surrogate=surrogate,
        seed=seed,
        iterations=iterations,
        budget=None if budget is None else read_budget(str(budget)),
        rule=None if stop_when is None else parse_rule(stop_when),
        words=tuple(word for pair in reading.as_options(targets) for word in pair),
    )
    setup = replace(set_up(asked), reading=ReadOptions(columns=columns or {}))
    return replay_runs(setup, study, reading.as_prior(learn_from))
