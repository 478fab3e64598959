"""Charts: valid, small, with words for those who cannot see them, and optional."""

import itertools
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from kanon_book.figures import audit as audit_figures
from kanon_book.figures import cost as cost_figures
from kanon_book.figures import detail as detail_figures
from kanon_book.figures import detail_explorer
from kanon_book.figures import diversity as diversity_figures
from kanon_book.figures import maps as map_figures
from kanon_book.figures import perturbation as perturbation_figures
from kanon_book.figures import risk as risk_figures
from kanon_book.figures import spain as spain_figures
from kanon_book.figures import speed as speed_figures
from kanon_book.figures import suppression as suppression_figures
from kanon_book.figures import town as town_figures
from kanon_book.figures import uniques as uniques_figures
from kanon_book.figures.audit import _VERDICTS, _ink, _tint
from kanon_book.studies import shares_by_area
from kanon_lab import show
from kanon_lab.classes import class_table, key_grid, size_ranges
from kanon_lab.errors import OptionError
from kanon_lab.methods import CLAIMS, Hierarchy, level_grid
from kanon_lab.population import anonymity
from kanon_lab.population.places import alone_by_age, alone_by_cell_size, explorer_grid
from kanon_lab.roles import KeySpec
from kanon_lab.sample import expected_study, uniqueness_curve
from kanon_lab.show.anonymity import UNIT
from kanon_lab.show.colors import (
    BLACK,
    BLUE,
    DARK,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    OUTCOMES,
    PALE_GREY,
    PALE_ORANGE,
    PURPLE,
    RAMP,
)

_INTERVAL = {"estimate": 0.2, "lower": 0.1, "upper": 0.3}


@pytest.fixture(scope="module")
def counts():
    """1,200 municipalities of two cells in 52 provinces."""
    rng = np.random.default_rng(3)
    places = [f"{1 + i % 52:02d}{i:03d}" for i in range(1_200)]
    persons = np.rint(10 ** rng.uniform(0, 5, 2_400)).astype(int)
    frame = pd.DataFrame({"place": np.repeat(places, 2), "persons": persons})
    return frame.assign(name="Place " + frame["place"], province=frame["place"].str[:2])


@pytest.fixture(scope="module")
def grid(counts):
    return explorer_grid(counts, municipalities=counts["place"].unique()[:20])


LADDERS = {
    "place": Hierarchy.from_masks([3, 1, 0], level_names=["whole code", "first digit", "any"]),
    "sex": Hierarchy.from_mapping({"woman": "*", "man": "*"}, level_names=["as it is", "any"]),
}
NAMES_OF_LEVELS = {name: ladder.level_names for name, ladder in LADDERS.items()}


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(8)
    return pd.DataFrame({"place": rng.integers(100, 400, 500).astype(str), "sex": rng.choice(["woman", "man"], 500)})


@pytest.fixture(scope="module")
def risks():
    """Charts of risk."""
    explored = pd.DataFrame({"f_k": [1, 1, 2, 2], "F_k": [1, 2, 2, 4], "exact": 0.4, "benedetti-franconi": 0.4})
    bins = pd.DataFrame({"low": [0.01, 0.1], "high": [0.1, 1], "records": [3, 4], "known": [1, 6]})
    means = pd.DataFrame({"f_k": ["1", "2+"] * 2, "measure": list("aabb"), "risk": 0.3, "records": 9})
    sizes = pd.DataFrame({"members": [1, 2], "households": 4, "person": 0.1, "lower": 0.1, "risk": 0.2, "upper": 0.3})
    return {
        "household_bounds": risk_figures.household_bounds(sizes),
        "risk_by_frequency": risk_figures.risk_by_frequency(means),
        "risk_distribution": show.risk_distribution(bins, threshold=0.05),
        "risk_explorer": risk_figures.risk_explorer(explored, weight=2),
    }


