"""What the name of a column means, by words in English, Spanish and Catalan (``guess.csv``)."""

from __future__ import annotations

import csv
import re
import unicodedata
from functools import cache
from importlib import resources
from io import StringIO


def words_of(name: str) -> list[str]:
    """What the words of a name mean, in small letters without accents: Fact_Pers is fact_pers, VarStrat var_strat."""
    plain = "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    words = "_".join(re.findall(r"[a-z]+", parted.casefold()))
    return [meaning for meaning, pattern in _patterns().items() if pattern.search(words)]


def meanings(name: str) -> list[str]:
    """The meanings of the words of a name, without those that another word rules out (``no_...`` of the table)."""
    named = words_of(name)
    return [meaning for meaning in named if f"no_{meaning}" not in named]


def means(name: str, meaning: str) -> bool:
    """Whether a name has a word of that meaning."""
    return meaning in meanings(name)


def names_key(meant: list[str]) -> bool:
    """Whether a name with these `meanings` is that of what people know of each other."""
    return "key_variables" in meant or ("place" in meant and "no_key_variables" not in meant)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """By meaning, what one word or some in a row of a name may be."""
    rows = list(csv.DictReader(StringIO(resources.files("kanon_lab.data").joinpath("guess.csv").read_text("utf-8"))))
    meant = dict.fromkeys(row["meaning"] for row in rows)
    wanted = {meaning: "|".join(row["pattern"] for row in rows if row["meaning"] == meaning) for meaning in meant}
    return {meaning: re.compile(rf"(?:^|_)(?:{pattern})(?:_|$)") for meaning, pattern in wanted.items()}
