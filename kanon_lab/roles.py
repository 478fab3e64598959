"""Which variable of a microdata file plays which role, and what a missing key means."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kanon_lab.errors import DataError, OptionError, described, meant, shortened

if TYPE_CHECKING:
    import pandas as pd


#: What a missing key value means, and how it is told to a reader.
MISSING_POLICIES = {
    "wildcard": "a missing key is compatible with any value",
    "category": "a missing key is a value of its own",
    "error": "no key may be missing",
}

#: Roles that several variables may have.
ROLES_OF_SEVERAL = (
    "key_variables",
    "sensitive_variables",
    "numeric_variables",
    "strata",
    "direct_identifiers",
    "released_as_is",
)


#: A file without key variables has at least one of these.
ROLES_WITHOUT_KEYS = ("numeric_variables", "direct_identifiers", "released_as_is")


def usual_claim(missing: str) -> str:
    """The claim that a suppression must reach so that k is met, by what a missing key means (`MISSING_POLICIES`)."""
    return "true_key" if missing == "wildcard" else "own_class"


@dataclass(frozen=True)
class KeySpec:
    """The roles of the variables of a microdata file.

    Parameters
    ----------
    key_variables : sequence of str, or str
        The variables that an intruder may know (quasi-identifiers), at least one; a file of quantities may have none.
    weight : str, optional
        Sampling weight; without one every record weighs 1.
    household : str, optional
        Identifier of the household.
    sensitive_variables, numeric_variables : sequence of str, or str
        Variables that an intruder wants to learn, and variables that are quantities.
    strata : sequence of str, or str
        Variables within whose groups protection is applied.
    ghost_variables : mapping of str to sequence of str, or str
        By key variable, those that say the same in other words: what is suppressed in the key is suppressed in them.
    direct_identifiers : sequence of str, or str
        Variables that name a person; they are never released.
    released_as_is : sequence of str, or str
        Variables of no other role that the office has looked at and releases as they are.
    person : str, optional
        Identifier of the person, where one may have several records (a panel, visits, firms). Frequencies, sample
        uniques, diversity and risks then count persons: f_k is the number of different persons in a class, and a person
        is in danger if one of its records is. The weight of a person is the mean of those of its records. Records
        without an identifier count as one person, since they may be.
    missing : {"wildcard", "category", "error"}
        What a missing key value means; see `MISSING_POLICIES`.

    Examples
    --------
    >>> import kanon_lab
    >>> spec = kanon_lab.KeySpec(["age", "sex"], weight="weight", sensitive_variables="diagnosis")
    >>> spec.variables
    ('age', 'sex', 'weight', 'diagnosis')
    """

    key_variables: tuple[str, ...]
    weight: str | None = None
    household: str | None = None
    sensitive_variables: tuple[str, ...] = ()
    numeric_variables: tuple[str, ...] = ()
    strata: tuple[str, ...] = ()
    ghost_variables: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    direct_identifiers: tuple[str, ...] = ()
    missing: str = "wildcard"
    released_as_is: tuple[str, ...] = ()
    person: str | None = None

    if TYPE_CHECKING:  # names may come in any sequence, or one alone

        def __init__(
            self,
            key_variables: Iterable[str] | str,
            weight: str | None = None,
            household: str | None = None,
            sensitive_variables: Iterable[str] | str = (),
            numeric_variables: Iterable[str] | str = (),
            strata: Iterable[str] | str = (),
            ghost_variables: Mapping[str, Iterable[str] | str] = {},
            direct_identifiers: Iterable[str] | str = (),
            missing: str = "wildcard",
            released_as_is: Iterable[str] | str = (),
            person: str | None = None,
        ) -> None: ...

    def __post_init__(self):
        keyless = isinstance(self.key_variables, tuple)  # roles of a file without keys, with others taken away
        for role in ROLES_OF_SEVERAL:
            object.__setattr__(self, role, column_names(getattr(self, role), role))
        object.__setattr__(self, "ghost_variables", _ghosts(self.ghost_variables, self.key_variables))
        keyless = keyless or any(getattr(self, role) for role in ROLES_WITHOUT_KEYS)
        if not self.key_variables and not keyless:
            raise OptionError("no key variables: name at least one variable that an intruder may know")
        for role in ("weight", "household", "person"):
            _check_name(getattr(self, role), role)
        if not isinstance(self.missing, str) or self.missing not in MISSING_POLICIES:
            raise OptionError(f"missing must be one of {', '.join(MISSING_POLICIES)}, not {described(self.missing)}")
        _refuse_two_roles(self)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that is measured, once, key variables first.

        Ghosts, direct identifiers and what is released as it is are not measured.
        """
        single = [name for name in (self.weight, self.household, self.person) if name is not None]
        several = [*self.sensitive_variables, *self.numeric_variables, *self.strata]
        return tuple(dict.fromkeys([*self.key_variables, *single, *several]))

    @property
    def ghosts(self) -> tuple[str, ...]:
        """Every ghost variable."""
        return tuple(name for names in self.ghost_variables.values() for name in names)

    def check(self, frame: pd.DataFrame) -> None:
        """Raise a `DataError` unless every variable is one column of `frame`, which has rows."""
        for name in (*self.variables, *self.ghosts, *self.direct_identifiers, *self.released_as_is):
            check_there_once(frame, name)
        if len(frame) == 0:
            raise DataError("has no records; nothing can be measured")


