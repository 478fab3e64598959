"""Small files that are easily misread, as each format holds them; written without the library."""

import csv
import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyreadstat
from pyarrow import parquet

FORMATS = ("csv", "xlsx", "parquet", "sav", "dta")
NO_DIGITS = "it knows floating-point numbers only"
NO_NAMES = "it has names of letters, digits and _ only"
NO_SUCH = "it has no such type"


@dataclass(frozen=True)
class Nasty:
    """Columns by name, what they are for, and why a format cannot hold them."""

    columns: dict[str, list]
    not_in: dict[str, str] = field(default_factory=dict)
    of_format: dict[str, dict[str, list]] = field(default_factory=dict)
    types: dict[str, pa.DataType] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    weight: str | None = None
    household: str | None = None

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def keys(self) -> list[str]:
        return [name for name in self.columns if name not in ("s", self.weight, self.household)]

    def cells(self, form: str) -> dict[str, list]:
        """The columns in a format, with a number of the record and a sensitive variable."""
        own = self.columns | self.of_format.get(form, {})
        sensitive = {} if "s" in own else {"s": [("flu", "asthma", "none")[i % 3] for i in range(self.records)]}
        return own | sensitive | {"row": list(range(self.records))}


def without(*formats: str, why: str) -> dict[str, str]:
    return dict.fromkeys(formats, why)


