"""`lawsmith fit --json`: its contract, and the numbers of published fits."""

from __future__ import annotations

import json

import numpy as np
import pytest

KEYS = {
    *("version", "study", "law", "formula", "n_points", "params", "log_params", "objective"),
    *("objective_name", "status", "gradient", "n_basins", "condition", "at_bounds", "intervals"),
    *("predictions", "held_out", "hyperparameters", "comparison", "warnings", "frontier", "notes"),
}


def test_the_object_has_the_promised_keys(fit_json):
    found = fit_json("synthetic-demo", "--law", "chinchilla", "--target", "1e22")
    assert set(found) >= KEYS
    assert found["law"] == "chinchilla"
    assert list(found["params"]) == ["E", "A", "alpha", "B", "beta"]
    assert list(found["log_params"]) == ["E", "A", "B"]
    assert isinstance(found["objective"], float)
    assert found["study"]["synthetic"] is True
    assert found["study"]["counts"]["diverged"] == len(found["study"]["diverged_rows"]) == 106
    intervals = found["intervals"]
    assert set(intervals) >= {"level", "method", "estimand", "dof", "params", "noise_sd"}
    for name, told in intervals["params"].items():
        assert set(told) == {"value", "low", "high", "identified"}
        assert told["value"] == found["params"][name]
        assert told["low"] <= told["value"] <= told["high"]
        assert told["identified"] is True
    for warning in found["warnings"]:
        assert len(set(warning) - {"code", "message"}) >= 1  # its numbers
    assert len(found["frontier"]) == found["n_points"] == 36
    assert set(found["frontier"][0]) == {"row", "N", "D", "C", "lr", "batch", "loss", "fitted"}


def test_a_prediction_has_the_law_the_run_and_the_allocation(fit_json):
    found = fit_json("synthetic-demo", "--law", "chinchilla", "--target", "1e22")
    (p,) = found["predictions"]
    assert p["target"] == {"C": 1e22, "N": None, "D": None}
    assert p["inputs"]["N"] * p["inputs"]["D"] * 6 == pytest.approx(1e22)
    assert p["interval"][0] <= p["loss"] <= p["interval"][1]
    assert p["run_interval"][0] < p["interval"][0]
    assert p["decades"] == pytest.approx(1.6, abs=0.01)
    share = p["allocation"]
    assert list(share) == ["N", "D", "D/N"]
    assert share["N"]["value"] == pytest.approx(p["inputs"]["N"])
    assert share["D"]["value"] / share["N"]["value"] == pytest.approx(share["D/N"]["value"])
    assert share["N"]["interval"][0] <= share["N"]["value"] <= share["N"]["interval"][1]


def test_alpha_of_a_law_of_compute_is_negative_and_has_no_log(fit_json):
    found = fit_json("synthetic-demo")
    assert found["law"] == "LC"
    assert found["params"]["alpha"] < 0
    assert list(found["log_params"]) == ["E", "A"]


def test_a_number_that_is_not_finite_is_null(fit_json, table):
    found = fit_json(table, "--law", "chinchilla")  # noise-free: no noise to estimate
    assert found["intervals"]["noise_sd"] is None
    assert "NaN" not in json.dumps(found)


