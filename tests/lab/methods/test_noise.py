"""Noise: what each method keeps, exactly or over seeds, and what is refused."""

import builtins
import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, MissingPackageError, OptionError, about
from kanon_lab.measures import outliers
from kanon_lab.methods import KEEPS, add_noise

NAMES = ["income", "rent", "age"]


def survey(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, 3)) @ [[1, 0.7, 0.2], [0, 0.6, 0.3], [0, 0, 1]] * [1000, 20, 0.1] + [5000, 0, 40]
    return pd.DataFrame(values, columns=NAMES).assign(region=rng.choice(["n", "s"], rows))


FILE = survey()


def covariance(x, y):
    return statistics.covariance(x.tolist(), y.tolist())


@given(
    st.integers(8, 30),
    st.integers(1, 3),
    st.sampled_from([0.01, 0.1, 1, 20]),
    st.integers(0, 10**6),
    st.booleans(),
    st.floats(-6, 6),
)
def test_restricted_noise_keeps_means_and_covariances_of_each_stratum_exactly(n, strata, strength, seed, sums, power):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.lognormal(size=(n * strata, 3)) * [1, 10**power, 1], columns=NAMES)
    if sums:
        frame["age"] = frame["income"] + frame["rent"]
    frame["stratum"] = rng.permutation(np.repeat(np.arange(strata), n))
    result = add_noise(frame, NAMES, method="restricted", strength=strength, strata="stratum", seed=seed)
    assert result.keeps == KEEPS["add_noise"]["restricted"]
    for parts in [[0], [1], [2], [0, 1, 2]]:
        before, after = (file[file["stratum"].isin(parts)] for file in (frame, result.frame))
        if before.empty:
            continue
        sd = {name: statistics.stdev(before[name]) for name in NAMES}
        for x in NAMES:
            mean = statistics.fmean(before[x])
            assert statistics.fmean(after[x]) == pytest.approx(mean, rel=1e-9, abs=1e-9 * sd[x])
            for y in NAMES:
                expected = pytest.approx(covariance(before[x], before[y]), abs=1e-9 * sd[x] * sd[y])
                assert covariance(after[x], after[y]) == expected
    if sums:
        off = (result.frame["age"] - result.frame["income"] - result.frame["rent"]).abs()
        assert off.max() <= 1e-9 * (1 + strength) * frame["age"].max()
    assert not np.isclose(result.frame["income"], frame["income"], rtol=1e-9).all()


def repeated(method, strength, repeats=400, file=FILE):
    """Released values of the same file under as many seeds."""
    return [add_noise(file, NAMES, method=method, strength=strength, seed=seed) for seed in range(repeats)]


def assert_is_the_mean_of(expected, found):
    """Within 4.5 standard errors: one in 150 thousand such comparisons fails by chance."""
    assert abs(statistics.fmean(found) - expected) < 4.5 * statistics.stdev(found) / math.sqrt(len(found))


@pytest.mark.parametrize("method", ["additive", "correlated", "outliers"])
def test_over_seeds_means_and_covariances_are_as_promised(method):
    results = repeated(method, 0.5, repeats=60 if method == "outliers" else 400)
    for i, x in enumerate(NAMES):
        assert_is_the_mean_of(FILE[x].mean(), [result.frame[x].mean() for result in results])
        for y in NAMES[i:]:
            if method == "outliers" and x == y:
                continue  # it grows, and by another factor in each seed, which estimates distances anew
            # A variance grows by 1 + 0.5^2, and a covariance does where the noise is correlated.
            grown = 1.25 if x == y or method == "correlated" else 1
            found = [covariance(result.frame[x], result.frame[y]) for result in results]
            assert_is_the_mean_of(covariance(FILE[x], FILE[y]) * grown, found)


@pytest.mark.parametrize("strength", [0.1, 1])
def test_correlated_noise_nearly_keeps_correlations_and_additive_noise_shrinks_them(strength):
    """The standard error of a correlation is below 1 / sqrt(n)."""
    file = survey(rows=40_000)
    for method, factor in (("correlated", 1), ("additive", 1 / (1 + strength**2))):
        after = add_noise(file, NAMES, method=method, strength=strength).frame[NAMES].corr().to_numpy()
        before = file[NAMES].corr().to_numpy()
        apart = np.abs(after - before * factor)[np.triu_indices(3, 1)]
        assert apart.max() < 4.5 / math.sqrt(40_000)


