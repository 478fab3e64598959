"""The place *Protect*: steps by forms, what each leaves of risk and takes of utility, and what would help most."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as widgets
import pandas as pd

from kanon_lab.methods.recode_settings import RECODINGS
from kanon_lab.recipes.next_steps import NextStep
from kanon_lab.recipes.steps import STEPS, kind_of
from kanon_lab.report.measured import measures_of_steps
from kanon_lab.show.forms import Form
from kanon_lab.workbench.drafts import REMOVED, Draft, Entry
from kanon_lab.workbench.parts import WIDE, Place, advised, boxed, fade, row, sides, swap
from kanon_lab.workbench.recoding import Beside
from kanon_lab.workbench.session import Result

# Of the steps that were tried, so many are shown.
_MOST_TRIES = 5
# Only these steps do something to the columns of these roles.
_OF_IDS, _IDS = ("renumber", "shuffle_records"), ("household", "person", "direct_identifiers")


class Protect(Place):
    """The list of steps, the form of one of them, and what they come to."""

    name = "protect"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        w = self.w
        self.steps, self.advice, self.history = widgets.VBox(), widgets.HTML(), widgets.HTML()
        options = [(w.say("form_choose"), ""), *((w.step(name), name) for name in STEPS)]
        self.kind = widgets.Dropdown(options=options, description=w.say("add_step"), **WIDE)
        self.follow(self.kind, lambda kind: kind and self._show_form(kind))
        self.form: Form | None = None
        self.entry: Entry | None = None
        self._listed: Draft | None = None
        self.form_box = boxed("kanon-form")
        first = self.button("first_steps", self._add_first)
        go_on = self.button("go_compare", lambda: self.bench.go("compare"))
        terms = w.terms("global_recoding local_suppression pram microaggregation information_loss true_key")
        self._parts = self.text("about_protect"), terms, row(first), self.kind, self.form_box, self.steps
        left = self.left = boxed("kanon-side", *self._parts)
        self.tried = widgets.VBox()
        trying = self.button("try_steps", self._try)
        right = widgets.VBox([self.advice, row(trying), self.tried, self.history, row(go_on)])
        self.box.children = (self.heading("place_protect"), sides(left, right))

    def fill(self) -> None:
        session, w = self.session, self.w
        if self.entry is not None and self._place(self.entry) is None:  # the step of the form is gone, or another
            self._close()
        if self._listed is not session.draft:  # a button that is made anew for the same list would lose a click
            self._listed = session.draft
            rows = [self._step(place, entry) for place, entry in enumerate(session.draft.steps)]
            self._put_form(rows or [self.text("no_steps_yet")])
        result = self.bench.fresh
        fade(self.history, result is None)
        fade(self.advice, result is None)
        if result is not None:
            self.history.value = w.table(self._history(result), "bench_history").html
            lines = "".join(f"<li>{escape(advice)}</li>" for _, advice in advised(result, w))
            self.advice.value = f"<h3>{escape(w.say('h_next'))}</h3><ul>{lines}</ul>" if lines else ""

    def _step(self, place: int, entry: Any) -> Any:
        """A step with what can be done to it."""
        w, draft = self.w, self.session.draft
        number, name = place + 1, w.step_of(entry.name, entry.settings)
        off = "" if entry.on else f" <em>({escape(w.say('is_off'))})</em>"
        words = widgets.HTML(f"<b>{number} {escape(name)}</b>{off}<br>{escape(w.settings(entry.settings))}")

        acts: dict[str, Any] = {
            "edit": lambda: self._show_form(entry.name, entry, entry.settings),
            "earlier": lambda: self._change(draft.with_moved(place, -1)),
            "later": lambda: self._change(draft.with_moved(place, 1)),
            "switch_off" if entry.on else "switch_on": lambda: self._change(draft.with_switched(place)),
            "take_out": lambda: self._change(draft.without_step(place)),
        }
        buttons = [self.button(key, act) for key, act in acts.items()]
        for button in buttons:
            button.tooltip = f"{button.description}: {number} {name}"
        buttons[1].disabled, buttons[2].disabled = place == 0, place == len(draft.steps) - 1
        return boxed("kanon-step", words, row(*buttons))

    def _add_first(self) -> None:
        """Add the first steps; how far a weight must be rounded takes a while to find."""
        draft = self.session.draft

        def done(steps: Draft) -> None:
            if self.session.draft == draft:
                self._change(steps)

        self.bench.work.submit(self.session.with_first_steps, done, self.bench.say)

    def _change(self, draft: Any) -> None:
        self._close()
        self.bench.change(draft)

    def _place(self, entry: Entry) -> int | None:
        """Where that very step is in the list by now."""
        return next((place for place, step in enumerate(self.session.draft.steps) if step is entry), None)

    def _show_form(self, name: str, entry: Entry | None = None, settings: dict[str, Any] | None = None) -> Form:
        """Show the form of a step, new or in the list; that of a suppression begins with the keys in their order."""
        session, w = self.session, self.w
        self.entry, self._name = entry, name
        not_offered = () if name == REMOVED else (REMOVED,) if name in _OF_IDS else (REMOVED, *_IDS)
        draft, place = session.draft, None if entry is None else self._place(entry)
        gone = draft.removed(draft.place_for(name) if place is None else place)
        columns = [name for name in session.columns if name not in gone and draft.role_of(name) not in not_offered]
        self.form = form = Form(kind_of(name).model, columns, w)
        keys = session.draft.settings.get("key_variables", []) if name == "suppress" else []
        form.values = settings or {"importance": {key: n for n, key in enumerate(keys, 1)}}
        beside = [Beside(form, name, self).box] if name in RECODINGS else []
        apply = self.button("apply" if entry is None else "change_step", self._apply, style="primary")
        title = widgets.HTML(f"<h3>{escape(w.say(f'step_{name}'))}</h3><p>{escape(w.say(f'does_{name}'))}</p>")
        swap(self.form_box, [title, form.box, *beside, row(apply, self.button("close", self._close))])
        self._put_form()
        return form

    def _put_form(self, rows: list[Any] | None = None) -> None:
        """Put the form below the step that it changes, also in new rows; that of a new step below the menu of steps."""
        place = None if self.entry is None else self._place(self.entry)
        self.left.children = [part for part in self._parts if place is None or part is not self.form_box]
        self.steps.children = [box for box in self.steps.children if box is not self.form_box]
        rows = [*(rows or self.steps.children)]
        swap(self.steps, rows if place is None else [*rows[: place + 1], self.form_box, *rows[place + 1 :]])

    def _apply(self) -> None:
        """Take the step as it was entered; what is wrong gets its line beside the field."""
        form, draft, entry = self.form, self.session.draft, self.entry
        if form is None:
            return
        k = draft.settings.get("k_required", draft.settings.get("limits", {}).get("k"))
        usual = {"k_required": k} if k is not None and kind_of(self._name).needs_k else {}
        settings = form.read(usual)
        kept = self._name, entry, settings

        def say(line: str) -> None:
            """Close the form; where the file does not allow the step, show it again with its line."""
            self._close()
            if line and self.session.draft == draft:
                self._show_form(*kept).say(line)
            else:
                self.bench.say(line)

        place = None if entry is None else self._place(entry)
        self.bench.change(draft.with_step(self._name, settings, place), say)

    def _close(self) -> None:
        self.form, self.entry = None, None
        swap(self.form_box, [])
        self._put_form()
        self.kind.value = ""

    def _try(self) -> None:
        """Try what may come next, and show what each step leaves and takes."""
        session, w, tried = self.session, self.w, list[str]()

        def called(name: str, settings: dict[str, Any]) -> str:
            return f"{w.step(name)} ({w.settings(settings)})" if settings else w.step(name)

        def compute(result: Result, progress: Any) -> list[NextStep]:
            def before(name: str, settings: dict[str, Any]) -> None:
                tried.append(called(name, settings))
                progress(tried[-1])

            return session.try_next(result, before)

        def show(tries: list[NextStep]) -> list[Any]:
            rows = [row(self._tried(step, called(step.name, step.settings))) for step in tries[:_MOST_TRIES]]
            head = escape(w.say("all_tried", count=len(tried)))
            listed = f"<details><summary>{head}</summary>{escape('; '.join(tried))}</details>"
            return [self.text("tried" if rows else "tried_none"), *rows, widgets.HTML(listed)]

        self.ask(self.tried, compute, show)

    def _tried(self, step: NextStep, name: str) -> Any:
        """A step that was tried, with the button that takes it."""
        w, session = self.w, self.session
        unmet = w.message(w.say("leaves_unmet", limits=step.unmet)) if step.unmet else w.say("all_met")
        unmet += " " + w.message(w.say("leaves_uncounted", limits=step.uncounted)) if step.uncounted else ""
        words = w.say("tried_step", gap=w.percent(step.gap), loss=w.percent(step.loss), unmet=unmet)
        take = self.button("take", lambda: self._change(session.draft.with_step(step.name, step.settings)))
        take.tooltip = f"{take.description}: {name}"
        return boxed("kanon-step", widgets.HTML(f"<b>{escape(name)}</b><br>{escape(words)}"), take)

    def _history(self, result: Result) -> pd.DataFrame:
        """Risk and loss after each step, one row a state."""
        w, history = self.w, result.protection.history
        settings = [{}, *(step.settings for step in result.protection.steps)]
        rows: dict[str, Any] = {w.say("c_step"): w.steps(history["name"], settings)}
        below = f"violations_{result.judged.k}_wildcard"
        if below in history:
            rows[w.say("below_k", k=result.judged.k)] = [w.number(value) for value in history[below]]
        return pd.DataFrame(rows | measures_of_steps(history, w))
