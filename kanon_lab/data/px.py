"""PC-Axis files of population counts, in both of INE's layouts, without a list of their millions of numbers."""

import codecs
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.data import labels
from kanon_lab.data.labels import MOST_PERSONS, check_year
from kanon_lab.errors import DataError, about

_ABSENT = -1
_ABSENT_MARK, _SUPPRESSED_MARK = b"-1", b"-2"
_DIGITS_AND_BLANKS = b"0123456789 \t\r\n\v\f"
_ASCII = bytes(range(128))
_DATA = re.compile(rb"^DATA\s*=", re.MULTILINE)
_CODEPAGE = re.compile(rb'^(CODEPAGE|CHARSET)\s*=\s*"([^"]*)"', re.MULTILINE)
# KEYWORD("name")="text","text"; where signs within texts part nothing.
_ELEMENT = re.compile(r'((?:[^"=;]|"[^"]*")++)=((?:[^"=;]|"[^"]*")*+);')
_TEXT = re.compile(r'" *(.+?) *"')
_SYMBOL = re.compile(rb'(?<!\S)(?:"[^"\s]*"|\.+)(?!\S)')
_FAULT = re.compile(
    rb'(?<!\S)(?!\d+(?!\S)|"[^"\s]*"(?!\S)|\.+(?!\S))'
    rb"(?:(?P<negative>-\d\S*)|(?P<fraction>\d+[.,]\d+(?!\S))|(?P<other>\S+))"
)
_FAULT_KINDS = {"negative": "is negative", "fraction": "has a fraction", "other": "is not a number"}
# What accented letters of other code pages become when read as ISO-8859-15 or Windows-1252.
_MISREAD = re.compile("[\x80-\x9f¢£¤€]")


@dataclass(frozen=True)
class Table:
    """A PC-Axis table: labels as `labels` reads them, in file order, and persons."""

    sexes: list[str]
    ages: list[str]
    places: list[labels.Place]
    years: list[int]  # none where it has no such dimension
    cells: np.ndarray  # (places, sexes, ages, years or 1): -1 where the file has an empty symbol, -2 where another one


def read_px(path: str | Path) -> Table:
    """Read a PC-Axis file of counts by sex, place, age group and possibly year, all of them known by their labels."""
    with about(str(path)):
        content = files.read_bytes(path)
        if not (start := _DATA.search(content)):
            raise DataError("no DATA= line: not a PC-Axis file, or cut short; download it again")
        dimensions = _dimensions(_header(content[: start.start()]))
        return _arrange(_numbers(content[start.end() :], dimensions), dimensions)


def year_frame(table: Table, year: int | None) -> pd.DataFrame:
    """Cells of one year, totals included, place by place; a place without any figure did not exist then."""
    if year is not None or len(table.years) > 1:
        check_year(year, table.years)
    cells = table.cells[..., 0 if year is None else table.years.index(year)]
    existing = (cells != _ABSENT).any(axis=(1, 2))
    cells = cells[existing]
    places = [place for place, exists in zip(table.places, existing, strict=True) if exists]
    if (cells < 0).any():
        place, sex, age = np.argwhere(cells < 0)[0]
        raise DataError(
            f"place {places[place].code}, {table.sexes[sex]}, {table.ages[age]}: the count is "
            "suppressed or missing; use a file without suppressed cells"
        )
    grid = pd.MultiIndex.from_product([range(len(places)), table.sexes, table.ages], names=["at", "sex", "age_group"])
    frame = pd.DataFrame({"persons": cells.ravel()}, index=grid).reset_index()
    by_place = pd.DataFrame(places, columns=["place", "name"], dtype=str)
    return frame.join(by_place, on="at").drop(columns="at")


def _header(raw: bytes) -> str:
    """Header text, decoded as it declares; an `ANSI` file without a code page is Windows-1252."""
    declared = {key.decode(): value.decode("ascii", "replace") for key, value in _CODEPAGE.findall(raw)}
    encoding = declared.get("CODEPAGE") or ("windows-1252" if declared.get("CHARSET") else "cp850")
    try:  # codecs that do not read ASCII as it is, or make no text, are none of a code page
        codec = codecs.lookup(encoding).name if _ASCII.decode(encoding) == _ASCII.decode("ascii") else None
    except (LookupError, ValueError):
        codec = None
    if codec is None:
        raise DataError("declares an unknown CODEPAGE; download it again")
    advice = "save it in the encoding it declares, or correct CODEPAGE"
    if codec != "utf-8" and not raw.isascii():
        with suppress(UnicodeDecodeError):
            raw.decode("utf-8")
            raise DataError(f"wrong encoding: its bytes are UTF-8, not {encoding}; {advice}")
    try:
        text = raw.decode(codec)
    except UnicodeError as error:
        row = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1  # not every codec says where
        raise DataError(f"row {row}: wrong encoding: its bytes are not {encoding}; {advice}") from None
    if misread := _MISREAD.search(text):
        row = text.count("\n", 0, misread.start()) + 1
        raise DataError(f"row {row}: wrong encoding: its letters are not {encoding}; {advice}")
    return text.removeprefix("\ufeff")