@pytest.fixture(scope="module")
def protections():
    """Charts of protection."""
    bands = pd.DataFrame({"version": ["before", "before", "after"], "start": [0, 1, 0], "end": [1, 2, 2], "records": 3})
    cells = pd.DataFrame({"variable": ["sex", "age"], "cells": [1, 9], "share": [0.1, 0.9]})
    states = cells.assign(k=2, order="none", touched=9)
    claims = pd.DataFrame({"k": 2, "order": "none", "claim": ["before", *CLAIMS], "records": 4})
    return {
        "banded": suppression_figures.banded(bands, variable="age (years)"),
        "contributions": show.contributions(cells.rename(columns={"share": "contribution"})),
        "suppressed_cells": suppression_figures.suppressed_cells(cells),
        "suppression_explorer": suppression_figures.suppression_explorer(states, claims, records=10, k=2),
    }


@pytest.fixture(scope="module")
def perturbations():
    """Charts of perturbation."""
    points = pd.DataFrame({"x": [1, 2, 8], "y": [1, 3, 2], "group": [1, 1, 2]})
    shares = pd.DataFrame({"series": ["all", "all", "few"], "strength": [0.1, 0.2, 0.1], "share": [0.5, 0.2, 0.9]})
    explored = pd.DataFrame({"method": list("aabb"), "label": "k = 3", "linked": 0.4, "il1s": [0.1, 0.2, 0.2, 0.3]})
    explored["outlying"] = 0.5
    return {
        "by_strength": perturbation_figures.by_strength(
            shares, heading="Links", strength="Noise", share="Records (%)", note="All"
        ),
        "groups_of_points": perturbation_figures.groups_of_points(points),
        "perturbation_explorer": perturbation_figures.perturbation_explorer(explored),
        "noise_explorer": perturbation_figures.noise_explorer(
            points[["x", "y"]].set_axis(list("ABC")), {0.1: points[["x", "y"]].set_axis(list("ABC")) + 0.1}
        ),
    }


@pytest.fixture(scope="module")
def costs():
    """Charts of what protection costs, and of many recipes."""
    rows = {"kind": "rate", "variable": "ill", "category": "yes", "by": ["", "sex"], "group": ["", "man"]}
    ends = {f"{name}_{side}": value for side in ("before", "after") for name, value in _INTERVAL.items()}
    compared = pd.DataFrame({**rows, **ends, "overlap": 1.0, "status": "compared"})
    recipes = pd.DataFrame({"label": list("abc"), "repeats": 1, "error": None, "global_risk": [0.1, 0.2, 0.3]})
    recipes = recipes.assign(non_uniform_entropy=[0.6, 0.2, 0.4], equal_cells=[0.9, 0.5, 0.7])
    return {
        "indicator_intervals": cost_figures.indicator_intervals(compared),
        "risk_utility": show.risk_utility(recipes, at_most=0.2),
        "tradeoff_explorer": show.tradeoff_explorer(recipes),
    }


@pytest.fixture(scope="module")
def subsamples():
    """Charts of the subsample study."""
    sizes, f = np.repeat([1, 2, 5, 40], [30, 10, 5, 2]), 0.1
    trials = {"fraction": [f, 0.2], "method": "tangent", "true_p_c": 0.3, "p_c": [0.2, 0.4], "sd_p_c": 0.1}
    scenarios = pd.DataFrame({"region": list("aabb"), "age": list("xyxy"), "p_identification": 0.1, "printed": 0.2})
    areas = pd.DataFrame({"population": [10, 130], "true_p_c": [0.5, 0.2]})
    study = expected_study(sizes, [f, 0.2])
    return {
        "area_threshold": detail_figures.area_threshold(areas, marks={"50": 50}),
        "detail_explorer": detail_explorer.detail_explorer(
            pd.concat([study.assign(age=age) for age in "xy"])[["age", *study]]
        ),
        "estimates_against_truth": uniques_figures.estimates_against_truth(pd.DataFrame({**trials, "failures": 0})),
        "fraction_effect": detail_figures.fraction_effect(study, ceiling=0.15),
        "scenario_risks": detail_figures.scenario_risks(scenarios),
        "uniqueness_curve": uniques_figures.uniqueness_curve(uniqueness_curve(sizes, [0.01, 1]), study.head(1)),
    }


