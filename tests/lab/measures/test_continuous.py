"""Quantities before and after protection, against plain loops over their records."""

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kanon_lab.errors import DataError, OptionError
from kanon_lab.measures import interval_disclosure, record_linkage, upper_tail

# Whole numbers, so that ties are many.
NUMBERS = st.sampled_from([0, 1, 2, 3, 5, 8, 100, None])


@st.composite
def pairs(draw):
    """The same records before and after protection, with a value of each variable before it at least."""
    variables = draw(st.integers(1, 3))
    rows = st.lists(st.tuples(*[NUMBERS] * variables), min_size=2, max_size=12)
    before = [tuple(range(variables)), *draw(rows)]
    after = draw(st.lists(st.tuples(*[NUMBERS] * variables), min_size=len(before), max_size=len(before)))
    return before, after


def frames(before, after):
    names = [f"v{j}" for j in range(len(before[0]))]
    index = [f"r{i}" for i in range(len(before))]
    return [pd.DataFrame(rows, columns=names, index=index, dtype=float) for rows in (before, after)]


def column(rows, j):
    return [row[j] for row in rows if row[j] is not None]


def sd_of(rows, j):
    values = column(rows, j)
    return statistics.stdev(values) if len(values) > 1 else 0.0


def links(before, after, scale):
    """Distance, number of nearest and whether the own record is one of them, for each record."""
    sds = [sd_of(before, j) for j in range(len(before[0]))]
    found = []
    for i, row in enumerate(after):
        known = [j for j, value in enumerate(row) if value is not None]
        telling = [j for j in known if sds[j] > 0]
        distances = {}
        for other, original in enumerate(before):
            if known and all(original[j] is not None for j in telling):
                units = [(row[j] - original[j]) / (sds[j] if scale == "sd" else 1) for j in telling]
                distances[other] = math.hypot(*units) if units else 0.0
        if not distances:
            found.append((math.nan, 0, False))
            continue
        least = min(distances.values())
        near = [other for other, distance in distances.items() if distance <= least * (1 + 1e-10)]
        found.append((least, len(near), i in near))
    return found


@given(pair=pairs(), scale=st.sampled_from(["sd", "none"]))
@example(pair=([(1, 1), (1, 2), (1, 2)], [(1, None), (None, None), (5, 2)]), scale="sd")
def test_links_by_comparing_every_record_with_every_other(pair, scale):
    result = record_linkage(*frames(*pair), scale=scale)
    expected = links(*pair, scale)
    np.testing.assert_allclose(result.records["distance"], [distance for distance, _, _ in expected], atol=1e-12)
    assert result.records["nearest"].tolist() == [number for _, number, _ in expected]
    assert result.records["own"].tolist() == [own for _, _, own in expected]
    shares = [own / max(number, 1) for _, number, own in expected]
    np.testing.assert_allclose(result.records["linked"], shares)
    assert result.share == pytest.approx(sum(shares) / len(shares))
    assert result.share_at_most == pytest.approx(sum(own for _, _, own in expected) / len(expected))


def test_links_do_not_depend_on_units_nor_on_the_order_of_records():
    rng = np.random.default_rng(3)
    before = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    after = before + rng.normal(scale=0.3, size=(400, 3))
    one = record_linkage(before, after)
    assert 0.05 < one.share < 0.95
    units = [1000, 1, 0.01]
    pd.testing.assert_frame_equal(record_linkage(before * units, after * units).records, one.records)
    order = rng.permutation(400)
    two = record_linkage(before.iloc[order], after.iloc[order])
    pd.testing.assert_frame_equal(two.records.sort_index(), one.records)
    constant = record_linkage(before.assign(d=7), after.assign(d=rng.normal(size=400)))
    pd.testing.assert_frame_equal(constant.records, one.records)
    assert record_linkage(before, before).share == 1
    assert record_linkage(before, after, variables="a").variables == ("a",)


def test_an_unprotected_file_whose_records_agree_is_not_linked_for_sure():
    frame = pd.DataFrame({"a": [1, 1, 1, 2]})
    result = record_linkage(frame, frame)
    assert result.records["linked"].tolist() == [1 / 3, 1 / 3, 1 / 3, 1]
    assert (result.share, result.share_at_most) == (0.5, 1)
    alike = pd.DataFrame({"a": [4.0] * 5})
    assert record_linkage(alike, alike + 1).records["linked"].tolist() == [0.2] * 5


def test_a_distance_by_covariance_is_that_of_mahalanobis_and_finds_more_where_noise_follows_it():
    rng = np.random.default_rng(12)
    common = rng.normal(size=(600, 1))
    before = pd.DataFrame(common + 0.05 * rng.normal(size=(600, 3)), columns=list("abc"))
    noise = rng.multivariate_normal([0, 0, 0], before.cov() * 0.09, size=600)
    after = before + noise
    inverse = np.linalg.inv(before.cov())
    apart = before.to_numpy()[None] - after.to_numpy()[:, None]
    distance = np.sqrt(np.einsum("ijk,kl,ijl->ij", apart, inverse, apart))
    result = record_linkage(before, after, scale="mahalanobis")
    np.testing.assert_allclose(result.records["distance"], distance.min(axis=1))
    assert result.records["own"].tolist() == (distance.argmin(axis=1) == np.arange(600)).tolist()
    assert result.share > 1.5 * record_linkage(before, after).share
    # What follows from the others adds nothing, and no error.
    total = [each.assign(d=each.sum(axis=1)) for each in (before, after)]
    assert record_linkage(*total, scale="mahalanobis").share == pytest.approx(result.share)


