"""ScaleBench: its tasks as user tables with laws of our choice, our policies, its figures beside.

for settings in jobs(seeds=range(10)):
    for line in lines(settings, []):
        print(line["task"], line["policy"], line["budget"], line["r2"], line["published"])
"""

from __future__ import annotations

from lawsmith_paper.scalebench.run import jobs, lines, n_lines, summary_table
from lawsmith_paper.scalebench.search import whole_pool
from lawsmith_paper.scalebench.tasks import TASKS, ScaleTask, get_task

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
