"""A study and options to an Analysis: all that the command line, charts and reports show of a fit.

analysis = analyse(load("oellm-english"), FitOptions(law=get_law("LC"), targets=(Target(1e25),)))
"""

from __future__ import annotations

from lawsmith.analysis.along import with_curves as with_curves
from lawsmith.analysis.analyse import analyse as analyse
from lawsmith.analysis.analyse import influence_target as influence_target
from lawsmith.analysis.analyse import isoflop_cells as isoflop_cells
from lawsmith.analysis.answering import answer_losses as answer_losses
from lawsmith.analysis.answering import answer_study as answer_study
from lawsmith.analysis.answering import answer_tasks as answer_tasks
from lawsmith.analysis.answering import learn as learn
from lawsmith.analysis.answering import reading_of as reading_of
from lawsmith.analysis.compare import Comparisons as Comparisons
from lawsmith.analysis.compare import compare_laws as compare_laws
from lawsmith.analysis.compare import laws_for as laws_for
from lawsmith.analysis.compare import rolling_cuts as rolling_cuts
from lawsmith.analysis.compare import surface_on_cuts as surface_on_cuts
from lawsmith.analysis.conventions import Moved as Moved
from lawsmith.analysis.conventions import moved as moved
from lawsmith.analysis.conventions import other_n as other_n
from lawsmith.analysis.conventions import recounted as recounted
from lawsmith.analysis.records import Analysis as Analysis
from lawsmith.analysis.records import Comparison as Comparison
from lawsmith.analysis.records import Cut as Cut
from lawsmith.analysis.records import FitOptions as FitOptions
from lawsmith.analysis.records import Prediction as Prediction
from lawsmith.answer.records import Target as Target
