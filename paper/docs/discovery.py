"""Tell one replay step by step for paper/docs/discovery.md: figures, and words between marks.

LAWSMITH_DATA=… python paper/docs/discovery.py      # PAGE.html as an argument writes the page too
"""

from __future__ import annotations

import sys
from pathlib import Path

from lawsmith import get_law, load
from lawsmith.charts import write
from lawsmith.charts.draw import title
from lawsmith.charts.theme import LIGHT, themed
from lawsmith.formats import flops, percent
from lawsmith.policies import Frontier, InitialDesign
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.surrogates import make_surrogate
from lawsmith_paper.charts.data.discovery import DiscoveryData, discovery_data
from lawsmith_paper.charts.data.reasons import (
    answer_words,
    choice_words,
    configuration,
    outcome_words,
)
from lawsmith_paper.charts.discovery import figure, frame_words, rows_of, write_discovery
from lawsmith_paper.charts.draw.discovery import path

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures" / "discovery"
STUDY, TARGET, BUDGET, SEED = "oellm-english", 1e25, 0.1, 0
BEGIN, END = "<!-- told by paper/docs/discovery.py -->", "<!-- end -->"
FILES = {"start": "start", "1 %": "1", "2 %": "2"}
FILES |= {"5 %": "5", "10 %": "10"}
PLACES = (11, 12, 13, 14, 20, 37, 53, 54, 56)  # runs told in the page's table


def discover() -> DiscoveryData:
    """`lawsmith replay oellm-english --target 1e25 --budget 10%`, told."""
    task = prepare(load(STUDY), get_law("LC"), targets=[TARGET])
    budget = BUDGET * task.total_compute

    def policy() -> Frontier:
        return Frontier(make_surrogate("surface"), InitialDesign(0), TARGET)

    trace = run_replay(task, policy(), seed=SEED, stop=Stop(budget=budget))
    return discovery_data(trace, policy(), budget=budget)


def draw(data: DiscoveryData) -> None:
    """A figure for each moment, and the path of the answer."""
    looks = data.looks()
    for look, name in FILES.items():
        write(figure(data, data.frames[looks[look]]), FIGURES, name, formats=("png",))
    chart = path(data)
    chart.title = title(f"The loss predicted at {flops(TARGET)} FLOPs", [], pixels=700)
    chart.datasets = {"now": rows_of(data.path.iloc[-1:])}
    write(themed(chart, LIGHT), FIGURES, "path", formats=("png",))


def words(data: DiscoveryData) -> str:
    """The moments with their figures, and some runs with their reasons."""
    parts = []
    looks = data.looks()
    for look, name in FILES.items():
        told = frame_words(data, data.frames[looks[look]])
        text = " ".join(part for part in (told["next"], told["why"], told["came"]) if part)
        image = f"![{told['head']}](figures/discovery/{name}.png)"
        parts.append(f"### {told['head']}\n\n{image}\n\n{text}")
    rows = ["| run | what | spent | why, and what came of it |", "|---|---|---|---|"]
    for n in PLACES:
        reason, step = data.reasons[n - 1], data.trace.steps[n - 1]
        told_of = " ".join(
            (choice_words(reason, TARGET), outcome_words(reason), answer_words(reason, TARGET))
        )
        spent = percent(step.cost_fraction, 2)
        rows.append(f"| {n} | {configuration(reason.config)} | {spent} | {told_of} |")
    return "\n\n".join([*parts, "\n".join(rows)])


def main() -> None:
    data = discover()
    draw(data)
    page = DOCS / "discovery.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{words(data)}\n\n{END}{after}", encoding="utf-8")
    for name in sys.argv[1:]:
        write_discovery(data, Path(name))


if __name__ == "__main__":
    main()
