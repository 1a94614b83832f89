"""Hyperparameters in their own units: momentum, tiny constants, decay, and many of them at once."""

from __future__ import annotations

import numpy as np
import pytest

from lawsmith.errors import LawsmithError
from lawsmith.surface import fit
from lawsmith.surface.axes import Axis, axis_of

BASE = {"lr": 3e-3, "beta2": 0.98, "eps": 1e-15, "decay": 0.1, "warmup": 2000.0, "clip": 1.0}
TRIED = {
    "lr": (1e-3, 3e-3, 9e-3),
    "beta2": (0.9, 0.95, 0.98),
    "eps": (1e-25, 1e-20, 1e-15, 1e-10),
    "decay": (0.0, 0.1, 0.2),
    "warmup": (500.0, 1000.0, 2000.0, 4000.0),
    "clip": (0.5, 1.0, 2.0),
}


def made(name: str, *values: float) -> Axis:
    kind = "log" if min(values) > 0.0 else "linear"
    axis = axis_of(name, np.array(values), kind)
    assert axis is not None
    return axis


@pytest.mark.parametrize("name", [*TRIED, "share_of_code"])
def test_values_come_back_from_their_coordinates(name: str) -> None:
    values = TRIED.get(name, (0.2, 0.7, 0.9))
    axis = made(name, *values)
    again = [axis.value(u) for u in axis.coordinate(np.array(values)).tolist()]
    assert again == pytest.approx(values, rel=1e-9, abs=1e-12)


def test_a_momentum_has_the_logs_of_its_odds() -> None:
    axis = made("beta2", 0.9, 0.95, 0.99)
    u = axis.coordinate(np.array([0.9, 0.99]))
    assert np.diff(u)[0] * axis.width == pytest.approx(np.log(99.0 / 9.0))
    assert 0.99 < axis.value(axis.high + 5.0) < 1.0


def test_learning_rates_and_small_shares_stay_in_logs() -> None:
    for name, values in (("lr", (0.2, 0.5, 0.9)), ("dropout", (0.05, 0.1, 0.2))):
        axis = made(name, *values)
        assert axis.kind == "log"
        u = axis.coordinate(np.array(values))
        assert u[1] - u[0] == pytest.approx(np.log(values[1] / values[0]))


def test_an_axis_of_many_e_folds_is_stretched_and_a_narrow_one_is_not() -> None:
    wide, narrow = made("eps", 1e-25, 1e-10), made("warmup", 1000.0, 2000.0)
    assert (wide.low, wide.high) == pytest.approx((-1.0, 1.0))
    assert narrow.high - narrow.low == pytest.approx(np.log(2.0))
    assert made("lr", 1e-6, 1e-1).high == pytest.approx(0.5 * np.log(1e5))
    # Beyond what was tried, both are sought as far: a factor of 2.
    assert wide.value(wide.high + wide.beyond) == pytest.approx(2e-10, rel=0.01)
    assert narrow.value(narrow.high + narrow.beyond) == pytest.approx(4000.0, rel=0.01)


def test_what_was_never_below_0_or_above_1_stays_there() -> None:
    decay, share = made("decay", 0.0, 0.1, 0.2), made("share", 0.25, 0.5, 1.0)
    assert decay.value(decay.possible(np.array([-9.0]))[0]) == pytest.approx(0.0, abs=1e-12)
    assert share.value(share.possible(np.array([9.0]))[0]) == pytest.approx(1.0)
    temperature = made("temperature", -1.0, 0.0, 1.5)
    assert temperature.possible(np.array([-9.0, 9.0])).tolist() == [-9.0, 9.0]


def test_values_that_no_run_can_have_are_refused() -> None:
    scales, loss, hp = one_at_a_time(0)
    surface = fit(scales, loss, hp=hp)
    for name, value, want in (
        ("warmup", -3.0, "a number above 0"),
        ("beta2", 1.5, "a number from 0 to 1"),
        ("decay", float("nan"), "a finite number"),
        ("decay", "little", "a finite number"),
    ):
        with pytest.raises(LawsmithError, match=f"^{name}: got .*, want {want}"):
            surface.at(N=1e9, D=1e10, hp={name: value})
        with pytest.raises(LawsmithError, match=want):
            surface.best(1e20, hp={name: value})
    assert surface.at(N=1e9, D=1e10, hp={"beta2": 1.0}).loss > 0.0


def one_at_a_time(seed: int) -> tuple[dict, np.ndarray, dict]:
    """Four sizes and three token counts; at the cheap ones each hyperparameter is varied alone.

    The learning rate has a bowl, β₂ and the warmup have weak ones, the others do nothing.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for i, N in enumerate((1.3e8, 3e8, 5.4e8)):
        for j, ratio in enumerate((20.0, 40.0, 80.0)):
            rows.append({"N": N, "D": ratio * N, **BASE})
            if i + j < 2:
                changed = [(k, v) for k, values in TRIED.items() for v in values if v != BASE[k]]
                rows += [{"N": N, "D": ratio * N, **BASE, k: v} for k, v in changed]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    loss = law(**columns) * np.exp(1e-3 * rng.standard_normal(len(rows)))
    hp = {name: columns[name] for name in BASE}
    return {name: columns[name] for name in "ND"}, loss, hp


def law(N, D, lr, beta2, warmup, **_: object):
    odds = np.log(beta2 / (1.0 - beta2)) - np.log(0.975 / 0.025)
    bowls = 0.02 * np.log(lr / 3e-3) ** 2 + 3e-3 * odds**2 + 2e-3 * np.log(warmup / 1500.0) ** 2
    return (1.7 + 400.0 * N**-0.34 + 410.0 * D**-0.28) * np.exp(bowls)


def test_many_hyperparameters_varied_one_at_a_time_promise_no_better_loss_than_there_is() -> None:
    target, held = {"N": 1.2e9, "D": 1.9e11}, 0
    best = float(law(**target, lr=3e-3, beta2=0.975, warmup=1500.0))
    off = []
    for seed in range(4):
        scales, loss, hp = one_at_a_time(seed)
        found = fit(scales, loss, hp=hp).at(**target)
        off.append(np.log(found.loss / best))
        held += found.low <= best <= found.high
        assert found.hp["beta2"].high < 1.0
        assert found.hp["decay"].low >= 0.0
        assert found.hp["eps"].high < 1e-8
    assert held >= 3
    assert np.mean(off) > -0.005  # below the truth by half a per cent at most
    assert np.abs(off).max() < 0.015
