"""Exercises solved: the answer, wrong answers and texts, all computed by what stands in the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from kanon_book.course.files import DEPTHS, GUESS, LEAST, LETTERS, MOST, Exercise, Option, read_exercises
from kanon_book.course.judging import SAID, judge, read_answer, readings
from kanon_lab.errors import DataError, KanonLabError, OptionError, shortened

# An expression to be inserted: {=answer:.2f}. One pair of braces may stand in it.
_INSERTED = re.compile(r"\{=((?:[^{}]|\{[^{}]*\})+)\}")
# A wrong answer that is no whole number may be given rounded; one that is small is not taken for its neighbours.
_ROUNDED, _NEAREST = 0.005, 0.1
_NUMBER = re.compile(r"(?<![\w.,])[0-9][0-9.,]*[0-9](?: ?%)?")


@dataclass(frozen=True)
class Solved:
    """An exercise with all that a page or a notebook needs of it; texts are Markdown.

    Attributes
    ----------
    answer : float or int
        The number, or the place of the right option.
    low, high : float or None
        Between which a number is right.
    wrong : list of dict
        Of each wrong number ``answer``, ``shown``, ``low``, ``high`` and ``says``.
    options : list of dict
        ``text`` and ``says`` of each.
    """

    id: str
    depth: str
    title: str
    statement: str
    unit: str
    given: str
    solution: str
    answer: float | int
    shown: str
    low: float | None
    high: float | None
    wrong: list[dict[str, Any]]
    options: list[dict[str, str]]
    hints: list[str]
    explain: str

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON has it."""
        return asdict(self)


def solve(exercise: Exercise) -> Solved:
    """Solve an exercise: run what is given and the solution, whose last line is the answer, and fill the texts.

    Examples
    --------
    >>> keys = {"id": "keys", "depth": "compute", "title": "Keys", "statement": "How many keys?", "within": 0,
    ...     "given": "sexes, ages = 2, 9", "solution": "sexes * ages", "explain": "{=sexes} times {=ages}.",
    ...     "hints": ["Multiply."], "wrong": [{"value": "sexes + ages", "says": "You added."}]}
    >>> solved = kanon_book.course.solve(kanon_book.course.Exercise(**keys))
    >>> solved.answer, solved.explain, solved.wrong[0]["answer"]
    (18.0, '2 times 9.', 11.0)
    """
    names: dict[str, Any] = {}
    _run(exercise.given, names, "given")
    answer = _run(exercise.solution, names, "solution")
    names["answer"] = answer

    def filled(text: str, part: str) -> str:
        return _INSERTED.sub(lambda match: _inserted(match[1], names, part), text).strip()

    low = high = None
    if exercise.options:
        answer = _right_option(exercise, names)
        shown = LETTERS[answer]
    else:
        answer = _number(answer, "solution, its last line")
        low, high = _around(answer, exercise.within)
        shown = _written(answer, low, high)
    return Solved(
        **{name: getattr(exercise, name) for name in ("id", "depth", "title", "unit", "given", "solution")},
        statement=filled(exercise.statement, "statement"),
        **{"answer": answer, "shown": shown, "low": low, "high": high},
        wrong=[_wrong(exercise, place, names, filled) for place in range(len(exercise.wrong))],
        options=[
            {
                "text": filled(option.text, f"option {place}"),
                "says": _praised(option, filled(option.says, f"option {place}, says")),
            }
            for place, option in enumerate(exercise.options, start=1)
        ],
        hints=[filled(hint, f"hint {place}") for place, hint in enumerate(exercise.hints, start=1)],
        explain=filled(exercise.explain, "explain"),
    )


@contextmanager
def _python(part: str, code: str):
    """Say of what the code raises in which part of the exercise, in which line, and what."""
    try:
        yield
    except SyntaxError as error:
        raise OptionError(f"{part}, line {error.lineno}: {error.msg}") from None
    except Exception as error:  # whatever the code of an exercise raises
        trace, line = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == f"<{part}>":
                line = trace.tb_lineno
            trace = trace.tb_next
        line_of_code = code.splitlines()[line - 1].strip() if line else shortened(code)
        raise OptionError(f"{part}, line {line or 1} ({line_of_code}): {type(error).__name__}: {error}") from None


def _run(code: str, names: dict[str, Any], part: str) -> Any:
    """Run code among names; the value of its last line, None where that is no expression."""
    with _python(part, code):
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"<{part}>", "exec"), names)
        return None if last is None else eval(compile(ast.Expression(last.value), f"<{part}>", "eval"), names)


def _value(code: str, names: dict[str, Any], part: str) -> Any:
    with _python(part, code):
        return eval(compile(code.strip(), f"<{part}>", "eval"), names)


