"""Text of a csv file: its encoding, and the sign between its cells."""

import codecs
import re
from itertools import islice

from kanon_lab.errors import DataError

NO_NAMES = "row 1: no column names; put them in the first row"
"""What messages say of a file without a header."""

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


def is_encoding(name: str) -> bool:
    """Whether Python can read files in an encoding of this name."""
    try:
        "".encode(name)
        return codecs.lookup(name).name not in _OF_NAMES
    except (LookupError, ValueError):  # a zero byte in the name, or an encoding that does nothing but fail
        return False


def without_declaration(content: bytes) -> tuple[bytes, str | None]:
    """A csv file in UTF-8 with a blank line for one like ``sep=;`` at its start, and the separator that it declares."""
    if (found := _DECLARATION.match(content)) is None:
        return content, None
    sign = found[1].decode("ascii", "replace")
    return (b"\n" + content[found.end() :], sign) if sign.isascii() else (content, None)


def as_utf8(content: bytes, encoding: str | None = None) -> tuple[bytes, str]:
    """A csv file in UTF-8 without a byte-order mark, and the encoding that it had.

    By default UTF-8, UTF-16 and UTF-32 by their byte-order marks, UTF-8 where it is that, and else Windows-1252
    (``cp1252``, which has latin-1's letters) where most of what is not ASCII would be letters.
    """
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
    if not re.match(r"[^\r\n]*", text)[0].strip():
        raise DataError(NO_NAMES)
    return text, separator_of(text)


def separator_of(text: str) -> str:
    """The one of ``, ; tab |`` that stands as often in each of the first rows, or else most often in row 1.

    Not between quotation marks. Of two alike the comma is not it: numbers and words have commas too.
    """
    rows = _first_rows(text)
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