def _dimensions(header: str) -> dict[str, list[str]]:
    """Dimension to labels, in the order in which the numbers vary (the last one fastest)."""
    header, metadata, place = re.sub(r"[\r\n]", " ", header), {}, 0  # keyword, such as VALUES(sexo), to its texts
    while element := _ELEMENT.match(header, place):
        keyword = element[1].strip().replace('"', "").replace("( ", "(").replace(" )", ")")
        metadata[keyword], place = _TEXT.findall(element[2]), element.end()
    if not metadata or ";" in re.sub(r'"[^"]*("|$)', "", header[place:]):
        raise DataError("its header is not PC-Axis or is damaged; download it again")
    # Codes are read from the labels: in files cut from larger ones CODES is longer than VALUES.
    if any(key.startswith("KEYS(") for key in metadata):
        raise DataError("leaves out empty cells (KEYS); save it in full")
    names = [*metadata.get("STUB", []), *metadata.get("HEADING", [])]
    if not names:
        raise DataError("no STUB or HEADING line: not a PC-Axis table; download it again")
    dimensions = {name: metadata.get(f"VALUES({name})", []) for name in names}
    if absent := [name for name, values in dimensions.items() if not values]:
        raise DataError(f"dimension {absent[0]}: no VALUES line; download it again")
    return dimensions


def _numbers(raw: bytes, dimensions: dict[str, list[str]]) -> np.ndarray:
    """The numbers of the DATA part, shaped as the dimensions are."""
    shape = [len(values) for values in dimensions.values()]
    body, end, rest = raw.partition(b";")
    expected, present = math.prod(shape), _count_tokens(body)
    if present > expected or rest.strip():
        raise DataError(f"more numbers than the {expected} that its dimensions make; download it again")
    if present < expected:
        cell = _cell(present, dimensions)
        raise DataError(f"cut short at {cell}: {present} of {expected} numbers; download it again")
    if not end:
        raise DataError("cut short: no ; after the last number; download it again")
    plain, marks = _SYMBOL.subn(lambda symbol: _ABSENT_MARK if symbol[0] == b'""' else _SUPPRESSED_MARK, body)
    if plain.translate(None, _DIGITS_AND_BLANKS) != b"-" * marks:
        fault = _FAULT.search(body)
        assert fault and fault.lastgroup
        cell = _cell(_count_tokens(body[: fault.start()]), dimensions)
        raise DataError(f"{cell}: the count {_FAULT_KINDS[fault.lastgroup]}; correct it or download it again")
    numbers = np.fromstring(plain, dtype=np.int64, sep=" ")
    if numbers.max(initial=0) > MOST_PERSONS:
        cell = _cell(int(numbers.argmax()), dimensions)
        raise DataError(f"{cell}: the count is too large to be persons; correct it or download it again")
    return numbers.reshape(shape)


def _count_tokens(body: bytes) -> int:
    """Number of words between white space, without making them."""
    blank = np.frombuffer(body, dtype=np.uint8) <= ord(" ")
    return int(np.count_nonzero(blank[:-1] & ~blank[1:])) + int(blank.size > 0 and not blank[0])


def _cell(position: int, dimensions: dict[str, list[str]]) -> str:
    """Labels of a cell, for messages: they are the file's metadata, not its data."""
    shape = [len(values) for values in dimensions.values()]
    indices = np.unravel_index(position, shape)
    return ", ".join(values[index].strip() for values, index in zip(dimensions.values(), indices, strict=True))


def _arrange(numbers: np.ndarray, dimensions: dict[str, list[str]]) -> Table:
    """Recognise each dimension by its labels and bring the axes into the order of `Table`."""
    dimension_labels: dict[str, list[Any]] = {}
    axes: dict[str, int] = {}
    for axis, (name, values) in enumerate(dimensions.items()):
        # A dimension is of the kind that most of its labels are of; a faulty label is reported by its position.
        understood = {kind: [reader(value) is not None for value in values] for kind, reader in _READERS.items()}
        kind = max(understood, key=lambda kind: sum(understood[kind]))
        if not all(understood[kind]):
            position = understood[kind].index(False) + 1
            raise DataError(
                f"dimension {name}: label {position} is not a sex, age, five-year age group, year or coded place; "
                "use a table by sex, place, five-year age group and year alone"
            )
        if kind in dimension_labels:
            raise DataError(f"dimension {name}: a second dimension of kind {kind}; use a table with one")
        read: list[Any] = [_READERS[kind](value) for value in values]
        if len({value.code if kind == "place" else value for value in read}) < len(read):
            raise DataError(f"dimension {name}: a label occurs twice; leave one of them out")
        dimension_labels[kind], axes[kind] = read, axis
    if missing := ", ".join(sorted({"sex", "age", "place"} - set(dimension_labels))):
        raise DataError(f"no dimension for {missing}; use a table by sex, place and five-year age group")
    if "year" not in axes:
        numbers, axes["year"] = numbers[..., np.newaxis], numbers.ndim
    cells = numbers.transpose([axes[kind] for kind in ("place", "sex", "age", "year")])
    return Table(
        dimension_labels["sex"],
        dimension_labels["age"],
        dimension_labels["place"],
        dimension_labels.get("year", []),
        cells,
    )


def _known_sex(label: str) -> str | None:
    sex = labels.sex(label)
    return sex if sex in ("men", "women", labels.TOTAL) else None


# Readers of labels; where labels fit several kinds ("01 de enero de 2010" looks like a place), the first is meant.
_READERS = {"sex": _known_sex, "age": labels.ages, "year": labels.year, "place": labels.place}
