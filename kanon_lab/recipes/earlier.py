"""An earlier release of a file, for who has it to be judged as an intruder of the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab import files
from kanon_lab.errors import KanonLabError, OptionError, names_only
from kanon_lab.measures.editions import Editions, compare_editions
from kanon_lab.measures.linked_records import by_id, by_person, tells_records

if TYPE_CHECKING:
    from kanon_lab.recipes.state import Chain

#: Settings for reading a file that hold for its releases too: these are written otherwise than the file was.
READING = ("text", "na", "max_bytes")


@dataclass(frozen=True)
class EarlierRelease:
    """An earlier release: its file, and how an intruder may link its records with those of the next one.

    `id` is a column of both that tells records apart, or persons, or with the person's identifier the records of a
    person; `same_order` says whether both have the same records in the same order, None if that is not known; `reading`
    are options of `kanon_lab.data.read_file` for the next one.
    """

    path: str
    id: str | None = None
    same_order: bool | None = None
    reading: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    @property
    def name(self) -> str:
        """The name of its file."""
        return Path(self.path).name

    @property
    def frame(self) -> pd.DataFrame:
        """Its records, under the numbers of their rows."""
        state = files.status(self.path)
        return _read(self, None if state is None else state.st_mtime_ns)

    def check(self, file: pd.DataFrame, person: str | None = None) -> None:
        """Raise a `KanonLabError` where it cannot be read, or where it or the file has no good identifier.

        With a `person`, the column that identifies persons in the file, an identifier need only tell its records apart.
        """
        old, names = self.frame, (self.name, "the file")
        if person is not None and self.id == person:
            by_person(old, file, person, names)
        elif self.id is not None:
            is_alone = person is None or (person not in old and tells_records(old, file, self.id))
            by_id(old, file, self.id, names, None if is_alone else person)

    def with_release(self, release: Chain, called: str = "the release") -> Editions | None:
        """What it and a release tell together; None where the release is known as counts only.

        Records are linked by the identifier if that is released as it came; else by their places if both have as many
        records and the release is in its original order, unless `same_order` says no. Those of a person are linked by
        the person's identifier if both have it; where it is not released, persons are only counted.
        """
        if release.state.counts is not None:
            return None
        old, new = self.frame, release.state.released
        keys = [key for key in release.spec.key_variables if key in old or key in new]
        if not keys:
            return None
        person, names = release.spec.person, (self.name, called)
        is_shown = person is not None and person in old and person in new
        linked = is_shown and not _is_changed(release, person)
        id = None if self.id == person or self.id not in new or _is_changed(release, self.id) else self.id
        if id is not None and person is not None and not linked and not tells_records(old, new, id):
            id = None  # it tells records of a person apart, for who knows which are of one person
        as_many = len(old) == len(new) or self.same_order is True
        by_place = id is None and self.same_order is not False and as_many and release.in_order
        if person is not None:
            persons = release.state.working[person]
            if is_shown and not linked:  # new numbers, none of which is that of another person
                persons = "new " + persons.astype(str)
            new = new.assign(**{person: persons})
        if person is not None and linked and by_place and self.same_order is None:
            of_old, of_new = by_person(old, new, person, names)
            by_place = bool((of_old == of_new).all())
        options: dict[str, Any] = {"id": id, "same_order": by_place, "missing": release.spec.missing}
        options |= {"person": person, "link_persons": linked or (is_shown and (id is not None or by_place))}
        return compare_editions(old, new, keys, **options, k=release.k, names=names)


def _is_changed(release: Chain, name: str | None) -> bool:
    """Whether a step has changed a column."""
    return name is not None and any(step.changed.get(name) for step in release.steps)


@lru_cache(maxsize=1)
def _read(release: EarlierRelease, changed: int | None) -> pd.DataFrame:
    """The records of a release; a file that has `changed` since is read again."""
    from kanon_lab.data.microdata import read_file

    options = {name: value for name, value in release.reading.items() if name in READING}
    try:
        with names_only(Path(release.path)):
            return read_file(release.path, **options).numbered
    except KanonLabError as error:
        raise OptionError(f"earlier_release: {error}") from None
