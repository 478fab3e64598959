"""Microdata in csv: encoding and separator, text cells, and which columns of them are numbers."""

import codecs
import csv
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from kanon_lab import files
from kanon_lab.data.values import MissingCodes, composed
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
# Rows and characters that tell the separator.
_ROWS, _START = 20, 2**16


def _without_declaration(content: bytes) -> tuple[bytes, str | None]:
    """A csv file in UTF-8 with a blank line for one like ``sep=;`` at its start, and the separator that it declares."""
    found = _DECLARATION.match(content)
    sign = found[1].decode("ascii", "replace") if found else ""
    return (b"\n" + content[found.end() :], sign) if found and sign and sign.isascii() else (content, None)


def as_utf8(content: bytes, encoding: str | None = None) -> tuple[bytes, str]:
    """A csv file in UTF-8 without a byte-order mark, and the encoding that it had: found, or the one that is given."""
    if encoding is None:
        encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)
    if encoding is None:
        try:
            content.decode("utf-8")
            return content, "utf-8"
        except UnicodeDecodeError as error:
            _check_western(content, error.start)
        encoding = _WESTERN
    name = codecs.lookup(encoding).name
    try:
        return content.decode(name).removeprefix("\ufeff").encode(), name
    except UnicodeError as error:
        row = content.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise DataError(f"row {row}: wrong encoding: not {name}; save the file as UTF-8") from None


def _check_western(content: bytes, start: int) -> None:
    """Raise a `DataError` unless bytes that are not UTF-8 from `start` on make sense in Windows-1252."""
    high = content.translate(None, _ASCII)
    row = content.count(b"\n", 0, start) + 1
    place = f"row {row}: wrong encoding"
    of_utf_8 = content.decode("utf-8", "ignore").encode().translate(None, _ASCII)
    if 2 * len(of_utf_8) >= len(high):
        raise DataError(f"{place}, or damaged: UTF-8 in most places, but not here; save the file as UTF-8")
    try:
        text = high.decode(_WESTERN)
    except UnicodeDecodeError:
        text = ""
    if 2 * sum(letter.isalpha() or letter in _SIGNS for letter in text) < len(high):
        raise DataError(f"{place}: not UTF-8, nor Windows-1252; save the file as UTF-8")


