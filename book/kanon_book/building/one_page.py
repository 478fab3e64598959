"""The pages of the built book as one page: articles in the order of the table of contents, as paper has them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlparse

from bs4 import BeautifulSoup, Tag

from kanon_book.building.stamps import HTML
from kanon_book.course.order import chapters
from kanon_book.pages.edition import address
from kanon_book.places import TOC
from kanon_book.words import texts

FOLDERS = {"en": HTML, "es": HTML / "es"}
STYLE = Path(__file__).with_name("print.css")
#: What is of use on a screen only, and the reference of functions, which would be half of the book.
LEFT_OUT = {"api", "notebooks", "your-file"}
#: The hints and worked solutions of this chapter stand in folded boxes.
PROJECT = "project"
SHARED = re.compile(r"pygments\.css|mathjax/startup\.js|kanon-charts\.js")
FONTS = {"Serif": "font_source_serif_pro/files/SourceSerifPro", "Sans": "font_source_sans_pro/files/SourceSansPro"}
FACES = {"Regular": (400, "normal"), "It": (400, "italic"), "Bold": (700, "normal"), "BoldIt": (700, "italic")}


class Edition:
    """The pages of a language on their way to one page; `only` are the names of the chapters that are wanted."""

    def __init__(self, language: str, only: set[str] | None = None) -> None:
        self.folder = FOLDERS[language]
        self.language, self.words = language, texts("page", language)
        first = self._read("preface")
        self.title = first.select_one("article h1").get_text().rstrip("#")
        self.footer = [
            " ".join(paragraph.get_text().split())
            for paragraph in first.select("footer.bd-footer-content p:not(.component-author)")
        ]
        self.parts: list[tuple[str, list[str]]] = [("", [])]
        for entry in first.select("nav.bd-docs-nav p.caption, nav.bd-docs-nav li.toctree-l1 > a"):
            name = Path(urlparse(entry["href"]).path).stem if entry.name == "a" else ""
            name = name or ("preface" if entry.name == "a" else "")
            if entry.name == "p":
                self.parts.append((entry.get_text(strip=True), []))
            elif name not in LEFT_OUT and (not only or name in only):
                self.parts[-1][1].append(name)
        self.parts = [part for part in self.parts if part[1]]
        self.numbers = {chapter.name: chapter.number for chapter in chapters(TOC)}
        self.inside = {name for _, names in self.parts for name in names}
        self.head: dict[str, Tag] = {}
        self.answers: list[tuple[str, list[Tag]]] = []

    def _read(self, name: str) -> BeautifulSoup:
        return BeautifulSoup((self.folder / "book" / f"{name}.html").read_text("utf-8"), "html.parser")

    def place(self, name: str) -> str:
        """Where a page stands: where the book is published, else in its folder."""
        start = address(self.language) or ("" if self.folder == HTML else f"{self.folder.name}/")
        return f"{start}book/{name}.html"

    def whole(self) -> str:
        """The page that is printed."""
        self.soup = BeautifulSoup("", "html.parser")
        body, rules = self.soup.new_tag("main"), []
        for place, (caption, names) in enumerate(self.parts):
            for name in names:
                article = self.article(name)
                if caption and name == names[0]:
                    article.insert(0, self.tag("h1", caption, id=f"part-{place}"))
                body.append(article)
                rules.append(running_heads(name, caption, article.h2["data-title"]))
        if answers := self.all_answers():
            body.append(answers)
            rules.append(running_heads("answers", "", self.words["print_answers"]))
        start = f"{self.title_page()}{self.contents(body)}"
        faces = "".join(
            f'@font-face{{font-family:"Book {family}";src:url("{font}");font-weight:{weight};font-style:{style}}}\n'
            for family, stem in FONTS.items()
            for face, (weight, style) in FACES.items()
            if (font := font_file(f"{stem}-{face}.ttf"))
        )
        style = f"<style>{faces}{STYLE.read_text('utf-8')}{''.join(rules)}</style>"
        return (
            f'<!DOCTYPE html><html lang="{self.language}"><head><meta charset="utf-8"><title>{self.title}</title>'
            f"{''.join(map(str, self.head.values()))}{style}</head><body>{start}{body}</body></html>"
        )

    def tag(self, name: str, text: str = "", **attributes: str) -> Tag:
        element = self.soup.new_tag(name, attrs={key.rstrip("_"): value for key, value in attributes.items()})
        if text:
            element.string = text
        return element

    def article(self, name: str) -> Tag:
        """The text of a page, its headings one level lower, as paper has it."""
        page = self._read(name)
        self.take_shared(page, name)
        article = page.select_one("article.bd-article")
        article.attrs = {"class": "print-chapter", "id": name, "style": f"page: {name}"}
        article.h1["data-title"] = article.h1.get_text().rstrip("#")
        for extra in article.select(".headerlink, .prev-next-area, details.kanon-data, .kanon-progress, .kanon-bar"):
            extra.decompose()
        for part in article.select("details.kanon-part"):
            part["open"] = ""
        for line in article.select(".kanon-line p:last-of-type"):
            line.decompose()
        for extra in article.select(".kanon-figure"):
            extra.noscript.decompose()
            if '"bind":' in extra.select_one(".kanon-spec").string:
                note = self.words["print_live"].format(page=self.place(name))
                extra.append(self.tag("figcaption", note, class_="print-live"))
        for extra in article.select(".math"):
            extra.attrs |= {"role": "img", "aria-label": extra.get_text().strip("\\()[] \n")}
        for extra in article.select("code .pre"):
            extra.unwrap()
        for extra in article.select(".kanon-list noscript"):
            extra.p.string = self.words["print_list"].format(page=self.place(name))
            extra.unwrap()
        for level in range(5, 0, -1):
            for heading in article.find_all(f"h{level}"):
                heading.name = f"h{level + 1}"
        if name in self.numbers:
            article.h2.insert(0, self.tag("span", f"{self.numbers[name]} ", class_="print-number"))
        self.own_names(article, name)
        self.take_answers(article, name)
        return article

    def take_shared(self, page: BeautifulSoup, name: str) -> None:
        """Keep what draws charts and sets formulas, once for all pages."""
        address = (self.folder / "book" / f"{name}.html").as_uri()
        for asset in page.select("link[rel=stylesheet], script"):
            where = "href" if asset.name == "link" else "src"
            if SHARED.search(asset.get(where, "")):
                asset[where] = urldefrag(urljoin(address, asset[where]))[0].partition("?")[0]
                self.head.setdefault(asset[where], asset)
            elif (asset.string or "").startswith("window.MathJax"):
                self.head = {"": asset} | self.head
        for asset in page.select("article img"):
            asset["src"] = urljoin(address, asset["src"])

    def own_names(self, article: Tag, name: str) -> None:
        """Make anchors those of the whole book; a link to what is not in it is its text."""
        for named in article.select("[id]"):
            if named is not article:
                named["id"] = f"{name}--{named['id']}"
        anchors = set()
        for named in article.select("a[href]"):
            address, anchor = urldefrag(named["href"])
            if urlparse(address).scheme:
                continue
            path = Path(address)
            there = path.stem if address else name
            if there not in self.inside or path.parent.name in ("notebooks", "api", "exercises"):
                named.name = "span"
                del named["href"]
                continue
            named["href"] = f"#{there}--{anchor}" if anchor else f"#{there}"
            to_chapter = named.select_one("span.doc, span.std-ref") and not named.find_parent(class_="kanon-line")
            if to_chapter and there != name and named["href"] not in anchors:
                anchors.add(named["href"])
                named.insert_after(*self.page_number(named["href"], " (", ")"))

    def page_number(self, href: str, before: str = "", after: str = "") -> tuple[str, Tag, str]:
        number = self.tag("span", "000", data_page=href[1:])
        number["data-page"] = number.attrs.pop("data_page")
        return (f"{before}{self.words['print_page']} ", number, after)

    def take_answers(self, article: Tag, name: str) -> None:
        """Move what answers a question to the end of the book, and say there and here where the other stands."""
        notes = []
        for form in article.select(".kanon-exercise"):
            hints, solution = form.select(".kanon-hint"), form.select_one(".kanon-solution").extract()
            key = form["id"].removeprefix(f"{name}--").partition("-")[2]
            form.name, form.attrs = "div", {"class": form["class"], "id": form["id"]}
            for control in [*hints, *form.select(".kanon-actions, .kanon-said")]:
                control.extract()
            form.fieldset.append(self.tag("p", class_="print-where"))
            form.fieldset.find_all("p")[-1].extend(self.link(f"answer-{key}", self.words["print_answer"]))
            if form["id"].startswith(f"{name}--review-"):
                continue
            title = self.tag("h4", id=f"answer-{key}")
            title.extend(list(BeautifulSoup(str(form.legend), "html.parser").legend.children))
            for depth in title.select(".kanon-depth"):
                depth.decompose()
            title.extend([" ", *self.link(form["id"], self.words["print_asked"])])
            notes.append(self.opened(title, *hints, solution))
        for number, box in enumerate(article.select(".dropdown.admonition")):
            heading = box.select_one(".admonition-title")
            if name != PROJECT and not heading.get_text().strip().endswith("?"):
                continue
            key = f"{name}-box-{number}"
            here = self.tag("div", class_="admonition print-box", id=f"{name}--box-{number}")
            here.append(self.tag("p", heading.get_text(), class_="admonition-title"))
            here.append(self.tag("p", class_="print-where"))
            here.find_all("p")[-1].extend(self.link(f"answer-{key}", self.words["print_answer"]))
            box.replace_with(here)
            title = self.tag("h4", heading.extract().get_text(), id=f"answer-{key}")
            title.extend([" ", *self.link(here["id"], self.words["print_asked"])])
            notes.append(self.opened(title, box))
        if notes:
            self.answers.append((article.h2["data-title"], notes))

    def link(self, anchor: str, words: str) -> list[Tag]:
        link = self.tag("a", href=f"#{anchor}", class_="print-where")
        link.extend([f"{words} ", *self.page_number(f"#{anchor}")])
        return [link]

    def opened(self, title: Tag, *folded: Tag) -> Tag:
        """An answer under its title, unfolded; a summary becomes the beginning of a line."""
        section = self.tag("section", class_="print-answer")
        section.append(title)
        for box in folded:
            box.name = "div"
            if box.summary and "kanon-solution" in box.get("class", []):
                box.summary.decompose()
            elif box.summary:
                box.summary.name = "strong"
            section.append(box)
        return section

    def all_answers(self) -> Tag | None:
        if not self.answers:
            return None
        section = self.tag("section", class_="print-chapter", id="answers", style="page: answers")
        section.append(self.tag("h1", self.words["print_answers"], id="part-answers"))
        for place, (title, answers) in enumerate(self.answers):
            section.append(self.tag("h3", title, id=f"answers-{place}"))
            section.extend(answers)
        return section

    def title_page(self) -> str:
        lines = "".join(f"<p>{line}</p>" for line in self.footer if line)
        subtitle, author = self.words["print_subtitle"], self.words["print_authors"]
        return (
            f'<section class="print-title"><p class="print-name">{self.title}</p>'
            f'<p class="print-subtitle">{subtitle}</p><p class="print-author">{author}</p>'
            f'<div class="print-edition">{lines}</div></section>'
        )

    def contents(self, body: Tag) -> str:
        section = self.tag("nav", class_="print-contents", id="contents")
        section.append(self.tag("h1", self.words["print_contents"]))
        for heading in body.select("h1, h2, article h3"):
            anchor = heading.get("id") or heading.find_parent(id=True)["id"]
            link = self.tag("a", href=f"#{anchor}", class_=f"print-{heading.name}")
            link.append(self.tag("span", heading.get_text()))
            link.append(self.page_number(f"#{anchor}")[1])
            section.append(link)
        return str(section)


def font_file(path: str) -> str:
    """The address of a font of an installed package, which is not imported; none where it is not installed."""
    package, _, rest = path.partition("/")
    spec = find_spec(package)
    return (Path(spec.origin).parent / rest).as_uri() if spec else ""


def running_heads(name: str, left: str, right: str) -> str:
    """The heads of the pages of a chapter."""
    quoted = [text.replace("\\", "").replace('"', "\\22 ") for text in (left, right)]
    return f'@page {name} {{ @top-left {{ content: "{quoted[0]}" }} @top-right {{ content: "{quoted[1]}" }} }}\n'
