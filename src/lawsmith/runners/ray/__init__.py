"""The Ray runner: every run is the command of a named, detached actor of a Ray cluster."""

from __future__ import annotations

from lawsmith.runners.ray.options import RayOptions
from lawsmith.runners.ray.runner import RayRunner

__all__ = ["RayOptions", "RayRunner"]
