"""Whether both editions of the book carry the same numbers, page by page, and the Spanish one as Spanish does.

Prints how many cells, numbers of charts, inserted values, formulas and pieces of code were compared, and every page
where they differ.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

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
# Heads of columns with what a source prints.
_PRINTED = re.compile(r"\b(?:printed|impres[oa]s?)\b")
_NAMES = r"(?:Tablas?|Taula|Cuadros?|Figuras?|Bloques?|[Ee]jercicios?|[Aa]partados?|[Vv]ersión|Ley|CC BY|Python)"
# What no Spanish page writes, by its kind. Names of tables, sections and versions stay, and numbers «as printed».
_WRONG = {
    "no unbroken blank before %": re.compile(r"\d ?%"),
    "decimals between commas": re.compile(r"\d,\d+, \d[\d.]*,\d"),
    "a power of ten as programs write it": re.compile(r"\b\d(?:[.,]\d+)?e[-+]?\d+\b"),
    "a name with a decimal comma": re.compile(rf"\b{_NAMES} \d{{1,2}},\d"),
    "an English number": re.compile(
        rf"(?<![\w.,/«-])(?:{_NAMES} \d[\d.]*(?: [ay] \d[\d.]*)?|\d[\d.]*(?: a \d[\d.]*)?:"
        r"|(?P<wrong>0\.\d+|\d+\.\d{1,2}|\d+\.\d{4,}|\d+(?:,\d{3})+\.\d+))(?![\w]|[.,/-]\d)"
    ),
}
# What is no Spanish prose, and where a text ends.
_QUOTED = f"{_OWN}, div.highlight, pre, .math, code, [lang=en], [lang=ca], cite, .citation"
_BLOCKS = "td, th, p, li, dd, dt, h1, h2, h3, h4, label, button, caption, figcaption, text"
#: What is compared, in the order in which it is told.
KINDS = ("code", "formulas", "quotations", "cells", "charts", "exercises", "inserted", "prose")


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
        rows = node.extract().select("tr")
        printed = printed_columns(node)
        for number, row in enumerate(rows):
            for column, cell in enumerate(row.select("td, th")):
                if number and column in printed and "number" not in cell.get("class", ()):
                    counts["quotations"].update(f"{place} {number} {text}" for text in _ANY.findall(cell.get_text()))
                    continue
                texts = numbers(
                    cell.get_text(), language, strict=cell.name == "td" and "number" in cell.get("class", ())
                )
                counts["cells"].update(f"{place} {number} {text}" for text in texts)
    for node in article.select(".pasted-text"):
        text = node.extract().get_text()
        counts["inserted"].update(numbers(text, language, strict=bool(_ALONE.fullmatch(text))))
    counts["prose"].update(numbers(article.get_text(" "), language, strict=False))
    return counts


def printed_columns(table: Tag) -> set[int]:
    """Which columns of a table have what a source prints."""
    return {place for place, head in enumerate(table.select("thead th")) if _PRINTED.search(head.get_text())}


def misprinted(page: BeautifulSoup) -> list[str]:
    """Numbers of a Spanish page that are not written as in Spanish, each with its kind; the page is emptied."""
    article = page.select_one("article") or BeautifulSoup("", "html.parser")
    for table in article.select("table"):
        printed = printed_columns(table)
        for row in table.select("tbody tr"):
            for column, cell in enumerate(row.select("td, th")):
                if column in printed and "number" not in cell.get("class", ()):
                    cell.clear()
    for node in article.select(_QUOTED):
        node.extract()
    labels = [node["aria-label"] for node in article.select("[aria-label]")]
    labels += [node["alt"] for node in article.select("[alt]")]
    for node in article.select(_BLOCKS):
        node.append("\n")
    faults = []
    for text in [*labels, *re.sub(r"[ \t]+", " ", article.get_text()).split("\n")]:
        for kind, wrong in _WRONG.items():
            for match in wrong.finditer(text):
                if "wrong" not in wrong.groupindex or match["wrong"]:
                    faults.append(f"{kind}: {text[max(0, match.start() - 40) : match.end() + 10]!r}")
    return faults


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
    """How many of each kind two pages have, and what they do not share or Spanish does not write; both are emptied."""
    faults = misprinted(copy.deepcopy(spanish))
    first, second = count_kinds(english, "en"), count_kinds(spanish, "es")
    counts: Counter[str] = Counter()
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
