"""The journal on disk: appends, torn lines, full disks, others at work, versions, hand edits."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lawsmith.errors import LawsmithError
from lawsmith.journal import Journal, Kind, Stage, make
from lawsmith.journal.events import VERSION

CONFIG = {"model": "xs", "N": 1e7, "D": 1e8, "lr": 1e-3}


def created(**values: object) -> dict[str, object]:
    return make(Kind.CREATED, **{"version": VERSION, "study": "s", "id": "abc", **values})


def asked(name: str) -> dict[str, object]:
    return make(Kind.ASKED, name, by="run", config=CONFIG, cost=6e15)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with one trial."""
    path = tmp_path / "journal.jsonl"
    Journal(path).update(lambda _: [created(), asked("t0001")])
    return path


def test_what_is_appended_is_read_back_by_another(path: Path):
    Journal(path).update(lambda _: [make(Kind.FINISHED, "t0001", loss=2.5)])
    trial = Journal(path).refresh().trials["t0001"]
    assert (trial.stage, trial.loss, dict(trial.config)) == (Stage.FINISHED, 2.5, CONFIG)


def test_every_line_is_one_json_object_with_event_and_time(path: Path):
    for line in path.read_text().splitlines():
        assert {"event", "time"} <= set(json.loads(line))


def test_a_reader_takes_in_only_what_is_new(path: Path):
    journal = Journal(path)
    assert journal.refresh().n_events == 2
    Journal(path).update(lambda _: [asked("t0002")])
    assert journal.refresh().n_events == 3
    assert journal.refresh().n_events == 3


def test_a_change_is_decided_on_what_others_wrote_before(path: Path):
    mine, other = Journal(path), Journal(path)
    mine.refresh()
    other.update(lambda ledger: [asked(ledger.next_name())])
    mine.update(lambda ledger: [asked(ledger.next_name())])
    assert list(Journal(path).refresh().trials) == ["t0001", "t0002", "t0003"]


def test_many_writers_lose_nothing(path: Path):
    def work() -> None:
        journal = Journal(path)
        for _ in range(25):
            journal.update(lambda ledger: [asked(ledger.next_name())])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Journal(path).refresh().trials) == 201


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_last_line_is_skipped_then_cut_off(path: Path, cut: int):
    whole = path.read_bytes()
    torn = whole + json.dumps(asked("t0002")).encode()[:-cut]
    path.write_bytes(torn)
    journal = Journal(path)
    assert list(journal.refresh().trials) == ["t0001"]
    assert journal.torn
    assert path.read_bytes() == torn  # a reader changes nothing
    journal.update(lambda ledger: [asked(ledger.next_name())])
    assert not journal.torn
    assert path.read_bytes().startswith(whole)
    assert list(Journal(path).refresh().trials) == ["t0001", "t0002"]


def test_a_torn_line_longer_than_the_next_is_cut_off_whole(path: Path):
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event": "asked", "remark": "' + b"x" * 5000)
    Journal(path).update(lambda _: [asked("t0002")])
    assert len(path.read_bytes()) < len(whole) + 500
    assert list(Journal(path).refresh().trials) == ["t0001", "t0002"]


def test_zeros_that_a_power_cut_left_are_a_torn_line(path: Path):
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0" * 100)
    journal = Journal(path)
    journal.update(lambda _: [asked("t0002")])
    assert path.read_bytes().count(b"\0") == 0
    assert len(Journal(path).refresh().trials) == 2


def test_a_last_line_without_its_newline_counts_if_it_is_whole(path: Path):
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    journal = Journal(path)
    assert list(journal.refresh().trials) == ["t0001"]
    assert not journal.torn
    journal.update(lambda _: [asked("t0002")])
    assert list(Journal(path).refresh().trials) == ["t0001", "t0002"]


def test_a_broken_line_in_the_middle_is_told_by_its_number(path: Path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], '{"event": "asked", ', lines[1], ""]))
    with pytest.raises(LawsmithError, match=r"journal\.jsonl: line 2: got .* want one JSON object"):
        Journal(path).refresh()


