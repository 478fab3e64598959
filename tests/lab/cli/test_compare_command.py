"""``kanon-lab compare``."""

import json

import pandas as pd
import pytest

from kanon_lab.cli import run

CONTRACT = "records k_joint shown_in_one only_in_one k_achieved violations classes differing crossing notes".split()
OLD = pd.DataFrame(
    {
        "id": ["p1", "p2", "p3", "p4", "p5", "p6"],
        "zone": ["SECRETN", "SECRETN", "SECRETN", "SECRETS", None, "SECRETS"],
        "age": ["0-14", "0-14", "0-14", "15-29", "15-29", "15-29"],
    }
)
NEW = pd.DataFrame(
    {
        "id": ["p7", "p2", "p3", "p4", "p5", "p6"],
        "zone": ["SECRETN", None, "SECRETN", "SECRETS", "SECRETS", "SECRETS"],
        "age": ["0-9", "0-9", "10-29", "10-29", "10-29", "10-29"],
    }
)


@pytest.fixture
def files(tmp_path):
    OLD.to_csv(tmp_path / "old.csv", index=False)
    NEW.to_parquet(tmp_path / "new.parquet")
    return str(tmp_path / "old.csv"), str(tmp_path / "new.parquet")


def test_json_of_linked_editions(files, capsys):
    assert run(["compare", *files, "--keys", "zone,age", "--id", "id", "--k", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {*CONTRACT} <= {*result}
    assert result["records"] == {"old": 6, "new": 6, "both": 5} and result["linked_by"] == "id"
    assert result["only_in_one"] == {"old": 1, "new": 1}
    assert result["shown_in_one"] == {"zone": {"only_old": 1, "only_new": 1}, "age": {"only_old": 0, "only_new": 0}}
    # who was 0-14 and is now 10-29 is alone; so is who was 0-14 and is now 0-9
    assert (result["k_joint"], result["k_with"], result["violations"]["joint"]) == (1, 1, {"2": 2})
    assert result["notes"][0].startswith("age: no value is in both editions")
    assert result["crossing"] == {"age": {"bands": 1, "narrowest": 5, "fewest": None}}


def test_text_has_counts_only_and_fails_below_k(files, capsys):
    assert run(["compare", *files, "--keys", "zone,age", "--id", "id", "--fail-under-k", "2"]) == 1
    out, err = capsys.readouterr()
    assert "persons in both: 5" in out and "all, for an intruder who has both" in out
    assert "SECRET" not in out + err and "0-14" not in out and "p1" not in out
    assert err == "kanon-lab: old.csv with new.parquet: k is 1, below 2 (--fail-under-k)\n"


def test_without_a_link_the_same_number_is_said(files, capsys):
    assert run(["compare", *files, "--keys", "zone", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["linked_by"], result["k_joint"], result["only_in_one"]) == (None, None, None)
    assert any("--same-order" in note for note in result["notes"])
    assert run(["compare", *files, "--keys", "zone", "--same-order", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"]["both"] == 6


def test_a_configuration_has_keys_and_the_identifier(files, tmp_path, capsys):
    (tmp_path / "r.yml").write_text(
        "{key_variables: [zone, age], missing: category, earlier_release: {file: old.csv, id: id}, "
        "missing_codes: {other: [9]}}"
    )
    assert run(["compare", *files, "--config", str(tmp_path / "r.yml"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["keys"], result["missing"], result["id"]) == (["zone", "age"], "category", "id")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--keys", "zone", "--id", "ident"], "old.csv: column ident is not there; check the name"),
        (["--keys", "zones"], "old.csv and new.parquet: column zones is in neither; did you mean zone?"),
        (["--keys", "age", "--id", "zone"], "old.csv: column zone: row 6: no identifier; fill it in, or drop"),
        (["--keys", "zone", "--id", "age"], "old.csv: column age: row 3 (and 3 more): an identifier that an earlier"),
        ([], "name the key variables (--keys), or a configuration that has them (--config)"),
    ],
)
def test_faults_are_one_line_with_the_file_and_the_row(files, arguments, fault, capsys):
    assert run(["compare", *files, *arguments]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith(f"kanon-lab: {fault}") and err.count("\n") == 1


def test_persons_are_counted_where_records_share_an_identifier(tmp_path, capsys):
    panel = pd.DataFrame({"p": [1, 1, 2, 2, 3], "year": [1, 2, 1, 2, 1], "zone": [*"SSSTS"]})
    old, new, config = (str(tmp_path / name) for name in ("old.csv", "new.csv", "r.yml"))
    panel.to_csv(old, index=False)
    panel[1:].assign(zone=[*"STTS"]).to_csv(new, index=False)
    assert run(["compare", old, new, "--keys", "zone", "--id", "p"]) == 2
    assert "an identifier that an earlier row has" in (err := capsys.readouterr().err) and "--person" in err
    assert run(["compare", old, new, "--keys", "zone", "--person", "p", "--id", "p", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    # 1 and 3 have S in both editions; 2 has S, then T
    assert (result["linked_by"], result["person"], result["k_joint"]) == ("person", "p", 1)
    assert (result["persons"], result["records"]["both"]) == ({"old": 3, "new": 3, "both": 3}, None)
    assert result["k_achieved"] == {"old": 1, "new": 1} and result["uniques"]["joint"] == 1
    (tmp_path / "r.yml").write_text("{key_variables: [zone], person: p, earlier_release: {file: old.csv, id: year}}")
    assert run(["compare", old, new, "--config", config, "--fail-under-k", "2"]) == 1
    out = capsys.readouterr().out
    assert "by p; persons in both: 3" in out and "persons of OLD, by OLD alone" in out and "Notes" not in out
