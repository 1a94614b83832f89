"""What lawsmith once said against itself, each with a test that it no longer does."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lawsmith.answer import Answer, Target, answer
from lawsmith.answer.text import headline
from lawsmith.charts.allocation import best_data
from lawsmith.charts.answer import answer_with_runs
from lawsmith.datasets import Study
from lawsmith.formats import parse_number

from . import tables
from .reading import of_text

TARGET = Target(1e22)
TABLES = {
    "sweep": tables.sweep(),
    "without noise": tables.few(30, seed=4, noise=0.0),
    "much noise": tables.few(30, seed=5, noise=0.05),
    "12 runs": tables.few(12),
    "6 runs": tables.few(6, seed=2),
}


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    return {name: tables.study(table, name) for name, table in TABLES.items()}


@pytest.fixture(scope="module")
def answers(studies) -> dict[str, Answer]:
    targets = [TARGET, Target(1e25), Target(6 * 3.3e9 * 5e10, 3.3e9, 5e10)]
    return {name: answer(s.grid, s.runs, targets) for name, s in studies.items()}


@pytest.mark.parametrize("name", TABLES)
def test_a_headline_lies_inside_its_own_interval(answers, name):
    """Once: 2.573, likely within 2.577 to 2.668."""
    for f in answers[name].forecasts:
        told = headline(answers[name], f)
        found = re.fullmatch(r"(\S+) at .*, 95% interval \[(\S+), (\S+)\]", told)
        assert found is not None, told
        value, low, high = map(float, found.groups())
        assert low <= value <= high
        assert low < high


@pytest.mark.parametrize("name", TABLES)
def test_there_is_one_best_N_for_one_fit(answers, name):
    """Once: 44B on the terminal and 54B in the report, each with an interval of its own."""
    made = answers[name]
    f = made.forecasts[0]
    N = f.scales["N"]
    told = of_text(made.summary(), [TARGET.label])[TARGET.label]["N"]
    assert told == pytest.approx(tuple(N), rel=5.1e-3)
    (first, *_) = made.to_dict()["answers"]
    assert first["N"] == N.centre
    assert first["scales"]["N"]["interval"] == [N.low, N.high]


@pytest.mark.parametrize("name", ["sweep", "6 runs"])
def test_a_chart_has_the_best_N_of_the_answer(answers, studies, name):
    """Once: 44B on the terminal and 54B in a chart."""
    assert answers[name].largest < TARGET.C / 10  # or the chart has no line there
    lines = best_data(
        answer_with_runs(
            replace(answers[name], forecasts=answers[name].forecasts[:1]), studies[name]
        )
    ).lines
    drawn = lines[(lines["quantity"] == "N") & np.isclose(lines["C"], TARGET.C, rtol=1e-6)]
    columns = ["value", "low", "high", "near_low", "near_high"]
    N = answers[name].forecasts[0].scales["N"]
    assert drawn[columns].to_numpy().tolist() == [pytest.approx(tuple(N), rel=1e-4)]


def test_no_interval_of_the_best_N_has_zero_width():
    for table in (tables.sweep(3), tables.few(30, seed=4, noise=0.0)):
        made = tables.study(table)
        for f in answer(made.grid, made.runs, [Target(1e19), Target(1e21)]).forecasts:
            for name in ("N", "D", "D/N"):
                assert f.scales[name].low < f.scales[name].centre < f.scales[name].high


def test_the_best_N_is_not_known_exactly_where_N_and_D_were_run_in_one_proportion():
    table = tables.few(20, seed=3).assign(D=lambda t: 20 * t.N)
    made = tables.study(table.assign(loss=tables.law(table.N, table.D)))
    (f,) = answer(made.grid, made.runs, [Target(1e21)]).forecasts
    assert f.scales["N"].high > 1.1 * f.scales["N"].low


@pytest.mark.parametrize("name", TABLES)
def test_no_loss_far_out_is_above_one_already_reached(answers, studies, name):
    """Once: a loss at 1e25 above one that a run of 2e19 had."""
    reached = float(np.nanmin(studies[name].runs.loss))
    for f in answers[name].forecasts[:2]:
        assert f.loss < reached


def test_where_it_is_there_is_a_warning():
    """A run far below the others, such as one of another data set."""
    table = tables.few(60, seed=7)
    odd = pd.DataFrame({"N": [1e8], "D": [2e9], "loss": [1.5]})
    made = tables.study(pd.concat([table, odd]))
    found = answer(made.grid, made.runs, [Target(1e21)])
    assert found.forecasts[0].loss > 1.5
    (told,) = [w for w in found.warnings if w.code == "answer_above_observed"]
    assert told.numbers["reached"] == 1.5
    assert "a cheaper run has less loss" in found.verdict


def test_a_far_allocation_that_was_not_run_is_never_firm(studies):
    """Once: 14T parameters on 12B tokens with tight intervals and no word about it."""
    s = studies["sweep"]
    found = answer(s.grid, s.runs, [Target(6 * 1.4e13 * 1.2e10, 1.4e13, 1.2e10)])
    assert "allocation_extrapolated" in {w.code for w in found.warnings}
    assert "D/N was not run" in found.verdict
    assert found.forecasts[0].half_width > 0.03


def test_numbers_are_read_back_as_they_are_written():
    """The tests above read text: what reads it must not round or guess."""
    text = "1e22 FLOPs, inside the data\n  N  5.42B  [4.7B, 6.24B]  [2.67B, 9.54B]\n"
    want = tuple(map(parse_number, ("5.42e9", "4.7e9", "6.24e9", "2.67e9", "9.54e9")))
    assert of_text(text, ["1e22 FLOPs"]) == {"1e22 FLOPs": {"N": pytest.approx(want)}}


def test_a_run_far_below_the_others_is_told_with_its_numbers():
    table = tables.few(60, seed=7)
    clean = tables.study(table)
    assert "odd_run" not in {w.code for w in answer(clean.grid, clean.runs, [TARGET]).warnings}
    odd = pd.DataFrame({"N": [1e8], "D": [2e9], "loss": [2.2]})
    made = tables.study(pd.concat([table, odd]))
    found = answer(made.grid, made.runs, [TARGET])
    (told,) = [w for w in found.warnings if w.code == "odd_run"]
    assert told.numbers["compute"] == pytest.approx(6 * 1e8 * 2e9)
    assert told.numbers["loss"] == pytest.approx(2.2)
    assert told.numbers["expected"] > 2.5
    assert "does not belong" in found.verdict
