"""The layers of the package, read from the source: imports point down, some names stay away."""

from __future__ import annotations

import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from tests.count_lines import PAGE, counts, written
from tests.imports import Package, classes, executes

FOLDER = Path(__file__).parents[1] / "src" / "lawsmith"

# A part (a module or a folder of the package) imports only parts of lower rank, or itself.
RANKS = {
    -1.0: "errors",
    -0.5: "numbers plausible files",
    -0.2: "spreadsheet",
    0.0: "expressions formats arrays threads counting digest",
    1.0: "grid runs trajectory",
    2.0: "laws frontier metrics costs",
    2.5: "surface",
    3.0: "surrogates datasets",
    3.1: "curves",
    3.2: "answer",
    3.3: "tasks",
    3.5: "analysis",
    4.0: "acquisition spec",
    4.4: "stopping",
    5.0: "policies runners journal",
    6.0: "study replay",
    6.5: "integrations",
    7.0: "charts",
    8.0: "report",
    9.0: "cli",
    9.5: "api",
    10.0: "__main__",
}
RANK = {part: rank for rank, parts in RANKS.items() for part in parts.split()}
SAME_ROW = {("laws", "frontier")}  # a law knows Π; Π knows no law

# The same inside a folder: a module imports only modules of its folder of lower rank. A folder
# inside it counts as one module there, and may have rows of its own.
INNER = {
    "charts": """
        theme ticks runs text | draw page | titles
        law isoflop curves narrowing residuals tasks timeline trunks
        answer | allocation region | save
    """,
    "report": "parts | source | findings cards | finished live_source page | live",
    "report.cards": "figures progress record | answer",
    "report.live": "board | watch app",
}
INNER_RANK = {
    (*folder.split("."), name): rank
    for folder, text in INNER.items()
    for rank, row in enumerate(text.replace("\n", "|").split("|"))
    for name in row.split()
}

# Names that several classes have, and where these are. No other name may be shared, and none of
# these by a class elsewhere.
SHARED_NAMES = {
    "Axis": {"grid", "surface.axes"},
    "Entry": {"datasets.catalogue", "study.history"},
    "Kernel": {"surface.process", "surrogates.gp.kernel"},
    "Member": {"surface.member", "tasks.members"},
    "Prior": {"surface.prior", "tasks.priors"},
    "Shape": {"datasets.synthetic", "tasks.curve"},
    "Source": {"datasets.catalogue", "report.source"},
    "Task": {"replay.task", "tasks.curve"},
    "Trunks": {"costs", "curves.trunks"},
}
DRIFT = 0.03  # by which share a part may grow or shrink before the page must say so

# Who may import what from outside.
ONLY_UNDER = {
    "altair": {"charts"},
    "vl_convert": {"charts"},
    "typer": {"cli"},
    "rich": {"cli"},
    "pandas": {"datasets", "charts", "api"},
    "pyarrow": {"datasets"},
    # The rivals' libraries, and the package of the rivals: lawsmith does without.
    "torch": set(),
    "botorch": set(),
    "gpytorch": set(),
    "linear_operator": set(),
    "xgboost": set(),
    "tabpfn": set(),
    "lawsmith_paper": set(),
    "starlette": {"report.live.app"},
    "uvicorn": {"report.live.app"},
    "ray": {"runners.ray"},
    "optuna": {"integrations.optuna", "datasets.sources.optuna"},
    "openpyxl": set(),  # pandas imports it
    "wandb": {"datasets.sources.wandb"},
    "mlflow": {"datasets.sources.mlflow"},
    "tensorboard": {"datasets.sources.tensorboard"},
    "neps": set(),  # its files are read without it
    "pickle": set(),
    "cloudpickle": set(),
    "dill": set(),
}


PACKAGE = Package(FOLDER, ONLY_UNDER)


