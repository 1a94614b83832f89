"""What a suite is made of: figures of labelled lines, each line one replay under many seeds.

A suite without figures, such as a race, brings its jobs itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lawsmith import datasets
from lawsmith.bench.jobs import Job, data_digest
from lawsmith.bench.replays import study_named, task_of
from lawsmith.laws.catalogue import get_law
from lawsmith.replay.curves import FitName
from lawsmith.replay.task import default_hold_out

# The paper's five studies, in the order of its tables.
STUDIES = ("oellm-english", "porian-hp", "steplaw", "warmstart", "oellm-multilingual")

# Rough seconds of a step by surrogate, for the time left; the real pace corrects them.
_SECONDS = {"gp": 0.006, "none": 0.003, "xgboost": 0.12, "botorch": 0.4, "tabpfn": 2.0}
_LAW_SECONDS = 0.02  # more, where the law has several inputs


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
    more    jobs that no figure has
    """

    name: str
    title: str
    about: str
    figures: tuple[Figure, ...] = ()
    more: tuple[Job, ...] = ()

    @property
    def jobs(self) -> list[Job]:
        """Each job once, those of the figures first."""
        drawn = [job for figure in self.figures for job in figure.jobs]
        return list(dict.fromkeys([*drawn, *self.more]))


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
    settings = {**settings_of(study, law, method), "iterations": options.iterations}
    digest = data_digest(study_named(study))
    weight = _weight(settings, len(get_law(law).inputs))
    for seed in range(options.seeds):
        yield Job("replay", {**settings, "seed": seed}, digest, weight)


def settings_of(study: str, law: str, method: Method) -> dict[str, Any]:
    """What a replay of ``method`` is told, but for its end and its seed."""
    known, form = datasets.entry(study), get_law(law)
    hold_out = str(default_hold_out(form))
    if "N" not in form.inputs and known.hold_out is not None:
        hold_out = str(known.hold_out)
    reach = method.reach if method.reach is not None else known.reach
    return {
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
    }


def _weight(settings: dict[str, Any], n_inputs: int) -> float:
    """Rough seconds of a replay."""
    n, surrogate = len(task_of(settings).pool), settings["surrogate"]
    steps = min(n, settings["iterations"] or n)
    # A Gaussian process's steps cost more the more was observed; the others' about the same.
    growth = 1.0 + 1.5 * (steps / 1000.0) ** 2 if surrogate == "gp" else 1.0
    pace = growth * _SECONDS.get(surrogate, 1.0) + (_LAW_SECONDS if n_inputs > 1 else 0.0)
    return steps * pace
