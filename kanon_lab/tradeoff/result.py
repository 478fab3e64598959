"""What a risk-utility map gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from kanon_lab.errors import OptionError, shortened
from kanon_lab.tradeoff.best import USUAL_LOSS, USUAL_RISK, cheapest, frontier
from kanon_lab.tradeoff.measures import is_measure, measure_of
from kanon_lab.tradeoff.unseen import blind_spot

#: How the seeds of a recipe are put into one number.
REPEATS = ("mean", "worst")


@dataclass(frozen=True)
class RiskUtilityMap:
    """Many recipes on one file: what each leaves of risk, and what it takes of utility.

    Attributes
    ----------
    points : DataFrame
        One row a recipe, in the order of the grid: ``label``, a column for each placeholder, ``repeats`` (seeds tried;
        1 where nothing is random), ``error`` (one line where the recipe could not be applied, else missing), and the
        measures of the last state (see `kanon_lab.protection.measured.Measured.row`), the mean over the seeds. A
        measure that is not defined is missing.
    spread : DataFrame
        ``label`` and the standard deviation of each measure over the seeds: 0 where nothing is random, missing where
        one seed was tried.
    runs : DataFrame
        One row a recipe and seed: ``label``, ``seed``, ``error`` and the measures.
    recipes : dict of str to dict
        By label the settings, as in a recipe file.
    parameters : tuple of str
        The placeholders.
    perturbing : tuple of str
        Labels of recipes that perturb a key variable: risks of classes take what it shows for true.
    unseen : dict of str to dict
        By label and measure of loss, the steps that it does not see (`kanon_lab.tradeoff.unseen.unseen_steps`).
    """

    points: pd.DataFrame = field(repr=False)
    spread: pd.DataFrame = field(repr=False)
    runs: pd.DataFrame = field(repr=False)
    recipes: dict[str, dict[str, Any]] = field(repr=False)
    parameters: tuple[str, ...]
    perturbing: tuple[str, ...] = field(repr=False)
    unseen: dict[str, dict[str, tuple[str, ...]]] = field(repr=False, default_factory=dict)

    @property
    def worst(self) -> pd.DataFrame:
        """As `points`, with the worst of each measure over the seeds instead of the mean: its largest cost."""
        runs, worst = self.runs.groupby("label", sort=False), self.points.copy()
        for name in worst.columns[worst.columns.get_loc("error") + 1 :]:
            if is_measure(name):
                each = runs[name].min() if measure_of(name).kept else runs[name].max()
                worst[name] = worst["label"].map(each).where(worst[name].notna())
        return worst

    def frontier(self, *, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean") -> pd.DataFrame:
        """`kanon_lab.tradeoff.frontier` of the mean over the seeds, or of the ``worst`` of them."""
        return frontier(self._points(repeats), risk=risk, loss=loss)

    def cheapest(
        self, *, at_most: float, risk: str = USUAL_RISK, loss: str = USUAL_LOSS, repeats: str = "mean"
    ) -> pd.Series:
        """`kanon_lab.tradeoff.cheapest` of the mean over the seeds, or of the ``worst`` of them."""
        return cheapest(self._points(repeats), at_most=at_most, risk=risk, loss=loss)

    def notes(self, risk: str = USUAL_RISK) -> tuple[str, ...]:
        """What a reader of the map should know where `risk` is the measure."""
        found = []
        if self.perturbing and risk not in ("key_linkage", "numeric_linkage"):
            found.append(f"{risk} takes perturbed keys for true ones; key_linkage does not")
        measures = list(self.spread.columns[1:])
        if (self.spread[measures].isna() & self.points[measures].notna()).any(axis=None):
            found.append(
                "something is random in a recipe of which one seed was tried; repeats show how much it matters"
            )
        return tuple(found)

    def caution(self, label: str, loss: str = USUAL_LOSS) -> str | None:
        """`kanon_lab.tradeoff.unseen.blind_spot` of a recipe."""
        recipe = self.points.set_index("label", drop=False).loc[label]
        return blind_spot(recipe, self.unseen.get(label, {}), loss)

    def _points(self, repeats: str) -> pd.DataFrame:
        if repeats not in REPEATS:
            raise OptionError(f"repeats must be {' or '.join(REPEATS)}, not {shortened(repr(repeats))}")
        return self.points if repeats == "mean" else self.worst
