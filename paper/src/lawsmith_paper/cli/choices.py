"""What the options of `lawsmith-paper replay` may name: lawsmith's own methods and every rival."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lawsmith.cli import replay_options
from lawsmith.errors import LawsmithError
from lawsmith_paper.cli.replay import RivalRequest
from lawsmith_paper.rivals import POLICIES, SURROGATES, make_policy, make_surrogate
from lawsmith_paper.studies import CATALOGUE

_MODELS = tuple(name for name in SURROGATES if name != "none")
CHOICES = replace(
    replay_options.CHOICES,
    policies=POLICIES,
    surrogates=SURROGATES,
    usual={"frontier": "surface", "random": "none", "cheapest": "none", "vopt": "none"},
    applies_to={
        **dict.fromkeys(("kernel", "priors"), ("gp", "botorch")),
        "scale": tuple(name for name in _MODELS if name != "surface"),  # which models the log
        "acquisition": _MODELS,
    },
    make_policy=make_policy,
    make_surrogate=make_surrogate,
    entries=CATALOGUE,
)


def further(request: RivalRequest) -> dict[str, Any]:
    """The options of the rivals' surrogates: the seed of those that draw, TabPFN's weights."""
    policy, path = request.policy, request.model_path
    surrogate = request.surrogate or CHOICES.usual.get(policy, "gp")
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
    found = {"seed": request.seed} if surrogate in ("xgboost", "tabpfn") else {}
    return found | ({"model_path": str(path)} if path is not None else {})
