"""The frame of a page of the book: a Sphinx extension with what stands around the text of chapters."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

from kanon_book.course.files import GUESS, exercises_of
from kanon_book.course.minutes import PRACTICE, READING, count, practice_minutes, reading_minutes
from kanon_book.course.order import Chapter, chapters
from kanon_book.pages import edition
from kanon_book.pages.charts import write_static
from kanon_book.pages.exercises import asset, html
from kanon_book.pages.glossary import CLOSED_CLASSES, GLOSSARY, GLOSSED, SOURCES, LinkTerms, Terms, anchor_of
from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.digits import local
from kanon_lab.show.page import VEGALITE_MIME

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

LOGGER = logging.getLogger(__name__)

#: Where the first page says how minutes are counted.
MINUTES_ANCHOR = "minutes"
#: The class of a section that is no reading: what is looked up.
LOOKED_UP = "kanon-lookup"
STYLE, SCRIPT = "kanon-frame.css", "kanon-frame.js"
TRACKS = ("practitioner", "complete")
_MOST_TERMS, _ROUNDED = 5, 5


@dataclass(frozen=True)
class About:
    """What is known of a chapter: its place, what it says of itself, and how many minutes it takes."""

    chapter: Chapter
    title: str
    track: str
    needs: tuple[str, ...]
    terms: tuple[str, ...]
    read: int
    practise: int
    #: Minutes of each of its sections, by anchor, and of each of its exercises, by name.
    pieces: dict[str, float]


class Foreign(SphinxRole):
    """Words of a source in its own language, emphasised; screen readers speak them as such."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        # docutils writes a class language-es as the attribute lang="es".
        return [nodes.emphasis(self.rawtext, self.text, classes=[f"language-{self.name}"])], []


class TitlesOfWorks(SphinxPostTransform):
    """Give the title of a work in the bibliography its language, where that is not the page's."""

    # Once the bibliography is written.
    default_priority = 700

    def run(self, **kwargs: Any) -> None:
        if "cite" not in self.env.domains:
            return
        works = {citation.citation_id: citation.entry.fields for citation in self.env.get_domain("cite").citations}
        for citation in self.document.findall(nodes.citation):
            work = works.get(citation["ids"][0], {})
            language = work.get("langid", "en")
            title = re.sub(r"[{}$]", "", work.get("title", "")).lower()
            for text in list(citation.findall(nodes.Text)) if language != self.config.language and title else []:
                at = text.lower().find(title)
                if at >= 0:
                    named = nodes.inline("", text[at : at + len(title)], classes=[f"language-{language}"])
                    text.parent.replace(text, [nodes.Text(text[:at]), named, nodes.Text(text[at + len(title) :])])


class course_time(nodes.Inline, nodes.Element):  # noqa: N801
    """Stands where the minutes of some chapters will."""


class Time(SphinxRole):
    """How long some chapters take together, by their names: {time}`what-identifies scenarios`.

    A chapter's section is named ``what-identifies#counting-keys``, one of its exercises ``what-identifies.keys``.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [course_time(chapters=self.text.split())], []


class course_map(nodes.General, nodes.Element):  # noqa: N801
    """Stands where the map of chapters will."""


class Map(SphinxDirective):
    """The chapters by part, with minutes, what each builds on and its track; above it the totals of both tracks."""

    def run(self) -> list[nodes.Node]:
        return [course_map()]


class course_hours(nodes.General, nodes.Element):  # noqa: N801
    """Stands where the hours of a track will."""


class Hours(SphinxDirective):
    """How many chapters and hours a track has, in words."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [course_hours(track=directives.choice(self.arguments[0], TRACKS))]


class Minutes(SphinxDirective):
    """The rule by which minutes are counted, in words."""

    def run(self) -> list[nodes.Node]:
        language = self.config.language
        rule = texts("page", language)["rule"].format(**READING, **PRACTICE)
        return [nodes.paragraph("", local(rule, language), translatable=False)]


def gather(app: Sphinx, env: BuildEnvironment) -> None:
    """Once all pages have been read: what is known of each chapter, by the name of its document."""
    toc = Path(app.srcdir, app.config.external_toc_path)
    env.kanon_about = {chapter.document: _about(env, chapter) for chapter in (chapters(toc) if toc.exists() else [])}
    names = [about.chapter.name for about in env.kanon_about.values()]
    for number, (document, about) in enumerate(env.kanon_about.items()):
        for name in about.needs:
            if name not in names[:number]:
                LOGGER.warning("needs: no chapter before this one is called %s", name, location=document)
        for name in [term for term in about.terms if term not in GLOSSED]:
            LOGGER.warning(
                "terms: %s is not a key of a term of the glossary in kanon_lab/terms.csv", name, location=document
            )
        if len(about.terms) > _MOST_TERMS:
            LOGGER.warning("terms: %s, at most %s", len(about.terms), _MOST_TERMS, location=document)
        if about.track not in TRACKS:
            LOGGER.warning("track: %s, must be one of %s", about.track, ", ".join(TRACKS), location=document)


