"""What the models of settings tell: tables for pages of the book, and the schema of a configuration for editors."""

from __future__ import annotations

import re
from typing import Any

from kanon_lab.protection.file_settings import (
    HouseholdLevel,
    IndicatorSettings,
    LimitSettings,
    MapSettings,
    RecipeSettings,
    ReportSettings,
)
from kanon_lab.protection.plan import INHERITED
from kanon_lab.protection.steps import STEPS
from kanon_lab.recode.configuration import HierarchySettings
from kanon_lab.settings import Settings, schema, table

_STEP_MODELS: dict[str, type[Settings]] = {name: kind.model for name, kind in STEPS.items()}
#: By the name that a page calls it by, each model.
MODELS: dict[str, type[Settings]] = {
    "recipe": RecipeSettings,
    "report": ReportSettings,
    "limits": LimitSettings,
    "map": MapSettings,
    "indicators": IndicatorSettings,
    "hierarchy": HierarchySettings,
    **{name: model for name, model in _STEP_MODELS.items() if name != "household_level"},
}
# Whether the household level has a setting of its own or none, that of the file unless it has its own, or never one.
_LEVELS = {
    name: "no" if name not in HouseholdLevel.model_fields else "same" if name in ("weight", *INHERITED) else "own"
    for name in RecipeSettings.model_fields
}
_PLACE = re.compile(r"^```\{settings\} (\w+)\n```\n", re.MULTILINE)


def filled(page: str) -> str:
    """A page in which a table of settings stands wherever one is asked for: a block of code ``{settings} NAME``."""

    def told(found: re.Match[str]) -> str:
        return table(MODELS[found[1]], {"Household level": _LEVELS} if found[1] == "recipe" else None)

    return _PLACE.sub(told, page)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of the configuration of a report, which recipes follow too."""
    parts = {"household_level": HouseholdLevel, "limits": LimitSettings}
    return schema(ReportSettings, _STEP_MODELS, **parts)
