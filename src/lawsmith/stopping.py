"""When the answer is known well enough: a rule on the interval of the true loss.

    loss@1e25 within 1%

holds when the interval of the true loss at 1e25 FLOPs reaches no further than 1 % to either side
of its middle.

An interval from draws varies with them, and the first lucky one would end a search: a rule that
seems to be met is looked at again with ten times the draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lawsmith.errors import LawsmithError
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import DRAWS, Outlook

EXAMPLE = "loss@1e25 within 1%"
CONFIRM = 10  # times the draws of an outlook
_RULE = re.compile(r"\s*loss\s*@\s*(\S+)\s+within\s+(\S+?)\s*%\s*", re.ASCII)


@dataclass(frozen=True)
class StopRule:
    """Stop once the true loss at ``compute`` is known to ``within`` (0.01 is 1 %)."""

    compute: float
    within: float

    def __str__(self) -> str:
        return f"loss@{self.compute:g}".replace("e+", "e") + f" within {100 * self.within:g}%"

    def met(self, outlook: Outlook) -> bool:
        """Whether the outlook, which must have this compute among its targets, is good enough."""
        return reach(outlook.at(self.compute).truth) <= self.within


def settled(rule: StopRule, look: Callable[[int], Outlook | None]) -> bool:
    """Whether a rule is met, and still is with more draws; ``look`` makes an outlook of so many."""
    for n_draws in (DRAWS, CONFIRM * DRAWS):
        found = look(n_draws)
        if found is None or not rule.met(found):
            return False
    return True


def reach(interval: Interval) -> float:
    """How far an interval reaches from its middle, relative to that."""
    middle = 0.5 * (interval.low + interval.high)
    return float((interval.high - interval.low) / 2 / middle) if middle > 0 else float("inf")


def parse_rule(text: str) -> StopRule:
    """The rule written as 'loss@1e25 within 1%'."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise LawsmithError("stop rule", got=repr(text), want=f"a rule such as {EXAMPLE!r}")
    compute, percent = (_number(word, text) for word in found.groups())
    return StopRule(compute, percent / 100)


def _number(word: str, text: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not 0.0 < value < np.inf:
        want = f"numbers above 0, as in {EXAMPLE!r}"
        raise LawsmithError("stop rule", got=f"{word!r} in {text!r}", want=want)
    return value