def write(nasty: Nasty, path: Path) -> None:
    WRITERS[path.suffix[1:]](nasty, path, nasty.cells(path.suffix[1:]))


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, np.datetime64 | pd.Timestamp):
        return str(pd.Timestamp(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _csv(nasty: Nasty, path: Path, cells: dict[str, list]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        rows.writerow(cells)
        rows.writerows(zip(*([_text(value) for value in column] for column in cells.values()), strict=True))


def _xlsx(nasty: Nasty, path: Path, cells: dict[str, list]) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for at, (name, column) in enumerate(cells.items(), 1):
        for row, value in enumerate([name, *column], 1):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            cell = sheet.cell(row, at, repr(value) if is_number else value)  # of which openpyxl would cut digits
            if is_number or (isinstance(value, str) and value[:1] in ("=", "#")):
                cell.data_type = "n" if is_number else "s"
    book.save(path)


def _parquet(nasty: Nasty, path: Path, cells: dict[str, list]) -> None:
    columns = {}
    for name, column in cells.items():
        kinds = {type(value) for value in column if value is not None}
        column = [None if value is None else _text(value) for value in column] if len(kinds) > 1 else column
        columns[name] = pa.array(column, nasty.types.get(name))
    parquet.write_table(pa.table(columns), path)


def _statistical(write: Callable) -> Callable[[Nasty, Path, dict[str, list]], None]:
    def written(nasty: Nasty, path: Path, cells: dict[str, list]) -> None:
        options = nasty.options.get(path.suffix[1:], {})
        columns = {}
        for name, column in cells.items():
            known = [value for value in column if value is not None]
            kinds = set(map(type, known))
            if kinds <= {int, float, Decimal, bool} and "missing_user_values" not in options:
                column = [None if value is None else float(value) for value in column]
                columns[name] = pd.Series(column, dtype=float)
            elif len(kinds) > 1 and "missing_user_values" not in options:
                columns[name] = pd.Series(["" if value is None else _text(value) for value in column], dtype=object)
            elif kinds == {str}:
                columns[name] = pd.Series(["" if value is None else value for value in column], dtype=object)
            elif kinds == {datetime.datetime}:
                columns[name] = pd.to_datetime(pd.Series(column))
            else:
                columns[name] = pd.Series(column, dtype=object)
        write(pd.DataFrame(columns), path, **options)

    return written


WRITERS = {
    "csv": _csv,
    "xlsx": _xlsx,
    "parquet": _parquet,
    "sav": _statistical(pyreadstat.write_sav),
    "dta": _statistical(pyreadstat.write_dta),
}

DAY, TIME = datetime.date, datetime.datetime
NS = [pd.Timestamp(1_600_000_000_123_456_780 + i) for i in (0, 0, 1, 1, 2, 3, 3, 4)]
ONLY_EXACT = without("sav", "dta", why=NO_DIGITS)
ONLY_DIGITS = without("xlsx", "sav", "dta", why=NO_DIGITS)

NASTY = {
    "blanks around": Nasty(
        {
            "place": ["N ", " N", "N", "\u00a0N", "S", "S\t", "S", "\u2003S "],
            "s": ["asthma", "asthma ", "asthma", " asthma", "flu", "none", "flu ", "none"],
        }
    ),
    "blanks only": Nasty({"place": [" ", None, "\u00a0 ", "a", "a", "  ", "b", "b"]}),
    "decomposed letters": Nasty({"place": ["Ávila", "A\u0301vila", "Ávila", "León", "Leo\u0301n", "León"]}),
    "numbers kept as text": Nasty(
        {"age": ["30", "30", "41", "41", "30", "30 ", "7", "7"]},
        of_format={"xlsx": {"age": [30, "30", 41, "41", 30, " 30 ", 7, 7]}},
    ),
    "household as text": Nasty(
        {
            "age": [30, 31, 30, 31, 8, 8, 30, 31],
            "w": [10.5, 10.5, 20.25, 20.25, 30.0, 30.0, 7.1, 7.1],
            "hh": ["12", "12", "13", "13", "14", "14", "15", "15"],
        },
        of_format={"xlsx": {"hh": [12, "12", 13, 13, "14", 14, 15, "15"]}},
        weight="w",
        household="hh",
    ),
    "a mark among numbers": Nasty({"age": [30, "NA", 41, "30", "NA", 41, 7, 7, 30, 41]}, command=("--na", "NA")),
    "a mark taken as a value": Nasty({"age": [30, "NA", 41, "30", "NA", 41, 7, 7, 30, 41]}),
    "nearly numbers": Nasty({"age": [*[30, 41] * 10, "none"]}),
    "usual marks": Nasty({"place": ["NA", "NULL", ".", "N/A", "-", "NA", "NULL", ".", "N/A", "-", "nan", "nan"]}),
    "beyond 2^53": Nasty({"id": [2**53, 2**53 + 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1]}, ONLY_EXACT),
    "17 digits": Nasty({"id": [10**17 + 1, 10**17 + 2, 10**17 + 1, 10**17 + 2, 5, 5]}, ONLY_EXACT),
    "unsigned": Nasty(
        {"id": [2**64 - 1, 2**64 - 2, 2**64 - 1, 2**63, 2**63, 5]}, ONLY_EXACT, types={"id": pa.uint64()}
    ),
    "cents": Nasty(
        {"sum": [Decimal(text) for text in ("0.10", "0.10", "1.25", "1.25", "3.00", "-2.50", "-2.50")]},
        types={"sum": pa.decimal128(10, 2)},
    ),
    "long decimals": Nasty(
        {"sum": [Decimal(f"12345678901234567.{i}0") for i in (1, 1, 2, 3, 3)]},
        ONLY_DIGITS,
        types={"sum": pa.decimal128(20, 2)},
    ),
    "decimals of 17 digits": Nasty(
        {"sum": [Decimal(f"0.9234567890123456{i}") for i in (1, 1, 2, 3, 3, 8, 9)]},
        ONLY_DIGITS,
        types={"sum": pa.decimal128(20, 17)},
    ),
    "sums of tenths": Nasty({"sum": [0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3, 1 / 3, 1 / 3]}),
    "large and small": Nasty({"sum": [1e300, 1e300, 1e-300, 1e22, 1e22, 123456789.125, 5e-324]}),
    "negative zero": Nasty({"x": [0.0, -0.0, 1.5, 1.5, -0.0, 0.0]}),
    "negative zero among whole numbers": Nasty({"x": [0.0, -0.0, 1.0, 1.0, -0.0, 0.0]}),
    "leading zeros": Nasty({"code": ["01", "1", "001", "01", "1", "10", "10"]}),
    "plus signs": Nasty({"code": ["+5", "5", "+5", "5", "7", "7"]}),
    "spelled as powers": Nasty({"code": ["1e5", "100000", "1E5", "100000", "1e5", "7"]}),
    "spelled twice": Nasty({"code": ["1", "1.0", "1.00", "1", "1.0", "2"]}),
    "signs between thousands": Nasty({"code": ["1.234", "1.234", "1,5", "1,5", "1.500", "1.500"]}),
    "dates": Nasty(
        {"day": [DAY(2020, 1, 31), DAY(1899, 12, 31), DAY(2020, 1, 31), DAY(1904, 1, 1), None, None]},
        without("xlsx", why="its calendar begins in 1900"),
    ),
    "dates since 1900": Nasty({"day": [DAY(2020, 1, 31), DAY(1931, 12, 31), DAY(2020, 1, 31), DAY(1931, 12, 31)]}),
    "times": Nasty(
        {"at": [TIME(2020, 1, 31, 23, 59, 59), TIME(2020, 1, 31, 23, 59, 58), TIME(2020, 1, 31, 23, 59, 59)]}
    ),
    "midnights": Nasty({"at": [TIME(2020, 1, 31), TIME(2020, 2, 1), TIME(2020, 1, 31), None]}),
    "thousandths of a second": Nasty({"at": [TIME(2020, 1, 31, 23, 59, 59, 1000 * i) for i in (1, 1, 2, 999, 999)]}),
    "nanoseconds": Nasty({"at": NS}, without("xlsx", "sav", "dta", why=NO_DIGITS), types={"at": pa.timestamp("ns")}),
    "times of day": Nasty(
        {"at": [datetime.time(8, 30), datetime.time(8, 31), datetime.time(8, 30), None]}, without("dta", why=NO_SUCH)
    ),
    "months": Nasty({"month": [720, 721, 720, 721, 0, None]}, options={"dta": {"variable_format": {"month": "%tm"}}}),
    "truth": Nasty({"is": [True, False, True, False, True]}),
    "truth with gaps": Nasty({"is": [True, False, True, False, None, None]}),
    "nothing known": Nasty({"empty": [None] * 5, "sex": ["m", "f", "m", "f", "m"]}, types={"empty": pa.string()}),
    "nothing known of no type": Nasty({"empty": [None] * 5, "sex": ["m", "f", "m", "f", "m"]}),
    "alike categories": Nasty(
        {"place": ["Ñuble", "Nuble", "ñuble", "N uble", "N  uble", "Ñuble", "Nuble", "ñuble", "ÑUBLE"]}
    ),
    "categories": Nasty(
        {"place": ["N", "N ", None, " ", "S", "S", "", "N"]}, types={"place": pa.dictionary(pa.int8(), pa.string())}
    ),
    "very long text": Nasty({"text": ["x" * 5000 + end for end in ("a", "a", "b", "c", "c")]}),
    "emoji": Nasty({"text": ["👩", "👩‍🔬", "👩", "👩🏽", "❤", "❤️", "Å", "Å", "Ａ", "A"]}),
    "signs of no width": Nasty({"text": ["\u200ba", "a", "\ufeffa", "a\u2060", "b", "b"]}),
    "quotes and lines": Nasty({"text": ['a "b"', "a\nb", 'a "b"', "a\nb", "a,b", "a;b", "'", "'", "a\tb", '"']}),
    "ends of lines": Nasty(
        {"text": ["a\rb", "a\nb", "a\r\nb", "a\rb", "a\r\nb", "a\nb"]}, without("xlsx", why="XML has one end of line")
    ),
    "like formulas": Nasty({"text": ["=1+1", "=1+1", "+34 600", "@x", "@x", "#N/A", "#N/A", "-", "-"]}),
    "like escapes": Nasty({"text": ["_x0041_", "A", "_x0041_", "A", "&amp;", "&", "&amp;", "\\n", "\\n"]}),
    "names with signs": Nasty(
        {"place of birth": ["a", "b", "a", "b"], "año.nac": [1990, 1991, 1990, None], "x,y": [1, 1, 2, 2]},
        without("sav", "dta", why=NO_NAMES),
    ),
    "nullable whole numbers": Nasty({"n": [1, None, 2, 1, None, 2, 3]}),
    "whole numbers as floats": Nasty({"n": [1.0, None, 2.0, 1.0, None, 2.0, 3.0]}),
    "small types": Nasty({"n": [-128, 127, 0, -128, 127, 5]}, types={"n": pa.int8()}),
    "a single record": Nasty({"age": [30], "sex": ["f"]}),
    "constants": Nasty({"age": [30] * 5, "sex": ["f"] * 5, "s": ["flu"] * 5}),
    "labelled": Nasty(
        {"sex": [1, 2, 1, 2, 1], "job": [7, 8, 8, 7, 7]},
        options=dict.fromkeys(("sav", "dta"), {"variable_value_labels": {"sex": {1: "man", 2: "woman", 3: "man"}}}),
    ),
    "codes that mean missing": Nasty(
        {"job": [1, None, 2, None, 1, 2, None]},
        of_format={"sav": {"job": [1, 8, 2, 9, 1, 2, None]}, "dta": {"job": [1, "a", 2, "b", 1, 2, None]}},
        options={
            "sav": {"missing_ranges": {"job": [{"lo": 8, "hi": 9}]}},
            "dta": {"missing_user_values": {"job": ["a", "b"]}},
        },
    ),
    "long weights": Nasty(
        {"age": [30, 41, 30, 41, 30], "w": [Decimal(f"12.9234567890123456{i}") for i in range(5)]},
        ONLY_DIGITS,
        types={"w": pa.decimal128(20, 17)},
        weight="w",
    ),
    "weights": Nasty({"age": [30, 41, 30, 41, None, 7], "w": [1.1, 2.2, 3.3, 5.5, 1000.125, 1.7]}, weight="w"),
}
