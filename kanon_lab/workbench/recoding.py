"""Beside the form of a recoding: the values of the column as bars, before and after it, and helpers to choose it."""

from __future__ import annotations

from html import escape
from math import ceil, floor, inf
from typing import Any

import ipywidgets as widgets
import pandas as pd

from kanon_lab.columns import one_column, plain
from kanon_lab.errors import KanonLabError
from kanon_lab.methods.recode_settings import RECODINGS, recoded_column
from kanon_lab.recipes.settings import LEAST
from kanon_lab.report.pictures import frequencies
from kanon_lab.report.safe import safe_quantiles
from kanon_lab.report.tables import category_rows, is_quantity
from kanon_lab.settings import read
from kanon_lab.show.forms import Form
from kanon_lab.workbench.parts import WIDE, row

# Categories that a menu shows at once.
_ROWS = 8


class Beside:
    """Bars of the column that the form of a step recodes, which follow what is entered."""

    def __init__(self, form: Form, step: str, place: Any) -> None:
        self.form, self.step, self.place, self.bench, self.w = form, step, place, place.bench, place.w
        self.entry = place.entry
        self.bars, self.helper = widgets.HTML(), widgets.VBox()
        self.box = widgets.VBox([self.helper, self.bars])
        place.follow(form.kind, lambda _: self._chosen())
        for name, field in form.fields.items():
            place.follow(field.control, lambda _, name=name: self._chosen() if name == "variable" else self.draw())
        self._chosen()

    @property
    def column(self) -> pd.Series | None:
        """The column that is recoded, as it is when the step comes; the first of several."""
        names, result = self.form.fields["variable"].value, self.bench.result
        if not names or result is None:
            return None
        protection, steps = result.protection, result.draft.steps
        at = next((n for n, step in enumerate(steps) if step is self.entry), result.draft.place_for(self.step))
        later = sum(step.on for step in steps[at:])  # steps of households come first, and are not in the list
        ahead = protection.steps[: len(protection.steps) - later]
        working = (ahead[-1].state if ahead else protection.start).working
        return one_column(working, names[0]) if names[0] in working else None

    def _chosen(self) -> None:
        """Another column: other helpers and bars."""
        column, kind = self.column, self.form.kind.value
        helpers = {"bands": self._bands, "groups": self._groups}
        self.helper.children = helpers[kind](column) if column is not None and kind in helpers else ()
        self.draw()

    def draw(self) -> None:
        """Draw the values before and after, as far as what is entered can be read."""
        column, w, step = self.column, self.w, self.step
        if column is None:
            self.bars.value = ""
            return
        labels = self.bench.session.file.labels.get(str(column.name), {})
        shown = [("values_before", frequencies(column, labels, w))]
        try:
            after = recoded_column(step, read(RECODINGS[step], self.form.values), column)
            shown.append(("values_after", frequencies(after, {}, w)))
        except KanonLabError:  # it is not complete yet; the line comes when it is added
            self.form.say("")
        parts = "".join(f"<div><b>{escape(w.say(key))}</b>{drawn}</div>" for key, drawn in shown)
        self.bars.value = f"<div class='kanon-beside'>{parts}</div>"

    def _bands(self, column: pd.Series) -> tuple[Any, ...]:
        """Sliders that write bands of one width, with open ends."""
        if not is_quantity(plain(column), named=True):
            return ()
        numbers = pd.to_numeric(plain(column), errors="coerce").to_numpy(dtype=float, na_value=float("nan"))
        if not (safe := safe_quantiles(numbers, least=LEAST)):
            return ()
        least, most = _ends(safe)
        span = most - least
        width = widgets.IntSlider(value=max(1, span // 6), min=max(1, span // 50), max=max(2, span // 2), **WIDE)
        ends = widgets.IntRangeSlider(value=(least, most), min=min(least, 0), max=most, **WIDE)
        width.description, ends.description = self.w.say("band_width"), self.w.say("band_ends")

        def write(_: Any) -> None:
            edges: list[int | None] = [*range(ends.value[0], ends.value[1] + 1, width.value)]
            self.form.fields["bands"].value = [None, *edges, None] if least > 0 else [*edges, None]

        for slider in (width, ends):
            self.place.follow(slider, write)
        return width, ends

    def _groups(self, column: pd.Series) -> tuple[Any, ...]:
        """A menu of the categories that may be named, and a button that puts some of them into a group."""
        w, values = self.w, {}
        for value in plain(column).dropna().unique():
            values[str(value)] = value.item() if hasattr(value, "item") else value
        rows = [name for name, *_ in category_rows(plain(column), {}, least=LEAST) if name in values]
        menu = widgets.SelectMultiple(options=rows, rows=min(len(rows), _ROWS) or 1, **WIDE)
        label = widgets.Text(placeholder=w.say("group_label"), **WIDE)
        menu.description, label.description = w.say("categories"), w.say("group_name")

        def group() -> None:
            groups = dict(self.form.fields["groups"].value or {})
            if label.value and menu.value:
                groups[label.value] = [values[name] for name in menu.value]
                self.form.fields["groups"].value = groups
                if self.form.fields["others"].value is None:
                    self.form.fields["others"].value = "keep"

        return menu, row(label, self.place.button("group_these", group))


def _ends(quantiles: dict[float, float]) -> tuple[int, int]:
    """Round numbers where a quantity may begin and end: on a line through its outer quantiles, so of no one record."""
    (low, first), (high, last) = min(quantiles.items()), max(quantiles.items())
    slope = (last - first) / (high - low) if high > low else 0.0
    base = 10 ** max(0, len(str(int(abs(last - first)))) - 1)
    least, most = max(first - slope * low, 0 if first >= 0 else -inf), last + slope * (1 - high)
    return int(floor(least / base)) * base, max(int(ceil(most / base)), int(floor(least / base)) + 1) * base
