"""The explorer of detail and fraction: what it says in each state, compared with the grid."""

import html
import json
import re

import numpy as np
import pandas as pd
import pytest

from kanon_book.figures.detail_explorer import detail_explorer
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError
from kanon_lab.sample import expected_study

FRACTIONS = [0.01, 0.04, 0.1]
LEVELS = {"region": ["Catalonia", "14 <&> regions"], "age": ["1 year", "5 years", "10 years"]}
STATES = [(place, age, f) for place in (0, 1) for age in (0, 1, 2) for f in (0, 1, 2)]


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(2)
    parts = []
    for place in LEVELS["region"]:
        for age in LEVELS["age"]:
            sizes = rng.poisson(rng.lognormal(0, rng.uniform(1, 3), 3_000))
            part = expected_study(sizes, FRACTIONS)
            part.insert(0, "age", age)
            part.insert(0, "region", place)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


def drawn(spec) -> str:
    return html.unescape(pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(spec), vl_version="5.20"))


def set_to(spec, **values) -> dict:
    """The explorer with its controls moved."""
    params = [each | {"value": values.get(each["name"], each.get("value"))} for each in spec["params"]]
    return spec | {"params": [{k: v for k, v in each.items() if v is not None} for each in params]}


@pytest.mark.parametrize(("place", "age", "step"), STATES[::4])
def test_the_words_are_the_row_of_the_grid(grid, place, age, step):
    # The order of the grid's rows is nothing that the words may depend on.
    spec = detail_explorer(grid.sample(frac=1, random_state=3).sort_values("region", kind="stable")).to_dict()
    bound = {param["name"]: param["bind"] for param in spec["params"] if "bind" in param}
    labels = bound["level0"]["labels"][place], bound["level1"]["labels"][age]
    text = drawn(set_to(spec, level0=place, level1=age, step=step))
    row = grid.set_index(["region", "age", "fraction"]).loc[(*labels, FRACTIONS[step])]
    assert f">{', '.join(labels)},<" in text and f">sample of {percent(FRACTIONS[step])}:<" in text
    for name, column in {"identified": "p_identification", "p(c)": "p_c", "p(d)": "p_d"}.items():
        true = "with true shares" if name == "identified" else "in truth"
        between = "<.*?>" if name == "identified" else " "
        said = f">{name} {percent(row[column])},{between}{true} {percent(row[f'true_{column}'])}<"
        assert re.search(said.replace("(", r"\(").replace(")", r"\)"), text)
    assert f">u1 {row['u1']:,.0f}, u2 {row['u2']:,.0f}, u {row['u']:,.0f}<" in text


def test_it_begins_where_it_is_asked_to_and_tells_a_page(grid):
    spec = detail_explorer(grid, fraction=0.1, age="5 years").to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])
    row = grid.set_index(["region", "age", "fraction"]).loc["Catalonia", "5 years", 0.1]
    assert spec["description"].endswith(
        f" Catalonia, 5 years, sample of 10%: identified {percent(row['p_identification'])}, with true shares "
        f"{percent(row['true_p_identification'])}."
    )
    fractions = next(param["bind"] for param in spec["params"] if param["name"] == "step")
    assert dict(zip(fractions["labels"], fractions["options"])) == {"1%": 0, "4%": 1, "10%": 2}
    assert len(json.dumps(spec)) < 20_000


def test_one_variable_is_enough(grid):
    one = grid[grid["region"] == "Catalonia"].drop(columns="region")
    spec = detail_explorer(one).to_dict()
    assert [param["name"] for param in spec["params"] if "bind" in param] == ["level0", "step"]
    assert ">1 year,<" in drawn(spec)


def test_thirds_zeros_and_names_of_arguments_are_no_trouble(grid):
    """A fraction that no decimals hold has its marks; what is next to nothing has words and no mark."""
    odd = grid[grid["fraction"] < 0.1].replace({"fraction": {0.04: 1 / 3}}).rename(columns={"region": "spec"})
    odd = odd.rename(columns={"age": "grid"}).assign(true_p_identification=1e-130)
    start = {"spec": "Catalonia", "grid": "5 years"}
    text = drawn(detail_explorer(odd, fraction=1 / 3, **start).to_dict())
    assert "with true shares under 0.0000001%<" in text and "NaN" not in text
    assert text.count('stroke="white"') == 1
    assert detail_explorer(odd, fraction=1 / 3, **start).description.endswith("with true shares under 0.0000001%.")


@pytest.mark.parametrize(
    ("change", "start", "message"),
    [
        (lambda g: g.iloc[1:], {}, "each combination of levels and fraction once"),
        (lambda g: pd.concat([g, g]), {}, "each combination of levels and fraction once"),
        (lambda g: g.drop(columns=["region", "age"]), {}, "each combination of levels and fraction once"),
        (lambda g: g.drop(columns="true_p_c"), {}, "needs the column 'true_p_c'"),
        (lambda g: g.assign(p_identification=0.0, true_p_identification=0.0), {}, "every p.identification. is 0"),
        (lambda g: g, {"fraction": 0.05}, "no fraction 0.05"),
        (lambda g: g, {"age": "3 years"}, "no level '3 years' of 'age'"),
        (lambda g: g, {"sex": "man"}, "no level 'man' of 'sex'"),
    ],
)
def test_a_grid_or_start_that_does_not_fit_is_refused(grid, change, start, message):
    with pytest.raises(OptionError, match=message):
        detail_explorer(change(grid), **start)


def test_the_legend_names_every_line(grid):
    spec = detail_explorer(grid).to_dict()
    others, chosen = spec["layer"][:2]
    legend = ["the study's estimate", "with true shares", "estimates at other levels of detail"]
    assert others["encoding"]["color"]["scale"] == chosen["encoding"]["color"]["scale"]
    assert chosen["encoding"]["color"]["scale"]["domain"] == legend
    text = drawn(spec)
    assert all(f">{name}<" in text for name in legend)
