"""Population counts by place, sex and five-year age group, by name or from the files that hold them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab import files
from kanon_lab.data import labels, px
from kanon_lab.data.delimited import check_thousands
from kanon_lab.data.labels import (
    CELL,
    COLUMNS,
    check_unique,
    checked,
    first_row,
    in_five_year_groups,
    without_thousands,
)
from kanon_lab.data.sets import DATA_SETS, data_path
from kanon_lab.data.tables import TABLE_FORMATS, read_table
from kanon_lab.errors import DataError, OptionError, UnfitOptionError, about

# Extensions of the files that `read_counts` reads; .gz may follow.
COUNTS_FORMATS = ("px", *TABLE_FORMATS)
# If one sex is the sum of the others in this many places and age groups, that is no accident.
_NO_ACCIDENT = 10


def read_counts(
    path: str | Path,
    *,
    year: int | None = None,
    pool_from: int | None = None,
    columns: Mapping[str, str] | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    max_bytes: int | None = None,
) -> pd.DataFrame:
    """Read population counts from a PC-Axis, csv, tsv, Parquet, xlsx or xls file, or a zip archive of one csv or tsv.

    INE's labels are understood in Spanish and English. Single years of age are added up to five-year groups. Rows
    of totals (nation, province, both sexes, all ages) are compared with the sum of their parts within each place, then
    left out. A place without a figure in the chosen year did not exist then and is left out too.

    Parameters
    ----------
    path : str or Path
        ``.px``, ``.csv`` or ``.tsv`` (UTF-8 or Windows-1252), ``.parquet``, ``.xlsx``, ``.xls`` (first sheet) or
        ``.zip``, possibly with ``.gz`` after it.
    year : int, optional
        Required when the file holds several years.
    pool_from : int, optional
        Add up all age groups from this age on into one open group; must be the first age of a group. Default: leave the
        groups as they are.
    columns : mapping of str to str, optional
        For files with named columns: the file's name for each of place, sex, age_group, persons, name, province and
        year where it differs.
    thousands : str, optional
        The sign between thousands, such as ``"."``. Default: a point or comma where that is sure.
    sheet : str or int, optional
        Of an xlsx workbook, by its name or its number from 1 on. Default: the first.
    max_bytes : int, optional
        The memory, in bytes, that reading may take, as estimated before it is done. Default: 4,000,000,000.

    Returns
    -------
    pandas.DataFrame
        Counts frame: columns place, name, province, sex, age_group (str) and persons (int64, 0 to 10^10), one row per
        cell in file order (place by place in PC-Axis files), with a RangeIndex. Age groups are written ``"0-4"`` to
        ``"80-84"`` and ``"85+"``; INE's sexes ``"men"`` and ``"women"``. ``attrs["notes"]``, a list of str, says what
        was done to the file.
    """
    with files.limited(max_bytes), about(str(path)):
        cells, notes = _cells(path, year, columns, thousands, sheet)
        parts = cells[~_is_total(cells["place"])].reset_index(drop=True)
        if parts.empty:
            raise DataError("holds totals only; use a file with a row per place, sex and age group")
    parts = parts if pool_from is None else pool_ages(parts, pool_from)
    parts.attrs["notes"] = notes
    return parts


def national_totals(
    path: str | Path,
    year: int | None = None,
    *,
    pool_from: int | None = None,
    columns: Mapping[str, str] | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
    max_bytes: int | None = None,
) -> pd.DataFrame:
    """The file's own total of the nation ("Total Nacional") by sex and age group; parameters as of `read_counts`.

    Returns
    -------
    pandas.DataFrame
        Columns sex, age_group (str) and persons (int64), in file order, with a RangeIndex.
    """
    with files.limited(max_bytes), about(str(path)):
        cells, _ = _cells(path, year, columns, thousands, sheet)
        nation = cells[cells["place"] == labels.NATION].reset_index(drop=True)
        if nation.empty:
            raise DataError("has no row for the whole nation (Total Nacional); use the national file")
    if pool_from is not None:
        nation = pool_ages(nation, pool_from)
    return nation[["sex", "age_group", "persons"]]


def pool_ages(counts: pd.DataFrame, pool_from: int) -> pd.DataFrame:
    """Counts with the groups from age `pool_from` on added up; unchanged where the open group begins before."""
    if pool_from < 0 or pool_from % labels.GROUP_YEARS:
        raise OptionError(
            f"ages cannot be pooled from {pool_from} (--pool-ages): groups start at multiples of {labels.GROUP_YEARS}"
        )
    groups = counts["age_group"].unique()
    pooled = {group: f"{pool_from}+" if labels.lowest_age(group) >= pool_from else group for group in groups}
    return labels.added_up(counts, pooled).reset_index(drop=True)


def _cells(
    path: str | Path,
    year: int | None,
    columns: Mapping[str, str] | None,
    thousands: str | None,
    sheet: str | int | None,
) -> tuple[pd.DataFrame, list[str]]:
    """All cells of the file; of totals only those of places, the nation's under the code `labels.NATION`. And notes."""
    check_thousands(thousands)
    form = files.file_format(path)
    noted: list[str] = []
    if form == "px":
        if columns:
            raise UnfitOptionError("a PC-Axis file has no columns to name; leave out columns (--columns)")
        if sheet is not None:
            raise UnfitOptionError("a PC-Axis file has no sheets; leave out the sheet (--sheet)")
        cells = checked(px.year_frame(px.read_px(path), year))
    elif form in TABLE_FORMATS:
        table, noted = without_thousands(read_table(path, year, columns, sheet), thousands)
        cells = _with_labels_read(checked(table))
    else:
        files.check_file(path)
        endings = ", ".join(f".{ending}" for ending in COUNTS_FORMATS)
        raise DataError(f"its name must end in one of {endings} (.gz may follow); convert or rename the file")
    cells, notes = in_five_year_groups(cells)
    notes = [*noted, *notes]
    _check_totals(cells)
    # A sex that is everywhere the sum of the others is a total under a label we do not know: it would count twice.
    wide = cells[cells["sex"] != labels.TOTAL].pivot(index=["place", "age_group"], columns="sex", values="persons")
    all_sexes = wide.sum(axis=1)
    wide, all_sexes = wide[all_sexes > 0], all_sexes[all_sexes > 0]
    enough = wide.shape[1] >= 3 and len(wide) >= _NO_ACCIDENT
    if enough and any((2 * wide[sex] == all_sexes).all() for sex in wide):
        raise DataError(
            "one label of column sex is the sum of the others in every place and age group; leave out those "
            "rows, or call that label Total"
        )
    return cells[(cells["sex"] != labels.TOTAL) & (cells["age_group"] != labels.TOTAL)], notes


