"""ScaleBench: its tasks as user tables with laws of our choice, our policies, its figures beside.

for settings in jobs(seeds=range(10)):
    for line in lines(settings, []):
        print(line["task"], line["policy"], line["budget"], line["r2"], line["published"])
"""

from __future__ import annotations

from lawsmith.bench.scalebench.run import jobs, lines, n_lines, summary_table
from lawsmith.bench.scalebench.search import whole_pool
from lawsmith.bench.scalebench.tasks import TASKS, ScaleTask, get_task

__all__ = [
    "TASKS",
    "ScaleTask",
    "get_task",
    "jobs",
    "lines",
    "n_lines",
    "summary_table",
    "whole_pool",
]
