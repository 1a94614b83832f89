"""The README and the pages of docs/: they run as printed, links lead somewhere, codes are there.

Commands and Python of a page are run in their order, in a folder that has the files they name. The
tables are small: names of published studies are replaced by one of 36 runs.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lawsmith
from lawsmith.cli import main
from lawsmith.cli.start import find_pages

ROOT = Path(__file__).parents[1]
PAGES = {path.stem: path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
STUDIES = re.compile(r"\b(oellm-english|tinylm)\b(?![.-])")
FENCE = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# Commands that other tests run, since they stay, take long, or are not lawsmith's.
ELSEWHERE = {
    "lawsmith demo": "tests/cli/test_demo.py",
    "lawsmith serve": "tests/report/live",
    "lawsmith run": "tests/test_examples.py",
    "lawsmith init": "tests/cli/test_live.py",
    "lawsmith plan": "tests/cli/test_live.py",
    "lawsmith docs": "below",
    "lawsmith import wandb/": "tests/datasets/test_sources.py",
    "lawsmith import study.toml wandb/": "tests/datasets/test_sources.py",
    "lawsmith fit wandb/": "tests/datasets/test_sources.py",
    "lawsmith report replay/": "tests/cli/test_report.py",
    "make": ".ci/run",
    "pip": ".ci/run",
    "python3 launcher.py": "tests/test_examples.py",
    "optuna-dashboard": "a tool of Optuna's",
    "ray": "tests/runners",
}
# Blocks of Python that are no programs of lawsmith's: what they are instead.
NOT_RUN = {
    ("curves", "LAWSMITH_CONFIG"): "a trainer, run as one in tests/test_recipe.py",
    ("datasets", "read_pickle"): "converts a file that is not here",
    ("datasets", "porian-hp"): "published studies",
    ("live", "LAWSMITH_CONFIG"): "a trainer, run as one below",
    ("live", "sys.argv"): "a script for another tool",
    ("optuna", "optuna"): "needs a database; tests/integrations/optuna",
    ("optuna", "LawsmithSampler("): "needs a database; tests/integrations/optuna",
    ("recipes", "RANK"): "a part of a trainer",
}


DONE: set[tuple[tuple[str, ...], str]] = set()  # commands that an earlier page had


def runs(columns: dict[str, str]) -> pd.DataFrame:
    """36 runs of a known law, with the names of columns that a command gives."""
    N, D, lr = (
        v.ravel() for v in np.meshgrid([1e8, 3e8, 1e9], [2e9, 8e9, 32e9, 128e9], [3e-4, 1e-3, 3e-3])
    )
    loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28 + 0.02 * np.log(lr / 1e-3) ** 2
    right = 0.25 + 0.6 / (1 + np.exp(4 * (loss - 2.7)))
    rng = np.random.default_rng(0)
    told = {"N": N, "D": D, "lr": lr, "loss": loss * np.exp(0.002 * rng.standard_normal(N.size))}
    table = pd.DataFrame({columns.get(name, name): values for name, values in told.items()})
    table["run"] = [f"r{i}" for i in range(len(table))]
    if "loss:" in " ".join(columns.values()):
        table = table.assign(**{"loss:c4_val": loss, "loss:code": loss - 0.5})
        table = table.assign(**{"acc:arc_easy": right, "acc:piqa": 0.25 + right / 2})
    return table


def curves() -> pd.DataFrame:
    """A trunk at 1.3B parameters."""
    D = np.geomspace(1e9, 6e10, 20)
    loss = 1.03 * (1.7 + 400 * 1.3e9**-0.34 + 410 * D**-0.28)
    return pd.DataFrame({"run": "long", "N": 1.3e9, "lr": 1e-3, "D": D, "loss": loss})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_fits: None) -> Path:
    """The files that pages name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    runs({}).to_csv("runs.csv", index=False)
    runs({}).to_csv("last-study.csv", index=False)
    curves().assign(kind="trunk").to_csv("curves.csv", index=False)
    curves().to_csv("trunks.csv", index=False)
    shape = {"n_layer": 12, "n_embd": 768, "n_head": 12, "vocab_size": 50257, "n_positions": 1024}
    Path("config.json").write_text(json.dumps({"model_type": "gpt2", **shape}))
    for file in ("study.toml", "train.py"):
        shutil.copy(ROOT / "examples" / "local" / file, tmp_path)
    return tmp_path


def steps(page: str) -> list[tuple[str, str]]:
    """('sh', a command) and ('python', a block) in the order of the page."""
    found = []
    for kind, text in FENCE.findall(PAGES[page].read_text(encoding="utf-8")):
        if kind == "python":
            found.append((kind, text))
            continue
        lines = text.replace("\\\n", " ").split("\n")
        found += [(kind, " ".join(shlex.split(line, comments=True))) for line in lines]
    return [step for step in found if step[1]]


def command(text: str) -> list[str]:
    """The words of a command, its study the small table, and a table with the columns it names."""
    words = text.split()
    if "datasets" not in words:
        words = [STUDIES.sub("runs.csv", word) for word in words]
    # Options of a name with blanks were split: only --stop-when and --where have such.
    named = dict(
        p.split("=") for w in words if re.fullmatch(r"(\w+=\w+,?)+", w) for p in w.split(",")
    )
    given = named if "--columns" in words else {}
    if any(":" in word for word in words):
        given = {"loss": "loss:c4_val"}
    if given:
        runs(given).to_csv("runs.csv", index=False)
    return words


