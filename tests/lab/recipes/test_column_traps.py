"""Columns that nobody named and that tell a key by a part, by their order or nearly: each is found, none falsely."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from cases import others_slow

from kanon_lab import KeySpec
from kanon_lab.recipes import protect
from kanon_lab.recipes.exposure import exposed_by_columns
from kanon_lab.recipes.plan import as_limits
from kanon_lab.recipes.verdict import judge

ZONES = ["North", "South", "East", "West", "Coast", "Hills"]
N = 1_200


@cache
def survey():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"zone": rng.choice(ZONES, N, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05])})
    frame["age"], frame["sex"] = rng.integers(18, 88, N), rng.choice(["m", "f"], N)
    frame["luck"] = rng.integers(0, 9, N)
    days = frame["age"] * 365.25 + rng.integers(1, 364, N)
    frame["day"] = (pd.Timestamp("2024-06-01") - pd.to_timedelta(days, unit="D")).dt.normalize()
    return frame


def exposure(column, *, k=3, missing="wildcard"):
    """The exposure of a file with one more column, its ages in bands and suppressed to k."""
    frame = survey().drop(columns="day")
    if column is not None:
        frame["trap"] = column
    spec = KeySpec(["zone", "age", "sex"], missing=missing, released_as_is=[*frame.columns[3:]])
    chain = protect(frame, spec)
    chain = chain.apply("recode", {"variable": "age", "width": 5})
    chain = chain.apply("suppress", {"k_required": k, "importance": {"zone": 3, "age": 1, "sex": 2}})
    return chain, exposed_by_columns(chain, k)


def test_the_file_without_a_trap_is_met():
    for missing in ("wildcard", "category"):
        chain, found = exposure(None, missing=missing)
        assert (found.records, len(found.columns)) == (0, 0)
        met = judge(chain, as_limits({"k": 3}, spec=chain.spec)).verdict.set_index("name")["met"]
        assert met.drop("k").all()


def test_a_column_tells_a_recoded_key_beside_what_is_released_of_it():
    """An office number says which of the places of a district, and repeats in every district."""
    rng = np.random.default_rng(2)
    place, n = rng.integers(0, 24, 1_800), 1_800
    labels = rng.permutation(60) * 7 % 60
    frame = pd.DataFrame({"place": place, "age": rng.integers(0, 11, n), "sex": rng.choice(["m", "f"], n)})
    frame["office"] = labels[place % 3 * 20 + rng.integers(0, 20, n)]
    chain = protect(frame, KeySpec(["place", "age", "sex"], released_as_is=["office"]))
    chain = chain.apply("recode", {"variable": "place", "bands": [*range(0, 25, 3)], "closed": "left"})
    chain = chain.apply("suppress", {"k_required": 3, "claim": "true_key"})
    found = exposed_by_columns(chain, 3)
    assert found.columns["columns"].tolist() == [("office", "place")]
    assert found.records > 100
    frame["office"] = rng.integers(0, 60, n)
    assert exposed_by_columns(protect(frame, chain.spec).apply("recode", chain.steps[0].settings), 3).records == 0


FORMS = "%d/%m/%Y,%d-%m-%Y,%d.%m.%y,%m/%d/%Y,%Y-%m-%d,%Y/%d/%m,%Y%m%d,%d%m%Y,%d%m%y,%d %b %Y".split(",")
OTHERS = ["%Y", "%m.%Y", "date", "day", "number", "category"]
OF_EVERY_RUN = {*FORMS[:3], "%d%m%y", *OTHERS[1:3], "category"}


@pytest.mark.parametrize(
    "form", [form if form in OF_EVERY_RUN else pytest.param(form, marks=pytest.mark.slow) for form in [*FORMS, *OTHERS]]
)
def test_a_date_of_birth_tells_an_age_in_any_form(form):
    day = survey()["day"]
    kinds = {"date": lambda: day, "day": lambda: day.dt.date, "number": lambda: day.dt.strftime("%Y%m%d").astype(int)}
    kinds["category"] = lambda: day.dt.strftime("%d/%m/%Y").astype("category")
    chain, found = exposure(kinds[form]() if form in kinds else day.dt.strftime(form))
    assert {*found.columns["columns"]} >= {("trap",)}
    assert all("trap" in names for names in found.columns["columns"])
    assert found.records > 150
    judged = judge(chain, as_limits({"k": 3}, spec=chain.spec))
    assert judged.verdict.set_index("name")["met"].to_dict()["exposed_by_columns"] is False
    assert ("trap",) in [caution.columns for caution in judged.cautions if caution.key == "exposed"]


def checked(number):
    return f"{number}{sum(map(int, number)) % 10}"


CODES = {
    "letter at the end": lambda i, zone, z: f"{i:04d}{zone[0]}",
    "number at the end": lambda i, zone, z: f"{i:04d}-{z + 3:02d}",
    "last digit": lambda i, zone, z: int(f"{i}{z}"),
    "in the middle": lambda i, zone, z: f"{i % 97:02d}{z}{i:04d}",
    "between separators": lambda i, zone, z: f"{i}/{z + 11}/{i * 7 % 89}",
    "at the front": lambda i, zone, z: f"{z}{i:05d}",
    "before a check digit": lambda i, zone, z: checked(f"{i:04d}{z}"),
    "value and check digit": lambda i, zone, z: checked(f"{z + 10}"),
    "domain": lambda i, zone, z: f"user{i}@{zone.lower()}.example",
    "part of a domain": lambda i, zone, z: f"user{i}@{zone.lower()}.town{i % 7}.example",
    "name of a user": lambda i, zone, z: f"{zone.lower()}.{i}@mail.example",
    "among words": lambda i, zone, z: f"call {i} after {i % 12}, {['near', 'by the', 'off the'][i % 3]} {zone} gate",
    "length of the front": lambda i, zone, z: f"{'ABC'[i % 3] * (1 + i % 2)}{z}-{i}",
}


@pytest.mark.parametrize("name", CODES)
def test_a_part_of_a_code_tells_a_region(name):
    column = [CODES[name](i, zone, ZONES.index(zone)) for i, zone in enumerate(survey()["zone"])]
    chain, found = exposure(column)
    rows = found.columns.set_index("columns")
    assert [*rows.index] == [("trap",)]
    (row,) = rows.itertuples()
    assert row.told > 0.6 * row.hidden > 5
    assert found.records > 0.6 * row.hidden


QUANTITIES = {
    "multiple": lambda z, rng: 250 * z,
    "near a multiple": lambda z, rng: np.round(100 * z + rng.normal(0, 25, N), 2),
    "falling": lambda z, rng: 1_000 - 100 * z + rng.integers(-30, 30, N),
    "monotone": lambda z, rng: np.round(np.exp(z + rng.random(N) * 0.8)),
    "near a value of each": lambda z, rng: np.array([40, 7, 310, 95, 150, 220])[z] + np.round(rng.normal(0, 9, N), 1),
    "remainder": lambda z, rng: 10 * rng.integers(0, 500, N) + z,
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_a_quantity_about_a_value_of_each_region_tells_it(name):
    z = survey()["zone"].map(ZONES.index).to_numpy()
    _, found = exposure(QUANTITIES[name](z, np.random.default_rng(3)))
    rows = found.columns.set_index("columns")
    assert [*rows.index] == [("trap",)]
    assert rows["told"].iloc[0] > 0.55 * rows["hidden"].iloc[0]
    assert found.records > 0


@pytest.mark.parametrize(("k", "missing"), others_slow([(3, "wildcard"), (10, "category")]))
def test_what_a_copy_exposes_grows_with_its_accuracy_without_a_jump(k, missing):
    rng = np.random.default_rng(5)
    zone, drawn = survey()["zone"], rng.random(N)
    other = [ZONES[(ZONES.index(name) + step) % 6] for name, step in zip(zone, rng.integers(1, 6, N), strict=True)]
    steps = [0.6, 0.7, 0.8, 0.9, 0.94, 0.96, 0.98, 1.0]
    counts = np.array([exposure(zone.where(drawn < share, other), k=k, missing=missing)[1].records for share in steps])
    assert counts[0] > 0
    assert (np.diff(counts) >= -0.03 * counts[-1]).all()
    # No step is much larger than that of the accuracy.
    assert (np.diff(counts) <= (2.5 * np.diff(steps) + 0.06) * counts[-1]).all()


def independent(seed, most=1_500):
    """A file whose columns were drawn apart from each other: dates, codes, addresses, texts, quantities, gaps."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, most))
    words = np.array("red old house near river mill first floor call later north gate open".split())

    def drawn(values):
        return rng.choice(values, n, p=rng.dirichlet(np.ones(values)))

    days = pd.Timestamp("2000-01-01") - pd.to_timedelta(rng.integers(0, 30_000, n), unit="D")
    kinds = [
        lambda: drawn(12),
        lambda: pd.Series(days).dt.strftime(str(rng.choice(FORMS))),
        lambda: [f"{a:03d}-{b}{c}" for a, b, c in zip(rng.integers(0, 999, n), drawn(9), drawn(5), strict=True)],
        lambda: [f"u{a}@site{b}.example" for a, b in zip(rng.permutation(n), drawn(20), strict=True)],
        lambda: [" ".join(rng.choice(words, rng.integers(2, 6))) for _ in range(n)],
        lambda: np.round(rng.lognormal(7, 1, n), 2),
        lambda: rng.integers(10**6, 10**7, n),
        lambda: rng.permutation(n),
        lambda: pd.Series(drawn(8)).mask(rng.random(n) < 0.3),
        lambda: np.round(drawn(6) * 100 + rng.normal(0, 20, n)),
    ]
    frame = pd.DataFrame({"zone": drawn(7), "age": rng.integers(0, 90, n), "sex": rng.integers(0, 2, n)})
    for number, kind in enumerate(rng.choice(len(kinds), int(rng.integers(3, 8)))):
        frame[f"c{number}"] = kinds[kind]()
    household = rng.random() < 0.3
    if household:  # members share what a household has
        home = np.sort(rng.integers(0, n // 3, n))
        frame = frame.assign(**{name: frame[name].to_numpy()[home] for name in ("zone", "c0", "c1")}, home=home)
        frame = frame.sample(frac=1, random_state=seed, ignore_index=True)
    spec = KeySpec(
        ["zone", "age", "sex"],
        missing=str(rng.choice(["wildcard", "category"])),
        household="home" if household else None,
    )
    chain = protect(frame, spec)
    if rng.random() < 0.7:
        chain = chain.apply("recode", {"variable": "age", "width": int(rng.choice([5, 10, 30]))})
    if rng.random() < 0.2:
        return chain.apply("remove_variables", {"variables": "zone"})
    return chain.apply("suppress", {"k_required": min(3, n), "importance": {"zone": 3, "age": 2, "sex": 1}})


def accused(seeds, **options):
    files = ((seed, exposed_by_columns(independent(seed, **options), 3)) for seed in seeds)
    return [(seed, *row[1:]) for seed, found in files for row in found.columns.itertuples()]


def test_independent_columns_are_not_accused():
    assert not accused(range(5), most=300)


@pytest.mark.slow
def test_independent_columns_of_200_files_are_not_accused():
    assert not accused(range(5, 30), most=300)
    assert not accused(range(30, 230))


@pytest.mark.parametrize("text", ["{}", "moved here from {}, alone"])
def test_a_few_cells_that_spell_out_the_hidden_value_of_their_own_record_are_counted(text):
    """Three men of ninety in rare zones: their zones are hidden, and a remark that only they have says them."""
    n, rare = 600, ["West", "Coast", "Hills"]
    frame = pd.DataFrame(
        {"zone": ["North", "South", "East"] * (n // 3), "age": [20, 30, 40, 50] * (n // 4), "sex": "f"}
    )
    frame.loc[: 2 * len(rare) + 4, ["zone", "age", "sex"]] = ["North", 90, "m"]
    frame.loc[: len(rare) - 1, "zone"] = rare
    suppress = {"k_required": 3, "importance": {"zone": 3, "age": 1, "sex": 2}, "claim": "true_key"}

    def exposed(remarks):
        spec = KeySpec(["zone", "age", "sex"], released_as_is=["remark"])
        chain = protect(frame.assign(remark=pd.Series(remarks).reindex(frame.index)), spec).apply("suppress", suppress)
        assert chain.aligned["zone"].isna().sum() == len(rare)
        return exposed_by_columns(chain, 3)

    told = exposed([text.format(zone) for zone in rare])
    assert (told.records, told.names) == (len(rare), ("remark",))
    assert exposed([text.format(zone) for zone in ("East", "Hills", "Coast")]).records == 0
    assert exposed(["alone"] * len(rare)).records == 0
