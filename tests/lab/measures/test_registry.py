"""The table of measures: what every row says, and that a new one is seen everywhere without more."""

import json
import subprocess
import sys
from string import Formatter

import pytest

from kanon_lab.measures.registry import LIMITS, MEASURES, find_measure, measures
from kanon_lab.recipes import as_recipe, protect


def holes(text):
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name)


@pytest.mark.parametrize("row", MEASURES.values(), ids=MEASURES)
def test_every_row_is_worded_in_both_languages_with_the_same_parts(row):
    at_five = row.at(5).called
    for say in (row.called, row.cost_called, at_five):
        assert say("en").strip() and say("es").strip()
        assert say("en").count("#") == say("es").count("#") == (row.levels != "" and say is not at_five)
    if row.limit is not None:
        assert holes(row.advice("en")) == holes(row.advice("es"))
        assert {"value", "limit"} <= {*holes(row.advice("en"))} or row.name == "k_achieved"
        assert row.limit_called("es", variable="illness", level="5%")
        axis = row.kind in ("risk", "loss") and row.is_shown("state")
        assert not axis or row.limit.bound == "at most" or row.kept, "on the map less is better: give `kept`"


def test_limits_go_by_their_own_names():
    assert LIMITS["k"] is MEASURES["k_achieved"] and LIMITS["above_risk"] is MEASURES["above_#"]
    assert all(LIMITS[row.limit.name or row.name] is row for row in MEASURES.values() if row.limit)


def test_every_measure_of_a_state_is_a_row_under_its_name():
    import pandas as pd

    frame = pd.DataFrame({"a b": [1, 1, 2, 3], "h": [1, 1, 2, 2], "x": [1.0, 2.0, 4.0, 8.0]})
    recipe = as_recipe({"key_variables": "a b", "household": "h", "numeric_variables": "x", "risks": [0.05, 1e-5]})
    values = protect(frame, recipe.spec, **recipe.measured).state.measured.values
    assert {find_measure(name).name for name in values} == {
        row.at(level).name
        for row in measures(shown="state")
        if row.needs != "population"
        for level in {"k": (2, 3, 5), "risks": (0.05, 1e-5), "keys": ("a b",)}.get(row.levels, ("",))
    }


TOY = '''
import json, sys
from pathlib import Path
from kanon_lab.measures.registry import Limit, Measure, register


def smallest_share(found):
    """The share of the file that its smallest class is."""
    return found.table.k_achieved / found.table.n


register(
    Measure(
        "smallest_share", "risk", ("share of the smallest class", "proporción de la clase menor"), smallest_share,
        unit="share", shown="file state summary steps utility", rounding="risk",
        kept=("share outside the smallest class", "proporción fuera de la clase menor"),
        limit=Limit(
            "at least", "is met when the smallest class is at least this share of the file", "0.1",
            ("The smallest class is {value} of the file, and {limit} was wanted.",
             "La clase menor es el {value} del archivo y se exigía {limit}."),
        ),
    )
)

import pandas as pd
from kanon_lab.cli import run
from kanon_lab.recipes.plan import config_schema, filled
from kanon_lab.report import analyse, as_config
from kanon_lab.report.sections import section

file = sys.argv[1]
settings = {"key_variables": ["a"], "limits": {"smallest_share": 0.3}}
recipe = Path(file).with_name("r.yml")
recipe.write_text(json.dumps(settings))
grid = Path(file).with_name("map.yml")
grid.write_text(json.dumps(settings | {"steps": [{"recode": {"variable": "a", "width": "$w"}}], "grid": {"w": [2, 4]}}))


def told(*arguments):
    print("\\0", flush=True)
    code = run([*arguments])
    print("\\0", code, "\\0", flush=True)


told("measure", file, "--keys", "a", "--json")
told("measure", file, "--keys", "a")
told("protect", file, "--recipe", str(recipe), "--dry-run", "--json")
told("map", file, "--recipe", str(grid), "--risk", "smallest_share", "--at-most", "0.9")
found = analyse(pd.read_csv(file), as_config(settings), name="x")
for name in ("summary", "recipe", "utility"):
    for language in ("en", "es"):
        print("\\0", " ".join(part.html for part in section(found, name, language)), "\\0")
print("\\0", filled("```{settings} limits\\n```\\n"), filled("```{settings} measures\\n```\\n"), "\\0")
print("\\0", json.dumps(config_schema()["$defs"]["limits"]["properties"]["smallest_share"]), "\\0")
'''


def test_a_new_measure_is_a_function_and_a_row_and_is_seen_everywhere(tmp_path):
    """In another process, since a row is read when the package is imported."""
    file = tmp_path / "x.csv"
    file.write_text("a\n" + "\n".join(map(str, [1, 1, 2, 2, 3, 3, 3, 3, 5, 5])) + "\n")
    done = subprocess.run([sys.executable, "-c", TOY, str(file)], capture_output=True, text=True, check=True)
    parts = [part.strip() for part in done.stdout.split("\0") if part.strip()]
    as_json, code, text, _, protected, _, mapped, map_code, *pages = parts
    assert json.loads(as_json)["smallest_share"] == 0.2 and code == "0"
    assert "share of the smallest class" in text and "20%" in text
    result = json.loads(protected)
    assert result["before"]["risk"]["smallest_share"] == 0.2
    (row,) = [row for row in result["limits"] if row["name"] == "smallest_share"]
    assert (row["name"], row["value"], row["met"], row["bound"]) == ("smallest_share", 0.2, False, "at least")
    assert "risk: smallest_share (share outside the smallest class)" in mapped
    assert map_code == "1" and "smallest_share: at least 30% is wanted, the best 20%" in done.stderr
    *sections, tables, described = pages
    for english, spanish in zip(sections[::2], sections[1::2], strict=True):
        assert "share of the smallest class" in english and "proporción de la clase menor" in spanish
    assert "The smallest class is 20% of the file, and 30% was wanted." in sections[0]
    assert "La clase menor es el 20\xa0% del archivo y se exigía 30\xa0%." in sections[1]
    assert "`smallest_share`" in tables and "at least this share of the file" in tables
    assert "| `smallest_share` | share outside the smallest class | risk |" in tables
    assert "at least this share" in json.loads(described)["description"]
