"""The data sets kanon_lab knows: those inside the package and those a user can fetch."""

import csv
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kanon_lab import files
from kanon_lab.errors import DataError, OptionError

EMBEDDED_FOLDER = Path(__file__).parent / "embedded"


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue, as ``catalogue.csv`` has it.

    Its kind is ``"reconstructed and synthetic"``, ``"synthetic"`` (persons that do not exist), ``"facts"``,
    ``"fetched"``, or parameters that persons are made from. A fetched file comes from an address, and has roughly so
    many bytes; an embedded one may have a year. Some hold counts: persons by place, sex and age group.
    """

    name: str
    kind: str
    licence: str
    file: str
    size: int | None = None
    address: str | None = None
    year: int | None = None
    counts: bool = True

    @property
    def path(self) -> Path:
        """Where the file is, or will be once fetched."""
        return (files.cache_folder() if self.address else EMBEDDED_FOLDER) / self.file


def _known() -> dict[str, DataSet]:
    with (Path(__file__).parent / "catalogue.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    numbers = [{name: int(row[name]) if row[name] else None for name in ("size", "year")} for row in rows]
    return {
        row["name"]: DataSet(**{**row, **given, "address": row["address"] or None, "counts": row["counts"] == "yes"})
        for row, given in zip(rows, numbers, strict=True)
    }


DATA_SETS = _known()


def find(name: str) -> DataSet:
    """The data set called `name`."""
    if name not in DATA_SETS:
        raise OptionError(f"{name}: no such data set; there are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def data_path(name: str) -> Path:
    """Path of the file of the data set called `name`, which must be in the package or have been fetched.

    Examples
    --------
    >>> from kanon_lab.data import data_path
    >>> data_path("spain-2010").name
    'spain-2010.csv.gz'
    """
    data_set = find(name)
    if not files.is_file(data_set.path):
        remedy = f"fetch it with: kanon-lab data fetch {name}" if data_set.address else "install kanon_lab again"
        raise DataError(f"{name}: not on this machine; {remedy}")
    return data_set.path


def describe(data_set: DataSet) -> dict:
    """The row of `catalogue` for one data set."""
    present = files.is_file(data_set.path)
    return {
        "name": data_set.name,
        "kind": data_set.kind,
        "licence": data_set.licence,
        "size": data_set.path.stat().st_size if present else data_set.size,
        "sha256": files.sha256(data_set.path) if present else None,
        "present": present,
    }


def catalogue() -> pd.DataFrame:
    """The data sets, one a row.

    Returns
    -------
    pandas.DataFrame
        Columns name, kind, licence (str), size (Int64: bytes on disk; for a file not fetched yet the rough size, or
        missing), sha256 (of the file on disk; missing without one) and present (bool).

    Examples
    --------
    >>> import kanon_lab
    >>> kanon_lab.catalogue().set_index("name").at["health-survey", "kind"]
    'synthetic'
    """
    frame = pd.DataFrame([describe(data_set) for data_set in DATA_SETS.values()])
    return frame.astype({"size": "Int64"})
