"""What a suite is made of: figures of labelled lines, each line one replay under many seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lawsmith import datasets
from lawsmith.bench.jobs import Job, data_digest
from lawsmith.bench.kinds import study_named, task_of
from lawsmith.laws.catalogue import get_law
from lawsmith.replay.curves import FitName
from lawsmith.replay.task import default_hold_out

# The paper's five studies, in the order of its tables.
STUDIES = ("oellm-english", "porian-hp", "steplaw", "warmstart", "oellm-multilingual")

# Rough seconds of a step by surrogate, for the time left; the real pace corrects them.
_SECONDS = {"gp": 0.006, "none": 0.003, "xgboost": 0.25, "botorch": 1.5, "tabpfn": 2.0}


@dataclass(frozen=True)
class Options:
    """What a user chooses: how many seeds, and where replays end (None: when the pool does)."""

    seeds: int = 10
    iterations: int | None = None


@dataclass(frozen=True)
class Figure:
    """One recovery chart: a study, a law, and labelled lines.

    name    of its files
    lines   label → the replays, one a seed
    fits    which of the two fits are drawn
    value   'current' or 'incumbent' regrets
    """

    name: str
    title: str
    study: str
    law: str
    lines: Mapping[str, tuple[Job, ...]]
    fits: tuple[FitName, ...] = ("observed", "fantasized")
    value: Literal["current", "incumbent"] = "current"

    @property
    def jobs(self) -> list[Job]:
        return [job for group in self.lines.values() for job in group]


@dataclass(frozen=True)
class Suite:
    """One table or figure of the paper, and what it takes.

    about   a paragraph: what is shown, with which settings
    """

    name: str
    title: str
    about: str
    figures: tuple[Figure, ...] = ()

    @property
    def jobs(self) -> list[Job]:
        return list(dict.fromkeys(job for figure in self.figures for job in figure.jobs))


def source(study: str) -> str:
    """``study`` where its table is at hand, else its synthetic twin."""
    return study if datasets.present(datasets.entry(study)) else f"synthetic-{study}"


@dataclass(frozen=True)
class Method:
    """How runs are chosen; the defaults are the paper's main setting."""

    space: str = "window"
    surrogate: str = "gp"
    acquisition: str = "lcb"
    kernel: str = "matern"
    reach: float | None = None  # None: the study's own
    priors: str = "lognormal"
    scale: str = "loss"
    kappa: float = 2.0
    n_init: int = 10


def line(study: str, law: str, method: Method, options: Options) -> tuple[Job, ...]:
    """The replays of ``method`` on a study, one a seed."""
    return tuple(_jobs(study, law, method, options))


def _jobs(study: str, law: str, method: Method, options: Options) -> Iterator[Job]:
    known, form = datasets.entry(study), get_law(law)
    hold_out = str(default_hold_out(form))
    if "N" not in form.inputs and known.hold_out is not None:
        hold_out = str(known.hold_out)
    reach = method.reach if method.reach is not None else known.reach
    settings: dict[str, Any] = {
        "study": study,
        "law": law,
        "hold_out": hold_out,
        "force": set(form.inputs) == {"N", "D"},  # Porian-HP's D follows N; the paper fits it
        "space": method.space,
        "reach": reach if method.space != "full" else None,
        "surrogate": method.surrogate,
        "kernel": method.kernel,
        "priors": method.priors,
        "scale": method.scale,
        "acquisition": method.acquisition if method.surrogate != "none" else "lcb",
        "kappa": method.kappa,
        "n_init": method.n_init,
        "iterations": options.iterations,
    }
    digest = data_digest(study_named(study))
    n = len(task_of(settings).pool)
    steps = min(n, options.iterations or n)
    pace = _SECONDS.get(method.surrogate, 1.0)
    # A Gaussian process's steps cost more the more was observed; the others' about the same.
    weight = steps * pace * (1.0 + (steps / 1000.0) ** 2 if method.surrogate == "gp" else 1.0)
    for seed in range(options.seeds):
        yield Job("replay", {**settings, "seed": seed}, digest, weight)