@pytest.fixture(scope="module")
def microdata(survey, risks, protections, perturbations, costs, subsamples):
    """Charts of a microdata file."""
    levels, keys = level_grid(survey, LADDERS, k_max=6), key_grid(survey, KeySpec(["place", "sex"]), k_max=6)
    sizes = [size_ranges(class_table(survey, key)).assign(version=f"by {key}") for key in ("place", "sex")]
    attacked = [
        (version, outcome, 5 * i + order, order)
        for i, version in enumerate("ab")
        for order, outcome in enumerate(["one record", "several", "none"], start=1)
    ]
    values = pd.DataFrame({"class_label": list("aabb"), "value": ["flu", "none"] * 2, "share": [1, 0, 0.5, 0.5]})
    return {
        "attack": diversity_figures.attack(pd.DataFrame(attacked, columns=["version", "outcome", "persons", "order"])),
        "class_distribution": diversity_figures.class_distribution(values.assign(overall=[0.2, 0.8] * 2)),
        "class_sizes": show.class_sizes(pd.concat(sizes)),
        "key_explorer": show.key_explorer(keys),
        "level_explorer": show.level_explorer(levels, NAMES_OF_LEVELS, k=5),
        "nodes": show.nodes(levels, k_required=5, suppression_limit=0.1),
        **risks,
        **protections,
        **perturbations,
        **costs,
        **subsamples,
    }


@pytest.fixture(scope="module")
def made(counts, grid, microdata):
    audit = pd.DataFrame({"table": ["Cuadro 1", "Cuadro 1", "Cuadro 2"], "figures": [80, 1, 220]})
    sizes = pd.DataFrame({"rank": [1, 2, 3], "real": [30, 20, 10], "reconstructed": [30, 21, 10]})
    z = pd.DataFrame({"register": [*"mmm", "one", "all"], "k": [*"112", "1", "2"], "z": [0.5, -2.5, 1, 4.2, -0.1]})
    by_age, pooled = (alone_by_age(counts.assign(age_group=list(pair) * 1_200)) for pair in AGES)
    return microdata | {
        "figura_1": spain_figures.figura_1(anonymity(counts, ranges="1", by="municipality"), named=["01000", "02001"]),
        "distribution": spain_figures.distribution(anonymity(counts)),
        "area_map": map_figures.area_map(shares_by_area(counts.assign(sex="men", age_group="0-4"), ks=[1, 5]), "spain"),
        "alone": spain_figures.alone(alone_by_cell_size([1, 10, 100, 1_000])),
        "ages": spain_figures.ages(by_age, pooled=pooled, name="two places"),
        "town_explorer": town_figures.town_explorer(
            pd.DataFrame({"population": [100, 20_000], "day": [0.9, 0.5], "month": [0.5, 0.1], "year": [0.1, 0]})
        ),
        "deviations": spain_figures.deviations(z, half_width=1.96),
        "audit_overview": audit_figures.audit_overview(audit.assign(verdict=["exact", "disagrees", "exact"])),
        "audit_evidence": audit_figures.audit_evidence(
            pd.DataFrame(
                {
                    "source": ["aepd", "aepd", "garin-1996"],
                    "kind": ["recomputed", "copied", "recomputed"],
                    "verdict": ["published-error", "exact", "exact"],
                    "figures": [1, 80, 300],
                }
            )
        ),
        "reconstruction": audit_figures.reconstruction(sizes, name="Benalmádena"),
        "explorer": show.explorer(grid),
        "seconds_by_size": speed_figures.seconds_by_size(
            pd.DataFrame(
                {"task": list("aaabbb"), "size": [10, 100, 1_000] * 2, "median": [0.1, 0.3, 1, 0.2, 2, 20]}
            ).assign(low=lambda runs: runs["median"] / 2, high=lambda runs: runs["median"] * 2),
            question="The sum of so many numbers",
            unit="records",
        ),
    }


