"""Files of exercises, one a chapter: where they are, what may stand in them, and the number of each exercise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import StrictStr

from kanon_book import places
from kanon_book.course.order import chapters
from kanon_lab.arguments import is_number
from kanon_lab.errors import DataError, OptionError, inside, meant, shortened
from kanon_lab.recipes.yaml_file import read_yaml
from kanon_lab.settings import CheckedBy, Settings, chosen_from, read

#: What an exercise asks for: a calculation, a reason with evidence, a decision; or a guess before an explorer moves.
DEPTHS = ("compute", "explain", "decide", "predict")
#: The depth of what is no exercise: it has no number, and does not count as solved.
GUESS = DEPTHS[-1]
LEAST, MOST = 4, 6
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
#: By which the options of a choice are called.
LETTERS = "abcde"


def _within(value: Any, name: str) -> tuple[str, float]:
    """How far an answer may be: a share of it, written as 1 %, or a number in its unit."""
    share = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?%", value) if isinstance(value, str) else None
    if share and 0 < float(share[1]) < 100:
        return "share", float(share[1]) / 100
    if is_number(value) and value >= 0:
        return "number", float(value)
    raise OptionError(f"{name} must be such as 1 %, or a number of 0 or more, not {shortened(repr(value))}")


def _list_of(model: type[Settings], noun: str) -> CheckedBy:
    """How a list of things of a model is read, each called by its place."""

    def check(value: Any, name: str) -> tuple[Settings, ...]:
        if not isinstance(value, list):
            raise OptionError(f"{name} must be a list, each with a - before it")
        parts = []
        for place, part in enumerate(value, start=1):
            with inside(f"{noun} {place}"):
                parts.append(read(model, part))
        return tuple(parts)

    return CheckedBy(check, list[Any])


def _expression(value: Any, name: str) -> str:
    """Python as text; what YAML takes for a number is one of Python too."""
    if isinstance(value, str) and value.strip():
        return value
    if is_number(value):
        return repr(value)
    raise OptionError(f"{name} must be an expression of Python, not {shortened(repr(value))}")


def _truth(value: Any, name: str) -> bool | str:
    return value if isinstance(value, bool) else _expression(value, name)


def _name(value: Any, name: str) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise OptionError(f"{name} must be lower-case letters, digits and single hyphens, not {shortened(repr(value))}")
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise OptionError(f"{name} must be a list of texts (one with a colon in it in quotes)")
    if len(value) > 3:
        raise OptionError(f"{name} are at most three, not {len(value)}")
    return tuple(value)


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise OptionError(f"{name} must be a list, not {shortened(repr(value))}")
    return value


class _Part(Settings):
    """Something in a file of exercises; what it must have is said by `needs`."""

    @classmethod
    def misplaced(cls, name: str) -> str | None:
        return None

    def needs(self, *names: str, why: str = "") -> None:
        for name in names:
            if getattr(self, name) in (None, (), ""):
                raise OptionError(f"{name} is not given{why}; write it")


class Wrong(_Part):
    """An answer that learners give, and what it reveals."""

    value: Annotated[str, CheckedBy(_expression)] | None = None
    says: StrictStr | None = None

    def check(self) -> None:
        self.needs("value", "says")


class Option(_Part):
    """One of the answers to choose from."""

    text: StrictStr | None = None
    says: StrictStr | None = None
    right: Annotated[bool | str, CheckedBy(_truth)] = False

    def check(self) -> None:
        self.needs("text", "says")


class Exercise(_Part):
    """An exercise as it is written.

    Attributes
    ----------
    id : str
        Its name in its chapter.
    depth : str
        One of `DEPTHS`.
    options : tuple of Option
        Empty where the answer is a number.
    within : tuple of str and float
        ``("share", 0.01)`` or ``("number", 0.5)``.
    """

    id: Annotated[str, CheckedBy(_name)] | None = None
    depth: Annotated[str, chosen_from(DEPTHS)] | None = None
    title: StrictStr | None = None
    statement: StrictStr | None = None
    unit: StrictStr = ""
    given: StrictStr = ""
    solution: StrictStr = ""
    within: Annotated[tuple[str, float], CheckedBy(_within, float | str)] | None = None
    hints: Annotated[tuple[str, ...], CheckedBy(_texts, list[str])] = ()
    explain: StrictStr = ""
    wrong: Annotated[tuple[Wrong, ...], _list_of(Wrong, "wrong answer")] = ()
    options: Annotated[tuple[Option, ...], _list_of(Option, "option")] = ()

    def check(self) -> None:
        self.needs("id", "depth", "title", "statement")
        if self.options:
            self._check_choice()
        else:
            self.needs("solution", "within", why=" (there are no options, so the answer is a number)")
        if self.depth == GUESS:
            if self.options:
                raise OptionError("a guess (depth: predict) is a number; leave the options out")
            return
        self.needs("hints")
        if not self.options:
            self.needs("wrong", "explain", why=" (there are no options, so the answer is a number)")

    def _check_choice(self) -> None:
        for name in ("within", "wrong", "unit"):
            if getattr(self, name):
                raise OptionError(f"{name} goes with a number, not with options")
        if not 2 <= len(self.options) <= len(LETTERS):
            raise OptionError(f"options are two to five, not {len(self.options)}")
        if len([option for option in self.options if option.right is not False]) != 1:
            raise OptionError("exactly one option must have right: true, or right: with an expression that is true")


class _File(_Part):
    exercises: Annotated[list[Any], CheckedBy(_list)] | None = None

    def check(self) -> None:
        self.needs("exercises")


def find_exercises() -> dict[str, Path]:
    """Return the path of every file of exercises by its chapter, in the order of the book; others stand last.

    Examples
    --------
    >>> all(path.stem == chapter for chapter, path in kanon_book.course.find_exercises().items())
    True
    """
    order = chapter_numbers()
    paths = sorted(places.EXERCISES.glob("*.yml"), key=lambda path: (order.get(path.stem, len(order) + 1), path.stem))
    return {path.stem: path for path in paths}


@cache
def chapter_numbers() -> dict[str, int]:
    """Number of each chapter of the book, by its name, in their order.

    Examples
    --------
    >>> next(iter(kanon_book.course.chapter_numbers().items()))
    ('what-identifies', 1)
    """
    return {chapter.name: chapter.number for chapter in chapters(places.TOC)}


def read_exercises(path: str | Path) -> tuple[Exercise, ...]:
    """The exercises of a file; a `DataError` that says the first fault.

    Parameters
    ----------
    path : str or Path
        A file such as ``book/exercises/what-identifies.yml``.
    """
    path = Path(path)
    exercises: dict[str, Exercise] = {}
    try:
        content = read_yaml(path)
        with inside(path.name):
            content = read(_File, content).exercises
        for place, entry in enumerate(content, start=1):
            name = entry.get("id") if isinstance(entry, Mapping) else None
            with inside(f"{path.name}: {name or f'exercise {place}'}"):
                exercise = read(Exercise, entry)
                if exercise.id in exercises:
                    raise OptionError("another exercise of this file has the same id; rename one")
            exercises[exercise.id] = exercise
    except OptionError as error:
        raise DataError(str(error)) from None
    return tuple(exercises.values())


def exercises_of(chapter: str) -> dict[str, int]:
    """How many exercises of each depth a chapter has; nothing where it has no file.

    Examples
    --------
    >>> kanon_book.course.exercises_of("bibliography")
    {}
    """
    if (path := find_exercises().get(chapter)) is None:
        return {}
    depths = [exercise.depth for exercise in read_exercises(path)]
    return {depth: depths.count(depth) for depth in DEPTHS if depth in depths}


@cache
def numbers(chapter: str) -> dict[str, str]:
    """Number of each exercise of a chapter, ``2.3``, by its id; a guess has none."""
    asked = [exercise for exercise in read_exercises(find_exercises()[chapter]) if exercise.depth != GUESS]
    before = chapter_numbers().get(chapter, chapter)
    return {exercise.id: f"{before}.{place}" for place, exercise in enumerate(asked, start=1)}


def exercise_named(name: object) -> tuple[str, Exercise]:
    """An exercise and its chapter, by its number or by chapter and id; an `OptionError` where there is none."""
    before = str(name).rpartition(".")[0]
    chapter = {str(number): chapter for chapter, number in chapter_numbers().items()}.get(before, before)
    if path := find_exercises().get(chapter):
        for exercise in read_exercises(path):  # of this chapter alone: a fault in another one is none of this one
            if str(name) in (f"{chapter}.{exercise.id}", numbers(chapter).get(exercise.id)):
                return chapter, exercise
    known = [(number, f"{chapter}.{key}") for chapter in find_exercises() for key, number in numbers(chapter).items()]
    near = meant(name, [text for pair in zip(*known) for text in pair], "write its number, such as 1.1")
    raise OptionError(f"no exercise {shortened(str(name))!r}; {near}")
