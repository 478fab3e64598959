"""Reading the labels of INE's population tables: sexes, age groups, years and places."""

import re
import unicodedata
from typing import NamedTuple

TOTAL = "total"
"""What every label of a total (both sexes, all ages, all places) is read as."""

NATION = "nation"
"""What the label of the national total is read as."""

_SEXES = {
    **dict.fromkeys(("total", "ambos sexos", "both sexes"), TOTAL),
    **dict.fromkeys(("hombres", "hombre", "varones", "varon", "men", "male", "males"), "men"),
    **dict.fromkeys(("mujeres", "mujer", "women", "female", "females"), "women"),
}
_ALL_AGES = {"total", "todas las edades", "all ages"}
_CLOSED_AGES = re.compile(r"(?:de )?(\d{1,3}) ?(?:-|a|to) ?(\d{1,3})(?: anos| years)?")
_OPEN_AGES = re.compile(r"(?:de )?(\d{1,3}) ?(?:\+|y mas(?: anos)?|o mas(?: anos)?|anos y mas|and over|and more)")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NATIONS = {"total nacional", "nacional", "total espana", "espana"}
_PLACE = re.compile(r"(\d{2}|\d{5})(?:\s*-\s*|\s+)(\S.*)")
GROUP_YEARS = 5

COLUMN_NAMES = {
    "place": {"place", "municipality", "municipio", "municipi", "code", "codigo", "código"},
    "name": {"name", "nombre", "nom"},
    "province": {"province", "provincia", "província", "cpro"},
    "sex": {"sex", "gender", "sexo", "sexe"},
    "age_group": {"age_group", "age group", "age", "edad", "grupo de edad", "edad (grupos quinquenales)", "edat"},
    "persons": {"persons", "count", "n", "population", "personas", "poblacion", "población", "població", "total"},
    "year": {"year", "año", "periodo", "any"},
}
"""What a column of counts is usually called, in lower case."""


class Place(NamedTuple):
    code: str
    name: str


def sex(label: str) -> str:
    """``"men"``, ``"women"`` or ``TOTAL``; the label itself, stripped, when it is none of the known ones."""
    return _SEXES.get(_plain(label), label.strip())


def age_group(label: str) -> str | None:
    """Five-year group as ``"5-9"`` or ``"85+"``, or ``TOTAL``; None when the label is no such group."""
    plain = _plain(label)
    if plain in _ALL_AGES:
        return TOTAL
    if closed := _CLOSED_AGES.fullmatch(plain):
        low, high = int(closed[1]), int(closed[2])
        return f"{low}-{high}" if low % GROUP_YEARS == 0 and high == low + GROUP_YEARS - 1 else None
    if (opened := _OPEN_AGES.fullmatch(plain)) and int(opened[1]) % GROUP_YEARS == 0:
        return f"{int(opened[1])}+"
    return None


def lowest_age(group: str) -> int:
    """First age of a group that `age_group` made, in completed years."""
    return int(group.rstrip("+").split("-")[0])


def year(label: str) -> int | None:
    """The one year from 1900 to 2099 in a label such as ``"1 de enero de 2010"``; None without exactly one."""
    years = _YEAR.findall(label)
    return int(years[0]) if len(years) == 1 else None


def place(label: str) -> Place | None:
    """Code and name in a label such as ``"29025 Benalmádena"`` or ``"42134-Olvega "``.

    A total without a code has the code ``NATION`` or ``TOTAL`` and its label as name. None when the label is neither.
    """
    plain = _plain(label)
    if plain in _NATIONS:
        return Place(NATION, label.strip())
    if plain == TOTAL:
        return Place(TOTAL, label.strip())
    parts = _PLACE.fullmatch(label.strip())
    return Place(parts[1], parts[2]) if parts else None


def _plain(label: str) -> str:
    """Lower case, without accents, dashes alike, single spaces."""
    decomposed = unicodedata.normalize("NFKD", label.replace("–", "-"))
    bare = "".join(character for character in decomposed if not unicodedata.combining(character))
    return " ".join(bare.lower().split())
