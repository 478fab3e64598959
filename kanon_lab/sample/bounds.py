"""The fewest and the most population uniques that agree with a sample, and with what else is known.

Let T_k be the number of classes of k persons in a population. In a Bernoulli sample of fraction f the number of classes
with j records is a sum of independent indicators with the mean sum_k T_k b(j; k, f), b being binomial. More than one
away from its mean such a sum of m indicators has lighter tails than a binomial number with the same mean (Hoeffding
1956), so that the exact binomial interval around the number seen holds the mean at least as often as it says. Intervals
for all j together, by Bonferroni's inequality, make a confidence set for the T_k whose limits are linear in them. The
fewest and the most uniques in the set are two linear programs. Nothing is supposed of the T_k, and no limit is one of
large samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.arguments import as_share, check_choice, check_frame, check_whole
from kanon_lab.classes import class_table
from kanon_lab.classes.counts import codes_of_population
from kanon_lab.columns import distinct_rows, refuse
from kanon_lab.errors import DataError, OptionError, about, shortened
from kanon_lab.roles import KeySpec, as_spec, check_seed, refuse_person
from kanon_lab.sample.curve import MOST_RECORDS, SizeCounts, as_fraction, size_counts
from kanon_lab.sample.estimators import METHODS, check_cells, check_methods, estimates
from kanon_lab.sample.programs import ONE_BY_ONE, Knowledge, fewest_and_most, moves_of_fixed
from kanon_lab.sample.study import SCHEMES
from kanon_lab.sample.subsamples import clustering

#: Columns of what is known of blocks.
_KNOWN = "persons", "least"

#: Values of `least` in a population that may differ.
MOST_STRATA = 20


@dataclass(frozen=True)
class UniquesBounds:
    """The result of `bound_uniques`.

    Attributes
    ----------
    low, high : int
        Fewest and most population uniques, persons.
    low_share, high_share : float
        The same as shares of the population (0-1), whose size is `persons` or, where that is not known, n / fraction.
    confidence : float
        Chance, at least, that a sample is drawn whose limits hold the truth (0-1).
    records, sample_uniques : int
        Of the sample; with weights of the part of it that was kept.
    fraction : float
        Sampling fraction (0-1); with weights that of the part kept.
    persons : int or None
        Persons of the population, where known.
    scheme : str
    models : DataFrame
        One row a method of `population_uniques`: ``method``, ``population_uniques`` (persons, NaN where the method has
        no estimate) and ``inside``, whether it lies within the limits (missing where there is no estimate).
    notes : tuple of str
        What a reader of the numbers should know.
    """

    low: int
    high: int
    low_share: float
    high_share: float
    confidence: float
    records: int
    sample_uniques: int
    fraction: float
    persons: int | None
    scheme: str
    models: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)

    @property
    def size(self) -> float:
        """Persons of the population, or what the fraction says."""
        return self.persons or self.records / self.fraction

    def to_dict(self) -> dict[str, Any]:
        """The result by name, in types that JSON has, what is missing as None."""
        models = self.models.astype(object).where(self.models.notna(), None)
        return asdict(self) | {"models": models.to_dict("records"), "notes": list(self.notes)}


def bound_uniques(
    sizes: np.ndarray | pd.DataFrame,
    spec: KeySpec | Iterable[str] | str | None = None,
    *,
    fraction: float | None = None,
    scheme: str = "bernoulli",
    confidence: float = 0.95,
    persons: int | None = None,
    cells: int | None = None,
    known: pd.DataFrame | Sequence[pd.DataFrame] | Mapping[str, pd.DataFrame] = (),
    methods: Iterable[str] | str = tuple(METHODS),
    seed: int = 0,
) -> UniquesBounds:
    """Bound the number of population uniques by all that a sample and other knowledge allow.

    Parameters
    ----------
    sizes : array of int, shape (classes,), or DataFrame
        Records of the sample in each class, f_k; 0 is no class. Or the sample itself, one row a record, with its spec.
    spec : KeySpec or sequence of str
        Key variables of a sample, a missing one being a value of its own or an error; only with a DataFrame. A weight
        w, 1 or more, takes the place of the fraction: 1 / w must be the chance with which the record was drawn, and
        nobody's chance may be below that of the largest weight. Each record is then kept with the chance
        w / (largest weight), which makes what is kept a sample of persons with equal chances.
    fraction : float, 1e-9 to below 1
        Sampling fraction.
    scheme : {"bernoulli", "fixed"}
        Each person was drawn or not by a draw of its own; or a fixed number of persons was drawn (not with weights).
    confidence : float, above 0 to below 1
    persons : int, optional
        Persons of the population. Without it: those in a margin of `known`; for a fixed number of records n / fraction;
        else what the number of records allows.
    cells : int, optional
        Combinations of key values that can occur in the population, which has no more classes than that.
    known : DataFrame, sequence of DataFrame, or mapping of str to DataFrame
        What else is known of the population, as tables with one or more key variables, a row for each block of equal
        values; only with a DataFrame. ``persons``: the number of all persons in the block (a margin, with all its
        blocks). ``least``: the fewest persons that a class in the block has, if anybody is in it (1 in blocks that are
        not there; at most 20 different numbers). Errors call a table by its name in a mapping.
    methods : sequence of str, or str
        Some of `METHODS`, set beside the limits.
    seed : int
        Of the draw that weights need.

    Returns
    -------
    UniquesBounds

    Raises
    ------
    DataError
        No population agrees with the sample and with what is known; or the sample has a block that a margin lacks.

    Notes
    -----
    For each j up to 10, and for all larger classes together, the mean number of classes with j records lies within
    limits that all hold with the confidence. A Bernoulli sample of m persons becomes a sample of a fixed number n by
    adding or leaving out d = abs(m - n) at random, and each changes a count by one at most. With q, the chance that
    d is at most h, the limits for n persons are those of a Bernoulli sample moved outwards by h at q times the error; h
    is the one for which they are nearest. Population classes above 100 persons are
    put together in ranges within 2 %, at whichever end makes the limits wider. Limits come from the dual solution, so
    that they hold whatever the tolerance of the program that solves it.

    References
    ----------
    Hoeffding (1956), On the distribution of the number of successes in independent trials, Annals of Mathematical
    Statistics 27, 713-721 (its bound on tails, not read in the work itself; a test compares it with exact tails).

    Examples
    --------
    >>> bounds = kanon_lab.sample.bound_uniques([1] * 30 + [2] * 10 + [5] * 10, fraction=0.1)
    >>> bounds.low, bounds.high
    (0, 478)
    >>> bounds.models["inside"].tolist()[:2]
    [True, True]
    """
    scheme, seed = check_choice(scheme, "scheme", SCHEMES), check_seed(seed)
    confidence, tables = as_share(confidence, "confidence", ends=False), _tables(known)
    notes: tuple[str, ...] = ()
    stratum: np.ndarray | None = None
    margins: tuple[np.ndarray, ...] = ()
    least = np.ones(1, dtype=np.int64)
    if isinstance(sizes, pd.DataFrame):
        sizes, fraction, stratum, margins, least, notes = _of_sample(sizes, spec, fraction, scheme, tables, seed)
    elif spec is not None or tables:
        raise OptionError("key variables and what is known of blocks are for a sample of records, not for class sizes")
    counts, fraction = size_counts(sizes), as_fraction(fraction)
    records = np.asarray(sizes).astype(np.int64)
    stratum = np.zeros(len(records), dtype=np.int64) if stratum is None else stratum
    cells, methods = check_cells(cells, counts), check_methods(methods)
    total = _total(persons, margins, counts, fraction, scheme)
    moves = ONE_BY_ONE
    if scheme == "fixed" and total is not None:
        fraction, moves = counts.records / total, moves_of_fixed(int(counts.records), total)
    population = Knowledge(total, least, cells, margins)
    low, high = fewest_and_most(records, stratum, fraction, 1 - confidence, population, moves)
    whole = total or counts.records / fraction
    models = estimates(counts, fraction, methods, cells)[["method", "p_c"]]
    models["population_uniques"] = models.pop("p_c") * whole
    within = models["population_uniques"].between(low, high).astype(object)
    models["inside"] = within.where(models["population_uniques"].notna(), None)
    return UniquesBounds(
        *(low, high, low / whole, min(high / whole, 1.0), confidence, int(counts.records), int(counts.of_size(1))),
        *(fraction, total, scheme, models, notes),
    )


def _tables(known: Any) -> dict[str, pd.DataFrame]:
    """The tables of what is known, by what errors call them."""
    tables = known if isinstance(known, Mapping | list | tuple) else () if known is None else [known]
    if isinstance(tables, Mapping):
        return {str(name): table for name, table in tables.items()}
    return {f"table {number} of what is known": table for number, table in enumerate(tables, 1)}


def _of_sample(
    frame: pd.DataFrame, spec: Any, fraction: float | None, scheme: str, known: Mapping[str, pd.DataFrame], seed: int
) -> tuple[np.ndarray, float, np.ndarray, tuple[np.ndarray, ...], np.ndarray, tuple[str, ...]]:
    """Of a sample: records and stratum of each class, the fraction, margins, `least` of each stratum, and warnings."""
    if spec is None:
        raise OptionError("name the key variables of the sample")
    spec = as_spec(spec)
    refuse_person(spec, "a bound of population uniques")
    missing = "category" if spec.missing == "wildcard" else spec.missing
    table = class_table(frame, KeySpec(spec.key_variables, weight=spec.weight, missing=missing))
    kept, notes = np.ones(table.n, dtype=bool), clustering(frame, table)
    if spec.missing == "wildcard" and (table.codes < 0).any():
        notes += ("bounds need classes: for them a missing key is a value of its own",)
    if spec.weight is not None:
        weights = table.weight_of_record
        assert weights is not None
        name = shortened(str(spec.weight))
        if fraction is not None or scheme == "fixed":
            raise OptionError(f"fraction, scheme fixed: the weights in {name} say with what chance a record is drawn")
        refuse(weights < 1, table.index, spec.weight, "a weight below 1; it must be 1 over the chance of the record")
        fraction = 1 / float(weights.max())
        kept = np.random.default_rng(seed).random(table.n) < weights * fraction
        notes += (f"of {table.n:,} records {kept.sum():,} are kept, which makes the chances of persons equal",)
    elif fraction is None:
        raise OptionError("fraction: give the sampling fraction of the sample, such as 0.04, or a weight")
    first = np.empty(table.n_classes, dtype=np.int64)
    first[table.class_of_record] = np.arange(table.n)
    fewest, margins, levels = np.ones(table.n_classes, dtype=np.int64), [], {1}
    for name, blocks in known.items():
        with about(name):
            block = _blocks_of(frame, blocks, table.spec)
            if "persons" in blocks:
                margins.append(_margin(blocks, block))
            if "least" in blocks:
                least = _whole_numbers(blocks["least"], 1)
                if "persons" in blocks:
                    persons = _whole_numbers(blocks["persons"], 0)
                    small = (persons > 0) & (persons < least)
                    refuse(
                        small, blocks.index, "least", "more persons in a class than in its block; correct one of them"
                    )
                fewest = np.maximum(fewest, np.append(least, 1)[block[first]])
                # A margin has all blocks: then no class is in one where nothing is known.
                levels = (levels - {1} if "persons" in blocks else levels) | {*least.tolist()}
    if len(levels) > MOST_STRATA:
        raise OptionError(f"least has {len(levels)} different numbers; round them down to at most {MOST_STRATA}")
    values = np.array(sorted(levels))
    stratum = np.searchsorted(values, fewest)
    sizes = np.bincount(table.class_of_record[kept], minlength=table.n_classes)
    return sizes, fraction, stratum, tuple(margins), values, notes


def _blocks_of(frame: pd.DataFrame, blocks: pd.DataFrame, spec: KeySpec) -> np.ndarray:
    """Of each record of the sample its row in a table of blocks, -1 if it is not there."""
    check_frame(blocks)
    names = [name for name in spec.key_variables if name in blocks]
    if not blocks.columns.is_unique:
        raise DataError("has two columns of the same name; give every column its own name")
    if taken := sorted({*_KNOWN} & {*names}):
        raise DataError(f"{taken[0]} is a key variable and what is known; call the key variable something else")
    if not names or not {*_KNOWN} & {*blocks} or not len(blocks):
        keys = shortened(", ".join(map(str, spec.key_variables)))
        raise DataError(
            f"needs one or more of the key variables ({keys}) as columns, a column persons or least, and rows"
        )
    if class_table(blocks, KeySpec(names, missing=spec.missing)).n_classes < len(blocks):
        raise DataError("has two rows for the same block; add them up")
    table = class_table(frame, KeySpec(names, missing=spec.missing))
    both = np.concatenate([codes_of_population(blocks, table), table.policy_codes.astype(np.int64)])
    group, some = distinct_rows(both)
    place = np.full(len(some), -1)
    place[group[: len(blocks)]] = np.arange(len(blocks))
    return place[group[len(blocks) :]][table.class_of_record]


def _margin(blocks: pd.DataFrame, block: np.ndarray) -> np.ndarray:
    """Persons of each block that has some."""
    persons = _whole_numbers(blocks["persons"], 0)
    outside = int((block < 0).sum())
    if outside:
        raise DataError(f"{outside:,} records of the sample are in no block of it; give every block of a margin")
    few = np.bincount(block, minlength=len(persons)) > persons
    refuse(few, blocks.index, "persons", "fewer persons than the sample has records in the block")
    return persons[persons > 0]


def _whole_numbers(column: pd.Series, least: int) -> np.ndarray:
    plain = column.dtype.kind in "iufOUTS" or pd.api.types.is_string_dtype(column)
    numbers = pd.to_numeric(column, errors="coerce") if plain else pd.Series(np.nan, index=column.index)
    values = numbers.to_numpy(dtype=float, na_value=np.nan)
    refuse(
        ~((values >= least) & (values == np.floor(values)) & (values <= MOST_RECORDS)),
        *(column.index, column.name, f"not a whole number from {least} to {MOST_RECORDS:,}; correct it"),
    )
    return values.astype(np.int64)


def _total(
    persons: int | None, margins: Sequence[np.ndarray], counts: SizeCounts, fraction: float, scheme: str
) -> int | None:
    """Persons of the population where they are known."""
    totals = {int(margin.sum()) for margin in margins}
    if persons is not None:
        totals.add(check_whole(persons, "persons", int(counts.records), MOST_RECORDS))
    if len(totals) > 1:
        raise DataError("what is known does not agree: margins and persons have different numbers of persons in all")
    return totals.pop() if totals else round(counts.records / fraction) if scheme == "fixed" else None