AGES = (("85-89", "100+"), ("0-4", "85+"))
CHAPTERS = (audit_figures, detail_figures, diversity_figures, perturbation_figures, risk_figures, spain_figures)
CHAPTERS += (map_figures, speed_figures, suppression_figures, uniques_figures, cost_figures, detail_explorer)
NOT_CHARTS = {"Explorer", "Figure", "enable", "figure", "scrolling_table"}
NAMES = [name for name in show.__all__ if name not in NOT_CHARTS and not re.match("explore(_|$)", name)]
NAMES += [
    name
    for chapter in CHAPTERS
    for name, made in vars(chapter).items()
    if getattr(made, "__module__", "") == chapter.__name__ and not re.match("_|explore_", name)
]


def rows_in(spec) -> int:
    """Rows of data anywhere in a specification."""
    if isinstance(spec, dict):
        here = len(spec["values"]) if isinstance(spec.get("values"), list) and "data" not in spec else 0
        datasets = sum(map(len, spec.get("datasets", {}).values()))
        inside = sum(
            rows_in(value) for key, value in spec.items() if key not in {"values", "datasets", "axis", "legend"}
        )
        return here + datasets + inside
    return sum(map(rows_in, spec)) if isinstance(spec, list) else 0


#: Rows of data that each chart may carry, at most.
ROWS = {
    "figura_1": 1_500,
    "distribution": 27,
    "area_map": 9 * 53,
    "alone": 13,
    "ages": 9,
    "deviations": 6,
    "town_explorer": 2,
    "audit_overview": 3,
    "audit_evidence": 3,
    "reconstruction": 3,
    "explorer": 219,
    "attack": 14,
    "class_distribution": 6,
    "class_sizes": 12,
    "key_explorer": 4,
    "level_explorer": 8,
    "nodes": 7,
    "household_bounds": 2,
    "risk_by_frequency": 4,
    "risk_distribution": 3,
    "risk_explorer": 2,
    "banded": 3,
    "contributions": 2,
    "suppressed_cells": 2,
    "suppression_explorer": 3,
    "by_strength": 3,
    "groups_of_points": 5,
    "perturbation_explorer": 4,
    "noise_explorer": 3,
    "indicator_intervals": 6,
    "risk_utility": 4,
    "tradeoff_explorer": 6,
    "area_threshold": 4,
    "detail_explorer": 5,
    "estimates_against_truth": 4,
    "seconds_by_size": 6,
    "fraction_effect": 11,
    "scenario_risks": 4,
    "uniqueness_curve": 19,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_is_valid_and_says_what_it_shows(made, name):
    spec = made[name].to_dict()  # altair validates it here
    assert len(spec["description"]) > 40
    assert "nan" not in spec["description"]
    # Lines of a title fit a telephone.
    assert all(len(line) <= 40 for line in spec["title"]["text"])
    assert all(len(line) <= 52 for line in spec["title"]["subtitle"])
    assert spec["title"]["text"]
    # JupyterLab draws a chart of width "container" without end.
    assert isinstance(spec["width"], int)
    assert 0 < rows_in(spec) <= ROWS[name]
    # Vega-Lite 5 draws it.
    vl_convert = pytest.importorskip("vl_convert")
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version="5.8")
    assert "<path" in svg
    assert "NaN" not in svg


def test_figura_1_counts_every_municipality(made, counts):
    spec = made["figura_1"].to_dict()
    layer = next(layer for layer in spec["layer"] if "size" in layer["encoding"])
    cells = spec["datasets"][layer["data"]["name"]]
    assert sum(cell["municipalities"] for cell in cells) == 3 * counts["place"].nunique()


def test_ages_draw_the_open_group_from_its_first_age_to_the_oldest(made):
    spec = made["ages"].to_dict()
    level = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert {(row["age"], row["end"]) for row in level} == {(85, 100)}
    assert {row["dates"] for row in level} == {"day", "month", "year"}
    assert "85 and over as one group" in spec["description"]