def _with_labels_read(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells of a table with INE's labels of place, sex and age group read; other places and sexes stay as they are."""
    places = {label: labels.place(label) or (label, label) for label in cells["place"].unique()}
    named = (cells["name"] != cells["place"]).any()
    ages = {label: labels.ages(label) for label in cells["age_group"].unique()}
    unread = cells["age_group"].isin([label for label, group in ages.items() if group is None])
    if unread.any():
        raise DataError(
            f"row {first_row(unread)}: column age_group holds no five-year age group and no age; write it as "
            "5-9, 85+ or, in years, 7"
        )
    read = cells.assign(
        place=cells["place"].map({label: code for label, (code, _) in places.items()}).astype(str),
        name=cells["name"] if named else cells["place"].map({label: name for label, (_, name) in places.items()}),
        sex=cells["sex"].map({label: labels.sex(label) for label in cells["sex"].unique()}).astype(str),
        age_group=cells["age_group"].map(ages).astype(str),
    )
    check_unique(read)
    return read


def _check_totals(cells: pd.DataFrame) -> None:
    """A total over sexes, ages or both must equal the sum of the cells of its place that it covers."""
    total = cells[["sex", "age_group"]] == labels.TOTAL
    parts = cells[~total.any(axis=1)]
    of_places = _is_total(cells["place"])
    for by in (["place", "age_group"], ["place", "sex"], ["place"]):
        totals = cells[(total["sex"] == ("sex" not in by)) & (total["age_group"] == ("age_group" not in by))]
        sums = totals[by].join(parts.groupby(by, sort=False)["persons"].sum(), on=by)["persons"]
        # The nation's total may have no parts in the file; any other place without parts would silently be lost.
        wrong = (sums != totals["persons"]) & ~(sums.isna() & of_places[totals.index])
        if wrong.any():
            label = first_row(wrong)
            where = f"row {label}"
            if totals.index.name != "row":  # of a PC-Axis file, which has labels rather than rows
                where = ", ".join(f"{column} {totals.at[label, column]!s}" for column in CELL)
            raise DataError(f"{where}: the total is not the sum of its parts; correct it or download the file again")


def _is_total(places: pd.Series) -> pd.Series:
    """Whether a place is the nation, an uncoded total, or a province (two digits) among municipalities (five)."""
    total = places.isin([labels.NATION, labels.TOTAL])
    digits = places.str.len().where(places.str.isdecimal())
    return total | ((digits == 2) & bool((digits == 5).any()))


def load_counts(
    name_or_path: str | Path,
    *,
    year: int | None = None,
    pool_from: int | None = 85,
    columns: Mapping[str, str] | None = None,
    thousands: str | None = None,
    sheet: str | int | None = None,
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
    columns, thousands, sheet, max_bytes : mapping of str to str, str, str or int, int; optional
        As in `read_counts`.

    Returns
    -------
    pandas.DataFrame
        Counts frame, as `read_counts` gives it. Counts of an embedded data set have one more column, kind (str):
        ``"reconstructed"``, ``"synthetic"`` or ``"real"``.

    Examples
    --------
    >>> counts = kanon_lab.load_counts("spain-2010")
    >>> len(counts), int(counts["persons"].sum())
    (292104, 47021031)
    """
    data_set = DATA_SETS.get(str(name_or_path))
    how: dict[str, Any] = {"thousands": thousands, "sheet": sheet, "max_bytes": max_bytes}
    if data_set is None:
        if not str(name_or_path):
            raise OptionError("the name of the population is empty; write that of a data set, or the path of a file")
        if files.status(name_or_path) is None and files.file_format(name_or_path) not in COUNTS_FORMATS:
            names = ", ".join(DATA_SETS)
            raise OptionError(f"{name_or_path}: neither a data set ({names}) nor a file; check the name or path")
        return read_counts(name_or_path, year=year, pool_from=pool_from, columns=columns, **how)
    if not data_set.counts:
        with_counts = ", ".join(name for name, other in DATA_SETS.items() if other.counts)
        raise OptionError(f"{data_set.name}: has no persons by place, sex and age group; choose from {with_counts}")
    path = data_path(data_set.name)
    if data_set.address:
        return read_counts(path, year=year, pool_from=pool_from, columns=columns, **how)
    if year not in (None, data_set.year):
        raise OptionError(f"{data_set.name}: holds {data_set.year} only; leave out the year or choose that one")
    if columns:
        raise OptionError(f"{data_set.name}: its columns are known; leave out columns (--columns)")
    counts = _read_embedded(path)
    return counts if pool_from is None else pool_ages(counts, pool_from)


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