def decoded(content: bytes, declared: bool = False) -> tuple[str, str]:
    """Text of a csv file in UTF-8, less the blank line of a `declared` separator, and the sign between its cells."""
    if (zero := content.find(b"\0")) >= 0:
        # UTF-16 without a byte-order mark decodes as UTF-8, with a zero byte beside every letter.
        row = content.count(b"\n", 0, zero) + 1
        raise DataError(f"row {row}: wrong encoding, or damaged: zero bytes; save the file as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"row {row}: wrong encoding: not UTF-8; save the file as UTF-8") from None
    text = text.removeprefix("\n") if declared else text
    if not text.partition("\n")[0].partition("\r")[0].strip():
        raise DataError(NO_NAMES)
    return text, separator_of(text)


def separator_of(text: str) -> str:
    """The one of ``, ; tab |`` that stands as often in each of the first rows, or else most often in row 1."""
    rows = _first_rows(text)
    # Of two alike the comma is not it: numbers and words have commas too.
    often = {sign: rows[0].count(sign) for sign in DELIMITERS if sign in rows[0]}
    return max(often, key=lambda sign: (_even(rows, sign), often[sign], sign != ","), default=",")


def check_separator(text: str, separator: str, given: bool) -> None:
    """Refuse a file whose one column by a separator, found or `given`, looks like several between other signs."""
    rows = _first_rows(text)
    if given and (others := [sign for sign in DELIMITERS if sign in rows[0] and sign != separator]):
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
_WHOLE = r"^(0|-?[1-9]\d{0,17})$"
_DECIMAL = r"^-?((0|[1-9]\d{0,14})(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_DECIMAL_COMMA = r"^-?(0|[1-9]\d{0,14})(,\d+)?$"
# In a file that could write a decimal comma, a point before three digits may stand between thousands.
_THOUSANDS = r"^-?[1-9]\d{0,2}(\.\d{3})+$"
# The parser reads a file in blocks, and no row may be longer than one; with short ones it is quick.
_SHORT, _LONG = 2**20, 2**30
# The text of the file that is in memory at a time: as it is, decoded, and in cells.
_COPIES = 3
_DECIMALS = {",": "decimal comma", ".": "decimal point", ",.": "decimal comma in some columns, point in others"}


@dataclass(frozen=True)
class Dialect:
    """How a csv file is written. Of a dialect to read by, None says that this is to be found."""

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None  # ",." where one column has the one and another the other; None without decimals

    def __post_init__(self) -> None:
        if not _is_encoding(self.encoding or "utf-8"):
            unknown = f"encoding {shortened(str(self.encoding))!r}: there is none such for files"
            raise OptionError(f"{unknown}; name one such as cp1252, or leave it out")
        sign = self.separator
        if sign is not None and (len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\r\n\0'):
            raise OptionError(f"separator {shortened(sign)!r}: give one sign, such as ; or a tab")
        if self.decimal not in (None, ",", ".", ",."):
            raise OptionError(f"decimal {shortened(self.decimal)!r}: give , or .")

    @property
    def note(self) -> str | None:
        """What is unusual in it; None for UTF-8 with commas."""
        parts = [f"separator {shown(self.separator)}"] if self.separator and self.separator != "," else []
        if self.decimal is not None and (self.decimal != "." or parts):
            parts.append(_DECIMALS[self.decimal])
        parts += [f"encoding {self.encoding}"] if self.encoding != "utf-8" else []
        return ", ".join(parts) or None


def _is_encoding(name: str) -> bool:
    """Whether Python can read files in an encoding of this name."""
    try:
        "".encode(name)
        return codecs.lookup(name).name not in _OF_NAMES
    except (LookupError, ValueError):  # a zero byte in the name, or an encoding that does nothing but fail
        return False


@dataclass(frozen=True)
class Head:
    """What the first bytes of a csv file tell: its names, and how it is written."""

    names: list[str]
    dialect: Dialect
    declared: bool  # Whether a line before the names declares the separator


def read_head(content: bytes, dialect: Dialect) -> Head:
    """The head of a csv file, of as many whole lines of it as are at hand."""
    content, encoding = as_utf8(content, dialect.encoding)
    content, declared = _without_declaration(content)
    text, delimiter = decoded(content, declared is not None)
    delimiter = dialect.separator or declared or delimiter
    names = _header(text, delimiter)
    if len(names) == 1:
        check_separator(text, delimiter, (dialect.separator or declared) is not None)
    found = Dialect(encoding, delimiter, dialect.decimal)
    return Head(names, found, declared is not None)


def as_values(
    cells: pa.ChunkedArray, name: str, dialect: Dialect, text: Sequence[str], na: Sequence[str], codes: MissingCodes
) -> tuple[pd.Series, str | None]:
    """The cells of a column as values, which the different ones tell; and the sign before decimals among them."""
    signs = dialect.decimal or ("." if dialect.separator == "," else ",.")
    typed, decimal = _typed(_known(cells, name, na, codes), composed(name) in text, signs)
    # Whole numbers with missing ones among them would become floating-point numbers, which are not exact.
    return typed.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get), decimal


def read_delimited(
    content: bytes,
    choose: Callable[[list[str]], list[str]],
    dialect: Dialect,
    text: Sequence[str],
    na: Sequence[str],
    codes: MissingCodes,
) -> tuple[pd.DataFrame, Dialect]:
    """The columns of a csv file that `choose` picks out of its header, under its numbers of rows; how it is written."""
    files.check_size(_COPIES * len(content))
    content, encoding = as_utf8(content, dialect.encoding)
    content, declared = _without_declaration(content)
    decoded_text, delimiter = decoded(content, declared is not None)
    delimiter = dialect.separator or declared or delimiter
    content = content.rstrip(b"\r\n") + b"\n"
    quoted = b'"' in content
    if quoted:
        _check_quotes(content, delimiter)
    header = _header(decoded_text, delimiter)
    if len(header) == 1:
        check_separator(decoded_text, delimiter, (dialect.separator or declared) is not None)
    del decoded_text
    names = choose(header)
    files.check_table(max(content.count(b"\n"), content.count(b"\r")), len(names))
    table, rows = _cells(content, delimiter, [header.index(name) for name in names], quoted)
    columns, found = {}, Dialect(encoding, delimiter, dialect.decimal)
    decimals: set[str] = set()
    for name, cells in zip(names, table.columns, strict=True):
        columns[name], decimal = as_values(cells, name, found, text, na, codes)
        decimals |= {decimal} if decimal else set()
    frame = pd.DataFrame(columns).set_axis(rows, axis=0)
    return frame, Dialect(encoding, delimiter, "".join(sorted(decimals)) or None)


def _header(text: str, delimiter: str) -> list[str]:
    try:
        first = _FIRST_RECORD.match(text)
        names = next(csv.reader([first[0] if first else ""], delimiter=delimiter))
    except csv.Error:
        raise DataError(NO_NAMES) from None
    return [name.strip() for name in names]


def _check_quotes(content: bytes, delimiter: str) -> None:
    """Refuse a stray quotation mark: one that pairs with another would hide the rows between them from the parser."""
    sign = re.escape(delimiter).encode()
    cell = rb'(?<![^%b\r\n])"[^"]*+(?:""[^"]*+)*+"' % sign
    whole = rb'(?:[^"]++|%b(?![^%b\r\n])|(?<=[^%b\r\n])")*+' % (cell, sign, sign)
    sound = re.match(whole, content)
    end = sound.end() if sound else 0
    if end == len(content):
        return
    before = content[:end]
    row, lines = len((before + b".").splitlines()), (re.sub(cell, b".", before) + b".").splitlines()
    if len(lines) < row:  # as in `_row_numbers`: cells hold lines, so records are counted
        row = len([line for line in lines if line.strip(b" \t")])
    fault = "text stands after a closing quotation mark; mend the row, and double a mark that belongs to the text"
    if not re.compile(cell).match(content, end):
        fault = "a quotation mark is never closed; close it"
    raise DataError(f"row {row}: {fault}")


def _cells(content: bytes, delimiter: str, positions: list[int], quoted: bool) -> tuple[pa.Table, pd.Index]:
    """Columns of text without the header, and the row number of each record. Blank lines are no records."""
    for block in (_LONG,) if quoted else (_SHORT, _LONG):
        with suppress(pa.ArrowInvalid):
            table, faulty = _parsed(content, delimiter, positions, quoted, block)
            break
    else:
        raise DataError("cannot be split into rows and cells; save it as CSV in UTF-8")
    rows = _row_numbers(content, table.num_rows + len(faulty))
    if faulty:
        row = faulty[0]
        fault = "fewer" if row.actual_columns < row.expected_columns else "more"
        raise DataError(f"row {rows[row.number - 1]}: {fault} cells than the header has; mend the row")
    return table.slice(1), rows[1:]


def _parsed(
    content: bytes, delimiter: str, positions: list[int], quoted: bool, block: int
) -> tuple[pa.Table, list[arrow_csv.InvalidRow]]:
    """Columns of text with the header, and the rows of another number of cells than it, which the table lacks."""
    faulty = []

    def note(row: arrow_csv.InvalidRow) -> str:
        faulty.append(row)
        return "skip"

    names = [f"f{position}" for position in positions]
    table = arrow_csv.read_csv(
        pa.py_buffer(content),
        arrow_csv.ReadOptions(
            use_threads=False,  # with threads, faulty rows have no number
            autogenerate_column_names=True,
            block_size=min(len(content) + 1, block),
        ),
        arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted, invalid_row_handler=note),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), include_columns=names, strings_can_be_null=False
        ),
    )
    return table, faulty


