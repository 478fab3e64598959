"""Tabla 8.1: the methods classified by the definitions of section 8.1, by applying ours twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd

from kanon_lab.perturb import add_noise, microaggregate, pram, rank_swap, shuffle
from kanon_lab.studies.ine_chile.printed import cells

# What the sections of chapter 8 say of the methods that the table begins with: data, and function.
_NON_PERTURBATIVE = {
    "Recodificación Global": ("continuo y categórico", "globalRecode"),
    "Codificación Superior e Inferior": ("continuo y categórico", "topBotCoding"),
    "Supresión Local": ("categórico", "localSuppression"),
}
# The other methods: ours, and the program's function, by the names of its documentation.
_PERTURBATIVE: dict[str, tuple[Callable, str]] = {
    "PRAM": (partial(pram, variables="category", keep=0.5), "pram"),
    "Micro agregación": (partial(microaggregate, variables="income"), "microaggregation"),
    "Adición de Ruido": (partial(add_noise, variables="income"), "addNoise"),
    "Shuffling": (partial(shuffle, variables="income", given="hours"), "shuffle"),
    "Rank swapping": (partial(rank_swap, variables="income", window=0.2), "rankSwap"),
}
# Where chapter 8 has these methods, and where it says what data they are for.
_SECTIONS = {
    "Recodificación Global": "8.2.1.1",
    "Codificación Superior e Inferior": "8.2.1.2",
    "Supresión Local": "8.2.2",
}
_DATA_SAID = {
    "Recodificación Global": "copied: sections 8.2.1.1.1 and 8.2.1.1.2 recode one of each",
    "Supresión Local": "copied: section 8.2.2 says that it does not suit continuous variables",
}
_CUT = ("Micro agregación", *_NON_PERTURBATIVE)
#: Where the kind of evidence is not that of the column: by row and column.
COPIED = {(row, column) for row in _NON_PERTURBATIVE for column in ("classification", "data")} | {
    ("Adición de Ruido", "data")
}


def classified() -> dict[str, dict[str, str]]:
    """What is set against each column of Tabla 8.1: texts by printed row."""
    data, functions = ({row: said[i] for row, said in _NON_PERTURBATIVE.items()} for i in range(2))
    found = {row: _words(method) for row, (method, _) in _PERTURBATIVE.items()}
    return {
        "classification": dict.fromkeys(_NON_PERTURBATIVE, "no perturbativo, determinista") | found,
        "data": data | {"Adición de Ruido": "continuo"},
        "function": functions | {row: function for row, (_, function) in _PERTURBATIVE.items()},
    }


def _words(method: Callable) -> str:
    """By section 8.1: perturbative if values become others, deterministic if a second run gives the same."""
    numbers = pd.Series(range(1, 61))
    file = pd.DataFrame({"income": numbers**2 * 10.0, "hours": numbers % 7, "category": (numbers % 3).map(str)})
    first, second = (method(file, seed=seed).frame for seed in (0, 1))
    altered = "perturbativo" if not first.equals(file) else "no perturbativo"
    return f"{altered}, {'determinista' if first.equals(second) else 'probabilístico'}"


def exceptions() -> dict[tuple[str, str], tuple[str, str]]:
    """Verdict and reason for cells that a comparison cannot judge, by row and column."""
    cut = "the column is cut off in the text; elsewhere the guide names the function in full"
    no_section = "nothing to compare it with: the sections on perturbative methods are not in the text"
    twice = "by the definitions of section 8.1: ours, run with two seeds, gives two files with other values"
    documented = "looked up: the function of sdcMicro has this name"
    found = {
        ("Micro agregación", "classification"): (
            "not-in-text",
            "which way to form groups is meant would stand in its section, which is not in the text. Where records "
            "that are near each other get their mean nothing is drawn: ours gives the same twice, and by section 8.1 "
            "is deterministic. The program has other ways too, and clusters that begin at random would bear it out",
        ),
        ("Codificación Superior e Inferior", "data"): (
            "",
            "copied: section 8.2.1.2 codes age, and names income, which is continuous by section 7.2, and categories; "
            "its rule says otherwise, and is judged there. Ours codes both",
        ),
        ("Supresión Local", "classification"): (
            "",
            "copied: section 8.2.2, which stands under 8.2; ours gives the same for the same data",
        ),
        ("Adición de Ruido", "data"): ("", "copied: the glossary, Tabla 3.2, has continuous variables"),
    }
    for row, section in _SECTIONS.items():
        found.setdefault((row, "classification"), ("", f"copied: so section {section}, which stands under 8.2"))
        if row in _DATA_SAID:
            found[row, "data"] = ("", _DATA_SAID[row])
    for row in cells("Tabla 8.1").index:
        if row in _CUT:
            found[row, "function"] = ("illegible", cut)
        else:
            found[row, "function"] = ("", documented)
            found[row, "classification"] = ("", twice)
        if row in _PERTURBATIVE and row != "Adición de Ruido":
            found[row, "data"] = ("not-in-text", no_section)
    return found
