"""Labels of values and variables as far as SPSS and Stata files can hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from kanon_lab.data.statistical import Labels
from kanon_lab.data.values import Code

#: Formats that have labels.
LABELLED = ("sav", "dta")
# Bytes of a label of a value and of a variable; Stata counts the latter in characters.
_LONGEST = {"sav": (120, 255), "dta": (32_000, 80)}
# Whole numbers of Stata's labels.
_WHOLE = {"sav": 2.0**1023, "dta": 2.0**31 - 100}


class Fitted(NamedTuple):
    """Labels that a format can hold, by variable.

    Some codes of the variables `lost` have labels that it cannot hold; `cut` labels are longer than it keeps, and are
    cut.
    """

    labels: Labels
    variable_labels: dict[str, str]
    lost: tuple[str, ...] = ()
    cut: int = 0

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
    for name, each in labels.items():
        if name not in frame or not each:
            continue
        text = not pd.api.types.is_numeric_dtype(frame[name])
        held = {code: label for code, label in each.items() if _holds(code, form, text=text)}
        if any(not isinstance(code, str) or text for code in each.keys() - held.keys()):
            lost.append(name)
        kept[name] = {code: _cut(label, of_value) for code, label in held.items()}
        cut += sum(kept[name][code] != label for code, label in held.items())
    of_names = {name: label for name, label in variable_labels.items() if name in frame and label}
    short = {name: label[:of_variable] for name, label in of_names.items()}
    if form == "sav":
        short = {name: _cut(label, of_variable) for name, label in of_names.items()}
    cut += sum(short[name] != label for name, label in of_names.items())
    return Fitted({name: each for name, each in kept.items() if each}, short, tuple(lost), cut)


def _holds(code: Code, form: str, *, text: bool) -> bool:
    """Whether a column can have a label for a code: letters of Stata's missing values are none of a number's."""
    if text or isinstance(code, str):
        return text and isinstance(code, str) and form == "sav"
    return abs(code) <= _WHOLE[form] and (form == "sav" or float(code).is_integer())


def _cut(label: str, most: int) -> str:
    """A label of so many bytes at most, and of whole letters."""
    return label.encode()[:most].decode(errors="ignore")
