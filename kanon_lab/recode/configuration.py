"""Hierarchies from plain settings, as a notebook's parameters or a configuration file hold them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import chain

from kanon_lab.errors import OptionError, nearest, shortened
from kanon_lab.recode.bands import equal_edges
from kanon_lab.recode.hierarchy import Hierarchy

# Kind of hierarchy -> other settings it takes.
_SETTINGS = {
    "masks": {"width", "mask", "level_names"},
    "bands": {"closed", "whole", "labels", "top", "nested", "level_names"},
    "widths": {"closed", "from", "to", "top", "level_names"},
    "mapping": {"top", "nested", "level_names"},
    "dates": {"date_format", "top", "level_names"},
    "file": {"header", "numbers", "nested"},
}
#: What a hierarchy may go by.
HIERARCHY_KINDS = tuple(_SETTINGS)
_TRUTHS = ("whole", "nested", "header", "numbers")
# Those of which there is one a level.
_LISTS = {"masks": "[5, 2, 0]", "bands": "[[0, 15, 65, null]]", "widths": "[5, 10]", "dates": "[month, year]"}


def hierarchies(settings: Mapping[str, Mapping]) -> dict[str, Hierarchy]:
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
    """
    if not isinstance(settings, Mapping):
        raise OptionError("hierarchies: give a mapping of variable to settings")
    return {name: _hierarchy(name, setting) for name, setting in settings.items()}


def only_kind(settings: Mapping, kinds: Mapping[str, Collection[str]], where: str) -> str:
    """The one of `kinds` (name -> other settings it takes) that is among the settings.

    Raises
    ------
    OptionError
        There is none, or several; or a setting that it does not take.
    """
    found = [kind for kind in kinds if isinstance(settings, Mapping) and kind in settings]
    if not found and isinstance(settings, Mapping):
        check_settings(settings, {*kinds, *chain(*kinds.values())}, where)
    if len(found) != 1:
        raise OptionError(f"{where}: give one of {', '.join(kinds)}")
    check_settings(settings, {found[0], *kinds[found[0]]}, where)
    return found[0]


def check_settings(settings: Mapping, known: Collection[str], where: str) -> None:
    """Raise an `OptionError` that names the first setting that is not `known`, and the nearest one that is."""
    for key in settings:
        if key not in known:
            near = nearest(key, sorted(known))
            remedy = f"did you mean {near}?" if near else f"there are {', '.join(sorted(known))}"
            raise OptionError(f"{where}: unknown setting {shortened(str(key))}; {remedy}")


def _hierarchy(name: str, setting: Mapping) -> Hierarchy:
    where = f"hierarchy of {shortened(str(name))}"
    kind = only_kind(setting, _SETTINGS, where)
    options = {key: value for key, value in setting.items() if key != kind}
    if not isinstance(options.get("top") or "", str):
        raise OptionError(f"{where}: top must be text, such as '*'")
    if not isinstance(options.get("level_names", []), (list, tuple)):
        raise OptionError(f"{where}: level_names must be a list of names, one a level")
    for truth in _TRUTHS:
        if not isinstance(options.get(truth, True), bool):
            raise OptionError(f"{where}: {truth} must be true or false, not {shortened(repr(options[truth]))}")
    if kind in _LISTS and not isinstance(setting[kind], (list, tuple)):
        raise OptionError(f"{where}: {kind} must be a list, one entry a level, such as {_LISTS[kind]}")
    try:
        return _MAKERS[kind](setting[kind], name=name, **options)
    except OptionError as error:
        raise OptionError(f"{where}: {error}") from None
    except (KeyError, TypeError, ValueError):
        raise OptionError(f"{where}: {kind} or one of its settings is of the wrong kind; check each of them") from None


def _bands(edges, *, closed: str = "left", **options) -> Hierarchy:
    return Hierarchy.from_intervals(edges, closed=closed, **options)


def _widths(widths, *, closed: str = "left", **options) -> Hierarchy:
    for end in ("from", "to"):
        if options.get(end) is None:
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
