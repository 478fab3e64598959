"""Print the book: the built pages as one PDF for each language, by Chromium.

The articles of the pages become one page, in the order of the table of contents, with links between them turned inward.
It is printed twice: only the first time tells on which page everything stands.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kanon_book.building.one_page import FOLDERS, STYLE, Edition
from kanon_book.building.stamps import STAMPS, command_line, digest, files_under, is_current, run_command, write_stamp
from kanon_book.places import BUILD
from kanon_lab.errors import KanonLabError

if TYPE_CHECKING:
    from pypdf import PdfReader

FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
#: The width of the text, for which charts are drawn, and what wide tables have beside it, in pixels of CSS.
WIDTH, MARGIN = 567, 57
DRAWN = """() => document.fonts.status === 'loaded' && !document.querySelector('.kanon-figure:not(.kanon-drawn)')
  && [...document.querySelectorAll('.kanon-drawing svg')].every(each => each.getBoundingClientRect().width > 50)
  && [...document.querySelectorAll('.math')].every(each => each.querySelector('mjx-container'))"""
# A chart is one picture with its words, not hundreds of symbols. A table too wide shrinks, then has the margins.
SETTLE = """() => {
  for (const each of document.querySelectorAll('.kanon-drawing svg, .kanon-drawing svg *'))
    for (const name of each.getAttributeNames()) if (/^(role|aria-.*)$/.test(name)) each.removeAttribute(name);
  for (const table of document.querySelectorAll('table')) {
    let room = table.parentElement.getBoundingClientRect().width + 1;
    for (const step of ['print-small', 'print-wide', 'print-smaller']) {
      if (table.getBoundingClientRect().width <= room) break;
      table.classList.add(step);
      if (step === 'print-wide') room = document.documentElement.clientWidth + 1;
    }
  }
  for (const each of document.querySelectorAll('.kanon-drawing svg'))
    each.classList.toggle('print-tall', each.height.baseVal.value > 0.8 * each.width.baseVal.value);
  const wide = [...document.querySelectorAll('main :is(table, pre, figure, .math)')].filter((each) =>
    each.getBoundingClientRect().right > document.documentElement.clientWidth);
  return wide.map((each) => each.closest('[id]').id);
}"""
NUMBER = """(pages) => {
  for (const link of document.querySelectorAll('[data-page]')) link.textContent = pages[link.dataset.page] ?? '000';
  return [...document.querySelectorAll('.print-contents a')].map((link) =>
    [Number(link.className.slice(-1)), link.firstChild.textContent.trim(), decodeURIComponent(link.hash.slice(1))]);
}"""


def main(arguments: list[str]) -> int:
    parser = command_line("kanon_book.building.printing", __doc__)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="en or es; all that were built if absent")
    languages = parser.parse_args(arguments).languages

    def work() -> None:
        for language in languages or [name for name, folder in FOLDERS.items() if (folder / "book").is_dir()]:
            write_edition(language)

    return run_command("make pdf", work)


def write_edition(language: str) -> None:
    """Print the book in a language, unless that has been done and nothing has changed since."""
    target, stamp = BUILD / f"kanon-lab-{language}.pdf", STAMPS / f"pdf-{language}"
    if language not in FOLDERS or not (FOLDERS[language] / "book").is_dir():
        raise KanonLabError(f"there are no pages in the language {language!r}; run make book first")
    browser = chromium()
    pages = [path for path in files_under(FOLDERS[language]) if path.suffix in (".html", ".js", ".css")]
    inputs = digest([*pages, Path(__file__), Path(__file__).with_name("one_page.py"), STYLE])
    if target.exists() and is_current(stamp, inputs):
        print(f"{target.name}: nothing changed", flush=True)
        return
    stamp.unlink(missing_ok=True)
    start = time.monotonic()
    edition = Edition(language)
    count = print_pages(edition.whole(), target, browser, edition.words["print_authors"])
    write_stamp(stamp, inputs)
    size = target.stat().st_size / 1e6
    print(f"{target}: {count} pages, {size:.1f} MB, {time.monotonic() - start:.0f} s", flush=True)


def chromium() -> str:
    """The path of Chromium, never one that playwright would download."""
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else ["chromium", "chromium-browser", "google-chrome"]:
        if program := shutil.which(name):
            return program
    raise KanonLabError("no Chromium here, which prints the book: install it, or name one in the variable CHROMIUM")


def print_pages(text: str, target: Path, browser: str, author: str) -> int:
    """Print a page as often as its page numbers change, and return how many it has."""
    from playwright.sync_api import Error, sync_playwright
    from pypdf import PdfReader

    source, draft = target.with_suffix(".html"), target.with_suffix(".draft.pdf")
    source.write_text(text, "utf-8")
    try:
        with sync_playwright() as playwright:
            page = playwright.chromium.launch(executable_path=browser, args=FLAGS).new_page()
            page.set_default_timeout(150_000)
            page.set_viewport_size({"width": WIDTH + 2 * MARGIN, "height": 900})
            page.emulate_media(media="print")
            page.goto(source.as_uri(), wait_until="load")
            page.wait_for_function(DRAWN)
            if wide := page.evaluate(SETTLE):  # Chromium would make the whole book smaller
                raise KanonLabError(f"something in {wide[0]} is wider than the paper: see print.css")
            pages: dict[str, tuple[int, float]] = {}
            for final in (False, True, True):
                listed = page.evaluate(NUMBER, {name: place[0] for name, place in pages.items()})
                page.pdf(path=draft, prefer_css_page_size=True, print_background=True, tagged=final)
                before, pages = pages, places(PdfReader(draft))
                if pages == before:
                    break
        count = add_outline(draft, [(depth, title, pages[name]) for depth, title, name in listed], author)
        draft.replace(target)
    except Error as error:
        raise KanonLabError(f"Chromium did not print the book: {str(error).splitlines()[0]}") from None
    finally:
        source.unlink()
        draft.unlink(missing_ok=True)
    return count


def places(document: PdfReader) -> dict[str, tuple[int, float]]:
    """On which page, and how far from its foot, each place stands that something links to."""
    return {
        name.removeprefix("/"): (document.get_destination_page_number(place) + 1, float(place.top))
        for name, place in document.named_destinations.items()
    }


def add_outline(path: Path, entries: list[tuple[int, str, tuple[int, float]]], author: str) -> int:
    """Add what readers show beside the pages, and the author; return how many pages there are.

    Chromium makes an outline too, with the words of some headings twice.
    """
    from pypdf import PdfWriter
    from pypdf.generic import BooleanObject, DictionaryObject, Fit, NameObject

    writer = PdfWriter(path, incremental=True)
    above: list = [None]
    for depth, title, (number, top) in entries:
        del above[depth:]
        above += [above[-1]] * (depth - len(above))
        item = writer.add_outline_item(
            title=title, page_number=number - 1, parent=above[-1], fit=Fit.xyz(top=top), is_open=depth < 2
        )
        above.append(item)
    writer.add_metadata({"/Author": author})
    title = DictionaryObject({NameObject("/DisplayDocTitle"): BooleanObject(True)})
    writer.root_object[NameObject("/ViewerPreferences")] = title
    writer.root_object[NameObject("/PageMode")] = NameObject("/UseOutlines")
    outlined = path.with_suffix(".outlined")
    with outlined.open("wb") as file:
        writer.write(file)
    outlined.replace(path)
    return len(writer.pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
