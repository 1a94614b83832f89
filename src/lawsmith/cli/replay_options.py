"""Text of `lawsmith replay`'s options to values: the method, the split, the targets.

Each function raises a one-line error that names the option.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args

from lawsmith.acquisition import ACQUISITIONS, KAPPA
from lawsmith.costs import Pricing
from lawsmith.datasets import Entry, entry, names
from lawsmith.errors import LawsmithError, unknown
from lawsmith.grid import HeldOut
from lawsmith.laws.law import Law
from lawsmith.policies import Policy, make_policy
from lawsmith.policies.spaces import REACH
from lawsmith.replay import EXTRAPOLATE_TO, Task, default_hold_out
from lawsmith.surrogates import SURROGATES, make_surrogate
from lawsmith.surrogates.base import Scale
from lawsmith.surrogates.inputs import Kernel, Priors

POLICIES = ("frontier", "window", "full", "random", "cheapest", "vopt")
_KERNELS = ("gp", "botorch")
_MODELS = tuple(name for name in SURROGATES if name != "none")
# Which surrogates an option is for; given with another one it would be ignored without a word.
_FOR = {
    "kernel": _KERNELS,
    "priors": _KERNELS,
    "scale": tuple(name for name in _MODELS if name != "trend"),  # which models the log
    "acquisition": _MODELS,
    "kappa": _MODELS,
    "model_path": ("tabpfn",),
}
_SEARCHES = ("window", "full")  # the others have an acquisition of their own, or none
# What fantasizes where nothing is said; the last three choose without a surrogate.
_USUAL = {"frontier": "trend", "random": "none", "cheapest": "none", "vopt": "none"}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "policy": POLICIES,
    "surrogate": SURROGATES,
    "kernel": get_args(Kernel),
    "priors": get_args(Priors),
    "scale": get_args(Scale),
    "acquisition": tuple(ACQUISITIONS),
}
_DEFAULTS = {"kernel": "matern", "priors": "lognormal", "scale": "loss", "acquisition": "lcb"}


@dataclass(frozen=True)
class Method:
    """How runs are chosen; None where an option does not apply."""

    policy: str
    surrogate: str
    kernel: str | None = None
    priors: str | None = None
    scale: str | None = None
    model_path: str | None = None
    acquisition: str | None = None
    kappa: float | None = None
    reach: float | None = None
    n_init: int = 10

    def settings(self) -> dict[str, Any]:
        """For the record."""
        return asdict(self)

    def make_policy(
        self, seed: int, law: Law, *, target: float | None, budget: float | None, pricing: Pricing
    ) -> Policy:
        """The policy itself; an extra that is not installed is told here."""
        words = {"kernel": self.kernel, "priors": self.priors, "scale": self.scale}
        told = {name: word for name, word in words.items() if word is not None}
        return make_policy(
            self.policy,
            make_surrogate(self.surrogate, **told, seed=seed, model_path=self.model_path),
            law=law,
            target=target,
            budget=budget,
            pricing=pricing,
            acquisition=self.acquisition or _DEFAULTS["acquisition"],
            kappa=KAPPA if self.kappa is None else self.kappa,
            reach=self.reach,
            n_init=self.n_init,
        )


def method(
    policy: str,
    surrogate: str | None,
    n_init: int,
    *,
    known: Entry | None,
    given: Mapping[str, Any],
) -> Method:
    """The method asked for; ``given`` holds the other options by name, None where not given."""
    surrogate = surrogate or _USUAL.get(policy, "gp")
    asked = {name: value for name, value in given.items() if value is not None}
    asked |= {"model_path": str(asked["model_path"])} if "model_path" in asked else {}
    for name, word in {"policy": policy, "surrogate": surrogate, **asked}.items():
        if name in _WORDS and word not in _WORDS[name]:
            raise unknown(_option(name), str(word), _WORDS[name])
    for name in ("acquisition", "kappa"):
        if name in asked and policy not in _SEARCHES:
            raise _misplaced(name, asked[name], "policy", policy, _SEARCHES)
    if policy == "frontier" and surrogate == "none":
        hint = "random search is --policy random"
        raise LawsmithError(
            "--surrogate", got="none", want="one that predicts, for frontier", hint=hint
        )
    if policy == "random" and surrogate != "none":
        raise _misplaced("surrogate", surrogate, "policy", policy, ("window", "full"))
    for name in asked:
        if name in _FOR and surrogate not in _FOR[name]:
            raise _misplaced(name, asked[name], "surrogate", surrogate, _FOR[name])
    filled: dict[str, Any] = {
        name: word for name, word in _DEFAULTS.items() if surrogate in _FOR[name]
    } | asked
    if policy not in _SEARCHES:
        filled.pop("acquisition", None)
    if n_init < 1:
        raise LawsmithError("--n-init", got=n_init, want="at least 1 run to start from")
    filled["kappa"] = _kappa(asked.get("kappa"), filled.get("acquisition"))
    filled["reach"] = _reach(asked.get("reach"), policy, known)
    return Method(policy, surrogate, n_init=n_init, **filled)


def _kappa(value: float | None, acquisition: str | None) -> float | None:
    if acquisition != "lcb":
        if value is not None:
            raise _misplaced("kappa", value, "acquisition", str(acquisition), ("lcb",))
        return None
    if value is not None and not value >= 0.0:
        raise LawsmithError("--kappa", got=f"{value:g}", want="a number of at least 0")
    return KAPPA if value is None else value


def _reach(value: float | None, policy: str, known: Entry | None) -> float | None:
    if policy != "window":
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


def catalogued(study: str) -> Entry | None:
    """The catalogue's entry of a study named so; None for a table of the user's own."""
    return entry(study) if study.partition(":")[0] in names() else None


def split(text: str | None, law: Law, known: Entry | None) -> HeldOut:
    """The split asked for, else the study's own for laws without N, else the law's usual one."""
    if text is not None:
        return HeldOut.parse(text)
    usual = default_hold_out(law)
    if usual.kind == "compute" and known is not None and known.hold_out is not None:
        return HeldOut.by_compute(known.hold_out)
    return usual


def targets(texts: Iterable[str] | None, law: Law, known: Entry | None = None) -> tuple[float, ...]:
    """'1e25,1e27' → computes, each once; what an option repeats adds to it.

    Not given, they are the study's own, else the paper's.
    """
    if texts is None:
        return known.targets if known is not None and known.targets else EXTRAPOLATE_TO
    if law.inputs != ("C",) and set(law.inputs) != {"N", "D"}:
        got = f"{law.name}, a law of {', '.join(law.inputs)}"
        raise LawsmithError("--extrapolate-to", got=got, want="a law of C, or of N and D")
    parts = [part for text in texts for part in text.split(",")]
    for part in parts:
        if not 0.0 < float_or_nan(part) < math.inf:
            want = "a compute in FLOPs such as 1e25"
            raise LawsmithError("--extrapolate-to", got=repr(part), want=want)
    return tuple(dict.fromkeys(float_or_nan(part) for part in parts))


def check_pool(method: Method, task: Task) -> None:
    """An initial design needs as many candidates as it has runs."""
    if method.n_init > len(task.pool):
        want = f"at most the {len(task.pool)} candidates in the pool of {task.study}"
        raise LawsmithError("--n-init", got=f"{method.n_init} initial runs", want=want)


def float_or_nan(text: str) -> float:
    """The number in ``text``, NaN if there is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
