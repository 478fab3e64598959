"""Exercises in the page: a Sphinx extension with the directives ``{exercises}``, ``{review}`` and ``{predict}``.

Everything stands in the page as text, hints and solutions folded, and course.js checks answers. The numbers that it
needs are what the notebook ``exercises`` computed, and only they stand in attributes: texts can be translated.
"""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from kanon_book.course.files import GUESS, LETTERS, Exercise, find_exercises, numbers
from kanon_book.course.learner import workbook
from kanon_book.course.solving import Solved
from kanon_book.pages.charts import write_static
from kanon_book.words import texts
from kanon_lab import __version__
from kanon_lab.digits import local
from kanon_lab.notebooks import recorded
from kanon_lab.show.page import embedded_json

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SCRIPT, STYLE = "kanon-course.js", "kanon-course.css"
NOTEBOOK = "exercises.ipynb"
# One of these stands in a page that needs the script.
_MARKS = ('class="kanon-exercise', 'class="kanon-progress', "data-chapter=")


#: Pages that show by code how exercises and the project are solved.
SOLVING = ("notebooks/exercises", "notebooks/project")
_PYTHON = re.compile(r"\b(?:Python|notebook)\b")
# What the script may know of an exercise that it does not judge.
_ASKED = ("key", "choice", "depth", "unit")


def _words(language: str) -> dict[str, str]:
    return texts("exercise", language)


class html(nodes.General, nodes.Element):  # noqa: N801 - nodes are named so
    """An element of HTML; elsewhere what is in it stands alone."""


def element(tag: str, attributes: dict[str, Any] | None = None, *children: nodes.Node | str) -> html:
    """A node of a tag, its attributes by name, and what is in it."""
    # The classes too, by which other extensions know it.
    attributes = attributes or {}
    node = html("", tag=tag, attributes_of_tag=attributes, classes=attributes.get("class", "").split())
    node += [nodes.Text(child) if isinstance(child, str) else child for child in children]
    return node


def _open(writer: Any, node: html) -> None:
    attributes = (f' {name}="{escape(str(value))}"' for name, value in node["attributes_of_tag"].items())
    writer.body.append(f"<{node['tag']}{''.join(attributes)}>")


def _close(writer: Any, node: html) -> None:
    if node["tag"] != "input":
        writer.body.append(f"</{node['tag']}>")


def _pass(writer: Any, node: html) -> None:
    pass


@cache
def _recorded(path: Path, changed: int) -> dict[str, Any]:
    return recorded(path) if changed else {}


def solved_of(folder: str | Path, chapter: str) -> list[Solved] | None:
    """The exercises of a chapter as the notebook in a folder solved them; None where it has not."""
    path = Path(folder) / NOTEBOOK
    solved = _recorded(path, path.stat().st_mtime_ns if path.is_file() else 0).get(chapter)
    return None if solved is None else [Solved(**fields) for fields in solved]


