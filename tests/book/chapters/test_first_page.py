"""The first screen: what the README says of the book is what the book says."""

import re
from pathlib import Path

import pytest
import yaml

from kanon_book.building import picture

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_has_the_numbers_of_the_first_page(book):
    found = book["identify"]
    assert f"Of a hundred people in Spain, {found['alone-of-a-hundred']:.0f} share" in README
    row = found["town-explorer"].set_index("inhabitants").loc[20_000]
    assert f"In a town of 20,000, with the day of birth known, it is {row['alone by day (%)']:.1f} per cent." in README


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
