"""``--missing-codes``, and what commands say of how a file was read."""

import json

import pandas as pd
import pyreadstat
import pytest

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
    assert "P3: no record has code 77, which the settings declare to mean missing; check the codes" in notes
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
