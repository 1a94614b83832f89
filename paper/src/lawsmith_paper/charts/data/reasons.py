"""Why a run was chosen: both of its values, its ranks and price, what was expected, what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lawsmith.formats import count, flops, number, percent
from lawsmith.policies.frontier import ValueName, Weighed
from lawsmith.replay import Task
from lawsmith_paper.moments import Moment
from lawsmith_paper.outlook import Outlook, reach

Chooser = Literal["initial", "envelope", "answer"]


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
    answer      log loss that it was worth for the answer: what it takes off its SD, and off the
                loss that hyperparameters not being known cost at the target
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
    answer: Worth | None
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
    price = step.cost - task.pricing.total(task.pool, asked) if asked else step.cost
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
        answer=None if weighed is None else _worth(weighed, "answer", row),
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


def _worth(weighed: Weighed, value: ValueName, row: int) -> Worth | None:
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
    noise = np.broadcast_to(posterior.noise, posterior.sd.shape)
    sd = float(np.hypot(posterior.sd[row], noise[row]))
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
    among = f"the most for its cost of {reason.candidates} candidates"
    if reason.chooser == "answer" and reason.answer is not None:
        return (
            f"To know the answer: it is worth {_small(reason.answer.value)} of the loss predicted "
            f"at {flops(target)} FLOPs, {among}. {_of_envelope(reason.envelope)}"
        ).strip()
    if reason.chooser == "envelope" and reason.envelope is not None:
        return (
            f"To lower the envelope: at its own compute by {_small(reason.envelope.value)} of the "
            f"loss, in expectation, {among}. {_of_answer(reason.answer)}"
        )
    return "Part of the initial design: drawn at random among the cheapest runs."


def _of_envelope(envelope: Worth | None) -> str:
    """'' before the first run, when there is no envelope to lower."""
    if envelope is None:
        return ""
    lowers = _small(envelope.value)
    return f"In lowering the envelope it is {ordinal(envelope.rank)}, by {lowers} of the loss."


def _of_answer(answer: Worth | None) -> str:
    if answer is None or answer.value == 0.0:
        return "Of the answer it tells nothing."
    return f"In what it tells of the answer it is {ordinal(answer.rank)}, {_small(answer.value)}."


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
