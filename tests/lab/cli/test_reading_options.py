"""``--missing-codes``, and what commands say of how a file was read."""

import json
import zipfile
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
import yaml

from kanon_lab import files
from kanon_lab.cli import run

RECIPE = "key_variables: [region, P3]\nsteps:\n  - suppress: {k_required: $k}\ngrid: {k: [2]}\n"
COMMANDS = {
    "measure": ["--keys", "region,P3"],
    "subsample": ["--keys", "region,P3", "--fraction", "0.5", "--seed", "1"],
    "protect": ["--recipe", "recipe.yml", "--dry-run"],
    "map": ["--recipe", "map.yml", "--workers", "1"],
}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.yml").write_text(RECIPE)
    (tmp_path / "recipe.yml").write_text(RECIPE.split("grid")[0].replace("$k", "2"))
    rows = [f"{['Ñuble', 'Maule'][i % 2]};{[1, 2, 88, 99][i % 4]};{i},5\n" for i in range(200)]
    (tmp_path / "survey.csv").write_bytes(("region;P3;w\n" + "".join(rows)).encode("cp1252"))
    return "survey.csv"


def call(capsys, *args):
    code = run([str(arg) for arg in args])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_codes_and_tells_how_the_file_is_written(capsys, survey, command):
    code, out, err = call(
        capsys,
        command,
        survey,
        *COMMANDS[command],
        "--missing-codes",
        "P3=88,99",
        "--missing-codes",
        "P3 = 77",
        "--json",
    )
    assert (code, err) == (0, "")
    notes = json.loads(out)["notes"]
    # of what is read: measure reads the keys only
    decimal = "" if command == "measure" else "decimal comma, "
    assert f"separator ;, {decimal}encoding cp1252" in notes
    assert "codes 88, 99 of P3: missing" in notes
    assert "P3: no record has code 77, which the settings declare as missing; check the codes" in notes
    code, out, _ = call(capsys, command, survey, *COMMANDS[command])
    assert code == 0
    assert "encoding cp1252" in out
    assert "missing in the file" not in out


def test_codes_count_as_missing(capsys, survey):
    """Regions alternate, so that each has two of the codes 1, 2, 88, 99: with 88 and 99 missing, one and missing."""
    shares = [
        json.loads(call(capsys, "measure", survey, "--keys", keys, "--missing", "category", "--json", *codes)[1])[
            "classes"
        ]
        for keys in ("region,P3", "P3")
        for codes in ([], ["--missing-codes", "P3=88,99"])
    ]
    assert shares == [4, 4, 4, 3]
    frame = pd.DataFrame({"region": [1.0, 1, 2, 2], "P3": [1.0, 88, 99, 7]})
    pyreadstat.write_sav(frame, "a.sav", missing_ranges={"P3": [88, 99]})
    code, out, _ = call(capsys, "measure", "a.sav", "--keys", "region,P3", "--missing-codes", "P3=7")
    assert code == 0
    lost = "missing in the file; cells that lose their code and become missing values: 2"
    assert f"- codes 88, 99 of P3: {lost}\n- code 7 of P3: missing\n" in out


def test_nothing_is_said_of_a_plain_file(capsys, tmp_path):
    pd.DataFrame({"region": ["Ñuble", "Maule"], "w": [1.5, 2]}).to_csv(tmp_path / "a.csv", index=False)
    _, out, _ = call(capsys, "measure", tmp_path / "a.csv", "--keys", "region", "--json")
    assert not [note for note in json.loads(out)["notes"] if "encoding" in note or "separator" in note]


@pytest.mark.parametrize("command", [*COMMANDS, "init", "population", "audit", "report"])
def test_every_command_that_reads_a_table_has_a_limit_of_memory(capsys, survey, tmp_path, command):
    config = "key_variables: [region, P3]\nseparator: ;\n"
    (tmp_path / "report.yml").write_text(config)
    options = COMMANDS | {
        "init": ["--out", "new.yml"],
        "report": ["--config", "report.yml", "--out", "r.html"],
        "audit": ["--source", "gil-bellosta-2011", "--population", survey],
        "population": [],
    }
    file = [] if command == "audit" else [survey]
    before = set(tmp_path.iterdir())
    code, out, err = call(capsys, command, *file, *options[command], "--memory", "1kB")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "survey.csv: reading it would take more than 1,000 bytes of memory" in err
    assert {path.name for path in set(tmp_path.iterdir()) - before} <= {"r.failed.ipynb"}
    assert files.fits(files.MAX_BYTES)  # the limit goes with the command


def test_a_limit_may_be_raised(capsys, survey):
    assert call(capsys, "measure", survey, *COMMANDS["measure"], "--memory", "1 gb".replace(" ", ""))[0] == 0


NUMBERS = ["NA" if i == 209 else str(20 + i % 60) for i in range(300)]


