"""The confidence set of a population's class sizes, and the fewest and the most uniques in it, as linear programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanon_lab.arguments import ROUNDING
from kanon_lab.errors import DataError

#: Sizes of sample classes that are counted one by one; all larger ones are counted together.
COUNTED = 10
# Population classes up to this size are columns of their own; above it columns are ranges of sizes, of this ratio.
_SINGLE, _RATIO = 100, 1.02
_CONTRADICTION = (
    "no population agrees with the sample and with what is known of it. Either persons were not drawn one by "
    "one with this fraction, or what is known is wrong, or this is one of the rare samples that mislead"
)


@dataclass(frozen=True)
class Knowledge:
    """What is known of a population, whose classes are counted in strata."""

    total: int | None  # Persons
    least: np.ndarray  # (strata,) Persons that a class has at least
    cells: int | None = None  # Classes at most
    margins: Sequence[np.ndarray] = ()  # Of each the persons of its blocks, all above 0


@dataclass(frozen=True)
class _Columns:
    """Population classes by stratum and size: in each column those of `low` to `high` persons."""

    stratum: np.ndarray
    low: np.ndarray
    high: np.ndarray


#: Of a Bernoulli sample: by how much limits are moved outwards, and by what their error is multiplied.
ONE_BY_ONE: Sequence[tuple[int, float]] = ((0, 1.0),)


def moves_of_fixed(records: int, persons: int) -> list[tuple[int, float]]:
    """Of a sample of a fixed number: moves h, and the chance that a Bernoulli sample is within h of it."""
    from scipy.stats import binom

    if records == persons:
        return [*ONE_BY_ONE]
    fraction, moves = records / persons, [0, *(2 ** np.arange(int(np.log2(records)) + 1)).tolist()]
    low = [binom.cdf(records - move - 1, persons, fraction) for move in moves]
    return [(h, float(binom.cdf(records + h, persons, fraction) - below)) for h, below in zip(moves, low, strict=True)]


def count_limits(
    seen: np.ndarray | float,
    most: np.ndarray | float,
    chance: float,
    moves: Sequence[tuple[int, float]] = ONE_BY_ONE,
) -> tuple[np.ndarray, np.ndarray]:
    """Limits for the mean of numbers of classes, of which each may be wrong with the `chance`.

    Each number `seen` is a sum of at most `most` independent indicators (infinite where that is not known). The limits
    of Clopper and Pearson, or of Garwood, are kept one away from the number, where Hoeffding's bound begins to hold.
    Of several `moves` each gives limits that hold, rising with the number seen, and so do the nearest of them.
    """
    seen, most = np.broadcast_arrays(np.asarray(seen, dtype=float), most)
    ends = [
        (_lower(np.maximum(seen - move, 0), most, chance * share), _upper(seen + move, most, chance * share))
        for move, share in moves
    ]
    low, high = zip(*ends, strict=True)
    return np.max(low, axis=0), np.min(high, axis=0)


def _lower(seen: np.ndarray, most: np.ndarray, chance: float) -> np.ndarray:
    from scipy.stats import beta, chi2

    some = np.maximum(seen, 1)
    trials = np.where(np.isfinite(most), np.maximum(most, some), some)  # any, where they are not used
    binomial = trials * beta.ppf(chance, some, trials - some + 1)
    low = np.where(np.isfinite(most), binomial, chi2.ppf(chance, 2 * some) / 2)
    return np.minimum(low, np.maximum(seen - 1, 0))


def _upper(seen: np.ndarray, most: np.ndarray, chance: float) -> np.ndarray:
    from scipy.stats import beta, chi2

    few = np.minimum(seen, most)
    trials = np.where(np.isfinite(most), most, few)
    binomial = trials * beta.isf(chance, few + 1, np.maximum(trials - few, 1))
    high = np.where(np.isfinite(most), binomial, chi2.isf(chance, 2 * few + 2) / 2)
    return np.where(seen < most, np.maximum(high, few + 1), most)


def fewest_and_most(
    sizes: np.ndarray,
    stratum: np.ndarray,
    fraction: float,
    chance: float,
    known: Knowledge,
    moves: Sequence[tuple[int, float]] = ONE_BY_ONE,
) -> tuple[int, int]:
    """The fewest and the most population uniques, of a sample with classes of these sizes in these strata.

    With at most the `chance` a sample is drawn whose limits do not hold the truth. `moves` are those of `count_limits`.
    """
    least, unknown = known.least, known.total is None
    chance_of_limit = chance / 2 / (len(least) * (COUNTED + 1) + 1)
    # Where the number of persons is known, only a sample that hardly any luck explains contradicts it.
    of_records = count_limits(sizes.sum(), np.inf, chance_of_limit / (1 if unknown else 1000))
    fewest, most = (float(limit) / fraction for limit in of_records)
    if known.total is None:
        fewest = max(fewest, float(sizes.sum()))
    else:
        if not fewest * (1 - ROUNDING) <= known.total <= most * (1 + ROUNDING):
            raise DataError(
                f"of {known.total:,} persons a fraction of {fraction:.3g} is about {known.total * fraction:,.0f}, and "
                f"the sample has {int(sizes.sum()):,} records; correct the fraction, or the number of persons"
            )
        fewest = most = float(known.total)
    columns = _columns(least, int(most))
    counted = np.arange(1, COUNTED + 2)
    seen = np.zeros((len(least), COUNTED + 2))
    np.add.at(seen, (stratum, np.minimum(sizes, COUNTED + 1)), 1)
    classes = np.inf if unknown else np.floor(most / np.maximum(counted, least[:, None]))
    classes = np.minimum(classes, np.inf if known.cells is None else known.cells)
    ends = count_limits(seen[:, 1:], np.maximum(classes, seen[:, 1:]), chance_of_limit, moves)
    rows = [*_of_sample(columns, *ends, fraction), *_of_persons(columns, sizes, stratum, fewest, most)]
    rows += _of_knowledge(columns, known, most)
    matrix, limits = np.array([row for row, _ in rows]), np.array([limit for _, limit in rows])
    # Variables are persons: classes of many persons are as large as those of one.
    matrix /= columns.low
    size = np.abs(matrix).max(axis=1, keepdims=True)
    size[size == 0] = 1
    # No row is above its size times all persons, or below minus that: chances can be too small to divide by.
    whole = size[:, 0] * most
    limits = np.clip(limits, -2 * whole, whole) / whole
    room = _room(columns, known, most) / most
    alone = (columns.low == 1).astype(float)
    low, high = (_least_value(sign * alone, matrix / size, limits, room) for sign in (1, -1))
    if low is None or high is None:
        raise DataError(_CONTRADICTION)
    # Bounds of whole numbers are whole.
    slack = 1e-6
    return max(int(np.ceil(low * most - slack)), 0), int(np.floor(min(-high, 1.0) * most + slack))


def _columns(least: np.ndarray, most: int) -> _Columns:
    """Classes from `least` persons in each stratum to `most`."""
    parts = []
    for stratum, smallest in enumerate(least):
        first = [*range(int(smallest), min(max(int(smallest), _SINGLE), most) + 1)]
        while first and (following := max(first[-1] + 1, int(first[-1] * _RATIO))) <= most:
            first.append(following)
        low = np.array(first, dtype=float)
        parts.append((np.full(len(low), stratum), low, np.append(low[1:] - 1, most)[: len(low)]))
    return _Columns(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _chances(columns: _Columns, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Least and largest chance that a class has 1, 2, ..., COUNTED or more records, shape (COUNTED + 1, columns).

    The chance of j records rises with the persons of a class up to j / fraction, and then falls.
    """
    from scipy.stats import binom

    j = np.arange(1, COUNTED + 1)[:, None]
    top = np.clip(np.floor(j / fraction), columns.low, columns.high)
    at_ends = binom.pmf(j, columns.low, fraction), binom.pmf(j, columns.high, fraction)
    more = [binom.sf(COUNTED, end, fraction)[None] for end in (columns.low, columns.high)]
    largest = np.maximum(binom.pmf(j, top, fraction), np.maximum(*at_ends))
    return np.vstack([np.minimum(*at_ends), more[0]]), np.vstack([largest, more[1]])


