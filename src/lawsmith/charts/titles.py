"""Titles of charts: the study and the law, then points, compute spent and objective."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis import Analysis
from lawsmith.charts.text import unbroken
from lawsmith.datasets.records import Study, study_name
from lawsmith.formats import flops, scientific
from lawsmith.grid import HeldOut
from lawsmith.laws.objective import Objective

EVERY = "every run"


def heading(what: str, analysis: Analysis) -> str:
    """'Loss against compute: oellm-english, L(C) = E + A·C^α'."""
    return f"{what}: {study_name(analysis.study)}, {unbroken(analysis.law.formula)}"


def basis(analysis: Analysis) -> str:
    """What a law is fitted to: runs, points and compute of the pool, hold-out, objective."""
    study = analysis.study
    in_pool = np.isin(study.runs.index, analysis.pool)
    n_runs, n_points = int(in_pool.sum()), analysis.fit.n_points
    point = point_name(analysis)
    points = "all fitted" if point == EVERY else f"{n_points} fitted: the {point}"
    spent = float(study.grid.C[study.runs.index[in_pool]].sum())
    parts = [f"{n_runs} runs, {points}", f"{flops(spent)} FLOPs"]
    if analysis.options.hold_out is not None:
        parts.append(held_out_text(analysis.options.hold_out, study))
    parts.append(objective_text(analysis.fit.objective))
    return " · ".join(parts)


def point_name(analysis: Analysis) -> str:
    """What the fitted points are; the frontier depends on the law's inputs."""
    inputs = analysis.law.inputs
    if analysis.fit.n_points == np.isfinite(analysis.loss[analysis.pool]).sum():
        return EVERY
    if inputs == ("C",):
        return "frontier"
    return (
        f"best of each {inputs[0]}" if len(inputs) == 1 else f"best of each ({', '.join(inputs)})"
    )


def held_out_text(hold_out: HeldOut, study: Study) -> str:
    if hold_out.kind == "compute":
        return f"held out: C ≥ {flops(hold_out.threshold(study.grid))}"
    return f"held out: largest {hold_out.name}"


def objective_text(objective: Objective) -> str:
    on = "log loss" if objective.on == "log" else "loss"
    if objective.name == "huber":
        return f"Huber δ = {scientific(objective.delta)} on {on}"
    if objective.name == "one-sided":
        return f"one-sided Huber on {on}"
    return f"MAE on {on}" if objective.name == "mae" else f"least squares on {on}"
