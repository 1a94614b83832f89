"""Outlooks for a report: after all runs, after some of them, and for a law of N and D."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.grid import Grid
from lawsmith.laws.allocation import can_allocate
from lawsmith.laws.catalogue import CHINCHILLA
from lawsmith.laws.law import Law
from lawsmith.outlook import Outlook, outlook
from lawsmith.runs import Runs, State
from lawsmith.surrogates.base import Posterior, Scale, Surrogate
from lawsmith.surrogates.inputs import check_names
from lawsmith.threads import one_thread

EXACT = 200  # runs up to which a replay's refits are followed one by one
GROWTH = 1.35  # between the counts of runs at which the way to the answer is looked at


@dataclass(frozen=True, eq=False)
class Lookout:
    """What an outlook needs besides the runs: the grid, its surrogate, the law and where to."""

    grid: Grid
    surrogate: Surrogate
    law: Law
    targets: tuple[float, ...]
    seed: int = 0
    level: float = 0.95

    def posterior(self, runs: Runs) -> Posterior | None:
        """What the surrogate makes of the runs; None without a finished one."""
        if not (runs.state == State.DONE.value).any():
            return None
        with one_thread():
            return self.surrogate.fit(self.grid, runs)

    def outlook(self, runs: Runs, posterior: Posterior) -> Outlook | None:
        """The outlook of the law; None where there is none yet."""
        return self._of(self.law, runs, posterior)

    def both(self, runs: Runs, posterior: Posterior) -> Outlook | None:
        """The outlook of a law of N and D from the same surrogate; None where there is none."""
        if can_allocate(self.law) or not {"N", "D"} <= set(self.grid.names):
            return None
        return self._of(CHINCHILLA, runs, posterior)

    def _of(self, law: Law, runs: Runs, posterior: Posterior) -> Outlook | None:
        if posterior.sampler is None:
            return None
        try:
            # With few runs an allocation may lie beyond all numbers; its interval says as much.
            with one_thread(), np.errstate(over="ignore"):
                return outlook(
                    self.grid,
                    runs,
                    posterior,
                    law,
                    self.targets,
                    seed=self.seed,
                    level=self.level,
                )
        except LawsmithError:
            return None


def ladder(first: int, last: int) -> list[int]:
    """Counts of runs from ``first`` to ``last``, each GROWTH times the one before.

    They do not depend on ``last``, so that what was computed on the way is of use again.
    """
    counts, n = [], float(max(first, 1))
    while round(n) < last:
        counts.append(round(n))
        n = max(n * GROWTH, n + 1)
    return [*counts, last] if last >= first else []


def surrogate_of(settings: dict[str, object], seed: int, *, n_runs: int) -> Surrogate | None:
    """The surrogate of a replay's settings, so that its figures agree with what it printed.

    A replay lets each refit of a GP start from the one before. Beyond EXACT runs, where following
    them all again takes half a minute and changes an interval by less than its last digit, each
    is made afresh.
    """
    from lawsmith.study.schedule import Afresh, live_surrogate
    from lawsmith.surrogates import make_surrogate

    name = str(settings.get("surrogate") or "none")
    words = {key: str(settings[key]) for key in ("kernel", "priors", "scale") if settings.get(key)}
    if n_runs <= EXACT and name in ("gp", "trend"):
        return make_surrogate(name, **words, seed=seed)
    if name == "gp":
        from lawsmith.surrogates.gp import GP

        kernel, priors = words.get("kernel", GP.kernel), words.get("priors", GP.priors)
        check_names(kernel=kernel, priors=priors, scale=words.get("scale", GP.scale))
        scale: Scale = "log" if words.get("scale") == "log" else "loss"
        return GP(kernel, priors, scale, Afresh(cold_until=Afresh.last))
    if name == "trend":
        return live_surrogate(name, seed=seed)
    path = settings.get("model_path")
    return make_surrogate(name, **words, seed=seed, model_path=str(path) if path else None)


def settled(runs: Runs) -> Runs:
    """Without pending runs: what was only asked for must not narrow an interval."""
    kept = runs.state != State.PENDING.value
    return Runs(runs.index[kept], runs.loss[kept], runs.state[kept])


def first_runs(runs: Runs, n: int) -> Runs:
    """The first ``n`` of the runs."""
    return Runs(runs.index[:n], runs.loss[:n], runs.state[:n])


def enough_runs(law: Law, n_init: int) -> int:
    """From how many runs on there may be an answer."""
    return max(n_init, law.n_params + 1)
