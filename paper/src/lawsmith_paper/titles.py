"""What the titles of a replay's charts and tables say: its study, its law, its pool."""

from __future__ import annotations

from lawsmith.charts.text import unbroken
from lawsmith.datasets.records import short_name
from lawsmith.formats import flops
from lawsmith.replay import Task


def task_name(task: Task) -> str:
    """The study of a task in a title."""
    return short_name(task.study.name, synthetic=task.study.synthetic)


def task_heading(what: str, task: Task) -> str:
    """'Recovery of the law: oellm-english, L(C) = E + A·C^α'."""
    return f"{what}: {task_name(task)}, {unbroken(task.law.formula)}"


def pool_text(task: Task) -> str:
    """'pool of 879 runs, 1.83e23 FLOPs'."""
    return f"pool of {len(task.pool)} runs, {flops(task.total_compute)} FLOPs"
