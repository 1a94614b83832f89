"""When hyperparameters are refitted: a rule in the number of observed rows, and nothing else.

A rule of the count alone keeps a posterior a pure function of the history: a process that starts
afresh goes through the same refits, each from the one before, and ends at the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Refit at every count up to ``every_until``, then whenever the count has grown by ``growth``.

    growth 0 refits at every count. Up to ``cold_until`` each refit starts from the priors' modes;
    with so few observations the last answer is no better a start.
    """

    growth: float = 0.05
    every_until: int = 200
    cold_until: int = 10

    def points(self, n: int) -> list[int]:
        """Counts at which a history of ``n`` rows was refitted, ascending; the first is cold."""
        if n <= self.cold_until:
            return [n]
        points = [self.cold_until]
        while (following := self._after(points[-1])) <= n:
            points.append(following)
        return points

    def _after(self, point: int) -> int:
        if point < self.every_until:
            return point + 1
        return max(point + 1, int(point * (1.0 + self.growth)))
