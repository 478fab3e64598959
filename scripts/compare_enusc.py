"""Set the frequencies of the embedded synthetic ENUSC beside those of the real file of 2019.

Persons are those of 15 and over, whom both files have; households are counted once. Writes scripts/enusc-synthetic.csv,
a row per figure: measure, group (region; sex and age; answer), synthetic, real and difference. Sex is 1 man, 2 woman;
bands of age are named by their first year; "all" is the country.

Run: python scripts/compare_enusc.py REAL
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from kanon_lab.data import data_path
from kanon_lab.files import write_bytes

RESULT = Path(__file__).with_name("enusc-synthetic.csv")
# Items of insecurity, and the sex they are about.
ITEMS = {"hom_insg_micro": 1, "muj_insg_micro": 2, "hom_insg_calles.barrio": 1, "muj_insg_calles.barrio": 2}


def main() -> None:
    """Write the comparison and say, for each measure, how far the two are apart."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("real", type=Path, metavar="REAL", help="the csv of the real file")
    table = comparison(pd.read_csv(data_path("enusc-synthetic")), pd.read_csv(parser.parse_args().real))
    write_bytes(RESULT, table.to_csv(index=False, lineterminator="\n").encode())
    print(table.groupby("measure", sort=False)["difference"].describe()[["count", "mean", "min", "max"]].round(3))


def comparison(synthetic: pd.DataFrame, real: pd.DataFrame) -> pd.DataFrame:
    """Every figure of both files."""
    table = pd.DataFrame({"synthetic": figures(synthetic), "real": figures(real)}).reset_index()
    return table.assign(difference=(table["synthetic"] - table["real"]).round(4))


def figures(frame: pd.DataFrame) -> pd.Series:
    """The figures of one file by measure and group, to four decimals."""
    persons = frame[frame["rph_edad"] >= 15]
    homes = frame.drop_duplicates("hogar") if "hogar" in frame else frame
    found = {**design(frame), **spread(homes, "Fact_Hog"), **spread(persons, "Fact_Pers"), **answers(persons)}
    for item, records, weight in (("VA_DC", homes, "Fact_Hog"), ("VP_DC", persons, "Fact_Pers")):
        rates = records.groupby("enc_region")[item].mean()
        rates["all, weighted"] = (records[item] * records[weight]).sum() / records[weight].sum()
        found[item] = rates
    tables = {measure: values.rename(index=str).rename_axis("group") for measure, values in found.items()}
    return pd.concat(tables, names=["measure"]).round(4)


def design(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Strata, sampling units and rows, by region, and the rows of a sampling unit."""
    regions = frame.groupby("enc_region")
    return {
        "strata": regions["VarStrat"].nunique(),
        "sampling units": regions["Conglomerado"].nunique(),
        "share of rows": regions.size() / len(frame),
        "rows of a sampling unit, quantile": frame.groupby("Conglomerado").size().quantile([0, 0.25, 0.5, 0.75, 1]),
    }


def spread(records: pd.DataFrame, weight: str) -> dict[str, pd.Series]:
    """Sums of a weight by region, and its coefficients of variation."""
    sums = records.groupby("enc_region")[weight].sum() / 1000
    groups = records.groupby("enc_region")[weight]
    variation = groups.std() / groups.mean()
    variation["all"] = records[weight].std() / records[weight].mean()
    return {f"{weight}, thousands": sums, f"{weight}, coefficient of variation": variation}


def answers(persons: pd.DataFrame) -> dict[str, pd.Series]:
    """Shares of persons of 15 and over by sex and age, and of their answers."""
    age = (persons["rph_edad"] // 15 * 15).clip(upper=75).astype(str)
    group = persons["rph_sexo"].astype(str) + ", " + age
    found = {
        "sex and age, weighted": persons.groupby(group)["Fact_Pers"].sum() / persons["Fact_Pers"].sum(),
        "VP_DC by sex and age": persons.groupby(group)["VP_DC"].mean(),
    }
    for item, sex in ITEMS.items():
        asked = persons[persons["rph_sexo"] == sex]
        found[item] = asked.groupby("enc_region")[item].mean()
        found[f"{item} by age"] = asked.groupby(age)[item].mean()
    for item in ("P3_1_1", "P8_1_1"):
        found[item] = persons[item].astype(int).value_counts(normalize=True).sort_index()
    between = persons.groupby("Conglomerado")["VP_DC"].mean().std()
    return {**found, "VP_DC, deviation between sampling units": pd.Series({"all": between})}


if __name__ == "__main__":
    main()
