"""All measures of a file against plain loops over its records, written from the definitions."""

import math
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_lab.data import read_microdata
from kanon_lab.errors import DataError, OptionError, about
from kanon_lab.measures import MEASURES, measure
from kanon_lab.measures.file_measures import UNWEIGHTED
from kanon_lab.roles import KeySpec

THRESHOLDS = (2, 3, 5)
# No risk of such small files comes so near to these that rounding would matter.
RISKS = (0.0317, 0.1013, 0.4519)
LEAST = ("distinct", "entropy", "recursive")


class Refused(Exception):
    """The oracle's way to say that the file has no such measures."""


def oracle(records, keys, *, weight, household, sensitive, missing, estimator, c, distance):
    """Every measure by loops over pairs of records. A record is a dict; None is missing."""
    if missing == "error" and any(r[name] is None for r in records for name in [*keys, *sensitive]):
        raise Refused
    friends = [[other for other in records if match(record, other, keys, missing)] for record in records]
    f = [len(group) for group in friends]
    F = [math.fsum(other[weight] if weight else 1 for other in group) for group in friends]
    risk = [individual(f_k, F_k, estimator) for f_k, F_k in zip(f, F)]
    result = {
        "n": len(records),
        "classes": len({tuple(record[key] for key in keys) for record in records}),
        "k_achieved": min(f),
        "sample_uniques": f.count(1),
        "global_risk": math.fsum(risk) / len(risk),
        "expected_reidentifications": math.fsum(risk),
        "sum_population_frequency": math.fsum(F),
        "household_risk": None,
        "expected_household_reidentifications": None,
        "expected_persons_in_reidentified_households": None,
        "with_household_size": None,
    }
    for threshold in RISKS:
        result[f"above {threshold}"] = sum(each > threshold for each in risk)
    for k in THRESHOLDS:
        result[f"violations {k}"] = sum(each < k for each in f)
    if household:
        safe = {}
        for record, each in zip(records, risk):
            safe[record[household]] = safe.get(record[household], 1) * (1 - each)
        result["household_risk"] = math.fsum(1 - safe[record[household]] for record in records) / len(records)
        result["expected_household_reidentifications"] = math.fsum(1 - each for each in safe.values())
        persons = math.fsum(1 - safe[record[household]] for record in records)
        result["expected_persons_in_reidentified_households"] = persons
        result["with_household_size"] = counting(records, friends, keys, household)
    for name in sensitive:
        for measured, value in worst_diversity(records, friends, name, missing, c, distance).items():
            result[f"{name} {measured}"] = value
    return result


def counting(records, friends, keys, household):
    """Classes, k and uniques where the members of a household are counted, and their number is a key."""
    homes = [record[household] for record in records]
    size = {home: homes.count(home) for home in homes}
    f = [sum(size[other[household]] == size[r[household]] for other in group) for r, group in zip(records, friends)]
    classes = {(*(record[key] for key in keys), size[record[household]]) for record in records}
    return {"classes": len(classes), "k_achieved": min(f), "sample_uniques": f.count(1)}


def match(one, other, keys, missing):
    for key in keys:
        wild = missing == "wildcard" and (one[key] is None or other[key] is None)
        if not wild and one[key] != other[key]:
            return False
    return True


@lru_cache
def individual(f, F, estimator):
    """Expected 1/j for a population frequency j that is negative binomial (Benedetti and Franconi 1998)."""
    p, q = f / F, 1 - f / F
    if estimator == "inverse":
        return 1 / F
    if estimator == "benedetti-franconi" and f > 2:
        return p / (f - q)
    probability, j, terms = p**f, f, []
    while probability > 1e-18:
        terms.append(probability / j)
        probability *= q * j / (j - f + 1)
        j += 1
    return math.fsum(terms)


