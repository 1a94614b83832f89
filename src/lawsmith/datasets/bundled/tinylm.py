"""What the catalogue says of tinylm and tinylm-wsd, the studies that lawsmith's own trainer made.

Tables and facts are written by examples/tinylm/bundle.py; docs/tinylm.md is the data card.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace

from lawsmith.datasets.bundled import FOLDER
from lawsmith.datasets.entries import Entry, Source, Variant
from lawsmith.datasets.records import ReadOptions

VOCABULARY = 1024
FACTS = json.loads((FOLDER / "tinylm.json").read_text(encoding="utf-8"))
WSD_FACTS = json.loads((FOLDER / "tinylm-wsd.json").read_text(encoding="utf-8"))

_OPTIONS = ReadOptions(
    columns={name: name for name in ("N", "D", "C", "loss", "lr", "batch")},
    # The loss of a uniform guess: a run above it has learnt nothing.
    diverged_above=math.log(VOCABULARY),
)
_NOTES = (
    "real training runs: one architecture on one corpus, sources of the Linux kernel",
    "N counts all parameters, the tied embedding once; exact FLOPs, 1.13 to 1.47 times 6ND, "
    "are read with --compute flops_exact",
    "seeds differ more where small models change regime; `lawsmith docs tinylm` has the noise, the "
    "missing corners of the grid and other flaws",
)


def _source(file: str, facts: dict[str, str | int]) -> Source:
    return Source(file, sha256=str(facts["sha256"]), n_bytes=int(facts["bytes"]))


TINYLM = Entry(
    name="tinylm",
    title="tinylm: language models of 0.1M to 4.2M parameters, trained for lawsmith",
    citation="lawsmith's developers 2026, examples/tinylm",
    licence="Apache-2.0",
    homepage="",
    folder="",
    sources=(_source("tinylm.csv", FACTS),),
    n_rows=FACTS["rows"],
    variants={"": Variant("lr and batch (sequences of 512 tokens a step); C = 6ND", _OPTIONS)},
    reach=2.0,
    targets=(1e16, 1e17, 1e18),
    notes=_NOTES,
    bundled=True,
)

TINYLM_WSD = replace(
    TINYLM,
    name="tinylm-wsd",
    title="tinylm-wsd: decays of trunks, with the losses along them, of 0.1M to 11M parameters",
    sources=(_source("tinylm-wsd.csv", WSD_FACTS["runs"]),),
    n_rows=WSD_FACTS["runs"]["rows"],
    variants={
        "": Variant(
            "lr and batch; with the losses along the trunks",
            _OPTIONS,
            curves=_source("tinylm-wsd-curves.csv", WSD_FACTS["curves"]),
        ),
        "finals": Variant("the same runs, without the losses along the trunks", _OPTIONS),
    },
)
