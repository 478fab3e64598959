"""Whether both editions of the book carry the same numbers, page by page.

Prints how many cells, numbers of charts, inserted values, formulas and pieces of code were compared, and every page
where they differ.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from kanon_book.building.stamps import command_line
from kanon_book.places import BUILD

HTML = BUILD / "html"
_ANY = re.compile(r"\d(?:[\d.,]*\d)?")
# A value that is nothing but a number and its unit.
_ALONE = re.compile(r"[-\u2212]?[\d.,]+\s?%?")
_SWAPPED = str.maketrans(",.", ".,")
_DIGITS = re.compile(r"\d+")
# Words within a formula are said in the language of the page.
_WORDS = re.compile(r"\\text\{[^}]*\}")
# Minutes are counted from the words of each edition, and its search and its head are its own.
_OWN = ".kanon-line, .kanon-map, .kanon-totals, .kanon-minutes, script, style, .headerlink, .kanon-language"
#: What is compared, in the order in which it is told.
KINDS = ("code", "formulas", "cells", "charts", "exercises", "inserted", "prose")


def pages(folder: Path = HTML) -> Iterator[tuple[str, Path, Path]]:
    """Name, English and Spanish file of every page with a text of its own; the reference of functions is English."""
    for path in sorted([*folder.glob("book/*.html"), *folder.glob("notebooks/*.html")]):
        if 'http-equiv="refresh"' in path.read_text("utf-8")[:500]:  # it has moved
            continue
        yield str(path.relative_to(folder).with_suffix("")), path, folder / "es" / path.relative_to(folder)


def read(path: Path) -> BeautifulSoup:
    """A page, to be looked into."""
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def count_kinds(page: BeautifulSoup, language: str) -> dict[str, Counter[str]]:
    """What a page carries that is the same in every language, by kind, each with how often it does; it is emptied."""
    article = page.select_one("article") or BeautifulSoup("", "html.parser")
    counts = {kind: Counter() for kind in KINDS}
    for script in article.select("script[type='application/json']"):
        counts["charts"].update(numbers_of(json.loads(script.string)))
    for form in article.select("[data-exercise]"):
        task = json.loads(form["data-exercise"])
        counts["exercises"][
            json.dumps({name: part for name, part in task.items() if name != "unit"}, sort_keys=True)
        ] += 1
    for node in article.select(_OWN):
        node.extract()
    for node in article.select("div.highlight, pre"):
        counts["code"][node.extract().get_text()] += 1
    for node in article.select(".math"):
        counts["formulas"][_WORDS.sub("", node.extract().get_text())] += 1
    for node in article.select("code:not(.download)"):
        counts["code"][node.extract().get_text()] += 1
    for place, node in enumerate(article.select("table")):
        for number, row in enumerate(node.extract().select("tr")):
            for cell in row.select("td, th"):
                texts = numbers(
                    cell.get_text(), language, strict=cell.name == "td" and "number" in cell.get("class", ())
                )
                counts["cells"].update(f"{place} {number} {text}" for text in texts)
    for node in article.select(".pasted-text"):
        text = node.extract().get_text()
        counts["inserted"].update(numbers(text, language, strict=bool(_ALONE.fullmatch(text))))
    counts["prose"].update(numbers(article.get_text(" "), language, strict=False))
    return counts


def numbers(text: str, language: str, *, strict: bool) -> list[str]:
    """The numbers of a text as they are written in English; their digits alone where some may be names of tables."""
    if not strict:
        return [re.sub(r"[.,]", "", number) for number in _ANY.findall(text)]
    return _ANY.findall(text if language == "en" else text.translate(_SWAPPED))


def numbers_of(value: Any, key: str = "") -> Iterator[str]:
    """Numbers of a specification or a list, each under the name that it has there; and those in its texts."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name not in ("locale", "labelExpr", "titleLimit", "labelLimit", "said"):
                yield from numbers_of(member, name)
    elif isinstance(value, list):
        # The lines of a title are cut anew.
        if key in ("title", "subtitle", "text") and all(isinstance(line, str) for line in value):
            value = [" ".join(value)]
        for member in value:
            yield from numbers_of(member, key)
    elif isinstance(value, bool | int | float):
        yield f"{key}={value!r}"
    elif isinstance(value, str):
        yield from (digits for digits in _DIGITS.findall(value))


def compared(english: BeautifulSoup, spanish: BeautifulSoup) -> tuple[Counter[str], list[str]]:
    """How many of each kind two pages have, and what they do not share; both are emptied."""
    first, second = count_kinds(english, "en"), count_kinds(spanish, "es")
    counts, faults = Counter(), []
    for kind in KINDS:
        counts[kind] = first[kind].total()
        if first[kind] != second[kind]:
            gone, new = first[kind] - second[kind], second[kind] - first[kind]
            faults.append(f"{kind}: only in English {dict(gone)}; only in Spanish {dict(new)}"[:600])
    return counts, faults


def main() -> int:
    command_line("kanon_book.building.same_numbers", __doc__).parse_args()
    total, failed, seen = Counter(), 0, 0
    for name, english, spanish in pages():
        counts, faults = compared(read(english), read(spanish))
        total, seen = total + counts, seen + 1
        failed += bool(faults)
        for fault in faults:
            print(f"{name}: {fault}")
    totals = ", ".join(f"{total[kind]:,} {kind}" for kind in KINDS)
    print(f"{seen} pages in both languages: {totals}; {failed} pages differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
