"""The keys of ``[runner]`` with ``kind = "ray"``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lawsmith.spec.models import Seconds
from lawsmith.spec.reading import Table

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RayOptions(Table):
    """What is run, and what it needs.

    command     arguments of a run, without a shell; {name} stands for its value
    address     of the cluster: 'auto' for the one this machine is part of, or ray://host:port
    num_cpus    and num_gpus, resources: what a run holds while it lives
    timeout     of a run, from its start; 0 is none
    grace       seconds between asking a run to stop and killing it
    """

    command: Annotated[list[str], Field(min_length=1)]
    address: str = "auto"
    namespace: str = "lawsmith"
    num_cpus: Amount = 1.0
    num_gpus: Amount = 0.0
    resources: dict[str, Amount] = Field(default_factory=dict)
    timeout: Seconds = 0.0
    grace: Seconds = 10.0
    env: dict[str, str] = Field(default_factory=dict)
