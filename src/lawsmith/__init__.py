"""lawsmith: the best loss to expect at a larger compute, with intervals that hold.

>>> import lawsmith
>>> lawsmith.fit("tinylm", targets=1e16)
Answer of tinylm, from 1739 runs, up to 1.69e15 FLOPs
  1.18... at 1e16 FLOPs, 95% interval [1.16..., 1.2...]
  Firm: ...

The names below are the public ones, and they are all of them: everything else may change without
notice. Each is imported when it is first used, so that ``import lawsmith`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from lawsmith import charts as charts
    from lawsmith.analysis import Analysis as Analysis
    from lawsmith.analysis import Comparisons as Comparisons
    from lawsmith.analysis import Prediction as Prediction
    from lawsmith.answer.records import Answer as Answer
    from lawsmith.answer.records import Forecast as Forecast
    from lawsmith.answer.records import Target as Target
    from lawsmith.api.functions import analyse as analyse
    from lawsmith.api.functions import compare_laws as compare_laws
    from lawsmith.api.functions import fit as fit
    from lawsmith.api.functions import fit_losses as fit_losses
    from lawsmith.api.functions import fit_tasks as fit_tasks
    from lawsmith.api.functions import replay_study as replay_study
    from lawsmith.api.reading import learn as learn
    from lawsmith.api.reading import load as load
    from lawsmith.api.reading import load_curves as load_curves
    from lawsmith.api.reporting import write_report as write_report
    from lawsmith.counting import Arch as Arch
    from lawsmith.counting import count as count
    from lawsmith.datasets import CurveOptions as CurveOptions
    from lawsmith.datasets import ReadOptions as ReadOptions
    from lawsmith.datasets import Study as Study
    from lawsmith.errors import LawsmithError as LawsmithError
    from lawsmith.grid import Grid as Grid
    from lawsmith.grid import HeldOut as HeldOut
    from lawsmith.laws.catalogue import LAWS as LAWS
    from lawsmith.laws.catalogue import get_law as get_law
    from lawsmith.laws.fit import LawFit as LawFit
    from lawsmith.laws.fit import fit_law as fit_law
    from lawsmith.laws.law import Law as Law
    from lawsmith.laws.law import asymptote as asymptote
    from lawsmith.laws.law import coefficient as coefficient
    from lawsmith.laws.law import define as define
    from lawsmith.laws.law import exponent as exponent
    from lawsmith.policies import make_policy as make_policy
    from lawsmith.replay import Replayed as Replayed
    from lawsmith.runs import Runs as Runs
    from lawsmith.surrogates import make_surrogate as make_surrogate
    from lawsmith.tasks import Task as Task
    from lawsmith.tasks import TaskAnswer as TaskAnswer

_HOME = {
    "api.functions": (
        *("fit", "fit_losses", "fit_tasks", "analyse", "compare_laws"),
        "replay_study",
    ),
    "api.reporting": ("write_report",),
    "api.reading": ("load", "load_curves", "learn"),
    "answer.records": ("Answer", "Forecast", "Target"),
    "analysis": ("Analysis", "Comparisons", "Prediction"),
    "datasets": ("CurveOptions", "ReadOptions", "Study"),
    "replay": ("Replayed",),
    "tasks": ("Task", "TaskAnswer"),
    "laws.catalogue": ("LAWS", "get_law"),
    "laws.fit": ("LawFit", "fit_law"),
    "laws.law": ("Law", "asymptote", "coefficient", "define", "exponent"),
    "grid": ("Grid", "HeldOut"),
    "runs": ("Runs",),
    "policies": ("make_policy",),
    "surrogates": ("make_surrogate",),
    "counting": ("Arch", "count"),
    "errors": ("LawsmithError",),
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
