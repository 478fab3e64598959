"""Hierarchies from settings: plain mappings, as a notebook's parameters or a configuration file hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.bands import equal_edges
from kanon_lab.recode.dates import UNITS
from kanon_lab.recode.hierarchy import Hierarchy
from kanon_lab.settings import TEXT, TRUTH, Settings, checked, read, setting

# Settings of which there is one entry a level.
_LISTS = {"masks": "[5, 2, 0]", "bands": "[[0, 15, 65, null]]", "widths": "[5, 10]", "dates": "[month, year]"}


def _levels(value: Any, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise OptionError(f"{name} must be a list, one entry a level, such as {_LISTS[name]}")
    return value


def _level_names(value: Any, name: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise OptionError(f"{name} must be a list of names, one a level")
    return value


class HierarchySettings(Settings):
    """A hierarchy by one of its kinds."""

    kinds = ("masks", "bands", "widths", "mapping", "dates", "file")
    such_as = "settings, such as {masks: [5, 2]}"

    masks: checked(list[int], _levels) = setting(
        None, "characters kept at each level; the first is the full length, level `0`", "[5, 2, 0]"
    )
    width: checked(int) = setting(None, "the full length, where numbers lost their leading zeros", "5", goes=["masks"])
    mask: checked(str) = setting("*", "the character in place of those not kept", "x", goes=["masks"])
    bands: checked(list[list[float | None]], _levels) = setting(
        None, "edges, one list a level", "[[0, 15, 65, null], [0, null]]"
    )
    widths: checked(list[float], _levels) = setting(None, "bands of equal width, one a level", "[5, 10]")
    start: checked(float) = setting(None, "where they begin; required", "0", unless="", goes=["widths"], alias="from")
    to: checked(float) = setting(None, "where they end; required", "120", unless="", goes=["widths"])
    mapping: checked(dict[str, Any]) = setting(
        None, "for each value its label, or the list of its labels at each level", "{man: any, woman: any}"
    )
    dates: checked(list[str], _levels) = setting(
        None, f"units out of {', '.join(f'`{unit}`' for unit in UNITS)}, one a level", "[month, year]"
    )
    file: TEXT = setting(
        None, "a csv file beside the recipe: a row for each value, and a column for each level", "education.csv"
    )
    closed: checked(str) = setting("left", "the edge that belongs to a band", "right", goes=["bands", "widths"])
    whole: TRUTH = setting(
        None,
        "labels as of whole numbers (`40-49`) or not (`[40, 50)`); else by what the edges are",
        "true",
        goes=["bands"],
    )
    labels: checked(list[list[str]]) = setting(
        None, "own labels, one list a level", "[[child, adult, old], [any]]", goes=["bands"]
    )
    date_format: checked(str) = setting("%Y-%m-%d", "how the file writes dates", '"%d/%m/%Y"', goes=["dates"])
    header: TRUTH = setting(True, "whether its first row holds the names of the levels", "false", goes=["file"])
    numbers: TRUTH = setting(False, "whether its values are numbers; else text", "true", goes=["file"])
    nested: TRUTH = setting(
        True,
        "whether each level must be made of whole groups of the one below",
        "false",
        goes=["bands", "mapping", "file"],
    )
    top: checked(str) = setting(
        None,
        'label of one more level, at which all are alike; with `dates` it is `"*"` unless given',
        '"*"',
        goes=["bands", "widths", "mapping", "dates"],
    )
    level_names: checked(list[str], _level_names) = setting(
        (),
        "a name for each level, level `0` included",
        "[as it is, coarse]",
        goes=["masks", "bands", "widths", "mapping", "dates"],
    )

    def check(self) -> None:
        if self.file is None:
            self.made("")

    def made(self, name: str) -> Hierarchy:
        """The hierarchy of a variable; one in a file is read."""
        options = self.said
        (kind,) = [each for each in self.kinds if each in options]
        if not isinstance(self.top or "", str):
            raise OptionError("top must be text, such as '*'")
        try:
            return _MAKERS[kind](options.pop(kind), name=name, **options)
        except (KeyError, TypeError, ValueError):
            raise OptionError(f"{kind} or one of its settings is of the wrong kind; check each of them") from None


def hierarchies(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Hierarchy]:
    """A hierarchy for each variable.

    Parameters
    ----------
    settings : mapping
        By variable a mapping with one of these, and any of the other arguments of that constructor of `Hierarchy`
        (``closed`` is ``"left"`` unless said):

        - ``masks``: characters kept at each level, such as ``[5, 2, 0]``;
        - ``bands``: the edges at each level; or ``widths`` with ``from`` and ``to``: bands of equal width a level,
          such as ``{"widths": [5, 10], "from": 0, "to": 100}``;
        - ``mapping``: for each value its label or labels;
        - ``dates``: the units, such as ``["month", "year"]``;
        - ``file``: the path of a csv file.

    Raises
    ------
    OptionError
        A variable has none of these or several, another setting, or one that its hierarchy refuses.
    DataError
        A hierarchy file cannot be read.

    Examples
    --------
    >>> from kanon_lab.recode.configuration import hierarchies
    >>> ladder = hierarchies({"postcode": {"masks": [5, 2, 0]}})["postcode"]
    >>> ladder.table(["37003"]).iloc[0].tolist()
    ['37003', '37***', '*****']
    """
    if not isinstance(settings, Mapping):
        raise OptionError("hierarchies: give a mapping of variable to settings")
    made = {}
    for name, each in settings.items():
        try:
            made[name] = read(HierarchySettings, each).made(name)
        except OptionError as error:
            raise OptionError(f"hierarchy of {shortened(str(name))}: {error}") from None
    return made


def _bands(edges, *, closed: str = "left", **options) -> Hierarchy:
    return Hierarchy.from_intervals(edges, closed=closed, **options)


def _widths(widths, *, closed: str = "left", **options) -> Hierarchy:
    for end in ("from", "to"):
        if end not in options:
            raise OptionError(f"{end} is not given; widths need both ends of the bands, such as from: 0, to: 100")
    low, high = options.pop("from"), options.pop("to")
    levels = [equal_edges(width, low, high) for width in widths]
    return Hierarchy.from_intervals(levels, closed=closed, **options)


def _file(path, *, header: bool = True, **options) -> Hierarchy:
    return Hierarchy.from_file(path, header=header, **options)


_MAKERS = {
    "masks": Hierarchy.from_masks,
    "bands": _bands,
    "widths": _widths,
    "mapping": Hierarchy.from_mapping,
    "dates": Hierarchy.from_dates,
    "file": _file,
}
