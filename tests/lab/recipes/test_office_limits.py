"""Limits of an office: one vocabulary in recipes and reports, every fault in one line."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.methods import CLAIMS
from kanon_lab.recipes import as_recipe
from kanon_lab.recipes.plan import as_limits
from kanon_lab.recipes.settings import LIMITS
from kanon_lab.report import as_config
from kanon_lab.roles import KeySpec

SPEC = KeySpec(
    ["region", "age"], household="home", sensitive_variables=["illness", "income"], numeric_variables=["income"]
)
SETTINGS = {"key_variables": ["region"], "household": "home", "sensitive_variables": ["illness"]}
ATTACKS = {"shown_by_members": 0, "shown_by_neighbours": 0}
ALWAYS = {name: 0 for name, row in LIMITS.items() if row.limit.always}
SHARES = [name for name in LIMITS if name.endswith("_risk") and name != "above_risk"] + ["key_linkage"]


def test_every_limit_is_a_number_by_its_name_in_one_order():
    given = {"exposed_by_columns": 7, "t_closeness": 0.4, "entropy": {"income": 1.5}, "distinct": 2, "key_linkage": 0}
    given |= {"household_uniques": 3, "above_risk": {0.2: 1, 0.05: 4}, "individual_risk": 1, "household_risk": 0.5}
    found = as_limits({**given, "global_risk": 0.02, "k": 3}, spec=SPEC)
    assert list(found) == [name for name in LIMITS if name in {**given, "global_risk": 0, "k": 0, **ALWAYS, **ATTACKS}]
    assert found["distinct"] == {"illness": 2, "income": 2}
    assert found["entropy"] == {"income": 1.5}
    assert found["t_closeness"] == {"illness": 0.4, "income": 0.4}
    assert list(found["above_risk"].items()) == [(0.05, 4), (0.2, 1)]
    assert (found["exposed_by_columns"], found["k"]) == (7, 3)


@given(st.dictionaries(st.sampled_from(SHARES), st.floats(0, 1) | st.none()))
def test_shares_stay_as_they_are_and_none_is_no_limit(given):
    wanted = {name: value for name, value in given.items() if value is not None}
    beside = {**ALWAYS, **({"exposed_by_columns": 0, **ATTACKS} if wanted else {})}
    assert as_limits(given, spec=SPEC) == {**wanted, **beside}
    assert as_limits({**given, **dict.fromkeys(beside)}, spec=SPEC) == wanted


def test_what_others_show_of_keys_is_limited_wherever_k_is():
    attacks = {"exposed_by_columns": 0, **ATTACKS}
    assert as_limits({}, spec=SPEC) == ALWAYS
    assert as_limits({"k": 3}, spec=SPEC) == {"k": 3, **attacks, **ALWAYS}
    assert as_limits({}, spec=SPEC, k_required=3) == {"k": 3, **attacks, **ALWAYS}
    for claim in CLAIMS:
        assert as_limits({claim: 3}, spec=SPEC) == {claim: 3, **attacks, **ALWAYS}
    assert as_limits({"k": 3, **dict.fromkeys(attacks)}, spec=SPEC) == {"k": 3, **ALWAYS}
    assert "shown_by_members" not in as_limits({"k": 3}, spec=KeySpec(["age"]))


FAULTS = {
    "no mapping": (3, "limits must be names with bounds, such as {k: 3, global_risk: 0.02}, not 3"),
    "near": ({"globl_risk": 1}, "limits: there is no limit globl_risk; did you mean global_risk?"),
    "other word": ({"diversity": {"distinct": 3}}, "limits: there is no limit diversity; did you mean distinct or ent"),
    "far": ({"zzz": 1}, "limits: there is no limit of this name (number 1); there are k, "),
    "share": ({"individual_risk": 5}, "limits: individual_risk must be a number from 0 to 1, not 5"),
    "text": ({"key_linkage": "low"}, "limits: key_linkage must be a number from 0 to 1, not text"),
    "truth": ({"k": True}, "limits: k must be a whole number from 1 on, not True"),
    "records": ({"household_uniques": 0.5}, "limits: household_uniques must be a whole number of records from 0 on"),
    "l": ({"distinct": 0}, "limits: distinct must be a number from 1 on, not 0"),
    "endless": ({"entropy": float("inf")}, "limits: entropy must be a number from 1 on, not inf"),
    "variable": (
        {"distinct": {"ilness": 2}},
        "limits: distinct: 'ilness' is not a sensitive variable; did you mean ill",
    ),
    "of a variable": ({"entropy": {"income": 0}}, "limits: entropy: income must be a number from 1 on, not 0"),
    "level": ({"above_risk": {5: 1}}, "limits: above_risk: a level must be a number from 0 to 1, not 5"),
    "of a level": ({"above_risk": {0.1: -1}}, "limits: above_risk must be a whole number of records from 0 on, not -1"),
    "two levels": ({"above_risk": 0}, "limits: above_risk: risks has 2 levels; say the records above each"),
}


@pytest.mark.parametrize(("given", "fault"), FAULTS.values(), ids=FAULTS)
def test_every_fault_is_one_line_of_a_recipe_and_of_a_report(given, fault):
    with pytest.raises(OptionError) as caught:
        as_limits(given, spec=SPEC, risks=(0.05, 0.1))
    assert str(caught.value).startswith(fault)
    settings = {**SETTINGS, "sensitive_variables": ["illness", "income"], "risks": [0.05, 0.1], "limits": given}
    for read in (partial(as_recipe, name="r.yml"), partial(as_config, name="r.yml")):
        with pytest.raises(OptionError) as caught:
            read(settings)
        assert str(caught.value).startswith(f"r.yml: {fault}")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "needs"),
    [
        *((name, "a household") for name in ("household_risk", "household_uniques")),
        ("distinct", "a sensitive variable"),
        ("numeric_linkage", "a quantity"),
    ],
)
def test_a_limit_needs_the_role_that_it_is_about(given, needs):
    with pytest.raises(OptionError, match=f"limits: {given} needs {needs}; name "):
        as_recipe({"key_variables": ["region"], "limits": {given: 1}})


def test_a_recipe_measures_what_its_limits_need():
    recipe = as_recipe({**SETTINGS, "limits": {"k": 4, "above_risk": {0.3: 0}}, "steps": [{"suppress": {}}]})
    assert (recipe.k_required, recipe.k, recipe.risks) == (4, (2, 3, 4, 5), (0.05, 0.3))
    assert recipe.steps == (("suppress", {"k_required": 4}),)
    limits = as_recipe({**SETTINGS, "risks": 0.1, "limits": {"above_risk": 2}}).limits
    assert limits == {"above_risk": {0.1: 2}, "exposed_by_columns": 0, **ATTACKS, **ALWAYS}
    both = as_recipe({**SETTINGS, "k_required": 3, "limits": {"k": 7}})
    assert (both.k_required, both.k, both.limits["k"]) == (3, (2, 3, 5, 7), 7)


def test_a_household_level_has_no_limits():
    with pytest.raises(OptionError, match="household_level: unknown setting limits"):
        as_recipe({**SETTINGS, "household_level": {"key_variables": ["region"], "limits": {"k": 3}}})


@pytest.mark.parametrize("settings", [{"limits": {"k": 10**309}}, {"k": [10**309]}, {"seed": -(10**400)}], ids=list)
def test_numbers_beyond_floats_are_one_line(settings):
    with pytest.raises(OptionError, match="a number has hundreds of digits; write a smaller one"):
        as_recipe({"key_variables": ["age"], **settings})
    if "limits" in settings:
        with pytest.raises(OptionError, match="limits: a number has hundreds of digits"):
            as_limits(settings["limits"], spec=SPEC)
