"""What public studies are like: a prior for the next one, as a script learnt it (public.toml)."""

from __future__ import annotations

import tomllib
from pathlib import Path

from lawsmith.surface.prior import BROAD, Number, Prior

_LEARNT = tomllib.loads((Path(__file__).parent / "public.toml").read_text(encoding="utf-8"))
# How much studies of one family share: the correlation of shares of the loss, and of all others.
FAMILY: dict[str, float] = _LEARNT["family"]
PUBLIC = Prior(
    {name: Number(c, sd, BROAD[name].log) for name, (c, sd, _) in _LEARNT["numbers"].items()},
    public=tuple(_LEARNT["studies"]),
)
