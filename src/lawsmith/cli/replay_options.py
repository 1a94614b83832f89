"""Text of `lawsmith replay`'s options to values: the method, the split, the targets, the end.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lawsmith.acquisition import ACQUISITIONS, KAPPA
from lawsmith.answer import Target, default_target
from lawsmith.cli.commands import ReplayRequest
from lawsmith.cli.options import targets as read_targets
from lawsmith.cli.params import number
from lawsmith.costs import Pricing, Trunks
from lawsmith.datasets import ENTRIES, Entry, Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.formats import flops, percent
from lawsmith.formats import number as short
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.numbers import as_float
from lawsmith.policies import Method, Policy, make_policy
from lawsmith.policies.catalogue import POLICIES
from lawsmith.policies.search import REACH
from lawsmith.replay import TARGETS, Stop, Task, default_hold_out
from lawsmith.surrogates import SURROGATES, make_surrogate
from lawsmith.surrogates.base import SCALES, Surrogate
from lawsmith.surrogates.gp import KERNELS, PRIORS

SETTINGS = ("kernel", "priors", "scale", "acquisition", "kappa", "reach", "slice_by")
WORDS: dict[str, tuple[str, ...]] = {  # that these settings take
    "kernel": get_args(Kernel),
    "priors": get_args(Priors),
    "scale": get_args(Scale),
    "acquisition": tuple(ACQUISITIONS),
    "slice_by": ("C", "N", "D"),
}
_WINDOWS = ("window", "slice")
_SEARCHES = ("window", "full", "slice")  # the others have an acquisition of their own, or none


@dataclass(frozen=True)
class Choices:
    """What the options of a replay may name, and what makes it of the name.

    entries     the catalogue of studies
    usual       the surrogate of a policy where none is named, gp for those not here
    applies_to  the surrogates that an option is for; with another it would be ignored
    """

    policies: tuple[str, ...]
    surrogates: tuple[str, ...]
    usual: Mapping[str, str]
    applies_to: Mapping[str, tuple[str, ...]]
    make_policy: Callable[..., Policy]
    make_surrogate: Callable[..., Surrogate | None]
    entries: Mapping[str, Entry]


CHOICES = Choices(
    policies=POLICIES,
    surrogates=SURROGATES,
    usual={"frontier": "surface"},
    applies_to={
        **dict.fromkeys(("kernel", "priors", "scale"), ("gp",)),
        "acquisition": SURROGATES,
    },
    make_policy=make_policy,
    make_surrogate=make_surrogate,
    entries=ENTRIES,
)


def method(
    request: ReplayRequest,
    known: Entry | None,
    choices: Choices = CHOICES,
    further: Mapping[str, Any] | None = None,
) -> Method:
    """The method that was requested, of the catalogue's study ``known`` if it is one."""
    policy, surrogate = request.policy, request.surrogate or choices.usual.get(request.policy, "gp")
    chosen: dict[str, Any] = {"policy": policy, "surrogate": surrogate}
    given = {name: value for name in SETTINGS if (value := getattr(request, name)) is not None}
    words = {"policy": choices.policies, "surrogate": choices.surrogates, **WORDS}
    for name, word in {**chosen, **given}.items():
        if name in words and word not in words[name]:
            raise unknown(_option(name), str(word), words[name])
    reach = known.reach if known is not None and known.reach is not None else REACH
    for name, (needs, usual) in _settings(choices, reach).items():
        unmet = [other for other, wanted in needs.items() if chosen.get(other) not in wanted]
        if not unmet:
            chosen[name] = given.get(name, usual)
        elif name in given:  # the method would ignore it
            value, other = given[name], unmet[0]
            shown = f"{value:g}" if isinstance(value, float) else repr(str(value))
            allowed = [choice for choice in needs[other] if choice in words[other]]
            want = " or ".join(f"{_option(other)} {choice}" for choice in allowed)
            got = f"{shown} with {_option(other)} {chosen.get(other)}"
            raise LawsmithError(_option(name), got=got, want=want)
    # An initial design may be empty only for a surrogate that knows what studies are like.
    if request.n_init == 0 and (policy, surrogate) != ("frontier", "surface"):
        raise LawsmithError("--n-init", got=0, want="at least 1 run to start from")
    for name, least, what in (("kappa", 0.0, "a number"), ("reach", 1.0, "a factor")):
        if name in chosen and not chosen[name] >= least:
            want = f"{what} of at least {least:g}"
            raise LawsmithError(_option(name), got=f"{chosen[name]:g}", want=want)
    return Method(n_init=request.n_init, **chosen, further=further or {})