def _row_numbers(content: bytes, records: int) -> pd.Index:
    """Where records stand, the header being row 1: lines, counted with the blank ones, unless cells hold lines."""
    if _BLANK_LINE.search(content):
        lines = [number for number, line in enumerate(content.splitlines(), start=1) if line.strip(b" \t")]
        if len(lines) == records:
            return pd.Index(lines, name="row")
    return pd.RangeIndex(1, records + 1, name="row")


def _known(cells: pa.ChunkedArray, name: str, na: Sequence[str], codes: MissingCodes) -> pa.ChunkedArray:
    """Trimmed cells; empty ones, those of `na` and the codes of the column are missing."""
    cells = pc.utf8_trim_whitespace(cells)
    absent = pc.is_in(cells, value_set=pa.array(["", *na], pa.string()))
    if pc.any(absent).as_py():
        cells = pc.if_else(absent, pa.scalar(None, pa.string()), cells)
    if composed(name) not in codes.codes:
        return cells
    values = pc.unique(cells).drop_null().to_pandas().astype("str").rename(name)
    absent = pc.is_in(cells, value_set=pa.array(values[codes.without(values).isna()], pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), cells)


def _typed(cells: pa.ChunkedArray, stays: bool, signs: str) -> tuple[pa.ChunkedArray, str | None]:
    """Cells as numbers where that loses nothing, else as text; and which of the `signs` stands before decimals."""
    if stays:
        return cells, None
    if _all_match(cells, _WHOLE):
        return cells.cast(pa.int64()), None
    sign, thousands = None, signs == ",." and _all_match(cells, _THOUSANDS)
    if "," in signs and _all_match(cells, _DECIMAL_COMMA):
        sign, numbers = ",", pc.replace_substring(cells, ",", ".")
    elif "." in signs and _all_match(cells, _DECIMAL) and not thousands:
        sign, numbers = ".", cells
    else:
        return cells, None
    numbers = numbers.cast(pa.float64())
    # Codes such as 1.1 and 1.10 are different values that would be one number.
    same = pc.count_distinct(numbers) == pc.count_distinct(cells)
    return (numbers, sign) if same else (cells, None)


def _all_match(cells: pa.ChunkedArray, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py()
