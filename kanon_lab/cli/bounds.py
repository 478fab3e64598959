"""``kanon-lab subsample --bounds``: the fewest and the most population uniques that agree with the sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kanon_lab.cli.options import Number
from kanon_lab.digits import percent
from kanon_lab.errors import OptionError, about, inside, names_only, shortened

if TYPE_CHECKING:
    import pandas as pd

    from kanon_lab.cli.options import Source
    from kanon_lab.roles import KeySpec
    from kanon_lab.sample import UniquesBounds
    from kanon_lab.show.parts import Section

_OPTIONS = [
    click.option(
        "--bounds",
        is_flag=True,
        help="Also print the fewest and the most population uniques that agree with FILE, and the estimates that lie "
        "between them. Only for surveys that drew persons one by one.",
    ),
    click.option(
        "--confidence", type=Number(), metavar="C", help="With --bounds: confidence of the bounds.  [default: 0.95]"
    ),
    click.option(
        "--persons", type=int, metavar="N", help="With --bounds: number of persons in the population, if known."
    ),
    click.option(
        "--cells",
        type=int,
        metavar="N",
        help="With --bounds: number of combinations of the keys that can occur, if known.",
    ),
    click.option(
        "--known",
        multiple=True,
        metavar="TABLE",
        help="With --bounds: a file with what is known of the population. Each row is a block of persons with the same "
        "values of some key variables. The column persons has the number of persons in the block, the column least the "
        "fewest persons that share a key there; one of the two is enough. Repeatable.",
    ),
]


def bounds_options(command: Callable) -> Callable:
    """The options of the bounds."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def find_bounds(
    source: Source, frame: pd.DataFrame, spec: KeySpec, known: tuple[str, ...], **options: Any
) -> UniquesBounds:
    """The bounds of a file, with tables read from files."""
    from kanon_lab.roles import KeySpec
    from kanon_lab.sample import bound_uniques

    tables: dict[str, pd.DataFrame] = {}
    for file in known:
        with inside("--known"), names_only(Path(file)), about(str(file)):
            name = f"--known {shortened(Path(file).name)}"
            tables[f"{name} ({len(tables) + 1})" if name in tables else name] = _table(
                replace(source, file=file, sheet=None)
            )
    plain = KeySpec(spec.key_variables, weight=spec.weight, missing=spec.missing)
    return bound_uniques(frame, plain, known=tables, **options)


def _table(source: Source) -> pd.DataFrame:
    """A table of what is known, in which codes of the sample's other columns are not looked for."""
    read = replace(source, missing_codes={}).read()
    codes = {name: codes for name, codes in source.missing_codes.items() if name in read.frame}
    return (replace(source, missing_codes=codes).read() if codes else read).numbered


def check_options(bounds: bool, units: list[str], **options: Any) -> dict[str, Any]:
    """The options that were used; an `OptionError` where they do not go together."""
    used = {name: value for name, value in options.items() if value not in (None, ())}
    if used and not bounds:
        raise OptionError(f"--{min(used)} is for bounds: give --bounds too")
    if bounds and units:
        raise OptionError("--bounds is for persons who were drawn one by one: leave out --cluster and --household")
    return used


def bounds_section(bounds: UniquesBounds | None) -> list[Section]:
    """The section of the bounds, if there are any."""
    from kanon_lab.show.parts import Bullets, Section, Table

    if bounds is None:
        return []
    ends = {"fewest": bounds.low, "most": bounds.high}
    known = f"{bounds.size:,.0f} persons" + ("" if bounds.persons else ", which is records / fraction")
    lines = [
        f"population: {known}",
        "fewest, most: no population with fewer or more uniques agrees with the sample and with what is known of it",
        "all other rows are estimates, each of which supposes more; the sample contradicts one that is outside",
    ]
    texts = [(name, f"{persons:,}", percent(persons / bounds.size), "") for name, persons in ends.items()]
    for name, persons, within in zip(*(bounds.models[column] for column in bounds.models), strict=True):
        place = "no estimate" if within is None else "inside" if within else "outside"
        texts.append(
            (name, f"{persons:,.0f}" if within is not None else "unknown", percent(persons / bounds.size), place)
        )
    title = f"Population uniques that agree with the sample, with a confidence of {percent(bounds.confidence)}"
    return [Section(title, [Bullets(lines), Table.of_texts(["bound or estimate", "persons", "share", ""], texts)])]
