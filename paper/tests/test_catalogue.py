"""The paper's catalogue: lawsmith's studies, those only their owners have, twins and ScaleBench."""

from __future__ import annotations

import pandas as pd
import pytest

from lawsmith.datasets import ENTRIES
from lawsmith.errors import LawsmithError
from lawsmith_paper.studies import CATALOGUE, entry, load

POSITIVE = [n for n in CATALOGUE if n.startswith("scalebench-") and n != "scalebench-vocab"]


@pytest.mark.parametrize("name", POSITIVE)
def test_scalebench_keeps_its_pool_and_target_apart(published, name) -> None:
    study = published(name)
    pool, target = (study.grid.C[~study.target], study.grid.C[study.target])
    assert study.target.any()
    assert not study.target.all()
    assert target.mean() >= pool.mean()


def test_scalebench_vocab_loads_with_its_negative_losses(published) -> None:
    study = published("scalebench-vocab")
    assert len(study.runs) == 1200
    assert study.runs.loss.max() < 0.0
    assert study.default_law is None


def test_lawsmiths_own_studies_are_in_it_unchanged() -> None:
    assert {name: CATALOGUE[name] for name in ENTRIES} == dict(ENTRIES)
    assert entry("porian-hp:beta2") is ENTRIES["porian-hp"]


def test_entries_are_complete_and_addresses_pin_a_commit() -> None:
    for name, known in CATALOGUE.items():
        assert known.name == name
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


def test_every_variant_of_a_table_at_hand_loads(published) -> None:
    for name in CATALOGUE.keys() - ENTRIES.keys():
        known = entry(name)
        if known.n_rows is None:
            continue
        for variant in known.variants:
            study = published(f"{name}:{variant}" if variant else name)
            assert study.title == known.title
            assert not study.synthetic


def test_a_wrong_name_gets_a_suggestion() -> None:
    with pytest.raises(LawsmithError, match=r"table: got 'scalebench-lr-bsz', .*-lr_bsz\?"):
        load("scalebench-lr-bsz")
    with pytest.raises(LawsmithError, match=r"study: got 'warmstrt', .*did you mean warmstart\?"):
        entry("warmstrt")


def test_a_study_without_a_usual_law_asks_for_one(published) -> None:
    from lawsmith.cli.options import law_of

    with pytest.raises(LawsmithError, match="no usual law, want a law named by --law"):
        law_of(published("scalebench-vocab"))


@pytest.mark.parametrize(
    ("name", "columns", "n_runs"),
    [
        ("warmstart", "N, D, loss, lr, batch, base_N, method, shrink, width_ratio", 150),
        ("oellm-multilingual", "N, D, loss, lr, gbsz", 332),
    ],
)
def test_a_study_without_a_public_copy_says_so(name, columns, n_runs, monkeypatch) -> None:
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    with pytest.raises(LawsmithError) as caught:
        load(name)
    message = str(caught.value)
    assert message.startswith(f"{name}: got no table, want {name}/")
    assert "no public copy is known" in message
    assert f"with columns {columns} (the paper counts {n_runs} runs)" in message


def test_a_study_without_a_public_copy_loads_from_the_users_file(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "warmstart"
    folder.mkdir()
    row = {"N": 1e8, "D": 1e9, "lr": 1e-3, "batch": 64, "base_N": 1e7, "width_ratio": 2.0}
    rows = [
        {**row, "method": "scratch", "shrink": 0.0, "loss": 3.5},
        {**row, "method": "snp", "shrink": 0.4, "loss": 3.4},
    ]
    pd.DataFrame(rows).to_parquet(folder / "warmstart.parquet")
    monkeypatch.setenv("LAWSMITH_DATA", str(tmp_path))
    study = load("warmstart")
    assert len(study.grid) == 2
    assert {axis.name: axis.kind for axis in study.grid.axes}["shrink"] == "linear"
    assert study.notes[:2] == (
        "unlike in the paper: 2 runs, not 150",
        "unlike in the paper: 1 values of N, not 6",
    )
