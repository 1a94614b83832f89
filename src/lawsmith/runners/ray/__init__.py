"""The Ray runner: each run is started by a named, detached actor of a Ray cluster."""

from __future__ import annotations

from lawsmith.runners.ray.runner import RayOptions, RayRunner
