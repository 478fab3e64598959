"""Shuffling: what it keeps and loses, that the own value is not looked at, and what is refused."""

import math
import statistics
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.measures import record_linkage
from kanon_lab.methods import KEEPS, add_noise, shuffle

NORMAL = statistics.NormalDist()


def survey(rows=400, seed=0, given=0.6):
    """Income and rent go with each other, with age and with region; `given` says how strongly."""
    rng = np.random.default_rng(seed)
    age, region = rng.normal(size=rows), rng.integers(0, 3, rows)
    income = given * age + 0.5 * given * region + rng.normal(size=rows)
    rent = 0.7 * income + rng.normal(size=rows)
    values = {"income": np.exp(income) * 1000, "rent": rent**3, "age": age * 10 + 40}
    return pd.DataFrame(values).assign(region=np.array(["north", "south", "west"])[region])


def scores(column):
    """Normal quantile of (rank - 1/2) / n, value by value; equal values share the mean of their ranks."""
    values = column.tolist()
    ordered = sorted(values)
    first = {value: i for i, value in reversed(list(enumerate(ordered)))}
    number = Counter(values)
    mean_rank = {value: first[value] + (number[value] + 1) / 2 for value in number}
    return [NORMAL.inv_cdf((mean_rank[value] - 0.5) / len(values)) for value in values]


@given(st.integers(0, 10**6), st.integers(100, 160), st.integers(1, 9), st.booleans(), st.booleans())
def test_marginals_of_each_stratum_are_kept_exactly(seed, rows, decimals, strata, gaps):
    frame = survey(rows, seed).round({"rent": 0}).assign(half=np.arange(rows) % 2)
    frame["income"] = (frame["income"] / 10**decimals).round().clip(upper=5).astype("Int64")
    frame.loc[:1, "income"] = [7, 8]  # in no stratum all are equal
    if gaps:
        frame.loc[5:20, ["income", "rent"]] = None
    names = ["income", "rent"]
    options = {"strata": "half"} if strata else {}
    result = shuffle(frame, names, given="age", missing="leave", seed=seed, **options)
    assert result.keeps == KEEPS["shuffle"]["shuffle"] and result.strata == tuple(options.values())
    assert result.frame.dtypes.equals(frame.dtypes)
    for part in [frame["half"] == 0, frame["half"] == 1] if strata else [frame["half"] >= 0]:
        for name in names:
            before, after = (file.loc[part, name] for file in (frame, result.frame))
            assert Counter(before.dropna()) == Counter(after.dropna())
            assert before.isna().equals(after.isna())
    pd.testing.assert_frame_equal(result.frame.drop(columns=names), frame.drop(columns=names))


def test_rank_correlations_are_nearly_kept_with_each_other_and_with_those_given():
    """The mean over seeds of each correlation of normal scores.

    A correlation r of n records has standard error (1 - r^2) / sqrt(n), here at most 0.016, and a mean over 30 seeds
    at most 0.003; 4.5 of those are 0.013.
    """
    file = survey(4000)
    frames = [shuffle(file, ["income", "rent"], given=["age", "region"], seed=seed).frame for seed in range(30)]
    for x, y in [("income", "rent"), ("income", "age"), ("rent", "age")]:
        before = statistics.correlation(scores(file[x]), scores(file[y]))
        after = [statistics.correlation(scores(frame[x]), scores(frame[y])) for frame in frames]
        assert before > 0.3
        assert statistics.fmean(after) == pytest.approx(before, abs=0.013)
    for x in ["income", "rent"]:
        # A mean of about 1300 ranks as shares of the file has standard error 0.29 / sqrt(1300) or less, over 30 seeds.
        before, *after = (frame[x].rank(pct=True).groupby(frame["region"]).mean() for frame in [file, *frames])
        assert before.max() - before.min() > 0.08
        np.testing.assert_allclose(sum(after) / 30, before, atol=4.5 * 0.29 / math.sqrt(1300 * 30))


def test_relations_among_the_variables_stay_without_any_given():
    file = survey(4000)
    pairs = [shuffle(file, ["income", "rent"], seed=seed).details["correlations"] for seed in range(30)]
    assert all(pair[["variable", "other"]].to_numpy().tolist() == [["income", "rent"]] for pair in pairs)
    before = spearmanr(file["income"], file["rent"]).statistic
    assert pairs[0]["before"][0] == pytest.approx(before)
    assert statistics.fmean(pair["after"][0] for pair in pairs) == pytest.approx(before, abs=0.013)
    with_age = shuffle(file, "income").frame
    assert abs(spearmanr(with_age["income"], file["age"]).statistic) < 4.5 / math.sqrt(4000)


