"""When the answer is known well enough: a rule on the interval of the best loss.

    loss@1e25 within 1%

holds when half the width of the interval of the best loss at 1e25 FLOPs is at most 1 % of that
loss: what an answer's verdict calls "known to ±1%".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lawsmith.answer import Answer
from lawsmith.errors import LawsmithError
from lawsmith.numbers import as_float
from lawsmith.plausible import SCALE

EXAMPLE = "loss@1e25 within 1%"
_RULE = re.compile(r"\s*loss\s*@\s*(\S+)\s+within\s+(\S+?)\s*%\s*", re.ASCII)


@dataclass(frozen=True)
class StopRule:
    """Stop once the best loss at ``compute`` is known to ``within`` (0.01 is 1 %)."""

    compute: float
    within: float

    def __str__(self) -> str:
        return f"loss@{self.compute:g}".replace("e+", "e") + f" within {100 * self.within:g}%"

    def met(self, answer: Answer) -> bool:
        """Whether the answer, which must have this compute among its targets, is good enough."""
        return answer.at(self.compute).half_width <= self.within


def parse_rule(text: str) -> StopRule:
    """The rule written as 'loss@1e25 within 1%'."""
    found = _RULE.fullmatch(text)
    if found is None:
        raise LawsmithError("stop rule", got=repr(text), want=f"a rule such as {EXAMPLE!r}")
    compute, percent = (_number(word, text) for word in found.groups())
    return StopRule(compute, percent / 100)


def _number(word: str, text: str) -> float:
    value = as_float(word)
    if value is None or not SCALE.contains(value):
        want = f"numbers above 0, as in {EXAMPLE!r}"
        raise LawsmithError("stop rule", got=f"{word!r} in {text!r}", want=want)
    return value
