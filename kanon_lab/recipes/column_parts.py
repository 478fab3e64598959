"""The parts of a column's values: of dates, codes, addresses, short texts and quantities.

A date of birth tells an age by its year, wherever that stands; a code tells a region by its last letter; a quantity
tells one by its order. What is tried is decided in a sample of the values; each reading is then a function of any of
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import permutations

import numpy as np
import pandas as pd

from kanon_lab.columns import as_text, distinct_rows

#: A reading of values: a code for each, -1 for none.
Reading = Callable[["Values"], np.ndarray]

# Letters, or digits, in a row.
_TOKEN = re.compile(r"[^\W\d_]+|\d+")
_THREE = re.compile(r"\s*(\d{1,4})[^\d\w]+(\d{1,2})[^\d\w]+(\d{1,4})(?:$|[ T,])")
# Texts with more letters are read by their words only.
_CODE = 24
# Tokens counted from the front and from the end.
_TOKENS = 6
# Words that texts are asked for, one by one and all together.
_WORDS, _JOINT = 30, 10
# Parts of equal size into which a quantity is cut.
_WIDTHS = (8, 16, 32, 64, 128, 512, 2048)


class Values:
    """Distinct values in their order, and how many records have each."""

    def __init__(self, values: pd.Index, records: np.ndarray):
        self.values, self.records, self._dates = values, records, dict[tuple[int, ...], np.ndarray]()

    @cached_property
    def texts(self) -> list[str]:
        """The values as text."""
        if self.values.dtype.kind == "M":
            return [*pd.DatetimeIndex(self.values).strftime("%Y-%m-%d")]
        return [as_text(value) for value in self.values]

    @cached_property
    def letters(self) -> np.ndarray:
        """Letters of the texts as codes (n, width), 0 after the end."""
        return _coded_letters(np.array(self.texts, dtype=f"U{_CODE}"))

    @cached_property
    def from_end(self) -> np.ndarray:
        """The same with the last letter first."""
        return _coded_letters(np.array([text[: -_CODE - 1 : -1] for text in self.texts], dtype=f"U{_CODE}"))

    @cached_property
    def tokens(self) -> list[list[str]]:
        """Letters, or digits, in a row."""
        return [_TOKEN.findall(text.casefold()) for text in self.texts]

    @property
    def holds_numbers(self) -> bool:
        """Whether the values are numbers or dates, which have an order."""
        return getattr(self.values.dtype, "kind", "O") in "iufMm"

    def dates(self, places: tuple[int, ...]) -> np.ndarray:
        """Numbers that sort as the dates do, -1 where there is none; year, month and day stand at these `places`."""
        if places in self._dates:
            return self._dates[places]
        result = np.full(len(self.texts), -1, dtype=np.int64)
        for row, text in enumerate(self.texts):
            if (numbers := _three_numbers(text, places)) is not None:
                year, month, day = (numbers[place] for place in places)
                if 1 <= month <= 12 and 1 <= day <= 31:
                    year += 0 if year > 99 else 2000 if year < 30 else 1900
                    result[row] = (year * 12 + month) * 31 + day
        self._dates[places] = result
        return result


def _three_numbers(text: str, places: tuple[int, ...]) -> tuple[int, ...] | None:
    """The three numbers of a date, with or without separators."""
    if match := _THREE.match(text):
        return tuple(map(int, match.groups()))
    text = text.zfill(len(text) + len(text) % 2)  # a number has lost its first 0
    if len(text) not in (6, 8) or not (text.isascii() and text.isdigit()):
        return None
    widths = [2, 2, 2]
    widths[places[0]] += len(text) - 6
    first, second = widths[0], widths[0] + widths[1]
    return int(text[:first]), int(text[first:second]), int(text[second:])


def _coded_letters(texts: np.ndarray) -> np.ndarray:
    points = texts.view(np.uint32).reshape(len(texts), _CODE)
    used = np.zeros(int(points.max()) + 1, dtype=bool)
    used[points] = True
    used[0] = True
    return (np.cumsum(used, dtype=np.int32) - 1)[points]


def _run(values: Values, *, start: int, stop: int, from_end: bool = False) -> np.ndarray:
    """Letters at fixed places."""
    letters = (values.from_end if from_end else values.letters)[:, start:stop]
    return np.where((letters > 0).any(axis=1), distinct_rows(letters)[0], -1)


def _without_end(values: Values, *, end: int) -> np.ndarray:
    """All but the last letters: a code without its check digit."""
    return pd.factorize(np.array([text[:-end] for text in values.texts], dtype=object))[0]


def _tokens(values: Values, *, places: tuple[int, ...]) -> np.ndarray:
    """Tokens at these places, below 0 from the end."""
    enough = [max(place + 1, -place) for place in places]
    rows = [
        "\0".join(tokens[place] for place in places) if len(tokens) >= max(enough) else None for tokens in values.tokens
    ]
    return pd.factorize(np.array(rows, dtype=object))[0]


def _domain(values: Values) -> np.ndarray:
    """What follows an @."""
    rows = [text.rsplit("@", 1)[1].strip().casefold() if "@" in text else None for text in values.texts]
    return pd.factorize(np.array(rows, dtype=object))[0]


def _words(values: Values, *, words: tuple[str, ...]) -> np.ndarray:
    """Which of some words a text has."""
    bit = {word: 1 << place for place, word in enumerate(words)}
    sums = [sum(bit[word] for word in {*tokens} & bit.keys()) for tokens in values.tokens]
    return pd.factorize(np.array(sums, dtype=np.int64))[0]


def _ordered(values: Values, *, parts: int) -> np.ndarray:
    """Neighbours in the order of the values."""
    before = np.cumsum(values.records) - values.records
    return before * parts // max(int(values.records.sum()), 1)


def _by_date(values: Values, *, places: tuple[int, ...], parts: int) -> np.ndarray:
    """Neighbours in the order of dates; 0 parts: each date by itself."""
    days = values.dates(places)
    order, result = np.argsort(days, kind="stable"), np.full(len(days), -1, dtype=np.int64)
    if not parts:
        return np.where(days < 0, -1, pd.factorize(days)[0])
    records = np.where(days < 0, 0, values.records)[order]
    result[order] = (np.cumsum(records) - records) * parts // max(int(records.sum()), 1)
    return np.where(days < 0, -1, result)


def readings(sample: Values) -> Iterator[Reading]:
    """Readings that are worth a try by a sample of values; those first that most often tell something."""
    number = len(sample.values)
    if sample.holds_numbers:
        yield from (partial(_ordered, parts=parts) for parts in _WIDTHS if parts < number)
        kind = sample.values.dtype.kind
        if kind == "f" and any(value != np.rint(value) for value in sample.values):
            yield from (partial(_tokens, places=(place,)) for place in (0, 1))
            yield from (partial(_run, start=0, stop=stop, from_end=True) for stop in (1, 2))
            return
    else:  # texts in the order of their letters
        yield from (partial(_ordered, parts=parts) for parts in _WIDTHS[1::2] if parts < number)
    lengths = np.array([len(text) for text in sample.texts])
    for places in permutations(range(3)):
        if places in ((1, 0, 2), (1, 2, 0)):  # the year in the middle
            continue
        dated = int((sample.dates(places) >= 0).sum())
        if dated > 0.9 * number:
            yield from (partial(_by_date, places=places, parts=parts) for parts in (0, *_WIDTHS[2:]) if parts < number)
    if any("@" in text for text in sample.texts):
        yield _domain
    yield from _of_tokens(sample)
    if lengths.max() <= _CODE:
        yield from _of_places(lengths)


def _of_tokens(sample: Values) -> Iterator[Reading]:
    """Tokens by their place, two of them together, and words wherever they stand."""
    counts = [len(tokens) for tokens in sample.tokens]
    most = min(max(counts), _TOKENS)
    if most < 2:
        return
    yield from (partial(_tokens, places=(place,)) for place in range(most))
    if min(counts) != max(counts):
        yield from (partial(_tokens, places=(-place,)) for place in range(1, most + 1))
    yield from (partial(_tokens, places=(place, place + 1)) for place in range(min(most, 4) - 1))
    yield partial(_tokens, places=(-2, -1))
    times = Counter(word for tokens in sample.tokens for word in {*tokens} if len(word) > 1 and not word.isdigit())
    n = len(sample.tokens)
    words = [word for word, count in times.most_common(4 * _WORDS) if max(5, n / 500) <= count < 0.95 * n][:_WORDS]
    if len(words) > 1:
        yield partial(_words, words=tuple(words[:_JOINT]))
        yield partial(_words, words=tuple(words))
    yield from (partial(_words, words=(word,)) for word in words)


def _of_places(lengths: np.ndarray) -> Iterator[Reading]:
    """Letters at fixed places: at the front, in the middle, at the end."""
    width = int(lengths.max())
    yield from (partial(_run, start=0, stop=stop) for stop in range(1, min(width, 9)))
    yield from (partial(_run, start=0, stop=stop, from_end=True) for stop in range(1, min(width, 7)))
    yield from (partial(_without_end, end=end) for end in (1, 2) if end < width)
    if lengths.min() == width:
        for run in (1, 2, 3, 4) if width <= 12 else (1, 2):
            yield from (partial(_run, start=start, stop=start + run) for start in range(1, width - run))
    else:
        yield from (
            partial(_run, start=start, stop=start + run, from_end=end)
            for run in (1, 2)
            for end in (False, True)
            for start in range(1, min(width, 6))
        )