def test_correlated_noise_keeps_correlations_within_strata_and_not_of_the_file():
    rng = np.random.default_rng(2)
    values = rng.multivariate_normal([0, 0], [[1, -0.95], [-0.95, 1]], 20_000)
    frame = pd.DataFrame(values, columns=["x", "y"]).assign(s=np.repeat([0, 1], 10_000))
    frame[["x", "y"]] += 6 * frame[["s"]].to_numpy()
    after = add_noise(frame, ["x", "y"], method="correlated", strength=1, strata="s").frame
    for _, part in after.groupby("s"):
        assert part["x"].corr(part["y"]) == pytest.approx(-0.95, abs=0.01)
    assert frame["x"].corr(frame["y"]) > 0.75 and after["x"].corr(after["y"]) < 0.7


def test_correlated_noise_keeps_sums_and_takes_as_many_variables_as_there_are():
    file = FILE.assign(total=FILE["income"] + FILE["rent"])[["income", "rent", "total"]]
    for part in (file, file[:3], file[:2]):
        after = add_noise(part, list(file), method="correlated", strength=2).frame
        np.testing.assert_allclose(after["total"], after["income"] + after["rent"], rtol=1e-12)
        assert (after != part).all().all()


def factors(result, seed):
    """How much stronger the noise is than additive noise of the same seed; the same for every variable."""
    even = add_noise(FILE, NAMES, strength=result.details["strength"], seed=seed).frame
    ratios = ((result.frame[NAMES] - FILE[NAMES]) / (even[NAMES] - FILE[NAMES])).to_numpy()
    np.testing.assert_allclose(ratios, ratios[:, [0, 0, 0]], rtol=1e-6)
    return ratios[:, 0].tolist()


def test_noise_of_outliers_grows_with_their_distance_beyond_the_threshold():
    result = add_noise(FILE, NAMES, method="outliers", strength=0.2, seed=7)
    short = int(np.random.SeedSequence(7).generate_state(1)[0])
    far = outliers(FILE, variables=NAMES, seed=short)
    expected = [max(1.0, d / far.threshold) for d in far.distances]
    assert factors(result, 7) == pytest.approx(expected, rel=1e-6)
    assert result.details["outliers"] == sum(factor > 1 for factor in expected) > 0
    assert result.details["largest_factor"] == pytest.approx(max(expected))
    alone = add_noise(FILE[FILE["region"] == "n"], NAMES, method="outliers", seed=7).details
    both = add_noise(FILE, NAMES, method="outliers", strata="region", seed=7).details
    assert 0 < alone["outliers"] <= both["outliers"]


def test_noise_is_of_the_strength_said():
    file = survey(rows=20_000)
    noise = add_noise(file, NAMES, strength=0.3).details["noise"].set_index("variable")
    for name in NAMES:
        assert noise.loc[name, "sd"] == pytest.approx(statistics.stdev(file[name]))
        # The relative standard error of a standard deviation is 1 / sqrt(2 n).
        assert noise.loc[name, "noise_sd"] == pytest.approx(0.3 * noise.loc[name, "sd"], rel=4.5 / math.sqrt(40_000))
    spread = file.assign(income=file["income"] * np.where(file["region"] == "n", 100, 1))
    moved = (add_noise(spread, "income", strata="region").frame["income"] - spread["income"]).groupby(file["region"])
    ratio = moved.std() / spread["income"].groupby(file["region"]).std()
    assert ratio.tolist() == pytest.approx([0.1, 0.1], rel=0.05)


