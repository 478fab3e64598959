"""The first configuration of a report: guessed roles with the reasons, for a person to read and mend."""

from __future__ import annotations

import csv
import textwrap
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import pandas as pd

from kanon_lab.errors import shortened, visible
from kanon_lab.protection.yaml_file import dump_yaml

_WIDTH = 100
# By this editors know what the settings may be; it must be the first line.
_EDITORS = "# yaml-language-server: $schema=kanon-lab.schema.json\n"
_SINGLES = ("weight", "household")
_LISTS = ("key_variables", "direct_identifiers", "sensitive_variables", "numeric_variables")
# A key of more values puts most persons in classes of their own.
_MANY = 20
# The last band of an age begins here.
_OPEN_AGE = 75
# Columns that a reason names at most.
_MOST_NAMES = 3
_LIMITS = {"k": 3, "global_risk": 0.02}
_HOUSEHOLD_LIMIT = {"household_risk": 0.05}


def first_config(
    guesses: pd.DataFrame,
    *,
    file: str,
    config: str = "report.yml",
    language: str = "en",
    na: Sequence[str] = (),
    missing_codes: Mapping[str, Sequence[str | float]] | None = None,
) -> str:
    """A commented configuration as YAML, from guesses as `kanon_lab.report.guess.guess_roles` gives them.

    Nothing of the data is in it but names of columns, their kinds and how many values they have.
    """
    texts = config_texts(language)
    names = {role: list(rows["variable"]) for role, rows in guesses.groupby("role", sort=False)}
    named = {"file": file, "config": config}
    blocks = [
        _EDITORS + "".join(_comment(texts[key].format(**named)) for key in ("head", "guessed", "then")),
        _comment(texts["schema"], wrap=False),
        dump_yaml({"language": language, **({"na": list(na)} if na else {})}),
        *(_several(role, guesses, texts) for role in _LISTS[:1]),
        *(_single(role, guesses, texts) for role in _SINGLES),
        *(_several(role, guesses, texts) for role in _LISTS[1:]),
        _limits(texts, household="household" in names),
        _missing(texts, missing_codes),
    ]
    if wanted := _indicators(names):
        blocks.append(_comment(texts["indicators"]) + _commented({"indicators": wanted}))
    blocks.append(_comment(texts["steps"]) + _commented({"steps": _steps(guesses, names.get("key_variables", []))}))
    rest = guesses[~guesses["role"].isin([*_LISTS, *_SINGLES])]
    consider = rest["other"].map(lambda other: "key_variables" in other).astype(bool)
    for key, rows in (("consider", rest[consider]), ("rest", rest[~consider])):
        lines = [_comment(f"- {row.variable}: {reason(row, texts)}", wrap=False) for row in rows.itertuples()]
        if lines:
            blocks.append(_comment(texts[key]) + "".join(lines))
    return "\n".join(blocks)


def _several(role: str, guesses: pd.DataFrame, texts: dict[str, str]) -> str:
    """A role that several columns may have, one a line."""
    rows = guesses[guesses["role"] == role]
    if rows.empty:
        return _comment(texts[role]) + f"{role}: []  # {texts['none']}\n"
    lines = [f"{_line([row.variable])}  # {reason(row, texts)}\n" for row in rows.itertuples()]
    return _comment(texts[role]) + f"{role}:\n" + "".join(lines)


def _single(role: str, guesses: pd.DataFrame, texts: dict[str, str]) -> str:
    for row in guesses[guesses["role"] == role].itertuples():
        return _comment(texts[role]) + f"{_line({role: row.variable})}  # {reason(row, texts)}\n"
    maybe = guesses[guesses["other"].map(lambda other: role in other).astype(bool)]
    lines = [
        _comment(f"{_line({role: row.variable})}  # {reason(row, texts)}", wrap=False) for row in maybe.itertuples()
    ]
    return _comment(texts[role]) + ("".join(lines) or _comment(f"{role}: COLUMN  # {texts['none']}"))


def _missing(texts: dict[str, str], codes: Mapping[str, Sequence[str | float]] | None) -> str:
    written = dump_yaml({"missing_codes": dict(codes)}) if codes else _comment("missing_codes: {COLUMN: [88, 99]}")
    return _comment(texts["codes"]) + written


def _line(settings: Any) -> str:
    """Settings as YAML that a comment may follow; blanks of a name stay."""
    return dump_yaml(settings).removesuffix("\n")


def _limits(texts: dict[str, str], *, household: bool) -> str:
    limits = {**_LIMITS, **(_HOUSEHOLD_LIMIT if household else {})}
    return _comment(texts["limits"]) + dump_yaml({"limits": limits})


def _indicators(names: dict[str, list[str]]) -> dict[str, Any]:
    wanted = {"rates": names.get("sensitive_variables"), "means": names.get("numeric_variables")}
    found = {name: listed for name, listed in wanted.items() if listed}
    if not found:
        return {}
    design = {name: names.get(f"indicators.{name}") for name in ("strata", "sampling_unit")}
    found |= {"by": names["key_variables"][:1]} if "key_variables" in names else {}
    return found | {name: columns[0] for name, columns in design.items() if columns}


def _steps(guesses: pd.DataFrame, keys: list[str]) -> list[dict[str, Any]]:
    """Steps to begin with: bands of the age in years, where they leave two or more, and local suppression."""
    recode = [
        {"recode": {"variable": row.variable, "bands": [*range(0, _OPEN_AGE + 1, row.bands), None], "closed": "left"}}
        for row in guesses[guesses["variable"].isin(keys) & (guesses["bands"] > 0)].itertuples()
    ]
    return [*recode[:1], {"suppress": {"importance": {name: place for place, name in enumerate(keys, 1)}}}]


def reason(row: Any, texts: dict[str, str]) -> str:
    """Why a column has its role, of how many values of which kind it is, and what else it may be."""
    kind = texts[f"kind_{row.kind.replace(' ', '_')}"]
    parts = [doubt(row.role, row.other, texts)] if row.unsure else []
    parts += [why(row, texts), texts["shape"].format(kind=kind, distinct=row.distinct)]
    if row.role.startswith("indicators."):
        parts.append(texts["design"])
    if row.role == "key_variables" and row.distinct > _MANY:
        parts.append(texts["recode"])
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


def config_texts(language: str) -> dict[str, str]:
    """Wordings of a first configuration in a language, by key of ``first_config.csv``."""
    with files("kanon_lab.report").joinpath("first_config.csv").open(encoding="utf-8", newline="") as table:
        return {row["key"]: row[language] for row in csv.DictReader(table)}
