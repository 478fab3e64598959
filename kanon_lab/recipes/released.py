"""Proof that direct identifiers are not in a file: neither under their names nor under others."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text, distinct, named_columns
from kanon_lab.data.values import Code, Labels
from kanon_lab.errors import DataError, shortened
from kanon_lab.recipes.measured import changes
from kanon_lab.recipes.state import Chain, Step
from kanon_lab.recipes.steps import kind_of
from kanon_lab.terms import Note

_NOT_WORD = re.compile(r"[\W_]+")
_ZEROS = re.compile(r"(?<!\w)0+(?=\d)")
_MIDNIGHT = re.compile(r"(?<=\d)[ t]00:00:00(\.0+)?$")
# A shorter text, such as a surname, may stand in a cell by chance.
_TELLING = 8


@dataclass(frozen=True)
class Held:
    """A column that holds a direct identifier: by its name (no `identifier`), its values (no `rows`) or in its text."""

    column: str
    identifier: str = ""
    rows: pd.Series | None = None

    def message(self, *, rows: bool = True) -> str:
        """The error message, with or without the first row."""
        column, identifier = f"column {shortened(self.column)}", shortened(self.identifier)
        if not self.identifier:
            return f"{column} is a direct identifier; it must not be released"
        if self.rows is None:
            return f"{column} has the values of the direct identifier {identifier}; name it as one too"
        first, count = shortened(str(self.rows.idxmax())), int(self.rows.sum())
        which = f": row {first}{f' (and {count - 1} more)' if count > 1 else ''}" if rows else ""
        held = f"holds the record's own {identifier}, a direct identifier; recode or remove the column"
        return f"{column}{which}: {held}"


def held_identifier(
    released: pd.DataFrame, original: pd.DataFrame, identifiers: Iterable[str], *, roles: Iterable[str] = ()
) -> Held | None:
    """The first direct identifier that a released file holds; parameters as of `prove_absent`."""
    names = list(identifiers)
    for name in released.columns:
        if name in names:
            return Held(name)
    columns, known = {name: _texts(column) for name, column in named_columns(released)}, set(roles)
    for identifier in names:
        own, own_cells = _texts(original[identifier])
        values = set(own_cells) - {None}
        for name, (texts, cells) in columns.items():
            text = not pd.api.types.is_numeric_dtype(released[name])
            if _copied(own_cells, cells) or (name not in known and _moved(values, cells, text=text)):
                return Held(name, identifier)
            if text and (rows := _in_words(own, texts)).any():
                return Held(name, identifier, pd.Series(rows, index=original.index))
    return None


def prove_absent(
    released: pd.DataFrame, original: pd.DataFrame, identifiers: Iterable[str], *, roles: Iterable[str] = ()
) -> None:
    """Raise a `DataError` if a released file holds a direct identifier.

    A column holds an identifier if it has its name; if it has its values (most of them, for an identifier that differs
    from record to record); if it has no role and most of its values are an identifier's, in any record; or if its text
    contains the record's own identifier: in one record for identifiers of eight characters or more, in most records
    for shorter ones.

    Parameters
    ----------
    released, original : DataFrame
        The file to release, and the same records in the same order with the direct identifiers.
    identifiers : iterable of str
        Their names.
    roles : iterable of str
        Released columns with a role: their values may be those of an identifier in other records, such as a town's.

    Notes
    -----
    Letters' case, accents, spaces, punctuation and zeros before a number do not matter: 014.698.393-K is 14698393k. An
    identifier in another coding, such as a part of it, a number made from it or other words for it, is not found.

    Examples
    --------
    >>> file = pd.DataFrame({"rut": ["14.698.393-K", "9.123.456-7"], "copy": ["014698393k", "9123456-7"]})
    >>> kanon_lab.recipes.prove_absent(file[["copy"]], file, ["rut"])
    Traceback (most recent call last):
    kanon_lab.errors.DataError: column copy has the values of the direct identifier rut; name it as one too
    """
    if len(released) != len(original) and not {*released.columns} & {*identifiers}:
        raise DataError("does not have the number of records that it should have; write it again")
    if (held := held_identifier(released, original, identifiers, roles=roles)) is not None:
        raise DataError(held.message())


def _texts(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Values as words between spaces, and as these without spaces; None where missing."""
    codes, values = distinct(column)
    words, bare = [], []
    for value in values:
        text = _MIDNIGHT.sub("", as_text(value).strip().casefold())
        plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
        spaced = _NOT_WORD.sub(" ", plain).strip()
        words.append(f" {_ZEROS.sub('', spaced)} " if text else None)
        bare.append(_ZEROS.sub("", spaced.replace(" ", "")) or text or None)
    return tuple(np.array([*texts, None], dtype=object)[codes] for texts in (words, bare))


