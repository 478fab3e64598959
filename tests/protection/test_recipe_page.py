"""The page of recipes in the book: its examples run, and it names every setting that there is, and no other."""

import re

import pytest
from pages import PAGES, tables

from kanon_lab import load_microdata
from kanon_lab.cli import run
from kanon_lab.errors import OptionError
from kanon_lab.keys import KeySpec
from kanon_lab.protection import STEPS, as_indicators, as_recipe, protect, read_recipe
from kanon_lab.protection.recipe import HOUSEHOLD_SETTINGS, RECIPE_SETTINGS
from kanon_lab.protection.yaml_file import read_yaml
from kanon_lab.recode import RECODE_STEPS
from kanon_lab.recode.configuration import HIERARCHY_KINDS, hierarchies
from kanon_lab.tradeoff import MEASURES, risk_utility_map

PAGE = PAGES["recipes.md"]
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
WHOLE = [block for block in BLOCKS if not block.startswith("-") and "grid:" not in block]
(GRID,) = [block for block in BLOCKS if "grid:" in block]
STEPS_ALONE = [line for block in BLOCKS if block.startswith("-") for line in block.splitlines()]
SPEC = KeySpec(["age", "sex", "education"], weight="weight", household="household")
PERTURBING = ("pram", "microaggregate", "add_noise", "rank_swap", "shuffle")
RECODINGS = ("bands", "width", "groups", "dates", "hierarchy")


@pytest.fixture
def read(tmp_path):
    (tmp_path / "education.csv").write_text(re.search(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)[1])

    def _read(text, reader=read_yaml):
        (tmp_path / "recipe.yml").write_text(text)
        return reader(tmp_path / "recipe.yml")

    return _read


TABLES = tables(PAGE)
FILE = TABLES["Settings of the file"]


def names(rows, column="Setting"):
    return [row[column].strip("`") for row in rows]


def known(function, *arguments):
    """The settings that are listed where an unknown one is refused."""
    with pytest.raises(OptionError, match="unknown setting qqqq; there are ") as caught:
        function(*arguments)
    return set(str(caught.value).split("there are ")[1].split(", "))


@pytest.mark.parametrize("block", WHOLE)
def test_every_recipe_runs(read, block):
    recipe = read(block, read_recipe)
    chain = recipe.apply(load_microdata("health-survey"))
    assert all(step.records_touched for step in chain.steps)
    policy = recipe.spec.missing
    assert chain.start.measured.violations[policy][recipe.k_required] > 0
    if any(name == "suppress" for name, _ in recipe.steps):
        assert chain.state.measured.violations[policy][recipe.k_required] == 0


def test_every_recipe_of_the_grid_can_be_applied(read):
    found = risk_utility_map(load_microdata("health-survey"), read(GRID), workers=1, progress=False)
    assert len(found.points) == 3 * 2 * 2
    assert found.points["error"].isna().all()
    assert set(found.points["ages"]) == {"ten years", "twenty years"}


def test_the_page_lists_every_measure_of_a_map():
    rows = {row["Name"].strip("`"): row["Kind"] for row in TABLES["Many recipes at once"]}
    assert rows == {name: measure.kind for name, measure in MEASURES.items()}


@pytest.mark.parametrize("text", [PAGE, PAGES["README.md"]])
def test_the_command_for_the_grid_finds_a_recipe(read, text, tmp_path, monkeypatch):
    read(GRID)
    (tmp_path / "recipe.yml").rename(tmp_path / "map.yml")
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^kanon-lab (map .*)$", text, re.MULTILINE)
    assert run(command.split()) == 0
    assert run("protect health-survey --recipe chosen.yml --dry-run".split()) == 0


def test_the_first_recipe_protects_what_the_page_says(read):
    chain = read(WHOLE[0], read_recipe).apply(load_microdata("health-survey"))
    assert {"weight", "birth_date"}.isdisjoint(chain.frame.columns)
    assert chain.frame["postcode"].dropna().str.fullmatch(r"\d\d\*\*\*").all()
    assert chain.steps[-2].suppressed["postcode"] == 0
    assert chain.frame["income"].max() == 6000


