"""The table of runs: its columns, their forms, and the distance from the law."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.runs import State


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
    p, grid = table.analysis.fit.params, table.study.grid
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
    fitted = np.isin(table.study.runs.index, table.analysis.frontier)
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
