"""Pages of the built book, read back: their sections, figures and exercises, for slides, notes and exams."""

from __future__ import annotations

import json
import re
from functools import cache, cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_book.places import BUILD
from kanon_lab.errors import DataError

if TYPE_CHECKING:
    from bs4 import Tag

#: Where ``make book`` puts its pages, and where what is made for teachers goes.
HTML, TEACH = BUILD / "html", BUILD / "teach"
_MATHS = re.compile(r"<script>window\.MathJax.*?</script>", re.DOTALL)
_PAPER = """body{font:11pt/1.4 Georgia,serif;margin:2rem auto;max-width:46rem;padding:0 1rem}
h1,h2,h3{font-family:sans-serif;line-height:1.2;break-after:avoid} td p,li p{margin:0} .question{break-inside:avoid}
table{border-collapse:collapse;margin:.5rem 0} th,td{border:1px solid #999;padding:.15rem .5rem;text-align:left}
.line{border-bottom:1px solid;display:inline-block;width:9rem} .about{color:#444}
@media print{body{margin:0;max-width:none} table{break-inside:avoid}}"""


class BuiltPage:
    """A chapter as it was built: `name` in a folder of pages, which is that of a language."""

    def __init__(self, folder: Path, name: str) -> None:
        path = folder / "book" / f"{name}.html"
        if not path.is_file():
            raise DataError(f"{path}: no such page; build the book with make book")
        self.name, self.text = name, path.read_text("utf-8")

    @cached_property
    def article(self) -> Tag:
        """The text of the page, without what serves a screen alone."""
        from bs4 import BeautifulSoup, SoupStrainer

        soup = BeautifulSoup(self.text, "html.parser", parse_only=SoupStrainer("article"))
        for extra in soup.select(".headerlink, .prev-next-area, details.kanon-data, .kanon-figure noscript"):
            extra.decompose()
        for link in soup.select("a"):
            link.unwrap()
        return soup

    @property
    def title(self) -> str:
        return self.article.h1.get_text().strip()

    @property
    def minutes(self) -> str:
        """What stands under the title of how long the chapter takes."""
        return self.article.select_one(".kanon-line p").get_text().split(" · ")[2].partition(" (")[0]

    def section(self, name: str) -> Tag:
        """A section by its anchor; the whole page where that is empty."""
        if not name:
            return self.article
        if (section := self.article.select_one(f"section[id='{name}']")) is None:
            raise DataError(f"book/{self.name}: no section {name}; correct the table that names it")
        return section

    def exercises(self) -> dict[str, Tag]:
        """The forms of the chapter's own exercises, by the names of these; no guess and no review."""
        forms = self.article.select(f"form[id^='exercise-{self.name}-']")
        return {task_of(form)["key"].rpartition(".")[2]: form for form in forms}


@cache
def built_page(folder: Path, name: str) -> BuiltPage:
    """A page, which is read once; nobody changes it."""
    return BuiltPage(folder, name)


def task_of(form: Tag) -> dict[str, Any]:
    """What the page's script knows of an exercise: its key, its answer, and between which numbers one is right."""
    return json.loads(form["data-exercise"])


def inner(tag: Tag | None) -> str:
    """What is in an element, as HTML; nothing where there is none."""
    return tag.decode_contents() if tag else ""


def title_of_form(form: Tag) -> str:
    """The title of an exercise, without its number."""
    return inner(form.legend.find_all("span", recursive=False)[1])


def asked(form: Tag) -> str:
    """The statement of an exercise with its options."""
    options = "".join(f"<p>{option}</p>" for option in _options(form))
    return f"{inner(form.select_one('.kanon-statement'))}{options}"


def _options(form: Tag) -> list[str]:
    """The options of a choice, each behind its letter."""
    return [inner(label.find_all("span", recursive=False)[-1]) for label in form.select(".kanon-option")]


def right_answer(form: Tag) -> str:
    """The right number with its unit, or the right option."""
    options = _options(form)
    return options[task_of(form)["answer"]] if options else inner(form.select_one(".kanon-shown"))


def reason(form: Tag) -> str:
    """Why the right answer is right."""
    says, explained = form.select(".kanon-reasons .kanon-says"), inner(form.select_one(".kanon-explained"))
    return (inner(says[task_of(form)["answer"]]) if task_of(form)["choice"] else "") + explained


def wrong_answers(form: Tag) -> list[tuple[str, str]]:
    """Of each wrong answer what it is, and what it reveals, as HTML."""
    options, reasons = _options(form), form.select(".kanon-reasons > li")
    names = options or [inner(li.select_one(".kanon-number")) for li in reasons]
    right = task_of(form)["answer"] if options else None
    pairs = enumerate(zip(names, reasons, strict=True))
    return [(f"<b>{name}</b>", inner(li.select_one(".kanon-says"))) for place, (name, li) in pairs if place != right]


def paper(title: str, body: str, language: str, page: BuiltPage | None = None, static: str = "") -> str:
    """A page to print; formulas are set as in a page of the book, by its script in `static` as the page sees it."""
    maths = "".join(_MATHS.findall(page.text)) if page else ""
    maths += f'<script defer src="{escape(static)}/mathjax/startup.js"></script>' if maths else ""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{_PAPER}</style>{maths}'
    return f'<!DOCTYPE html>\n<html lang="{language}"><head>{head}</head><body>{body}</body></html>\n'
