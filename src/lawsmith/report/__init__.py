"""Reports: a study, a replay or a live study as cards on one self-contained page.

options = FitOptions(get_law("LC"), targets=(Target(1e25),))
source = table_source(load("runs.csv"), options, Record())
write_report(source, "report.html")
"""

from __future__ import annotations

from lawsmith.report.cards import CARDS, cards_of
from lawsmith.report.findings import Memory, find_all
from lawsmith.report.finished import read_replay, replay_source, table_source
from lawsmith.report.live_source import live_source
from lawsmith.report.page import report_html, write_report
from lawsmith.report.parts import Card
from lawsmith.report.source import Findings, Record, Source
