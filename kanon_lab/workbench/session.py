"""The work on one file, without widgets: what was decided and undone, the verdict on it, and what is written."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from kanon_lab import files
from kanon_lab.data.microdata import MicrodataFile, read_file
from kanon_lab.data.sets import DATA_SETS
from kanon_lab.errors import KanonLabError, OptionError, names_only, visible
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.chain import Protection
from kanon_lab.recipes.next_steps import NextStep, rounded_weight, try_next
from kanon_lab.recipes.risk_map import Walk, runs_of
from kanon_lab.recipes.settings import FileSettings, RecipeSettings
from kanon_lab.recipes.verdict import VERDICT, Judged, Release, judge_release, k_of
from kanon_lab.recipes.yaml_file import dump_yaml, parse_yaml, seen_from
from kanon_lab.report import shapes
from kanon_lab.report.analysis import Analysis, analyse_release
from kanon_lab.report.build import make_report
from kanon_lab.report.config import ReportConfig, as_config
from kanon_lab.report.first_config import (
    first_config,
    first_steps,
    guess_roles,
    shared_quantities,
    usual_indicators,
    usual_limits,
)
from kanon_lab.report.shapes import check_named, unanswered
from kanon_lab.terms import texts
from kanon_lab.workbench.drafts import LISTS, SINGLES, Draft, Drafts, listed

#: Names of what is written, unless others are given.
RECIPE, PAGE, INTERNAL, PROTECTED = "recipe.yml", "report.html", "internal.html", "protected"
# Roles for which usual limits and first steps exist.
_OF_STEPS = (*LISTS[:3], *SINGLES)
# Results that are kept, since a change may be undone.
_KEPT = 3
#: Settings that say how the file is read.
READING = [name for name in FileSettings.model_fields if name not in RecipeSettings.model_fields]


@dataclass(frozen=True)
class Result:
    """A draft applied to the file, and its verdict."""

    draft: Draft
    config: ReportConfig
    protection: Protection
    release: Release
    judged: Judged


class Session:
    """The work on one file.

    Parameters
    ----------
    source : str or Path
        A microdata file, or the name of a data set.
    language : str
        Of the configuration and its report.
    draft : Draft, optional
        What to go on with; by default the guesses of ``kanon-lab init``.
    sent : bool
        Whether the file was sent through the page: its user knows it by its name alone.
    **how
        Options of `kanon_lab.data.read_file`, in place of those of the draft.

    Examples
    --------
    >>> from kanon_lab.workbench import Session
    >>> session = Session("health-survey")
    >>> session.change(session.draft.with_limit("k", 3))
    >>> session.judge().judged.met
    False
    """

    def __init__(
        self, source: str | Path, *, language: str = "en", draft: Draft | None = None, sent: bool = False, **how: Any
    ) -> None:
        self.source, self.sent, earlier = str(source), sent, {} if draft is None else draft.settings
        reading = {**{name: earlier[name] for name in READING if name in earlier}, **how}
        with names_only(Path(source)):
            self.file: MicrodataFile = read_file(source, **{"max_bytes": files.limit(), **reading})
        check_named(self.file, self.name)
        self.guesses = guess_roles(self.file.frame, self.file.labels, self.file.variable_labels)
        self._saying = cache(partial(shapes.saying_empty, self.file.frame.set_axis(self.columns, axis=1)))
        if draft is None:  # the very configuration that `kanon-lab init` writes
            codes = unanswered(self.file.frame, self.file.labels)
            first = first_config(self.guesses, file=self.name, language=language, unanswered=codes)
            draft = Draft.of(parse_yaml(first, self.name))
        self.draft = self.begun = self._with_seed(draft.with_settings(language=language, **reading))
        self.past: list[Draft] = []
        self.future: list[Draft] = []
        self._made: Draft | None = None
        self._analysed: tuple[Result, Analysis] | None = None
        self._results: list[Result] = []  # the last few, for what is undone
        self._walk = Walk(self.file)
        self._drafts = Drafts(str(self.file.found["sha256"]))
        self.kept = self._drafts.newest()
        if self.kept == self.draft:
            self.kept = None

    @property
    def name(self) -> str:
        """What the file is called."""
        return str(self.file.found["name"])

    @property
    def columns(self) -> list[str]:
        """The columns of the file."""
        return [*map(str, self.file.frame.columns)]

    def change(self, draft: Draft) -> None:
        """Take another draft; a `KanonLabError` if it cannot be read, and then nothing has changed."""
        draft = self._with_seed(draft)
        if draft != self.draft:
            self.past.append(self.draft)
            self.future.clear()
            self._take(draft)
            self._made = draft

    def undo(self) -> None:
        """Go back by one change."""
        if self.past:
            self.future.append(self.draft)
            self._take(self.past.pop())

    def redo(self) -> None:
        """Take back what was undone last."""
        if self.future:
            self.past.append(self.draft)
            self._take(self.future.pop())

    def refuse(self, draft: Draft) -> None:
        """Undo a draft that the file does not allow, if it came by the last change; what was before it stays."""
        if self._made is not None and self._made == self.draft == draft:
            self.undo()
            self.future.pop()

    def _take(self, draft: Draft) -> None:
        self.draft, self._made = draft, None
        self._drafts.keep(draft)

    def forget(self) -> None:
        """Remove the drafts that earlier sessions have kept."""
        self._drafts.forget()
        self.kept = None

    def _with_seed(self, draft: Draft) -> Draft:
        """The same with a seed where a step is random, so that the commands repeat it; checked as far as can be."""
        recipe = as_config(draft.configuration, name="").recipe
        return draft.with_settings(seed=recipe.seed) if recipe.seed and "seed" not in draft.settings else draft

    def usual_limits(self) -> dict[str, Any]:
        """Limits to begin with, for the roles that were decided."""
        return usual_limits({role for role in _OF_STEPS if self.draft.settings.get(role)})

    def empty_keys(self) -> dict[str, list[str]]:
        """Released keys with empty cells, each with the columns that say where it is empty, which need no empty cell.

        As long as nothing says what an empty key means, it is an open question: it may be an answer.
        """
        keys, guesses = listed(self.draft.settings.get(LISTS[0])), self.guesses[self.guesses["missing"] > 0]
        gone = self.draft.removed()
        return {name: self._saying(name) for name in guesses["variable"] if name in keys and name not in gone}

    def with_indicators(self) -> Draft:
        """The draft with indicators of what is released, by the roles decided and the guesses of the design."""
        guessed = {role: list(rows["variable"]) for role, rows in self.guesses.groupby("role") if "." in str(role)}
        gone = self.draft.removed()
        roles = {role: [name for name in listed(self.draft.settings.get(role)) if name not in gone] for role in LISTS}
        released = {role: names for role, names in roles.items() if names}
        return self.draft.with_settings(indicators=usual_indicators({**guessed, **released}))

    def with_first_steps(self, progress: Callable[[str], None] = lambda step: None) -> Draft:
        """The draft with the steps that ``kanon-lab init`` proposes for the roles that were decided, after its own.

        A weight that brings records below k, or by which households are found, is rounded as far as is needed.
        """
        roles = {name: self.draft.role_of(name) for name in self.guesses["variable"]}
        shared = self.guesses["variable"].isin(shared_quantities(self.file.frame, roles))
        decided = self.guesses.assign(role=[*roles.values()], unsure=False, shared=shared)
        draft, k = self.draft, self.usual_limits().get("k")
        if k is not None and "k_required" not in draft.settings:  # steps need it
            draft = draft.with_limit("k", draft.settings.get("limits", {}).get("k", k))
        missing = self.draft.settings.get("missing", "wildcard")
        for step in first_steps(decided, decided[decided["role"] != ""], missing):
            for name, settings in step.items():
                draft = draft.with_step(name, settings)
        config = self.config(draft)
        with suppress(KanonLabError), self._walk.memory.used():  # what cannot be applied is said when it is judged
            protection = self._protected(config, progress)
            progress("round")
            rounding = rounded_weight(protection, k_of(config.limits, config.recipe.k_required), config.limits)
            draft = draft if rounding is None else draft.with_step("round", rounding)
        return draft

    def judge(
        self,
        draft: Draft | None = None,
        progress: Callable[[str], None] = lambda step: None,
        early: Callable[[pd.DataFrame, list[str]], None] = lambda verdict, left: None,
    ) -> Result:
        """Apply a draft (by default this one) and judge it; states that an earlier one went through are not repeated.

        `progress` is called with the name of each step before it begins; an error that it raises stops the work.
        `early` is called with the verdict on limits that are soon counted, and the names of those that take longer.
        """
        draft = draft or self.draft
        same = (kept for kept in self._results if kept.draft == draft and not kept.config.files)  # those may change
        result = next(same, None)
        if result is None:
            with self._walk.memory.used():
                result = self._judged(draft, progress, early)
        self._results = [*(kept for kept in self._results if kept is not result), result][-_KEPT:]
        return result

    def _protected(self, config: ReportConfig, progress: Callable[[str], None]) -> Protection:
        """The file after all steps; `progress` is called with the name of each."""
        names = [self.name, *(name for name, _ in config.recipe.steps)]
        (run,) = runs_of(0, config.recipe)
        return self._walk.reach(run, lambda place: progress(names[place]))

    def _judged(self, draft: Draft, progress: Callable[[str], None], early: Callable[..., None]) -> Result:
        config = self.config(draft)
        protection = self._protected(config, progress)
        progress("")
        release = Release(protection, k_of(config.limits, config.recipe.k_required))
        later = [name for name in config.limits if LIMITS[name].taken_from == "release"]
        soon = [row for name, limit in config.limits.items() if name not in later for row in release.rows(name, limit)]
        early(pd.DataFrame(soon, columns=VERDICT, dtype=object), later)
        return Result(draft, config, protection, release, judge_release(release, config.limits))

    def analyse(self, result: Result, progress: Callable[[str], None], *, office: bool = False) -> Analysis:
        """What a report says of a result, as counts; with what is for the `office` alone if so. It is kept."""
        kept = self._analysed
        if kept is None or kept[0] is not result or (office and kept[1].office is None):
            of_file = self.file, replace(result.config, map=None), result.protection, result.release, result.judged
            options: dict[str, Any] = {"name": self.name, "progress": progress, "internal": True}
            kept = self._analysed = result, analyse_release(*of_file, **options, brief=not office)
        return kept[1]

    def try_next(self, result: Result, before: Callable[[str, dict[str, Any]], None]) -> list[NextStep]:
        """Try steps that may come next, by what measures a map of recipes; `before` is called before each."""

        def measure(name: str, settings: dict[str, Any]) -> dict[str, Any]:
            before(name, settings)
            (run,) = runs_of(0, self.config(result.draft.with_step(name, settings)).recipe)
            return self._walk.measure(run)

        return try_next(result.protection, result.judged, measure)

    def config(self, draft: Draft | None = None) -> ReportConfig:
        """The configuration as it is read from the text that is written."""
        return as_config(parse_yaml(self.configuration(draft), RECIPE), name=RECIPE)

    def configuration(self, draft: Draft | None = None, *, path: str | Path | None = None) -> str:
        """The configuration as YAML; where it has a path, files that it names are named as seen from there."""
        settings = (draft or self.draft).configuration
        if path is not None:
            settings = seen_from(settings, path)
        language = settings.get("language", "en")
        head = texts("workbench", language)["recipe_head"].format(file=self.name)
        return f"# {visible(head)}\n{dump_yaml(settings)}"

    def command_lines(
        self, recipe: str = RECIPE, page: str = PAGE, protected: str = f"{PROTECTED}.csv", internal: str = INTERNAL
    ) -> list[str]:
        """The commands that write the same, from the folder of the file and the recipe."""
        source = Path(self.source)
        with suppress(ValueError, OSError):  # elsewhere, or a folder that is gone
            source = source.relative_to(Path.cwd())
        file = source.name if self.sent else str(source)
        lines = [
            ["kanon-lab", "protect", file, "--recipe", recipe, "--out", protected],
            ["kanon-lab", "report", file, "--config", recipe, "--out", page],
            ["kanon-lab", "report", file, "--config", recipe, "--out", internal, "--internal"],
        ]
        return [shlex.join(words) for words in lines]

    def _check_target(self, path: Path, draft: Draft) -> None:
        """Raise an `OptionError` for a file to write that is read, or where the file is no more what was judged."""
        inputs = [("the input", self._path), *((kind, name) for name, kind in self.config(draft).files.items())]
        files.refuse_inputs(path, inputs)
        if self.source not in DATA_SETS and files.sha256(self._path) != self.file.found["sha256"]:
            raise OptionError(f"{self.name}: the file has changed since it was read; open it again")

    def write(self, what: str, path: str | Path, *, overwrite: bool = False, result: Result | None = None) -> None:
        """Write the "recipe", the "protected" file, or the "page" or "internal" report, as the commands do.

        A file that holds something else is replaced only if `overwrite`. A `result` is not computed again.
        """
        path, draft = Path(path), self.draft if result is None else result.draft
        with files.storage_errors(path):  # of a folder that is gone
            text, place = self.configuration(draft, path=path), path.absolute()
        with names_only(path, place):
            self._check_target(path, draft)
            with files.reading_errors(path):
                same = what == "recipe" and path.is_file() and path.read_bytes() == text.encode()
            if not (same or overwrite) and files.status(path) is not None:
                raise OptionError(f"{path}: is there and holds something else; choose another name, or replace it")
            if what == "recipe":
                with files.atomic_path(path, mode=0o600) as place:  # it has the seed
                    place.write_bytes(text.encode())
            elif what == "protected":
                (result or self.judge()).protection.write(path, overwrite=overwrite)
        if what in ("page", "internal"):
            make_report(self.source, self.config(draft), path, internal=what == "internal")

    @property
    def _path(self) -> str | Path:
        return DATA_SETS[self.source].path if self.source in DATA_SETS else self.source
