"""Five-year groups of age from whatever ages a file of counts has: single years are added up."""

import math

import pandas as pd

from kanon_lab.data import labels
from kanon_lab.data.checks import CELL
from kanon_lab.errors import DataError

# Bare numbers that go no further are codes of groups rather than ages: no population ends there.
_CODES_TO = 30


def in_five_year_groups(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Cells by five-year age group, each at the place of its first one, and notes on what was added up."""
    groups = [group for group in cells["age_group"].unique() if group != labels.TOTAL]
    _check_overlap(groups)
    opened = next((group for group in groups if group.endswith("+")), None)
    start = math.inf if opened is None else _start(opened)
    into = {group: f"{start}+" if _start(group) >= start else _five(group) for group in groups}
    finer = [group for group in groups if into[group] != group]
    if not finer:
        return cells, []
    _check_codes(groups)
    _check_whole(into)
    named = cells.assign(age_group=cells["age_group"].map(into | {labels.TOTAL: labels.TOTAL}).astype(str))
    sums = named.groupby(CELL, sort=False)["persons"].sum()
    named = named.drop_duplicates(CELL).assign(persons=sums.to_numpy())
    return named, [f"{len(finer):,} single years or parts of age groups are added up to five-year groups"]


def _start(group: str) -> int:
    """First age of the five-year group that a group begins in."""
    return labels.lowest_age(group) // labels.GROUP_YEARS * labels.GROUP_YEARS


def _five(group: str) -> str:
    return f"{_start(group)}-{_start(group) + labels.GROUP_YEARS - 1}"


def _check_overlap(groups: list[str]) -> None:
    """Raise a `DataError` where an age is in two groups: its persons would count twice."""
    ordered = sorted(groups, key=labels.lowest_age)
    for group, following in zip(ordered, ordered[1:]):
        last = labels.highest_age(group)
        if last is None or labels.lowest_age(following) <= last:
            raise DataError(f"age groups {group} and {following} overlap; leave one of them out")


def _check_codes(groups: list[str]) -> None:
    """Raise a `DataError` where numbers may be codes of groups: 1 for 0-4, 2 for 5-9."""
    if all(group.isdecimal() for group in groups) and max(map(int, groups)) < _CODES_TO:
        raise DataError(
            "column age_group holds low numbers only, which may be codes rather than years of age; write "
            "groups as 5-9 and 85+, and the last year of age as the open group that it is, such as 100+"
        )


def _check_whole(into: dict[str, str]) -> None:
    """Raise a `DataError` where a five-year group would be made of some of its years only."""
    for five in dict.fromkeys(into.values()):
        parts = [group for group, group_of in into.items() if group_of == five]
        closed = [group for group in parts if not group.endswith("+")]
        ages = {age for group in closed for age in range(labels.lowest_age(group), labels.highest_age(group) + 1)}
        low = labels.lowest_age(five)
        end = labels.highest_age(five)
        if end is None:
            (opened,) = set(parts) - set(closed)
            end = labels.lowest_age(opened) - 1
        if absent := [age for age in range(low, end + 1) if age not in ages]:
            raise DataError(
                f"no counts of age {absent[0]}, so that the group {five} cannot be made; add it (0 where "
                "nobody is of that age), or leave out the other ages of that group"
            )
