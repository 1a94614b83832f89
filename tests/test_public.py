"""The public names: listed, documented, their examples run; what they take and what they return."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lawsmith
from lawsmith import LawsmithError
from lawsmith.analysis import answer_study
from lawsmith.answer import Target
from lawsmith.api.reading import keywords

VALUES = ("__version__", "charts", "LAWS")  # neither functions nor classes
DOCUMENTED = [name for name in lawsmith.__all__ if name not in VALUES]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """30 runs of a known law under names of a user's own."""
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e8, 3e9, 5), np.geomspace(2e9, 2e11, 6)))
    loss = 1.7 + 400 * N**-0.34 + 410 * D**-0.28
    noise = np.exp(0.001 * np.random.default_rng(0).standard_normal(N.size))
    return pd.DataFrame({"size": N, "tokens": D, "val_loss": loss * noise})


COLUMNS = {"N": "size"}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_example_of_a_public_name_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {each: getattr(lawsmith, each) for each in lawsmith.__all__}
    finder = doctest.DocTestFinder(recurse=False)
    (test,) = finder.find(getattr(lawsmith, name), name, globs=names)
    assert test.examples, f"{name} has no example"
    said: list[str] = []
    found = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert found.failed == 0, "".join(said)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_parameters_of_a_public_function_are_described(name: str) -> None:
    thing = getattr(lawsmith, name)
    if not inspect.isfunction(thing):
        return
    text = (inspect.getdoc(thing) or "").split(">>>")[0]
    if "the rest" in text:
        text += inspect.getdoc(lawsmith.fit) or ""
    missing = [p for p in inspect.signature(thing).parameters if p not in text]
    assert missing == []


def test_the_public_surface_is_about_forty_names() -> None:
    assert 35 <= len(lawsmith.__all__) <= 45