def _copied(own: np.ndarray, texts: np.ndarray) -> bool:
    both = (own != None) & (texts != None)  # noqa: E711 (elementwise)
    same = both & (own == texts)
    count, values = int(same.sum()), len(set(own[same]))
    if count == 0 or (values == 1 and len(own) > 1):
        return False
    return count == both.sum() or (count >= both.sum() / 2 and values >= count / 2)


def _moved(values: set[str], cells: np.ndarray, *, text: bool) -> bool:
    """Whether most cells have a value of the identifier, of any record: several values, and no short numbers."""
    counts = Counter(cell for cell in cells if cell is not None)
    moved = [n for cell, n in counts.items() if cell in values and (text or len(cell) >= _TELLING)]
    return len(moved) > 2 and sum(moved) > counts.total() / 2


def _in_words(own: np.ndarray, texts: np.ndarray) -> np.ndarray:
    """Whether each record's text contains its own identifier; a short one counts only if most records do."""
    pairs = Counter(pair for pair in zip(own, texts, strict=True) if None not in pair)
    held = {(word, text) for word, text in pairs if word.strip() and word in text}
    several = len({word for word, _ in held}) > 2
    if not (several and sum(pairs[pair] for pair in held) > pairs.total() / 2):
        held = {(word, text) for word, text in held if len(word) >= _TELLING + 2}
    return np.fromiter((pair in held for pair in zip(own, texts, strict=True)), dtype=bool, count=len(own))


#: Role of a column that the spec does not name.
NO_ROLE = "no role"
#: Role of a column that the office releases as it is.
AS_IS = "as is"


def released_columns(protection: Chain) -> pd.DataFrame:
    """What became of each column that is released, from the file as it came to the last step.

    Returns
    -------
    DataFrame
        One row a column, in their order: ``column``; ``role`` (several between commas, or `NO_ROLE`);
        ``cells_changed`` and ``cells_suppressed``; ``distinct_values`` (missing ones not counted; missing for the
        weight).

    Examples
    --------
    >>> chain = kanon_lab.protect(pd.DataFrame({"age": [23, 27, 61], "flat": [1, 2, 3]}), ["age"])
    >>> kanon_lab.recipes.released_columns(chain.apply("recode", {"variable": "age", "width": 20})).iloc[:, :3]
      column     role  cells_changed
    0    age      key              3
    1   flat  no role              0
    """
    frame, weight = protection.state.released, protection.spec.weight
    done = changes(protection.original[list(frame.columns)], frame)
    rows = {
        "column": list(frame.columns),
        "role": [role_of(name, protection) for name in frame.columns],
        "cells_changed": list(done.changed.values()),
        "cells_suppressed": list(done.suppressed.values()),
        "distinct_values": [None if name == weight else int(frame[name].nunique()) for name in frame],
    }
    return pd.DataFrame(rows).astype({"distinct_values": "Int64"})


def untouched(columns: pd.DataFrame) -> list[str]:
    """Names of the columns that have no role and are released as they came, of what `released_columns` gives."""
    same = (columns["cells_changed"] == 0) & (columns["cells_suppressed"] == 0)
    return columns.loc[same & (columns["role"] == NO_ROLE), "column"].tolist()


def unassigned(protection: Chain) -> tuple[str, ...]:
    """Names of the released columns of which nobody has said what they are: without a role, and not listed."""
    return tuple(name for name in protection.released_columns if role_of(name, protection) == NO_ROLE)


def role_of(name: str, protection: Chain) -> str:
    """The roles of a column, between commas; ``household key`` is a key variable of the household level."""
    spec, levels = protection.spec, protection.household_chains
    roles = {
        "key": spec.key_variables,
        "ghost": spec.ghosts,
        "sensitive": spec.sensitive_variables,
        "numeric": spec.numeric_variables,
        "stratum": spec.strata,
        "weight": (spec.weight,),
        "household": (spec.household,),
        "person": (spec.person,),
        AS_IS: spec.released_as_is,
        "household key": [key for level in levels for key in level.spec.key_variables if key not in spec.key_variables],
    }
    return ", ".join(role for role, names in roles.items() if name in names) or NO_ROLE


