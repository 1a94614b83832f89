"""Priors that are learnt from studies: known populations recovered, unlike studies left alone."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lawsmith.surface import BROAD, PUBLIC, Lesson, Surface, fit, learn_from_surfaces
from lawsmith.surface.axes import known_name
from lawsmith.surface.data import observe
from lawsmith.surface.fit import UNLIKE, fit_observed, shares
from lawsmith.surface.learning import Evidence, evidence
from lawsmith.surface.prior import Number, Prior, local, reducible, share_shift

SPEC = spec_from_file_location(
    "population", Path(__file__).parents[2] / "benchmarks" / "population.py"
)
SCRIPT = module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)
population = SCRIPT.population
WRONG = {name: Number(3.0, 0.05) for name in ("exponent_N", "exponent_C")}


def loss(N: Any, D: Any, alpha: float, beta: float, E: float = 1.7) -> Any:
    """A law with equal terms at N = 1e8, D = 2e9."""
    return E + 0.6 * (N / 1e8) ** -alpha + 0.6 * (D / 2e9) ** -beta


def drawn(seed: int, alpha: float, beta: float, *, n: int = 60, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    N = np.exp(rng.uniform(np.log(1e7), np.log(1e9), n))
    D = N * np.exp(rng.uniform(1.5, 5.0, n))
    noise = np.exp(rng.normal(0.0, 2e-3, n))
    return {"N": N, "D": D, "loss": loss(N, D, alpha, beta, **more) * noise}


def surface(t: dict[str, Any], **more: Any) -> Surface:
    return fit({"N": t["N"], "D": t["D"]}, t["loss"], **more)


def told(t: dict[str, Any]) -> Evidence:
    data = observe({"N": t["N"], "D": t["D"]}, t["loss"])
    return evidence(fit_observed(data, BROAD))


@pytest.fixture(scope="module")
def family() -> dict[str, tuple[dict[str, Any], float, float]]:
    """Ten studies whose exponents are drawn: ln α ~ N(ln 0.4, 0.15²), ln β ~ N(ln 0.3, 0.05²)."""
    rng = np.random.default_rng(1)
    exponents = np.exp(rng.normal(np.log([0.4, 0.3]), [0.15, 0.05], (10, 2)))
    return {f"s{i}": (drawn(i, a, b), a, b) for i, (a, b) in enumerate(exponents.tolist())}


@pytest.fixture(scope="module")
def learnt(family: dict[str, tuple[dict[str, Any], float, float]]) -> Any:
    return population({name: told(t) for name, (t, _, _) in family.items()})


def test_a_population_of_studies_is_recovered(learnt: Any, family: Any) -> None:
    for name, j in (("exponent_N", 1), ("exponent_D", 2)):
        true = np.log([study[j] for study in family.values()])
        number = learnt[name]
        assert number.mean == pytest.approx(true.mean(), abs=0.12)
        # Never narrower than the studies differ, and far narrower than the broad prior.
        assert true.std(ddof=1) < number.sd < 0.7 * BROAD[name].sd
    assert learnt.public == tuple(family)


def test_few_studies_leave_a_wider_prior(family: Any, learnt: Any) -> None:
    two = population({name: told(family[name][0]) for name in ("s0", "s1")})
    for name in ("exponent_N", "exponent_D", "E", "noise"):
        assert learnt[name].sd < two[name].sd <= BROAD[name].sd


def test_no_studies_leave_the_broad_prior() -> None:
    assert population({}).numbers == BROAD.numbers


def test_a_learnt_prior_helps_where_runs_are_few(learnt: Any) -> None:
    errors: dict[str, list[float]] = {"broad": [], "learnt": []}
    for seed in range(6):
        t = drawn(100 + seed, 0.4, 0.3, n=8)
        for name, prior in (("broad", BROAD), ("learnt", learnt)):
            found = surface(t, prior=prior).at(N=1e10, D=2e11)
            errors[name].append(abs(np.log(found.loss / loss(1e10, 2e11, 0.4, 0.3))))
    assert np.mean(errors["learnt"]) < 0.67 * np.mean(errors["broad"])


def test_a_study_unlike_the_others_is_not_hurt(learnt: Any) -> None:
    t = drawn(7, 1.2, 0.9, n=80, E=0.3)
    true = loss(5e9, 1e11, 1.2, 0.9, E=0.3)
    broad, other = (surface(t, prior=p).at(N=5e9, D=1e11) for p in (BROAD, learnt))
    off = abs(np.log(broad.loss / true))
    assert abs(np.log(other.loss / true)) < off + 0.01
    assert other.run_low <= true <= other.run_high


def test_a_prior_gives_way_to_the_broad_one_in_a_study_unlike_the_others(learnt: Any) -> None:
    def broad_share(study: Any) -> float:
        found = surface(study, prior=learnt)
        broad = [m.trend.sd[2] == BROAD["exponent_N"].sd for m in found.members]
        return float(found.weight[broad].sum())

    assert broad_share(drawn(8, 0.4, 0.3)) < UNLIKE
    assert broad_share(drawn(7, 1.2, 0.9, n=80, E=0.3)) > 0.9


def test_evidence_decides_between_priors() -> None:
    t = drawn(8, 0.4, 0.3)
    broad, wrong = (surface(t, prior=p) for p in (BROAD, Prior(BROAD.numbers | WRONG)))
    share = shares(list(wrong.members), list(broad.members))
    m = len(broad.members)
    np.testing.assert_allclose(share[:m] + share[m:], 1.0)
    assert share[m:].min() > 0.9
    np.testing.assert_allclose(shares(list(broad.members), list(broad.members))[m:], UNLIKE)


def test_an_earlier_study_moves_the_answer_towards_itself() -> None:
    earlier = {Lesson("before", 60): surface(drawn(3, 0.8, 0.6), prior=BROAD)}
    prior = learn_from_surfaces(earlier)
    assert prior.learnt_from == (Lesson("before", 60),)
    for name, true in (("exponent_N", 0.8), ("exponent_D", 0.6)):
        assert PUBLIC[name].centre < prior[name].centre < true + 0.05
        assert prior[name].sd < PUBLIC[name].sd
    t = drawn(4, 0.8, 0.6, n=8)
    true = float(loss(1e10, 2e11, 0.8, 0.6))
    before, after = (surface(t, prior=p).at(N=1e10, D=2e11).loss for p in (PUBLIC, prior))
    assert abs(after - true) < abs(before - true)


def test_more_earlier_studies_teach_more() -> None:
    made = {Lesson(f"s{i}", 60): surface(drawn(i, 0.8, 0.6), prior=BROAD) for i in range(3)}
    one = learn_from_surfaces({Lesson("s0", 60): made[Lesson("s0", 60)]})
    three = learn_from_surfaces(made)
    for name in ("exponent_N", "exponent_D", "E"):
        assert three[name].sd < one[name].sd


def test_the_best_learning_rate_carries_over_as_a_value() -> None:
    t = drawn(5, 0.4, 0.3, n=120)
    rng = np.random.default_rng(55)
    lr = np.exp(rng.uniform(-9.0, -5.0, 120))
    y = np.log(t["loss"]) + 0.02 * (np.log(lr) + 7.5) ** 2
    before = fit({"N": t["N"], "D": t["D"]}, np.exp(y), hp={"lr": lr}, prior=BROAD)
    prior = learn_from_surfaces({Lesson("before", 120): before})
    assert prior.peaks["lr"].raw == pytest.approx(-7.5, abs=0.4)
    # The next study tries other values: the place in what is tried is another one.
    other = np.exp(rng.uniform(-8.0, -6.0, 120))
    new = observe({"N": t["N"], "D": t["D"]}, t["loss"], hp={"lr": other})
    axis = new.frame.numeric[0]
    public, known = (local(p, new.frame).bowl("lr", "centre") for p in (PUBLIC, prior))
    middle, span = axis.middle, axis.high - axis.low
    assert abs(middle + span * known.mean + 7.5) < abs(middle + span * public.mean + 7.5)
    assert known.sd < public.sd


def test_shares_move_with_the_reference_as_a_law_says() -> None:
    for away in (-8.0, 0.0, 5.0):
        E = 1.0 - reducible(0.0)
        assert E * np.exp(share_shift("E", away)) == pytest.approx(1.0 - reducible(away))
        assert (1.0 - E) * np.exp(share_shift("term_C", away)) == pytest.approx(reducible(away))
    assert share_shift("exponent_N", 3.0) == 0.0


def test_the_broad_prior_is_the_same_at_every_reference() -> None:
    t = drawn(0, 0.4, 0.3)
    frame = observe({"N": t["N"], "D": t["D"]}, t["loss"]).frame
    assert local(BROAD, frame).numbers == BROAD.numbers


def test_hyperparameters_are_known_by_their_usual_names() -> None:
    assert known_name("Learning-Rate") == known_name("lr") == "lr"
    assert known_name("global_batch_size") == known_name("bs") == "batch"
    assert known_name("dropout") == ""
    assert PUBLIC["lr.drift_N"].mean < -0.2  # larger models want smaller rates
    assert isinstance(PUBLIC["lr.height"], Number)


def test_the_numbers_of_a_surface_with_the_broad_prior_are_pinned() -> None:
    """Pinned: a change of the broad prior, of the forms or of the kernel shows here."""
    rng = np.random.default_rng(9)
    N = np.exp(rng.uniform(np.log(1e7), np.log(1e9), 40))
    D = N * np.exp(rng.uniform(1.5, 5.0, 40))
    lr = np.exp(rng.uniform(-9.0, -5.0, 40))
    y = np.log(loss(N, D, 0.4, 0.3)) + 0.02 * (np.log(lr) + 7) ** 2 + rng.normal(0, 2e-3, 40)
    found = fit({"N": N, "D": D}, np.exp(y), hp={"lr": lr}, prior=BROAD)
    joined, iso = found.members
    want = [0.524886, -1.150489, -0.956544, -1.225053, -1.225355, -0.120971]
    np.testing.assert_allclose(joined.theta[:6], want, atol=2e-5)
    want = [0.51651, -0.562547, -1.808575, -4.166109, -0.495551, 0.061728]
    np.testing.assert_allclose(iso.theta[:6], want, atol=2e-5)
    np.testing.assert_allclose(joined.eta[-4:], [-5.30714, 0.02679, -6.10989, -0.0582], atol=2e-4)
