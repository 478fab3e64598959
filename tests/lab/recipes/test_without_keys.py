"""Files without key variables, such as those of firms: all records are alike, and their quantities are judged."""

import pandas as pd
import pytest

import kanon_lab
from kanon_lab.errors import OptionError
from kanon_lab.recipes import as_recipe, judge
from kanon_lab.recipes.streamed import check_streamed
from kanon_lab.report.analysis import analyse
from kanon_lab.report.config import as_config
from kanon_lab.report.sections import SECTIONS, section

_FIRMS = pd.DataFrame(
    {"name": [f"Firm {n}" for n in range(40)], "turnover": [float(n**3 + 7) for n in range(40)], "staff": range(40)}
)
_ROLES = {"direct_identifiers": ["name"], "numeric_variables": ["turnover", "staff"]}
_GROUPS = [{"microaggregate": {"variables": ["turnover", "staff"], "k_required": 20}}]


def _judged(**settings):
    recipe = as_recipe({**_ROLES, **settings})
    return judge(recipe.apply(_FIRMS), recipe.limits)


def test_k_of_no_keys_is_the_number_of_records():
    chain = as_recipe(_ROLES).apply(_FIRMS)
    assert (chain.state.measured.k_achieved, chain.state.measured["classes"]) == (40, 1)
    assert chain.state.measured["global_risk"] == pytest.approx(1 / 40)
    assert [note.parts["records"] for note in chain.notes if getattr(note, "key", "") == "no_keys"] == [40]


@pytest.mark.parametrize("limits", [{}, {"k": 3}, {"k": 3, "global_risk": 0.5, "k_map": 1, "individual_risk": 1}])
def test_limits_on_keys_never_let_a_file_without_keys_out(limits):
    judged = _judged(limits=limits)
    assert not judged.met
    assert judged.verdict.set_index("name").loc["numeric_linkage", ["limit", "found", "met"]].tolist() == [0, 1, False]
    assert {"k", "global_risk", "k_map", "individual_risk"}.isdisjoint(judged.verdict["name"])


def test_nor_do_columns_that_are_listed():
    columns = ["turnover", "staff"]
    assert not _judged(numeric_variables=[], released_as_is=columns, limits={"k": 3}).met


def test_quantities_that_nobody_links_meet_their_limit():
    steps = [*_GROUPS, {"shuffle_records": {}}, {"remove_variables": {"variables": ["staff"]}}]
    judged = _judged(limits={"numeric_linkage": 0.1}, steps=steps)
    assert judged.met
    assert judged.verdict.set_index("name").loc["numeric_linkage", "found"] == pytest.approx(2 / 40)


@pytest.mark.parametrize("internal", [False, True])
@pytest.mark.parametrize("language", ["en", "es"])
def test_a_page_says_that_there_are_no_keys_and_what_belongs_to_tables(internal, language):
    analysis = analyse(_FIRMS, as_config({**_ROLES, "limits": {"k": 3}, "steps": _GROUPS}), internal=internal)
    texts = {name: repr(section(analysis, name, language)) for name in SECTIONS}
    words = {"en": "No key variables are named", "es": "No se ha nombrado ninguna variable clave"}
    assert words[language] in texts["summary"]
    assert all(tool in texts["summary"] for tool in ("tau-Argus", "sdcTable", "GaussSuppression"))


def test_a_spec_without_any_role_is_refused():
    with pytest.raises(OptionError, match="no key variables"):
        kanon_lab.KeySpec([], weight="w")
    with pytest.raises(OptionError, match="key_variables is not given"):
        as_recipe({"weight": "w"})
    with pytest.raises(OptionError, match="combinations needs key variables"):
        as_recipe({**_ROLES, "limits": {"combinations": [{"size": 1, "at_least": 2}]}})
    with pytest.raises(OptionError, match="an engine counts keys"):
        check_streamed(as_recipe(_ROLES), "firms.parquet")
