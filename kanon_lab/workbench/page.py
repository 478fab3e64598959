"""The page of the workbench: six places below the verdict, which is always in view."""

from __future__ import annotations

import atexit
import os
from contextlib import ExitStack
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from kanon_lab.errors import KanonLabError
from kanon_lab.folders import held_folder
from kanon_lab.recipes.verdict import is_set
from kanon_lab.report.measured import limit_title, limit_value, limit_wanted
from kanon_lab.workbench.background import Background, Job, leave_on_sigterm
from kanon_lab.workbench.findings import Compare, Risk
from kanon_lab.workbench.gate import LINE, OPEN_FILE, OPEN_LANGUAGE
from kanon_lab.workbench.opening import Opening
from kanon_lab.workbench.parts import Place, Speech, boxed, lost_lines, row, style
from kanon_lab.workbench.protect import Protect
from kanon_lab.workbench.release import Releasing
from kanon_lab.workbench.session import Result, Session
from kanon_lab.workbench.variables import Variables

_PLACES: tuple[type[Place], ...] = (Opening, Variables, Risk, Protect, Compare, Releasing)


class Workbench:
    """The page: `box` is shown. It holds the session, its last result, and the places that show and change it."""

    def __init__(self, language: str = "en") -> None:
        self.w = Speech(language)
        self.session: Session | None = None
        self.result: Result | None = None
        self.work, self.writing = Background(self._tell), Background(self._tell, queue=True)
        self._why = "computing_verdict"
        called = {"model_id": LINE} if OPEN_LANGUAGE in os.environ else {}  # a page of its own has one workbench
        self._verdict, self._line, self._step = widgets.HTML(), widgets.HTML(**called), widgets.HTML()
        self.places = {place.name: place(self) for place in _PLACES}
        first = next(iter(self.places.values()))
        self.stop = first.button("stop", self._stop)
        self.undo, self.redo = first.button("undo", lambda: self._back(-1)), first.button("redo", lambda: self._back(1))
        names = [(f"{n} {self.w.say(f'place_{name}')}", name) for n, name in enumerate(self.places, 1)]
        self.menu = widgets.ToggleButtons(options=names, style={"button_width": "auto"})
        self.menu.tooltips = [self.w.say(f"about_{name}") for name in self.places]
        self.menu.observe(lambda _: self.show(), "value")
        head = boxed("kanon-head", self._verdict, row(self.undo, self.redo, self.stop, self._step), self._line)
        self._place = widgets.VBox()
        self.box = boxed("kanon-workbench", style(), self.menu, head, self._place)
        self._tell()
        self._show_verdict()
        self.show()

    def go(self, place: str) -> None:
        """Show a place by its name."""
        self.menu.value = place

    def show(self) -> None:
        """Show the place that was chosen, with what is known by now, and nothing that was asked of an earlier draft."""
        place, session = self.places[self.menu.value], self.session
        self.undo.disabled, self.redo.disabled = not (session and session.past), not (session and session.future)
        for other in self.places.values():
            other.forget()
        self._place.children = (place.box,)
        place.safely(place.fill)()

    def say(self, line: str) -> None:
        """Show a line on what went wrong, or none, below the verdict."""
        self._line.value = self.w.fault(line)

    def opened(self, session: Session) -> None:
        """Work on another file."""
        self.say("")
        self.session, self.result = session, None
        self.places |= {place.name: place(self) for place in _PLACES[1:]}
        self.update()

    def change(self, draft: Any, say: Any = None) -> bool:
        """Take another draft and judge it; whether it could be read. A line on what is wrong with it goes to `say`."""
        say = say or self.say
        say("")
        if draft == self.current.draft:  # a control that follows the draft
            return True
        self.say("")
        try:
            self.current.change(draft)
        except KanonLabError as error:
            say(str(error))
            return False
        self.update(say)
        return True

    def update(self, say: Any = None) -> None:
        """Judge the draft in the background, and show the place in view again."""
        session, say = self.current, say or self.say
        draft = session.draft
        self._show_verdict("computing_verdict")
        self.show()

        def job(progress: Any) -> Result:
            try:
                return session.judge(draft, progress, early)
            except KanonLabError:
                session.refuse(draft)
                raise

        def done(result: Result) -> None:
            self.result = result
            self._show_verdict()
            self.show()

        def failed(line: str) -> None:
            self._show_verdict("no_verdict")
            if session.draft != draft:
                self.update()
            say(line)

        def early(verdict: Any, later: list[str]) -> None:
            if session.draft == draft:
                self._say_verdict(self.w.say("verdict_so_far", count=len(later)), "unknown", verdict)

        self.work.submit(job, done, failed)

    def open(self, job: Job) -> None:
        """Work on another file, whose session a job makes; where it fails, on the one there was."""

        def failed(line: str) -> None:
            self.say(line)
            if self.session is not None and self.fresh is None:
                self.update()
            elif self.session is None:
                self._show_verdict("no_file")

        self.result = None  # no verdict stands there while another file is read
        self._show_verdict("opening")
        self.work.submit(job, self.opened, failed)

    def wait(self) -> None:
        """Wait until nothing runs."""
        self.work.wait()
        self.writing.wait()

    @cached_property
    def folder(self) -> Path:
        """A folder for files that are sent through the page, removed at the end."""
        uploads = ExitStack()
        atexit.register(uploads.close)
        return uploads.enter_context(held_folder())

    def _stop(self) -> None:
        self.work.stop()
        self.writing.stop()
        self.say(self.w.say("stopped"))
        self._show_verdict("stopped_verdict")
        self.show()

    @property
    def current(self) -> Session:
        """The work on the file; a `KanonLabError` where none is open."""
        if self.session is None:
            raise KanonLabError(self.w.say("no_file"))
        return self.session

    @property
    def fresh(self) -> Result | None:
        """What the draft comes to; None where it is not yet computed."""
        result, session = self.result, self.session
        return result if result is not None and session is not None and result.draft == session.draft else None

    @property
    def why(self) -> str:
        """Why there is no verdict, by the key of its words."""
        return "no_file" if self.session is None and self._why != "opening" else self._why

    @property
    def judged(self) -> Result:
        """What the draft comes to; a `KanonLabError` that says why it is not there."""
        if (result := self.fresh) is None:
            raise KanonLabError(self.w.say(self.why))
        return result

    def _back(self, by: int) -> None:
        (self.current.undo if by < 0 else self.current.redo)()
        self.say("")
        self.update()

    def _tell(self) -> None:
        """Say what runs, or nothing where nothing does."""
        steps = [jobs.step for jobs in (self.work, self.writing) if jobs.step is not None]
        words = [self.w.say("computing", step=step) for step in steps]
        self._step.value = f'<span role="status">{escape(" ".join(words))}</span>' if words else ""
        self.stop.layout.display = None if words else "none"

    def _show_verdict(self, why: str | None = None) -> None:
        """Show the verdict; where there is none, `why` by the key of its words."""
        w, result = self.w, self.fresh
        self._why = why or self._why
        if result is None:
            self._verdict.value = f'<p class="kanon-verdict" role="status">{escape(w.say(self.why))}</p>'
            return
        judged, keys = result.judged, bool(result.protection.spec.key_variables)
        unmet = int((~judged.verdict["met"]).sum())
        if not is_set(judged.limits, judged.records):
            words = w.say("no_limit" if keys else "no_limit_keyless")
        else:
            words = w.say("some_unmet", unmet=unmet, all=len(judged.verdict)) if unmet else w.say("all_met")
        more = "".join(f'<p class="kanon-caution">{escape(line)}</p>' for line in lost_lines(result, w))
        if judged.cautions:
            lines = "".join(f"<li>{escape(w.note(caution.text))}</li>" for caution in judged.cautions)
            head = escape(w.say("cautions", count=len(judged.cautions)))
            more = f"<details><summary>{head}</summary><ul>{lines}</ul></details>{more}"
        self._say_verdict(words, "met" if judged.met else "unmet", judged.verdict, more)

    def _say_verdict(self, words: str, state: str, verdict: Any, more: str = "") -> None:
        """Show a verdict: limits that are not met first, the others folded, and `more` HTML below them."""
        lists = {met: [self._limit(row) for row in verdict.itertuples(index=False) if row.met == met] for met in (0, 1)}
        unmet, met = (f'<ul class="kanon-asked">{"".join(lines)}</ul>' if lines else "" for lines in lists.values())
        fold = f"<details><summary>{escape(self.w.say('limits_met', count=len(lists[1])))}</summary>{met}</details>"
        sentence = f'<div class="kanon-verdict kanon-{state}" role="status">{escape(words)}</div>'
        self._verdict.value = f"{sentence}{unmet}{fold if met else ''}{more}"

    def _limit(self, row: Any) -> str:
        """A limit with what was found and what is asked for."""
        w = self.w
        mark, state = ("\N{CHECK MARK}", "met") if row.met else ("\N{BALLOT X}", "unmet")
        value, wanted = limit_value(row, row.found, row.limit, w), limit_wanted(row, row.found, w)
        words = w.say("limit", name=limit_title(row, w), value=value, wanted=wanted)
        return f'<li class="kanon-{state}"><span aria-hidden="true">{mark}</span> {escape(words)}</li>'


def workbench(file: str | None = None, language: str | None = None) -> Any:
    """The workbench as a widget, for a notebook or a page of Voila.

    Parameters
    ----------
    file : str, optional
        A microdata file, or the name of a data set; by default that of the variable KANON_LAB_OPEN_FILE, or none.
    language : str, optional
        "en" or "es"; by default that of KANON_LAB_OPEN_LANGUAGE, or English.

    Examples
    --------
    >>> from kanon_lab.workbench import workbench
    >>> type(workbench(language="es")).__name__
    'VBox'
    """
    leave_on_sigterm()
    bench = Workbench(language or os.environ.get(OPEN_LANGUAGE) or "en")
    bench.box.bench = bench  # kept as long as it is shown
    if file := file or os.environ.get(OPEN_FILE):
        opening: Any = bench.places["file"]
        opening.open(file)
        bench.wait()  # a page that is still being drawn would miss widgets
    return bench.box
