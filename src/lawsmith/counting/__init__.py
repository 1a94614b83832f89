"""Parameters and FLOPs of a decoder-only transformer, counted from its architecture.

found = count(Arch(layers=32, width=4096, heads=32, ffn=11008, gated=True, vocab=32000))
found.total, found.active, found.without_embeddings, found.training("causal")
"""

from __future__ import annotations

from lawsmith.counting.arch import Arch, read_arch
from lawsmith.counting.configs import read_config
from lawsmith.counting.count import Count, count
