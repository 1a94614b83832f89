"""A surrogate shaped like a scaling study: a law in N and D, bowls in λ, and a small residual."""

from __future__ import annotations

from lawsmith.surrogates.trend.model import TrendGP

__all__ = ["TrendGP"]
