"""Make the figures of the README and the docs from the published tables, so that they stay true.

LAWSMITH_DATA=… python docs/figures.py
"""

from __future__ import annotations

from pathlib import Path

from lawsmith import FitOptions, HeldOut, Target, analyse, charts, get_law, load

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
    for name, chart in {
        "law": charts.law(compute),
        "curves": charts.curves(size),
        "allocation": charts.allocation(size),
        "residuals": charts.residuals(size),
        "hyperparameters": charts.hyperparameters(size),
    }.items():
        charts.write(chart, FIGURES, name, formats=("png",))


if __name__ == "__main__":
    main()
