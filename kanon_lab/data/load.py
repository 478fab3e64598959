"""Population counts by name or by path."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.data.checks import COLUMNS
from kanon_lab.data.counts import COUNTS_FORMATS, pool_ages, read_counts
from kanon_lab.data.sets import DATA_SETS, data_path
from kanon_lab.errors import OptionError


def load_counts(
    name_or_path: str | Path,
    *,
    year: int | None = None,
    pool_from: int | None = 85,
    columns: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
) -> pd.DataFrame:
    """Population counts of a data set of the catalogue or of a file.

    Parameters
    ----------
    name_or_path : str or Path
        A name of `catalogue`, such as ``"spain-2010"``, or the path of a file that `read_counts` reads.
    year : int, optional
        Required when the file holds several years; of an embedded data set its own year or nothing.
    pool_from : int or None, default 85
        Add up all age groups from this age on; None leaves them as they are.
    columns, max_bytes : mapping of str to str, int; optional
        As in `read_counts`.

    Returns
    -------
    pandas.DataFrame
        Counts frame, as `read_counts` gives it. Counts of an embedded data set have one more column, kind (str):
        ``"reconstructed"``, ``"synthetic"`` or ``"real"``.

    Examples
    --------
    >>> import kanon_lab
    >>> counts = kanon_lab.load_counts("spain-2010")
    >>> len(counts), int(counts["persons"].sum())
    (292104, 47021031)
    """
    data_set = DATA_SETS.get(str(name_or_path))
    if data_set is None:
        _check_file(name_or_path)
        return read_counts(name_or_path, year=year, pool_from=pool_from, columns=columns, max_bytes=max_bytes)
    if not data_set.counts:
        with_counts = ", ".join(name for name, other in DATA_SETS.items() if other.counts)
        raise OptionError(f"{data_set.name}: has no persons by place, sex and age group; choose from {with_counts}")
    path = data_path(data_set.name)
    if data_set.address:
        return read_counts(path, year=year, pool_from=pool_from, columns=columns, max_bytes=max_bytes)
    if year not in (None, data_set.year):
        raise OptionError(f"{data_set.name}: holds {data_set.year} only; leave out the year or choose that one")
    if columns:
        raise OptionError(f"{data_set.name}: its columns are known; leave out columns (--columns)")
    counts = _read_embedded(path)
    return counts if pool_from is None else pool_ages(counts, pool_from)


def _check_file(path: str | Path) -> None:
    """A name that is neither a data set nor looks like a file was meant as one or the other: offer both."""
    if not str(path):
        raise OptionError("the name of the population is empty; write that of a data set, or the path of a file")
    if files.status(path) is None and files.file_format(path) not in COUNTS_FORMATS:
        names = ", ".join(DATA_SETS)
        raise OptionError(f"{path}: neither a data set ({names}) nor a file; check the name or path")


def _read_embedded(path: Path) -> pd.DataFrame:
    """A population of the package: one row a municipality, a column "sex age_group" for each cell. Tests check it."""
    wide = pd.read_csv(path, dtype={"place": str, "name": str, "kind": str}, keep_default_na=False)
    cells = [column for column in wide.columns if " " in column]
    sexes, age_groups = zip(*(column.split(" ") for column in cells), strict=True)
    places, width = len(wide), len(cells)
    counts = pd.DataFrame(
        {
            "place": wide["place"].repeat(width).to_numpy(),
            "name": wide["name"].repeat(width).to_numpy(),
            "province": wide["place"].str[:2].repeat(width).to_numpy(),
            "sex": np.tile(sexes, places),
            "age_group": np.tile(age_groups, places),
            "persons": wide[cells].to_numpy(dtype=np.int64).ravel(),
            "kind": wide["kind"].repeat(width).to_numpy(),
        }
    )
    return counts.astype(dict.fromkeys(["sex", "age_group"], "str"))[[*COLUMNS, "kind"]]
