"""What names of columns say, by words in English, Spanish and Catalan (``guess.csv``)."""

from __future__ import annotations

import csv
import re
import unicodedata
from functools import cache
from importlib.resources import files


def words(name: str) -> str:
    """A name as its words in small letters without accents: Fact_Pers is fact_pers, VarStrat var_strat."""
    plain = "".join(each for each in unicodedata.normalize("NFD", name) if not unicodedata.combining(each))
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return "_".join(re.findall(r"[a-z]+", parted.casefold()))


def meanings(name: str) -> list[str]:
    """What the words of a name stand for, without what another of them rules out (``no_...`` of the table)."""
    text = words(name)
    found = [meaning for meaning, pattern in _patterns().items() if pattern.search(text)]
    return [meaning for meaning in found if f"no_{meaning}" not in found]


def means(name: str, meaning: str) -> bool:
    """Whether a name has a word of that meaning."""
    return meaning in meanings(name)


def is_known(name: str) -> bool:
    """Whether some word of a name is in the table."""
    text = words(name)
    return any(pattern.search(text) for pattern in _patterns().values())


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """By meaning, what one word or some in a row of a name may be."""
    with files("kanon_lab.report").joinpath("guess.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    meant = dict.fromkeys(row["meaning"] for row in rows)
    wanted = {meaning: "|".join(row["pattern"] for row in rows if row["meaning"] == meaning) for meaning in meant}
    return {meaning: re.compile(rf"(?:^|_)(?:{pattern})(?:_|$)") for meaning, pattern in wanted.items()}
