"""The data sets kanon_lab knows, those inside the package and those a user can fetch; the provinces of Spain."""

import csv
import email.utils
import lzma
import os
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kanon_lab import files
from kanon_lab.errors import DataError, NetworkError, OptionError
from kanon_lab.files import is_file, storage_errors

if TYPE_CHECKING:
    import requests


_FOLDER = Path(__file__).parent
EMBEDDED_FOLDER = _FOLDER / "embedded"


def _rows(name: str) -> list[dict[str, str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


#: Name by two-digit code; the autonomous cities Ceuta and Melilla count as provinces, as in INE's tables.
PROVINCES = {row["code"]: row["name"] for row in _rows("provinces.csv")}


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue, as ``catalogue.csv`` has it."""

    name: str
    kind: str
    licence: str
    file: str
    size: int | None  # roughly, of one to fetch
    address: str | None
    year: int | None
    counts: bool  # whether it has persons by place, sex and age group

    @property
    def path(self) -> Path:
        """Where the file is, or will be once fetched."""
        return (files.cache_folder() if self.address else EMBEDDED_FOLDER) / self.file


def _data_set(row: dict[str, str]) -> DataSet:
    numbers = {name: int(row[name]) if row[name] else None for name in ("size", "year")}
    values: dict[str, Any] = {**row, **numbers, "address": row["address"] or None, "counts": row["counts"] == "yes"}
    return DataSet(**values)


DATA_SETS = {row["name"]: _data_set(row) for row in _rows("catalogue.csv")}


def find(name: str) -> DataSet:
    """The data set called `name`."""
    if name not in DATA_SETS:
        raise OptionError(f"{name}: no such data set; there are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def data_path(name: str) -> Path:
    """Path of the file of the data set called `name`, which must be in the package or have been fetched.

    Examples
    --------
    >>> kanon_lab.data.data_path("spain-2010").name
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
    >>> kanon_lab.catalogue().set_index("name").at["health-survey", "kind"]
    'synthetic'
    """
    return pd.DataFrame(map(describe, DATA_SETS.values())).astype({"size": "Int64"})


# Seconds to connect, and to wait for the next bytes: INE takes a while to make the national table.
TIMEOUT = (10.0, 60.0)
# Spain has had more than this in every year of the table.
FEWEST_MUNICIPALITIES = 8000
# Bytes a second, on average over the time to wait for the next bytes, below which a download is given up.
SLOWEST = 500
# Connections that an answer may take, redirections included, each as slow as the limits allow.
_REDIRECTIONS = 3
# Most bytes read at a time.
_BLOCK = 1 << 16
# what zipfile lets through of encryption, unknown methods and damaged contents
_ZIP_FAULTS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)


def fetch(
    name: str,
    *,
    force: bool = False,
    address: str | None = None,
    folder: str | Path | None = None,
    timeout: tuple[float, float] = TIMEOUT,
) -> tuple[Path, bool]:
    """Download a data set of the catalogue from its publisher, unless it is there.

    Progress is shown on standard error. The file gets its name only when it is whole and has the expected layout;
    until then it is a ``.part`` file, from which the next call goes on where the server allows it.

    Parameters
    ----------
    name : str
        Name in `catalogue`.
    force : bool, default False
        Download even when the file is there; the old one stays until the new one has been checked.
    address, folder : str, str or Path, optional
        Fetch from here instead of the official address, and put the file here instead of the user's cache folder.
    timeout : tuple of two floats, default (10, 60)
        Seconds to connect, and to wait for the next bytes. A download that brings less than 500 bytes a second during
        the second time is given up.

    Returns
    -------
    Path
        The file.
    bool
        Whether it was downloaded by this call; False when it was there.
    """
    data_set = find(name)
    if data_set.address is None:
        return data_path(name), False
    target = (Path(folder) if folder else files.cache_folder()) / data_set.file
    if is_file(target) and not force:
        return target, False
    download(address or data_set.address, target, _CHECKS[target.suffix], timeout=timeout)
    return target, True


def download(
    address: str, target: Path, check: Callable[[Path], None], *, timeout: tuple[float, float] = TIMEOUT
) -> None:
    """Bring `address` to `target` through ``target.part``; `check` raises a `DataError` when it is another file."""
    part = target.with_name(f"{target.name}.part")
    with storage_errors(part):
        target.parent.mkdir(parents=True, exist_ok=True)
    _receive(address, part, timeout)
    try:
        check(part)
    except DataError as error:
        part.unlink()
        raise DataError(f"{address}: what came is not the expected file, and was removed: {error}") from None
    with storage_errors(target):
        part.replace(target)


def _receive(address: str, part: Path, timeout: tuple[float, float]) -> None:
    """Bring `part` to its full length."""
    import requests
    import urllib3

    headers = {"Accept-Encoding": "identity"}
    if part.exists() and (have := part.stat().st_size):
        # The rest is asked for if the file is still the one that `part` was begun from: it bears the server's date.
        headers["Range"] = f"bytes={have}-"
        headers["If-Range"] = email.utils.formatdate(part.stat().st_mtime, usegmt=True)
    try:
        with _ask(address, headers, timeout) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable and part.exists():
                part.unlink()
                return _receive(address, part, timeout)
            if response.status_code not in (requests.codes.ok, requests.codes.partial_content):
                raise NetworkError(f"{address}: the server answers {response.status_code} {response.reason}; try later")
            if response.status_code == requests.codes.partial_content and "Range" not in response.request.headers:
                raise NetworkError(f"{address}: the server sends a part that was not asked for; try later")
            _write(response, part, patience=timeout[1])
    except (requests.exceptions.SSLError, urllib3.exceptions.SSLError):
        raise NetworkError(f"{address}: no secure connection; check the date of this machine and its proxy") from None
    except urllib3.exceptions.ProtocolError:
        raise _broken_off(address, part) from None
    except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
        raise NetworkError(f"{address}: no answer within {max(timeout):g} s; try again, or later") from None
    except requests.exceptions.ConnectionError:
        raise NetworkError(f"{address}: cannot be reached; check the network connection and try again") from None
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
        raise NetworkError(f"{address}: cannot be downloaded ({type(error).__name__}); check the address") from None


def _ask(address: str, headers: dict[str, str], timeout: tuple[float, float]) -> "requests.Response":
    """The answer to a request. requests lets some faults through as they come: those become a `NetworkError` here."""
    from concurrent.futures import Future

    import requests

    answer: Future[requests.Response] = Future()

    def ask() -> None:
        try:
            answer.set_result(requests.get(address, headers=headers, stream=True, timeout=timeout))
        except Exception as error:
            answer.set_exception(error)

    # The limits of requests start anew with every byte and redirection: a thread of its own can be left waiting.
    threading.Thread(target=ask, daemon=True).start()
    patience = _REDIRECTIONS * sum(timeout)
    try:
        return answer.result(patience)
    except requests.exceptions.RequestException:
        raise
    except TimeoutError:
        raise NetworkError(f"{address}: no whole answer within {patience:g} s; try again, or later") from None
    except ValueError:
        raise NetworkError(f"{address}: it, or an address that it leads to, is malformed; check the address") from None
    except OSError as error:
        raise NetworkError(f"{address}: {error}; check REQUESTS_CA_BUNDLE and the settings of the network") from None


def _write(response: "requests.Response", part: Path, patience: float) -> None:
    """Append to `part` what the server sends, or start it anew when the server sends all."""
    import requests
    from tqdm import tqdm

    resumed = response.status_code == requests.codes.partial_content
    have = part.stat().st_size if resumed else 0
    length = response.headers.get("Content-Length", "")
    packed = "Content-Encoding" in response.headers  # then the length is another
    total = have + int(length) if length.isdecimal() and len(length) < 20 and not packed else None
    with storage_errors(part):
        # no link that somebody may have put at its known name; without a buffer a full disk shows at the block
        how = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if resumed else os.O_TRUNC)
        number = os.open(part, how | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        file = os.fdopen(number, "wb", buffering=0)
    try:
        with file, tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=part.stem, disable=None) as bar:
            for block in _blocks(response, patience):
                with storage_errors(part):
                    file.write(block)
                bar.update(len(block))
    finally:
        if part.exists() and (date := response.headers.get("Last-Modified")):
            # The next request shows the date, to prove that it goes on with the same file; without it all is sent.
            with suppress(ValueError, OverflowError), storage_errors(part):
                moment = email.utils.parsedate_to_datetime(date).timestamp()
                os.utime(part, (moment, moment))
    # older versions of the http library take a short answer for a whole one
    if total is not None and part.stat().st_size != total:
        raise _broken_off(response.url, part)


def _blocks(response: "requests.Response", patience: float) -> Iterator[bytes]:
    """What the server sends, as it arrives: no byte is lost when it breaks off, and a trickle is noticed."""
    received, start = 0, time.monotonic()
    while block := response.raw.read1(_BLOCK, decode_content=True):
        yield block
        received += len(block)
        if (elapsed := time.monotonic() - start) > patience:
            if received < SLOWEST * elapsed:
                raise NetworkError(
                    f"{response.url}: slower than {SLOWEST} bytes a second; run the same again later to go on there"
                )
            received, start = 0, time.monotonic()


def _broken_off(address: str, part: Path) -> NetworkError:
    received = part.stat().st_size if part.exists() else 0
    return NetworkError(f"{address}: broke off after {received} bytes; run the same again to go on from there")


def _check_px(path: Path) -> None:
    from kanon_lab.data import px

    table = px.read_px(path)
    municipalities = sum(place.code.isdecimal() for place in table.places)
    if municipalities < FEWEST_MUNICIPALITIES or not table.years:
        raise DataError(f"{path}: {municipalities} municipalities and {len(table.years)} years; try again, or later")


def _check_zip(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
            spreadsheets = [name for name in archive.namelist() if name.lower().endswith((".xls", ".xlsx"))]
    except _ZIP_FAULTS:
        raise DataError(f"{path}: is not a zip archive that can be read; try again, or later") from None
    if damaged or not spreadsheets:
        raise DataError(f"{path}: has no whole spreadsheets in it; try again, or later")


_CHECKS = {".px": _check_px, ".zip": _check_zip}
