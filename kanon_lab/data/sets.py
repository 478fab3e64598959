"""The data sets kanon_lab knows: those inside the package and those a user can fetch."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import platformdirs

from kanon_lab import files
from kanon_lab.errors import DataError, OptionError

EMBEDDED_FOLDER = Path(__file__).parent / "embedded"


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue.

    Attributes
    ----------
    name : str
    kind : str
        ``"reconstructed and synthetic"``, ``"synthetic"`` (persons that do not exist), ``"facts"``, ``"fetched"``; or
        parameters, which `kanon_lab.studies` makes persons from.
    licence : str
    file : str
        Name of its file, in the package or in the cache folder.
    size : int or None
        Expected bytes of a fetched file, roughly; None when not known.
    address : str or None
        Where a fetched file comes from.
    year : int or None
        The year of an embedded file.
    counts : bool
        Whether it holds persons by place, sex and age group.
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
        return (cache_folder() if self.address else EMBEDDED_FOLDER) / self.file


_DATA_SETS = (
    DataSet(
        name="spain-2010",
        kind="reconstructed and synthetic",
        licence="CC BY 4.0",
        file="spain-2010.csv.gz",
        year=2010,
    ),
    DataSet(
        name="spain-2010-pyramid",
        kind="facts",
        licence="CC BY 4.0 (INE)",
        file="spain-2010-pyramid.csv.gz",
        year=2010,
        counts=False,
    ),
    DataSet(
        name="spain-2010-municipalities",
        kind="facts",
        licence="CC BY 4.0 (INE)",
        file="spain-2010-municipalities.csv.gz",
        year=2010,
        counts=False,
    ),
    DataSet(
        name="spain-2010-age-structure",
        kind="facts",
        licence="CC BY 4.0 (INE)",
        file="spain-2010-age-structure.csv.gz",
        year=2010,
        counts=False,
    ),
    DataSet(
        name="malaga-2010",
        kind="facts",
        licence="CC BY 4.0 (INE)",
        file="malaga-2010.csv.gz",
        year=2010,
    ),
    DataSet(
        name="spain-oldest",
        kind="facts",
        licence="CC BY 4.0 (INE)",
        file="spain-oldest.csv.gz",
        counts=False,
    ),
    DataSet(
        name="town-register",
        kind="synthetic",
        licence="CC BY 4.0",
        file="town-register.csv.gz",
        year=2020,
        counts=False,
    ),
    DataSet(
        name="health-survey",
        kind="synthetic",
        licence="CC BY 4.0",
        file="health-survey.csv.gz",
        year=2020,
        counts=False,
    ),
    DataSet(
        name="health-survey-truth",
        kind="synthetic",
        licence="CC BY 4.0",
        file="health-survey-truth.csv.gz",
        year=2020,
        counts=False,
    ),
    DataSet(
        name="enusc-synthetic",
        kind="synthetic",
        licence="CC BY 4.0",
        file="enusc-synthetic.csv.gz",
        year=2019,
        counts=False,
    ),
    DataSet(
        name="catalonia-1991",
        kind="parameters of a synthetic, fitted census",
        licence="CC BY 4.0",
        file="catalonia-1991.yml",
        year=1991,
        counts=False,
    ),
    DataSet(
        name="ine-33570",
        kind="fetched",
        licence="CC BY 4.0 (INE)",
        file="33570.px",
        size=50_000_000,
        address="https://www.ine.es/jaxiT3/files/t/es/px/33570.px",
    ),
    DataSet(
        name="ine-pobmun",
        kind="fetched",
        licence="CC BY 4.0 (INE)",
        file="pobmun.zip",
        address="https://www.ine.es/pob_xls/pobmun.zip",
        counts=False,
    ),
)
DATA_SETS = {data_set.name: data_set for data_set in _DATA_SETS}


def cache_folder() -> Path:
    """Folder of fetched files: kanon-lab in the user's cache folder. It need not exist."""
    return platformdirs.user_cache_path("kanon-lab", appauthor=False)


def find(name: str) -> DataSet:
    """The data set called `name`.

    Raises
    ------
    OptionError
        There is none; the message lists those there are.
    """
    if name not in DATA_SETS:
        raise OptionError(f"{name}: no such data set; there are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def data_path(name: str) -> Path:
    """Path of the file of the data set called `name`.

    Raises
    ------
    OptionError
        There is no such data set.
    DataError
        It is to be fetched and has not been, or the cache folder cannot be entered.
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

    Raises
    ------
    DataError
        The cache folder cannot be entered, or a file in it cannot be read.
    """
    frame = pd.DataFrame([describe(data_set) for data_set in DATA_SETS.values()])
    return frame.astype({"size": "Int64"})
