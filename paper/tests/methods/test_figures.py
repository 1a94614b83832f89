"""The figures of 'methods': drawn from the same ranks as the table, only when all are there."""

from __future__ import annotations

import numpy as np
import pytest
from paper.tests.methods.fakes import outcome

from lawsmith_paper.methods.contenders import of_role
from lawsmith_paper.methods.figures import methods_pictures
from lawsmith_paper.methods.tables import ranks_table


@pytest.fixture
def results():
    rng = np.random.default_rng(0)
    found = {c.name: outcome(difference=rng.random(4)) for c in of_role("rival")}
    return {"a": found, "b": dict(found)}


def test_the_chart_shows_the_ranks_of_the_table(results):
    (picture,) = methods_pictures(results)
    assert picture.name == "methods-ranks-rival"
    spec = picture.draw(width=760).to_dict()
    (panel,) = spec["vconcat"][0]["concat"]
    dots = next(e for e in panel["layer"] if "color" in e["encoding"])
    drawn = {
        (row["method"], row["budget"]): row["rank"]
        for row in spec["datasets"][dots["data"]["name"]]
    }
    for _, method, *cells in ranks_table(results, "rival").rows:
        assert f"{drawn[method, 5.0]:.2f}" == cells[2]


def test_a_role_with_a_contender_that_was_not_run_has_no_chart(results):
    del results["a"]["vopt"], results["b"]["vopt"]
    assert methods_pictures(results) == []
    assert methods_pictures({}) == []
