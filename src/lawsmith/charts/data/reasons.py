"""Why a run was chosen: both of its values, its ranks and price, what was expected, what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.formats import count, flops, number, percent
from lawsmith.outlook import Outlook
from lawsmith.policies.weighing import Weighed
from lawsmith.replay.discovery import Moment
from lawsmith.replay.records import Task
from lawsmith.stopping import reach

Chooser = Literal["initial", "envelope", "law"]


@dataclass(frozen=True)
class Worth:
    """What a value said of the run: itself, and its rank per cost among the candidates."""

    value: float
    rank: int


@dataclass(frozen=True)
class Answer:
    """The loss that the law predicts at the target, and the reach of the interval of the truth."""

    loss: float
    within: float


@dataclass(frozen=True)
class Reason:
    """One run, and the reason for it.

    price       FLOPs that it added, share of what the whole pool costs
    candidates  how many runs it was chosen from
    envelope    by what share of the loss it was expected to lower the envelope (by how much, for
                a surrogate of the loss itself)
    law         share of the variance of the law's prediction that it was expected to remove
    expected    median of the loss before it was run, with the noise of a run: (loss, low, high)
    loss        what came; NaN where it diverged
    surprise    that in standard deviations of what was expected; NaN where nothing was
    before, after   the answer with and without it
    """

    iteration: int
    config: Mapping[str, float | str]
    price: float
    share: float
    chooser: Chooser
    candidates: int
    envelope: Worth | None
    law: Worth | None
    expected: tuple[float, float, float] | None
    loss: float
    surprise: float
    before: Answer | None = None
    after: Answer | None = None


def reason_of(moment: Moment, task: Task, before: Answer | None) -> Reason:
    """The reason for the next run of a moment, which must have one."""
    step, weighed = moment.step, moment.weighed
    if step is None:
        raise ValueError("a moment without a next run")
    row = step.candidate
    asked = moment.runs.index.tolist()
    price = step.cost - task.pricing.together(task.pool, asked) if asked else step.cost
    expected, surprise = _expectation(weighed, row, step.loss)
    n_free = len(task.pool) - len(moment.runs)
    return Reason(
        iteration=step.iteration,
        config=step.config,
        price=price,
        share=price / task.total_compute,
        chooser="initial" if weighed is None else weighed.turn,
        candidates=n_free if weighed is None else len(weighed.rows),
        envelope=None if weighed is None else _worth(weighed, "envelope", row),
        law=None if weighed is None else _worth(weighed, "law", row),
        expected=expected,
        loss=step.loss,
        surprise=surprise,
        before=before,
    )


def answer_of(outlook: Outlook | None) -> Answer | None:
    """The answer at the first target; None where there is none."""
    if outlook is None or not outlook.predictions:
        return None
    first = outlook.predictions[0]
    return Answer(first.loss, reach(first.truth))


def _worth(weighed: Weighed, value: Literal["envelope", "law"], row: int) -> Worth | None:
    values = weighed.improvement if value == "envelope" else weighed.gain
    rank = weighed.rank(value, row)
    if values is None or rank is None:
        return None
    return Worth(float(values[weighed.place(row)]), rank)


def _expectation(
    weighed: Weighed | None, row: int, loss: float
) -> tuple[tuple[float, float, float] | None, float]:
    """(median and 95 % interval of the loss of a run there, how surprising ``loss`` is)."""
    if weighed is None:
        return None, float("nan")
    posterior = weighed.posterior
    mean = float(posterior.mean[row])
    sd = float(np.hypot(posterior.sd[row], posterior.noise))
    ends = mean + 1.96 * sd * np.array([0.0, -1.0, 1.0])
    logs = posterior.scale == "log"
    middle, low, high = (np.exp(ends) if logs else ends).tolist()
    came = np.log(loss) if logs and loss > 0.0 else loss
    return (middle, low, high), float((came - mean) / sd) if sd > 0.0 else float("nan")


def price_words(reason: Reason) -> str:
    """'2.5e19 FLOPs, 0.014% of what the pool costs'."""
    return f"{flops(reason.price)} FLOPs, {percent(reason.share, 2)} of what the pool costs"


def configuration(config: Mapping[str, float | str]) -> str:
    """'N 50M, D 10B, lr 0.002'."""
    return ", ".join(f"{name} {_value(name, value)}" for name, value in config.items())


def _value(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    return count(value) if name in ("N", "D") else number(value, 3)


def choice_words(reason: Reason, target: float) -> str:
    """Which value chose the run, and how it stood by both."""
    if reason.chooser == "initial" or reason.envelope is None:
        return "Part of the initial design: drawn at random among the cheapest runs."
    lowers, rank = _small(reason.envelope.value), ordinal(reason.envelope.rank)
    among = f"the most for its cost of {reason.candidates} candidates"
    if reason.chooser == "law" and reason.law is not None:
        return (
            f"To know the law: it should remove {_small(reason.law.value)} of the variance of the "
            f"loss predicted at {flops(target)} FLOPs, {among}. In lowering the envelope it is "
            f"{rank}, by {lowers} of the loss."
        )
    return (
        f"To lower the envelope: at its own compute by {lowers} of the loss, in expectation, "
        f"{among}. {_of_law(reason.law)}"
    )


def _of_law(law: Worth | None) -> str:
    if law is None or law.value == 0.0:
        return "Of the law it says nothing that can be told from chance."
    return f"In what it says of the law it is {ordinal(law.rank)}, {_small(law.value)}."


def _small(share: float) -> str:
    return percent(share, 2) if share >= 1e-5 else "less than 0.001%"


def outcome_words(reason: Reason) -> str:
    """What was expected of it and what came."""
    came = f"Its loss: {reason.loss:#.4g}." if np.isfinite(reason.loss) else "It diverged."
    if reason.expected is None:
        return came
    middle, low, high = reason.expected
    text = f"Expected {middle:#.4g} [{low:#.4g}, {high:#.4g}]"
    if not np.isfinite(reason.surprise):
        return f"{text}. {came}"
    side = "above" if reason.surprise > 0 else "below"
    return f"{text}, came {reason.loss:#.4g}: {abs(reason.surprise):.1f} deviations {side}."


def answer_words(reason: Reason, target: float) -> str:
    """How the answer moved; '' where there is none."""
    if reason.after is None:
        return ""
    now = f"The law then says {reason.after.loss:#.4g} at {flops(target)} FLOPs"
    reach_now = f"± {percent(reason.after.within, 2)}"
    if reason.before is None:
        return f"{now}, {reach_now}."
    return f"{now} (before: {reason.before.loss:#.4g}), {reach_now}."


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, …"""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(n % 10 if n % 100 not in (11, 12, 13) else 0, "th")
    return f"{n}{ending}"
