"""`lawsmith fit --metric` and `--metrics`: the contract of the JSON, words, bad input."""

from __future__ import annotations

import pandas as pd
import pytest
from tests.tasks.worlds import accuracy_at, loss_at, world

AT = ("--at", "N=1.4B,D=28B")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    scores = world(0)
    frame = pd.DataFrame({"N": scores.grid.N, "D": scores.grid.D})
    frame["loss:c4"] = scores.runs.loss
    frame["loss:code"] = 0.7 * scores.runs.loss
    frame["acc:arc"] = scores.accuracy
    frame["acc:other"] = world(1).accuracy
    frame["name"] = ["a"] * len(frame)
    path = tmp_path_factory.mktemp("tasks") / "runs.csv"
    frame.to_csv(path, index=False)
    return path


def task(*more):
    return ("--metric", "acc:arc", "--chance", "0.25", "--questions", "2000", *AT, *more)


def test_the_answer_is_of_the_accuracy(lawsmith, table):
    found = lawsmith("fit", table, *task("--via", "loss:c4", "--json"))
    assert found.code == 0, found.err
    made = found.json
    answer = made["answers"][0]
    truth = accuracy_at(loss_at(1.4e9, 2.8e10))
    assert answer["low"] <= truth <= answer["high"]
    assert answer["low"] <= answer["value"] <= answer["high"]
    assert (answer["N"], answer["D"], answer["level"]) == (1.4e9, 2.8e10, 0.95)
    assert answer["loss"]["low"] <= loss_at(1.4e9, 2.8e10) <= answer["loss"]["high"]
    assert made["chance"]["estimated"] is False
    assert made["via"] == "loss:c4"


def test_without_via_it_is_the_direct_law_and_without_chance_it_says_so(lawsmith, table):
    found = lawsmith("fit", table, "--metric", "acc:arc", *AT, "--json").json
    assert found["weights"] == {"direct": 1.0}
    assert found["chance"]["estimated"] is True
    text = lawsmith("fit", table, "--metric", "acc:arc", *AT).text
    assert "Chance was not given: estimated as" in text
    assert "From scale alone" in text


def test_text_has_the_numbers_of_the_json(lawsmith, table):
    first = lawsmith("fit", table, *task("--via", "loss:c4", "--json")).json["answers"][0]
    text = lawsmith("fit", table, *task("--via", "loss:c4")).text
    for name in ("value", "low", "high", "mean_low", "mean_high"):
        assert f"{100 * first[name]:.1f}%" in text


def test_several_tasks_have_their_average_too(lawsmith, table):
    args = ("--metric", "acc:arc", "--metric", "acc:other", "--chance", "0.25", *AT)
    found = lawsmith("fit", table, *args, "--via", "loss:c4", "--json").json
    assert list(found["metrics"]) == ["acc:arc", "acc:other", "average"]
    assert found["answers"] == found["metrics"]["acc:arc"]["answers"]
    values = [one["answers"][0]["value"] for one in found["metrics"].values()]
    assert min(values[:2]) - 0.03 <= values[2] <= max(values[:2]) + 0.03
    assert "average" in lawsmith("fit", table, *args, "--via", "loss:c4").text


def test_charts_are_written(lawsmith, table, tmp_path):
    found = lawsmith("fit", table, *task("--via", "loss:c4", "--charts", tmp_path, "--json"))
    names = sorted(path.name for path in tmp_path.glob("*.png"))
    assert names == ["accuracy-by-compute.png", "accuracy-by-loss.png"]
    assert len(found.json["charts"]) == 4
    alone = lawsmith("fit", table, *task("--charts", tmp_path / "direct", "--json")).json
    assert "accuracy-by-loss" in alone["charts_missing"]


def test_a_loss_that_larger_runs_lack_is_inferred_and_the_text_says_so(lawsmith, table, tmp_path):
    runs = pd.read_csv(table)
    cut = (runs.N * runs.D).quantile(0.7)
    path = tmp_path / "lacking.csv"
    runs.assign(**{"loss:code": runs["loss:code"].where(cut >= runs.N * runs.D)}).to_csv(path)
    told = ("fit", path, "--metrics", "loss:c4,loss:code", *AT)
    code = lawsmith(*told, "--json").json["metrics"]["loss:code"]
    assert code["n_diverged"] == 0
    assert code["other_losses"]["relations"][0]["name"] == "loss:c4"
    truth = 0.7 * loss_at(1.4e9, 2.8e10)
    assert code["answers"][0]["low"] <= truth <= code["answers"][0]["high"]
    assert "inferred from loss:c4" in " ".join(lawsmith(*told).text.split())