def worst_diversity(records, friends, name, missing, c, distance):
    counted = [record[name] for record in records if record[name] is not None or missing == "category"]
    if not counted:
        raise Refused
    values = sorted({value for value in counted if value is not None}) + [None] * (None in counted)
    q = [counted.count(value) / len(counted) for value in values]
    found = {measured: [] for measured in MEASURES}
    for group in friends:
        here = [record[name] for record in group if record[name] is not None or missing == "category"]
        if here:
            numbers = [here.count(value) for value in values]
            for measured, value in diversity_of(numbers, q, c, distance).items():
                found[measured].append(value)
    return {measured: (min if measured in LEAST else max)(each) for measured, each in found.items()}


def diversity_of(numbers, q, c, distance):
    p = [number / sum(numbers) for number in numbers]
    r = sorted((number for number in numbers if number), reverse=True)
    recursive = 0
    for i in range(len(r)):
        if r[0] < c * sum(r[i:]):
            recursive = i + 1
    gains = [max(a / b - 1, 0) for a, b in zip(p, q)]
    if distance == "equal":
        t = sum(abs(a - b) for a, b in zip(p, q)) / 2
    else:
        t = sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(p))) / max(len(p) - 1, 1)
    return {
        "distinct": len(r),
        "entropy": math.exp(-sum(a * math.log(a) for a in p if a)),
        "recursive": recursive,
        "alpha": max(p),
        "t_closeness": t,
        "delta_disclosure": max(abs(math.log(a / b)) if a else math.inf for a, b in zip(p, q)),
        "beta_likeness": max(gains),
        "enhanced_beta_likeness": max(g if g <= -math.log(b) + 1e-12 else math.inf for g, b in zip(gains, q)),
    }


def flat(measured):
    """What `Measures.to_dict` says, under the oracle's names."""
    result = measured.to_dict()
    for name, numbers in result.pop("diversity").items():
        result |= {f"{name} {each}": numbers[each] for each in MEASURES}
    result |= {f"above {threshold}": records for threshold, records in result["records_above"].items()}
    return result | {f"violations {k}": records for k, records in result.pop("violations").items()}


def agree(measured, expected):
    found = flat(measured)
    for name, number in expected.items():
        if isinstance(number, (int, dict)):
            assert found[name] == number, name
        elif number is None or math.isinf(number):
            assert found[name] is None, name
        else:
            # a difference of two shares that cancels is no more exact than the shares
            assert found[name] == pytest.approx(number, rel=1e-9, abs=1e-12), name


VALUES = [None, 1, "1", 0, "a", "", 2]
SENSITIVE = [None, "flu", "cold", "none"]
WEIGHTS = [1, 1.0, 1.5, 3, 12.25, 40]


@st.composite
def files(draw, most_keys=4, fewest_keys=1):
    """Records of a file, and the names of its key variables.

    Every cell is made of one byte of a string: drawing it whole is quick, and it shrinks well.
    """
    count = draw(st.integers(fewest_keys, most_keys))
    names = [f"key {i}" for i in range(count)]
    domains = [VALUES[: 2 + each % 6] for each in draw(st.binary(min_size=count, max_size=count))]
    domains += [WEIGHTS, [0, 1, 2, 3], SENSITIVE, [None, 1, 2, 5]]
    width = len(domains)
    cells = draw(st.binary(min_size=width, max_size=12 * width))
    rows = [cells[start : start + width] for start in range(0, len(cells) - width + 1, width)]
    values = [[domain[byte % len(domain)] for domain, byte in zip(domains, row)] for row in rows]
    return [dict(zip([*names, "w", "h", "s", "t"], row)) for row in values], names


def presented(records, random):
    """The records as a frame: rows, columns, labels and categories as they may come."""
    records, columns = list(records), list(records[0])
    random.shuffle(records)
    random.shuffle(columns)
    index = [random.choice([3, 3, -1, 10]) for _ in records] if random.random() < 0.5 else None
    frame = pd.DataFrame(records, columns=columns, index=index, dtype=object)
    frame["w"] = frame["w"].astype(float)
    for name in columns:
        kinds = {type(record[name]) for record in records}
        if name in ("w", "h") or random.random() < 0.4:
            continue
        if kinds <= {int, type(None)}:
            frame[name] = frame[name].astype(random.choice(["Int64", "float64"]))
        else:
            used = list(dict.fromkeys(record[name] for record in records if record[name] is not None))
            random.shuffle(used)
            frame[name] = pd.Categorical(frame[name], categories=[*used, "never used", 99])
    return frame


