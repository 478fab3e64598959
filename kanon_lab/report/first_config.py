"""Guesses at the roles of a file's columns: from names, and from how many values they have of which shape."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from kanon_lab.columns import distinct, named_columns, named_rows
from kanon_lab.data.names import meanings, means, names_key
from kanon_lab.digits import local
from kanon_lab.errors import shortened, visible
from kanon_lab.measures.registry import LIMITS, limit_of
from kanon_lab.recipes.found_households import shared_columns
from kanon_lab.recipes.identifiers import KINDS, identifiers_of, places_in
from kanon_lab.recipes.persons import repeating_codes, wave_of
from kanon_lab.recipes.yaml_file import dump_yaml
from kanon_lab.report import shapes
from kanon_lab.report.shapes import NUMBERS, kind_of
from kanon_lab.report.words import Words
from kanon_lab.roles import usual_claim
from kanon_lab.rules import ISO
from kanon_lab.terms import texts as words_of

#: What a column may be guessed to be, in the order of a configuration; "" is none.
ROLES = (
    "key_variables",
    "weight",
    "household",
    "person",
    "direct_identifiers",
    "sensitive_variables",
    "numeric_variables",
    "indicators.strata",
    "indicators.sampling_unit",
    "",
)
_DESIGN = ("indicators.strata", "indicators.sampling_unit")
# A number of more values than this is a quantity, one of fewer is a code.
_FEW = 30
# Values that names, telephones and the like have at least: "has a telephone" has two. Few texts may be first names.
_NAMED, _FEW_NAMES = 20, 4
# Of the records that have one, this share have a value of their own where a text identifies.
_OWN = 0.95
# Fewer records than this do not show whether a value in only one record means anything.
_ENOUGH = 20
# A household has so many members in the mean at most.
_MEMBERS = 15
_FALLBACK = 3
# Whole numbers up to this are grades or counts rather than weights.
_LEAST_WEIGHT = 20
# Numbers may be codes if all have so many digits and each is in so many records on average.
_DIGITS_OF_A_CODE, _RECORDS_OF_A_CODE = 3, 3
_DIGITS_OF_A_NUMBER = 5
_WIDTH = 100
# By this editors know what the settings may be; it must be the first line.
_EDITORS = "# yaml-language-server: $schema=kanon-lab.schema.json\n"
_SINGLES = ("weight", "household", "person")
_LISTS = ("key_variables", "direct_identifiers", "sensitive_variables", "numeric_variables")
# A key of more values puts most persons in classes of their own.
_MANY = 20
# The last band of an age begins here.
_OPEN_AGE = 75
# Columns that a reason names at most.
_MOST_NAMES = 3
# Why a column tells nothing of anybody.
_ALIKE = ("constant", "empty")
_NO_CODES = "missing_codes: {COLUMN: [88, 99]}"


@dataclass(frozen=True)
class Guess:
    """What a column is guessed to be; see `guess_roles`."""

    variable: str
    kind: str
    distinct: int
    missing: int
    role: str = ""
    why: str = ""
    unsure: bool = False
    other: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    bands: int = 0
    date_format: str = ""
    shared: bool = False

    def as_(self, role: str, why: str, *other: str, columns: tuple[str, ...] = ()) -> Guess:
        """Of that role, and unsure where it may be others."""
        return replace(self, role=role, why=why, unsure=bool(other), other=other, columns=columns)


def guess_roles(
    frame: pd.DataFrame,
    labels: Mapping[str, Mapping[Any, str]] | None = None,
    variable_labels: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Guess what each column of a microdata file is for; one row a column, in their order.

    `labels` of codes and of variables are those of a file of SPSS or Stata, by variable.

    Columns are those of `Guess`: ``role`` is one of `ROLES` (one weight, household and sampling unit at most, and a key
    variable wherever some column has two values or more), ``why`` a key of ``words.csv`` without its ``by_``,
    ``other`` roles that it may have as well, ``columns`` others that `why` is about, ``bands`` the years of the bands
    of an age to begin with (0 where it needs none, or none leave two of them), ``date_format`` how a key variable
    writes the dates of which years are to be released ("" where it holds none), and ``shared`` says that members of the
    household share it, as `shared_quantities` finds.

    Names are matched with words in English, Spanish and Catalan (``guess.csv``), whatever their case and accents. A
    weight is 1 or more in every record; a household has 15 members in the mean at most; what is called a name or a
    telephone is one for sure if it has more than 20 values.
    """
    names = list(map(str, frame.columns))
    frame = frame.set_axis(names, axis=1)
    body = any(means(name, "body") for name in names)
    of_codes, of_variables = labels or {}, variable_labels or {}
    guesses = {
        name: _guess(name, column, body, of_codes.get(name, {}), of_variables.get(name, ""))
        for name, column in named_columns(frame)
    }
    for name in [name for place in places_in(frame) for name in place.columns]:
        guesses[name] = guesses[name].as_("direct_identifiers", "coordinates")
    guesses |= _one_weight([guess for guess in guesses.values() if guess.role == "weight"])
    guesses |= _codes(frame, guesses)
    guesses |= _households(frame, guesses)
    guesses |= _persons(frame, guesses)
    guesses |= _of_households(frame, guesses)
    for role in ("household", "indicators.sampling_unit"):
        of_role = [guess for guess in guesses.values() if guess.role == role]
        if of_role:
            guesses |= _passed_over(of_role[0], of_role[1:])
    guesses |= _like_weights(frame, guesses)
    if all(guess.role != "key_variables" for guess in guesses.values()):
        rest = [guess for guess in guesses.values() if (guess.role, guess.why) == ("", "few")][:_FALLBACK]
        guesses |= {guess.variable: guess.as_("key_variables", "few", "sensitive_variables") for guess in rest}
    for name in shared_quantities(frame, {name: guess.role for name, guess in guesses.items()}):
        guesses[name] = replace(guesses[name], shared=True)
    return pd.DataFrame([asdict(guess) for guess in guesses.values()], columns=[field.name for field in fields(Guess)])


