"""What `fit` once said against itself: each is gone, or is told as a warning."""

from __future__ import annotations

import re

import numpy as np
import pytest

TARGET = ("--target", "1e25")


def codes(found):
    return {warning["code"] for warning in found["warnings"]}


def told(found, code):
    (warning,) = [w for w in found["warnings"] if w["code"] == code]
    return warning


@pytest.fixture
def grid_of(tmp_path):
    """A table of 6 × 6 runs of N and D whose losses ``loss(N, D)`` gives, noise on top."""

    def write(loss, *, noise=0.0):
        rng = np.random.default_rng(0)
        N, D = np.meshgrid(np.geomspace(3e7, 2e9, 6), np.geomspace(1e9, 4e10, 6))
        values = loss(N, D) * np.exp(noise * rng.standard_normal(N.shape))
        rows = zip(N.ravel(), D.ravel(), values.ravel(), strict=True)
        path = tmp_path / "runs.csv"
        text = "".join(f"{n},{d},{x}\n" for n, d, x in rows)
        path.write_text(f"N,D,loss\n{text}", encoding="utf-8")
        return path

    return write


def chinchilla(N, D):
    return 1.69 + 406.4 * N**-0.34 + 410.7 * D**-0.28


@pytest.mark.parametrize("law", ["chinchilla", "gadre", "skaling", "kaplan"])
def test_one_fit_has_one_best_n_and_it_lies_in_its_interval(fit_json, lawsmith, grid_of, law):
    path = grid_of(chinchilla, noise=0.005)
    found = fit_json(path, "--law", law, *TARGET)
    (p,) = found["predictions"]
    shares = p["allocation"]
    assert shares["N"]["value"] == pytest.approx(p["inputs"]["N"], rel=1e-12)
    assert shares["D"]["value"] == pytest.approx(p["inputs"]["D"], rel=1e-12)
    for share in shares.values():
        assert share["interval"][0] <= share["value"] <= share["interval"][1]
    if law == "chinchilla":
        a, alpha, b, beta = (found["params"][name] for name in ("A", "alpha", "B", "beta"))
        best = (alpha * a / (beta * b)) ** (1 / (alpha + beta)) * (1e25 / 6) ** (
            beta / (alpha + beta)
        )
        assert shares["N"]["value"] == pytest.approx(best, rel=1e-9)


def test_a_headline_lies_inside_its_own_interval(fit_json):
    for law in ("LC", "chinchilla"):
        found = fit_json("synthetic-demo", "--law", law, *TARGET, "--level", "0.2")
        for p in found["predictions"]:
            assert p["interval"][0] <= p["loss"] <= p["interval"][1]
            assert p["run_interval"][0] <= p["loss"] <= p["run_interval"][1]
        for answer in found["answers"]:
            assert answer["low"] <= answer["loss"] <= answer["high"]
            assert answer["run_low"] <= answer["loss"] <= answer["run_high"]
        for name, param in found["intervals"]["params"].items():
            assert param["value"] == found["params"][name]
            assert not param["identified"] or param["low"] <= param["value"] <= param["high"]


def test_a_law_that_predicts_more_than_was_reached_is_told(fit_json, lawsmith, tmp_path):
    path = tmp_path / "runs.csv"
    C = np.geomspace(1e17, 2e19, 9)
    loss = 1.0 + 400 * C**-0.14
    rows = "".join(f"{c},{x}\n" for c, x in zip(C, loss, strict=True))
    path.write_text(f"C,loss\n{rows}", encoding="utf-8")
    above = str(loss.min() + 0.01)
    found = fit_json(path, "--law", "LC", "--fix", f"E={above}", *TARGET)
    warning = told(found, "law_above_observed")
    assert warning["predicted"] == found["predictions"][0]["loss"] > warning["reached"]
    assert warning["reached"] == pytest.approx(loss.min())
    assert warning["reached_compute"] == pytest.approx(2e19)
    assert "law_above_observed" not in codes(fit_json(path, "--law", "LC", *TARGET))


def test_laws_and_the_answer_with_disjoint_intervals_are_told(fit_json, lawsmith, grid_of):
    def skaling(N, D):
        return 0.9 + (2e4 * N**-0.5 + 4e3 * D**-0.35) ** 0.4

    path = grid_of(skaling, noise=1e-4)
    found = fit_json(path, "--law", "chinchilla", *TARGET, "--compare")
    warning = told(found, "laws_disagree")
    ends = {
        c["law"]: c["predictions"][0]["interval"] for c in found["comparison"] if c["law"][0] != "L"
    }
    ends |= {
        "LC": next(c["predictions"][0]["interval"] for c in found["comparison"] if c["law"] == "LC")
    }
    (answer,) = found["answers"]
    ends["the answer"] = [answer["low"], answer["high"]]
    names = list(ends)
    apart = [
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if ends[a][1] < ends[b][0] or ends[b][1] < ends[a][0]
    ]
    assert len(apart) == warning["n_disjoint"] > 0
    assert warning["lower_high"] == pytest.approx(ends[warning["lower"]][1])
    assert warning["higher_low"] == pytest.approx(ends[warning["higher"]][0])
    assert warning["lower_high"] < warning["higher_low"]


def test_a_parameter_that_is_not_identified_has_no_interval(fit_json, lawsmith, tmp_path):
    """E in [2.5e-5, 19840], once."""
    path = tmp_path / "narrow.csv"
    rng = np.random.default_rng(5)
    C = np.geomspace(1e20, 3e20, 9)
    loss = (1.6 + 900 * C**-0.15) * np.exp(0.004 * rng.standard_normal(9))
    rows = "".join(f"{c},{x}\n" for c, x in zip(C, loss, strict=True))
    path.write_text(f"C,loss\n{rows}", encoding="utf-8")
    found = fit_json(path, "--law", "LC")
    told = found["intervals"]["params"]["E"]
    want = {"value": found["params"]["E"], "low": None, "high": None, "identified": False}
    assert told == want
    assert codes(found) & {"not_identified", "at_bound"}
    shown = lawsmith("fit", path, "--law", "LC").out
    assert re.search(r"^ +E +\S+ +\S+ +not identified$", shown, re.MULTILINE)
    assert "nan" not in shown


def test_an_allocation_far_from_what_was_run_is_told(fit_json, grid_of):
    """14T parameters on 12B tokens, once, with tight intervals and no word."""
    path = grid_of(lambda N, D: 1.7 + 30 * N**-0.1 + 2e8 * D**-0.9, noise=1e-4)
    found = fit_json(path, "--law", "chinchilla", *TARGET)
    warning = told(found, "allocation_extrapolated")
    N, D = (found["predictions"][0]["allocation"][name]["value"] for name in ("N", "D"))
    assert warning["ratio"] == pytest.approx(D / N)
    assert warning["ratio"] < warning["least_run"]
    assert warning["least_run"] == pytest.approx(1e9 / 2e9)
    assert warning["largest_run"] == pytest.approx(4e10 / 3e7)
    assert "allocation_extrapolated" in {w["code"] for w in found["answer_warnings"]}


def test_every_warning_has_its_numbers(fit_json, grid_of):
    found = fit_json(grid_of(chinchilla, noise=0.02), "--law", "chinchilla", *TARGET)
    assert found["warnings"]
    for warning in found["warnings"] + found["answer_warnings"]:
        assert set(warning) > {"code", "message"}
