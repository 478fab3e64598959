"""What holds for every chapter: its numbers are recorded by notebooks, and none is typed."""

import re
from pathlib import Path

import pytest
from cases import in_one_test

from kanon_lab.errors import OptionError
from kanon_lab.notebooks import find_notebooks

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = find_notebooks()


GLUE = re.compile(r"\{glue:text\}`[^`]*`|\{glue\} \S+")


def test_the_book_holds_every_notebook(book):
    assert set(book) == set(NOTEBOOKS)


def test_chapters_insert_only_what_notebooks_record(book):
    missing = []
    for chapter in (ROOT / "book").glob("*.md"):
        for notebook, name in re.findall(r"notebooks/([a-z]+)\.ipynb::([a-z0-9-]+)", chapter.read_text()):
            if name not in book[notebook]:
                missing.append(f"{chapter.name}: {notebook} has no {name}")
    assert missing == []


@in_one_test("chapter", sorted((ROOT / "book").glob("*.md")))
def test_what_closes_a_box_stands_on_a_line_of_its_own(chapter):
    """Else the rest of the chapter is in the box."""
    assert re.findall(r"^.*\S+ :::+$", chapter.read_text("utf-8"), flags=re.MULTILINE) == []


def test_no_figure_is_typed_into_the_prose():
    """Digits stand in names (Cuadro 1, table 33570, dates, keys of terms), formulas, code and commands only."""
    allowed = re.compile(
        r"((Cuadro|Tabla|Taula|Bloque)s? \d(\.\d+)?( (to|and) \d(\.\d+)?)?|Figura \d|[Ff]ormula \(\d\)|gráfico 3"
        r"|\bIL1s?\b|<a href=[^>]*>"
        r"|[Rr]ecital (26|162)|Regulation 557/2013|WP 216"
        r"|(Opinion|Guidelines) \d+/\d{4}|(Ley|Llei|Ley Orgánica) \d[\d.]*(/\d{4})?"
        r"|C-413/23 P|C\d{4}-19|Boletín 18\.623-07|\(?article \d+\)?|10 misunderstandings"
        r"|(\d{1,2} )?(January|February|September|November|December) \d{4}"
        r"|[Tt]able 33570|spain-2010|1-anonymous|2-anonymous|1 January 2010|CC BY 4\.0|In 2011|\{cite\}`[^`]*`|\{doc\}`[^`]*`|https?://\S+)"
    )
    typed = []
    for chapter in (ROOT / "book").glob("*.md"):
        # What a page says of itself, and arguments and options of a directive, are no prose.
        text = re.sub(r"^:{3,}\{[\w-]+\}.*$|^:[\w-]+:.*$", "", chapter.read_text("utf-8"), flags=re.MULTILINE)
        text = re.sub(r"\A---\n.*?^---\n|```.*?```", "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", GLUE.sub("", allowed.sub("", text)), flags=re.DOTALL)
        typed += [f"{chapter.name}: {line.strip()}" for line in text.splitlines() if re.search(r"\d", line)]
    assert typed == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_an_unknown_parameter_is_refused(run, name):
    with pytest.raises(OptionError, match="unknown parameter 'granularity'"):
        run(name, granularity="day")
