"""The libraries of lawsmith_paper, read from the source: each rival's stays with that rival."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports import Package, executes

FOLDER = Path(__file__).parents[1] / "src" / "lawsmith_paper"
PACKAGE = Package(
    FOLDER,
    {
        "torch": {"rivals.botorch"},
        "botorch": {"rivals.botorch"},
        "gpytorch": {"rivals.botorch"},
        "linear_operator": {"rivals.botorch"},
        "xgboost": {"rivals.xgboost"},
        "tabpfn": {"rivals.tabpfn"},
        "typer": {"cli"},
        "rich": {"cli"},
        "altair": {"charts.draw", "charts.discovery", "figures"},
        "vl_convert": {"charts", "figures"},
        "pickle": set(),
        "cloudpickle": set(),
        "dill": set(),
    },
)
# What decides a result may not know what plans, runs or shows results: see `jobs.code_version`.
DECIDES = ("rivals", "studies", "records", "replays")


def problems(source: Path, text: str) -> list[str]:
    """What this file imports or calls against the rules."""
    part = (*PACKAGE.dotted(source), "")[0]
    found = PACKAGE.misused(source, text)
    if part in DECIDES:
        ours = (n[1] for n in PACKAGE.imports(source, text) if n[0] == "lawsmith_paper" and n[1:])
        found += [f"{part} imports {name}" for name in ours if name not in (*DECIDES, "jobs")]
    return found + [f"{part} calls {name}" for name in executes(text)]


@pytest.mark.parametrize("source", PACKAGE.sources, ids=PACKAGE.name_of)
def test_every_module_imports_only_what_it_may(source):
    assert problems(source, source.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("rivals/__init__.py", "import torch"),
        ("rivals/spaces.py", "from botorch.models import SingleTaskGP"),
        ("rivals/botorch_extra.py", "import gpytorch"),
        ("rivals/xgboost.py", "def f():\n    import torch"),
        ("rivals/botorch.py", "import xgboost as xgb"),
        ("rivals/tabpfn.py", "import linear_operator"),
        ("race/loop.py", "from tabpfn import TabPFNRegressor"),
        ("rivals/vopt.py", "from lawsmith_paper.suites import SUITES"),
        ("replays.py", "from .page import page_of"),
        ("work.py", "import typer"),
        ("page.py", "from rich.table import Table"),
        ("charts/data/frames.py", "import altair as alt"),
        ("store.py", "import pickle"),
        ("plan.py", "eval('1')"),
    ],
)
def test_a_breach_is_seen(part, line):
    assert len(problems(FOLDER / part, line)) == 1


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("rivals/botorch.py", "def f():\n    import torch\n    from botorch import fit"),
        ("rivals/xgboost.py", "import xgboost as xgb"),
        ("rivals/tabpfn.py", "from tabpfn import TabPFNRegressor"),
        ("replays.py", "from lawsmith_paper.rivals import make_policy"),
        ("cli/view.py", "from rich.console import Console"),
        ("charts/draw/subsets.py", "import altair as alt"),
    ],
)
def test_what_is_allowed_is_let_through(part, line):
    assert problems(FOLDER / part, line) == []


def test_the_rivals_can_be_named_without_their_libraries():
    script = (
        "import sys\n"
        "from lawsmith_paper.rivals import make_surrogate\n"
        "for name in ('botorch', 'xgboost', 'tabpfn'):\n"
        "    make_surrogate(name)\n"
        "print([name for name in ('torch', 'xgboost', 'tabpfn') if name in sys.modules])\n"
    )
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
