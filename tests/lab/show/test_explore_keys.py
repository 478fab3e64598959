"""The JupyterLab explorer of what an intruder knows without a browser: move the controls, read what it shows."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import DataError, OptionError
from kanon_lab.show import explore_keys

pytest.importorskip("ipywidgets")

VEGALITE = "application/vnd.vegalite.v5+json"
KEYS = ["place", "sex", "<age>"]


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(2)
    return pd.DataFrame({name: rng.integers(0, top, 120) for name, top in zip(KEYS, (9, 2, 30))})


@pytest.fixture
def explorer(survey):
    return explore_keys(survey, KEYS)


def by_hand(survey, known, k) -> int:
    values = list(map(tuple, survey[list(known)].to_numpy().tolist()))
    return sum(values.count(value) <= k for value in values)


def shown(explorer) -> int:
    """Records of what is known, in the table; the sentence has the same share."""
    chosen = re.search(r'aria-current="true">.*?<td[^>]*>([\d,]+)</td><td[^>]*>([^<]+)</td>', explorer.table.value)
    count, share = chosen.groups()
    assert f": {share}." in explorer.sentence.value
    return int(count)


def test_the_sentence_follows_every_control(explorer, survey):
    assert shown(explorer) == by_hand(survey, KEYS, 1)
    assert "At k = 1, known place, sex, &lt;age&gt;: " in explorer.sentence.value
    explorer.controls["k_class"].value = 6
    assert shown(explorer) == by_hand(survey, KEYS, 6)
    explorer.controls["knows0"].value = False
    assert shown(explorer) == by_hand(survey, KEYS[1:], 6)
    assert "At k = 6, known sex, &lt;age&gt;: " in explorer.sentence.value


def test_who_knows_nothing_is_told_so(survey):
    explorer = explore_keys(survey, KEYS, known=())
    assert "At k = 1, known nothing: 0%." in explorer.sentence.value
    explorer.controls["knows1"].value = True
    assert "known sex: " in explorer.sentence.value


def test_the_table_says_what_leaving_a_variable_out_brings(explorer, survey):
    explorer.controls["k_class"].value = 3
    rows = dict(re.findall(r'scope="row"[^>]*>([^<]+)</th><td[^>]*>([\d,]+)<', explorer.table.value))
    assert rows.pop("what is known") == str(by_hand(survey, KEYS, 3))
    expected = {name: str(by_hand(survey, [other for other in KEYS if other != name], 3)) for name in KEYS}
    assert rows == {f"without {name}".replace("<age>", "&lt;age&gt;"): count for name, count in expected.items()}


def test_one_drawing_replaces_the_other(explorer):
    first = explorer.chart.outputs
    explorer.controls["knows1"].value = False
    (output,) = explorer.chart.outputs
    assert explorer.chart.outputs != first
    values = {param["name"]: param.get("value") for param in output["data"][VEGALITE]["params"]}
    assert [values[f"knows{i}"] for i in range(3)] == [True, False, True]
    json.dumps(explorer.chart.outputs)  # what goes to the browser


def test_every_control_has_a_label_and_it_shows_itself(explorer):
    assert all(control.description for control in explorer.controls.values())
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_a_start_that_does_not_exist_is_refused(survey):
    with pytest.raises(OptionError, match="k must be from 1 to 20, not 21"):
        explore_keys(survey, KEYS, k=21)
    with pytest.raises(OptionError, match="shoe is not a key variable"):
        explore_keys(survey, KEYS, known=["shoe"])
    with pytest.raises(DataError, match="column shoe is not there"):
        explore_keys(survey, ["shoe"])
