"""A survey of households such as EU-SILC, generated: 14,827 persons, whose weights reveal region and household size."""

import numpy as np
import pandas as pd

PERSONS = 14_827
REGIONS = (
    "Burgenland",
    "Carinthia",
    "Lower Austria",
    "Upper Austria",
    "Salzburg",
    "Styria",
    "Tyrol",
    "Vienna",
    "Vorarlberg",
)
SHARES = (0.035, 0.07, 0.19, 0.17, 0.065, 0.145, 0.085, 0.19, 0.05)


def households(rng: np.random.Generator) -> pd.DataFrame:
    """One row a person: household, its size and region, and who the person is in it."""
    sizes = rng.choice(np.arange(1, 10), 12_000, p=(0.3, 0.31, 0.16, 0.14, 0.06, 0.018, 0.007, 0.003, 0.002))
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), PERSONS)) + 1]
    sizes[-1] -= sizes.sum() - PERSONS
    region = rng.choice(len(REGIONS), len(sizes), p=np.array(SHARES) / sum(SHARES))
    home = np.repeat(np.arange(len(sizes)), sizes)
    frame = pd.DataFrame({"db030": home + 1, "hsize": sizes[home], "db040": region[home]})
    frame["member"] = frame.groupby("db030").cumcount()
    return frame


def survey(seed: int = 2011) -> pd.DataFrame:
    """The records, in the order of households, with the names of EU-SILC."""
    rng = np.random.default_rng(seed)
    frame = households(rng)
    home, member, n = frame["db030"].to_numpy() - 1, frame["member"].to_numpy(), len(frame)
    first = rng.integers(22, 88, home.max() + 1)[home]
    age = np.where(
        member == 0, first, np.where(member == 1, first + rng.normal(0, 4, n), first - rng.integers(20, 38, n))
    )
    frame["age"] = np.clip(age.round(), 0, 97).astype(int)
    frame["rb030"] = frame["db030"] * 100 + member + 1
    frame["rb090"] = np.where(
        (member == 0) & (rng.random(n) < 0.6) | (member > 1) & (rng.random(n) < 0.5), "male", "female"
    )
    adult = (frame["age"] >= 16).to_numpy()
    status = rng.choice(np.arange(1, 8), n, p=(0.45, 0.12, 0.06, 0.07, 0.17, 0.01, 0.12))
    status = np.where(frame["age"] >= 65, 5, status)
    frame["pl030"] = pd.array(np.where(adult, status, 0), dtype="Int64")
    frame.loc[~adult, "pl030"] = pd.NA
    abroad = (rng.random(home.max() + 1) < 0.09)[home]
    citizen = np.where(abroad, rng.choice(["EU", "Other"], n, p=(0.35, 0.65)), "AT")
    frame["pb220a"] = pd.Series(citizen, dtype="str").where(adult)
    wage = rng.lognormal(9.6, 0.6, n).round(2)
    frame["py010n"] = np.where(adult & np.isin(status, (1, 2)), wage, 0.0)
    frame["py090n"] = np.where(adult & (status == 3), rng.lognormal(8.7, 0.4, n).round(2), 0.0)
    frame["py100n"] = np.where(status == 5, rng.lognormal(9.5, 0.4, n).round(2), 0.0) * adult
    children = frame.groupby("db030")["age"].transform(lambda ages: (ages.iloc[1:] < 14).sum()).to_numpy()
    frame["hy050n"] = (children * 2_100.0 + (children > 0) * rng.normal(0, 150, home.max() + 1)[home]).round(2)
    frame["eqSS"] = (1 + 0.5 * (frame["hsize"] - 1 - children).clip(lower=0) + 0.3 * children).round(1)
    total = frame[["py010n", "py090n", "py100n"]].sum(axis=1).groupby(frame["db030"]).transform("sum") + frame["hy050n"]
    frame["eqIncome"] = (total / frame["eqSS"]).round(2)
    # a weight of each household, by its region and size and hardly anything else
    base = rng.uniform(420, 720, (len(REGIONS), 10)).round(4)
    frame["rb050"] = (base[frame["db040"], frame["hsize"]]).round(4)
    frame["db040"] = pd.Series(REGIONS, dtype="str").take(frame["db040"]).to_numpy()
    names = [
        "db030",
        "hsize",
        "db040",
        "rb030",
        "age",
        "rb090",
        "pl030",
        "pb220a",
        "py010n",
        "py090n",
        "py100n",
        "hy050n",
        "eqSS",
        "eqIncome",
        "rb050",
    ]
    return frame[names]
