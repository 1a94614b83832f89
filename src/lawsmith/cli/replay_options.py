"""Parse the options of `lawsmith replay`: the method, the split, the targets, the end.

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
WORDS: dict[str, tuple[str, ...]] = {  # allowed for these settings
    "kernel": KERNELS,
    "priors": tuple(PRIORS),
    "scale": SCALES,
    "acquisition": tuple(ACQUISITIONS),
    "slice_by": ("C", "N", "D"),
}
_WINDOWS = ("window", "slice")
_SEARCHES = ("window", "full", "slice")  # other policies have their own acquisition, or none


@dataclass(frozen=True)
class Choices:
    """The names that options of a replay may give, and the functions that make the objects.

    entries     the catalogue of studies
    usual       the default surrogate of each policy; gp for policies not listed
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
    """The requested method; ``known`` is the study's entry in the catalogue, if it has one."""
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
    # Only a surrogate with a prior over studies can do without an initial design.
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
    """For each setting, in order: the earlier settings that it needs, and its default."""
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
    """The catalogue's entry for a study; None for a user's own table."""
    return choices.entries.get(study.partition(":")[0])


def split(rule: HeldOut | None, law: Law, known: Entry | None) -> HeldOut:
    """The requested split, else the study's own for laws without N, else the law's usual one."""
    if rule is not None:
        return rule
    usual = default_hold_out(law)
    if usual.kind == "compute" and known is not None and known.hold_out is not None:
        return HeldOut.by_compute(known.hold_out)
    return usual


def targets(
    given: Sequence[tuple[str, str]], study: Study, known: Entry | None = None
) -> tuple[Target, ...]:
    """The requested targets in their order; by default the study's own or the paper's, else one
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
    """Refuse an initial design with more runs than there are candidates."""
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
    """Prices of runs on shared trunks, each ending in a decay of this share of its tokens."""
    return Trunks(number(text))


def check_ran(n_steps: int, stop: Stop, task: Task) -> None:
    """Refuse a budget that is too small for the first run."""
    if n_steps == 0 and stop.budget is not None:
        share = percent(stop.budget / task.total_compute)
        got = f"{short(stop.budget, 3)} FLOPs ({share} of the pool)"
        want = "more than the first run costs"
        hint = f"the pool's cheapest takes {flops(float(task.pool.C.min()))}; 5% is a share"
        raise LawsmithError("--budget", got=got, want=want, hint=hint)