def shared_quantities(frame: pd.DataFrame, roles: Mapping[str, str]) -> list[str]:
    """Quantities that members of a household share more often than by chance, by the role of each column."""
    homes, quantities = ([name for name in roles if roles[name] == role] for role in ("household", "numeric_variables"))
    if not homes:
        return []
    home = distinct(frame[homes[0]])[0].astype(np.int64)
    return shared_columns(home, {name: distinct(frame[name])[0] for name in quantities})


def _guess(name: str, column: pd.Series, body: bool, labels: Mapping[Any, str], label: str) -> Guess:
    """A guess from one column alone; `body`: the file has measures of the body, so a weight may be one of them."""
    guess = Guess(name, kind_of(column), int(column.nunique()), int(column.isna().sum()))
    if content := [kind for kind, _, _ in identifiers_of(column, varied=False)]:
        return guess.as_("direct_identifiers", content[0])
    if guess.distinct < 2:
        return guess.as_("", "constant" if guess.distinct else "empty")
    if named := _by_name(guess, column, body):
        return named
    if guess.distinct == 2 and shapes.are_sexes(column, labels):
        return guess.as_("key_variables", "sexes")
    if named := _by_name(replace(guess, variable=shapes.short_label(label)), column, body):
        return replace(named, variable=name, why="label" if named.why == "name" else named.why)
    return _by_shape(guess, column)


def _by_name(guess: Guess, column: pd.Series, body: bool) -> Guess | None:
    roles, known = meanings(guess.variable), len(column) - guess.missing
    number, many = guess.kind in NUMBERS, guess.distinct > _FEW
    if "weight" in roles and number:
        return _weight(guess, column, body)
    if design := [role for role in roles if role in _DESIGN]:
        return guess.as_(design[0], "name")
    if "household" in roles and not {"key_variables", "place", "direct_identifiers", "sensitive_variables"} & {*roles}:
        if not guess.missing and 1 < known / guess.distinct <= _MEMBERS:
            return guess.as_("household", "name")
        if not guess.missing and guess.distinct > 2 and number and known / guess.distinct > _MEMBERS and many:
            return guess.as_("", "members", "indicators.sampling_unit")
    if "direct_identifiers" in roles and "key_variables" not in roles:
        if guess.distinct > min(_NAMED, known / 2):
            return guess.as_("direct_identifiers", "name")
        if guess.kind == "text" and guess.distinct > _FEW_NAMES:
            return guess.as_("direct_identifiers", "name", "key_variables", "sensitive_variables")
    if names_key(roles):
        return _key(guess, column, roles)
    if "sensitive_variables" in roles:
        return guess.as_("numeric_variables" if number and many else "sensitive_variables", "name")
    return None