class Tasks(SphinxDirective):
    """What the three directives share."""

    @property
    def words(self) -> dict[str, str]:
        return _words(self.config.language)

    def solved(self, chapter: str) -> list[Solved]:
        """The exercises of a chapter."""
        if chapter not in find_exercises():
            raise self.error(f"there are no exercises of {chapter}: write book/exercises/{chapter}.yml")
        self.env.note_dependency(str(self.env.srcdir / Path(self.config.kanon_executed) / NOTEBOOK))
        if (exercises := solved_of(self.env.srcdir / Path(self.config.kanon_executed), chapter)) is None:
            raise self.error(f"{NOTEBOOK} holds no exercises of {chapter}: run it again (make book)")
        return exercises

    def named(self, key: str) -> Solved:
        """An exercise by chapter and id."""
        chapter, _, name = key.rpartition(".")
        solved = self.solved(chapter)
        match = next((candidate for candidate in solved if candidate.id == name), None)
        if match is None:
            raise self.error(f"no exercise {key}; {chapter} has {', '.join(candidate.id for candidate in solved)}")
        return match

    def inline(self, text: str, name: str = "") -> html:
        """A text of one line, which can be translated."""
        text = " ".join(text.split())
        node = nodes.inline(text, "", *self.parse_inline(text)[0], translatable=True)
        self.set_source_info(node)
        return element(
            "span", {"class": name} if name else {}, node
        )  # Sphinx puts what can be translated at the end of what it is in

    def form(self, key: str, solved: Solved, *, again: bool = False) -> html:
        """An exercise as a form; `again` where it is one of an earlier chapter."""
        number = numbers(key.partition(".")[0])[solved.id]
        called = element("span", {"class": "kanon-number"}, self.words["exercise"].format(number=number))
        depth = element("span", {"class": "kanon-depth"}, self.words[solved.depth])
        legend = element("legend", {}, called, " ", self.inline(solved.title), " ", depth)
        asked = self.choices(solved) if solved.options else [self.field(solved, "answer_field")]
        check = element("button", {"type": "submit"}, self.words["check"])
        parts = [legend, self.statement(solved), *self.cell(solved), *asked]
        parts += [element("p", {"class": "kanon-actions"}, check), self.reply(), *self.hints(solved)]
        parts.append(self.solution(solved))
        name = f"{'review' if again else 'exercise'}-{key.replace('.', '-')}"
        attributes = {"class": "kanon-exercise", "id": name, "data-exercise": _task(key, solved)}
        return element("form", attributes, element("fieldset", {}, *parts))

    def statement(self, solved: Solved) -> html:
        return element("div", {"class": "kanon-statement"}, *self.parse_text_to_nodes(solved.statement))

    def hints(self, solved: Solved) -> list[html]:
        return [
            element(
                "details",
                {"class": "kanon-hint"},
                element("summary", {}, self.words["hint"].format(place=place, count=len(solved.hints))),
                *self.parse_text_to_nodes(text),
            )
            for place, text in enumerate(solved.hints, start=1)
        ]

    def cell(self, solved: Solved) -> list[html]:
        """What is given, as a cell to copy, where the question or a hint speaks of Python or of the notebook."""
        if not shows_cell(solved):
            return []
        code = solved.given.strip()
        block = nodes.literal_block(code, code, language="python")
        return [element("details", {"class": "kanon-given"}, element("summary", {}, self.words["given"]), block)]

    def reply(self) -> html:
        """The place where a screen reader hears what is said of an answer."""
        return element("div", {"class": "kanon-said", "role": "status"})

    def field(self, solved: Solved, label: str) -> html:
        entry = {"type": "text", "inputmode": "decimal", "autocomplete": "off", "size": "12", "name": "answer"}
        return element(
            "p",
            {"class": "kanon-answer"},
            element("label", {}, f"{self.words[label]} ", element("input", entry), *self.unit(solved)),
        )

    def unit(self, solved: Solved) -> list[nodes.Node]:
        return [nodes.Text(" "), self.inline(solved.unit, "kanon-unit")] if solved.unit else []

    def choices(self, solved: Solved) -> list[html]:
        labels = []
        for letter, option in zip(LETTERS, solved.options, strict=False):
            entry = element("input", {"type": "radio", "name": "answer", "value": letter})
            words = element("span", {}, f"{letter}) ", self.inline(option["text"]))
            labels.append(element("label", {"class": "kanon-option"}, entry, " ", words))
        return labels

    def solution(self, solved: Solved, summary: str = "solution") -> html:
        """The answer, in words and by code, and what is said of every other one."""
        parts = [element("summary", {}, self.words[summary])]
        if solved.options:
            reasons = [self.reason(f"{letter})", entry) for letter, entry in zip(LETTERS, solved.options, strict=False)]
            parts.append(element("ul", {"class": "kanon-reasons"}, *reasons))
        else:
            shown = [local(solved.shown, self.config.language), *self.unit(solved)]
            parts.append(element("p", {}, element("strong", {"class": "kanon-shown"}, *shown)))
        parts.append(element("div", {"class": "kanon-explained"}, *self.parse_text_to_nodes(solved.explain)))
        if solved.solution.strip():
            code = f"{solved.given.strip()}\n{solved.solution.strip()}".strip()
            parts.append(nodes.literal_block(code, code, language="python"))
        if solved.wrong:
            parts.append(element("p", {}, self.words["others"]))
            reasons = [self.reason(f"{local(wrong['shown'], self.config.language)}:", wrong) for wrong in solved.wrong]
            parts.append(element("ul", {"class": "kanon-reasons"}, *reasons))
        return element("details", {"class": "kanon-solution"}, *parts)

    def reason(self, name: str, entry: dict[str, Any]) -> html:
        says = element("div", {"class": "kanon-says"}, *self.parse_text_to_nodes(entry["says"]))
        return element("li", {}, element("span", {"class": "kanon-number"}, name), says)