def test_a_seed_says_it_all_and_input_stays():
    before = FILE.copy()
    one, again, other = (add_noise(FILE, NAMES, seed=seed).frame for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert (one[NAMES] != other[NAMES]).all().all()
    pd.testing.assert_frame_equal(FILE, before)
    for method in ("additive", "correlated"):
        fewer, more = (add_noise(FILE, names, method=method).frame for names in (NAMES[:1], NAMES))
        np.testing.assert_allclose(fewer["income"], more["income"], rtol=1e-12)
    result = add_noise(FILE, "rent", strata=["region"], seed=5)
    assert (result.method, result.variables, result.strata, result.seed) == ("additive", ("rent",), ("region",), 5)
    pd.testing.assert_frame_equal(result.frame.drop(columns="rent"), FILE.drop(columns="rent"))


def test_who_knows_the_seed_takes_the_noise_off():
    """With any other file of as many records, and the standard deviation from the release, noise taken off it."""
    released = add_noise(FILE, "income", strength=1, seed=9).frame["income"]
    any_file = pd.DataFrame({"any": np.arange(len(FILE))})
    drawn = (add_noise(any_file, "any", strength=1, seed=9).frame["any"] - any_file["any"]) / any_file["any"].std()
    guessed = released - drawn * released.std() / math.sqrt(2)
    assert released.corr(FILE["income"]) < 0.9 < 0.95 < guessed.corr(FILE["income"])


def test_records_without_any_value_may_stay_and_indices_may_repeat():
    file = FILE.astype({"age": "Float64"}).set_axis([0] * len(FILE))
    file.iloc[:20, :3] = np.nan
    known = FILE[20:]
    for method in KEEPS["add_noise"]:
        after = add_noise(file, NAMES, method=method, missing="leave").frame
        assert after.index.equals(file.index) and after["age"].dtype == "Float64"
        assert after[:20][NAMES].isna().all().all() and after[20:][NAMES].notna().all().all()
        if method == "restricted":
            np.testing.assert_allclose(after[20:][NAMES].astype(float).cov(), known[NAMES].cov(), rtol=1e-9)


BAD = {
    "text": FILE.assign(rent="much"),
    "gap": FILE.assign(rent=FILE["rent"].where(FILE.index != 3)),
    "flat": FILE.assign(rent=4.0),
    "flat in a stratum": FILE.assign(rent=FILE["rent"].where(FILE["region"] == "n", 4.0)),
    "no stratum": FILE.assign(region=FILE["region"].where(FILE.index != 3)),
    "empty": FILE[:0],
}


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("text", {}, "column rent: row 0 .*text, but numbers are needed"),
        ("gap", {}, "column rent: row 3: a missing value; fill it in, or choose missing: leave"),
        ("gap", {"missing": "leave"}, "column rent: row 3: a missing value; other values of the record are there"),
        ("flat", {}, "column rent has the same value in every record; leave it out"),
        ("flat in a stratum", {"strata": "region"}, "column rent .* in 1 of 2 strata; join strata, or leave it out"),
        ("no stratum", {"strata": "region"}, "column region: row 3: no stratum"),
        ("empty", {}, "has no records"),
    ],
)
def test_bad_data_in_one_line(file, options, message):
    with pytest.raises(DataError, match=f"^the file: .*{message}") as caught, about("the file"):
        add_noise(BAD[file], NAMES, **options)
    assert "\n" not in str(caught.value) and "4.0" not in str(caught.value)


@pytest.mark.parametrize("strength", [0, -1, math.nan, math.inf, 1001, "0.1", True, None])
def test_strength_is_a_number_above_0(strength):
    with pytest.raises(OptionError, match="^strength must be a number above 0"):
        add_noise(FILE, NAMES, strength=strength)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "loud"}, "method must be one of additive, correlated, restricted, outliers, not text"),
        ({"missing": "drop"}, "missing must be"),
        ({"seed": -1}, "seed must be"),
        ({"strata": 3}, "strata must be names"),
    ],
)
def test_bad_options_in_one_line(options, message):
    with pytest.raises(OptionError, match=f"^{message}"):
        add_noise(FILE, NAMES, **options)


def test_too_few_records_are_said():
    add_noise(FILE[:8], NAMES, method="restricted")
    with pytest.raises(DataError, match="restricted noise on 3 variables needs 8 records, and there are 7; choose"):
        add_noise(FILE[:7], NAMES, method="restricted")
    with pytest.raises(DataError, match="needs 8 records in each stratum, and there are [1-7]; join strata, or choose"):
        add_noise(FILE[:14], NAMES, method="restricted", strata="region")
    with pytest.raises(DataError, match="^within strata: robust distances need 8 records"):
        add_noise(FILE[:14], NAMES, method="outliers", strata="region")


def test_outliers_need_a_package_that_may_be_absent(monkeypatch):
    load = builtins.__import__

    def without(name, *arguments, **options):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return load(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingPackageError, match="scikit-learn"):
        add_noise(FILE, NAMES, method="outliers")