def _weight(guess: Guess, column: pd.Series, body: bool) -> Guess:
    """A column of numbers that is called a weight."""
    if guess.missing:
        return guess.as_("", "weight_missing", "weight")
    if column.min() < 1:
        normalised = column.min() > 0 and abs(float(column.mean()) - 1) < 0.01
        return guess.as_("", "normalised" if normalised else "below_1")
    if body:
        return guess.as_("", "body", "numeric_variables", "weight")
    if guess.kind == "whole numbers" and column.max() < _LEAST_WEIGHT:
        return guess.as_("", "small", "weight", "key_variables")
    return guess.as_("weight", "name")


def _key(guess: Guess, column: pd.Series, roles: list[str]) -> Guess:
    """A column that is called like what people know of each other."""
    many = guess.distinct > _FEW
    if "age" in roles and guess.kind == "whole numbers":
        what, sure = shapes.ages(column)
        bands = shapes.width_of_bands(column) if what == "years" else 0
        key = guess.as_("key_variables", "name" if what == "years" and sure else what)
        return replace(key, unsure=not sure, bands=bands)
    if guess.kind == "numbers" and many and "age" not in roles:
        return guess.as_("numeric_variables", "decimals", "key_variables")
    if "place" in roles and guess.kind == "whole numbers" and many:
        least, most = shapes.digits(column)
        doubt = ["numeric_variables"] if not least or most > least + 1 else []
        return guess.as_("key_variables", "place", *doubt)
    written = shapes.date_format(column) if guess.distinct > _MANY else ""
    return replace(guess.as_("key_variables", "name"), date_format=written)


def _by_shape(guess: Guess, column: pd.Series) -> Guess:
    known = len(column) - guess.missing
    if any(kind == "text" for kind, _, _ in identifiers_of(column)):
        return guess.as_("direct_identifiers", "text")
    own = guess.distinct == known or (guess.kind == "text" and guess.distinct >= _OWN * known)
    if guess.kind == "dates" or (guess.kind == "text" and guess.distinct > _FEW and shapes.are_dates(column)):
        return guess.as_("", "date", "key_variables", "direct_identifiers")
    if own and known >= _ENOUGH and guess.kind in ("text", "whole numbers"):
        return _own(guess, column)
    if guess.distinct <= _FEW:
        others = ("key_variables", "sensitive_variables")
        return guess.as_("", "few", *others["no_key_variables" in meanings(guess.variable) :])
    if guess.kind in NUMBERS:
        return guess.as_("numeric_variables", "quantity")
    return guess.as_("", "many", "key_variables", "direct_identifiers")


def _own(guess: Guess, column: pd.Series) -> Guess:
    """A column with a value of its own in nearly every record: a text or running number names it, others may not."""
    if guess.kind == "text" or shapes.are_running(column):
        return guess.as_("direct_identifiers", "unique")
    least, most = shapes.digits(column)
    if least == most >= _DIGITS_OF_A_NUMBER:
        return guess.as_("direct_identifiers", "unique", "numeric_variables")
    return guess.as_("direct_identifiers", "unequal", "numeric_variables")


