"""The order and the numbers of released records: steps that make them tell nothing, and tests of what they tell."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from kanon_lab.data import write_microdata
from kanon_lab.errors import DataError, OptionError
from kanon_lab.recipes import protect
from kanon_lab.recipes.households import LEVEL, alike_neighbours, at_most
from kanon_lab.recipes.steps import SHUFFLED_BY
from kanon_lab.roles import KeySpec

SPEC = KeySpec(["region", "age"], household="home")


@st.composite
def frames(draw):
    """A small file of households whose members need not stand together."""
    n = draw(st.integers(2, 14))
    values = {"region": ["n", "s", None], "age": [1, 2, None], "home": ["a", "b", "c", "d"]}
    columns = {name: draw(st.lists(st.sampled_from(each), min_size=n, max_size=n)) for name, each in values.items()}
    frame = pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in columns.items()}).assign(id=range(n))
    frame["line"] = frame.groupby("home").cumcount() + 1
    return frame.set_index(pd.Index(draw(st.permutations(range(100, 100 + n)))))


def rows(frame):
    return [tuple(None if pd.isna(each) else each for each in row) for row in frame.itertuples(index=False)]


def a_sorted_survey(homes=400, seed=1):
    """Households sorted by region; a few persons share a high age with one other only."""
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(homes), 3)
    frame = pd.DataFrame({"home": home, "region": np.sort(rng.integers(0, 5, homes))[home]})
    frame["age"] = rng.integers(20, 60, len(frame))
    frame.loc[rng.choice(len(frame), 20, replace=False), "age"] = np.repeat(np.arange(80, 90), 2)
    return frame.assign(weight=10.0 + frame["region"], colour=rng.choice(["a", "b"], len(frame)))


@settings(max_examples=15)
@given(frame=frames(), by=st.sampled_from(SHUFFLED_BY), seed=st.integers(0, 2**40))
def test_shuffling_keeps_records_and_households(frame, by, seed):
    chain = protect(frame, SPEC).apply("shuffle_records", {"by": by}, seed=seed)
    again = protect(frame, SPEC).apply("shuffle_records", {"by": by}, seed=seed)
    assert Counter(rows(chain.frame)) == Counter(rows(frame)) and rows(chain.frame) == rows(again.frame)
    assert chain.steps[0].seed == seed
    home = list(chain.frame["home"])
    if by == "household":
        runs = 1 + sum(one != other for one, other in zip(home, home[1:]))
        assert runs == len(set(home))
        assert all(part["id"].is_monotonic_increasing for _, part in chain.frame.groupby("home"))
    elif by == "within_household":
        assert home == list(frame["home"])


@settings(max_examples=15)
@given(frame=frames(), seed=st.integers(0, 2**40))
def test_renumbering_is_one_to_one_and_keeps_households(frame, seed):
    chain = protect(frame, SPEC).apply("renumber", {"line_number": "line"}, seed=seed)
    released = chain.frame
    pairs = set(zip(frame["home"], released["home"], strict=True))
    assert len(pairs) == frame["home"].nunique() == released["home"].nunique()
    assert set(released["home"]) == set(range(1, len(pairs) + 1))
    assert all(sorted(part["line"]) == list(range(1, len(part) + 1)) for _, part in released.groupby("home"))
    others = ["region", "age", "id"]
    assert rows(released[others]) == rows(frame[others])
    assert released.equals(protect(frame, SPEC).apply("renumber", {"line_number": "line"}, seed=seed).frame)


def test_identifiers_of_persons_and_gaps_are_renumbered():
    frame = pd.DataFrame({"a": [1, 1, 2, 2], "person": ["x", None, "y", "x"], "line": [None, 1, 2, 3], "h": 1})
    chain = protect(frame, KeySpec("a", household="h")).apply(
        "renumber", {"variables": "person", "line_number": "line"}
    )
    person = chain.frame["person"]
    assert person.isna().tolist() == [False, True, False, False] and set(person.dropna()) == {1, 2}
    assert person[0] == person[3] != person[2]
    assert chain.frame["line"].isna().tolist() == [True, False, False, False]
    assert list(chain.frame["h"]) == [1] * 4


def test_the_same_seed_gives_the_same_bytes_and_other_values_another_order(tmp_path):
    frame, written = a_sorted_survey(), []
    for number, (name, each) in enumerate([("r", frame), ("r", frame), ("s", frame), ("r", frame.assign(colour="a"))]):
        chain = protect(each.rename(columns={"colour": name}), SPEC, seed=0).apply("shuffle_records").apply("renumber")
        write_microdata(chain.frame[["home", "age"]], tmp_path / f"{number}.csv")
        written.append((tmp_path / f"{number}.csv").read_bytes())
    assert written[0] == written[1] and written[3] != written[0]
    seeds = {protect(frame, SPEC, seed=seed).apply("shuffle_records").steps[0].seed for seed in (1, 1, 2)}
    assert len(seeds) == 2


def neighbours_give(released, truth):
    """Suppressed regions, and those that an intruder names who fills each by the released ones before and after it."""
    before, after = released["region"].ffill(), released["region"].bfill()
    guess = before.where(before == after)
    lost = released["region"].isna()
    return int(lost.sum()), int((guess[lost] == truth[lost]).sum())


def attacked(steps):
    """The attack on a survey sorted by region, with region suppressed in ten records; the truth by a hidden number."""
    frame = a_sorted_survey().drop(columns="weight").assign(hidden=lambda f: np.arange(len(f)))
    truth = frame.set_index("hidden")["region"]
    chain = protect(frame, KeySpec(["region", "age"])).apply("remove_variables", {"variables": ["home"]})
    chain = chain.apply("suppress", {"k_required": 2, "importance": {"age": 1, "region": 2}})
    for step in steps:
        chain = chain.apply(step)
    released = chain.frame
    return *neighbours_give(released, released["hidden"].map(truth)), chain


def test_neighbours_give_suppressed_values_of_a_sorted_file_until_it_is_shuffled():
    """Sorted by region, the released records before and after show what was suppressed."""
    lost, told, chain = attacked([])
    assert lost >= 10 and told >= 0.8 * lost
    assert any(
        note.startswith(f"region: {told:,} of {lost:,} suppressed values are the same as") for note in chain.notes
    )
    assert any("region (9" in note and "Apply shuffle_records" in note for note in chain.notes)
    lost_then, told_then, shuffled = attacked(["shuffle_records"])
    assert lost_then == lost and told_then <= 0.3 * lost
    assert not any(re.search("neighbour.* are alike|before and after", note) for note in shuffled.notes)


def test_the_note_on_order_stands_where_order_tells_something():
    frame = a_sorted_survey()
    mixed = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    sole, spec = (
        KeySpec(["region", "age"], weight="weight"),
        KeySpec(["region", "age"], weight="weight", household="home"),
    )

    def told(each, roles, *steps):
        chain = protect(each, roles)
        for step in steps:
            chain = chain.apply(*step)
        return [note for note in chain.notes if re.search("neighbour.* are alike|places of members", note)]

    gone = ("remove_variables", {"variables": ["home"]})
    (note,) = told(frame, sole)
    assert "in region (" in note and "weight (" in note and "age (" not in note
    assert note.startswith("the records are still in the order of the input")
    assert told(mixed, sole) == [] and told(mixed, spec, gone) == []
    (note,) = told(frame, spec)
    assert "home (" not in note
    (note,) = told(frame, spec, gone)
    assert "home (66.7%; by chance alone 0.2%)" in note
    for roles in (sole, spec):
        assert told(frame, roles, ("shuffle_records",)) == []
    assert told(frame, spec, ("shuffle_records", {"by": "household"})) == []
    assert len(told(frame, spec, ("shuffle_records", {"by": "household"}), gone)) == 1
    assert len(told(frame, spec, ("shuffle_records", {"by": "within_household"}))) == 1
    eldest = frame.sort_values(["home", "age"], ascending=[True, False], kind="stable").reset_index(drop=True)
    assert [note for note in told(eldest, spec) if "reveal age; apply shuffle_records by within" in note]
    assert len(told(eldest, spec, ("shuffle_records", {"by": "household"}))) == 1
    both = [("shuffle_records", {"by": by}) for by in ("household", "within_household")]
    assert told(eldest, spec, *both) == [] and len(told(eldest, spec, ("shuffle_members",))) == 1


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.02] * 50, [0.001] * 1000, [0.6, 0.38, 0.02]])
def test_a_random_order_is_seldom_taken_for_another(shares):
    """Against orders drawn at random: the level holds, and the share that is expected is their mean."""
    rng = np.random.default_rng(7)
    codes = rng.choice(len(shares), 300, p=shares)
    found = np.array([alike_neighbours(rng.permutation(codes)) for _ in range(2000)])
    assert found[:, 0].mean() == pytest.approx(found[0, 1], abs=4 * found[:, 0].std() / np.sqrt(2000) + 1e-12)
    for level in (0.05, 0.01, LEVEL):
        assert (found[:, 2] <= level).mean() <= level + 4 * np.sqrt(level / 2000)
    assert alike_neighbours(np.sort(codes))[2] < LEVEL


@given(n=st.integers(4, 5_000), parts=st.tuples(*[st.floats(0, 1)] * 3))
def test_runs_of_a_value_have_the_hypergeometric_law(n, parts):
    marked, drawn = (1 + int(part * (n - 1)) for part in parts[:2])
    count = int(parts[2] * min(marked, drawn))
    assert at_most(count, n, marked, drawn) == pytest.approx(hypergeom.cdf(count, n, marked, drawn), rel=1e-8)


@given(codes=st.lists(st.integers(-1, 3), max_size=12))
def test_alike_neighbours_are_counted(codes):
    known = [code for code in codes if code >= 0]
    share, _, p = alike_neighbours(np.array(codes, dtype=int))
    assert 0 <= p <= 1
    if len(set(known)) > 1 and len(known) > 3 and max(Counter(known).values()) > 1:
        assert share == pytest.approx(np.mean([one == other for one, other in zip(known, known[1:])]))


@pytest.mark.parametrize(
    ("step", "options", "spec", "fault"),
    [
        ("shuffle_records", {"by": "households"}, SPEC, "by must be one of record, household, within_household"),
        ("shuffle_records", {"by": "household"}, KeySpec("age"), "needs a household"),
        ("shuffle_records", {"order": 1}, SPEC, r"unknown setting \(number 1\); there are by, seed"),
        ("renumber", {}, KeySpec("age"), "renumber needs a household or person, or"),
        ("renumber", {"variables": ["region"]}, SPEC, "region cannot be renumbered"),
        ("renumber", {"variables": ["gone"]}, SPEC, "no column gone"),
        ("renumber", {"variables": ["home", "home"]}, SPEC, "home is named twice"),
        ("renumber", {"line_number": ["line"]}, SPEC, "line_number must be the name of a column"),
    ],
)
def test_what_cannot_be_is_refused(step, options, spec, fault):
    with pytest.raises(OptionError, match=fault):
        protect(a_sorted_survey(10), spec).apply(step, options)


def test_a_record_without_a_household_is_named():
    frame = pd.DataFrame({"region": [1, 1], "age": [1, 1], "home": [1, None], "line": [1, 2]})
    with pytest.raises(DataError, match="row 1"):
        protect(frame, SPEC).apply("shuffle_records", {"by": "household"})


def test_a_seed_that_is_found_by_trying_is_noted():
    chain = protect(a_sorted_survey(20), SPEC, seed=0).apply("shuffle_records").apply("renumber")
    assert sum("the seed is short, so anyone can find it" in note for note in chain.notes) == 2
    secret = protect(a_sorted_survey(20), SPEC).apply("shuffle_records").apply("renumber")  # a seed that is drawn
    assert not any("tries seeds" in note or "the same as in the input" in note for note in secret.notes)
    assert secret.seed >= 2**48 and secret.seed != protect(a_sorted_survey(20), SPEC).seed