def test_without_spare_points_the_intervals_are_null(fit_json, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("C,loss\n1e18,3.5\n1e19,3.0\n1e20,2.7\n", encoding="utf-8")
    found = fit_json(path, "--target", "1e21")
    assert found["intervals"] is None
    assert found["predictions"][0]["interval"] is None
    assert "too_few_levels" in {w["code"] for w in found["warnings"]}


def test_the_same_seed_gives_the_same_bytes(lawsmith):
    args = ("fit", "synthetic-demo", "--target", "1e22", "--hold-out", "0.5", "--json")
    first = lawsmith(*args, "--seed", "3").out
    assert lawsmith(*args, "--seed", "3").out == first
    assert lawsmith(*args, "--seed", "4").out != first


@pytest.fixture
def published_fit(published, fit_json):
    """``published_fit(name, …)``: the JSON of a fit to a catalogued study, or a skip."""

    def run(name, *args):
        published(name)
        return fit_json(name, *args)

    return run


def test_oellm_english_law_of_compute_is_the_papers(published_fit):
    found = published_fit("oellm-english", "--law", "LC", "--hold-out", "0.5")
    assert found["n_points"] == 21
    assert found["log_params"]["E"] == pytest.approx(0.4498, abs=5e-4)
    assert found["log_params"]["A"] == pytest.approx(6.678, abs=5e-4)
    assert found["params"]["alpha"] == pytest.approx(-0.1518, abs=5e-4)
    assert found["params"]["E"] == pytest.approx(1.568, abs=5e-4)
    assert found["status"] == "converged"
    assert found["study"]["counts"] | {"pool": 879, "held_out": 30} == found["study"]["counts"]
    assert any("the paper says 942" in note for note in found["notes"])


def test_oellm_english_whole_grid(published_fit):
    found = published_fit("oellm-english")
    assert found["n_points"] == 23
    assert found["log_params"]["E"] == pytest.approx(0.4683, abs=5e-4)
    assert found["log_params"]["A"] == pytest.approx(6.8538, abs=5e-4)
    assert found["params"]["alpha"] == pytest.approx(-0.1565, abs=5e-4)


def test_oellm_english_least_squares_on_loss_is_another_law(published_fit):
    found = published_fit("oellm-english", "--hold-out", "0.5", "--objective", "least-squares")
    assert found["log_params"]["E"] == pytest.approx(0.4994, abs=5e-4)
    assert found["log_params"]["A"] == pytest.approx(7.2828, abs=5e-4)
    assert found["params"]["alpha"] == pytest.approx(-0.1673, abs=5e-4)


def test_oellm_english_chinchilla(published_fit):
    found = published_fit("oellm-english", "--law", "chinchilla", "--hold-out", "largest-N")
    want = {"E": 1.48865, "A": 149.631, "alpha": 0.281241, "B": 160.598, "beta": 0.259327}
    assert found["params"] == pytest.approx(want, rel=1e-4)
    assert found["n_points"] == 45
    assert found["objective"] == pytest.approx(2.02196e-4, rel=1e-5)
    assert found["held_out"]["rule"] == "largest-N"
    assert found["held_out"]["rmse"] == pytest.approx(0.0155, abs=5e-5)


def test_oellm_english_skaling(published_fit):
    found = published_fit("oellm-english", "--law", "skaling", "--hold-out", "largest-N")
    want = {"E": 1.0126, "A": 2.123e4, "alpha": 0.4936, "B": 3849, "beta": 0.3460, "k": 0.4023}
    assert found["params"] == pytest.approx(want, rel=5e-4)
    assert found["objective"] == pytest.approx(4.2545e-5, rel=1e-4)
    assert found["held_out"]["rmse"] == pytest.approx(0.0054, abs=5e-5)


def test_steplaw(published_fit):
    found = published_fit("steplaw", "--law", "LC", "--hold-out", "0.5")
    assert found["n_points"] == 11
    assert found["study"]["counts"]["pool"] == 1864
    assert found["log_params"] == pytest.approx({"E": 0.2929, "A": 5.0010}, abs=5e-4)
    assert found["params"]["alpha"] == pytest.approx(-0.1103, abs=5e-5)


def test_porian_hp(published_fit):
    found = published_fit("porian-hp", "--law", "LC", "--hold-out", "0.5")
    assert found["n_points"] == 6
    assert found["study"]["counts"]["pool"] == 201
    assert found["log_params"] == pytest.approx({"E": 0.9812, "A": 6.8976}, abs=5e-4)
    assert found["params"]["alpha"] == pytest.approx(-0.1683, abs=5e-5)


def test_porian_hp_cannot_identify_chinchilla_unless_forced(published, lawsmith, fit_json):
    published("porian-hp")
    refused = lawsmith("fit", "porian-hp", "--law", "chinchilla")
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "collinear_design" in refused.err
    assert "cannot be told apart" in refused.err
    assert "--force" in refused.err
    found = fit_json("porian-hp", "--law", "chinchilla", "--force")
    assert "collinear_design" in {w["code"] for w in found["warnings"]}


def test_chinchilla_approach_3(published_fit):
    found = published_fit("chinchilla", "--drop-largest-loss", "5")
    want = {"E": 1.8172181, "A": 477.8259, "alpha": 0.3473105, "B": 2143.4174, "beta": 0.3671724}
    assert found["law"] == "chinchilla"
    assert found["n_points"] == 240
    assert found["params"] == pytest.approx(want, rel=1e-6)
    assert found["objective"] == pytest.approx(1.0182740178e-3, rel=1e-8)
    assert found["study"]["counts"]["dropped"] == 5


def test_chinchilla_on_all_points(published_fit):
    found = published_fit("chinchilla")
    want = {"E": 1.8913, "A": 495.73, "alpha": 0.34931, "B": 12845.6, "beta": 0.45305}
    assert found["params"] == pytest.approx(want, rel=5e-5)
    assert found["objective"] == pytest.approx(1.8260105e-3, rel=1e-6)


@pytest.mark.parametrize(("N", "M", "percent"), [(1.4e9, 640, 0.7103), (6.9e9, 20, 0.7320)])
def test_gadre(published, published_fit, N, M, percent):
    known = published("gadre:all")
    grid, loss = known.grid, known.runs.config_loss(len(known.grid))
    distance = abs(np.log(grid.N / N)) + abs(np.log(grid.D / grid.N / M))
    row = int(np.argmin(distance))
    found = published_fit("gadre", "--at", f"N={grid.N[row]},D={grid.D[row]}")
    want = {"E": 1.83665, "alpha": 166.211, "beta": 366.687, "b": -0.27285}
    assert (found["law"], found["n_points"]) == ("gadre", 5)
    assert found["objective_name"] == "least-squares"
    assert found["params"] == pytest.approx(want, rel=1e-5)
    error = 100 * abs(found["predictions"][0]["loss"] / loss[row] - 1)
    assert error == pytest.approx(percent, abs=5e-5)