def test_targets_are_those_records_only():
    rng = np.random.default_rng(13)
    before = pd.DataFrame(rng.normal(size=(50, 2)), columns=list("ab"))
    after = before + rng.normal(scale=0.2, size=(50, 2))
    some = record_linkage(before, after, targets=slice(None, None, 7))
    pd.testing.assert_frame_equal(some.records, record_linkage(before, after).records.iloc[::7])
    assert some.share == some.records["linked"].mean()


def within(original, value, released, width, by, sd):
    """Whether an original value lies in the interval about the released one."""
    if value is None or original is None:
        return False
    if by == "sd":
        return abs(original - value) <= width * sd
    ordered = sorted(released)
    steps = math.floor(round(width * len(ordered), 9))
    first, last = ordered.index(value), len(ordered) - 1 - ordered[::-1].index(value)
    return ordered[max(first - steps, 0)] <= original <= ordered[min(last + steps, len(ordered) - 1)]


@given(pair=pairs(), width=st.sampled_from([0.05, 0.1, 0.3, 0.5, 1]), by=st.sampled_from(["sd", "rank"]))
@example(pair=([(1,), (1,), (1,)], [(1,), (None,), (2,)]), width=0.1, by="sd")
def test_intervals_value_by_value(pair, width, by):
    before, after = pair
    result = interval_disclosure(*frames(before, after), width=width, by=by)
    variables = range(len(before[0]))
    inside = [
        [within(row[j], value[j], column(after, j), width, by, sd_of(before, j)) for j in variables]
        for row, value in zip(before, after)
    ]
    known = [[value is not None for value in row] for row in before]
    shown = [[yes if has else pd.NA for yes, has in zip(*rows)] for rows in zip(inside, known)]
    assert result.inside.to_numpy(dtype=object).tolist() == shown
    compared = [sum(row) for row in known]
    at_risk = [n > 0 and sum(row) == n for row, n in zip(inside, compared)]
    assert result.records["compared"].tolist() == compared
    assert result.records["inside"].tolist() == [sum(row) for row in inside]
    assert result.records["at_risk"].tolist() == at_risk
    some = sum(n > 0 for n in compared)
    assert result.share == pytest.approx(sum(at_risk) / some)
    assert result.share_any == pytest.approx(sum(any(row) for row in inside) / some)
    by_variable = [sum(row[j] for row in inside) / sum(row[j] for row in known) for j in variables]
    np.testing.assert_allclose(result.variables["share"], by_variable)


def test_wider_intervals_hold_more_and_no_change_holds_all():
    rng = np.random.default_rng(4)
    before = pd.DataFrame(rng.lognormal(size=(300, 2)), columns=list("ab"))
    after = before + rng.normal(scale=0.5, size=(300, 2))
    for by in ("sd", "rank"):
        shares = [interval_disclosure(before, after, width=width, by=by).share for width in (0.01, 0.1, 0.3, 1)]
        assert shares == sorted(shares)
        assert shares[0] < shares[-1]
        assert interval_disclosure(before, before, by=by).share == 1
        assert interval_disclosure(before, before + 1000, by=by).share_any == 0
    half_widths = interval_disclosure(before, after, width=0.2).variables["half_width"]
    np.testing.assert_allclose(half_widths, [0.2 * statistics.stdev(before[name]) for name in "ab"])


def test_one_variable_by_hand():
    """Standard deviation sqrt(2.5): an interval of .5 of them reaches .79 to both sides."""
    before, after = pd.DataFrame({"a": [1, 2, 3, 4, 5]}), pd.DataFrame({"a": [1.0, 2.7, 3.8, None, 5.5]})
    result = interval_disclosure(before, after, width=0.5)
    assert result.inside["a"].tolist() == [True, True, False, False, True]
    assert result.share == 0.6
    # By rank, with one rank of the four released values to each side: 1 to 2.7, 1 to 3.8, 2.7 to 5.5, 3.8 to 5.5.
    result = interval_disclosure(before, after, width=0.25, by="rank")
    assert result.inside["a"].tolist() == [True, True, True, False, True]
    assert result.variables["half_width"].tolist() == [1]


