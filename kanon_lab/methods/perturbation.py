"""What all perturbations share: results and promises, columns, strata and random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import measures
from kanon_lab.arguments import check_choice, check_frame
from kanon_lab.columns import numbers_of, refuse, strata_codes, with_columns
from kanon_lab.errors import DataError, shortened
from kanon_lab.roles import names_of

#: How strictly something is kept.
EXACTLY, EXPECTED, NEARLY = "exactly", "in expectation", "nearly"
# Decimals of a quantity, such as cents; numbers with more of them are measured.
_MOST_DECIMALS = 6


@dataclass(frozen=True)
class Keep:
    """What a perturbation leaves as it was (``means``), how (``exactly``, ``nearly``), and of which variables."""

    what: str
    how: str
    of: str


_MARGINALS = Keep(
    "marginals", EXACTLY, "each variable: the same values as often, and so its mean, variance and quantiles"
)
_MEANS = Keep("means", EXACTLY, "each variable, in each stratum too, and so totals, up to rounding")
_MEANS_EXPECTED = Keep("means", EXPECTED, "each variable")
_MEANS_OF_FILE = Keep("means", EXACTLY, "each variable, up to rounding")
_COVARIANCES = Keep("covariances", EXACTLY, "all variables, variances among them, up to rounding")
_CORRELATIONS = Keep("correlations", NEARLY, "each two variables, within strata; variances grow")
_PAIRS = Keep("covariances", EXPECTED, "each two variables; variances grow, so that correlations shrink")
_SUMS = Keep("linear relations", EXACTLY, "variables of which one is the sum of others, up to rounding")
_SIZE_OF_ALL = Keep("group size", EXACTLY, "at least k records share the released values of all the variables")
_SIZE_OF_EACH = Keep("group size", EXACTLY, "at least k records share each released value, of each variable by itself")
_ORDER = Keep("order", EXACTLY, "each variable, in each stratum: no value overtakes another, though some become equal")
_GAPS = Keep("missing values", EXACTLY, "each variable")
_GAPS_IN_PLACE = Keep("missing values", EXACTLY, "they stay where they are")
_RANKS = Keep(
    "ranks", EXACTLY, "no value moves by more ranks of its stratum than the window; equal values have all theirs"
)
_RANK_CORRELATIONS = Keep(
    "rank correlations",
    NEARLY,
    "variables, and given ones with an order, if no value has more than a tenth of the records; within strata",
)
_MEAN_RANKS = Keep(
    "mean ranks",
    NEARLY,
    "given categories without an order, of many records and with a spread like the others; within strata",
)

#: Function -> method -> what it keeps, in each stratum and in the file unless it says otherwise.
KEEPS: dict[str, dict[str, tuple[Keep, ...]]] = {
    "pram": {
        "plain": (_GAPS, Keep("shares estimated by estimated_shares", EXPECTED, "each variable, within each stratum")),
        "invariant": (_GAPS, Keep("marginals", EXPECTED, "each variable, within each stratum; weighted with a weight")),
    },
    "microaggregate": {
        "mdav": (_MEANS, _SIZE_OF_ALL),
        "optimal": (_MEANS, _SIZE_OF_EACH, _ORDER),
        "mdav, median": (_SIZE_OF_ALL,),
        "optimal, median": (_SIZE_OF_EACH, _ORDER),
    },
    "add_noise": {
        "additive": (_MEANS_EXPECTED, _PAIRS),
        "correlated": (_MEANS_EXPECTED, _CORRELATIONS, _SUMS),
        "restricted": (_MEANS_OF_FILE, _COVARIANCES, _SUMS),
        "outliers": (_MEANS_EXPECTED, _PAIRS),
    },
    "rank_swap": {"rank_swap": (_MARGINALS, _RANKS, _GAPS_IN_PLACE)},
    "shuffle": {"shuffle": (_MARGINALS, _RANK_CORRELATIONS, _MEAN_RANKS)},
}


@dataclass(frozen=True)
class Perturbed:
    """The result of a perturbation.

    Attributes
    ----------
    frame : DataFrame
        The same records and columns; only the variables perturbed have other values.
    method : str
    variables, strata : tuple of str
    seed : int or None
        None where nothing is random. Anyone who knows it can repeat the draws: keep it as secret as the original file.
    cells : DataFrame
        One row a variable: ``variable``, ``cells`` (that have another value), ``share`` (0-1 of all records).
    keeps : tuple of Keep
        What the method promises, for the records and not for a population to which they are weighted.
    details : mapping
        Results of this method only; see its function.
    """

    frame: pd.DataFrame = field(repr=False)
    method: str
    variables: tuple[str, ...]
    strata: tuple[str, ...]
    seed: int | None
    cells: pd.DataFrame
    keeps: tuple[Keep, ...]
    details: Mapping[str, Any] = field(repr=False)


# Noise so strong leaves nothing of a value, and costs the digits by which means and covariances are kept exactly.
MOST_NOISE = 1000
#: What happens to records without a value, and the sentence for readers.
MISSING = {
    "error": "no value may be missing",
    "leave": "a record without any of the values stays as it is",
}


def variables_of(names: Iterable[str] | str) -> tuple[str, ...]:
    """The variables to perturb, at least one."""
    return names_of(names, "variables", at_least_one=" to perturb")


def strata_groups(strata: np.ndarray) -> list[np.ndarray]:
    """The positions of the records of each stratum, rising, from the stratum number of each record."""
    order = np.argsort(strata, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)


@dataclass(frozen=True)
class Quantities:
    """The quantities of a file that are perturbed together, stratum by stratum."""

    frame: pd.DataFrame
    names: tuple[str, ...]
    values: np.ndarray  # (records, variables) Of the records that have values; none is missing
    rows: np.ndarray  # (records,) Their positions in the file; all of them, unless some are left alone
    strata: tuple[str, ...]
    groups: list[np.ndarray]  # For each stratum its places in `values`, rising

    @classmethod
    def of(
        cls, frame: pd.DataFrame, variables: Iterable[str] | str, strata: Iterable[str] | str, missing: str
    ) -> Quantities:
        """The quantities of a file; an error where a value is missing, or a variable has the same value everywhere."""
        check_frame(frame)
        names, leave = variables_of(variables), check_choice(missing, "missing", MISSING) == "leave"
        _, values = numbers_of(frame, names)
        gaps = np.isnan(values)
        left = gaps.all(axis=1) & leave
        fault = "a missing value; fill it in, or choose missing: leave"
        if leave:
            fault = "a missing value; other values of the record are there: fill it in, or drop the record"
        for name, gap in zip(names, gaps.T):
            refuse(gap & ~left, frame.index, name, fault)
        rows = np.flatnonzero(~left)
        values = values[rows]
        for name, column in zip(names, values.T):
            refuse_constant(name, column, [slice(None)])
        strata = names_of(strata, "strata")
        return cls(frame, names, values, rows, strata, strata_groups(strata_codes(frame, strata, rows=rows)))

    def outliers(self, rows: np.ndarray | slice, seed: int) -> measures.Outliers:
        """Robust distances of some records from their centre; scikit-learn takes seeds of 32 bits."""
        short = int(np.random.SeedSequence(seed).generate_state(1)[0])
        return measures.outliers(pd.DataFrame(self.values[rows], columns=list(self.names)), seed=short)

    def draws(self, seed: int, step: str) -> np.ndarray:
        """Independent standard normal numbers in the shape of the values."""
        records, variables = self.values.shape
        return np.column_stack([generator(seed, step, j).standard_normal(records) for j in range(variables)])

    def released(
        self, frame: pd.DataFrame, method: str, seed: int | None, keeps: tuple[Keep, ...], details: Mapping
    ) -> Perturbed:
        """The result of a perturbation of these quantities that releases `frame`."""
        cells = changed_cells(self.frame, frame, self.names)
        return Perturbed(frame, method, self.names, self.strata, seed, cells, keeps, details)

    def rewritten(self, values: np.ndarray) -> pd.DataFrame:
        """The file with other numbers in place of the quantities, as floating-point columns."""
        columns = {}
        for name, column in zip(self.names, values.T):
            cells = np.full(len(self.frame), np.nan)
            cells[self.rows] = column
            dtype = np.float64 if isinstance(self.frame[name].dtype, np.dtype) else "Float64"
            columns[name] = pd.Series(cells, index=self.frame.index, name=name, dtype=dtype)
        return with_columns(self.frame, columns)


def refuse_constant(name: str, values: np.ndarray, groups: Sequence[np.ndarray | slice]) -> None:
    """Raise a `DataError` where a column has the same value in a whole stratum, so that it would stay as it is."""
    flat = sum(values[group].min() == values[group].max() for group in groups)
    if flat:
        place = f" in {flat} of {len(groups)} strata; join strata, or" if len(groups) > 1 else ";"
        raise DataError(f"column {shortened(name)} has the same value in every record{place} leave it out")


def reordered(frame: pd.DataFrame, orders: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """The file with some columns in another order (by column the old position of each cell); types stay."""
    columns = {name: frame[name].array.take(order) for name, order in orders.items()}
    return with_columns(frame, {name: pd.Series(c, index=frame.index, name=name) for name, c in columns.items()})


def changed_cells(before: pd.DataFrame, after: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """One row a variable: ``variable``, ``cells`` that have another value, ``share`` (0-1 of all records)."""
    rows = []
    for name in names:
        old, new = before[name], after[name]
        if not (pd.api.types.is_numeric_dtype(old) and pd.api.types.is_numeric_dtype(new)):
            old, new = old.astype(object), new.astype(object)
        same = (old == new).fillna(False).to_numpy(dtype=bool) | (old.isna() & new.isna()).to_numpy()
        cells = int((~same).sum())
        rows.append((name, cells, cells / len(before)))
    return pd.DataFrame(rows, columns=["variable", "cells", "share"])


def generator(seed: int, step: str, position: int) -> np.random.Generator:
    """Random numbers for one variable of one step.

    Two kinds of step draw different numbers from the same seed: noise that depends on the draws of an earlier shuffle
    would not be noise.
    """
    return np.random.default_rng([seed, position, *step.encode()])


def step_seed(seed: int, name: str, settings: Mapping[str, Any], frame: pd.DataFrame, names: list[str]) -> int:
    """The seed of the draws of a step: another one for another step, other settings, as written, or other values.

    With the same draws, two strengths of noise, or two waves of a panel, would give the true values away.
    """
    mixed = sha256(repr((seed, name, sorted(settings.items(), key=str))).encode("utf-8", "surrogatepass"))
    for column in [column for column in names if column in frame]:
        mixed.update(_as_list(frame[column]).encode("utf-8", "surrogatepass"))
    return int.from_bytes(mixed.digest()[:8]) >> 1


def _as_list(column: pd.Series) -> str:
    """What Python writes for the list of a column's values; each different number is written once."""
    if not isinstance(column.dtype, np.dtype) or column.dtype.kind not in "iuf" or column.dtype.itemsize > 8:
        return repr(column.to_list())
    cells = column.to_numpy()
    codes, values = pd.factorize(cells.view(f"i{cells.dtype.itemsize}"))  # by their bits: 0.0 is not -0.0
    texts = np.array([*map(repr, values.view(cells.dtype).tolist())], dtype=object)
    return f"[{', '.join(texts[codes])}]"


def within_households(household: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An order in which members of each household (its number, for every record) have changed places at random."""
    places = np.argsort(household, kind="stable")
    order = np.empty(len(household), dtype=np.intp)
    order[places] = np.lexsort((rng.random(len(household)), household))
    return order


def numbers_like(numbers: np.ndarray, codes: np.ndarray, like: pd.Series) -> pd.Series:
    """A column of whole numbers where another one has values, given by their codes (-1 where missing)."""
    column = pd.array(numbers, dtype="Int64").take(codes, allow_fill=True)
    return pd.Series(column if (codes < 0).any() else column.astype("int64"), index=like.index, name=like.name)


def as_fine(column: pd.Series, original: pd.Series) -> pd.Series:
    """Numbers with as many decimals as the original ones have, if these have one to six; means and noise have more."""
    if not (pd.api.types.is_float_dtype(column) and pd.api.types.is_float_dtype(original)):
        return column
    known = original.dropna().to_numpy(dtype=float)
    fine = [digits for digits in range(_MOST_DECIMALS + 1) if (known.round(digits) == known).all()]
    return column.round(fine[0]) if fine and fine[0] > 0 else column
