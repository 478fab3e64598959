"""The first screen: what the README says of the book is what the book says."""

import re
from pathlib import Path

import pytest
import yaml

from kanon_book.building import picture

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_types_nothing_that_is_measured():
    """The numbers of its prose: the oldest Python, the part with the project, an exit code, a licence."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`|^\d\. ", "", README, flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\d[\d.,]*\d|\d", prose) == ["3.11", "5", "2", "4.0"]
    assert len(README.splitlines()) <= 120


def test_what_the_readme_says_of_towns_is_what_the_first_page_shows(book):
    in_town = "In a small town these three still single out nearly\neverybody"
    assert f"{in_town}; in a large city they single out hardly anybody." in README
    by_day = book["identify"]["town-explorer"].set_index("inhabitants")["alone by day (%)"]
    assert by_day[by_day.index <= 1000].min() > 90
    assert by_day[by_day.index >= 1_000_000].max() < 1


def test_the_project_is_in_the_part_that_the_readme_names():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    (part,) = [part["caption"] for part in parts if {"file": "book/project"} in part["chapters"]]
    assert f"{part.partition(':')[0]} is a project" in README


def test_the_picture_of_the_readme_is_the_chart_of_the_first_page(book):
    (alt, path) = re.search(r"!\[(.+?)\]\((\S+)\)", README, flags=re.DOTALL).groups()
    assert len(alt) > 50
    assert (ROOT / path) == picture.PICTURE
    # Places of marks follow the fonts of a machine; what is told of each mark does not.
    drawn, kept = picture.drawn(book["identify"]["town-explorer"]), picture.PICTURE.read_text("utf-8")
    told = re.compile(r'aria-label="([^"]*)"|<text[^>]*>([^<]*)<')
    assert told.findall(drawn) == told.findall(kept)
    assert len(told.findall(kept)) > 20


def test_a_town_of_the_size_of_spain_is_reckoned_by_the_birthday_argument(book):
    """Nearly all are alone among a hundred by day; the chance falls with size, and with what is known."""
    frame = book["identify"]["town-explorer"].set_index("inhabitants")
    assert frame["alone by day (%)"].iloc[0] == pytest.approx(100 * (1 - 1 / (1826 * 34)) ** 99, abs=0.2)
    assert (frame.diff().dropna() <= 0).all().all()
    assert (frame.diff(axis=1).iloc[:, 1:] <= 0).all().all()


def test_book_and_readme_are_called_alike():
    title = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["title"]
    assert README.startswith(f"# {title}\n")
    assert (ROOT / "book" / "preface.md").read_text("utf-8").startswith(f"# {title}\n")
