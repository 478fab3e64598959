"""Counts of records in a file: saved, read again, and those of parts put together.

Whoever has the counts can measure without the records. They are disclosive all the same: a count of 1 is a person.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from kanon_lab import files
from kanon_lab.classes.sums import Sums
from kanon_lab.columns import holds_decimals
from kanon_lab.data.microdata import as_column
from kanon_lab.data.tables import NO_PARQUET, check_parquet
from kanon_lab.data.values import MissingCodes, settled
from kanon_lab.engines.counting import CountedFile, counted_rows
from kanon_lab.engines.queries import arrow_cells
from kanon_lab.errors import DataError, OptionError, StorageError, about, shortened
from kanon_lab.roles import KeySpec

# What the file says of itself, and the columns that it has besides variables.
_SAYS, _VERSION = b"kanon_lab_counts", 1
_RECORDS, _SUM, _REST = "records of the combination", "sum of weights", "rest of the sum"
_ROLES = ("key_variables", "sensitive_variables", "weight")
# The most records in a file: up to here floats are exact.
_MOST = 2**53


def save_counts(counted: CountedFile, path: str | Path, *, overwrite: bool = False) -> None:
    """Write counts to a .parquet file, whole or not at all.

    Counts that include the ID of a household or a person are refused, because each row would then describe one person.

    Examples
    --------
    >>> ages = pd.DataFrame({"age": [30, 41, 30]})
    >>> kanon_lab.engines.save_counts(kanon_lab.engines.count_frame(ages, kanon_lab.KeySpec("age")), "ages.parquet")
    >>> kanon_lab.engines.load_counts(["ages.parquet"]).records.tolist()
    [2, 1]
    """
    from pyarrow import parquet

    spec, path = counted.spec, Path(path)
    for role in ("household", "person"):
        if getattr(spec, role) is not None:
            raise OptionError(f"counts by {role} are records of persons; leave the {role} out to save them")
    if path.suffix.lower() != ".parquet":
        raise StorageError(f"{path}: counts are saved as .parquet; choose a name that ends so")
    if not overwrite and files.status(path) is not None:
        raise StorageError(f"{path}: already exists; choose another name")
    columns = {}
    for name, column in counted.frame.items():  # as it was before it was numbered
        columns[name] = arrow_cells(column)
    columns[_RECORDS] = pa.array(counted.records)
    if counted.weights is not None:
        columns |= {_SUM: pa.array(counted.weights.rounded), _REST: pa.array(counted.weights.rest)}
    says = {"version": _VERSION, **{role: getattr(spec, role) for role in _ROLES}, "spelled": counted.spelled}
    table = pa.table(columns).replace_schema_metadata({_SAYS: json.dumps(says)})
    with files.atomic_path(path, ending=".parquet") as draft:
        parquet.write_table(table, draft)


def load_counts(paths: Sequence[str | Path]) -> CountedFile:
    """Read counts that were saved; those of several parts of a file, put together, are those of the whole.

    All must have the same variables in the same roles.

    Examples
    --------
    >>> for name, ages in {"north.parquet": [30, 41], "south.parquet": [30]}.items():
    ...     counted = kanon_lab.engines.count_frame(pd.DataFrame({"age": ages}), kanon_lab.KeySpec("age"))
    ...     kanon_lab.engines.save_counts(counted, name)
    >>> kanon_lab.engines.load_counts(["north.parquet", "south.parquet"]).table().f_k.tolist()
    [2, 1]
    """
    parts: list[tuple[KeySpec, pd.DataFrame, list[str]]] = []
    for path in paths:
        with about(str(path)):
            parts.append(_read(Path(path), sum(len(frame) for _, frame, _ in parts)))
    spec = parts[0][0]
    for path, (other, _, spelled) in zip(paths, parts, strict=True):
        if other != spec:
            raise DataError(f"{path}: counts other variables, or in other roles, than {paths[0]}; count all alike")
        if len(parts) > 1 and (spelled := [name for name in spelled if name != spec.weight]):
            raise DataError(
                f"{path}: column {shortened(spelled[0])} has decimals of a csv file, such as 1.0, which another part "
                "may spell otherwise; count it in bands, or parts in .parquet"
            )
    names = [name for name in spec.variables if name != spec.weight]
    frame = pd.DataFrame({name: _joined(name, [part[name] for _, part, _ in parts]) for name in names})
    rest = pd.concat([part.drop(columns=names) for _, part, _ in parts], ignore_index=True)
    weights = None if spec.weight is None else Sums(rest[_SUM].to_numpy(), rest[_REST].to_numpy())
    return counted_rows(frame, spec, rest[_RECORDS].to_numpy(), weights)


def _read(path: Path, rows: int) -> tuple[KeySpec, pd.DataFrame, list[str]]:
    """What a file of counts says of itself and holds, with `rows` of other parts in memory already."""
    from pyarrow import parquet

    content = files.read_bytes(path)
    with files.damaged(NO_PARQUET):
        metadata = parquet.read_metadata(pa.BufferReader(content))
        names = metadata.schema.to_arrow_schema().names
    files.check_table(rows + metadata.num_rows, len(names))  # a few bytes may stand for many rows
    check_parquet(content, metadata, names)
    spec, spelled = _said((metadata.metadata or {}).get(_SAYS, b""))
    wanted = [*spec.variables, _RECORDS, *([_SUM, _REST] if spec.weight else [])]
    if sorted(name for name in wanted if name != spec.weight) != sorted(names) or not metadata.num_rows:
        raise DataError("is damaged: columns or rows are lacking; count the records again")
    with files.damaged(NO_PARQUET):
        table = parquet.read_table(pa.BufferReader(content))
        table.validate(full=True)
    frame = pd.DataFrame({name: as_column(table.column(name), name) for name in names})
    records = frame[_RECORDS].to_numpy()
    if records.dtype != np.int64 or (records < 1).any() or records.sum(dtype=float) > _MOST:
        raise DataError("is damaged: a count is not a whole number of 1 or more; count the records again")
    for name in (_SUM, _REST) if spec.weight else ():
        if frame[name].dtype != float or not np.isfinite(frame[name]).all():
            raise DataError("is damaged: a sum of weights is not a number; count the records again")
    return spec, frame, spelled


def _said(metadata: bytes) -> tuple[KeySpec, list[str]]:
    """The roles that a file of counts has written beside them, and its columns of decimals in csv."""
    try:
        says = json.loads(metadata)
        roles, spelled = {role: says[role] for role in _ROLES}, [*says.get("spelled", ())]
        several = [*roles["key_variables"], *roles["sensitive_variables"], *spelled]
        if {*map(type, (*several, roles["weight"] or ""))} - {str} or {_RECORDS, _SUM, _REST} & {*several}:
            raise ValueError
        spec, version = KeySpec(**roles), says["version"]
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError, OptionError):
        raise DataError("holds no counts of records; give a file that --save-classes has written") from None
    if version != _VERSION:
        raise DataError("was written by another version; count the records again")
    return spec, spelled


def _joined(name: str, columns: list[pd.Series]) -> pd.Series:
    """One column of several: text in all of them where it is text in one, as it would be in the whole file."""
    known = [column for column in columns if column.notna().any()]
    texts = [isinstance(column.dtype, pd.StringDtype) for column in known]
    if any(texts) and not all(texts):
        if not all(text or pd.api.types.is_integer_dtype(column) for column, text in zip(known, texts, strict=True)):
            raise DataError(f"column {shortened(name)} is text in one of the files and not in another; count all alike")
        columns = [column.astype("str").where(column.notna()) for column in columns]
    if not known:
        return pd.Series(np.nan, index=range(sum(map(len, columns))), dtype=object)
    kept = [column if column.notna().any() else column.astype(object) for column in columns]
    if len({column.dtype for column in known}) > 1 and all(map(_is_exact, known)):
        # Signed, unsigned and decimal ones would become floating-point numbers, which are not exact.
        cells = pd.concat([column.astype(object) for column in kept], ignore_index=True)
        return settled(cells.rename(name), False, (), MissingCodes(None))
    return pd.concat([column for column in kept if len(column)], ignore_index=True).infer_objects()


def _is_exact(column: pd.Series) -> bool:
    """Whether a column holds whole numbers or decimals only."""
    return holds_decimals(column) or pd.api.types.is_integer_dtype(column)


def with_roles(counted: CountedFile, **roles: Any) -> KeySpec:
    """A spec for the counts, of some of their variables in the roles that these were counted in."""
    spec = replace(counted.spec, **roles)
    for role in ("key_variables", "sensitive_variables"):
        if other := [name for name in getattr(spec, role) if name not in getattr(counted.spec, role)]:
            held = ", ".join(map(shortened, getattr(counted.spec, role))) or "none"
            raise OptionError(f"{shortened(other[0])} was not counted as one of the {role}: {held}")
    return spec
