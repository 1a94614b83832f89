"""Losses along runs: predictions from trunks and unfinished runs.

model = fit_curves(along, grid, runs, wanted=[7e9], level=0.95)
model.trunks.end(0, 140e9, 0.95)      # the loss of a decay from trunk 0 that ends at 140B tokens
"""

from __future__ import annotations

from lawsmith.curves.model import CurveModel, fit_curves
from lawsmith.curves.records import Along, CurveFinding, End
