"""The recodings of the INE Chile guide (2023), section 8.2.1, from the counts that its text keeps."""

import pandas as pd
import pytest

from kanon_lab.methods import cut_bands, group_categories, round_values

SIZES = {"capital, large city": 793, "small city": 362, "town": 161, "countryside": 684}

# Section 8.2.1.3, ages before rounding. Three counts after age 66 are lost: those of 67-85 follow the printed order, 91
# is 3, and 86, 87, 88 and 90 share 7 in a way that no printed figure depends on.
_FIRST = "1 3 2 7 15 16 14 28 31 24 39 45 41 52 50 65 48 77 60 55 78 56 56 48 45 55"
_SECOND = "33 50 45 41 52 51 32 39 39 46 36 38 26 19 22 22 22 28 29 24 16 22 13 10 25 13"
_THIRD = "10 17 21 26 13 9 10 3 11 5 5 15 7 14 5 1 4 6 4"
_COUNTS = {
    **dict(zip([12, 14, *range(17, 41)], map(int, _FIRST.split()))),
    **dict(zip(range(41, 67), map(int, _SECOND.split()))),
    **dict(zip(range(67, 86), map(int, _THIRD.split()))),
    **{86: 1, 87: 2, 88: 2, 90: 2, 91: 3},
}
AGES = pd.Series([age for age, count in _COUNTS.items() for _ in range(count)], name="AGEYRS")


def test_block_8_1_sizes_of_place_grouped():
    places = pd.Series([size for size, count in SIZES.items() for _ in range(count)], dtype="category")
    urban = {"urban": ["capital, large city", "small city", "town"], "rural": ["countryside"]}
    assert group_categories(places, urban).value_counts().to_dict() == {"urban": 1316, "rural": 684}


@pytest.mark.parametrize(
    ("edges", "printed"),
    [
        # Block 8.2.
        (range(0, 101, 10), [0, 44, 389, 578, 428, 266, 173, 92, 27, 3]),
        # Block 8.3; the count of (5, 11] is not in the text, and no age lies there.
        ([0, 5, 11, 17, 21, 25, 49, 65, 100], [0, 0, 6, 52, 122, 1213, 398, 209]),
    ],
)
def test_blocks_8_2_and_8_3_ages_in_bands_closed_on_the_right(edges, printed):
    assert len(AGES) == 2000
    labels = [f"({low},{high}]" for low, high in zip(edges, edges[1:])]
    counts = cut_bands(AGES, bands=list(edges), closed="right", labels=labels).value_counts()
    assert [counts.get(label, 0) for label in labels] == printed


def test_unequal_bands_labelled_65_and_over_start_after_65():
    """The 25 persons aged 65 are below the band that the text calls 65+."""
    counts = cut_bands(AGES, bands=[0, 15, 65, None]).value_counts()
    assert counts["65+"] == 234


def test_section_8_2_1_3_ages_rounded_to_ten():
    printed = {10: 4, 20: 176, 30: 493, 40: 559, 50: 326, 60: 233, 70: 122, 80: 77, 90: 10}
    assert round_values(AGES, base=10, half="even").value_counts().sort_index().to_dict() == printed
    assert (round_values(AGES, base=10, half="up") == 20).sum() == 137