def shows_cell(exercise: Exercise | Solved) -> bool:
    """Whether the page shows the Python that is given: where the question or a hint speaks of it or of the notebook."""
    return bool(exercise.given.strip() and _PYTHON.search("\n".join([exercise.statement or "", *exercise.hints])))


def _task(key: str, solved: Solved) -> str:
    """What the script needs of an exercise, as JSON."""
    names = ("depth", "answer", "low", "high", "unit")
    wrong = [{name: answer[name] for name in ("answer", "low", "high")} for answer in solved.wrong]
    task = {"key": key, "choice": bool(solved.options), "wrong": wrong}
    return json.dumps(task | {name: getattr(solved, name) for name in names})


class Exercises(Tasks):
    """All exercises of the chapter, how many are solved, and the notebook with them."""

    def run(self) -> list[nodes.Node]:
        chapter = Path(self.env.docname).name
        asked = [exercise for exercise in self.solved(chapter) if exercise.depth != GUESS]
        up = "../" * self.env.docname.count("/")
        link = element("a", {"href": f"{up}exercises/{chapter}.ipynb", "download": ""}, self.words["notebook_link"])
        count = element("span", {"data-chapter": chapter, "data-exercises": len(asked)})
        bar = element("p", {"class": "kanon-bar"}, count, f" {self.words['notebook']} ", link, ".")
        rule = element("p", {"class": "kanon-bar"}, self.words["rounding"])
        return [bar, rule, *(self.form(f"{chapter}.{exercise.id}", exercise) for exercise in asked)]


class Review(Tasks):
    """Exercises of earlier chapters, named by chapter and id."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        forms = []
        for key in self.arguments[0].split():
            solved, chapter = self.named(key), key.rpartition(".")[0]
            line = self.parse_text_to_nodes(self.words["from"].format(chapter=f"{{doc}}`/book/{chapter}`"))
            for node in line:
                node["translatable"] = False  # it is in the language of the page
            forms += line
            forms.append(self.form(key, solved, again=True))
        return forms


class Predict(Tasks):
    """A guess that is asked for before what is inside is shown."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        inside = self.parse_content_to_nodes()
        key = f"{Path(self.env.docname).name}.{self.arguments[0]}"
        solved = self.named(key)
        legend = element(
            "legend",
            {},
            element("span", {"class": "kanon-number"}, self.words["guess"]),
            " ",
            self.inline(solved.title),
        )
        buttons = element(
            "p",
            {"class": "kanon-actions"},
            element("button", {"type": "submit"}, self.words["compare"]),
            " ",
            element("button", {"type": "button", "class": "kanon-reveal"}, self.words["skip"]),
        )
        field = self.field(solved, "guess_field")
        parts = [legend, self.statement(solved), field, buttons, self.reply(), *self.hints(solved)]
        parts.append(self.solution(solved, "guess_answer"))
        name = f"guess-{key.replace('.', '-')}"
        attributes = {"class": "kanon-exercise kanon-guess", "id": name, "data-exercise": _task(key, solved)}
        shown = element("div", {"class": "kanon-guessed", "data-guess": name}, *inside)
        return [element("form", attributes, element("fieldset", {}, *parts)), shown]