def problems(source: Path, text: str) -> list[str]:
    """What this file imports or calls against the rules."""
    part = (*PACKAGE.dotted(source), "")[0]
    found = [
        f"{part} imports {'.'.join(name)}"
        for name in PACKAGE.imports(source, text)
        if name[0] == "lawsmith" and part and not may_import(part, name[1:])
    ]
    found += [
        f"{'.'.join(PACKAGE.dotted(source))} imports {'.'.join(name)}"
        for name in PACKAGE.imports(source, text)
        if name[:2] == ("lawsmith", part) and not may_import_inside(source, name[1:])
    ]
    found += PACKAGE.misused(source, text)
    return found + [f"{part} calls {name}" for name in executes(text)]


def may_import(part: str, target: tuple[str, ...]) -> bool:
    """Whether ``part`` may import lawsmith.<target>; an unranked target is the package itself."""
    other = (*target, "")[0]
    if other not in RANK:
        return True
    return other == part or RANK[other] < RANK[part] or (part, other) in SAME_ROW


def may_import_inside(source: Path, target: tuple[str, ...]) -> bool:
    """Whether a module may import lawsmith.<target>, which is of its own part.

    The two are compared in the last folder that holds both. There, a module may not import the
    folder itself either, since that imports all of its modules.
    """
    own = PACKAGE.dotted(source)
    if own == target[: len(own)]:
        return True  # the __init__ of a folder
    same = takewhile(lambda pair: pair[0] == pair[1], zip(own, target, strict=False))
    depth = len(list(same)) + 1
    here, there = own[:depth], target[:depth]
    if here not in INNER_RANK:
        return True  # of a folder without rows
    return here == there or INNER_RANK.get(there, len(INNER_RANK)) < INNER_RANK[here]


@pytest.mark.parametrize("source", PACKAGE.sources, ids=PACKAGE.name_of)
def test_every_module_imports_downwards_and_only_what_its_layer_may(source):
    assert problems(source, source.read_text(encoding="utf-8")) == []


def test_every_part_of_the_package_has_a_layer():
    modules = [PACKAGE.dotted(source) for source in PACKAGE.sources]
    parts = {module[0] for module in modules if module}
    assert parts - set(RANK) == set()


@pytest.mark.parametrize("folder", INNER)
def test_every_module_of_charts_and_report_has_a_layer(folder):
    inside = tuple(folder.split("."))
    modules = [PACKAGE.dotted(source) for source in PACKAGE.sources]
    names = {m[: len(inside) + 1] for m in modules if m[: len(inside)] == inside and m != inside}
    assert names == {name for name in INNER_RANK if name[:-1] == inside}


def test_no_two_classes_have_one_name():
    places: dict[str, list[str]] = {}
    for source in PACKAGE.sources:
        for name in classes(source.read_text(encoding="utf-8")):
            places.setdefault(name, []).append(PACKAGE.name_of(source))
    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: set(where) for name, where in shared.items()} == SHARED_NAMES
    assert all(len(where) == len(set(where)) for where in shared.values())


