"""How well accuracies of tasks are predicted beyond the data: Gadre's models, Pythia's checkpoints.

    python benchmarks/tasks.py --out out.json                        # resumes from out.json
    python benchmarks/tasks.py --out out.json --page docs/tasks.md   # and writes the page's tables
    python benchmarks/tasks.py --cases gadre-c4 --tasks arc_easy piqa

For each case the smaller models are fitted and the larger ones predicted, task by task. Methods:

    both         lawsmith: by way of the loss and from scale alone, weighed
    scale        lawsmith from scale alone (no --via)
    unknown      both, with neither --chance nor --questions
    sigmoid      point fits: L(N, D) of Chinchilla, then a sigmoid of the loss (as OLMo's ladder);
                 its interval is ±1.96 SD of the residuals of the second step
    exponential  the same with error = a − b·exp(−c·L) (as Gadre et al.)

Errors and half-widths are in points of accuracy. The interval score is the width plus 40 times the
miss. "Average" is that of all tasks of a case at a target: the average of their predictions, and
predicted as one task from the runs' averages, whose interval it is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import OptimizeWarning, curve_fit
from scipy.special import expit

from lawsmith.analysis import answer_tasks
from lawsmith.answer import Target
from lawsmith.arrays import FloatArray
from lawsmith.datasets import ReadOptions, Study, load
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.tasks import Task

Record = dict[str, Any]
LEVEL, Z = 0.95, 1.96
OURS = ("both", "scale", "unknown")
POINT = ("sigmoid", "exponential")
METHODS = (*OURS, *POINT)

# Chance and number of questions, as the authors list them.
GADRE = {
    "agi_eval_lsat_ar": (0.25, 230),
    "agi_eval_lsat_rc": (0.25, 268),
    "agi_eval_lsat_lr": (0.25, 510),
    "agi_eval_sat_en": (0.25, 206),
    "arc_easy": (0.25, 2376),
    "arc_challenge": (0.25, 1172),
    "bbq": (0.5, 58492),
    "bigbench_conceptual_combinations": (0.25, 103),
    "bigbench_conlang_translation": (0.0, 164),
    "bigbench_cs_algorithms": (0.0, 1320),
    "bigbench_dyck_languages": (0.0, 1000),
    "bigbench_elementary_math_qa": (0.25, 38160),
    "bigbench_misconceptions": (0.5, 219),
    "bigbench_language_identification": (0.25, 10000),
    "bigbench_logical_deduction": (0.25, 1500),
    "bigbench_novel_concepts": (0.25, 32),
    "bigbench_operators": (0.0, 210),
    "bigbench_repeat_copy_logic": (0.0, 32),
    "bigbench_qa_wikidata": (0.0, 20321),
    "bigbench_strange_stories": (0.5, 174),
    "bigbench_strategy_qa": (0.5, 2289),
    "bigbench_understanding_fables": (0.25, 189),
    "boolq": (0.5, 3270),
    "commonsense_qa": (0.25, 1221),
    "copa": (0.5, 100),
    "coqa": (0.0, 7983),
    "enterprise_pii_classification": (0.5, 3395),
    "hellaswag": (0.25, 10042),
    "hellaswag_zeroshot": (0.25, 10042),
    "jeopardy": (0.0, 2117),
    "lambada_openai": (0.0, 5153),
    "logi_qa": (0.25, 651),
    "math_qa": (0.25, 2983),
    "mmlu": (0.25, 14042),
    "mmlu_zeroshot": (0.25, 14042),
    "openbook_qa": (0.25, 500),
    "piqa": (0.5, 1838),
    "pubmed_qa_labeled": (0.0, 1000),
    "simple_arithmetic_nospaces": (0.0, 1000),
    "simple_arithmetic_withspaces": (0.0, 1000),
    "siqa": (0.5, 1954),
    "squad": (0.0, 10570),
    "winogender_mc_female": (0.5, 60),
    "winogender_mc_male": (0.5, 60),
    "winograd": (0.5, 273),
    "winogrande": (0.5, 1267),
}
PYTHIA = {
    "lambada_openai": (0.0, 5153),
    "arc_easy": (0.25, 2376),
    "arc_challenge": (0.25, 1172),
    "sciq": (0.25, 1000),
    "piqa": (0.5, 1838),
    "logiqa": (0.25, 651),
    "winogrande": (0.5, 1267),
    "wsc": (0.5, 104),
}


@dataclass(frozen=True)
class Case:
    """A table, which of its rows are fitted and predicted, and by way of which loss."""

    name: str
    path: str
    fitted: str
    predicted: str
    via: str
    tasks: tuple[Task, ...]
    methods: tuple[str, ...] = METHODS
    columns: dict[str, str] = field(default_factory=lambda: {"N": "N", "D": "D"})

    def as_loss(self, values: FloatArray) -> FloatArray:
        """What a law of the loss is fitted to: the log of a perplexity, else the column itself."""
        return np.log(values) if self.via.endswith(":ppl") else values

    def study(self, where: str) -> Study:
        root = Path(os.environ["LAWSMITH_DATA"])
        names = tuple(task.name for task in self.tasks)
        columns = {**self.columns, "loss": self.via}
        told = ReadOptions(columns=columns, ignore=("*",), where=where, metrics=names)
        return load(root / self.path, told)


def _gadre() -> Iterable[Case]:
    tasks = tuple(Task(f"acc:{name}", *known) for name, known in GADRE.items())
    splits = {"": ("N < 1e9", "N > 1e9"), "-small": ("N < 2e8", "N > 2e8 and N < 1e9")}
    for short, corpus in {"c4": "c4_original", "rpj": "rpj", "rw": "rw_original"}.items():
        for end, (low, high) in splits.items():
            here = f"corpus == '{corpus}' and "
            path, methods = "gadre/gadre_tasks.csv", METHODS if not end else ("both", "sigmoid")
            name = f"gadre-{short}{end}"
            yield Case(name, path, here + low, here + high, "loss:c4_val", tasks, methods)
    for end, via in {"-pooled": "loss:c4_val", "-pooled-openlm": "loss:openlm"}.items():
        methods = ("both", "sigmoid")
        yield Case(
            f"gadre{end}", "gadre/gadre_tasks.csv", "N < 1e9", "N > 1e9", via, tasks, methods
        )


def _pythia() -> Iterable[Case]:
    tasks = tuple(Task(f"{name}:acc", *known) for name, known in PYTHIA.items())
    for end in ("", "-deduped"):
        sizes = ("70m", "160m", "410m"), ("1b", "1.4b", "2.8b", "6.9b", "12b")
        some, others = (", ".join(f"'{size}{end}'" for size in part) for part in sizes)
        yield Case(
            f"pythia{end}",
            "pythia/checkpoints.csv",
            f"run in [{some}] and step >= 1000",
            f"run in [{others}] and step in [33000, 73000, 143000]",
            "lambada_openai:ppl",
            tasks,
        )


def cases() -> dict[str, Case]:
    return {case.name: case for case in (*_gadre(), *_pythia())}


def targets_of(study: Study) -> list[Target]:
    """Where each run of a study is."""
    rows = study.runs.index
    sizes = zip(study.grid.C[rows], study.grid.N[rows], study.grid.D[rows], strict=True)
    return [Target(float(C), float(N), float(D)) for C, N, D in sizes]


def ours(case: Case, fitted: Study, rest: Study, method: str) -> list[Record]:
    """lawsmith's answers, and that for the average of the tasks."""
    tasks = case.tasks
    if method == "unknown":
        tasks = tuple(Task(task.name) for task in tasks)
    via = "" if method == "scale" else case.via
    answers = answer_tasks(fitted, tasks, targets_of(rest), via=via, level=LEVEL)
    truth = with_average(case, rest)
    return [
        record(answer.task.name, i, float(truth[answer.task.name][i]), f.value, f.low, f.high)
        for answer in answers
        for i, f in enumerate(answer.forecasts)
    ]


