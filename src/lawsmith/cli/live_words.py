"""Words of the live commands, apart from the views of `lawsmith fit`, which import far more."""

from __future__ import annotations

from lawsmith.formats import flops, number
from lawsmith.study.live import LiveStudy


def spent(study: LiveStudy, compute: float) -> str:
    """FLOPs, and GPU-hours where the study knows its throughput."""
    told = study.spec.throughput
    text = f"{flops(compute)} FLOPs"
    if told is None:
        return text
    return f"{text} ({number(compute / told.flops_per_second / 3600, 3)} GPU-hours)"