def _of_sample(columns: _Columns, low: np.ndarray, high: np.ndarray, fraction: float) -> list[tuple[np.ndarray, float]]:
    """Rows a, limits b with a T <= b for the numbers T of classes: each mean number lies within its limits."""
    rows = []
    smallest, largest = _chances(columns, fraction)
    for stratum in range(len(low)):
        here = columns.stratum == stratum
        for j in range(COUNTED + 1):
            rows += [(here * smallest[j], high[stratum, j]), (-(here * largest[j]), -low[stratum, j])]
    return rows


def _of_persons(
    columns: _Columns, sizes: np.ndarray, stratum: np.ndarray, fewest: float, most: float
) -> list[tuple[np.ndarray, float]]:
    """There are so many persons; and a class of j or more records has as many persons or more."""
    rows = [(columns.low, most), (-columns.high, -fewest)]
    for s in np.unique(stratum):
        for j in range(2, COUNTED + 2):
            large = (columns.stratum == s) & (columns.high >= j)
            rows.append((-(large * columns.high), -float(sizes[(stratum == s) & (sizes >= j)].sum())))
    return rows


def _of_knowledge(columns: _Columns, known: Knowledge, most: float) -> list[tuple[np.ndarray, float]]:
    """So many classes there are at most; a block with persons has a class, and none that is larger than the block."""
    classes = np.ones(len(columns.low))
    rows = [] if known.cells is None else [(classes, float(known.cells))]
    for margin in known.margins:
        rows.append((-classes, -float(len(margin))))
        for size in 2 ** np.arange(0, int(np.log2(most)) + 2):
            for least in {size, size * 3 // 2}:
                rows.append(((columns.low >= least) * columns.low, float(margin[margin >= least].sum())))
    return rows


def _room(columns: _Columns, known: Knowledge, most: float) -> np.ndarray:
    """Persons that classes of each column have at most: a block holds only so many classes of a size."""
    room = np.full(len(columns.low), most)
    for margin in known.margins:
        block, blocks = np.unique(margin, return_counts=True)
        for column, low in enumerate(columns.low):
            whole = block // low
            room[column] = min(room[column], columns.low[column] * float(whole @ blocks))
    return room


def _least_value(cost: np.ndarray, matrix: np.ndarray, limits: np.ndarray, room: np.ndarray) -> float | None:
    """A lower bound, as near as the solver comes, of cost @ x over matrix @ x <= limits, 0 <= x <= room, sum(x) <= 1.

    It is that of the dual solution, which holds whatever the tolerance of the solver; None where there is no x.
    """
    from scipy.optimize import linprog

    solved = linprog(
        cost, A_ub=matrix, b_ub=limits, bounds=np.column_stack([np.zeros(len(room)), room]), method="highs"
    )
    if solved.status == 2:
        return None
    if solved.status:  # stopped by numerical trouble: the bound of no constraint
        return float(min(cost.min(), 0))
    of_rows, of_room = np.minimum(solved.ineqlin.marginals, 0), np.minimum(solved.upper.marginals, 0)
    rest = cost - of_rows @ matrix - of_room
    return float(of_rows @ limits + of_room @ room + min(rest.min(), 0))
