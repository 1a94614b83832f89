"""What the catalogue says of tinylm, the study that lawsmith's own trainer made.

Table and facts are written by examples/tinylm/bundle.py; docs/tinylm.md is the data card.
"""

from __future__ import annotations

import json
import math

from lawsmith.datasets.bundled import FOLDER
from lawsmith.datasets.entries import Entry, Source, Variant
from lawsmith.datasets.records import ReadOptions

VOCABULARY = 1024
FACTS = json.loads((FOLDER / "tinylm.json").read_text(encoding="utf-8"))

TINYLM = Entry(
    name="tinylm",
    title="tinylm: language models of 0.1M to 4.2M parameters, trained for lawsmith",
    citation="lawsmith's developers 2026, examples/tinylm",
    licence="Apache-2.0",
    homepage="",
    folder="",
    sources=(Source("tinylm.csv", sha256=FACTS["sha256"], n_bytes=FACTS["bytes"]),),
    n_rows=FACTS["rows"],
    variants={
        "": Variant(
            "lr and batch (sequences of 512 tokens a step); C = 6ND",
            ReadOptions(
                columns={name: name for name in ("N", "D", "C", "loss", "lr", "batch")},
                # The loss of a uniform guess: a run above it has learnt nothing.
                diverged_above=math.log(VOCABULARY),
            ),
        )
    },
    reach=2.0,
    targets=(1e16, 1e17, 1e18),
    notes=(
        "real training runs: one architecture on one corpus, sources of the Linux kernel",
        "N counts all parameters, the tied embedding once; exact FLOPs, 1.16 to 1.47 times 6ND, "
        "are read with --compute flops_exact",
        "seeds differ more where small models change regime; `lawsmith docs tinylm` has the noise, "
        "the missing corners of the grid and other flaws",
    ),
    bundled=True,
)
