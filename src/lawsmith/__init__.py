"""lawsmith: scaling laws with honest uncertainty, found with less compute.

The names below are the public ones; each is imported when first used, so that ``import lawsmith``
(and the command line's ``--help``) stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from lawsmith import charts as charts
    from lawsmith.analysis import Analysis as Analysis
    from lawsmith.analysis import FitOptions as FitOptions
    from lawsmith.analysis import Target as Target
    from lawsmith.analysis import analyse as analyse
    from lawsmith.analysis import answer_study as answer_study
    from lawsmith.analysis import answer_tasks as answer_tasks
    from lawsmith.analysis import compare_laws as compare_laws
    from lawsmith.analysis import learn as learn
    from lawsmith.answer.records import Answer as Answer
    from lawsmith.counting import Arch as Arch
    from lawsmith.counting import count as count
    from lawsmith.datasets import CurveOptions as CurveOptions
    from lawsmith.datasets import ReadOptions as ReadOptions
    from lawsmith.datasets import Study as Study
    from lawsmith.datasets import demo_study as demo_study
    from lawsmith.datasets import load as load
    from lawsmith.datasets import load_curves as load_curves
    from lawsmith.errors import LawsmithError as LawsmithError
    from lawsmith.grid import Grid as Grid
    from lawsmith.grid import HeldOut as HeldOut
    from lawsmith.laws.catalogue import LAWS as LAWS
    from lawsmith.laws.catalogue import get_law as get_law
    from lawsmith.laws.fit import LawFit as LawFit
    from lawsmith.laws.fit import Prior as Prior
    from lawsmith.laws.fit import fit_batch as fit_batch
    from lawsmith.laws.fit import fit_law as fit_law
    from lawsmith.laws.law import Law as Law
    from lawsmith.laws.law import asymptote as asymptote
    from lawsmith.laws.law import coefficient as coefficient
    from lawsmith.laws.law import define as define
    from lawsmith.laws.law import exponent as exponent
    from lawsmith.laws.uncertainty import law_uncertainty as law_uncertainty
    from lawsmith.policies import make_policy as make_policy
    from lawsmith.replay import Stop as Stop
    from lawsmith.replay import prepare as prepare
    from lawsmith.replay import run_replay as run_replay
    from lawsmith.runs import Runs as Runs
    from lawsmith.surrogates import make_surrogate as make_surrogate
    from lawsmith.tasks import Task as Task
    from lawsmith.tasks import TaskAnswer as TaskAnswer

_HOME = {
    "analysis": (
        "Analysis",
        "FitOptions",
        "Target",
        "analyse",
        "answer_study",
        "answer_tasks",
        "compare_laws",
        "learn",
    ),
    "answer.records": ("Answer",),
    "counting": ("Arch", "count"),
    "datasets": ("CurveOptions", "ReadOptions", "Study", "demo_study", "load", "load_curves"),
    "errors": ("LawsmithError",),
    "grid": ("Grid", "HeldOut"),
    "laws.catalogue": ("LAWS", "get_law"),
    "laws.fit": ("LawFit", "Prior", "fit_batch", "fit_law"),
    "laws.law": ("Law", "asymptote", "coefficient", "define", "exponent"),
    "laws.uncertainty": ("law_uncertainty",),
    "policies": ("make_policy",),
    "replay": ("Stop", "prepare", "run_replay"),
    "runs": ("Runs",),
    "surrogates": ("make_surrogate",),
    "tasks": ("Task", "TaskAnswer"),
}
_WHERE = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", "charts", *_WHERE]


def __getattr__(name: str) -> Any:
    if name == "charts":
        return import_module("lawsmith.charts")
    if name not in _WHERE:
        raise AttributeError(f"module 'lawsmith' has no attribute {name!r}")
    return getattr(import_module(f"lawsmith.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
