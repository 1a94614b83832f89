"""From a study and options to an Analysis: what the command line, charts and reports show of a law.

analysis = analyse(load("oellm-english"), FitOptions(law=get_law("LC"), targets=(Target(1e25),)))
"""

from __future__ import annotations

from lawsmith.analysis.along import with_curves
from lawsmith.analysis.analyse import analyse, influence_target, isoflop_cells
from lawsmith.analysis.answering import (
    Moved,
    answer_losses,
    answer_study,
    answer_tasks,
    learn,
    moved,
    other_n,
    reading_of,
    recounted,
)
from lawsmith.analysis.compare import (
    Comparisons,
    compare_laws,
    laws_for,
    rolling_cuts,
    surface_on_cuts,
)
from lawsmith.analysis.records import Analysis, Comparison, Cut, FitOptions, Prediction
from lawsmith.answer.records import Target