def proof(protection: Chain, *, neutralised: bool = False) -> Callable[[pd.DataFrame], None]:
    """A function that raises a `DataError` if a frame of the release, as it is written, holds a direct identifier."""
    columns, spec = protection.frame.columns, protection.spec
    of_records = protection.original.loc[protection.state.working.index]

    def prove(frame: pd.DataFrame) -> None:
        if neutralised:
            frame = frame.set_axis(columns, axis=1)  # an apostrophe may stand before a name
        prove_absent(frame, of_records, spec.direct_identifiers, roles=[*spec.variables, *spec.ghosts])

    return prove


class ReleasedLabels(NamedTuple):
    """Labels by released variable; and how many are left out: a step remade their codes, or no record has them."""

    labels: Labels
    remade: dict[str, int]
    vanished: dict[str, int]


def released_labels(protection: Chain) -> ReleasedLabels:
    """The labels of codes after the last step.

    A label stays if its code has the same records before and after each step that recodes. A new code has the label
    that the step gives it (``labels`` of `recode`).
    """
    came = {name: _by_text(labels) for name, labels in protection.given_labels.items()}
    carried, released = _carried(protection, came), ReleasedLabels({}, {}, {})
    for name, column in named_columns(protection.frame):
        before, after = came.get(name, {}), carried.get(name, {})
        if not (before or after):
            continue
        values = distinct(column)[1]
        shown = {as_text(value): value.item() if hasattr(value, "item") else value for value in values}
        if labels := {shown[text]: label for text, label in after.items() if text in shown}:
            released.labels[name] = labels
        if lost := sum(after.get(text) != label for text, label in before.items()):
            released.remade[name] = lost
        if gone := sum(text not in shown for text in after):
            released.vanished[name] = gone
    return released


def label_notes(protection: Chain) -> Iterator[Note]:
    """Notes on variables that have lost labels; they quote neither codes nor labels."""
    if not protection.given_labels:
        return
    released = released_labels(protection)
    for key, counts in (("labels_remade", released.remade), ("labels_vanished", released.vanished)):
        if counts:
            yield Note(key, columns=tuple(f"{shortened(name)} {count:,}" for name, count in counts.items()))


def _carried(protection: Chain, labels: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Labels by the texts of codes after every step, whether or not some record has them."""
    carried, before = dict(labels), protection.start.working
    for step in protection.steps:
        carried |= _after(step, carried, before)
        before = step.state.working
    return carried


def _after(step: Step, labels: Mapping[str, Mapping[str, str]], before: pd.DataFrame) -> dict[str, Mapping[str, str]]:
    """The labels of the variables that a step recodes."""
    if step.households is not None:
        inner = step.households.start.working
        return _carried(step.households, {name: labels[name] for name in labels if name in inner})
    if step.name == "renumber":
        return {name: {} for name, cells in step.changed.items() if cells}
    kind, after = kind_of(step.name), step.state.working
    written = step.settings.get("labels")
    new = _by_text(written) if isinstance(written, Mapping) else {}
    quantities = kind.perturbed(step.settings) if kind.as_quantities else ()
    names = {*kind.rules(step.settings), *quantities}
    return {name: _kept(labels.get(name, {}), before[name], after[name].loc[before.index]) | new for name in names}


def _kept(labels: Mapping[str, str], before: pd.Series, after: pd.Series) -> dict[str, str]:
    """The labels of codes that no record has got or lost, and of those that no record had."""
    if not labels:
        return {}
    (old, old_values), (new, new_values) = distinct(before), distinct(after)
    was, now = [as_text(value) for value in old_values], [as_text(value) for value in new_values]
    pairs = pd.DataFrame({"old": old, "new": new}).drop_duplicates()
    pairs = pairs[(pairs["old"] >= 0) & (pairs["new"] >= 0)]
    moved = {text for o, n in pairs.itertuples(index=False) if was[o] != now[n] for text in (was[o], now[n])}
    return {text: label for text, label in labels.items() if text not in moved}


def _by_text(labels: Mapping[Code, str]) -> dict[str, str]:
    return {as_text(code): label for code, label in labels.items()}
