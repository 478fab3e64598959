"""Columns that identify persons by what their cells hold, whatever they are called.

A column holds e-mail addresses, telephone numbers or the like where cells look so; numbers of persons where far more
cells pass the check digits of a country's numbers than chance lets through; free text where long texts vary; and values
of their own where nearly every filled cell has another one. Nothing here quotes a cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from kanon_lab.columns import as_text, distinct, distinct_rows, floats_of, named_columns
from kanon_lab.recipes.guessing import divergence
from kanon_lab.roles import KeySpec

#: What a cell may hold; of those in `BY_VARIETY` an office may say that the column is released as it is.
KINDS = ("email", "web", "iban", "card", "number", "telephone", "coordinates", "text", "unique")
BY_VARIETY = ("text", "unique")
#: Kind, cells and scheme, as `Identifier` has them.
Content = tuple[str, int, str]

# Filled cells without which a value of its own says nothing; the share of cells that differ where they identify.
_ENOUGH, _OWN = 20, 0.95
# Texts such as "-" or "does not know", which fill the other cells: at most so many, each in this share of the cells.
_FILLERS, _FILLS = 3, 0.05
# Long texts: words that a cell has at least; how many must differ, and the share of them that one cell alone holds.
_WORDS, _LONG_TEXTS, _VARIED = 4, 10, 0.8
# A web address that more records than this share leads to a source, not to a person; fewer different addresses or
# places than this are labels.
_SHARED, _FEW = 20, 3
# Of a number without blanks or a plus, so many must differ, and this share of the cells, to be taken for a telephone.
_TELEPHONES, _TELEPHONES_VARY = 20, 0.3
# Numbers that are tested for check digits: at first, where half of those pass, and with their digits mixed.
_FIRST_LOOK, _LOOK, _MIXED = 16, 2_000, 100
# Digits of such a number at least.
_DIGITS = 7
# Share of the numbers of the right form that pass; of those with mixed digits, the share that may pass.
_PASSED, _MIXED_PASSED = 0.5, 0.25
# Check digits let one number in ten pass by chance; so often and more, chance explains it less than once in exp(25).
_CHANCE, _EVIDENCE = 0.1, 25
# Whole numbers of one length are codes if they are so long, or from five digits on fill so much of what that length
# holds; running ones lie this close together.
_CODE, _SHORT_CODE, _FILLED, _RUNNING = 7, 5, 0.8, 1.5

# Also with blanks beside the sign, and with the sign in words: ana (at) example.org, ana [arroba] example [punto] org.
_EMAIL = (
    r"[^\s@,;:<>()]+[@\x{FF20}\x{FE6B}][^\s@,;:<>()]+\.[^\s@,;:<>().]+"
    r"|(?i)[\w.+\-]+(?: ?@ ?| ?[(\[{] ?(?:at|arroba|@) ?[)\]}] ?)[a-z\d\-]+"
    r"(?:(?:\.| ?[(\[{] ?(?:dot|punto|punt|\.) ?[)\]}] ?)[a-z\d\-]+)*"
    r"(?:\.| ?[(\[{] ?(?:dot|punto|punt|\.) ?[)\]}] ?)[a-z]{2,}\b"
)
_WEB = r"(?i)(?:https?://|www\.)\S+|\b[\w\-]+\.(?:com|org|net|edu|gov|info|eu|es|cat|cl|me)/\S+"
_IBAN = r"(?i)\b[A-Z]{2}\d{2}(?:[ \-]?[A-Z0-9]{4}){2,7}(?:[ \-]?[A-Z0-9]{1,3})?\b"
_CARD = re.compile(r"(?:4\d{12}(?:\d{3})?|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12})")
# A telephone: with a plus, an area in parentheses, or a word before it. Among other words one of nine digits may be an
# amount, so that several must differ.
_TELEPHONE = (
    r"(?i)(?:^|[^\w+])(?:\+|00[1-9]\d{0,2}[ .\-/])\d(?:[ .\-/()]*\d){6,13}(?:\D|$)"
    r"|\(\+?\d{1,5}\)[ .\-]*\d(?:[ .\-]*\d){4,10}(?:\D|$)"
    r"|\b(?:tel|tlf|tfno|fono|phone|mobile|m[oó]vil|m[oò]bil|cel|call|llam)[a-zé]*\W{1,3}(?:\w+ ){0,2}"
    r"\d(?:[ .\-]*\d){6,12}(?:\D|$)"
)
_AMONG_WORDS = r"(?i)[a-z].*\s[6-9]\d\d(?:[ .\-]?\d){6}(?:\D|$)"
_IN_GROUPS = r"^(?:[6-9]\d\d \d{3} \d{3}|[6-9]\d\d(?: \d\d){3}|[6-9]\d \d{3} \d\d \d\d)$"
# Telephones by other groups, or of nine digits as in Spain and Chile: codes may look so too.
_LIKE_TELEPHONE = re.compile(r"\d{2,4}(?:[ .\-/]\d{2,4}){2,4}|[6-9]\d{8}|9[ .\-/]\d{4}[ .\-/]?\d{4}")
_DEGREES = r"[\-+]?\d{1,3}(?:\.\d{3,}|,\d{4,})°?"
_PLACE = (
    rf"^\W{{0,2}}{_DEGREES}\s*[NS]?\s*[,; ]\s*{_DEGREES}\s*[EWO]?\W{{0,2}}$"
    r"|^(?:POINT|Point|point) ?\([\-\d. ]+\)$|\d{1,2}°\s*\d{1,2}.*\d{1,3}°\s*\d{1,2}"
)
# In a text, what may be a number with check digits: it begins with up to four letters, and ends with any letter.
_IN_TEXT = r"(?i)(?:^|[^\w.\-])(?P<number>(?:[a-z]{1,4}[\-]?)?\d[\d.\-/]{4,22}(?:-?[a-z0-9])?)(?:[^\w]|$)"
_WHOLE_CELL = r"^[0-9A-Za-z](?:[ .\-/]?[0-9A-Za-z]){6,21}$"
# A cell with such a word is a short text, if a number of enough digits stands beside it.
_WORD = r"(?:^|\s)[A-Za-z]{3,}(?:\s|$)"
_LATITUDE = re.compile(r"(?i)(?:^|[_\W])lat(?:itude?)?(?:$|[_\W\d])")
_LONGITUDE = re.compile(r"(?i)(?:^|[_\W])(?:lo?ng?|longitude?)(?:$|[_\W\d])")
# Numbers of goods, places and papers have check digits too, and tell no person: by the titles that the library gives.
_OF_NO_PERSON = re.compile(
    r"(?i)post|drug|securities|stock|slip|receipt|routing|school|note|EC Number|energy|NACE|excise|IBAN"
)


@dataclass(frozen=True)
class Identifier:
    """What a column holds that identifies persons.

    `columns` is its name (two for a latitude and a longitude); `kind` one of `KINDS`; `cells` the filled cells that
    are such (an estimate, where the column has more than 2,000 different numbers with check digits); `scheme` the
    numbers whose check digits they pass, such as ``es.dni``. The identifier of the person, released as it came, is of
    the kind ``person``.
    """

    columns: tuple[str, ...]
    kind: str
    cells: int
    scheme: str = ""

    @property
    def by_variety(self) -> bool:
        """Whether it is only that values differ: an office may say that the column is released as it is."""
        return self.kind in BY_VARIETY


def identifiers_in(
    frame: pd.DataFrame,
    spec: KeySpec | None = None,
    *,
    home: np.ndarray | None = None,
    known: dict[Any, list[Content]] | None = None,
) -> tuple[Identifier, ...]:
    """The columns of a release that identify persons by what their cells hold.

    Parameters
    ----------
    frame : DataFrame
        What is released.
    spec : KeySpec, optional
        Its roles. Key variables, household, person and what is released as it is do not count for their variety, nor do
        quantities: decimals, and whole numbers among the numeric variables, or in the weight, unless they run or are
        codes of one length.
    home : ndarray of int, optional
        Household of each record, -1 where it is not known: what only its members share is a value of its own too.
    known : dict, optional
        What was found in columns of the same names and values; what is found in others is added.

    Returns
    -------
    tuple of Identifier
        In the order of the columns; a column with several kinds of content has one for each.

    Examples
    --------
    >>> from kanon_lab.recipes.identifiers import identifiers_in
    >>> frame = pd.DataFrame({"zone": [*"NNSS"], "contact": ["ana@example.org", None, None, "-"]})
    >>> [(found.columns, found.kind, found.cells) for found in identifiers_in(frame)]
    [(('contact',), 'email', 1)]
    """
    looked_at: set[str | None] = set()
    if spec is not None:
        looked_at = {*spec.key_variables, *spec.released_as_is, spec.household, spec.person}
    quantities = () if spec is None else (*spec.numeric_variables, spec.weight)
    known, identifiers = {} if known is None else known, []
    for name, column in named_columns(frame):
        asked = {"varied": name not in looked_at, "quantity": name in quantities}
        if (key := (name, *asked.values())) not in known:
            known[key] = identifiers_of(column, home=home, **asked)
        identifiers += [Identifier((name,), *content) for content in known[key]]
    return (*identifiers, *places_in(frame))


def identifiers_of(
    column: pd.Series, *, varied: bool = True, quantity: bool = False, home: np.ndarray | None = None
) -> list[Content]:
    """Kind, cells and scheme of all that a column holds which identifies persons; as `Identifier` has them.

    Without `varied` the variety of its values does not count; `quantity` says that whole numbers are one. A value
    that only members of one household (`home`) have is one that nobody shares.
    """
    if pd.api.types.is_float_dtype(column.dtype) and ((column.dropna() % 1) != 0).any():  # before they are told apart
        return []
    codes, values = distinct(column)
    times = np.bincount(codes[codes >= 0], minlength=len(values))
    homes = times if home is None or not (varied and len(values)) else _homes(codes, home, len(values))
    types = pd.api.types
    if not len(values) or types.is_bool_dtype(values.dtype):
        return []
    if types.is_datetime64_any_dtype(values.dtype):
        return _unique(times, homes) if varied else []
    if (numbers := _numbers(values)) is not None:
        if (numbers % 1 != 0).any():
            return []
        quantity = quantity and not _are_codes(numbers)
        rows = _some(len(values))
        like = varied and not quantity  # amounts from 600 to 999 million look like telephones
        contents = [*_numbers_held(_whole_texts(values, numbers, rows), times[rows], times.sum(), like)]
        return contents or (_unique(times, homes) if varied and not quantity else [])
    texts = _texts(values)
    contents = [*_texts_held(texts, times, varied)]
    return contents or (_free_text(texts, times, homes) or _unique(times, homes, _fillers(times)) if varied else [])


def _texts(values: pd.Index) -> pa.Array:
    """Values as texts; halves of characters are replaced."""
    if not isinstance(values.dtype, pd.StringDtype):
        values = pd.Index([as_text(value).encode("utf-8", "replace").decode() for value in values], dtype="str")
    return pa.array(values, type=pa.large_string())


def _numbers(values: pd.Index) -> np.ndarray | None:
    """Values as numbers; None where one is none."""
    if not pd.api.types.is_numeric_dtype(values.dtype) and values.dtype != object:
        return None
    numbers = floats_of(values)
    if values.dtype == object:
        return numbers if np.isfinite(numbers).all() else None
    return np.where(np.isfinite(numbers), numbers, 0.5)  # a column with infinite ones holds a quantity


def _whole_texts(values: pd.Index, numbers: np.ndarray, rows: np.ndarray) -> list[str]:
    """Whole numbers as texts of one length, since zeros before a number are lost; none where all are short."""
    if numbers.min() < 0 or numbers.max() < 10 ** (_DIGITS - 1):
        return []
    length = len(str(int(numbers.max())))
    return [as_text(value).zfill(length) for value in values.take(rows)]


def _are_codes(numbers: np.ndarray) -> bool:
    """Whether different whole numbers are codes rather than a quantity: running ones, or long ones of one length."""
    low, high = int(numbers.min()), int(numbers.max())
    length, filled = len(str(high)), high - low >= _FILLED * 9 * 10 ** (len(str(high)) - 1)
    of_one_length = low >= 0 and len(str(low)) == length >= (_SHORT_CODE if filled else _CODE)
    return of_one_length or high - low + 1 <= _RUNNING * len(numbers)


def _homes(codes: np.ndarray, home: np.ndarray, values: int) -> np.ndarray:
    """In how many households each value is; a record without one is a household."""
    home = np.where(home < 0, home.max(initial=-1) + 1 + np.arange(len(home)), home)
    known = codes >= 0
    _, some = distinct_rows(np.column_stack([codes, home])[known])
    return np.bincount(codes[known][some], minlength=values)


def _fillers(times: np.ndarray) -> np.ndarray:
    """Which texts fill so many cells that they say that there is nothing to say."""
    frequent = np.argsort(-times, kind="stable")[:_FILLERS]
    return frequent[times[frequent] > max(_FILLS * times.sum(), 1)]


def _unique(times: np.ndarray, homes: np.ndarray, fillers: Sequence[int] | np.ndarray = ()) -> list[Content]:
    """Whether nearly every filled cell, or household, has a value of its own; leave out those at `fillers`."""
    times, homes = np.delete(times, fillers), np.delete(homes, fillers)
    enough = homes.sum() >= _ENOUGH and len(homes) >= _OWN * homes.sum()
    return [("unique", int(times.sum()), "")] if enough else []


def _free_text(texts: pa.Array, times: np.ndarray, homes: np.ndarray) -> list[Content]:
    """Whether some cells hold long texts, nearly all of which no other cell, or household, holds."""
    if len(texts) < _LONG_TEXTS:
        return []
    long = _matches(texts, rf"(?:\S+\s+){{{_WORDS - 1}}}\S")
    alone = int((homes[long] == 1).sum())
    return [("text", int(times[long].sum()), "")] if alone >= max(_LONG_TEXTS, _VARIED * long.sum()) else []


def _texts_held(texts: pa.Array, times: np.ndarray, varied: bool) -> Iterator[Content]:
    """Addresses and numbers in the different texts of a column, each with how many cells have it."""
    held = {
        "email": (_matches(texts, _EMAIL), 1),
        "web": (_matches(texts, _WEB) & (times <= _SHARED), _FEW),
        "coordinates": (_matches(texts, _PLACE), _FEW),
    }
    yield from ((kind, int(times[which].sum()), "") for kind, (which, least) in held.items() if which.sum() >= least)
    enough = rf"(?:\d\D*){{{_DIGITS - 1}}}"
    digits = _matches(texts, enough)
    if not digits.any():
        return
    texts, times = texts.filter(pa.array(digits)), times[digits]
    accounts = _ibans(texts)
    if accounts.any():
        yield "iban", int(times[accounts].sum()), ""
    inside = pc.struct_field(pc.extract_regex(texts, _IN_TEXT), "number")
    whole = _matches(texts, _WHOLE_CELL) & ~(_matches(texts, _WORD) & _matches(pc.fill_null(inside, ""), enough))
    numbers = pc.if_else(pa.array(whole), texts, inside)
    known = np.flatnonzero(numbers.is_valid().to_numpy(zero_copy_only=False))
    rows = known[_some(len(known))]
    checked = [*_numbers_held(numbers.take(pa.array(rows)).to_pylist(), times[rows], times[known].sum(), varied)]
    telephones = _matches(texts, _TELEPHONE).copy()
    for pattern, share in ((_AMONG_WORDS, 0), (_IN_GROUPS, 0.5)):
        if (like := _matches(texts, pattern)).sum() >= max(_LONG_TEXTS, share * len(texts)):
            telephones = telephones | like
    telephones &= ~accounts
    if telephones.any() and not any(kind in ("card", "number") for kind, _, _ in checked):
        checked = [("telephone", int(times[telephones].sum()), "")]
    yield from checked


def _numbers_held(numbers: list[str], times: np.ndarray, cells: float, varied: bool) -> Iterator[Content]:
    """What different numbers are, which stand for those of so many cells: with check digits, or else telephones."""
    if len(numbers) < 2:
        return

    def counted(which: np.ndarray) -> int:
        return round(cells * times[which].sum() / times.sum())

    forms = np.array([re.sub("[A-Za-z]", "a", re.sub(r"\d", "9", number)) for number in numbers])
    first, best = _some(len(numbers), _FIRST_LOOK), (0, "")
    for scheme, check in {"card": _is_card, **_schemes()}.items():
        if _share(np.array([check(numbers[row]) for row in first]), forms[first]) < _PASSED:
            continue
        passed = np.array([check(number) for number in numbers])
        if _is_beyond_chance(passed, numbers, forms, check):
            best = max(best, (counted(passed), scheme), key=itemgetter(0))
    if best[0]:
        yield ("card" if best[1] == "card" else "number"), best[0], best[1].removeprefix("card")
    elif varied:
        like = np.array([_LIKE_TELEPHONE.fullmatch(number) is not None for number in numbers])
        like &= np.array([9 <= sum(map(str.isdecimal, number)) <= 11 for number in numbers])
        if like.sum() >= max(_TELEPHONES, _TELEPHONES_VARY * times[like].sum(), len(numbers) / 2):
            yield "telephone", counted(like), ""


def _some(n: int, most: int = _LOOK) -> np.ndarray:
    """Positions among `n`, at most so many, at equal distances."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)