def test_deviations_count_what_lies_outside_and_reach_the_farthest(made):
    spec = made["deviations"].to_dict()
    assert spec["description"].endswith("Outside the 95% interval lie: m, 1 of 3; one, 1 of 1; all, 0 of 1.")
    assert spec["layer"][1]["encoding"]["x"]["scale"]["domain"] == [-5, 5]


def test_audit_overview_puts_disagreement_first(made):
    x = made["audit_overview"].to_dict()["layer"][0]["encoding"]["x"]
    assert x["sort"] == ["disagrees", "exact"]


def test_counts_of_the_audit_are_readable_on_their_ground():
    for color in _VERDICTS.values():
        for share in np.linspace(0, 1, 11):
            ground = _tint(color, share)
            ink = (0, 0, 0) if _ink(ground) == "black" else (255, 255, 255)
            dark, light = sorted((luminance(ground), luminance(ink)))
            assert (light + 0.05) / (dark + 0.05) >= 4.5


# Colours that one legend has beside each other.
SHADES = ((BLACK, GREY, LIGHT_GREY), (BLUE, PALE_ORANGE), (BLACK, PALE_GREY), (GREY, PALE_GREY), OUTCOMES, RAMP)


def luminance(rgb) -> float:
    channels = np.array(rgb) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4) @ (
        0.2126,
        0.7152,
        0.0722,
    )


def test_every_colour_of_a_date_has_a_dark_counterpart(made):
    for color in made["alone"].to_dict()["layer"][1]["encoding"]["color"]["scale"]["range"]:
        assert color in DARK


def test_shades_are_told_apart_on_a_dark_page():
    dark = [sorted(luminance([int(DARK[c][i : i + 2], 16) for i in (1, 3, 5)]) for c in shades) for shades in SHADES]
    for shades in dark:
        assert all((high + 0.05) / (low + 0.05) > 1.3 for low, high in zip(shades, shades[1:]))


def test_marks_stand_out_on_white():
    for color in (GREY, LIGHT_GREY, BLACK, BLUE, ORANGE, GREEN, PURPLE):
        rgb = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
        assert 1.05 / (luminance(rgb) + 0.05) >= 3


def test_explorer_says_its_result_in_words(made):
    spec = made["explorer"].to_dict()
    told = spec["usermeta"]["live"]
    assert told["signal"] in {param["name"] for param in spec["params"]}
    assert spec["description"].startswith(told["description"])
    svg = pytest.importorskip("vl_convert").vegalite_to_svg(json.dumps(spec), vl_version="5.8")
    share = re.search(r"([\d.]+)%\.$", spec["description"])[1]
    assert f"{share}% in a group of 5 or fewer" in svg
    assert "with values from 0% to 100%" in svg


def test_explorer_is_small_and_keeps_its_precision(made, grid):
    spec = made["explorer"].to_dict()
    assert len(json.dumps(spec)) < 400_000
    rows = spec["data"]["values"]
    assert [row["place"] for row in rows] == grid["place"].tolist()
    drawn = np.array([row["cumulative"] for row in rows]) * UNIT
    np.testing.assert_allclose(drawn, grid[list(range(1, 101))], atol=UNIT / 2 + 1e-12)


def test_explorer_binds_k_dates_and_place(made):
    params = {param["name"]: param for param in made["explorer"].to_dict()["params"]}
    told = made["explorer"].to_dict()["usermeta"]["labels"]["step"]
    offered = json.loads(params["k"]["expr"].removesuffix("[step]"))
    assert [str(k) for k in offered] == told
    assert params["step"]["bind"] == {"input": "range", "min": 0, "max": len(offered) - 1, "step": 1} | {
        "name": "group of at most (k): "
    }
    assert offered[params["step"]["value"]] == 5
    # Any two neighbours are at most a factor of two apart, and from 10 on nearly as far as any other two.
    assert offered[:10] == [*range(1, 11)]
    assert offered[-1] == 100
    assert all(1.15 < later / earlier < 1.5 for earlier, later in itertools.pairwise(offered[9:]))
    assert params["dates"]["bind"]["options"] == ["day", "month", "year"]
    assert len(params["place"]["bind"]["options"]) == 73
    assert params["place"]["bind"]["labels"][0] == "Spain"