def _one_weight(candidates: list[Guess]) -> dict[str, Guess]:
    """The weight among columns that may be one: a person's rather than a household's, and not one for replication."""

    def of_persons(guess: Guess) -> bool:
        return means(guess.variable, "person")

    if len(candidates) < 2:
        return {}
    ordered = sorted(candidates, key=lambda guess: (means(guess.variable, "replicate"), not of_persons(guess)))
    chosen, others = ordered[0], ordered[1:]
    sure = of_persons(chosen) and not any(map(of_persons, others))
    taken = chosen.as_("weight", "person" if sure else "several", columns=tuple(guess.variable for guess in others))
    return {chosen.variable: replace(taken, unsure=not sure)} | _passed_over(chosen, others)


def _passed_over(chosen: Guess, others: list[Guess]) -> dict[str, Guess]:
    """Further columns of a role that one alone may have."""
    return {guess.variable: guess.as_("", "another", columns=(chosen.variable,)) for guess in others}


def _codes(frame: pd.DataFrame, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """Quantities by their look that are codes: their first digits are another column, or others depend on them."""
    result = {}
    for guess in guesses.values():
        if (guess.kind, guess.why) != ("whole numbers", "quantity"):
            continue
        column, others = frame[guess.variable], frame.drop(columns=guess.variable)
        least, most = shapes.digits(column)
        if least and (first := shapes.starts_with(column, others)):
            result[guess.variable] = guess.as_("key_variables", "digits", columns=(first,))
        elif len(column) >= _RECORDS_OF_A_CODE * guess.distinct:
            dependent = tuple(shapes.dependent_columns(column, others))
            of_one_length = least == most >= _DIGITS_OF_A_CODE
            if not dependent and not of_one_length:
                continue
            role = ("key_variables" if of_one_length else "") if dependent else "numeric_variables"
            rest = [name for name in ("key_variables", "numeric_variables", "indicators.sampling_unit") if name != role]
            why = "nested" if dependent else "lengths"
            result[guess.variable] = guess.as_(role, why, *rest, columns=dependent)
    return result


def _households(frame: pd.DataFrame, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """A column that groups records as households do, where none is called so."""
    if any(guess.role == "household" for guess in guesses.values()):
        return {}
    by_shape = ("quantity", "many", "unequal", "unique", "lengths", "nested", "members")
    candidates = [
        guess.variable
        for guess in guesses.values()
        if (guess.kind in ("text", "whole numbers") and guess.why in by_shape)
        or ((guess.kind, guess.role) == ("whole numbers", "direct_identifiers") and guess.why not in KINDS)
    ]
    groups = shapes.households(frame, candidates)
    if groups is None:
        return {}
    guess, doubts = guesses[groups.variable], []
    if any(means(name, "sex") for name in groups.same) or guess.role == "direct_identifiers":
        doubts.append("direct_identifiers")  # the records of a person, once a year say
    if not groups.varied:
        doubts.append("indicators.sampling_unit")
    return {guess.variable: guess.as_("household", "shape", *doubts, columns=groups.same)}


def _persons(frame: pd.DataFrame, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """A column whose values repeat as those of persons do who have a record a year, say."""
    by_shape = ("quantity", "many", "unequal", "unique", "lengths", "shape")
    for guess in guesses.values():
        named = guess.role == "direct_identifiers" and guess.why == "name"
        if guess.kind not in ("text", "whole numbers") or not (named or guess.why in by_shape):
            continue
        if named and guess.kind == "text" and not means(guess.variable, "person"):
            continue  # names of persons repeat by themselves
        codes = repeating_codes(frame[guess.variable])
        wave = None if codes is None else wave_of(codes, frame.drop(columns=guess.variable))
        if wave is not None:
            return {guess.variable: guess.as_("person", "repeats", guess.role or "household", columns=(wave,))}
    return {}


def _of_households(frame: pd.DataFrame, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """The size of the household as a key, and numbers of persons that begin with that of the household."""
    homes = [guess.variable for guess in guesses.values() if guess.role == "household" and not guess.missing]
    result = {}
    for home, guess in ((home, guess) for home in homes[:1] for guess in guesses.values()):
        if guess.kind != "whole numbers" or guess.variable == home:
            continue
        column = frame[guess.variable]
        if guess.role == "" and shapes.counts_members(column, frame[home]):
            result[guess.variable] = guess.as_("key_variables", "household_size", columns=(home,))
        elif guess.role == "direct_identifiers" and shapes.starts_with(column, frame[[home]]):
            result[guess.variable] = guess.as_("direct_identifiers", "member", columns=(home,))
    return result


def _like_weights(frame: pd.DataFrame, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """Quantities that may be weights, where none is called so: 1 or more, and the same within a unit of the design."""
    if any(guess.role == "weight" for guess in guesses.values()):
        return {}
    units = [guess.variable for guess in guesses.values() if guess.role in ("household", "key_variables", *_DESIGN)]
    units = [unit for unit in units if 2 * guesses[unit].distinct <= len(frame)]
    result = {}
    for guess in guesses.values():
        column = frame[guess.variable]
        if guess.kind != "numbers" or guess.why not in ("quantity", "few") or guess.missing or column.min() < 1:
            continue
        if column.max() < _LEAST_WEIGHT:
            continue
        if same_within := tuple(unit for unit in units if shapes.depends(column, frame[unit])):
            others = [role for role in (*guess.other, "weight") if role != guess.role]
            result[guess.variable] = guess.as_(guess.role, "like_weight", *others, columns=same_within)
    return result


def first_config(
    guesses: pd.DataFrame,
    *,
    file: str,
    config: str = "report.yml",
    language: str = "en",
    na: Sequence[str] = (),
    missing_codes: Mapping[str, Sequence[str | float]] | None = None,
    notes: Sequence[str] = (),
    reading: Mapping[str, Any] | None = None,
    unanswered: Mapping[str, Sequence[str | float]] | None = None,
) -> str:
    """A commented configuration as YAML, from guesses as `kanon_lab.report.first_config.guess_roles` gives them.

    Nothing of the data is in it but names of columns, their kinds and how many values they have, and `notes` on reading
    it. Of `reading`, settings such as ``thousands`` are written too, and of `unanswered` the codes that labels of the
    file say to mean no answer, as a comment.

    What a guess is unsure of has no role: it stands as a comment under ``released_as_is``, and without an answer the
    limit on ``unassigned_columns`` is not met. The limits are a comment, so that what nobody has read meets none.
    """
    texts = words_of("configuration", language) | {"language": language}
    names = {role: list(rows["variable"]) for role, rows in guesses.groupby("role", sort=False)}
    sure = _assigned(guesses)
    unread = guesses[~guesses["variable"].isin(sure["variable"])]
    head = "".join(_comment(texts[key].format(file=file, config=config)) for key in ("head", "guessed", "then"))
    roles = {*sure["role"], *(role for role in names if role in _SINGLES)}  # an unsure one has its line all the same
    blocks = [
        _EDITORS + head,
        _comment(texts["schema"], wrap=False),
        *_noted(notes, language, texts),
        dump_yaml({"language": language, **({"na": list(na)} if na else {}), **(reading or {})}),
        *(_several(role, sure, texts) for role in _LISTS[:1]),
        *(_single(role, sure, guesses, texts) for role in _SINGLES if role != "person" or role in names),
        *(_several(role, sure, texts) for role in _LISTS[1:]),
        _as_is(sure, unread, texts),
        _comment(texts["limits"]) + _commented({"limits": usual_limits(roles)}),
        _comment(texts["codes"])
        + (dump_yaml({"missing_codes": dict(missing_codes)}) if missing_codes else _unread_codes(unanswered, texts)),
    ]
    if wanted := usual_indicators(names):
        blocks.append(_comment(texts["indicators"]) + _commented({"indicators": wanted}))
    blocks.append(_comment(texts["steps"]) + _commented({"steps": first_steps(guesses, sure)}))
    return "\n".join(blocks)


def usual_limits(roles: Collection[str]) -> dict[str, Any]:
    """Limits to begin with where columns have these roles."""
    asked = [name for name, row in LIMITS.items() if limit_of(name).usual and (not row.needs or row.needs in roles)]
    return {name: json.loads(limit_of(name).example) for name in asked}


def _assigned(guesses: pd.DataFrame) -> pd.DataFrame:
    """The guesses that are written as settings: sure ones, and columns of one value; a file has a key in any case."""
    role, sure = guesses["role"], ~guesses["unsure"].astype(bool)
    if not (sure & (role == "key_variables")).any():
        sure |= role == "key_variables"
    alike = (role == "") & guesses["why"].isin(_ALIKE)
    return guesses[(sure & role.isin([*_LISTS, *_SINGLES])) | alike]


def _as_is(sure: pd.DataFrame, unread: pd.DataFrame, texts: dict[str, str]) -> str:
    """What may be released as it is: columns of one value, and as a comment those that need an answer."""
    alike, asked = (
        [f"{_line([row.variable])}  # {reason(row, texts)}" for row in rows.itertuples()]
        for rows in (sure[sure["role"] == ""], unread)
    )
    none = f" []  # {texts['none']}" if not (alike or asked) else ""
    question = _comment(texts["unread"]) if asked else ""
    answers = "".join(_comment(line, wrap=False) for line in asked)
    head = f"{_comment(texts['released_as_is'])}released_as_is:{none}\n"
    return head + "".join(f"{line}\n" for line in alike) + question + answers


def _noted(notes: Sequence[str], language: str, texts: dict[str, str]) -> list[str]:
    """Notes on reading the file, as a comment."""
    lines = [_comment(f"- {Words(language).note(note)}") for note in notes]
    return [_comment(texts["noted"]) + "".join(lines)] if lines else []


def _several(role: str, guesses: pd.DataFrame, texts: dict[str, str]) -> str:
    """A role that several columns may have, one a line."""
    rows = guesses[guesses["role"] == role]
    lines = [f"{_line([row.variable])}  # {reason(row, texts)}\n" for row in rows.itertuples()]
    return _comment(texts[role]) + (f"{role}:\n{''.join(lines)}" if lines else f"{role}: []  # {texts['none']}\n")


def _single(role: str, sure: pd.DataFrame, guesses: pd.DataFrame, texts: dict[str, str]) -> str:
    """A role that one column has: the first of it, or as comments those that may be of it."""

    def line(row: Any) -> str:
        return f"{_line({role: row.variable})}  # {reason(row, texts)}"

    for row in sure[sure["role"] == role].itertuples():
        return f"{_comment(texts[role])}{line(row)}\n"
    maybe = guesses[guesses["other"].map(lambda other: role in other).astype(bool) | (guesses["role"] == role)]
    lines = [_comment(line(row), wrap=False) for row in maybe.itertuples()]
    return _comment(texts[role]) + ("".join(lines) or _comment(f"{role}: COLUMN  # {texts['none']}"))


def _line(settings: Any) -> str:
    """Settings as YAML that a comment may follow; blanks in a name stay."""
    return dump_yaml(settings).removesuffix("\n")


def usual_indicators(names: Mapping[Any, Sequence[str]]) -> dict[str, Any]:
    """What a survey with such columns, by role, may publish: rates, means and the groups that they are of."""
    wanted = {"rates": names.get("sensitive_variables"), "means": names.get("numeric_variables")}
    indicators: dict[str, Any] = {name: [*listed] for name, listed in wanted.items() if listed}
    if not indicators:
        return {}
    design = {name: names.get(f"indicators.{name}") for name in ("strata", "sampling_unit")}
    indicators |= {"by": [*names["key_variables"][:1]]} if "key_variables" in names else {}
    return indicators | {name: columns[0] for name, columns in design.items() if columns}


def _unread_codes(unanswered: Mapping[str, Sequence[str | float]] | None, texts: dict[str, str]) -> str:
    """Codes that mean missing as a comment: those that labels say, or an example."""
    if not unanswered:
        return _comment(_NO_CODES)
    return _comment(texts["unanswered"]) + _commented({"missing_codes": dict(unanswered)})


def first_steps(guesses: pd.DataFrame, sure: pd.DataFrame, missing: str = "wildcard") -> list[dict[str, Any]]:
    """Steps to begin with, which go with the limits: each is there for one of them; roles are those of `sure`.

    A missing key means what `missing` says, one of `kanon_lab.roles.MISSING_POLICIES`.

    Quantities are grouped, but those that members of a household share are left out with its ID: by equal values, and
    by group means, an intruder would put the members together again.
    """
    keys, homes, quantities = (
        list(sure["variable"][sure["role"] == role]) for role in ("key_variables", "household", "numeric_variables")
    )
    of_keys = guesses[guesses["variable"].isin(keys)]
    steps: list[dict[str, Any]] = [
        {"recode": {"variable": row.variable, "bands": [*range(0, _OPEN_AGE + 1, row.bands), None], "closed": "left"}}
        for row in named_rows(of_keys[of_keys["bands"] > 0])
    ][:1]
    for row in named_rows(of_keys[of_keys["date_format"] != ""]):
        written = {} if row.date_format == ISO else {"date_format": row.date_format}
        steps.append({"recode": {"variable": row.variable, "dates": "year", **written}})
    # Where nobody has said which column is the household, it is not left out, and these are grouped as others are.
    shared = {*guesses["variable"][guesses["shared"]]} if homes else set()
    if homes:
        left_out = [*homes[:1], *(name for name in quantities if name in shared)]
        steps.append({"remove_variables": {"variables": left_out}})
    if quantities := [name for name in quantities if name not in shared]:
        size = math.ceil(1 / json.loads(limit_of("numeric_linkage").example))
        gaps = set(sure.loc[sure["missing"] > 0, "variable"])
        # Together only those that every record has: a record that lacks one quantity of several can't be grouped.
        if whole := [name for name in quantities if name not in gaps]:
            steps.append({"microaggregate": {"variables": whole, "k_required": size}})
        for name in quantities:
            if name in gaps:
                steps.append({"microaggregate": {"variables": [name], "k_required": size, "missing": "leave"}})
    importance = {name: place for place, name in enumerate(keys, 1)}
    return [*steps, {"shuffle_records": {}}, {"suppress": {"importance": importance, "claim": usual_claim(missing)}}]


def reason(row: Any, texts: dict[str, str], called: Mapping[str, str] | None = None) -> str:
    """Why a column has its role, of how many values of which kind it is, and what else it may be.

    Roles are called as in a configuration, or as in `called`.
    """
    kind = texts[f"kind_{row.kind.replace(' ', '_')}"]
    role, *other = ((called or {}).get(role, role) for role in (row.role, *row.other))
    parts = [doubt(role if row.role else "", other, texts)] if row.unsure else []
    distinct = local(f"{row.distinct:,}", texts["language"])
    parts += [why(row, texts), texts["shape"].format(kind=kind, distinct=distinct)]
    if row.role.startswith("indicators."):
        parts.append(texts["design"])
    if row.role == "key_variables" and row.distinct > _MANY:
        parts.append(texts["recode"])
    if row.role == "numeric_variables" and row.shared:
        parts.append(texts["shared"])
    return "; ".join(parts)


def doubt(role: str, other: Sequence[str], texts: dict[str, str]) -> str:
    """What a column may be that is not surely of its role."""
    roles = f" {texts['or']} ".join([role or texts["no_role"], *other])
    return f"{texts['unsure']}: {roles}"


def why(row: Any, texts: dict[str, str]) -> str:
    """Why a column has its role, or none."""
    names = [shortened(name) for name in row.columns[:_MOST_NAMES]]
    more = f" {texts['more'].format(number=len(row.columns) - _MOST_NAMES)}" if len(row.columns) > _MOST_NAMES else ""
    return texts[f"by_{row.why}"].format(columns=", ".join(names) + more)


def _comment(text: str, *, wrap: bool = True) -> str:
    """Lines of a comment; a name from a file must not end it."""
    lines = textwrap.wrap(visible(text), _WIDTH - 2) if wrap else [visible(text)]
    return "".join(f"# {line}\n" for line in lines)


def _commented(settings: dict[str, Any]) -> str:
    return "".join(_comment(line, wrap=False) for line in dump_yaml(settings).splitlines())
