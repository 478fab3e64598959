"""The JupyterLab explorer without a browser: move the controls, read what it shows."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from kanon_lab.errors import OptionError
from kanon_lab.population import anonymity
from kanon_lab.show import explore

pytest.importorskip("ipywidgets")

VEGALITE = "application/vnd.vegalite.v5+json"


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(11)
    places = ["42001", "42002", "29001", "29002"]
    frame = pd.DataFrame({"place": np.repeat(places, 6), "persons": rng.integers(1, 900, 24)})
    frame = frame.assign(name="Place " + frame["place"], province=frame["place"].str[:2])
    empty = pd.DataFrame({"place": ["42003"], "name": ["Nowhere & co"], "province": ["42"], "persons": [0]})
    return pd.concat([frame, empty], ignore_index=True)


@pytest.fixture
def explorer(counts):
    return explore(counts, whole="Everywhere")


def shown(explorer) -> tuple[str, float]:
    """Name in the sentence, and per cent in the table; the sentence has it with fewer digits."""
    name, share = re.search(r", in ([^<>]+?)(?: \([^)]*\))?: ([\d.]+)%", explorer.sentence.value).groups()
    chosen = re.search(r'aria-current="true">.*?</td><td[^>]*>([\d.]+)%', explorer.table.value)
    assert float(chosen[1]) == pytest.approx(float(share), abs=0.051)
    return name, float(chosen[1])


def expected(counts, k, dates, **where) -> float:
    for column, value in where.items():
        counts = counts[counts[column] == value]
    return 100 * anonymity(counts, dates=[dates], ranges=f"1-{k}")["share"].iloc[0]


def test_the_sentence_follows_every_control(explorer, counts):
    assert shown(explorer) == ("Everywhere", pytest.approx(expected(counts, 5, "month"), abs=0.005))
    explorer.controls["k"].value = 9
    assert shown(explorer)[1] == pytest.approx(expected(counts, 9, "month"), abs=0.005)
    explorer.controls["dates"].value = "day"
    assert shown(explorer)[1] == pytest.approx(expected(counts, 9, "day"), abs=0.005)
    explorer.controls["province"].value = "29"
    assert shown(explorer) == ("Málaga", pytest.approx(expected(counts, 9, "day", province="29"), abs=0.005))
    explorer.controls["municipality"].value = "29002"
    assert shown(explorer) == ("Place 29002", pytest.approx(expected(counts, 9, "day", place="29002"), abs=0.005))
    explorer.controls["province"].value = "all"
    assert shown(explorer)[0] == "Everywhere"


def test_the_table_has_a_row_for_each_date(explorer):
    explorer.controls["k"].value = 3
    assert re.findall(r'scope="row"[^>]*>(\w+)<', explorer.table.value) == ["day", "month", "year"]
    assert "group of exactly 3" in explorer.table.value
    chosen = re.search(r'aria-current="true"><th[^>]*>(\w+)</th>(.*?)</tr>', explorer.table.value)
    exactly, up_to, more, right = map(float, re.findall(r">([\d.]+)%<", chosen[2]))
    assert chosen[1] == "month"
    assert up_to == shown(explorer)[1]
    assert exactly <= up_to and 0 < right < 100
    assert up_to + more == pytest.approx(100, abs=0.011)


def test_one_drawing_replaces_the_other(explorer):
    first = explorer.chart.outputs
    explorer.controls["k"].value = 50
    (output,) = explorer.chart.outputs
    assert explorer.chart.outputs != first
    values = {param["name"]: param["value"] for param in output["data"][VEGALITE]["params"] if "value" in param}
    assert values == {"step": explorer.controls["k"].index, "dates": "month", "place": "all"}
    assert output["data"][VEGALITE]["$schema"].endswith("v5.json")
    assert "At k = 50, by month, in Everywhere" in output["data"]["text/plain"]
    json.dumps(explorer.chart.outputs)  # what goes to the browser


def test_the_municipalities_follow_the_province(explorer):
    assert explorer.controls["municipality"].disabled
    explorer.controls["province"].value = "42"
    assert not explorer.controls["municipality"].disabled
    assert [code for _, code in explorer.controls["municipality"].options] == ["", "42003", "42001", "42002"]
    explorer.controls["municipality"].value = "42002"
    explorer.controls["province"].value = "29"
    assert shown(explorer)[0] == "Málaga"


def test_a_change_of_province_is_answered_once(explorer):
    drawings = []
    explorer.controls["province"].value = "42"
    explorer.controls["municipality"].value = "42002"
    explorer.chart.observe(drawings.append, "outputs")
    explorer.controls["province"].value = "29"
    assert len(drawings) == 1


def test_a_place_without_persons_leaves_no_old_numbers(explorer):
    explorer.controls["province"].value = "42"
    explorer.controls["municipality"].value = "42003"
    assert "Nobody lives" in explorer.sentence.value
    assert explorer.table.value == ""
    assert explorer.chart.outputs == ()
    explorer.controls["municipality"].value = "42001"
    assert shown(explorer)[0] == "Place 42001"


def test_kinds_of_counts_in_words(counts):
    kinds = counts.assign(kind=np.where(counts["province"] == "42", "synthetic", "reconstructed"))
    explorer = explore(kinds, k=1, place="42")
    assert "At k = 1, " in explorer.sentence.value
    assert "(synthetic): " in explorer.sentence.value
    explorer.controls["province"].value = "all"
    assert "(reconstructed and synthetic): " in explorer.sentence.value
    explorer.controls["province"].value = "29"
    explorer.controls["municipality"].value = "29001"
    assert "(reconstructed): " in explorer.sentence.value


def test_names_are_text_not_markup(counts):
    odd = counts.assign(name=counts["name"].str.replace("Place", "<i>Place & Co</i>"))
    assert "&lt;i&gt;Place &amp; Co" in explore(odd, place="29001").sentence.value


def test_every_control_has_a_label_and_it_shows_itself(explorer):
    assert all(control.description for control in explorer.controls.values())
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()


def test_the_counts_stay_as_they_were(counts):
    before = counts.copy()
    explore(counts).controls["k"].value = 7
    pd.testing.assert_frame_equal(counts, before)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"k": 0}, "k must be from 1 to 100"),
        ({"dates": "week"}, "dates must be out of"),
        ({"place": "99999"}, "no place of the population has the code '99999'"),
    ],
)
def test_a_start_that_does_not_exist_is_refused(counts, start, message):
    with pytest.raises(OptionError, match=message):
        explore(counts, **start)
