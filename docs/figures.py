"""Make the figures of the README and the docs, and the README's answer, so that they stay true.

python docs/figures.py                     # the README: tinylm comes with lawsmith
LAWSMITH_DATA=… python docs/figures.py     # all of them, from the published tables
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import lawsmith
from lawsmith import HeldOut, Target, charts, get_law, load
from lawsmith.analysis import FitOptions, analyse, answer_study
from lawsmith.charts.answer import answer_with_runs

FIGURES = Path(__file__).parent / "figures"


README = Path(__file__).parents[1] / "README.md"
COMMAND = ("fit", "tinylm", "--target", "1e16")


def printed() -> str:
    """The answer as the README's command prints it, without the law below it."""
    command = [sys.executable, "-m", "lawsmith", *COMMAND]
    narrow = {**os.environ, "COLUMNS": "80"}
    told = subprocess.run(command, env=narrow, capture_output=True, text=True, check=True).stdout
    return told[told.index("Answer, from") : told.index("\nLaw: ")].strip()


def readme() -> None:
    """The answer and the figure of the README."""
    block = f"<!-- made: fit -->\n\n```text\n{printed()}\n```\n\n<!-- end -->"
    text = README.read_text(encoding="utf-8")
    made = re.sub(r"<!-- made: fit -->.*?<!-- end -->", lambda _: block, text, flags=re.DOTALL)
    README.write_text(made, encoding="utf-8")
    found = lawsmith.fit("tinylm", targets=1e16)
    charts.write(charts.answer(found), FIGURES, "tinylm-answer", formats=("png",))


def main() -> None:
    readme()
    if "LAWSMITH_DATA" not in os.environ:
        return
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
    answered = answer_with_runs(found, study)
    for name, chart in {
        "answer": charts.answer(answered),
        "law": charts.law(compute),
        "curves": charts.curves(size),
        "allocation": charts.allocation(answered),
        "residuals": charts.residuals(size),
        "hyperparameters": charts.hyperparameters(answered),
    }.items():
        charts.write(chart, FIGURES, name, formats=("png",))


if __name__ == "__main__":
    main()
