"""The place *File*: choose a file, read it, and see what was read and how."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from html import escape
from os.path import isfile
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import ipywidgets as widgets

from kanon_lab import files
from kanon_lab.data.microdata import READ_FORMATS, reading_notes
from kanon_lab.data.sets import DATA_SETS
from kanon_lab.errors import OptionError, names_only, visible
from kanon_lab.recipes.settings import FileSettings
from kanon_lab.report.sections import file_table
from kanon_lab.show.forms import Form
from kanon_lab.workbench.drafts import Draft
from kanon_lab.workbench.parts import WIDE, Place, row
from kanon_lab.workbench.session import READING, Session

_KIND = "synthetic"


class Opening(Place):
    """Choose a file, read it, and see what was read."""

    name = "file"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        w = self.w
        first = [(w.say("form_choose"), "")]
        data = [(w.say("data_set", name=name), name) for name, part in DATA_SETS.items() if part.kind == _KIND]
        here = [(visible(name), name) for name in _files_here(READ_FORMATS)]
        self.file = widgets.Dropdown(options=[*first, *here, *data], description=w.say("file"), **WIDE)
        recipes = [(visible(name), name) for name in _files_here(("yml", "yaml"))]
        usual = [(w.say("guesses"), "")]
        self.recipe = widgets.Dropdown(options=[*usual, *recipes], description=w.say("recipe"), **WIDE)
        self.upload = widgets.FileUpload(description=w.say("upload"), layout={"width": "auto"})
        self.follow(self.upload, self._uploaded)
        self.reading = Form(FileSettings, [], w, names=READING)
        more = widgets.Accordion([self.reading.box], selected_index=None)
        more.set_title(0, w.say("how_read"))
        self.facts, self.offer = widgets.VBox(), widgets.VBox()
        start = self.button("open", lambda: self.open(self.file.value), style="primary")
        choose = [
            self.text("about_file"),
            self.file,
            self.recipe,
            more,
            row(start, self.upload),
            self.text("receiving"),
        ]
        tour = "".join(f"<li>{escape(w.say(f'tour_{n}'))}</li>" for n in range(1, 7))
        guide = widgets.HTML(f"<details><summary>{escape(w.say('tour'))}</summary><ol>{tour}</ol></details>")
        self.box.children = (self.heading("place_file"), self.offer, *choose, guide, self.facts)

    def open(self, file: str | None, *, sent: bool = False) -> None:
        """Read a file in the background, and go on with it: with the recipe that was chosen, or the last draft."""
        if not file:
            raise OptionError(self.w.say("no_file"))
        reading, recipe, language = self.reading.read(), self.recipe.value, self.w.language

        def job(progress: Any) -> Session:
            progress(self.w.say("reading"))
            first = Draft.read(recipe) if recipe else None
            session = Session(file, language=language, draft=first, sent=sent, **reading)
            if recipe or (kept := session.kept) is None:
                session.kept = None
            elif any(kept.settings.get(name) != session.draft.settings.get(name) for name in READING):
                session = Session(file, language=language, draft=kept, sent=sent)
                session.kept = kept
            else:
                session.change(kept)
            return session

        self.bench.open(job)

    def _uploaded(self, uploaded: Any) -> None:
        """Put a file that was sent through the page where it is read from, and keep nothing of it in the page."""
        if not uploaded:
            return
        name, content = Path(uploaded[0]["name"]).name, uploaded[0]["content"]
        self.upload.value = ()
        if not files.fits(len(content)):
            raise OptionError(self.w.say("too_large", most=files.limit() or files.MAX_BYTES))
        path = Path(mkdtemp(dir=self.bench.folder)) / name
        with names_only(path):
            files.write_bytes(path, bytes(content))
        self.open(str(path), sent=True)

    def fill(self) -> None:
        session, w = self.bench.session, self.w
        if session is None:
            return
        if session.source not in dict(self.file.options).values():
            self.file.options = [*self.file.options, (visible(session.name), session.source)]
        self.file.value = session.source
        about = {**session.file.found, "name": session.name, "sha256": None}
        table = file_table(about, reading_notes(session.file), w)
        roles = Counter(map(session.draft.role_of, session.columns))
        counts = w.listed(f"{w.say(f'choice_{role}')} {count}" for role, count in roles.items())
        go_on = self.button("go_variables", lambda: self.bench.go("variables"), style="primary")
        decided = widgets.HTML(f"<p>{escape(w.say('roles_so_far', counts=counts))}</p>")
        self.facts.children = (self.heading("what_was_read"), widgets.HTML(table.html), decided, go_on)
        if (kept := session.kept) is None:
            self.offer.children = ()
        else:  # what an earlier session has left for this file
            anew = self.button("start_anew", self._forget)
            self.offer.children = (self.text("draft_kept", steps=len(kept.steps)), anew)

    def _forget(self) -> None:
        self.session.forget()
        self.bench.change(self.session.begun)


def _files_here(endings: tuple[str, ...]) -> list[str]:
    """Files of the current folder that end so, .gz or not; hidden ones and what cannot be looked at are left out."""
    with suppress(OSError):
        names = sorted(path.name for path in Path().iterdir() if isfile(path))  # noqa: PTH113 - fails for none
        return [name for name in names if not name.startswith(".") and files.file_format(name) in endings]
    return []
