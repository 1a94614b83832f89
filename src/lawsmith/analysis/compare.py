"""Laws judged on held-out compute: one law's score, and all of them ranked."""

from __future__ import annotations

import numpy as np

from lawsmith.analysis.design import check_design, inputs_at
from lawsmith.analysis.records import Comparison, FitOptions, HeldOutScore
from lawsmith.datasets.records import Study
from lawsmith.errors import LawsmithError
from lawsmith.frontier import frontier
from lawsmith.grid import FloatArray, Grid, HeldOut, IntArray
from lawsmith.laws.catalogue import LAWS
from lawsmith.laws.fit import LawFit, fit_law
from lawsmith.laws.law import Law


def held_out_score(grid: Grid, held: IntArray, loss: FloatArray, fit: LawFit) -> HeldOutScore:
    """The law's predictions on Π(held-out)."""
    rows = held[frontier(grid.subset(held), loss[held], fit.law.inputs)]
    if len(rows) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    return HeldOutScore(rows, loss[rows], fit.predict(inputs_at(grid, fit.law, rows)))


def compare_laws(
    study: Study, options: FitOptions, laws: tuple[Law, ...] = tuple(LAWS.values())
) -> tuple[Comparison, ...]:
    """Fit every law to the pool and judge all on the held-out compute–loss frontier, best first."""
    hold_out = options.hold_out or HeldOut.by_compute(0.5)
    grid = study.grid
    loss = study.runs.config_loss(len(grid))
    pool, held = grid.split(hold_out)
    judged = held[frontier(grid.subset(held), loss[held], ("C",))]
    if len(judged) == 0:
        raise LawsmithError("hold-out", got="no finished run held out", want="at least one")
    found = []
    for law in laws:
        try:
            rows = pool[frontier(grid.subset(pool), loss[pool], law.inputs)]
            check_design(study, law, rows, force=options.force)
            fit = fit_law(
                law,
                inputs_at(grid, law, rows),
                loss[rows],
                objective=options.objective,
                fixed={k: v for k, v in options.fixed.items() if k in law.names},
                priors={k: v for k, v in options.priors.items() if k in law.names},
            )
            predicted = fit.predict(inputs_at(grid, law, judged))
        except LawsmithError as error:
            found.append(Comparison(law, None, None, str(error)))
            continue
        found.append(Comparison(law, fit, HeldOutScore(judged, loss[judged], predicted)))
    return tuple(sorted(found, key=lambda c: c.score.rmse if c.score else np.inf))
