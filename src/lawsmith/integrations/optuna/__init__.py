"""A sampler for Optuna: any number of workers share one study of lawsmith's candidates."""

from __future__ import annotations

from lawsmith.integrations.optuna.sampler import LawsmithSampler, StudyOver
