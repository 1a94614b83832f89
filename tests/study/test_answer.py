"""What a study knows: an answer when there are runs enough, the stop rule, a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawsmith.journal import Kind, make
from lawsmith.study import LiveStudy, open_study
from lawsmith.study.answer import answer_of, answered, summarise, targets_of
from lawsmith.study.planning import check, draw_surface, plan
from tests.study.studies import N_CANDIDATES, small_study
from tests.study.test_asking import FRONTIER, ask, tell_all


@pytest.fixture
def played(tmp_path: Path) -> LiveStudy:
    """A study with twelve of its runs told."""
    study = small_study(tmp_path, FRONTIER)
    for _ in range(4):
        ask(study, 3)
        tell_all(study)
    return study


def test_without_runs_there_is_no_answer_and_the_reason_is_told(tmp_path: Path):
    study = small_study(tmp_path)
    found = answer_of(study, study.read())
    assert found.answer is None
    assert found.why_not == "0 finished runs, at least 4 are needed"


def test_with_runs_there_is_an_interval_at_each_target(played: LiveStudy):
    found = answer_of(played, played.journal.ledger).answer
    assert found is not None
    assert (found.n_runs, found.study, found.level) == (12, "small", 0.95)
    (forecast,) = found.forecasts
    assert forecast.compute == 1e21
    assert forecast.low < forecast.loss < forecast.high
    assert forecast.levels["opt"] in ("adamw", "muon")


def test_the_stop_rules_compute_is_a_target_once(played: LiveStudy):
    text = played.layout.file.read_text()

    def targets(rule: str) -> list[float]:
        told = text.replace("[law]", f'[law]\nstop_when = "{rule}"')
        played.layout.file.write_text(told)
        return targets_of(open_study(played.layout.file))

    assert targets("loss@1e23 within 1%") == [1e21, 1e23]
    assert targets("loss@1e21 within 1%") == [1e21]


def test_another_process_has_the_same_answer(played: LiveStudy):
    other = open_study(played.layout.file)
    mine = answer_of(played, played.journal.ledger).answer
    theirs = answer_of(other, other.read()).answer
    assert mine is not None
    assert theirs is not None
    assert mine.forecasts == theirs.forecasts


def test_what_is_only_asked_for_does_not_change_the_answer(played: LiveStudy):
    before = answer_of(played, played.journal.ledger).answer
    ask(played, 3)
    after = answer_of(played, played.journal.ledger).answer
    assert before is not None
    assert after is not None
    assert before.forecasts == after.forecasts
    assert before.n_runs == after.n_runs


@pytest.mark.parametrize(
    ("rule", "met"), [("loss@1e21 within 90%", True), ("loss@1e21 within 0.0001%", False)]
)
def test_a_stop_rule_is_judged_by_the_interval(played: LiveStudy, rule: str, met: bool):
    text = played.layout.file.read_text()
    played.layout.file.write_text(text.replace("[law]", f'[law]\nstop_when = "{rule}"'))
    study = open_study(played.layout.file)
    assert answered(study, study.read()) is met


def test_without_a_stop_rule_a_study_goes_on(played: LiveStudy):
    assert not answered(played, played.journal.ledger)


def test_a_summary_adds_up(played: LiveStudy):
    ask(played, 2)
    found = summarise(played, played.journal.ledger, n_next=2)
    assert found.counts["finished"] == 12
    assert found.counts["asked"] == len(found.under_way) == 2
    assert found.spend == pytest.approx(sum(t.cost for t in played.journal.ledger.trials.values()))
    assert found.finished < found.spend
    assert found.window[0] <= found.window[1] == played.grid.C.max()
    assert found.best is not None
    losses = [t.loss for t in played.journal.ledger.trials.values() if t.loss]
    assert found.best.loss == min(losses)
    assert len(found.proposals) == 2


def test_a_checkup_adds_the_dense_grid_up(tmp_path: Path):
    study = small_study(tmp_path, ("flops = 1e30", "flops = 3e17"))
    found = check(study)
    C = sorted(study.grid.C.tolist())
    assert found.total == pytest.approx(sum(C))
    assert (found.least, found.largest) == (C[0], C[-1])
    n = found.n_cheap
    assert sum(C[:n]) <= 3e17 < sum(C[: n + 1])
    assert found.n_largest == int(3e17 // C[-1])
    assert found.command[0] == "/bin/sh"
    assert any("does not use lr, opt" in line for line in found.warnings)


def trainer(folder: Path, text: str) -> Path:
    file = folder / "train.py"
    file.write_text(text)
    return file


def test_a_checkup_warns_of_what_is_odd(tmp_path: Path):
    def warnings(folder: str, *changes: tuple[str, str]) -> str:
        return " ".join(check(small_study(tmp_path / folder, *changes)).warnings)

    assert "buys every candidate" in warnings("a")
    assert "does not buy a single run" in warnings("b", ("flops = 1e30", "flops = 1"))
    assert "no target" in warnings("c", ("targets = [1e21]", ""))
    ratio = ("values = [1e8, 4e8, 1.6e9]", "per_param = [20]")
    assert "chinchilla" in warnings("d", ratio, ("[law]", '[law]\nname = "chinchilla"'))
    script = "import os; print(os.environ['LAWSMITH_CONFIG'])"
    assert "does not use" not in warnings("f", ('"/bin/sh"', f'"{trainer(tmp_path, script)}"'))
    assert "does not use" in warnings("g", ('"/bin/sh"', f'"{trainer(tmp_path, "import os")}"'))
    assert "is not found" in warnings("e", ('"/bin/sh"', '"no-such-program"'))


def test_a_checkup_tells_a_placeholder_no_run_has(tmp_path: Path):
    from lawsmith.errors import LawsmithError

    study = small_study(tmp_path, ('"-c"', '"{layrs}"'))
    with pytest.raises(LawsmithError, match=r"model xs: runner\.command: got \{layrs\}"):
        check(study)


def test_a_plan_narrows_with_the_spend_and_writes_nothing(tmp_path: Path):
    study = small_study(tmp_path, FRONTIER, ("flops = 1e30", "flops = 2e18"))
    points = list(plan(study, draws=2))
    assert {point.draw for point in points} == {0, 1}
    for draw in (0, 1):
        mine = [point for point in points if point.draw == draw]
        assert [p.spend for p in mine] == sorted(p.spend for p in mine)
        assert mine[-1].spend <= 2e18
        assert mine[-1].half_width[0] > 0
    assert not study.layout.journal.exists()


def test_a_surface_of_the_prior_has_every_axis_and_an_optimum_inside(tmp_path: Path):
    import numpy as np

    study = small_study(tmp_path)
    surface = draw_surface(study.grid, np.random.default_rng(0))
    assert set(surface.bowls) == {"lr"}
    assert set(surface.levels) == {"opt"}
    losses = np.exp(surface.mean_log_loss(study.grid.columns))
    assert losses.shape == (N_CANDIDATES,)
    assert np.isfinite(losses).all()


def test_a_failure_shows_the_end_of_its_log(tmp_path: Path):
    study = small_study(tmp_path)
    ask(study, 1)
    folder = study.layout.attempt("t0001", 1)
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("line\nValueError: nothing works\n")
    told = [
        make(Kind.SUBMITTED, "t0001", attempt=1, handle="h"),
        make(Kind.FAILED, "t0001", reason="crash", detail="exit code 1"),
    ]
    study.journal.update(lambda _: told)
    (failure,) = summarise(study, study.journal.ledger, n_next=0).failures
    assert "ValueError: nothing works" in failure.tail
