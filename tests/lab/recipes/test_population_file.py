"""A population beside a protected file: recoded by the steps, and judged."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_lab
from kanon_lab import engines
from kanon_lab.cli import run
from kanon_lab.data import read_file
from kanon_lab.errors import KanonLabError
from kanon_lab.measures import Population
from kanon_lab.methods import recode_step
from kanon_lab.recipes import as_recipe, judge
from kanon_lab.recipes.population_file import read_population, recoded_population
from kanon_lab.recipes.steps import kind_of
from kanon_lab.report.analysis import analyse
from kanon_lab.report.config import as_config, read_config
from kanon_lab.report.sections import section

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
@settings(max_examples=25, deadline=None)
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


def test_a_population_with_fewer_persons_than_the_file_is_a_caution():
    chain, judged = _judged(Population.of(_EVERYBODY.head(1), ["age", "sex"]), [], {"k_map": 1})
    (caution,) = [caution for caution in judged.cautions if caution.key == "population_short"]
    assert caution.count == chain.state.measured["population_short"] > 0
    assert "fewer persons than the file has" in caution.text
    _, judged = _judged(_PEOPLE, [], {"k_map": 1})
    assert "population_short" not in {caution.key for caution in judged.cautions}


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


@pytest.fixture
def files(tmp_path):
    _EVERYBODY.to_csv(tmp_path / "people.csv", index=False)
    _EVERYBODY.iloc[[0, 1, 3, 4]].to_csv(tmp_path / "survey.csv", index=False)
    (tmp_path / "r.yml").write_text(
        "key_variables: [age, sex]\npopulation: people.csv\nlimits: {k_map: 3, delta_presence: 0.7}\n"
        "steps: [recode: {variable: age, width: 10}]\n"
    )
    return tmp_path


def test_the_commands_count_in_it(files, capsys):
    survey, people = str(files / "survey.csv"), str(files / "people.csv")
    assert run(["measure", survey, "--keys", "age,sex", "--population", people, "--json"]) == 0
    known = json.loads(capsys.readouterr().out)["population"]
    assert (known["k_map"], known["delta_presence"], known["population_absent"], known["below"]["2"]) == (1, 1.0, 2, 4)
    assert run(["measure", survey, "--keys", "age,sex", "--population", people]) == 0
    assert "k-map: fewest persons of the population" in capsys.readouterr().out
    assert run(["protect", survey, "--recipe", str(files / "r.yml"), "--dry-run", "--fail", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["value"]) for row in printed["limits"]][:2] == [("k_map", 3), ("delta_presence", 2 / 3)]
    assert [printed[when]["population"]["k_map"] for when in ["before"]] == [1]
    assert printed["steps"][0]["population"]["k_map"] == 3
    assert run(["protect", survey, "--recipe", str(files / "r.yml"), "--out", people, "--overwrite"]) == 2
    assert "equal to the population" in capsys.readouterr().err


def test_without_it_json_is_as_it_was_and_a_line_says_what_to_add(files, capsys):
    survey, recipe = str(files / "survey.csv"), files / "r.yml"
    recipe.write_text(recipe.read_text().replace("population: people.csv\n", ""))
    assert run(["protect", survey, "--recipe", str(recipe), "--dry-run"]) == 0
    assert "not known (add population: FILE to the" in capsys.readouterr().out
    assert run(["protect", survey, "--recipe", str(recipe), "--dry-run", "--fail", "--json"]) == 3
    printed = json.loads(capsys.readouterr().out)
    assert "population" not in printed["before"]


@pytest.mark.parametrize(("language", "internal"), [("en", True), ("es", False)])
def test_a_report_shows_it_before_and_after(files, language, internal):
    config = read_config(files / "r.yml", {"language": language})
    analysis = analyse(read_file(files / "survey.csv"), config, internal=internal)
    assert (analysis.judged.met, analysis.summary["before"]["k_map"], analysis.summary["after"]["k_map"]) == (
        True,
        1,
        3,
    )
    assert {"en": "Counted in the population", "es": "Contado en la población"}[language] in repr(
        section(analysis, "classes", language)
    )
    unknown = analyse(read_file(files / "survey.csv"), as_config({**config.settings, "population": None}))
    advice = {"en": "the configuration names none", "es": "la configuración no nombra ninguno"}
    assert advice[language] in repr(section(unknown, "summary", language))


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("no.csv", "population: no.csv: no such file; check the path"),
        ("3", "population: must be a file, or settings such as {file: register.csv, count: persons}, not 3"),
        ("{count: n}", "population: file is not given; write it, such as file: register.csv"),
        ("{file: people.csv, cuont: n}", "population: unknown setting cuont; did you mean count?"),
    ],
)
def test_faults_of_the_setting_are_one_line(files, written, fault):
    recipe = files / "r.yml"
    recipe.write_text(recipe.read_text().replace("people.csv", written))
    with pytest.raises(KanonLabError) as caught:
        read_config(recipe)
    assert str(caught.value).startswith(f"r.yml: {fault}")
