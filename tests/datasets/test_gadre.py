"""The over-training testbed: JSON in a tarball to one table."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import pandas as pd
import pytest

from lawsmith.datasets.gadre import flatten
from lawsmith.errors import LawsmithError


def _model(name: str, **hyper: Any) -> dict[str, Any]:
    return {
        "name": name,
        "dataset_name": "rpj",
        "hyperparameters": {
            "model": "m.json",
            "tokens": 2000,
            "warmup": 10,
            "lr": 0.003,
            "wd": 0.033,
            "global_bs": 64,
            "params": 100,
            "params_no_embed": 80,
            "chinchilla_multiplier": 1.0,
            **hyper,
        },
        "results": [
            {"loss": 3.5, "val_data": ["training/eval_data/c4_val/shard-{0..9}.tar"]},
            {"loss": 4.5, "val_data": ["training/eval_data/val_tok_mult/openlm/shard_0.tar"]},
        ],
    }


def _archive(members: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return data.getvalue()


def _json(name: str, **hyper: Any) -> bytes:
    return json.dumps(_model(name, **hyper)).encode()


def test_each_model_is_one_row_in_the_order_of_names() -> None:
    archive = _archive(
        {
            "scaling-a0/exp_data/models/b.json": _json("b", seed=124),
            "scaling-a0/exp_data/models/a.json": _json("a"),
        }
    )
    frame = pd.read_csv(io.BytesIO(flatten(archive)))
    assert frame["name"].tolist() == ["a", "b"]
    first = ["name", "dataset", "N", "N_no_embed", "D", "chinchilla_multiplier", "lr", "wd"]
    assert list(frame.columns[:10]) == [*first, "bs", "warmup"]
    row = frame.iloc[0]
    assert (row["N"], row["N_no_embed"], row["D"], row["bs"]) == (100, 80, 2000, 64)
    assert (row["loss_c4_val"], row["loss_openlm"]) == (3.5, 4.5)
    assert frame["h_seed"].isna().tolist() == [True, False]


def test_only_the_files_of_models_are_read() -> None:
    archive = _archive(
        {
            "scaling-a0/exp_data/models/a.json": _json("a"),
            "../exp_data/models/../../evil.json": b"not json",
            "scaling-a0/exp_data/models/deeper/b.json": b"not json",
            "scaling-a0/README.md": b"not json",
        }
    )
    assert len(pd.read_csv(io.BytesIO(flatten(archive)))) == 1


MODELS = "scaling-a0/exp_data/models"


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (b"not a tarball", "want a tarball of JSON files"),
        (_archive({f"{MODELS}/a.json": _json("a")})[:-40], "want a tarball of JSON files"),
        (_archive({f"{MODELS}/a.json": b"{"}), "want a tarball of JSON files"),
        (_archive({f"{MODELS}/a.json": b"{}"}), "a model without 'hyperparameters'"),
        (_archive({f"{MODELS}/a.json": b" " * 2**21}), f"got {MODELS}/a.json, want a small"),
        (_archive({"x/README": b""}), "got an archive without models"),
    ],
    # gzip stamps the time of making, which must not be part of a test's name
    ids=["no tarball", "cut short", "broken JSON", "no hyperparameters", "too large", "no models"],
)
def test_what_is_no_such_archive_is_refused_in_one_line(archive, message) -> None:
    with pytest.raises(LawsmithError, match=r"^gadre: ") as caught:
        flatten(archive)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