@pytest.fixture
def ages(tmp_path, monkeypatch):
    """300 ages, and NA in row 211."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"age": NUMBERS, "sex": ["m", "f"] * 150}).to_csv("ages.csv", index=False)
    return "ages.csv"


@pytest.mark.parametrize("language", ["en", "es"])
def test_init_has_the_notes_on_reading_on_the_terminal_in_json_and_in_the_file(capsys, ages, language):
    noted = {"en": "NA is taken as a value", "es": "NA se toma como un valor"}
    reason = {"en": "since 1 of its cells", "es": "porque 1 de sus celdas"}
    code, out, _ = call(capsys, "init", ages, "--out", "a.yml", "--language", language)
    assert code == 0 and f"age: {noted[language]}" in out and reason[language] in out
    written = Path("a.yml").read_text()
    assert noted[language] in written
    assert yaml.safe_load(written)["language"] == language
    code, out, _ = call(capsys, "init", ages, "--out", "b.yml", "--json")
    assert code == 0 and any("age: NA is taken as a value" in note for note in json.loads(out)["notes"])
    code, out, _ = call(capsys, "init", ages, "--out", "c.yml", "--na", "NA", "--json")
    assert json.loads(out)["notes"] == [] and "taken as a value" not in Path("c.yml").read_text()


STEPS = (
    "recode: {variable: age, bands: [0, 40, null]}",
    "recode: {variable: age, width: 10}",
    "recode: {variable: age, hierarchy: {widths: [5, 10], from: 0, to: 100}, level: 1}",
    "round: {variable: age, base: 5}",
    "top_code: {variable: age, above: 70}",
    "microaggregate: {variables: [age], k_required: 3}",
)


@pytest.mark.parametrize("lines", [*(f"steps: [{step}]" for step in STEPS), "numeric_variables: [age]", "weight: age"])
def test_the_message_names_the_cell_that_is_no_number(capsys, ages, lines):
    keys = "[sex]" if "numeric" in lines or "weight" in lines else "[sex, age]"
    Path("r.yml").write_text(f"key_variables: {keys}\n{lines}\n".replace("steps: [", "steps:\n  - ").replace("}]", "}"))
    code, _, err = call(capsys, "protect", ages, "--recipe", "r.yml", "--dry-run")
    assert code == 2 and "row 211:" in err and "more)" not in err
    if "weight" not in lines:  # which may not be missing either
        assert "--na NA" in err and 'na: ["NA"]' in err
        code, _, err = call(capsys, "protect", ages, "--recipe", "r.yml", "--dry-run", "--na", "NA")
        assert code == 0 or "microaggregate" in lines


@pytest.mark.parametrize(("cell", "quoted"), [("N/A", True), ("ninety", False), ("unknown", False)])
def test_other_cells_are_not_quoted_and_decimal_commas_are_numbers(capsys, tmp_path, monkeypatch, cell, quoted):
    monkeypatch.chdir(tmp_path)
    rows = [f"{cell if i == 57 else f'{i},5'};{'mf'[i % 2]}" for i in range(100)]
    Path("a.csv").write_text("\n".join(["income;sex", *rows]))
    Path("r.yml").write_text("key_variables: [sex]\nnumeric_variables: [income]\n")
    code, _, err = call(capsys, "protect", "a.csv", "--recipe", "r.yml", "--dry-run")
    assert code == 2 and "row 59: " in err and (cell in err) == quoted and "--na" in err
    code, out, _ = call(capsys, "measure", "a.csv", "--keys", "income", "--json")
    assert any("since 1 of its cells" in note for note in json.loads(out)["notes"])


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize(
    "first", ["{variable: age, width: 10}", "{variable: age, bands: [0, 30, null], labels: [a, b]}"]
)
def test_what_a_step_made_text_of_is_not_blamed_on_a_cell(capsys, ages, first, engine):
    Path("r.yml").write_text(
        f"key_variables: [age]\nna: [NA]\nsteps:\n  - recode: {first}\n  - recode: {{variable: age, width: 20}}\n"
    )
    code, _, err = call(capsys, "protect", ages, "--recipe", "r.yml", "--dry-run", "--out", "x.csv", "--engine", engine)
    assert code == 2 and "since step 1 (recode)" in err and "row" not in err


def test_widths_that_do_not_nest_are_allowed_by_a_setting(capsys, ages):
    step = "recode: {variable: age, hierarchy: {widths: [5, 7], from: 0, to: 105%s}, level: 2}"
    recipe = "key_variables: [age]\nna: [NA]\nsteps:\n  - "
    Path("r.yml").write_text(recipe + step % "")
    code, _, err = call(capsys, "protect", ages, "--recipe", "r.yml", "--dry-run")
    assert code == 2 and "set nested: false" in err
    Path("r.yml").write_text(recipe + step % ", nested: false")
    assert call(capsys, "protect", ages, "--recipe", "r.yml", "--dry-run")[0] == 0


@pytest.mark.parametrize("married", ["married", "sex", "age"])
@pytest.mark.parametrize("others", [("sex", "age"), ("grupo", "n_total")])
def test_a_name_that_is_one_of_its_values_is_a_name(capsys, tmp_path, monkeypatch, married, others):
    if married in others:
        return
    monkeypatch.chdir(tmp_path)
    rows = [f"{'mf'[i % 2]},{30 + i % 9},{married if i % 3 else 'single'}" for i in range(40)]
    Path("a.csv").write_text("\n".join([",".join([*others, married]), *rows]))
    code, out, err = call(capsys, "init", "a.csv", "--json")
    assert code == 0, err
    assert [row["variable"] for row in json.loads(out)["guesses"]] == [*others, married]


@pytest.mark.parametrize("first", ["m,31,married", "m,NA,married", "f,-,single"])
def test_a_first_row_of_data_is_still_refused(capsys, tmp_path, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    rows = [f"{'mf'[i % 2]},{30 + i % 9},{'married' if i % 3 else 'single'}" for i in range(40)]
    Path("a.csv").write_text("\n".join([first, *rows]))
    code, _, err = call(capsys, "init", "a.csv")
    assert code == 2 and "row 1 holds no names" in err and "married" not in err


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_sign_between_thousands_is_an_option_and_a_setting(capsys, tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("zone;pay\nN;1.000\nN;1000\nS;2.500\n")
    more = ("--keys", "pay", "--thousands", ".", "--engine", engine, "--json")
    code, out, _ = call(capsys, "measure", "a.csv", *more)
    assert code == 0 and json.loads(out)["classes"] == 2
    Path("r.yml").write_text("key_variables: [pay]\nthousands: '.'\nsteps:\n  - round: {variable: pay, base: 5000}\n")
    assert call(capsys, "protect", "a.csv", "--recipe", "r.yml", "--out", "o.csv", "--engine", engine)[0] == 0
    assert [line.split(";" if engine == "duckdb" else ",")[1] for line in Path("o.csv").read_text().split()[1:]] == [
        "0",
        "0",
        "0",
    ]
    assert call(capsys, "init", "a.csv", "--thousands", ".", "--json")[0] == 0


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """The same four records in several files."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"sex": ["m", "f", "m", "f"], "age": [31, 42, 31, 42]})
    frame.to_csv("a.csv", index=False)
    frame.to_csv("a.tsv", sep="\t", index=False)
    frame.to_csv("a.tsv.gz", sep="\t", index=False)
    with pd.ExcelWriter("a.xlsx") as book:
        pd.DataFrame({"about": []}).to_excel(book, sheet_name="2", index=False)
        frame.to_excel(book, sheet_name="Data", index=False)
    for name, members in {
        "a.zip": ["a.csv"],
        "t.zip": ["a.tsv"],
        "two.zip": ["a.csv", "a.tsv"],
        "x.zip": ["a.xlsx"],
    }.items():
        with zipfile.ZipFile(name, "w") as archive:
            for member in members:
                archive.write(member)
            archive.writestr("__MACOSX/._a.csv", "x")
    Path("cut.zip").write_bytes(Path("a.zip").read_bytes()[:80])
    Path("a.dat").write_text("m31\nf42\n")
    Path("r.yml").write_text("key_variables: [sex, age]\n")


