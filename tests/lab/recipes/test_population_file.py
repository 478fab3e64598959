"""A population beside a protected file: recoded by the steps, and judged."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_lab
from kanon_lab import engines
from kanon_lab.errors import KanonLabError
from kanon_lab.measures import Population
from kanon_lab.methods import recode_step
from kanon_lab.recipes import as_recipe, judge
from kanon_lab.recipes.population_file import read_population, recoded_population
from kanon_lab.recipes.steps import kind_of

_STEPS = [
    {"recode": {"variable": "age", "width": 10}},
    {"recode": {"variable": "region", "groups": {"X": ["a", "b"]}, "others": "keep"}},
    {"top_code": {"variable": "income", "above": 30, "label": "30+"}},
    {"round": {"variable": "income", "base": 20}},
    {"bottom_code": {"variable": "age", "below": 20}},
]
_PERSON = st.tuples(st.sampled_from("abcd"), st.integers(0, 45), st.sampled_from([0, 10, 29, 30, 31, 90]))


@given(
    st.lists(_PERSON, min_size=1, max_size=8),
    st.lists(_PERSON, max_size=30),
    st.sampled_from([(0, 1), (1, 2), (3,), (4, 0)]),
)
@settings(max_examples=40, deadline=None)
def test_a_population_is_recoded_as_the_sample_is(sample, others, chosen):
    """Recoded together, sample and population give the same counts as each by itself."""
    keys, sample = ["region", "age", "income"], [("a", 3, 10), ("b", 44, 31), *sample]  # groups must occur
    everybody = pd.DataFrame([*sample, *others], columns=keys)
    frame, population = everybody.iloc[: len(sample)], Population.of(everybody, keys)
    for (name, options), *_ in (list(_STEPS[number].items()) for number in chosen):
        after = recode_step(frame, options, step=name)
        population = recoded_population(population, kind_of(name).rules(options), frame, after, ())
        frame, everybody = after, recode_step(everybody, options, step=name)
    texts = everybody.astype(str).agg("|".join, axis=1)
    counted = population.beside(kanon_lab.class_table(frame, keys))
    assert counted.k_map == texts.map(texts.value_counts()).iloc[: len(sample)].min()


def _judged(population, steps, limits, **roles):
    frame = pd.DataFrame({"age": [31, 32, 41, 42], "sex": [*"ffmm"], "hh": [1, 1, 2, 2]})
    settings = {"key_variables": ["age", "sex"], "limits": limits, "steps": steps, **roles}
    recipe = as_recipe(settings)
    chain = kanon_lab.protect(frame, recipe.spec, population=population, seed=1)
    for name, options in recipe.steps:
        chain = chain.apply(name, options)
    return chain, judge(chain, recipe.limits)


_EVERYBODY = pd.DataFrame({"age": [31, 32, 33, 41, 42, 43], "sex": [*"fffmmm"]})
_PEOPLE = Population.of(_EVERYBODY, ["age", "sex"])
_BANDS = [{"recode": {"variable": "age", "width": 10}}]


def _row(judged, name):
    return judged.verdict.set_index("name").loc[name]


def test_limits_are_counted_in_the_population():
    _, judged = _judged(_PEOPLE, _BANDS, {"k_map": 4, "delta_presence": 0.5})
    k_map, presence = _row(judged, "k_map"), _row(judged, "delta_presence")
    assert (k_map["found"], k_map["met"], k_map["records"]) == (3, False, 4)
    assert (presence["found"], presence["met"], presence["records"]) == (2 / 3, False, 4)
    assert _row(_judged(_PEOPLE, _BANDS, {"k_map": 3, "delta_presence": 0.7})[1], "k_map")["met"]


def test_a_limit_without_a_population_is_not_met():
    _, judged = _judged(None, _BANDS, {"k_map": 1})
    assert (_row(judged, "k_map")["met"], judged.met, judged.unknown) == (False, False, ["k_map"])


@pytest.mark.parametrize(
    "step", [{"pram": {"variables": ["sex"]}}, {"rank_swap": {"variables": ["age"], "window": 1.0}}]
)
def test_a_perturbed_key_has_no_k_map(step):
    chain, judged = _judged(_PEOPLE, [step], {"k_map": 1})
    (name,) = next(iter(step.values()))["variables"]
    row = _row(judged, "k_map")
    assert (row["met"], row["columns"], judged.unknown) == (False, (name,), ["k_map"])
    assert "population_untold" in [getattr(note, "key", "") for note in chain.notes]
    _, judged = _judged(_PEOPLE, [step, {"remove_variables": {"variables": [name]}}], {"k_map": 1})
    assert _row(judged, "k_map")["met"]


def test_a_suppressed_key_is_compatible_with_all_persons():
    chain, _ = _judged(_PEOPLE, [{"suppress": {"k_required": 2, "importance": {"sex": 1}}}], {"k_map": 1})
    assert chain.state.measured["k_map"] == 3


def test_households_recode_the_population_too():
    level = {"key_variables": ["sex"], "steps": [{"recode": {"variable": "sex", "groups": {"any": ["f", "m"]}}}]}
    chain = kanon_lab.protect(
        pd.DataFrame({"age": [31, 41], "sex": [*"fm"], "hh": [1, 2]}),
        kanon_lab.KeySpec(["age", "sex"], household="hh"),
        population=Population.of(pd.DataFrame({"age": [31, 31, 41], "sex": [*"fmf"]}), ["age", "sex"]),
    ).apply("household_level", level)
    assert (chain.state.measured["k_map"], chain.state.measured["population_short"]) == (1, 0)


def test_a_value_that_a_step_refuses_is_counted_and_said():
    people = pd.concat([_EVERYBODY, pd.DataFrame({"age": [130, 34], "sex": [*"ff"]})])
    steps = [{"recode": {"variable": "age", "bands": [0, 40, 100]}}]
    chain, judged = _judged(Population.of(people, ["age", "sex"]), steps, {"k_map": 3})
    assert (_row(judged, "k_map")["found"], chain.state.measured["k_map"]) == (3, 3)
    assert chain.state.truth.population.refused == {"age": 1}
    assert [note.parts for note in chain.notes if getattr(note, "key", "") == "population_refused"] == [
        {"column": "age", "persons": 1}
    ]


def test_a_file_is_read_with_the_codes_of_the_sample(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,sex,persons\n31,f,5\nNA,f,2\n41,m,3\n")
    people = read_population(path, ["age", "sex"], count="persons", reading={"na": ("NA",), "separator": ";"})
    assert (people.persons.sum(), people.keys["age"].isna().sum()) == (10, 1)
    with pytest.raises(KanonLabError, match=r"population: people\.csv: no column region"):
        read_population(path, ["age", "region"])
    with pytest.raises(KanonLabError, match=r"column sex is not numbers"):
        read_population(path, ["age"], count="sex")


def test_saved_counts_are_a_population(tmp_path):
    counted = engines.count_frame(_EVERYBODY, kanon_lab.KeySpec(["age", "sex"]))
    engines.save_counts(counted, tmp_path / "c.parquet")
    assert read_population(tmp_path / "c.parquet", ["sex"]).persons.tolist() == [3, 3]
