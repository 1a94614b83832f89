"""A study and options to an Analysis: all that the command line, charts and reports show of a fit.

analysis = analyse(load("oellm-english"), FitOptions(law=get_law("LC"), targets=(Target(1e25),)))
"""

from __future__ import annotations

from lawsmith.analysis.compare import compare_laws, held_out_score
from lawsmith.analysis.fitting import analyse
from lawsmith.analysis.hyperparameters import hyperparameter_laws
from lawsmith.analysis.isoflop import isoflop_cells
from lawsmith.analysis.predict import influence_target
from lawsmith.analysis.records import (
    Analysis,
    Comparison,
    FitOptions,
    HeldOutScore,
    HyperparameterLaw,
    Prediction,
    Target,
)

__all__ = [
    "Analysis",
    "Comparison",
    "FitOptions",
    "HeldOutScore",
    "HyperparameterLaw",
    "Prediction",
    "Target",
    "analyse",
    "compare_laws",
    "held_out_score",
    "hyperparameter_laws",
    "influence_target",
    "isoflop_cells",
]
