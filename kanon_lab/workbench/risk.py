"""The place *Risk*: the limits of the office, and what the release is found to be."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from kanon_lab.measures.registry import LIMITS, limit_of
from kanon_lab.recipes.settings import LimitSettings
from kanon_lab.show.forms import Form
from kanon_lab.workbench.parts import Place, row
from kanon_lab.workbench.sections import Sections

_USUAL = [name for name in LIMITS if limit_of(name).usual]
_NAMES = [name for name, measure in LIMITS.items() if measure.limit is not None]
_TERMS = ("k_anonymity", "individual_risk", "global_risk", "household_risk", "sample_unique", "suda_score")


class Risk(Place):
    """The limits, and the sections of a report on risk."""

    name = "risk"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self._filling = False
        self.limits = Form(
            LimitSettings,
            [],
            self.w,
            names=_NAMES,
            first=_USUAL,
            label=lambda name: LIMITS[name].limit_called(self.w.language, variable="…", level="…"),
            on_change=self.safely(self._entered),
        )
        self.sections = Sections(self, ("summary", "classes", "riskiest", "diversity"), office=True)
        usual = self.button("usual_limits", self._take_usual, style="primary")
        go_on = self.button("go_protect", lambda: self.bench.go("protect"), style="primary")
        limits = widgets.VBox([self.text("about_limits"), row(usual, go_on), self.limits.box])
        limits.add_class("kanon-limits-form")
        self.sections.box.add_class("kanon-side")
        both = widgets.HBox([limits, self.sections.box])
        both.add_class("kanon-sides")
        terms = widgets.HTML("".join(self.w.term(key) for key in _TERMS))
        self.box.children = (self.heading("place_risk"), terms, both)

    def fill(self) -> None:
        if self.bench.session is None:
            return
        limits = self.bench.session.draft.settings.get("limits", {})
        self._filling = True
        self.limits.values = {name: limits.get(name) for name in _NAMES}
        self._filling = False
        self.sections.fill()

    def _entered(self, name: str) -> None:
        if self._filling:
            return
        field = self.limits.fields[name]
        try:
            value = field.value
        except Exception as error:  # noqa: BLE001 - one line beside the field
            field.say(str(error))
            return
        self.bench.change(self.bench.session.draft.with_limit(name, value), field.say)

    def _take_usual(self) -> None:
        session = self.bench.session
        self.bench.change(session.draft.with_settings(limits={**session.usual_limits(), **self._limits}))

    @property
    def _limits(self) -> dict[str, Any]:
        return self.bench.session.draft.settings.get("limits", {})
