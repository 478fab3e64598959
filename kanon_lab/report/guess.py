"""Guesses at the roles of a file's columns: from their names and from how many values they have, never the values."""

from __future__ import annotations

import csv
import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import pandas as pd

from kanon_lab.errors import DataError

if TYPE_CHECKING:
    from kanon_lab.data import MicrodataFile

#: What a column may be guessed to be, in the order of a configuration; "" is none.
ROLES = (
    "key_variables",
    "weight",
    "household",
    "direct_identifiers",
    "sensitive_variables",
    "numeric_variables",
    "indicators.strata",
    "indicators.sampling_unit",
    "",
)
_NUMBERS = ("whole numbers", "numbers")
# A number of more values than this is a quantity, one of fewer is a code.
_FEW = 30
# Values that names, telephones and the like have at least: "has a telephone" has two.
_NAMED = 20
# Of the records that have one, this share have a value of their own where a text identifies.
_OWN = 0.95
# Records that tell whether having a value of one's own means anything.
_ENOUGH = 20
# A household has so many members in the mean at most.
_MEMBERS = 15
_FALLBACK = 3
# Formats whose names are a row like the others.
_IN_ROW_1 = ("csv", "xlsx")
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[T ].*)?")
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?")
_YEARS = (1900, 2100)


def check_named(file: MicrodataFile, where: str) -> None:
    """Raise a `DataError` where the first row of a csv or xlsx file holds a record rather than names.

    That is so where a name is a number with a sign or decimals, or a date above dates; and where it is all digits, and
    no word is among the names, or it lies between the lowest and the highest number below it. A year such as 2019
    above numbers some of which are no years is a name.
    """
    if file.found["format"] not in _IN_ROW_1:
        return
    names = [str(name).strip() for name in file.frame.columns]
    worded = not all(_NUMBER.fullmatch(name) or _DATE.fullmatch(name) for name in names)
    for place, name in enumerate(names):
        if _is_cell(name, file.frame.iloc[:, place].dropna(), worded):
            raise DataError(f"{where}: row 1 holds no names of columns, or one is a number; put names in the first row")


def _is_cell(name: str, below: pd.Series, worded: bool) -> bool:
    """Whether what stands where a name should is rather a cell like those below it."""
    if _DATE.fullmatch(name):
        return not worded or _kind(below) == "dates" or bool(below.astype("str").str.fullmatch(_DATE.pattern).all())
    if not _DIGITS.fullmatch(name):
        return bool(_NUMBER.fullmatch(name))
    if not worded or _kind(below) not in _NUMBERS or below.empty:
        return not worded
    number, low, high = int(name), below.min(), below.max()
    if _YEARS[0] <= number <= _YEARS[1] and not (_YEARS[0] <= low and high <= _YEARS[1]):
        return False
    return bool(low <= number <= high)


def guess_roles(frame: pd.DataFrame) -> pd.DataFrame:
    """Guess what each column of a microdata file is for.

    Parameters
    ----------
    frame : DataFrame
        One row a record, at least one. Not changed.

    Returns
    -------
    DataFrame
        One row a column, in their order: ``variable``, ``kind`` ("text", "whole numbers", "numbers", "dates", "truth"
        or "other"), ``distinct`` and ``missing`` (values and records), ``role`` (one of `ROLES`; one weight, household
        and sampling unit at most, and a key variable wherever some column has two values or more) and ``why``: "name",
        "unique" (a value of its own in nearly every record), "quantity", "few" (values), "date", "constant", "empty",
        "another" (of a role that one column has already), "below_1" (named like a weight) or "many" (values).

    Notes
    -----
    Names are matched with words in English, Spanish and Catalan (``guess.csv``), whatever their case and accents. A
    weight is 1 or more in every record; a household has 15 members in the mean at most; what is called a name or a
    telephone has more than 20 values.
    """
    rows = [_guess(str(name), column) for name, column in frame.items()]
    found = pd.DataFrame(rows, columns=["variable", "kind", "distinct", "missing", "role", "why"])
    for role in ("weight", "household", "indicators.sampling_unit"):
        several = found.index[found["role"] == role]
        person = [row for row in several if "pers" in words(found["variable"][row])]
        others = several.drop((person or list(several))[:1])
        found.loc[others, ["role", "why"]] = ["", "another"]
    if not (found["role"] == "key_variables").any():
        rest = found.index[(found["role"] == "") & (found["why"] == "few")][:_FALLBACK]
        found.loc[rest, "role"] = "key_variables"
    return found


