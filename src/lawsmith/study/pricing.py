"""The pricing of a study file: whether its runs share trunks."""

from __future__ import annotations

from lawsmith.costs import Apart, Pricing, Trunks
from lawsmith.spec.models import CostSpec


def make_pricing(spec: CostSpec) -> Pricing:
    """The pricing of a study file."""
    return Trunks(spec.decay) if spec.trunk else Apart()
