"""A class's saved progress: of each exercise how many have it right, and the wrong answer that is most common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_book.course.files import LETTERS, find_exercises, numbers
from kanon_book.course.judging import judge, readings
from kanon_book.course.lab import read_progress, solved_exercise
from kanon_lab.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from kanon_book.course.solving import Solved


def read_class(paths: Iterable[str | Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What a class has done, from the files that its students saved: one a student.

    Parameters
    ----------
    paths : iterable of str or Path
        Files that a page of the book or JupyterLab saved, or folders of them.

    Returns
    -------
    exercises : pandas.DataFrame
        ``exercise``, ``title``, ``students`` who answered it, the share ``right``, ``common`` (the most common wrong
        answer), ``times`` (how many students gave it), ``reveals``. No student is named.
    students : pandas.DataFrame
        ``name`` and how many exercises are ``right``, of files that hold a ``name`` alone.
    """
    import pandas as pd

    files = [read_one(path) for path in _listed(paths)]
    rows = []
    for chapter in find_exercises():
        for name, number in numbers(chapter).items():
            key = f"{chapter}.{name}"
            records = [file["exercises"][key] for file in files if file["exercises"].get(key, {}).get("tries")]
            if records:
                rows.append(_row(number, solved_exercise(key), records))
    columns = ["exercise", "title", "students", "right", "common", "times", "reveals"]
    named = [file for file in files if isinstance(file.get("name"), str)]
    done = [(file["name"], sum(_is_right(key, record) for key, record in file["exercises"].items())) for file in named]
    return pd.DataFrame(rows, columns=columns), pd.DataFrame(done, columns=["name", "right"])


def _listed(paths: Iterable[str | Path]) -> list[Path]:
    """The files, by name; those of a folder are its .json files."""
    listed = []
    for path in map(Path, paths):
        here = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not here:
            raise DataError(f"{path}: holds no .json file; put the files that students saved there")
        listed += here
    return listed


def read_one(path: Path) -> dict[str, Any]:
    """What a student's file holds."""
    try:
        return read_progress(path)
    except ValueError:
        raise DataError(
            f"{path}: is not a file of progress from this book; ask the student for it again, or leave it out"
        ) from None


def _is_right(key: str, record: dict[str, Any]) -> bool:
    """Whether a record is of an exercise that is solved; in an edition without solutions the last answer counts."""
    chapter, _, name = key.rpartition(".")
    if chapter not in find_exercises() or name not in numbers(chapter):
        return False
    return bool(record.get("right")) or _judged(solved_exercise(key), (record.get("answers") or [""])[-1])[0]


def _judged(solved: Solved, answer: str) -> tuple[bool, str, str]:
    """Whether an answer is right, and else how it is written in a table, and what it reveals."""
    if solved.options:
        place = LETTERS.find(answer) if len(answer) == 1 else -1
        known = 0 <= place < len(solved.options)
        return known and place == solved.answer, answer, solved.options[place]["says"] if known else ""
    values = readings(answer, solved.unit)
    right, known = judge(solved.to_dict(), values) if values else (False, "")
    if isinstance(known, int):
        return right, solved.wrong[known]["shown"], solved.wrong[known]["says"]
    return right, f"{values[0]:.3g}" if values else "", ""


def _row(number: str, solved: Solved, records: list[dict[str, Any]]) -> tuple[Any, ...]:
    judged = [[_judged(solved, answer) for answer in record.get("answers", [])] for record in records]
    pairs = zip(records, judged, strict=True)
    right = [bool(record.get("right")) or bool(answers and answers[-1][0]) for record, answers in pairs]
    # A student who tries the same wrong answer twice counts once.
    wrong = Counter(
        pair
        for answers in judged
        for pair in {(text, says) for is_right, text, says in answers if text and not is_right}
    )
    (common, reveals), times = min(wrong.items(), key=lambda item: (-item[1], item[0]), default=(("", ""), 0))
    return number, solved.title, len(records), sum(right) / len(right), common, times, " ".join(reveals.split())
