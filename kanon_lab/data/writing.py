"""Writing microdata: the same frame gives the same bytes, labels as far as a format holds them, no formulas."""

from __future__ import annotations

import csv
import errno
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.columns import named_columns, with_columns
from kanon_lab.data.microdata import FORMATS, read_microdata
from kanon_lab.data.values import Code, Labels, UserMissing, is_float
from kanon_lab.errors import DataError, OptionError, StorageError, about, shortened
from kanon_lab.terms import Note

#: Formats that have labels.
LABELLED = ("sav", "dta")
# Bytes of a label of a value and of a variable; Stata counts the latter in characters.
_LONGEST = {"sav": (120, 255), "dta": (32_000, 80)}
# Whole numbers of Stata's labels.
_WHOLE = {"sav": 2.0**1023, "dta": 2.0**31 - 100}


class Fitted(NamedTuple):
    """Labels that a format can hold, by variable."""

    labels: Labels
    variable_labels: dict[str, str]
    lost: tuple[str, ...] = ()  # variables with codes whose labels it cannot hold
    cut: int = 0  # labels that are longer than it keeps
    formats: Mapping[str, str] = {}
    user_missing: Mapping[str, Any] = {}

    def notes(self, form: str) -> Iterator[str]:
        """What became of labels, without quoting them."""
        if self.lost:
            yield (
                f"labels of codes that .{form} cannot hold are left out: {', '.join(self.lost)} (text, or no whole "
                "number); recode to whole numbers with labels"
            )
        if self.cut:
            yield f"{self.cut:,} labels are longer than .{form} keeps, and were cut"


def fitted(frame: pd.DataFrame, form: str, labels: Labels, variable_labels: Mapping[str, str]) -> Fitted:
    """Labels for the columns of a frame in a format; none for formats that have no labels."""
    if form not in LABELLED:
        return Fitted({}, {})
    of_value, of_variable = _LONGEST[form]
    kept, lost, cut = {}, [], 0
    for name, label_of in labels.items():
        if name not in frame:
            continue
        letters = set(letters_of(frame[name])) if form == "dta" else set()
        text = not letters and not pd.api.types.is_numeric_dtype(frame[name])
        held = {code: label for code, label in label_of.items() if code in letters or _holds(code, form, text=text)}
        if any(not isinstance(code, str) or text for code in label_of.keys() - held.keys()):
            lost.append(name)
        if held:
            kept[name] = {code: _cut(label, of_value) for code, label in held.items()}
            cut += sum(kept[name][code] != label for code, label in held.items())
    named = {name: label for name, label in variable_labels.items() if name in frame and label}
    short = {name: _cut(label, of_variable) if form == "sav" else label[:of_variable] for name, label in named.items()}
    cut += sum(short[name] != label for name, label in named.items())
    return Fitted(kept, short, tuple(lost), cut)


_LETTER = re.compile(r"\.[a-z]")


def letters_of(column: pd.Series) -> list[str]:
    """Letters of missing values, such as ".a", where a column has no other texts among its numbers."""
    if column.dtype != object:
        return []
    texts = sorted({value for value in column if isinstance(value, str)})
    return texts if all(map(_LETTER.fullmatch, texts)) else []


# Formats of SPSS and Stata that can be written; and those of numbers that stand for periods or days, which no reader
# turns into dates.
_FORMATS = {
    "sav": re.compile(
        r"(F|COMMA|DOT|DOLLAR|E|PCT|N|Z|[AEJS]?DATE|DATETIME|YMDHMS|D?TIME|MOYR|QYR|WKYR|MONTH|WKDAY)\d+(\.\d+)?"
    ),
    "dta": re.compile(r"%-?(\d*(\.\d+)?[fgeFGE]c?|t[a-zA-Z]\S*|d\S*)"),
}
_PERIODS = re.compile(r"%-?[td][a-zA-Z]?.*|(MOYR|QYR|WKYR)\d+")
_DAYS = ("%td", "%d")


