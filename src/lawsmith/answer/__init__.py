"""The answer of a study: the best loss to expect at a target, and which N, D and λ gets it.

found = answer(study.grid, study.runs, [Target(1e25)])
found.forecasts[0].loss, found.forecasts[0].low, found.forecasts[0].high
"""

from __future__ import annotations

from lawsmith.answer.make import LEAST_RUNS as LEAST_RUNS
from lawsmith.answer.make import answer as answer
from lawsmith.answer.make import default_target as default_target
from lawsmith.answer.records import Answer as Answer
from lawsmith.answer.records import Forecast as Forecast
from lawsmith.answer.records import HeldOutRuns as HeldOutRuns
from lawsmith.answer.records import Origin as Origin
from lawsmith.answer.records import Target as Target
from lawsmith.answer.records import target_of as target_of
