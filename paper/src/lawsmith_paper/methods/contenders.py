"""Who is compared: the frontier policy, the same with each of its parts off, and its rivals.

A line here is a method. An ablation says which fields of the policy or of its surrogate differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lawsmith.policies import Method
from lawsmith_paper.curves import FitName
from lawsmith_paper.plan import MAIN, setting

Role = Literal["ours", "ablation", "rival"]

OURS, PAPER = "frontier", "window-lcb"  # who is to be better than whom
ENDLESS = 1e12  # a horizon as good as infinite, which JSON has no number for


@dataclass(frozen=True)
class Contender:
    """One method, and which of its laws is judged.

    name       in settings and results
    fit        'fantasized': the law of the mixed grid; 'observed': of the runs alone, for a method
               without a surrogate
    policy, surrogate   fields that differ from the defaults
    trial      the name of the contender whose replays it shares; '' for its own
    """

    name: str
    label: str
    role: Role
    method: Method
    fit: FitName = "fantasized"
    policy: Mapping[str, Any] = field(default_factory=dict)
    surrogate: Mapping[str, Any] = field(default_factory=dict)
    trial: str = ""

    @property
    def trial_name(self) -> str:
        return self.trial or self.name


_FRONTIER = Method()
_MATERN = Method(surrogate="gp", kernel="matern", priors="free", scale="log")
_NONE = setting(policy="full", surrogate="none")

_ABLATIONS = (
    Contender(
        "frontier-observed", "law of the runs alone", "ablation", _FRONTIER, "observed", trial=OURS
    ),
    Contender(
        "frontier-no-answer",
        "without the answer's gain",
        "ablation",
        replace(_FRONTIER, n_init=1),  # nothing else could choose a first run
        policy={"values": ("envelope",)},
    ),
    Contender(
        "frontier-no-envelope",
        "without the envelope",
        "ablation",
        _FRONTIER,
        policy={"values": ("answer",)},
    ),
    Contender(
        "frontier-no-horizon",
        "per FLOP, whatever is left",
        "ablation",
        _FRONTIER,
        policy={"horizon": ENDLESS},
    ),
    Contender("frontier-gp", "Matérn GP of log loss, no surface", "ablation", _MATERN),
)
_RIVALS = (
    Contender(PAPER, "Window, LCB (paper)", "rival", MAIN),
    Contender("window-ei", "Window, EI (paper)", "rival", setting(acquisition="ei")),
    Contender("full-lcb", "Full, LCB", "rival", setting(policy="full")),
    Contender("full-ei", "Full, EI", "rival", setting(policy="full", acquisition="ei")),
    Contender(
        "full-ei-per-flop",
        "Full, EI per FLOP",
        "rival",
        setting(policy="full", acquisition="ei"),
        policy={"cost_exponent": 1.0},
    ),
    Contender("random", "random", "rival", _NONE, "observed"),
    Contender("cheapest", "cheapest first", "rival", replace(_NONE, policy="cheapest"), "observed"),
    Contender("vopt", "V-optimality", "rival", replace(_NONE, policy="vopt"), "observed"),
)


CONTENDERS = (
    Contender(OURS, "frontier", "ours", _FRONTIER),
    *_ABLATIONS,
    *_RIVALS,
)


def of_role(role: Role) -> tuple[Contender, ...]:
    """Ours and the contenders of that role: what is ranked together."""
    return tuple(c for c in CONTENDERS if c.role in ("ours", role))
