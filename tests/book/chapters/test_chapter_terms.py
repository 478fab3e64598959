"""What the library knows of the chapters: titles in both languages, and the terms that each explains."""

import re

from kanon_book.places import CHAPTERS
from kanon_lab.show.book_pages import chapter_of
from kanon_lab.terms import TERMS, rows

KNOWN = {row["name"]: row for row in rows("chapters.csv")}


def test_titles_are_those_of_the_chapters():
    for name, row in KNOWN.items():
        catalogue = (CHAPTERS / f"locale/es/LC_MESSAGES/book/{name}.po").read_text("utf-8")
        assert (CHAPTERS / f"{name}.md").read_text("utf-8").find(f"\n# {row['en']}\n") > 0, name
        assert f'msgid "{row["en"]}"\nmsgstr "{row["es"]}"\n' in catalogue, name


def test_the_terms_of_a_chapter_are_known_to_be_its_own():
    listed = {}
    for path in sorted(CHAPTERS.glob("*.md")):
        found = re.search(r"^terms: \[(.+)\]$", path.read_text("utf-8"), flags=re.MULTILINE)
        listed |= dict.fromkeys(found[1].split(", ") if found else [], path.stem)
    assert len(listed) > 70
    assert {key: chapter_of(key)["name"] for key in listed} == listed


def test_every_term_of_a_chapter_is_one():
    keys = [key for row in KNOWN.values() for key in row["terms"].split()]
    assert len({*keys}) == len(keys) and {*keys} <= {*TERMS}
    assert chapter_of("day") is None
