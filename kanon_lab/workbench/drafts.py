"""What was decided about a file: roles, limits and steps, as changes make it; kept on disk without data."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from kanon_lab import files
from kanon_lab.errors import KanonLabError, names_only
from kanon_lab.recipes.steps import STEPS
from kanon_lab.recipes.yaml_file import beside, dump_yaml, read_yaml
from kanon_lab.report.config import as_config
from kanon_lab.roles import usual_claim

#: Roles of one column and of several, as a configuration calls them.
SINGLES = ("weight", "household", "person")
LISTS = ("key_variables", "sensitive_variables", "numeric_variables", "direct_identifiers", "released_as_is")
#: Not a role: the column is in the first step that removes variables.
REMOVED = "remove_variables"
#: All that a column may be, in the order of a menu; "" is not decided.
CHOICES = ("", LISTS[0], *SINGLES, *LISTS[1:], REMOVED)
# Steps that come last, in this order: what is recoded after them takes more than it need.
_LATE = {"suppress": 1, "suppress_risk": 1, "shuffle_members": 2, "shuffle_records": 2, "renumber": 2}
# What stands first in a configuration, and last.
_FIRST = ("title", "language", "key_variables", *SINGLES, *LISTS[3:4], *LISTS[1:3], *LISTS[4:], "limits")
_LAST = ("seed", "steps", "map")
_PRIVATE = 0o600
# Drafts of a file that are kept, of as many sessions.
_MOST_KEPT = 5


class Entry(NamedTuple):
    """A step of the list; one that is off is kept, and not applied."""

    name: str
    settings: dict[str, Any]
    on: bool = True


@dataclass(frozen=True)
class Draft:
    """What was decided so far: the settings of a configuration but its steps, and the steps. Nothing of it is changed.

    Examples
    --------
    >>> from kanon_lab.workbench import Draft
    >>> draft = Draft({"key_variables": ["age"]}).with_role("income", "numeric_variables")
    >>> draft.role_of("income"), draft.role_of("name")
    ('numeric_variables', '')
    """

    settings: Mapping[str, Any]
    steps: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Draft:
        """The draft of a configuration."""
        steps = [Entry(name, dict(inner or {})) for step in settings.get("steps") or () for name, inner in step.items()]
        kept = {name: value for name, value in settings.items() if value not in (None, [], {}) and name != "steps"}
        return cls(kept, tuple(steps))

    @classmethod
    def read(cls, path: str | Path) -> Draft:
        """The draft of a configuration in a file; files that it names are looked for in its folder."""
        with names_only(Path(path)):
            settings = beside(read_yaml(path), path)
        as_config(settings, name=Path(path).name)
        return cls.of(settings)

    @property
    def configuration(self) -> dict[str, Any]:
        """The settings of a configuration, in the order in which it is written."""
        steps = [{step.name: step.settings} for step in self.steps if step.on]
        whole = {**self.settings, **({"steps": steps} if steps else {})}
        middle = [name for name in whole if name not in (*_FIRST, *_LAST)]
        return {name: whole[name] for name in (*_FIRST, *middle, *_LAST) if name in whole}

    def with_settings(self, **changes: Any) -> Draft:
        """With other settings; None takes one away."""
        settings = {**self.settings, **changes}
        return replace(self, settings={name: value for name, value in settings.items() if value not in (None, [], {})})

    def with_limit(self, name: str, bound: Any) -> Draft:
        """With another limit of the office; "" takes it away, None asks for none even if it holds by itself."""
        limits = {**self.settings.get("limits", {}), name: bound}
        return self.with_settings(limits={name: bound for name, bound in limits.items() if bound != ""})

    def role_of(self, column: str) -> str:
        """One of `CHOICES`."""
        for role in LISTS:
            if column in listed(self.settings.get(role)):
                return role
        single = next((role for role in SINGLES if self.settings.get(role) == column), "")
        return single or (REMOVED if column in self.removed() else "")

    def removed(self, place: int | None = None) -> set[str]:
        """Columns that the steps before `place` (by default all) remove; a step that is off removes none."""
        removing = [step for step in self.steps[:place] if step.name == REMOVED and step.on]
        return {name for step in removing for name in listed(step.settings.get("variables"))}

    def with_missing(self, policy: str) -> Draft:
        """With another meaning of an empty key (`MISSING_POLICIES`); suppressions that met its claim meet the new."""
        before, claim = (usual_claim(missing) for missing in (self.settings.get("missing", "wildcard"), policy))
        steps = [
            step._replace(settings={**step.settings, "claim": claim}) if step.settings.get("claim") == before else step
            for step in self.steps
        ]
        return self.with_settings(missing=policy)._of(steps)

    def undecided(self, columns: Iterable[str]) -> list[str]:
        """Those of the columns about which nothing was decided: a release that has them is not met."""
        return [name for name in columns if not self.role_of(name)]

    def with_role(self, column: str, role: str) -> Draft:
        """With another role of a column; where one column alone may have it, the one that had it has none.

        A column that is left out is left out of the steps that come after too, and a step for it alone goes.
        """
        if role == self.role_of(column):
            return self
        roles: dict[str, Any] = {
            name: [other for other in listed(self.settings.get(name)) if other != column] for name in LISTS
        }
        roles |= {name: None for name in SINGLES if self.settings.get(name) == column}
        if role in (*SINGLES, *LISTS):
            roles[role] = column if role in SINGLES else [*roles[role], column]
        steps = [*self.steps]
        if self.role_of(column) == REMOVED or role == REMOVED:
            place = next((n for n, step in enumerate(steps) if step.name == REMOVED and step.on), None)
            names = [] if place is None else [*listed(steps[place].settings["variables"])]
            names = [name for name in names if name != column] + ([column] if role == REMOVED else [])
            steps[place or 0 : 0 if place is None else place + 1] = [Entry(REMOVED, {"variables": names})][: len(names)]
            if role == REMOVED:
                later = [_without(step, column) for step in steps[(place or 0) + 1 :]]
                steps[(place or 0) + 1 :] = [step for step in later if step is not None]
        return self.with_settings(**roles)._of(steps)

    def with_step(self, name: str, settings: Mapping[str, Any], place: int | None = None) -> Draft:
        """With one more step, before those that come last, or another in place of that at `place` (from 0 on)."""
        if place is None:
            place = self.place_for(name)
            return self._of((*self.steps[:place], Entry(name, dict(settings)), *self.steps[place:]))
        return self._with(place, Entry(name, dict(settings), self.steps[place].on))

    def place_for(self, name: str) -> int:
        """Where a new step goes: before those that come last."""
        rank, place = _LATE.get(name, 0), len(self.steps)
        while place and _LATE.get(self.steps[place - 1].name, 0) > rank:
            place -= 1
        return place

    def without_step(self, place: int) -> Draft:
        """Without the step at `place`."""
        return self._with(place)

    def with_switched(self, place: int) -> Draft:
        """With the step at `place` off if it was on, and on if it was off."""
        return self._with(place, self.steps[place]._replace(on=not self.steps[place].on))

    def _with(self, place: int, *steps: Entry) -> Draft:
        return self._of((*self.steps[:place], *steps, *self.steps[place + 1 :]))

    def _of(self, steps: Iterable[Entry]) -> Draft:
        """With other steps. A suppression orders only keys that are still there when it comes."""
        kept, gone = list[Entry](), set[str]()
        for step in steps:
            gone |= {*listed(step.settings.get("variables"))} if step.name == REMOVED and step.on else set()
            if isinstance(order := step.settings.get("importance"), Mapping):
                left = {*listed(self.settings.get(LISTS[0]))} - gone
                order = {name: rank for name, rank in order.items() if name in left}
                others = {name: value for name, value in step.settings.items() if name != "importance"}
                step = step._replace(settings={**others, **({"importance": order} if order else {})})
            kept.append(step)
        return replace(self, steps=tuple(kept))

    def with_moved(self, place: int, by: int) -> Draft:
        """With the step at `place` so many places later, or earlier where `by` is negative."""
        steps = [*self.steps]
        steps.insert(min(max(place + by, 0), len(steps)), steps.pop(place))
        return self._of(steps)


def _without(step: Entry, column: str) -> Entry | None:
    """A step without a column, or None where it is for that one alone."""
    for name in {"variable", "variables"} & {*step.settings}:
        left = [other for other in listed(step.settings[name]) if other != column]
        if not left:
            return None
        if column in listed(step.settings[name]):
            step = step._replace(settings={**step.settings, name: left})
    return step


def listed(names: object) -> Sequence[str]:
    return [names] if isinstance(names, str) else names if isinstance(names, (list, tuple)) else []


def drafts_folder() -> Path:
    """The folder of drafts: kanon-lab/workbench in the user's folder for states of programs. It need not exist."""
    import platformdirs

    return platformdirs.user_state_path("kanon-lab", appauthor=False) / "workbench"


