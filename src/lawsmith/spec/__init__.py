"""The study file: study.toml to a checked `StudySpec`, and that to the candidates of a study."""

from __future__ import annotations

from lawsmith.spec.build import Candidates, build_candidates
from lawsmith.spec.load import load_spec, parse_spec
from lawsmith.spec.models import StudySpec

__all__ = ["Candidates", "StudySpec", "build_candidates", "load_spec", "parse_spec"]