class WithoutSolutions(SphinxPostTransform):
    """In an edition without solutions (``kanon_solutions: false``): take out what answers an exercise or the project.

    Guesses keep their answer, which the text after them gives anyway. Forms keep answers without judging them.
    """

    # Before links are resolved.
    default_priority = 3

    def run(self, **kwargs: Any) -> None:
        if self.config.kanon_solutions:
            return
        for form in list(self.document.findall(lambda node: isinstance(node, html) and node["tag"] == "form")):
            if "kanon-guess" not in form["classes"]:
                self.blank(form)
        for bar in list(self.document.findall(lambda node: isinstance(node, html) and "kanon-bar" in node["classes"])):
            bar.children[1:] = []  # the link to a notebook whose functions give solutions
        if self.env.docname in SOLVING:
            section = next(self.document.findall(nodes.section))
            section.children[1:] = []
            section += nodes.paragraph("", _words(self.config.language)["left_out"], translatable=False)
        for box in list(self.document.findall(nodes.admonition)):
            if "kanon-model" in box["classes"]:
                box.children[1:] = [nodes.paragraph("", _words(self.config.language)["left_out"], translatable=False)]

    def blank(self, form: html) -> None:
        attributes = form["attributes_of_tag"]
        task = {key: value for key, value in json.loads(attributes["data-exercise"]).items() if key in _ASKED}
        form["attributes_of_tag"] = attributes | {"data-exercise": json.dumps(task | {"wrong": []})}
        for node in list(form.findall(html)):
            if "kanon-solution" in node["classes"]:
                node.parent.remove(node)
            elif node["tag"] == "button":
                node.children = [nodes.Text(_words(self.config.language)["keep"])]


def asset(name: str) -> str:
    """The text of a script or style sheet of the course."""
    return (files(__package__) / name).read_text("utf-8")


def script(language: str = "en") -> str:
    """JavaScript that checks the answers of a page, with the words it says."""
    return f"(() => {{\nconst SAID = {embedded_json(_words(language))};\n{asset('course.js')}}})();\n"


def write_assets(app: Sphinx) -> None:
    """Write script and style before any page is made: Sphinx puts a checksum of them into the pages."""
    write_static(app, {SCRIPT: lambda: script(app.config.language), STYLE: lambda: asset("course.css")})


def add_assets(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Load them only where there is something for them to do."""
    if any(mark in context.get("body", "") for mark in _MARKS):
        app.add_css_file(STYLE)
        app.add_js_file(SCRIPT, loading_method="defer")


def write_workbooks(app: Sphinx, error: Exception | None) -> None:
    """Put the notebooks for learners beside the pages."""
    if error is None and app.builder.format == "html" and app.config.kanon_solutions:
        folder = Path(app.outdir) / "exercises"
        folder.mkdir(exist_ok=True)
        for chapter in find_exercises():
            if solved := solved_of(app.srcdir / Path(app.config.kanon_executed), chapter):
                text = workbook(chapter, solved, app.config.language)
                (folder / f"{chapter}.ipynb").write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx (``kanon_book.pages.exercises`` in ``_config.yml``)."""
    app.add_node(html, html=(_open, _close), **dict.fromkeys(("latex", "text", "man", "texinfo"), (_pass, _pass)))
    for name, directive in (("exercises", Exercises), ("review", Review), ("predict", Predict)):
        app.add_directive(name, directive)
    # The folder with the executed notebooks: where the notebook stands that solved the exercises.
    app.add_config_value("kanon_executed", "notebooks", "")
    # Without them the edition is one to hand out; only what is written changes, nothing is read again.
    app.add_config_value("kanon_solutions", True, "html")
    app.add_post_transform(WithoutSolutions)
    app.connect("builder-inited", write_assets)
    app.connect("html-page-context", add_assets)
    app.connect("build-finished", write_workbooks)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
