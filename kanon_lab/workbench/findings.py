"""The places *Risk* and *Compare*: limits, and sections of a report on the result, computed in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from kanon_lab.measures.registry import LIMITS, limit_of
from kanon_lab.recipes.settings import LimitSettings
from kanon_lab.report.analysis import Analysis, analyse_release, compared_recipes
from kanon_lab.report.config import as_config
from kanon_lab.report.sections import section
from kanon_lab.show.forms import Form
from kanon_lab.workbench.parts import Place, row, shown, sides, swap
from kanon_lab.workbench.session import Result

_USUAL = [name for name in LIMITS if limit_of(name).usual]
_NAMES = [name for name, measure in LIMITS.items() if measure.limit is not None]
_KS = [2, 3, 5, 10]


class Sections:
    """Sections of the report on a result, by their names; `office`: whether a click shows the riskiest combinations."""

    def __init__(self, place: Place, names: Sequence[str], *, office: bool = False) -> None:
        self.place, self.bench, self.names = place, place.bench, names
        self._shown: Result | None = None
        self.parts, self.more = widgets.VBox(), widgets.VBox()
        self._ask = [place.text("about_office"), row(place.button("show_office", self._show_office))] if office else []
        self.box = widgets.VBox([self.parts, self.more])

    def fill(self) -> None:
        """Show the sections of the result, as soon as it is there."""
        result = self.bench.fresh
        if result is None:  # what is shown is out of date until the verdict is there
            self.parts.add_class("kanon-stale")
        elif result is not self._shown:
            self.bench.compute(lambda progress: analysed(self.bench, result, progress), self._show(result))

    def _show(self, result: Result) -> Any:
        def show(analysis: Analysis) -> None:
            language = self.place.w.language
            parts = [part for name in self.names for part in shown(section(analysis, name, language))]
            swap(self.parts, parts)
            self.parts.remove_class("kanon-stale")
            self._hide()
            self._shown = result

        return show

    def _show_office(self) -> None:
        """Show what the report for the office has besides: key values at the highest risk, and what each became."""
        result = self.bench.fresh
        if result is None:
            self.bench.say(self.place.w.say("computing_verdict"))
            return

        def job(progress: Any) -> Analysis:
            return analysed(self.bench, result, progress, replace(result.config, map=None))

        def done(analysis: Analysis) -> None:
            hide = self.place.button("hide_office", self._hide)
            swap(self.more, [row(hide), *shown(section(analysis, "internal", self.place.w.language))], self._ask)

        self.bench.compute(job, done)

    def _hide(self) -> None:
        swap(self.more, self._ask)


def analysed(bench: Any, result: Result, progress: Any, config: Any = None) -> Analysis:
    """What a report says of a result, as counts for the office; the last one is kept. With a `config`, all of it."""
    kept, of = bench.analysis
    if of is result and config is None:
        return kept
    options: dict[str, Any] = {"name": bench.session.name, "progress": progress, "internal": True}
    options |= {"brief": config is None}
    of_file = bench.session.file, config or result.config, result.protection, result.release, result.judged
    analysis = analyse_release(*of_file, **options)
    if config is None:
        bench.analysis = analysis, result
    return analysis


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
        terms = self.w.terms("k_anonymity individual_risk global_risk household_risk sample_unique suda_score")
        self.box.children = (self.heading("place_risk"), terms, sides(limits, self.sections.box))

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


class Compare(Place):
    """The sections of a report on utility, and the map of the recipe with other values of k."""

    name = "compare"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self.sections, self.map = Sections(self, ("utility", "recipe", "variables")), widgets.VBox()
        tries = row(
            self.button("indicators", lambda: bench.change(bench.session.with_indicators())),
            self.button("try_k", self._try_k),
            self.button("go_release", lambda: bench.go("release"), style="primary"),
        )
        parts = (self.text("about_compare"), tries, self.map, self.sections.box)
        self.box.children = (self.heading("place_compare"), *parts)

    def fill(self) -> None:
        if self.bench.session is not None:
            self.sections.fill()

    def _try_k(self) -> None:
        """Draw the map of this recipe with other values of k, and its own point."""
        bench, session, result, w = self.bench, self.bench.session, self.bench.fresh, self.w
        steps = [{step.name: step.settings} for step in session.draft.steps if step.on] if session else []
        tried = [_with_k(step) for step in steps]
        if result is None or tried == steps:
            bench.say(w.say("no_file" if session is None else "no_k" if result else "computing_verdict"))
            return
        whole = {**session.draft.configuration, "map": {"grid": {"k": _KS}, "steps": tried}}

        def job(progress: Any) -> Any:
            progress(w.say("trying_k"))
            config = as_config(whole)
            analysis = analysed(bench, result, progress)
            return replace(analysis, map=compared_recipes(session.file, config))

        def done(analysis: Any) -> None:
            swap(self.map, shown(section(analysis, "map", w.language)))
            self.fill()

        bench.compute(job, done)


def _with_k(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step with a placeholder for the k that it reaches; others as they are."""
    ((name, settings),) = step.items()
    return {name: {**settings, "k_required": "$k"}} if name == "suppress" else dict(step)
