"""The errors a user can meet: each one line that says what was wrong, where, and what to do."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

# Control, format (among them those that turn the direction of text) and surrogate characters, separators of lines.
_UNSHOWN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def visible(text: str, escaped: Callable[[str], str] = lambda sign: sign.encode("unicode_escape").decode()) -> str:
    """Text on one line without characters that command a terminal: these become escapes, by default Python's."""
    if text.isprintable():
        return text
    return "".join(escaped(sign) if unicodedata.category(sign) in _UNSHOWN else sign for sign in text)


def shortened(text: str, most: int = 40) -> str:
    """Text of at most `most` characters, for messages; what is cut off is marked by dots."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def described(value: object) -> str:
    """What a setting holds, for messages: a number as it is, of all else its kind, since it may name a category."""
    if value is None or isinstance(value, (bool, int, float)):
        return shortened(repr(value))
    kinds = {"text": str, "a mapping": Mapping, "a list": Sequence}
    return next((name for name, kind in kinds.items() if isinstance(value, kind)), type(value).__name__)


# From this likeness on a name is another one misspelt.
_SURELY = 0.75


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one of `names` most like `name` in any case of letters; None where no likeness (0-1) reaches `cutoff`."""
    from difflib import get_close_matches

    known = {str(candidate).casefold(): str(candidate) for candidate in names}
    close = get_close_matches(str(name).casefold(), list(known), n=1, cutoff=cutoff)
    return known[close[0]] if close else None


def misspelt(name: object, names: Iterable[str], otherwise: str) -> str:
    """A name for a message, where it is surely one of `names` misspelt; `otherwise` where it may be a category."""
    return shortened(str(name)) if nearest(str(name), names, _SURELY) else otherwise


def meant(name: object, names: Iterable[str], otherwise: str) -> str:
    """How to correct a name that is not among `names`: "did you mean ...?" with the nearest, or else `otherwise`."""
    close = nearest(str(name), names)
    return f"did you mean {shortened(close)}?" if close else otherwise


class KanonLabError(Exception):
    """Base of every error that kanon_lab raises on purpose.

    Its text is always one line, so that the command line can print it as it stands. It may hold names of files and
    columns, row numbers, and values of options; never a value from the data.
    """

    def __init__(self, message: str):
        super().__init__(visible(" ".join(message.splitlines())))


class DataError(KanonLabError):
    """A file or frame that cannot be used as it is. `about` puts its name in front."""

    place = ""
    of_a_part = False

    def __str__(self) -> str:
        message = super().__str__()
        return f"{visible(self.place)}: {message}" if self.place else message


class AbsentFileError(DataError):
    """A file that is not there."""


class TextError(DataError):
    """A column of text where numbers are needed."""

    column = ""


class SizeError(DataError):
    """A file that would take more memory than it may."""


class OptionError(KanonLabError):
    """An option, argument or configuration value that cannot be used."""


class UnfitOptionError(OptionError, DataError):
    """An option that could be used with other data, and not with these."""


class NetworkError(KanonLabError):
    """A download that could not be made or finished."""


class StorageError(KanonLabError):
    """A file or folder that cannot be written."""


class MissingPackageError(KanonLabError):
    """An optional package that a function needs and that is not installed."""


def encodable(text: str) -> bool:
    """Whether a text can be written to a file: whether it has no half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


@contextmanager
def about(place: str, *, part: bool = False) -> Iterator[None]:
    """Put the name of a file, or of one of two tables, before each `DataError` that is raised inside.

    The innermost name stands; before that of a part of a file (``part``) comes the name of the file.
    """
    try:
        yield
    except DataError as error:
        if not error.place and not str(error).startswith(f"{place}: "):
            error.place, error.of_a_part = place, part
        elif error.of_a_part:
            error.place, error.of_a_part = f"{place}, {error.place}", part
        raise


@contextmanager
def inside(place: str) -> Iterator[None]:
    """Put a place, if it has a name, before each error that is raised inside, whatever place that names already."""
    try:
        yield
    except KanonLabError as error:
        if not place:
            raise
        raise type(error)(f"{place}: {error}") from None


@contextmanager
def renamed(names: Mapping[Path, str]) -> Iterator[None]:
    """Replace paths in the messages of errors by names."""
    try:
        yield
    except KanonLabError as error:
        text = str(error)
        for path, name in names.items():
            text = text.replace(str(KanonLabError(str(path))), name)
        raise type(error)(text) from None


def names_only(*paths: Path) -> AbstractContextManager[None]:
    """Replace paths in the messages of errors by names of files: readers of an error need not know the folders."""
    return renamed({path: path.name for path in paths if path.name})
