"""The released sample: its variables (section 5), and how its ages are coded (section 4.4)."""

from __future__ import annotations

from importlib import resources

import pandas as pd

#: The youngest age of the census, of 1 March 1991, in 1995: what anybody then born has reached. Those of this age were
#: born in two months; the next is the first of a whole year of births.
YOUNGEST = 4
#: Width of the age bands in years, the first and last code that the study names, and the first age of the last code.
_BANDS = {"5 years": (5, 1, 13, 65), "10 years": (10, 1, 8, 80)}


def data_dictionary() -> pd.DataFrame:
    """The variables of the released sample of anonymous records (*MRA*).

    Returns
    -------
    DataFrame
        One row a variable, in the study's order; the digits of the string INFRA apart: ``variable`` (the study's name),
        ``heading`` (its own, in Catalan), ``definition``, ``codes`` (as printed, ``absolute`` or ``3 digits``),
        ``categories`` (how many codes there are; missing where they are not listed), ``part`` (person or dwelling),
        ``in_key`` (bool: among the eight of the identification key, section 4.2) and ``matters`` (why it matters to
        somebody who wants to identify a person: our words).
    """
    path = resources.files("kanon_lab.studies") / "garin-1996-variables.csv"
    with path.open(encoding="utf-8") as lines:
        found = pd.read_csv(lines, dtype=str, keep_default_na=False)
    found["in_key"] = found["in_key"] == "yes"
    found.insert(4, "categories", found["codes"].map(count_codes).astype("Int64"))
    return found


def count_codes(codes: str) -> int | None:
    """How many codes a printed list has: 15 for ``1...14, 99``; None where it lists none."""
    count = 0
    for part in codes.split(", "):
        first, _, last = part.partition("...")
        if not (first.isdigit() and (last or first).isdigit()):
            return None
        count += int(last or first) - int(first) + 1
    return count


def age_codes() -> pd.DataFrame:
    """The two bandings of age, where a code is the age divided by the width of the band.

    Returns
    -------
    DataFrame
        One row a banding: ``age``, ``width`` (years), ``named`` (codes that the study names, from 1), ``top`` (first
        age of the last code), ``needed`` (codes that ages from 4 on need), ``needed_from_5`` (codes that the ages need
        that whole years of births have reached, 5 and over), ``nameless`` (ages from 4 on that have none, as text).
    """
    rows = []
    for age, (width, first, last, top) in _BANDS.items():
        codes = [min(years // width, last) for years in range(YOUNGEST, top + 1)]
        lost = [years for years in range(YOUNGEST, top) if years // width < first]
        nameless = f"{lost[0]}-{lost[-1]}" if len(lost) > 1 else str(lost[0])
        rows.append((age, width, last - first + 1, top, len({*codes}), len({*codes[1:]}), nameless))
    return pd.DataFrame(rows, columns=["age", "width", "named", "top", "needed", "needed_from_5", "nameless"])
