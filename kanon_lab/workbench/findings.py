"""The places *Risk* and *Compare*: limits, and sections of a report on the result, computed in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import ipywidgets as widgets

from kanon_lab.errors import KanonLabError
from kanon_lab.measures.registry import LIMITS, limit_of
from kanon_lab.recipes.settings import LimitSettings
from kanon_lab.report.analysis import Analysis, compared_recipes
from kanon_lab.report.config import as_config
from kanon_lab.report.sections import section
from kanon_lab.show.forms import Form
from kanon_lab.workbench.parts import Place, boxed, fade, row, shown, sides, swap
from kanon_lab.workbench.session import Result

# Limits that are shown first: the usual ones, and diversity for those who named sensitive variables.
_FIRST = [*(name for name in LIMITS if limit_of(name).usual), "distinct"]
# Limits that need another file can only come with a recipe.
_NAMES = [name for name, measure in LIMITS.items() if not (measure.needs == "population" or name == "k_with")]
_KS = [2, 3, 5, 10]


class Finding(Place):
    """A place that shows sections of the report on the result, by their names."""

    names: Sequence[str] = ()

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self.sections = widgets.VBox()
        self._shown: Result | None = None

    def fill(self) -> None:
        session, result = self.session, self.bench.fresh
        fade(self.sections, self._shown is not None and self._shown is not result)

        def show(analysis: Analysis) -> None:
            swap(self.sections, [part for name in self.names for part in self.section(analysis, name)])
            self._shown = result
            self.fill()

        if result is not None and result is not self._shown:
            self.bench.work.submit(partial(session.analyse, result), show, self.bench.say, "view")

    def section(self, analysis: Analysis, name: str) -> list[Any]:
        """A section of the report as widgets."""
        return shown(section(analysis, name, self.w))


class Risk(Finding):
    """The limits, and the sections of a report on risk."""

    name, names = "risk", ("summary", "classes", "riskiest", "diversity")

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        names = [*dict.fromkeys([*_NAMES, *self._limits])]
        called = {name: LIMITS[name].limit_called(self.w.language, variable="…", level="…") for name in names}
        options: dict[str, Any] = {"names": names, "first": _FIRST, "label": called.get}
        self.limits = Form(LimitSettings, [], self.w, **options, on_change=self.safely(self._entered))
        usual = self.button("usual_limits", self._take_usual, style="primary")
        go_on = self.button("go_protect", lambda: self.bench.go("protect"), style="primary")
        limits = boxed("kanon-limits-form", self.text("about_limits"), row(usual, go_on), self.limits.box)
        terms = self.w.terms("k_anonymity individual_risk global_risk household_risk sample_unique suda_score")
        self.riskiest, self._filled = widgets.VBox(), dict[str, Any]()
        ask = row(self.button("show_office", self._show_office))
        self.office = widgets.VBox([self.text("about_office"), ask, self.riskiest])
        results = widgets.VBox([self.sections, self.office])
        self.box.children = (self.heading("place_risk"), terms, sides(limits, results))

    def fill(self) -> None:
        if self._filled != self._limits:  # else what is being entered would go
            self._filled = self._limits
            self.limits.values = {name: "null" if bound is None else bound for name, bound in self._filled.items()}
        super().fill()
        self.office.layout.display = None if self.sections.children else "none"

    def _entered(self, name: str) -> None:
        field = self.limits.fields[name]
        try:
            value = field.value if field.control.value.strip() else ""
        except KanonLabError as error:
            field.say(str(error))
            return
        self.bench.change(self.session.draft.with_limit(name, value), field.say)

    def _take_usual(self) -> None:
        session = self.session
        self.bench.change(session.draft.with_settings(limits={**session.usual_limits(), **self._limits}))

    @property
    def _limits(self) -> dict[str, Any]:
        return self.bench.session.draft.settings.get("limits", {}) if self.bench.session else {}

    def _show_office(self) -> None:
        """Show what the report for the office has besides: key values at the highest risk, and what each became."""

        def show(analysis: Analysis) -> list[Any]:
            hide = self.button("hide_office", lambda: swap(self.riskiest, []))
            return [row(hide), *self.section(analysis, "internal")]

        self.ask(self.riskiest, partial(self.session.analyse, office=True), show)


class Compare(Finding):
    """The sections of a report on utility, and the map of the recipe with other values of k."""

    name, names = "compare", ("utility", "recipe", "variables")

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self.map = widgets.VBox()
        tries = row(
            self.button("indicators", lambda: bench.change(self.session.with_indicators())),
            self.button("try_k", self._try_k),
            self.button("go_release", lambda: bench.go("release"), style="primary"),
        )
        self.box.children = (self.heading("place_compare"), self.text("about_compare"), tries, self.map, self.sections)

    def _try_k(self) -> None:
        """Draw the map of this recipe with other values of k, and its own point."""
        session, configuration = self.session, self.bench.judged.draft.configuration
        steps = [pair for step in configuration.get("steps", ()) for pair in step.items()]
        tried = [{name: {**inner, "k_required": "$k"} if name == "suppress" else inner} for name, inner in steps]
        if not any("suppress" in step for step in tried):
            raise KanonLabError(self.w.say("no_k"))

        def compute(result: Result, progress: Any) -> Analysis:
            progress(self.w.say("trying_k"))
            config = as_config({**configuration, "map": {"grid": {"k": _KS}, "steps": tried}})
            return replace(session.analyse(result, progress), map=compared_recipes(session.file, config))

        self.ask(self.map, compute, lambda analysis: self.section(analysis, "map"))
