"""What the charts of the risk-utility map show: recipes, their frontier, one required risk, and the words for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from kanon_lab.charts.style import check_columns
from kanon_lab.digits import number, percent
from kanon_lab.errors import OptionError, shortened
from kanon_lab.tradeoff import MEASURES, RiskUtilityMap, costs, frontier, measure_of
from kanon_lab.tradeoff.best import USUAL_LOSS, check_required, least_loss, middle_step, risk_steps

if TYPE_CHECKING:
    import pandas as pd

# Characters of a line of words, at most.
_WIDEST = 46
# Digits of a number, at least, and steps of an axis, at most.
_DIGITS, _TICKS = 4, 10


@dataclass(frozen=True)
class MapState:
    """What is shown: the recipes with the cost of each measure under its name, and one required risk and loss."""

    rows: pd.DataFrame
    fronts: dict[str, pd.DataFrame]
    risk: str
    loss: str
    at_most: float | None

    @classmethod
    def of(
        cls, points: pd.DataFrame, risk: str, losses: list[str], at_most: float | None, loss: str | None = None
    ) -> MapState:
        if at_most is not None:
            check_required(at_most, measure_of(risk, "risk"))
        if not losses or loss not in (None, *losses):
            raise OptionError(f"loss must be one of {', '.join(losses) or 'the losses of the map'}, not {loss!r}")
        for each in losses:
            costs(points, risk=risk, loss=each)  # refuses what cannot be compared
        points = points[points["error"].isna() & points[risk].notna()].reset_index(drop=True)
        fronts = {each: frontier(points, risk=risk, loss=each) for each in losses}
        rows = points.assign(**{each: measure_of(each).cost(points[each]) for each in (risk, *losses)})
        usual = USUAL_LOSS if USUAL_LOSS in losses else losses[0]
        return cls(rows, fronts, risk, usual if loss is None else loss, at_most)

    def on_slider(self) -> MapState:
        """The same with the required risk at a step of the slider: by default the middle of the frontier."""
        if self.at_most is None:
            return replace(self, at_most=middle_step(self.fronts[self.loss], self.steps))
        return replace(self, at_most=max(step for step in self.steps if step <= self.at_most))

    @property
    def unit(self) -> float:
        """What the required risk is told in: per cent of a share, or records."""
        return 0.01 if measure_of(self.risk).share else 1.0

    @property
    def steps(self) -> list[float]:
        """The required risks to choose from."""
        return risk_steps(self.rows[self.risk].max())

    def best(self, loss: str, at_most: float | None) -> int:
        """Position of the cheapest recipe, or -1."""
        place = None if at_most is None else least_loss(self.fronts[loss], at_most)
        return -1 if place is None else int(self.fronts[loss].index[place])

    def values(self) -> dict[str, Any]:
        """Of the parameters of a chart without controls."""
        limit = None if self.at_most is None else round(self.at_most / self.unit, 10)
        return {"limit": limit, "chosen": self.best(self.loss, self.at_most)}

    def form(self, name: str) -> str:
        """How Vega writes the measure."""
        return f".{self._digits(name)}~p" if measure_of(name).share else f",.{self._digits(name)}~r"

    def worded(self, name: str, value: float) -> str:
        """The same in Python."""
        return (percent if measure_of(name).share else number)(value, digits=self._digits(name))

    def _digits(self, name: str) -> int:
        """Digits that count, of the largest value, so that steps of an axis look different, and whole numbers whole."""
        largest, least = float(self.rows[name].abs().max()), float(self.rows[name].min())
        if not largest > 0:
            return _DIGITS
        top, step = math.floor(math.log10(largest)), (largest - least) / _TICKS
        whole = 0 if measure_of(name).share else top + 1
        return max(_DIGITS, whole, 1 + top - math.floor(math.log10(step)) if step > 1e-9 * largest else 0)

    def subject(self, kind: str) -> str:
        """What the chart shows in any of its states."""
        recipes = f"{len(self.rows):,} recipe{'s' * (len(self.rows) != 1)}"
        losses = " or ".join(measure_of(each).label for each in self.fronts)
        return f"{kind} of {recipes}: {measure_of(self.risk).label} that is left, against loss: {losses}."

    def description(self, kind: str) -> str:
        front = self.fronts[self.loss]
        best = f"{len(front):,} of them {'is' if len(front) == 1 else 'are'} beaten by no other."
        if self.at_most is None:
            return f"{self.subject(kind)} {best}"
        chosen = self.best(self.loss, self.at_most)
        asked = f"With {measure_of(self.risk).label} at most {self.worded(self.risk, self.at_most)}"
        if chosen < 0:
            return f"{self.subject(kind)} {best} {asked}, none."
        row = self.rows.loc[chosen]
        loss = f"{measure_of(self.loss).label} {self.worded(self.loss, row[self.loss])}"
        return f"{self.subject(kind)} {best} {asked}, the cheapest is {row['label']}: {loss}."


def points_of(found: RiskUtilityMap | pd.DataFrame) -> pd.DataFrame:
    points = found.points if isinstance(found, RiskUtilityMap) else found
    check_columns(points, ("label", "repeats", "error"), "risk_utility_map(...).points")
    return points


def varied_losses(points: pd.DataFrame, risk: str) -> list[str]:
    """The losses that differ between the recipes that have the risk."""
    names = [name for name in MEASURES if name in points and MEASURES[name].kind == "loss"]
    if risk in points:
        of_risk = points[points[risk].notna()]
        # Where no recipe has the risk, the first loss is refused with the reason.
        names = [name for name in names if of_risk[name].notna().any()] or names[:1]
    return [name for name in names if costs(points, risk=risk, loss=name)["loss"].nunique() > 1]


def told_of(row: dict[str, Any]) -> list[str]:
    """A recipe in lines: its parameters, or its name."""
    names = [*takewhile(lambda name: name != "repeats", row)][1:]
    return [shortened(f"{name}: {row[name]}", _WIDEST) for name in names] or [shortened(row["label"], _WIDEST)]
