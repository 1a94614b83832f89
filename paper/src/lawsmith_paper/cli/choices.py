"""What the options of `lawsmith-paper replay` may name: lawsmith's own methods and every rival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from lawsmith.acquisition import ACQUISITIONS, KAPPA
from lawsmith.cli.replay_options import Choices, catalogued, check_first, usual_reach
from lawsmith.errors import LawsmithError, unknown
from lawsmith.policies import Method
from lawsmith.surrogates.base import Scale
from lawsmith.surrogates.inputs import Kernel, Priors
from lawsmith_paper.cli.replay import RivalRequest
from lawsmith_paper.rivals import POLICIES, SURROGATES, make_policy, make_surrogate
from lawsmith_paper.studies import CATALOGUE

CHOICES = Choices(make_policy, make_surrogate, CATALOGUE)
# The surrogate of a policy where none is named, gp for those not here.
USUAL = {"frontier": "surface", "random": "none", "cheapest": "none", "vopt": "none"}
_WINDOWS = ("window", "slice")
_SEARCHES = ("window", "full", "slice")  # the others have an acquisition of their own, or none
_MODELS = tuple(name for name in SURROGATES if name != "none")
_DEFAULTS = {"kernel": "matern", "priors": "free", "scale": "loss", "acquisition": "lcb"}
# The surrogates that an option is for; with another it would be ignored silently.
_FOR = {
    **dict.fromkeys(("kernel", "priors"), ("gp", "botorch")),
    "scale": tuple(name for name in _MODELS if name != "surface"),  # which models the log
    **dict.fromkeys(("acquisition", "kappa"), _MODELS),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "policy": POLICIES,
    "surrogate": SURROGATES,
    "kernel": get_args(Kernel),
    "priors": get_args(Priors),
    "scale": get_args(Scale),
    "acquisition": tuple(ACQUISITIONS),
    "slice_by": ("C", "N", "D"),
}
_SETTINGS = ("kernel", "priors", "scale", "acquisition", "kappa", "reach", "slice_by")


def method(request: RivalRequest) -> Method:
    """The method asked for, each option that was not given at its default."""
    policy, more = request.policy, further(request)
    surrogate = request.surrogate or USUAL.get(policy, "gp")
    given = {name: getattr(request, name) for name in _SETTINGS}
    asked = {name: value for name, value in given.items() if value is not None}
    chosen = {"policy": policy, "surrogate": surrogate, **asked}
    for name, word in chosen.items():
        if name in _WORDS and word not in _WORDS[name]:
            raise unknown(_option(name), str(word), _WORDS[name])
    usual = {name: word for name, word in _DEFAULTS.items() if surrogate in _FOR[name]}
    filled: dict[str, Any] = {**usual, **asked}
    if policy not in _SEARCHES and "acquisition" not in asked:
        filled.pop("acquisition", None)
    _check_used(asked, {**filled, **chosen})
    check_first(request.n_init, policy, surrogate)
    if filled.get("acquisition") == "lcb":
        filled["kappa"] = _at_least(0.0, "--kappa", asked.get("kappa", KAPPA), "a number")
    if policy in _WINDOWS:
        reach = asked.get("reach", usual_reach(catalogued(request.study, CHOICES)))
        filled["reach"] = _at_least(1.0, "--reach", reach, "a factor")
        filled["slice_by"] = asked.get("slice_by", "C")
    return Method(policy, surrogate, n_init=request.n_init, further=more, **filled)


def _check_used(asked: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    """Refuse an option that the method would ignore."""
    uses: list[tuple[str, str, tuple[str, ...]]] = [
        *((name, "policy", _SEARCHES) for name in ("acquisition", "kappa")),
        *((name, "surrogate", wanted) for name, wanted in _FOR.items()),
        ("kappa", "acquisition", ("lcb",)),
        *((name, "policy", _WINDOWS) for name in ("reach", "slice_by")),
    ]
    for name, other, wanted in uses:
        word = chosen.get(other)
        if name in asked and word not in wanted:
            value = asked[name]
            shown = f"{value:g}" if isinstance(value, float) else repr(str(value))
            want = " or ".join(f"{_option(other)} {choice}" for choice in wanted)
            got = f"{shown} with {_option(other)} {word}"
            raise LawsmithError(_option(name), got=got, want=want)


def _at_least(least: float, option: str, value: float, what: str) -> float:
    if not value >= least:
        raise LawsmithError(option, got=f"{value:g}", want=f"{what} of at least {least:g}")
    return value


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def further(asked: RivalRequest) -> dict[str, Any]:
    """The options of the rivals' surrogates: the seed of those that draw, TabPFN's weights."""
    policy, path = asked.policy, asked.model_path
    surrogate = asked.surrogate or USUAL.get(policy, "gp")
    if path is not None and surrogate != "tabpfn":
        got = f"'{path}' with --surrogate {surrogate}"
        raise LawsmithError("--model-path", got=got, want="--surrogate tabpfn")
    if policy == "frontier" and surrogate == "none":
        hint = "random search is --policy random"
        want = "one that predicts, for frontier"
        raise LawsmithError("--surrogate", got="none", want=want, hint=hint)
    if policy == "random" and surrogate != "none":
        got, want = f"'{surrogate}' with --policy random", "--policy window or --policy full"
        raise LawsmithError("--surrogate", got=got, want=want)
    found = {"seed": asked.seed} if surrogate in ("xgboost", "tabpfn") else {}
    return found | ({"model_path": str(path)} if path is not None else {})