def record(task: str, i: int, y: float, value: float, low: float, high: float) -> Record:
    return {"task": task, "target": i, "y": y, "value": value, "low": low, "high": high}


def sigmoid(L: FloatArray, floor: float, height: float, slope: float, middle: float) -> FloatArray:
    return np.asarray(floor + height * expit(slope * (middle - L)))


def exponential(L: FloatArray, a: float, b: float, c: float) -> FloatArray:
    return np.asarray(1.0 - a + b * np.exp(-c * L))


CURVES: dict[str, Callable[..., FloatArray]] = {"sigmoid": sigmoid, "exponential": exponential}
BOUNDS = {
    "sigmoid": ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 50.0, 10.0]),
    "exponential": ([0.0, 0.0, 0.0], [1.5, 1e4, 10.0]),
}


def starts(method: str, L: FloatArray, y: FloatArray) -> list[list[float]]:
    low, high = float(y.min()), float(y.max())
    if method == "exponential":
        top = float(L.min())
        return [[1.0 - low, (high - low) * np.exp(c * top), c] for c in (0.5, 1.0, 2.0, 4.0)]
    middles = (float(np.median(L)), float(L.min()), 0.8 * float(L.min()))
    return [
        [low, min(max(h * (high - low), 0.05), 1.0), k, m]
        for h in (1.0, 3.0)
        for k in (1.0, 3.0, 6.0)
        for m in middles
    ]


