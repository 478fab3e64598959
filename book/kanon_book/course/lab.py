"""Exercises in JupyterLab: answers checked, hints one after another, solutions, and what was done kept in a file."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from kanon_book.course.files import GUESS, LETTERS, chapter_numbers, exercise_named, exercises_of, find_exercises
from kanon_book.course.judging import judge, read_answer
from kanon_book.course.markdown import without_roles
from kanon_book.course.solving import Solved, solve
from kanon_book.course.spanish import LANGUAGES, translated
from kanon_book.words import texts
from kanon_lab.arguments import check_choice
from kanon_lab.errors import DataError, OptionError, shortened
from kanon_lab.files import storage_errors, write_text

#: In the working folder; the page of the book saves a file of the same form.
PROGRESS = "kanon-lab-progress.json"
# What is kept of an exercise.
_KEPT = {"right": bool, "tries": int, "hints": int}
# Tries or hints of an exercise, as far as anybody counts them; answers kept of one, and their letters.
_MOST, _ANSWERS, _LONGEST = 1_000_000, 5, 40


class Told(str):
    """A text in Markdown, which JupyterLab sets; of an answer also whether it is `right`."""

    right: bool | None = None

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


@cache
def solved_exercise(key: str) -> Solved:
    """An exercise solved, by its chapter and name."""
    return solve(exercise_named(key)[1])


_spoken = LANGUAGES[0]


def use_language(language: str) -> None:
    """Say in this language what `check`, `hint`, `solution` and `progress` say from now on.

    Parameters
    ----------
    language : str
        ``"en"`` or ``"es"``.

    Examples
    --------
    >>> kanon_book.course.use_language("es")
    >>> str(kanon_book.course.check("1.1", "-1")).startswith("Todavía no.")
    True
    >>> kanon_book.course.use_language("en")
    """
    global _spoken
    _spoken = check_choice(language, "language", LANGUAGES)


def _said(key: str, **parts: object) -> str:
    """What is said in the language in use; the words are those of the pages."""
    return texts("exercise", _spoken)[key].format(**parts)


def _known(name: object) -> tuple[str, Solved]:
    chapter, exercise = exercise_named(name)
    key = f"{chapter}.{exercise.id}"
    return key, translated(solved_exercise(key), chapter, _spoken)


def _told(text: str, right: bool | None = None) -> Told:
    saying = Told(without_roles(text))
    saying.right = right
    return saying


def check(name: object, answer: Any) -> Told:
    """Check an answer to an exercise, and say what is known of it; `progress` counts it.

    Parameters
    ----------
    name : str
        The number of the exercise, such as ``2.3``, or its chapter and name, such as ``what-k-says.smallest``.
    answer : int, float, number of numpy or str
        A number, or a text such as ``42 %``, ``1,234`` or ``0,42``; of a choice the letter.

    Returns
    -------
    Told
        A text that JupyterLab shows; its attribute ``right`` says whether the answer is.

    Examples
    --------
    >>> told = kanon_book.course.check("1.1", "-1")
    >>> told.right, str(told).startswith("Not yet.")
    (False, True)
    """
    key, solved = _known(name)
    if answer is None or answer is ...:
        return _told(_said("no_answer"))
    right, says = _choice(solved, answer) if solved.options else _typed(solved, answer)
    if right is not None:
        _note(key, right and solved.depth != GUESS, answer=str(answer).strip().rstrip(").").lower()[:_LONGEST])
    return _told(says, right)


def _typed(solved: Solved, answer: Any) -> tuple[bool | None, str]:
    if not (values := read_answer(answer, solved.unit)):
        return None, _said("unread")
    right, known = judge(solved.to_dict(), values)
    if right:
        return True, f"{_said('right')} {solved.shown} {solved.unit}".rstrip()
    return False, f"{_said('wrong')} {solved.wrong[known]['says'] if isinstance(known, int) else _said(known)}"


def _choice(solved: Solved, answer: Any) -> tuple[bool, str]:
    letters = LETTERS[: len(solved.options)]
    place = letters.find(str(answer).strip().rstrip(").").lower()) if str(answer).strip() else -1
    if len(str(answer).strip().rstrip(").")) != 1 or place < 0:
        raise OptionError(_said("letters", letters=", ".join(letters), answer=shortened(repr(answer))))
    right = place == solved.answer
    says = solved.options[place]["says"]
    return right, says if right else f"{_said('wrong')} {says}"


def hint(name: object) -> Told:
    """The next hint for an exercise; after the last one all of them.

    Parameters
    ----------
    name : str
        As `check` takes it.

    Examples
    --------
    >>> print(kanon_book.course.hint("1.1"))  # doctest: +ELLIPSIS
    Hint 1 of ...
    """
    key, solved = _known(name)
    seen, count = _read().get(key, {}).get("hints", 0), len(solved.hints)
    if not count:
        return _told(_said("no_hints"))
    if seen < count:
        _note(key, hints=seen + 1)
        return _told(f"{_said('hint', place=seen + 1, count=count)}: {solved.hints[seen]}")
    hints = "\n".join(f"{place}. {text}" for place, text in enumerate(solved.hints, start=1))
    return _told(f"{hints}\n\n{_said('no_more_hints', name=name)}")


def solution(name: object) -> Told:
    """How an exercise is solved: in words, by code, and what wrong answers reveal.

    Parameters
    ----------
    name : str
        As `check` takes it.

    Examples
    --------
    >>> "```python" in kanon_book.course.solution("1.1")
    True
    """
    _, solved = _known(name)
    parts = []
    if solved.options:
        for place, option in enumerate(solved.options):
            verdict = _said("is_right" if place == solved.answer else "is_wrong")
            parts.append(f"- **{LETTERS[place]}) {option['text']}** ({verdict}): {option['says']}")
        parts = ["\n".join(parts)]
    else:
        parts.append(f"**{solved.shown} {solved.unit}**".replace(" **", "**"))
    if solved.solution:
        parts.append(f"```python\n{solved.solution.strip()}\n```")
    parts.append(solved.explain)
    parts += [f"*{wrong['shown']}*: {wrong['says']}" for wrong in solved.wrong]
    return _told("\n\n".join(part for part in parts if part))


def progress(*, reset: bool = False) -> Told:
    """How many exercises of each chapter are solved, from the file ``kanon-lab-progress.json`` of the working folder.

    Parameters
    ----------
    reset : bool
        Delete that file, and begin anew.

    Examples
    --------
    >>> print(kanon_book.course.progress())  # doctest: +ELLIPSIS
    0 of ... exercises are solved...
    """
    if reset:
        with storage_errors(PROGRESS):
            Path(PROGRESS).unlink(missing_ok=True)
    done = [key.rpartition(".")[0] for key, record in _read().items() if record.get("right")]
    rows = []
    for chapter in find_exercises():
        total = sum(count for depth, count in exercises_of(chapter).items() if depth != GUESS)
        rows.append((chapter_numbers().get(chapter, ""), chapter, min(done.count(chapter), total), total))
    solved, total = sum(row[2] for row in rows), sum(row[3] for row in rows)
    lines = [_said("progress", right=solved, all=total, file=PROGRESS)]
    lines += ["", _said("progress_columns"), "|---|---|---|"] if rows else []
    shares = [_said("share", right=right, all=of) for *_, right, of in rows]
    return _told("\n".join([*lines, *(f"| {at} | {name} | {share} |" for (at, name, *_), share in zip(rows, shares))]))


def _read() -> dict[str, dict[str, Any]]:
    if not Path(PROGRESS).exists():
        return {}
    try:
        return read_progress(Path(PROGRESS))["exercises"]
    except ValueError:
        raise DataError(f"{PROGRESS}: holds no progress that can be read; delete it, or progress(reset=True)") from None


def read_progress(path: Path) -> dict[str, Any]:
    """What a file of saved progress holds, its ``exercises`` by key; a `ValueError` where it has another form."""
    try:
        content = json.loads(path.read_text("utf-8"))
        kept = {str(key): dict(record) for key, record in content["exercises"].items()}
        for record in kept.values():
            values = [(record.get(name, kind()), kind) for name, kind in _KEPT.items()]
            texts = record.get("answers", [])
            if any(type(value) is not kind or not 0 <= value <= _MOST for value, kind in values):
                raise TypeError
            if type(texts) is not list or any(type(text) is not str or len(text) > _LONGEST for text in texts):
                raise TypeError
        return content | {"exercises": kept}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError from None


def _note(key: str, right: bool | None = None, hints: int | None = None, answer: str = "") -> None:
    """Keep that an answer was right or not, and what it was, or how many hints were seen."""
    kept = _read()
    record = {name: kind() for name, kind in _KEPT.items()} | kept.get(key, {})
    if right is not None:
        record["right"], record["tries"] = record["right"] or right, record["tries"] + 1
        record["answers"] = [*record.get("answers", []), answer][-_ANSWERS:]
    if hints is not None:
        record["hints"] = hints
    write_text(PROGRESS, json.dumps({"exercises": kept | {key: record}}, indent=1))
