"""tinylm in training: AdamW, members that do not mix, branches, data that is read once."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import extra

torch = extra("torch")

import trunk as trunk_module  # noqa: E402
from data import Corpus, read_windows, window_order  # noqa: E402
from ensemble import Ensemble, adamw, schedule  # noqa: E402
from errors import TinylmError  # noqa: E402
from tinylm import Size, initial_weights, model_losses  # noqa: E402
from trunk import Plan, Trunk  # noqa: E402

from tests.examples.tiny import (  # noqa: E402
    CONTEXT,
    rows_of,
    small_corpus,
    small_plan,
    small_size,
)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return small_corpus(tmp_path / "corpus")


def ensemble(corpus: Corpus, *lrs: float, batch: int = 4) -> Ensemble:
    return Ensemble(small_size(), lrs, batch=batch, seed=0, corpus=corpus)


def test_loss_falls_towards_the_entropy_of_the_source(corpus: Corpus):
    short, long = rows_of(Trunk(small_plan(lrs=(0.03,), budgets=(4096, 32768)), corpus))
    assert math.log(3) < long["loss"] < 1.6 < short["loss"] < math.log(64)
    assert long["curve"] == sorted(long["curve"], reverse=True)


def test_steps_are_those_of_torchs_adamw(corpus: Corpus, monkeypatch):
    monkeypatch.setattr("ensemble.CLIP", 0.6)
    ours = ensemble(corpus, 0.01)
    ours.warmup = 3
    theirs = [w.detach().clone().requires_grad_() for w in ours.weights]
    optimiser = torch.optim.AdamW(theirs, lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    norms = []
    for k in range(6):
        windows = ours.order[4 * k : 4 * k + 4]
        tokens = read_windows(corpus.train, windows, CONTEXT)
        loss = model_losses(ours.size, theirs, tokens, ours.angles).mean()
        optimiser.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(theirs, 0.6).item())
        optimiser.param_groups[0]["lr"] = 0.01 * min(1, (k + 1) / 3)
        optimiser.step()
        ours.step()
        assert ours.state["curve"][k, 0] == pytest.approx(loss.item(), rel=1e-5)
    assert min(norms) < 0.6 < max(norms)  # so that clipping was part of the test
    for a, b in zip(ours.weights, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=2e-5)


def test_a_member_equals_the_same_model_trained_alone(corpus: Corpus):
    together = rows_of(Trunk(small_plan(lrs=(0.001, 0.03, 0.1), budgets=(4096,)), corpus))
    (alone,) = rows_of(Trunk(small_plan(lrs=(0.03,), budgets=(4096,)), corpus))
    assert together[1]["loss"] == pytest.approx(alone["loss"], rel=1e-4)
    assert together[0]["loss"] != pytest.approx(alone["loss"], rel=1e-2)


def test_a_member_that_diverges_leaves_the_others_as_they_are(corpus: Corpus):
    mixed, calm = ensemble(corpus, 0.01, 0.01, 0.02), ensemble(corpus, 0.01, 0.01, 0.02)
    mixed.state["params"][1, 5] = torch.nan
    mixed.load(mixed.save())
    for _ in range(20):
        mixed.step()
        calm.step()
    for made in (mixed, calm):
        for _ in range(made.start_evaluation()):
            made.evaluation_step()
    got, want = mixed.heldout_losses(), calm.heldout_losses()
    assert math.isnan(got[1])
    assert [got[0], got[2]] == [want[0], want[2]]
    assert mixed.state["alive"][:, 0].tolist() == [True, False, True]


def test_a_gradient_that_is_no_number_changes_nothing_of_its_member(corpus: Corpus):
    made = ensemble(corpus, 0.01, 0.01)
    made.step()
    before = made.save()
    grad = torch.ones_like(made.flat)
    grad[0, 3] = torch.nan
    adamw(made.flat, grad, made.lrs, made.optimiser)
    for name in ("params", "first", "second"):
        assert torch.equal(made.state[name][0], before[name][0])
        assert not torch.equal(made.state[name][1], before[name][1])
    assert torch.equal(made.flat, made.state["params"])


def test_a_diverged_run_has_no_loss_and_says_so(corpus: Corpus):
    trunk = Trunk(small_plan(lrs=(0.01, 0.01)), corpus)
    trunk.ensemble.state["params"][0] = torch.inf
    trunk.ensemble.load(trunk.ensemble.save())
    bad, good = rows_of(trunk)
    assert (bad["loss"], bad["diverged"], good["diverged"]) == (None, True, False)
    assert bad["curve"][0] is None


def test_a_branch_equals_an_uninterrupted_run(corpus: Corpus):
    budgets = (1024, 2048, 8192)
    branched = rows_of(Trunk(small_plan(budgets=budgets), corpus))
    for budget in budgets:
        alone = rows_of(Trunk(small_plan(budgets=(budget,)), corpus))
        same = [row for row in branched if row["D"] == budget]
        for a, b in zip(same, alone, strict=True):
            assert {**a, "trunk_wall_s": 0} == {**b, "trunk_wall_s": 0}


def test_marks_change_no_run_and_tell_the_held_out_loss_of_the_trunk(corpus: Corpus):
    plan = small_plan(budgets=(1024, 8192))
    marked = rows_of(Trunk(replace(plan, marks=(512, 3000)), corpus))
    plain = rows_of(Trunk(plan, corpus))
    assert [row["loss"] for row in marked] == [row["loss"] for row in plain]
    assert all("along" not in row for row in plain)
    made = ensemble(corpus, *plan.lrs)
    want: dict[int, list[float]] = {}
    for step in range(1, 60):
        made.step()
        if step * 128 in (512, 768, 2944, 6528):  # 3000 to the nearest step; the branch points
            for _ in range(made.start_evaluation()):
                made.evaluation_step()
            want[step * 128] = made.heldout_losses()
    assert [row["branch_at"] for row in marked] == [768, 768, 6528, 6528]
    for row, member in zip(marked, (0, 1, 0, 1), strict=True):
        points = [(D, losses[member]) for D, losses in want.items() if row["branch_at"] >= D]
        assert [D for D, _ in row["along"]] == [D for D, _ in points]
        assert [x for _, x in row["along"]] == pytest.approx([x for _, x in points], abs=1e-6)


def test_the_rate_rises_stays_and_falls_to_zero_after_the_last_step():
    end, decay = torch.tensor([10.0]), torch.tensor([4.0])
    got = [schedule(torch.tensor([float(k)]), 2, end, decay).item() for k in range(1, 12)]
    assert got == pytest.approx([0.5, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0])


def test_no_token_is_read_twice_and_all_batches_read_the_same(corpus: Corpus):
    places = Corpus(torch.arange(30 * CONTEXT + 5, dtype=torch.int16), corpus.heldout, 64, "places")
    order = window_order(places, CONTEXT, seed=1)
    read = read_windows(places.train, order, CONTEXT)
    assert sorted(read[:, :-1].flatten().tolist()) == list(range(30 * CONTEXT))
    assert sorted(read[:, 1:].flatten().tolist()) == list(range(1, 30 * CONTEXT + 1))
    assert not torch.equal(order, window_order(places, CONTEXT, seed=2))
    two, four = ensemble(corpus, 0.01, batch=2), ensemble(corpus, 0.1, batch=4)
    assert torch.equal(two.order, four.order)


def test_a_step_reads_the_next_windows_of_the_order(corpus: Corpus, monkeypatch):
    seen = []
    import ensemble as module

    def note(tokens, windows, context):
        seen.append(windows.tolist())
        return read_windows(tokens, windows, context)

    monkeypatch.setattr(module, "read_windows", note)
    made = ensemble(corpus, 0.01)
    for _ in range(3):
        made.step()
    assert [w for windows in seen for w in windows] == made.order[:12].tolist()


def test_more_tokens_than_the_corpus_has_are_refused(corpus: Corpus):
    with pytest.raises(TinylmError, match="no token is read twice"):
        Trunk(small_plan(budgets=(2**17,)), corpus)


def test_a_corpus_of_another_vocabulary_is_refused(corpus: Corpus):
    plan = Plan(Size(16, 1, 128, CONTEXT), 4, 0, (0.01,), (4096,))
    with pytest.raises(TinylmError, match="vocabulary of 128, but the corpus has 64"):
        Trunk(plan, corpus)


@pytest.mark.parametrize(
    "wrong", [{"batch": 0}, {"lrs": ()}, {"lrs": (-0.1,)}, {"budgets": ()}, {"budgets": (100,)}]
)
def test_a_plan_that_cannot_be_is_refused(wrong: dict):
    with pytest.raises(TinylmError, match="want"):
        small_plan(**wrong)


def test_weights_depend_on_the_seed_alone():
    size = small_size()
    assert torch.equal(initial_weights(size, 1), initial_weights(size, 1))
    assert not torch.equal(initial_weights(size, 1), initial_weights(size, 2))


@pytest.mark.parametrize("turns", [3, 9, 15])
def test_a_checkpoint_goes_on_as_if_never_stopped(
    corpus: Corpus, tmp_path: Path, turns, monkeypatch
):
    monkeypatch.setattr(trunk_module, "QUEUED_STEPS", 4)
    plan = replace(small_plan(budgets=(2048, 8192)), marks=(512, 1024, 4096))
    whole = rows_of(Trunk(plan, corpus))
    first = Trunk(plan, corpus)
    work, rows = first.run(), []
    for _ in range(turns):
        rows += next(work) or []
    first.checkpoint(tmp_path / "kept.pt")
    second = Trunk(plan, corpus)
    second.resume(tmp_path / "kept.pt")
    done = {row["D"] for row in rows}
    rows += [row for got in second.run(list(done)) if got is not None for row in got]
    assert [row["loss"] for row in rows] == [row["loss"] for row in whole]
    assert [row["curve"] for row in rows] == [row["curve"] for row in whole]
    assert [row["along"] for row in rows] == [row["along"] for row in whole]


def test_a_checkpoint_of_another_configuration_is_refused(corpus: Corpus, tmp_path: Path):
    Trunk(small_plan(), corpus).checkpoint(tmp_path / "kept.pt")
    for other in (small_plan(lrs=(0.003, 0.04)), small_plan(batch=2)):
        with pytest.raises(TinylmError, match="checkpoint of another configuration"):
            Trunk(other, corpus).resume(tmp_path / "kept.pt")


def test_an_ensemble_that_begins_again_is_a_new_one(corpus: Corpus):
    used = ensemble(corpus, 0.03, 1e30)  # one member diverges
    used.plan_decay(8, 2)
    for _ in range(8):
        used.step()
    again = Trunk(replace(small_plan(), seed=5, lrs=(0.01, 0.02)), corpus, used)
    fresh = Trunk(again.plan, corpus)
    assert [r["loss"] for r in rows_of(again)] == [r["loss"] for r in rows_of(fresh)]
    with pytest.raises(ValueError, match="1 learning rates for 2 members"):
        used.begin_again((0.01,), 0)
