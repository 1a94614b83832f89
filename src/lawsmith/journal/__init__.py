"""The record of a study: events in an append-only file, and the ledger they add up to."""

from __future__ import annotations

from lawsmith.journal.events import Event, Kind, make
from lawsmith.journal.fold import Ledger, Stage, Trial, fold
from lawsmith.journal.journal import Journal
from lawsmith.journal.lock import driver_lock, driver_of
