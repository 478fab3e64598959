"""The place *Compare*: the file before and after, by variable and by what is published, and other values of k."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from kanon_lab.report.analysis import compared_recipes
from kanon_lab.report.config import as_config
from kanon_lab.report.sections import section
from kanon_lab.workbench.parts import Place, row, shown, swap
from kanon_lab.workbench.sections import Sections, analysed

_KS = [2, 3, 5, 10]


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
