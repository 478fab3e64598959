"""A small book with exercises of its own: every kind and depth of them, a guess, a review, and progress."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from kanon_book import places
from kanon_book.course import files, lab, solved_file

FILE = Path(__file__).parent / "book" / "course" / "hospital.yml"
#: Under which the notebook has solved them.
NAME = "hospital"
COUNT = '<span data-chapter="hospital" data-exercises="4"></span>'
PAGES = {
    "preface": f'# First screen\n\n{COUNT}\n\n<div class="kanon-progress"></div>\n',
    "hospital": (
        "# A hospital\n\nWords.\n\n::::{predict} guess\n<button>A chart to move</button>\n::::\n\n"
        "## Practice\n\n```{exercises}\n```\n\n## What to remember\n\nKeys.\n"
    ),
    "later": "# A later chapter\n\n## From earlier chapters\n\n```{review} hospital.alone hospital.harmless\n```\n",
    "glossary": "# Glossary\n",
}
TOC = """format: jb-book
root: book/preface
parts:
  - caption: "Part 1: First"
    chapters:
      - file: book/hospital
      - file: book/later
  - caption: Reference
    chapters:
      - file: book/glossary
"""
EXTENSIONS = ["myst_nb", "sphinx_external_toc", "sphinx-mathjax-offline"]
EXTENSIONS += ["kanon_book.pages.exercises", "kanon_book.pages.frame"]


def use(folder: Path, patch) -> None:
    """Let the exercises of this folder be those of the book, as long as the patch lasts."""
    (folder / "exercises").mkdir()
    shutil.copy(FILE, folder / "exercises")
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    for name, path in (("EXERCISES", "exercises"), ("TOC", "_toc.yml"), ("CHAPTERS", "book")):
        patch.setattr(places, name, folder / path)
    forget()


def forget() -> None:
    """Forget what was read of a book: another one is used from now on."""
    for cached in (files.chapter_numbers, files.numbers, lab.solved_exercise):
        cached.cache_clear()


def build(folder: Path, builder: str = "html", **more) -> Path:
    """Build the book in a folder that `use` has filled; where its pages are."""
    (folder / "book").mkdir(exist_ok=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    for name, text in PAGES.items():
        (folder / "book" / f"{name}.md").write_text(text, "utf-8")
    solved = [each.to_dict() for each in solved_file(FILE)]
    own = {"kanon_lab": {"name": NAME, "kind": "value", "value": solved}}
    cell = new_code_cell("", outputs=[new_output("display_data", {"text/plain": ""}, metadata=own)])
    nbformat.write(new_notebook(cells=[cell]), folder / "notebooks" / "exercises.ipynb")
    settings = {
        "extensions": EXTENSIONS,
        "exclude_patterns": ["_build", "notebooks"],
        "html_theme": "basic",
        "myst_enable_extensions": ["colon_fence", "dollarmath"],
        "nb_execution_mode": "off",
        # A dict of our own: extensions add to it, and Sphinx's own would stay so for whatever is built after.
        "source_suffix": {".rst": "restructuredtext"},
    } | more
    out = folder / "_build" / builder
    with docutils_namespace():
        Sphinx(folder, None, out, out / "trees", builder, settings, status=None, warningiserror=True).build()
    return out


#: What may be typed, in which unit it is wanted, and every number that it may mean.
READINGS = [
    ("42", "", [42]),
    (" 42 ", "", [42]),
    ("+42", "", [42]),
    ("-42", "", [-42]),
    ("\u221242", "", [-42]),
    ("0.42", "", [0.42]),
    ("0,42", "", [0.42]),
    (".5", "", [0.5]),
    (",5", "", [0.5]),
    ("5.", "", [5]),
    ("42 %", "", [0.42]),
    ("42%", "", [0.42]),
    ("42 per cent", "", [0.42]),
    ("42 percent", "", [0.42]),
    ("42 %", "per cent", [42]),
    ("42 per cent", "per cent", [42]),
    ("42 %", "of a hundred", [42]),
    ("42 of a hundred", "of a hundred", [42]),
    ("36,8 %", "de cada cien", [36.8]),
    ("36.8 of a hundred", "per cent", [36.8]),
    ("36.8 out of 100", "per cent", [36.8]),
    ("36,8 de cada cien", "por ciento", [36.8]),
    ("36.8 of a hundred", "", [0.368]),
    ("7 %", "puntos porcentuales", [7]),
    ("5/8", "per cent", [0.625, 62.5]),
    ("5/8", "of a hundred", [0.625, 62.5]),
    ("5/8 %", "per cent", [0.625, 62.5]),
    ("8/5", "per cent", [1.6]),
    ("5/8", "", [0.625]),
    ("42 %", "% of records", [42]),
    ("42 persons", "persons", [42]),
    ("42 Persons", "persons", [42]),
    ("42 records", "persons", []),
    ("1,234", "", [1.234, 1234]),
    ("1.234", "", [1.234, 1234]),
    ("0.123", "", [0.123]),
    ("0,123", "", [0.123]),
    ("012.345", "", [12.345]),
    ("12,345,678", "", [12345678]),
    ("12.345.678", "", [12345678]),
    ("1,234.5", "", [1234.5]),
    ("1.234,5", "", [1234.5]),
    ("1 234", "", [1234]),
    ("1\u202f234,5", "", [1234.5]),
    ("1'234.5", "", [1234.5]),
    ("1\u2019234.5", "", [1234.5]),
    ("1,234,5", "", []),
    ("1,23,456", "", []),
    ("1234,567", "", [1234.567]),
    ("1,234 %", "", [0.01234, 12.34]),
    ("1/3", "", [1 / 3]),
    ("-1 / 3", "", [-1 / 3]),
    ("1/0", "", []),
    ("1/2/3", "", []),
    ("1,234/2", "", [0.617, 617]),
    ("1e-3", "", [0.001]),
    ("1.5E3", "", [1500]),
    ("1e999", "", []),
    ("", "", []),
    ("-", "", []),
    ("%", "", []),
    ("a few", "", []),
    ("12a", "", []),
    ("0x10", "", []),
    ("1_000", "", []),
    ("nan", "", []),
    ("Infinity", "", []),
    ("\u0661\u0662", "", []),
    ("per cent", "per cent", []),
    ("--5", "", []),
    ("1 2", "", []),
]
