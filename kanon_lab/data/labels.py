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


def ages(label: str) -> str | None:
    """Ages in one five-year group as "5-9", "1-4" or "7", from one on as "85+", or `TOTAL`; None of anything else."""
    plain = _plain(label)
    if plain in _ALL_AGES:
        return TOTAL
    if plain in _BELOW_ONE:
        return "0"
    if opened := _OPEN_AGES.fullmatch(plain):
        return f"{int(opened[1])}+" if int(opened[1]) <= _OLDEST else None
    if one := _ONE_AGE.fullmatch(plain):
        return str(int(one[1])) if int(one[1]) <= _OLDEST else None
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
    """Code and name in a label as "29025 Benalmádena"; a total's code is `NATION` or `TOTAL`. None of anything else."""
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
