"""``kanon-lab init``, and the guesses that it writes down."""

import json
import unicodedata
from dataclasses import asdict

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kanon_lab.cli import run
from kanon_lab.data.writing import write_microdata
from kanon_lab.recipes import judge
from kanon_lab.recipes.yaml_file import parse_yaml
from kanon_lab.report.config import as_config, read_config
from kanon_lab.report.first_config import ROLES, Guess, first_config, guess_roles

RECORDS = 120


def a_file():
    """A survey with one column of each role; every value of it is marked."""
    rows = range(RECORDS)
    columns = {
        "RUT": [f"SECRET-{i}" for i in rows],
        "Nombre": [f"SECRET Person {i // 2}" for i in rows],
        "enc_region": [f"SECRET{i % 6}" for i in rows],
        "rph_edad": [i % 80 for i in rows],
        "Sexo": [f"SECRET{i % 2}" for i in rows],
        "hogar": [700_000 + i // 3 for i in rows],
        "tam_hogar": [700_003 for i in rows],
        "Fact_Hog": [700_000.25 + i for i in rows],
        "Fact_Pers": [700_000.75 + i for i in rows],
        "VarStrat": [700_000 + i % 5 for i in rows],
        "Conglomerado": [700_000 + i // 6 for i in rows],
        "Ingresos": [700_000 + i // 2 for i in rows],
        "diagnóstico": [f"SECRET{i % 7}" for i in rows],
        "q1": [f"SECRET{i % 3}" for i in rows],
        "card": [f"SECRET{i:04}" for i in rows],
        "tiene_telefono": [f"SECRET{i % 2}" for i in rows],
    }
    return pd.DataFrame(columns)


EXPECTED = {
    "RUT": "direct_identifiers",
    "Nombre": "direct_identifiers",
    "enc_region": "key_variables",
    "rph_edad": "key_variables",
    "Sexo": "key_variables",
    "hogar": "household",
    "tam_hogar": "",
    "Fact_Hog": "",
    "Fact_Pers": "weight",
    "VarStrat": "indicators.strata",
    "Conglomerado": "indicators.sampling_unit",
    "Ingresos": "numeric_variables",
    "diagnóstico": "sensitive_variables",
    "q1": "",
    "card": "direct_identifiers",
    "tiene_telefono": "",
}
WHY = {"card": "unique", "tam_hogar": "constant", "Fact_Hog": "another", "q1": "few", "Sexo": "name"}


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    path = tmp_path_factory.mktemp("SECRETfolder") / "survey.csv"
    write_microdata(a_file(), path)
    return path


def call(capsys, *args):
    code = run(["init", *map(str, args)])
    out, err = capsys.readouterr()
    return code, out, err


def guess(**columns):
    """The guess at the first of some columns, and why."""
    return tuple(guess_roles(pd.DataFrame(columns)).loc[0, ["role", "why"]])


def test_each_role_is_guessed_and_says_why():
    found = guess_roles(a_file()).set_index("variable")
    assert found["role"].to_dict() == EXPECTED
    assert {name: found["why"][name] for name in WHY} == WHY
    assert set(found["role"]) == set(ROLES) - {"person"}  # which no identifier of this file is
    assert found["distinct"].to_dict() == a_file().nunique().to_dict()


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *[(name, "key_variables") for name in ("SEXE", "EdatAnys", "codi_postal", "province", "Fecha.de.Nacimiento")],
        *[(name, "weight") for name in ("PONDERACIÓN", "peso_final", "wgt", "FEXP")],
        *[(name, "sensitive_variables") for name in ("malaltia", "Discapacidad", "VP_DC", "religión")],
        *[(name, "direct_identifiers") for name in ("DNI", "e-mail", "lastName", "ID_PERSONA", "teléfono")],
    ],
)
def test_names_are_known_in_three_languages(name, role):
    values = [100.5 + i for i in range(40)] if role == "weight" else [f"v{i % 25}" for i in range(40)]
    assert guess(**{name: values}) == (role, "name")


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ({"weight": [0.5, 1.5, 2.5]}, ("", "below_1")),
        ({"weight": ["a", "b", "a"]}, ("key_variables", "few")),
        ({"weight": [1.5, None, 2.5]}, ("", "weight_missing")),
        ({"hogar": [1, 2, 3] * 40}, ("key_variables", "few")),
        ({"empty": [None] * 3}, ("", "empty")),
        ({"x": [i / 7 for i in range(40)]}, ("numeric_variables", "quantity")),
        ({"x": list(range(40))}, ("direct_identifiers", "unique")),
        ({"x": [f"t{i // 2}" for i in range(90)]}, ("", "many")),
        ({"x": pd.date_range("2001-01-01", periods=40)}, ("", "date")),
        ({"x": pd.Categorical(["a", "b", "a"])}, ("key_variables", "few")),
        ({"x": [True, False, True]}, ("key_variables", "few")),
    ],
)
def test_shapes_decide_where_names_do_not(column, expected):
    """Without another key variable, columns of few values are taken for keys."""
    assert guess(**column) == expected


