"""When the surrogate of a live study is refitted: each time from its priors, so that a new process
is as quick as one that has followed the study from its beginning."""

from __future__ import annotations

from dataclasses import dataclass

from lawsmith.surrogates.base import Surrogate
from lawsmith.surrogates.gp.schedule import Schedule


@dataclass(frozen=True)
class Afresh(Schedule):
    """Refit from the priors at every count up to ``every_until``, once more at ``last``, then not.

    A replay follows one history and lets each refit start from the one before. A live study is
    asked about by new processes, which would have to retrace them all; a fit of its own costs a
    tenth of a second at 200 runs. Beyond ``last`` runs hyperparameters hardly move, and a refit
    would take seconds.
    """

    last: int = 300

    def points(self, n: int) -> list[int]:
        """The one count whose refit a history of ``n`` rows rests on."""
        if n <= self.every_until:
            return [n]
        return [self.every_until if n < self.last else self.last]


def live_surrogate(name: str, *, seed: int) -> Surrogate | None:
    """The surrogate called ``name`` for a live study; an extra that is missing is told here."""
    afresh = Afresh(cold_until=Afresh.last)
    match name:
        case "trend":
            from lawsmith.surrogates.trend import TrendGP

            return TrendGP(schedule=afresh)
        case "gp":
            from lawsmith.surrogates.gp import GP

            return GP(schedule=afresh)
    from lawsmith.surrogates import make_surrogate

    return make_surrogate(name, seed=seed)
