"""Reading ranges of k."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_lab.errors import OptionError
from kanon_lab.population import KRange, parse_ranges


def test_ranges_of_cuadro_1():
    ranges = parse_ranges("1,2,3,4,5,6-10,11-20,21-50,51+")
    assert ranges[0] == KRange(1, 1)
    assert ranges[5] == KRange(6, 10)
    assert ranges[-1] == KRange(51, None)


@given(st.lists(st.tuples(st.integers(1, 10**6), st.one_of(st.none(), st.integers(0, 10**3))), min_size=1))
def test_labels_read_back(parts):
    ranges = tuple(KRange(first, None if width is None else first + width) for first, width in parts)
    assert parse_ranges(",".join(r.label for r in ranges)) == ranges


@pytest.mark.parametrize("text", ["", "0", "5-3", "a", "1,,2", "1-", "-1", "1.5", "+3", "1-2-3", "9999999999999"])
def test_what_is_not_a_range_is_refused_in_one_line(text):
    with pytest.raises(OptionError) as error:
        parse_ranges(text)
    assert "\n" not in str(error.value)