def sizes(versions):
    return pd.DataFrame({"version": range(versions), "label": "1", "records": 3, "share": 0.5})


def by_place(counts):
    return shares_by_area(counts.assign(sex="men", age_group="0-4"))


def outcomes(names, persons):
    return pd.DataFrame({"version": "a", "outcome": names, "persons": persons, "order": range(len(names))})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, g: show.explorer(g, k=101), "k must be from 1 to 100"),
        (lambda c, g: show.explorer(g, dates="week"), "dates must be out of day, month, year"),
        (lambda c, g: show.explorer(g, place="99"), "no place '99'"),
        (lambda c, g: show.explorer(c), "needs the column 'level'"),
        (lambda c, g: spain_figures.figura_1(anonymity(c, ranges="2+", by="municipality")), "no rows of k = 1"),
        (lambda c, g: spain_figures.distribution(anonymity(c, by="province")), "shows one place"),
        (lambda c, g: spain_figures.distribution(anonymity(c.assign(persons=0))), "the place has none"),
        (lambda c, g: map_figures.area_map(by_place(c), "malaga"), "the map of municipalities of Málaga has no area"),
        (lambda c, g: map_figures.area_map(by_place(c), "chile"), "there are maps of spain, malaga, not 'chile'"),
        (lambda c, g: map_figures.area_map(by_place(c), "spain", k=2), "the map has 1, not 2"),
        (
            lambda c, g: spain_figures.deviations(
                pd.DataFrame({"register": list("aabcd"), "k": "1", "z": 0.0}), half_width=2
            ),
            "room for 2 registers",
        ),
        (lambda c, g: spain_figures.alone(pd.DataFrame({"n": [1]})), "needs the column 'dates'"),
        (
            lambda c, g: spain_figures.ages(pd.DataFrame({"dates": ["day"]}), pooled=c),
            "needs the column 'age_group'",
        ),
        (
            lambda c, g: audit_figures.audit_overview(
                pd.DataFrame({"table": ["a"], "verdict": ["fine"], "figures": [1]})
            ),
            "not 'fine'",
        ),
        (
            lambda c, g: audit_figures.reconstruction(pd.DataFrame(columns=["rank", "real", "reconstructed"])),
            "without rows",
        ),
        (lambda c, g: show.class_sizes(sizes(5)), "room for 4 versions, not 5"),
        (lambda c, g: show.class_sizes(sizes(2).drop(columns="version")), "occurs twice"),
        (lambda c, g: diversity_figures.attack(outcomes(list("abcde"), 1)), "room for 4 outcomes, not 5"),
        (lambda c, g: diversity_figures.attack(outcomes(list("ab"), 0)), "has no persons"),
        (
            lambda c, g: diversity_figures.class_distribution(pd.DataFrame({"value": ["a"]})),
            "needs the column 'class_label'",
        ),
    ],
)
def test_a_frame_that_cannot_be_drawn_is_refused(counts, grid, call, message):
    with pytest.raises(OptionError, match=message):
        call(counts, grid)


def test_numbers_of_a_table_have_a_true_minus_sign():
    html = show.scrolling_table(pd.DataFrame({"change": [-1.5, None, -0.0, 2_000]}), "Changes & more")
    assert re.findall(r"<td[^>]*>([^<]*)</td>", html) == ["\N{MINUS SIGN}1.5", "", "0.0", "2,000.0"]
    assert 'aria-label="Changes &amp; more"' in html


def test_a_caption_is_the_name_of_its_table():
    html = show.scrolling_table(pd.DataFrame({"k": [1]}), "Table: x", caption="Classes & more")
    assert 'aria-label="Classes &amp; more"' in html
    assert "<caption><span>Classes &amp; more</span></caption>" in html
    assert "<caption" not in show.scrolling_table(pd.DataFrame({"k": [1]}))


