"""What a page for everybody shows of an analysis: a list of what may be shown, each with how it is rounded.

Two pages, of a file with and without one person or of two recipes, should not tell what one of them does not. A count
of records is therefore a multiple of so many that one person seldom moves it, shares follow from such counts, and what
is not listed here is not shown. That is no differential privacy: a number at the edge of its step is moved by one
person, and then both pages together tell that it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab.measures.registry import LIMITS, find_measure, measures
from kanon_lab.report.safe import QUANTILES
from kanon_lab.report.words import Few, OrMore
from kanon_lab.terms import Note, is_for_office

if TYPE_CHECKING:
    from kanon_lab.recipes.verdict import Judged
    from kanon_lab.report.analysis import Analysis

# Steps of counts, and the part of the records that a step is at most.
_STEPS = (10, 20, 50, 100)
_PART, _PART_OF_CATEGORIES = 10, 50
# Up to so many different values are counted exactly: they are categories, all of which the release shows.
_MOST_CATEGORIES = 30
# Counts of records, and the shares that follow from them.
_SHARES = {"records": "share", "compatible": "compatible_share"}
_FILE = ("name", "records", "columns", "format", "encoding", "separator", "decimal", "notes")


def step_of(records: int, part: int = _PART) -> int:
    """What counts of records are rounded to: the largest of 10, 20, 50 and 100 that the file has `part` times."""
    return max((step for step in _STEPS if step * part <= records), default=_STEPS[0])


def public(analysis: Analysis) -> Analysis:
    """The analysis with nothing in it but what a page for everybody may show.

    It has the same frames, of fewer columns. Counts of records are multiples of a step (``summary["step"]``), or `Few`;
    zero stands only for what the release itself shows. Risks have two digits in the end and one before, losses are in
    whole per cents.
    """
    rounding = _Rounding(analysis)
    frames: dict[str, Any] = {name: rounding.frame(name, getattr(analysis, name)) for name in _FRAMES}
    sets = frames["unique_sets"]
    is_counted = pd.Series([not isinstance(count, Few) for count in sets["records"]], index=sets.index, dtype=bool)
    frames["unique_sets"] = sets[is_counted].reset_index(drop=True)
    return replace(
        analysis,
        **frames,
        file={name: analysis.file[name] for name in _FILE if name in analysis.file}
        | {"notes": tuple(map(rounding.note, analysis.file.get("notes", ())))},
        summary=rounding.summary(analysis.summary),
        judged=rounding.judged(analysis.judged),
        map=rounding.map(analysis.map, analysis.map_axes),
        notes=tuple(rounding.note(note) for note in analysis.notes if not is_for_office(note)),
        seeds=analysis.seeds.iloc[:0],
    )


def _is_missing(value: Any) -> bool:
    return value is None or bool(pd.isna(value))


def _digits(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else value


def sided(value: float, limit: float, met: bool, *, least: bool = False, digits: int = 2) -> float:
    """A value in some digits, on the side of its limit on which it is (`met`; at `least` the limit, or at most)."""
    if not math.isfinite(value) or value == 0:
        return value
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    options = [_digits(round_to(value / unit) * unit, digits + 1) for round_to in (math.floor, math.ceil)]
    right = [option for option in options if (option >= limit if least else option <= limit) == met]
    return min(right or options, key=lambda option: abs(option - value))


class _Rounding:
    """How the numbers of one analysis are rounded: kinds of numbers, each of the release or of the file before."""

    def __init__(self, analysis: Analysis):
        self.records = analysis.summary["records"]
        self.step = step_of(self.records)
        self.step_of_categories = max(5, step_of(self.records, _PART_OF_CATEGORIES) if self.records >= 500 else 5)
        self.last = len(analysis.steps) - 1

    def _stepped(self, value: int, released: bool, step: int) -> int:
        if value == 0 and released:
            return 0
        return Few(step) if value < step else step * round(int(value) / step)

    def count(self, value: int, released: bool = True) -> int:
        """Records, cells or classes."""
        return self._stepped(value, released, self.step)

    def category(self, value: int, released: bool) -> int:
        """Records of a category that is named."""
        return self._stepped(value, released, self.step_of_categories)

    def touched(self, value: int, released: bool) -> int:
        """Records or cells that a step touched: none, where it is not made to touch them."""
        return self.count(value)

    def k(self, value: int, released: bool) -> int:
        """Records of the smallest class: the office's promise about the release; before, below which ten they are."""
        return int(value) if released else Few(_STEPS[0] * (int(value) // _STEPS[0] + 1))

    def distinct(self, value: int, released: bool) -> int:
        """Different values: exactly, as long as they are categories, and then rounded down and called so."""
        if value <= _MOST_CATEGORIES:
            return int(value)
        return OrMore(value // (unit := max(10, 10 ** (len(str(value)) - 2))) * unit)

    def risk(self, value: float, released: bool, before: Iterable[float] = ()) -> float:
        """A mean risk, 0-1, or a number of persons that follows from it.

        What differs in a table differs in the file: where one digit is what stands `before` it, so it is here.
        """
        coarse, others = _digits(float(value), 1), {_digits(float(other), 1) for other in before}
        return _digits(float(value), 2) if released and coarse not in others else coarse

    def whole(self, value: float, released: bool) -> float:
        """A share of 0-1 in whole per cents."""
        return round(float(value), 2)

    def tenth(self, value: float, released: bool) -> float:
        return round(float(value), 1)

    def exact(self, value: Any, released: bool) -> Any:
        return value

    def several(self, value: int, released: bool) -> int:
        """How many categories are pooled: shown only as one or more."""
        return min(int(value), 1)

    def round_as(self, kind: _KIND, value: Any, released: bool = True, before: Iterable[Any] = ()) -> Any:
        """A number rounded as its kind says, a risk beside what stands before it; None for a missing one."""
        if _is_missing(value):
            return None
        if kind is _Rounding.risk:
            return self.risk(value, released, [other for other in before if not _is_missing(other)])
        return kind(self, value, released)

    def frame(self, name: str, frame: pd.DataFrame) -> pd.DataFrame:
        """The columns of a frame that may be shown, each rounded."""
        shown = frame[[column for column in frame if column in _FRAMES[name]]].copy()
        # whether each row is about the release, whose own counts anyone who has it makes
        released = [True] * len(frame)
        if "version" in frame:
            released = [*((frame["version"] == "after") | (self.last == 0))]
        elif name == "steps":
            released = [*(frame["step"] == self.last)]
        for column in shown.columns:
            if (kind := _FRAMES[name][column]) is not None:
                pairs = zip(frame[column], released, strict=True)
                earlier = frame[column].iloc[:-1] if name == "steps" and self.last else ()
                values = [self.round_as(kind, *pair, before=earlier) for pair in pairs]
                shown[column] = pd.Series(values, index=frame.index, dtype=object)
        for count, share in _SHARES.items():
            if share in shown and count in shown:
                few = shown[count].map(lambda records: isinstance(records, Few) or bool(pd.isna(records))).astype(bool)
                shown[share] = (shown[count].mask(few).astype(float) / self.records).round(2)
        return shown

    def summary(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """The summary with the measures that may be shown, and the steps of its counts."""
        rounded: dict[str, Any] = {"before": {}, "after": {}}
        for when, shown in [*rounded.items()]:
            for name, value in summary[when].items():
                if (row := find_measure(name)) is not None and row.rounding:
                    released = when == "after" or self.last == 0  # with no step, the file as it came is released
                    earlier = [summary["before"].get(name)] if self.last else ()
                    shown[name] = self.round_as(getattr(_Rounding, row.rounding), value, released, earlier)
        if summary["weight_totals"]:
            *totals, change = summary["weight_totals"]
            rounded["weight_totals"] = [*(_digits(total, 3) for total in totals), round(change, 3)]
        return {**summary, **rounded, "step": self.step, "step_of_categories": self.step_of_categories}

    def judged(self, judged: Judged) -> Judged:
        """Each limit as it was set, what was found on the right side of it, and cautions with their counts in steps."""
        rows = [self._limit(row) for row in judged.verdict.to_dict("records")]
        verdict = pd.DataFrame(rows, columns=judged.verdict.columns, dtype=object)
        cautions = tuple(
            replace(caution, count=self.round_as(_Rounding.count, caution.count), text=self.note(caution.text))
            for caution in judged.cautions
            if not is_for_office(caution.text)
        )
        verdict = verdict.astype({"level": float, "met": bool})
        return replace(
            judged, verdict=verdict, cautions=cautions, claims=judged.claims.iloc[:0], exposure=None, together=None
        )

    def _limit(self, row: Mapping[Any, Any]) -> dict[str, Any]:
        unit, value = LIMITS[row["name"]].unit, None if pd.isna(row["found"]) else row["found"]
        if value is not None and unit == "records" and value < self.step:
            value = self.count(int(value))
        elif value is not None and unit == "records":  # rounded down if the limit is met, else up
            value = self.step * (int(value) // self.step if row["met"] else math.ceil(int(value) / self.step))
        elif value is not None and getattr(row["variable"], "key", "").endswith("_persons"):
            # The persons of a small class are the weights of a few records, which may not be released.
            value = sided(value, row["limit"], True, least=True, digits=1) if row["met"] else Few(row["limit"])
        elif value is not None and unit not in ("k", "values", "columns"):
            value = sided(value, row["limit"], row["met"], least=row["bound"] == "at least")
        return {**row, "found": value, "records": self.round_as(_Rounding.count, row["records"])}

    def map(self, recipes: Any, axes: tuple[str, str]) -> Any:
        """The map of recipes by its two measures, and by the limits."""
        if recipes is None:
            return None
        names = [name for name in dict.fromkeys(axes) if name in recipes.points]
        points, spread = (
            frame.assign(**{name: [_digits(value, 2) for value in frame[name].astype(float)] for name in names})
            for frame in (recipes.points, recipes.spread)
        )
        rows = [self._limit(row) for row in recipes.verdicts.to_dict("records")]
        verdicts = pd.DataFrame(rows, columns=recipes.verdicts.columns, dtype=object)
        return replace(recipes, points=points, spread=spread, verdicts=verdicts)

    def note(self, note: Any) -> Any:
        """A note with its counts in steps and its shares in whole per cents; a text without a key stays as it is."""
        if not isinstance(note, Note):
            return note
        return Note(note.key, **{name: self._part(name, part) for name, part in note.parts.items()})

    def _part(self, name: str, part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(self._part(name, inner) for inner in part)
        if isinstance(part, str):
            return self.note(part)
        if isinstance(part, float):
            return self.whole(part, True)
        kind = _PARTS.get(name)
        return part if kind is None else self.round_as(kind, part)


_KIND = Callable[[_Rounding, Any, bool], Any]


def _shown(as_it_is: str = "", **kinds: str) -> dict[str, _KIND | None]:
    """Columns that may be shown as they are, and others by how `_Rounding` rounds them."""
    rounded = {name: getattr(_Rounding, kind) for kind, names in kinds.items() for name in names.split()}
    return {**dict.fromkeys(as_it_is.split()), **rounded}


def _measured(place: str) -> dict[str, _KIND | None]:
    """The measures that are shown in a place, by how `_Rounding` rounds them."""
    return {row.name: getattr(_Rounding, row.rounding) for row in measures(shown=place)}


#: Frame of an analysis -> its columns that may be shown, and how each is rounded.
_FRAMES: dict[str, dict[Any, _KIND | None]] = {
    "variables": _shown("column role fate kind", distinct="distinct_after", count="missing"),
    "categories": _shown("variable category share", category="records", several="pooled"),
    "quantiles": dict.fromkeys(("variable", *QUANTILES)),
    "indicators": _shown("kind variable category by group overlap covered"),
    "sizes": _shown("version label size_from size_to share compatible_share", count="classes records compatible"),
    "risks": _shown("version low high share", count="records"),
    "riskiest": _shown("f_k low high", count="classes records"),
    "suda": _shown("version variable", tenth="contribution"),
    "unique_sets": _shown("version variables size", count="records"),
    "diversity": _shown("variable", count="homogeneous", tenth="inferred") | _measured("diversity"),
    "steps": _shown(
        "step name settings columns_removed above no_bound",
        touched="records_touched cells_changed cells_suppressed key_cells least_cells",
        count="below",
    )
    | _measured("steps"),
    "claims": _shown("k claim share", count="records"),
    "released": _shown("column role", distinct="distinct_values", count="cells_changed cells_suppressed"),
}
#: Part of a note -> how it is rounded; other parts are shown unchanged.
_PARTS = _shown(count="records count cells uniques")
