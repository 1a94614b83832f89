"""The answer of a study: the best loss to expect at a target, and the N, D and λ that reach it.

found = answer(study.grid, study.runs, [Target(1e25)])
found.forecasts[0].loss, found.forecasts[0].low, found.forecasts[0].high
"""

from __future__ import annotations

from lawsmith.answer.make import LEAST_RUNS, answer, default_target
from lawsmith.answer.records import Answer, Forecast, HeldOutRuns, Origin, Target, target_of
