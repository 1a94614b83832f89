"""Studies by name and by path, checked against what is published about them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lawsmith.datasets import Counts, ReadOptions, count_study, demo_study, entry, load, names
from lawsmith.datasets.catalogue import ENTRIES, differences
from lawsmith.errors import LawsmithError
from lawsmith.frontier import pareto
from lawsmith.grid import HeldOut

GOLDEN_POOLS = {
    "oellm-english": (879, 1.828e23, 21),
    "steplaw": (1864, None, 11),
    "porian-hp": (201, None, 6),
    "porian-hp:beta2": (471, None, 6),
}


def test_oellm_english_has_its_published_sizes(published) -> None:
    study = published("oellm-english")
    assert count_study(study) == Counts(
        *(909, 6, 9, 51, 5, 7, 35, 909),
        C_total=pytest.approx(2.458e23, rel=5e-4),
        N_range=(47557632.0, 1713504256.0),
        D_range=(6e9, 300e9),
        configurations=909,
    )
    assert study.notes[0] == "909 runs here, the paper says 942; 7 batch sizes, the paper says 8"


def test_steplaw_has_fourteen_learning_rates_once_rounded(published) -> None:
    study = published("steplaw")
    assert len(study.runs) == 1911
    assert count_study(study).lr == 14
    assert study.runs.loss.max() == pytest.approx(11.09, abs=0.01)


def test_porian_hp_is_the_best_run_over_beta2(published) -> None:
    best, every = published("porian-hp"), published("porian-hp:beta2")
    assert (len(best.grid), len(every.grid)) == (237, 566)
    assert len(best.grid.levels) == 7
    assert best.grid.C.sum() == pytest.approx(2.880e20, rel=5e-4)
    least = np.full(237, np.inf)
    for (N, bs, lr), loss in zip(
        zip(*(every.grid.column(c) for c in ("N", "bs", "lr")), strict=True),
        every.runs.loss,
        strict=True,
    ):
        same = (best.grid.N == N) & (best.grid.column("bs") == bs) & (best.grid.column("lr") == lr)
        least[same] = np.minimum(least[same], loss)
    assert np.array_equal(best.runs.loss, least)


@pytest.mark.parametrize("name", GOLDEN_POOLS)
def test_the_pool_below_half_the_compute_has_its_published_size(published, name) -> None:
    n_pool, total, n_frontier = GOLDEN_POOLS[name]
    study = published(name)
    pool, _ = study.grid.split(HeldOut.by_compute(0.5))
    assert len(pool) == n_pool
    if total is not None:
        assert study.grid.C[pool].sum() == pytest.approx(total, rel=5e-4)
    loss = study.runs.config_loss(len(study.grid))[pool]
    assert len(pareto(study.grid.C[pool], loss)) == n_frontier


def test_chinchilla_drops_its_five_largest_losses_on_demand(published) -> None:
    study = published("chinchilla")
    assert len(study.runs) == 245
    np.testing.assert_allclose(6.0 * study.grid.N * study.grid.D, study.grid.C)
    fewer = published("chinchilla", ReadOptions(drop_largest_loss=5))
    assert (len(fewer.runs), len(fewer.grid)) == (240, 240)
    assert fewer.runs.loss.max() < np.sort(study.runs.loss)[-5]


@pytest.mark.parametrize(("corpus", "n_runs"), [("", 35), ("c4", 34), ("refinedweb", 35)])
def test_gadre_gives_the_five_fitted_runs_of_a_corpus_or_all_of_it(
    published, corpus, n_runs
) -> None:
    fitted = published(f"gadre:{corpus}" if corpus else "gadre")
    ratio = fitted.grid.D / fitted.grid.N
    assert sorted(ratio.tolist()) == [20, 20, 20, 20, 320]
    assert fitted.grid.N[np.argmax(ratio)] == fitted.grid.N.min()
    every = published(f"gadre:{corpus}-all" if corpus else "gadre:all")
    assert len(every.runs) == n_runs
    assert every.grid.N.max() == 6_889_410_560


def test_every_catalogued_variant_of_a_published_table_loads(published) -> None:
    for name, known in ENTRIES.items():
        if known.n_rows is None or known.bundled:
            continue
        for variant in known.variants:
            study = published(f"{name}:{variant}" if variant else name)
            assert study.title == known.title
            assert not study.synthetic


def test_options_narrow_a_catalogued_study(published) -> None:
    study = published("oellm-english", ReadOptions(where="lr == 0.001 and gbsz < 100"))
    assert 0 < len(study.runs) < 909
    assert set(study.grid.column("lr")) == {0.001}
    assert study.log.n_filtered == 909 - len(study.runs)


def test_a_table_of_other_size_is_not_taken_for_the_published_one(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "porian-hp"
    folder.mkdir()
    path = folder / "porian_hp_sweep.csv"
    path.write_text("N,D,C,loss,bs,lr\n1,1,6,3,8,0.001\n")
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    with pytest.raises(LawsmithError) as caught:
        load("porian-hp")
    assert str(caught.value) == (
        f"{path}: got 1 rows, want 566 "
        "(to read it as a table of your own, give the path of the file)"
    )


def test_a_table_of_other_counts_is_not_taken_for_the_published_one(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "porian-hp"
    folder.mkdir()
    rows = [f"{n},1,6,3,8,0.001,0.95\n" for n in range(1, 567)]
    header = "N,D,C,loss,bs,lr,beta2_inferred\n"
    (folder / "porian_hp_sweep.csv").write_text(header + "".join(rows))
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    with pytest.raises(LawsmithError) as caught:
        load("porian-hp:beta2")
    message = str(caught.value)
    assert message.startswith("porian-hp:beta2: got 566 values of N, not 7; 1 values of D, not 7;")
    assert "FLOPs in total, not 7.57e20, want the published table" in message


def test_counts_must_agree_exactly_and_totals_to_the_digits_printed() -> None:
    published = Counts(runs=1911, lr=14, C_total=1.45e23)
    assert differences(Counts(runs=1911, lr=14, C_total=1.447e23), published) == []
    assert differences(Counts(runs=1910, C_total=1.46e23), published) == [
        "1910 runs, not 1911",
        "no learning rates, not 14",
        "1.46e23 FLOPs in total, not 1.45e23",
    ]


def test_the_synthetic_study_is_in_the_catalogue() -> None:
    study = load("synthetic-demo")
    assert study.synthetic
    assert "synthetic" in study.title
    assert len(load("synthetic-demo", ReadOptions(where="N < 1e8")).grid) < len(study.grid)


@pytest.mark.parametrize(
    ("word", "start", "end"),
    [
        ("oelm-english", "table: got 'oelm-english', want one of a path,", "mean oellm-english?)"),
        ("gadre:refined", "gadre: variant: got 'refined', want one of all,", "mean refinedweb?)"),
        ("chinchilla:all", "study: got 'chinchilla:all', want chinchilla", "has no variants"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(word, start, end) -> None:
    with pytest.raises(LawsmithError) as caught:
        load(word)
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(end)


def test_another_catalogue_may_be_given() -> None:
    """Its studies are known by name, and lawsmith's own are not."""
    mine = replace(
        entry("synthetic-demo"), name="mine", make=lambda options: demo_study(7, options)
    )
    study = load("mine", entries={"mine": mine})
    assert np.array_equal(study.runs.loss, demo_study(7).runs.loss, equal_nan=True)
    part = load("mine", ReadOptions(where="N < 1e8"), entries={"mine": mine})
    assert 0 < len(part.grid) < len(study.grid)
    assert entry("mine:", {"mine": mine}) is mine
    for source in ("synthetic-demo", "min"):
        with pytest.raises(LawsmithError, match=f"table: got '{source}', want one of a path, mine"):
            load(source, entries={"mine": mine})
    with pytest.raises(LawsmithError, match="table: got 'mine'"):
        load("mine")


