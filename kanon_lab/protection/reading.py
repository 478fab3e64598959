"""How the file of a recipe or report is to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kanon_lab import files
from kanon_lab.errors import OptionError, shortened

#: Settings that say it: options of `kanon_lab.data.read_file`.
READING_SETTINGS = ("missing_codes", "na", "text", "encoding", "separator", "decimal", "max_bytes")
_DIALECT = ("encoding", "separator", "decimal")


def as_reading(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `kanon_lab.data.read_file` from those settings that are given.

    Raises
    ------
    OptionError
        One of them cannot be used.
    """
    from kanon_lab.data.delimited import Dialect

    settings = {name: settings[name] for name in READING_SETTINGS if settings.get(name) is not None}
    found = {name: _texts(settings[name], name) for name in ("na", "text") if name in settings}
    for name in _DIALECT:
        if name in settings:
            (found[name],) = _texts([settings[name]], name)
    Dialect(*(found.get(name) for name in _DIALECT))
    if "max_bytes" in settings:
        with files.limited(settings["max_bytes"]):  # so that one which cannot be used is refused here
            found["max_bytes"] = settings["max_bytes"]
    if "missing_codes" in settings:
        found["missing_codes"] = _missing_codes(settings["missing_codes"])
    return found


def _texts(values: object, name: str) -> tuple[str, ...]:
    values = values if isinstance(values, (list, tuple)) else [values]
    if not all(isinstance(value, str) for value in values):
        raise OptionError(f"{name} must be texts, such as {name}: ['A'] (numbers in quotes)")
    return tuple(values)


def _missing_codes(given: object) -> dict[str, tuple]:
    """By variable its codes; one code may stand without a list."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise OptionError("missing_codes must be names of columns with their codes, such as {income: [88, 99]}")
    found = {name: tuple(codes) if isinstance(codes, (list, tuple)) else (codes,) for name, codes in given.items()}
    for name, codes in found.items():
        if not codes or any(isinstance(code, bool) or not isinstance(code, (str, int, float)) for code in codes):
            raise OptionError(f"missing_codes: the codes of {shortened(name)} must be numbers or texts, such as [88]")
    return found
