"""Who is compared: the frontier policy, the same with each of its parts off, and its rivals.

A line here is a method. An ablation says which fields of the policy or of its surrogate differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lawsmith.bench.plan import Method
from lawsmith.replay.curves import FitName

Role = Literal["ours", "ablation", "rival"]

OURS, PAPER = "frontier", "window-lcb"  # who is to be better than whom
FAR = 20.0  # a width of the tail, in log loss, beyond any that is finite: none is compressed


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


_FRONTIER = Method(space="frontier", surrogate="trend", acquisition="ei")
_MATERN = replace(_FRONTIER, surrogate="gp", scale="log")
_NONE = Method(space="full", surrogate="none")

_ABLATIONS = (
    Contender(
        "frontier-observed", "law of the runs alone", "ablation", _FRONTIER, "observed", trial=OURS
    ),
    Contender(
        "frontier-no-law-gain",
        "without the law's variance",
        "ablation",
        _FRONTIER,
        policy={"n_draws": 0},
    ),
    Contender("frontier-gp", "Matérn GP of log loss, no trend", "ablation", _MATERN),
    Contender(
        "frontier-no-cost", "not per FLOP", "ablation", _FRONTIER, policy={"cost_exponent": 0.0}
    ),
    Contender(
        "frontier-no-tail", "tail not compressed", "ablation", _FRONTIER, surrogate={"width": FAR}
    ),
)
_RIVALS = (
    Contender(PAPER, "Window, LCB (paper)", "rival", Method()),
    Contender("window-ei", "Window, EI (paper)", "rival", Method(acquisition="ei")),
    Contender("full-lcb", "Full, LCB", "rival", Method(space="full")),
    Contender("full-ei", "Full, EI", "rival", Method(space="full", acquisition="ei")),
    Contender(
        "full-ei-per-flop",
        "Full, EI per FLOP",
        "rival",
        Method(space="full", acquisition="ei"),
        policy={"cost_exponent": 1.0},
    ),
    Contender("random", "random", "rival", _NONE, "observed"),
    Contender("cheapest", "cheapest first", "rival", replace(_NONE, space="cheapest"), "observed"),
    Contender("vopt", "V-optimality", "rival", replace(_NONE, space="vopt"), "observed"),
)


CONTENDERS = (
    Contender(OURS, "frontier", "ours", _FRONTIER),
    *_ABLATIONS,
    *_RIVALS,
)


def of_role(role: Role) -> tuple[Contender, ...]:
    """Ours and the contenders of that role: what is ranked together."""
    return tuple(c for c in CONTENDERS if c.role in ("ours", role))