def fitted_formats(frame: pd.DataFrame, form: str, formats: Mapping[str, str]) -> dict[str, str]:
    """The formats of numbers and dates that a file can be written with."""
    if form not in _FORMATS:
        return {}
    fits = _FORMATS[form].fullmatch
    return {name: shown for name, shown in formats.items() if name in frame and fits(shown) and _shows(frame[name])}


def _shows(column: pd.Series) -> bool:
    return getattr(column.dtype, "kind", "O") in "iufM"


def format_notes(
    frame: pd.DataFrame,
    form: str,
    formats: Mapping[str, str],
    user_missing: UserMissing,
    came: Mapping[str, str],
    came_missing: UserMissing,
) -> Iterator[Note]:
    """What a file is written without: formats that `came` with numbers, and codes that mean missing."""
    kept = fitted_formats(frame, form, formats)
    periods = {name: shown for name, shown in came.items() if name in frame and _PERIODS.fullmatch(shown)}
    lost = [
        f"{shortened(name)} ({shown})"
        for name, shown in periods.items()
        if name not in kept and getattr(frame[name].dtype, "kind", "O") in "iuf"
    ]
    if lost:
        yield Note("formats_lost", columns=tuple(lost))
    undeclared = [
        name
        for name in came_missing
        if name in frame
        and not letters_of(frame[name]) * (form == "dta")
        and (form != "sav" or name not in user_missing)
    ]
    if undeclared:
        yield Note("user_missing_lost", columns=tuple(map(shortened, undeclared)))


def _holds(code: Code, form: str, *, text: bool) -> bool:
    """Whether a column can have a label for a code: letters of Stata's missing values are none of a number's."""
    if text or isinstance(code, str):
        return text and isinstance(code, str) and form == "sav"
    return abs(code) <= _WHOLE[form] and (form == "sav" or float(code).is_integer())


def _cut(label: str, most: int) -> str:
    """A label of so many bytes at most, and of whole letters."""
    return label.encode()[:most].decode(errors="ignore")


# Between cells somewhere: of csv files in some locale, and of lines.
_BETWEEN = r";,|\t\r\n\x0b\x0c\x85\u2028\u2029"
# What a program may drop before the sign of a formula: blanks, control, format and filling characters, and quotation.
_DROPPED = (
    r"\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\"“”„‟＂"
)
# Full-width signs begin a formula in some languages.
_SIGNS = r"=+\-@＝＋－＠"
# Plain numbers, and a lone sign, often the mark of a missing value, do nothing.
_HARMLESS = rf"[+-][\d.,]*(?:[{_BETWEEN}]|\Z)"
# A run of such characters is looked at once, from its first on, so that the time does not grow with its square.
_FORMULA = re.compile(
    rf"(?<![{_BETWEEN}{_DROPPED}])(?:\A|(?:(?![{_BETWEEN}])[{_DROPPED}])*+[{_BETWEEN}])"
    rf"[{_BETWEEN}{_DROPPED}]*+(?=[{_SIGNS}])(?!{_HARMLESS})"
)


