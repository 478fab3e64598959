"""The place *Compare*: the file before and after, by variable and by what is published."""

from __future__ import annotations

from typing import Any

from kanon_lab.workbench.parts import Place, row
from kanon_lab.workbench.sections import Sections


class Compare(Place):
    """The sections of a report on utility."""

    name = "compare"

    def __init__(self, bench: Any) -> None:
        super().__init__(bench)
        self.sections = Sections(self, ("utility", "recipe", "variables"))
        go_on = self.button("go_release", lambda: self.bench.go("release"), style="primary")
        self.box.children = (self.heading("place_compare"), self.text("about_compare"), row(go_on), self.sections.box)

    def fill(self) -> None:
        if self.bench.session is not None:
            self.sections.fill()
