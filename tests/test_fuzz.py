"""Mutated inputs through the command line: no traceback, no warning, no nan printed.

See benchmarks/fuzz.py. `tests/fuzz` holds inputs that once ended badly.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOUND = sorted((Path(__file__).parent / "fuzz").glob("*.json"))
N_INPUTS, SEED = 220, 11


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    path = Path(__file__).parents[1] / "benchmarks" / "fuzz.py"
    spec = importlib.util.spec_from_file_location("benchmark_fuzz", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmark_fuzz"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_once_ended_badly_ends_well(fuzz, path: Path) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    assert fuzz.play(fuzz.Input.from_json(told)).problem == ""


def test_mutated_inputs_are_answered_or_refused(fuzz) -> None:
    # Reports take seconds each: a few of them in every hundred are for the benchmark.
    quick = [n for n in range(N_INPUTS) if not fuzz.make_input(SEED, n)[0].startswith("report")]
    outcomes = [fuzz.play_number(SEED, n) for n in quick]
    bad = {n: outcome.problem for n, _, outcome in outcomes if outcome.problem}
    assert bad == {}
    codes = [outcome.code for _, _, outcome in outcomes]
    assert min(codes.count(0), codes.count(2)) > 20  # neither all refused nor all let through


def test_an_input_depends_on_its_seed_and_number_alone(fuzz) -> None:
    assert fuzz.make_input(5, 17) == fuzz.make_input(5, 17)
    assert fuzz.make_input(5, 17) != fuzz.make_input(6, 17)


def test_the_fuzzer_sees_what_is_wrong(fuzz, monkeypatch) -> None:
    import warnings

    import lawsmith.cli as cli

    made = fuzz.Input(("fit", "t.csv"), {"t.csv": b"N,D,loss\n"})

    def ends(result):
        def main(_):
            return result()

        monkeypatch.setattr(cli, "main", main)
        return fuzz.play(made).problem

    def warned() -> int:
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        return 0

    def printed() -> int:
        print("loss 2.5 [1.2, inf]")
        return 0

    def told() -> int:
        print("error: got nan", file=sys.stderr)
        return 2

    assert "ZeroDivisionError" in ends(lambda: 1 // 0)
    assert "RuntimeWarning" in ends(warned)
    assert "[1.2, inf" in ends(printed)
    assert "exit code 3" in ends(lambda: 3)
    assert ends(told) == ""