def test_blank_lines_and_remarks_of_people_are_let_be(path: Path):
    line = json.dumps({**make(Kind.FINISHED, "t0001", loss=2.0), "note": "by hand, from the log"})
    path.write_text(path.read_text() + "\n\n" + line + "\n")
    assert Journal(path).refresh().trials["t0001"].loss == 2.0


def test_a_newer_version_is_refused_with_the_reason(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps(created(version=VERSION + 1)) + '\n{"event": "from the future"}\n')
    with pytest.raises(LawsmithError, match="written by a newer lawsmith"):
        Journal(path).refresh()


def test_a_file_that_begins_otherwise_is_no_journal(tmp_path: Path):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps(asked("t0001")) + "\n")
    with pytest.raises(LawsmithError, match="a first line with the event 'created'"):
        Journal(path).refresh()


def test_a_clock_that_goes_back_changes_nothing(path: Path):
    late = {**make(Kind.FINISHED, "t0001", loss=2.0), "time": "1999-01-01T00:00:00Z"}
    Journal(path).update(lambda _: [late])
    assert Journal(path).refresh().trials["t0001"].stage is Stage.FINISHED


def test_nothing_is_written_where_the_decision_fails(path: Path):
    before = path.read_bytes()

    def fail(_: object) -> list[dict[str, object]]:
        raise LawsmithError("no")

    with pytest.raises(LawsmithError):
        Journal(path).update(fail)
    with pytest.raises(LawsmithError, match="loss of finished"):
        Journal(path).update(lambda _: [asked("t0002"), make(Kind.FINISHED, "t0001", loss="x")])
    assert path.read_bytes() == before


def test_a_full_disk_is_told_and_nothing_is_lost(path: Path):
    """A limit on the size of files stands for the disk: the write comes short, then fails."""
    before = path.read_bytes()
    script = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from lawsmith.errors import LawsmithError\n"
        "from lawsmith.journal import Journal\n"
        "from tests.journal.test_journal import asked\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 40}, {len(before) + 40}))\n"
        "try:\n"
        f"    Journal(Path({str(path)!r})).update(lambda _: [asked('t0002')])\n"
        "except LawsmithError as error:\n"
        "    print(error)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert "File too large" in told.stdout
    assert "nothing on record was lost" in told.stdout
    assert path.read_bytes() == before
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_device_that_is_full_is_told():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(LawsmithError, match="/dev/full: got"):
        Journal(Path("/dev/full")).update(lambda _: [created()])


def test_a_folder_that_cannot_be_written_is_told(path: Path):
    script = (
        "import os\n"
        "from pathlib import Path\n"
        "from lawsmith.errors import LawsmithError\n"
        "from lawsmith.journal import Journal\n"
        "from tests.journal.test_journal import asked\n"
        "if os.geteuid() == 0:\n"
        "    os.setuid(65534)\n"  # a superuser may write anywhere
        f"path = Path({str(path)!r})\n"
        "assert len(Journal(path).refresh().trials) == 1\n"
        "for file in (path, path.with_name('new.jsonl')):\n"
        "    try:\n"
        "        Journal(file).update(lambda _: [asked('t0002')])\n"
        "    except LawsmithError as error:\n"
        "        print(error)\n"
    )
    for folder in (path.parent, *path.parent.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
        if folder == Path("/tmp"):
            break
    path.chmod(0o444)
    path.parent.chmod(0o555)
    told = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=False,
    )
    path.parent.chmod(0o755)
    if "No module named" in told.stderr or "Permission denied" in told.stderr:
        pytest.skip("another user cannot read this installation")
    assert told.stdout.count("Permission denied") == 2, told.stderr
    assert told.stdout.count("nothing on record was lost") == 2


def test_a_file_cut_short_under_a_reader_is_told(path: Path):
    journal = Journal(path)
    journal.refresh()
    path.write_text("")
    with pytest.raises(LawsmithError, match="became shorter"):
        journal.refresh()


def test_two_lines_that_make_one_object_are_refused(path: Path):
    line = json.dumps(asked("t0002")).encode()
    with path.open("ab") as file:
        file.write(line.replace(b", ", b",\n", 1) + b"\n")
    with pytest.raises(LawsmithError, match="line 3"):
        Journal(path).refresh()
