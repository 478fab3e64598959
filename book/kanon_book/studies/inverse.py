"""The inverse problem: a municipality's printed anonymity table, and the cell sizes that it gives away.

The search descends on real-valued sizes, then walks over whole ones. The walk moves a few persons between cells.
Expectations add up over cells, so the effect of two transfers between four cells is the sum of their effects: which
pair best cancels what is still wrong is one minimum of a matrix product. The nearest pairs are evaluated with every
rounding, and the walk goes to the best of them that it has not visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from kanon_lab.errors import DataError, OptionError
from kanon_lab.population import PERIODS, persons_by_k
from kanon_lab.population.law import CUADRO_2_RANGES

PRINTED_PERIODS = tuple(PERIODS.values())
PRINTED_RANGES = tuple((r.k_from, r.k_to) for r in CUADRO_2_RANGES if r.k_to is not None)
RANGE_WIDTHS = np.array([last - first + 1 for first, last in PRINTED_RANGES])
PRINTED_SHAPE = (len(PRINTED_PERIODS), len(PRINTED_RANGES))

_TABLES = ("Cuadro 2", "Cuadro 3", "Cuadro 4")  # day, month, year
_K_MAX = PRINTED_RANGES[-1][1]

# A sum of `width` figures, each rounded to a whole person, is off by about sqrt(width / 12) persons.
_TOLERANCE = np.tile(np.sqrt(RANGE_WIDTHS / 12), len(PRINTED_PERIODS))
_SINGLE_K = np.tile(RANGE_WIDTHS == 1, len(PRINTED_PERIODS))

_DESCENT_STEPS = 60
_ROUNDS_PER_START = 150
_DISTURBANCE = 0.2  # standard deviation of the logarithm of a start's cells around the pyramid
_TRANSFER_PERSONS = (1, 2, 3, 5)
_POOL = 600  # transfers paired with one another in one round
_CANDIDATES = 200  # pairs evaluated with every rounding in one round
# A wrong figure gains weight round by round, and loses it once it is right.
_GAIN, _LOSS, _MOST_WEIGHT = 1.3, 0.97, 20.0
# Weighted effects are multiples of 2**-10, so their products and sums are exact in float64: the walk does not depend
# on the order in which a machine's linear algebra adds them.
_GRID = 2.0**10


class Expectations:
    """Expected persons at k = 1..100 in cells of up to `largest` persons, computed once per size and kept."""

    def __init__(self, largest: int):
        self._row_of = np.full(largest + 1, -1)
        self._count = 0
        self._rows = np.empty((0, len(PRINTED_PERIODS) * _K_MAX))

    def __call__(self, sizes: np.ndarray) -> np.ndarray:
        """Persons at each k, shape sizes.shape + (300,): day k = 1..100, then month, then year."""
        rows = self._row_of[sizes]
        if rows.min(initial=0) < 0:
            self._add(np.unique(sizes[rows < 0]))
            rows = self._row_of[sizes]
        return self._rows[rows]

    def _add(self, sizes: np.ndarray) -> None:
        parts = [persons_by_k(sizes, periods, _K_MAX) for periods in PRINTED_PERIODS]
        count = self._count + len(sizes)
        if count > len(self._rows):  # room for as many again, so that growing stays cheap
            self._rows = np.vstack([self._rows[: self._count], np.empty((count, self._rows.shape[1]))])
        self._rows[self._count : count] = np.concatenate(parts, axis=1)
        self._row_of[sizes] = np.arange(self._count, count)
        self._count = count


def sum_ranges(persons: np.ndarray) -> np.ndarray:
    """Sum persons per k, shape (..., 300), into the printed ranges, shape (..., 27)."""
    by_k = persons.reshape(*persons.shape[:-1], len(PRINTED_PERIODS), _K_MAX)
    return np.add.reduceat(by_k, [first - 1 for first, _ in PRINTED_RANGES], axis=-1).reshape(*persons.shape[:-1], -1)


def printed_table(cells: np.ndarray, expectations: Expectations | None = None) -> np.ndarray:
    """The 27 bounded figures that Cuadros 2-4 would print for a municipality with these cells.

    The expected persons of the municipality are rounded for every single k and then summed into ranges, which is how
    the printed figures came about (Gil Bellosta 2011, Cuadros 2-4).

    Parameters
    ----------
    cells : array of int, shape (..., cells)
        Cell sizes in persons, each 0 or more; the order does not matter.
    expectations : Expectations, optional
        To be reused over many calls.

    Returns
    -------
    ndarray of int64, shape (..., 3, 9)
        Persons; rows day, month, year; columns `PRINTED_RANGES`.

    Examples
    --------
    >>> kanon_book.studies.printed_table([500, 800])[0]
    array([897, 330,  64,   8,   1,   0,   0,   0,   0])
    """
    cells = np.asarray(cells)
    expected = expectations or Expectations(int(cells.max(initial=0)))
    figures = sum_ranges(np.rint(expected(cells).sum(axis=-2))).astype(np.int64)
    return figures.reshape(*figures.shape[:-1], *PRINTED_SHAPE)


def printed_row(figures: pd.DataFrame, municipality: str) -> tuple[np.ndarray, int]:
    """One municipality's rows of Cuadros 2-4.

    Parameters
    ----------
    figures : DataFrame
        `published_figures` of ``gil-bellosta-2011``.
    municipality : str
        Its name as printed.

    Returns
    -------
    printed : ndarray of int64, shape (3, 9)
        Persons; rows day, month, year; columns `PRINTED_RANGES`.
    total : int
        Printed total, persons.

    Examples
    --------
    >>> figures = kanon_book.studies.published_figures("gil-bellosta-2011")
    >>> printed, total = kanon_book.studies.printed_row(figures, "Benalmádena")
    >>> printed.shape, total
    ((3, 9), 61383)
    """
    rows = figures[(figures["row"] == municipality) & figures["table"].isin(_TABLES)]
    if rows.empty:
        raise DataError(f"{municipality}: not a municipality of {', '.join(_TABLES)}; write its name as printed there")
    wide = rows.pivot(index="table", columns="column", values="printed").loc[list(_TABLES)].astype("int64")
    bounds = [str(last) for _, last in PRINTED_RANGES]
    return wide[bounds].to_numpy(), int(wide["total"].iloc[0])


def compare_cells(cells: np.ndarray, real: np.ndarray) -> pd.DataFrame:
    """Set two multisets of cell sizes side by side, each in ascending order.

    Parameters
    ----------
    cells, real : array of int, shape (cells,)
        Sizes in persons, in any order.

    Returns
    -------
    DataFrame
        One row a rank: ``rank`` (1 is the smallest), ``found`` (of `cells`), ``real``, ``difference`` (persons).

    Examples
    --------
    >>> kanon_book.studies.compare_cells([3, 1, 2], [2, 2, 2])["difference"].tolist()
    [-1, 0, 1]
    """
    cells, real = np.sort(cells), np.sort(real)
    if cells.shape != real.shape:
        raise OptionError(f"cells: {len(cells)} against {len(real)}; only as many can be compared")
    ranks = np.arange(1, len(cells) + 1)
    return pd.DataFrame({"rank": ranks, "found": cells, "real": real, "difference": cells - real})


def one_person_transfers(cells: np.ndarray) -> pd.DataFrame:
    """What the printed table says of every transfer of one person from one cell to another.

    Parameters
    ----------
    cells : array of int, shape (cells,)
        Sizes in persons.

    Returns
    -------
    DataFrame
        One row an ordered pair of cells whose first is not empty: ``giver``, ``taker`` (positions), ``giver_persons``,
        ``taker_persons`` (before it), ``figures_changed`` (0 to 27; 0 where the table keeps silent) and
        ``persons_changed`` (sum of the absolute changes of the 27 figures).

    Examples
    --------
    >>> kanon_book.studies.one_person_transfers([10, 500])["figures_changed"].tolist()
    [6, 6]
    """
    cells = np.asarray(cells)
    giver, taker = (part.ravel() for part in np.indices((len(cells), len(cells))))
    possible = (giver != taker) & (cells[giver] > 0)
    giver, taker = giver[possible], taker[possible]
    moved = np.repeat(cells[None], len(giver), axis=0)
    rows = np.arange(len(giver))
    moved[rows, giver] -= 1
    moved[rows, taker] += 1
    expectations = Expectations(int(cells.max()) + 1)
    change = (printed_table(moved, expectations) - printed_table(cells, expectations)).reshape(len(giver), -1)
    return pd.DataFrame(
        {
            "giver": giver,
            "taker": taker,
            "giver_persons": cells[giver],
            "taker_persons": cells[taker],
            "figures_changed": (change != 0).sum(axis=1),
            "persons_changed": np.abs(change).sum(axis=1),
        }
    )


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The result of `reconstruct_cells`.

    Attributes
    ----------
    cells : ndarray of int64, shape (cells,)
        Cell sizes in persons, ascending: a multiset, no labels.
    printed, figures : ndarray of int64, shape (3, 9)
        The table to reproduce, and the table that `cells` gives, as `printed_table`.
    total, rounds, seed : int
        Persons in all cells, rounds of search spent, seed of the search.
    """

    cells: np.ndarray
    total: int
    printed: np.ndarray
    figures: np.ndarray
    rounds: int
    seed: int

    @property
    def equal(self) -> int:
        """How many of the 27 figures are equal as printed."""
        return int((self.figures == self.printed).sum())

    @property
    def persons_off(self) -> int:
        """Sum of the absolute differences from the printed figures, in persons."""
        return int(np.abs(self.figures - self.printed).sum())


