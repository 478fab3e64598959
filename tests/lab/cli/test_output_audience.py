"""What commands print for the office says so, and errors do not tell where files lie."""

import json

import pandas as pd
import pytest

from kanon_lab.cli import run
from kanon_lab.cli.options import without_folders

RECIPE = """
key_variables: [a]
numeric_variables: [q]
indicators: {means: [q], rates: {b: [x]}, by: [a]}
steps:
- suppress: {k_required: 5}
"""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "secretplace"
    place.mkdir()
    rows = [(f"g{min(i % 17, 3)}", "x" if i % 5 else "rareone", 1000 + 37.25 * i) for i in range(200)]
    pd.DataFrame(rows, columns=["a", "b", "q"]).to_csv(place / "f.csv", index=False)
    (place / "r.yml").write_text(RECIPE, "utf-8")
    (place / "m.yml").write_text(f"{RECIPE.replace('k_required: 5', 'k_required: $k')}grid: {{k: [2, 3]}}\n", "utf-8")
    return place


def commands(folder):
    file = str(folder / "f.csv")
    return [
        ["measure", file, "--keys", "a"],
        ["subsample", file, "--keys", "a", "--fraction", "0.5"],
        ["protect", file, "--recipe", str(folder / "r.yml"), "--dry-run"],
        ["map", file, "--recipe", str(folder / "m.yml"), "--workers", "1"],
    ]


def test_exact_numbers_are_marked_as_those_of_the_office(folder, capsys):
    for command in commands(folder):
        assert run(command) == 0
        assert capsys.readouterr().out.splitlines()[0].endswith("(for the office only)")
        assert run([*command, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["audience"] == "office"


def test_protect_prints_no_estimate_and_no_category_of_few(folder, capsys):
    """Attack: with the estimates before and after, and released weights, one filling of suppressed cells fits."""
    frame = pd.read_csv(folder / "f.csv")
    assert run(commands(folder)[2]) == 0
    text = capsys.readouterr().out
    means = [frame["q"].mean(), *frame.groupby("a")["q"].mean()]
    assert not [mean for mean in means if f"{mean:.4g}" in text.split()]
    assert "rareone" not in text


@pytest.mark.parametrize("change", ["f.csv", "r.yml", "m.yml", "keys"])
def test_errors_call_files_by_their_names(folder, capsys, change):
    """Attack: the path as typed, with the folders of whoever ran it, in what is mailed when something fails."""
    if change == "keys":
        (folder / "f.csv").write_text("other\n1\n", "utf-8")
    else:
        (folder / change).unlink()
    failed = [command for command in commands(folder) if run(command) == 2]
    err = capsys.readouterr().err
    assert failed and err.count("\n") == len(failed)
    assert "secretplace" not in err and (change == "keys" or change in err)


def test_folders_go_and_nothing_else():
    assert without_folders("d/a.csv: bad; see data/d/x", "d/a.csv") == "a.csv: bad; see data/d/x"
    assert without_folders("./d/a.csv and d/h.csv", "./d/a.csv") == "a.csv and h.csv"
    assert without_folders("a.csv: bad", "a.csv", None) == "a.csv: bad"
