"""What `init` makes of a column: one row a shape, and what is expected of it."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from cases import in_one_test, others_slow
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.cl import rut

from kanon_lab.recipes import as_recipe
from kanon_lab.recipes.yaml_file import parse_yaml
from kanon_lab.report.first_config import ROLES, first_config, first_steps, guess_roles, reason
from kanon_lab.report.shapes import unanswered
from kanon_lab.terms import texts

RANDOM = np.random.default_rng(14)
SIZES = RANDOM.choice([1, 2, 3, 4, 5], 600, p=[0.25, 0.3, 0.2, 0.15, 0.1])
HOMES = len(SIZES)
N = int(SIZES.sum())
ROW, HOME = np.arange(N), np.repeat(np.arange(HOMES), SIZES)
MIXED = RANDOM.permutation(N)
UNIT = HOME // 10
REGION = UNIT % 7 + 1
KEYS = {"sexo": ROW % 2, "region": REGION}


def ints(low, high):
    return RANDOM.integers(low, high + 1, N)


def drawn(mean=3.0, digits=2, least=0.0):
    return np.round(least + RANDOM.lognormal(mean, 0.7, N), digits)


AGE = ints(0, 95)
DATES = pd.Timestamp("1930-01-01") + pd.to_timedelta(ints(0, 30_000), unit="D")
KEY, WEIGHT, HOUSEHOLD, DIRECT = "key_variables", "weight", "household", "direct_identifiers"
SENSITIVE, NUMERIC, UNITS = "sensitive_variables", "numeric_variables", "indicators.sampling_unit"
OF_PERSONS = DIRECT, "number", None
LONG = 30_000_000_000_000 + 7_654_321 * MIXED


def some(text):
    return [text.format(row, row) if row % 3 == 0 else None for row in ROW]


# Name and values of a column, other columns of its file, its role, why, and what else it may be (None: it is sure).
SHAPES = {
    "ages in years": ("edad", AGE, KEYS, KEY, "name", None),
    "codes of age bands": ("edad", ints(1, 7), KEYS, KEY, "codes", None),
    "codes of age bands, and 99": ("age", np.where(ROW % 9, ints(1, 7), 99), KEYS, KEY, "codes", None),
    "five-year codes or children": ("age", ints(0, 17), KEYS, KEY, "codes", ()),
    "lowest years of bands": ("age", ints(0, 9) * 10, KEYS, KEY, "codes", None),
    "ages with 999": ("age", np.where(ROW % 9, AGE, 999), KEYS, KEY, "no_ages", ()),
    "ages with -1": ("age", np.where(ROW % 9, AGE, -1), KEYS, KEY, "no_ages", ()),
    "the young": ("age", ints(15, 21), KEYS, KEY, "years", ()),
    "communes as numbers": ("cod_mun", REGION * 1000 + UNIT, KEYS, KEY, "place", None),
    "postcodes as numbers": ("cp", 28_000 + ints(1, 60), KEYS, KEY, "place", None),
    "an area in hectares": ("area_ha", drawn(), KEYS, NUMERIC, "decimals", (KEY,)),
    "a code that begins with the region": ("v7", REGION * 100 + UNIT, KEYS, KEY, "digits", None),
    "a code that the region depends on": ("v7", 4000 + 7 * UNIT, KEYS, KEY, "nested", (NUMERIC, UNITS)),
    "a unit numbered from 1": ("v7", UNIT + 1, {**KEYS, "z": UNIT % 5}, "", "nested", (KEY, NUMERIC, UNITS)),
    "numbers of one length": ("v7", ints(100, 180), {"sexo": ROW % 2}, NUMERIC, "lengths", (KEY, UNITS)),
    "few whole numbers": ("q1", ints(1, 9), KEYS, "", "few", (KEY, SENSITIVE)),
    "answers on fear": ("insg_calle", ints(1, 2), KEYS, "", "few", (SENSITIVE,)),
    "a quantity": ("q9", ints(0, 5000), KEYS, NUMERIC, "quantity", None),
    "income": ("ingreso", ints(0, 5000), KEYS, NUMERIC, "name", None),
    "a person weight": ("Fact_Pers", drawn(least=1), KEYS, WEIGHT, "name", None),
    "a person weight beside another": (
        *("Fact_Pers", drawn(least=1), {"Fact_Hog": drawn(least=1), **KEYS}, WEIGHT, "person", None),
    ),
    "one weight of two": ("peso_a", drawn(least=1), {**KEYS, "peso_b": drawn(least=1)}, WEIGHT, "several", ()),
    "a weight of replication": ("wgt_rep_1", drawn(least=1), {"wgt": drawn(least=1)}, "", "another", None),
    "a normalised weight": ("weight", 0.1 + 0.9 * drawn() / drawn().mean(), KEYS, "", "below_1", None),
    "a weight of mean 1": ("weight", np.where(ROW < N // 2 * 2, 0.5 + ROW % 2, 1.0), KEYS, "", "normalised", None),
    "a weight with gaps": ("weight", np.where(ROW % 9, drawn(least=1), np.nan), KEYS, "", "weight_missing", (WEIGHT,)),
    "weight in kilograms": ("peso_kg", drawn(least=40), KEYS, NUMERIC, "quantity", None),
    "weight beside height": (
        *("weight", drawn(least=40), {**KEYS, "height": ints(120, 200)}, "", "body", (NUMERIC, WEIGHT)),
    ),
    "low whole numbers called w": ("w", ints(1, 5), KEYS, "", "small", (WEIGHT, KEY)),
    "a weight by its shape": (
        "v3",
        100.5 + 3.7 * (UNIT % 9),
        {**KEYS, "psu": UNIT},
        "",
        "like_weight",
        (KEY, SENSITIVE, WEIGHT),
    ),
    "a household by its name": ("hogar", HOME, KEYS, HOUSEHOLD, "name", None),
    "a household by its shape": (
        *("v1", 7001 + 11 * HOME, {**KEYS, "psu": UNIT, "rooms": HOME % 6}, HOUSEHOLD, "shape", None),
    ),
    "a household in texts": ("v1", [f"h{i}" for i in HOME], {**KEYS, "rooms": HOME % 6}, HOUSEHOLD, "shape", None),
    "pairs by their shape": (
        *("v1", ROW // 2, {"sexo": MIXED % 2, "a": ROW // 2 % 6, "b": ROW // 2 % 5}, HOUSEHOLD, "shape", (UNITS,)),
    ),
    "a person in several years": (
        *("v1", HOME, {"sexo": HOME % 2, "a": HOME % 6, "x": MIXED % 4}, HOUSEHOLD, "shape", (DIRECT,)),
    ),
    "a number within another unit": ("hogar", ROW % 40, KEYS, "", "members", (UNITS,)),
    "sampling units": ("Conglomerado", UNIT, KEYS, UNITS, "name", None),
    "strata": ("VarStrat", UNIT % 5, KEYS, "indicators.strata", "name", None),
    "a running number": ("id", ROW + 1, KEYS, DIRECT, "unique", None),
    "cards in texts": ("card", [f"c{i:05}" for i in ROW], KEYS, DIRECT, "unique", None),
    "long numbers of one length": ("v2", 10_000_000 + 977 * MIXED, KEYS, DIRECT, "unique", (NUMERIC,)),
    "whole numbers far apart, each once": ("v2", 3 * MIXED**2 + MIXED, KEYS, DIRECT, "unequal", (NUMERIC,)),
    "e-mails of some": ("x", some("p{}@mail.example"), KEYS, DIRECT, "email", None),
    "web addresses": ("x", some("https://page.example/{}"), KEYS, DIRECT, "web", None),
    "accounts": ("x", some("ES91 2100 0418 4502 0005 1332"), KEYS, DIRECT, "iban", None),
    "cards": ("x", [int(f"4{i}{luhn.calc_check_digit(f'4{i}')}") for i in LONG], KEYS, DIRECT, "card", None),
    "numbers of persons": ("x", [f"{i}-{rut.calc_check_digit(str(i))}" for i in LONG % 10**8], KEYS, *OF_PERSONS),
    "telephones of some": ("x", some("+34 600 12{:04}"), KEYS, DIRECT, "telephone", None),
    "places": ("x", some("40.41{:04}, -3.70{:04}"), KEYS, DIRECT, "coordinates", None),
    "free text": ("x", some("said that number {} is ill"), KEYS, DIRECT, "text", None),
    "names": ("apellidos", [f"a{i // 2}" for i in ROW], KEYS, DIRECT, "name", None),
    "a latitude": ("lat", 40 + drawn(digits=5) / 100, KEYS, DIRECT, "name", None),
    "has a telephone": ("telefono", ints(0, 1), KEYS, "", "few", (KEY, SENSITIVE)),
    "dates in texts": ("x", DATES.strftime("%Y-%m-%d"), KEYS, "", "date", (KEY, DIRECT)),
    "dates of birth": ("birth_date", DATES, KEYS, KEY, "name", None),
    "many texts": ("note", [f"t{i % 90}" for i in ROW], KEYS, "", "many", (KEY, DIRECT)),
    "a diagnosis": ("diagnosis", [f"d{i % 8}" for i in ROW], KEYS, SENSITIVE, "name", None),
    "persons of a panel": ("v7", ROW // 4, {"q": 2015 + ROW % 4, "z": ints(1, 9)}, "person", "repeats", (NUMERIC,)),
    "one value": ("kish", np.ones(N, int), KEYS, "", "constant", None),
    "nothing": ("x", [None] * N, KEYS, "", "empty", None),
    "sexes as texts": ("x", np.where(ROW % 2, "male", "female"), KEYS, KEY, "sexes", None),
    "sizes of households": ("x", SIZES[HOME], KEYS | {"hogar": HOME}, KEY, "household_size", None),
    "numbers in households": ("x", HOME * 100 + ROW % 100, KEYS | {"hogar": HOME}, DIRECT, "member", None),
    "ages by their label": ("v70", AGE, KEYS, KEY, "label", None),
}
LABELS = {"v70": "Age in years", "q1": "How would you judge the health services of your town by and large?"}


def test_there_are_enough_shapes_and_every_role_and_reason_among_them():
    assert len(SHAPES) >= 30
    assert {shape[3] for shape in SHAPES.values()} == set(ROLES)
    reasons = {key.removeprefix("by_") for key in texts("configuration", "en") if key.startswith("by_")}
    assert {shape[4] for shape in SHAPES.values()} == reasons


@cache
def guessed(shape, mixed=False):
    name, values, others, *_ = SHAPES[shape]
    frame = pd.DataFrame({name: values, **others})
    return guess_roles(frame.iloc[MIXED] if mixed else frame, {}, LABELS)


@pytest.mark.parametrize("mixed", [False, True], ids=["in order", "mixed"])
@in_one_test("shape", SHAPES)
def test_what_is_made_of_each_shape(shape, mixed):
    name, _, _, role, why, other = SHAPES[shape]
    found = guessed(shape, mixed).set_index("variable").loc[name]
    assert (found["role"], found["why"]) == (role, why)
    assert (found["other"] if found["unsure"] else None) == other


@pytest.mark.parametrize("language", others_slow(["en", "es"]))
@in_one_test("shape", SHAPES)
def test_the_configuration_says_what_is_unsure_with_what_else_it_may_be(shape, language):
    name, _, _, role, _, other = SHAPES[shape]
    guesses = guessed(shape)
    text = first_config(guesses, file="a.csv", language=language)
    said = texts("configuration", language) | {"language": language}
    row = next(guesses[guesses["variable"] == name].itertuples())
    lines = [line for line in text.splitlines() if reason(row, said) in line]
    assert lines or role.startswith("indicators")
    assert all((said["unsure"] in line) == (other is not None) for line in lines)
    assert all(each in line for line in lines for each in other or ())
    assert parse_yaml(text, "text")["language"] == language


def test_labels_of_codes_say_which_are_sexes_and_which_mean_no_answer():
    frame = pd.DataFrame({"v1": [1, 2] * 30, "q1": [1, 2, 8, 9, 99] * 12, "q2": [1, 2, 3] * 20})
    labels = {"v1": {1: "Hombre", 2: "Mujer"}, "q1": {1: "yes", 8: "No sabe", 9: "Refused", 99: "NS/NC", 7: "missing"}}
    labels |= {"q2": {1: "unknowing", 2: "known", 3: "no"}}
    guesses = guess_roles(frame, labels, LABELS).set_index("variable")
    assert guesses.loc["v1", ["role", "why"]].tolist() == [KEY, "sexes"]
    assert guesses.loc["q1", "why"] == "few"  # of a question that names towns and health
    assert unanswered(frame, labels) == {"q1": [8, 9, 99]}
    text = first_config(guesses.reset_index(), file="a.sav", unanswered=unanswered(frame, labels))
    assert "# missing_codes:\n#   q1:\n#   - 8\n#   - 9\n#   - 99\n" in text


def proposed(frame):
    """The steps of the first configuration on a file, and its key variables."""
    guesses = guess_roles(frame)
    (block,) = [each for each in first_config(guesses, file="a.csv").split("\n\n") if "\n# steps:" in each]
    steps = "\n".join(line[2:] for line in block[block.index("# steps:") :].splitlines())
    return parse_yaml(steps, "text")["steps"], list(guesses["variable"][guesses["role"] == KEY])


@settings(max_examples=10)
@given(
    st.lists(st.integers(-9, 140), min_size=1, max_size=60)
    | st.lists(st.integers(1, 7), min_size=1, max_size=60)
    | st.lists(st.integers(20, 33), min_size=1, max_size=60)
    | st.lists(st.sampled_from([1, 2, 3, 88, 99, 2011, 700_000]), min_size=1, max_size=60)
)
def test_proposed_bands_leave_two_at_least_whatever_the_ages(ages):
    frame = pd.DataFrame({"sex": ["m", "f"] * len(ages), "age": ages + ages})
    steps, keys = proposed(frame)
    recodings = [step["recode"] for step in steps if "recode" in step]
    if recodings:
        recipe = as_recipe({"key_variables": keys, "steps": [{"recode": each} for each in recodings]})
        done = recipe.apply(frame)
        assert done.state.working["age"].nunique() >= 2
        assert not any("put every record into one band" in note for note in done.notes)


@pytest.mark.parametrize(
    ("ages", "width"),
    [(range(95), 15), (range(15, 30), 5), (range(1, 8), None), (range(15, 20), None), ([*range(90)] + [999], None)],
)
def test_bands_are_proposed_for_years_alone_and_fit_their_range(ages, width):
    ages = list(ages) * 20
    steps, _ = proposed(pd.DataFrame({"age": ages, "sex": ["m", "f"] * (len(ages) // 2) + ["m"] * (len(ages) % 2)}))
    bands = [step["recode"]["bands"] for step in steps if "recode" in step]
    assert [each[1] - each[0] for each in bands] == ([width] if width else [])


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y"])
def test_of_a_date_of_birth_years_are_proposed_in_the_format_of_the_file(written):
    frame = pd.DataFrame({"date_of_birth": DATES.strftime(written), "sex": ROW % 2})
    steps, keys = proposed(frame)
    recodings = [step for step in steps if "recode" in step]
    assert [step["recode"]["dates"] for step in recodings] == ["year"]
    done = as_recipe({"key_variables": keys, "steps": recodings}).apply(frame)
    assert done.state.working["date_of_birth"].tolist() == DATES.strftime("%Y").tolist()


def test_an_id_of_letters_and_digits_that_repeats_by_wave_is_that_of_persons():
    frame = pd.DataFrame({"wave": np.tile([2019, 2020, 2021], 200), "sex": np.repeat(np.arange(200) % 2, 3)})
    frame.insert(0, "person_id", np.repeat([f"P{number:04}" for number in range(200)], 3))
    guesses = guess_roles(frame).set_index("variable")
    assert guesses.loc["person_id", "role"] == "person"


def test_a_shared_quantity_is_grouped_where_no_household_is_sure_and_else_left_out():
    rng, home = np.random.default_rng(5), np.repeat(np.arange(300), 4)
    frame = pd.DataFrame(
        {"household": home, "age": rng.integers(0, 90, 1200), "income": rng.lognormal(7, 1, 300)[home]}
    )
    guesses = guess_roles(frame)
    assert list(guesses["variable"][guesses["shared"]]) == ["income"]
    removed = {"remove_variables": {"variables": ["household", "income"]}}
    assert removed in first_steps(guesses, guesses)
    unsure = first_steps(guesses, guesses[guesses["role"] != "household"])
    assert {"microaggregate": {"variables": ["income"], "k_required": 20}} in unsure


def test_bands_that_hold_every_record_are_noted():
    frame = pd.DataFrame({"age": [1, 2, 3, 4] * 5, "sex": ["m", "f"] * 10})
    for setting, noted in (({"bands": [0, 15, 30]}, True), ({"width": 50}, True), ({"bands": [0, 3, 9]}, False)):
        steps = [{"recode": {"variable": "age", **setting}}]
        notes = as_recipe({"key_variables": ["age", "sex"], "steps": steps}).apply(frame).notes
        assert any("age: the bands of step 1 put every record into one band" in note for note in notes) is noted


@settings(max_examples=10)
@given(st.data())
def test_no_frame_is_too_strange(data):
    n = data.draw(st.integers(1, 30))
    names = data.draw(st.lists(st.sampled_from(["age", "w", "hogar", "v1", "region", "cp", "id", "x"]), unique=True))
    columns = {}
    for name in names:
        words = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
        kind = data.draw(st.sampled_from([st.integers(0, 10**6), st.floats(0, 99), words]))
        columns[name] = data.draw(st.lists(kind | st.none(), min_size=n, max_size=n))
    frame = pd.DataFrame(columns, index=range(n)).convert_dtypes()
    found = guess_roles(frame)
    assert list(found["variable"]) == list(frame.columns)
    assert parse_yaml(first_config(found, file="a.csv"), "text")
