"""Files of trackers to messages: protobuf's wire format, and the two kinds of records around it.

TensorBoard's event files are TFRecords: length, a check sum, the record, a check sum. W&B's files
are logs of LevelDB: blocks of 32 KiB with records that may go on in the next block. A record cut
off at the end of a file is still being written, and is left out. Check sums are not compared.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lawsmith.errors import LawsmithError
from lawsmith.files import read_bytes

Field = tuple[int, int | bytes]  # number, and an integer, 4 or 8 bytes, or what is inside
MAX_BYTES = 512 * 2**20
_BLOCK = 32768
_WANDB = b":W&B"


class BrokenRecord(Exception):
    """Bytes that are not a tracker's record."""


@contextmanager
def whole_file(path: Path) -> Iterator[bytes]:
    """The bytes of a file; a broken record is an error that names the file."""
    try:
        yield read_bytes(path, limit=MAX_BYTES)
    except BrokenRecord:
        got = "bytes that are not a tracker's record"
        raise LawsmithError(str(path), got=got, want="a whole file") from None


def fields(message: bytes) -> Iterator[Field]:
    """The fields of a message, in their order."""
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        kind = tag & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield tag >> 3, value
            continue
        if kind == 2:
            size, place = _varint(message, place)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise BrokenRecord
        if place + size > len(message):
            raise BrokenRecord
        yield tag >> 3, message[place : place + size]
        place += size


def inside(message: bytes, *numbers: int) -> Iterator[bytes]:
    """What is inside the fields on a path of numbers, wherever they repeat."""
    for number, value in fields(message):
        if number == numbers[0] and isinstance(value, bytes):
            if len(numbers) == 1:
                yield value
            else:
                yield from inside(value, *numbers[1:])


def text(message: bytes, number: int) -> str:
    """The last text of a field, '' without one."""
    found = list(inside(message, number))
    return found[-1].decode("utf-8", "replace") if found else ""


def integer(message: bytes, number: int) -> int:
    """The last integer of a field, 0 without one; negative ones have 64 bits."""
    values = [v for n, v in fields(message) if n == number and isinstance(v, int)]
    last = values[-1] if values else 0
    return last - 2**64 if last >= 2**63 else last


def real(data: bytes) -> float:
    """The float or double in 4 or 8 bytes; NaN in others."""
    form = {4: "<f", 8: "<d"}.get(len(data))
    return float(struct.unpack(form, data)[0]) if form else float("nan")


def tf_records(data: bytes) -> Iterator[bytes]:
    """The records of an event file."""
    place = 0
    while place + 12 <= len(data):
        (size,) = struct.unpack_from("<Q", data, place)
        if place + 12 + size + 4 > len(data):
            if place == 0:
                raise BrokenRecord
            return
        yield data[place + 12 : place + 12 + size]
        place += 16 + size


def wandb_records(data: bytes) -> Iterator[bytes]:
    """The records of a .wandb file."""
    if not data.startswith(_WANDB):
        raise BrokenRecord
    place, parts = 7, b""
    while place + 7 <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < 7:  # the end of a block is filled with zeros
            place += left
            continue
        size, kind = struct.unpack_from("<HB", data, place + 4)
        if place + 7 + size > len(data):
            return
        part = data[place + 7 : place + 7 + size]
        place += 7 + size
        if kind not in (1, 2, 3, 4):  # whole, first, middle, last
            raise BrokenRecord
        parts = part if kind in (1, 2) else parts + part
        if kind in (1, 4):
            yield parts


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message) and shift < 70:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), place
        shift += 7
    raise BrokenRecord