def compare(records, keys, random, missing, **options):
    frame = presented(records, random)
    weight, sensitive = random.choice(["w", None]), random.choice([["s"], ["t"], ["s", "t"], []])
    spec = KeySpec(keys, weight=weight, household="h", sensitive_variables=sensitive, missing=missing)
    estimator = random.choice(["benedetti-franconi", "exact", "inverse"])
    c, distance = random.choice([0.5, 1, 2.0, 3]), random.choice(["equal", "ordered"])
    roles = {"weight": weight, "household": "h", "sensitive": sensitive, "missing": missing}
    try:
        expected = oracle(records, keys, **roles, estimator=estimator, c=c, distance=distance)
    except Refused:
        with pytest.raises(DataError):
            measure(frame, spec)
        return
    options = {"estimator": estimator, "recursive_c": c, "distance": distance}
    agree(measure(frame, spec, k=THRESHOLDS, thresholds=RISKS, **options), expected)


RANDOM = st.randoms(use_true_random=False)


@pytest.mark.parametrize("missing", ["wildcard", "category", "error"])
@settings(max_examples=60)
@given(file=files(), random=RANDOM)
def test_every_measure_is_that_of_plain_loops(missing, file, random):
    compare(*file, random, missing)


@pytest.mark.parametrize("missing", ["wildcard", "category"])
@given(file=files(12, fewest_keys=5), random=RANDOM)
def test_up_to_twelve_keys(missing, file, random):
    compare(*file, random, missing)


EIGHT = pd.DataFrame(
    {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
        "w": [18, 45.5, 39, 17, 541, 8, 5, 92],
    }
)


def test_eight_records():
    """Risks as sdcMicro 5.8 gives them for eight records with weights (Benedetti and Franconi, approximation)."""
    golden = [0.01714426, 0.02204233, 0.02204233, 0.17707583, 0.01165448, 0.29706308, 0.40235948, 0.01714426]
    measured = measure(EIGHT, KeySpec(["Key1", "Key2", "Key3", "Key4"], weight="w"))
    assert measured.risk.risk == pytest.approx(golden, abs=5e-9)
    result = measured.to_dict()
    assert result["violations"] == {"2": 4, "3": 8, "5": 8}
    assert result["sum_population_frequency"] == 2 * 110 + 2 * 84.5 + 17 + 541 + 8 + 5
    assert result["diversity"] == {}
    assert result["notes"] == []


def test_the_input_stays_as_it_was():
    frame = EIGHT.assign(Key1=pd.Categorical(EIGHT["Key1"], categories=[6, 4, 3, 1, 0])).set_axis(
        [5, 5, 1, 2, 3, 4, 6, 7]
    )
    before = frame.copy(deep=True)
    measure(frame, KeySpec(["Key1", "Key2"], weight="w", household="Key3", sensitive_variables="Key4"))
    pd.testing.assert_frame_equal(frame, before)


def test_without_a_weight_it_says_so():
    result = measure(EIGHT, ["Key1", "Key2"]).to_dict()
    assert result["weight"] is None
    assert result["notes"] == [UNWEIGHTED]
    assert result["global_risk"] == pytest.approx(4 / 8)


def test_an_infinite_delta_is_told_in_a_note():
    frame = pd.DataFrame({"key": [1, 1, 2], "s": ["a", "b", "a"]})
    result = measure(frame, KeySpec("key", sensitive_variables="s")).to_dict()
    assert result["diversity"]["s"]["delta_disclosure"] is None
    assert any("delta-disclosure is infinite" in note for note in result["notes"])


def test_every_infinite_measure_is_told_in_a_note():
    frame = pd.DataFrame({"key": [1, 1, 2, 2, 3], "s": ["a", "a", "b", "c", "c"]})
    measured = measure(frame, KeySpec("key", sensitive_variables="s")).to_dict()
    infinite = [name for name in MEASURES if measured["diversity"]["s"][name] is None]
    assert infinite == ["delta_disclosure", "enhanced_beta_likeness"]
    for name in infinite:
        assert any(f"{name.replace('_', '-')} is infinite" in note for note in measured["notes"])