def test_a_first_configuration_is_one_that_a_report_takes(capsys, survey, tmp_path):
    code, out, err = call(capsys, survey, "--out", tmp_path / "r.yml")
    assert (code, err) == (0, "")
    config = read_config(tmp_path / "r.yml")
    spec = config.recipe.spec
    assert spec.key_variables == ("enc_region", "rph_edad", "Sexo")
    assert (spec.weight, spec.household) == ("Fact_Pers", "hogar")
    assert spec.direct_identifiers == ("RUT", "Nombre", "card")
    assert spec.released_as_is == ("tam_hogar",)
    config.recipe.check(a_file())


COLUMNS = {
    "region": st.sampled_from("ns"),
    "sex": st.sampled_from("mw"),
    "age": st.integers(20, 23),
    "illness": st.sampled_from("ab"),
    "income": st.integers(1, 90),
    "remark": st.sampled_from(["", "x", "long ago"]),
    "year": st.just(2019),
}


@settings(max_examples=10)
@given(data=st.data(), names=st.lists(st.sampled_from(list(COLUMNS)), min_size=1, unique=True))
def test_what_nobody_has_edited_is_not_met_and_says_something_of_each_column(data, names):
    n = data.draw(st.integers(2, 12))
    frame = pd.DataFrame({name: data.draw(st.lists(COLUMNS[name], min_size=n, max_size=n)) for name in names})
    text = first_config(guess_roles(frame), file="a.csv")
    assert all(f"- {name} " in text for name in names)
    if (settings := parse_yaml(text, "a.yml"))["key_variables"]:
        config = as_config(settings)
        judged = judge(config.recipe.apply(frame), config.limits)
        assert not judged.met
        (row,) = [row for row in judged.to_dict()["limits"] if row["name"] == "unassigned_columns"]
        spec = config.recipe.spec
        assert row["columns"] == [name for name in names if name not in (*spec.variables, *spec.released_as_is)]


@pytest.mark.parametrize("language", ["en", "es"])
def test_nothing_of_the_data_but_names_and_counts(capsys, survey, tmp_path, language):
    code, out, err = call(capsys, survey, "--out", tmp_path / "r.yml", "--language", language)
    text = (tmp_path / "r.yml").read_text("utf-8")
    for told in (text, out, err):
        assert "SECRET" not in told.replace(str(survey.parent), "")
        assert "7000" not in told
    assert str(survey.parent) not in text
    assert f"language: {language}\n" in text
    assert ("conjetura" in text) == (language == "es")
    assert all(name in text for name in EXPECTED)


def test_what_is_printed_is_in_the_language_of_the_configuration(capsys, survey, tmp_path):
    assert run(["init", str(survey), "--language", "es", "--out", str(tmp_path / "es.yml")]) == 0
    head, *_, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["variable", "papel", "tipo", "distintos", "por", "qué"]
    assert last.startswith("escrito: ") and "conjeturas" in last


