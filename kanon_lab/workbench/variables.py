"""The place *Variables*: each column with its role, why it was guessed, and its values as bars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html import escape
from typing import Any

import ipywidgets as widgets

from kanon_lab.columns import one_column
from kanon_lab.errors import visible
from kanon_lab.report.first_config import reason
from kanon_lab.report.pictures import frequencies
from kanon_lab.terms import texts
from kanon_lab.workbench.drafts import CHOICES, REMOVED
from kanon_lab.workbench.parts import WIDE, Place, boxed, row

# Rows of a page; each has three widgets.
_ROWS = 30
# Bars that are shown unfolded.
_SHORT = 6
# Labels of controls are searched for formulas: no name of a column is one.
_PLAIN = str.maketrans("$\\", "\N{FULLWIDTH DOLLAR SIGN}\N{FULLWIDTH REVERSE SOLIDUS}")


class Variables(Place):
    """One row a column; what the guess is unsure of comes first."""

    name = "variables"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self.state, self.list = widgets.HTML(), widgets.VBox()
        options = [(self.w.say(f"empty_{policy}"), policy) for policy in ("", "category", "wildcard")]
        self.empty = widgets.Dropdown(options=options, description=self.w.say("empty_cells"), **WIDE)
        self.follow(self.empty, lambda policy: policy and self.bench.change(self.session.draft.with_missing(policy)))
        self.asked = widgets.HTML()
        self.of_empty = widgets.VBox([self.asked, self.empty])
        self.roles: dict[str, Any] = {}
        self.page, self._order = 0, list[Any]()
        self.before = self.button("page_before", lambda: self._turn(-1))
        self.after = self.button("page_after", lambda: self._turn(1))
        go_on = self.button("go_risk", lambda: self.bench.go("risk"), style="primary")
        as_is = self.button("all_as_is", self._release_undecided)
        terms = self.w.terms("key_variables direct_identifiers sensitive_variable")
        about = (self.heading("place_variables"), self.text("about_variables"), terms)
        turns, ends = row(self.before, self.after), row(as_is, go_on)
        self.box.children = (*about, self.state, self.of_empty, self.list, turns, ends)

    def fill(self) -> None:
        session = self.session
        if not self.roles:
            self._show_page()
        for name, control in self.roles.items():
            control.value = session.draft.role_of(name)
        undecided = len(session.draft.undecided(session.columns))
        key = "some_undecided" if undecided else "all_decided"
        self.state.value = f"<p role='status'>{escape(self.w.say(key, columns=undecided))}</p>"
        self._ask_of_empty()

    def _ask_of_empty(self) -> None:
        """Ask whether an empty key is an answer, where there is any; the files of one recipe have one answer."""
        w, empty, missing = self.w, self.session.empty_keys(), self.session.draft.settings.get("missing", "")
        follows = [w.say("empty_said", column=visible(name), by=w.listed(by)) for name, by in empty.items() if by]
        lines = [w.say("empty_asked", columns=w.listed(map(visible, empty))), *follows]
        self.asked.value = f"<p>{escape(' '.join(lines))}</p>"
        self.empty.value = missing if missing in ("category", "wildcard") else ""
        self.of_empty.layout.display = None if empty else "none"

    def _ordered(self) -> list[Any]:
        """The guesses, those that are unsure or that were not written first."""
        guesses, draft = self.session.guesses, self.session.draft
        sure = [bool(draft.role_of(guess.variable)) for guess in guesses.itertuples()]
        return [*guesses.assign(sure=sure).sort_values("sure", kind="stable").itertuples()]

    def _turn(self, by: int) -> None:
        self.page += by
        self._show_page()
        self.fill()

    def _show_page(self) -> None:
        order = self._order = self._order or self._ordered()
        self.before.layout.display = None if self.page else "none"
        self.after.layout.display = None if (self.page + 1) * _ROWS < len(order) else "none"
        self.roles = {}
        self.list.children = tuple(self._rows(order[self.page * _ROWS : (self.page + 1) * _ROWS]))

    def _rows(self, guesses: list[Any]) -> Iterator[Any]:
        w, session = self.w, self.session
        words = texts("configuration", w.language) | {"language": w.language}
        called = {role: w.say(f"choice_{role}") for role in CHOICES}
        short = {role: name.partition(":")[0] for role, name in called.items()}
        options = [(name, role) for role, name in called.items()]
        for guess in guesses:
            name, labels = guess.variable, session.file.labels.get(guess.variable, {})
            column = one_column(session.file.frame, name)
            label = session.file.variable_labels.get(name, "")
            kind = {"numeric": guess.role == "numeric_variables", "coded": guess.role == "key_variables"}
            drawn = "" if guess.role == "direct_identifiers" else frequencies(column, labels, w, **kind)
            is_short = " open" if drawn.count("<tr>") <= _SHORT + 1 else ""
            why = f"{reason(guess, words, short)}; {w.say('shape', missing=guess.missing)}"
            fold = f"<details{is_short}><summary>{escape(w.say('values'))}</summary>{drawn}</details>" if drawn else ""
            title = visible(name)
            about = widgets.HTML(f"<b>{escape(title)}</b> {escape(visible(label))}<br>{escape(why)}{fold}")
            control = widgets.Dropdown(options=options, value=session.draft.role_of(name))
            control.description, control.tooltip = title.translate(_PLAIN), w.say("role_of", column=title)
            line = widgets.HTML()
            self.follow(control, partial(self._chosen, name, line))
            self.roles[name] = control
            yield boxed("kanon-variable", widgets.VBox([control, line]), about, kind=widgets.HBox)

    def _chosen(self, name: str, line: Any, role: str) -> None:
        draft = self.session.draft.with_role(name, role)
        before, after = (sum(step.name != REMOVED for step in side.steps) for side in (self.session.draft, draft))
        if not self.bench.change(draft, partial(self.say_in, line)):
            self.fill()
        elif before > after:
            self.bench.say(self.w.say("steps_gone", count=before - after))

    def _release_undecided(self) -> None:
        """Leave out of the release every column about which nothing was decided."""
        draft = self.session.draft
        for name in draft.undecided(self.session.columns):
            draft = draft.with_role(name, "remove_variables")
        self.bench.change(draft)
