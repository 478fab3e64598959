"""An invented register of a population known as counts: one record a person, and its anonymity beside the expected one.

Each person of a cell (place, sex, age group) gets one of the 1826 days of the group as date of birth, all with the same
probability and independently. So the classes of the register agree with `kanon_lab.population.anonymity` of its counts,
within the spread that it states.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.arguments import check_whole
from kanon_lab.data.labels import GROUP_YEARS, highest_age, lowest_age
from kanon_lab.errors import OptionError, StorageError
from kanon_lab.population.law import PERIODS
from kanon_lab.population.places import Z_95

if TYPE_CHECKING:
    import pyarrow

#: Of a count, and of the whole register: what the draw of a sample can take, and 4 bytes of memory a person.
_MOST_PERSONS = 10**9 - 1
#: Persons written at a time: a row group of the file.
_ROWS = 2**20


def register_counts(counts: pd.DataFrame, *, persons: int | None = None, seed: int) -> pd.DataFrame:
    """The counts of the register that `draw_register` draws: what its law takes as known.

    Parameters
    ----------
    counts : DataFrame
        A counts frame (`kanon_lab.load_counts`).
    persons : int, optional
        From 1 to all persons of the counts, the default. Fewer are a simple random sample without replacement.
    seed : int
        0 or more.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> int(kanon_lab.population.register_counts(spain, persons=1000, seed=1)["persons"].sum())
    1000
    """
    return counts.assign(persons=_drawn_counts(counts, persons, _generator(seed)))


def draw_register(counts: pd.DataFrame, *, year: int = 2010, persons: int | None = None, seed: int) -> pd.DataFrame:
    """Draw an invented register in memory: one row a person, in random order.

    Parameters
    ----------
    counts, persons, seed
        As in `register_counts`. The counts need the columns place, sex and age_group; age groups are five
        years wide.
    year : int
        The counts are of 1 January of this year: ages are those that were reached on the day before.

    Returns
    -------
    DataFrame
        ``place``, ``sex`` (categories) and ``birth_date`` (datetime64). Each age group has 1826 dates, the last ones
        of its five years: where these have two leap days, nobody is born on the first. The open group is five years
        wide, as in the study.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> register = kanon_lab.population.draw_register(spain, persons=1000, seed=1)
    >>> table = kanon_lab.class_table(register, ["place", "sex", "birth_date"])
    >>> table.n, table.sample_uniques
    (1000, 1000)
    """
    parts = [table.to_pandas(date_as_object=False) for table in _parts(counts, year, persons, seed)]
    return pd.concat(parts, ignore_index=True)


def write_register(
    path: str | Path,
    counts: pd.DataFrame,
    *,
    year: int = 2010,
    persons: int | None = None,
    seed: int,
    overwrite: bool = False,
    progress: bool = False,
) -> int:
    """Write the register that `draw_register` draws to a Parquet file, a part at a time.

    The same arguments give the same bytes (under one version of pyarrow). It takes 4 bytes of memory a person, and some
    100 MB; the file some 4 bytes a person.

    Parameters
    ----------
    path : str or Path
        Its name ends in ``.parquet``. ``birth_date`` is a date32 there, ``place`` and ``sex`` are dictionaries of text.
    counts, year, persons, seed
        As in `draw_register`.
    overwrite : bool
        Whether to replace a file that is there.
    progress : bool
        Show a progress bar on standard error, where that is a terminal.

    Returns
    -------
    int
        The persons written.

    Examples
    --------
    >>> spain = kanon_lab.load_counts("spain-2010")
    >>> kanon_lab.population.write_register("register.parquet", spain, persons=1000, seed=1)
    1000
    """
    from pyarrow import parquet
    from tqdm import tqdm

    _check_target(Path(path), overwrite)
    tables = _parts(counts, year, persons, seed)
    first = next(tables)  # faults of the counts are raised before the file is opened
    total = int(counts["persons"].sum()) if persons is None else persons
    with (
        files.atomic_path(path, ending=".parquet") as draft,
        tqdm(total=total, desc="persons", unit_scale=True, disable=None if progress else True, leave=False) as bar,
        parquet.ParquetWriter(draft, first.schema) as writer,
    ):
        for table in chain([first], tables):
            writer.write_table(table, row_group_size=_ROWS)
            bar.update(len(table))
    return total


def beside_register(expected: pd.DataFrame, classes: np.ndarray) -> pd.DataFrame:
    """The persons of a register by k beside what the law expects of them.

    Parameters
    ----------
    expected : DataFrame
        The rows of one place and date of `kanon_lab.population.anonymity`, of the counts of the register.
    classes : array of int
        How many classes of the register have 0, 1, 2, ... records: ``np.bincount(table.f_k)`` of its class table.

    Returns
    -------
    DataFrame
        One row a range: ``k_from``, ``k_to`` (missing where open), ``realised``, ``expected``, ``sd``, ``low`` and
        ``high`` (the 95% interval by the normal approximation, poor where a handful of persons is expected), in
        persons; ``z``, how many sd the realised number lies above the expected one (missing where sd is 0); and
        ``inside`` (bool), whether it is in the interval.

    Examples
    --------
    >>> spain, some = kanon_lab.load_counts("spain-2010"), {"persons": 50_000, "seed": 1}
    >>> table = kanon_lab.class_table(kanon_lab.population.draw_register(spain, **some), ["place", "sex", "birth_date"])
    >>> counts = kanon_lab.population.register_counts(spain, **some)
    >>> expected = kanon_lab.population.anonymity(counts, dates=["day"], ranges="1,2,3+")
    >>> compared = kanon_lab.population.beside_register(expected, np.bincount(table.f_k))
    >>> compared[["realised", "expected"]].round(1).to_numpy().tolist()
    [[49650.0, 49647.1], [344.0, 345.1], [6.0, 7.7]]
    """
    if expected[["place", "dates"]].drop_duplicates().shape[0] != 1:
        raise OptionError("the law must be of one place and one knowledge of dates: choose its rows")
    persons = np.arange(len(classes)) * np.asarray(classes)
    below = np.concatenate([[0], np.cumsum(persons)])  # below[k]: persons whose k is smaller
    last = expected["k_to"].fillna(len(classes)).to_numpy(dtype=np.int64)
    first = expected["k_from"].to_numpy(dtype=np.int64)
    realised = below[np.minimum(last + 1, len(classes))] - below[np.minimum(first, len(classes))]
    mean, sd = (expected[name].to_numpy(dtype=float) for name in ("persons", "sd"))
    low, high = mean - Z_95 * sd, mean + Z_95 * sd
    z = np.divide(realised - mean, sd, out=np.full(len(sd), np.nan), where=sd > 0)
    figures = {"realised": realised, "expected": mean, "sd": sd, "low": low, "high": high, "z": z}
    frame = pd.DataFrame({"k_from": first, "k_to": expected["k_to"].array, **figures})
    return frame.assign(inside=(low <= realised) & (realised <= high))


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(check_whole(seed, "seed", 0, 2**63 - 1))


def _check_target(path: Path, overwrite: bool) -> None:
    """Raise a `StorageError` before a minute is spent on a file that cannot be written."""
    if path.suffix != ".parquet":
        raise StorageError(f"{path}: its name does not end in .parquet, the only format of a register; choose another")
    there = files.status(path)
    if there is not None and not (overwrite and files.is_file(path)):
        raise StorageError(f"{path}: already exists; choose another name, or replace it (--overwrite)")
    if files.status(path.parent) is None:
        raise StorageError(f"{path}: its folder does not exist; create it or choose another place")


def _drawn_counts(counts: pd.DataFrame, persons: int | None, rng: np.random.Generator) -> np.ndarray:
    """Persons by cell: everybody, or a sample without replacement."""
    cells = counts["persons"].to_numpy(dtype=np.int64)
    total = int(cells.sum())
    if not 1 <= total <= _MOST_PERSONS:
        raise OptionError(f"a register has 1 to {_MOST_PERSONS:,} persons, and the counts have {total:,}")
    persons = total if persons is None else check_whole(persons, "persons", 1, total)
    return rng.multivariate_hypergeometric(cells, persons, method="marginals")


def _first_days(counts: pd.DataFrame, year: int) -> tuple[np.ndarray, np.ndarray]:
    """The first of 1826 dates of each cell's age group, in days since 1970, and that of its five years.

    Five years without a leap day, such as 1897 to 1901, have a day less: there two of the dates are the first day.
    """
    firsts, years = {}, {}
    for group in counts["age_group"].unique():
        if highest_age(group) not in (None, lowest_age(group) + GROUP_YEARS - 1):
            raise OptionError(f"a register is drawn of groups of {GROUP_YEARS} years of age; pool the ages")
        last = np.datetime64(f"{year - lowest_age(group):04d}-01-01") - 1
        firsts[group] = int((last - (PERIODS["day"] - 1)).astype(np.int64))
        years[group] = int(np.datetime64(f"{year - lowest_age(group) - GROUP_YEARS:04d}-01-01").astype(np.int64))
    first, of_years = (counts["age_group"].map(days).to_numpy(dtype=np.int32) for days in (firsts, years))
    return first, of_years


def _parts(counts: pd.DataFrame, year: int, persons: int | None, seed: int) -> Iterator[pyarrow.Table]:
    """The register, as many persons at a time as a row group has: these make no difference to what is drawn."""
    import pyarrow as pa

    rng = _generator(seed)
    drawn = _drawn_counts(counts, persons, rng)
    first_day, of_years = _first_days(counts, check_whole(year, "year", 1000, 9999))
    coded = {}
    for name in ("place", "sex"):
        codes, labels = pd.factorize(counts[name])
        coded[name] = codes.astype(np.int16 if len(labels) < 2**15 else np.int32), pa.array(labels, pa.string())
    cell = np.repeat(np.arange(len(counts), dtype=np.int32), drawn)
    rng.shuffle(cell)
    for start in range(0, len(cell), _ROWS):
        part = cell[start : start + _ROWS]
        columns = {name: pa.DictionaryArray.from_arrays(codes[part], labels) for name, (codes, labels) in coded.items()}
        # 32-bit numbers: drawn in pieces they are those drawn at once, which does not hold for fewer bits
        days = first_day[part] + rng.integers(0, PERIODS["day"], len(part), dtype=np.int32)
        days = np.maximum(days, of_years[part])
        yield pa.table(columns | {"birth_date": pa.array(days, pa.int32()).cast(pa.date32())})
