"""Gadre et al.'s over-training testbed: its JSON files flattened to one table.

The repository has one JSON file per model. Its tarball is one request and half the bytes of the
104 files. It is read in memory; nothing in it is written to disk or executed.
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

from lawsmith.errors import LawsmithError
from lawsmith.files import reason

MEMBER = re.compile(r"[^/]+/exp_data/models/[^/]+\.json")
MAX_MEMBER_BYTES = 2**20  # both bound the memory that a wrong archive can take
MAX_MEMBERS = 2_000


def flatten(archive: bytes) -> bytes:
    """The models of a gzipped tarball as a CSV table, one row each, sorted by name."""
    try:
        rows = sorted(map(_flatten_model, _models(archive)), key=lambda row: row["name"])
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


def _flatten_model(model: Mapping[str, Any]) -> dict[str, Any]:
    """One row: N, D, well-known hyperparameters, all of them as h_…, and each evaluation's loss."""
    hyper = model["hyperparameters"]
    sizes = {"N": "params", "N_no_embed": "params_no_embed", "D": "tokens"}
    settings = {"lr": "lr", "wd": "wd", "bs": "global_bs", "warmup": "warmup"}
    keys = {**sizes, "chinchilla_multiplier": "chinchilla_multiplier", **settings}
    row = {"name": model["name"], "dataset": model["dataset_name"]}
    row |= {name: hyper[key] for name, key in keys.items()}
    row |= {f"h_{k}": v for k, v in hyper.items() if k not in ("params", "tokens")}
    for result in model["results"]:
        folder = result["val_data"][0].split("/")[-2]  # the set is c4_val in …/c4_val/shard-0.tar
        row[f"loss_{folder}"] = result["loss"]
    return row


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
        raise LawsmithError("gadre", got=reason(error), want="a tarball of JSON files") from None
