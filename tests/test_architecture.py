"""The layers of the package, read from the source: imports point down, some names stay away."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "lawsmith"
SOURCES = sorted(PACKAGE.rglob("*.py"))

# A part (a module or a folder of the package) imports only parts of lower rank, or itself.
RANKS = {
    -1.0: "errors",
    0.0: "expressions formats arrays threads",
    1.0: "grid runs",
    2.0: "laws frontier metrics costs",
    3.0: "surrogates datasets",
    3.5: "analysis",
    4.0: "acquisition spec fantasies",
    4.2: "outlook",
    4.4: "stopping",
    5.0: "policies runners journal",
    6.0: "study replay",
    6.5: "integrations",
    7.0: "charts",
    8.0: "report bench",
    9.0: "cli",
    10.0: "__main__",
}
RANK = {part: rank for rank, parts in RANKS.items() for part in parts.split()}
SAME_ROW = {("laws", "frontier")}  # a law knows Π; Π knows no law

# Who may import what from outside: a part, or one module of it (part.module) and what is below
# that. A library not listed here is for everyone.
ONLY_UNDER = {
    "altair": {"charts"},
    "vl_convert": {"charts"},
    "typer": {"cli"},
    "rich": {"cli"},
    "pandas": {"datasets", "charts", "bench"},
    "pyarrow": {"datasets"},
    "torch": {"surrogates.botorch"},
    "botorch": {"surrogates.botorch"},
    "gpytorch": {"surrogates.botorch"},
    "linear_operator": {"surrogates.botorch"},
    "xgboost": {"surrogates.xgboost"},
    "tabpfn": {"surrogates.tabpfn"},
    "starlette": {"report.live.app"},
    "uvicorn": {"report.live.app"},
    "ray": {"runners.ray"},
    "optuna": {"integrations.optuna"},
    "pickle": set(),
    "cloudpickle": set(),
    "dill": set(),
}


def dotted(source: Path) -> tuple[str, ...]:
    """('laws', 'huber') for src/lawsmith/laws/huber.py; () for the package's own __init__."""
    parts = source.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def package_of(source: Path) -> tuple[str, ...]:
    return ("lawsmith", *source.relative_to(PACKAGE).parent.parts)


def imports(source: Path, tree: ast.AST) -> list[tuple[str, ...]]:
    """Every name imported, as dotted parts; relative ones made absolute."""
    found: list[tuple[str, ...]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            here = package_of(source)
            base = here[: len(here) + 1 - node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            found += [(*base, alias.name) for alias in node.names]
    return found


def problems(source: Path, text: str) -> list[str]:
    """What this file imports or calls against the rules."""
    tree = ast.parse(text)
    part = (*dotted(source), "")[0]
    found = []
    for name in imports(source, tree):
        if name[0] == "lawsmith" and part and not may_import(part, name[1:]):
            found.append(f"{part} imports {'.'.join(name)}")
        if not may_use(dotted(source), name[0]):
            found.append(f"{'.'.join(dotted(source))} imports {name[0]}")
    return found + [f"{part} calls {name}" for name in sorted(executes(tree))]


def may_import(part: str, target: tuple[str, ...]) -> bool:
    """Whether ``part`` may import lawsmith.<target>; an unranked target is the package itself."""
    other = (*target, "")[0]
    if other not in RANK:
        return True
    return other == part or RANK[other] < RANK[part] or (part, other) in SAME_ROW


def may_use(module: tuple[str, ...], library: str) -> bool:
    """Whether ``module``, or something it lies under, is one of those that may import it."""
    places = {".".join(module[:n]) for n in range(1, len(module) + 1)}
    return library not in ONLY_UNDER or bool(places & ONLY_UNDER[library])


def executes(tree: ast.AST) -> set[str]:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {func.id for func in calls if isinstance(func, ast.Name)} & {"eval", "exec"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: ".".join(dotted(path)) or "lawsmith")
def test_every_module_imports_downwards_and_only_what_its_layer_may(source):
    assert problems(source, source.read_text(encoding="utf-8")) == []


def test_every_part_of_the_package_has_a_layer():
    parts = {dotted(source)[0] for source in SOURCES if dotted(source)}
    assert parts - set(RANK) == set()


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("grid.py", "from lawsmith.frontier import pareto"),
        ("grid.py", "from lawsmith import runs"),
        ("grid.py", "import lawsmith.cli"),
        ("frontier.py", "from lawsmith.laws import Law"),
        ("errors.py", "from .grid import Grid"),
        ("laws/fit.py", "from ..datasets import load"),
        ("laws/fit.py", "from .. import charts"),
        ("datasets/load.py", "def f():\n    from lawsmith.analysis import fit"),
        ("laws/fit.py", "import pandas as pd"),
        ("cli/fit.py", "from altair import Chart"),
        ("charts/fit.py", "import rich.table"),
        ("datasets/porian.py", "import pickle"),
        ("laws/fit.py", "import torch.nn"),
        ("surrogates/base.py", "import torch"),
        ("surrogates/__init__.py", "from botorch.models import SingleTaskGP"),
        ("surrogates/botorch_extra.py", "import gpytorch"),
        ("surrogates/gp/botorch.py", "import gpytorch"),
        ("surrogates/xgboost.py", "def f():\n    import torch"),
        ("surrogates/botorch.py", "import xgboost as xgb"),
        ("botorch.py", "import botorch"),
        ("runners/local.py", "import ray"),
        ("runners/base.py", "def f():\n    import optuna"),
        ("study/live.py", "from lawsmith.integrations.optuna import LawsmithSampler"),
        ("__init__.py", "import xgboost"),
        ("grid.py", "eval('1')"),
        ("cli/fit.py", "exec('1')"),
    ],
)
def test_a_breach_of_the_layers_is_seen(part, line):
    assert len(problems(PACKAGE / part, line)) == 1


@pytest.mark.parametrize(
    ("part", "line"),
    [
        ("frontier.py", "from lawsmith.grid import Grid"),
        ("laws/fit.py", "from lawsmith.frontier import pareto"),
        ("laws/fit.py", "from .forms import Law\nfrom lawsmith.laws.forms import Law"),
        ("cli/fit.py", "import typer\nfrom lawsmith import __version__, charts"),
        ("charts/fit.py", "import altair as alt\nimport pandas as pd"),
        ("__init__.py", "from lawsmith.laws import Law"),
        ("analysis.py", "from lawsmith.datasets import load"),
        ("surrogates/botorch.py", "def f():\n    import torch\n    from botorch import fit"),
        ("surrogates/botorch/model.py", "import gpytorch.kernels"),
        ("surrogates/xgboost.py", "import xgboost as xgb"),
        ("runners/ray/cluster.py", "import ray"),
        ("integrations/optuna/sampler.py", "import optuna\nfrom lawsmith.study import live"),
    ],
)
def test_what_the_layers_allow_is_let_through(part, line):
    assert problems(PACKAGE / part, line) == []