def test_what_stands_in_comments_can_be_taken_out_of_them(survey, capsys, tmp_path):
    call(capsys, survey, "--out", tmp_path / "r.yml")
    blocks = (tmp_path / "r.yml").read_text("utf-8").split("\n\n")
    settings = [
        block[block.index(mark) :]
        for mark in ("# limits:", "# indicators:", "# steps:")
        for block in blocks
        if mark in block
    ]
    found = parse_yaml("\n".join(line[2:] for line in "\n".join(settings).splitlines()), "text")
    keys = ["enc_region", "rph_edad", "Sexo"]
    config = as_config({**found, "key_variables": keys, "household": "hogar", "numeric_variables": "Ingresos"})
    asked = {"k": 3, "global_risk": 0.02, "numeric_linkage": 0.05, "household_risk": 0.05}
    assert {name: config.limits[name] for name in asked} == asked
    steps = ["recode", "remove_variables", "microaggregate", "shuffle_records", "suppress"]
    assert [name for name, _ in config.recipe.steps] == steps
    assert config.recipe.indicators.design.strata == ("VarStrat",)


@pytest.mark.parametrize(
    ("first", "rows", "names"),
    [
        ("ann,34,flu", "bob,20,cold\neve,41,flu", False),
        ("ann,1984,flu", "bob,1950,cold\neve,2001,flu", False),
        ("ann,3.5", "bob,1\neve,2", False),
        ("ann,-3", "bob,1\neve,2", False),
        ("ann,2019-03-01", "bob,2018-01-02\neve,2020-03-04", False),
        ("1,34", "2,20\n3,41", False),
        ("region,2019,2020", "n,5,7\ns,30000,2", True),
        ("sex,P8_1_1,q2", "m,1,2\nf,2,2", True),
        ("sex,99", "m,1\nf,2", True),
        (",sex,age", "1,m,20\n2,f,30", True),
        ("ann,97,flu", "bob,20,cold\neve,41,flu", False),
        ("ann,97,x", "bob,20,cold\neve,41,flu", False),
        ("ann,2000,x", "bob,1500,cold\neve,3000,flu", False),
        ("ann,south,flu", "bob,north,cold\neve,south,flu", False),
        ("ann,00123", "bob,00456\neve,00789", False),
        ("ann,12345678-9", "bob,22345678-9\neve,32345678-K", False),
        ("ann,12345678Z", "bob,22345678X\neve,32345678K", False),
        ("ann,ann@place.org", "bob,\neve,eve@place.org", False),
        ("sex,P2019", "m,P1\nf,P2", True),
        ("sex,wave2019", "m,a\nf,b", True),
    ],
)
def test_a_first_row_without_names_is_refused_and_not_quoted(capsys, tmp_path, first, rows, names):
    (tmp_path / "a.csv").write_text(f"{first}\n{rows}\n")
    code, out, err = call(capsys, tmp_path / "a.csv", "--out", tmp_path / "r.yml")
    assert (code == 0) is names
    assert (tmp_path / "r.yml").exists() is names
    if not names:
        said = "kanon-lab: a.csv: row 1 holds no names of columns, or one is a number; put names in the first row\n"
        assert (code, out, err) == (2, "", said)


def test_json_holds_the_guesses(capsys, survey, tmp_path):
    code, out, _ = call(capsys, survey, "--out", tmp_path / "r.yml", "--na", "NA", "--json")
    found = json.loads(out)
    assert {row["variable"]: row["role"] for row in found["guesses"]} == EXPECTED
    assert found["file"] == "survey.csv"
    assert read_config(tmp_path / "r.yml").settings["na"] == ["NA"]


