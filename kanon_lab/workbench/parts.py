"""Parts of the page: its words, buttons that never show a traceback, sections as widgets, bars of categories."""

from __future__ import annotations

import re
import webbrowser
from collections.abc import Callable, Iterable
from functools import wraps
from html import escape
from importlib.resources import files
from typing import Any

import ipywidgets as widgets

from kanon_lab.errors import visible
from kanon_lab.measures.registry import LIMITS
from kanon_lab.recipes.notes import mostly_hidden
from kanon_lab.recipes.steps import STEPS
from kanon_lab.report.measured import Release, advice_on, limit_title
from kanon_lab.report.words import Words
from kanon_lab.show.book_pages import chapter_of, page_of
from kanon_lab.show.forms import WIDE as WIDE
from kanon_lab.show.forms import FormWords
from kanon_lab.show.page import Figure, sections_style
from kanon_lab.show.parts import Part, Section
from kanon_lab.terms import TERMS, Note, Term, wordings
from kanon_lab.workbench.background import in_a_line
from kanon_lab.workbench.drafts import CHOICES

# Steps, roles, limits and the setting of k in messages; a usual word is one of them only where it stands as a name.
_CALLED = "|".join(sorted({*STEPS, *LIMITS, *CHOICES, "k_required"} - {""}, key=len)[::-1])
_NAMED = re.compile(
    rf"(?P<lead>\b(?:step|paso) (?:\d+ \()?|\b(?:[Aa]pply|[Aa]plique) |`)?(?<!{{)\b(?P<name>{_CALLED})\b"
    r"(?:: \{(?P<values>[^}]*)\})?`?"
)
_PAIR = re.compile(r"(\w+): ([^,]+)")
# What a message says to those who write commands or Python.
_OF_CODE = re.compile(r" \((?:--|(?:None )?in Python)[^)]*\)|, None in Python")


class Speech(Words, FormWords):
    """The words of a language: "en" or "es"."""

    def say(self, key: str, /, **parts: Any) -> str:
        """A wording of the workbench with its parts put in or, where it has none of that key, of reports."""
        text = super().say(key, **parts)
        return text if key in wordings("workbench") else self.message(text)

    def wording(self, key: str) -> str:
        """A wording, with places for its parts."""
        own = wordings("workbench").get(key)
        return own[self.language] if own else super().wording(key)

    def setting(self, name: str) -> str:
        """What a setting is called: by a word of its own, or as recipes call it."""
        return self.say(f"set_{name}") if f"set_{name}" in wordings("workbench") else name

    def note(self, note: str) -> str:
        """A note in the language, for those who click."""
        return self.message(super().note(note)) if isinstance(note, Note) else note

    def fault(self, line: str) -> str:
        """A line on what is wrong as HTML, for those who click."""
        return super().fault(self.message(line))

    def message(self, text: str) -> str:
        """The same with steps, roles, limits and settings by what the page calls them, and where it has them."""
        return _NAMED.sub(self._named, _OF_CODE.sub("", text))

    def _named(self, match: re.Match[str]) -> str:
        lead, name, values = match["lead"] or "", match["name"], match["values"]
        if not (lead or values or "_" in name):
            return match[0]
        if name in STEPS:
            place, title = "protect", self.step(name)
        elif name in LIMITS:
            place, title = "risk", LIMITS[name].limit_called(self.language, variable="…", level="…")
        else:
            place, title = ("variables", self.say(f"choice_{name}")) if name in CHOICES else ("", self.setting(name))
        title, place = title.partition(":")[0], place and self.say(f"place_{place}")
        if values:  # a step as a recipe has it
            place += "; " + ", ".join(
                f"{self.setting(key)}: {self._value(key, value)}" for key, value in _PAIR.findall(values)
            )
        where = f" ({place})" if place and not lead.endswith("(") else ""
        return f"{lead.strip('`')}{self.say('quoted', title=title)}{where}"

    def terms(self, keys: str) -> Any:
        """Terms, each with its sentence where one points at it or opens it, and the chapter that explains it."""
        return row(*(self._term(TERMS[key]) for key in keys.split()))

    def _term(self, term: Term) -> Any:
        """A term: a page of the web is a link, one of this machine a button, since no browser follows such a link."""
        name, meaning = escape(term.name(self.language)), escape(term.meaning_in(self.language))
        line, buttons, lead = widgets.HTML(), [], ""
        if chapter := chapter_of(term.key):
            title, address = chapter[self.language], page_of(chapter["name"], self.language)
            if address.startswith("https:"):
                link = f'<a href="{escape(address)}" target="_blank" rel="noreferrer">{escape(title)}</a>'
                lead = f"{escape(self.say('chapter', title=''))}{link}"
            elif address:
                button = widgets.Button(description=self.say("chapter", title=title), tooltip=self.say("chapter_opens"))
                button.on_click(lambda _: self._open(line, address))
                buttons.append(button)
            else:
                lead = escape(self.say("chapter_command", title=title))
        text = f'<summary title="{meaning}">{name}</summary>{meaning}<br>{lead}'
        line.value = f'<details class="kanon-term">{text}</details>'
        return boxed("kanon-lookup", line, *buttons)

    def _open(self, line: Any, address: str) -> None:
        """Open a page, or write its address below its term where no browser is found."""
        if not webbrowser.open(address):
            words = escape(self.say("chapter_at", address=address))
            line.value = line.value.replace("<details ", "<details open ").replace("<br>", f"<br>{words}")


