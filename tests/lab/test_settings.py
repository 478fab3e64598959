"""Models of settings: each example is taken, each fault is one line, and what pages and editors are told is true."""

import inspect
import re

import pytest
import yaml
from cases import in_one_test
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pages import PAGES, blocks

from kanon_lab import methods
from kanon_lab.errors import KanonLabError, OptionError
from kanon_lab.methods.recode_settings import RECODINGS
from kanon_lab.recipes import STEPS, as_recipe
from kanon_lab.recipes.plan import MODELS, config_schema, filled, household_plan
from kanon_lab.recipes.settings import HouseholdLevel, RecipeSettings
from kanon_lab.recipes.yaml_file import parse_yaml
from kanon_lab.report import as_config
from kanon_lab.settings import read, row_of

# What else must be said for a setting to stand beside it; by model, and by its kinds.
BESIDE = {
    "recipe": {"key_variables": ["age"], "household": "household", "sensitive_variables": ["diagnosis"]},
    "recode": {"variable": ["age"]},
    "top_code": {"variable": "age", "above": 70},
    "bottom_code": {"variable": "age", "below": 5},
    "round": {"variable": "age", "base": 5},
    "suppress": {"k_required": 3},
    "suppress_risk": {"threshold": 0.1, "variables": "age"},
    "microaggregate": {"variables": "age", "k_required": 3},
    "indicators": {"means": "income"},
    "earlier_release": {"file": "last_year.csv"},
    "map": {"grid": {"k": [2]}},
}
BESIDE["report"] = BESIDE["recipe"]
KINDS = {
    "recode": {
        "bands": {"bands": [0, 15, 65, 100]},
        "width": {"width": 10},
        "groups": {"groups": {"any": [1]}},
        "dates": {"dates": "month"},
        "hierarchy": {"hierarchy": {"masks": [5, 2]}, "level": 1},
    },
    "hierarchy": {
        "masks": {"masks": [5, 2]},
        "bands": {"bands": [[0, 15, 65, 100], [0, 100]]},
        "widths": {"widths": [5, 10], "from": 0, "to": 120},
        "mapping": {"mapping": {"man": "any"}},
        "dates": {"dates": ["month"]},
        "file": {"file": "a.csv"},
    },
}
REFERENCE = {"variable": ["age"], "dates": "age"}
PERTURBING = [name for name, kind in STEPS.items() if kind.perturbs]


