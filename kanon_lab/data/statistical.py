"""SPSS, Stata and SAS files: codes with their labels, and the values that their users defined as missing."""

import io
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from kanon_lab import files
from kanon_lab.data.values import Code, composed
from kanon_lab.errors import DataError

STATISTICAL_FORMATS = ("sav", "dta", "sas7bdat")
"""Extensions of these files."""

Labels = dict[str, dict[Code, str]]
Missing = dict[str, tuple[Code, ...]]
_NO_LIMIT = 1e300
# Formats that come with SAS; those of its users are defined in a catalogue.
_OF_SAS = re.compile(
    r"\$?(|BEST|BESTD|D|E|F|Z|N|NUMX|COMMAX?|DOLLARX?|EUROX?|NEGPAREN|PERCENTN?|FRACT|ROMAN|WORDS|WORDF|SSN|PVALUE|"
    r"CHAR|VARYING|QUOTE|UPCASE|ASCII|EBCDIC|REVERJ|REVERS|BASE64X|S370F[A-Z]+|[PZ]D|[IP]?IB|RB|BINARY|HEX|OCTAL|"
    r"DATE|DATETIME|DATEAMPM|DT[A-Z]+|TIME|TIMEAMPM|TOD|HHMM|HOUR|MMSS|DAY|DOWNAME|WEEK(DAY|DATE|DATX|[UVW])?|WORDDAT[EX]|"
    r"MONNAME|MONTH|MONYY|YEAR|YYMON|QTRR?|JULIAN|JULDAY|PDJUL[GI]|(YYQR?|YYMM|MMYY|DDMMYY|MMDDYY|YYMMDD)[BCDNPSX]?|"
    r"(IS|[BE])8601[A-Z]{2})\d*(\.\d*)?"
)


class Statistical(NamedTuple):
    """What a file holds: a row a record, labels of codes and of variables, and codes that its user defined as missing.

    Labels of SAS are in a file of their own, a catalogue: `formatted` are the variables with a format of its user's.
    Missing are codes and ranges of SPSS, such as ``"90 to 99"``, and those letters of Stata and SAS that occur, such as
    ``"a"`` for ``.a``.
    """

    frame: pd.DataFrame
    labels: Labels
    variable_labels: dict[str, str]
    missing: Missing
    encoding: str | None
    formatted: tuple[str, ...] = ()


def read_statistical(
    content: bytes,
    form: str,
    choose: Callable[[Iterable[str]], list[str]],
    encoding: str | None = None,
) -> Statistical:
    """The chosen columns, with missing values for codes that a user defined as missing; labels are not applied."""
    import pyreadstat

    read = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta, "sas7bdat": pyreadstat.read_sas7bdat}[form]

    def parts(**options: object) -> tuple:
        try:
            return read(io.BytesIO(content), encoding=encoding, **options)
        except MemoryError:
            raise
        except Exception as error:  # a damaged file makes the reader fail in ways that it does not list
            raise _fault(str(error), form) from None

    head = parts(metadataonly=True, user_missing=True)[1]
    chosen = choose(head.column_names)
    # a file may say nothing of how many records it has, or something else; more than are allowed are not read
    most = files.most_rows(len(chosen))
    frame = parts(usecols=chosen, dates_as_pandas_datetime=True, row_limit=most + 1)[0][chosen]
    files.check_table(len(frame), len(chosen))
    if form == "sav":
        ranges = {name: head.missing_ranges[name] for name in chosen if name in head.missing_ranges}
        missing = {name: tuple(map(_range, limits)) for name, limits in ranges.items()}
    else:  # their letters stand among the values; the reader that tells them makes 0 of some other missing values
        some = [name for name in chosen if head.readstat_variable_types[name] != "string" and frame[name].isna().any()]
        with_letters = {"usecols": some, "user_missing": True, "disable_datetime_conversion": True}
        found = parts(**with_letters)[1].missing_user_values if some else {}
        missing = {name: tuple(sorted(found[name])) for name in some if found.get(name)}
    labels = {name: _labels(head.variable_value_labels[name]) for name in chosen if name in head.variable_value_labels}
    named = {name: label for name in chosen if (label := head.column_names_to_labels.get(name))}
    formats = {name: head.original_variable_types.get(name) or "" for name in chosen if form == "sas7bdat"}
    formatted = tuple(composed(name) for name, kind in formats.items() if not _OF_SAS.fullmatch(kind.upper()))
    return Statistical(frame, _composed(labels), _composed(named), _composed(missing), head.file_encoding, formatted)


def _fault(reason: str, form: str) -> DataError:
    if "unsupported character set" in reason:
        return DataError("its texts are in an encoding that is unknown here; export it again in UTF-8")
    if "convert string" in reason:
        return DataError("its texts are in another encoding than it says; export it again in UTF-8")
    return DataError(f"is not a .{form} file, or is damaged; export it again")


def _composed(by_name: Mapping[str, object]) -> dict[str, object]:
    return {composed(name): value for name, value in by_name.items()}


def _labels(labels: Mapping[Code, str]) -> dict[Code, str]:
    return {_code(code): label for code, label in labels.items()}


def _code(code: Code) -> Code:
    """A code as the frame has it: a whole number where it can be."""
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _range(limits: Mapping[str, Code]) -> Code:
    """One code, or a range of them in words."""
    low, high = limits["lo"], limits["hi"]
    if low == high:
        return _code(low)
    # the lowest and the highest number there is stand for no limit
    if low < -_NO_LIMIT:
        return f"to {_code(high)}"
    return f"from {_code(low)}" if high > _NO_LIMIT else f"{_code(low)} to {_code(high)}"
