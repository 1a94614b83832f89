"""Text of `lawsmith replay`'s options to values: the method, the split, the targets.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from lawsmith.acquisition import ACQUISITIONS, KAPPA
from lawsmith.answer import Target, default_target
from lawsmith.cli.options import targets as read_targets
from lawsmith.datasets import ENTRIES, Entry, Study
from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.numbers import as_float
from lawsmith.policies import Method, Policy, make_policy
from lawsmith.policies.catalogue import POLICIES
from lawsmith.policies.spaces import REACH
from lawsmith.replay import TARGETS, Task, default_hold_out
from lawsmith.surrogates import SURROGATES, make_surrogate
from lawsmith.surrogates.base import Scale, Surrogate
from lawsmith.surrogates.inputs import Kernel, Priors

_WINDOWS = ("window", "slice")
_SEARCHES = ("window", "full", "slice")  # the others have an acquisition of their own, or none
_DEFAULTS = {"kernel": "matern", "priors": "free", "scale": "loss", "acquisition": "lcb"}


@dataclass(frozen=True)
class Choices:
    """What the options of a replay may name, and what makes it of the name.

    entries     the catalogue of studies
    usual       the surrogate of a policy where none is said, gp for those not here
    for_        the surrogates that an option is for; with another it would be ignored silently
    """

    policies: tuple[str, ...]
    surrogates: tuple[str, ...]
    usual: Mapping[str, str]
    for_: Mapping[str, tuple[str, ...]]
    make_policy: Callable[..., Policy]
    make_surrogate: Callable[..., Surrogate | None]
    entries: Mapping[str, Entry]

    def words(self) -> dict[str, tuple[str, ...]]:
        """The words that each option takes."""
        return {
            "policy": self.policies,
            "surrogate": self.surrogates,
            "kernel": get_args(Kernel),
            "priors": get_args(Priors),
            "scale": get_args(Scale),
            "acquisition": tuple(ACQUISITIONS),
            "slice_by": ("C", "N", "D"),
        }


CHOICES = Choices(
    policies=POLICIES,
    surrogates=SURROGATES,
    usual={"frontier": "surface"},
    for_={
        **dict.fromkeys(("kernel", "priors", "scale"), ("gp",)),
        **dict.fromkeys(("acquisition", "kappa"), SURROGATES),
    },
    make_policy=make_policy,
    make_surrogate=make_surrogate,
    entries=ENTRIES,
)


def method(
    policy: str,
    surrogate: str | None,
    n_init: int | None,
    *,
    known: Entry | None,
    given: Mapping[str, Any],
    choices: Choices = CHOICES,
) -> Method:
    """The method asked for; ``given`` holds the other options by name, None where not given."""
    surrogate = surrogate or choices.usual.get(policy, "gp")
    asked = {name: value for name, value in given.items() if value is not None}
    words = choices.words()
    for name, word in {"policy": policy, "surrogate": surrogate, **asked}.items():
        if name in words and word not in words[name]:
            raise unknown(_option(name), str(word), words[name])
    for name in ("acquisition", "kappa"):
        if name in asked and policy not in _SEARCHES:
            raise _misplaced(name, asked[name], "policy", policy, _searches(choices))
    for name in asked:
        if name in choices.for_ and surrogate not in choices.for_[name]:
            raise _misplaced(name, asked[name], "surrogate", surrogate, choices.for_[name])
    filled: dict[str, Any] = {
        name: word for name, word in _DEFAULTS.items() if surrogate in choices.for_[name]
    } | asked
    if policy not in _SEARCHES:
        filled.pop("acquisition", None)
    _check_first(n_init, policy, surrogate)
    filled["kappa"] = _kappa(asked.get("kappa"), filled.get("acquisition"))
    filled["reach"] = _reach(asked.get("reach"), policy, known)
    filled["slice_by"] = _slice_by(asked.get("slice_by"), policy)
    return Method(policy, surrogate, n_init=n_init, **filled)


def _check_first(n_init: int | None, policy: str, surrogate: str) -> None:
    """An initial design may be empty only for a surrogate that knows what studies are like."""
    needed = 0 if (policy, surrogate) == ("frontier", "surface") else 1
    if n_init is not None and n_init < needed:
        want = "at least 1 run to start from" if needed else "0 runs or more"
        raise LawsmithError("--n-init", got=n_init, want=want)


def _searches(choices: Choices) -> tuple[str, ...]:
    return tuple(name for name in _SEARCHES if name in choices.policies)


def _slice_by(value: str | None, policy: str) -> str | None:
    """What slices: only a window climbs by it."""
    if policy not in _WINDOWS:
        if value is not None:
            raise _misplaced("slice_by", value, "policy", policy, ("window",))
        return None
    return value or "C"


def _kappa(value: float | None, acquisition: str | None) -> float | None:
    if acquisition != "lcb":
        if value is not None:
            raise _misplaced("kappa", value, "acquisition", str(acquisition), ("lcb",))
        return None
    if value is not None and not value >= 0.0:
        raise LawsmithError("--kappa", got=f"{value:g}", want="a number of at least 0")
    return KAPPA if value is None else value


def _reach(value: float | None, policy: str, known: Entry | None) -> float | None:
    if policy not in _WINDOWS:
        if value is not None:
            raise _misplaced("reach", value, "policy", policy, ("window",))
        return None
    if value is not None and not value >= 1.0:
        raise LawsmithError("--reach", got=f"{value:g}", want="a factor of at least 1")
    own = known.reach if known is not None and known.reach is not None else REACH
    return own if value is None else value


def _misplaced(
    name: str, value: object, other: str, word: str, wanted: tuple[str, ...]
) -> LawsmithError:
    shown = f"{value:g}" if isinstance(value, float) else repr(str(value))
    want = " or ".join(f"{_option(other)} {word}" for word in wanted)
    return LawsmithError(_option(name), got=f"{shown} with {_option(other)} {word}", want=want)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def catalogued(study: str, choices: Choices = CHOICES) -> Entry | None:
    """The catalogue's entry of a study named so; None for a table of the user's own."""
    return choices.entries.get(study.partition(":")[0])


def split(text: str | None, law: Law, known: Entry | None) -> HeldOut:
    """The split asked for, else the study's own for laws without N, else the law's usual one."""
    if text is not None:
        return HeldOut.parse(text)
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
        want = f"at most the {len(task.pool)} candidates in the pool of {task.study}"
        raise LawsmithError("--n-init", got=f"{method.n_first} initial runs", want=want)


def float_or_nan(text: str) -> float:
    """The number in ``text``, NaN if there is none."""
    value = as_float(text)
    return math.nan if value is None else value
