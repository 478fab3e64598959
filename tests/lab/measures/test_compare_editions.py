"""Two editions against plain loops over all pairs of persons, and what they tell together of tiny examples."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.measures import compare_editions
from kanon_lab.measures.crossing_bands import bands_of

KEYS = ("zone", "age")
PERSON = st.tuples(st.sampled_from(["n", "s", None]), st.sampled_from([1, 2, 3, None]))
PEOPLE = st.dictionaries(st.integers(0, 11), PERSON, min_size=1, max_size=9)


def frame(people, order=None):
    ids = list(people) if order is None else [*np.random.default_rng(order).permutation([*people])]
    rows = [(int(person), *people[person]) for person in ids]
    return pd.DataFrame(rows, columns=["id", *KEYS]).astype({"zone": object, "age": "Int64"})


def alike(rows, missing):
    """For each row, those that may be the same."""
    wild = missing == "wildcard"
    return [sum(all(a == b or (wild and None in (a, b)) for a, b in zip(row, other)) for other in rows) for row in rows]


def filled(old, new, editions):
    """The keys in both, hidden ones taken from the other edition if a record of their own has that value."""
    pairs = []
    for place, (before, after) in enumerate(zip(old, new)):
        has = [{row[place] for row in edition.values()} - {None} for edition in editions]
        pairs.append((after if before is None and after in has[0] else before,
                      before if after is None and before in has[1] else after))  # fmt: skip
    return [before for before, _ in pairs] + [after for _, after in pairs]


@settings(max_examples=40, deadline=None)
@given(old=PEOPLE, new=PEOPLE, missing=st.sampled_from(["wildcard", "category"]), seed=st.integers(0, 99))
def test_linked_persons_by_plain_loops(old, new, missing, seed):
    found = compare_editions(frame(old), frame(new, seed), KEYS, id="id", missing=missing)
    both = [person for person in frame(new, seed)["id"] if person in old]
    gone, came = [p for p in old if p not in new], [p for p in frame(new, seed)["id"] if p not in old]
    linked = found.linked
    assert sorted(linked.joint) == sorted(alike([(*old[p], *new[p]) for p in both], missing))
    rows = [filled(old[p], new[p], (old, new)) if missing == "wildcard" else [*old[p], *new[p]] for p in both]
    assert sorted(linked.filled) == sorted(alike(rows, missing))
    assert [*linked.only_old] == alike([old[p] for p in gone], missing)
    assert [*linked.only_new] == alike([new[p] for p in came], missing)
    alone = dict(zip(old, alike([*old.values()], missing)))
    leavers = [k for p, k in zip(gone, alike([old[p] for p in gone], missing)) if k < alone[p]]
    assert found.k_with == min([*linked.filled, *linked.only_new, *leavers])
    result = found.to_dict()
    for place, key in enumerate(KEYS):
        cells = [(old[p][place], new[p][place]) for p in both]
        assert result["shown_in_one"][key] == {
            "only_old": sum(b is not None and a is None for b, a in cells),
            "only_new": sum(b is None and a is not None for b, a in cells),
        }
        assert result["changed"][key] == sum(None not in pair and pair[0] != pair[1] for pair in cells)
    assert result["records"] == {"old": len(old), "new": len(new), "both": len(both)}
    assert result["only_in_one"] == {"old": len(gone), "new": len(came)}
    assert result["k_achieved"] == {
        "old": min(alone.values()), "new": min(alike([*new.values()], missing))
    }  # fmt: skip
    assert (linked.filled <= linked.joint).all()


@settings(max_examples=40, deadline=None)
@given(old=PEOPLE, new=PEOPLE)
def test_classes_without_links_by_plain_loops(old, new):
    found = compare_editions(frame(old), frame(new), KEYS, k=[1, 2, 3])
    result, (before, after) = found.to_dict(), map(Counter, (old.values(), new.values()))
    assert result["classes"] == {
        "both": len(before.keys() & after.keys()),
        "only_old": len(before.keys() - after.keys()),
        "only_new": len(after.keys() - before.keys()),
    }
    moved = [abs(after[key] - before[key]) for key in before.keys() & after.keys()]
    assert result["differing"] == {k: sum(0 < n < k for n in moved) for k in (1, 2, 3)}
    more, less = after - before, before - after
    assert result["nested"] == ("new" if more and not less else "old" if less and not more else None)
    alone = alike([*new.values()], "wildcard")
    changes = [*(more or less).values()] if not (more and less) else []
    assert found.k_with == min([*alone, *changes])
    assert found.groups.loc["with", "unique"] == max(sum(n < 2 for n in alone), sum(n for n in changes if n < 2))


@settings(max_examples=40, deadline=None)
@given(
    people=st.lists(st.tuples(st.sampled_from("ns"), st.integers(0, 29)), min_size=1, max_size=20),
    edges=st.tuples(*[st.lists(st.integers(1, 29), min_size=1, max_size=4, unique=True)] * 2),
)
def test_crossing_bands_make_finer_ones_by_plain_loops(people, edges):
    frames, bands = [], []
    for cut in edges:
        lows = [0, *sorted(cut)]
        rows = [max(low for low in lows if low <= age) for _, age in people]
        highs = dict(zip(lows, [*lows[1:], 30]))
        labels = [f"{low}-{highs[low] - 1}" if highs[low] - low > 1 else str(low) for low in rows]
        frames.append(pd.DataFrame({"zone": [zone for zone, _ in people], "age": labels}))
        bands.append({(low, highs[low]) for low in rows})
    found = compare_editions(*frames, ["zone", "age"]).crossings
    crossing = [
        (a, b) for a in bands[0] for b in bands[1]
        if max(a[0], b[0]) < min(a[1], b[1]) and (a[0] - b[0]) * (a[1] - b[1]) > 0
    ]  # fmt: skip
    assert (len(crossing) > 0) == ("age" in found)
    if crossing:
        assert found["age"].pairs == len(crossing)
        assert found["age"].narrowest == min(min(a[1], b[1]) - max(a[0], b[0]) for a, b in crossing)
        lows = sorted({edge for side in bands for band in side for edge in band})
        cells = Counter((zone, max(low for low in lows if low <= age)) for zone, age in people)
        assert sorted(found["age"].persons) == sorted(cells.values())


def test_pseudonyms_link_what_two_files_hide():
    old = pd.DataFrame({"id": [1, 2, 3, 4, 5], "zone": ["n", "n", None, "s", "s"], "sex": [*"mmmww"]})
    new = pd.DataFrame({"id": [5, 4, 3, 2, 6], "zone": ["s", None, "n", "n", "n"], "sex": [*"wwmmm"]})
    found = compare_editions(old, new, ["zone", "sex"], id="id", k=[2, 3])
    result = found.to_dict()
    assert result["records"] == {"old": 5, "new": 5, "both": 4}
    assert result["k_achieved"] == {"old": 2, "new": 2} and result["k_joint"] == result["k_filled"] == 2
    assert result["only_in_one"] == {"old": 1, "new": 1} and result["k_only"] == {"old": 1, "new": 1}
    assert result["shown_in_one"]["zone"] == {"only_old": 1, "only_new": 1}
    assert result["k_with"] == 1 and result["violations"]["with"] == {2: 2, 3: 6}


def test_numbers_link_with_texts_of_them():
    old, new = pd.DataFrame({"id": ["7", "x"], "a": [1, 1]}), pd.DataFrame({"id": [7, 8], "a": ["1", "1"]})
    result = compare_editions(old, new, "a", id="id").to_dict()
    assert (result["records"]["both"], result["changed"]) == (1, {"a": 0})


def test_a_key_that_only_one_edition_has_counts_there():
    old = pd.DataFrame({"id": [1, 2], "zone": ["n", "s"], "sex": ["m", "m"]})
    found = compare_editions(old, old.drop(columns="zone"), ["zone", "sex"], id="id")
    assert (found.k_with, found.to_dict()["k_achieved"], found.common) == (1, {"old": 1, "new": 2}, ("sex",))
    assert [note.key for note in found.notes] == ["editions_key_in_one"]


def test_bands_are_read_as_they_are_written():
    labels = ["0-14", "[15, 30)", "(30, 40]", "40+", "under 5", "<= 3", "> 3", "7", "2.5"]
    edges = bands_of(labels)
    assert edges.round(6).tolist()[:4] == [[0, 15], [15, 30], [30, 40], [40, np.inf]]
    assert edges[4:6].round(6).tolist() == [[-np.inf, 5], [-np.inf, 3]] and edges[2, 0] > 30
    assert edges[7].tolist() == [7, 8] and edges[8, 0] == 2.5 < edges[8, 1]
    assert bands_of(["0-14", "unknown"]) is None and bands_of([]) is None


@pytest.mark.parametrize(
    ("change", "options", "fault"),
    [
        ({"id": [1, 1, 2]}, {"id": "id"}, "new.csv: column id: row 1: an identifier that an earlier row has"),
        ({"id": [1, None, 2]}, {"id": "id"}, "new.csv: column id: row 1: no identifier; fill it in"),
        ({}, {"id": "ident"}, "old.csv: column ident is not there"),
        ({}, {"id": "id", "same_order": True}, "id and same_order are two ways"),
        ({"age": [1, None, 2]}, {"missing": "error"}, "new.csv: row 1: a missing value in column age"),
    ],
)
def test_every_fault_is_one_line(change, options, fault):
    old = pd.DataFrame({"id": [1, 2, 3], "age": [1, 2, 3]})
    with pytest.raises(KanonLabError) as caught:
        compare_editions(old, old.assign(**change), "age", names=("old.csv", "new.csv"), **options)
    assert str(caught.value).startswith(fault) and "\n" not in str(caught.value)


def test_the_same_order_needs_the_same_number():
    old = pd.DataFrame({"a": [1, 2, 3]})
    with pytest.raises(DataError, match="old edition has 3 records and the new edition 2: the same order"):
        compare_editions(old, old[:2], "a", same_order=True)
    with pytest.raises(DataError, match="column b is in neither"):
        compare_editions(old, old, "b")


@given(people=st.lists(PERSON, min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_an_edition_beside_itself_tells_nothing_new(people):
    assume(any(zone for zone, _ in people))
    old = frame(dict(enumerate(people)))
    found = compare_editions(old, old, KEYS, same_order=True)
    assert [*found.linked.filled] == [*found.alike["new"]] == [*found.linked.joint]
    assert found.nested is None and not found.crossings