def point_fits(case: Case, fitted: Study, rest: Study, method: str) -> list[Record]:
    """Two steps, each a least-squares or Huber fit, the second to the losses that were measured."""
    grid, runs = fitted.grid, fitted.runs
    scales = {"N": grid.N[runs.index], "D": grid.D[runs.index]}
    measured = case.as_loss(runs.loss)
    law = fit_law(get_law("chinchilla"), scales, measured)
    places = {"N": rest.grid.N[rest.runs.index], "D": rest.grid.D[rest.runs.index]}
    loss = np.asarray(law.predict(places))
    found = []
    for name, truths in with_average(case, rest).items():
        theta, sd = best_curve(method, measured, with_average(case, fitted)[name])
        value = np.clip(CURVES[method](loss, *theta), 0.0, 1.0)
        for i, (truth, p) in enumerate(zip(truths, value, strict=True)):
            ends = np.clip([p - Z * sd, p + Z * sd], 0.0, 1.0).tolist()
            found.append(record(name, i, float(truth), float(p), *ends))
    return found


def with_average(case: Case, study: Study) -> dict[str, FloatArray]:
    """The accuracies of every task, and their average."""
    each = {task.name: study.metrics[task.name] for task in case.tasks}
    return {**each, "average": np.mean(list(each.values()), axis=0)}


def best_curve(method: str, L: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """The best of several starts, and the SD of its residuals; a constant where none converges."""
    curve = CURVES[method]
    best: tuple[float, FloatArray] | None = None
    for start in starts(method, L, y):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OptimizeWarning)
                theta = curve_fit(curve, L, y, p0=start, bounds=BOUNDS[method])[0]
        except (RuntimeError, ValueError):
            continue
        loss = float(((y - curve(L, *theta)) ** 2).sum())
        if np.isfinite(loss) and (best is None or loss < best[0]):
            best = loss, theta
    if best is None:
        theta = np.array([y.mean(), 0.0, 1.0, 1.0] if method == "sigmoid" else [1 - y.mean(), 0, 1])
        best = float(((y - y.mean()) ** 2).sum()), theta
    return best[1], float(np.sqrt(best[0] / max(len(y) - len(best[1]), 1)))


def judge(rows: Sequence[Record]) -> Record:
    """Coverage, half-width, error and score over tasks and targets; the same for the average."""
    each = [row for row in rows if row["task"] != "average"]
    y, value, low, high = (np.array([r[k] for r in each]) for k in ("y", "value", "low", "high"))
    n = max(row["target"] for row in each) + 1
    miss = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    mean = [(value[t::n] - y[t::n]).mean() for t in range(n)]  # tasks are blocks of n targets
    own = [row for row in rows if row["task"] == "average"]
    return {
        "tasks": len(each) // n,
        "targets": n,
        "inside": float((miss <= 1e-9).mean()),
        "half": 100 * float((high - low).mean() / 2),
        "error": 100 * float(np.abs(value - y).mean()),
        "score": 100 * float((high - low + 40.0 * miss).mean()),
        "average_error": 100 * float(np.abs(mean).mean()),
        "average_bias": 100 * float(np.mean(mean)),
        "own_error": 100 * float(np.mean([abs(r["value"] - r["y"]) for r in own])),
        "average_inside": [int(sum(r["low"] <= r["y"] <= r["high"] for r in own)), len(own)],
    }


def run(case: Case, methods: Sequence[str], out: Path, done: dict[str, list[Record]]) -> None:
    """Every method that is not there yet."""
    fitted, rest = case.study(case.fitted), case.study(case.predicted)
    for method in (method for method in case.methods if method in methods):
        key = f"{case.name} {method}"
        if key in done:
            continue
        began = time.perf_counter()
        make = ours if method in OURS else point_fits
        done[key] = make(case, fitted, rest, method)
        out.write_text(json.dumps(done), encoding="utf-8")
        told = judge(done[key])
        seconds = time.perf_counter() - began
        print(f"{key}: {told} ({seconds:.0f} s)", file=sys.stderr)