class Drafts:
    """The kept drafts of a file, by its SHA-256: each session keeps its own, so that no window replaces another's."""

    def __init__(self, sha256: str) -> None:
        self._pattern = f"{sha256[:32]}*.yml"
        self._own = drafts_folder() / f"{sha256[:32]}-{secrets.token_hex(4)}.yml"
        self._earlier = self._paths()

    def _paths(self) -> list[Path]:
        """Where there are any, the newest first."""
        with suppress(OSError):
            return sorted(drafts_folder().glob(self._pattern), key=lambda path: -path.stat().st_mtime_ns)
        return []

    def keep(self, draft: Draft) -> None:
        """Keep a draft, for its owner alone, and few older ones; a folder that cannot be written is no fault."""
        steps = [step._asdict() for step in draft.steps]
        with suppress(OSError, KanonLabError):
            self._own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with files.atomic_path(self._own, mode=_PRIVATE) as beside:
                beside.write_text(dump_yaml({"settings": dict(draft.settings), "steps": steps}), "utf-8")
            for path in self._paths()[_MOST_KEPT:]:
                path.unlink(missing_ok=True)

    def newest(self) -> Draft | None:
        """The last that an earlier session kept; None without one, or if it cannot be read by now."""
        try:
            kept = read_yaml(self._earlier[0])
            draft = Draft(kept["settings"], tuple(Entry(**step) for step in kept["steps"]))
            as_config(draft.configuration, name="")
            known = all(step.name in STEPS and isinstance(step.settings, dict) for step in draft.steps)  # those off too
        except (OSError, KanonLabError, LookupError, TypeError):
            return None
        return draft if known else None

    def forget(self) -> None:
        """Remove those of earlier sessions."""
        with suppress(OSError):
            for path in self._earlier:
                path.unlink(missing_ok=True)
