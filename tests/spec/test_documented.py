"""docs/study-file.md names every key there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from lawsmith.runners.local import LocalOptions
from lawsmith.runners.replay import ReplayOptions
from lawsmith.spec import models, parse_spec

TEXT = (Path(__file__).parents[2] / "docs" / "study-file.md").read_text(encoding="utf-8")
TABLES: list[type[BaseModel]] = [
    models.StudySpec,
    models.ModelSpec,
    models.BudgetSpec,
    models.ThroughputSpec,
    models.CostSpec,
    models.TrunksSpec,
    models.LawSpec,
    models.PolicySpec,
    models.RunnerSpec,
    models.ResultsSpec,
    models.FailuresSpec,
    LocalOptions,
    ReplayOptions,
]
AXIS_KEYS = {"values", "from", "to", "n", "scale", "whole", "per_param"}
KEYS = sorted({key for table in TABLES for key in table.model_fields} | AXIS_KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_documented(key: str):
    written = (f"`{key}`", f".{key}`", f"[{key}]", f"`[[{key}]]`")
    assert any(form in TEXT for form in written)


def test_the_example_of_the_page_is_a_study():
    block = TEXT.split("```toml\n")[1].split("```")[0]
    assert parse_spec(block.encode()).name == "my-study"