def test_a_table_and_the_file_of_it_give_the_same_answer(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame.to_csv(tmp_path / "runs.csv", index=False)
    mine = lawsmith.fit(frame, targets=1e24, columns=COLUMNS)
    file = lawsmith.fit(tmp_path / "runs.csv", targets=["1e24"], columns=COLUMNS)
    assert mine.forecasts[0].loss == file.forecasts[0].loss
    assert mine.forecasts[0].low == file.forecasts[0].low


@pytest.mark.parametrize(
    "target",
    ["N=7B,D=140B", {"N": 7e9, "D": 140e9}, Target(6 * 7e9 * 140e9, 7e9, 140e9)],
)
def test_a_target_may_be_text_a_mapping_or_a_target(target: Any, frame: pd.DataFrame) -> None:
    study = lawsmith.load(frame, columns=COLUMNS)
    told = lawsmith.fit(study, target).forecasts[0]
    usual = answer_study(study, [Target(6 * 7e9 * 140e9, 7e9, 140e9)]).forecasts[0]
    assert (told.loss, told.low, told.high) == (usual.loss, usual.low, usual.high)


def test_numbers_of_numpy_are_targets(frame: pd.DataFrame) -> None:
    study = lawsmith.load(frame, columns=COLUMNS)
    found = lawsmith.fit(study, np.array([1e23, 1e24]))
    assert [f.compute for f in found.forecasts] == [1e23, 1e24]
    assert lawsmith.fit(study, np.float64(1e24)).forecasts[0].loss == found.at(1e24).loss


def test_a_law_by_name_finds_the_law_behind_the_table(frame: pd.DataFrame) -> None:
    analysis = lawsmith.analyse(frame, law="chinchilla", targets=[1e24], columns=COLUMNS)
    truth = {"E": 1.7, "alpha": 0.34, "beta": 0.28}
    found = analysis.uncertainty.params(0.99)
    for name, value in truth.items():
        assert found[name].low < value < found[name].high
    fixed = lawsmith.analyse(frame, law="chinchilla", fixed={"E": 1.7}, columns=COLUMNS)
    assert fixed.fit.params["E"] == pytest.approx(1.7)


def test_runs_are_held_out_by_text(frame: pd.DataFrame) -> None:
    found = lawsmith.fit(frame, hold_out="50%", columns=COLUMNS)
    assert found.held_out is not None
    assert len(found.left_out) < 15
    assert found.n_runs + len(found.left_out) == 30


def results(frame: pd.DataFrame) -> dict[str, Any]:
    study = lawsmith.load(frame, columns=COLUMNS)
    scored = frame.assign(quiz=0.25 + 0.5 * np.exp(2 - frame["val_loss"]))
    tasks = lawsmith.fit_tasks(scored, ["quiz"], targets=1e24, columns=COLUMNS)
    return {
        "study": study,
        "answer": lawsmith.fit(study, targets=1e24),
        "analysis": lawsmith.analyse(study, law="LC", targets=1e24),
        "compared": lawsmith.compare_laws(study, targets=1e24, laws=["LC", "chinchilla"]),
        "tasks": tasks[0],
        "replayed": lawsmith.replay_study(study, targets=1e24, iterations=8),
    }


def test_every_result_shows_itself_in_every_form(frame: pd.DataFrame) -> None:
    found = results(frame)
    for name, result in found.items():
        assert 1 <= repr(result).count("\n") + 1 <= 8, name
        assert "array(" not in repr(result), name
        assert len(result.summary()) > len(name), name
        assert "<table>" in result._repr_html_(), name
        assert isinstance(result.to_frame(), pd.DataFrame), name
        assert len(result.to_frame()) > 0, name
        assert isinstance(result.to_dict(), dict), name
    answer, law = found["answer"], found["analysis"]
    assert answer.to_frame().loc[0, "loss"] == answer.forecasts[0].loss
    assert answer.to_dict()["answers"][0]["loss"] == answer.forecasts[0].loss
    assert law.to_frame().loc[0, "low"] == law.predictions[0].interval.low
    assert found["study"].to_frame()["loss"].tolist() == frame["val_loss"].tolist()


def test_text_in_a_table_of_html_is_escaped(frame: pd.DataFrame) -> None:
    named = frame.rename(columns={"size": "<b>"})
    shown = lawsmith.load(named, columns={"N": "<b>"})._repr_html_()
    assert "<td><b></td>" not in shown
    assert "<td>&lt;b&gt;</td>" in shown


def test_a_report_is_of_the_very_answer(frame: pd.DataFrame, tmp_path: Path) -> None:
    found = lawsmith.fit(frame, targets=1e24, columns=COLUMNS, level=0.8)
    page = lawsmith.write_report(found, tmp_path / "x.html").read_text(encoding="utf-8")
    from lawsmith.answer.text import loss_text

    assert loss_text(found.forecasts[0].low) in page
    assert "80% interval" in page
    assert "DataFrame" in page


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: lawsmith.analyse(f), "columns={'N': 'NAME'}"),
        (lambda f: lawsmith.load(f[:0]), "DataFrame: got no rows"),
        (lambda f: lawsmith.load([1, 2]), "source: got a list, want a pandas DataFrame"),
        (lambda f: lawsmith.fit(f, "lots", columns=COLUMNS), "targets: got 'lots'"),
        (lambda f: lawsmith.fit(f, level=95, columns=COLUMNS), "level: got 95"),
        (lambda f: lawsmith.fit(f, hold_out="most", columns=COLUMNS), "hold-out: got 'most'"),
        (lambda f: lawsmith.fit("tinylmm"), "did you mean tinylm?"),
        (lambda f: lawsmith.analyse(f, law="chinchila", columns=COLUMNS), "did you mean chinchi"),
        (
            lambda f: lawsmith.analyse(f, law="LC", fixed={"F": 1}, columns=COLUMNS),
            "want one of E, A, alpha",
        ),
        (lambda f: lawsmith.replay_study(f, budget="lots", columns=COLUMNS), "budget: got 'lots'"),
    ],
)
def test_errors_name_the_keyword_and_what_to_write(
    call: Any, said: str, frame: pd.DataFrame
) -> None:
    with pytest.raises(LawsmithError) as caught:
        call(frame)
    assert said in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "keyword"),
    [
        ("say which: --columns N=NAME,D=NAME", "say which: columns={'N': 'NAME', 'D': 'NAME'}"),
        ("or --law LC for a law of N", "or law='LC' for a law of N"),
        ("--force to fit all the same", "force=True to fit all the same"),
        ("for an N and a D: --at N=7B,D=140B", "for an N and a D: targets N=7B,D=140B"),
        ("a folder -- of tables", "a folder -- of tables"),
    ],
)
def test_options_become_keywords(option: str, keyword: str) -> None:
    assert keywords(option) == keyword