def _matches(texts: pa.Array, pattern: str) -> np.ndarray:
    """Which texts have a pattern."""
    return pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


def _ibans(texts: pa.Array) -> np.ndarray:
    """Which texts hold an account number (IBAN)."""
    which = _matches(texts, _IBAN)
    if which.any():
        from stdnum import iban

        numbers = pc.struct_field(
            pc.extract_regex(texts.filter(pa.array(which)), f"(?i)(?P<iban>{_IBAN.removeprefix('(?i)')})"), "iban"
        )
        which = which.copy()
        which[which] = [iban.is_valid(number) for number in numbers.to_pylist()]
    return which


def _share(passed: np.ndarray, forms: np.ndarray) -> float:
    """Of the numbers that have the form of one that passes, the share that passes."""
    return float(passed.sum() / np.isin(forms, forms[passed]).sum()) if passed.any() else 0.0


def _is_beyond_chance(passed: np.ndarray, numbers: list[str], forms: np.ndarray, check: Callable[[str], bool]) -> bool:
    """Whether more numbers of a form pass than chance lets through, and hardly any once their digits are mixed.

    The digits are mixed place by place between numbers of one form, so that what numbers have in common stays: the
    check digits of a part that is the same in all of them show nothing.
    """
    if (share := _share(passed, forms)) < _PASSED:
        return False
    usual = Counter(forms[passed]).most_common(1)[0][0]
    signs = np.array([[*numbers[row]] for row in np.flatnonzero(passed & (forms == usual))[:_MIXED]])
    mixed = ["".join(number) for number in np.random.default_rng(0).permuted(signs, axis=0)]
    chance = max(_CHANCE, sum(map(check, mixed)) / len(mixed))
    if chance > _MIXED_PASSED:
        return False
    return float(np.isin(forms, forms[passed]).sum()) * divergence(share, chance) >= _EVIDENCE


