"""Make the figures of the README and the docs from the published tables, so that they stay true.

LAWSMITH_DATA=… python docs/figures.py
"""

from __future__ import annotations

from pathlib import Path

from lawsmith import FitOptions, HeldOut, Target, analyse, answer_study, charts, get_law, load
from lawsmith.charts.answer import answered_by

FIGURES = Path(__file__).parent / "figures"


def main() -> None:
    study = load("oellm-english")
    compute = analyse(
        study,
        FitOptions(law=get_law("LC"), hold_out=HeldOut.by_compute(0.5), targets=(Target(1e25),)),
    )
    size = analyse(
        study,
        FitOptions(law=get_law("skaling"), hold_out=HeldOut.largest("N"), targets=(Target(1e24),)),
    )
    found = answer_study(study, [3e21, 1e25], hold_out=HeldOut.by_compute(0.9))
    answered = answered_by(found, study)
    for name, chart in {
        "answer": charts.answer(answered),
        "law": charts.law(compute),
        "curves": charts.curves(size),
        "allocation": charts.allocation(answered),
        "residuals": charts.residuals(size),
        "hyperparameters": charts.hyperparameters(size),
    }.items():
        charts.write(chart, FIGURES, name, formats=("png",))


if __name__ == "__main__":
    main()
