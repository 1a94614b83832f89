"""The pricing of a study file: whether its runs share trunks."""

from __future__ import annotations

from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.spec import StudySpec


def make_pricing(spec: StudySpec) -> Pricing:
    """The pricing of a study file."""
    if spec.trunks.use:
        return Trunks(spec.trunks.decay)
    return Trunks(spec.cost.decay) if spec.cost.trunk else Apart()
