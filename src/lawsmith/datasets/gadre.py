"""Gadre et al.'s over-training testbed: its entry, and its JSON files flattened to one table.

The repository keeps one JSON file per model. Its tarball is one request and half the bytes of the
104 files, is read in memory, and nothing in it is written to disk or executed.
"""

from __future__ import annotations

import csv
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO, StringIO
from typing import Any

from lawsmith.datasets.entries import Counts, Entry, Source, Variant
from lawsmith.datasets.records import ReadOptions
from lawsmith.errors import LawsmithError

MEMBER = re.compile(r"[^/]+/exp_data/models/[^/]+\.json")
MAX_MEMBER_BYTES = 2**20
MAX_MEMBERS = 2_000
_FIRST = ("name", "dataset", "N", "N_no_embed", "D", "chinchilla_multiplier")
_HYPERPARAMETERS = {"lr": "lr", "wd": "wd", "bs": "global_bs", "warmup": "warmup"}


def flatten(archive: bytes) -> bytes:
    """The CSV table of the models in a gzipped tarball, one row each, by name."""
    try:
        rows = sorted(map(flatten_model, _models(archive)), key=lambda row: row["name"])
    except (KeyError, IndexError, TypeError) as error:
        want = "the fields of a model's JSON file"
        raise LawsmithError("gadre", got=f"a model without {error}", want=want) from None
    if not rows:
        raise LawsmithError("gadre", got="an archive without models", want="exp_data/models/*.json")
    header = dict.fromkeys(column for row in rows for column in row)
    text = StringIO()
    writer = csv.DictWriter(text, list(header), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def flatten_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """One row: N, D, hyperparameters (again under h_, all of them) and each evaluation's loss."""
    hyper = model["hyperparameters"]
    sizes = (hyper["params"], hyper["params_no_embed"], hyper["tokens"])
    row = dict(zip(_FIRST, (model["name"], model["dataset_name"], *sizes), strict=False))
    row["chinchilla_multiplier"] = hyper["chinchilla_multiplier"]
    row |= {name: hyper[key] for name, key in _HYPERPARAMETERS.items()}
    row |= {f"h_{k}": v for k, v in hyper.items() if k not in ("params", "tokens")}
    for result in model["results"]:
        row[f"loss_{_evaluation(result['val_data'][0])}"] = result["loss"]
    return row


def _evaluation(path: str) -> str:
    """The evaluation set of a path: its folder, as in …/c4_val/shard-0.tar."""
    return path.split("/")[-2]


def _models(archive: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of the archive's models; members are read, never extracted."""
    try:
        with tarfile.open(fileobj=BytesIO(archive), mode="r:gz") as tar:
            members = [m for m in tar if m.isfile() and MEMBER.fullmatch(m.name)]
            for member in members[:MAX_MEMBERS]:
                stream = tar.extractfile(member)
                if stream is None or member.size > MAX_MEMBER_BYTES:
                    raise LawsmithError("gadre", got=member.name, want="a small JSON file")
                yield json.loads(stream.read())
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
        got = " ".join(str(error).split())
        raise LawsmithError("gadre", got=got, want="a tarball of JSON files") from None


# The runs Gadre et al. fit: tokens at 20 per parameter below 1B, and the smallest model at 16×.
_GADRE_FITTED = (
    "(chinchilla_multiplier == 1 and N < 1e9 or chinchilla_multiplier == 16 and N < 2e7)"
)


def _gadre_variant(corpus: str, words: str, n_runs: int, *, fitted: bool) -> Variant:
    where = f"dataset == '{corpus}'" + (f" and {_GADRE_FITTED}" if fitted else "")
    which = "the five runs of the published fit" if fitted else "every run"
    return Variant(
        f"{words}: {which}; C4 validation loss",
        ReadOptions(columns={"N": "N", "D": "D", "loss": "loss_c4_val"}, where=where),
        Counts(runs=n_runs, configurations=n_runs),
        notes=(f"{words}, {which} ({n_runs}); loss on C4's validation set",),
    )


GADRE = Entry(
    name="gadre",
    title="Gadre et al.'s over-training testbed",
    citation="Gadre et al. 2024, Language Models Scale Reliably with Over-Training and on "
    "Downstream Tasks, arXiv 2403.08540",
    licence="MIT",
    homepage="https://github.com/mlfoundations/scaling",
    folder="gadre",
    sources=(
        Source(
            "gadre_overtrain.csv",
            url="https://codeload.github.com/mlfoundations/scaling/tar.gz/"
            "a003c4913793ac2ae7ef87b28ecb562955d026d5",
            convert=flatten,
        ),
    ),
    n_rows=104,
    variants={
        "": _gadre_variant("rpj", "RedPajama", 5, fitted=True),
        "all": _gadre_variant("rpj", "RedPajama", 35, fitted=False),
        "c4": _gadre_variant("c4_original", "C4", 5, fitted=True),
        "c4-all": _gadre_variant("c4_original", "C4", 34, fitted=False),
        "refinedweb": _gadre_variant("rw_original", "RefinedWeb", 5, fitted=True),
        "refinedweb-all": _gadre_variant("rw_original", "RefinedWeb", 35, fitted=False),
    },
    default_law="gadre",
)