def _about(env: BuildEnvironment, chapter: Chapter) -> About:
    metadata = env.metadata[chapter.document]
    document = env.get_doctree(chapter.document)
    asked = [node["attributes_of_tag"] for node in document.findall(html) if "kanon-exercise" in node["classes"]]
    tasks = [json.loads(attributes["data-exercise"]) for attributes in asked]

    def minutes(part: nodes.Element) -> float:
        return reading_minutes(count(part, lambda node: _inserted(env, node), CLOSED_CLASSES | {LOOKED_UP}))

    pieces: dict[str, float] = {
        f"{chapter.name}#{name}": minutes(part) for part in document.findall(nodes.section) for name in part["ids"]
    }
    pieces |= {task["key"]: practice_minutes([task["depth"]]) for task in tasks}
    return About(
        chapter,
        env.titles[chapter.document].astext(),
        metadata.get("track", TRACKS[-1]),
        _list(metadata.get("needs")),
        _list(metadata.get("terms")),
        _rounded(minutes(document)),
        _rounded(practice_minutes(task["depth"] for task in tasks)),
        pieces,
    )


def _list(text: Any) -> tuple[str, ...]:
    """A list of the front matter, which MyST gives as JSON."""
    return tuple(json.loads(text)) if text else ()


def _rounded(minutes: float) -> int:
    return _ROUNDED * max(1, round(minutes / _ROUNDED)) if minutes else 0


def _inserted(env: BuildEnvironment, node: nodes.Element) -> str:
    """What a notebook inserts in a page."""
    from myst_nb.ext.glue.crossref import read_glue_cache

    if node.get("inline") or node.get("gtype") == "text":
        return "word"
    data = read_glue_cache(env.mystnb_config.output_folder, node["refdoc"]).get(node["key"], {}).get("data", {})
    return "figure" if VEGALITE_MIME in data or any(kind.startswith("image/") for kind in data) else "table"