@pytest.mark.parametrize(
    ("values", "missing", "texts"),
    [
        (["low", "high", None], "category", ["alphabetical", "a missing value is the last"]),
        (["low", "high", None], "wildcard", ["missing in 1 of the records", "alphabetical"]),
        ([1, 2, None], "category", ["a missing value is the last"]),
        ([1, 2, 3], "category", []),
        (pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True), "wildcard", []),
    ],
)
def test_what_the_ordered_distance_takes_for_an_order_is_told_in_notes(values, missing, texts):
    spec = KeySpec("key", weight="w", sensitive_variables="s", missing=missing)
    frame = pd.DataFrame({"key": 1, "w": 2, "s": values})
    notes = measure(frame, spec, distance="ordered").notes
    assert len(notes) == len(texts)
    assert all(text in note for text, note in zip(texts, notes))
    # Without an order nothing is said of one.
    assert measure(frame, spec).notes == tuple(note for note in notes if "order" not in note)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"w": [18, 45.5, 39, 17, 541, 8, 0.5, 92]}, "row 6"),
        ({"w": [18, 45.5, 39, 17, 541, 8, 0, 92]}, "row 6"),
        ({"w": [18, 45.5, 39, 17, -1, 8, 1, 92]}, "row 4"),
        ({"w": [18, np.nan, 39, 17, 1, 8, 1, 92]}, "row 1"),
        ({"w": [18, np.inf, 39, 17, 1, 8, 1, 92]}, "row 1"),
        ({"w": list("abcdefgh")}, "column w"),
        ({"w": ["1", "2", "3", "x", "5", None, "inf", "8"]}, r"row 3 \(and 1 more\): a weight that is not a number"),
        ({"w": ["1,5"] * 8}, r"row 0 .*: a weight with other signs than digits and one decimal point"),
        ({"w": ["1"] * 7 + ["1_000"]}, "row 7: a weight with other signs"),
        ({"w": ["1.10", "1.1"] * 4}, "column w is text, though every weight in it is a number"),
        ({"w": [1, 2, 1e308, 1e308, 1, 1, 1, 1]}, r"survey: row 2 .*: a weight too large to be added up in column w"),
        ({"w": [1, 2, 1e308, 1, 1, 1, 1, 1]}, "row 2: a weight too large to be added up in column w"),
        ({"w": [0.5] * 8}, "leave out the weight"),
        ({"h": [1, 2, None, 1, 1, 1, 1, 1]}, "row 2"),
        ({"s": None}, "column s"),
    ],
)
def test_data_that_have_no_measures_are_refused_in_one_line(change, fault):
    frame = EIGHT.assign(h=1, s=1).assign(**change)
    with pytest.raises(DataError, match=fault) as caught, about("survey"):
        spec = KeySpec(["Key1", "Key2", "Key3", "Key4"], weight="w", household="h", sensitive_variables="s")
        measure(frame, spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": "guess"},
        {"distance": "far"},
        {"distance": "hierarchical"},
        {"k": [0]},
        {"k": [2.5]},
        {"k": 3},
        {"k": "x"},
        {"thresholds": [1.1]},
        {"thresholds": [math.nan]},
        {"thresholds": ["0.1"]},
        {"thresholds": "0.1"},
        {"thresholds": 0.1},
        {"estimator": []},
        {"recursive_c": 0},
        {"recursive_c": -1},
        {"recursive_c": math.nan},
        {"recursive_c": math.inf},
        {"recursive_c": 1e308},
        {"recursive_c": "x"},
    ],
)
@pytest.mark.parametrize("sensitive", [(), "Key2"])
def test_options_out_of_their_range(options, sensitive):
    with pytest.raises(OptionError) as caught:
        measure(EIGHT, KeySpec(["Key1"], sensitive_variables=sensitive), **options)
    assert "\n" not in str(caught.value)


