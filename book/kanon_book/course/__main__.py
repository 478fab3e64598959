"""``python -m kanon_book.course NAME ...``: what is computed for exercises, and what is wrong with them."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from kanon_book.course.files import LETTERS, find_exercises, read_exercises
from kanon_book.course.solving import Solved, faults, solve
from kanon_lab.errors import KanonLabError


def main(names: list[str]) -> int:
    """Print, for each chapter or path named, its exercises solved, then the faults; 2 where there are any."""
    known = find_exercises()
    paths = [known.get(name.removesuffix(".yml"), Path(name)) for name in names] or [*known.values()]
    problems = []
    for path in paths:
        problems += (here := faults(path))
        try:
            exercises = read_exercises(path)
        except KanonLabError:
            continue
        print(f"# {path.stem}: {len(exercises)} exercises, {len(here)} faults")
        for exercise in exercises:
            try:
                show(solve(exercise))
            except KanonLabError:
                print(f"\n## {exercise.id}: see the faults below")
    print("\n".join(["", *problems] if problems else ["", f"{len(paths)} files without a fault"]))
    return 2 if problems else 0


def show(solved: Solved) -> None:
    """Print an exercise as it is solved."""
    print(f"\n## {solved.id} ({solved.depth}): {solved.title}")
    say(solved.statement)
    for place, option in enumerate(solved.options):
        say(f"{LETTERS[place]}) {'RIGHT ' if place == solved.answer else ''}{option['text']} -- {option['says']}")
    if not solved.options:
        say(f"ANSWER {solved.shown} {solved.unit} (accepted: {solved.low:.7g} to {solved.high:.7g})")
    for wrong in solved.wrong:
        say(f"WRONG {wrong['answer']:.7g} ({wrong['low']:.7g} to {wrong['high']:.7g}): {wrong['says']}")
    for place, hint in enumerate(solved.hints, start=1):
        say(f"HINT {place} {hint}")
    say(f"EXPLAIN {solved.explain}" if solved.explain else "")


def say(text: str) -> None:
    """Print a text, indented; an empty one is nothing."""
    print(textwrap.indent(text, "   "), end="\n" if text else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