def run(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Run one command of lawsmith in this process; '> FILE' keeps what it prints."""
    words, _, file = text.partition(" > ")
    args = command(words)[1:]
    for option in ("--stop-when", "--where"):
        if option in args:
            at = args.index(option) + 1
            end = next((i for i in range(at, len(args)) if args[i].startswith("--")), len(args))
            args[at:end] = [" ".join(args[at:end]).replace("1e25 within 8%", "1e22 within 50%")]
    args = ["last-study.csv" if word == "other/study.toml" else word for word in args]
    if (tuple(args), file) in DONE and args[0] in ("fit", "replay", "report"):
        return
    DONE.add((tuple(args), file))
    capsys.readouterr()
    code = main(args)
    said = capsys.readouterr()
    assert code == 0, f"{text}\n{said.err}"
    if file:
        Path(file).write_text(said.out)


def elsewhere(text: str) -> bool:
    """Whether another test runs it; then only the command's name is checked here."""
    found = any(text.startswith(start) for start in ELSEWHERE)
    if found and text.startswith("lawsmith "):
        assert main([text.split()[1], "--help"]) == 0, text
    return found


def prepare_for(text: str) -> None:
    """What a person or a launcher does between two commands."""
    asked = next((p for p in (Path("asked.json"), Path("round.json")) if p.exists()), None)
    if text.startswith("lawsmith tell") and asked is not None:
        told = [{"trial": one["trial"], "loss": 3.0} for one in json.loads(asked.read_text())]
        if "--trial" in text:
            return
        left = [one for one in told if one["trial"] != "t0002"]
        Path("told.json").write_text(json.dumps(left))
        pd.DataFrame(told).to_csv("round-results.csv", index=False)


@pytest.mark.parametrize("page", [name for name in PAGES if steps(name)])
def test_a_page_runs_as_printed(
    page: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    for kind, text in steps(page):
        if kind == "sh" and not elsewhere(text):
            assert text.startswith("lawsmith "), f"{page}: {text} is run by no test"
            prepare_for(text)
            run(text, capsys)
        elif kind == "python" and not any(p == page and w in text for p, w in NOT_RUN):
            if "acc:arc_easy" in text:
                command("loss:c4_val")
            exec(compile(text, f"{page}.md", "exec"), names)


def test_the_trainer_of_the_page_on_live_studies_leaves_a_loss(tmp_path: Path) -> None:
    (trainer,) = [t for k, t in steps("live") if k == "python" and "LAWSMITH_CONFIG" in t]
    (tmp_path / "config.json").write_text(json.dumps({"N": 1e8, "D": 2e9, "lr": 2e-3}))
    places = {"LAWSMITH_CONFIG": "config.json", "LAWSMITH_RESULT": "result.json"}
    subprocess.run(
        [sys.executable, "-c", trainer], cwd=tmp_path, env={**os.environ, **places}, check=True
    )
    assert 2.0 < json.loads((tmp_path / "result.json").read_text())["loss"] < 5.0


def codes() -> set[str]:
    """Every code that a Diagnostic is made with, read from the source."""
    found = set()
    for path in (ROOT / "src" / "lawsmith").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if named and node.func.id == "Diagnostic":
                assert isinstance(node.args[0], ast.Constant), f"{path}: a code must be a literal"
                found.add(node.args[0].value)
    return found


def test_every_warning_has_a_section_that_says_what_to_do() -> None:
    text = PAGES["warnings"].read_text(encoding="utf-8")
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, flags=re.DOTALL | re.MULTILINE)
    assert codes() == {code for code, _ in sections}
    assert len(codes()) > 20
    assert [code for code, body in sections if "**What to do.**" not in body] == []


@pytest.mark.parametrize("page", list(PAGES))
def test_links_of_a_page_lead_to_files_of_the_repository(page: str) -> None:
    path = PAGES[page]
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s#]+)", text)
    local = [t for t in targets if not re.match(r"[a-z]+:", t) and t != "api.md"]
    assert [t for t in local if not (path.parent / t).exists()] == []


@pytest.mark.parametrize("page", list(PAGES))
def test_no_page_names_a_path_of_a_machine(page: str) -> None:
    text = PAGES[page].read_text(encoding="utf-8")
    assert re.findall(r"(?<![\w.])/(?:home|root|work|tmp|Users)/\S+", text) == []


def test_the_answer_in_the_readme_is_what_its_command_prints(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PAGES["README"].read_text(encoding="utf-8")
    (shown,) = re.findall(r"<!-- made: fit -->\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    assert main(["fit", "tinylm", "--target", "1e16"]) == 0
    printed = capsys.readouterr().out
    for what in ("best loss", "one further run", "N ", "D ", "lr "):
        lines = [re.search(rf"^ +{what}.*$", t, re.MULTILINE)[0] for t in (shown, printed)]
        numbers = [[float(n) for n in re.findall(r"\d+\.?\d*", line)] for line in lines]
        assert numbers[0] == pytest.approx(numbers[1], rel=0.02), "run python docs/figures.py"


def test_pages_are_listed_and_shown_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in find_pages())
    assert main(["docs", "docs/study-file.md"]) == 0
    text = (ROOT / "docs" / "study-file.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == text.strip()
    assert main(["docs", "studyfile"]) == 2
    assert "did you mean study-file?" in capsys.readouterr().err


def test_pages_that_the_package_names_exist() -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"`lawsmith docs ([\w-]+)`", source))
    assert {"study-file", "tinylm", "datasets"} <= named
    assert named <= set(find_pages())


def test_the_page_of_the_api_has_every_public_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = importlib.import_module("api_page").api_page()
    headings = set(re.findall(r"^### (\w+)$", text, re.MULTILINE))
    assert headings == set(lawsmith.__all__) - {"__version__"}