def _inserted(code: str, names: dict[str, Any], part: str) -> str:
    """The text of an expression by its format, which stands after its last colon."""
    code, before, form = code, *code.rpartition(":")[::2]
    if before and _is_expression(before):
        code = before
    else:
        form = ""
    with _python(f"{part}, {{={shortened(code)}}}", code):
        return format(_value(code, names, f"{part}, {{={shortened(code)}}}"), form)


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def _number(value: Any, part: str) -> float:
    if not isinstance(value, str) and (values := read_answer(value)):
        return values[0]
    raise OptionError(f"{part}: must be a number, not {shortened(repr(value))}")


def _around(value: float, within: tuple[str, float]) -> tuple[float, float]:
    kind, size = within
    room = max(abs(value) * size if kind == "share" else size, abs(value) * 1e-9)
    return value - room, value + room


def _written(value: float, low: float, high: float) -> str:
    """A number with four digits that count, or as many as it needs to be right."""
    if value.is_integer():
        return f"{value:,.0f}"
    for digits in range(4, 17):
        text = f"{Decimal(f'{value:.{digits}g}'):,f}"
        if low <= float(text.replace(",", "")) <= high:
            return text
    return repr(value)


def _wrong(exercise: Exercise, place: int, names: dict[str, Any], filled: Callable[[str, str], str]) -> dict[str, Any]:
    part = f"wrong answer {place + 1}"
    value = _number(_value(exercise.wrong[place].value, names, part), part)
    low, high = _around(value, exercise.within)
    if value:
        low, high = max(low, value - _NEAREST * abs(value)), min(high, value + _NEAREST * abs(value))
    if not value.is_integer():
        low, high = min(low, value - _ROUNDED * abs(value)), max(high, value + _ROUNDED * abs(value))
    says = filled(exercise.wrong[place].says, f"{part}, says")
    return {"answer": value, "shown": _written(value, low, high), "low": low, "high": high, "says": says}


def _praised(option: Option, says: str) -> str:
    """What is said of an option: that it is right first, unless the words begin so."""
    return says if option.right is False or says.startswith("Right") else f"{SAID['right']} {says}"


def _right_option(exercise: Exercise, names: dict[str, Any]) -> int:
    place = next(place for place, option in enumerate(exercise.options) if option.right is not False)
    right = exercise.options[place].right
    if right is not True and not _value(right, names, f"option {place + 1}, right"):
        raise OptionError(f"option {place + 1}: right: {right} is not true; correct the option, or mark another one")
    return place


def faults(path: str | Path) -> list[str]:
    """What is wrong with a file of exercises, a line for each fault; none where all is well.

    Besides what cannot be read or run: a chapter's number of exercises and their depths, wrong answers that would be
    accepted or not be known, and hints that give the number.

    Parameters
    ----------
    path : str or Path
        The file.

    Examples
    --------
    >>> kanon_book.course.faults("nowhere.yml")
    ['nowhere.yml: no such file; check the path']
    """
    try:
        exercises = read_exercises(path)
    except KanonLabError as error:
        return [str(error)]
    name = Path(path).name
    asked = [exercise.depth for exercise in exercises if exercise.depth != GUESS]
    problems = [f"{name}: no exercise has depth: {depth}" for depth in DEPTHS[:3] if depth not in asked]
    if not LEAST <= len(asked) <= MOST:
        problems.append(f"{name}: {len(asked)} exercises; a chapter has {LEAST} to {MOST} besides guesses")
    for exercise in exercises:
        try:
            solved = solve(exercise)
        except KanonLabError as error:
            problems.append(f"{name}: {exercise.id}: {error}")
        else:
            problems += [f"{name}: {exercise.id}: {fault}" for fault in _misjudged(solved)]
    return problems


def _misjudged(solved: Solved) -> Iterable[str]:
    """What would be judged otherwise than it is meant."""
    if solved.options:
        return
    task = solved.to_dict()
    if not judge(task, readings(solved.shown, solved.unit))[0]:
        yield f"the answer as it is shown, {solved.shown}, is not accepted; widen within"
    for place, wrong in enumerate(solved.wrong, start=1):
        right, known = judge(task, [wrong["answer"]])
        if right:
            yield f"wrong answer {place} ({wrong['answer']:g}) is accepted, as {solved.shown} is; make within tighter"
        elif known != place - 1:
            yield f"wrong answer {place} ({wrong['answer']:g}) is another one too; keep one"
    if abs(solved.answer) < 10:  # a hint may well hold a small number that is not the answer
        return
    for place, hint in enumerate(solved.hints, start=1):
        for number in _NUMBER.findall(hint):
            if (values := readings(number, solved.unit)) and judge(task, values)[0]:
                yield f"hint {place} gives the number ({number}); remove it"


def solved_file(path: str | Path) -> list[Solved]:
    """All exercises of a file solved; a `DataError` that names file and exercise where one cannot be.

    Examples
    --------
    >>> path = kanon_book.course.find_exercises()["what-identifies"]
    >>> all(each.statement for each in kanon_book.course.solved_file(path))
    True
    """
    solved = []
    for exercise in read_exercises(path):
        try:
            solved.append(solve(exercise))
        except KanonLabError as error:
            raise DataError(f"{Path(path).name}: {exercise.id}: {error}") from None
    return solved
