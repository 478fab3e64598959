"""The teacher's edition: slides, notes by chapter, an exam with its key, and the book without solutions.

Made of the built book ("make teach" builds it first), in each language, in _build/teach; begin with index.html there.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from kanon_book.building.lighten import lighten
from kanon_book.building.stamps import HTML, JUPYTER_BOOK, command_line, run_command
from kanon_book.course.built import (
    TEACH,
    BuiltPage,
    asked,
    built_page,
    inner,
    paper,
    reason,
    right_answer,
    title_of_form,
    wrong_answers,
)
from kanon_book.course.exam import QUESTIONS, exam_pages
from kanon_book.course.files import find_exercises
from kanon_book.pages.edition import EDITIONS
from kanon_book.places import BUILD, ROOT
from kanon_book.words import texts
from kanon_lab.errors import DataError, KanonLabError
from kanon_lab.files import write_text

if TYPE_CHECKING:
    from bs4 import Tag

LESSONS = Path(__file__).with_name("lessons.csv")
#: The courses that have slides, and the rows of the table that are theirs.
COURSES = {"lesson": ("lesson",), "day": ("day",), "two-days": ("day", "second")}
BLANK = "book-without-solutions"
_SHOWN = {
    "p": "p",
    "figure": "figure.kanon-figure",
    "table": "table",
    "list": "ul, ol",
    "code": "div.highlight",
    "formula": "div.math",
}
_ASSETS = re.compile(
    r"<script[^>]*>window\.MathJax.*?</script>|<script[^>]*(?:mathjax/startup|kanon-charts)\.js.*?</script>"
)
_SLIDES = """<script src="_static/reveal/reveal.js"></script><script src="_static/reveal/notes.js"></script><script>
Reveal.initialize({hash: true, width: 1280, height: 720, margin: 0.05, center: false, slideNumber: "c/t",
  pdfMaxPagesPerSlide: 1, plugins: [RevealNotes]});
