"""Checks of options that every kind of suppression has."""

from __future__ import annotations

from kanon_lab.errors import OptionError, meant, shortened
from kanon_lab.keys import KeySpec


def check_policy(spec: KeySpec) -> None:
    """Raise an `OptionError` where no key may be missing: suppressed ones are."""
    if spec.missing == "error":
        raise OptionError("missing: suppressed values are missing, which error forbids; choose wildcard or category")


def check_key(name: object, spec: KeySpec, of: str) -> None:
    """Raise an `OptionError` unless a name is that of a key variable."""
    if name not in spec.key_variables:
        remedy = meant(name, spec.key_variables, "name key variables only")
        raise OptionError(f"{of}: {shortened(str(name))} is no key variable; {remedy}")