def check_there_once(frame: pd.DataFrame, name: str) -> None:
    """Raise a `DataError` where a column is absent or stands twice."""
    if (count := list(frame.columns).count(name)) != 1:
        remedy = meant(name, frame.columns, "check the name")
        fault = "occurs twice; give every column its own name" if count else f"is not there; {remedy}"
        raise DataError(f"column {shortened(str(name))} {fault}")


def as_spec(spec: KeySpec | Iterable[str] | str) -> KeySpec:
    """A `KeySpec` as it is; names of key variables as one that has nothing else."""
    return spec if isinstance(spec, KeySpec) else KeySpec(spec)


def refuse_person(spec: KeySpec, of: str) -> None:
    """Raise an `OptionError` where the spec names a person, and what is asked for counts records."""
    if spec.person is not None:
        remedy = "use one record of each person, and leave the person out"
        raise OptionError(f"{of} counts records, and {shortened(str(spec.person))} names persons; {remedy}")


def check_k(k: object, name: str = "k") -> int:
    """A k as an int; an `OptionError` that calls it `name` unless it is a whole number from 1 on."""
    if isinstance(k, bool) or not isinstance(k, numbers.Integral) or k < 1:
        raise OptionError(f"{name} must be a whole number from 1 on, not {described(k)}")
    return int(k)


def check_seed(seed: object) -> int:
    """A seed as an int; an `OptionError` unless it is a whole number from 0 to below 2 ** 63, as a table can hold."""
    if isinstance(seed, bool) or not isinstance(seed, numbers.Integral) or not 0 <= int(seed) < 2**63:
        raise OptionError(f"seed must be a whole number from 0 on and below 2 ** 63, not {described(seed)}")
    return int(seed)


def _refuse_two_roles(spec: KeySpec) -> None:
    """Raise an `OptionError` where one variable has two roles that exclude each other."""
    weight, household, person = ([] if name is None else [name] for name in (spec.weight, spec.household, spec.person))
    sensitive, single = {"sensitive": spec.sensitive_variables}, {"weight": weight, "household": household}
    numeric, strata = {"a quantity": spec.numeric_variables}, {"a stratum": spec.strata}
    measured = (*spec.variables, *spec.ghosts)
    listed: dict[str, Iterable[str]] = {"listed under released_as_is": spec.released_as_is}
    exclusive: dict[str, tuple[Iterable[str], dict[str, Iterable[str]]]] = {
        "a key variable": (spec.key_variables, {**single, **sensitive, "a ghost": spec.ghosts}),
        "the weight": (weight, {"household": household, **sensitive, "a ghost": spec.ghosts}),
        "the person": (person, {"a key variable": spec.key_variables, **single, **sensitive, **numeric, **strata}),
        "a direct identifier": (spec.direct_identifiers, {"named in another role": measured, **listed}),
        "named in a role": (measured, listed),
    }
    for role, (names, others) in exclusive.items():
        for other, taken in others.items():
            if both := [name for name in names if name in taken]:
                raise OptionError(f"{shortened(str(both[0]))} is {role} and {other}: give it one of the two roles")


def _ghosts(ghosts: object, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if not isinstance(ghosts, Mapping):
        raise OptionError("ghost_variables: give a mapping of key variable to the variables that follow it")
    if absent := [key for key in ghosts if key not in keys]:
        name = shortened(str(absent[0]))
        raise OptionError(f"ghost_variables: {name} is not a key variable; name the key that they follow")
    followers = {key: column_names(names, "ghost_variables") for key, names in ghosts.items()}
    named_once([name for names in followers.values() for name in names], "ghost_variables")
    return followers


def column_names(names: Iterable[str] | str | None, setting: str) -> tuple[str, ...]:
    """Names of columns, of any type that a frame has, as a tuple; an `OptionError` where one stands twice."""
    try:
        names = (names,) if isinstance(names, str) else tuple(names if names is not None else ())
    except TypeError:
        raise OptionError(f"{setting} must be names of columns, not {described(names)}") from None
    for name in names:
        _check_name(name, setting)
    named_once(names, setting)
    return names


def names_of(names: Iterable[str] | str, setting: str, *, at_least_one: str = "") -> tuple[str, ...]:
    """Names that are text, as a tuple; an `OptionError` that calls them `setting` where one stands twice or is no name.

    With `at_least_one`, such as " to perturb", there must be a name: the text ends the message of the error.
    """
    try:
        listed: tuple[Any, ...] = (names,) if isinstance(names, str) else tuple(names)
    except TypeError:
        listed = (None,)
    if isinstance(names, Mapping) or not all(isinstance(name, str) and name for name in listed):
        raise OptionError(f"{setting} must be names of columns, such as [income, rent], not {described(names)}")
    named_once(listed, setting)
    if at_least_one and not listed:
        raise OptionError(f"{setting}: name at least one variable{at_least_one}")
    return listed


def named_once(names: Sequence[object], setting: str) -> None:
    """Raise an `OptionError` that calls the names of columns `setting` where one stands twice."""
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise OptionError(f"{setting}: {shortened(str(twice[0]))} is named twice; name each variable once")


def _check_name(name: object, role: str) -> None:
    if not isinstance(name, Hashable):
        raise OptionError(f"{role}: {shortened(repr(name))} is not the name of a column")
