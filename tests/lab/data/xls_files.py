"""Small xls workbooks of the oldest kind (BIFF2), which has one sheet: no package writes xls any more."""

import struct

_BOF, _NUMBER, _LABEL, _EOF = 0x09, 0x03, 0x04, 0x0A


def xls_bytes(rows: list[list[object]]) -> bytes:
    """A workbook with these texts and numbers; None leaves a cell out."""
    cells = [
        _cell(row, column, value)
        for row, values in enumerate(rows)
        for column, value in enumerate(values)
        if value is not None
    ]
    return b"".join([_record(_BOF, struct.pack("<HH", 2, 0x10)), *cells, _record(_EOF, b"")])


def _cell(row: int, column: int, value: object) -> bytes:
    place = struct.pack("<HH3x", row, column)
    if isinstance(value, str):
        text = value.encode("latin-1")
        return _record(_LABEL, place + struct.pack("<B", len(text)) + text)
    return _record(_NUMBER, place + struct.pack("<d", value))


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content
