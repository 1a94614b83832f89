"""What a suite is made of: figures of labelled lines, each line one replay under many seeds.

A suite without figures, such as a race, brings its jobs itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from lawsmith import datasets
from lawsmith.laws.catalogue import get_law
from lawsmith.policies import Method
from lawsmith.replay.task import default_hold_out
from lawsmith_paper.curves import FitName
from lawsmith_paper.jobs import Job, data_digest
from lawsmith_paper.replays import n_replay_lines, study_named, task_of
from lawsmith_paper.studies import entry

# The paper's five studies, in the order of its tables.
STUDIES = ("oellm-english", "porian-hp", "steplaw", "warmstart", "oellm-multilingual")

# Rough seconds of a step by surrogate, for the time left; the real pace corrects them.
_SECONDS = {"gp": 0.006, "none": 0.003, "xgboost": 0.12, "botorch": 0.4, "tabpfn": 2.0}
NEXT_LEVEL = 1.0  # the reach of a window where neither method nor study says one
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
    return study if datasets.present(entry(study)) else f"synthetic-{study}"


# The paper's main setting; its reach is that of each study.
MAIN = Method(
    policy="window",
    surrogate="gp",
    kernel="matern",
    priors="free",
    scale="loss",
    acquisition="lcb",
    kappa=2.0,
    slice_by="C",
    n_init=10,
)


def setting(**changes: Any) -> Method:
    """The paper's main setting, with ``changes``."""
    return replace(MAIN, **changes)


def line(
    study: str,
    law: str,
    method: Method,
    options: Options,
    *,
    budget: float | None = None,
    fantasies: str = "alike",
) -> tuple[Job, ...]:
    """The replays of ``method`` on a study, one a seed, up to a share of the pool's compute.

    fantasies   what fantasized points count in the fit of a law, a key of `replays.WEIGHTS`
    """
    settings = {
        **settings_of(study, law, method),
        "fantasies": fantasies,
        "iterations": options.iterations,
        "budget": budget,
    }
    return tuple(_jobs(study, settings, options))


def _jobs(study: str, settings: dict[str, Any], options: Options) -> Iterator[Job]:
    digest = data_digest(study_named(study))
    weight = _weight(settings, len(get_law(settings["law"]).inputs))
    for seed in range(options.seeds):
        yield Job("replay", {**settings, "seed": seed}, digest, weight)


def settings_of(study: str, law: str, method: Method) -> dict[str, Any]:
    """What a replay of ``method`` is told, but for its end and its seed."""
    known, form = entry(study), get_law(law)
    hold_out = str(default_hold_out(form))
    if "N" not in form.inputs and known.hold_out is not None:
        hold_out = str(known.hold_out)
    reach = method.reach or known.reach or NEXT_LEVEL
    return {
        "study": study,
        "law": law,
        "hold_out": hold_out,
        "force": set(form.inputs) == {"N", "D"},  # Porian-HP's D follows N; the paper fits it
        "space": method.policy,
        "reach": reach if method.policy != "full" else None,
        "surrogate": method.surrogate,
        "kernel": method.kernel,
        "priors": method.priors,
        "scale": method.scale,
        "acquisition": method.acquisition if method.surrogate != "none" else "lcb",
        "kappa": method.kappa,
        "n_init": method.n_first,
        "slice_by": method.slice_by or "C",
    }


def _weight(settings: dict[str, Any], n_inputs: int) -> float:
    """Rough seconds of a replay."""
    n, surrogate = len(task_of(settings).pool), settings["surrogate"]
    steps = min(n_replay_lines(settings), n)
    # A Gaussian process's steps cost more the more was observed; the others' about the same.
    growth = 1.0 + 1.5 * (steps / 1000.0) ** 2 if surrogate == "gp" else 1.0
    pace = growth * _SECONDS.get(surrogate, 1.0) + (_LAW_SECONDS if n_inputs > 1 else 0.0)
    return steps * pace
