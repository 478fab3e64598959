"""Recipes by engines: the steps that they can apply, what they count for them, and limits that need records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon_lab import files
from kanon_lab.data.delimited import Dialect
from kanon_lab.data.microdata import located
from kanon_lab.engines.source import FORMATS, first_part
from kanon_lab.errors import OptionError
from kanon_lab.methods.recode_settings import RECODINGS, Tail
from kanon_lab.recipes.plan import Plan, columns_of
from kanon_lab.settings import read

#: Steps that need only the values and classes of records.
STREAMED = (*RECODINGS, "suppress", "suppress_risk", "remove_variables")


def check_streamed(plan: Plan, file: str | Path, out: str | Path | None = None) -> None:
    """Raise an `OptionError` that names the steps or the format that an engine cannot do.

    An engine writes `out` in the format of the file.
    """
    if not plan.spec.key_variables:
        raise OptionError("no key variables are named, and an engine counts keys; use --engine memory")
    faults = [f"{n} ({name})" for n, (name, _) in enumerate(plan.steps, 1) if name not in STREAMED]
    if faults:
        remedy = "protect in memory (--engine memory), or an extract of the file"
        raise OptionError(f"steps {', '.join(faults)} need all records at once; {remedy}")
    for number, (name, settings) in enumerate(plan.steps, 1):
        if name in RECODINGS:
            options = read(RECODINGS[name], settings)
            if isinstance(options, Tail) and options.value == "mean":
                raise OptionError(f"step {number} ({name}): a mean needs all records; give a label or a number")
            if plan.spec.weight in options.columns:
                raise OptionError(f"step {number} ({name}): an engine recodes no weight; do so in memory")
    path = first_part(located(file)[0])
    form = files.file_format(path)
    if form not in FORMATS and files.status(path) is not None:
        raise OptionError(f"{file}: an engine reads .parquet, .csv and .csv.gz only; use --engine memory")
    if out is not None and form in FORMATS and files.file_format(out) != form:
        raise OptionError(f"{out}: an engine writes the format of FILE; give it the ending .{form}")


_OF_CSV = ("encoding", "separator", "decimal", "thousands")


def counting(plan: Plan, others: Iterable[str] = ()) -> dict[str, Any]:
    """Options of `kanon_lab.engines.release.opened_records` for a plan; of `others` the values are counted too."""
    reading = dict(plan.reading)
    reading.pop("keep_missing_codes", None)  # an engine reads no file of SPSS
    if "max_bytes" in reading:
        reading["memory"] = reading.pop("max_bytes")
    dialect = Dialect(**{name: reading.pop(name) for name in _OF_CSV if name in reading})
    # Combinations are counted of the variables of every role but weight, quantities and identifiers.
    spec = replace(plan.spec, weight=None, numeric_variables=())
    recoded = [column for step, settings in plan.steps if step in RECODINGS for column in columns_of(step, settings)]
    return {
        "grouped": list(dict.fromkeys([*spec.variables, *spec.ghosts])),
        "weight": plan.spec.weight,
        "others": [*dict.fromkeys(recoded), *others],
        "without": plan.spec.direct_identifiers,
        "dialect": dialect,
        **reading,
    }


def not_known(limits: Iterable[str]) -> str:
    """A note on limits whose measures need records."""
    return f"not known, so not met: the limit {', '.join(limits)}; null (limits: ...) does without it"
