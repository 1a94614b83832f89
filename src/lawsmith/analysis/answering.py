"""The answer of a study whose runs are all made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lawsmith.analysis.along import with_curves
from lawsmith.answer import Answer, Origin, Target, answer, default_target
from lawsmith.curves import Along
from lawsmith.datasets.curve_tables import Curves
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.grid import HeldOut
from lawsmith.runs import State
from lawsmith.surface import BROAD, PUBLIC, Lesson, Prior, fit_surface, learn_from_surfaces
from lawsmith.threads import one_thread

LEAST_TO_LEARN = 8  # finished runs of an earlier study


def answer_study(
    study: Study,
    targets: Sequence[float | Target] = (),
    *,
    level: float = 0.95,
    hold_out: HeldOut | None = None,
    prior: Prior = PUBLIC,
    curves: Curves | Along | None = None,
) -> Answer:
    """The best loss to expect at ``targets``, and which N, D and hyperparameters get it.

    targets    computes in FLOPs, or Targets at an N and D; by default half a decade or more above
               the largest run
    hold_out   which runs to keep out and predict instead
    prior      what earlier studies let expect: `learn`
    curves     losses along runs: a table of them, or one joined to the study by `with_curves`; by
               default those that the study comes with
    """
    curves = study.curves if curves is None else curves
    along = curves if isinstance(curves, Along) else None
    if isinstance(curves, Curves):
        study, along = with_curves(study, curves)
    wanted = [t if isinstance(t, Target) else Target(float(t)) for t in targets]
    if not wanted and study.has_compute:
        wanted = [default_target(study.grid, study.runs)]
    held_out = None if hold_out is None else study.grid.split(hold_out)[1]
    found = answer(
        study.grid,
        study.runs,
        wanted,
        study=study.name,
        level=level,
        held_out=held_out,
        prior=prior,
        along=along,
    )
    return replace(found, origin=Origin(study, hold_out, along))


def learn(studies: Sequence[Study], prior: Prior = PUBLIC) -> Prior:
    """A prior for a further study that is like ``studies``, for `answer_study` and `answer`."""
    surfaces = {}
    with one_thread():
        for study in studies:
            n = len(study.runs.of(State.DONE))
            if n < LEAST_TO_LEARN:
                got, want = f"{n} finished runs", f"at least {LEAST_TO_LEARN}"
                raise LawsmithError(f"learn from {study.name}", got=got, want=want)
            surfaces[Lesson(study.name, n)] = fit_surface(study.grid, study.runs, BROAD)
        return learn_from_surfaces(surfaces, prior)
