"""Reports: a study, a replay or a live study as cards on one self-contained page.

options = FitOptions(get_law("LC"), targets=(Target(1e25),))
source = table_source(load("runs.csv"), options, Record())
write_report(source, "report.html")
"""

from __future__ import annotations

from lawsmith.report.cards import CARDS as CARDS
from lawsmith.report.cards import cards_of as cards_of
from lawsmith.report.finding import Memory as Memory
from lawsmith.report.finding import find_out as find_out
from lawsmith.report.finished import read_replay as read_replay
from lawsmith.report.finished import replay_source as replay_source
from lawsmith.report.finished import table_source as table_source
from lawsmith.report.of_live import live_source as live_source
from lawsmith.report.page import report_html as report_html
from lawsmith.report.page import write_report as write_report
from lawsmith.report.parts import Card as Card
from lawsmith.report.source import Findings as Findings
from lawsmith.report.source import Record as Record
from lawsmith.report.source import Source as Source