class Frame(SphinxPostTransform):
    """Insert the line under the title of each chapter, and the map."""

    # Before references are resolved, so that links of ours are.
    default_priority = 4

    def run(self, **kwargs: Any) -> None:
        self.words = texts("page", self.config.language)
        self.about: dict[str, About] = getattr(self.env, "kanon_about", {})
        for node in list(self.document.findall(course_map)):
            node.replace_self(nodes.raw("", self._map(), format="html"))
        for node in list(self.document.findall(course_hours)):
            node.replace_self(
                nodes.raw("", f'<p class="kanon-minutes">{self._total(node["track"])}.</p>', format="html")
            )
        for node in list(self.document.findall(course_time)):
            node.replace_self(nodes.inline("", self._time(node["chapters"]), classes=["kanon-minutes"]))
        if here := self.about.get(self.env.docname):
            title = next(self.document.findall(nodes.title))
            title.parent.insert(title.parent.index(title) + 1, self._line(here))

    def _uri(self, document: str, anchor: str = "") -> str:
        uri = self.app.builder.get_relative_uri(self.env.docname, document)
        return f"{uri}#{anchor}" if anchor else uri

    def _link(self, text: str, document: str, anchor: str = "") -> nodes.reference:
        return nodes.reference("", text, internal=True, refuri=self._uri(document, anchor))

    def _time(self, names: list[str]) -> str:
        read = {about.chapter.name: float(about.read) for about in self.about.values()}
        practise = {about.chapter.name: float(about.practise) for about in self.about.values()}
        for name, minutes in [piece for about in self.about.values() for piece in about.pieces.items()]:
            (read if "#" in name else practise)[name] = minutes
        if missing := [name for name in names if name not in read and name not in practise]:
            LOGGER.warning("time: no chapter, section or exercise is called %s", missing[0], location=self.env.docname)
        times = {
            word: _rounded(sum(known.get(name, 0) for name in names))
            for word, known in (("read", read), ("practise", practise))
        }
        return ", ".join(self.words[word].format(minutes=minutes) for word, minutes in times.items() if minutes)

    def _line(self, here: About) -> nodes.container:
        """Where one is, how long it takes, what it builds on and brings, and what comes before and after."""
        words, order = self.words, [*self.about]
        by_name = {about.chapter.name: about for about in self.about.values()}
        place = here.chapter
        times = [words["read"].format(minutes=here.read)]
        times += [words["practise"].format(minutes=here.practise)] if here.practise else []
        first = nodes.paragraph("", words["where"].format(**vars(place)))
        first += [
            nodes.Text(f" · {', '.join(times)} ("),
            self._link(words["how"], self.config.root_doc, MINUTES_ANCHOR),
        ]
        first += nodes.Text(f") · {words[here.track]}")
        needs = [
            self._link(by_name[name].title, by_name[name].chapter.document) for name in here.needs if name in by_name
        ]
        terms = [
            self._link(GLOSSED[name].name(self.config.language), GLOSSARY, anchor_of(name))
            for name in here.terms
            if name in GLOSSED
        ]
        at = order.index(place.document)
        around = {"before": order[at - 1 : at] if at else [], "after": order[at + 1 : at + 2]}
        beside = {name: [self._link(self.about[page].title, page) for page in there] for name, there in around.items()}
        rest = [self._listed({"needs": needs}), self._listed({"terms": terms}), self._listed(beside)]
        return nodes.container("", first, *(part for part in rest if part.children), classes=["kanon-line"])

    def _listed(self, links: dict[str, list[nodes.reference]]) -> nodes.paragraph:
        """Lists of links, each behind its word; an empty one is left out."""
        paragraph = nodes.paragraph()
        for name, listed in links.items():
            for number, link in enumerate(listed):
                start = ", " if number else f"{' · ' if paragraph.children else ''}{self.words[name]}: "
                paragraph += [nodes.Text(start), link]
        return paragraph

    def _map(self) -> str:
        by_name = {about.chapter.name: about for about in self.about.values()}
        parts = dict.fromkeys(about.chapter.part for about in by_name.values())
        heads = [self.words[f"map_{name}"] for name in ("chapter", "read", "practise", "needs", "done")]
        head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
        folded = []
        for part in parts:
            inside = [about for about in by_name.values() if about.chapter.part == part]
            rows = "".join(self._row(about, by_name) for about in inside)
            minutes = escape(self._time([about.chapter.name for about in inside]))
            summary = f'<summary>{escape(part)} <small class="kanon-track kanon-minutes">{minutes}</small></summary>'
            region = f'class="kanon-map" tabindex="0" role="region" aria-label="{escape(part)}"'
            table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            folded.append(f'<details class="kanon-part">{summary}<div {region}>{table}</div></details>')
        totals = "".join(f"<li>{self._total(track)}</li>" for track in TRACKS)
        return f'<ul class="kanon-totals">{totals}</ul>{"".join(folded)}<div class="kanon-progress"></div>'

    def _row(self, about: About, by_name: dict[str, About]) -> str:
        def link(other: About, text: str, extra: str = "") -> str:
            return f'<a href="{escape(self._uri(other.chapter.document))}"{extra}>{escape(text)}</a>'

        named = sorted(
            (by_name[name] for name in about.needs if name in by_name), key=lambda other: other.chapter.number
        )
        needs = ", ".join(link(other, str(other.chapter.number), f' title="{escape(other.title)}"') for other in named)
        cells = [about.read, about.practise or "", needs]
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        title = f"{about.chapter.number}. {link(about, about.title)}"
        if about.track != TRACKS[0]:
            title += f' <small class="kanon-track">{escape(self.words["map_complete"])}</small>'
        name = about.chapter.name
        asked = sum(count for depth, count in exercises_of(name).items() if depth != GUESS)
        done = f'<td class="kanon-progress" data-chapter="{name}" data-exercises="{asked}"></td>'
        return f'<tr class="kanon-{about.track}"><th scope="row">{title}</th>{row}{done}</tr>'

    def _total(self, track: str) -> str:
        """A track's chapters and hours, in words; those of practitioners are in both."""
        inside = [about for about in self.about.values() if track == TRACKS[-1] or about.track == track]
        hours = {name: round(sum(getattr(about, name) for about in inside) / 60) for name in ("read", "practise")}
        text = self.words[f"total_{track}"].format(chapters=len(inside), **hours)
        before, strong, after = escape(text).split("**")
        return f"{before}<strong>{strong}</strong>{after}"


def write_assets(app: Sphinx) -> None:
    """Write them before any page is made: Sphinx puts a checksum of them into the pages."""
    write_static(app, {STYLE: lambda: asset("frame.css"), SCRIPT: lambda: asset("frame.js")})


def add_assets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The style sheet everywhere, the script where there are terms."""
    app.add_css_file(STYLE)
    if 'class="kanon-term"' in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_book.pages.frame`` in ``_config.yml``)."""
    for language in SOURCES:
        app.add_role(language, Foreign())
    app.add_role("time", Time())
    app.add_node(course_map)
    app.add_node(course_hours)
    app.add_node(course_time)
    app.add_directive("hours", Hours)
    app.add_directive("map", Map)
    app.add_directive("minutes", Minutes)
    app.add_directive("terms", Terms)
    app.add_post_transform(Frame)
    app.add_post_transform(LinkTerms)
    app.add_post_transform(TitlesOfWorks)
    app.connect("config-inited", edition.add_edition)
    app.connect("config-inited", edition.add_address)
    app.connect("html-collect-pages", edition.absent_page)
    app.connect("html-page-context", edition.add_metadata)
    app.connect("build-finished", edition.write_published)
    app.connect("builder-inited", write_assets)
    app.connect("env-updated", gather)
    app.connect("html-page-context", add_assets)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
