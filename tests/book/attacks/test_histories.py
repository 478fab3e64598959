"""Persons known by some of their records, against a plain loop over persons and records."""

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_book.attacks import history_attack


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 2)), st.sampled_from("ab"), min_size=3))
def test_all_records_known_are_alone_as_in_a_loop(records):
    frame = pd.DataFrame([(*at, work) for at, work in records.items()], columns=["who", "year", "work"])
    found = history_attack(frame, "work", person="who", when="year", most=3).set_index("known")
    for known in (1, 2, 3):
        persons = {who for who, _ in records if sum(other == who for other, _ in records) >= known}
        assert found.loc[known, "persons"] == len(persons)
    whole = {who: {year: work for (other, year), work in records.items() if other == who} for who, _ in records}
    full = [who for who, years in whole.items() if len(years) == 3]
    assert found.loc[3, "alone"] == sum(sum(whole[who] == other for other in whole.values()) == 1 for who in full)
    shares = found["alone"][found["persons"] == found.loc[1, "persons"]]
    assert shares.is_monotonic_increasing