@pytest.mark.parametrize(
    ("first", "heads"),
    [(["a", "b"], ["a", "b"]), (["a", "a"], []), (["a", None], []), ([1, 2], []), ([], [])],
)
def test_texts_that_are_all_different_head_their_rows(first, heads):
    html = show.scrolling_table(pd.DataFrame({"place": first, "kind": ["x"] * len(first)}))
    assert re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', html) == heads
    assert show.scrolling_table(pd.DataFrame()).count("<th") == 1


def test_only_long_texts_ask_for_room():
    html = show.scrolling_table(pd.DataFrame({"age": ["40-49"], "reason": ["word " * 9], "name": ["fourteen chars"]}))
    assert re.findall(r'<td class="([^"]*)"', html) == ["text long", "text"]
    assert 'class="text short">40-49<' in html


def test_a_figure_with_a_table_names_both(survey):
    alt = "Bar chart of records, by place. Two bars."
    chart = show.class_sizes(size_ranges(class_table(survey, "place")))
    figure = show.figure(chart, table=pd.DataFrame({"k": [1]}), alt=alt)
    html = show.page.output_html(*figure.mimebundle())
    assert 'Data of this figure<span class="kanon-hidden">: Bar chart of records, by place</span></summary>' in html
    assert 'aria-label="Data of this figure: Bar chart of records, by place"' in html


@pytest.mark.parametrize(("share", "last"), [(0.736, 0.8), (0.6, 0.6), (1.0, 1.0), (0.31, 0.4), (0.01, 0.06)])
def test_the_axis_of_shares_goes_beyond_the_longest_bar(share, last):
    x = show.class_sizes(sizes(1).assign(share=share)).to_dict()["layer"][0]["encoding"]["x"]
    assert x["axis"]["values"][-1] == last
    assert x["scale"]["domain"][1] >= max(last, share)


def test_versions_are_told_apart_by_a_legend(made, survey):
    spec = made["class_sizes"].to_dict()
    assert "legend" not in spec["layer"][0]["encoding"]["fill"]
    words = {row["words"] for row in next(iter(spec["datasets"].values()))}
    assert all(re.fullmatch(r"[\d.]+%", text) for text in words)
    alone = show.class_sizes(size_ranges(class_table(survey, "place"))).to_dict()
    assert alone["layer"][0]["encoding"]["fill"]["legend"] is None


@pytest.mark.parametrize(("labels", "words"), [(["a", "a"], "one class"), (["a", "b"], "some classes")])
def test_values_of_one_class_or_of_some(labels, words):
    frame = pd.DataFrame({"class_label": labels, "value": "none", "share": [0, 0.5], "overall": 0.3})
    spec = diversity_figures.class_distribution(frame).to_dict()
    assert f"Sensitive values in {words}" in " ".join(spec["title"]["text"])
    assert f"in {words} (" in spec["description"]
    assert '"none" is 0% of "a" and 30% of the whole file.' in spec["description"]


WITHOUT_DRAWING = """
import sys
for name in ("altair", "vl_convert", "ipywidgets"):
    sys.modules[name] = None  # as if not installed
import pandas as pd
from importlib import import_module
from kanon_lab import show
from kanon_lab.errors import MissingPackageError
from kanon_lab.population import anonymity
counts = pd.DataFrame({"place": "42001", "name": "A", "province": "42", "persons": [3, 40]})
result = anonymity(counts)
assert abs(result["share"].sum() - 3) < 1e-9
for draw in (lambda: import_module("kanon_book.figures.spain"), lambda: show.explore(counts)):
    try:
        draw()
    except MissingPackageError as error:
        print(error)
"""


def test_computing_works_without_the_drawing_packages():
    run = subprocess.run([sys.executable, "-c", WITHOUT_DRAWING], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("pip install 'kanon-lab[") == 2


def test_the_heavy_packages_load_only_when_used():
    code = "import sys; from kanon_lab import show; from kanon_lab.show import Figure, figure; dir(show);"
    code += "print({'altair', 'ipywidgets'} & set(sys.modules)); show.explore; print('altair' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["set()", "True"]