def words(name: str) -> str:
    """A name as its words in small letters without accents: Fact_Pers is fact_pers, VarStrat var_strat."""
    plain = "".join(each for each in unicodedata.normalize("NFD", name) if not unicodedata.combining(each))
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return "_".join(re.findall(r"[a-z]+", parted.casefold()))


def _guess(name: str, column: pd.Series) -> tuple[str, str, int, int, str, str]:
    kind, missing = _kind(column), int(column.isna().sum())
    distinct, known = int(column.nunique()), len(column) - missing
    return name, kind, distinct, missing, *_role(name, column, kind, distinct, known)


def _role(name: str, column: pd.Series, kind: str, distinct: int, known: int) -> tuple[str, str]:
    """A role, and why."""
    if distinct < 2:
        return "", "constant" if distinct else "empty"
    roles, number = _by_name(name), kind in _NUMBERS
    if "weight" in roles and number and known == len(column):
        return ("weight", "name") if column.min() >= 1 else ("", "below_1")
    if "indicators.strata" in roles or "indicators.sampling_unit" in roles:
        return next(role for role in roles if role.startswith("indicators")), "name"
    if roles == ["household"] and known == len(column) and 1 < known / distinct <= _MEMBERS:
        return "household", "name"
    if "key_variables" in roles:
        return "key_variables", "name"
    if "direct_identifiers" in roles and distinct > min(_NAMED, known / 2):
        return "direct_identifiers", "name"
    if number and distinct > _FEW and "sensitive_variables" in roles:
        return "numeric_variables", "name"
    if "sensitive_variables" in roles:
        return "sensitive_variables", "name"
    return _by_shape(kind, distinct, known)


def _by_shape(kind: str, distinct: int, known: int) -> tuple[str, str]:
    own = distinct == known or (kind == "text" and distinct >= _OWN * known)
    if own and known >= _ENOUGH and kind in ("text", "whole numbers"):
        return "direct_identifiers", "unique"
    if kind == "dates":
        return "", "date"
    if distinct <= _FEW:
        return "", "few"
    return ("numeric_variables", "quantity") if kind in _NUMBERS else ("", "many")


def _kind(column: pd.Series) -> str:
    types = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.categories.to_series()
    if types.is_bool_dtype(column):
        return "truth"
    if types.is_integer_dtype(column):
        return "whole numbers"
    if types.is_numeric_dtype(column):
        return "numbers"
    if types.is_datetime64_any_dtype(column):
        return "dates"
    return "text" if isinstance(column.dtype, pd.StringDtype) or column.dtype == object else "other"


def _by_name(name: str) -> list[str]:
    """Roles whose words the name has, without those that another of its words rules out (rows no_... of the table)."""
    text = words(name)
    found = [role for role, pattern in _patterns().items() if pattern.search(text)]
    return [role for role in found if role in ROLES and f"no_{role}" not in found]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """By role what one word, or some in a row, of a name may be."""
    with files("kanon_lab.report").joinpath("guess.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    roles = dict.fromkeys(row["role"] for row in rows)
    wanted = {role: "|".join(row["pattern"] for row in rows if row["role"] == role) for role in roles}
    return {role: re.compile(rf"(?:^|_)(?:{pattern})(?:_|$)") for role, pattern in wanted.items()}