def test_a_file_is_read_whatever_the_catalogue(tmp_path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("N,D,loss\n1e8,1e9,3\n")
    assert len(load(str(path), entries={}).grid) == 1


def test_a_path_is_read_as_a_table_and_named_by_itself(tmp_path) -> None:
    path = tmp_path / "gadre.csv"
    path.write_text("N,D,loss\n1e8,1e9,3\n")
    assert load(path).name == load(str(path)).name == str(path)
    with pytest.raises(LawsmithError, match="got no such file"):
        load(tmp_path / "no.csv")
    with pytest.raises(LawsmithError, match="got a folder without runs"):
        load(tmp_path)


def test_entries_are_complete_and_addresses_pin_a_commit() -> None:
    assert entry("gadre:c4").name == "gadre"
    for name in names():
        known = entry(name)
        assert known.title
        assert known.citation
        assert known.licence
        assert "" in known.variants
        for source in known.sources:
            if source.url is None:
                assert known.obtain or known.bundled
                continue
            assert source.url.startswith("https://")
            assert any(len(part) == 40 for part in source.url.split("/"))
            assert source.sha256 or source.n_bytes or source.convert


def test_the_catalogue_can_be_listed_without_pandas() -> None:
    code = "import sys, lawsmith.datasets as d; d.names(); sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_published_table_is_in_the_repository() -> None:
    root = Path(__file__).parents[2]
    published = [known for known in ENTRIES.values() if not known.bundled]
    files = {source.file for known in published for source in known.sources}
    for folder in ("src", "tests", "docs"):
        assert not [p for p in (root / folder).rglob("*") if p.name in files]