def neutralised(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Put an apostrophe before signs that a spreadsheet would take for a formula; and in how many cells, by column."""
    columns: list[pd.Series] = []
    cells: dict[str, int] = {}
    for name, column in named_columns(frame):
        count = int(_neutral(name) != name)
        if isinstance(column.dtype, pd.StringDtype) or column.dtype == object:
            values = list(column)
            texts = [_neutral(value) for value in values]
            count += sum(new is not old for new, old in zip(texts, values, strict=True))
            column = pd.Series(texts, index=column.index, dtype=column.dtype)
        columns.append(column.rename(_neutral(name)))
        if count:
            cells[name] = count
    return pd.concat(columns, axis=1), cells


def _neutral(value: Any) -> Any:
    """A text with apostrophes where it needs them; anything else, and a text that needs none, as it is."""
    if not isinstance(value, str) or not _FORMULA.search(value):
        return value
    return _FORMULA.sub(r"\g<0>'", value)


# Rows of a sheet below its header, and its columns.
_SHEET = (2**20 - 1, 2**14)
# Characters of a cell of it.
_CELL = 32_767
# Formats in which a text may be run as a formula.
_OF_SPREADSHEETS = ("csv", "xlsx")
_FLOATS = (float, Decimal, np.floating)
# Whole numbers up to this are exact in formats that know floating-point numbers only.
_EXACT = 2**53
_TOO_MANY = "a number with more digits than .{} keeps; write .csv or .parquet"
# Formats keep times as floating-point numbers, from which a thousandth of a second comes back so near.
_NEAR = pd.Timedelta(5, "us")
# Formats that write the time into the file have this one, and an archive the first that it can have.
_STAMP = rb"2000-01-01T00:00:00Z"
_SAV_CLOCK = slice(92, 109), b"01 Jan 0000:00:00"
_DTA_CLOCK = re.compile(rb"(?<=<timestamp>\x11).{17}"), b"01 Jan 2000 00:00"
# Its file format is that of every later Stata too.
_STATA_14 = 14


def write_microdata(
    frame: pd.DataFrame,
    path: str | Path,
    *,
    overwrite: bool = False,
    check: Callable[[pd.DataFrame], None] | None = None,
    neutralise: bool = False,
    labels: Labels | None = None,
    variable_labels: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    user_missing: UserMissing | None = None,
) -> dict[str, int]:
    """Write a microdata file: the records of a frame in their order, without its index.

    Parameters
    ----------
    frame : DataFrame
        One row a record, at least one. Not changed. A missing value is an empty cell in csv, xlsx and text of SPSS and
        Stata, and their missing value elsewhere. Of a categorical column only the values that occur are written.
    path : str or Path
        ``.csv`` (UTF-8, commas), ``.parquet``, ``.xlsx``, ``.sav`` or ``.dta`` (Stata 14 on), possibly with ``.gz``
        after it.
    overwrite : bool
        Whether to replace a file that holds something else. One that holds the same bytes may always be there.
    check : callable, optional
        Takes the frame that is read from what was written, before that takes its name: an error it raises keeps the
        file from being there.
    neutralise : bool
        Whether to put an apostrophe before the texts, names of columns among them, that a spreadsheet would take for
        formulas; of csv and xlsx only.
    labels : mapping, optional
        For each variable, the label of each code, as `MicrodataFile.labels` and `Protection.labels` have them. Written
        to sav and dta, as far as they can hold them: Stata has labels of whole numbers only, and each format its
        longest label, at which longer ones are cut. All of them are written, also of codes that no record has.
    variable_labels : mapping of str to str, optional
        The label of each variable; likewise.
    formats : mapping, optional
        The format that each variable is shown in, such as ``"%tm"``, as `MicrodataFile.formats` and
        `Protection.formats` have them. Written to the format that they are of, sav or dta.
    user_missing : mapping, optional
        For each variable the codes and ranges that mean missing, as `MicrodataFile.user_missing` has them. Written to
        sav.

    Returns
    -------
    dict of str to int
        By column, by its name in `frame`, the cells that were given an apostrophe; those of none are left out.
    """
    form, path = check_target(path, neutralise=neutralise), Path(path)
    with about(str(path)):
        _check_frame(frame)
        plain = frame.apply(_without_categories) if any(frame.dtypes == "category") else frame
        plain = _with_digits(plain, form)
        plain, cells = neutralised(plain) if neutralise else (plain, {})
        _check_frame(plain)  # two names may have become one
    ending = f".{form}.gz" if path.suffix.lower() == ".gz" else f".{form}"
    with files.atomic_path(path, ending=ending) as draft:  # readable as what it is
        with about(str(path)):
            shown = fitted(plain, form, labels or {}, variable_labels or {})
            declared = {name: codes for name, codes in (user_missing or {}).items() if name in plain and form == "sav"}
            shown = shown._replace(formats=fitted_formats(plain, form, formats or {}), user_missing=declared)
            _write(plain, draft, form, shown)
        if check is not None:
            try:
                written = read_microdata(draft)
            except DataError as error:
                reason = str(error).removeprefix(f"{draft}: ")
                raise DataError(f"{path}: was not written, since it could not be read again: {reason}") from None
            check(written)
        if not overwrite:
            refuse_another(draft, path)
    return cells


def check_target(path: str | Path, *, neutralise: bool = False) -> str:
    """Format of a file that could be written: its ending is known, its folder there, and it is no folder."""
    path, form = Path(path), files.file_format(path)
    if form not in FORMATS:
        endings = ", ".join(f".{ending}" for ending in FORMATS)
        raise StorageError(
            f"{path}: its name must end in one of {endings} (.gz may follow); choose one of these formats"
        )
    if neutralise and form not in _OF_SPREADSHEETS:
        wanted = " or ".join(f".{ending}" for ending in _OF_SPREADSHEETS)
        raise OptionError(f"{path}: formulas are neutralised (--neutralise) in {wanted} only; write one of these")
    with files.storage_errors(path):
        if path.is_dir():
            raise StorageError(f"{path}: is a folder; give the path of a file in it")
        if not path.parent.is_dir():
            raise StorageError(f"{path}: its folder does not exist; create it or choose another place")
    return form


def _check_frame(frame: pd.DataFrame) -> None:
    if len(frame) == 0 or len(frame.columns) == 0:
        raise DataError("there are no records to write")
    if unnamed := [name for name in frame.columns if not isinstance(name, str) or not name.strip()]:
        raise DataError(f"the name {shortened(repr(unnamed[0]))} of a column is not text; rename it")
    if not frame.columns.is_unique:
        twice = shortened(frame.columns[frame.columns.duplicated()][0])
        raise DataError(f"column {twice} occurs twice; give every column its own name")


def _without_categories(column: pd.Series) -> pd.Series:
    """The values themselves: a list of categories may tell of values that no record has any more."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    values = pd.Series(column.cat.categories).convert_dtypes().reindex(column.cat.codes)
    return pd.Series(values.array, index=column.index, name=column.name)


def _with_digits(frame: pd.DataFrame, form: str) -> pd.DataFrame:
    """Decimals as a format has them, with every digit; a `DataError` where it has no such numbers."""
    columns = {}
    for name, column in named_columns(frame):
        decimals = np.zeros(len(column), dtype=bool)
        if column.dtype == object:
            decimals = np.array([isinstance(value, Decimal) for value in column], dtype=bool)
        if not decimals.any():
            continue
        if form == "csv":
            columns[name] = column.map(lambda value: format(value, "f") if isinstance(value, Decimal) else value)
        elif form != "parquet":
            known = column[decimals]
            _refuse(known.map(lambda value: not is_float(value)), name, _TOO_MANY.format(form))
            columns[name] = column.where(~decimals, known.map(float)).infer_objects()
    return with_columns(frame, columns) if columns else frame


def _write(frame: pd.DataFrame, draft: Path, form: str, labels: Fitted) -> None:
    """Write the frame, or say which column cannot be kept."""
    _check_values(frame, form)
    try:
        content = _content(frame, draft, form, labels)
    except (MemoryError, OSError, DataError):
        raise
    except Exception:  # writers of other packages refuse names and values in ways that they do not list
        column = "a column"
        for name in frame.columns:
            try:
                _content(frame[[name]], draft, form, Fitted({}, {}))
            except (MemoryError, OSError):
                raise
            except Exception:
                column = f"column {shortened(name)}"
                break
        fault = f"has a name or values that .{form} cannot hold; rename or recode it, or write .csv"
        raise DataError(f"{column} {fault}") from None
    draft.write_bytes(files.gzipped(content) if draft.suffix == ".gz" else content)


def _check_values(frame: pd.DataFrame, form: str) -> None:
    """Refuse what a format would cut or change: texts and names, whole numbers, and what a sheet has no place for."""
    sheet = form == "xlsx"
    for name, column in named_columns(frame):
        if "\0" in name or (sheet and len(name) > _CELL):
            raise DataError(f"the name {shortened(name)} of a column is too long or has a zero byte; rename it")
        texts = _texts(column)
        _refuse(texts.str.contains("\0", regex=False), name, "a text with a zero byte; remove it")
        if sheet:
            fault = f"a text of more than {_CELL:,} characters; write .csv or .parquet"
            _refuse(texts.str.len() > _CELL, name, fault)
    whole = [name for name, column in named_columns(frame) if pd.api.types.is_integer_dtype(column)]
    for name in whole if form not in ("csv", "parquet") else ():
        known = frame[name].dropna()
        _refuse((known > _EXACT) | (known < -_EXACT), name, _TOO_MANY.format(form))
    times = [name for name, column in named_columns(frame) if getattr(column.dtype, "kind", "O") in "mM"]
    for name in times if form not in ("csv", "parquet") else ():
        known = frame[name].dropna()
        known = known.dt.tz_convert("UTC") if isinstance(known.dtype, pd.DatetimeTZDtype) else known
        whole = known.dt.round("ms")
        merged = ~known.duplicated() & whole.duplicated()
        fault = f"a time with more digits than .{form} keeps (thousandths of a second); write .csv or .parquet"
        _refuse(((known - whole).abs() > _NEAR) | merged, name, fault)
    if not sheet:
        return
    if len(frame) > _SHEET[0] or len(frame.columns) > _SHEET[1]:
        raise DataError(f"a sheet has no room for {len(frame):,} records; write .csv or .parquet")
    for name, column in named_columns(frame):
        if pd.api.types.is_float_dtype(column) or column.dtype == object:
            endless = column.dropna().map(lambda value: isinstance(value, _FLOATS) and math.isinf(value))
            _refuse(endless, name, "an infinite number, which a sheet cannot hold; write .csv or .parquet")
    empty = (frame.isna() | (frame == "")).all(axis=1)
    if empty.any():
        row = shortened(str(empty.index[int(empty.argmax())]))
        raise DataError(f"row {row}: every cell is missing, and a sheet keeps no such record; write .csv or .parquet")


def _texts(column: pd.Series) -> pd.Series:
    """The texts of a column."""
    if isinstance(column.dtype, pd.StringDtype):
        return column.dropna()
    return column[[isinstance(value, str) for value in column]] if column.dtype == object else pd.Series(dtype="str")


def _refuse(which: pd.Series, name: str, fault: str) -> None:
    """Raise a `DataError` that names the first record of a column that is marked, if any is."""
    if which.any():
        row = shortened(str(which.index[int(which.argmax())]))
        raise DataError(f"column {shortened(name)}: row {row}: {fault}")


def _content(frame: pd.DataFrame, draft: Path, form: str, labels: Fitted) -> bytes:
    """The bytes of a file of the format; pyreadstat writes them to the draft first."""
    if form == "csv":
        text = frame.to_csv(index=False, lineterminator="\n")
        if "\r" in text:  # which ends a row for readers, and Python's writer need not put quotation marks around it
            text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        return text.encode()
    if form == "parquet":
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False, engine="pyarrow")
        return buffer.getvalue()
    if form == "xlsx":
        return _xlsx(frame)
    import pyreadstat

    write: Any = partial(pyreadstat.write_sav, missing_ranges=dict(labels.user_missing))
    formats = dict(labels.formats)
    if form == "dta":
        frame, labels, letters = _for_stata(frame, labels)
        write = partial(pyreadstat.write_dta, version=_STATA_14, missing_user_values=letters)
    try:
        write(
            frame,
            draft,
            variable_value_labels=labels.labels,
            column_labels=labels.variable_labels,
            variable_format=formats,
        )
    except pyreadstat.ReadstatError as error:
        if str(error) != "Unable to write data":
            raise
        # A full disk is reported as values that the format cannot hold are.
        raise OSError(errno.EIO, "no space left, or a fault of the disk") from None
    (place, clock), (pattern, time) = _SAV_CLOCK, _DTA_CLOCK
    content = draft.read_bytes()
    return (
        pattern.sub(time, content, count=1) if form == "dta" else content[: place.start] + clock + content[place.stop :]
    )


