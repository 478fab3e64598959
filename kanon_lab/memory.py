"""What was computed of columns and codes, for whoever looks at one file again after each change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import pandas as pd

from kanon_lab.columns import MEMORY
from kanon_lab.columns import memory_in_use as memory_in_use
from kanon_lab.columns import remembered as remembered

# Results of columns are dropped that were not asked for during so many uses, and numbers beyond so many bytes.
_USES, _MOST_BYTES = 2, 2**26
_MASKED = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
# What a number takes beside its own bytes, about.
_ENTRY = 200


class _Narrow(NamedTuple):
    """An array as it is kept, and the type that it has."""

    cells: np.ndarray
    dtype: np.dtype


class Memory:
    """Results that are kept while they are of use, in the threads that say so.

    Results of columns are kept by the place of the data, which pandas copies before they are changed as long as a
    column is held here. Numbers are kept by the contents of arrays. What is handed out is a copy.

    Examples
    --------
    >>> from kanon_lab.memory import Memory, remembered
    >>> memory, column = Memory(), pd.Series([3, 1, 3])
    >>> with memory.used():
    ...     remembered(pd.Series.nunique, column), remembered(pd.Series.nunique, column)
    (2, 2)
    """

    def __init__(self) -> None:
        self._uses = 0
        self._of_columns: dict[tuple, list] = {}
        self._numbers: dict[bytes, tuple[Any, int]] = {}
        self._bytes = 0
        self._digests: dict[int, tuple[Any, bytes]] = {}

    @contextmanager
    def used(self) -> Iterator[None]:
        """Use it in this thread for a while."""
        self._uses += 1
        self._of_columns = {key: entry for key, entry in self._of_columns.items() if entry[0] >= self._uses - _USES}
        token = MEMORY.set(self)
        try:
            yield
        finally:
            MEMORY.reset(token)

    def of_columns(self, function: Callable[..., Any], columns: tuple[pd.Series, ...], options: dict[str, Any]) -> Any:
        """The result of a function of columns, computed once while their data are the same."""
        places = [_place(column) for column in columns]
        if None in places:
            return function(*columns, **options)
        asked = [
            (name, self._digest(value) if isinstance(value, np.ndarray) else value) for name, value in options.items()
        ]
        key = (function, *places, *asked)
        if (entry := self._of_columns.get(key)) is None:
            held = [(column, _arrow(column)) for column in columns]  # so that nothing else takes their places
            entry = self._of_columns[key] = [self._uses, _narrowed(function(*columns, **options)), held]
        entry[0] = self._uses
        return _widened(entry[1])

    def key(self, name: str, *arrays: np.ndarray | None) -> bytes:
        """By what a number is kept that follows from the contents of some arrays."""
        parts = [b"-" if array is None else self._digest(array) for array in arrays]
        return sha256(b"|".join([name.encode(), *parts])).digest()

    def rows(self, name: str, compute: Callable[[], np.ndarray], *arrays: Any) -> np.ndarray:
        """Whether something holds for each row of the first array, which follows from them all; computed once."""
        if (kept := self.number(key := self.key(name, *arrays))) is not None:
            return np.unpackbits(np.frombuffer(kept, dtype=np.uint8), count=len(arrays[0])).astype(bool)
        holds = compute()
        self.keep(key, np.packbits(holds).tobytes())
        return holds

    def number(self, key: bytes) -> Any:
        """What was kept under a key, or None."""
        return _widened(self._numbers.get(key, (None,))[0])

    def keep(self, key: bytes, number: Any) -> None:
        """Keep a number, bytes or an array under a key; the oldest make room."""
        number = _narrowed(number)
        size = len(number) if isinstance(number, bytes) else number.cells.nbytes if isinstance(number, _Narrow) else 0
        size += _ENTRY
        self._bytes += size - self._numbers.pop(key, (None, 0))[1]
        self._numbers[key] = number, size
        while self._bytes > _MOST_BYTES:
            self._bytes -= self._numbers.pop(next(iter(self._numbers)))[1]

    def _digest(self, array: np.ndarray) -> bytes:
        """A digest of the contents, which are read once: nobody may change them from then on."""
        place = id(array)
        held, digest = self._digests.get(place, (None, b""))
        if held is None or held() is not array:
            narrow = _narrowed(array).cells
            digest = sha256(
                f"{narrow.dtype.str}{narrow.shape}".encode() + np.ascontiguousarray(narrow).tobytes()
            ).digest()
            array.flags.writeable = False
            self._digests[place] = ref(array, lambda gone: self._digests.pop(place, None)), digest
        return digest


def same_place(left: pd.Series, right: pd.Series) -> bool:
    """Whether two columns are the same data, so that nothing needs to be compared."""
    place = _place(left)
    return place is not None and place == _place(right)


def _place(column: pd.Series) -> tuple | None:
    """Where the data of a column are; None where that is not known."""
    if not len(column):
        return None
    if isinstance(column.dtype, np.dtype):
        return _spot(column.to_numpy())
    if isinstance(column.dtype, pd.CategoricalDtype):
        return (*_spot(column.array.codes), id(column.dtype))
    cells: Any = column.array
    if isinstance(column.array, _MASKED):
        return (*_spot(cells._data), *_spot(cells._mask))
    cells = _arrow(column)
    return None if cells is None else (id(cells),)


def _spot(cells: np.ndarray) -> tuple:
    return cells.__array_interface__["data"][0], cells.strides, cells.shape, cells.dtype.str


def _arrow(column: pd.Series) -> Any:
    """The data of a column of Arrow, which are never changed in their place; None for others."""
    dtype = column.dtype
    of_arrow = isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow")
    return column.array.__arrow_array__() if of_arrow else None


def _narrowed(result: Any) -> Any:
    """A result with its whole numbers in as few bytes as they need."""
    if isinstance(result, tuple):
        return tuple(map(_narrowed, result))
    if not isinstance(result, np.ndarray):
        return result
    if result.dtype.kind not in "iu" or not result.size:
        return _Narrow(result.copy(), result.dtype)
    low, high = int(result.min()), int(result.max())
    narrow = np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)) if low < 0 else np.min_scalar_type(high)
    return _Narrow(result.astype(narrow if narrow.kind in "iu" else result.dtype), result.dtype)


def _widened(kept: Any) -> Any:
    """The result again, in arrays of its own."""
    if isinstance(kept, _Narrow):
        return kept.cells.astype(kept.dtype)
    return tuple(map(_widened, kept)) if isinstance(kept, tuple) else kept