def reconstruct_cells(
    printed: np.ndarray,
    total: int,
    *,
    pyramid: np.ndarray,
    seed: int = 0,
    max_rounds: int = 12_000,
    progress: bool = False,
    label: str = "reconstruct",
) -> Reconstruction:
    """Find whole-number cell sizes that give a printed anonymity table (Gil Bellosta 2011, Cuadros 2-4).

    The total and the 27 figures are functions of the multiset of the cell sizes, so no more than the multiset can be
    found; many multisets give the same figures, and this is one of them.

    Parameters
    ----------
    printed : array of int, shape (3, 9)
        Persons as printed; rows day, month, year; columns `PRINTED_RANGES`.
    total : int
        Printed total of the municipality, 1 or more.
    pyramid : array, shape (cells,)
        Persons by cell of a reference population, up to scale: where the search starts, and how many cells there are.
    seed : int
        0 or more; the same seed gives the same cells.
    max_rounds : int
        Rounds of search before the best found is returned, 0 or more.
    progress : bool
        Show a progress bar, called `label`, on standard error.

    Returns
    -------
    Reconstruction
        Look at `equal`: 27 means that every figure is as printed.

    Examples
    --------
    >>> printed = kanon_book.studies.printed_table([30, 40, 50])
    >>> kanon_book.studies.reconstruct_cells(printed, 120, pyramid=[1, 1, 1]).cells.tolist()
    [30, 40, 50]
    """
    from tqdm import tqdm

    printed, pyramid = np.asarray(printed), np.asarray(pyramid, dtype=float)
    if printed.shape != PRINTED_SHAPE or not np.issubdtype(printed.dtype, np.integer) or printed.min() < 0:
        raise OptionError(f"printed: needs {PRINTED_SHAPE[0]} x {PRINTED_SHAPE[1]} whole numbers, none below 0")
    if total < 1:
        raise OptionError(f"total: a municipality has at least 1 person, not {total}")
    if pyramid.ndim != 1 or len(pyramid) < 2 or pyramid.min() < 0 or pyramid.sum() == 0:
        raise OptionError("pyramid: needs at least 2 cells, none below 0, not all of them 0")
    printed = printed.astype(np.int64)
    search = _Search(printed.ravel(), pyramid, total, seed)
    with tqdm(total=max_rounds, desc=label, disable=not progress, leave=False) as bar:
        cells, rounds = search.run(max_rounds, bar)
    return Reconstruction(cells, total, printed, printed_table(cells), rounds, seed)


