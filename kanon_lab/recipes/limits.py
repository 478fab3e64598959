"""The limits of an office, one vocabulary for recipes and reports: their names, and what may be given for each."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kanon_lab.arguments import as_share
from kanon_lab.errors import OptionError, meant, shortened
from kanon_lab.roles import KeySpec, check_k

#: The word that once stood for both of these: a mapping was ``limits``, anything else ``risks``.
OLD_WORD = "thresholds"


@dataclass(frozen=True)
class Limit:
    """A kind of limit.

    Attributes
    ----------
    bound : {"at least", "at most"}
        What is found is to be this or more, or this or less.
    value : callable
        Bound and its name -> the bound as a number; an `OptionError` where it is none.
    by : {"", "variable", "level"}
        Whether it is one number, one for each sensitive variable, or one for each level of risk.
    household : bool
        Whether it needs a household.
    """

    bound: str
    value: Callable[[object, str], int | float]
    by: str = ""
    household: bool = False

    @property
    def shape(self) -> Any:
        """The type of its bound."""
        return float | dict[str, float] if self.by else float


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
        raise OptionError(f"{name} must be a whole number of records from 0 on, not {shortened(repr(value))}")
    return int(value)


def _l(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 1 <= value < float("inf"):
        raise OptionError(f"{name} must be a number from 1 on, not {shortened(repr(value))}")
    return value if isinstance(value, int) else float(value)


#: By name, in the order in which they are judged.
LIMITS = {
    "k": Limit("at least", check_k),
    "global_risk": Limit("at most", as_share),
    "household_risk": Limit("at most", as_share, household=True),
    "individual_risk": Limit("at most", as_share),
    "above_risk": Limit("at most", _count, by="level"),
    "key_linkage": Limit("at most", as_share),
    "distinct": Limit("at least", _l, by="variable"),
    "entropy": Limit("at least", _l, by="variable"),
    "t_closeness": Limit("at most", as_share, by="variable"),
    "household_uniques": Limit("at most", _count, household=True),
    "exposed_by_columns": Limit("at most", _count),
}
# What others call them, where no name is near.
_MEANT = dict.fromkeys(("diversity", "l_diversity", "l"), "distinct or entropy") | {
    "k_required": "k",
    "t": "t_closeness",
}


def in_new_words(settings: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Settings of a recipe or report in which `OLD_WORD` has its new one, and a note that says which."""
    if settings.get(OLD_WORD) is None:
        return {name: value for name, value in settings.items() if name != OLD_WORD}, ()
    named = isinstance(settings[OLD_WORD], Mapping)
    word, kind = ("limits", "names with bounds") if named else ("risks", "levels to count records above")
    if settings.get(word) is not None:
        raise OptionError(f"{OLD_WORD} stands beside {word}, which is its new name; keep {word} alone")
    note = f"{OLD_WORD} is now called {word} ({kind}); the old word is still taken"
    return {word if name == OLD_WORD else name: value for name, value in settings.items() if name != word}, (note,)


def as_limits(
    given: Mapping[str, Any], *, spec: KeySpec, risks: Collection[float] = (), k_required: int | None = None
) -> dict[str, Any]:
    """The limits of an office as numbers, in the order of `LIMITS`; by variable or level of risk a mapping of numbers.

    Where ``k`` is not given it is `k_required`; with a limit ``k``, ``exposed_by_columns`` is 0 unless it is given
    (None: no such limit).
    """
    if not isinstance(given, Mapping):
        raise OptionError(f"limits must be names with bounds, such as {{k: 3, global_risk: 0.02}}, not {_said(given)}")
    for name in given:
        _check_name(name)
    wanted = {**({} if k_required is None else {"k": k_required}), **given}
    if wanted.get("k") is not None:
        wanted.setdefault("exposed_by_columns", 0)
    return {name: _bounds(name, wanted[name], spec, risks) for name in LIMITS if wanted.get(name) is not None}


def _check_name(name: object) -> None:
    if name in LIMITS:
        return
    other = _MEANT.get(str(name).casefold())
    remedy = f"did you mean {other}?" if other else meant(name, LIMITS, f"there are {', '.join(LIMITS)}")
    raise OptionError(f"limits: there is no limit {shortened(str(name))}; {remedy}")


def _bounds(name: str, bound: object, spec: KeySpec, risks: Collection[float]) -> Any:
    limit, said = LIMITS[name], f"limits: {name}"
    if limit.household and spec.household is None:
        raise OptionError(f"{said} needs a household; name its variable (household: ...)")
    if limit.by == "variable":
        return _by_variable(said, bound, limit, spec.sensitive_variables)
    if limit.by == "level":
        return _by_level(said, bound, limit, risks)
    return limit.value(bound, said)


def _by_variable(said: str, bound: object, limit: Limit, sensitive: Collection[str]) -> dict[str, int | float]:
    if not sensitive:
        raise OptionError(f"{said} needs a sensitive variable; name it (sensitive_variables: [...])")
    if not isinstance(bound, Mapping):
        return dict.fromkeys(sensitive, limit.value(bound, said))
    for name in bound:
        if name not in sensitive:
            remedy = meant(name, sensitive, f"there are {shortened(', '.join(sensitive), 80)}")
            raise OptionError(f"{said}: {_said(name)} is no sensitive variable; {remedy}")
    return {name: limit.value(bound[name], f"{said}: {shortened(name)}") for name in sensitive if name in bound}


def _by_level(said: str, bound: object, limit: Limit, risks: Iterable[float]) -> dict[float, int]:
    if isinstance(bound, Mapping):
        levels = {as_share(level, f"{said}: a level"): limit.value(most, said) for level, most in bound.items()}
        return dict(sorted(levels.items()))
    most, levels = limit.value(bound, said), sorted({*risks})
    if len(levels) != 1:
        raise OptionError(f"{said}: risks has {len(levels)} levels; say the records above each, such as {{0.05: 0}}")
    return {levels[0]: most}


def _said(value: object) -> str:
    return shortened(repr(value))