def test_linkage_falls_to_chance_where_those_given_tell_nothing():
    """Of 300 records one in 300 is linked by chance: right links are a Poisson number with mean 1 a file."""
    for options in ({}, {"given": ["age", "region"]}):
        found = []
        for seed in range(40):
            file = survey(300, seed=100 + seed, given=0)
            after = shuffle(file, ["income", "rent"], seed=seed, **options).frame
            assert record_linkage(file, file, variables=["income", "rent"]).share == 1
            found.append(record_linkage(file, after, variables=["income", "rent"]).share * 300)
        assert sum(found) == pytest.approx(40, abs=4.5 * math.sqrt(40))


def test_the_released_value_is_independent_of_the_true_one_given_those_given():
    """What is left of income beyond age before and after is uncorrelated: over 20 files of 1000 by 0 +- 0.0071."""
    found = []
    for seed in range(20):
        file = survey(1000, seed=seed, given=0.9)
        result = shuffle(file, "income", given=["age", "region"], seed=seed)
        assert spearmanr(file["income"], result.frame["income"]).statistic > 0.3  # by what age and region tell
        known = np.column_stack([scores(file["age"]), pd.get_dummies(file["region"]).to_numpy(float)])
        left = []
        for frame in (file, result.frame):
            score = np.array(scores(frame["income"]))
            left.append(score - known @ np.linalg.lstsq(known, score)[0])
        found.append(np.corrcoef(left)[0, 1])
        share = 1 - (left[0] ** 2).sum() / ((np.array(scores(file["income"]))) ** 2).sum()
        assert result.details["explained"]["share"][0] == pytest.approx(share, rel=1e-9)
    assert abs(statistics.fmean(found)) < 4.5 / math.sqrt(1000 * 20)


def with_zeros(seed, share, rows=2000):
    """Two quantities of which a share is 0, and one given; what is above 0 goes together by a normal copula."""
    values = np.random.default_rng(seed).multivariate_normal(
        [0, 0, 0], [[1, 0.8, 0.8], [0.8, 1, 0.64], [0.8, 0.64, 1]], rows
    )
    paid = np.exp(values[:, :2])
    paid[paid <= np.quantile(paid, share, axis=0)] = 0
    return pd.DataFrame(paid, columns=["x", "y"]).assign(given=values[:, 2])


def test_rank_correlations_stay_where_few_values_are_equal_and_fall_where_many_are():
    """The standard error of a mean over 12 files is below (1 - 0.6^2) / sqrt(2000 * 12) = 0.004."""
    files = {
        "zeros": [with_zeros(seed, 0.1) for seed in range(12)],
        "tenths": [with_zeros(seed, 0).rank(pct=True).mul(10).apply(np.ceil) for seed in range(12)],
        "many zeros": [with_zeros(seed, 0.6) for seed in range(12)],
    }
    fallen = {}
    for name, some in files.items():
        pairs = [
            shuffle(file, ["x", "y"], given="given", seed=seed).details["correlations"]
            for seed, file in enumerate(some)
        ]
        fallen[name] = np.mean([pair["before"] - pair["after"] for pair in pairs], axis=0)
    assert np.abs([fallen["zeros"], fallen["tenths"]]).max() < 0.03
    assert fallen["many zeros"].min() > 0.05


def test_the_nearer_those_given_tell_the_order_the_more_values_come_back_and_nearly_all_is_refused():
    known, own = np.random.default_rng(6).normal(size=(2, 400))
    file = {
        part: pd.DataFrame({"x": math.sqrt(part) * known + math.sqrt(1 - part) * own, "s": known})
        for part in (0.5, 0.9, 0.99)
    }
    same = []
    for part in (0.5, 0.9):
        results = [shuffle(file[part], "x", given="s", seed=seed) for seed in range(30)]
        assert results[0].details["explained"]["share"][0] == pytest.approx(part, abs=0.05)
        same.append(statistics.fmean(1 - result.cells["share"][0] for result in results))
    assert same[1] > 2 * same[0]
    with pytest.raises(DataError, match="the given variables explain more than 95%"):
        shuffle(file[0.99], "x", given="s")
    mixed = pd.concat([file[0.5].assign(half=1), file[0.99].assign(half=2)], ignore_index=True)
    with pytest.raises(DataError, match="the given variables explain more than 95%"):
        shuffle(mixed, "x", given="s", strata="half")


def test_differences_of_spread_between_categories_are_lost():
    rng = np.random.default_rng(7)
    wide = rng.random(4000) < 0.5
    file = pd.DataFrame({"x": rng.normal(size=4000) * np.where(wide, 5, 1), "c": np.where(wide, "wide", "narrow")})
    before, after = (each.groupby("c")["x"].std() for each in (file, shuffle(file, "x", given="c").frame))
    assert before["wide"] > 4 * before["narrow"] and after["wide"] == pytest.approx(after["narrow"], rel=0.15)


def test_relations_of_another_shape_are_lost():
    rng = np.random.default_rng(3)
    known = rng.normal(size=4000)
    file = pd.DataFrame({"x": known**2 + 0.1 * rng.normal(size=4000), "s": known})
    after = shuffle(file, "x", given="s").frame
    assert spearmanr(file["x"], file["s"].abs()).statistic > 0.9
    assert abs(spearmanr(after["x"], after["s"].abs()).statistic) < 0.1