def test_metrics_are_losses_side_by_side(lawsmith, table):
    found = lawsmith("fit", table, "--metrics", "loss:c4,loss:code", *AT, "--json").json
    c4, code = (one["answers"][0] for one in found["metrics"].values())
    assert code["loss"] == pytest.approx(0.7 * c4["loss"], rel=2e-3)
    assert found["answers"][0] == c4
    one = lawsmith("fit", table, "--loss", "loss:c4", *AT, "--json").json
    assert one["answers"][0]["loss"] == c4["loss"]
    assert "loss:code" in lawsmith("fit", table, "--metrics", "loss:c4,loss:code", *AT).text


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--metric", "acc:ark"), "did you mean acc:arc?"),
        (("--metric", "loss:c4"), "accuracy: got"),
        (("--via", "loss:c4"), "--via: got no --metric"),
        (("--chance", "0.25", "--loss", "loss:c4"), "--chance: got no --metric"),
        (("--metric", "acc:arc", "--chance", "25"), "--chance: got '25'"),
        (("--metric", "acc:arc", "--questions", "1.5"), "--questions: got '1.5'"),
        (("--metric", "acc:arc", "--metric", "acc:arc"), "a column twice"),
        (("--metric", "acc:arc", "--chance", "0.1", "--chance", "0.2"), "2 for 1 metrics"),
        (("--metric", "acc:arc", "--via", "loss:c5"), "did you mean loss:c4?"),
        (("--metric", "acc:arc", "--via", "loss:c4", "--loss", "loss:code"), "want one loss"),
        (("--metrics", "acc:arc"), "for an accuracy: --metric acc:arc"),
        (("--metrics", "loss:c4,,"), "--metrics: got"),
        (("--metric", "acc:arc", "--via", "acc:other"), "--via: got acc:other, which rises"),
        (("--metric", "name"), "column name: got 'a', want"),
    ],
)
def test_bad_input_is_told_in_one_line(lawsmith, table, args, words):
    found = lawsmith("fit", table, *args, *AT)
    assert found.code == 2
    assert words in found.err
    assert found.err.count("\n") == 1


def test_a_report_has_a_card_of_tasks(lawsmith, table, tmp_path):
    page = tmp_path / "report.html"
    found = lawsmith("report", table, *task("--via", "loss:c4"), "--out", page)
    assert found.code == 0, found.err
    text = page.read_text(encoding="utf-8")
    value = lawsmith("fit", table, *task("--via", "loss:c4", "--json")).json["answers"][0]["value"]
    assert f"{100 * value:.1f}%" in text
    assert "acc:arc by loss" in text
    assert lawsmith("report", table, "--via", "loss:c4", "--out", page).code == 2


def test_a_law_of_a_file_is_fitted(lawsmith, table, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "from lawsmith import asymptote, coefficient, define, exponent\n"
        "law = define('mine', lambda x, E, A, a: E + A / x['N'] ** a, inputs=['N'],\n"
        "    params=[asymptote('E', lower=0.1, upper=10), coefficient('A', lower=1, upper=1e5),\n"
        "            exponent('a')])\n",
        encoding="utf-8",
    )
    found = lawsmith("fit", table, "--loss", "loss:c4", "--law", f"{path}:law", "--json")
    assert found.code == 0, found.err
    assert found.json["law"] == "mine"
    assert lawsmith("fit", table, "--loss", "loss:c4", "--law", f"{path}:lawn").code == 2


def test_training_and_serving_is_told_in_text_and_json(lawsmith, table):
    args = ("fit", table, "--loss", "loss:c4", "--target", "1e21", "--inference-tokens", "1T")
    found = lawsmith(*args, "--json").json["serving"][0]
    assert found["total"] < found["training_alone"]["total"]
    assert found["N"] < found["training_alone"]["N"]
    assert "serving 1T tokens" in lawsmith(*args).text
    assert lawsmith(*args[:-1], "lots").code == 2
    assert lawsmith("fit", table, "--loss", "loss:c4", *AT, "--inference-tokens", "1T").code == 2
