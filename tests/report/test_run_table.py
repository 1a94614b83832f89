"""The table of runs: its columns, their forms, and the distance from the law."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.analysis import FitOptions, Target
from lawsmith.charts.answer import answer_data
from lawsmith.charts.isoflop import isoflop_data
from lawsmith.charts.residuals import residuals_data
from lawsmith.charts.runs import run_rows
from lawsmith.cli import main
from lawsmith.datasets import ReadOptions, load
from lawsmith.laws.catalogue import LC
from lawsmith.report import Record, cards_of, read_replay, replay_source, table_source
from lawsmith.runs import State

from .sources import ATTACK


def column(source, name):
    return next(c for c in source.runs.columns if c.name == name)


def test_forms_say_how_numbers_are_written(table):
    forms = {c.name: c.form for c in table.runs.columns}
    assert forms == {
        **{"run": "number", "state": "text", "N": "count", "D": "count", "C": "flops"},
        **{"lr": "number", "batch": "number", "loss": "loss", "law": "loss"},
        **{"above law (%)": "percent", "role": "text"},
    }


def test_runs_are_in_the_tables_order_with_their_own_losses(table):
    runs = table.study.runs
    losses = [np.nan if v is None else v for v in column(table, "loss").values]
    np.testing.assert_allclose(losses, runs.loss, rtol=1e-5)
    sizes = table.study.grid.N[runs.index]
    np.testing.assert_allclose(column(table, "N").values, sizes, rtol=1e-5)
    assert column(table, "state").values == runs.state.tolist()


def test_the_distance_from_the_law_is_in_per_cent(table):
    p, grid = table.findings.analysis.fit.params, table.study.grid
    rows = table.study.runs.index
    law = p["E"] + p["A"] * grid.N[rows] ** -p["alpha"] + p["B"] * grid.D[rows] ** -p["beta"]
    done = table.study.runs.state == State.DONE.value
    found = np.array(
        [v if v is not None else np.nan for v in column(table, "above law (%)").values]
    )
    wanted = 100 * (table.study.runs.loss / law - 1)
    np.testing.assert_allclose(found[done], wanted[done], rtol=1e-2, atol=1e-3)


def test_fitted_runs_are_called_so(table):
    roles = np.array(column(table, "role").values)
    fitted = np.isin(table.study.runs.index, table.findings.analysis.frontier)
    assert ((roles == "fitted") == fitted).all()


def test_a_replays_runs_are_numbered_as_they_were_chosen(replay):
    assert column(replay, "run").values == list(range(1, 19))
    shares = column(replay, "spent (%)").values
    assert shares == sorted(shares)
    chosen = column(replay, "chosen by").values
    assert chosen[0] == "initial design"
    assert chosen[-1] == "search"


def test_a_live_studys_runs_go_by_their_trials_names_and_stages(live, study):
    trials = study.read().trials
    assert column(live, "run").values == list(trials)
    stages = column(live, "state").values
    assert stages == [t.stage.value for t in trials.values()]
    assert {"finished", "diverged", "failed"} == set(stages)
    losses = column(live, "loss").values
    assert losses[stages.index("failed")] is None
    first = next(iter(trials.values()))
    assert losses[0] == pytest.approx(first.loss, rel=1e-5)


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """A table of the user's own whose runs have names, the first of them a script's."""
    rows = [(1e8 * 2**i, 2e9 * 2**j) for i in range(6) for j in range(6)]
    lines = [
        f"{'abc'[i % 3]}-{i},{N},{D},{1.7 + 400 * N**-0.34 + 410 * D**-0.28:.5f}"
        for i, (N, D) in enumerate(rows)
    ]
    lines[0] = lines[0].replace("a-0", ATTACK)
    path = tmp_path_factory.mktemp("named") / "runs.csv"
    path.write_text("\n".join(["run_id,params,tokens,val_loss", *lines]) + "\n")
    return path


def test_a_tables_own_names_stand_in_its_rows_and_over_its_points(named):
    study = load(str(named))
    target = Target(1e23)
    source = table_source(study, FitOptions(LC, targets=(target,)), (target,), Record())
    assert column(source, "run").values[:3] == [ATTACK, "b-1", "c-2"]
    assert column(source, "run").form == "text"
    rows = run_rows(source.findings.analysis)
    assert next(iter(rows.names)) == "run"
    assert rows.frame["run"].tolist() == list(study.run_names)
    for card in cards_of(source):
        assert ATTACK not in card.html
    points = residuals_data(source.findings.analysis).points
    assert set(points["run"]) <= set(study.run_names)
    assert "run" in isoflop_data(source.findings.analysis).cells


@pytest.mark.usefixtures("without_charts")
def test_a_replay_of_a_named_table_tells_the_names_of_what_it_chose(named, tmp_path, monkeypatch):
    monkeypatch.setenv("LAWSMITH_CACHE", str(tmp_path / "cache"))
    words = ["replay", str(named), "--iterations", "14", "--hold-out", "0.5"]
    assert main([*words, "--out", str(tmp_path / "replay")]) == 0
    replayed = read_replay(tmp_path / "replay" / "trace.json", ReadOptions())
    source = replay_source(replayed, Record())
    task, names = replayed.trace.task, replayed.study.run_names
    wanted = [names[task.rows[step.candidate]] for step in replayed.trace.steps]
    assert column(source, "name").values == wanted
    assert [attempt.name for attempt in source.attempts] == wanted
    run_names = source.findings.answered.run_names
    assert run_names[task.rows[replayed.trace.steps[3].candidate]] == wanted[3]
    shown = answer_data(source.findings.answered).runs.frame
    assert set(shown.loc[shown["kind"] != "not-run", "run"]) <= set(wanted)
    assert set(shown["run"]) > set(wanted)
