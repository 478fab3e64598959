"""Hierarchies from settings: plain mappings, as a notebook's parameters or a configuration file hold them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.bands import equal_edges
from kanon_lab.recode.hierarchy import Hierarchy
from kanon_lab.settings import TEXT, TRUTH, Settings, checked, read

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

    kinds = {
        "masks": ("width", "mask", "level_names"),
        "bands": ("closed", "whole", "labels", "nested", "top", "level_names"),
        "widths": ("from", "to", "closed", "top", "level_names"),
        "mapping": ("nested", "top", "level_names"),
        "dates": ("date_format", "top", "level_names"),
        "file": ("header", "numbers", "nested"),
    }
    such_as = "settings, such as {masks: [5, 2]}"

    masks: checked(list[int], _levels) = None
    width: checked(int) = None
    mask: checked(str) = "*"
    bands: checked(list[list[float | None]], _levels) = None
    widths: checked(list[float], _levels) = None
    start: checked(float) = Field(None, alias="from")
    to: checked(float) = None
    mapping: checked(dict[str, Any]) = None
    dates: checked(list[str], _levels) = None
    file: TEXT = None
    closed: checked(str) = "left"
    whole: TRUTH = None
    labels: checked(list[list[str]]) = None
    date_format: checked(str) = "%Y-%m-%d"
    header: TRUTH = True
    numbers: TRUTH = False
    nested: TRUTH = True
    top: checked(str) = None
    level_names: checked(list[str], _level_names) = ()

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