def rows(model):
    """The table of a model as dicts, in its order."""
    header, _, *lines = ([cell.strip() for cell in line[2:-2].split(" | ")] for line in told_table(model).splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


def told_table(model):
    return filled(f"```{{settings}} {next(name for name, each in MODELS.items() if each is model)}\n```\n")


def every_setting():
    return [(model, row) for model in MODELS for row in rows(MODELS[model])]


def beside(model, name, row):
    """What else must be said for a setting to be taken."""
    if (model, name) == ("recode", "reference"):
        return REFERENCE
    found = BESIDE.get(model, {"variables": "age"} if model in PERTURBING else {})
    kinds = KINDS.get(model, {name: {}})
    kind = name if name in kinds else (re.findall(r"`(\w+)`", row.get("Goes with", "")) or list(kinds))[0]
    return found | kinds[kind]


def value_of(row, column):
    return parse_yaml(f"a: {row[column].strip('`')}", "the page")["a"]


@in_one_test("model, row", every_setting())
def test_every_example_is_taken(model, row):
    given = parse_yaml(re.search(r"`([^`]*)`$", row["Meaning"])[1], "the page")
    (name,) = given
    assert row["Setting"] == f"`{name}`"
    read(MODELS[model], {**beside(model, name, row), **given})


@pytest.mark.parametrize("model", MODELS)
def test_names_that_are_none_are_refused_with_the_nearest(model):
    for name in MODELS[model].fields():
        wrong = name[:-1] + "qq" if len(name) > 5 else f"{name}qqqq"
        with pytest.raises(OptionError, match="unknown setting|goes inside hierarchy") as caught:
            read(MODELS[model], {wrong: 1})
        assert "did you mean" in str(caught.value) or len(name) <= 5
    with pytest.raises(OptionError, match=r"unknown setting \(number 1\); there are "):
        read(MODELS[model], {"zzzz": 1})
    with pytest.raises(OptionError, match="^must be "):
        read(MODELS[model], ["zzzz"])


def test_what_holds_unless_it_is_given_is_what_functions_do():
    functions = {
        **{name: getattr(methods, name) for name in PERTURBING},
        "recode": methods.cut_bands,
        "top_code": methods.top_code,
        "bottom_code": methods.bottom_code,
        "round": methods.round_values,
        "suppress": methods.local_suppression,
        "suppress_risk": methods.suppress_above_risk,
    }
    for step, function in functions.items():
        usual = inspect.signature(function).parameters
        for row in rows(MODELS[step]):
            name = row["Setting"].strip("`")
            known = name in usual and name not in ("start", "strata", "seed", "given", "keep")
            if known and row["Default"].startswith(("`", '"')):
                assert usual[name].default == value_of(row, "Default"), (step, name)
    least = as_recipe({"key_variables": ["age"]})
    for row in rows(RecipeSettings)[1:]:
        name = row["Setting"].strip("`")
        if name not in ("household_level", "limits", "seed"):  # some limits always hold, and a seed may be drawn
            value = getattr(least.spec, name) if hasattr(least.spec, name) else getattr(least, name)
            assert (list(value) if isinstance(value, tuple) else value) == value_of(row, "Default"), name


def test_the_household_level_has_the_settings_that_the_table_says():
    found = {row["Setting"].strip("`"): row["Household level"] for row in rows(RecipeSettings)}
    assert {name for name, level in found.items() if level != "no"} == set(HouseholdLevel.model_fields)
    level = {"key_variables": ["postcode"]}
    for name in ("missing", "k", "risks", "estimator"):
        assert found[name] == "same"
    recipe = {"key_variables": ["age"], "household": "home", "missing": "category", "k": [7], "risks": [0.5]}
    recipe |= {"estimator": "exact", "k_required": 9, "household_level": level}
    plan = household_plan(as_recipe(recipe).steps[0][1])
    assert (plan.spec.missing, plan.k, plan.risks) == ("category", (7, 9), (0.5,))
    assert (plan.estimator, plan.k_required) == ("exact", 9)


FAULTY_STEPS = {
    "suppress": [
        ("{k_required: '3'}", "k_required must be a whole number from 1 on, not text"),
        ("{k_required: 3, importance: [age]}", "importance must be a mapping"),
        ("{k_required: 3, importance: {age: high}}", "importance of age must be a whole number"),
        ("{k_required: 3, importance: {income: 1}}", "importance: income is not a key variable"),
        ("{k_required: 3, combinations: 2}", "combinations must be a list"),
        ("{k_required: 3, combinations: [{size: 9}]}", "combinations: size must be a whole number from 1 to 2"),
        ("{k_required: 3, combinations: [{keys: [income]}]}", "combinations: income is not a key variable"),
        ("{k: 3}", "unknown setting k; did you mean k_required?"),
        ("{k_required: 3, seed: -1}", "seed must be a whole number from 0 on"),
        ("{k_required: 3, weight: w}", "weight belongs at the top of the recipe"),
    ],
    "suppress_risk": [
        ("{threshold: 5, variables: age}", "threshold must be a number from 0 to 1, not 5"),
        ("{threshold: 0.1, variables: income}", "variables: income is not a key variable"),
        ("{threshold: 0.1}", "variables is not given"),
        ("{threshold: 0.1, variables: age, estimator: exakt}", "did you mean exact?"),
        ("{threshold: 0.1, variables: age, seed: 1}", "nothing is random in it, so it takes no seed"),
    ],
    "recode": [
        ("{variable: age, bands: 0-10}", "bands must be a list of edges"),
        ("{variable: age, bands: [10, 0]}", "bands: edges must be two numbers or more that rise"),
        ("{variable: age, bands: [0, 9], labels: [a, b]}", "bands: give a list of 1 labels"),
        ("{variable: age, bands: [0, 9], closed: up}", "closed must be left or right, not text"),
        ("{variable: age, bands: [0, 9], whole: 'no'}", "whole must be true or false, not text"),
        ("{variable: age, bands: [0, 9], outside: {over: x}}", 'outside must be "raise", a label'),
        ("{variable: age, width: 0}", "width must be above 0, not 0"),
        ("{variable: age, width: ten}", "width must be a number, not text"),
        ("{variable: age, width: 7, start: 0, stop: 100}", "bands of 7 do not fill 0 to 100"),
        ("{variable: age, width: 5, bands: [0, 9]}", "give one of bands, width, groups, dates, hierarchy"),
        ("{variable: age, bands: [0, 9], others: keep}", "others goes with groups, not with bands"),
        ("{variable: age, groups: [a]}", "groups: give a mapping of new label"),
        ("{variable: age, groups: {a: 1, b: 1}}", "groups: a value of group 2 is named twice"),
        ("{variable: age, groups: {a: 1}, labels: [x]}", "labels must be a mapping of new code"),
        ("{variable: age, groups: {1: 1}, labels: {2: x}}", "labels: no group has code 1 of those that are listed"),
        ("{variable: age, dates: week}", "dates must be one of month, quarter"),
        ("{variable: age, dates: age}", "an age needs a reference date"),
        ("{variable: age, dates: year, date_format: 5}", "date_format must be text"),
        ("{variable: age, hierarchy: {masks: 5}, level: 1}", "hierarchy: masks must be a list, one entry per level"),
        ("{variable: age, hierarchy: {masks: [2, 5]}, level: 1}", "hierarchy: keep: give falling numbers"),
        ("{variable: age, hierarchy: {masks: [5, 2]}, level: 2}", "level of age must be a whole number from 0 to 1"),
        ("{variable: age, hierarchy: {masks: [5, 2]}}", "level is not given; say which one, from 1 to 1"),
        ("{variable: age, masks: [5, 2], level: 1}", "masks goes inside hierarchy"),
        ("{variable: age, missing: keep}", "missing belongs at the top of the recipe"),
        ("{width: 5}", "variable is not given; write it, such as variable: [income]"),
        ("{variable: 5, width: 5}", "variable must be names of columns"),
        ("{variable: [], width: 5}", "variable must be the name of a column, or a list"),
    ],
    "top_code": [
        ("{variable: age}", "above is not given"),
        ("{variable: age, above: 9, label: 5}", "label must be text"),
        ("{variable: age, above: 9, label: x, value: 9}", "give label (text) or value"),
        ("{variable: age, above: 9, value: 1}", "value lies on the other side"),
    ],
    "round": [
        ("{variable: age, base: ten}", "base must be a number, not text"),
        ("{variable: age, base: 0}", "base must lie between"),
        ("{variable: age, base: 5, half: down}", "half must be one of even, up, not text"),
    ],
    "shuffle_records": [("{by: houshold}", "did you mean household?"), ("{seed: -1}", "seed must be a whole number")],
    "renumber": [("{line_number: [a]}", "line_number must be the name of a column")],
    "remove_variables": [("{}", "variables is not given"), ("{variables: [a, a]}", "variables: a is named twice")],
    "pram": [
        ("{variables: age, keep: 2}", "keep of age must be a number from 0 to 1, not 2"),
        ("{variables: age, keep: 1}", "keep of age must be below 1"),
        ("{variables: age, transition: {a: {a: 0.5}}}", "adds to 0.5, not 1"),
        ("{variables: age, invariant: maybe}", "invariant must be true or false"),
    ],
    "microaggregate": [
        ("{variables: age, k_required: 1}", "k_required must be 2 or more"),
        ("{variables: age, k_required: 3, method: best}", "method must be one of mdav, optimal"),
        ("{variables: age, k_required: 3, method: optimal, start: robust}", "robust is of the method mdav"),
        ("{variables: age}", "k_required is not given"),
    ],
    "add_noise": [
        ("{variables: age, strength: none}", "strength must be a number above 0"),
        ("{variables: age, method: loud}", "method must be one of additive"),
        ("{variables: age, missing: skip}", "missing must be one of error, leave"),
    ],
    "rank_swap": [("{variables: age, window: 2}", "window must be a number above 0 and at most 1")],
    "shuffle": [("{variables: age, given: 5}", "given must be names of columns")],
}


@pytest.mark.parametrize(
    ("step", "written", "fault"), [(step, *each) for step, faults in FAULTY_STEPS.items() for each in faults]
)
def test_steps_that_cannot_be_are_refused_when_they_are_read(step, written, fault):
    steps = [{step: parse_yaml(written, "the test")}]
    with pytest.raises(OptionError) as caught:
        as_recipe({"key_variables": ["age", "sex"], "steps": steps}, name="r.yml")
    assert str(caught.value).startswith(f"r.yml: step 1 ({step}): ")
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.floats(-2, 2) | st.sampled_from(["age", "ab", "", "mean"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["age", "k", "1"]), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("model", MODELS)
@given(data=st.data())
def test_whatever_is_given_is_taken_or_refused_in_one_line(model, data):
    fields = list(MODELS[model].fields())
    tried = data.draw(st.dictionaries(st.sampled_from(fields), plain, max_size=3))
    beside = {"variables": "age", **BESIDE.get(model, {})} if model in PERTURBING else BESIDE.get(model, {})
    try:
        read(MODELS[model], {**beside, **tried})
    except KanonLabError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 400


SCHEMA = Draft202012Validator(config_schema())


def written(page):
    """Whole recipes and configurations of a page, and its steps, each as a configuration."""
    for block in blocks(PAGES[page], "yaml"):
        found = yaml.load(block, yaml.BaseLoader) and parse_yaml(block, page)
        if isinstance(found, list):
            yield {"key_variables": ["age"], "steps": found}
        elif "key_variables" in found and "grid" not in found:
            yield found


@pytest.mark.parametrize("page", ["recipes.md", "report.md", "enusc.md", "project.md", "README.md"])
def test_an_editor_takes_what_the_pages_show(page):
    for found in written(page):
        assert [error.message for error in SCHEMA.iter_errors(found)] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"key_variable": ["age"]},
        {"k_required": "3"},
        {"steps": [{"supress": {}}]},
        {"steps": [{"suppress": {}, "round": {}}]},
        {"steps": [{"recode": {"variable": "age"}}]},
        {"steps": [{"recode": {"variable": "age", "width": 5, "dates": "year"}}]},
        {"missing": "drop"},
        {"limits": {"globalrisk": 1}},
        {"household_level": {"household": "home"}},
    ],
)
def test_an_editor_shows_what_would_be_refused(wrong):
    whole = {"key_variables": ["age"], "household": "home", **wrong}
    with pytest.raises(OptionError):
        as_config(whole)
    assert list(SCHEMA.iter_errors(whole))