def test_codes_that_mean_missing_are_read_so_and_written_down(capsys, tmp_path):
    ages = [*range(20, 60), 999] * 3
    pd.DataFrame({"edad": ages, "sexo": [i % 2 for i in range(len(ages))]}).to_csv(tmp_path / "a.csv", index=False)
    call(capsys, tmp_path / "a.csv", "--out", tmp_path / "before.yml")
    assert "bands" not in (tmp_path / "before.yml").read_text("utf-8").split("# steps:")[1]
    args = (tmp_path / "a.csv", "--out", tmp_path / "r.yml", "--missing-codes")
    code, _, err = call(capsys, *args, "edad=999,x")
    assert (code, err) == (0, "")
    assert read_config(tmp_path / "r.yml").settings["missing_codes"] == {"edad": [999, "x"]}
    assert "bands" in (tmp_path / "r.yml").read_text("utf-8").split("# steps:")[1]
    for wrong in ("edad", "none=3", "=3"):
        code, out, err = call(capsys, tmp_path / "a.csv", "--out", tmp_path / "new.yml", "--missing-codes", wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert not (tmp_path / "new.yml").exists()


def test_what_is_unsure_is_listed(capsys, tmp_path):
    pd.DataFrame({"sexo": [1, 2] * 30, "q1": [1, 2, 3] * 20, "q2": [1, 2, 3, 4] * 15}).to_csv(
        tmp_path / "a.csv", index=False
    )
    _, out, _ = call(capsys, tmp_path / "a.csv", "--out", tmp_path / "r.yml")
    assert "unsure: none or key_variables or sensitive_variables: q1, q2\n" in out


# Without the ends of lines that hardly any program knows, which PyYAML folds.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x85\u2028\u2029")
NAMES = st.text(LETTERS, min_size=1, max_size=150).filter(str.strip)


@settings(max_examples=10)
@given(
    st.lists(
        st.one_of(NAMES, st.sampled_from(["0\xa0", "yes", "2019", "- a", "# b", "a: b", "'", "{", "&x", "~"])),
        unique=True,
    )
)
def test_any_name_of_a_column_is_read_again(names):
    names = list(dict.fromkeys(unicodedata.normalize("NFC", name) for name in names))
    rows = [Guess(name, "text", 2, 0, "key_variables", "few", True, ("weight",), (name,)) for name in names]
    rows += [Guess(f"{name}?", "text", 2, 0, "", "few") for name in names]
    guesses = pd.DataFrame(map(asdict, rows), columns=list(Guess.__dataclass_fields__))
    text = first_config(guesses, file="a.csv")
    found = parse_yaml(text, "text")
    assert found["key_variables"] == names
    assert set(found) == {
        "language",
        "key_variables",
        "direct_identifiers",
        "sensitive_variables",
        "numeric_variables",
        "released_as_is",
    }


def test_without_any_key_the_configuration_says_so():
    """And no release of it meets its limits."""
    frame = pd.DataFrame({"x": ["a"] * 3, "income": [1.5, 2.5, 900.0]})
    config = as_config(parse_yaml(first_config(guess_roles(frame), file="a.csv"), "text"))
    assert config.recipe.spec.key_variables == ()
    protection = config.recipe.apply(frame)
    assert "no_keys" in [getattr(note, "key", "") for note in protection.notes]
    assert not judge(protection, config.limits).met


def test_the_schema_of_a_configuration_is_printed_without_a_file_and_takes_what_init_writes(capsys, survey, tmp_path):
    out = tmp_path / "r.yml"
    assert call(capsys, survey, "--out", out)[0] == 0
    code, printed, err = call(capsys, "--schema")
    assert (code, err) == (0, "")
    written = out.read_text("utf-8")
    assert written.startswith("# yaml-language-server: $schema=kanon-lab.schema.json\n")
    assert "kanon-lab init --schema > kanon-lab.schema.json" in written
    assert Draft202012Validator(json.loads(printed)).is_valid(parse_yaml(written, out))
    code, _, err = call(capsys)
    assert (code, "Missing argument 'FILE'" in err) == (2, True)