def test_the_real_survey_of_victimisation(shared):
    """ENUSC 2019 (INE Chile): 24,465 persons; what pandas groups must be what the class table groups."""
    frame = read_microdata(shared("enusc-2019.csv.gz"))
    keys = ["enc_region", "rph_edad", "rph_sexo"]
    measured = measure(frame, KeySpec(keys, weight="Fact_Pers", sensitive_variables="VA_DC"), k=[2, 3, 5]).to_dict()
    grouped = frame.groupby(keys)
    f_k, weights = grouped["VA_DC"].transform("size"), grouped["Fact_Pers"].transform("sum")
    assert measured["n"] == 24_465
    assert measured["classes"] == grouped.ngroups
    assert measured["k_achieved"] == f_k.min()
    assert measured["violations"] == {str(k): int((f_k < k).sum()) for k in (2, 3, 5)}
    assert measured["sum_population_frequency"] == pytest.approx(weights.sum())
    assert measured["diversity"]["VA_DC"]["distinct"] == grouped["VA_DC"].nunique().min()


def test_missing_sensitive_values_are_said():
    frame = pd.DataFrame({"a": [1, 1, 1], "s": ["x", None, "y"]})
    notes = measure(frame, KeySpec("a", sensitive_variables="s")).notes
    assert "s: missing in 1 of the records, which may have any value and so add no diversity" in notes
    category = measure(frame, KeySpec("a", sensitive_variables="s", missing="category"))
    assert not any("add no diversity" in note for note in category.notes)
    assert category.to_dict()["diversity"]["s"]["distinct"] == 3


def test_records_above_thresholds():
    """The eight risks of PEERS.md: five are above .02, two above .2."""
    spec = KeySpec(["Key1", "Key2", "Key3", "Key4"], weight="w")
    assert measure(EIGHT, spec, thresholds=[0.02, 0.2, 1]).to_dict()["records_above"] == {"0.02": 5, "0.2": 2, "1.0": 0}
    assert list(measure(EIGHT, spec).records_above) == [0.05]


def test_that_members_of_households_can_be_counted_is_told_in_a_note():
    """One of three households is larger; its members are alone with their sex where households are counted."""
    frame = pd.DataFrame({"sex": list("mfmfmfm"), "home": [1, 1, 2, 2, 3, 3, 3], "w": 9})
    spec = KeySpec("sex", weight="w", household="home")
    (note,) = measure(frame, spec).notes
    assert note.startswith("home: whoever has it can count the members")
    assert note.endswith("k achieved: 1, sample uniques: 1 (without it 3 and 0)")
    sized = frame.assign(size=frame.groupby("home")["home"].transform("size"))
    assert measure(sized, KeySpec(["sex", "size"], weight="w", household="home")).notes == ()
    # A variable that gives the size away need not be called so, nor be a number.
    sized["flat"] = np.where(sized["size"] == 3, "large", "small")
    assert measure(sized, KeySpec(["sex", "flat"], weight="w", household="home")).notes == ()


def test_files_at_the_edge():
    """A k above the number of records, a key of one value, and one that is missing everywhere."""
    frame = EIGHT.assign(one="x", none=np.nan, nothing=None)
    plain = measure(frame, ["Key1", "Key2"], k=[2, 9, 1000]).to_dict()
    assert plain["violations"]["9"] == plain["violations"]["1000"] == 8
    names = ["n", "classes", "k_achieved", "sample_uniques", "violations", "global_risk"]
    for missing in ("wildcard", "category"):
        spec = KeySpec(["one", "Key1", "none", "Key2", "nothing"], missing=missing)
        edge = measure(frame, spec, k=[2, 9, 1000]).to_dict()
        assert {name: edge[name] for name in names} == {name: plain[name] for name in names}
        assert measure(frame, KeySpec(["none"], missing=missing)).k_achieved == 8
    with pytest.raises(DataError, match="row 0 .*: a missing value in column none"):
        measure(frame, KeySpec(["one", "none"], missing="error"))
