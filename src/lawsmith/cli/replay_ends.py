"""What ends a replay, and what its runs cost: text of `lawsmith replay`'s options to values.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math

from lawsmith.cli.replay_options import float_or_nan
from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.errors import LawsmithError
from lawsmith.formats import flops, number, percent
from lawsmith.replay import Stop, Task
from lawsmith.stopping import StopRule, parse_rule


def budget(text: str | None) -> float | None:
    """'0.05' and '5%' → 0.05 of the pool; '1e21' → 1e21, FLOPs. None stays None."""
    if text is None:
        return None
    word = text.strip()
    value = float_or_nan(word.removesuffix("%")) / 100 if word.endswith("%") else float_or_nan(word)
    if not 0.0 < value < math.inf:
        want = "a share of the pool such as 0.05 or 5%, or FLOPs such as 1e21"
        raise LawsmithError("--budget", got=repr(text), want=want)
    if word.endswith("%") and value > 1.0:
        raise LawsmithError("--budget", got=word, want="at most 100%, the whole pool")
    return value


def stop_rule(iterations: int | None, budget: float | None, task: Task) -> Stop:
    """When to end; a budget up to 1 is a share of the pool, above that FLOPs."""
    if iterations is not None and iterations < 1:
        raise LawsmithError("--iterations", got=iterations, want="at least 1 run")
    total = task.total_compute
    if budget is not None and budget > 1.0 and budget > total * (1.0 + 1e-9):
        want = f"at most {flops(total)}, the whole pool of {task.study}"
        raise LawsmithError("--budget", got=f"{flops(budget)} FLOPs", want=want)
    return Stop(iterations, budget * total if budget is not None and budget <= 1.0 else budget)


def answer_rule(text: str | None) -> StopRule | None:
    """'loss@1e25 within 1%' → the rule."""
    if text is None:
        return None
    try:
        found = parse_rule(text)
    except LawsmithError as error:
        raise LawsmithError("--stop-when", got=error.got, want=error.want) from None
    return found


def pricing(decay: float | None) -> Pricing:
    """What runs cost: each its own compute, or on shared trunks that end in such a decay."""
    if decay is None:
        return Apart()
    try:
        return Trunks(decay)
    except LawsmithError as error:
        raise LawsmithError("--trunk-decay", got=error.got, want=error.want) from None


def check_ran(n_steps: int, stop: Stop, task: Task) -> None:
    """A budget below the first run leaves nothing to report."""
    if n_steps == 0 and stop.budget is not None:
        share = percent(stop.budget / task.total_compute)
        got = f"{number(stop.budget, 3)} FLOPs ({share} of the pool)"
        want = "more than the first run costs"
        hint = f"the pool's cheapest takes {flops(float(task.pool.C.min()))}; 5% is a share"
        raise LawsmithError("--budget", got=got, want=want, hint=hint)
