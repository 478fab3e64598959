"""Two editions in which persons have several records, against plain loops over persons and pairs of their records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kanon_lab.errors import KanonLabError
from kanon_lab.measures import compare_editions

KEYS = ("zone", "age")
KEY = st.tuples(st.sampled_from(["n", "s", None]), st.sampled_from([1, 2, None]))
#: Keys by person and year.
EDITION = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 2)), KEY, min_size=1, max_size=10)


def frame(edition, order=0):
    """An edition, its records in some order."""
    rows = [(person, year, *keys) for (person, year), keys in edition.items()]
    rows = [rows[place] for place in np.random.default_rng(order).permutation(len(rows))]
    return pd.DataFrame(rows, columns=["p", "year", *KEYS]).astype({"zone": object, "age": "Int64"})


def fits(one, other, wild):
    return all(a == b or (wild and None in (a, b)) for a, b in zip(one, other))


def by_person(edition):
    """The keys of the records of each person."""
    return {p: [keys for (of, _), keys in edition.items() if of == p] for p in sorted({p for p, _ in edition})}


def alone(edition, wild):
    """For each person, the persons alike: the fewest of its records."""
    people = by_person(edition)
    return {
        p: min(sum(any(fits(key, other, wild) for other in more) for more in people.values()) for key in own)
        for p, own in people.items()
    }


def in_both(old, new, wild, aligned):
    """For each person in both, the persons who have a record alike in each: the fewest of the pairs of its records.

    Where the pair may be the same record, of those who have the same record alike in both.
    """
    pairs = {record: (*old[record], *new[record]) for record in old if record in new} if aligned else {}
    same = alone(pairs, wild)
    people = [by_person(old), by_person(new)]
    both = [p for p in people[0] if p in people[1]]
    return sorted(
        min(
            same.get(p, 99),
            *(
                sum(
                    any(fits(a, x, wild) for x in people[0][q]) and any(fits(b, y, wild) for y in people[1][q])
                    for q in both
                )
                for a in people[0][p]
                for b in people[1][p]
            ),
        )
        for p in both
    )


def told(record, key, edition, aligned):
    """What an edition tells of a key of a record of the other: as of the same record, or as of all of the person."""
    if aligned and record in edition:
        return edition[record][key]
    values = {keys[key] for (p, _), keys in edition.items() if p == record[0]} - {None}
    return values.pop() if len(values) == 1 else None


def filled(edition, other, aligned):
    """An edition whose hidden keys are filled in, where one of its records has that value."""
    has = [{keys[key] for keys in edition.values()} for key in range(len(KEYS))]
    whole = {}
    for record, keys in edition.items():
        there = [told(record, key, other, aligned) for key in range(len(KEYS))]
        whole[record] = tuple(
            value if own is None and value in has[key] else own for key, (own, value) in enumerate(zip(keys, there))
        )
    return whole


@settings(max_examples=20, deadline=None)
@given(old=EDITION, new=EDITION, wild=st.booleans(), aligned=st.booleans(), order=st.integers(0, 9))
def test_linked_persons_by_plain_loops(old, new, wild, aligned, order):
    # without a common person an identifier that no two records share is another link: see below
    assume(not aligned or by_person(old).keys() & by_person(new))
    found = compare_editions(
        frame(old), frame(new, order), KEYS, person="p", id="year" if aligned else None,
        missing="wildcard" if wild else "category",
    )  # fmt: skip
    linked, result = found.linked, found.to_dict()
    assert sorted(linked.joint) == in_both(old, new, wild, aligned)
    fuller = [filled(old, new, aligned), filled(new, old, aligned)] if wild else [old, new]
    assert sorted(linked.filled) == in_both(*fuller, wild, aligned)
    gone, came = ({r: k for r, k in a.items() if r[0] not in by_person(b)} for a, b in ((old, new), (new, old)))
    assert sorted(linked.only_old) == sorted(alone(gone, wild).values())
    assert sorted(linked.only_new) == sorted(alone(came, wild).values())
    people = [*by_person(gone).items()]
    whole = by_person(old).values()
    left = [
        k for _, own in people for key in own
        if (k := sum(any(fits(key, x, wild) for x in more) for _, more in people))
        < sum(any(fits(key, x, wild) for x in more) for more in whole)
    ]  # fmt: skip
    assert found.k_with == min([*linked.filled, *linked.only_new, *left])
    assert sorted(found.alike["new"]) == sorted(alone(new, wild).values())
    assert result["persons"] == {
        "old": len(by_person(old)), "new": len(by_person(new)), "both": len(by_person(old).keys() & by_person(new))
    }  # fmt: skip
    assert result["records"] == {"old": len(old), "new": len(new), "both": len(old.keys() & new) if aligned else None}
    for place, key in enumerate(KEYS):
        hidden = [
            sum(keys[place] is None and told(record, place, other, aligned) is not None for record, keys in one.items())
            for one, other in ((new, old), (old, new))
        ]
        assert result["shown_in_one"][key] == {"only_old": hidden[0], "only_new": hidden[1]}
        others = [(keys[place], told(record, place, new, aligned)) for record, keys in old.items()]
        assert result["changed"][key] == sum(None not in pair and pair[0] != pair[1] for pair in others)


@settings(max_examples=10, deadline=None)
@given(
    old=st.dictionaries(st.integers(0, 9), KEY, min_size=1, max_size=8),
    new=st.dictionaries(st.integers(0, 9), KEY, min_size=1, max_size=8),
    missing=st.sampled_from(["wildcard", "category"]),
)
def test_one_record_a_person_is_an_identifier(old, new, missing):
    old, new = ({(p, 0): keys for p, keys in of.items()} for of in (old, new))
    of_records, of_persons = (
        compare_editions(frame(old), frame(new), KEYS, missing=missing, **{role: "p"}) for role in ("id", "person")
    )
    expected = {**of_records.to_dict(), "linked_by": "person"}
    result = of_persons.to_dict()
    persons = result.pop("persons")
    assert (persons, result["records"].pop("both")) == (expected["records"].copy(), None)
    expected["records"].pop("both")
    assert result == expected


@settings(max_examples=12, deadline=None)
@given(old=EDITION, more=EDITION, by=st.sampled_from(["id", "same_order"]), wild=st.booleans(), order=st.integers(0, 9))
def test_persons_counted_in_linked_records_by_plain_loops(old, more, by, wild, order):
    """An intruder links records, and cannot link those of one person: an identifier is new for each record."""
    new = {**old, **more}
    records = [*new] if by == "id" else [*old]
    rows = {name: pd.DataFrame(
        [(r[0], i, *of[r]) for i, r in enumerate(records) if r in of], columns=["p", "id", *KEYS]
    ) for name, of in (("old", old), ("new", new))}  # fmt: skip
    missing = "wildcard" if wild else "category"
    options = {"id": "id"} if by == "id" else {"same_order": True}
    found = compare_editions(
        rows["old"], rows["new"].sample(frac=1, random_state=order) if by == "id" else rows["new"], KEYS,
        person="p", link_persons=False, missing=missing, **options,
    )  # fmt: skip
    pairs = {record: (*old[record], *new[record]) for record in old}
    assert sorted(found.linked.joint) == sorted(alone(pairs, wild).values())
    came = {record: new[record] for record in records if record not in old}
    assert sorted(found.linked.only_new) == sorted(alone(came, wild).values())
    assert found.to_dict()["only_in_one"] == {"old": 0, "new": len(by_person(came))}


@settings(max_examples=12, deadline=None)
@given(old=EDITION, more=EDITION)
def test_without_links_a_difference_is_of_so_many_persons_at_least(old, more):
    new = {**old, **{(p + 10, year): keys for (p, year), keys in more.items()}}
    found = compare_editions(frame(old), frame(new), KEYS, person="p", link_persons=False)
    assert found.linked_by is None and found.nested == "new"
    fewest = min(len({p for (p, _), keys in more.items() if keys == key}) for key in more.values())
    assert found.k_with <= min(fewest, *alone(new, True).values())
    most = max(map(len, by_person(new).values()))
    counts = [sum(keys == key for keys in more.values()) for key in more.values()]
    assert found.k_with == min(*(-(-count // most) for count in counts), *alone(new, True).values())


def test_an_old_edition_without_persons_is_one_person():
    old, new = pd.DataFrame({"a": [1, 1, 2, 2]}), pd.DataFrame({"p": [1, 2, 3, 4, 5], "a": [1, 1, 2, 2, 2]})
    found = compare_editions(old, new, "a", person="p", link_persons=False)
    assert (found.to_dict()["k_achieved"], found.k_with) == ({"old": 1, "new": 2}, 1)
    assert [note.key for note in found.notes][-1] == "editions_persons_not_known"
    assert compare_editions(old, new[:4], "a", person="p", link_persons=False, same_order=True).k_with == 2


def test_renewed_persons_do_not_hide_an_identifier():
    old = pd.DataFrame({"p": [1, 1, 2, 2], "id": [*"abcd"], "zone": [*"nnns"]})
    new = old.assign(p=[8, 8, 9, 9], zone=[*"nssn"])
    found = compare_editions(old, new, "zone", person="p", id="id")
    # n in both, of one record, has the first person alone; s, then n the second
    assert (found.linked_by, found.k_with, [*found.linked.joint]) == ("person", 1, [1, 1])
    assert found.to_dict()["persons"] == {"old": 2, "new": 2, "both": 2}


def test_what_is_not_known_is_said():
    old = pd.DataFrame({"p": [1, 1, 2], "zone": [*"nns"]})
    notes = [note.key for note in compare_editions(old, old, "zone", person="p").notes]
    assert notes == ["editions_records_not_aligned"]
    notes = [note.key for note in compare_editions(old, old.assign(p=old["p"] + 5), "zone", person="p").notes]
    assert notes == ["editions_none_in_both"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"id": "p"}, "old.csv: column p: row 1: an identifier that an earlier row has; use one that no two records"),
        ({"person": "p", "id": "zone"}, "old.csv: column zone: row 1: a person's earlier row has this identifier too"),
        ({"person": "q"}, "old.csv: column q is not there"),
        ({"person": "zone"}, "zone is the person and a key variable"),
    ],
)
def test_every_fault_is_one_line(options, fault):
    old = pd.DataFrame({"p": [1, 1, 2], "zone": [*"nns"]})
    with pytest.raises(KanonLabError) as caught:
        compare_editions(old, old, "zone", names=("old.csv", "new.csv"), **options)
    assert str(caught.value).startswith(fault) and "\n" not in str(caught.value)
    assert options != {"id": "p"} or "--person" in str(caught.value)