def test_dates_and_ordered_categories_given_count_by_their_order():
    file = survey(2000)
    bands = pd.cut(file["age"], [-100, 30, 40, 50, 200], labels=["d", "c", "b", "a"])
    born = pd.Timestamp("2000-01-01") - pd.to_timedelta((file["age"] * 365).round(), unit="D")
    file = file.assign(band=bands, born=born, flag=file["age"] > 40)
    result = shuffle(file, "income", given=["band", "flag", "born"])
    pairs = result.details["correlations"]
    assert pairs["other"].tolist() == ["band", "born"]
    assert pairs["before"][0] > 0.3 and pairs["before"][1] < -0.3
    assert pairs["after"].tolist() == pytest.approx(pairs["before"].tolist(), abs=4.5 / math.sqrt(2000))


def test_another_variable_changes_none_before_it_and_a_seed_says_it_all():
    file = survey()
    before = file.copy()
    alone, both, again, other = (
        shuffle(file, names, given="age", seed=seed)
        for names, seed in (("income", 1), (["income", "rent"], 1), (["income", "rent"], 1), ("income", 2))
    )
    assert alone.frame["income"].equals(both.frame["income"]) and not alone.frame["income"].equals(
        other.frame["income"]
    )
    pd.testing.assert_frame_equal(both.frame, again.frame)
    pd.testing.assert_frame_equal(file, before)
    assert (alone.method, alone.variables, alone.details["given"], alone.seed) == ("shuffle", ("income",), ("age",), 1)


def test_noise_after_a_shuffle_of_the_same_seed_is_independent_of_it():
    file = survey(2000)
    shuffled = shuffle(file, "rent", seed=4).frame
    moved = add_noise(shuffled, "rent", seed=4).frame["rent"] - shuffled["rent"]
    assert abs(spearmanr(moved, shuffled["rent"]).statistic) < 4.5 / math.sqrt(2000)


FILE = survey(200)
BAD = {
    "text": FILE.assign(rent="much"),
    "gap": FILE.assign(rent=FILE["rent"].where(FILE.index != 3)),
    "flat": FILE.assign(rent=4.5),
    "flat in a stratum": FILE.assign(rent=FILE["rent"].where(FILE["region"] == "north", 4.5)),
    "gap given": FILE.assign(age=FILE["age"].where(FILE.index != 3)),
    "small category": FILE.assign(region=FILE["region"].where(FILE.index != 3, "secret")),
    "mixed": FILE.assign(age=FILE["age"].astype(object).where(FILE.index != 3, "secret")),
    "told": FILE.assign(age=FILE["rent"] ** 3),
    "few": FILE[:30],
    "empty": FILE[:0],
}


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("text", {}, "column rent: row 0 .*text, but numbers are needed"),
        ("gap", {}, "column rent: row 3: a missing value; fill it in"),
        ("gap", {"missing": "leave"}, "column rent: row 3: a missing value; other values of the record"),
        ("flat", {}, "column rent has the same value in every record; leave it out"),
        ("flat in a stratum", {"strata": "region"}, "column rent has .* in 2 of 3 strata; join strata, or leave"),
        ("gap given", {}, "column age: row 3: a missing value in a variable that is given; fill it in"),
        ("small category", {"given": "region"}, "column region: a category of fewer than 10 records"),
        ("mixed", {}, "column age: row 3: text, but numbers are needed"),
        (
            "told",
            {},
            "column rent: the given variables explain more than 95% of the order of its values, .*; "
            "give fewer variables",
        ),
        (
            "few",
            {"given": ["age", "region"]},
            "column region: a category|shuffling with 6 variables.* needs 60 records",
        ),
        ("few", {"strata": "region"}, "shuffling with 3 variables.* needs 30 records in each stratum"),
        ("empty", {}, "has no records"),
    ],
)
def test_bad_data_in_one_line(file, options, message):
    with pytest.raises(DataError, match=f"^the file: ({message})") as caught, about("the file"):
        shuffle(BAD[file], ["income", "rent"], **{"given": "age", **options})
    assert "\n" not in str(caught.value) and not any(value in str(caught.value) for value in ("4.5", "secret"))


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        (["income", "age"], {"given": "age"}, "given: age is among the variables that are shuffled"),
        (["income", "income"], {}, "variables: income is named twice"),
        ("income", {"given": ["age", "age"]}, "given: age is named twice"),
        ("income", {"given": 3}, "given must be names of columns"),
        ("income", {"missing": "drop"}, "missing must be"),
        ("income", {"seed": "1"}, "seed must be"),
    ],
)
def test_bad_options_in_one_line(variables, options, message):
    with pytest.raises(OptionError, match=f"^{message}"):
        shuffle(FILE, variables, **options)
