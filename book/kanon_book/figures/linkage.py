"""Two tables joined by what both have: a list with names, and a released file without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from kanon_book.figures.records import listed
from kanon_book.figures.scene import Scene
from kanon_lab.show.colors import BLUE, GREEN, GREY, ORANGE, PURPLE
from kanon_lab.show.style import check_columns, check_room

if TYPE_CHECKING:
    from kanon_lab.show.style import alt

_COLORS = (BLUE, ORANGE, GREEN, PURPLE)
_FIRST = 0.1


def joined_tables(
    register: pd.DataFrame, released: pd.DataFrame, keys: Sequence[str], *, name: str, sensitive: str
) -> alt.LayerChart:
    """A few invented persons of a list above a few records of a file, and a line where their keys are the same.

    `register` has the column `name` and the keys, `released` the keys and the column `sensitive`. A person is joined to
    a record if no other row of either table has the same keys.
    """
    keys = list(keys)
    check_columns(register, [name, *keys], "a list of a few persons")
    check_columns(released, [*keys, sensitive], "a file of a few records")
    rows = [[tuple(map(str, row)) for row in table[keys].to_numpy()] for table in (register, released)]
    pairs = [(i, rows[1].index(row)) for i, row in enumerate(rows[0]) if [part.count(row) for part in rows] == [1, 1]]
    check_room(pairs, _COLORS, "joined persons")
    # Digits are wider than most letters, and a heading may be longer in another language.
    widths = [max(1.35 * len(key), *(_width(row[at]) for part in rows for row in part)) for at, key in enumerate(keys)]
    first = 0.9 * max(len(str(text)) for text in (name, sensitive, *register[name], *released[sensitive]))
    starts = [_FIRST]
    for width in (first, *widths[:-1]):
        starts.append(starts[-1] + (1 - _FIRST) * (width + 1.2) / (first + sum(widths) + 1.2 * (1 + len(keys))))
    scene, tops = Scene(), (0.0, len(register) + 2.8)
    titles = ("A list with names", "The released file, without names")
    for top, title, table, column in zip(tops, titles, (register, released), (name, sensitive)):
        scene.word(_FIRST, top + 0.5, title, bold=True)
        for start, head in zip(starts, [column, *keys]):
            scene.word(start, top + 1.5, head, color=GREY)
        for place, row in enumerate(table[[column, *keys]].to_numpy().tolist()):
            for start, text in zip(starts, row):
                scene.word(start, top + 2.5 + place, str(text))
    for number, (above, below) in enumerate(pairs):
        color, gutter = _COLORS[number], 0.06 - 0.02 * number
        ends = tops[0] + 2.5 + above, tops[1] + 2.5 + below
        for y in ends:
            scene.box((_FIRST - 0.02, 1), (y - 0.42, y + 0.42), color)
            scene.line((gutter, y), (_FIRST - 0.02, y), color, width=2)
        scene.line((gutter, ends[0]), (gutter, ends[1]), color, width=2)
    joined = [f"{register[name].iloc[i]}: {released[sensitive].iloc[j]}" for i, j in pairs]
    alone = len(register) - len(pairs), len(released) - len(pairs)
    return scene.chart(
        "Two tables joined",
        f"A line joins a person to the only record with the same {listed(keys)}",
        f"A list of {len(register)} persons with names above a file of {len(released)} records without. "
        f"{len(pairs)} are joined by {listed(keys)}. {'; '.join(joined)}. "
        f"{alone[0]} of the list and {alone[1]} of the file are joined to nobody.",
        tops[1] + len(released) + 2.2,
    )


def _width(text: str) -> float:
    return len(text) * (1.15 if text.isalpha() else 1)
