"""Sections of a report as widgets of a place: computed in the background, for the result in view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from kanon_lab.report.analysis import Analysis, analyse_release
from kanon_lab.report.sections import section
from kanon_lab.workbench.parts import Place, row, shown, swap
from kanon_lab.workbench.session import Result


class Sections:
    """Sections of the report on the result of a workbench.

    Parameters
    ----------
    place : Place
        Where they are shown.
    names : sequence of str
        Of `kanon_lab.report.SECTIONS`.
    office : bool
        Whether a click shows the riskiest combinations too.
    """

    def __init__(self, place: Place, names: Sequence[str], *, office: bool = False) -> None:
        self.place, self.bench, self.names = place, place.bench, names
        self._shown: Result | None = None
        self.parts, self.more = widgets.VBox(), widgets.VBox()
        self._ask = [place.text("about_office"), row(place.button("show_office", self._show_office))] if office else []
        self.box = widgets.VBox([self.parts, self.more])

    def fill(self) -> None:
        """Show the sections of the result, as soon as it is there."""
        result = self.bench.fresh
        if result is None:
            words = self.place.w.say("no_file" if self.bench.session is None else "computing_verdict")
            swap(self.parts, [widgets.HTML(f"<p role='status'>{words}</p>")])
        elif result is not self._shown:
            self.bench.compute(lambda progress: analysed(self.bench, result, progress), self._show(result))

    def _show(self, result: Result) -> Any:
        def show(analysis: Analysis) -> None:
            language = self.place.w.language
            parts = [part for name in self.names for part in shown(section(analysis, name, language))]
            swap(self.parts, parts)
            self._hide()
            self._shown = result

        return show

    def _show_office(self) -> None:
        """Show what the report for the office has besides: key values at the highest risk, and what each became."""
        result, session = self.bench.fresh, self.bench.session
        if result is None or session is None:
            self.bench.say(self.place.w.say("computing_verdict"))
            return
        config = replace(result.config, map=None)

        def job(progress: Any) -> Analysis:
            options: dict[str, Any] = {"name": session.name, "internal": True, "progress": progress}
            return analyse_release(session.file, config, result.protection, result.release, result.judged, **options)

        def done(analysis: Analysis) -> None:
            hide = self.place.button("hide_office", self._hide)
            swap(self.more, [row(hide), *shown(section(analysis, "internal", self.place.w.language))], self._ask)

        self.bench.compute(job, done)

    def _hide(self) -> None:
        swap(self.more, self._ask)


def analysed(bench: Any, result: Result, progress: Any) -> Analysis:
    """What a report says of a result, as counts for the office; the last one is kept."""
    kept, of = bench.analysis
    if of is not result:
        session = bench.session
        kept = analyse_release(
            session.file,
            result.config,
            result.protection,
            result.release,
            result.judged,
            name=session.name,
            progress=progress,
            internal=True,
            brief=True,
        )
        bench.analysis = kept, result
    return kept