@given(
    rows=st.lists(st.tuples(NUMBERS, st.integers(1, 4)), min_size=1, max_size=12),
    quantile=st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 1]),
)
def test_the_upper_tail_with_weights_is_that_of_repeated_records(rows, quantile):
    values = pd.Series([value for value, _ in rows], dtype=float, index=range(5, 5 + len(rows)))
    weight = pd.Series([times for _, times in rows], index=values.index)
    repeated = [value for value, times in rows for _ in range(times) if value is not None]
    if not repeated:
        with pytest.raises(DataError, match="has no value"):
            upper_tail(values, quantile=quantile)
        return
    least = next(v for v in sorted(repeated) if sum(w <= v for w in repeated) >= quantile * len(repeated) - 1e-9)
    result = upper_tail(values, quantile=quantile, weight=weight)
    assert result.threshold == least
    assert result.which.tolist() == [value is not None and value > least for value, _ in rows]
    assert result.records == sum(result.which)
    assert result.missing == sum(value is None for value, _ in rows)
    assert result.share == pytest.approx(result.records / (len(rows) - result.missing))
    pd_values = pd.Series(repeated, dtype=float)
    assert upper_tail(pd_values, quantile=quantile).threshold == least
    assert upper_tail(pd_values, quantile=quantile).share <= 1 - quantile + 1e-9


GOOD = pd.DataFrame({"a": [1.0, 2, 3], "b": [2, 2, 5]})


@pytest.mark.parametrize(
    ("before", "after", "options", "fault"),
    [
        (GOOD, GOOD[:2], {}, "the released file: its index is not that of the original file .2 and 3 records"),
        (GOOD, GOOD[::-1], {}, "in the same order"),
        (GOOD, GOOD[["a"]], {}, "the released file: column b is not there"),
        (GOOD, GOOD, {"variables": ["a", "c"]}, "the original file: column c is not there"),
        (GOOD[:0], GOOD[:0], {}, "the original file: has no records"),
        (GOOD.assign(b=["x1", "x2", "x3"]), GOOD, {}, "the original file: column b: row 0 .and 2 more.: text"),
        (GOOD, GOOD.assign(b=[True, False, True]), {}, "the released file: column b: row 0 .* truth value"),
        (GOOD, GOOD.assign(a=[1, 2, np.inf]), {}, "the released file: column a: row 2: .*infinite"),
        (GOOD.assign(a=np.nan), GOOD, {}, "the original file: column a has no value"),
        (GOOD.assign(a=[-1e300, 1e300, 0]), GOOD, {}, "the original file: column a: row 0 .and 1 more.: .*squared"),
    ],
)
def test_files_that_cannot_be_compared(before, after, options, fault):
    for measure in (record_linkage, interval_disclosure):
        with pytest.raises(DataError, match=fault) as error:
            measure(before, after, **options)
        assert "x1" not in str(error.value) and "e+300" not in str(error.value)


def test_options_that_cannot_be():
    for measure in (record_linkage, interval_disclosure):
        with pytest.raises(OptionError, match="name at least one variable"):
            measure(GOOD, GOOD, variables=[])
        with pytest.raises(OptionError, match="variables: a is named twice"):
            measure(GOOD, GOOD, variables=["a", "b", "a"])
        for none in (5, np.array("a")):
            with pytest.raises(OptionError, match="variables must be names of columns, not"):
                measure(GOOD, GOOD, variables=none)
    with pytest.raises(OptionError, match="scale must be one of sd, mahalanobis, none, not text"):
        record_linkage(GOOD, GOOD, scale="mad")
    with pytest.raises(OptionError, match="by must be sd or rank, not text"):
        interval_disclosure(GOOD, GOOD, by="mad")
    for width in (0, -1, float("nan"), float("inf"), True, "wide"):
        with pytest.raises(OptionError, match="width must be a number above 0, not"):
            interval_disclosure(GOOD, GOOD, width=width)
    with pytest.raises(OptionError, match="width must be a number above 0 and at most 1, not 1.5"):
        interval_disclosure(GOOD, GOOD, width=1.5, by="rank")
    with pytest.raises(OptionError, match="quantile must be a number above 0 and at most 1, not 90"):
        upper_tail(GOOD["a"], quantile=90)


@pytest.mark.parametrize("weight", [[1, 0, 1], [1, -2, 1], [1, None, 1]])
def test_weights_that_are_none(weight):
    with pytest.raises(DataError, match="column w: row 1: a weight that is not a number above 0"):
        upper_tail(GOOD["a"], weight=pd.Series(weight, name="w"))


def test_weights_under_another_index():
    with pytest.raises(OptionError, match="index of the values"):
        upper_tail(GOOD["a"], weight=pd.Series([1, 1, 1], index=list("xyz")))
    with pytest.raises(DataError, match="column w: row 0 .*text"):
        upper_tail(GOOD["a"], weight=pd.Series(["1", "2", "3"], name="w"))


def test_a_missing_value_is_neither_in_the_tail_nor_counted():
    values = pd.Series([5.0, None, 1, 2, 3, 4, None])
    result = upper_tail(values, quantile=0.8)
    assert (result.threshold, result.records, result.share, result.missing) == (4, 1, 0.2, 2)
    assert "5" not in repr(result).replace("quantile=0.8", "")
