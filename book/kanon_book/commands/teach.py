"""``kanon-lab exam`` and ``kanon-lab class``: an exam drawn from the exercises, and what a class has done."""

import os
from functools import partial
from pathlib import Path

import click

from kanon_book.commands.lab import find_book
from kanon_lab.cli.options import Command, json_option
from kanon_lab.cli.output import print_lines, print_parts, show
from kanon_lab.errors import MissingPackageError, OptionError
from kanon_lab.files import write_text

_OF_EXAM = """
\b
Examples:
  kanon-lab exam --seed 7
  kanon-lab exam --seed 7 --questions 12 --language es --out exams
"""
_OF_CLASS = """
\b
Examples:
  kanon-lab class saved/
  kanon-lab class anna.json ben.json --json
"""


@click.command(cls=Command, name="exam", epilog=_OF_EXAM, short_help="Draw an exam and its key from the exercises.")
@click.argument("book", required=False)
@click.option("--seed", type=int, required=True, help="Use this seed to draw the questions: a whole number, 0 or more.")
@click.option("--questions", type=int, default=30, show_default=True, help="Draw this many questions.")
@click.option(
    "--language",
    type=click.Choice(["en", "es"]),
    default="en",
    show_default=True,
    help="Write the exam in this language.",
)
@click.option("--out", "folder", default=".", help="Write both pages into this folder.  [default: the working folder]")
@json_option
def exam(book, seed, questions, language, folder, as_json):
    """Draw an exam from the exercises of the book, and write it and its key as two pages to print.

    The same seed draws the same questions. The command takes the texts from the built book: from BOOK, or from where
    "kanon-lab book" finds it. Questions that need the screen or a program are left out. The pages need a script of the
    book to show formulas, so print them on this computer.
    """
    from importlib.util import find_spec

    from kanon_book.course.exam import exam_pages

    if find_spec("bs4") is None:
        raise MissingPackageError(
            "beautifulsoup4, which reads pages, is not installed: pip install 'kanon-lab[report]'"
        )
    pages = find_book(book, language).parent
    static = (pages if language == "en" else pages.parent) / "_static"
    target = Path(folder)
    if not target.is_dir():
        raise OptionError(f"{folder}: no such folder; make it, or name another one after --out")
    written = {}
    beside = Path(os.path.relpath(static, target.absolute())).as_posix()
    for part, text in zip(("exam", "key"), exam_pages(pages, language, seed, questions, beside), strict=True):
        path = target / f"{'key-to-' if part == 'key' else ''}exam-{seed}-{language}.html"
        write_text(path, text)
        written[part] = str(path)
    result = {"seed": seed, "questions": questions, "language": language} | written
    show(result, partial(print_lines, written.values()), *written.values(), as_json=as_json)


@click.command(
    cls=Command, name="class", epilog=_OF_CLASS, short_help="Show what a class got right, from its saved progress."
)
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@json_option
def of_class(paths, as_json):
    """Show for each exercise how many students solved it, and the most common wrong answer.

    FILE is a file that a student saved from a page of the book or in JupyterLab (kanon-lab-progress.json), or a folder
    of such files under any names. No student is named, unless a file has a "name" beside its "exercises".
    """
    from kanon_book.course.marks import read_class
    from kanon_lab.digits import percent
    from kanon_lab.show.parts import Table

    exercises, students = read_class(paths)

    def printed():
        print_parts(Table(exercises.assign(right=exercises["right"].map(percent)), wide=True))
        if len(students):
            click.echo()
            print_parts(Table(students))

    result = {"exercises": exercises, "students": students}
    show(result, printed, as_json=as_json)
