"""A replay step by step: its frames by value, its reasons in words, its page and its figures."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import altair as alt
import numpy as np
import pytest

from lawsmith.charts.runs import ChartUnavailable
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import LC, get_law
from lawsmith.policies import make_policy
from lawsmith.policies.frontier import Weighed
from lawsmith.replay import Stop, prepare, run_replay
from lawsmith.runs import Runs
from lawsmith.surrogates import make_surrogate
from lawsmith.surrogates.base import Posterior
from lawsmith_paper.charts.data.discovery import discovery_data, told_at
from lawsmith_paper.charts.data.frames import LINE, cell_shares
from lawsmith_paper.charts.data.reasons import (
    Answer,
    Reason,
    Worth,
    answer_words,
    choice_words,
    configuration,
    ordinal,
    outcome_words,
    price_words,
)
from lawsmith_paper.charts.discovery import (
    discovery_html,
    figure,
    frame_words,
    rows_of,
    write_discovery,
)
from lawsmith_paper.charts.draw.discovery import frame_datasets, path, plane, run_datasets
from lawsmith_paper.charts.draw.weighing import value_datasets, values
from lawsmith_paper.outlook import outlook
from tests.replay.test_answering import made_study

TARGET = 1e22
SEED = 2


def make(task, n_init=6, **stop):
    def policy():
        surrogate = make_surrogate("surface")
        return make_policy("frontier", surrogate, n_init=n_init, target=TARGET)

    trace = run_replay(task, policy(), seed=SEED, stop=Stop(**stop))
    return discovery_data(trace, policy())


@pytest.fixture(scope="module")
def task():
    return prepare(made_study(), LC, targets=[TARGET])


@pytest.fixture(scope="module")
def data(task):
    return make(task, iterations=12)


def test_the_design_comes_first_then_a_frame_after_every_run(data):
    assert [frame.n_runs for frame in data.frames] == [0, 6, 7, 8, 9, 10, 11, 12]
    assert [frame.shown for frame in data.frames] == [6, 6, 7, 8, 9, 10, 11, 12]
    assert [frame.reason is None for frame in data.frames] == [False] * 7 + [True]
    assert data.looks()["first design"] == 0
    assert data.looks()["after 6 runs"] == 1
    assert data.looks()["end"] == 7


def test_without_a_design_the_first_run_is_told_as_chosen_for_the_answer(task):
    data = make(task, n_init=0, iterations=7)
    assert [frame.n_runs for frame in data.frames] == list(range(8))
    assert next(iter(data.looks())) == "start"
    first = data.reasons[0]
    assert (first.chooser, first.envelope) == ("answer", None)
    words = frame_words(data, data.frames[0])
    assert words["head"].startswith("After no runs")
    assert words["why"].startswith("To know the answer: it is worth ")
    assert "envelope" not in words["why"]
    assert "initial design" not in " ".join(frame_words(data, data.frames[1]).values())
    assert discovery_html(data).count("data-before=") == 7


def test_a_look_at_a_share_is_the_last_frame_within_it(data):
    spent = [frame.spent for frame in data.frames]
    place = data.looks()["5 %"]
    assert spent[place] <= 5 < spent[place + 1]
    # The design alone costs 4 %, and the replay ends before 10 %.
    assert list(data.looks()) == ["first design", "after 6 runs", "5 %", "end"]


def test_the_law_of_a_frame_is_that_of_the_outlook_with_both_its_intervals(task, data):
    frame = data.frames[-1]
    rows = [step.candidate for step in data.trace.steps]
    runs = Runs.from_losses(rows, task.loss[rows])
    posterior = make_surrogate("surface").fit(task.pool, runs)
    expected = outlook(task.pool, runs, posterior, LC, [TARGET], seed=SEED).predictions[0]
    found = dict(zip(LINE, frame.target.iloc[0], strict=True))
    assert found["x"] == TARGET
    ends = [*expected.pool[1:], *expected.truth[1:]]
    np.testing.assert_allclose(list(found.values())[1:], [expected.loss, *ends], rtol=1e-4)
    last = frame.line.iloc[-1]
    np.testing.assert_allclose(last, frame.target.iloc[0], rtol=1e-5)


def test_the_frontier_of_a_frame_has_observed_losses_and_predicted_ones(task, data):
    frame = data.frames[-1]
    rows = [step.candidate for step in data.trace.steps]
    runs = Runs.from_losses(rows, task.loss[rows])
    posterior = make_surrogate("surface").fit(task.pool, runs)
    observed = [
        (f"{x:.6g}", loss) for x, loss in zip(task.pool.C[rows], task.loss[rows], strict=True)
    ]
    assert len(frame.seen) > 0
    for x, loss in frame.seen[["x", "loss"]].to_numpy():
        assert loss in [pytest.approx(v, rel=1e-5) for k, v in observed if float(k) == x]
    medians = np.exp(posterior.mean)
    reach = np.exp(1.96 * posterior.sd)
    for x, loss, low, high in frame.predicted.to_numpy():
        same = np.flatnonzero(np.isclose(task.pool.C, x) & np.isclose(medians, loss, rtol=1e-5))
        assert len(same) == 1
        np.testing.assert_allclose(
            [low, high], [loss / reach[same[0]], loss * reach[same[0]]], 2e-5
        )


def test_the_next_run_stands_where_it_is_expected(task, data):
    for frame in data.frames[1:-1]:
        x, loss, low, high = frame.next.iloc[0]
        row = data.trace.steps[frame.n_runs].candidate
        assert x == pytest.approx(task.pool.C[row], rel=1e-5)
        assert low < loss < high
        assert frame.reason.expected == pytest.approx((loss, low, high), rel=1e-5)
        place = (task.pool.N[row], task.pool.D[row])
        np.testing.assert_allclose(frame.chosen.iloc[0], place, rtol=1e-5)
    assert data.frames[-1].next.empty
    assert data.frames[0].next.empty


def test_what_is_expected_of_a_run_has_its_noise_in_it(task, data):
    frame = data.frames[-2]
    rows = [step.candidate for step in data.trace.steps[: frame.n_runs]]
    posterior = make_surrogate("surface").fit(task.pool, Runs.from_losses(rows, task.loss[rows]))
    row = data.trace.steps[frame.n_runs].candidate
    sd = np.sqrt(posterior.sd[row] ** 2 + posterior.noise[row] ** 2)
    assert sd > 1.001 * posterior.sd[row]
    ends = np.exp(posterior.mean[row] + 1.96 * sd * np.array([0.0, -1.0, 1.0]))
    assert frame.reason.expected == pytest.approx(tuple(ends), rel=1e-9)


def test_the_path_is_the_answer_of_every_frame(data):
    assert data.path["n_runs"].tolist() == [6, 7, 8, 9, 10, 11, 12]
    for i, frame in enumerate(data.frames[1:]):
        assert data.path["loss"][i] == frame.target["fitted"][0]
        assert data.path["spent"][i] == frame.spent
    for before, after in zip(data.reasons[6:], data.reasons[7:], strict=False):
        assert before.after == after.before
    law = data.trace.task.reference.validation
    assert data.answer == pytest.approx(float(law.predict({"C": [TARGET]})[0]), rel=1e-12)


def test_prices_and_surprises_are_those_of_the_run(task, data):
    for reason, step in zip(data.reasons, data.trace.steps, strict=True):
        assert reason.price == pytest.approx(step.compute)
        assert reason.share == pytest.approx(step.compute / task.pool.C.sum())
        assert reason.loss == step.loss
        assert (reason.chooser == "initial") == np.isnan(step.window)
    searched = data.reasons[6:]
    assert {reason.chooser for reason in searched} == {"envelope", "answer"}
    for reason in searched:
        middle, low, high = reason.expected
        sd = np.log(high / low) / 2 / 1.96
        assert reason.surprise == pytest.approx(np.log(reason.loss / middle) / sd)
        assert {"answer": reason.answer, "envelope": reason.envelope}[reason.chooser].rank == 1


def weighed(**scores):
    posterior = Posterior(np.zeros(5), np.ones(5), "log", 0.0)
    named = {name: np.log(np.array(values)) for name, values in scores.items()}
    return Weighed(posterior, np.array([0, 2, 3]), np.ones(3), None, named, "envelope", 2)


def test_a_cell_has_the_share_of_its_best_candidate():
    cell = np.array([0, 0, 1, 1, 2])  # the last cell has no candidate left
    found = cell_shares(weighed(envelope=[0.2, 0.4, 0.1]), "envelope", cell)
    np.testing.assert_allclose(found, [0.5, 1.0, np.nan])
    assert np.isnan(cell_shares(weighed(envelope=[0.2, 0.4, 0.1]), "answer", cell)).all()
    assert np.isnan(cell_shares(None, "answer", cell)).all()


def test_the_chosen_cell_has_the_largest_share_of_the_value_that_chose(data):
    for frame in data.frames[1:-1]:
        cells = frame.cells.set_index(["N", "D"])
        chosen = tuple(frame.chosen.iloc[0])
        assert cells.loc[chosen, frame.reason.chooser] == 1.0
        assert cells["asked"].sum() == frame.n_runs


@pytest.mark.parametrize(
    ("n_init", "n", "cells", "expected"),
    [(10, 13, 50, [0, 10, 11, 12, 13]), (10, 10, 50, [0, 10]), (10, 4, 50, [0, 4])],
)
def test_short_replays_get_every_frame(n_init, n, cells, expected):
    assert told_at(n_init, n, cells) == expected


def test_long_replays_are_thinned_and_keep_both_ends():
    found = told_at(10, 5000, 50)
    assert (found[:3], found[-1]) == ([0, 10, 11], 5000)
    assert len(found) <= 201
    assert len(told_at(10, 5000, 100_000)) <= 21


REASON = Reason(
    iteration=12,
    config={"N": 5e7, "D": 1e10, "lr": 0.002, "kind": "cosine"},
    price=2.5e19,
    share=0.0125,
    chooser="answer",
    candidates=869,
    envelope=Worth(0.003, 22),
    answer=Worth(0.12, 1),
    expected=(3.12, 3.0, 3.25),
    loss=3.10,
    surprise=-0.5,
    before=Answer(1.745, 0.06),
    after=Answer(1.703, 0.051),
)


def test_a_reason_reads_as_a_sentence():
    assert configuration(REASON.config) == "N 50M, D 10B, lr 0.002, kind cosine"
    assert price_words(REASON) == "2.5e19 FLOPs, 1.2% of what the pool costs"
    assert choice_words(REASON, 1e25) == (
        "To know the answer: it is worth 12% of the loss predicted at 1e25 FLOPs, the most for its "
        "cost of 869 candidates. In lowering the envelope it is 22nd, by 0.3% of the loss."
    )
    assert outcome_words(REASON) == (
        "Expected 3.120 [3.000, 3.250], came 3.100: 0.5 deviations below."
    )
    assert answer_words(REASON, 1e25) == (
        "The law then says 1.703 at 1e25 FLOPs (before: 1.745), ± 5.1%."
    )


def test_an_envelope_run_says_so_and_what_it_tells_of_the_answer():
    lowers = replace(REASON, chooser="envelope", envelope=Worth(0.05, 1), answer=Worth(0.01, 3))
    assert choice_words(lowers, 1e25) == (
        "To lower the envelope: at its own compute by 5% of the loss, in expectation, the most "
        "for its cost of 869 candidates. In what it tells of the answer it is 3rd, 1%."
    )
    nothing = replace(lowers, envelope=Worth(1e-9, 1), answer=Worth(0.0, 500))
    assert "by less than 0.001% of the loss" in choice_words(nothing, 1e25)
    assert choice_words(nothing, 1e25).endswith("Of the answer it tells nothing.")


def test_a_diverged_run_and_a_run_of_the_design_are_told_as_such():
    lost = replace(REASON, loss=float("nan"), surprise=float("nan"))
    assert outcome_words(lost) == "Expected 3.120 [3.000, 3.250]. It diverged."
    first = replace(
        REASON, chooser="initial", envelope=None, answer=None, expected=None, after=None
    )
    assert choice_words(first, 1e25).startswith("Part of the initial design")
    assert outcome_words(first) == "Its loss: 3.100."
    assert answer_words(first, 1e25) == ""


@pytest.mark.parametrize(
    ("n", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (112, "112th")]
)
def test_ranks_are_ordinals(n, text):
    assert ordinal(n) == text


@pytest.mark.parametrize("width", [760, 366])
@pytest.mark.parametrize("draw", [plane, values, path])
def test_every_chart_is_valid_and_looks_for_data_that_frames_have(data, draw, width):
    spec = draw(data, width=width).to_dict(validate=True)
    wanted = set(re.findall(r'"data": {"name": "([a-z-]+)"}', json.dumps(spec)))
    known = set(spec.get("datasets", {}))
    for frame in data.frames:
        had = {**frame_datasets(data, frame), **run_datasets(data, frame), **value_datasets(frame)}
        assert wanted <= known | set(had)
    assert wanted - known


def test_the_runs_of_a_frame_are_told_apart_by_kind(data):
    kinds = run_datasets(data, data.frames[3])
    assert [len(kinds[name]) for name in ("initial", "runs", "off", "latest")] == [6, 2, 0, 1]
    assert kinds["latest"]["run"].tolist() == [8]
    assert run_datasets(data, data.frames[0])["latest"].empty


def test_a_figure_has_the_rows_of_its_frame(data):
    frame = data.frames[2]
    spec = figure(data, frame).to_dict(validate=True)
    assert spec["datasets"]["line"] == rows_of(frame.line)
    assert spec["datasets"]["next"] == rows_of(frame.next)
    assert " ".join(spec["title"]["text"]) == frame_words(data, frame)["head"]
    assert len(spec["vconcat"]) == 2
    assert len(figure(data, data.frames[-1]).to_dict(validate=True)["vconcat"]) == 1


def told_in(page: str) -> dict:
    return json.loads(re.search(r"const told = (.*);\n", page)[1])


def test_the_page_holds_every_frame_and_a_row_for_each_run(data):
    page = discovery_html(data)
    told = told_in(page)
    assert [frame["n"] for frame in told["frames"]] == [frame.n_runs for frame in data.frames]
    assert told["runs"]["n"] == 12
    assert told["looks"] == data.looks()
    line = told["frames"][-1]["data"]["line"]["columns"]
    assert line["fitted"] == data.frames[-1].line["fitted"].tolist()
    assert page.count("data-before=") == 12
    assert "NaN" not in json.dumps(told)


def test_nothing_of_a_study_can_end_the_script_or_open_a_tag(data):
    attack = "</script><script>alert(1)</script>"
    task = data.trace.task
    trace = replace(data.trace, task=replace(task, study=replace(task.study, name=attack)))
    reasons = tuple(replace(r, config={attack: attack}) for r in data.reasons)
    page = discovery_html(replace(data, trace=trace, reasons=reasons, names={"h0": attack}))
    assert "<script>alert" not in page


def test_a_page_that_cannot_be_written_is_one_line(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LawsmithError, match="want a file that can be written"):
        write_discovery(data, tmp_path / "file" / "page.html")


def test_a_law_of_N_and_D_is_told_along_compute():
    task = prepare(made_study(), get_law("chinchilla"), targets=[TARGET])
    data = make(task, iterations=10)
    assert data.x == "C"
    assert data.frames[-1].target["x"][0] == TARGET
    assert data.path["loss"].iloc[-1] == pytest.approx(data.answer, rel=0.5)
    figure(data, data.frames[-2]).to_dict(validate=True)


def test_a_law_of_one_axis_alone_is_told_without_a_target():
    data = make(prepare(made_study(), get_law("LN")), iterations=9)
    assert data.x == "N"
    assert all(frame.target.empty for frame in data.frames)
    assert discovery_html(data).count('class="chart"') == 2


def test_without_N_and_D_there_are_no_maps(data):
    bare = replace(data, frames=tuple(replace(f, cells=f.cells.iloc[:0]) for f in data.frames))
    with pytest.raises(ChartUnavailable, match="do not vary in both N and D"):
        values(bare)
    assert 'id="section-values"' not in discovery_html(bare)
    assert isinstance(figure(bare, bare.frames[2]), alt.VConcatChart)
