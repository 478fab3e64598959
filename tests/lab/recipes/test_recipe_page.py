"""The page of recipes in the book: its examples run, and its commands."""

import re

import pytest
from pages import PAGES, tables

from kanon_lab import load_microdata
from kanon_lab.cli import run
from kanon_lab.methods.recode_settings import Recode
from kanon_lab.recipes import MEASURES, STEPS, protect, read_recipe, risk_utility_map
from kanon_lab.recipes.yaml_file import read_yaml
from kanon_lab.roles import KeySpec

PAGE = PAGES["recipes.md"]
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
WHOLE = [block for block in BLOCKS if not block.startswith("-") and "grid:" not in block]
(GRID,) = [block for block in BLOCKS if "grid:" in block]
STEPS_ALONE = [line for block in BLOCKS if block.startswith("-") for line in block.splitlines()]
SPEC = KeySpec(["age", "sex", "education"], weight="weight", household="household")


@pytest.fixture
def read(tmp_path):
    (tmp_path / "education.csv").write_text(re.search(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)[1])

    def _read(text, reader=read_yaml):
        (tmp_path / "recipe.yml").write_text(text)
        return reader(tmp_path / "recipe.yml")

    return _read


TABLES = tables(PAGE)


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


@pytest.mark.slow  # the test before has the same grid
def test_the_command_for_the_grid_finds_a_recipe(read, tmp_path, monkeypatch):
    read(GRID)
    (tmp_path / "recipe.yml").rename(tmp_path / "map.yml")
    monkeypatch.chdir(tmp_path)
    (command,) = re.findall(r"^kanon-lab (map .*)$", PAGE, re.MULTILINE)
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
    ((name, settings),) = read(f"key_variables: [age, sex, education]\nsteps:\n{line}\n", read_recipe).steps
    chain = protect(load_microdata("health-survey"), SPEC).apply(name, settings)
    assert chain.steps[0].records_touched, f"{line} changes nothing in health-survey"


def test_every_step_and_every_way_to_recode_has_its_example():
    steps = " ".join(STEPS_ALONE)
    lacking = {name for name in STEPS if f"- {name}:" not in steps}
    assert lacking == {"household_level"}, "each of them needs an example in book/recipes.md"
    assert all(f"{kind}: " in steps for kind in (*Recode.kinds, "mapping", "file", "widths"))