def _for_stata(frame: pd.DataFrame, labels: Fitted) -> tuple[pd.DataFrame, Fitted, dict[str, list[str]]]:
    """Days as days, missing texts empty (beside a long text pyreadstat fails on others), and letters by variable."""
    days = {name: frame[name].dt for name, shown in labels.formats.items() if shown in _DAYS}
    columns: dict[str, pd.Series] = {
        name: column.date
        for name, column in days.items()
        if (column.normalize() == frame[name])[frame[name].notna()].all()
    }
    letters = {}
    for name, column in named_columns(frame):
        if isinstance(column.dtype, pd.StringDtype):
            columns[name] = column.fillna("")
        elif of := letters_of(column):
            letters[name], columns[name] = list(map(_bare, of)), column.map(_bare)
    of_codes = {
        name: {_bare(code): label for code, label in label_of.items()} if name in letters else label_of
        for name, label_of in labels.labels.items()
    }
    return with_columns(frame, columns), labels._replace(labels=of_codes), letters


def _bare(value: Any) -> Any:
    """A letter of a missing value as pyreadstat takes it, "a" for ".a"; other values as they are."""
    return value[1:] if isinstance(value, str) else value


def _xlsx(frame: pd.DataFrame) -> bytes:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("data")

    def cell(value: object) -> object:
        if isinstance(value, str) and value[:1] in ("=", "#"):  # text, neither a formula nor an error
            value = WriteOnlyCell(sheet, value)
            value.data_type = "s"
        elif isinstance(value, float) and float(f"{value:.16g}") != value:  # openpyxl would cut its last digit
            value = WriteOnlyCell(sheet, repr(value))
            value.data_type = "n"
        return value

    columns = [column.astype(object).where(column.notna(), None) for _, column in named_columns(frame)]
    buffer = io.BytesIO()
    try:
        sheet.append([cell(name) for name in frame.columns])
        for row in zip(*columns):
            sheet.append([cell(value.item() if isinstance(value, np.generic) else value) for value in row])
        book.save(buffer)
    except BaseException:
        _drop(sheet)
        raise
    # The parts again, so that nothing reveals when they were written.
    plain = io.BytesIO()
    with zipfile.ZipFile(buffer) as parts, zipfile.ZipFile(plain, "w") as target:
        for name in parts.namelist():
            part = parts.read(name)
            if name == "docProps/core.xml":
                part = re.sub(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*", rb"\g<1>" + _STAMP, part)
            target.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)
    return plain.getvalue()


def _drop(sheet: Any) -> None:
    """Close and remove the temporary file that openpyxl keeps of a sheet until the process ends."""
    writer = sheet._writer
    if writer is None:
        return
    for end in (sheet._rows, writer):
        with suppress(Exception):  # what is wrong is known: on a full disk each of them says so again
            if end is not None:
                end.close()
    with suppress(FileNotFoundError, ValueError):  # already gone
        writer.cleanup()


def refuse_another(draft: Path, path: Path) -> None:
    """Raise a `StorageError` where a file with other bytes than the draft is at the path."""
    there = files.status(path)
    if there is None or (there.st_size == draft.stat().st_size and files.sha256(path) == files.sha256(draft)):
        return
    raise StorageError(f"{path}: exists and holds something else; choose another name, or replace it (--overwrite)")
