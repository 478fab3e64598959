"""Value hierarchies: how each value of a variable looks at each level of detail; their csv files."""

from __future__ import annotations

import csv
import io
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.arguments import check_whole
from kanon_lab.columns import distinct, from_labels, plain, refuse, refuse_texts
from kanon_lab.data.values import tidy
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.rules import ISO, TEXT_IN_BANDS, UNITS, Alike, Bands, Dated, Listed, Masked, Rule, check_date_format

# The most characters of a masked value: every label of a level has as many.
_LONGEST = 1000


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A variable at several levels of detail: level 0 as it is, each level above it coarser.

    Make one with `from_mapping`, `from_intervals`, `from_masks`, `from_dates` or `from_file`. Options are `name`,
    `level_names` and `top`: the label of a last level at which all values are alike (commonly ``"*"``). Where levels
    need not nest, as five-year bands up to 65+ and ten-year bands up to 80+, use ``nested=False``.

    Attributes
    ----------
    rules : tuple of Rule
        One for each level from 1 on.
    level_names : tuple of str
        One for each level from 0 on.
    nested : bool
        Values that are equal at one level are equal at every level above it.
    name : str
        The variable, or "".
    """

    rules: tuple[Rule, ...] = field(repr=False)
    level_names: tuple[str, ...] = ()
    nested: bool = True
    name: str = ""

    def __post_init__(self):
        names = tuple(self.level_names or ("as it is", *(f"level {i}" for i in range(1, self.height + 1))))
        if len(names) != self.height + 1 or not all(isinstance(name, str) for name in names):
            raise OptionError(f"level_names: give {self.height + 1} names, the first for the values as they are")
        object.__setattr__(self, "level_names", names)

    @property
    def height(self) -> int:
        """The highest level."""
        return len(self.rules)

    @classmethod
    def from_mapping(
        cls,
        mapping: Mapping[Hashable, str | Sequence[str]] | Sequence[Mapping[Hashable, str]],
        *,
        top: str | None = None,
        nested: bool = True,
        name: str = "",
        level_names: Sequence[str] = (),
    ) -> Hierarchy:
        """A hierarchy of listed values and labels.

        Parameters
        ----------
        mapping : mapping, or sequence of mappings
            For each value its label, or its labels at levels 1, 2, ...; or a mapping for each level, from the labels of
            the level below it (at level 1, from the values). Labels are text, or whole numbers, which become text.

        Examples
        --------
        >>> towns = {"Lugo": ["Galicia", "Spain"], "Jaén": ["Andalucía", "Spain"]}
        >>> kanon_lab.methods.Hierarchy.from_mapping(towns).recode(pd.Series(["Jaén"]), 1).tolist()
        ['Andalucía']
        """
        levels = [mapping] if isinstance(mapping, Mapping) else list(mapping)
        if not levels or not all(isinstance(labels, Mapping) for labels in levels):
            raise OptionError("a hierarchy is a mapping of values to labels, or a list of mappings, one for each level")
        rows = _label_rows(levels[0])
        for number, coarser in enumerate(levels[1:], start=2):
            labels_above = _label_rows(coarser)
            for value, labels in rows.items():
                if labels[-1] not in labels_above:
                    raise OptionError(
                        f"level {number} of the hierarchy has no label for one of level {number - 1}; add it"
                    )
                rows[value] = labels + labels_above[labels[-1]]
        heights = {len(labels) for labels in rows.values()}
        if len(heights) != 1 or heights == {0}:
            raise OptionError("a hierarchy needs values, and the same number of labels, one or more, for each of them")
        if nested and (clash := _clash(rows)):
            level = clash[0]
            raise OptionError(
                f"a label of level {level} of the hierarchy has two labels at level {level + 1}: levels must nest; "
                "change one, or set nested: false (in Python nested=False)"
            )
        rules = [Listed({value: labels[i] for value, labels in rows.items()}) for i in range(heights.pop())]
        return cls(_topped(rules, top), tuple(level_names), nested, name)

    @classmethod
    def from_intervals(
        cls,
        levels: Sequence[Sequence[float | None]],
        *,
        closed: str,
        whole: bool | None = None,
        labels: Sequence[Sequence[str]] | None = None,
        top: str | None = None,
        nested: bool = True,
        name: str = "",
        level_names: Sequence[str] = (),
    ) -> Hierarchy:
        """A hierarchy of bands of numbers. A value outside them is an error, never a missing value.

        Parameters
        ----------
        levels : sequence of sequences of float
            The `bands` of each level from 1 on. They, `closed`, `whole` (by default True where all edges are whole) and
            the `labels` of each level are as in `cut_bands`.

        Examples
        --------
        >>> age = kanon_lab.methods.Hierarchy.from_intervals([[0, 5, 10, None], [0, 10, None]], closed="left")
        >>> age.table([3, 7, 40]).to_numpy().tolist()
        [[3, '0-4', '0-9'], [7, '5-9', '0-9'], [40, '10+', '10+']]
        """
        levels = list(levels)
        if not levels or any(not isinstance(edges, Iterable) or isinstance(edges, str) for edges in levels):
            raise OptionError("levels: give a list of edges for each level, such as [[0, 5, 10], [0, 10]]")
        names = [None] * len(levels) if labels is None else list(labels)
        if len(names) != len(levels):
            raise OptionError(f"labels: give one list for each of the {len(levels)} levels")
        rules = [
            Bands.of(edges, closed, whole, n, f"level {i}") for i, (edges, n) in enumerate(zip(levels, names), start=1)
        ]
        for level, (fine, coarse) in enumerate(zip(rules, rules[1:]) if nested else (), start=2):
            first, last = fine.edges[0], fine.edges[-1]
            if coarse.edges[0] > first or coarse.edges[-1] < last:
                raise OptionError(f"level {level} does not reach as far as level {level - 1}; widen or open its bands")
            if cut := [edge for edge in coarse.edges if first < edge < last and edge not in fine.edges]:
                raise OptionError(
                    f"level {level} cuts at {cut[0]:.15g}, inside a band of level {level - 1}: levels must nest; "
                    "choose other edges, or set nested: false (in Python nested=False)"
                )
        return cls(_topped(rules, top), tuple(level_names), nested, name)

    @classmethod
    def from_masks(
        cls,
        keep: Sequence[int],
        *,
        width: int | None = None,
        mask: str = "*",
        name: str = "",
        level_names: Sequence[str] = (),
    ) -> Hierarchy:
        """A hierarchy of characters masked from the right: ``37003``, ``37***``, ``*****``.

        Parameters
        ----------
        keep : sequence of int
            How many characters each level keeps, falling; the first, of level 0, is the full length.
        width : int, optional
            The full length, if values may be whole numbers without their leading zeros, which are then added. Otherwise
            a value of another length is an error.
        mask : str of one character

        Examples
        --------
        >>> kanon_lab.methods.Hierarchy.from_masks([5, 2, 0], width=5).recode(pd.Series([8001]), 1).tolist()
        ['08***']
        """
        keep = list(keep)
        whole = all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) for k in keep)
        if len(keep) < 2 or not whole or keep[-1] < 0 or any(a <= b for a, b in zip(keep, keep[1:])):
            raise OptionError("keep: give falling numbers of characters, the full length first, such as 5, 2, 0")
        if keep[0] > _LONGEST:
            raise OptionError(f"keep: {keep[0]} is more than the {_LONGEST:,} characters that a mask may cover")
        if width is not None and width != keep[0]:
            raise OptionError(f"width {width!r} and the first number of keep, {keep[0]}, must be the same")
        if not isinstance(mask, str) or len(mask) != 1:
            raise OptionError(f"mask must be one character, not {mask!r}")
        rules = tuple(Masked(int(k), int(keep[0]), mask, width is not None) for k in keep[1:])
        names = level_names or ("as it is", *(f"first {k} of {keep[0]}" if k else "all masked" for k in keep[1:]))
        return cls(rules, tuple(names), True, name)

    @classmethod
    def from_dates(
        cls,
        units: Sequence[str] = ("month", "year", "decade"),
        *,
        date_format: str = ISO,
        top: str | None = "*",
        name: str = "",
        level_names: Sequence[str] = (),
    ) -> Hierarchy:
        """A hierarchy of dates: by day (level 0), then by ``month``, ``quarter``, ``year``, ``decade``, in this order.

        Dates as text are in `date_format` (of `datetime.strptime`).

        Examples
        --------
        >>> kanon_lab.methods.Hierarchy.from_dates(["month", "decade"]).recode(pd.Series(["1987-05-30"]), 2).tolist()
        ['1980-1989']
        """
        units = list(units)
        if not units or units != [unit for unit in UNITS if unit in units]:
            raise OptionError(f"units: choose from {', '.join(UNITS)}, in this order")
        names = level_names or ("day", *units, *([] if top is None else ["all alike"]))
        check_date_format(date_format)
        return cls(_topped([Dated(unit, date_format) for unit in units], top), tuple(names), True, name)

    @classmethod
    def from_file(
        cls, path: str | Path, *, header: bool, numbers: bool = False, nested: bool = True, name: str = ""
    ) -> Hierarchy:
        """A hierarchy from a .csv or .csv.gz file: one row a value, its labels in the columns after it.

        Columns are separated by comma, semicolon or tab; a `header` holds the names of the levels. Values are text, or
        `numbers`; labels are text.
        """
        with about(str(path)):
            names, rows = _read_levels(path, header, numbers)
        if nested and (clash := _clash(rows)):
            # The message quotes nothing of the file, which may be one of microdata.
            raise OptionError(
                f"{path}: two values alike at level {clash[0]} differ at level {clash[0] + 1}: levels must nest; "
                "change one, or set nested: false (in Python nested=False)"
            )
        return cls.from_mapping(rows, nested=nested, name=name, level_names=names)

    def to_file(self, path: str | Path, *, values: Iterable[Hashable] | None = None) -> None:
        """Write the hierarchy of some values (see `table`) to a .csv or .csv.gz file, as `from_file` reads it."""
        table = self.table(values).set_axis(list(self.level_names), axis=1)
        if files.file_format(path) != "csv":
            raise OptionError(f"{path}: a hierarchy is written as csv; give a name that ends in .csv or .csv.gz")
        compressed = Path(path).suffix.lower() == ".gz"
        content = files.csv_gz(table) if compressed else table.to_csv(index=False, lineterminator="\n").encode()
        files.write_bytes(path, content)

    def recode(self, series: pd.Series, level: int) -> pd.Series:
        """A column at one level, 0 to `height`: text from level 1 on, the values as they are at 0; never categories.

        Missing values stay missing, except at a level whose one label says nothing (`anything`).
        """
        level = self.check_level(level)
        if level == 0:
            return plain(series).copy()
        codes, values = distinct(series)
        labels = self.labels(values, level)
        uncovered = np.isin(codes, [i for i, label in enumerate(labels) if label is None])
        column = self.name if series.name is None else series.name
        rule = self.rules[level - 1]
        fault = f"{rule.uncovered} (level {level})"
        if isinstance(rule, Bands) and any(isinstance(value, str) for value in values):
            refuse_texts(uncovered, series, column, TEXT_IN_BANDS)
        refuse(uncovered, series.index, column, fault)
        if (anything := self.anything(level)) is not None:
            # A gap among asterisks would reveal who did not answer.
            codes, labels = np.where(codes < 0, len(labels), codes), [*labels, anything]
        return from_labels(labels, codes, series)

    def anything(self, level: int) -> str | None:
        """The label of a level in which all values, and missing ones, are alike: ``"*"``. None at other levels.

        Such is a declared `top`, and a level of masks alone. One band for all known values is none.
        """
        level = self.check_level(level)
        return self.rules[level - 1].anything if level else None

    def labels(self, values: pd.Index, level: int) -> list:
        """The label of each value at one level, None where it is not covered; at level 0 the values themselves."""
        level = self.check_level(level)
        return list(values) if level == 0 else self.rules[level - 1].labels(values)

    def table(self, values: Iterable[Hashable] | None = None) -> pd.DataFrame:
        """The labels of values (by default of all listed ones): a row a value, a column a level from 0 on.

        Hierarchies of bands, masks or dates list none.
        """
        if values is None:
            if not self.rules or not isinstance(self.rules[0], Listed):
                raise OptionError("this hierarchy lists no values: say which ones to show")
            values = self.rules[0].label_of
        series = pd.Series(list(values), name=self.name or "values")
        columns = {level: self.recode(series, level) for level in range(self.height + 1)}
        return pd.DataFrame(columns).set_axis(pd.Index(series, name=self.name or None))

    def check_level(self, level: int) -> int:
        """The level as an int; an `OptionError` where there is no such level."""
        of = f" of {shortened(self.name)}" if self.name else ""
        return check_whole(level, f"level{of}", 0, self.height)


def _topped(rules: list, top: str | None) -> tuple[Rule, ...]:
    """The rules, with one for a last level at which all values are alike if `top` is its label."""
    return tuple(rules) if top is None else (*rules, Alike(str(top)))


def _label_rows(mapping: Mapping) -> dict[Hashable, tuple[str, ...]]:
    """The labels of each value as text."""
    rows: dict[Hashable, tuple[str, ...]] = {}
    for value, labels in mapping.items():
        labels = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
        place = f"value {len(rows) + 1} of the hierarchy"
        if any(pd.api.types.is_scalar(part) and pd.isna(part) for part in (value, *labels)):
            raise OptionError(f"{place} or a label of it is missing; give every one")
        if any(isinstance(label, (bool, float)) for label in labels):
            raise OptionError(f"{place}: a label is neither text nor a whole number; put it in quotes")
        rows[value] = tuple(str(label) for label in labels)
    return rows


def _clash(rows: Mapping[Hashable, Sequence[str]]) -> tuple[int, str, str, str] | None:
    """The first level, and a label of it, with two labels at the next level, and those two; None where levels nest."""
    above: dict[tuple[int, str], str] = {}
    for labels in rows.values():
        for level, (label, coarser) in enumerate(zip(labels, labels[1:]), start=1):
            if above.setdefault((level, label), coarser) != coarser:
                return level, label, above[level, label], coarser
    return None


def _read_levels(path: str | Path, header: bool, numbers: bool) -> tuple[tuple[str, ...], dict[Hashable, list[str]]]:
    """The names of the levels (none without a header), and each value's labels; errors quote nothing of the file."""
    try:
        text = files.read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("wrong encoding: not UTF-8; save the file as UTF-8") from None
    first, reader = text.lstrip().partition("\n")[0], None
    try:
        delimiter = max(";,\t", key=lambda sign: len(next(csv.reader([first], delimiter=sign), [])))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        lines = [(reader.line_num, [tidy(cell) for cell in cells]) for cells in reader if any(cells)]
    except csv.Error as error:
        raise DataError(
            f"row {reader.line_num if reader else 1}: not csv ({error}); correct the quotation marks"
        ) from None
    if not lines:
        raise DataError("has no rows; write one for each value")
    width = len(lines[0][1])
    if width < 2:
        raise DataError("row 1 has one column; write each value and its labels, separated by commas")
    names = tuple(lines.pop(0)[1]) if header else ()
    rows: dict[Hashable, list[str]] = {}
    for number, cells in lines:
        if len(cells) != width or not all(cells):
            fault = "an empty cell" if len(cells) == width else f"{len(cells)} cells, the first row has {width}"
            raise DataError(f"row {number}: {fault}; give the value and a label for every level")
        value: str | float = cells[0]
        for kind in (float, int) if numbers else ():  # an int where it is one
            with suppress(ValueError):
                value = kind(cells[0])
        if numbers and isinstance(value, str):
            raise DataError(f"row {number}: its value is not a number; correct it, or set numbers: false")
        if value in rows:
            raise DataError(f"row {number}: its value has a row before it; give each value one row")
        rows[value] = cells[1:]
    if not rows:
        raise DataError("has a header and no rows; write one for each value")
    return names, rows
