"""Which rates and means a survey publishes, and of which groups, as a recipe says them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kanon_lab.errors import OptionError, shortened
from kanon_lab.recode.columns import as_text, composed, names_of
from kanon_lab.utility.design import Design

#: What stands between names and between values that are crossed.
BETWEEN = " x "


@dataclass(frozen=True)
class IndicatorSet:
    """The rates and means that a survey publishes.

    Parameters
    ----------
    rates : mapping of str to sequence or None, or names of columns
        By variable the categories whose share of the population is estimated; all of them where there is None.
        Categories are matched as text, so that 1, 1.0 and "1" are one.
    means : sequence of str, or str
        Quantities whose mean is estimated.
    by : sequence of str or of sequences of str
        Groups that are estimated too, besides the whole file: of one variable, or of several that are crossed.
    design : Design
    level : float
        Of the intervals, above 0 and below 1.

    Raises
    ------
    OptionError
        Nothing is asked for, a name or group stands twice or can be none, categories that are no list, or a level that
        is none.
    """

    rates: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict, hash=False)
    means: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ()
    design: Design = field(default_factory=Design)
    level: float = 0.95

    def __post_init__(self):
        object.__setattr__(self, "rates", _rates(self.rates))
        object.__setattr__(self, "means", names_of(self.means, "means"))
        object.__setattr__(self, "by", _by(self.by))
        if not (self.rates or self.means):
            raise OptionError("no indicator: name variables under rates or means")
        _check_level(self.level)

    @property
    def variables(self) -> tuple[str, ...]:
        """Every column that it names, once: those of its design too."""
        crossed = [name for names in self.by for name in names]
        return tuple(dict.fromkeys([*self.rates, *self.means, *crossed, *self.design.variables]))


def text_of(value: object) -> str:
    """A category as text, however it is written: 1 and 1.0 are one, and so are two ways to write an accent."""
    return composed(as_text(value))


def _rates(rates: object) -> dict[str, tuple[str, ...] | None]:
    if not isinstance(rates, Mapping):
        return dict.fromkeys(names_of(rates, "rates"))
    names_of(list(rates), "rates")
    return {name: None if wanted is None else _categories(name, wanted) for name, wanted in rates.items()}


def _categories(name: str, wanted: object) -> tuple[str, ...]:
    place = f"rates: {shortened(name)}"
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise OptionError(
            f"{place}: categories must be a list, such as [diabetes], or null for all, not {shortened(repr(wanted))}"
        )
    if unfit := [each for each in wanted if each is None or isinstance(each, (list, tuple, Mapping))]:
        raise OptionError(f"{place}: a category must be one text or number, not {shortened(repr(unfit[0]))}")
    texts = tuple(text_of(each) for each in wanted)
    if twice := [text for i, text in enumerate(texts) if text in texts[:i]]:
        raise OptionError(f"{place}: category {shortened(twice[0])} is named twice")
    return texts


def _by(by: object) -> tuple[tuple[str, ...], ...]:
    listed = (by,) if isinstance(by, str) else by
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise OptionError(f"by must be a list of variables or of lists to cross, not {shortened(repr(by))}")
    found = tuple(names_of(each, "by") for each in listed)
    if not all(found):
        raise OptionError("by: an empty list; the whole file is estimated anyway")
    labels = [BETWEEN.join(names) for names in found]
    if twice := [label for i, label in enumerate(labels) if label in labels[:i]]:
        raise OptionError(f"by: {shortened(twice[0])} is named twice; name each group once")
    return found


def _check_level(level: object) -> None:
    number = isinstance(level, numbers.Real) and not isinstance(level, bool)
    if not number or not 0 < level < 1:
        raise OptionError(f"level must be a number above 0 and below 1, not {shortened(repr(level))}")
