"""Configurations of reports: settings, limits, overrides; every fault in one line before anything runs."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, KanonLabError, OptionError, visible
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report import as_config, read_config

EXPOSED = {"exposed_by_columns": 0, "shown_by_neighbours": 0}
#: Limits that hold where nothing is said.
ALWAYS = {name: 0 for name, row in LIMITS.items() if row.limit.always}
KEYS = {"key_variables": ["region", "age"]}


def config(**given):
    return as_config(KEYS | given)


def test_what_is_not_said_is_usual():
    found = config()
    assert (found.title, found.language, found.least, found.reading, found.map) == ("", "en", 10, {}, None)
    assert found.limits == ALWAYS
    assert found.recipe.risks == (0.05,)
    assert found.recipe.k == (2, 3, 5)
    assert found.shown == KEYS | {"seed": 0}


@pytest.mark.parametrize(
    ("given", "limits", "k_required"),
    [
        ({"k_required": 4}, {"k": 4, **EXPOSED}, 4),
        ({"limits": {"k": 4}}, {"k": 4, **EXPOSED}, 4),
        ({"limits": {"k": 7, **dict.fromkeys(EXPOSED)}, "k_required": 4}, {"k": 7}, 4),
        ({"limits": {"global_risk": 0.02}, "k_required": 4}, {"k": 4, "global_risk": 0.02, **EXPOSED}, 4),
        ({"limits": {"global_risk": 0, "k": None}}, {"global_risk": 0, **EXPOSED}, None),
    ],
)
def test_limit_of_k_and_k_required_stand_in_for_each_other(given, limits, k_required):
    found = config(**given)
    assert found.limits == {**limits, **ALWAYS}
    assert found.recipe.k_required == k_required
    assert {*limits.values()} & {4, 7} <= {*found.recipe.k}


def test_map_has_the_recipe_with_its_own_steps_and_grid():
    steps = [{"suppress": {"k_required": "$k"}}]
    found = config(k_required=3, map={"grid": {"k": [2, 3]}, "steps": steps, "loss": "known_cells"})
    assert found.map["grid"] == {"k": [2, 3]}
    assert found.map["steps"] == steps
    assert found.map["key_variables"] == KEYS["key_variables"]
    assert (found.map_risk, found.map_loss) == ("global_risk", "known_cells")
    assert found.recipe.steps == ()


FAULTS = {
    "unknown": ({"titel": "x"}, "unknown setting titel; did you mean title?"),
    "unknown limit": ({"limits": {"globalrisk": 0.1}}, "limits: there is no limit globalrisk; did you mean global_r"),
    "no share": ({"limits": {"global_risk": 2}}, "limits: global_risk must be a number from 0 to 1, not 2"),
    "no k": ({"limits": {"k": 0}}, "limits: k must be a whole number from 1 on, not 0"),
    "household": ({"limits": {"household_risk": 0.1}}, "household_risk needs a household; name its variable"),
    "another word": ({"thresholds": [0.1]}, "unknown setting (number "),
    "risk": ({"risks": [5]}, "risks must be a number from 0 to 1, not 5"),
    "few": ({"least": 9}, "least must be 10 or more"),
    "release": ({"decision": {"release": "everybody"}}, "decision: release must be"),
    "day": ({"decision": {"date": "27.11.2026"}}, "decision: date must be a day, such as 2026-11-28"),
    "decision": ({"decision": "us"}, "decision: must be who set the limits"),
    "Catalan": ({"language": "ca"}, "language must be one of en, es, not text"),
    "title": ({"title": 3}, "title must be a text of at most 200 characters"),
    "codes": ({"missing_codes": [88]}, "missing_codes must be names of columns with their codes"),
    "code": ({"missing_codes": {"age": [[1]]}}, "missing_codes: the codes of age must be numbers or texts"),
    "na": ({"na": [9]}, "na must be texts"),
    "estimator": ({"estimator": "best"}, "estimator must be one of"),
    "grid": ({"grid": {"k": [1]}}, "grid belongs under map"),
    "no grid": ({"map": {"steps": []}}, "map: grid is not given; write it, such as grid: "),
    "map name": ({"map": {"gird": {}}}, "map: unknown setting gird; did you mean grid?"),
    "measure": (
        {"map": {"grid": {"k": [2]}, "steps": [{"suppress": {"k_required": "$k"}}], "loss": "x"}},
        "map: there",
    ),
    "placeholder": ({"map": {"grid": {"k": [2]}}}, "map: grid: k does not occur in the recipe; write $k there"),
    "step setting": (
        {"steps": [{"recode": {"variable": "age", "widht": 5}}]},
        "step 1 (recode): unknown setting widht; did you mean width?",
    ),
    "step": ({"steps": [{"recod": {}}]}, "step 1: there is no step 'recod'; did you mean recode?"),
}


@pytest.mark.parametrize(("given", "fault"), FAULTS.values(), ids=FAULTS)
def test_faults_are_one_line_that_names_the_configuration(given, fault):
    with pytest.raises(OptionError) as error:
        as_config(KEYS | given, name="report.yml")
    assert str(error.value).startswith(f"report.yml: {fault}" if "household" not in fault else "report.yml: ")
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture
def written(tmp_path):
    def write(given, name="report.yml"):
        path = tmp_path / name
        path.write_text(dump_yaml(given), "utf-8")
        return path

    return write


def test_overrides_replace_settings_and_lead_into_mappings(written):
    path = written(KEYS | {"title": "a", "k_required": 3})
    asked = ["title=b = c", "language=es", "limits.global_risk=0.02", "key_variables=[sex]", "k_required="]
    found = read_config(path, asked)
    assert (found.title, found.language, found.limits) == ("b = c", "es", {"global_risk": 0.02, **EXPOSED, **ALWAYS})
    assert found.recipe.spec.key_variables == ("sex",)
    assert found.recipe.k_required is None


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("title", "--set title: write name=value"),
        ("=1", "--set =1: write name=value"),
        ("title.a=1", "--set title.a: title holds no names; set it as a whole"),
        ("title=[1", "--set title: line 1, column 1: a [ or { is never closed"),
        ("langage=es", "report.yml: unknown setting langage; did you mean language?"),
    ],
)
def test_overrides_that_cannot_be_used_say_so(written, override, fault):
    with pytest.raises(KanonLabError) as error:
        read_config(written(KEYS | {"title": "a"}), [override])
    assert str(error.value).startswith(fault)


def test_hierarchies_are_found_beside_the_configuration_and_shown_by_name(written, tmp_path, monkeypatch):
    step = {"recode": {"variable": "region", "hierarchy": {"file": "sub/h.csv"}, "level": 1}}
    path = written(KEYS | {"steps": [step]})
    with pytest.raises(DataError) as error:
        read_config(path)
    assert str(error.value) == "report.yml: hierarchy file: sub/h.csv: no such file; check the path"
    assert str(tmp_path) not in str(error.value)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "h.csv").write_text("a,b\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = read_config(Path(os.pardir) / "report.yml")
    assert [Path(path).resolve() for path in found.files] == [tmp_path / "sub" / "h.csv"]
    assert found.shown["steps"][0]["recode"]["hierarchy"]["file"] == "h.csv"
    assert found.recipe.name == "report.yml"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"estimator": ["exact"]}, "estimator must be one of"),
        *(({name: 10**400}, f"{name}: a number has more than 18 digits") for name in ("k", "k_required", "least")),
        *(({name: 1_000_001}, f"{name} must be 1,000,000 or less") for name in ("k", "k_required", "least")),
        ({"limits": {"k": 10**7}}, "limits: k must be 1,000,000 or less"),
        ({"steps": [{"suppress": {"k_required": 10**30}}]}, "steps: a number has more than 18 digits"),
        ({"title": "\ud800"}, "title: a text has half a character"),
        *(({"encoding": name}, "there is none such") for name in ("unknown", "idna", "undefined", "utf\0")),
        ({"separator": "ab"}, "separator 'ab': give one sign"),
        ({"decimal": "x"}, "decimal 'x': give , or ."),
        ({"key_variables": "region, sex"}, "key_variables is one text with a comma in it; write a list"),
    ],
)
def test_what_only_a_run_would_refuse_is_refused_before(given, fault):
    with pytest.raises(OptionError) as error:
        config(**given)
    assert fault in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["../gone/h.csv", "sub", "h\0.csv", "h\t.csv"])
def test_a_hierarchy_that_cannot_be_read_is_called_as_it_is_written(written, tmp_path, name):
    (tmp_path / "sub").mkdir()
    path = written(KEYS | {"steps": [{"recode": {"variable": "age", "hierarchy": {"file": name}, "level": 1}}]})
    with pytest.raises(DataError) as error:
        read_config(path)
    assert str(error.value).startswith(f"report.yml: hierarchy file: {visible(name)}: ")
    assert str(tmp_path) not in str(error.value)


@pytest.mark.parametrize("text", [None, "", "a: [", "- a", "key_variables: [a]\nkey_variables: [b]"])
def test_errors_of_the_file_have_no_folder(tmp_path, text):
    path = tmp_path / "r.yml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(KanonLabError) as error:
        read_config(path)
    assert str(error.value).startswith("r.yml: ")
    assert str(tmp_path) not in str(error.value)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab1.-é ", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.sampled_from(["title", "limits", "risks", "least", "map", "missing_codes", "na", "text", "steps"]),
    plain,
)
def test_whatever_a_setting_is_there_is_a_configuration_or_one_line(name, value):
    try:
        config(**{name: value})
    except KanonLabError as error:
        assert "\n" not in str(error)