// Once charts are drawn, a drawing that leaves room beside it grows, and a slide that is too tall shrinks.
const fit = (slide) => {
  const figure = slide.querySelector(":scope > .kanon-figure");
  const marks = [...(figure?.querySelectorAll("svg text, svg .role-mark > *") ?? [])];
  if (marks.length && !figure.style.zoom) {
    const {left, width} = slide.getBoundingClientRect();
    const used = Math.max(...marks.map((mark) => mark.getBoundingClientRect().right)) - left;
    figure.style.zoom = getComputedStyle(figure).zoom * Math.max(1, Math.min(width / used, 680 / slide.scrollHeight));
  }
  const share = 700 / slide.scrollHeight;
  if (share < 1 && !slide.style.zoom) slide.style.zoom = share;
};
for (const event of ["ready", "slidechanged"]) Reveal.on(event, () => {
  dispatchEvent(new Event("resize"));
  setTimeout(() => fit(Reveal.getCurrentSlide()), 400);
});
const print = () => document.querySelectorAll(".pdf-page > section").forEach(fit);
Reveal.on("pdf-ready", () => setTimeout(print, 1000));</script>"""


def main(arguments: list[str]) -> int:
    parser = command_line("kanon_book.building.teach", __doc__)
    parser.add_argument("--seed", type=int, default=1, help="draw the exam by this seed (default: 1)")
    parser.add_argument("--no-book", action="store_true", help="leave the book without solutions as it is")
    options = parser.parse_args(arguments)
    return run_command("make teach", lambda: make(options.seed, not options.no_book))


def make(seed: int, with_book: bool) -> None:
    """Write everything, in each language that was built."""
    TEACH.mkdir(parents=True, exist_ok=True)
    copy_assets(TEACH / "_static")
    parts = []
    for language, (place, _) in EDITIONS.items():
        folder, words = HTML / place, texts("teach", language)
        items = [(f"slides-{course}-{language}.html", words[course]) for course in COURSES]
        for course in COURSES:
            write_text(TEACH / f"slides-{course}-{language}.html", slides(folder, language, course))
        write_text(TEACH / f"notes-{language}.html", notes(folder, language))
        items.append((f"notes-{language}.html", words["notes"]))
        title = words["exam"].format(seed=seed)
        names = (f"exam-{seed}-{language}.html", f"key-to-exam-{seed}-{language}.html")
        for name, text in zip(names, exam_pages(folder, language, seed, QUESTIONS, "_static"), strict=True):
            write_text(TEACH / name, text)
        items += zip(names, (title, words["key"].format(title=title)))
        items.append((f"{BLANK}/{place}index.html", words["blank"]))
        links = "".join(f'<li><a href="{name}">{escape(text)}</a></li>' for name, text in items)
        parts.append(f'<section lang="{language}"><h1>{words["home"]}</h1><ul>{links}</ul></section>')
    write_text(TEACH / "index.html", paper(texts("teach", "en")["home"], "".join(parts), "en"))
    if with_book:
        build_blank()
    print(TEACH / "index.html", flush=True)


def copy_assets(target: Path) -> None:
    """Put scripts and style sheets of the book and of reveal.js beside the pages: nothing is loaded from elsewhere."""
    if (spec := find_spec("sphinx_revealjs")) is None:
        raise KanonLabError("sphinx-revealjs is not installed, which has reveal.js: pip install 'kanon-lab[book]'")
    reveal = Path(spec.origin or "").parent / "_static" / "revealjs"
    shutil.copytree(HTML / "_static", target, dirs_exist_ok=True)
    (target / "reveal").mkdir(exist_ok=True)
    own = [LESSONS.with_name("slides.css")]
    for path in [*(reveal / "dist" / name for name in ("reveal.js", "reveal.css", "theme/white.css")), *own]:
        shutil.copy(path, target / "reveal")
    shutil.copytree(reveal / "dist" / "theme" / "fonts", target / "reveal" / "fonts", dirs_exist_ok=True)
    shutil.copy(reveal / "plugin" / "notes" / "notes.js", target / "reveal")
    shutil.copy(reveal / "LICENSE", target / "reveal")


def lessons() -> list[dict[str, str]]:
    """The rows of the table: what each slide shows, and for how many minutes."""
    with LESSONS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def slides(folder: Path, language: str, course: str) -> str:
    """The slides of a course as a page."""
    rows, words = [row for row in lessons() if row["lesson"] in COURSES[course]], texts("teach", language)
    plan = words["plan"].format(minutes=sum(int(row["minutes"]) for row in rows), slides=len(rows))
    sections, agenda, assets = [], [], {}
    for chapter, group in groupby(rows, key=lambda row: row["chapter"]):
        page, own = built_page(folder, chapter), [*group]
        sections += [slide(page, row, words) for row in own]
        agenda.append(f"<li>{escape(page.title)} ({sum(int(row['minutes']) for row in own)})</li>")
        assets |= dict.fromkeys(_ASSETS.findall(re.sub(r'src="[./]*_static', 'src="_static', page.text)))
    first = f"<section><h1>{words[course]}</h1><ol class='slide-agenda'>{''.join(agenda)}</ol><p>{plan}</p></section>"
    sheets = "".join(
        f'<link rel="stylesheet" href="_static/{name}.css">'
        for name in ("reveal/reveal", "reveal/white", "pygments", "kanon-charts", "reveal/slides")
    )
    head = f'<meta charset="utf-8"><title>{escape(words[course])}</title>{sheets}{"".join(assets)}'
    body = f'<div class="reveal"><div class="slides">{first}{"".join(sections)}</div></div>{_SLIDES}'
    return f'<!DOCTYPE html>\n<html lang="{language}"><head>{head}</head><body>{body}</body></html>\n'


def slide(page: BuiltPage, row: dict[str, str], words: dict[str, str]) -> str:
    """One slide; an exercise has a second one below it, with its answer."""
    section = page.section(row["section"]) if row["section"] != "practice" else page.article
    heading = page.title if row["section"] in ("", "practice") else section.find(["h2", "h3"]).get_text()
    level = "h1" if row["show"].startswith("title") else "h2"
    shown = [part for name in row["show"].split() if name != "title" for part in parts(page, section, name)]
    minutes = f'<p class="slide-minutes">{words["minutes"].format(minutes=row["minutes"])}</p>'
    body = "".join(shown)
    if len(shown) == 2 and not shown[0].startswith("<p>"):
        body = f'<div class="slide-row">{body}</div>'
    spoken = "".join(map(str, section.find_all("p", recursive=False))) if section is not page.article else ""
    text = f"<{level}>{escape(heading)}</{level}>{minutes}{body}<aside class='notes'>{spoken}</aside>"
    if "exercise:" not in row["show"] and "guess" not in row["show"]:
        return f"<section>{text}</section>"
    form = form_of(page, section, row["show"])
    answer = f"<h2>{title_of_form(form)}</h2><p><b>{right_answer(form)}</b></p>{reason(form)}"
    others = "".join(f"<li>{name} {says}</li>" for name, says in wrong_answers(form))
    return (
        f'<section><section>{text}</section><section>{answer}<ul class="slide-small">{others}</ul></section></section>'
    )


def form_of(page: BuiltPage, section: Tag, name: str) -> Tag:
    """The form of an exercise, or of the guess of a section."""
    form = section.select_one("form.kanon-guess") if name == "guess" else page.exercises().get(name.partition(":")[2])
    if form is None:
        raise DataError(f"{LESSONS.name}: {page.name} has no {name}; correct the table")
    return form


def parts(page: BuiltPage, section: Tag, name: str) -> Iterator[str]:
    """What a slide shows, by its name in the table: ``figure2`` is the second figure of the section."""
    if name == "guess" or name.startswith("exercise:"):
        form = form_of(page, section, name)
        yield f"<p><b>{title_of_form(form)}</b></p>{asked(form)}"
        return
    if name in ("able", "remember"):
        boxes = page.article.select(".tip.admonition" if name == "able" else ".note.admonition")
        yield str(boxes[0 if name == "able" else -1])
        return
    kind, place = re.fullmatch(r"([a-z]+)([1-9])", name).groups()
    listed = [part for part in section.select(_SHOWN[kind]) if not part.find_parent("form", class_="kanon-exercise")]
    listed = [part for part in listed if kind != "p" or part.parent is section]
    if len(listed) < int(place):
        raise DataError(f"{LESSONS.name}: {page.name}, {section.get('id', '')} has no {name}; correct the table")
    yield str(listed[int(place) - 1])


def notes(folder: Path, language: str) -> str:
    """The notes on every chapter with exercises, as a page to print."""
    words = texts("teach", language)
    chapters = []
    for name in find_exercises():
        page = built_page(folder, name)
        able = "".join(map(str, page.article.select_one(".tip.admonition").find_all("p")[1:]))
        rows = [
            f"<h3>{inner(form.select_one('legend .kanon-number'))}: {title_of_form(form)}</h3>"
            f"<table><tr><th>{words['misconception']}</th><th>{words['reveals']}</th></tr>"
            + "".join(f"<tr><td>{wrong}</td><td>{says}</td></tr>" for wrong, says in wrong_answers(form))
            + "</table>"
            for form in page.exercises().values()
        ]
        chapters.append(f'<h2>{page.title}</h2><p class="about">{page.minutes}</p>{able}{"".join(rows)}')
    body = f"<h1>{words['notes']}</h1><p>{words['notes_about']}</p>{''.join(chapters)}"
    return paper(words["notes"], body, language, page, "_static")


def build_blank() -> None:
    """Build the book without solutions, from what was read for the book with them."""
    target = TEACH / BLANK
    for language, (place, _) in EDITIONS.items():
        source = BUILD / language if place else BUILD
        work = BUILD / "blank" / language
        built = source / "_build" if place else BUILD
        for name in (".doctrees", "jupyter_execute"):
            shutil.copytree(built / name, work / "_build" / name, dirs_exist_ok=True)
        config = yaml.safe_load(((source if place else ROOT) / "_config.yml").read_text("utf-8"))
        sphinx = config["sphinx"]["config"]
        sphinx |= {"kanon_solutions": False, "html_copy_source": False}
        sphinx["html_theme_options"]["use_download_button"] = False
        (work / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), "utf-8")
        toc = (source if place else ROOT) / "_toc.yml"
        command = [*JUPYTER_BOOK, "build", str(ROOT), "-q", "--config", str(work / "_config.yml"), "--toc", str(toc)]
        done = subprocess.run([*command, "--path-output", str(work)], capture_output=True, text=True)
        if done.returncode:
            raise KanonLabError(f"the book without solutions was not built:\n{done.stderr.strip()}")
        if not place:
            shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(work / "_build" / "html", target / place, dirs_exist_ok=True)
    lighten(target)
    shutil.rmtree(BUILD / "blank")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
