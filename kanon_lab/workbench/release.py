"""The place *Release*: what is still open, the recipe and its commands, and the files that are written."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from kanon_lab.data.microdata import FORMATS
from kanon_lab.errors import visible
from kanon_lab.workbench.drafts import Draft
from kanon_lab.workbench.parts import WIDE, Place, advised, row
from kanon_lab.workbench.session import INTERNAL, PAGE, PROTECTED, RECIPE

_WIDE = {**WIDE, "layout": {"width": "100%", "max_width": "30em"}}


class Releasing(Place):
    """A checklist, the recipe as text, and the files."""

    name = "release"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        w = self.w
        self.open_questions, self.recipe = widgets.HTML(), widgets.HTML()
        self.names = {
            key: widgets.Text(value=name, description=w.say(f"name_{key}"), continuous_update=False, **_WIDE)
            for key, name in (("recipe", RECIPE), ("page", PAGE), ("internal", INTERNAL), ("protected", PROTECTED))
        }
        self.format = widgets.Dropdown(options=[*FORMATS], description=w.say("format"), **_WIDE)
        self.overwrite = widgets.Checkbox(description=w.say("overwrite"), indent=False, layout={"width": "auto"})
        self.lines = {key: widgets.HTML() for key in self.names}
        self._written: dict[str, tuple[str, Draft]] = {}
        writers = {key: self.button(f"write_{key}", partial(self._write, key)) for key in self.names}
        beside = {"protected": [self.format]}
        files = [row(self.names[key], *beside.get(key, []), writers[key], self.lines[key]) for key in self.names]
        for control in (*self.names.values(), self.format):
            self.follow(control, lambda _: self.fill())
        about = (self.text("about_release"), self.open_questions, self.text("about_reports"))
        parts = (*about, self.overwrite, *files, self.recipe)
        self.box.children = (self.heading("place_release"), *parts)

    @property
    def targets(self) -> dict[str, str]:
        """The files to write, as they were entered; the protected file has the ending of its format."""
        names = {key: control.value.strip() for key, control in self.names.items()}
        return {**names, "protected": f"{names['protected'].removesuffix(f'.{self.format.value}')}.{self.format.value}"}

    def fill(self) -> None:
        session, w = self.session, self.w
        questions = self._questions()
        listed = "".join(f"<li>{escape(question)}</li>" for question in questions)
        words = w.say("open_questions", count=len(questions)) if questions else w.say("nothing_open")
        for key, (name, draft) in self._written.items():
            said = w.say("written" if draft == session.draft else "written_before", name=name)
            self.lines[key].value = f"<p role='status'>{escape(said)}</p>"
        self.open_questions.value = f"<h3>{escape(words)}</h3><ul class='kanon-open'>{listed}</ul>"
        targets = self.targets
        commands = session.command_lines(*(targets[key] for key in ("recipe", "page", "protected", "internal")))
        shown = map(visible, session.configuration().splitlines())  # no character commands how a line is shown
        text, lines = escape("\n".join(shown)), escape("\n".join(commands))
        self.recipe.value = (
            f"<h3>{escape(w.say('commands'))}</h3><pre class='kanon-scroll' tabindex='0'>{lines}</pre>"
            f"<h3>{escape(w.say('recipe'))}</h3><pre class='kanon-scroll' tabindex='0'>{text}</pre>"
        )

    def _questions(self) -> list[str]:
        """What is still open: undecided columns, limits that are not met, and cautions."""
        session, w, result = self.session, self.w, self.bench.fresh
        undecided = session.draft.undecided(session.columns)
        questions = [w.say("decide", columns=w.listed(map(visible, undecided)))] if undecided else []
        empty = {} if "missing" in session.draft.settings else session.empty_keys()
        questions += [w.say("decide_empty", columns=w.listed(map(visible, empty)))] if empty else []
        if result is None:
            return [*questions, w.say(self.bench.why)]
        questions += [f"{title}: {advice}" for title, advice in advised(result, w)]
        return [*questions, *(w.note(caution.text) for caution in result.judged.cautions)]

    def _write(self, key: str) -> None:
        """Write one of the files in the background; below its name stands that it is there, or what is wrong."""
        session, result, line = self.session, self.bench.judged, self.lines[key]
        path, overwrite = Path(self.targets[key]), self.overwrite.value
        self._written.pop(key, None)
        line.value = ""
        is_name = path.name == self.targets[key] and self.names[key].value.strip() and not path.name.startswith(".")
        is_name = is_name and path.name.isprintable()  # nothing in it commands how a line is shown
        if not is_name or [*self.targets.values()].count(path.name) > 1:
            self.say_in(line, self.w.say("no_name" if not is_name else "same_name"))
            return

        def job(progress: Any) -> None:
            progress(self.w.say("writing", name=path.name))
            session.write(key, path, overwrite=overwrite, result=result)

        def done(_: Any) -> None:
            self._written[key] = path.name, result.draft
            self.fill()

        self.bench.writing.submit(job, done, partial(self.say_in, line))
