"""Arguments of every perturbation, checked."""

from __future__ import annotations

from collections.abc import Iterable

from kanon_lab.errors import OptionError
from kanon_lab.recode.columns import names_of

#: What becomes of records without a value, and how it is told to a reader.
MISSING = {
    "error": "no value may be missing",
    "leave": "a record without any of the values stays as it is",
}


def variables_of(names: Iterable[str] | str) -> tuple[str, ...]:
    """The variables to perturb, at least one."""
    found = names_of(names, "variables")
    if not found:
        raise OptionError("variables: name at least one variable to perturb")
    return found