def test_what_is_said_of_choices_is_what_they_are():
    choices = re.compile(r"`([a-z][a-z-]+)`")
    for model in MODELS.values():
        for name, part in model.model_json_schema()["properties"].items():
            if "enum" in part and name != "language":
                said = set(choices.findall(row_of(model, name)["says"])) - {"microaggregate"}
                assert said <= set(part["enum"]) and (said or name in ("estimator", "missing", "decimal")), name


def test_pages_ask_for_tables_that_there_are():
    for page, text in PAGES.items():
        assert "{settings}" not in text, page
    assert filled("```{settings} round\n```\n").startswith("| Setting | Meaning |")
    assert {f"`{name}`" for name in RECODINGS} <= set(re.findall(r"`\w+`", PAGES["recipes.md"]))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "{steps: [recode: {variable: sex, SECRET: x}]}",
            "step 1 (recode): unknown setting (number 2); ",
        ),
        (
            "{steps: [recode: {variable: sex, hierarchy: {SECRET: 1}}]}",
            "hierarchy: unknown setting (number 1); ",
        ),
        ("{steps: [SECRET: {variable: sex}]}", "step 1: there is no step of this name; there are"),
        ("{steps: [SECRET]}", "step 1: must be one name with its settings"),
        ("{steps: [pram: {variables: [sex], keep: {SECRET: 0.9}}]}", "keep: entry 1 is not one of the variables"),
        ("{limits: {SECRET: 1}}", "limits: there is no limit of this name (number 1)"),
        ("{SECRET: 1}", "unknown setting (number 2)"),
    ],
)
def test_a_name_that_may_be_a_category_is_not_quoted(text, fault):
    with pytest.raises(OptionError) as caught:
        as_recipe({"key_variables": ["sex"], **yaml.safe_load(text)})
    assert fault in str(caught.value) and "SECRET" not in str(caught.value)