GROUPS = {
    "Gadre, ≤ 411M → 1.4B and 6.9B": ("gadre-c4", "gadre-rpj", "gadre-rw"),
    "Gadre, ≤ 154M → 411M": ("gadre-c4-small", "gadre-rpj-small", "gadre-rw-small"),
    "Gadre, three corpora as one table": ("gadre-pooled",),
    "the same, by way of another loss": ("gadre-pooled-openlm",),
    "Pythia, ≤ 410M → 1B to 12B": ("pythia", "pythia-deduped"),
}
NAMES = {
    "both": "**lawsmith**",
    "scale": "lawsmith, from scale alone",
    "unknown": "lawsmith, chance and questions not given",
    "sigmoid": "point fits, sigmoid",
    "exponential": "point fits, exponential",
}
HEAD = [
    "",
    "inside 95 %",
    "half-width",
    "error",
    "score",
    "error of average",
    "fitted as one",
    "average inside",
]


def table(done: dict[str, list[Record]], names: Sequence[str]) -> str:
    """A row a method that all of these cases have."""
    lines = [HEAD, ["---"] * len(HEAD)]
    for method in METHODS:
        found = [judge(done[f"{n} {method}"]) for n in names if f"{n} {method}" in done]
        if len(found) < len(names):
            continue
        share = np.array([f["tasks"] * f["targets"] for f in found], dtype=float)
        mean = {k: float(np.average([f[k] for f in found], weights=share)) for k in KEYS}
        targets = np.array([f["targets"] for f in found], dtype=float)
        off = [
            f"{np.average([f[k] for f in found], weights=targets):.2f}"
            for k in ("average_error", "own_error")
        ]
        held, n = (sum(f["average_inside"][j] for f in found) for j in (0, 1))
        cells = [f"{100 * mean['inside']:.0f} %", *(f"{mean[k]:.1f}" for k in KEYS[1:])]
        lines.append([NAMES[method], *cells, *off, f"{held} of {n}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


KEYS = ("inside", "half", "error", "score")


def section(done: dict[str, list[Record]]) -> str:
    """The tables of the page, one for each group of cases."""
    blocks = []
    for title, names in GROUPS.items():
        here = [n for n in names if f"{n} both" in done]
        if here:
            told = [judge(done[f"{n} both"]) for n in here]
            tasks, targets = told[0]["tasks"], sum(t["targets"] for t in told)
            words = f"**{title}**: {tasks} tasks, {targets} models."
            blocks.append(f"{words}\n\n{table(done, here)}")
    return "\n\n".join(blocks)


def hardest(done: dict[str, list[Record]], names: Sequence[str], n: int = 8) -> str:
    """The tasks that the intervals hold least often."""
    rows = [r for name in names for r in done.get(f"{name} both", []) if r["task"] != "average"]
    by_task: dict[str, list[Record]] = {}
    for r in rows:
        by_task.setdefault(r["task"], []).append(r)
    held = {t: np.mean([r["low"] <= r["y"] <= r["high"] for r in rs]) for t, rs in by_task.items()}
    lines = [["task", "inside 95 %", "measured − predicted, points"], ["---"] * 3]
    for task in sorted(held, key=lambda t: float(held[t]))[:n]:
        off = 100 * np.mean([r["y"] - r["value"] for r in by_task[task]])
        lines.append([task.removeprefix("acc:"), f"{100 * held[task]:.0f} %", f"{off:+.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_page(page: Path, done: dict[str, list[Record]]) -> None:
    """Replace what stands between the marks of the page."""
    text = page.read_text(encoding="utf-8")
    made = {"tables": section(done), "hardest": hardest(done, GROUPS[next(iter(GROUPS))])}
    for name, block in made.items():
        pattern = rf"(<!-- made: {name} -->\n).*?(\n<!-- end -->)"
        text = re.sub(pattern, lambda m, b=block: f"{m[1]}\n{b}\n{m[2]}", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", nargs="*", default=list(cases()), choices=list(cases()))
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--tasks", nargs="*", help="some of them, without 'acc:'")
    parser.add_argument("--out", type=Path, default=Path("tasks.json"))
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    done = json.loads(args.out.read_text(encoding="utf-8")) if args.out.exists() else {}
    for name in args.cases:
        case = cases()[name]
        if args.tasks:
            kept = tuple(t for t in case.tasks if set(t.name.split(":")) & set(args.tasks))
            case = Case(**{**vars(case), "tasks": kept})
        run(case, args.methods, args.out, done)
    print(section(done))
    if args.page:
        write_page(args.page, done)


if __name__ == "__main__":
    main()
