"""Hierarchies from plain settings, as a notebook's parameters or a configuration file hold them."""

from __future__ import annotations

from collections.abc import Mapping

from kanon_lab.errors import OptionError, nearest, shortened
from kanon_lab.recode.hierarchy import Hierarchy

# Kind of hierarchy -> other settings it takes.
_COMMON = {"level_names"}
_MOST_BANDS = 10_000
_SETTINGS = {
    "masks": {"width", "mask"},
    "bands": {"closed", "whole", "labels", "top", "nested"},
    "widths": {"closed", "from", "to", "top"},
    "mapping": {"top", "nested"},
    "dates": {"date_format", "top"},
    "file": {"header", "numbers", "nested"},
}


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


def _hierarchy(name: str, setting: Mapping) -> Hierarchy:
    where = f"hierarchy of {shortened(str(name))}"
    kinds = [kind for kind in _SETTINGS if isinstance(setting, Mapping) and kind in setting]
    if len(kinds) != 1:
        raise OptionError(f"{where}: give one of {', '.join(_SETTINGS)}")
    kind = kinds[0]
    options = {key: value for key, value in setting.items() if key != kind}
    known = _SETTINGS[kind] | (_COMMON if kind != "file" else set())
    if unknown := [key for key in options if key not in known]:
        near = nearest(unknown[0], sorted(known))
        remedy = f"did you mean {near}?" if near else f"{kind} takes {', '.join(sorted(known))}"
        raise OptionError(f"{where}: unknown setting {shortened(str(unknown[0]))}; {remedy}")
    if not isinstance(options.get("top") or "", str):
        raise OptionError(f"{where}: top must be text, such as '*'")
    if not isinstance(options.get("level_names", []), (list, tuple)):
        raise OptionError(f"{where}: level_names must be a list of names, one a level")
    try:
        return _MAKERS[kind](setting[kind], name=name, **options)
    except OptionError as error:
        raise OptionError(f"{where}: {error}") from None
    except (KeyError, TypeError, ValueError):
        raise OptionError(f"{where}: {kind} or one of its settings is absent or of the wrong kind") from None


def _bands(edges, *, closed: str = "left", **options) -> Hierarchy:
    return Hierarchy.from_intervals(edges, closed=closed, **options)


def _widths(widths, *, closed: str = "left", **options) -> Hierarchy:
    low, high = options.pop("from"), options.pop("to")
    levels = []
    for width in widths:
        if width <= 0 or (high - low) % width:
            raise OptionError(f"bands of {width} do not fill {low} to {high}")
        if (high - low) / width > _MOST_BANDS:
            raise OptionError(f"bands of {width} from {low} to {high} are more than {_MOST_BANDS:,}; make them wider")
        levels.append([low + i * width for i in range(int((high - low) // width) + 1)])
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
