"""Fit the rule by which the minutes of a chapter are counted to the minutes that a reader took for the first edition.

`minutes.csv` has, for each chapter of the first edition, what stood on its page (see `count` of
`kanon_book.course.minutes`), how many questions stood at its end, and the minutes that a reader took for all of it.
Pages that are lists to look things up in (``list``) are not read through, and are left out. The rounded seconds stand
in `kanon_book.course.minutes`.

`minutes_all.csv` has four chapters of a later edition, with what a second reader took for text and exercises together.
The rule was not fitted to these.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from scipy.optimize import nnls

from kanon_book.building.stamps import command_line
from kanon_book.course.minutes import PRACTICE, QUESTION, READING

KINDS = READING | {"question": QUESTION}


def read_minutes() -> pd.DataFrame:
    """Chapters that were read through."""
    frame = pd.read_csv(Path(__file__).with_name("minutes.csv"))
    return frame[frame["list"] == "no"].reset_index(drop=True)


def fitted(frame: pd.DataFrame) -> dict[str, float]:
    """Seconds for one of each kind, none negative, by least squares."""
    seconds, _ = nnls(frame[list(KINDS)].to_numpy(float), 60 * frame["minutes"].to_numpy(float))
    return dict(zip(KINDS, seconds))


def by_rule(frame: pd.DataFrame) -> pd.Series:
    """Minutes by the rounded seconds."""
    return sum(frame[kind] * seconds for kind, seconds in KINDS.items()) / 60


def with_exercises() -> pd.DataFrame:
    """``chapter``, ``minutes`` that the second reader took, and ``rule``: reading and exercises together."""
    frame = pd.read_csv(Path(__file__).with_name("minutes_all.csv"))
    weights = READING | {depth: 60 * minutes for depth, minutes in PRACTICE.items()}
    rule = sum(frame[kind] * seconds for kind, seconds in weights.items()) / 60
    return frame[["chapter", "minutes"]].assign(rule=rule.round(1))


def main() -> None:
    command_line("kanon_book.building.fit_minutes", __doc__).parse_args()
    frame = read_minutes()
    for kind, seconds in fitted(frame).items():
        print(f"{kind}: fitted {seconds:.2f} s, in the rule {KINDS[kind]} s")
    rule, taken = by_rule(frame), frame["minutes"]
    print(frame[["chapter", "minutes"]].assign(rule=rule.round(1)).to_string(index=False))
    explained = 1 - ((rule - taken) ** 2).sum() / ((taken - taken.mean()) ** 2).sum()
    print(f"Mean absolute error {(rule - taken).abs().mean():.1f} minutes; explained {explained:.0%} of the variance;")
    print(f"in all {rule.sum():.0f} minutes by the rule, {taken.sum()} taken")
    print(f"With exercises:\n{with_exercises().to_string(index=False)}")


if __name__ == "__main__":
    main()
