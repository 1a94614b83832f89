"""An outlook in words and as JSON, from one made by hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from lawsmith.cli.outlook_view import outlook_payload, show_outlook
from lawsmith.cli.payload import plain
from lawsmith.laws.catalogue import get_law
from lawsmith.laws.fit import fit_law
from lawsmith.laws.uncertainty import Interval
from lawsmith.outlook import Outlook, Prediction

C = np.geomspace(1e18, 1e21, 6)
LAW = get_law("LC")
AT_1E25 = Prediction(
    compute=1e25,
    inputs={"C": 1e25},
    loss=1.9,
    pool=Interval(1.9, 1.85, 1.95),
    truth=Interval(1.91, 1.7, 2.2),
    decades=4.0,
)
SHARES = {
    "N": Interval(7e10, 5e10, 9e10),
    "D": Interval(2.381e13, 1.85e13, 3.3e13),
    "D/N": Interval(340.1, 206.0, 660.0),
}


@pytest.fixture
def outlook():
    phi = np.zeros((4, 3))
    return Outlook(
        law=LAW,
        fit=fit_law(LAW, {"C": C}, 1.7 + 800 * C**-0.15),
        rows=np.arange(6),
        observed=np.array([True, True, False, True, False, False]),
        params={"E": Interval(1.7, 1.6, 1.8)},
        predictions=(AT_1E25,),
        level=0.9,
        n_draws=4,
        pool_phi=phi,
        truth_phi=phi,
    )


def shown(outlook) -> str:
    file = io.StringIO()
    show_outlook(Console(file=file, width=200), outlook)
    return " ".join(file.getvalue().split())


def test_the_two_intervals_stand_apart_each_under_its_name(outlook):
    text = shown(outlook)
    assert "Outlook: what these runs say, with 90% intervals" in text
    assert "loss of the whole pool's law true loss beyond the pool" in text
    row = "1e25 FLOPs 1.9000 [1.8500, 1.9500] 1.9100 [1.7000, 2.2000] 4.0 decades"
    assert row in text
    assert "From 6 points of the envelope, 3 of them run and the others fantasized." in text
    assert "the best are" not in text


def test_a_law_of_N_and_D_says_what_is_best_at_each_target(outlook):
    both = (replace(AT_1E25, allocation=SHARES), replace(AT_1E25, compute=1e23))
    text = shown(replace(outlook, predictions=both))
    assert (
        "At 1e25 FLOPs the best are N = 70B [50B, 90B], D = 23.8T [18.5T, 33T], "
        "D/N = 340 [206, 660]." in text
    )
    assert text.count("the best are") == 1


def test_without_a_target_there_is_nothing_to_show(outlook):
    assert shown(replace(outlook, predictions=())) == ""


def test_the_json_has_the_same_numbers_and_is_plain(outlook):
    found = outlook_payload(replace(outlook, predictions=(replace(AT_1E25, allocation=SHARES),)))
    assert json.loads(json.dumps(plain(found), allow_nan=False)) == {
        "level": 0.9,
        "params": pytest.approx({"E": 1.7, "A": 800, "alpha": -0.15}, rel=1e-4),
        "param_intervals": {"E": {"centre": 1.7, "low": 1.6, "high": 1.8}},
        "n_points": 6,
        "n_observed": 3,
        "predictions": [
            {
                "compute": 1e25,
                "inputs": {"C": 1e25},
                "loss": 1.9,
                "pool": {"centre": 1.9, "low": 1.85, "high": 1.95},
                "truth": {"centre": 1.91, "low": 1.7, "high": 2.2},
                "decades": 4.0,
                "allocation": {
                    "N": {"centre": 7e10, "low": 5e10, "high": 9e10},
                    "D": {"centre": 2.381e13, "low": 1.85e13, "high": 3.3e13},
                    "D/N": {"centre": 340.1, "low": 206.0, "high": 660.0},
                },
            }
        ],
    }
    assert outlook_payload(outlook)["predictions"][0]["allocation"] is None
