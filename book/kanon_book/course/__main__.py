"""Check chapters: what is computed for their exercises, and what is wrong with these and with their notebooks."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from kanon_book import places
from kanon_book.course.files import LETTERS, find_exercises, read_exercises
from kanon_book.course.notebooks import chapter_faults, notebooks_of
from kanon_book.course.order import chapters
from kanon_book.course.solving import Solved, faults, solve
from kanon_lab.errors import KanonLabError


def main(arguments: list[str]) -> int:
    """Print, for each chapter or path named, its exercises solved, then the faults; 2 where there are any."""
    parser = argparse.ArgumentParser("python -m kanon_book.course", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a chapter, such as rare, or a file of exercises; all if absent"
    )
    known, problems, checked = find_exercises(), [], set()
    every = dict.fromkeys([*(chapter.name for chapter in chapters(places.TOC)), *known])
    for name in parser.parse_args(arguments).names or every:
        if name in known or not Path(name).is_file():
            problems += chapter_faults(name)
            checked |= {*notebooks_of(name)}
        if path := known.get(name, Path(name) if Path(name).is_file() else None):
            problems += show_file(path)
            checked.add(path)
    print("\n".join(["", *dict.fromkeys(problems)] if problems else ["", f"{len(checked)} files without a fault"]))
    return 2 if problems else 0


def show_file(path: Path) -> list[str]:
    """Print the exercises of a file as they are solved; its faults."""
    problems = faults(path)
    try:
        exercises = read_exercises(path)
    except KanonLabError:
        return problems
    print(f"# {path.stem}: {len(exercises)} exercises, {len(problems)} faults")
    for exercise in exercises:
        try:
            show(solve(exercise))
        except KanonLabError:
            print(f"\n## {exercise.id}: see the faults below")
    return problems


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