def apportion(total: int, weights: np.ndarray) -> np.ndarray:
    """Whole persons in proportion to non-negative weights, by largest remainders: adds up to `total` (0 or more)."""
    quotas = total * (np.asarray(weights, dtype=float) / np.sum(weights))
    whole = np.floor(quotas).astype(np.int64)
    order = np.argsort(whole - quotas, kind="stable")
    whole[order[: total - whole.sum()]] += 1
    return whole


def compare_reconstructions(reconstructions: Sequence[Reconstruction]) -> pd.DataFrame:
    """How far apart reconstructions of the same table are that differ in their seeds only.

    Parameters
    ----------
    reconstructions : sequence of Reconstruction
        Two or more, of the same municipality.

    Returns
    -------
    DataFrame
        One row a pair: ``seed_a``, ``seed_b``, ``equal_a``, ``equal_b`` (figures equal as printed, of 27),
        ``cells_different`` (ranks at which sizes differ), ``persons_moved`` (fewest persons to move to get from one to
        the other) and ``largest_difference`` (persons, at one rank).
    """
    rows = []
    for a, b in combinations(reconstructions, 2):
        off = compare_cells(a.cells, b.cells)["difference"].abs()
        rows.append((a.seed, b.seed, a.equal, b.equal, (off > 0).sum(), off.sum() // 2, off.max()))
    columns = "seed_a seed_b equal_a equal_b cells_different persons_moved largest_difference"
    return pd.DataFrame(rows, columns=columns.split())


class _Search:
    """A search for a table (`target`, 27 persons) from a pyramid up to scale, for `total` persons in all cells."""

    def __init__(self, target: np.ndarray, pyramid: np.ndarray, total: int, seed):
        self._target = target
        self._pyramid = pyramid
        self._total = total
        self._rng = np.random.default_rng(seed)
        self._expected = Expectations(total + 1)
        self._weight = 1 / _TOLERANCE
        self._frozen = 0

    def run(self, max_rounds: int, bar) -> tuple[np.ndarray, int]:
        """The best cells and the rounds spent; `bar` shows the rounds and how far off the best state is."""
        best, best_off, rounds, starts = None, np.inf, 0, 0
        while True:
            cells = self._start(starts, best)
            starts += 1
            off = int(np.abs(self._differences(cells[None])).sum())
            seen = {cells.tobytes()}
            for _ in range(_ROUNDS_PER_START):
                if off < best_off:
                    best, best_off = cells, off
                    bar.set_postfix(persons_off=off, refresh=False)
                if best_off == 0 or rounds == max_rounds:
                    return best, rounds
                cells, off = self._step(cells, off, seen)
                rounds += 1
                bar.update()

    def _start(self, number: int, best: np.ndarray | None) -> np.ndarray:
        """Cells to walk from, ascending: the pyramid's, then in turn a disturbed pyramid's and the best nudged."""
        self._weight = 1 / _TOLERANCE
        self._frozen = 0
        if number == 0:
            return np.sort(self._descend(self._pyramid, self._target))
        if number % 2 == 0:
            return self._nudge(best, number // 2)
        factors = np.exp(_DISTURBANCE * self._rng.standard_normal(len(self._pyramid)))
        # The unrounded sum behind a printed figure is not known better than this.
        rounding = _TOLERANCE * self._rng.standard_normal(len(_TOLERANCE))
        return np.sort(self._descend(self._pyramid * factors, self._target + np.where(self._target > 0, rounding, 0)))

    def _nudge(self, cells: np.ndarray, number: int) -> np.ndarray:
        """Give the smallest cell 1 person more, 1 fewer, 2 more ... than in `cells`, and keep it there for this walk.

        The ends of the table hang on the smallest cell alone. A walk that has everything else right would have to pass
        through much worse states to change it.
        """
        self._frozen = 1
        persons = (number + 1) // 2 * (1 if number % 2 else -1)
        nudged = cells.copy()
        nudged[[0, -1]] += [persons, -persons]
        return np.sort(nudged) if nudged.min() >= 0 else cells

    def _descend(self, start: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Damped Gauss-Newton (Levenberg-Marquardt) from `start` scaled to the total; whole persons at the end."""
        sizes, damping = start * (self._total / start.sum()), 1.0
        gap, slope = self._gap_and_slope(sizes, target)
        for _ in range(_DESCENT_STEPS):
            scale = np.sqrt(sizes + 1.0)  # larger cells may move further
            scaled = slope * scale[:, None]
            normal = scaled @ scaled.T
            normal += damping * max(normal.trace() / len(sizes), 1e-9) * np.eye(len(sizes))
            tried = np.maximum(sizes + scale * _solve_zero_sum(normal, scaled @ gap, scale), 0)
            tried *= self._total / tried.sum()
            new_gap, new_slope = self._gap_and_slope(tried, target)
            if new_gap @ new_gap < gap @ gap:
                sizes, gap, slope, damping = tried, new_gap, new_slope, max(damping / 4, 1e-9)
            else:
                damping = min(damping * 4, 1e6)
        return apportion(self._total, sizes)

    def _gap_and_slope(self, sizes: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weighted gap to unrounded figures at real-valued sizes (linear between whole ones), and slope per person."""
        low = np.minimum(np.floor(sizes).astype(np.int64), self._total)
        below, above = sum_ranges(self._expected(low)), sum_ranges(self._expected(low + 1))
        figures = (below + (above - below) * (sizes - low)[:, None]).sum(axis=0)
        return (target - figures) / _TOLERANCE, (above - below) / _TOLERANCE

    def _step(self, cells: np.ndarray, off: int, seen: set[bytes]) -> tuple[np.ndarray, int]:
        """Go to the best near state not seen in this walk; stay where there is none."""
        states = self._near_states(cells)
        states = states[[state.tobytes() not in seen for state in states]]
        if not len(states):
            return cells, off
        differences = self._differences(states)
        persons = np.abs(differences).sum(axis=1)
        chosen = self._rng.choice(np.flatnonzero(persons == persons.min()))
        seen.add(states[chosen].tobytes())
        changed = self._weight * np.where(differences[chosen] == 0, _LOSS, _GAIN)
        self._weight = np.clip(changed, 1 / _TOLERANCE, _MOST_WEIGHT)
        return states[chosen], int(persons[chosen])

    def _differences(self, states: np.ndarray) -> np.ndarray:
        """Figures of each state minus the printed ones, shape (states, 27)."""
        return printed_table(states, self._expected).reshape(len(states), -1) - self._target

    def _near_states(self, cells: np.ndarray) -> np.ndarray:
        """States one or two transfers away whose unrounded figures come nearest to the printed ones."""
        give, take, persons = self._draw_transfers(cells)
        first, second = self._nearest_pairs(self._effects(cells, give, take, persons), self._missing(cells))
        states = np.repeat(cells[None], len(first), axis=0)
        for index in (first, second):
            rows = np.flatnonzero(index)  # 0 is "no transfer"
            moved = index[rows] - 1
            np.add.at(states, (rows, give[moved]), -persons[moved])
            np.add.at(states, (rows, take[moved]), persons[moved])
        return np.unique(np.sort(states[states.min(axis=1, initial=0) >= 0], axis=1), axis=0)

    def _draw_transfers(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Random pool of possible transfers: giving cells, taking cells, persons."""
        count = np.arange(len(cells))
        give, take, persons = (part.ravel() for part in np.meshgrid(count, count, _TRANSFER_PERSONS, indexing="ij"))
        free = np.minimum(give, take) >= self._frozen
        pool = np.flatnonzero(free & (give != take) & (cells[give] >= persons))
        if len(pool) > _POOL:
            pool = np.sort(self._rng.choice(pool, _POOL, replace=False))
        return give[pool], take[pool], persons[pool]

    def _effects(self, cells: np.ndarray, give: np.ndarray, take: np.ndarray, persons: np.ndarray) -> np.ndarray:
        """Weighted effect of each transfer on the unrounded figures; row 0 is "no transfer"."""
        figures = sum_ranges(self._expected(cells))
        effect = sum_ranges(self._expected(cells[give] - persons)) - figures[give]
        effect += sum_ranges(self._expected(cells[take] + persons)) - figures[take]
        return self._on_grid(np.vstack([np.zeros_like(self._weight), effect]))

    def _missing(self, cells: np.ndarray) -> np.ndarray:
        """Weighted gap per figure: single k from the unrounded sum, ranges from the sum of rounded k."""
        expected = self._expected(cells).sum(axis=0)
        return self._on_grid(self._target - np.where(_SINGLE_K, sum_ranges(expected), sum_ranges(np.rint(expected))))

    def _on_grid(self, persons: np.ndarray) -> np.ndarray:
        return np.rint(persons * self._weight * _GRID) / _GRID

    @staticmethod
    def _nearest_pairs(effects: np.ndarray, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of transfers whose effects add up to nearly what is missing: |missing - a - b| least."""
        own = (effects**2).sum(axis=1) - 2 * (effects @ missing)
        first, second = np.triu_indices(len(own), 1)
        distance = (own[:, None] + own[None, :] + 2 * (effects @ effects.T))[first, second]
        if len(distance) > _CANDIDATES:
            near = np.flatnonzero(distance <= np.partition(distance, _CANDIDATES)[_CANDIDATES])
            first, second = first[near], second[near]
        return first, second


def _solve_zero_sum(normal: np.ndarray, right: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Solution whose entries times `scale` add up to 0, by a Lagrange multiplier: the total stays."""
    plain, along = np.linalg.solve(normal, np.column_stack([right, scale])).T
    return plain - along * (scale @ plain) / (scale @ along)