@pytest.mark.parametrize("line", STEPS_ALONE)
def test_every_step_runs(read, line):
    ((name, settings),) = read(f"key_variables: [age]\nsteps:\n{line}\n", read_recipe).steps
    chain = protect(load_microdata("health-survey"), SPEC).apply(name, settings)
    assert chain.steps[0].records_touched


def test_every_step_and_every_way_to_recode_has_its_example():
    steps = " ".join(STEPS_ALONE)
    assert {name for name in STEPS if f"- {name}:" in steps} == set(STEPS) - {"household_level"}
    assert all(f"{kind}: " in steps for kind in (*RECODINGS, "mapping", "file", "widths"))


def test_settings_of_the_file():
    assert names(FILE) == list(RECIPE_SETTINGS)
    assert {row["Household level"] for row in FILE} == {"own", "same", "no"}
    assert names([row for row in FILE if row["Household level"] != "no"]) == list(HOUSEHOLD_SETTINGS)


def test_what_holds_unless_it_is_given(read):
    least = as_recipe({"key_variables": ["age"]})
    for row in FILE[1:]:
        name, given = row["Setting"].strip("`"), read(f"a: {row['Unless given'].strip('`')}\n")["a"]
        if name != "household_level":
            value = getattr(least.spec, name) if hasattr(least.spec, name) else getattr(least, name)
            assert (list(value) if isinstance(value, tuple) else value) == given, name


@pytest.mark.parametrize("row", FILE, ids=names(FILE))
def test_every_example_of_a_setting_is_taken(read, row):
    settings = read(row["Example"].strip("`") + "\n")
    assert list(settings) == names([row])
    as_recipe({"key_variables": ["age"], **settings})


def test_every_example_of_a_setting_of_a_step_is_one(read):
    for heading, rows in TABLES.items():
        for row in rows if heading != "Many recipes at once" else ():
            assert list(read(row["Example"].strip("`") + "\n")) == names([row]), heading


def pairs(rows, kinds):
    """Setting and what it goes with."""
    found = set()
    for row in rows:
        for other in re.findall(r"`(\w+)`", row["Goes with"]) or (kinds if row["Goes with"] == "all" else []):
            found.add((row["Setting"].strip("`"), other))
    return found


def test_settings_of_recode():
    rows = TABLES["recode"]
    survey = load_microdata("health-survey")
    accepted = {("variable", kind) for kind in RECODINGS}
    for kind in RECODINGS:
        others = known(RECODE_STEPS["recode"], survey, {"variable": "age", kind: None, "qqqq": 1})
        accepted |= {(name, kind) for name in others - {kind}}
    assert pairs(rows, RECODINGS) == accepted
    assert set(names(rows)) == {name for name, _ in accepted} | set(RECODINGS)


def test_settings_of_hierarchies():
    rows = TABLES["recode inside"]
    accepted = set()
    for kind in HIERARCHY_KINDS:
        accepted |= {(name, kind) for name in known(hierarchies, {"age": {kind: None, "qqqq": 1}}) - {kind}}
    assert pairs(rows, HIERARCHY_KINDS) == accepted
    assert set(names(rows)) == {name for name, _ in accepted} | set(HIERARCHY_KINDS)


def test_settings_of_the_other_steps():
    survey = load_microdata("health-survey")
    tails = pairs(TABLES["top_code and bottom_code"], ("top_code", "bottom_code"))
    for name in ("top_code", "bottom_code"):
        others = known(RECODE_STEPS[name], survey, {"variable": "age", "qqqq": 1})
        assert {setting for setting, step in tails if step == name} == others | {"variable"}
    assert set(names(TABLES["round"])) == known(RECODE_STEPS["round"], survey, {"variable": "age", "qqqq": 1}) | {
        "variable"
    }
    others = (
        "suppress",
        "suppress_risk",
        "remove_variables",
        "shuffle_members",
        "shuffle_records",
        "renumber",
        *PERTURBING,
    )
    for name in others:
        accepted = known(protect(survey, SPEC).apply, name, {"qqqq": 1})
        assert set(names(TABLES[name])) == accepted - (set() if STEPS[name].random else {"seed"}), name
    assert set(STEPS) == {*RECODE_STEPS, *others, "household_level"}


def test_settings_of_indicators():
    assert set(names(TABLES["Indicators"])) == known(as_indicators, {"qqqq": 1})
