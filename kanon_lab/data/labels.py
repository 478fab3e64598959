"""Labels and cells of population counts, checked with errors that never name a value; five-year groups of age."""

import math
import numbers
import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.data.delimited import with_thousands
from kanon_lab.errors import DataError, UnfitOptionError

# How labels of totals (both sexes, all ages, all places) and of the national total are read.
TOTAL, NATION = "total", "nation"

_SEXES = {
    **dict.fromkeys(("total", "ambos sexos", "both sexes"), TOTAL),
    **dict.fromkeys(("hombres", "hombre", "varones", "varon", "men", "male", "males"), "men"),
    **dict.fromkeys(("mujeres", "mujer", "women", "female", "females"), "women"),
}
_ALL_AGES = {"total", "todas las edades", "all ages"}
_YEARS = r"(?: anos?| years?(?: old)?| anys?)?"
_CLOSED_AGES = re.compile(rf"(?:de )?(\d{{1,3}}) ?(?:-|a|to) ?(\d{{1,3}}){_YEARS}")
_ONE_AGE = re.compile(rf"(\d{{1,3}}){_YEARS}")
_BELOW_ONE = {"menos de 1 ano", "menos de un ano", "less than 1 year", "under 1", "under 1 year", "menys d'1 any"}
_OPEN_AGES = re.compile(r"(?:de )?(\d{1,3}) ?(?:\+|[yo] mas(?: anos)?|anos [yo] mas|(?:years )?and over|and more)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NATIONS = {"total nacional", "nacional", "total espana", "espana"}
_PLACE = re.compile(r"(\d{2}|\d{5})(?:\s*-\s*|\s+)(\S.*)")
GROUP_YEARS = 5
_OLDEST = 130
# What a column of counts is usually called, in lower case.
COLUMN_NAMES = {
    "place": {"place", "municipality", "municipio", "municipi", "municipios", "municipis", "code", "codigo", "código"},
    "name": {"name", "nombre", "nom"},
    "province": {"province", "provincia", "província", "cpro"},
    "sex": {"sex", "gender", "sexo", "sexe"},
    "age_group": {"age_group", "age group", "age", "edad", "grupo de edad", "edad (grupos quinquenales)", "edat"},
    "persons": {"persons", "count", "n", "population", "personas", "poblacion", "población", "població", "total"},
    "year": {"year", "año", "periodo", "any"},
}


class Place(NamedTuple):
    code: str
    name: str


def sex(label: str) -> str:
    """``"men"``, ``"women"`` or ``TOTAL``; an unknown label stays as it is, without blanks around it."""
    return _SEXES.get(_plain(label), label.strip())


def ages(label: str) -> str | None:
    """Ages within a five-year group as "5-9", "1-4" or "7", an open group as "85+", or `TOTAL`; otherwise None."""
    plain = _plain(label)
    if plain in _ALL_AGES:
        return TOTAL
    if plain in _BELOW_ONE:
        return "0"
    if opened := _OPEN_AGES.fullmatch(plain):
        return f"{int(opened[1])}+" if int(opened[1]) <= _OLDEST else None
    if single := _ONE_AGE.fullmatch(plain):
        return str(int(single[1])) if int(single[1]) <= _OLDEST else None
    if not (closed := _CLOSED_AGES.fullmatch(plain)):
        return None
    low, high = int(closed[1]), int(closed[2])
    return f"{low}-{high}" if low < high <= _OLDEST and low // GROUP_YEARS == high // GROUP_YEARS else None


def lowest_age(group: str) -> int:
    """First age of a group that `ages` made, in completed years."""
    return int(group.rstrip("+").split("-")[0])


def highest_age(group: str) -> int | None:
    """Last age of a group that `ages` made, in completed years; None of an open one."""
    return None if group.endswith("+") else int(group.split("-")[-1])


def year(label: str) -> int | None:
    """The one year from 1900 to 2099 in a label such as ``"1 de enero de 2010"``; None without exactly one."""
    years = _YEAR.findall(label)
    return int(years[0]) if len(years) == 1 else None


def place(label: str) -> Place | None:
    """Code and name in a label such as "29025 Benalmádena"; a total has the code `NATION` or `TOTAL`, else None."""
    plain, label = _plain(label), label.strip()
    if plain in _NATIONS or plain == TOTAL:
        return Place(NATION if plain in _NATIONS else TOTAL, label)
    parts = _PLACE.fullmatch(label)
    return Place(parts[1], parts[2]) if parts else None


def _plain(label: str) -> str:
    """Lower case, without accents, dashes alike, single spaces."""
    decomposed = unicodedata.normalize("NFKD", label.replace("–", "-"))
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(bare.lower().split())


# Columns of a counts frame, in order.
COLUMNS = ("place", "name", "province", "sex", "age_group", "persons")
# Columns that together name a cell.
CELL = ["place", "sex", "age_group"]
# A municipality as INE codes it, or a synthetic one of the embedded population: two digits of province first.
_INE_CODE = r"\d{2}(\d{3}|S\d+)"
# Floating-point numbers below this are exact to the unit.
_EXACT = 2**53

# No count can exceed this: it is more than there are people, and sums of such counts still fit 64 bits.
MOST_PERSONS = 10**10


def check_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """A counts frame from any frame that has its columns, or an error that names rows by the index of `frame`.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns place, sex, age_group (text) and persons (whole numbers, 0 to 10^10; none missing); name (default: the
        place) and province (default: the first two digits of an INE code, else empty) may be absent; other columns are
        left out.

    Returns
    -------
    pandas.DataFrame
        Columns place, name, province, sex, age_group (str) and persons (int64), one row per cell, in the order of
        `frame`, with a RangeIndex.

    Examples
    --------
    >>> cell = {"place": [29025], "sex": ["men"], "age_group": ["0-4"], "persons": [1731]}
    >>> print(kanon_lab.check_counts(pd.DataFrame(cell)).to_string(index=False))
    place  name province sex age_group  persons
    29025 29025       29 men       0-4     1731
    """
    return checked(frame).reset_index(drop=True)


def checked(frame: pd.DataFrame) -> pd.DataFrame:
    """What `check_counts` returns, with the index of `frame`: later errors can still name its rows."""
    if missing := [column for column in (*CELL, "persons") if column not in frame]:
        raise DataError(
            f"no column {', '.join(missing)}; counts need place, sex, age_group and persons (--columns says "
            "which column is which)"
        )
    result = pd.DataFrame(index=frame.index)
    for column in COLUMNS[:-1]:
        if column in frame:
            result[column] = _text(frame[column])
    for column, width in (("place", 5), ("province", 2)):
        codes: list[str] = list(result[column].unique()) if column in result else []
        # Spreadsheets drop a leading zero: then all codes are digits, and some have one fewer than the others.
        if {len(code) for code in codes} == {width - 1, width} and all(code.isdecimal() for code in codes):
            result[column] = result[column].str.zfill(width)
    result["name"] = result.get("name", result["place"])
    if "province" not in result:
        ine = result["place"].str.fullmatch(_INE_CODE)
        result["province"] = result["place"].str[:2].where(ine, "")
    result["persons"] = _persons(frame["persons"])
    check_unique(result)
    return result[list(COLUMNS)]


def check_unique(frame: pd.DataFrame) -> None:
    """Raise a `DataError` when two rows have the same place, sex and age group."""
    twice = frame.duplicated(CELL)
    if twice.any():
        raise DataError(
            f"row {first_row(twice)}: an earlier row has the same place, sex and age group; add the counts "
            "up or drop one"
        )


def check_year(year: int | None, years: list[int]) -> None:
    """Raise an error unless `year` is one of `years`."""
    offered = ", ".join(map(str, sorted(years)))
    if not years:
        raise UnfitOptionError(f"names no years, so {year} cannot be chosen; leave out the year (--year)")
    if year is None:
        raise UnfitOptionError(f"holds several years; choose one (--year): {offered}")
    if year not in years:
        raise UnfitOptionError(f"has no year {year}; choose one of its own (--year): {offered}")


def _text(column: pd.Series) -> pd.Series:
    """Labels as text without stray spaces; a number with nothing after the point loses the point."""
    missing = column.isna()
    whole = pd.api.types.is_float_dtype(column) and (column.dropna() % 1 == 0).all()
    if whole and (column.dropna().abs() < _EXACT).all():
        column = column.astype("Int64")
    text = column.astype(str).str.strip()
    missing |= text.str.lower().isin(["", "nan"])
    if missing.any():
        raise DataError(f"row {first_row(missing)}: no {column.name}; fill it in or drop the row")
    return text


def _persons(column: pd.Series) -> pd.Series:
    # A number or a text that may hold one: not a truth value, a date, a duration or bytes.
    other = ~column.map(
        lambda value: (
            isinstance(value, (str, numbers.Number)) and not isinstance(value, (bool, np.bool_, np.timedelta64))
        )
    )
    if pd.api.types.is_integer_dtype(column) and not column.isna().any():
        counts = column
    else:
        counts = pd.to_numeric(column.astype(object).mask(other), errors="coerce").astype(float)
    # Texts with a point where all may be signs between thousands: 1.000 is not read as 1.
    pointed = pd.Series(False, index=column.index)
    if not pd.api.types.is_numeric_dtype(column):
        pointed = column.map(lambda value: isinstance(value, str) and "." in value).astype(bool)
    thousands = pointed & bool(column[pointed].astype(str).str.strip().str.fullmatch(with_thousands(".")).all())
    faults = {
        "is missing": column.isna() | column.map(lambda value: isinstance(value, str) and not value.strip()),
        "has a sign between thousands": thousands,
        "is not a number": ~np.isfinite(counts) | other,
        "is negative": counts < 0,
        "is too large to be persons": counts > MOST_PERSONS,
        "has a fraction (or a sign between thousands)": counts % 1 != 0,
    }
    for fault, rows in faults.items():
        if rows.any():
            raise DataError(
                f"row {first_row(rows)}: the count in column {column.name} {fault}; write a whole number of persons"
                + (", or say which sign it is (--thousands)" if "thousands" in fault else "")
            )
    return counts.astype("int64")


def without_thousands(cells: pd.DataFrame, sign: str | None) -> tuple[pd.DataFrame, list[str]]:
    """Counts whose persons have no sign between thousands, and a note on it.

    By default the sign is a point or comma if that is sure: then all persons of 1,000 or more have it, and some of them
    would otherwise be no whole number.
    """
    column = cells.get("persons")
    if column is None or column.dtype == object and not column.map(lambda value: isinstance(value, str)).all():
        return cells, []
    if pd.api.types.is_numeric_dtype(column) or column.isna().any():
        return cells, []
    texts = column.astype("str").str.strip()
    for mark in ".," if sign is None else sign:
        between = re.escape(mark)
        signed = texts.str.contains(mark, regex=False)
        whole = texts.str.fullmatch(with_thousands(mark, mixed=sign is not None))
        sure = sign is not None or texts[signed].str.contains(rf"{between}.*{between}|{between}(?!000$)").any()
        if signed.any() and whole.all() and sure:
            note = f"the sign {mark} in the counts is read as a sign between thousands"
            return cells.assign(persons=texts.str.replace(mark, "", regex=False)), [note]
    return cells, []


def first_row(rows: pd.Series) -> object:
    """Index label of the first true row."""
    return rows.index[int(rows.to_numpy().argmax())]


# If the highest bare number is below this, the numbers may be codes of groups (1 for 0-4, 2 for 5-9), not ages.
_CODES_TO = 30


def in_five_year_groups(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Cells by five-year age group, in the order of the first cell of each, and notes on what was added up."""
    groups = [group for group in cells["age_group"].unique() if group != TOTAL]
    ordered = sorted(groups, key=lowest_age)
    for group, following in zip(ordered, ordered[1:]):
        last = highest_age(group)
        if last is None or lowest_age(following) <= last:  # the persons of that age would count twice
            raise DataError(f"age groups {group} and {following} overlap; leave one of them out")
    opened = next((group for group in groups if group.endswith("+")), None)
    start = math.inf if opened is None else _start(opened)
    into = {}
    for group in groups:
        first = _start(group)
        into[group] = f"{start}+" if first >= start else f"{first}-{first + GROUP_YEARS - 1}"
    finer = [group for group in groups if into[group] != group]
    if not finer:
        return cells, []
    if all(group.isdecimal() for group in groups) and max(map(int, groups)) < _CODES_TO:
        raise DataError(
            "column age_group holds low numbers only, which may be codes rather than years of age; write "
            "groups as 5-9 and 85+, and the last year of age as the open group that it is, such as 100+"
        )
    _check_whole(into)
    notes = [f"{len(finer):,} single years or parts of age groups are added up to five-year groups"]
    return added_up(cells, into | {TOTAL: TOTAL}), notes


def added_up(cells: pd.DataFrame, into: Mapping[str, str]) -> pd.DataFrame:
    """Cells added up to the age groups that `into` maps theirs to, in the order of the first cell of each."""
    named = cells.assign(age_group=cells["age_group"].map(into).astype(str))
    sums = named.groupby(CELL, sort=False)["persons"].sum()
    return named.drop_duplicates(CELL).assign(persons=sums.to_numpy())


def _start(group: str) -> int:
    """First age of the five-year group that a group begins in."""
    return lowest_age(group) // GROUP_YEARS * GROUP_YEARS


def _check_whole(into: dict[str, str]) -> None:
    """Raise a `DataError` where a five-year group would be made of some of its years only."""
    for five in dict.fromkeys(into.values()):
        parts = [group for group, group_of in into.items() if group_of == five]
        closed = [group for group in parts if not group.endswith("+")]
        ages = {age for group in closed for age in range(lowest_age(group), (highest_age(group) or 0) + 1)}
        if (last := highest_age(five)) is None:
            (opened,) = set(parts) - set(closed)
            last = lowest_age(opened) - 1
        if absent := [age for age in range(lowest_age(five), last + 1) if age not in ages]:
            raise DataError(
                f"no counts of age {absent[0]}, so that the group {five} cannot be made; add it (0 where "
                "nobody is of that age), or leave out the other ages of that group"
            )
