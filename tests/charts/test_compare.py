"""The comparison chart: errors in the order given, laws left out with their reason."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.analysis import Comparison, compare_laws
from lawsmith.answer import HeldOutRuns
from lawsmith.charts import ChartUnavailable, compare
from lawsmith.charts.compare import compare_data, score_texts
from lawsmith.laws.catalogue import CHINCHILLA, LC, LN


def comparison(law, fit, *, error):
    loss = np.array([2.0, 2.0])
    said = loss * (1 + error)
    return Comparison(law, fit, HeldOutRuns(np.arange(2), loss, loss, said, said, said))


def test_scores_are_rmse_and_its_share_of_the_loss(compute_law):
    given = [comparison(LC, compute_law.fit, error=0.01)]
    data = compare_data([*given, Comparison(LN, None, None, "one level of N")])
    row = data.scores.iloc[0]
    assert (row["law"], row["rmse"], row["percent"]) == (
        "LC",
        pytest.approx(0.02),
        pytest.approx(1),
    )
    assert data.n_judged == 2
    assert data.left_out == (("LN", "one level of N"),)
    assert score_texts(data) == ["1.00% (RMSE 0.0200)"]


def test_laws_stand_best_first_as_compared(demo):
    found = compare_laws(demo.study, demo.options, (LN, LC, CHINCHILLA))
    data = compare_data(found)
    assert data.scores["rmse"].is_monotonic_increasing
    bars = compare(found).to_dict()["layer"][0]
    assert bars["encoding"]["y"]["sort"] == data.scores["law"].tolist()


def test_laws_that_could_not_be_fitted_are_named_below_the_title(compute_law):
    found = [comparison(LC, compute_law.fit, error=0.01), Comparison(LN, None, None, "why")]
    assert "not fitted: LN" in compare(found).to_dict()["title"]["subtitle"]


def test_a_comparison_without_a_fit_has_no_chart():
    with pytest.raises(ChartUnavailable, match="no law could be fitted"):
        compare([Comparison(LC, None, None, "no runs")])
