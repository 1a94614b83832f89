"""Task accuracies at a target, predicted from smaller runs: by way of a loss, and from scale.

task = Task("acc:arc_easy", chance=0.25, questions=2376)
found = answer_task(ScoredRuns("study", grid, runs, accuracy, via="c4"), task, [Target(C, N, D)])
found.forecasts[0].value, found.forecasts[0].low, found.forecasts[0].high
"""

from __future__ import annotations

from lawsmith.tasks.curve import Task
from lawsmith.tasks.make import ScoredRuns, answer_task
from lawsmith.tasks.records import TaskAnswer, TaskForecast
