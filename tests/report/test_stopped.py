"""Runs that were stopped, and what that saved, on the card of where a study stands."""

from __future__ import annotations

from pathlib import Path

from lawsmith.cli.run import status_payload
from lawsmith.journal import Kind, make
from lawsmith.report import Memory, Record, find_all, live_source
from lawsmith.report.cards.figures import along
from lawsmith.report.cards.progress import progress
from lawsmith.report.parts import Facts, Listing
from lawsmith.study.answer import summarise
from tests.study.scheduled import Law, begin_run, finish_some, row_at, scheduled_study

SAID = "1 run stopped before the end: 1.2e18 FLOPs saved, 6% of the budget"


def test_a_run_that_was_stopped_is_in_the_report_and_in_the_status(tmp_path: Path):
    study, law = scheduled_study(tmp_path), Law.draw(0)
    finish_some(study, law, 6)
    name = begin_run(study, law, row_at(study, 1e8, 4e9, 1.6e-2), 0.5)
    closing = [make(Kind.CANCELLING, name, reason="stopped")]
    closing.append(make(Kind.CANCELLED, name, trained=2e9))
    study.journal.update(lambda _: closing)
    ledger = study.read()
    found = find_all(study, ledger, Memory(), n_next=0, keep_going=lambda: False)
    source = live_source(study, ledger, found, Record())
    card = progress(source)
    assert card is not None
    (facts,) = [part for part in card.parts if isinstance(part, Facts)]
    assert ("stopped", SAID) in facts.rows
    (table,) = [p for p in card.parts if isinstance(p, Listing) and p.name == "stopped"]
    assert table.rows[0][0] == name
    assert along(source) is None  # it has no trunks
    payload = status_payload(summarise(study, ledger, n_next=0))
    assert payload["stopped"] == {"runs": 1, "flops_saved": 1.2e18}
