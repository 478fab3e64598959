"""Columns that identify persons by what their cells hold: what is found, what is not, and what the verdict says."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from cases import in_one_test
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.cl import rut
from stdnum.es import ccc, dni, nie
from stdnum.pl import pesel

from kanon_lab import KeySpec
from kanon_lab.recipes import protect
from kanon_lab.recipes.identifiers import BY_VARIETY, KINDS, Identifier, identifiers_in, identifiers_of
from kanon_lab.recipes.plan import as_limits
from kanon_lab.recipes.verdict import judge
from kanon_lab.terms import texts, wordings

N = 240


def account(number):
    """A Spanish bank account with its check digits."""
    bank, own = f"2100{number % 9973:04}", f"{number:010}"
    return f"{bank}{ccc.calc_check_digits(f'{bank}00{own}')}{own}"


RANDOM = np.random.default_rng(29)
ROW, LONG = np.arange(N), RANDOM.permutation(np.arange(N)) * 97_531 + 5_000_000
DNI = [f"{number}{dni.calc_check_digit(f'{number:08}')}" for number in LONG + 10_000_000]
RUT = [f"{number}{rut.calc_check_digit(str(number))}" for number in LONG]
PESEL = [f"{y:02}{m:02}{d:02}{s:04}" for y, m, d, s in zip(ROW % 90 + 10, ROW % 12 + 1, ROW % 28 + 1, ROW * 7)]
NINE = 600_000_000 + LONG
ACCOUNTS = [f"ES{98 - int(f'{text}142800') % 97:02}{text}" for text in map(account, LONG)]


def some(text, every=3):
    """A text in some of the cells, with the number of the row."""
    return [text.format(row) if row % every == 0 else None for row in ROW]


def numbered(texts, text, every=3):
    return [text.format(number) if row % every == 0 else None for row, number in zip(ROW, texts, strict=True)]


# What a column holds -> its values, and the kind, cells and scheme that are found.
HELD = {
    "e-mails of a third": (some("p.{}@mail.example"), "email", 80, ""),
    "one e-mail among remarks": (["ask josé@correo.example, please", *["none"] * (N - 1)], "email", 1, ""),
    "e-mails with another sign": (some("p.{}\uff20mail.example"), "email", 80, ""),
    "e-mails with blanks": (some("p.{} @ mail.example"), "email", 80, ""),
    "e-mails in words": (some("p.{} (arroba) mail [punto] example"), "email", 80, ""),
    "web addresses": (some("https://page.example/{}"), "web", 80, ""),
    "profiles": (some("network.com/persons/{}"), "web", 80, ""),
    "one account": (["ES91 2100 0418 4502 0005 1332", *["none"] * (N - 1)], "iban", 1, ""),
    "accounts without blanks": (some("ES9121000418450200051332"), "iban", 80, ""),
    "Spanish accounts": (numbered(ACCOUNTS, "{}", 1), "iban", N, ""),
    "Spanish accounts in groups": ([" ".join(re.findall("....", text.lower())) for text in ACCOUNTS], "iban", N, ""),
    "accounts in small letters": (some("es91-2100-0418-4502-0005-1332"), "iban", 80, ""),
    "cards": ([f"4{n:014}{luhn.calc_check_digit(f'4{n:014}')}" for n in LONG], "card", N, ""),
    "cards as numbers": ([int(f"4{n:014}{luhn.calc_check_digit(f'4{n:014}')}") for n in LONG], "card", N, ""),
    "DNI": (DNI, "number", N, "es.dni"),
    "DNI of a tenth": (numbered(DNI, "{}", 10), "number", 24, "es.dni"),
    "DNI with a line": ([f"{text[:-1]}-{text[-1]}" for text in DNI], "number", N, "es.dni"),
    "DNI with dots": ([f"{t[:2]}.{t[2:5]}.{t[5:8]}-{t[8]}" for t in DNI], "number", N, "es.dni"),
    "DNI in short remarks": (numbered(DNI, "DNI {} seen"), "number", 80, "es.dni"),
    "DNI in remarks": (numbered(DNI, "he showed his card, {} it was"), "number", 80, "es.dni"),
    "DNI, a tenth wrong": ([*DNI[:-24], *(f"{text[:-1]}I" for text in DNI[-24:])], "number", N - 24, "es.dni"),
    "NIE": ([f"X{n:07}{nie.calc_check_digit(f'X{n:07}')}" for n in LONG % 10**7], "number", N, "es.nie"),
    "RUT": ([f"{text[:-7]}.{text[-7:-4]}.{text[-4:-1]}-{text[-1]}" for text in RUT], "number", N, "cl.rut"),
    "RUT as numbers": ([int(text.replace("K", "0")) for text in RUT if text[-1] != "K"], "number", None, "cl.rut"),
    "PESEL": ([f"{text}{pesel.calc_check_digit(text)}" for text in PESEL], "number", N, "pl.pesel"),
    "telephones of Chile": ([f"9 {n // 10_000 % 10_000:04} {n % 10_000:04}" for n in LONG], "telephone", N, ""),
    "telephones of a third": (some("+34 600 12{:04}"), "telephone", 80, ""),
    "an area in parentheses": (some("(02) 2345 {:04}"), "telephone", 80, ""),
    "telephones after a word": (some("tel. 22345{:04}, mornings"), "telephone", 80, ""),
    "telephones in groups": ([f"91 123 {n % 90 + 10} {n // 90 + 10}" for n in ROW], "telephone", N, ""),
    "telephones with dots": ([f"02.123.{n % 90 + 10}.{n // 90 + 10}" for n in ROW], "telephone", N, ""),
    "nine digits": ([str(number) for number in NINE], "telephone", N, ""),
    "nine digits as numbers": (NINE, "telephone", N, ""),
    "nine digits as floats": (np.where(ROW % 2, NINE, np.nan), "telephone", N // 2, ""),
    "places": ([f"{40 + n / 7000:.5f}, {-3 - n / 9000:.5f}" for n in ROW], "coordinates", N, ""),
    "places with commas": ([f"{40 + n / 7000:.5f}; -3,70{n:03}".replace(".", ",") for n in ROW], "coordinates", N, ""),
    "free text of a fifth": (some("asked for Ana Soto {}, second floor", 5), "text", 48, ""),
    "names": ([f"Ana {n}" for n in ROW], "unique", N, ""),
    "names of a tenth": (some("Ana {}", 10), "unique", 24, ""),
    "names, else a line": ([f"Ana {n}" if n % 3 == 0 else "-" for n in ROW], "unique", 80, ""),
    "names, else answers": ([f"@ana{n}" if n % 3 == 0 else ["none", "n/a"][n % 2] for n in ROW], "unique", 80, ""),
    "running numbers": (ROW + 1, "unique", N, ""),
    "numbers of persons": (LONG * 3, "unique", N, ""),
    "dates of birth": (pd.Timestamp("1990-01-01") - pd.to_timedelta(LONG % 20_000, unit="D"), "unique", N, ""),
}


@in_one_test("what", HELD)
def test_what_a_column_holds_is_found_with_its_cells(what):
    values, kind, cells, scheme = HELD[what]
    column = pd.Series(values, name="x")
    assert identifiers_of(column) == [(kind, int(column.notna().sum()) if cells is None else cells, scheme)]


@pytest.mark.parametrize("what", ["DNI", "nine digits as floats", "free text of a fifth"])
def test_categories_are_read_as_their_values(what):
    column = pd.Series(HELD[what][0], name="x")
    assert identifiers_of(column.astype("category")) == identifiers_of(column) == [HELD[what][1:]]


@pytest.mark.parametrize(
    ("text", "kind"), [("Family Soto {}", "unique"), ("asked for Ana Soto {}, third floor", "text")]
)
def test_what_only_members_of_a_household_share_is_their_own(text, kind):
    frame = pd.DataFrame({"home": ROW // 3, "x": [text.format(n // 3) for n in ROW], "y": [f"a{n % 40}" for n in ROW]})
    assert identifiers_in(frame) == ()
    spec = KeySpec(["y"], household="home", sensitive_variables=["x"])
    chain = protect(frame, spec).apply("remove_variables", {"variables": "home"}).apply("shuffle_records", {"seed": 5})
    assert [(found.columns, found.kind, found.cells) for found in chain.identifiers] == [(("x",), kind, N)]


def test_every_kind_is_among_those_and_has_its_words():
    assert {kind for _, kind, _, _ in HELD.values()} == set(KINDS)
    assert {*KINDS} == {key.removeprefix("identifier_") for key in wordings("note") if key.startswith("identifier_")}
    assert {f"by_{kind}" for kind in KINDS} <= {*texts("configuration", "es")}


# What a column holds -> its values, none of which identify.
HOLDS_NOTHING = {
    "ages": RANDOM.integers(0, 100, N),
    "decimals": RANDOM.lognormal(5, 1, N),
    "weights": np.round(RANDOM.lognormal(5, 1, N), 4),
    "nothing": [None] * N,
    "a constant": ["no"] * N,
    "truth": ROW % 3 == 0,
    "dates of interview": pd.Timestamp("2024-03-01") + pd.to_timedelta(ROW % 60, unit="D"),
    "few cells of their own": some("x{}", 15),
    "labels of four words": [f"clerk of the kind {n % 20}" for n in ROW],
    "two in each pair of texts": [f"x{n // 2}" if n % 8 < 2 else "no" for n in ROW],
    "prices": ["2 @ 3.50"] * N,
    "one web address": ["see www.office.example/help"] * N,
    "amounts in words": [f"income over {n % 4 + 6}00 000 000 pesos" for n in ROW],
    "a place": ["40.4168, -3.7038"] * N,
    "codes without check digits": [f"{n % 60 + 10_000_000}" for n in ROW],
    "infinite": np.where(ROW == 3, np.inf, ROW * 1.0),
    "codes of districts": [f"28-079-{n % 20:02}-001" for n in ROW],
}


@in_one_test("what", HOLDS_NOTHING)
def test_other_columns_identify_nobody(what):
    assert identifiers_of(pd.Series(HOLDS_NOTHING[what], name="x")) == []


def test_roles_take_away_what_is_said_of_variety_and_not_what_is_an_address():
    frame = pd.DataFrame({"own": [f"c{n}" for n in ROW], "mail": some("p{}@x.example"), "income": LONG * 31 % 99_991})

    def found(**roles):
        spec = KeySpec(roles.pop("keys", ["zone"]), **roles)
        return [identifier.columns[0] for identifier in identifiers_in(frame, spec)]

    assert found() == ["own", "mail", "income"]
    assert found(released_as_is=["own", "mail"], numeric_variables=["income"]) == ["mail"]
    assert found(keys=["own"], weight="income") == found(household="own", released_as_is=["income"]) == ["mail"]
    assert found(sensitive_variables=["own", "income"], keys=["mail"]) == ["own", "mail", "income"]


def test_amounts_of_hundreds_of_millions_are_no_telephones_where_they_are_a_quantity():
    sales = pd.Series(np.where(ROW % 4, NINE, NINE - 550_000_000), name="sales")
    spec = KeySpec(["zone"], numeric_variables=["sales"])
    assert [identifiers_in(sales.to_frame(), spec)] == [()]
    assert [found.kind for found in identifiers_in(sales.to_frame())] == ["telephone"]


def test_what_is_an_address_or_a_number_of_a_person_is_so_where_it_is_listed():
    codes = (
        "nine digits",
        "nine digits as numbers",
        "nine digits as floats",
        "telephones with dots",
        "telephones of Chile",
    )
    for what in [what for what, (_, kind, *_) in HELD.items() if kind not in BY_VARIETY and what not in codes]:
        values, kind, *_ = HELD[what]
        assert [found for found, _, _ in identifiers_of(pd.Series(values), varied=False)] == [kind]


@pytest.mark.parametrize("codes", [ROW + 1000, LONG, 100_000 + ROW * 3_760], ids=["running", "long", "full"])
def test_whole_numbers_that_run_or_are_codes_of_one_length_are_no_quantities(codes):
    spec = KeySpec(["zone"], numeric_variables=["x"])
    assert identifiers_in(pd.DataFrame({"x": codes[codes < 10**7]}), spec)
    assert not identifiers_in(pd.DataFrame({"x": codes[codes < 10**7] ** 2 // 999 % 77_777}), spec)


def test_latitude_and_longitude_stand_in_two_columns():
    frame = pd.DataFrame({"lat_home": 36 + ROW / 77, "lon_home": -9 + ROW / 91, "length": ROW / 7})
    assert identifiers_in(frame) == (Identifier(("lat_home", "lon_home"), "coordinates", N),)
    assert not identifiers_in(frame.assign(lat_home=ROW / 2)) and not identifiers_in(frame[["lat_home"]])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([6, 7, 8, 9, 10, 11, 13, 16]), st.sampled_from(["", "letters"]))
def test_numbers_without_check_digits_pass_none(seed, digits, style):
    random = np.random.default_rng(seed)
    values = random.integers(10 ** (digits - 1), 10**digits, 60)
    column = [f"{value}{chr(65 + value % 26)}" for value in values] if style else values
    assert not [kind for kind, _, _ in identifiers_of(pd.Series(column), varied=False)]


def survey(seed):
    """A file of a survey with columns as surveys have them, and their roles."""
    random = np.random.default_rng(seed)
    n = int(random.choice([80, 300, 900]))
    frame = pd.DataFrame(
        {
            "zone": random.choice([*"NSEW"], n),
            "age": random.integers(0, 100, n),
            "postcode": random.integers(28_001, 28_055, n),
            "born": [f"{d:02}/{m:02}/{y}" for d, m, y in random.integers([1, 1, 1930], [29, 13, 2010], (n, 3))],
            "occupation": random.integers(1_111, 9_630, n),
            "illness": [f"{'ABCDEF'[a]}{b:02}.{c}" for a, b, c in random.integers([0, 0, 0], [6, 99, 9], (n, 3))],
            "job": random.choice([f"clerk of the kind number {i}" for i in range(9)], n),
            "section": [f"28{a:03}{b:02}{c:03}" for a, b, c in random.integers([1, 1, 1], [12, 8, 6], (n, 3))],
            "answer": random.choice([1, 2, 3, 88, 99], n),
            "pesos": np.round(random.lognormal(13, 0.9, n)),
            "income": random.lognormal(10, 0.8, n).astype(int),
            "rent": np.where(random.random(n) < 0.7, np.nan, np.round(random.lognormal(6.5, 0.4, n))),
            "body": np.round(random.normal(25, 4, n), 4),
            "weight": np.round(random.lognormal(5, 0.5, n) + 1, 6),
            "home": np.sort(random.integers(0, n // 2, n)) * 17 + 100_000,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 60, n), unit="D"),
        }
    )
    roles = {"numeric_variables": ["pesos", "income", "rent"], "weight": "weight", "household": "home"}
    roles |= {"released_as_is": ["occupation", "illness", "section"]}
    return frame, KeySpec(["zone", "age", "postcode", "born"], **roles)


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(5, 205), marks=pytest.mark.slow)], ids=["few", "all"])
def test_no_column_of_an_ordinary_survey_identifies(seeds):
    assert {seed: found for seed in seeds if (found := identifiers_in(*survey(seed)))} == {}


def judged(frame, limits=None, **roles):
    """A small release with a column more, held against its limits."""
    spec = KeySpec(["zone"], **roles)
    chain = protect(frame.assign(zone=[*"NS"] * (len(frame) // 2)), spec)
    return judge(chain, as_limits({"k": 2, "unassigned_columns": None, **(limits or {})}, spec=spec))


def test_a_release_with_such_a_column_is_not_met_and_names_it_without_a_cell():
    frame = pd.DataFrame({"contact": some("p{}@mail.example"), "remark": some("asked for Ana Soto {} twice", 5)})
    found = judged(frame)
    row = found.verdict.set_index("name").loc["identifiers_found"]
    assert (row.found, row.met, row.columns) == (2, False, ("contact", "remark"))
    assert [(caution.key, caution.count, caution.columns) for caution in found.cautions] == [
        ("identifier", 80, ("contact",)),
        ("identifier", 48, ("remark",)),
    ]
    told = json.dumps(found.to_dict())
    assert "80 cells hold e-mail addresses" in told and "48 cells hold free text" in told
    assert not any(part in told for part in ("example", "Ana", "Soto", "p.0"))
    assert judged(frame[["contact"]].iloc[:, :0]).met and not judged(frame[["remark"]]).met
    assert judged(frame[["remark"]], released_as_is=["remark"]).met
    assert not judged(frame[["contact"]], released_as_is=["contact"]).met
    assert judged(frame, direct_identifiers=["contact", "remark"]).met
    assert judged(frame, {"identifiers_found": 2}).met and judged(frame, {"identifiers_found": None}).met


@pytest.mark.parametrize("column", ["mail", "remark"])
def test_e_mails_and_remarks_of_some_persons_stop_a_release_that_is_met_without_them(column):
    n, random = 1200, np.random.default_rng(24)
    zone = random.choice(["North", "South", "East", "West"], n, p=[0.4, 0.3, 0.2, 0.1])
    frame = pd.DataFrame({"zone": zone, "age": random.integers(18, 88, n), "sex": random.choice([*"mf"], n)})
    mail = [f"user{i}@{name.lower()}.example" if i % 3 == 0 else None for i, name in enumerate(zone)]
    remark = [f"asked for Ana Soto {i}, call after {i % 12}" if i % 5 == 0 else None for i in range(n)]
    spec = KeySpec(["zone", "age", "sex"])
    chain = protect(frame.assign(**{column: {"mail": mail, "remark": remark}[column]}), spec)
    chain = chain.apply("recode", {"variable": "age", "bands": [0, 30, 60, None]}).apply("suppress", {"k_required": 3})
    limits = as_limits({"k": 3}, spec=spec)
    row = judge(chain, limits).verdict.set_index("name").loc["identifiers_found"]
    assert (row.met, row.columns) == (False, (column,))
    assert judge(chain.apply("remove_variables", {"variables": column}), limits).met


def test_chains_from_one_start_find_what_each_release_holds():
    frame = pd.DataFrame({"zone": [*"NS"] * (N // 2), "own": [f"c{n:03}" for n in ROW], "mail": some("p{}@x.example")})
    chain = protect(frame, KeySpec(["zone"]))
    merged = chain.apply("recode", {"variable": "own", "hierarchy": {"masks": [4, 1]}, "level": 1})
    for each in (chain, merged, merged.apply("remove_variables", {"variables": "mail"}), chain):
        assert each.identifiers == identifiers_in(each.frame, each.spec)
    assert {key[0] for key in chain.start.contents} == {*frame} and len(chain.identifiers) == 2
    assert [found.columns for found in merged.identifiers] == [("mail",)]


def test_a_column_without_a_value_beside_households_identifies_nobody():
    frame = pd.DataFrame({"age": [1, 1], "home": [1, 2], "empty": pd.Series([None, None], dtype=object)})
    assert protect(frame, KeySpec("age", household="home")).identifiers == ()


def test_numbers_of_records_that_are_called_a_weight_are_identifiers():
    random = np.random.default_rng(3)
    spec = KeySpec(["sex"], weight="w")
    for numbers, kinds in (
        (100_000 + random.permutation(600), ["unique"]),
        (random.choice(np.arange(10**7, 10**8), 600, replace=False), ["unique"]),
        (random.integers(1_000, 4_000, 600), []),
        (random.lognormal(6, 0.6, 600), []),
    ):
        frame = pd.DataFrame({"sex": [*"mf"] * 300, "w": numbers})
        assert [identifier.kind for identifier in identifiers_in(frame, spec)] == kinds