@cache
def _schemes() -> dict[str, Callable[[str], bool]]:
    """By name such as ``es.dni``, a check of the numbers of persons and firms of a country."""
    from stdnum.util import get_module_name, get_number_modules

    modules: Iterable[Any] = get_number_modules()
    return {
        name: _check_of(module)
        for name, module in ((module.__name__.removeprefix("stdnum."), module) for module in modules)
        if re.match(r"[a-z]{2}_?\.", name) and not _OF_NO_PERSON.search(get_module_name(module))
    }


def _check_of(module: Any) -> Callable[[str], bool]:
    """Whether a number is right; some of the library's checks fail on texts of another form."""

    def check(number: str) -> bool:
        try:
            return module.is_valid(number) or ("." in number and module.is_valid(number.replace(".", "")))
        except (ValueError, IndexError, KeyError):
            return False

    return check


def _is_card(number: str) -> bool:
    """Whether a number has the form and the check digit of a payment card."""
    from stdnum import luhn

    plain = re.sub(r"[ \-]", "", number)
    return _CARD.fullmatch(plain) is not None and luhn.is_valid(plain)


def places_in(frame: pd.DataFrame) -> Iterator[Identifier]:
    """Latitudes and longitudes: two columns of decimals that are called so, with values that fit."""
    decimals = {}
    for name, column in named_columns(frame):
        if _LATITUDE.search(str(name)) or _LONGITUDE.search(str(name)):
            numbers = pd.to_numeric(column, errors="coerce")
            if pd.api.types.is_numeric_dtype(numbers) and (numbers % 1 > 0).any():
                decimals[name] = numbers.astype(float)
    for name, latitude in decimals.items():
        if not _LATITUDE.search(str(name)) or not (latitude.abs().max() <= 90):
            continue
        for other, longitude in decimals.items():
            both = int((latitude.notna() & longitude.notna()).sum())
            if other != name and _LONGITUDE.search(str(other)) and longitude.abs().max() <= 180 and both:
                yield Identifier((name, other), "coordinates", both)
                break


def identifiers_in_labels(
    frame: pd.DataFrame, labels: Mapping[str, Mapping[Any, str]], variable_labels: Mapping[str, str]
) -> Iterator[Identifier]:
    """The columns whose labels hold what identifies: an interviewer's address as the label of a code, say.

    `cells` are those whose code has such a label; a label of a variable is one cell.
    """
    for name, column in named_columns(frame):
        if texts := labels.get(name):
            contents = identifiers_of(column.astype(object).map(texts), varied=False)
            yield from (Identifier((name,), *content) for content in contents)
        if text := variable_labels.get(name):
            yield from (Identifier((name,), *content) for content in identifiers_of(pd.Series([text]), varied=False))


def columns_of(identifiers: Sequence[Identifier]) -> tuple[str, ...]:
    """The columns that identify persons, once."""
    return tuple(dict.fromkeys(name for identifier in identifiers for name in identifier.columns))
