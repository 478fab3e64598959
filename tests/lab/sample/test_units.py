"""Subsamples of whole clusters and households, and the warning where none is named."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_subsample_study import COUNTS, FILES, KEYS, a_sample, counts_by_hand, uniques_of

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.roles import KeySpec
from kanon_lab.sample import population_uniques, scenario_grid, subsample_risk
from kanon_lab.sample.subsamples import Design, Units

AS_BEFORE = ["n1", "u1", "n2", "u2", "u", "p_d"]


def mean_counts(rows, chances):
    """The mean of `COUNTS` over ways to draw records, each with its chance."""
    return sum(chance * np.array(counts_by_hand(rows, drawn)) for drawn, chance in chances)


def by_draws(chance_of):
    """Every set of things that come by draws of their own, with its chance."""
    for taken in product([False, True], repeat=len(chance_of)):
        yield taken, float(np.prod([p if here else 1 - p for p, here in zip(chance_of, taken, strict=True)]))


@given(FILES, st.data(), st.sampled_from([0.1, 0.5]), st.booleans())
def test_expected_counts_of_whole_units_are_the_mean_over_all_subsamples(rows, data, f, fixed):
    unit = pd.factorize(np.array([data.draw(st.integers(0, 2)) for _ in rows]))[0]
    m = int(unit.max()) + 1
    design = Design(len(rows), f, "fixed" if fixed else "bernoulli", 1, 0, units=Units(unit))
    if fixed:
        sets = list(combinations(range(m), design.size))
        ways = [([i for i, u in enumerate(unit) if u in chosen], 1 / len(sets)) for chosen in sets]
    else:
        ways = [([i for i, u in enumerate(unit) if taken[u]], chance) for taken, chance in by_draws([f] * m)]
    found = uniques_of(rows).expected(design)
    assert [found[name] for name in COUNTS] == pytest.approx(mean_counts(rows, ways))


@given(
    st.lists(st.tuples(KEYS, st.integers(0, 3), st.sampled_from([1.0, 2.0, 4.0])), min_size=1, max_size=6), st.data()
)
def test_expected_counts_in_two_steps_and_with_weights_are_the_mean_over_all_subsamples(records, data):
    rows, unit, weights = zip(*records, strict=True)
    unit, weights = pd.factorize(np.array(unit))[0], np.array(weights)
    m, first = int(unit.max()) + 1, data.draw(st.sampled_from([0.5, 1.0]))
    cluster = pd.factorize(np.array([data.draw(st.integers(0, 1)) for _ in range(m)]))[0]
    chance = [min(1, np.mean(1 / weights[unit == u]) / first) for u in range(m)]
    ways = []
    for clusters, one in by_draws([first] * (int(cluster.max()) + 1)):
        for taken, other in by_draws(chance):
            ways.append(([i for i, u in enumerate(unit) if taken[u] and clusters[cluster[u]]], one * other))
    design = Design(len(rows), np.nan, "bernoulli", 1, 0, weights=weights, units=Units(unit, cluster, first))
    found = uniques_of(rows, tuple(weights)).expected(design)
    assert [found[name] for name in COUNTS] == pytest.approx(mean_counts(rows, ways))


@pytest.mark.parametrize("scheme", ["bernoulli", "fixed"])
@pytest.mark.parametrize("role", ["cluster", "household"])
def test_units_of_one_record_change_nothing(scheme, role):
    frame = a_sample(400).assign(unit=lambda frame: [f"u{i}" for i in range(len(frame))])
    keys, options = ["region", "age", "job"], {"fraction": 0.3, "repeats": 5, "scheme": scheme}
    plain = subsample_risk(frame, keys, **options)
    if role == "household":
        found = subsample_risk(frame, KeySpec(keys, household="unit"), **options)
    else:
        found = subsample_risk(frame, keys, cluster="unit", **options)
    pd.testing.assert_frame_equal(found.draws, plain.draws)
    assert found.expected == pytest.approx(plain.expected)
    assert (found.units, plain.units) == (400, None)


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from(["bernoulli", "fixed"]))
def test_every_unit_that_is_drawn_is_whole(seed, scheme):
    unit = pd.factorize(np.random.default_rng(seed).integers(0, 15, 100))[0]
    for rows in Design(100, 0.4, scheme, 5, seed, units=Units(unit)).subsamples():
        assert set(rows) == set(np.flatnonzero(np.isin(unit, unit[rows])))


def test_in_two_steps_households_are_whole_and_come_from_few_clusters():
    household = np.repeat(np.arange(200), 2)
    for rows in Design(400, 0.1, "bernoulli", 5, 1, units=Units(household, np.arange(200) // 10, 0.2)).subsamples():
        assert set(rows) == set(np.flatnonzero(np.isin(household, household[rows])))
        assert len(set(household[rows] // 10)) < 12


def villages(f1, f2, seed=1):
    """A population of 250 villages x 40 households, a sample of it by clusters (f1) and households (f2)."""
    rng = np.random.default_rng(seed)
    size = rng.choice([1, 2, 3, 4], 10_000)
    home = np.repeat(np.arange(10_000), size)
    frame = pd.DataFrame({"id_hogar": home, "psu": home // 40, "age": rng.integers(0, 90, len(home))})
    frame["job"] = (rng.normal(0, 4, 250)[frame["psu"]] + rng.normal(0, 1, len(home))).round().astype(int)
    of_class = frame.groupby(["psu", "age", "job"])["age"].transform("size")
    drawn = (rng.random(250) < f1)[frame["psu"]] & (rng.random(10_000) < f2)[home]
    sample = frame[drawn].reset_index(drop=True)
    alone = ~sample.duplicated(["psu", "age", "job"], keep=False).to_numpy()
    return sample, float((of_class[drawn].to_numpy()[alone] == 1).mean())


def test_where_whole_villages_were_sampled_and_are_known_only_clusters_give_the_truth():
    sample, truth = villages(0.1, 1)
    keys = ["psu", "age", "job"]
    assert truth == 1  # the neighbours are all in the sample
    assert subsample_risk(sample, keys, fraction=0.1).expected["p_d"] < 0.9
    assert subsample_risk(sample, keys, fraction=0.1, cluster="psu").expected["p_d"] == pytest.approx(1)


def test_a_sample_of_clusters_is_warned_of_once_and_named_units_are_not():
    sample, _ = villages(0.2, 0.3)
    options = {"fraction": 0.06}
    (line,) = subsample_risk(sample, ["age", "job"], **options).warnings
    assert line.startswith("psu seems to be a sampling unit: its units have ")
    assert line.endswith("name the column as cluster (--cluster)")
    assert subsample_risk(sample, ["age", "job"], cluster="psu", **options).warnings == ()
    (line,) = subsample_risk(sample.rename(columns={"psu": "zone"}), ["age", "job"], **options).warnings
    assert line.startswith("zone seems to be")  # it stands in the file unit by unit
    shuffled = sample.rename(columns={"psu": "zone"}).sample(frac=1, random_state=1, ignore_index=True)
    assert not any("zone" in line for line in subsample_risk(shuffled, ["age", "job"], **options).warnings)
    assert (
        line
        in scenario_grid(sample.rename(columns={"psu": "zone"}), ["age", "job"], {"job": {"a": None}}, **options).notes
    )
    found = population_uniques(sample, ["age", "job"], fraction=0.06, methods=["zayatz", "poisson-gamma", "pitman"])
    assert found["note"].str.contains("psu seems to be a sampling unit").all()
    sizes = sample.value_counts(["age", "job"]).to_numpy()
    assert not population_uniques(sizes, fraction=0.06)["note"].str.contains("unit").any()


@pytest.mark.parametrize("name", ["cluster", "hogar", "other"])
def test_random_columns_are_not_accused(name):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = a_sample(600, seed).assign(**{name: np.sort(rng.integers(0, 60, 600))})
        assert subsample_risk(frame, ["region", "job"], fraction=0.2).warnings == ()


@pytest.mark.parametrize(
    ("change", "options", "error", "line"),
    [
        ({}, {"cluster": "unt"}, DataError, "survey: column unt is not there; did you mean unit?"),
        ({"unit": 1}, {"cluster": "unit"}, DataError, "column unit: all records are in one unit; leave it out"),
        (
            {"unit": [None] + [1, 2] * 150 + [3]},
            {"cluster": "unit"},
            DataError,
            "column unit: row 0: no unit; fill it in",
        ),
        (
            {"home": (np.arange(302) > 1) * 7},
            {"spec": "home", "cluster": "unit"},
            DataError,
            "column home: row 1 .*: another unit than others",
        ),
        ({}, {"cluster_fraction": 0.5}, OptionError, "cluster_fraction: name the column of clusters as well"),
        ({}, {"cluster": "unit", "cluster_fraction": 0.05}, OptionError, "cluster_fraction must be from the fraction"),
        ({}, {"cluster": "unit", "cluster_fraction": 2}, OptionError, "must be a number from 1e-9 up to 1, not 2"),
        ({}, {"cluster": "unit", "cluster_fraction": 0.5, "scheme": "fixed"}, OptionError, "scheme fixed: with a clu"),
        ({}, {"spec": "unit", "cluster": "unit"}, OptionError, "unit is cluster and household: give it one"),
    ],
)
def test_units_that_cannot_be_used_are_one_line(change, options, error, line):
    frame = a_sample(302).assign(unit=np.arange(302) % 30, home=np.arange(302)).assign(**change)
    spec = KeySpec(["age"], household=options.pop("spec", None))
    with pytest.raises(error, match=line), about("survey"):
        subsample_risk(frame, spec, fraction=0.1, **options)


@pytest.mark.parametrize(
    ("sizes", "spec", "line"),
    [
        ([1, 2], ["age"], "key variables are for a sample of records"),
        (a_sample(200), None, "name the key variables of the sample"),
        (a_sample(200), KeySpec(["age"], weight="w"), "the weight w: only subsample_risk takes weights"),
    ],
)
def test_models_take_sizes_or_a_sample_with_its_keys(sizes, spec, line):
    with pytest.raises(OptionError, match=line):
        population_uniques(sizes, spec, fraction=0.1)