def _settings(
    choices: Choices, reach: float
) -> dict[str, tuple[dict[str, tuple[str, ...]], str | float]]:
    """(what a setting needs of those before it, its default) of each, in this order."""
    models = choices.applies_to
    search = {"policy": _SEARCHES, "surrogate": models["acquisition"]}
    return {
        "kernel": ({"surrogate": models["kernel"]}, "matern"),
        "priors": ({"surrogate": models["priors"]}, "free"),
        "scale": ({"surrogate": models["scale"]}, "loss"),
        "acquisition": (search, "lcb"),
        "kappa": ({**search, "acquisition": ("lcb",)}, KAPPA),
        "reach": ({"policy": _WINDOWS}, reach),
        "slice_by": ({"policy": _WINDOWS}, "C"),
    }


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def catalogued(study: str, choices: Choices = CHOICES) -> Entry | None:
    """The catalogue's entry of a study named so; None for a table of the user's own."""
    return choices.entries.get(study.partition(":")[0])


def split(rule: HeldOut | None, law: Law, known: Entry | None) -> HeldOut:
    """The split asked for, else the study's own for laws without N, else the law's usual one."""
    if rule is not None:
        return rule
    usual = default_hold_out(law)
    if usual.kind == "compute" and known is not None and known.hold_out is not None:
        return HeldOut.by_compute(known.hold_out)
    return usual


def targets(
    given: Sequence[tuple[str, str]], study: Study, known: Entry | None = None
) -> tuple[Target, ...]:
    """--target and --at in their order; not given, the study's own or the paper's, else one
    half a decade or more above the largest run."""
    if given:
        found = read_targets(given, list(study.grid.hp))
        names = [name for name in ("N", "D") if name in study.grid.names]
        for target in (target for target in found if target.sized):
            if any(getattr(target, name) is None for name in names):
                raise LawsmithError("--at", got=target.label, want=" and ".join(names))
        return found
    if known is not None and (known.targets or known.hold_out is not None):
        return tuple(Target(C) for C in known.targets or TARGETS)
    return (default_target(study.grid, study.runs),)


def check_pool(method: Method, task: Task) -> None:
    """An initial design needs as many candidates as it has runs."""
    if method.n_first > len(task.pool):
        want = f"at most the {len(task.pool)} candidates in the pool of {task.study.name}"
        raise LawsmithError("--n-init", got=f"{method.n_first} initial runs", want=want)


def budget(text: str) -> float:
    """'0.05' and '5%' → 0.05 of the pool; '1e21' → 1e21, FLOPs."""
    word = text.strip()
    value = as_float(word.removesuffix("%"))
    if value is None or not 0.0 < value < math.inf:
        want = "a share of the pool such as 0.05 or 5%, or FLOPs such as 1e21"
        raise LawsmithError("budget", got=repr(text), want=want)
    if not word.endswith("%"):
        return value
    if value > 100.0:
        raise LawsmithError("budget", got=word, want="at most 100%, the whole pool")
    return value / 100.0


def stop_rule(iterations: int | None, budget: float | None, task: Task) -> Stop:
    """When to end; a budget up to 1 is a share of the pool, above that FLOPs."""
    if budget is not None and budget <= 1.0:
        budget *= task.total_compute
    return Stop(iterations, budget)


def pricing(text: str) -> Pricing:
    """Runs on shared trunks that end in a decay of such a share."""
    return Trunks(number(text))


def check_ran(n_steps: int, stop: Stop, task: Task) -> None:
    """A budget below the first run leaves nothing to report."""
    if n_steps == 0 and stop.budget is not None:
        share = percent(stop.budget / task.total_compute)
        got = f"{short(stop.budget, 3)} FLOPs ({share} of the pool)"
        want = "more than the first run costs"
        hint = f"the pool's cheapest takes {flops(float(task.pool.C.min()))}; 5% is a share"
        raise LawsmithError("--budget", got=got, want=want, hint=hint)
