"""Live studies: a study file and a journal, driven to a law by one loop."""

from __future__ import annotations

from lawsmith.study.live import LiveStudy, open_study
