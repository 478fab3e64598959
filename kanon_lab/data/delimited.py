"""Microdata in csv: encoding and separator, text cells, and which columns of them are numbers."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from kanon_lab import files
from kanon_lab.data.values import BLANKS, DECIMAL, WHOLE, Changes, MissingCodes, composed, tidied, tidy
from kanon_lab.errors import DataError, OptionError, shortened

# What messages say of a file without a header.
NO_NAMES = "row 1: no column names; put them in the first row"

DELIMITERS = ",;\t|"
# Longer marks first: that of UTF-16 begins that of UTF-32.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# The usual encoding of csv files from spreadsheets of western Europe and America; all of latin-1's letters are in it.
_WESTERN = "cp1252"
_ASCII = bytes(range(128))
# What text in it has besides letters.
_SIGNS = "ªº°€¿¡·«»–—‘’“”…"
# Python has them, but no file of more than a few words is in them.
_OF_NAMES = ("idna", "punycode")
# A line that spreadsheets write before the names, and follow.
_DECLARATION = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([^\w\s"]|[\t ])"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_NO_ROWS = "cannot be split into rows and cells; save it as CSV in UTF-8"
# So many digits of a decimal a floating-point number always keeps.
_FLOAT_DIGITS = 15
# The separator is looked for in so many rows and characters.
_ROWS, _START = 20, 2**16


def _check_western(content: bytes, row: int, of_utf_8: bool) -> None:
    """Raise a `DataError` unless the bytes make sense in Windows-1252: no others, here or before, may be UTF-8."""
    high = content.translate(None, _ASCII)
    if of_utf_8 or 2 * len(content.decode("utf-8", "ignore").encode().translate(None, _ASCII)) >= len(high):
        fault = "wrong encoding, or damaged: UTF-8 in most places, but not here; save the file as UTF-8"
        raise DataError(f"row {row}: {fault}")
    try:
        text = high.decode(_WESTERN)
    except UnicodeDecodeError:
        text = ""
    if 2 * sum(letter.isalpha() or letter in _SIGNS for letter in text) < len(high):
        raise DataError(f"row {row}: wrong encoding: not UTF-8, nor Windows-1252; save the file as UTF-8")


def _find_separator(text: str) -> str:
    """The one of ``, ; tab |`` that occurs equally often in each of the first rows, or else most often in row 1."""
    rows = _first_rows(text)
    # If two occur equally often, it is not the comma: numbers and texts contain commas too.
    often = {sign: rows[0].count(sign) for sign in DELIMITERS if sign in rows[0]}
    return max(often, key=lambda sign: (_even(rows, sign), often[sign], sign != ","), default=",")


def _check_separator(text: str, separator: str, declared: bool) -> None:
    """Refuse a file with one column if its rows look like several columns between other signs."""
    rows = _first_rows(text)
    if declared and (others := [sign for sign in DELIMITERS if sign in rows[0] and sign != separator]):
        none = f"wrong separator: row 1 has no '{shown(separator)}' but '{shown(others[0])}'"
        raise DataError(f"{none}; leave the separator out to have it found")
    signs = [sign for sign in ":^~#! " if sign != separator and len(rows) > 1 and _even(rows, sign)]
    if signs:
        sign = shown(signs[0])
        raise DataError(f"only one column, and '{sign}' in every row; put commas or semicolons between cells")


def shown(separator: str) -> str:
    """A separator for messages."""
    return {"\t": "tab", " ": "space"}.get(separator, separator)


def _first_rows(text: str) -> list[str]:
    """Some rows from the first on, without what is between quotation marks."""
    lines = text[:_START].splitlines()
    if len(text) > _START and len(lines) > 1:
        lines.pop()  # cut short
    return list(islice((_QUOTED.sub("", line) for line in lines if line.strip()), _ROWS))


def _even(rows: list[str], sign: str) -> bool:
    """Whether a sign is in every row, and as often in each."""
    return sign in rows[0] and len({row.count(sign) for row in rows}) == 1


_FIRST_RECORD = re.compile(r'(?:[^"\r\n]|"[^"]*")*')
_BLANK_LINE = re.compile(rb"(?:\A|\r\n|\r|\n)[ \t]*(?:\r\n|\r|\n)")
_DECIMAL_COMMA = r"^-?(0|[1-9]\d{0,14})(,\d+)?$"
# In a file that could write a decimal comma, a point before three digits may stand between thousands.
_THOUSANDS = r"^-?[1-9]\d{0,2}(\.\d{3})+$"
# Bytes of a file that are decoded and parsed at a time; what is longer without an end of a record is no csv file.
_BLOCK, _LONG = 2**23, 2**27
# The parser reads these in blocks again, and no row may be longer than one; with short ones it is quick.
_SHORT = 2**20
# The text of the file that is in memory at a time: as it is, in cells, and in those of other types.
_COPIES = 3
# A no-break space too, and a narrow one.
_THOUSANDS_SIGNS = (".", ",", "'", " ", "\u00a0", "\u202f")
_DECIMALS = {",": "decimal comma", ".": "decimal point", ",.": "decimal comma in some columns, point in others"}


def with_thousands(mark: str, *, mixed: bool = False) -> str:
    """The pattern of a whole number from 0 on with a sign between thousands; if they are mixed, also of one without."""
    bare = r"|[1-9]\d{0,14}" if mixed else ""
    return rf"(?:0|[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})*{bare})"


def check_thousands(sign: str | None) -> None:
    """Raise an `OptionError` unless this can be a sign between thousands."""
    if sign is not None and sign not in _THOUSANDS_SIGNS:
        raise OptionError(f"thousands {shortened(sign)!r}: give . or , or ' or a space")


@dataclass(frozen=True)
class Dialect:
    """How a csv file is written. Of a dialect to read by, None says that this is to be found."""

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None  # ",." where one column has the one and another the other; None without decimals
    thousands: str | None = None  # The sign between thousands; None also where there is none

    def __post_init__(self) -> None:
        name = self.encoding or "utf-8"
        try:
            "".encode(name)
            known = codecs.lookup(name).name not in _OF_NAMES
        except (LookupError, ValueError):  # a zero byte in the name, or an encoding that does nothing but fail
            known = False
        if not known:
            unknown = f"encoding {shortened(name)!r}: there is none such for files"
            raise OptionError(f"{unknown}; name one such as cp1252, or leave it out")
        sign = self.separator
        if sign is not None and (len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\r\n\0'):
            raise OptionError(f"separator {shortened(sign)!r}: give one sign, such as ; or a tab")
        if self.decimal not in (None, ",", ".", ",."):
            raise OptionError(f"decimal {shortened(self.decimal)!r}: give , or .")
        check_thousands(self.thousands)
        if self.thousands is not None and self.thousands == self.decimal:  # both of them given
            raise OptionError(f"thousands and decimal are both {self.decimal!r}; give two signs")

    @property
    def facts(self) -> dict[str, str | None]:
        """Its parts by name; a sign between thousands only where there is one."""
        return {name: value for name, value in vars(self).items() if name != "thousands" or value}

    @property
    def note(self) -> str | None:
        """What is unusual in it; None for UTF-8 with commas."""
        parts = [f"separator {shown(self.separator)}"] if self.separator and self.separator != "," else []
        if self.decimal is not None and (self.decimal != "." or parts):
            parts.append(_DECIMALS[self.decimal])
        parts += [f"sign between thousands {shown(self.thousands)}"] if self.thousands else []
        parts += [f"encoding {self.encoding}"] if self.encoding != "utf-8" else []
        return ", ".join(parts) or None


class DelimitedReader:
    """A csv file read some records at a time, so that a long one takes no more memory than a short one.

    `names` are those in its header. The encoding in `dialect` is known for sure when all is read.
    """

    def __init__(self, file: BinaryIO, dialect: Dialect):
        self._file, self.dialect = file, dialect
        self._rows = 0  # before the records that are parsed next
        blocks = self._utf_8()
        first, declared = next(blocks), None
        if (declaration := _DECLARATION.match(first)) and declaration[1].isascii():
            first, declared = b"\n" + first[declaration.end() :], declaration[1].decode()  # a blank line in its place
        text = first.decode().removeprefix("\n" if declared else "")
        if not re.split(r"[\r\n]", text, maxsplit=1)[0].strip():
            raise DataError(NO_NAMES)
        separator = dialect.separator or declared or _find_separator(text)
        self.dialect = replace(self.dialect, separator=separator)
        self._records = self._whole_records(chain([first], blocks))
        self._first = next(self._records)
        try:
            record = _FIRST_RECORD.match(self._first.decode().removeprefix("\n" if declared else ""))
            names = next(csv.reader([record[0] if record else ""], delimiter=separator))
        except csv.Error:
            raise DataError(NO_NAMES) from None
        self.names = [name.strip(BLANKS) for name in names]
        if len(names) == 1:
            _check_separator(text, separator, (dialect.separator or declared) is not None)

    def tables(self, positions: Sequence[int]) -> Iterator[tuple[pa.Table, pd.Index]]:
        """Text cells of columns, a part of the records at a time, and the number of each record's row."""
        header = 1
        for content in chain([self._first], self._records):
            table, rows = self._cells(content, positions)
            yield table.slice(header), rows[header:]
            header = 0

    def _utf_8(self) -> Iterator[bytes]:
        """The file in UTF-8 without a byte-order mark, a block at a time."""
        block, lines, letters = self._file.read(_BLOCK), 0, False
        marked = next((name for mark, name in _MARKS.items() if block.startswith(mark)), None)
        known = self.dialect.encoding or marked
        decoder = self._decoder(known or "utf-8")
        while True:
            try:
                text = decoder.decode(block, not block)
            except UnicodeError as error:
                block = getattr(error, "object", block)
                row = lines + block.count(b"\n", 0, getattr(error, "start", 0)) + 1
                if known:
                    fault = f"wrong encoding: not {self.dialect.encoding}; save the file as UTF-8"
                    raise DataError(f"row {row}: {fault}") from None
                _check_western(block, row, letters)
                known, decoder = _WESTERN, self._decoder(_WESTERN)  # as which all before is the same, without letters
                continue
            if (zero := text.find("\0")) >= 0:
                # UTF-16 without a byte-order mark decodes as UTF-8, with a zero byte beside every letter.
                row = lines + text.count("\n", 0, zero) + 1
                raise DataError(f"row {row}: wrong encoding, or damaged: zero bytes; save the file as UTF-8")
            yield text.lstrip("\ufeff" if lines == 0 else "").encode()
            if not block:
                return
            lines, letters = lines + text.count("\n"), letters or not text.isascii()
            block = self._file.read(_BLOCK)

    def _decoder(self, encoding: str) -> codecs.IncrementalDecoder:
        name = codecs.lookup(encoding).name
        self.dialect = replace(self.dialect, encoding=name)
        return codecs.getincrementaldecoder(name)()

    def _whole_records(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The content of the blocks in parts that end where a record ends."""
        sign, rest = re.escape(str(self.dialect.separator)).encode(), b""
        # A quotation mark begins a cell, or belongs to the text of one.
        cell = rb'(?<![^%b\r\n])"[^"]*+(?:""[^"]*+)*+"' % sign
        records = re.compile(
            rb'(?:(?:[^"\r\n]++|%b(?![^%b\r\n])|(?<=[^%b\r\n])")*+(?:\r\n?|\n))*+' % (cell, sign, sign)
        )
        for block in blocks:
            content = rest + block
            stop = len(content) - content.endswith(b"\r")  # which a line feed may follow
            if b'"' in content:
                end = _matched(records, content, stop)
            else:
                end = max(content.rfind(sign, 0, stop) for sign in (b"\r", b"\n")) + 1
            rest = content[end:]
            if len(rest) > _LONG:
                break
            if end:
                yield content[:end]
        whole = re.compile(rb'(?:[^"]++|%b(?![^%b\r\n])|(?<=[^%b\r\n])")*+' % (cell, sign, sign))
        if (end := _matched(whole, rest, len(rest))) < len(rest):
            fault = "a quotation mark is never closed; close it"
            if re.compile(cell).match(rest, end):
                remedy = "correct the row, and double a mark that belongs to the text"
                fault = f"there is text after a closing quotation mark; {remedy}"
            before = rest[:end] + b"."
            row, records_before = len(before.splitlines()), re.sub(cell, b".", before).splitlines()
            if len(records_before) < row:  # cells hold lines: then records are counted, and blank lines are not
                row = len([record for record in records_before if record.strip(b" \t")])
            raise DataError(f"row {self._rows + row}: {fault}")
        if len(rest) > _LONG:
            raise DataError(_NO_ROWS)
        if rest:
            yield rest

    def _cells(self, content: bytes, positions: Sequence[int]) -> tuple[pa.Table, pd.Index]:
        """Columns of text, and the row of each record: its line in the file, or its number where cells hold lines."""
        for block in (_LONG,) if b'"' in content else (_SHORT, _LONG):
            with suppress(pa.ArrowInvalid):
                table, faulty = self._parsed(content, positions, block)
                break
        else:
            raise DataError(_NO_ROWS)
        records = table.num_rows + len(faulty)
        rows: pd.Index = pd.RangeIndex(self._rows + 1, self._rows + records + 1, name="row")
        last = self._rows + records
        if _BLANK_LINE.search(content):
            lines = content.splitlines()
            numbers = [number for number, line in enumerate(lines, self._rows + 1) if line.strip(b" \t")]
            if len(numbers) == records:
                rows, last = pd.Index(numbers, name="row", dtype=np.int64), self._rows + len(lines)
        if faulty:
            row = faulty[0]
            fault = "fewer" if row.actual_columns < row.expected_columns else "more"
            raise DataError(f"row {rows[row.number - 1]}: {fault} cells than the header has; correct the row")
        self._rows = last
        return table, rows

    def _parsed(
        self, content: bytes, positions: Sequence[int], block: int
    ) -> tuple[pa.Table, list[arrow_csv.InvalidRow]]:
        """Columns of text, and the rows of another number of cells than the header, which the table lacks."""
        faulty, names = [], [f"f{position}" for position in range(len(self.names))]

        def note(row: arrow_csv.InvalidRow) -> str:
            faulty.append(row)
            return "skip"

        chosen = [names[position] for position in positions]
        table = arrow_csv.read_csv(
            pa.py_buffer(content.rstrip(b"\r\n") + b"\n"),
            arrow_csv.ReadOptions(
                use_threads=False,  # with threads, faulty rows have no number
                column_names=names,
                block_size=min(len(content) + 1, block),
            ),
            arrow_csv.ParseOptions(
                delimiter=self.dialect.separator, newlines_in_values=b'"' in content, invalid_row_handler=note
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(chosen, pa.string()), include_columns=chosen, strings_can_be_null=False
            ),
        )
        return table, faulty


def as_values(
    cells: pa.ChunkedArray,
    name: str,
    dialect: Dialect,
    text: Sequence[str],
    na: Sequence[str],
    codes: MissingCodes,
    changes: Changes,
) -> tuple[pd.Series, str | None, str | None]:
    """The cells of a column as values of the type that they allow; its signs before decimals and between thousands."""
    signs = dialect.decimal or ("." if dialect.separator == "," else ",.")
    cells = known_cells(cells, na, composed(name), changes)
    if composed(name) in codes.codes:
        values = pc.unique(cells).drop_null().to_pandas().astype("str").rename(name)
        cells = _without(cells, values[codes.without(values).isna()])
    stays = composed(name) in text
    ungrouped = None if stays else _without_thousands(cells, signs, dialect.thousands)
    if ungrouped is not None:
        cells, signs = ungrouped
    thousands = None if ungrouped is None else dialect.thousands or "."
    typed, decimal = _typed(cells, stays, signs)
    if isinstance(typed, pd.Series):
        return typed, decimal, thousands
    # Whole numbers with missing ones among them would become floating-point numbers, which are not exact.
    return typed.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get), decimal, thousands


def _without_thousands(cells: pa.ChunkedArray, signs: str, sign: str | None) -> tuple[pa.ChunkedArray, str] | None:
    """Cells of numbers without the sign between thousands, and the sign before decimals; None where there is none.

    Unless the sign is given it is the point, in a file that could write a decimal comma, where that is sure: some cell
    has two points, or a point and then a comma.
    """
    mark = sign or "."
    if not pc.any(pc.match_substring(cells, mark)).as_py():
        return None
    if sign is None and (signs != ",." or not pc.any(pc.match_substring_regex(cells, r"\.\d{3}[.,]")).as_py()):
        return None
    start = with_thousands(mark, mixed=sign is not None)
    for decimal in signs.replace(mark, "") or ",.".replace(mark, ""):
        if _all_match(cells, rf"^-?{start}({re.escape(decimal)}\d*)?$"):
            bare = pc.replace_substring(cells, mark, "")
            # 1.000 and 1000 would be one number
            same = sign is not None or pc.count_distinct(bare) == pc.count_distinct(cells)
            return (bare, decimal) if same else None
    return None


def _matched(pattern: re.Pattern[bytes], content: bytes, stop: int) -> int:
    """How far a pattern matches from the start of a content."""
    match = pattern.match(content, 0, stop)
    return match.end() if match else 0


def read_delimited(
    content: bytes,
    choose: Callable[[list[str]], list[str]],
    dialect: Dialect,
    text: Sequence[str],
    na: Sequence[str],
    codes: MissingCodes,
    changes: Changes,
) -> tuple[pd.DataFrame, Dialect]:
    """The columns of a csv file that `choose` picks from its header, indexed by row number, and its dialect."""
    files.check_size(_COPIES * len(content))
    reader = DelimitedReader(io.BytesIO(content), dialect)
    names = choose(reader.names)
    files.check_table(max(content.count(b"\n"), content.count(b"\r")), len(names))
    tables, rows = zip(*reader.tables([*map(reader.names.index, names)]), strict=True)
    columns: dict[str, pd.Series] = {}
    decimals: set[str] = set()
    between = None
    for name, cells in zip(names, pa.concat_tables(tables).columns, strict=True):
        columns[name], decimal, thousands = as_values(cells, name, reader.dialect, text, na, codes, changes)
        decimals.update({decimal} if decimal else ())
        between = thousands or between
    frame = pd.DataFrame(columns).set_axis(rows[0].append(list(rows[1:])), axis=0)
    return frame, replace(reader.dialect, decimal="".join(sorted(decimals)) or None, thousands=between)


def known_cells(cells: pa.ChunkedArray, na: Sequence[str], name: str, changes: Changes) -> pa.ChunkedArray:
    """Cells with composed letters and without blanks around them; empty ones and those of `na` are missing."""
    return _without(tidied(cells, name, changes), ["", *map(tidy, na)])


def _without(cells: pa.ChunkedArray, texts: Sequence[str]) -> pa.ChunkedArray:
    """The cells, missing where they are one of some texts."""
    absent = pc.is_in(cells, value_set=pa.array(texts, pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), cells) if pc.any(absent).as_py() else cells


def _typed(cells: pa.ChunkedArray, stays: bool, signs: str) -> tuple[pa.ChunkedArray | pd.Series, str | None]:
    """Cells as numbers where that loses nothing, else as text; and which of the `signs` stands before decimals."""
    if stays:
        return cells, None
    if _all_match(cells, WHOLE):
        return cells.cast(pa.int64()), None
    sign, thousands = None, signs == ",." and _all_match(cells, _THOUSANDS)
    if "," in signs and _all_match(cells, _DECIMAL_COMMA):
        sign, numbers = ",", pc.replace_substring(cells, ",", ".")
    elif "." in signs and _all_match(cells, DECIMAL) and not thousands:
        sign, numbers = ".", cells
    else:
        return cells, None
    floats = numbers.cast(pa.float64())
    exact = _exact(numbers, floats)
    distinct = pc.count_distinct(floats).as_py() if exact is None else exact.nunique()
    # Codes such as 1.1 and 1.10 are different values that would be one number.
    same = distinct == pc.count_distinct(cells).as_py()
    return (floats if exact is None else exact, sign) if same else (cells, None)


def _exact(cells: pa.ChunkedArray, numbers: pa.ChunkedArray) -> pd.Series | None:
    """Cells as decimals where one has more digits than a floating-point number keeps; None where none has."""
    long = pc.and_(pc.greater(pc.binary_length(cells), _FLOAT_DIGITS + 1), pc.not_equal(cells, numbers.cast("string")))
    if not any(map(_is_cut, pc.filter(cells, long).to_pylist())):
        return None
    return pd.Series([None if text is None else Decimal(text) for text in cells.to_pylist()], dtype=object)


def _is_cut(text: str) -> bool:
    """Whether a floating-point number, written with as many digits, is another number than a text."""
    number = float(text)
    if f"{number:.17g}" == text:  # as many programs write them
        return False
    exact = Decimal(text)
    digits = len(exact.as_tuple().digits)
    return digits > _FLOAT_DIGITS and Decimal(f"{number:.{digits - 1}e}") != exact


def _all_match(cells: pa.ChunkedArray, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py()