def test_the_page_of_the_architecture_tells_how_large_each_part_is():
    now, page = counts(), written(PAGE.read_text(encoding="utf-8"))
    page.pop("all")
    assert set(now) == set(page)
    off = [p for p in now if abs(now[p].lines - page[p].lines) > max(DRIFT * page[p].lines, 30)]
    assert off == [], "run: python -m tests.count_lines --write"


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("charts/law.py", "from lawsmith.charts.answer import AnswerWithRuns"),
        ("charts/draw.py", "from lawsmith.charts import titles"),
        ("charts/runs.py", "def f():\n    from lawsmith.charts.save import write"),
        ("report/parts.py", "from lawsmith.report.source import Source"),
        ("charts/draw.py", "from lawsmith.charts import Chart"),
        ("charts/law.py", "from . import answer"),
        ("report/cards/figures.py", "from lawsmith.report.page import write_report"),
        ("report/cards/figures.py", "from lawsmith.report.cards.answer import answer"),
        ("report/cards/record.py", "from lawsmith.report.cards import CARDS"),
        ("report/live/board.py", "from lawsmith.report.live.watch import Watch"),
        ("report/page.py", "from lawsmith.report.live.board import Board"),
        ("grid.py", "from lawsmith.frontier import pareto"),
        ("grid.py", "from lawsmith import runs"),
        ("grid.py", "import lawsmith.cli"),
        ("frontier.py", "from lawsmith.laws import Law"),
        ("errors.py", "from .grid import Grid"),
        ("laws/fit.py", "from ..datasets import load"),
        ("laws/fit.py", "from .. import charts"),
        ("surface/fit.py", "from lawsmith.answer import Target"),
        ("answer/make.py", "from lawsmith.analysis import Analysis"),
        ("answer/text.py", "from rich.console import Console"),
        ("datasets/load.py", "def f():\n    from lawsmith.analysis import fit"),
        ("laws/fit.py", "import pandas as pd"),
        ("cli/fit.py", "from altair import Chart"),
        ("charts/fit.py", "import rich.table"),
        ("datasets/porian.py", "import pickle"),
        ("laws/fit.py", "import torch.nn"),
        ("surrogates/base.py", "import torch"),
        ("surrogates/__init__.py", "from botorch.models import SingleTaskGP"),
        ("surrogates/botorch.py", "def f():\n    import gpytorch"),
        ("surrogates/xgboost.py", "import xgboost as xgb"),
        ("surrogates/tabpfn.py", "from tabpfn import TabPFNRegressor"),
        ("cli/replay.py", "from lawsmith_paper.cli import main"),
        ("__init__.py", "import lawsmith_paper"),
        ("replay/loop.py", "def f():\n    from lawsmith_paper.rivals import make_policy"),
        ("runners/local.py", "import ray"),
        ("runners/base.py", "def f():\n    import optuna"),
        ("study/live.py", "from lawsmith.integrations.optuna import LawsmithSampler"),
        ("__init__.py", "import xgboost"),
        ("grid.py", "eval('1')"),
        ("cli/fit.py", "exec('1')"),
    ],
)
def test_a_breach_of_the_layers_is_seen(part, line):
    assert len(problems(FOLDER / part, line)) == 1


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("frontier.py", "from lawsmith.grid import Grid"),
        ("charts/answer.py", "from lawsmith.charts.law import fence"),
        ("charts/__init__.py", "from lawsmith.charts.save import write"),
        ("report/cards/answer.py", "from lawsmith.report.cards.figures import place_of"),
        ("report/live/app.py", "from lawsmith.report.page import page"),
        ("report/__init__.py", "from lawsmith.report.live.watch import Watch"),
        ("laws/fit.py", "from lawsmith.frontier import pareto"),
        ("laws/fit.py", "from .forms import Law\nfrom lawsmith.laws.forms import Law"),
        ("cli/fit.py", "import typer\nfrom lawsmith import __version__, charts"),
        ("charts/fit.py", "import altair as alt\nimport pandas as pd"),
        ("__init__.py", "from lawsmith.laws import Law"),
        ("analysis.py", "from lawsmith.datasets import load"),
        ("analysis.py", "from lawsmith.answer import Target"),
        ("answer/make.py", "from lawsmith.surface import fit_surface"),
        ("runners/ray/cluster.py", "import ray"),
        ("integrations/optuna/sampler.py", "import optuna\nfrom lawsmith.study import live"),
    ],
)
def test_what_the_layers_allow_is_let_through(part, line):
    assert problems(FOLDER / part, line) == []


def test_importing_lawsmith_brings_no_library_of_the_rivals():
    strangers = ("torch", "botorch", "gpytorch", "xgboost", "tabpfn", "lawsmith_paper")
    script = (
        "import sys, lawsmith\n"
        "for name in lawsmith.__all__:\n"
        "    getattr(lawsmith, name)\n"
        f"print([name for name in {strangers!r} if name in sys.modules])\n"
    )
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_no_test_of_lawsmith_needs_the_paper():
    tests = Path(__file__).parent
    package = Package(tests, {"lawsmith_paper": set(), "paper": set()})
    found = [p for s in package.sources for p in package.misused(s, s.read_text(encoding="utf-8"))]
    assert found == []