@pytest.mark.parametrize("file", ["a.csv", "a.tsv", "a.tsv.gz", "a.zip", "t.zip", "a.xlsx"])
def test_other_files_of_cells_are_read_alike(capsys, packed, file):
    sheet = ["--sheet", "Data"] if file == "a.xlsx" else []
    code, out, err = call(capsys, "measure", file, "--keys", "sex,age", "--json", *sheet)
    assert code == 0 and json.loads(out)["k_achieved"] == 2, err
    if sheet:
        Path("r.yml").write_text("key_variables: [sex, age]\nsheet: Data\n")
    assert call(capsys, "protect", file, "--recipe", "r.yml", "--out", "o.csv", "--overwrite")[0] == 0
    assert Path("o.csv").read_text() == Path("a.csv").read_text()
    assert call(capsys, "init", file, *sheet)[0] == 0
    assert yaml.safe_load(Path("report.yml").read_text()).get("sheet") == (sheet[1] if sheet else None)


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("two.zip", (), "holds 2 files, and one .csv or .tsv is needed"),
        ("x.zip", (), "holds 1 file, and one .csv or .tsv is needed"),
        ("cut.zip", (), "cut short or damaged"),
        ("a.dat", (), "pandas.read_fwf('a.dat', widths=[...], names=[...], dtype=str).to_csv('a.csv', index=False)"),
        ("a.csv", ("--sheet", "1"), "has no sheets"),
        ("a.xlsx", (), "(of 2 sheets only the first is read; --sheet names another)"),
        ("a.xlsx", ("--sheet", "2"), "has no records"),  # its name comes before its number
        ("a.xlsx", ("--sheet", "3"), "no sheet 3; it has 2, Data"),
    ],
)
def test_what_is_not_read_says_what_to_do(capsys, packed, file, options, message):
    code, _, err = call(capsys, "init", file, *options)
    assert code == 2 and message in err and err.count("\n") == 1
