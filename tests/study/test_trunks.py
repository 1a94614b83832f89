"""Trunks that are run: branches wait for checkpoints, what is paid is what was trained."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import numpy as np
import pytest

from lawsmith import load, load_curves
from lawsmith.analysis import Target, answer_study
from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Ledger, Stage, make
from lawsmith.runners import Runner, make_runner
from lawsmith.study import LiveStudy
from lawsmith.study.answer import answer_of
from lawsmith.study.asking import propose, stops
from lawsmith.study.changing import cancel, retry_failed
from lawsmith.study.exporting import csv_text, curve_rows, rows_of
from lawsmith.study.loop import Driver, drive
from lawsmith.study.planning import plan
from lawsmith.study.telling import TrialResult, read_results, tell
from lawsmith.study.trunks import along_of, stems_of, trunk_costs, trunk_curves
from tests.study.trunk_studies import DECAY, TOY, chunks, told_by_toy, trained_flops, trunk_study

ONE_SLOT = ("slots = 2", "slots = 1")


def runner_of(study: LiveStudy) -> Runner:
    told = study.spec.runner
    return make_runner(told.kind, told.options, study.layout.folder)


def finish(study: LiveStudy) -> Ledger:
    study.begin()
    for _ in drive(Driver(study, runner_of(study))):
        pass
    return study.read()


def lines(study: LiveStudy) -> list[dict]:
    return [json.loads(line) for line in study.layout.journal.read_text().splitlines()]


def ask(study: LiveStudy, n: int, by: str = "hand") -> list[dict]:
    study.begin()
    return study.journal.update(lambda ledger: propose(study, ledger, n, by=by))


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> tuple[LiveStudy, Ledger]:
    """A study that ran to the end of its budget, one run after another: each time in one order."""
    study = trunk_study(tmp_path_factory.mktemp("played"), ONE_SLOT)
    return study, finish(study)


def test_a_study_of_trunks_runs_to_the_end_of_its_budget(played):
    study, ledger = played
    assert ledger.ended == "budget"
    assert {trial.stage for trial in ledger.trials.values()} == {Stage.FINISHED}
    kinds = {trial.kind for trial in ledger.trials.values()}
    assert kinds == {"trunk", "branch"}
    assert 0.9 * study.budget < ledger.spend <= study.budget


def test_the_ledger_is_what_was_trained_and_nothing_is_trained_twice(played):
    study, ledger = played
    assert ledger.spend == pytest.approx(trained_flops(study, ledger), rel=1e-12)
    for trial in ledger.trials.values():
        assert set(chunks(study, trial).values()) == {1}
    # Nor by two trials: each token of a cell's trunk belongs to one of them.
    for stem in {(t.config["N"], t.config["lr"]) for t in ledger.trials.values()}:
        own = [t for t in ledger.trials.values() if (t.config["N"], t.config["lr"]) == stem]
        walked = sorted(c for t in own if t.kind == "trunk" for c in chunks(study, t))
        assert all(before[1] == after[0] for before, after in itertools.pairwise(walked))


def test_branches_leave_their_trunk_where_the_decay_begins_and_extensions_at_its_end(played):
    study, ledger = played
    seen = set()
    for trial in ledger.trials.values():
        parent = ledger.trials.get(trial.parent)
        seen.add((trial.kind, parent is not None))
        if trial.kind == "branch":
            assert parent is not None
            assert trial.branch_at == pytest.approx((1 - DECAY) * trial.D)
            assert trial.branch_at in (*parent.save_at, parent.D)
            assert trial.D in study.grid.D
        elif parent is not None:
            assert trial.branch_at == parent.D < trial.D
        if parent is not None:
            assert {**trial.config, "D": 0} == {**parent.config, "D": 0}
    assert seen == {("trunk", False), ("trunk", True), ("branch", True)}


def test_the_record_tells_why_and_the_trainer_has_what_it_needs(played):
    study, ledger = played
    asked = {line["trial"]: line for line in lines(study) if line["event"] == "asked"}
    assert all(line["why"] and line["values"] for line in asked.values())
    branch = next(t for t in ledger.trials.values() if t.kind == "branch")
    told = json.loads((study.layout.attempt(branch.name, 1) / "config.json").read_text())
    assert told["kind"] == "branch"
    assert told["branch_at"] == branch.branch_at
    assert told["parent_folder"] == str(study.layout.trial(branch.parent))
    trunk = json.loads((study.layout.attempt(branch.parent, 1) / "config.json").read_text())
    assert trunk["parent"] is None
    assert trunk["parent_folder"] is None
    assert branch.branch_at in trunk["save_at"]
    assert trunk["folder"] == told["parent_folder"]


def test_no_branch_is_submitted_before_its_checkpoint_is_on_record(played):
    study, ledger = played
    there: dict[str, set[float]] = {}
    for line in lines(study):
        name = line.get("trial", "")
        if line["event"] == "saved":
            there.setdefault(name, set()).add(line["tokens"])
        if line["event"] == "finished":
            there.setdefault(name, set()).add(ledger.trials[name].D)
        trial = ledger.trials.get(name)
        if line["event"] == "submitted" and trial is not None and trial.parent:
            assert trial.branch_at in there[trial.parent]


def test_trunks_are_curves_and_branches_are_runs(played):
    study, ledger = played
    history, along = study.history(ledger), along_of(study, ledger)
    branches = [t for t in ledger.trials.values() if t.kind == "branch"]
    assert sorted(history.names) == sorted(t.name for t in branches)
    assert history.unmatched == 0
    for name, parent, at in zip(history.names, along.parent, along.at, strict=True):
        one = along.curves[parent]
        assert ledger.trials[name].config["N"] == one.N
        assert one.hp["lr"] == ledger.trials[name].config["lr"]
        assert at == ledger.trials[name].branch_at <= one.reached
    found = answer_of(study, ledger).answer
    assert found is not None
    assert found.curves is not None
    assert found.curves.n_branches == len(branches)
    # What a decay takes off in `toy_trainer.on_trunk`.
    assert found.curves.gain == pytest.approx(0.027, abs=0.004)


def test_exported_tables_give_the_answer_of_the_study(tmp_path: Path):
    # One run after another: beside each other, what is run depends on which of them ends first. All
    # candidates are run: those that are not widen what a study asks over, but are in no table.
    study = trunk_study(tmp_path / "study", ("flops = 4e17", "flops = 2e18"))
    while told := told_by_toy(ask(study, 1, by="run")):
        study.journal.update(lambda _, told=told: told)
    ledger = study.read()
    tables = {"runs": rows_of(study, ledger), "curves": curve_rows(study, ledger)}
    for name, rows in tables.items():
        (tmp_path / f"{name}.csv").write_text(csv_text(rows, finished=name == "runs"))
    target = Target(study.spec.law.targets[0])
    curves = load_curves(tmp_path / "curves.csv")
    again = answer_study(load(tmp_path / "runs.csv"), [target], curves=curves)
    own = answer_of(study, ledger).answer
    assert own is not None
    assert again.curves.n_branches == own.curves.n_branches
    assert again.forecasts[0].loss == pytest.approx(own.forecasts[0].loss, rel=1e-6)
    assert again.forecasts[0].half_width == pytest.approx(own.forecasts[0].half_width, rel=1e-6)


def test_a_plan_is_played_with_trunks_within_the_budget(tmp_path: Path):
    study = trunk_study(tmp_path, ("flops = 4e17", "flops = 1e17"))
    points = list(plan(study, draws=1))
    assert points[-1].spend <= study.budget
    assert np.isfinite(points[-1].half_width[0])
    assert not study.layout.journal.exists()


def test_the_answer_holds_the_truth(played):
    study, ledger = played
    found = answer_of(study, ledger).answer
    assert found is not None
    # The best of `toy_trainer.annealed` at 1e19 FLOPs, at the best rate.
    N = np.geomspace(1e7, 1e10, 4000)
    best = (1.69 + 406.4 * N**-0.34 + 410.7 * (1e19 / (6 * N)) ** -0.28).min()
    forecast = found.forecasts[0]
    assert forecast.low <= best <= forecast.high


def test_proposals_by_hand_carry_their_lineage_and_results_are_told(tmp_path: Path):
    study = trunk_study(tmp_path)
    trunk, branch = ask(study, 1)
    assert (trunk["kind"], trunk["parent"], trunk["branch_at"]) == ("trunk", None, None)
    assert (branch["kind"], branch["parent"]) == ("branch", trunk["trial"])
    assert branch["branch_at"] == trunk["config"]["D"] == max(trunk["save_at"])
    tell(study, [TrialResult(trunk["trial"], {"loss": 4.0, "tokens": n}) for n in (1e7, 2e7)])
    tell(
        study,
        [TrialResult(trunk["trial"], {"loss": 4.0}), TrialResult(branch["trial"], {"loss": 3.9})],
    )
    ledger = study.read()
    assert ledger.trials[trunk["trial"]].reports == ((1e7, 4.0), (2e7, 4.0))
    assert study.history(ledger).names == (branch["trial"],)
    after = propose(study, ledger, 1, by="hand")
    own = {branch["trial"], trunk["trial"]}
    assert after[0]["kind"] == "trunk" or after[0]["parent"] in own
    # What was made by hand is where lawsmith cannot reach.
    assert stems_of(ledger, "run") == {}
    assert study.launched_by == "run"  # as its file has a runner


def test_a_file_tells_checkpoints_and_ends_of_decays(tmp_path: Path):
    study = trunk_study(tmp_path / "s")
    trunk = ask(study, 1)[0]["trial"]
    path = tmp_path / "told.jsonl"
    rows = [{"trial": trunk, "saved": 1e8}]
    rows += [{"trial": trunk, "tokens": 1.1e8, "loss": 4.4, "final": True}]
    path.write_text("\n".join(map(json.dumps, rows)))
    told = read_results(path)
    assert [event["event"] for event in tell(study, told)] == ["saved", "passed"]
    assert tell(study, told) == []
    with pytest.raises(LawsmithError, match="got saved -1"):
        tell(study, [TrialResult(trunk, {"saved": -1.0})])


def test_a_run_that_passes_several_decays_has_several_results(tmp_path: Path):
    study = trunk_study(tmp_path, ("use = true", "use = false"))
    study.begin()
    config = {"model": "a", "N": 1e7, "lr": 1e-3}
    study.journal.update(
        lambda _: [
            make(Kind.ASKED, "t0001", by="hand", config={**config, "D": 8e8}, cost=4.8e16),
            make(Kind.PASSED, "t0001", tokens=2.001e8, loss=5.0),  # rounded to a batch
            make(Kind.PASSED, "t0001", tokens=3e8, loss=4.8),  # of no candidate
            make(Kind.PASSED, "t0001", tokens=4e8, loss=4.6),
            make(Kind.PASSED, "t0001", tokens=8e8, loss=4.4),
            make(Kind.FINISHED, "t0001", loss=4.4),
        ]
    )
    ledger = study.read()
    runs = study.history(ledger).runs
    assert study.grid.D[runs.index].tolist() == [2e8, 4e8, 8e8]
    assert runs.loss.tolist() == [5.0, 4.6, 4.4]
    assert ledger.spend == 4.8e16


def test_a_trunk_that_diverges_takes_its_branch_with_it_at_no_cost(tmp_path: Path):
    study = trunk_study(
        tmp_path, ('"2e7"]', '"2e7", "--diverge-above", "1e-9"]'), ("flops = 4e17", "flops = 1e17")
    )
    ledger = finish(study)
    branches = [t for t in ledger.trials.values() if t.kind == "branch"]
    assert {t.stage for t in ledger.trials.values()} == {Stage.DIVERGED}
    assert {t.spend for t in branches} == {0.0}
    assert ledger.spend == pytest.approx(trained_flops(study, ledger), rel=1e-12)
    assert 0.0 < ledger.spend < 1e17


def test_a_trunk_that_fails_for_good_cancels_its_branch(tmp_path: Path):
    study = trunk_study(tmp_path, ONE_SLOT, ('"--chunk", "2e7"]', '"--no-such-option"]'))
    with pytest.raises(LawsmithError, match="failed trials"):
        finish(study)
    ledger = study.read()
    assert {t.stage for t in ledger.trials.values() if t.kind == "trunk"} == {Stage.FAILED}
    assert any(t.stage is Stage.CANCELLED for t in ledger.trials.values() if t.kind == "branch")


def test_a_branch_waits_again_when_its_failed_trunk_is_tried_once_more(tmp_path: Path):
    study = trunk_study(tmp_path, ONE_SLOT, ('"--chunk", "2e7"]', '"--no-such-option"]'))
    with pytest.raises(LawsmithError, match="failed trials"):
        finish(study)
    first = {t.name: t.stage for t in study.read().trials.values()}
    mended = trunk_study(tmp_path, ONE_SLOT, ("flops = 4e17", "flops = 1e10"))
    retry_failed(mended)
    ledger = finish(mended)
    again = [t for t in ledger.trials.values() if t.name in first and t.stage is Stage.FINISHED]
    assert {t.kind for t in again} == {"trunk", "branch"}
    failed = [name for name, stage in first.items() if stage is Stage.FAILED]
    assert {ledger.trials[name].stage for name in failed} == {Stage.FINISHED}


def test_a_decay_on_a_trunk_that_is_there_costs_the_decay_alone(played):
    study, ledger = played
    curves = trunk_curves(study, ledger)
    rows = np.arange(len(study.grid))
    costs = trunk_costs(study, ledger, rows, curves, "run")
    ends = {}
    for trial in ledger.trials.values():
        if trial.kind == "trunk":
            key = (float(trial.config["N"]), float(trial.config["lr"]))
            ends[key] = max(ends.get(key, 0.0), trial.D)
    for row in rows:
        N, D = study.grid.N[row], study.grid.D[row]
        walked = ends.get((N, float(study.grid.columns["lr"][row])), 0.0)
        missing = max(0.0, (1 - DECAY) * D - walked)
        assert costs.trunk[row] == pytest.approx(6 * N * missing)
        assert costs.decay[row] == pytest.approx(6 * N * DECAY * D)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([("use = true", "use = true\ndecay = 1.5")], "trunks.decay"),
        ([("use = true", "use = true\nstops = true")], "stops"),
        ([("use = true", "use = true\nstop = true")], "trunks.stop: .* stop in \\[policy\\]"),
        ([("[law]", "[policy]\nname = 'full'\n[law]")], "trunks.use: got policy full"),
        ([("[law]", "[policy]\nsurrogate = 'gp'\n[law]")], "frontier with surface"),
        ([("[law]", "[cost]\ntrunk = true\n[law]")], "cost.trunk"),
        ([("[law]", "[policy]\nreplicates = true\n[law]")], "policy.replicates"),
        ([("lr = [1e-3", "kind = [1e-3")], "reserved"),
    ],
)
def test_a_slip_in_the_section_is_told(tmp_path: Path, changes, message: str):
    with pytest.raises(LawsmithError, match=message):
        trunk_study(tmp_path, *changes)


HOPELESS = 0.05  # a learning rate far above the best one, which is some 4e-3
WITH_HOPELESS = (
    ("lr = [1e-3, 2e-3, 4e-3]", f"lr = [1e-3, 2e-3, 4e-3, {HOPELESS}]"),
    ('"2e7"]', '"2e7", "--hang-above", "0.01"]'),
    ("flops = 4e17", "flops = 8e17"),
)


def play_one(study: LiveStudy) -> None:
    told = told_by_toy(ask(study, 1, by="run"))
    study.journal.update(lambda _: told)


def ask_hopeless(study: LiveStudy, model: str, D: float) -> list[dict]:
    """Ask for a trunk and a decay at a hopeless rate that ends at D tokens."""
    name = study.read().next_name()
    decay, N, b = f"t{int(name[1:]) + 1:04d}", {"a": 1e7, "b": 3e7}[model], 0.8 * D
    config = {"model": model, "N": N, "lr": HOPELESS}
    trunk = {"config": {**config, "D": b}, "cost": 6 * N * b, "save_at": [b]}
    branch = {"config": {**config, "D": D}, "cost": 6 * N * (D - b), "parent": name}
    events = [
        make(Kind.ASKED, name, by="run", kind="trunk", **trunk),
        make(Kind.ASKED, decay, by="run", kind="branch", branch_at=b, **branch),
    ]
    study.journal.update(lambda _: events)
    return [{"branch_at": None, **event} for event in events]


def with_hopeless_trunk(study: LiveStudy) -> str:
    """A study that has trunks and branches, and asks for a trunk and a decay at a hopeless rate.

    What a decay takes off depends on the rate, so two branches at that rate have ended.
    """
    for _ in range(8):
        play_one(study)
    for D in (4e8, 8e8):
        ended = told_by_toy(ask_hopeless(study, "a", D))
        study.journal.update(lambda _, told=ended: told)
    return str(ask_hopeless(study, "b", 1.6e9)[0]["trial"])


def test_a_hopeless_trunk_is_stopped_and_its_rest_returns_to_the_budget(tmp_path: Path):
    study = trunk_study(tmp_path, *WITH_HOPELESS, ONE_SLOT)
    name = with_hopeless_trunk(study)
    before, runner = study.read().spend, runner_of(study)
    deadline = time.monotonic() + 120
    for _ in drive(Driver(study, runner)):  # the trunk hangs, so only stopping ends it
        if not study.journal.ledger.trials[name].open:
            break
        assert time.monotonic() < deadline
    ledger = study.read()
    cancel(study, runner, [trial.name for trial in ledger.open()])
    trunk = ledger.trials[name]
    branch = next(t for t in ledger.trials.values() if t.parent == name)
    assert (trunk.stage, trunk.reason) == (Stage.CANCELLED, "stopped")
    assert (branch.stage, branch.spend) == (Stage.CANCELLED, 0.0)
    told = 6 * 3e7 * sum(b - a for a, b in chunks(study, trunk))
    assert trunk.spend == pytest.approx(told, rel=1e-12)
    assert trunk.spend < 0.6 * trunk.cost
    # What was not trained is there for others, which are asked for at once.
    others = [t for t in ledger.trials.values() if int(t.name[1:]) > int(branch.name[1:])]
    returned = trunk.cost + branch.cost - trunk.spend
    assert ledger.spend == pytest.approx(before - returned + sum(t.spend for t in others))
    assert others
    wishes = [line for line in lines(study) if line["event"] == "cancelling"]
    (values,) = [wish["values"] for wish in wishes if wish["trial"] == name]
    assert values["expected end"] > values["envelope"]
    assert values["chance of the envelope"] < 0.005
    assert values["worth of its rest per FLOP"] < values["worth of the next per FLOP"]


def judged(study: LiveStudy, name: str, lr: float) -> list[dict]:
    """The wishes to stop a trunk that has half of its way behind it."""
    points = np.geomspace(2e7, 6.4e8, 12).tolist()
    told = [(at, TOY["on_trunk"](3e7, at, lr)) for at in points]
    study.journal.update(
        lambda _: [
            make(Kind.SUBMITTED, name, attempt=1, handle="local"),
            make(Kind.RUNNING, name, attempt=1),
            *(make(Kind.REPORTED, name, tokens=at, loss=loss) for at, loss in told),
        ]
    )
    return stops(study, study.read(), [name])


def test_a_trunk_is_not_stopped_where_the_study_says_so_or_its_loss_is_good(tmp_path: Path):
    told = trunk_study(tmp_path / "a", *WITH_HOPELESS)
    assert judged(told, with_hopeless_trunk(told), HOPELESS) != []
    off = trunk_study(tmp_path / "b", *WITH_HOPELESS, ("[law]", "[policy]\nstop = false\n[law]"))
    assert judged(off, with_hopeless_trunk(off), HOPELESS) == []
    good = trunk_study(tmp_path / "c", *WITH_HOPELESS)
    assert judged(good, with_hopeless_trunk(good), 2.9e-3) == []


def test_a_trunk_at_a_rate_that_no_branch_has_tried_is_not_stopped(tmp_path: Path):
    study = trunk_study(tmp_path, *WITH_HOPELESS)
    for _ in range(8):
        play_one(study)
    assert trunk_curves(study, study.read()).trusted
    untried = str(ask_hopeless(study, "b", 1.6e9)[0]["trial"])
    assert judged(study, untried, HOPELESS) == []
    for D in (4e8, 8e8):
        ended = told_by_toy(ask_hopeless(study, "a", D))
        study.journal.update(lambda _, told=ended: told)
    assert stops(study, study.read(), [untried]) != []


def test_no_prefix_is_trusted_before_branches_have_shown_what_a_decay_takes_off(tmp_path: Path):
    study = trunk_study(tmp_path, *WITH_HOPELESS)
    play_one(study)
    config = {"model": "b", "N": 3e7, "lr": HOPELESS, "D": 1.28e9}
    event = make(Kind.ASKED, "t0099", by="run", kind="trunk", config=config, cost=1e17)
    study.journal.update(lambda _: [event])
    assert judged(study, "t0099", HOPELESS) == []