_AUTO = {"width": "auto", "align_self": "flex-start"}


class Place:
    """One of the places of the workbench: `box` is shown, and `fill` called whenever it comes into view or is stale."""

    name = ""

    def __init__(self, bench: Any) -> None:
        self.bench, self.w = bench, bench.w
        self.box = boxed("kanon-place")
        self._asked: dict[Any, Any] = {}

    @property
    def session(self) -> Any:
        """The work on the file; a `KanonLabError` where none is open."""
        return self.bench.current

    def fill(self) -> None:
        """Show what there is to show."""

    def ask(self, box: Any, compute: Callable[[Any, Any], Any], show: Callable[[Any], Iterable[Any]]) -> None:
        """Compute what a click asks of the result, and show it in a box until the draft changes."""
        result = self.bench.judged

        def done(answer: Any) -> None:
            swap(box, show(answer))
            self._asked[box] = result.draft

        self.bench.work.submit(lambda progress: compute(result, progress), done, self.bench.say, "asked")

    def forget(self) -> None:
        """Take away what was asked of another draft than that of now."""
        for box in [box for box, draft in self._asked.items() if draft != self.bench.session.draft]:
            swap(box, [])
            del self._asked[box]

    def button(self, key: str, act: Callable[[], object], *, style: str = "", **parts: Any) -> Any:
        """A button that acts; what goes wrong becomes one line of the page."""
        button = widgets.Button(description=self.w.say(key, **parts), layout=_AUTO, button_style=style)
        button.tooltip = button.description
        button.on_click(lambda _: self.safely(act)())
        return button

    def safely(self, act: Callable[..., object]) -> Callable[..., None]:
        """The same, but an error becomes one line of the page."""

        @wraps(act)
        def safe(*args: Any) -> None:
            try:
                act(*args)
            except Exception as error:  # noqa: BLE001 - its words may hold values
                self.bench.say(in_a_line(error))

        return safe

    def follow(self, control: Any, act: Callable[[Any], object]) -> None:
        """Act on each value that is entered in a control; what goes wrong becomes one line of the page."""
        control.observe(lambda change: self.safely(act)(change["new"]), "value")

    def say_in(self, line: Any, text: str) -> None:
        """Show in a line what is wrong, or none."""
        line.value = self.w.fault(text)

    def heading(self, key: str) -> Any:
        """A heading of level 2."""
        return widgets.HTML(f"<h2>{escape(self.w.say(key))}</h2>")

    def text(self, key: str, /, **parts: Any) -> Any:
        """A paragraph."""
        return widgets.HTML(f"<p>{escape(self.w.say(key, **parts))}</p>")


def advised(result: Any, w: Speech) -> list[tuple[str, str]]:
    """Of each limit that a result does not meet its title, and what to do about it."""
    judged = result.judged
    release = Release.of_protection(result.protection, judged)
    unmet = judged.verdict[~judged.verdict["met"]].itertuples(index=False)
    return [(limit_title(row, w), advice_on(release, row, w)) for row in unmet]


def lost_lines(result: Any, w: Speech) -> list[str]:
    """Of each key variable that is mostly suppressed how many values are lost, and what to do about it."""
    protection, called = result.protection, w.setting("importance")
    hidden = {} if protection.state.counts is not None else dict(mostly_hidden(protection))
    return [
        w.say("mostly_lost", variable=visible(name), cells=cells, records=protection.n, importance=called)
        for name, cells in hidden.items()
    ]


def shown(parts: Iterable[Part | Figure | Section]) -> list[Any]:
    """Sections, parts and figures as widgets."""
    inner: list[Any] = []
    for part in parts:
        if isinstance(part, Section):
            inner += shown(part)
        elif isinstance(part, Figure):
            data, metadata = part.mimebundle()
            output = {"output_type": "display_data", "data": data, "metadata": metadata}
            inner.append(widgets.Output(outputs=(output,)))
        else:
            inner.append(widgets.HTML(part.html))
    return inner


def fade(box: Any, is_stale: bool) -> None:
    """Grey what is out of date until the new is there."""
    (box.add_class if is_stale else box.remove_class)("kanon-stale")


def swap(box: Any, children: Iterable[Any]) -> None:
    """Put other widgets into a box; those that go are closed with all that is in them."""
    gone, box.children = box.children, tuple(children)
    left = [widget for widget in gone if widget not in box.children]
    while left:
        left += getattr(widget := left.pop(), "children", ())
        widget.close()


def boxed(style: str, *children: Any, kind: Any = widgets.VBox) -> Any:
    """Widgets below each other, or in another `kind` of box, in a style of the style sheet."""
    box = kind(children)
    box.add_class(style)
    return box


def row(*children: Any) -> Any:
    """Widgets beside each other, as far as the screen is wide."""
    return widgets.HBox(children, layout={"flex_flow": "row wrap", "align_items": "center", "grid_gap": "0.3em 0.6em"})


def sides(left: Any, right: Any) -> Any:
    """Two boxes beside each other, where the screen is wide enough."""
    right.add_class("kanon-side")
    return boxed("kanon-sides", left, right, kind=widgets.HBox)


def style() -> Any:
    """The style sheet of the page as a widget: that of reports, and its own lines."""
    own = files("kanon_lab.workbench").joinpath("workbench.css").read_text("utf-8")
    return widgets.HTML(f"<style>{sections_style()}{own}</style>")
