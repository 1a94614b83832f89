"""`lawsmith fit` with the options of docs/decisions.md, on the table that ships."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from lawsmith.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n\$ lawsmith (fit tinylm.*?)\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command for command, _ in BLOCKS])
def test_a_command_of_the_page_prints_what_stands_there(
    command: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 0
    printed = {_plain(line) for line in capsys.readouterr().out.splitlines()}
    heads = [line for line in shown.splitlines() if line and not line.startswith(" ")]
    assert heads
    assert {_plain(line) for line in heads} <= printed


def _plain(line: str) -> str:
    """A line without its numbers, which move a little as the surface gets better."""
    return re.sub(r"[0-9][0-9.]*[KMBT]?", "#", " ".join(line.split()))


def test_decisions_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["fit", "tinylm", "--target", "1e17", "--next", "3", "--critical-batch", "--json"])
        == 0
    )
    (found,) = json.loads(capsys.readouterr().out)["decisions"]
    assert found["target"] == 1e17
    assert len(found["next_runs"]) == 3
    for run in found["next_runs"]:
        assert run["after"] < run["before"]
        assert run["narrowed"] == pytest.approx(1 - run["after"] / run["before"])
    assert found["critical_batch"]["axis"] == "batch"
    assert found["critical_batch"]["identified"] in (True, False)


def test_further_runs_need_a_compute(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "tinylm", "--at", "N=8M,D=300M", "--next", "3"]) == 2
    assert "--target" in capsys.readouterr().err
