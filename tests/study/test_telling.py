"""Results told by hand: what is taken, what is refused, files as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Kind, Stage, make
from lawsmith.study import LiveStudy
from lawsmith.study.changing import take_back
from lawsmith.study.telling import TrialResult, doubts, read_results, tell
from tests.study.studies import small_study
from tests.study.test_asking import ask


@pytest.fixture
def study(tmp_path: Path) -> LiveStudy:
    """A study with t0001 to t0003 asked by hand."""
    made = small_study(tmp_path)
    ask(made, 3)
    return made


def told(trial: str, loss: float | None, **values: object) -> TrialResult:
    return TrialResult(trial, {**values, "loss": loss})


def stage(study: LiveStudy, name: str = "t0001") -> Stage:
    return study.journal.ledger.trials[name].stage


def test_a_loss_is_taken(study: LiveStudy):
    assert len(tell(study, [told("t0001", 2.5)])) == 1
    assert study.journal.ledger.trials["t0001"].loss == 2.5


@pytest.mark.parametrize("loss", [None, float("nan"), float("inf")])
def test_no_loss_is_a_divergence(study: LiveStudy, loss: float | None):
    tell(study, [told("t0001", loss)])
    assert stage(study) is Stage.DIVERGED


def test_the_same_result_twice_is_one_and_another_is_refused(study: LiveStudy):
    tell(study, [told("t0001", 2.5)])
    assert tell(study, [told("t0001", 2.5)]) == []
    with pytest.raises(LawsmithError, match=r"t0001: got 2\.6, want 2\.5, as told before"):
        tell(study, [told("t0001", 2.6)])


def test_a_loss_far_from_all_others_is_doubted_once_there_are_two(study: LiveStudy):
    assert doubts(study, [told("t0001", 372.0)]) == []
    tell(study, [told("t0001", 3.7), told("t0002", 3.5)])
    (doubt,) = doubts(study, [told("t0003", 372.0)])
    assert doubt == "t0003: a loss of 372, after 3.5 to 3.7 so far"
    assert len(doubts(study, [told("t0003", 0.37)])) == 1
    assert doubts(study, [told("t0003", 5.9), told("t0003", float("nan"))]) == []


def test_a_result_taken_back_can_be_told_anew(study: LiveStudy):
    tell(study, [told("t0001", 2.5)])
    take_back(study, ["t0001"], because="wrong data")
    assert stage(study) is Stage.QUARANTINED
    tell(study, [told("t0001", 2.6)])
    assert study.journal.ledger.trials["t0001"].loss == 2.6


def test_several_are_taken_together_or_not_at_all(study: LiveStudy):
    before = study.layout.journal.read_bytes()
    with pytest.raises(LawsmithError, match="got trial 't0009'"):
        tell(study, [told("t0001", 2.5), told("t0009", 2.5)])
    assert study.layout.journal.read_bytes() == before


def test_a_result_of_another_configuration_is_refused(study: LiveStudy):
    with pytest.raises(LawsmithError, match="N is 5 in the result"):
        tell(study, [told("t0001", 2.5, N=5)])
    with pytest.raises(LawsmithError, match="which no loss can be"):
        tell(study, [told("t0001", -2.5)])


def test_a_run_that_lawsmith_launched_is_not_told_about(study: LiveStudy):
    config = dict(study.candidates.configs[0])
    study.journal.update(lambda _: [make(Kind.ASKED, "t0009", by="run", config=config, cost=1.0)])
    with pytest.raises(LawsmithError, match="which lawsmith is running"):
        tell(study, [told("t0009", 2.5)])
    study.journal.update(lambda _: [make(Kind.FAILED, "t0009", reason="crash")])
    tell(study, [told("t0009", 2.5)])
    assert stage(study, "t0009") is Stage.FINISHED


def test_a_loss_with_tokens_is_one_on_the_way(study: LiveStudy):
    tell(study, [TrialResult("t0001", {"loss": 4.0, "tokens": 1e7})])
    trial = study.journal.ledger.trials["t0001"]
    assert (trial.open, trial.report, trial.loss) == (True, (1e7, 4.0), None)


FILES = {
    "a.json": '[{"trial": "t0001", "loss": 2.5}, {"trial": "t0002", "loss": null}]',
    "b.json": '{"trial": "t0001", "loss": 2.5}\n\n{"trial": "t0002", "loss": "nan"}\n',
    "c.jsonl": '{"trial": "t0001", "loss": 2.5}\n{"trial": "t0002", "diverged": true}',
    "d.csv": "trial,loss,note\nt0001,2.5,x\nt0002,nan,\n",
    "e.tsv": "trial\tloss\nt0001\t2.5\nt0002\tinf\n",
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_results_are_read(study: LiveStudy, tmp_path: Path, name: str):
    (tmp_path / name).write_text(FILES[name])
    assert len(tell(study, read_results(tmp_path / name))) == 2
    assert (stage(study), stage(study, "t0002")) == (Stage.FINISHED, Stage.DIVERGED)


def test_what_ask_printed_with_losses_filled_in_can_be_told(study: LiveStudy, tmp_path: Path):
    trial = study.journal.ledger.trials["t0001"]
    import json

    row = {"trial": "t0001", "config": dict(trial.config), "cost": trial.cost, "loss": 2.5}
    (tmp_path / "round.json").write_text(json.dumps([row]))
    assert len(tell(study, read_results(tmp_path / "round.json"))) == 1
    row["config"]["lr"] = 99
    row["loss"] = 2.6
    (tmp_path / "round.json").write_text(json.dumps([row]))
    with pytest.raises(LawsmithError, match="lr is 99 in the result"):
        tell(study, read_results(tmp_path / "round.json"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "[]", "got no result"),
        ("a.json", "[5]", "row 1: got 5"),
        ("a.json", '[{"loss": 2}]', "want an object with trial and loss"),
        ("a.json", '[{"trial": "t0001"}]', "got no loss of t0001"),
        ("a.json", '[{"trial": "t0001", "loss": "x"}]', "loss: got 'x'"),
        ("a.json", "{", "line 1: got '{'"),
        ("a.csv", "trial,los\nt0001,3\n", "row 1: got no loss"),
        ("a.csv", "", "got no result"),
    ],
)
def test_a_file_that_tells_nothing_is_refused(tmp_path: Path, name: str, text: str, message: str):
    (tmp_path / name).write_text(text)
    with pytest.raises(LawsmithError) as caught:
        read_results(tmp_path / name)
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(LawsmithError, match="No such file"):
        read_results(tmp_path / "no.json")


def test_a_loss_on_the_way_that_is_told_again_is_known_and_another_corrects_it(study: LiveStudy):
    def on_the_way(loss: float, **more: object) -> TrialResult:
        return TrialResult("t0001", {"loss": loss, "tokens": 1e7, **more})

    for final, kind in ((False, "reported"), (True, "passed")):
        assert [e["event"] for e in tell(study, [on_the_way(4.0, final=final)])] == [kind]
        assert tell(study, [on_the_way(4.0, final=final)]) == []
        assert len(tell(study, [on_the_way(3.9, final=final)])) == 1
    trial = study.journal.ledger.trials["t0001"]
    assert trial.reports == ((1e7, 3.9),)
    assert [passed[:2] for passed in trial.passed] == [(1e7, 3.9)]


def test_a_divergence_told_twice_is_one(tmp_path: Path):
    study = small_study(tmp_path, ("[law]", "[results]\ndiverged_above = 10\n\n[law]"))
    ask(study, 1)
    assert len(tell(study, [told("t0001", 11.0)])) == 1
    assert tell(study, [told("t0001", 11.0)]) == []
    assert stage(study) is Stage.DIVERGED
